/* split_ways: the paths of this rank's commodities: the first ones, those that pricing adds, and what prices prove.
 */
#include "solver/engine/split_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB = 1 << 18 }; /* arcs: 1 MB, or one path where that is longer */

static int32_t *store_take(struct store *t, int32_t n)
{
    if (n > t->left) {
        int64_t size = n > SLAB ? n : SLAB;
        void *slab = t->slab;
        int32_t *fresh = array(size, sizeof *fresh);
        if (!fresh || array_grow(&slab, &t->slab_room, t->nslab + 1, sizeof *t->slab) < 0) {
            free(fresh);
            return NULL;
        }
        t->slab = slab;
        t->slab[t->nslab++] = fresh;
        t->size = t->left = size;
    }
    int32_t *arc = t->slab[t->nslab - 1] + (t->size - t->left);
    t->left -= n;
    return arc;
}

void split_ways_free(struct split *s)
{
    for (int64_t i = 0; i < s->store.nslab; i++)
        free(s->store.slab[i]);
    free(s->store.slab);
    free(s->way);
}

/* Append a way whose arcs stay where they are. */
static int add_way(struct split *s, struct commodity *k, const int32_t *arc, int32_t len, struct err *e)
{
    void *way = s->way;
    if (s->nway >= INT32_MAX || array_grow(&way, &s->way_room, s->nway + 1, sizeof *s->way) < 0)
        return fail(e, E_MEMORY, "out of memory for %lld paths", (long long)s->nway + 1);
    s->way = way;
    s->way[s->nway] = (struct way){ .arc = arc, .len = len, .next = -1 };
    int32_t *link = &k->way;
    while (*link >= 0)
        link = &s->way[*link].next;
    *link = (int32_t)s->nway++;
    k->nway++;
    return 0;
}

static int add_copy(struct split *s, struct commodity *k, const int32_t *arc, int32_t len, struct err *e)
{
    int32_t *copy = store_take(&s->store, len);
    if (!copy)
        return fail(e, E_MEMORY, "out of memory for a path of %d arcs", len);
    memcpy(copy, arc, (size_t)len * sizeof *copy);
    return add_way(s, k, copy, len, e);
}

/* Arcs of the tree path to core node x. */
static int32_t tree_hops(const struct core *c, int32_t x)
{
    int32_t n = 0;
    for (; c->via[x] >= 0; x = c->tail[c->via[x]])
        n++;
    return n;
}

double split_distance(struct split *s, const struct commodity *k, const double *length, int32_t *last)
{
    const struct fabric *f = s->p->fabric;
    const struct core *c = &s->core;
    double prefix = k->prefix >= 0 ? length[k->prefix] : 0, best = INFINITY;
    int within = s->p->options.policy == PATHS_SHORTEST;
    int32_t hops = INT32_MAX;
    *last = -1;
    if (c->of[k->dst] >= 0 && f->node_kind[k->dst] == NODE_SWITCH)
        return prefix + c->dist[c->of[k->dst]];
    for (int32_t i = f->ifirst[k->dst]; i < f->ifirst[k->dst + 1]; i++) { /* arcs ascend: ties keep the smaller one */
        int32_t a = f->in[i], x = c->of[f->tail[a]];
        if (x < 0 || (c->nic[x] && f->tail[a] != k->src) || isinf(c->dist[x]))
            continue;
        double d = c->dist[x] + length[a];
        if (d > best && !within)
            continue;
        int32_t n = tree_hops(c, x);
        int less = within ? n < hops || (n == hops && d < best) : d < best || n < hops;
        if (less) {
            best = d;
            hops = n;
            *last = a;
        }
    }
    return prefix + best;
}

/* The path that split_distance has found, in s->trace; its number of arcs. */
static int32_t tree_path(struct split *s, const struct commodity *k, int32_t last)
{
    const struct core *c = &s->core;
    int32_t n = 0, x = c->of[last >= 0 ? s->p->fabric->tail[last] : k->dst];
    if (k->prefix >= 0)
        s->trace[n++] = k->prefix;
    n += paths_trace(c->paths, k->root, x, c->via, s->trace + n, c->nnode);
    if (last >= 0)
        s->trace[n++] = last;
    return n;
}

double split_cost(const struct way *y, const double *price)
{
    double sum = 0;
    for (int32_t i = 0; i < y->len; i++)
        sum += price[y->arc[i]];
    return sum;
}

static int refuse(const struct split *s, int32_t k, const char *what, struct err *e)
{
    int32_t f = s->flow[s->flow_at[k]], j = s->p->job[f];
    return fail(e, E_INPUT, "jobs[%d].flows[%d]: no live path %sfrom node %d to node %d", j, f - s->p->job_first[j],
                what, s->p->src[f], s->p->dst[f]);
}

/* The listed paths without a dead arc. */
static int start_listed(struct split *s, int32_t i, struct err *e)
{
    const struct problem *p = s->p;
    int32_t f = s->flow[s->flow_at[i]];
    for (int64_t y = p->list_first[f]; y < p->list_first[f + 1]; y++) {
        int64_t at = p->list_at[y], n = p->list_at[y + 1] - at, live = 0;
        for (int64_t j = at; j < at + n; j++)
            live += p->fabric->live[p->list_arc[j]];
        if (live == n && add_way(s, &s->com[i], p->list_arc + at, (int32_t)n, e) < 0)
            return -1;
    }
    return s->com[i].nway > 0 ? 0 : refuse(s, i, "among the listed ones ", e);
}

