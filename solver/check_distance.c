/* Cheapest allowed lengths, as a certificate needs them: one search per switch that sources hang on, over switches
 * only. NICs add their first and last arcs outside of it, since nothing passes through them.
 */
#include "solver/check_part.h"

#include <math.h>
#include <stdlib.h>

/* Keys are (hops, length) in dictionary order; hops stay 0 unless the policy is shortest. */
struct key {
    int32_t hops;
    double length;
};

static int less(struct key a, struct key b)
{
    return a.hops != b.hops ? a.hops < b.hops : a.length < b.length;
}

/* Flow f may begin at switch root, having come there by key. */
struct start {
    int32_t root, flow;
    struct key key;
};

struct item {
    struct key key;
    int32_t node;
};

struct search {
    const struct fabric *f;
    const double *length;
    int32_t hop; /* 1 under the policy shortest: what one arc adds to hops */
    struct key *best;
    int32_t *seen, *settled, *wanted; /* [nnode] equal to run: set in this search */
    int32_t run, nwanted;
    struct item *heap;
    int64_t nheap;
    int32_t *queue;
};

static void heap_push(struct search *w, struct item x)
{
    int64_t i = w->nheap++;
    for (; i > 0 && less(x.key, w->heap[(i - 1) / 2].key); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = x;
}

static struct item heap_take(struct search *w)
{
    struct item top = w->heap[0], x = w->heap[--w->nheap];
    int64_t i = 0;
    for (int64_t c = 1; c < w->nheap; i = c, c = 2 * c + 1) {
        if (c + 1 < w->nheap && less(w->heap[c + 1].key, w->heap[c].key))
            c++;
        if (!less(w->heap[c].key, x.key))
            break;
        w->heap[i] = w->heap[c];
    }
    w->heap[i] = x;
    return top;
}

static struct key add(const struct search *w, struct key k, int32_t a)
{
    return (struct key){ k.hops + w->hop, k.length + w->length[a] };
}

static void settle(struct search *w, int32_t v, int32_t *n)
{
    w->settled[v] = w->run;
    w->nwanted -= w->wanted[v] == w->run;
    w->queue[(*n)++] = v;
}

/* Dijkstra from root until every wanted switch is settled. Most arcs of a certificate have no price: what they reach
 * has the key of the node at hand and joins its queue, nearest first, without going through the heap. */
static void search_from(struct search *w, int32_t root)
{
    const struct fabric *f = w->f;
    w->nheap = 0;
    w->best[root] = (struct key){ 0, 0 };
    w->seen[root] = w->run;
    heap_push(w, (struct item){ w->best[root], root });
    while (w->nheap > 0 && w->nwanted > 0) {
        struct item top = heap_take(w);
        int32_t n = 0;
        if (w->settled[top.node] != w->run)
            settle(w, top.node, &n);
        for (int32_t i = 0; i < n && w->nwanted > 0; i++) {
            int32_t v = w->queue[i];
            for (int32_t k = f->first[v]; k < f->first[v + 1]; k++) {
                int32_t u = f->head[f->out[k]];
                struct key key = add(w, top.key, f->out[k]);
                if (f->node_kind[u] == NODE_NIC || w->settled[u] == w->run ||
                    (w->seen[u] == w->run && !less(key, w->best[u])))
                    continue;
                w->best[u] = key;
                w->seen[u] = w->run;
                if (less(top.key, key))
                    heap_push(w, (struct item){ key, u });
                else
                    settle(w, u, &n);
            }
        }
    }
}

static void want(struct search *w, int32_t v)
{
    if (w->f->node_kind[v] == NODE_NIC || w->wanted[v] == w->run)
        return;
    w->wanted[v] = w->run;
    w->nwanted++;
}

static void want_target(struct search *w, int32_t t)
{
    if (w->f->node_kind[t] == NODE_SWITCH)
        want(w, t);
    else
        for (int32_t k = w->f->ifirst[t]; k < w->f->ifirst[t + 1]; k++)
            want(w, w->f->tail[w->f->in[k]]);
}

static void offer(struct key k, double *dist, int32_t *hops)
{
    if (less(k, (struct key){ *hops, *dist })) {
        *dist = k.length;
        *hops = k.hops;
    }
}

/* What the search says about a flow that began with key at its root. */
static void read_target(const struct search *w, int32_t t, struct key start, double *dist, int32_t *hops)
{
    const struct fabric *f = w->f;
    if (f->node_kind[t] == NODE_SWITCH) {
        if (w->settled[t] == w->run)
            offer((struct key){ start.hops + w->best[t].hops, start.length + w->best[t].length }, dist, hops);
        return;
    }
    for (int32_t k = f->ifirst[t]; k < f->ifirst[t + 1]; k++) {
        int32_t v = f->tail[f->in[k]];
        if (w->settled[v] != w->run) /* a NIC never is */
            continue;
        struct key end = add(w, w->best[v], f->in[k]);
        offer((struct key){ start.hops + end.hops, start.length + end.length }, dist, hops);
    }
}

static int by_root(const void *x, const void *y)
{
    const struct start *a = x, *b = y;
    return a->root != b->root ? (a->root > b->root) - (a->root < b->root) : (a->flow > b->flow) - (a->flow < b->flow);
}

static int from_lists(const struct problem *p, int32_t f)
{
    return p->list_first && p->list_first[f + 1] > p->list_first[f];
}

/* Starts of flow f, written to s; direct arcs between its ends are offered at once. */
static int64_t starts_of(const struct search *w, const struct problem *p, int32_t f, struct start *s, double *dist,
                         int32_t *hops)
{
    const struct fabric *g = p->fabric;
    int32_t v = p->src[f];
    int64_t n = 0;
    if (g->node_kind[v] == NODE_SWITCH) {
        s[0] = (struct start){ v, f, { 0, 0 } };
        return 1;
    }
    for (int32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        int32_t u = g->head[g->out[k]];
        struct key key = add(w, (struct key){ 0, 0 }, g->out[k]);
        if (g->node_kind[u] == NODE_SWITCH)
            s[n++] = (struct start){ u, f, key };
        else if (u == p->dst[f])
            offer(key, dist, hops);
    }
    return n;
}

/* A flow is searched for when no list and no disjoint paths decide. */
static int searched(const struct problem *p, int32_t f)
{
    return problem_routed(p, f) && !from_lists(p, f) && p->options.policy != PATHS_DISJOINT;
}

static void run_searches(struct search *w, const struct problem *p, struct start *start, int64_t nstart, double *dist,
                         int32_t *hops)
{
    qsort(start, (size_t)nstart, sizeof *start, by_root);
    for (int64_t i = 0, end; i < nstart; i = end) {
        w->run++;
        w->nwanted = 0;
        for (end = i; end < nstart && start[end].root == start[i].root; end++)
            want_target(w, p->dst[start[end].flow]);
        search_from(w, start[i].root);
        for (int64_t k = i; k < end; k++)
            read_target(w, p->dst[start[k].flow], start[k].key, &dist[start[k].flow], &hops[start[k].flow]);
    }
}

static int search_all(const struct problem *p, const double *length, double *dist, int32_t *hops)
{
    const struct fabric *f = p->fabric;
    struct search w = { .f = f, .length = length, .hop = p->options.policy == PATHS_SHORTEST };
    int64_t room = 0, nstart = 0;
    for (int32_t i = 0; i < p->nflow; i++)
        room += searched(p, i) ? 1 + f->first[p->src[i] + 1] - f->first[p->src[i]] : 0;
    struct start *start = array(room, sizeof *start);
    w.best = array(f->nnode, sizeof *w.best);
    w.seen = array(f->nnode, sizeof *w.seen);
    w.settled = array(f->nnode, sizeof *w.settled);
    w.wanted = array(f->nnode, sizeof *w.wanted);
    w.queue = array(f->nnode, sizeof *w.queue);
    w.heap = array((int64_t)f->narc + 1, sizeof *w.heap); /* an arc pushes at most once */
    int rc = start && w.best && w.seen && w.settled && w.wanted && w.queue && w.heap ? 0 : -1;
    for (int32_t i = 0; i < p->nflow && rc == 0; i++)
        if (searched(p, i))
            nstart += starts_of(&w, p, i, start + nstart, &dist[i], &hops[i]);
    if (rc == 0)
        run_searches(&w, p, start, nstart, dist, hops);
    void *owned[] = { start, w.best, w.seen, w.settled, w.wanted, w.queue, w.heap };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    return rc;
}

static double length_of(const double *length, const uint8_t *live, const int32_t *arc, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += live[arc[i]] ? length[arc[i]] : INFINITY;
    return sum;
}

static void from_list(const struct problem *p, const double *length, int32_t f, double *dist)
{
    for (int64_t i = p->list_first[f]; i < p->list_first[f + 1]; i++)
        *dist = fmin(
            *dist, length_of(length, p->fabric->live, p->list_arc + p->list_at[i], p->list_at[i + 1] - p->list_at[i]));
}

static int disjoint_all(const struct problem *p, const double *length, double *dist)
{
    struct check_disjoint *w = check_disjoint_new(p, NULL);
    int rc = w ? 0 : -1;
    for (int32_t f = 0; f < p->nflow && rc == 0; f++) {
        const int32_t *at, *arc;
        if (!problem_routed(p, f) || from_lists(p, f))
            continue;
        int32_t n = check_disjoint_find(w, f, &at, &arc);
        for (int32_t i = 0; i < n; i++)
            dist[f] = fmin(dist[f], length_of(length, p->fabric->live, arc + at[i], at[i + 1] - at[i]));
        rc = n < 0 ? -1 : 0;
    }
    check_disjoint_free(w);
    return rc;
}

int check_distance(const struct problem *p, const double *length, double *dist, int32_t *hops, struct err *e)
{
    int32_t *h = array(p->nflow, sizeof *h);
    int rc = h ? 0 : -1;
    for (int32_t f = 0; f < p->nflow && rc == 0; f++) {
        dist[f] = problem_routed(p, f) ? INFINITY : 0;
        h[f] = INT32_MAX;
        if (problem_routed(p, f) && from_lists(p, f))
            from_list(p, length, f, &dist[f]);
    }
    if (rc == 0)
        rc = p->options.policy == PATHS_DISJOINT ? disjoint_all(p, length, dist) : search_all(p, length, dist, h);
    for (int32_t f = 0; f < p->nflow && rc == 0 && hops; f++)
        hops[f] = h[f] < INT32_MAX ? h[f] : -1;
    free(h);
    return rc < 0 ? fail(e, E_MEMORY, "out of memory for the distances of %d flows", p->nflow) : 0;
}

struct check_disjoint {
    const struct problem *p;
    int32_t *hops, *queue; /* [nnode] */
    uint8_t *gone;         /* [narc] used by a path of this flow */
    int32_t *at;           /* [k + 1] */
    int32_t *arc;
    int64_t room;
};

struct check_disjoint *check_disjoint_new(const struct problem *p, struct err *e)
{
    struct check_disjoint *w = array(1, sizeof *w);
    if (!w)
        goto oom;
    w->p = p;
    w->hops = array(p->fabric->nnode, sizeof *w->hops);
    w->queue = array(p->fabric->nnode, sizeof *w->queue);
    w->gone = array(p->fabric->narc, sizeof *w->gone);
    w->at = array((int64_t)p->options.disjoint + 1, sizeof *w->at);
    if (w->hops && w->queue && w->gone && w->at)
        return w;
oom:
    check_disjoint_free(w);
    fail(e, E_MEMORY, "out of memory for disjoint paths");
    return NULL;
}

void check_disjoint_free(struct check_disjoint *w)
{
    if (!w)
        return;
    void *owned[] = { w->hops, w->queue, w->gone, w->at, w->arc };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(w);
}

/* Hops from s over arcs that are not gone, no further than t; -1 where not reached. */
static int32_t count_hops(struct check_disjoint *w, int32_t s, int32_t t)
{
    const struct fabric *f = w->p->fabric;
    int32_t n = 0;
    for (int32_t v = 0; v < f->nnode; v++)
        w->hops[v] = -1;
    w->hops[s] = 0;
    w->queue[n++] = s;
    for (int32_t i = 0; i < n && w->hops[t] < 0; i++) {
        int32_t v = w->queue[i];
        if (f->node_kind[v] == NODE_NIC && v != s)
            continue;
        for (int32_t k = f->first[v]; k < f->first[v + 1]; k++) {
            int32_t u = f->head[f->out[k]];
            if (w->gone[f->out[k]] || w->hops[u] >= 0)
                continue;
            w->hops[u] = w->hops[v] + 1;
            w->queue[n++] = u;
        }
    }
    return w->hops[t];
}

/* The smallest arc that enters v one hop nearer to s. */
static int32_t step_back(const struct check_disjoint *w, int32_t s, int32_t v)
{
    const struct fabric *f = w->p->fabric;
    for (int32_t k = f->ifirst[v]; k < f->ifirst[v + 1]; k++) {
        int32_t a = f->in[k], u = f->tail[a];
        if (!w->gone[a] && w->hops[u] == w->hops[v] - 1 && (u == s || f->node_kind[u] == NODE_SWITCH))
            return a;
    }
    return -1;
}

int32_t check_disjoint_find(struct check_disjoint *w, int32_t f, const int32_t **at, const int32_t **arc)
{
    int32_t s = w->p->src[f], t = w->p->dst[f], n = 0, hops;
    w->at[0] = 0;
    while (n < w->p->options.disjoint && (hops = count_hops(w, s, t)) > 0) {
        void *room = w->arc;
        int rc = array_grow(&room, &w->room, (int64_t)w->at[n] + hops, sizeof *w->arc);
        w->arc = room;
        if (rc < 0)
            return -1;
        int32_t i = w->at[n] + hops;
        w->at[++n] = i;
        for (int32_t v = t; v != s; v = w->p->fabric->tail[w->arc[i]]) {
            w->arc[--i] = step_back(w, s, v);
            w->gone[w->arc[i]] = 1;
        }
    }
    for (int32_t i = 0; i < w->at[n]; i++)
        w->gone[w->arc[i]] = 0;
    *at = w->at;
    *arc = w->arc;
    return n;
}
