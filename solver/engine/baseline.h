/* What the fabric does without us: hashed shortest paths (ECMP) and even packet spraying (solver/README.md).
 */
#ifndef HEDDLE_BASELINE_H
#define HEDDLE_BASELINE_H

#include "solver/model/routes.h"

enum { ECMP_SEEDS = 16 };

/* Every subflow (options.paths_per_flow of equal share per routed flow) hashed hop by hop over the live arcs that lie
 * on fewest-hop paths, by a seeded hash of (source, destination, flow number, subflow). A flow that lists its paths
 * takes one of its listed live paths with the fewest hops by the same hash; disjoint:k picks among those paths. *out is
 * the caller's. E_INPUT when a routed flow has no live path, naming it. */
int baseline_ecmp(const struct problem *p, uint64_t seed, struct routes **out, struct err *e);

/* Seeds 0 .. ECMP_SEEDS - 1 one after the other, cheaper than so many calls: routes rated, efficiency[njob], load[narc]
 * as load_a / u_a. All three are the callee's again when the visit returns. */
typedef void baseline_visit(void *context, const struct routes *r, const double *efficiency, const double *load);
int baseline_ecmp_each(const struct problem *p, baseline_visit *visit, void *context, struct err *e);

/* Mean and worst (over jobs: smallest) efficiency of jobs over seeds 0 .. ECMP_SEEDS - 1; mean[njob], worst[njob];
 * worst may be NULL. */
int baseline_ecmp_efficiency(const struct problem *p, double *mean, double *worst, struct err *e);

/* Even spraying over all fewest-hop paths, hop by hop: rate[nflow] (max-min over flows, each limited by its tightest
 * arc), efficiency[njob], load[narc] as load_a / u_a at full demand; each may be NULL. */
int baseline_spray(const struct problem *p, double *rate, double *efficiency, double *load, struct err *e);

#endif
