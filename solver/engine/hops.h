/* The fewest-hop paths to one destination at a time, as the next arcs at every node: what hashed routing and packet
 * spraying choose from. Works outwards from the destination only as far as it is asked; destinations behind the same
 * switches share the work when they come one after the other (hops_key orders them so). NICs are never passed through.
 */
#ifndef HEDDLE_HOPS_H
#define HEDDLE_HOPS_H

#include "solver/model/fabric.h"

struct hops;

struct hops *hops_new(const struct fabric *f, struct err *e); /* f must outlive it */
void hops_free(struct hops *h);

/* Equal for destinations that share the work. */
uint64_t hops_key(const struct fabric *f, int32_t t);

/* Turn to destination t. */
void hops_to(struct hops *h, int32_t t);

/* Arcs on the fewest-hop paths s -> t, or -1 when there is none (or s = t). */
int32_t hops_from(struct hops *h, int32_t s);

/* The arcs out of v on fewest-hop paths to t, ascending, *n of them (at least one); v is a source that hops_from
 * measured, or the head of such an arc other than t. The list lasts until the next call for another v. */
const int32_t *hops_next(struct hops *h, int32_t v, int32_t *n);

#endif
