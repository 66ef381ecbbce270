#include "solver/engine/trees_part.h"

#include "solver/kernel/prices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9; /* of a capacity */
static const double SAME = 1e-12;

/* ---- classes and loads ---- */

/* sum_f min(p_f, Q) / cap from the counts. */
static double load_of(const struct trees *t, int32_t a)
{
    uint64_t left = t->mask[a];
    if (!left)
        return 0;
    double high = t->cq[63 - __builtin_clzll(left)], sum = 0;
    const int32_t *have = t->have + (int64_t)a * TREES_CLASSES;
    for (; left; left &= left - 1) {
        int c = __builtin_ctzll(left);
        sum += have[c] * (t->cp[c] < high ? t->cp[c] : high);
    }
    return sum * t->icap[a];
}

static inline double over(double load)
{
    return load > 1 ? load - 1 : 0;
}

/* Puts unit g on (sign 1) or takes it off (-1) n arcs, and remembers which arcs were touched. */
static void apply(struct trees *t, int32_t g, const int32_t *arc, int32_t n, int32_t sign)
{
    t->work += n;
    for (int32_t i = 0; i < n; i++) {
        int32_t a = arc[i];
        int32_t *have = t->have + (int64_t)a * TREES_CLASSES;
        if (t->stamp[a] != t->now) {
            t->stamp[a] = t->now;
            t->touched[t->ntouched++] = a;
        }
        for (int32_t k = t->cfirst[g]; k < t->cfirst[g + 1]; k++) {
            int32_t c = t->cls[k];
            have[c] += sign * t->many[k];
            if (have[c] > 0)
                t->mask[a] |= UINT64_C(1) << c;
            else
                t->mask[a] &= ~(UINT64_C(1) << c);
        }
    }
}

/* New sum of arc a, its place among the violated, and the total. */
static void settle(struct trees *t, int32_t a)
{
    double load = load_of(t, a);
    t->excess += over(load) - over(t->sum[a]);
    t->sum[a] = load;
    if (load > 1 && t->where[a] < 0) {
        t->where[a] = t->nviolated;
        t->violated[t->nviolated++] = a;
    } else if (!(load > 1) && t->where[a] >= 0) {
        int32_t last = t->violated[--t->nviolated];
        t->violated[t->where[a]] = last;
        t->where[last] = t->where[a];
        t->where[a] = -1;
    }
    if (t->nviolated == 0)
        t->excess = 0; /* no rounding is carried on */
}

/* ---- units on arcs ---- */

/* Counts unit g in (by 1) or out (by -1) at the switches of its way. */
static void pass(struct trees *t, int32_t g, int by)
{
    uint16_t *passes = t->passes + (int64_t)t->dest[g] * t->u->nswitch;
    for (int32_t i = 0; i < t->len[g]; i++) {
        int32_t v = t->u->place[t->p->fabric->tail[t->arc[g * t->longest + i]]];
        passes[v] = (uint16_t)(passes[v] + by);
    }
}

static void link_unit(struct trees *t, int32_t g)
{
    pass(t, g, 1);
    for (int32_t i = 0; i < t->len[g]; i++) {
        int32_t s = g * t->longest + i, a = t->arc[s];
        t->slot_prev[s] = -1;
        t->slot_next[s] = t->head[a];
        if (t->head[a] >= 0)
            t->slot_prev[t->head[a]] = s;
        t->head[a] = s;
        t->count[a]++;
    }
}

static void unlink_unit(struct trees *t, int32_t g)
{
    pass(t, g, -1);
    for (int32_t i = 0; i < t->len[g]; i++) {
        int32_t s = g * t->longest + i, a = t->arc[s];
        if (t->slot_prev[s] >= 0)
            t->slot_next[t->slot_prev[s]] = t->slot_next[s];
        else
            t->head[a] = t->slot_next[s];
        if (t->slot_next[s] >= 0)
            t->slot_prev[t->slot_next[s]] = t->slot_prev[s];
        t->count[a]--;
    }
}

/* ---- moves: begin (apply to the counts), then commit or undo ---- */

static int meets(const struct trees *t, int32_t g)
{
    const int32_t *tail = t->p->fabric->tail, *place = t->u->place;
    for (int32_t i = 0; i < t->len[g]; i++)
        if (t->vstamp[place[tail[t->arc[g * t->longest + i]]]] == t->now)
            return 1;
    return 0;
}

