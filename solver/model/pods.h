/* Pods: which node belongs to which part of the fabric, which arcs are cut, which rank owns what. Depends on the
 * problem alone, never on the number of ranks.
 */
#ifndef HEDDLE_PODS_H
#define HEDDLE_PODS_H

#include "solver/model/fabric.h"

struct pods {
    int32_t npod;
    int32_t nnode, narc;
    int32_t *of;  /* [nnode] pod of each node, in [0, npod) */
    int32_t *arc; /* [narc] pod that owns a live arc inside it; -1 for cut arcs and dead arcs */
    int32_t ncut;
    int32_t *cut; /* [ncut] live arcs between two pods, ascending */
};

/* Takes a copy of of. Refuses an index out of [0, npod) or a pod without a node, naming it. npod = 0 only when the
 * fabric has no node. */
struct pods *pods_new(const struct fabric *f, int32_t npod, const int32_t *of, struct err *e);
void pods_free(struct pods *p);

/* Pods [pods_begin(rank), pods_begin(rank + 1)) belong to the rank: contiguous runs, sizes differ by at most one. */
int32_t pods_begin(const struct pods *p, int rank, int size);

#endif
