/* The fluid baseline: every flow spread evenly, hop by hop, over its fewest-hop paths. A flow is a list of parts, one
 * per hop, each the arcs of that hop with the fraction of the flow on them. Equal parts are stored once: in a fat tree
 * all flows that leave a rack for another pod share their way up, and all that enter a rack their way down. */
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
    int64_t *first; /* [nturn + 1]: parts of the flow of turn i are list[first[i] .. first[i + 1]) */
    int32_t *list;
    int64_t room_list;

    int32_t npart;
    int64_t *at;  /* [npart + 1]: part q is entries [at[q], at[q + 1]); open: the end of one that is being written */
    int64_t open; /* entries in use, at[npart] when no part is open */
    int32_t *arc; /* arc and fraction of each entry */
    double *fraction; /* in (0, 1] */
    int64_t room_at, room_arc, room_fraction;
    int32_t *slot; /* [nslot] hash table of parts, -1: free; nslot is a power of 2 */
    int64_t nslot;

    double *amount;                /* [nnode] of a flow that is being spread, 0 elsewhere */
    int32_t *front, *next, nfront; /* [nnode] nodes with an amount */
    int32_t *end, nend;            /* where the last way between switches ended, and how much of the flow there */
    double *end_amount;
};

static void spray_free(struct spray *s)
{
    menu_free(s->menu);
    hops_free(s->hops);
    void *owned[] = { s->turn, s->first,  s->list,  s->at,   s->arc, s->fraction,
                      s->slot, s->amount, s->front, s->next, s->end, s->end_amount };
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
    s->first = array((int64_t)p->nflow + 1, sizeof *s->first);
    s->at = array(s->room_at = 1, sizeof *s->at);
    s->amount = array(n, sizeof *s->amount);
    s->front = array(n, sizeof *s->front);
    s->next = array(n, sizeof *s->next);
    s->end = array(n, sizeof *s->end);
    s->end_amount = array(n, sizeof *s->end_amount);
    if (!s->menu || !s->hops || !s->turn || !s->first || !s->at || !s->amount || !s->front || !s->next || !s->end ||
        !s->end_amount)
        return oom(p, e);
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            s->turn[s->nturn++] = (struct turn){ hops_key(p->fabric, p->dst[f]), from_key(p->fabric, p->src[f]), f };
    qsort(s->turn, (size_t)s->nturn, sizeof *s->turn, by_key);
    return 0;
}

/* ---- parts ---- */

static int part_add(struct spray *s, int32_t arc, double fraction)
{
    void *arcs = s->arc, *fractions = s->fraction;
    int rc = array_grow(&arcs, &s->room_arc, s->open + 1, sizeof *s->arc);
    s->arc = arcs;
    if (rc == 0)
        rc = array_grow(&fractions, &s->room_fraction, s->open + 1, sizeof *s->fraction);
    s->fraction = fractions;
    if (rc < 0)
        return -1;
    s->arc[s->open] = arc;
    s->fraction[s->open++] = fraction;
    return 0;
}

