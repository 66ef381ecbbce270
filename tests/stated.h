/* Plans for the tests of check: routes with everything that a plan states about them, stated right by the engine.
 */
#ifndef HEDDLE_TESTS_STATED_H
#define HEDDLE_TESTS_STATED_H

#include "check.h"
#include "solver/check.h"
#include "solver/engine/score.h"

/* Takes the routes; the certificate is for the caller to add. */
static inline struct plan *state_plan(const struct problem *p, struct routes *r, double bound)
{
    struct err e;
    struct plan *plan = array(1, sizeof *plan);
    CHECK(plan);
    plan->routes = r;
    plan->efficiency = array(p->njob, sizeof *plan->efficiency);
    plan->load = array(p->fabric->narc, sizeof *plan->load);
    CHECK(plan->efficiency && plan->load);
    int rc = p->options.routing == ROUTE_PINNED ? score_pinned(p, r, plan->efficiency, plan->load, &e)
                                                : score_split(p, r, plan->efficiency, plan->load, &e);
    CHECK(rc == 0);
    plan->value = score_value(p, plan->efficiency, plan->load);
    plan->bound = bound;
    plan->gap = plan_gap(bound, plan->value);
    plan->status = plan->gap <= p->options.gap ? PLAN_OPTIMAL : PLAN_FEASIBLE;
    return plan;
}

static inline int says(const struct check_report *r, const char *text)
{
    for (int i = 0; i < r->nfault && i < CHECK_FAULTS; i++)
        if (strstr(r->fault[i], text))
            return 1;
    return 0;
}

#endif
