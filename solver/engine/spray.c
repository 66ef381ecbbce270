/* The fluid baseline: every flow spread evenly, hop by hop, over its fewest-hop paths. A flow is one or two parts, each
 * a list of arcs with the fraction of the flow on it: its own first and last arcs, and the way between switches, which
 * flows from the same to the same switches share (12 bytes per arc of the way, per pair of switches in use). */
#include "solver/engine/baseline.h"
#include "solver/engine/hops.h"
#include "solver/engine/menu.h"
#include "solver/kernel/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct turn {
    uint64_t to, from; /* keys of the switches around the destination and of the way into the fabric */
    int32_t flow;
};

struct spray {
    const struct problem *p;
    struct menu *menu;
    struct hops *hops;
    int64_t nturn;
    struct turn *turn;

    int32_t npart;
    int64_t *at;      /* [npart + 1]: part q is entries [at[q], at[q + 1]) */
    int32_t *arc;     /* arc and fraction of each entry */
    double *fraction; /* in (0, 1] */
    int64_t room_at, room_arc, room_fraction;
    int32_t *own, *shared; /* [nflow] parts of each flow, -1: none */

    double *amount;              /* [nnode] of a flow that is being spread, 0 elsewhere */
    int32_t *front, *next, *end; /* [nnode] nodes with an amount; end: where the last way between switches ended */
    double *end_amount;          /* [nnode] */
    int32_t nend;
};

static void spray_free(struct spray *s)
{
    menu_free(s->menu);
    hops_free(s->hops);
    void *owned[] = { s->turn,   s->at,    s->arc,  s->fraction, s->own,       s->shared,
                      s->amount, s->front, s->next, s->end,      s->end_amount };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

static int oom(const struct problem *p, struct err *e)
{
    return fail(e, E_MEMORY, "out of memory for spraying %d flows", p->nflow);
}

/* Flows with equal keys enter the fabric over the same number of arcs to the same switches. */
static uint64_t from_key(const struct fabric *f, int32_t s)
{
    if (f->node_kind[s] == NODE_SWITCH)
        return mix64((uint64_t)s);
    uint64_t key = 1;
    for (int32_t k = f->first[s]; k < f->first[s + 1]; k++)
        key += mix64(~(uint64_t)f->head[f->out[k]]);
    return key;
}

static int by_key(const void *x, const void *y)
{
    const struct turn *a = x, *b = y;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->flow > b->flow) - (a->flow < b->flow);
}

static int spray_init(struct spray *s, const struct problem *p, struct err *e)
{
    int32_t n = p->fabric->nnode;
    *s = (struct spray){ .p = p };
    s->menu = menu_new(p, 0, e);
    s->hops = hops_new(p->fabric, e);
    s->turn = array(p->nflow, sizeof *s->turn);
    s->at = array(s->room_at = 1, sizeof *s->at);
    s->own = array(p->nflow, sizeof *s->own);
    s->shared = array(p->nflow, sizeof *s->shared);
    s->amount = array(n, sizeof *s->amount);
    s->front = array(n, sizeof *s->front);
    s->next = array(n, sizeof *s->next);
    s->end = array(n, sizeof *s->end);
    s->end_amount = array(n, sizeof *s->end_amount);
    if (!s->menu || !s->hops || !s->turn || !s->at || !s->own || !s->shared || !s->amount || !s->front || !s->next ||
        !s->end || !s->end_amount)
        return oom(p, e);
    for (int32_t f = 0; f < p->nflow; f++) {
        s->own[f] = s->shared[f] = -1;
        if (problem_routed(p, f))
            s->turn[s->nturn++] = (struct turn){ hops_key(p->fabric, p->dst[f]), from_key(p->fabric, p->src[f]), f };
    }
    qsort(s->turn, (size_t)s->nturn, sizeof *s->turn, by_key);
    return 0;
}

/* A new, empty part. */
static int part_begin(struct spray *s)
{
    void *at = s->at;
    int rc = array_grow(&at, &s->room_at, (int64_t)s->npart + 2, sizeof *s->at);
    s->at = at;
    if (rc < 0)
        return -1;
    s->npart++;
    s->at[s->npart] = s->at[s->npart - 1];
    return 0;
}

