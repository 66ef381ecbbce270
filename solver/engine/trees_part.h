/* Private to the trees_*.c files and tables.c. */
#ifndef HEDDLE_TREES_PART_H
#define HEDDLE_TREES_PART_H

#include "solver/engine/trees.h"

/* The cable between the two NICs of flow f as an arc; -1 when there is none: such a flow passes no switch. */
int32_t trees_direct(const struct problem *p, int32_t f);

/* Fills units, destinations and ways. *no_way = 1 when a unit has none. */
int trees_units(struct trees *t, int *no_way, struct err *e);

/* Unit g is on trial: returns what leaving its present way saves (at most 0). */
struct trees_cost trees_try(struct trees *t, int32_t g);

/* What it costs to put the unit on trial on a way of n arcs, the units that follow included. */
struct trees_cost trees_price(struct trees *t, int32_t g, const int32_t *arc, int32_t n,
                              const struct trees_cost *saved);
int trees_cheaper(const struct trees_cost *x, const struct trees_cost *y);

#endif