static uint64_t part_hash(const struct spray *s, int64_t begin, int64_t end)
{
    uint64_t h = (uint64_t)(end - begin);
    for (int64_t i = begin; i < end; i++) {
        uint64_t bits;
        memcpy(&bits, &s->fraction[i], sizeof bits);
        h = (h ^ (uint64_t)s->arc[i] ^ bits) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return mix64(h);
}

static int part_same(const struct spray *s, int32_t q, int64_t begin, int64_t end)
{
    size_t n = (size_t)(end - begin);
    return s->at[q + 1] - s->at[q] == end - begin && !memcmp(s->arc + s->at[q], s->arc + begin, n * sizeof *s->arc) &&
           !memcmp(s->fraction + s->at[q], s->fraction + begin, n * sizeof *s->fraction);
}

/* Twice the slots, all parts entered again. */
static int more_slots(struct spray *s)
{
    int64_t n = s->nslot > 0 ? 2 * s->nslot : 1024;
    int32_t *slot = array(n, sizeof *slot);
    if (!slot)
        return -1;
    for (int64_t i = 0; i < n; i++)
        slot[i] = -1;
    for (int32_t q = 0; q < s->npart; q++) {
        int64_t i = (int64_t)(part_hash(s, s->at[q], s->at[q + 1]) & (uint64_t)(n - 1));
        while (slot[i] >= 0)
            i = (i + 1) & (n - 1);
        slot[i] = q;
    }
    free(s->slot);
    s->slot = slot;
    s->nslot = n;
    return 0;
}

static int list_add(struct spray *s, int64_t turn, int32_t part)
{
    void *list = s->list;
    int rc = array_grow(&list, &s->room_list, s->first[turn + 1] + 1, sizeof *s->list);
    s->list = list;
    if (rc == 0)
        s->list[s->first[turn + 1]++] = part;
    return rc;
}

/* The open part is the next one of this turn's flow: found among the others, or kept. */
static int part_close(struct spray *s, int64_t turn)
{
    int64_t begin = s->at[s->npart];
    if (2 * (int64_t)s->npart >= s->nslot && more_slots(s) < 0)
        return -1;
    int64_t i = (int64_t)(part_hash(s, begin, s->open) & (uint64_t)(s->nslot - 1));
    while (s->slot[i] >= 0 && !part_same(s, s->slot[i], begin, s->open))
        i = (i + 1) & (s->nslot - 1);
    if (s->slot[i] >= 0) {
        s->open = begin;
        return list_add(s, turn, s->slot[i]);
    }
    void *at = s->at;
    int rc = array_grow(&at, &s->room_at, (int64_t)s->npart + 2, sizeof *s->at);
    s->at = at;
    if (rc < 0)
        return -1;
    s->slot[i] = s->npart++;
    s->at[s->npart] = s->open;
    return list_add(s, turn, s->slot[i]);
}

/* ---- spreading ---- */

/* Spread x evenly over the next arcs of v into the open part; with enter, heads receive their amounts, and those that
 * had nothing join next. */
static int spread(struct spray *s, int32_t v, double x, int enter, int32_t *nnext)
{
    int32_t n;
    const int32_t *arc = hops_next(s->hops, v, &n);
    for (int32_t i = 0; i < n; i++) {
        int32_t w = s->p->fabric->head[arc[i]];
        if (part_add(s, arc[i], x / n) < 0)
            return -1;
        if (!enter)
            continue;
        if (!(s->amount[w] > 0))
            s->next[(*nnext)++] = w;
        s->amount[w] += x / n;
    }
    return 0;
}

/* One hop of everything at front, as one part. Amounts move to the heads, which are the new front. */
static int step(struct spray *s, int64_t turn)
{
    int32_t n = 0, *old = s->front;
    for (int32_t i = 0; i < s->nfront; i++) {
        double x = s->amount[s->front[i]];
        s->amount[s->front[i]] = 0;
        if (spread(s, s->front[i], x, 1, &n) < 0)
            return -1;
    }
    s->front = s->next;
    s->next = old;
    s->nfront = n;
    return part_close(s, turn);
}

/* Flow of this turn over its fewest-hop paths of length arcs. before is the turn before it with the same way between
 * switches, whose end is still known, or -1. */
static int add_hashed(struct spray *s, int64_t turn, int32_t length, int64_t before)
{
    const struct problem *p = s->p;
    int32_t f = s->turn[turn].flow, src = p->src[f];
    int nic = p->fabric->node_kind[src] == NODE_NIC, last = p->fabric->node_kind[p->dst[f]] == NODE_NIC;
    if (length == 1)
        return spread(s, src, 1, 0, NULL) < 0 || part_close(s, turn) < 0 ? -1 : 0;
    if (before >= 0) {
        if (nic && (spread(s, src, 1, 0, NULL) < 0 || part_close(s, turn) < 0))
            return -1;
        for (int64_t i = s->first[before] + nic; i < s->first[before] + length - last; i++)
            if (list_add(s, turn, s->list[i]) < 0)
                return -1;
    } else {
        s->front[0] = src;
        s->nfront = 1;
        s->amount[src] = 1;
        for (int32_t h = 0; h < length - last; h++)
            if (step(s, turn) < 0)
                return -1;
        s->nend = s->nfront;
        for (int32_t i = 0; i < s->nfront; i++) {
            s->end[i] = s->front[i];
            s->end_amount[i] = s->amount[s->front[i]];
            s->amount[s->front[i]] = 0;
        }
    }
    for (int32_t i = 0; last && i < s->nend; i++)
        if (spread(s, s->end[i], s->end_amount[i], 0, NULL) < 0)
            return -1;
    return last ? part_close(s, turn) : 0;
}

/* Flow f evenly over its listed live paths with the fewest arcs, as one part. */
static int add_listed(struct spray *s, int64_t turn)
{
    const struct menu *m = s->menu;
    int32_t f = s->turn[turn].flow;
    for (int64_t h = m->at[m->first[f]]; h < m->at[m->first[f + 1]]; h++)
        if (part_add(s, m->arc[h], 1.0 / (double)(m->first[f + 1] - m->first[f])) < 0)
            return -1;
    return part_close(s, turn);
}

static int add_all(struct spray *s, struct err *e)
{
    const struct problem *p = s->p;
    int64_t before = -1;
    for (int64_t i = 0; i < s->nturn; i++) {
        const struct turn *t = &s->turn[i];
        int listed = menu_listed(p, t->flow);
        s->first[i + 1] = s->first[i];
        if (listed && s->menu->first[t->flow] == s->menu->first[t->flow + 1])
            return menu_no_path(p, t->flow, e);
        if (listed) {
            if (add_listed(s, i) < 0)
                return oom(p, e);
            continue;
        }
        hops_to(s->hops, p->dst[t->flow]);
        int32_t length = hops_from(s->hops, p->src[t->flow]);
        if (length < 0)
            return menu_no_path(p, t->flow, e);
        int same = before >= 0 && s->turn[before].to == t->to && s->turn[before].from == t->from;
        if (add_hashed(s, i, length, same ? before : -1) < 0)
            return oom(p, e);
        if (length > 1)
            before = i;
    }
    return 0;
}

/* ---- rates ---- */

/* Water-filling where a flow uses a fraction of its rate on each arc. */
struct fill {
    double *room, *weight; /* [narc] left by settled flows; fractions of unsettled ones */
    int64_t *users;        /* [narc] entries of unsettled flows */
    int64_t *pfirst;       /* [narc + 1]: parts over arc a are part[pfirst[a] .. pfirst[a + 1]) */
    int32_t *part;
    int64_t *tfirst; /* [npart + 1]: turns of part q are turn[tfirst[q] .. tfirst[q + 1]) */
    int32_t *turn;
    int64_t *settled; /* [npart] uses by flows that are settled now; 0 between settlements */
    int32_t *touched, ntouched;
    struct stop *heap; /* [narc + nturn]: id < narc: an arc; else turn id - narc at its flow's demand */
    int64_t nheap;
    double *rate; /* [nturn], negative: unsettled */
};

static void fill_free(struct fill *w)
{
    void *owned[] = { w->room, w->weight,  w->users,   w->pfirst, w->part, w->tfirst,
                      w->turn, w->settled, w->touched, w->heap,   w->rate };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* first[n + 1] counts per bucket -> ends of buckets, from which the caller steps back as it fills. */
static void bucket_ends(int64_t *first, int64_t n)
{
    for (int64_t i = 1; i <= n; i++)
        first[i] += first[i - 1];
}

static void invert(struct fill *w, const struct spray *s)
{
    for (int64_t h = 0; h < s->at[s->npart]; h++)
        w->pfirst[s->arc[h]]++;
    bucket_ends(w->pfirst, s->p->fabric->narc);
    for (int32_t q = s->npart - 1; q >= 0; q--)
        for (int64_t h = s->at[q]; h < s->at[q + 1]; h++)
            w->part[--w->pfirst[s->arc[h]]] = q;
    for (int64_t i = 0; i < s->first[s->nturn]; i++)
        w->tfirst[s->list[i]]++;
    bucket_ends(w->tfirst, s->npart);
    for (int64_t t = s->nturn - 1; t >= 0; t--)
        for (int64_t i = s->first[t]; i < s->first[t + 1]; i++)
            w->turn[--w->tfirst[s->list[i]]] = (int32_t)t;
}

static int fill_arrays(struct fill *w, const struct spray *s, struct err *e)
{
    int64_t narc = s->p->fabric->narc;
    *w = (struct fill){ 0 };
    w->room = array(narc, sizeof *w->room);
    w->weight = array(narc, sizeof *w->weight);
    w->users = array(narc, sizeof *w->users);
    w->pfirst = array(narc + 1, sizeof *w->pfirst);
    w->part = array(s->at[s->npart], sizeof *w->part);
    w->tfirst = array((int64_t)s->npart + 1, sizeof *w->tfirst);
    w->turn = array(s->first[s->nturn], sizeof *w->turn);
    w->settled = array(s->npart, sizeof *w->settled);
    w->touched = array(s->npart, sizeof *w->touched);
    w->heap = array(narc + s->nturn, sizeof *w->heap);
    w->rate = array(s->nturn, sizeof *w->rate);
    return w->room && w->weight && w->users && w->pfirst && w->part && w->tfirst && w->turn && w->settled &&
                   w->touched && w->heap && w->rate
               ? 0
               : oom(s->p, e);
}

static void fill_start(struct fill *w, const struct spray *s)
{
    const struct problem *p = s->p;
    const struct fabric *g = p->fabric;
    invert(w, s);
    for (int32_t a = 0; a < g->narc; a++)
        w->room[a] = g->cap[a];
    for (int32_t q = 0; q < s->npart; q++)
        for (int64_t h = s->at[q]; h < s->at[q + 1]; h++) {
            int64_t n = w->tfirst[q + 1] - w->tfirst[q];
            w->weight[s->arc[h]] += (double)n * s->fraction[h];
            w->users[s->arc[h]] += n;
        }
    for (int32_t a = 0; a < g->narc; a++)
        if (w->users[a] > 0)
            w->heap[w->nheap++] = (struct stop){ w->room[a] / w->weight[a], a };
    for (int64_t t = 0; t < s->nturn; t++) {
        w->rate[t] = -1;
        if (p->kind == DEMAND_GBPS)
            w->heap[w->nheap++] = (struct stop){ p->demand[s->turn[t].flow], g->narc + t };
    }
    heap_make(w->heap, w->nheap);
}

/* Turn t's flow stays at level; its parts are charged by charge(). */
static void settle(struct fill *w, const struct spray *s, int64_t t, double level)
{
    w->rate[t] = level;
    for (int64_t i = s->first[t]; i < s->first[t + 1]; i++)
        if (w->settled[s->list[i]]++ == 0)
            w->touched[w->ntouched++] = s->list[i];
}

static void charge(struct fill *w, const struct spray *s, double level)
{
    for (int32_t i = 0; i < w->ntouched; i++) {
        int32_t q = w->touched[i];
        double n = (double)w->settled[q];
        for (int64_t h = s->at[q]; h < s->at[q + 1]; h++) {
            w->room[s->arc[h]] -= n * s->fraction[h] * level;
            w->weight[s->arc[h]] -= n * s->fraction[h];
            w->users[s->arc[h]] -= w->settled[q];
        }
        w->settled[q] = 0;
    }
    w->ntouched = 0;
}

/* Settles whatever crosses arc a. */
static void settle_arc(struct fill *w, const struct spray *s, int64_t a, double level)
{
    for (int64_t k = w->pfirst[a]; k < w->pfirst[a + 1]; k++)
        for (int64_t i = w->tfirst[w->part[k]]; i < w->tfirst[w->part[k] + 1]; i++)
            if (w->rate[w->turn[i]] < 0)
                settle(w, s, w->turn[i], level);
    charge(w, s, level);
}

/* As rates_fill, with weights: an arc stops its flows at room / weight. Where rounding has eaten the weight of the last
 * tiny fractions, they stop at the level reached. */
static void fill_run(struct fill *w, const struct spray *s)
{
    int32_t narc = s->p->fabric->narc;
    double last = 0;
    while (w->nheap > 0) {
        struct stop top = w->heap[0];
        if (top.id >= narc || w->users[top.id] == 0) {
            heap_pop(w->heap, &w->nheap);
            if (top.id < narc)
                continue;
            if (w->rate[top.id - narc] < 0)
                settle(w, s, top.id - narc, top.level);
            charge(w, s, top.level);
            last = fmax(last, top.level);
            continue;
        }
        double level = w->weight[top.id] > 0 ? fmax(w->room[top.id] / w->weight[top.id], last) : last;
        if (level > top.level && w->nheap > 1) {
            heap_raise(w->heap, w->nheap, level);
            if (w->heap[0].id != top.id)
                continue;
        }
        heap_pop(w->heap, &w->nheap);
        settle_arc(w, s, top.id, last = level);
    }
}

/* Parts are shared, so what all their flows ask for is summed first. */
static int loads(const struct spray *s, double *load, struct err *e)
{
    const struct problem *p = s->p;
    double *asked = array(s->npart, sizeof *asked);
    if (!asked)
        return oom(p, e);
    for (int64_t t = 0; t < s->nturn; t++)
        for (int64_t i = s->first[t]; i < s->first[t + 1]; i++)
            asked[s->list[i]] += problem_load(p, s->turn[t].flow);
    for (int32_t a = 0; a < p->fabric->narc; a++)
        load[a] = 0;
    for (int32_t q = 0; q < s->npart; q++)
        for (int64_t h = s->at[q]; h < s->at[q + 1]; h++)
            load[s->arc[h]] += asked[q] * s->fraction[h] / p->fabric->cap[s->arc[h]];
    free(asked);
    return 0;
}

/* e_j = I_j / T_j, or the smallest rate / demand (solver/README.md). */
static void efficiencies(const struct spray *s, const struct fill *w, double *efficiency)
{
    const struct problem *p = s->p;
    for (int32_t j = 0; j < p->njob; j++)
        efficiency[j] = INFINITY;
    for (int64_t t = 0; t < s->nturn; t++) {
        int32_t f = s->turn[t].flow, j = p->job[f];
        double speed = p->kind == DEMAND_GBPS ? 1 : p->ideal[j] / 8e-9;
        efficiency[j] = fmin(efficiency[j], w->rate[t] / p->demand[f] * speed);
    }
    for (int32_t j = 0; j < p->njob; j++)
        if (!(efficiency[j] < INFINITY))
            efficiency[j] = 1;
}

int baseline_spray(const struct problem *p, double *rate, double *efficiency, double *load, struct err *e)
{
    struct spray s;
    struct fill w = { 0 };
    int rc = spray_init(&s, p, e);
    if (rc == 0)
        rc = add_all(&s, e);
    if (rc == 0 && (rate || efficiency) && (rc = fill_arrays(&w, &s, e)) == 0) {
        fill_start(&w, &s);
        fill_run(&w, &s);
    }
    for (int32_t f = 0; rc == 0 && rate && f < p->nflow; f++)
        rate[f] = 0;
    for (int64_t t = 0; rc == 0 && rate && t < s.nturn; t++)
        rate[s.turn[t].flow] = w.rate[t];
    if (rc == 0 && efficiency)
        efficiencies(&s, &w, efficiency);
    if (rc == 0 && load)
        rc = loads(&s, load, e);
    fill_free(&w);
    spray_free(&s);
    return rc;
}
