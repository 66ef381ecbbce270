/* The best fractional routings of small problems by linear programs over all allowed paths, solved by Clp. For tests
 * only.
 */
#ifndef HEDDLE_TESTS_LP_H
#define HEDDLE_TESTS_LP_H

#include "solver/model/routes.h"

/* Least largest load_a / u_a when flow f puts load[f] on its arcs; NAN when a flow with load has no path. */
double lp_utilization(const struct problem *p, const double *load);

/* Max-min efficiencies over jobs (weighted), by one program per level and one per free job. */
void lp_levels(const struct problem *p, double *efficiency);

/* Allowed paths of flow f under the problem's lists and policy: -1-terminated, path i at path[i * (nnode + 1)]; returns
 * how many (at most room). */
int32_t lp_paths(const struct problem *p, int32_t f, int32_t *path, int32_t room);

/* What every flow puts on its arcs under the problem's objective; the caller frees. */
double *lp_loads(const struct problem *p);

/* sum of load * cheapest allowed path / sum u y, by Bellman-Ford or path by path. */
double lp_proven(const struct problem *p, const double *load, const double *price);

/* Fails the test unless all paths are allowed and shares add to 1; returns the largest relative load. */
double lp_value(const struct problem *p, const struct routes *r, const double *load, const char *what);

#endif
