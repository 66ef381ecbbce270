#include "service/formats/tiers.h"

#include <stdlib.h>

static const int32_t LEAF_SHARE = 8; /* a leaf has at least one of so many parts of the NICs of the fullest switch */

/* Neighbours of v: list[first[v] .. first[v + 1]). */
static void neighbours(const struct fabric *f, int32_t *first, int32_t *list)
{
    for (int32_t i = 0; i < f->nlink; i++) {
        first[f->link_from[i]]++;
        first[f->link_to[i]]++;
    }
    for (int32_t v = 0; v < f->nnode; v++)
        first[v + 1] += first[v];
    for (int32_t i = f->nlink - 1; i >= 0; i--) {
        list[--first[f->link_to[i]]] = f->link_from[i];
        list[--first[f->link_from[i]]] = f->link_to[i];
    }
}

static int32_t mark_leaves(struct fabric *f, int32_t *nics, int32_t *queue)
{
    int32_t most = 0, n = 0;
    for (int32_t i = 0; i < f->nlink; i++) {
        int32_t s = f->link_from[i], t = f->link_to[i];
        if (f->node_kind[s] != f->node_kind[t]) {
            int32_t k = ++nics[f->node_kind[s] == NODE_SWITCH ? s : t];
            most = k > most ? k : most;
        }
    }
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->node_kind[v] == NODE_NIC)
            f->node_tier[v] = 0;
        else if (nics[v] > 0 && nics[v] >= (most + LEAF_SHARE - 1) / LEAF_SHARE) {
            f->node_tier[v] = 1;
            queue[n++] = v;
        }
    return n;
}

int tiers_find(struct fabric *f, struct err *e)
{
    int32_t *first = array((int64_t)f->nnode + 1, sizeof *first), *list = array(2 * (int64_t)f->nlink, sizeof *list);
    int32_t *nics = array(f->nnode, sizeof *nics), *queue = array(f->nnode, sizeof *queue);
    int ok = first && list && nics && queue;
    int32_t n = 0;
    if (ok) {
        neighbours(f, first, list);
        n = mark_leaves(f, nics, queue);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = first[queue[i]]; k < first[queue[i] + 1]; k++)
            if (f->node_tier[list[k]] < 0) {
                f->node_tier[list[k]] = f->node_tier[queue[i]] + 1;
                queue[n++] = list[k];
            }
    free(first);
    free(list);
    free(nics);
    free(queue);
    return ok ? 0 : fail(e, E_MEMORY, "out of memory for the tiers of %d nodes", f->nnode);
}
