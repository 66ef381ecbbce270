/* Bounds from cuts. A family of disjoint node sets is given as one class number per node; every set gives two cuts, its
 * leaving and its entering arcs, with the flows that have one end inside. NICs, leaves, pods, sites and the regions
 * that priced arcs separate are families of that kind, so one loop serves all. Happy path: cuts_bound at the bottom.
 */
#include "solver/engine/cuts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/engine/reach.h"

/* Guards floor(u / x) where u is a multiple of x up to rounding; the judges use the same. */
static const double FLOOR_SLACK = 1e-12;
/* A cut with more different flow sizes is looked at in this many places only: any prefix gives a valid bound. */
enum { MAX_PREFIX = 256 };

struct cut { /* one cut under study: borrowed lists */
    const int32_t *arc, *flow;
    int64_t narc, nflow;
};

struct work {
    const struct problem *p;
    double *size;          /* [nflow] w_j * need, or the load for max_utilization; 0 where not routed */
    int32_t *first, *item; /* class buckets of arcs: first[nclass + 1], item[narc] */
    int32_t *ffirst, *fitem;
    int32_t *class;  /* [nnode] the family in hand */
    int32_t *list;   /* [nflow] flows of the cut in hand, by falling size */
    double *cap;     /* [narc] different capacities of the cut in hand ... */
    int64_t *copies; /* ... and how many arcs have each */
    struct certificate *best;
    double *alone; /* [njob] when jobs are bounded one by one, else NULL; best is then unused */
};