static int start_disjoint(struct split *s, struct paths *whole, int32_t *at, int32_t *arc, int32_t room, struct err *e)
{
    for (int32_t i = 0; i < s->ncom; i++) {
        struct commodity *k = &s->com[i];
        if (k->root < 0)
            continue;
        int32_t n = paths_disjoint(whole, k->src, k->dst, s->p->options.disjoint, at, arc, room);
        if (n <= 0)
            return refuse(s, i, "", e);
        for (int32_t y = 0; y < n; y++)
            if (add_copy(s, k, arc + at[y], at[y + 1] - at[y], e) < 0)
                return -1;
    }
    return 0;
}

static int all_disjoint(struct split *s, struct err *e)
{
    const struct fabric *f = s->p->fabric;
    struct graph g = { f->nnode, f->narc, f->first, f->out, f->head, f->tail, f->node_kind };
    int32_t room = f->first[f->nnode], *at = array((int64_t)s->p->options.disjoint + 1, sizeof *at);
    int32_t *arc = array(room, sizeof *arc);
    struct paths *whole = paths_new(&g);
    int rc = at && arc && whole ? start_disjoint(s, whole, at, arc, room, e)
                                : fail(e, E_MEMORY, "out of memory for disjoint paths");
    paths_free(whole);
    free(arc);
    free(at);
    return rc;
}

static void grow_tree(struct split *s, int32_t root, const double *length)
{
    struct core *c = &s->core;
    paths_tree(c->paths, root, length, s->p->options.policy == PATHS_SHORTEST, c->dist, c->via);
}

static int start_trees(struct split *s, struct err *e)
{
    int32_t root = -1;
    for (int32_t i = 0; i < s->ncom; i++) {
        struct commodity *k = &s->com[i];
        int32_t last;
        if (k->root < 0)
            continue;
        if (k->root != root)
            grow_tree(s, root = k->root, s->icap);
        if (isinf(split_distance(s, k, s->icap, &last)))
            return refuse(s, i, "", e);
        int32_t n = tree_path(s, k, last);
        if (add_copy(s, k, s->trace, n, e) < 0)
            return -1;
    }
    return 0;
}

/* All of the load on the way that is cheapest at prices 1 / cap. */
static void start_shares(struct split *s)
{
    for (int32_t i = 0; i < s->ncom; i++) {
        int32_t low = s->com[i].way;
        double least = INFINITY;
        for (int32_t y = s->com[i].way; y >= 0; y = s->way[y].next) {
            double c = split_cost(&s->way[y], s->icap);
            if (c < least) {
                least = c;
                low = y;
            }
        }
        s->way[low].share = s->way[low].best = 1;
    }
}

int split_ways_start(struct split *s, struct err *e)
{
    for (int32_t i = 0; i < s->ncom; i++)
        if (s->com[i].root < 0 && start_listed(s, i, e) < 0)
            return -1;
    if ((s->p->options.policy == PATHS_DISJOINT ? all_disjoint(s, e) : start_trees(s, e)) < 0)
        return -1;
    start_shares(s);
    return 0;
}

/* The cheapest of the commodity's own ways. */
static double own_distance(const struct split *s, const struct commodity *k, const double *length)
{
    double least = INFINITY;
    for (int32_t y = k->way; y >= 0; y = s->way[y].next) {
        double c = split_cost(&s->way[y], length);
        if (c < least)
            least = c;
    }
    return least;
}

int split_ways_price(struct split *s, enum ways_job job, double tolerance, int64_t *added, struct err *e)
{
    int restricted = job == WAYS_COLUMNS && s->p->options.policy == PATHS_DISJOINT;
    for (int32_t b = s->own; b < s->end; b++) {
        double sum = 0;
        int32_t root = -1;
        for (int32_t i = s->block[b - s->own]; i < s->block[b - s->own + 1]; i++) {
            struct commodity *k = &s->com[i];
            int32_t last;
            if (!(k->load > 0))
                continue;
            if (k->root < 0 || restricted) {
                sum += k->load * own_distance(s, k, s->length);
                continue;
            }
            if (k->root != root)
                grow_tree(s, root = k->root, s->length);
            double d = split_distance(s, k, s->length, &last);
            sum += k->load * d;
            if (job == WAYS_PLAIN || d >= own_distance(s, k, s->length) * (1 - tolerance))
                continue;
            int32_t n = tree_path(s, k, last);
            if (add_copy(s, k, s->trace, n, e) < 0)
                return -1;
            ++*added;
        }
        memcpy(&s->slot[b], &sum, sizeof sum);
    }
    return 0;
}

/* Distance of commodity i for its proof: own ways where they are all there is, else the tree. */
static double proof_distance(struct split *s, const struct commodity *k, const double *length, int plain, int32_t *root)
{
    int32_t last;
    if (k->root < 0 || (s->p->options.policy == PATHS_DISJOINT && !plain))
        return own_distance(s, k, length);
    if (k->root != *root)
        grow_tree(s, *root = k->root, length);
    return split_distance(s, k, length, &last);
}

int split_parts(struct split *s, const double *price, int plain, double scale, int64_t *part, struct err *e)
{
    double sum = 0;
    int32_t root = -1;
    for (int32_t a = 0; a < s->narc; a++)
        sum += price[a] * s->p->fabric->cap[a];
    memset(part, 0, (size_t)s->p->njob * sizeof *part);
    for (int32_t i = 0; i < s->ncom && sum > 0; i++) {
        if (!(s->com[i].load > 0))
            continue;
        double d = proof_distance(s, &s->com[i], price, plain, &root) / sum * scale;
        for (int64_t n = s->flow_at[i]; n < s->flow_at[i + 1]; n++)
            part[s->p->job[s->flow[n]]] += (int64_t)(s->flow_load[n] * d);
    }
    return s->comm->sum(s->comm, part, s->p->njob, e);
}
