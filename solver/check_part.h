/* The parts of check_plan, private to the check_*.c files. None of them includes the engine or the kernel: what they
 * agree on with the solver is the model and nothing else.
 */
#ifndef HEDDLE_CHECK_PART_H
#define HEDDLE_CHECK_PART_H

#include "solver/check.h"

/* Stated and recomputed figures differ by no more than this, relative to max(1, |a|, |b|), as in the outside judge. */
static const double CHECK_RATE = 1e-6, CHECK_VALUE = 1e-5;

int check_close(double a, double b, double tolerance);

/* One sentence; those past CHECK_FAULTS are counted only. */
void check_fault(struct check_report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same about flow f, as jobs[j].flows[i] with its ends, and about its path k (index into routes) unless k < 0. */
void check_fault_flow(struct check_report *r, const struct problem *p, const struct routes *routes, int32_t f,
                      int64_t k, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* check_routes.c: paths against fabric, policy and shares. Faults only; the later parts run when there was none. */
int check_routes(const struct problem *p, const struct routes *routes, struct check_report *report, struct err *e);

/* check_tables.c: routing destination; routes that check_routes found good. Faults only. */
int check_tables(const struct problem *p, const struct plan *plan, struct check_report *report, struct err *e);

/* check_rates.c: rates, efficiencies, loads and value. Sets report->value. */
int check_rates(const struct problem *p, const struct plan *plan, struct check_report *report, struct err *e);

/* check_distance.c: length of each routed flow's cheapest allowed path (list, shortest, disjoint:k, all), INFINITY
 * where there is none, 0 for other flows. length[narc] >= 0; hops may be NULL: arcs of the fewest-hop path, -1 where
 * there is none (filled for the policy shortest only). One search per switch that sources hang on. */
int check_distance(const struct problem *p, const double *length, double *dist, int32_t *hops, struct err *e);

/* The disjoint paths of the rule in kernel/paths.h, derived anew. Workspace for one problem. */
struct check_disjoint;
struct check_disjoint *check_disjoint_new(const struct problem *p, struct err *e);
void check_disjoint_free(struct check_disjoint *w);
/* How many; path i is arc[at[i] .. at[i + 1]), valid until the next call. -1 on short memory. */
int32_t check_disjoint_find(struct check_disjoint *w, int32_t f, const int32_t **at, const int32_t **arc);

/* check_bound.c: the certificate and the levels. Sets report->bound. */
int check_bound(const struct problem *p, const struct plan *plan, struct check_report *report, struct err *e);
/* Status infeasible: flow has no way, and the stated arcs are the proof. */
int check_cut(const struct problem *p, const struct certificate *c, struct check_report *report, struct err *e);

#endif