static void work_free(struct work *w)
{
    void *owned[] = { w->size, w->first, w->item, w->ffirst, w->fitem, w->class, w->list, w->cap, w->copies };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

static int work_new(struct work *w, const struct problem *p, struct certificate *best, struct err *e)
{
    const struct fabric *f = p->fabric;
    *w = (struct work){ .p = p, .best = best };
    w->size = array(p->nflow, sizeof *w->size);
    w->first = array((int64_t)f->nnode + 1, sizeof *w->first);
    w->item = array(f->narc, sizeof *w->item);
    w->ffirst = array((int64_t)f->nnode + 1, sizeof *w->ffirst);
    w->fitem = array(p->nflow, sizeof *w->fitem);
    w->class = array(f->nnode, sizeof *w->class);
    w->list = array(p->nflow, sizeof *w->list);
    w->cap = array(f->narc, sizeof *w->cap);
    w->copies = array(f->narc, sizeof *w->copies);
    if (!w->size || !w->first || !w->item || !w->ffirst || !w->fitem || !w->class || !w->list || !w->cap || !w->copies)
        return fail(e, E_MEMORY, "out of memory for the cuts of %d arcs and %d flows", f->narc, p->nflow);
    for (int32_t i = 0; i < p->nflow; i++)
        w->size[i] = p->options.objective == OBJ_JOB_FAIR ? p->job_weight[p->job[i]] * p->need[i] : problem_load(p, i);
    return 0;
}

static int better(const struct work *w, double bound)
{
    if (w->best->kind == CERT_NONE)
        return 1;
    return w->p->options.objective == OBJ_JOB_FAIR ? bound < w->best->bound : bound > w->best->bound;
}

/* Prices 1 on the cut: sum u / sum size bounds the level from above, its inverse the utilization from below. */
static int try_fluid(struct work *w, const struct cut *c, struct err *e)
{
    double room = 0, need = 0;
    for (int64_t i = 0; i < c->narc; i++)
        room += w->p->fabric->cap[c->arc[i]];
    for (int64_t i = 0; i < c->nflow; i++)
        need += w->size[c->flow[i]];
    if (!(room > 0 && need > 0))
        return 0;
    double bound = w->p->options.objective == OBJ_JOB_FAIR ? room / need : need / room;
    if (!better(w, bound))
        return 0;
    double *price = array(w->p->fabric->narc, sizeof *price);
    if (!price)
        return fail(e, E_MEMORY, "out of memory for %d prices", w->p->fabric->narc);
    for (int64_t i = 0; i < c->narc; i++)
        price[c->arc[i]] = 1;
    int rc = certificate_prices(w->best, bound, price, w->p->fabric->narc, e);
    free(price);
    return rc;
}

/* Largest x with sum_a floor(u_a / x) >= n: start at the fluid value and step down through the points u_a / k. */
static double pigeonhole(const double *cap, const int64_t *copies, int64_t ncap, int64_t n)
{
    double total = 0;
    for (int64_t i = 0; i < ncap; i++)
        total += cap[i] * (double)copies[i];
    double x = total / (double)n;
    for (;;) {
        double held = 0, next = 0;
        for (int64_t i = 0; i < ncap; i++) {
            double k = floor(cap[i] / x * (1 + FLOOR_SLACK));
            held += k * (double)copies[i];
            next = fmax(next, cap[i] / (k + 1));
        }
        if (held >= (double)n)
            return x;
        x = next;
    }
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The cut's capacities as (value, copies), largest first; returns how many values. */
static int64_t group_capacities(struct work *w, const struct cut *c)
{
    int64_t n = 0;
    for (int64_t i = 0; i < c->narc; i++)
        w->cap[i] = w->p->fabric->cap[c->arc[i]];
    qsort(w->cap, (size_t)c->narc, sizeof *w->cap, falling);
    for (int64_t i = 0; i < c->narc; i++) {
        if (n == 0 || w->cap[n - 1] != w->cap[i]) {
            w->cap[n] = w->cap[i];
            w->copies[n++] = 0;
        }
        w->copies[n - 1]++;
    }
    return n;
}

/* Flows by falling size; heap sort on indices, ties by number, since qsort has no context argument in C11. */
static void sort_flows(const double *size, int32_t *list, int64_t n)
{
    for (int64_t end = n, i = n / 2; end > 1;) {
        int32_t moved;
        if (i > 0) {
            moved = list[--i];
        } else {
            moved = list[--end];
            list[end] = list[0];
        }
        int64_t at = i;
        for (int64_t child; (child = 2 * at + 1) < end; at = child) {
            /* the root holds the smallest size (largest number among equals), which belongs last */
            int32_t l = list[child];
            if (child + 1 < end) {
                int32_t r = list[child + 1];
                if (size[r] < size[l] || (size[r] == size[l] && r > l)) {
                    child++;
                    l = r;
                }
            }
            if (!(size[l] < size[moved] || (size[l] == size[moved] && l > moved)))
                break;
            list[at] = l;
        }
        list[at] = moved;
    }
}

/* The lowest pigeonhole level over the first n of list (largest flows first), tried where the size steps down
 * (solver/README.md); *at is how many flows give it. Divided by scale. */
static double lowest_level(const struct work *w, int64_t ncap, int64_t n, double scale, int64_t *at)
{
    int64_t stride = n / MAX_PREFIX + 1, tried = -stride;
    double low = INFINITY;
    *at = 0;
    for (int64_t i = 1; i <= n; i++) {
        double r = w->size[w->list[i - 1]];
        if ((i < n && w->size[w->list[i]] == r) || (i < n && i - tried < stride))
            continue;
        tried = i;
        double bound = pigeonhole(w->cap, w->copies, ncap, i) / (r / scale);
        if (bound < low) {
            low = bound;
            *at = i;
        }
    }
    return low;
}

static int counts_pigeons(const struct work *w)
{
    const struct options *o = &w->p->options;
    return o->objective == OBJ_JOB_FAIR && o->routing != ROUTE_SPLIT && o->paths_per_flow == 1;
}

static int try_pigeonhole(struct work *w, const struct cut *c, struct err *e)
{
    int64_t n = 0, at;
    for (int64_t i = 0; i < c->nflow; i++)
        if (w->size[c->flow[i]] > 0)
            w->list[n++] = c->flow[i];
    sort_flows(w->size, w->list, n);
    double low = lowest_level(w, group_capacities(w, c), n, 1, &at);
    if (at == 0 || !better(w, low))
        return 0;
    return certificate_pigeonhole(w->best, low, c->arc, c->narc, w->list, at, e);
}

/* Every job that crosses, as if its flows were the only ones; flows of one job stand in one run. */
static void try_alone(struct work *w, const struct cut *c)
{
    const struct problem *p = w->p;
    int64_t ncap = group_capacities(w, c), at;
    double room = 0;
    for (int64_t i = 0; i < ncap; i++)
        room += w->cap[i] * (double)w->copies[i];
    for (int64_t i = 0, n = 0; i < c->nflow; i += n) {
        int32_t j = p->job[c->flow[i]];
        double need = 0;
        for (n = 0; i + n < c->nflow && p->job[c->flow[i + n]] == j; n++) {
            w->list[n] = c->flow[i + n];
            need += p->need[c->flow[i + n]];
        }
        double bound = need > 0 ? room / need : INFINITY;
        if (counts_pigeons(w) && need > 0) {
            sort_flows(w->size, w->list, n);
            bound = fmin(bound, lowest_level(w, ncap, n, p->job_weight[j], &at));
        }
        w->alone[j] = fmin(w->alone[j], bound);
    }
}

static int try_cut(struct work *w, const struct cut *c, struct err *e)
{
    if (c->nflow == 0 || c->narc == 0)
        return 0;
    if (w->alone) {
        try_alone(w, c);
        return 0;
    }
    return try_fluid(w, c, e) < 0 || (counts_pigeons(w) && try_pigeonhole(w, c, e) < 0) ? -1 : 0;
}

/* Bucket the indices [0, n) with end classes from[i] != to[i] by key[i]; keep says which count. */
static void bucket(const int32_t *class, int32_t nclass, int32_t n, const int32_t *tail, const int32_t *head,
                   const int32_t *key, const uint8_t *live, const double *size, int32_t *first, int32_t *item)
{
    memset(first, 0, ((size_t)nclass + 1) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = n - 1; i >= 0; i--) {
            if (class[tail[i]] == class[head[i]] || (live && !live[i]) || (size && !(size[i] > 0)))
                continue;
            if (pass == 0)
                first[class[key[i]]]++;
            else
                item[--first[class[key[i]]]] = i;
        }
        for (int32_t k = 0; pass == 0 && k < nclass; k++)
            first[k + 1] += first[k];
    }
}

/* All cuts of the family in w->class (every node in [0, nclass)). */
static int try_family(struct work *w, int32_t nclass, struct err *e)
{
    const struct fabric *f = w->p->fabric;
    for (int leaving = 1; leaving >= 0; leaving--) {
        bucket(w->class, nclass, f->narc, f->tail, f->head, leaving ? f->tail : f->head, f->live, NULL, w->first,
               w->item);
        bucket(w->class, nclass, w->p->nflow, w->p->src, w->p->dst, leaving ? w->p->src : w->p->dst, NULL, w->size,
               w->ffirst, w->fitem);
        for (int32_t k = 0; k < nclass; k++) {
            struct cut c = { w->item + w->first[k], w->fitem + w->ffirst[k], w->first[k + 1] - w->first[k],
                             w->ffirst[k + 1] - w->ffirst[k] };
            if (try_cut(w, &c, e) < 0)
                return -1;
        }
    }
    return 0;
}

/* Every switch with the NICs that hang on it alone; a NIC with several switches is a set of its own. */
static void family_of_leaves(struct work *w)
{
    const struct fabric *f = w->p->fabric;
    for (int32_t v = 0; v < f->nnode; v++) {
        w->class[v] = v;
        if (f->node_kind[v] != NODE_NIC || f->first[v] == f->first[v + 1])
            continue;
        int32_t s = f->head[f->out[f->first[v]]], only = 1;
        for (int32_t i = f->first[v]; i < f->first[v + 1]; i++)
            only &= f->head[f->out[i]] == s;
        for (int32_t i = f->ifirst[v]; i < f->ifirst[v + 1]; i++)
            only &= f->tail[f->in[i]] == s;
        if (only && f->node_kind[s] == NODE_SWITCH)
            w->class[v] = s;
    }
}

/* Regions that stay connected (either way) when the priced arcs are taken out. Union-find with path halving. */
static int32_t family_of_regions(struct work *w, const double *price)
{
    const struct fabric *f = w->p->fabric;
    int32_t *root = w->class;
    for (int32_t v = 0; v < f->nnode; v++)
        root[v] = v;
    for (int32_t a = 0; a < f->narc; a++) {
        if (!f->live[a] || price[a] > 0)
            continue;
        int32_t s = f->tail[a], t = f->head[a];
        while (root[s] != s)
            s = root[s] = root[root[s]];
        while (root[t] != t)
            t = root[t] = root[root[t]];
        root[s < t ? t : s] = s < t ? s : t;
    }
    for (int32_t v = 0; v < f->nnode; v++) /* roots are the smallest of their region: one pass settles all */
        root[v] = root[root[v]];
    return f->nnode;
}

/* The priced arcs as one cut: the flows that cannot do without them. Flows are bucketed by source (family of nodes). */
static int try_support(struct work *w, const double *price, struct err *e)
{
    const struct fabric *f = w->p->fabric;
    int32_t *need = array(w->p->nflow, sizeof *need), *seen = array(f->nnode, sizeof *seen);
    int32_t *queue = array(f->nnode, sizeof *queue), *arc = array(f->narc, sizeof *arc);
    int rc = -1;
    if (!need || !seen || !queue || !arc) {
        fail(e, E_MEMORY, "out of memory for the priced cut");
        goto out;
    }
    struct cut c = { arc, need, 0, 0 };
    for (int32_t a = 0; a < f->narc; a++)
        if (f->live[a] && price[a] > 0)
            arc[c.narc++] = a;
    for (int32_t v = 0; v < f->nnode; v++)
        w->class[v] = v;
    bucket(w->class, f->nnode, w->p->nflow, w->p->src, w->p->dst, w->p->src, NULL, w->size, w->ffirst, w->fitem);
    for (int32_t v = 0; v < f->nnode; v++) {
        if (w->ffirst[v] == w->ffirst[v + 1])
            continue;
        reach(f, price, v, v + 1, seen, queue);
        for (int32_t i = w->ffirst[v]; i < w->ffirst[v + 1]; i++)
            if (seen[w->p->dst[w->fitem[i]]] != v + 1)
                need[c.nflow++] = w->fitem[i];
    }
    rc = try_cut(w, &c, e);
out:
    free(need);
    free(seen);
    free(queue);
    free(arc);
    return rc;
}

/* A labelled family; nodes without a label are sets of their own. Labels and nodes share the numbers [0, nnode): a
 * label takes the number of its first node. */
static int32_t family_of_labels(struct work *w, const int32_t *of, int32_t count, int32_t *seen)
{
    const struct fabric *f = w->p->fabric;
    for (int32_t k = 0; k < count; k++)
        seen[k] = -1;
    for (int32_t v = 0; v < f->nnode; v++) {
        if (of[v] >= 0 && seen[of[v]] < 0)
            seen[of[v]] = v;
        w->class[v] = of[v] < 0 ? v : seen[of[v]];
    }
    return f->nnode;
}

/* Nodes, leaves, pods, sites: the families that need no prices. */
static int try_families(struct work *w, const struct pods *pods, struct err *e)
{
    const struct fabric *f = w->p->fabric;
    int32_t *seen = array(f->nnode, sizeof *seen);
    if (!seen)
        return fail(e, E_MEMORY, "out of memory for %d labels", f->nnode);
    for (int32_t v = 0; v < f->nnode; v++)
        w->class[v] = v;
    int rc = try_family(w, f->nnode, e);
    if (rc == 0) {
        family_of_leaves(w);
        rc = try_family(w, f->nnode, e);
    }
    if (rc == 0 && pods && pods->npod > 1)
        rc = try_family(w, family_of_labels(w, pods->of, pods->npod, seen), e);
    if (rc == 0 && f->site.count > 1)
        rc = try_family(w, family_of_labels(w, f->site.of, f->site.count, seen), e);
    free(seen);
    return rc;
}

int cuts_bound(const struct problem *p, const struct pods *pods, const double *price, struct certificate *best,
               struct err *e)
{
    struct work w;
    int rc = work_new(&w, p, best, e);
    if (rc == 0)
        rc = try_families(&w, pods, e);
    if (rc == 0 && price)
        rc = try_family(&w, family_of_regions(&w, price), e);
    if (rc == 0 && price)
        rc = try_support(&w, price, e);
    work_free(&w);
    return rc;
}

int cuts_alone(const struct problem *p, const struct pods *pods, double *bound, struct err *e)
{
    struct work w;
    int rc = work_new(&w, p, NULL, e);
    for (int32_t j = 0; j < p->njob; j++)
        bound[j] = INFINITY;
    w.alone = bound;
    if (rc == 0)
        rc = try_families(&w, pods, e);
    for (int32_t j = 0; j < p->njob; j++) /* a job that no cut sees sends nothing: it is at 1 whatever the routes */
        bound[j] = isinf(bound[j]) ? 1 : bound[j];
    work_free(&w);
    return rc;
}