static int32_t walk(const struct trees *t, int32_t g, int32_t *arc)
{
    const int32_t *next = t->next + (int64_t)t->dest[g] * t->u->nswitch;
    int32_t n = 0, root = t->root[t->dest[g]];
    for (int32_t v = t->from[g]; v != root; v = t->u->to[arc[n - 1]])
        arc[n++] = next[v];
    return n;
}

static void note_moved(struct trees *t, int32_t g)
{
    int32_t i = t->nmoved++;
    t->moved[i] = g;
    t->trial_len[i] = walk(t, g, t->trial + i * t->longest);
    t->work += t->trial_len[i];
}

/* Unit g goes to this way; the counts become those after the move. */
static void begin_move(struct trees *t, int32_t g, const int32_t *arc, int32_t n)
{
    int32_t d = t->dest[g], *next = t->next + (int64_t)d * t->u->nswitch;
    const int32_t *tail = t->p->fabric->tail, *place = t->u->place;
    t->now++;
    t->ntouched = t->nmoved = t->nchanged = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = place[tail[arc[i]]];
        if (next[v] == arc[i])
            continue;
        t->changed[t->nchanged] = v;
        t->before[t->nchanged++] = next[v];
        t->vstamp[v] = t->now;
        next[v] = arc[i];
    }
    for (int32_t h = t->dfirst[d]; h < t->dfirst[d + 1]; h++)
        if (h == g || (t->len[h] > 0 && meets(t, h)))
            note_moved(t, h);
    for (int32_t i = 0; i < t->nmoved; i++)
        apply(t, t->moved[i], t->arc + t->moved[i] * t->longest, t->len[t->moved[i]], -1);
    for (int32_t i = 0; i < t->nmoved; i++)
        apply(t, t->moved[i], t->trial + i * t->longest, t->trial_len[i], 1);
}

static void undo_move(struct trees *t, int32_t d)
{
    int32_t *next = t->next + (int64_t)d * t->u->nswitch;
    for (int32_t i = 0; i < t->nmoved; i++)
        apply(t, t->moved[i], t->trial + i * t->longest, t->trial_len[i], -1);
    for (int32_t i = 0; i < t->nmoved; i++)
        apply(t, t->moved[i], t->arc + t->moved[i] * t->longest, t->len[t->moved[i]], 1);
    for (int32_t i = 0; i < t->nchanged; i++)
        next[t->changed[i]] = t->before[i];
}

static void commit_move(struct trees *t)
{
    for (int32_t i = 0; i < t->nmoved; i++) {
        int32_t g = t->moved[i];
        unlink_unit(t, g);
        t->len[g] = t->trial_len[i];
        memcpy(t->arc + g * t->longest, t->trial + i * t->longest, (size_t)t->len[g] * sizeof *t->arc);
        link_unit(t, g);
    }
    for (int32_t i = 0; i < t->ntouched; i++)
        settle(t, t->touched[i]);
}

static struct trees_cost price_move(const struct trees *t)
{
    struct trees_cost c = { 0 };
    for (int32_t i = 0; i < t->ntouched; i++) {
        int32_t a = t->touched[i];
        double load = load_of(t, a), x = over(load) - over(t->sum[a]);
        c.weighted += t->weight[a] * x;
        c.plain += x;
        c.square += load * load - t->sum[a] * t->sum[a];
    }
    return c;
}

int trees_cheaper(const struct trees_cost *x, const struct trees_cost *y)
{
    if (x->weighted < y->weighted - SAME || x->weighted > y->weighted + SAME)
        return x->weighted < y->weighted;
    return x->square < y->square - SAME;
}

/* ---- moves that no other unit follows: costs add up arc by arc ---- */

/* Load of arc a with sign times unit g on top; the counts are as before in the end. */
static double load_plus(struct trees *t, int32_t a, int32_t g, int32_t sign)
{
    int32_t *have = t->have + (int64_t)a * TREES_CLASSES;
    uint64_t mask = t->mask[a];
    for (int32_t k = t->cfirst[g]; k < t->cfirst[g + 1]; k++) {
        have[t->cls[k]] += sign * t->many[k];
        if (have[t->cls[k]] > 0)
            t->mask[a] |= UINT64_C(1) << t->cls[k];
        else
            t->mask[a] &= ~(UINT64_C(1) << t->cls[k]);
    }
    double load = load_of(t, a);
    for (int32_t k = t->cfirst[g]; k < t->cfirst[g + 1]; k++)
        have[t->cls[k]] -= sign * t->many[k];
    t->mask[a] = mask;
    t->work++;
    return load;
}

