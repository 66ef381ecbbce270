/* What routes achieve: exact rates, efficiencies, loads, and the objective's value (solver/README.md).
 */
#ifndef HEDDLE_SCORE_H
#define HEDDLE_SCORE_H

#include "solver/model/routes.h"

/* Pinned routes: water-fill (each path a subflow of weight 1; gbps demands cap it at share * demand) and write r->gbps.
 * efficiency[njob] = I_j / T_j (1 for a job that sends nothing), load[narc] = load_a / u_a; either may be NULL. */
int score_pinned(const struct problem *p, struct routes *r, double *efficiency, double *load, struct err *e);

/* Split routes: r->gbps is taken as stated. */
int score_split(const struct problem *p, const struct routes *r, double *efficiency, double *load, struct err *e);

/* The workspace of score_pinned, for searches that score many routes of at most npath paths with hops arcs in all.
 * scorer_pinned allocates nothing. p must outlive it. NULL on short memory. */
struct scorer *scorer_new(const struct problem *p, int64_t npath, int64_t hops, struct err *e);
void scorer_free(struct scorer *s);
void scorer_pinned(struct scorer *s, struct routes *r, double *efficiency, double *load);

/* Smallest e_j / w_j (1 when there is no job), or the largest load. */
double score_value(const struct problem *p, const double *efficiency, const double *load);

/* Order of two efficiency vectors by the sorted e_j / w_j, smallest first: > 0 when a is better. Differences below
 * 1e-9 relative count as equal. sorted[2 * njob] is scratch. */
int score_compare(const struct problem *p, const double *a, const double *b, double *sorted);

#endif
