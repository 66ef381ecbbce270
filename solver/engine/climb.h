/* From a start to the best levels: one member of the pinned portfolio.
 * job_fair: the largest level that all jobs reach (the bound first, then the levels at which one more unit fits on an
 * arc), then single jobs are raised while the others keep theirs. max_utilization: the smallest largest load.
 * Every answer is scored exactly; the best one seen is kept. One path per flow for job_fair, equal shares else.
 * Happy path: climb_new, climb_reset, best_take for known routes, climb_run, read best, climb_free.
 */
#ifndef HEDDLE_CLIMB_H
#define HEDDLE_CLIMB_H

#include "solver/engine/best.h"
#include "solver/engine/colour.h"
#include "solver/engine/cover.h"
#include "solver/engine/eject.h"

enum climb_start { START_COLOUR, START_GREEDY, START_ORDER, START_BEST };

struct climb {
    const struct problem *p; /* borrowed, like the next three */
    const struct lanes *w;
    struct cover *cover;
    struct colour *colour; /* NULL where the fabric has no such structure */

    struct eject *s;
    struct scorer *scorer;
    int32_t nunit, copies; /* units per routed flow: paths_per_flow of equal share for max_utilization, else 1 */
    int32_t *flow, *pair;  /* [nunit] */
    double *rate, *need;   /* [nunit] p: what NICs alone allow, Gb/s; q of the present target */
    double *ceiling;       /* [njob] efficiency that NICs alone allow */
    double *target;        /* [njob] present target, efficiency */
    double fixed;          /* largest load / cap of arcs that are no choice, max_utilization */

    struct routes *routes; /* the present state, for scoring */
    struct best best;

    int32_t *keep_len, *keep_arc; /* a state to come back to */
    int32_t nladder;
    double *ladder;  /* descending levels */
    int32_t *rung;   /* [njob] */
    double *hi, *lo; /* [njob] */
    uint8_t *low;    /* [njob] */
    struct rng rng;
    int64_t steps, work_end, fill; /* fill: most work of placing a start */
    struct eject_stop stop;
    int final; /* proven by the cuts: nothing is better */
};

/* NULL on failure. */
struct climb *climb_new(const struct problem *p, const struct lanes *w, struct cover *cover, struct colour *colour,
                        struct err *e);
void climb_free(struct climb *c);

/* Forgets everything found, then takes best (may be NULL): what follows depends on best alone. */
int climb_reset(struct climb *c, const struct routes *best, struct err *e);

/* The whole climb from a start; effort scales the step budgets of single tries, work (arcs weighed) limits all
 * together; seed feeds its random choices. */
void climb_run(struct climb *c, enum climb_start start, double bound, int32_t effort, int64_t work, uint64_t seed);

#endif