static struct trees_cost difference(const struct trees *t, int32_t a, double load)
{
    double x = over(load) - over(t->sum[a]);
    return (struct trees_cost){ t->weight[a] * x, x, load * load - t->sum[a] * t->sum[a] };
}

static void add_cost(struct trees_cost *to, const struct trees_cost *c, double sign)
{
    to->weighted += sign * c->weighted;
    to->plain += sign * c->plain;
    to->square += sign * c->square;
}

/* On the arcs of the present way, going back costs what leaving saved. */
struct trees_cost trees_try(struct trees *t, int32_t g)
{
    struct trees_cost saved = { 0 };
    t->enow++;
    for (int32_t i = 0; i < t->len[g]; i++) {
        int32_t a = t->arc[g * t->longest + i];
        struct trees_cost c = difference(t, a, load_plus(t, a, g, -1));
        add_cost(&saved, &c, 1);
        t->estamp[a] = t->enow;
        t->extra[a] = (struct trees_cost){ -c.weighted, -c.plain, -c.square };
    }
    return saved;
}

/* 1 when another unit of g's destination passes a switch whose next hop the way changes. */
static int followed(const struct trees *t, int32_t g, const int32_t *arc, int32_t n)
{
    int64_t base = (int64_t)t->dest[g] * t->u->nswitch;
    const int32_t *tail = t->p->fabric->tail, *place = t->u->place;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = place[tail[arc[i]]], own = 0;
        if (t->next[base + v] == arc[i] || t->passes[base + v] == 0)
            continue;
        for (int32_t k = 0; k < t->len[g]; k++)
            own |= place[tail[t->arc[g * t->longest + k]]] == v;
        if (t->passes[base + v] > own)
            return 1;
    }
    return 0;
}

struct trees_cost trees_price(struct trees *t, int32_t g, const int32_t *arc, int32_t n, const struct trees_cost *saved)
{
    if (followed(t, g, arc, n)) {
        begin_move(t, g, arc, n);
        struct trees_cost c = price_move(t);
        undo_move(t, t->dest[g]);
        return c;
    }
    struct trees_cost c = *saved;
    for (int32_t i = 0; i < n; i++) {
        int32_t a = arc[i];
        if (t->estamp[a] != t->enow) {
            t->estamp[a] = t->enow;
            t->extra[a] = difference(t, a, load_plus(t, a, g, 1));
        }
        add_cost(&c, &t->extra[a], 1);
    }
    return c;
}

void trees_place(struct trees *t, int32_t g, const int32_t *arc, int32_t n)
{
    begin_move(t, g, arc, n);
    commit_move(t);
}

/* ---- starts ---- */

static int by_size(const void *x, const void *y)
{
    const double *s = x, *t = y;
    if (s[0] < t[0] || s[0] > t[0])
        return s[0] > t[0] ? -1 : 1;
    return (s[1] > t[1]) - (s[1] < t[1]);
}

static double size_of(const struct trees *t, int32_t g)
{
    double sum = 0;
    for (int32_t k = t->cfirst[g]; k < t->cfirst[g + 1]; k++)
        sum += t->many[k] * fmin(t->cp[t->cls[k]], t->cq[t->cls[k]]);
    return sum;
}

static void insert(struct trees *t, int32_t g)
{
    struct trees_cost best = { INFINITY, 0, 0 };
    int64_t take = -1;
    int32_t pair = t->pair[g], n = t->whops[pair];
    struct trees_cost saved = trees_try(t, g);
    for (int64_t w = t->wfirst[pair]; w < t->wfirst[pair + 1]; w++) {
        struct trees_cost c = trees_price(t, g, t->warc + w * t->longest, n, &saved);
        if (take < 0 || trees_cheaper(&c, &best)) {
            best = c;
            take = w;
        }
    }
    trees_place(t, g, t->warc + take * t->longest, n);
}

void trees_fill(struct trees *t)
{
    int32_t n = 0;
    for (int32_t g = 0; g < t->nunit; g++)
        if (t->len[g] == 0) {
            t->order[2 * n] = size_of(t, g);
            t->order[2 * n++ + 1] = g;
        }
    qsort(t->order, (size_t)n, 2 * sizeof *t->order, by_size);
    for (int32_t i = 0; i < n; i++)
        insert(t, (int32_t)t->order[2 * i + 1]);
}

