#include "solver/kernel/rates.h"
#include "solver/kernel/heap.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct side {
    double room;   /* capacity left by the subflows whose rate is settled */
    int64_t users; /* entries of unsettled subflows */
};

struct rates {
    int64_t nsub, hops;
    int32_t narc;
    struct side *side; /* [narc] */
    int64_t *first;    /* [narc + 1]: subflows over arc a are on[first[a] .. first[a + 1]) */
    int32_t *on;       /* [hops] */
    struct stop *heap; /* [narc + nsub]: id < narc: arc at room / users; else subflow id - narc at its own ceiling */
    int64_t nheap;
};

struct rates *rates_new(int64_t nsub, int64_t hops, int32_t narc)
{
    if (nsub < 0 || nsub > INT32_MAX || hops < 0 || narc < 0)
        return NULL;
    struct rates *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->nsub = nsub;
    r->hops = hops;
    r->narc = narc;
    r->side = calloc((size_t)narc + 1, sizeof *r->side);
    r->first = calloc((size_t)narc + 1, sizeof *r->first);
    r->on = calloc((size_t)hops + 1, sizeof *r->on);
    r->heap = calloc((size_t)(narc + nsub) + 1, sizeof *r->heap);
    if (r->side && r->first && r->on && r->heap)
        return r;
    rates_free(r);
    return NULL;
}

void rates_free(struct rates *r)
{
    if (!r)
        return;
    free(r->side);
    free(r->first);
    free(r->on);
    free(r->heap);
    free(r);
}

/* Which subflows cross each arc, as a counting sort; and every arc's full room. */
static void index_arcs(struct rates *r, int64_t nsub, const int64_t *at, const int32_t *arc, int32_t narc,
                       const double *cap)
{
    for (int32_t a = 0; a < narc; a++) {
        r->side[a].room = cap[a];
        r->side[a].users = 0;
    }
    for (int64_t h = at[0]; h < at[nsub]; h++)
        r->side[arc[h]].users++;
    int64_t end = 0;
    for (int32_t a = 0; a < narc; a++)
        r->first[a] = end += r->side[a].users;
    r->first[narc] = end;
    for (int64_t i = nsub - 1; i >= 0; i--)
        for (int64_t h = at[i]; h < at[i + 1]; h++)
            r->on[--r->first[arc[h]]] = (int32_t)i;
}

static void fill_heap(struct rates *r, int64_t nsub, const int64_t *at, const double *ceiling, int32_t narc)
{
    r->nheap = 0;
    for (int32_t a = 0; a < narc; a++)
        if (r->side[a].users > 0)
            r->heap[r->nheap++] = (struct stop){ r->side[a].room / (double)r->side[a].users, a };
    for (int64_t i = 0; ceiling && i < nsub; i++)
        if (at[i] < at[i + 1] && ceiling[i] < INFINITY)
            r->heap[r->nheap++] = (struct stop){ ceiling[i], narc + i };
    heap_make(r->heap, r->nheap);
}

static void settle(struct side *side, const int64_t *at, const int32_t *arc, int64_t i, double level, double *rate)
{
    rate[i] = level;
    for (int64_t h = at[i]; h < at[i + 1]; h++) {
        side[arc[h]].room -= level;
        side[arc[h]].users--;
    }
}

/* All subflows rise together; at each step the stop with the smallest level settles its subflows there. An arc's level
 * only rises as others settle, so the heap keeps old levels and an arc is looked at again when it comes up: it goes
 * back if its level has risen since. Rounding may leave room a little short (even below zero), so a level never falls
 * under the one before. */
void rates_fill(struct rates *r, int64_t nsub, const int64_t *at, const int32_t *arc, const double *ceiling,
                int32_t narc, const double *cap, double *rate)
{
    assert(nsub <= r->nsub && at[nsub] - at[0] <= r->hops && narc <= r->narc);
    for (int64_t i = 0; i < nsub; i++) /* negative: unsettled */
        rate[i] = at[i] < at[i + 1] ? -1 : ceiling ? ceiling[i] : INFINITY;
    index_arcs(r, nsub, at, arc, narc, cap);
    fill_heap(r, nsub, at, ceiling, narc);
    double last = 0;
    while (r->nheap > 0) {
        struct stop top = r->heap[0];
        if (top.id >= narc) {
            heap_pop(r->heap, &r->nheap);
            if (rate[top.id - narc] < 0)
                settle(r->side, at, arc, top.id - narc, top.level, rate);
            last = fmax(last, top.level);
            continue;
        }
        if (r->side[top.id].users == 0) {
            heap_pop(r->heap, &r->nheap);
            continue;
        }
        double level = fmax(r->side[top.id].room / (double)r->side[top.id].users, last);
        if (level > top.level && r->nheap > 1) {
            heap_raise(r->heap, r->nheap, level);
            if (r->heap[0].id != top.id)
                continue;
        }
        heap_pop(r->heap, &r->nheap);
        last = level;
        for (int64_t k = r->first[top.id]; k < r->first[top.id + 1]; k++)
            if (rate[r->on[k]] < 0)
                settle(r->side, at, arc, r->on[k], level, rate);
    }
}
