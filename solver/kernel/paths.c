#include "solver/kernel/paths.h"

#include <math.h>
#include <stdlib.h>

/* What the heap orders by: length, then hops, then node. Hops grow along every arc, so a node leaves the heap after all
 * nodes that can reach it at the same key, also where prices are zero: the tree does not depend on the heap. */
struct entry {
    double dist;
    int32_t hops, node;
};

struct paths {
    struct graph g;
    int32_t *to; /* [first[nnode]] head[out[i]], beside out for the inner loops */
    int32_t nheap;
    struct entry *heap; /* [nnode] 4-ary, no node twice */
    int32_t *place;     /* [nnode] in heap; -1 when not in it */
    int32_t *hops;      /* [nnode] */
    int32_t *queue;     /* [nnode] breadth-first order */
    int32_t *back;      /* [nnode] arc that enters the node, for paths_disjoint */
    uint32_t round;     /* of paths_disjoint: gone[a] == round says that the arc is used */
    uint32_t *gone;     /* [narc] */
};

struct paths *paths_new(const struct graph *g)
{
    struct paths *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    size_t n = (size_t)g->nnode + 1, m = (size_t)g->first[g->nnode] + 1;
    w->g = *g;
    w->to = calloc(m, sizeof *w->to);
    w->heap = calloc(n, sizeof *w->heap);
    w->place = calloc(n, sizeof *w->place);
    w->hops = calloc(n, sizeof *w->hops);
    w->queue = calloc(n, sizeof *w->queue);
    w->back = calloc(n, sizeof *w->back);
    w->gone = calloc((size_t)g->narc + 1, sizeof *w->gone);
    if (!w->to || !w->heap || !w->place || !w->hops || !w->queue || !w->back || !w->gone) {
        paths_free(w);
        return NULL;
    }
    for (int32_t i = 0; i < g->first[g->nnode]; i++)
        w->to[i] = g->head[g->out[i]];
    return w;
}

void paths_free(struct paths *w)
{
    if (!w)
        return;
    free(w->to);
    free(w->heap);
    free(w->place);
    free(w->hops);
    free(w->queue);
    free(w->back);
    free(w->gone);
    free(w);
}

static int before(const struct entry *a, const struct entry *b)
{
    if (a->dist != b->dist)
        return a->dist < b->dist;
    if (a->hops != b->hops)
        return a->hops < b->hops;
    return a->node < b->node;
}

/* Put e at place i or above it, where it belongs. */
static void sift_up(struct paths *w, int32_t i, struct entry e)
{
    while (i > 0) {
        int32_t up = (i - 1) / 4;
        if (!before(&e, &w->heap[up]))
            break;
        w->heap[i] = w->heap[up];
        w->place[w->heap[i].node] = i;
        i = up;
    }
    w->heap[i] = e;
    w->place[e.node] = i;
}

static struct entry take_first(struct paths *w)
{
    struct entry top = w->heap[0], e = w->heap[--w->nheap];
    int32_t i = 0, n = w->nheap;
    w->place[top.node] = -1;
    if (n == 0)
        return top;
    for (;;) {
        int32_t child = 4 * i + 1, best = child, end = child + 4 < n ? child + 4 : n;
        if (child >= n)
            break;
        for (int32_t c = child + 1; c < end; c++)
            if (before(&w->heap[c], &w->heap[best]))
                best = c;
        if (!before(&w->heap[best], &e))
            break;
        w->heap[i] = w->heap[best];
        w->place[w->heap[i].node] = i;
        i = best;
    }
    w->heap[i] = e;
    w->place[e.node] = i;
    return top;
}

static void start_tree(struct paths *w, int32_t s, double *dist, int32_t *via)
{
    for (int32_t v = 0; v < w->g.nnode; v++) {
        dist[v] = INFINITY;
        via[v] = -1;
        w->hops[v] = INT32_MAX;
        w->place[v] = -1;
    }
    dist[s] = 0;
    w->hops[s] = 0;
}

