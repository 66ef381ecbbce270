/* Forwarding tables made whole: entries that no flow decided, switches as destinations, turns where going up first
 * reaches nothing, and the proof that no ring of arcs can wait for itself.
 */
#ifndef HEDDLE_COMPLETE_H
#define HEDDLE_COMPLETE_H

#include "solver/engine/updown.h"
#include "solver/model/forward.h"

/* t holds legal entries (next hops that updown_leads allows) for some destinations, or none. Fills an entry for every
 * switch and every other node of its connected part: the least used legal arc; where there is no legal one, the entry
 * towards a turning switch that is in legal reach of all its part, both ways (method.md part 4). Returns 0 when the
 * tables are whole and free of cycles, 1 when this order of the switches does not allow that, -1 on short memory. */
int complete_tables(struct updown *u, struct forward *t, struct err *e);

/* 1 when some ring of arcs waits for itself under the tables: every switch sends to every destination. -1 on short
 * memory. */
int complete_cyclic(const struct fabric *f, const struct forward *t, struct err *e);

#endif