static int part_add(struct spray *s, int32_t arc, double fraction)
{
    void *arcs = s->arc, *fractions = s->fraction;
    int64_t need = s->at[s->npart] + 1;
    int rc = array_grow(&arcs, &s->room_arc, need, sizeof *s->arc);
    s->arc = arcs;
    if (rc == 0)
        rc = array_grow(&fractions, &s->room_fraction, need, sizeof *s->fraction);
    s->fraction = fractions;
    if (rc < 0)
        return -1;
    s->arc[need - 1] = arc;
    s->fraction[need - 1] = fraction;
    s->at[s->npart] = need;
    return 0;
}

/* Spread x evenly over the next arcs of v into the last part. With a list, heads receive their amounts and those that
 * had nothing join it. */
static int spread(struct spray *s, int32_t v, double x, int32_t *list, int32_t *n)
{
    int32_t narc;
    const int32_t *arc = hops_next(s->hops, v, &narc);
    for (int32_t i = 0; i < narc; i++) {
        int32_t w = s->p->fabric->head[arc[i]];
        if (part_add(s, arc[i], x / narc) < 0)
            return -1;
        if (!list)
            continue;
        if (!(s->amount[w] > 0))
            list[(*n)++] = w;
        s->amount[w] += x / narc;
    }
    return 0;
}

/* Where one unit from src stands among the switches before any way between them: front and amount; returns how many
 * switches. */
static int32_t enter(struct spray *s, int32_t src)
{
    s->front[0] = src;
    s->amount[src] = 1;
    if (s->p->fabric->node_kind[src] == NODE_SWITCH)
        return 1;
    s->amount[src] = 0;
    int32_t narc, n = 0;
    const int32_t *arc = hops_next(s->hops, src, &narc);
    for (int32_t i = 0; i < narc; i++) {
        int32_t w = s->p->fabric->head[arc[i]];
        if (!(s->amount[w] > 0))
            s->front[n++] = w;
        s->amount[w] += 1.0 / narc;
    }
    return n;
}

static void swap(int32_t **a, int32_t **b)
{
    int32_t *c = *a;
    *a = *b;
    *b = c;
}

/* The way between switches from the n nodes of front (amounts set), steps arcs long, as a new part; what arrives goes
 * to end and end_amount. Amounts are zero again afterwards. */
static int way(struct spray *s, int32_t n, int32_t steps)
{
    if (part_begin(s) < 0)
        return -1;
    for (; steps > 0; steps--) {
        int32_t m = 0;
        for (int32_t i = 0; i < n; i++) {
            double x = s->amount[s->front[i]];
            s->amount[s->front[i]] = 0;
            if (spread(s, s->front[i], x, s->next, &m) < 0)
                return -1;
        }
        swap(&s->front, &s->next);
        n = m;
    }
    for (int32_t i = 0; i < n; i++) {
        s->end[i] = s->front[i];
        s->end_amount[i] = s->amount[s->front[i]];
        s->amount[s->front[i]] = 0;
    }
    s->nend = n;
    return 0;
}

/* Flow f over its fewest-hop paths of length arcs; shared is the way between switches where the flow before had the
 * same one, else -1. */
static int add_hashed(struct spray *s, int32_t f, int32_t length, int32_t shared)
{
    const struct fabric *g = s->p->fabric;
    int32_t src = s->p->src[f], dst = s->p->dst[f];
    int nic = g->node_kind[src] == NODE_NIC, last = g->node_kind[dst] == NODE_NIC;
    if (length > 1 && shared < 0) {
        if (way(s, enter(s, src), length - nic - last) < 0)
            return -1;
        shared = s->npart - 1;
    }
    s->shared[f] = length > 1 ? shared : -1;
    if (part_begin(s) < 0)
        return -1;
    s->own[f] = s->npart - 1;
    if ((nic || length == 1) && spread(s, src, 1, NULL, NULL) < 0)
        return -1;
    for (int32_t i = 0; length > 1 && last && i < s->nend; i++)
        if (spread(s, s->end[i], s->end_amount[i], NULL, NULL) < 0)
            return -1;
    return 0;
}

/* Flow f evenly over its listed live paths with the fewest arcs. */
static int add_listed(struct spray *s, int32_t f)
{
    const struct menu *m = s->menu;
    if (part_begin(s) < 0)
        return -1;
    s->own[f] = s->npart - 1;
    for (int64_t h = m->at[m->first[f]]; h < m->at[m->first[f + 1]]; h++)
        if (part_add(s, m->arc[h], 1.0 / (double)(m->first[f + 1] - m->first[f])) < 0)
            return -1;
    return 0;
}

