/* Pinned routes: whole (sub)flows on single paths. A portfolio of starts (hashed, greedy, edge colouring, laminar Euler
 * split, given ones), each repaired by ejection search to a target level, then job raising; scored by exact
 * water-filling. The members of the portfolio are tasks with fixed numbers; task i runs on rank i
 * mod size, and the best vector wins, the lowest task number among equals: the same plan for any number of ranks.
 * Budgets count steps.
 */
#ifndef HEDDLE_PIN_H
#define HEDDLE_PIN_H

#include "solver/comm/comm.h"
#include "solver/model/pods.h"
#include "solver/model/routes.h"

struct pin_goal {
    double bound;   /* proven bound on the objective's value: stop the first stage when reached */
    int32_t nstart; /* given starts, on rank 0 only (0 elsewhere); borrowed */
    const struct routes *const *start;
    double deadline; /* absolute, rank 0's comm->now; INFINITY: none. Passing it cuts the search short */
};

struct pin_result {
    struct routes *routes; /* rank 0: gbps filled by water-filling; NULL elsewhere. Caller frees */
    double value;          /* on every rank */
    int64_t steps;
    int cut_short; /* deadline or cancel */
};

/* job_fair or max_utilization as p->options says, options.paths_per_flow subflows at most. Never worse than the best
 * ECMP start or a given start. All ranks call it. */
int pin_solve(const struct problem *p, const struct pods *pods, struct comm *c, const struct pin_goal *goal,
              const struct hooks *hooks, struct pin_result *out, struct err *e);

#endif
