/* Several paths per flow: every flow's subflows on ways of their own. The value of a flow is the sum of its subflows'
 * rates, its shares are proportional to them. Search: a flow below its target, the tightest arc of its slowest subflow,
 * one subflow of that arc moves; the penalty is the sum of squared relative shortfalls, from rates estimated arc by arc
 * (u_a over the subflows on a). Answers are scored exactly. Happy path as in climb.h.
 */
#ifndef HEDDLE_SPREAD_H
#define HEDDLE_SPREAD_H

#include "solver/engine/best.h"
#include "solver/engine/climb.h"

struct spread {
    const struct problem *p; /* borrowed, like the next two */
    const struct lanes *w;
    struct colour *colour;
    int32_t k;

    struct eject *s; /* over subflows: each counts 1 on its arcs */
    int32_t nunit, nsub;
    int32_t *flow;          /* [nunit] */
    int32_t *first, *unit;  /* first[nunit + 1]: subflows of a unit; unit[nsub] */
    int32_t *pair;          /* [nsub] */
    double *one, *infinite; /* [nsub] constant p and q */
    double *ceiling, *want; /* [nunit] Gb/s that NICs allow, that the target asks for */
    double *rate, *sum;     /* [nsub] estimate of each subflow, [nunit] of each flow */
    double penalty;
    int32_t nshort, *below, *where; /* units short of their target; where[nunit], -1 */

    struct scorer *scorer;
    struct routes *routes;
    struct best best;
    int32_t *old_way; /* [longest] */
    struct rng rng;
    int64_t steps, work_end;
    struct eject_stop stop;
};

/* ceiling[nflow order of routed flows] as climb found it is copied. NULL on failure. */
struct spread *spread_new(const struct climb *c, struct err *e);
void spread_free(struct spread *s);

int spread_reset(struct spread *s, const struct routes *best, struct err *e);
void spread_run(struct spread *s, enum climb_start start, double bound, int32_t effort, int64_t work, uint64_t seed);

#endif
