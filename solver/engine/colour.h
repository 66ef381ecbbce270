/* Edge-colouring starts for fabrics of two or three tiers: the middle switch (and the parallel cable) of every unit is
 * a colour, and no colour may be used by more units of a leaf or pod than its cable holds. Found from the graph; each
 * group of leaves under common tops is coloured on its own, units that find no free colour stay lifted.
 */
#ifndef HEDDLE_COLOUR_H
#define HEDDLE_COLOUR_H

#include "solver/engine/eject.h"

struct colour;

/* *out = NULL (and 0 returned) where the graph is no such fabric. w must outlive it. */
int colour_new(const struct lanes *w, struct colour **out, struct err *e);
void colour_free(struct colour *c);

/* Lifts every unit of s, then places those that get a colour under the present target. */
void colour_place(struct colour *c, struct eject *s);

/* The same for subflows, flow[nunit] of each: those of one flow are kept apart, and what is left takes one place more
 * on the last colours, as few as will do, the same ones at every leaf. */
void colour_spread(struct colour *c, struct eject *s, const int32_t *flow);

#endif
