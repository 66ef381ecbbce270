#include "solver/engine/hops.h"

#include <stdlib.h>
#include <string.h>

/* dist counts from the ring of t: t itself when it is a switch, else the switches with an arc to it. */
struct hops {
    const struct fabric *f;
    int32_t t;
    int32_t *ring, nring; /* ascending, each once */
    int32_t *old, nold;   /* the ring of the destination before */
    int32_t *dist;        /* [nnode], -1: not (yet) reached; switches only */
    int32_t *queue, done, known;
    int32_t *list;   /* [narc]: next arcs of switch v from list[first[v]], where count[v] >= 0 */
    int32_t *count;  /* [nnode] */
    int32_t *single; /* [narc]: the one list that is not kept: at a NIC, or at the ring */
};

struct hops *hops_new(const struct fabric *f, struct err *e)
{
    struct hops *h = array(1, sizeof *h);
    if (!h)
        goto oom;
    h->f = f;
    h->t = -1;
    h->ring = array((int64_t)f->narc + 1, sizeof *h->ring);
    h->old = array((int64_t)f->narc + 1, sizeof *h->old);
    h->dist = array(f->nnode, sizeof *h->dist);
    h->queue = array(f->nnode, sizeof *h->queue);
    h->list = array(f->narc, sizeof *h->list);
    h->count = array(f->nnode, sizeof *h->count);
    h->single = array(f->narc, sizeof *h->single);
    if (!h->ring || !h->old || !h->dist || !h->queue || !h->list || !h->count || !h->single)
        goto oom;
    for (int32_t v = 0; v < f->nnode; v++)
        h->dist[v] = h->count[v] = -1;
    return h;
oom:
    hops_free(h);
    fail(e, E_MEMORY, "out of memory for hop counts of %d nodes", f->nnode);
    return NULL;
}

void hops_free(struct hops *h)
{
    if (!h)
        return;
    void *owned[] = { h->ring, h->old, h->dist, h->queue, h->list, h->count, h->single };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(h);
}

static int ascending(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

static int32_t ring_of(const struct fabric *f, int32_t t, int32_t *ring)
{
    int32_t n = 0, kept = 0;
    if (f->node_kind[t] == NODE_SWITCH) {
        ring[0] = t;
        return 1;
    }
    for (int32_t k = f->ifirst[t]; k < f->ifirst[t + 1]; k++)
        if (f->node_kind[f->tail[f->in[k]]] == NODE_SWITCH)
            ring[n++] = f->tail[f->in[k]];
    qsort(ring, (size_t)n, sizeof *ring, ascending);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || ring[i] != ring[i - 1])
            ring[kept++] = ring[i];
    return kept;
}

uint64_t hops_key(const struct fabric *f, int32_t t)
{
    if (f->node_kind[t] == NODE_SWITCH)
        return mix64((uint64_t)t);
    uint64_t key = 0;
    for (int32_t k = f->ifirst[t]; k < f->ifirst[t + 1]; k++) {
        int32_t v = f->tail[f->in[k]], first = 1;
        for (int32_t i = f->ifirst[t]; i < k; i++)
            first &= f->tail[f->in[i]] != v;
        if (first && f->node_kind[v] == NODE_SWITCH)
            key += mix64((uint64_t)v);
    }
    return key;
}

void hops_to(struct hops *h, int32_t t)
{
    int32_t *ring = h->old;
    h->t = t;
    h->old = h->ring;
    h->nold = h->nring;
    h->ring = ring;
    h->nring = ring_of(h->f, t, ring);
    if (h->nring == h->nold && memcmp(h->ring, h->old, (size_t)h->nring * sizeof *ring) == 0)
        return;
    for (int32_t i = 0; i < h->known; i++)
        h->dist[h->queue[i]] = h->count[h->queue[i]] = -1;
    h->done = h->known = 0;
    for (int32_t i = 0; i < h->nring; i++) {
        h->dist[h->ring[i]] = 0;
        h->queue[h->known++] = h->ring[i];
    }
}

/* One more level of the breadth-first search; 0 when there is none. */
static int deeper(struct hops *h)
{
    const struct fabric *f = h->f;
    int32_t end = h->known;
    for (; h->done < end; h->done++) {
        int32_t v = h->queue[h->done];
        for (int32_t k = f->ifirst[v]; k < f->ifirst[v + 1]; k++) {
            int32_t u = f->tail[f->in[k]];
            if (h->dist[u] >= 0 || f->node_kind[u] == NODE_NIC)
                continue;
            h->dist[u] = h->dist[v] + 1;
            h->queue[h->known++] = u;
        }
    }
    return h->known > end;
}

/* The smallest dist among the switches next to NIC s, -1 while none is reached. */
static int32_t nearest(const struct hops *h, int32_t s)
{
    int32_t best = -1;
    for (int32_t k = h->f->first[s]; k < h->f->first[s + 1]; k++) {
        int32_t d = h->dist[h->f->head[h->f->out[k]]];
        if (d >= 0 && (best < 0 || d < best))
            best = d;
    }
    return best;
}

/* Arcs v -> t, ascending, into single. */
static int32_t direct(struct hops *h, int32_t v)
{
    const struct fabric *f = h->f;
    int32_t n = 0;
    for (int32_t k = f->ifirst[h->t]; k < f->ifirst[h->t + 1]; k++)
        if (f->tail[f->in[k]] == v)
            h->single[n++] = f->in[k];
    return n;
}

int32_t hops_from(struct hops *h, int32_t s)
{
    if (s == h->t)
        return -1;
    if (direct(h, s) > 0)
        return 1;
    int32_t last = h->f->node_kind[h->t] == NODE_NIC, nic = h->f->node_kind[s] == NODE_NIC, d;
    while ((d = nic ? nearest(h, s) : h->dist[s]) < 0)
        if (!deeper(h))
            return -1;
    return d + nic + last;
}

/* Arcs out of v to switches at distance d, ascending. */
static int32_t towards(const struct hops *h, int32_t v, int32_t d, int32_t *list)
{
    const struct fabric *f = h->f;
    int32_t n = 0;
    for (int32_t k = f->first[v]; k < f->first[v + 1]; k++) {
        int32_t w = f->head[f->out[k]];
        if (h->dist[w] == d)
            list[n++] = f->out[k];
    }
    return n;
}

const int32_t *hops_next(struct hops *h, int32_t v, int32_t *n)
{
    if (h->f->node_kind[v] == NODE_NIC || h->dist[v] <= 0) {
        *n = direct(h, v);
        if (*n == 0)
            *n = towards(h, v, nearest(h, v), h->single);
        return h->single;
    }
    int32_t *list = h->list + h->f->first[v];
    /* A switch next to t = switch is at distance 1 and its arcs to the ring are the arcs to t. */
    if (h->count[v] < 0)
        h->count[v] = towards(h, v, h->dist[v] - 1, list);
    *n = h->count[v];
    return list;
}