void trees_clear(struct trees *t)
{
    int64_t n = (int64_t)t->ndest * t->u->nswitch;
    for (int64_t i = 0; i < n; i++) {
        t->next[i] = -1;
        t->passes[i] = 0;
    }
    for (int32_t a = 0; a < t->narc; a++) {
        t->head[a] = t->where[a] = -1;
        t->count[a] = 0;
        t->mask[a] = 0;
        t->sum[a] = 0;
    }
    memset(t->have, 0, (size_t)t->narc * TREES_CLASSES * sizeof *t->have);
    memset(t->len, 0, (size_t)t->nunit * sizeof *t->len);
    t->nviolated = 0;
    t->excess = 0;
}

/* Counts of all placed units from nothing. */
static void recount(struct trees *t)
{
    memset(t->have, 0, (size_t)t->narc * TREES_CLASSES * sizeof *t->have);
    memset(t->mask, 0, (size_t)t->narc * sizeof *t->mask);
    t->now++;
    t->ntouched = 0;
    for (int32_t g = 0; g < t->nunit; g++)
        apply(t, g, t->arc + g * t->longest, t->len[g], 1);
    t->nviolated = 0;
    t->excess = 0;
    for (int32_t a = 0; a < t->narc; a++) {
        t->where[a] = -1;
        t->sum[a] = 0;
    }
    for (int32_t a = 0; a < t->narc; a++)
        settle(t, a);
}

void trees_load(struct trees *t, const int32_t *len, const int32_t *arc)
{
    trees_clear(t);
    memcpy(t->len, len, (size_t)t->nunit * sizeof *len);
    memmove(t->arc, arc, (size_t)t->nunit * (size_t)t->longest * sizeof *arc);
    for (int32_t g = 0; g < t->nunit; g++) {
        int32_t *next = t->next + (int64_t)t->dest[g] * t->u->nswitch;
        for (int32_t i = 0; i < t->len[g]; i++) {
            int32_t a = t->arc[g * t->longest + i];
            next[t->u->place[t->p->fabric->tail[a]]] = a;
        }
        link_unit(t, g);
    }
    recount(t);
}

/* ---- targets ---- */

/* x rounded up to a power of grid; grid 1 leaves it alone. */
static double coarse(double x, double grid)
{
    if (!(grid > 1) || !(x > 0) || isinf(x))
        return x;
    return prices_exp(ceil(prices_log(x) / prices_log(grid) - 1e-9) * prices_log(grid));
}

/* Class of (p, q), entered when it is new; -1 when there is no room. Kept in order of rising q, then p. */
static int class_of(struct trees *t, double p, double q)
{
    int i = 0;
    while (i < t->nclass && (t->cq[i] < q * (1 - SAME) || (t->cq[i] <= q * (1 + SAME) && t->cp[i] < p * (1 - SAME))))
        i++;
    if (i < t->nclass && t->cq[i] <= q * (1 + SAME) && t->cp[i] <= p * (1 + SAME))
        return i;
    if (t->nclass == TREES_CLASSES)
        return -1;
    memmove(t->cp + i + 1, t->cp + i, (size_t)(t->nclass - i) * sizeof *t->cp);
    memmove(t->cq + i + 1, t->cq + i, (size_t)(t->nclass - i) * sizeof *t->cq);
    t->cp[i] = p;
    t->cq[i] = q;
    t->nclass++;
    return i;
}

static int make_classes(struct trees *t, const double *p, const double *q, double grid)
{
    t->nclass = 0;
    for (int32_t i = 0; i < t->ufirst[t->nunit]; i++)
        if (class_of(t, coarse(p[t->uflow[i]], grid), coarse(q[t->uflow[i]], grid)) < 0)
            return -1;
    return 0;
}

void trees_target(struct trees *t, const double *p, const double *q, double factor)
{
    double grid = 1;
    while (make_classes(t, p, q, grid) < 0) /* too many: round up, more and more; a demand too large is safe */
        grid = grid > 1 ? 1 + 2 * (grid - 1) : 1.01;
    int32_t n = 0;
    for (int32_t g = 0; g < t->nunit; g++) {
        t->cfirst[g] = n;
        for (int32_t i = t->ufirst[g]; i < t->ufirst[g + 1]; i++) {
            int32_t f = t->uflow[i], c = class_of(t, coarse(p[f], grid), coarse(q[f], grid)), k = t->cfirst[g];
            while (k < n && t->cls[k] != c)
                k++;
            if (k == n) {
                t->cls[n] = c;
                t->many[n++] = 0;
            }
            t->many[k]++;
        }
    }
    t->cfirst[t->nunit] = n;
    for (int32_t a = 0; a < t->narc; a++) {
        t->icap[a] = 1 / (factor * t->p->fabric->cap[a] * (1 + TOLERANCE));
        t->weight[a] = 1;
    }
    memset(t->tabu, 0, (size_t)t->nunit * sizeof *t->tabu);
    t->step = 0;
    recount(t);
}

