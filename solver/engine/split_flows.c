/* split_flows: which flows this rank solves, merged into commodities in a fixed order, and the core of the fabric on
 * which their trees grow.
 */
#include "solver/engine/split_inner.h"

#include <stdlib.h>

void split_core_free(struct core *c)
{
    paths_free(c->paths);
    void *owned[] = { c->of, c->first, c->out, c->head, c->tail, c->nic, c->dist, c->via };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* The only live arc out of a NIC, when it leads to a switch: its trees start there. Else -1. */
static int32_t prefix_of(const struct fabric *f, int32_t v)
{
    if (f->node_kind[v] != NODE_NIC || f->first[v + 1] - f->first[v] != 1)
        return -1;
    int32_t a = f->out[f->first[v]];
    return f->node_kind[f->head[a]] == NODE_SWITCH ? a : -1;
}

/* Number the switches and the source NICs without a prefix, in node order. */
static void core_number(struct split *s)
{
    const struct problem *p = s->p;
    const struct fabric *f = p->fabric;
    struct core *c = &s->core;
    for (int32_t v = 0; v < f->nnode; v++)
        c->of[v] = f->node_kind[v] == NODE_SWITCH ? 0 : -1;
    for (int32_t i = 0; i < p->nflow; i++)
        if (problem_routed(p, i) && prefix_of(f, p->src[i]) < 0)
            c->of[p->src[i]] = 0;
    for (int32_t v = 0; v < f->nnode; v++)
        if (c->of[v] == 0)
            c->of[v] = c->nnode++;
}

int split_core(struct split *s, struct err *e)
{
    const struct fabric *f = s->p->fabric;
    struct core *c = &s->core;
    c->of = array(f->nnode, sizeof *c->of);
    if (!c->of)
        goto oom;
    core_number(s);
    c->first = array((int64_t)c->nnode + 1, sizeof *c->first);
    c->out = array(f->first[f->nnode], sizeof *c->out);
    c->head = array(f->narc, sizeof *c->head);
    c->tail = array(f->narc, sizeof *c->tail);
    c->nic = array(c->nnode, sizeof *c->nic);
    c->dist = array(c->nnode, sizeof *c->dist);
    c->via = array(c->nnode, sizeof *c->via);
    if (!c->first || !c->out || !c->head || !c->tail || !c->nic || !c->dist || !c->via)
        goto oom;
    int32_t n = 0;
    for (int32_t v = 0; v < f->nnode; v++) {
        int32_t x = c->of[v];
        if (x < 0)
            continue;
        c->nic[x] = f->node_kind[v] == NODE_NIC;
        for (int32_t i = f->first[v]; i < f->first[v + 1]; i++) {
            int32_t a = f->out[i];
            if (f->node_kind[f->head[a]] != NODE_SWITCH)
                continue;
            c->tail[a] = x;
            c->head[a] = c->of[f->head[a]];
            c->out[n++] = a;
        }
        c->first[x + 1] = n;
    }
    struct graph g = { c->nnode, f->narc, c->first, c->out, c->head, c->tail, c->nic };
    c->paths = paths_new(&g);
    if (!c->paths)
        goto oom;
    return 0;
oom:
    return fail(e, E_MEMORY, "out of memory for the core of %d nodes and %d arcs", f->nnode, f->narc);
}

/* Sort key of a flow: commodities are runs of equal keys but for the flow. */
struct key {
    int32_t block, root, src, dst, lists, flow;
};

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    return x->flow < y->flow ? -1 : 1;
}

static int lists_paths(const struct problem *p, int32_t f)
{
    return p->nlist > 0 && p->list_first[f] < p->list_first[f + 1];
}

static int same_commodity(const struct key *a, const struct key *b)
{
    return a->block == b->block && a->src == b->src && a->dst == b->dst && !a->lists && !b->lists;
}

/* The routed flows of this rank's blocks, sorted. */
static struct key *own_flows(const struct split *s, int32_t *n)
{
    const struct problem *p = s->p;
    *n = 0;
    for (int32_t f = 0; f < p->nflow; f++) {
        int32_t b = problem_routed(p, f) ? s->pods->of[p->src[f]] : -1;
        *n += b >= s->own && b < s->end;
    }
    struct key *key = array(*n, sizeof *key);
    if (!key)
        return NULL;
    int32_t i = 0;
    for (int32_t f = 0; f < p->nflow; f++) {
        int32_t v = p->src[f], b = problem_routed(p, f) ? s->pods->of[v] : -1;
        if (b < s->own || b >= s->end)
            continue;
        int32_t prefix = prefix_of(p->fabric, v), lists = lists_paths(p, f);
        int32_t root = lists ? -1 : s->core.of[prefix >= 0 ? p->fabric->head[prefix] : v];
        key[i++] = (struct key){ b, root, v, p->dst[f], lists, f };
    }
    qsort(key, (size_t)*n, sizeof *key, by_key);
    return key;
}

int split_merge(struct split *s, struct err *e)
{
    int32_t n, ncom = 0;
    struct key *key = own_flows(s, &n);
    if (!key)
        return fail(e, E_MEMORY, "out of memory for the flows of pods %d to %d", s->own, s->end);
    for (int32_t i = 0; i < n; i++)
        ncom += i == 0 || !same_commodity(&key[i - 1], &key[i]);
    s->com = array(ncom, sizeof *s->com);
    s->flow_at = array((int64_t)ncom + 1, sizeof *s->flow_at);
    s->flow = array(n, sizeof *s->flow);
    s->flow_load = array(n, sizeof *s->flow_load);
    s->block = array((int64_t)s->end - s->own + 1, sizeof *s->block);
    if (!s->com || !s->flow_at || !s->flow || !s->flow_load || !s->block) {
        free(key);
        return fail(e, E_MEMORY, "out of memory for %d commodities", ncom);
    }
    for (int32_t i = 0; i < n; i++) {
        if (i == 0 || !same_commodity(&key[i - 1], &key[i])) {
            struct commodity *k = &s->com[s->ncom];
            *k = (struct commodity){ .src = key[i].src, .dst = key[i].dst, .root = key[i].root, .way = -1 };
            k->prefix = k->root >= 0 ? prefix_of(s->p->fabric, k->src) : -1;
            s->flow_at[s->ncom++] = i;
            s->block[key[i].block - s->own + 1] = s->ncom;
        }
        s->flow[i] = key[i].flow;
    }
    s->flow_at[s->ncom] = n;
    for (int32_t b = 1; b <= s->end - s->own; b++) /* blocks without flows */
        if (s->block[b] < s->block[b - 1])
            s->block[b] = s->block[b - 1];
    free(key);
    return 0;
}

double split_demand(struct split *s, const double *load)
{
    const struct problem *p = s->p;
    double sum = 0;
    for (int32_t k = 0; k < s->ncom; k++) {
        s->com[k].load = 0;
        for (int64_t i = s->flow_at[k]; i < s->flow_at[k + 1]; i++)
            s->com[k].load += s->flow_load[i] = load[s->flow[i]];
    }
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            sum += load[f];
    return sum;
}