/* Fewest hops first, cheapest among them: breadth-first order is an order of the layered graph. */
static void layered_tree(struct paths *w, int32_t s, const double *length, double *dist, int32_t *via)
{
    const struct graph *g = &w->g;
    int32_t begin = 0, end = 0;
    w->queue[end++] = s;
    while (begin < end) {
        int32_t v = w->queue[begin++], hops = w->hops[v] + 1;
        if (g->nic[v] && v != s)
            continue;
        for (int32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            int32_t t = w->to[i], a = g->out[i];
            double d = dist[v] + length[a];
            if (w->hops[t] == INT32_MAX) {
                w->hops[t] = hops;
                w->queue[end++] = t;
            } else if (w->hops[t] != hops || d > dist[t] || (d == dist[t] && a > via[t])) {
                continue;
            }
            dist[t] = d;
            via[t] = a;
        }
    }
}

void paths_tree(struct paths *w, int32_t s, const double *length, int within_hops, double *dist, int32_t *via)
{
    const struct graph *g = &w->g;
    start_tree(w, s, dist, via);
    if (within_hops) {
        layered_tree(w, s, length, dist, via);
        return;
    }
    w->nheap = 1;
    sift_up(w, 0, (struct entry){ 0, 0, s });
    while (w->nheap > 0) {
        struct entry e = take_first(w);
        int32_t hops = e.hops + 1;
        if (g->nic[e.node] && e.node != s)
            continue;
        for (int32_t i = g->first[e.node]; i < g->first[e.node + 1]; i++) {
            int32_t t = w->to[i], a = g->out[i];
            double d = e.dist + length[a];
            if (d > dist[t] || (d == dist[t] && hops > w->hops[t]))
                continue;
            if (d == dist[t] && hops == w->hops[t]) {
                if (via[t] >= 0 && a < via[t])
                    via[t] = a;
                continue;
            }
            dist[t] = d;
            w->hops[t] = hops;
            via[t] = a;
            sift_up(w, w->place[t] >= 0 ? w->place[t] : w->nheap++, (struct entry){ d, hops, t });
        }
    }
}

int32_t paths_trace(const struct paths *w, int32_t s, int32_t t, const int32_t *via, int32_t *arc, int32_t room)
{
    int32_t n = 0;
    for (int32_t v = t; v != s; v = w->g.tail[via[v]])
        if (via[v] < 0 || ++n > room)
            return -1;
    for (int32_t v = t, i = n; v != s; v = w->g.tail[via[v]])
        arc[--i] = via[v];
    return n;
}

/* Breadth first over the arcs that are not gone, until the layer of t is known in full; 1 when t is reached. */
static int fewest_hops(struct paths *w, int32_t s, int32_t t)
{
    const struct graph *g = &w->g;
    int32_t begin = 0, end = 0;
    for (int32_t v = 0; v < g->nnode; v++)
        w->hops[v] = INT32_MAX;
    w->hops[s] = 0;
    w->queue[end++] = s;
    while (begin < end) {
        int32_t v = w->queue[begin++], hops = w->hops[v] + 1;
        if (hops > w->hops[t])
            break;
        if (g->nic[v] && v != s)
            continue;
        for (int32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            int32_t x = w->to[i], a = g->out[i];
            if (w->gone[a] == w->round)
                continue;
            if (w->hops[x] == INT32_MAX) {
                w->hops[x] = hops;
                w->back[x] = a;
                w->queue[end++] = x;
            } else if (w->hops[x] == hops && a < w->back[x]) {
                w->back[x] = a;
            }
        }
    }
    return w->hops[t] != INT32_MAX;
}

int32_t paths_disjoint(struct paths *w, int32_t s, int32_t t, int32_t k, int32_t *at, int32_t *arc, int32_t room)
{
    int32_t n = 0;
    if (++w->round == 0) { /* the counter came round: old marks would look new */
        for (int32_t a = 0; a < w->g.narc; a++)
            w->gone[a] = 0;
        w->round = 1;
    }
    at[0] = 0;
    while (n < k && s != t && fewest_hops(w, s, t)) {
        int32_t end = at[n] + w->hops[t];
        if (end > room)
            return -1;
        for (int32_t v = t, i = end; v != s; v = w->g.tail[w->back[v]]) {
            arc[--i] = w->back[v];
            w->gone[w->back[v]] = w->round;
        }
        at[++n] = end;
    }
    return n;
}
