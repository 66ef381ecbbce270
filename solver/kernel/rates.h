/* Exact max-min fair rates by water-filling (Bertsekas and Gallager, Data Networks, section 6.5.2): what congestion
 * control gives to subflows of equal weight. Arrays in, arrays out.
 */
#ifndef HEDDLE_RATES_H
#define HEDDLE_RATES_H

#include <stdint.h>

/* Workspace for up to nsub subflows with hops arcs in all, over narc arcs; NULL on short memory. */
struct rates *rates_new(int64_t nsub, int64_t hops, int32_t narc);
void rates_free(struct rates *r);

/* rate[i], Gb/s, for subflow i over arcs arc[at[i] .. at[i + 1]); cap[narc] Gb/s; ceiling[i] is the subflow's own limit
 * (ceiling NULL: none). A subflow without arcs gets its ceiling, or infinity. Allocates nothing.
 * Cost: O(hops log narc). Deterministic: ties break by arc number. */
void rates_fill(struct rates *r, int64_t nsub, const int64_t *at, const int32_t *arc, const double *ceiling,
                int32_t narc, const double *cap, double *rate);

#endif