/* ---- life ---- */

static int new_state(struct trees *t)
{
    int64_t slots = (int64_t)t->nunit * t->longest, narc = t->narc, n = t->nunit;
    if (slots > INT32_MAX)
        return -1;
    t->next = array((int64_t)t->ndest * t->u->nswitch, sizeof *t->next);
    t->passes = array((int64_t)t->ndest * t->u->nswitch, sizeof *t->passes);
    t->estamp = array(narc, sizeof *t->estamp);
    t->extra = array(narc, sizeof *t->extra);
    t->len = array(n, sizeof *t->len);
    t->arc = array(slots, sizeof *t->arc);
    t->slot_next = array(slots, sizeof *t->slot_next);
    t->slot_prev = array(slots, sizeof *t->slot_prev);
    t->head = array(narc, sizeof *t->head);
    t->count = array(narc, sizeof *t->count);
    t->cp = array(TREES_CLASSES, sizeof *t->cp);
    t->cq = array(TREES_CLASSES, sizeof *t->cq);
    t->cfirst = array(n + 1, sizeof *t->cfirst);
    t->cls = array(t->p->nflow, sizeof *t->cls);
    t->many = array(t->p->nflow, sizeof *t->many);
    t->have = array(narc * TREES_CLASSES, sizeof *t->have);
    t->mask = array(narc, sizeof *t->mask);
    t->icap = array(narc, sizeof *t->icap);
    t->sum = array(narc, sizeof *t->sum);
    t->weight = array(narc, sizeof *t->weight);
    t->violated = array(narc, sizeof *t->violated);
    t->where = array(narc, sizeof *t->where);
    t->tabu = array(n, sizeof *t->tabu);
    t->stamp = array(narc, sizeof *t->stamp);
    t->vstamp = array(t->u->nswitch, sizeof *t->vstamp);
    t->touched = array(narc, sizeof *t->touched);
    t->moved = array(n, sizeof *t->moved);
    t->trial = array(slots, sizeof *t->trial);
    t->trial_len = array(n, sizeof *t->trial_len);
    t->changed = array(t->longest, sizeof *t->changed);
    t->before = array(t->longest, sizeof *t->before);
    t->order = array(2 * n, sizeof *t->order);
    return t->next && t->passes && t->estamp && t->extra && t->len && t->arc && t->slot_next && t->slot_prev &&
                   t->head && t->count && t->cp && t->cq && t->cfirst && t->cls && t->many && t->have && t->mask &&
                   t->icap && t->sum && t->weight && t->violated && t->where && t->tabu && t->stamp && t->vstamp &&
                   t->touched && t->moved && t->trial && t->trial_len && t->changed && t->before && t->order
               ? 0
               : -1;
}

int trees_new(const struct problem *p, struct updown *u, struct trees **out, struct err *e)
{
    int no_way = 0;
    *out = NULL;
    struct trees *t = array(1, sizeof *t);
    if (!t)
        return fail(e, E_MEMORY, "out of memory for %d flows", p->nflow);
    t->p = p;
    t->u = u;
    t->narc = p->fabric->narc;
    int rc = trees_units(t, &no_way, e);
    if (rc == 0 && !no_way && new_state(t) < 0)
        rc = fail(e, E_MEMORY, "out of memory for the trees of %d flows", p->nflow);
    if (rc < 0 || no_way) {
        trees_free(t);
        return rc;
    }
    trees_clear(t);
    *out = t;
    return 0;
}

void trees_free(struct trees *t)
{
    if (!t)
        return;
    void *owned[] = { t->unit,      t->from,   t->dest,      t->pair,  t->node,   t->root,     t->dfirst, t->ufirst,
                      t->uflow,     t->wfirst, t->whops,     t->warc,  t->next,   t->len,      t->arc,    t->slot_next,
                      t->slot_prev, t->head,   t->count,     t->cp,    t->cq,     t->cfirst,   t->cls,    t->many,
                      t->have,      t->mask,   t->icap,      t->sum,   t->weight, t->violated, t->where,  t->tabu,
                      t->stamp,     t->vstamp, t->touched,   t->moved, t->passes, t->estamp,   t->extra,  t->trial,
                      t->changed,   t->before, t->trial_len, t->order };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(t);
}
