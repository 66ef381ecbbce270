/* What a node can reach over live arcs.
 */
#ifndef HEDDLE_REACH_H
#define HEDDLE_REACH_H

#include "solver/model/fabric.h"

/* seen[v] = mark for every node that s reaches over live arcs, those with price > 0 left out (price NULL: none); NICs
 * are not passed through. Nodes that already hold the mark are not entered. queue[nnode] is scratch. */
void reach(const struct fabric *f, const double *price, int32_t s, int32_t mark, int32_t *seen, int32_t *queue);

#endif
