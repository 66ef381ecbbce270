/* Bounds that need no prices: cuts of the fabric that many flows must cross. Leaf cuts (a switch and its NICs), pods,
 * sites, single NICs, and cuts read off the support of given prices; each as a fluid bound (prices 1 on the cut) and,
 * for one path per flow, as pigeonhole levels (solver/README.md).
 */
#ifndef HEDDLE_CUTS_H
#define HEDDLE_CUTS_H

#include "solver/model/pods.h"
#include "solver/model/routes.h"

/* job_fair: the smallest bound on min_j e_j / w_j over all cuts tried, with its certificate in *best (replaced when
 * better than best->bound or when best->kind is CERT_NONE). price[narc] may be NULL. max_utilization: the largest fluid
 * bound. */
int cuts_bound(const struct problem *p, const struct pods *pods, const double *price, struct certificate *best,
               struct err *e);

/* What each job could have at most if it were alone on the fabric: bound[njob] on e_j (not divided by the weight) over
 * the same cuts, its own flows only. Sharper than the joint bound for the jobs that are not the worst served. */
int cuts_alone(const struct problem *p, const struct pods *pods, double *bound, struct err *e);

#endif