static int add_all(struct spray *s, struct err *e)
{
    const struct problem *p = s->p;
    const struct turn *before = NULL; /* whose shared part the next flow may use */
    for (int64_t i = 0; i < s->nturn; i++) {
        const struct turn *t = &s->turn[i];
        int32_t f = t->flow;
        if (menu_listed(p, f)) {
            if (s->menu->first[f] == s->menu->first[f + 1])
                return menu_no_path(p, f, e);
            if (add_listed(s, f) < 0)
                return oom(p, e);
            continue;
        }
        hops_to(s->hops, p->dst[f]);
        int32_t length = hops_from(s->hops, p->src[f]);
        if (length < 0)
            return menu_no_path(p, f, e);
        int same = before && before->to == t->to && before->from == t->from;
        if (add_hashed(s, f, length, same ? s->shared[before->flow] : -1) < 0)
            return oom(p, e);
        if (length > 1)
            before = t;
    }
    return 0;
}

/* Water-filling where a flow uses a fraction of its rate on each arc. */
struct fill {
    double *room, *weight; /* [narc] left by settled flows; fractions of unsettled ones */
    int64_t *users;        /* [narc] entries of unsettled flows */
    int64_t *pfirst;       /* [narc + 1]: parts over arc a are part[pfirst[a] .. pfirst[a + 1]) */
    int32_t *part;
    int64_t *ffirst; /* [npart + 1]: flows of part q are flow[ffirst[q] .. ffirst[q + 1]) */
    int32_t *flow;
    struct stop *heap; /* [narc + nflow]: id < narc: an arc; else flow id - narc at its demand */
    int64_t nheap;
};

