/* Slow, independent truths to judge the fast code by, and small problems to judge it on. Nothing here is shared with
 * the solver but the model.
 */
#ifndef HEDDLE_TESTS_REFEREE_H
#define HEDDLE_TESTS_REFEREE_H

#include "solver/model/routes.h"

/* Bellman-Ford from s over live arcs, NICs not passed through: dist[nnode], INFINITY where unreachable. */
void referee_distances(const struct fabric *f, int32_t s, const double *length, double *dist);

/* Max-min rates by raising everybody in small exact steps: each round finds the tightest arc by a full scan. Weighted:
 * x[h] is the fraction of the subflow's rate on its h-th arc entry (NULL: 1). O(nsub * hops). */
void referee_rates(int64_t nsub, const int64_t *at, const int32_t *arc, const double *x, const double *ceiling,
                   int32_t narc, const double *cap, double *rate);

/* All loop-free live paths s -> t that pass no NIC, at most room of them, each as -1-terminated arcs of
 * path[i * (nnode + 1)]; returns how many. */
int32_t referee_paths(const struct fabric *f, int32_t s, int32_t t, int32_t *path, int32_t room);

/* The best smallest e_j / w_j (job_fair) or smallest largest load (max_utilization) over all pinned routings of one
 * path per flow, tried one by one. For a handful of flows and nodes; NAN when there is no routing. */
double referee_best_pinned(const struct problem *p);

/* Efficiencies of pinned routes, from referee_rates. */
void referee_efficiency(const struct problem *p, const struct routes *r, double *efficiency);

/* Two tiers: nleaf switches with nnic NICs each (named "n<leaf>.<i>"), nspine spines, all cables gbps; leaves first,
 * then spines, then NICs; links: NICs by leaf, then leaf-spine by leaf. Finished; the caller frees. */
struct fabric *referee_clos(int32_t nleaf, int32_t nspine, int32_t nnic, double gbps);

/* A small random fabric (some links down, directed or parallel, capacities of several sizes, some NICs with two ports)
 * with a few jobs of random bytes (or gbps) flows between random nodes; every routed flow has a live path. */
struct problem *referee_problem(uint64_t seed, enum demand_kind kind, int32_t nswitch, int32_t nflow);

/* Random routes for it: each routed flow on up to k random loop-free paths of random shares. */
struct routes *referee_routes(const struct problem *p, uint64_t seed, int32_t k);

#endif
