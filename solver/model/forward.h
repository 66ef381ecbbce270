/* Forwarding tables: per switch, the arc towards every other node. What routing "destination" decides, and what an
 * InfiniBand switch holds.
 */
#ifndef HEDDLE_FORWARD_H
#define HEDDLE_FORWARD_H

#include "solver/model/fabric.h"

struct forward {
    int32_t nnode, nswitch;
    int32_t *row; /* [nnode] the switch's row, -1 for NICs; rows in the order of the nodes */
    int32_t *arc; /* [nswitch * nnode] arc[row * nnode + destination], -1: no entry (the switch itself among others) */
};

/* All entries -1. NULL on short memory. */
struct forward *forward_new(const struct fabric *f, struct err *e);
void forward_free(struct forward *t);

/* The entries of switch v by destination node. */
static inline int32_t *forward_row(const struct forward *t, int32_t v)
{
    return t->arc + (int64_t)t->row[v] * t->nnode;
}

/* The way from switch s to node d as arcs, at most room of them; their number, or -1 when an entry is missing or the
 * way does not fit (a loop fits in no room). */
int32_t forward_walk(const struct fabric *f, const struct forward *t, int32_t s, int32_t d, int32_t *arc, int32_t room);

#endif