static void fill_free(struct fill *w)
{
    void *owned[] = { w->room, w->weight, w->users, w->pfirst, w->part, w->ffirst, w->flow, w->heap };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* Both inverse lists, as counting sorts. */
static void invert(struct fill *w, const struct spray *s)
{
    int32_t narc = s->p->fabric->narc, nflow = s->p->nflow;
    for (int64_t h = 0; h < s->at[s->npart]; h++)
        w->pfirst[s->arc[h]]++;
    for (int32_t a = 1; a <= narc; a++)
        w->pfirst[a] += w->pfirst[a - 1];
    for (int32_t q = s->npart - 1; q >= 0; q--)
        for (int64_t h = s->at[q]; h < s->at[q + 1]; h++)
            w->part[--w->pfirst[s->arc[h]]] = q;
    for (int32_t f = 0; f < nflow; f++) {
        if (s->own[f] >= 0)
            w->ffirst[s->own[f]]++;
        if (s->shared[f] >= 0)
            w->ffirst[s->shared[f]]++;
    }
    for (int32_t q = 1; q <= s->npart; q++)
        w->ffirst[q] += w->ffirst[q - 1];
    for (int32_t f = nflow - 1; f >= 0; f--) {
        if (s->own[f] >= 0)
            w->flow[--w->ffirst[s->own[f]]] = f;
        if (s->shared[f] >= 0)
            w->flow[--w->ffirst[s->shared[f]]] = f;
    }
}

static int fill_init(struct fill *w, const struct spray *s, struct err *e)
{
    const struct problem *p = s->p;
    const struct fabric *g = p->fabric;
    int64_t nentry = s->at[s->npart];
    *w = (struct fill){ 0 };
    w->room = array(g->narc, sizeof *w->room);
    w->weight = array(g->narc, sizeof *w->weight);
    w->users = array(g->narc, sizeof *w->users);
    w->pfirst = array((int64_t)g->narc + 1, sizeof *w->pfirst);
    w->part = array(nentry, sizeof *w->part);
    w->ffirst = array((int64_t)s->npart + 1, sizeof *w->ffirst);
    w->flow = array(2 * (int64_t)p->nflow, sizeof *w->flow);
    w->heap = array((int64_t)g->narc + p->nflow, sizeof *w->heap);
    if (!w->room || !w->weight || !w->users || !w->pfirst || !w->part || !w->ffirst || !w->flow || !w->heap)
        return oom(p, e);
    invert(w, s);
    if (g->narc > 0)
        memcpy(w->room, g->cap, (size_t)g->narc * sizeof *w->room);
    for (int32_t q = 0; q < s->npart; q++)
        for (int64_t h = s->at[q]; h < s->at[q + 1]; h++) {
            int64_t n = w->ffirst[q + 1] - w->ffirst[q];
            w->weight[s->arc[h]] += (double)n * s->fraction[h];
            w->users[s->arc[h]] += n;
        }
    for (int32_t a = 0; a < g->narc; a++)
        if (w->users[a] > 0)
            w->heap[w->nheap++] = (struct stop){ w->room[a] / w->weight[a], a };
    for (int32_t f = 0; p->kind == DEMAND_GBPS && f < p->nflow; f++)
        if (s->own[f] >= 0)
            w->heap[w->nheap++] = (struct stop){ p->demand[f], g->narc + (int64_t)f };
    heap_make(w->heap, w->nheap);
    return 0;
}

static void settle(struct fill *w, const struct spray *s, int32_t f, double level, double *rate)
{
    int32_t part[] = { s->own[f], s->shared[f] };
    rate[f] = level;
    for (int i = 0; i < 2 && part[i] >= 0; i++)
        for (int64_t h = s->at[part[i]]; h < s->at[part[i] + 1]; h++) {
            w->room[s->arc[h]] -= s->fraction[h] * level;
            w->weight[s->arc[h]] -= s->fraction[h];
            w->users[s->arc[h]]--;
        }
}

/* As rates_fill, with weights: an arc stops its flows at room / weight. Where rounding has eaten the weight of the last
 * tiny fractions, they stop at the level reached. */
static void fill_run(struct fill *w, const struct spray *s, double *rate)
{
    int32_t narc = s->p->fabric->narc;
    double last = 0;
    for (int32_t f = 0; f < s->p->nflow; f++)
        rate[f] = s->own[f] >= 0 ? -1 : 0; /* negative: unsettled */
    while (w->nheap > 0) {
        struct stop top = w->heap[0];
        if (top.id >= narc) {
            heap_pop(w->heap, &w->nheap);
            if (rate[top.id - narc] < 0)
                settle(w, s, (int32_t)(top.id - narc), top.level, rate);
            last = fmax(last, top.level);
            continue;
        }
        if (w->users[top.id] == 0) {
            heap_pop(w->heap, &w->nheap);
            continue;
        }
        double level = w->weight[top.id] > 0 ? fmax(w->room[top.id] / w->weight[top.id], last) : last;
        if (level > top.level && w->nheap > 1) {
            heap_raise(w->heap, w->nheap, level);
            if (w->heap[0].id != top.id)
                continue;
        }
        heap_pop(w->heap, &w->nheap);
        last = level;
        for (int64_t k = w->pfirst[top.id]; k < w->pfirst[top.id + 1]; k++)
            for (int64_t i = w->ffirst[w->part[k]]; i < w->ffirst[w->part[k] + 1]; i++)
                if (rate[w->flow[i]] < 0)
                    settle(w, s, w->flow[i], level, rate);
    }
}

static void loads(const struct spray *s, double *load)
{
    const struct problem *p = s->p;
    for (int32_t a = 0; a < p->fabric->narc; a++)
        load[a] = 0;
    for (int32_t f = 0; f < p->nflow; f++) {
        int32_t part[] = { s->own[f], s->shared[f] };
        for (int i = 0; i < 2 && part[i] >= 0; i++)
            for (int64_t h = s->at[part[i]]; h < s->at[part[i] + 1]; h++)
                load[s->arc[h]] += problem_load(p, f) * s->fraction[h] / p->fabric->cap[s->arc[h]];
    }
}

/* e_j = I_j / T_j, or the smallest rate / demand (contract section 3). */
static void efficiencies(const struct problem *p, const double *rate, double *efficiency)
{
    for (int32_t j = 0; j < p->njob; j++) {
        double least = INFINITY;
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++)
            if (problem_routed(p, f))
                least = fmin(least, rate[f] / p->demand[f]);
        double speed = p->kind == DEMAND_GBPS ? 1 : p->ideal[j] / 8e-9;
        efficiency[j] = least < INFINITY ? least * speed : 1;
    }
}

int baseline_spray(const struct problem *p, double *rate, double *efficiency, double *load, struct err *e)
{
    struct spray s;
    struct fill w = { 0 };
    double *r = array(p->nflow, sizeof *r);
    int rc = spray_init(&s, p, e);
    if (rc == 0 && !r)
        rc = oom(p, e);
    if (rc == 0)
        rc = add_all(&s, e);
    if (rc == 0 && (rate || efficiency) && (rc = fill_init(&w, &s, e)) == 0)
        fill_run(&w, &s, r);
    if (rc == 0 && rate && p->nflow > 0)
        memcpy(rate, r, (size_t)p->nflow * sizeof *r);
    if (rc == 0 && efficiency)
        efficiencies(p, r, efficiency);
    if (rc == 0 && load)
        loads(&s, load);
    fill_free(&w);
    spray_free(&s);
    free(r);
    return rc;
}
