#include "solver/engine/eject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 24,           /* units of a violated arc tried per step */
    LOOK = 128,           /* units of an arc looked at to find them */
    TENURE = 8,           /* a moved unit rests TENURE .. 2 TENURE - 1 steps, and longer when many arcs are violated */
    WEIGHT_PERIOD = 1024, /* steps between decays of the arc weights */
    K = LANES_SLACK + 1,  /* states per node */
    BEAM = 8,             /* states of a layer that go on when more than BEAM_FAN arcs lie behind it */
    BEAM_FAN = 512
};
static const double TOLERANCE = 1e-9; /* of an arc's capacity: far below any step of a real demand */
static const double TIE = 1e-6;       /* tie part of a cost, relative to the mean unit: below any real excess */
static const double WEIGHT_STEP = .5;
static const double WEIGHT_DECAY = .7;

static int new_arrays(struct eject *s, int64_t nslot)
{
    int64_t nstate = (int64_t)s->w->nnode * K, n = s->nunit, m = s->narc;
    s->cap = array(m, sizeof *s->cap);
    s->inverse = array(m, sizeof *s->inverse);
    s->len = array(n, sizeof *s->len);
    s->arc = array(nslot, sizeof *s->arc);
    s->next = array(nslot, sizeof *s->next);
    s->prev = array(nslot, sizeof *s->prev);
    s->owner = array(nslot, sizeof *s->owner);
    s->head = array(m, sizeof *s->head);
    s->count = array(m, sizeof *s->count);
    s->top = array(m, sizeof *s->top);
    s->sum = array(m, sizeof *s->sum);
    s->high = array(m, sizeof *s->high);
    s->weight = array(m, sizeof *s->weight);
    s->violated = array(m, sizeof *s->violated);
    s->where = array(m, sizeof *s->where);
    s->tabu = array(n, sizeof *s->tabu);
    s->cost = array(nstate, sizeof *s->cost);
    s->via = array(nstate, sizeof *s->via);
    s->queue = array(nstate, sizeof *s->queue);
    s->stamp = array(nstate, sizeof *s->stamp);
    s->way = array(s->w->longest, sizeof *s->way);
    s->best_way = array(s->w->longest, sizeof *s->best_way);
    s->order = array(n, sizeof *s->order);
    return s->cap && s->inverse && s->len && s->arc && s->next && s->prev && s->owner && s->head && s->count &&
                   s->top && s->sum && s->high && s->weight && s->violated && s->where && s->tabu && s->cost &&
                   s->via && s->queue && s->stamp && s->way && s->best_way && s->order
               ? 0
               : -1;
}

struct eject *eject_new(const struct lanes *w, int32_t nunit, const int32_t *pair, struct err *e)
{
    struct eject *s = array(1, sizeof *s);
    if (!s)
        goto oom;
    s->w = w;
    s->nunit = nunit;
    s->narc = w->problem->fabric->narc;
    s->pair = pair;
    s->at = array((int64_t)nunit + 1, sizeof *s->at);
    if (!s->at)
        goto oom;
    for (int32_t g = 0; g < nunit; g++)
        s->at[g + 1] = s->at[g] + w->way[pair[g]].wide;
    if (s->at[nunit] > INT32_MAX) {
        eject_free(s);
        fail(e, E_INPUT, "the ways of %d flows take more than 2^31 arcs", nunit);
        return NULL;
    }
    if (new_arrays(s, s->at[nunit]) < 0)
        goto oom;
    for (int32_t g = 0; g < nunit; g++) {
        s->len[g] = -1;
        for (int64_t i = s->at[g]; i < s->at[g + 1]; i++)
            s->owner[i] = g;
    }
    for (int32_t a = 0; a < s->narc; a++) {
        s->head[a] = s->where[a] = -1;
        s->weight[a] = 1;
    }
    s->nlifted = nunit;
    return s;
oom:
    eject_free(s);
    fail(e, E_MEMORY, "out of memory for the search over %d flows", nunit);
    return NULL;
}

void eject_free(struct eject *s)
{
    if (!s)
        return;
    void *owned[] = { s->cap,  s->inverse, s->at,  s->len,   s->arc,   s->next,   s->prev,     s->owner,
                      s->head, s->count,   s->top, s->sum,   s->high,  s->weight, s->violated, s->where,
                      s->tabu, s->cost,    s->via, s->queue, s->stamp, s->way,    s->best_way, s->order };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(s);
}

static inline double over(const struct eject *s, int32_t a)
{
    return s->sum[a] > s->cap[a] ? s->sum[a] - s->cap[a] : 0;
}

/* Sum over the units on a of min(p, high). */
static double sum_at(const struct eject *s, int32_t a, double high)
{
    double sum = 0;
    for (int32_t i = s->head[a]; i >= 0; i = s->next[i]) {
        double p = s->p[s->owner[i]];
        sum += p < high ? p : high;
    }
    return sum;
}

/* Takes up a changed sum: total excess and the list of violated arcs. before: excess of a before the change. */
static inline void settle(struct eject *s, int32_t a, double before)
{
    double after = over(s, a);
    s->excess += after - before;
    if (after > 0 && s->where[a] < 0) {
        s->where[a] = s->nviolated;
        s->violated[s->nviolated++] = a;
    } else if (after <= 0 && s->where[a] >= 0) {
        int32_t last = s->violated[--s->nviolated];
        s->violated[s->where[a]] = last;
        s->where[last] = s->where[a];
        s->where[a] = -1;
        if (s->nviolated == 0)
            s->excess = 0; /* sheds what rounding has left */
    }
}

static void link_slot(struct eject *s, int32_t slot, double p, double q)
{
    int32_t a = s->arc[slot];
    double before = over(s, a);
    s->prev[slot] = -1;
    s->next[slot] = s->head[a];
    if (s->head[a] >= 0)
        s->prev[s->head[a]] = slot;
    s->head[a] = slot;
    s->count[a]++;
    if (q > s->high[a]) {
        s->high[a] = q;
        s->top[a] = 1;
        s->sum[a] = sum_at(s, a, q);
    } else {
        s->top[a] += q >= s->high[a];
        s->sum[a] += p < s->high[a] ? p : s->high[a];
    }
    settle(s, a, before);
}

/* The largest q on a and how many have it, and the sum that follows. */
static void recount(struct eject *s, int32_t a)
{
    double high = 0;
    int32_t top = 0;
    for (int32_t i = s->head[a]; i >= 0; i = s->next[i]) {
        double q = s->q[s->owner[i]];
        if (q > high) {
            high = q;
            top = 0;
        }
        top += q >= high;
    }
    s->high[a] = high;
    s->top[a] = top;
    s->sum[a] = sum_at(s, a, high);
}

static void unlink_slot(struct eject *s, int32_t slot, double p, double q)
{
    int32_t a = s->arc[slot];
    double before = over(s, a);
    if (s->prev[slot] >= 0)
        s->next[s->prev[slot]] = s->next[slot];
    else
        s->head[a] = s->next[slot];
    if (s->next[slot] >= 0)
        s->prev[s->next[slot]] = s->prev[slot];
    s->count[a]--;
    if (q >= s->high[a] && --s->top[a] == 0)
        recount(s, a);
    else
        s->sum[a] -= p < s->high[a] ? p : s->high[a];
    settle(s, a, before);
}

int eject_place(struct eject *s, int32_t g, const int32_t *arc, int32_t n)
{
    if (n > s->at[g + 1] - s->at[g])
        return -1;
    for (int32_t i = 0; i < n; i++) {
        s->arc[s->at[g] + i] = arc[i];
        link_slot(s, (int32_t)s->at[g] + i, s->p[g], s->q[g]);
    }
    s->len[g] = n;
    s->nlifted--;
    return 0;
}

void eject_lift(struct eject *s, int32_t g)
{
    for (int32_t i = 0; i < s->len[g]; i++)
        unlink_slot(s, (int32_t)s->at[g] + i, s->p[g], s->q[g]);
    s->nlifted += s->len[g] >= 0;
    s->len[g] = -1;
}

static void reset_weights(struct eject *s)
{
    for (int32_t a = 0; a < s->narc; a++)
        s->weight[a] = 1;
}

void eject_clear(struct eject *s)
{
    for (int32_t g = 0; g < s->nunit; g++)
        eject_lift(s, g);
    reset_weights(s);
}

void eject_target(struct eject *s, const double *p, const double *q, double factor)
{
    double total = 0;
    s->p = p;
    s->q = q;
    for (int32_t g = 0; g < s->nunit; g++)
        total += p[g] < q[g] ? p[g] : q[g];
    s->tiny = s->nunit > 0 ? TIE * total / s->nunit : 0;
    s->excess = 0;
    s->nviolated = 0;
    for (int32_t a = 0; a < s->narc; a++) {
        s->cap[a] = factor * s->w->problem->fabric->cap[a] * (1 + TOLERANCE);
        s->inverse[a] = 1 / s->cap[a];
        s->where[a] = -1;
        recount(s, a);
        settle(s, a, 0);
        s->work += 1 + s->count[a];
    }
}

static inline double jitter(const struct eject *s, int32_t a)
{
    uint32_t x = (uint32_t)a * 2654435761u + s->salt;
    x = (x ^ x >> 15) * 2246822507u;
    return (x ^ x >> 13) * 0x1p-32;
}

/* What unit (p, q) adds on arc a: weighted excess, and a small part that prefers few, little loaded arcs. */
static inline double added(const struct eject *s, int32_t a, double p, double q)
{
    double high = s->high[a], cap = s->cap[a], sum;
    if (q <= high)
        sum = s->sum[a] + (p < high ? p : high);
    else
        sum = (s->head[a] >= 0 ? sum_at(s, a, q) : 0) + (p < q ? p : q);
    double load = sum * s->inverse[a], cost = s->tiny * (.5 + load * load);
    if (sum > cap)
        cost += s->weight[a] * (sum - (s->sum[a] > cap ? s->sum[a] : cap));
    return s->noise > 0 ? cost + s->noise * jitter(s, a) : cost;
}

static double cheapest_listed(struct eject *s, const struct lane_pair *y, double p, double q, int32_t avoid,
                              double bound, int32_t *len)
{
    const struct lanes *w = s->w;
    int64_t best = -1;
    for (int64_t k = y->first; k < y->last; k++) {
        double cost = 0;
        s->work += w->list_at[k + 1] - w->list_at[k];
        for (int64_t i = w->list_at[k]; i < w->list_at[k + 1] && cost < bound; i++)
            cost += w->list_arc[i] == avoid ? INFINITY : added(s, w->list_arc[i], p, q);
        if (cost < bound) {
            bound = cost;
            best = k;
        }
    }
    if (best < 0)
        return INFINITY;
    *len = (int32_t)(w->list_at[best + 1] - w->list_at[best]);
    memcpy(s->way, w->list_arc + w->list_at[best], (size_t)*len * sizeof *s->way);
    return bound;
}

/* Reads the way back from state at the end node. */
static void trace(struct eject *s, const struct lane_pair *y, const uint16_t *dist, int32_t extra, int32_t len)
{
    int32_t v = y->b;
    for (int32_t i = len - 1; i >= 0; i--) {
        int32_t a = s->via[v * K + extra], u = s->w->tail[a];
        s->way[i] = a;
        extra -= dist[v] + 1 - dist[u];
        v = u;
    }
}

/* Keeps the BEAM cheapest of the states queue[lo .. hi), ties from a place that salt decides; returns the new end. */
static int32_t keep_cheapest(struct eject *s, int32_t lo, int32_t hi)
{
    int32_t n = hi - lo, turn = (int32_t)(s->salt % (uint32_t)n);
    for (int32_t i = 0; i < turn; i++) { /* swaps some ends, enough to vary ties */
        int32_t swap = s->queue[lo + i];
        s->queue[lo + i] = s->queue[hi - 1 - i];
        s->queue[hi - 1 - i] = swap;
    }
    for (int32_t k = 0; k < BEAM; k++) {
        int32_t best = lo + k;
        for (int32_t i = best + 1; i < hi; i++)
            if (s->cost[s->queue[i]] < s->cost[s->queue[best]])
                best = i;
        int32_t swap = s->queue[lo + k];
        s->queue[lo + k] = s->queue[best];
        s->queue[best] = swap;
    }
    return lo + BEAM;
}

/* A walk over (node, hops above the fewest), state = node * K + extra. */
struct walk {
    const struct lane_pair *y;
    const uint16_t *dist;
    const int64_t *row_at; /* fewest-hop arcs by node, where slack is 0 and they are kept; else NULL */
    int32_t slack, avoid, found;
    double p, q, bound;
};

/* Relaxes the arcs out of a state; n states are queued, returns how many then. */
static int32_t expand(struct eject *s, struct walk *x, int32_t state, int32_t n)
{
    const struct lanes *w = s->w;
    int32_t v = state / K, extra = state % K;
    double base = s->cost[state];
    const int32_t *arc = x->row_at ? w->row_arc + x->row_at[v] : w->out + w->first[v];
    const int32_t *end = x->row_at ? w->row_arc + x->row_at[v + 1] : w->out + w->first[v + 1];
    s->work += end - arc;
    for (; arc < end; arc++) {
        int32_t h = w->head[*arc], more = extra + x->dist[h] + 1 - x->dist[v];
        if (more > x->slack || *arc == x->avoid || (h >= w->nswitch && h != x->y->b) || h == x->y->a)
            continue;
        double c = base + added(s, *arc, x->p, x->q);
        int32_t next = h * K + more;
        if (c >= x->bound || (s->stamp[next] == s->now && c >= s->cost[next]))
            continue;
        if (h == x->y->b) {
            x->bound = c;
            x->found = more;
        } else if (s->stamp[next] != s->now) {
            s->queue[n++] = next;
        }
        s->stamp[next] = s->now;
        s->cost[next] = c;
        s->via[next] = *arc;
    }
    return n;
}

/* Arcs that a fewest-hop layer would look at. */
static int64_t fan(const struct eject *s, const struct walk *x, int32_t lo, int32_t hi)
{
    int64_t sum = 0;
    for (int32_t i = lo; i < hi; i++)
        sum += x->row_at[s->queue[i] / K + 1] - x->row_at[s->queue[i] / K];
    return sum;
}

/* Cheapest way of a pair below bound that does not use arc avoid, into s->way; INFINITY when there is none. Layer by
 * layer; costs are positive, so the cheapest walk is a path. In large fabrics only the cheapest states of a layer with
 * many arcs behind it go on. */
static double cheapest(struct eject *s, const struct lane_pair *y, double p, double q, int32_t avoid, double bound,
                       int32_t *len)
{
    const struct lanes *w = s->w;
    *len = 0;
    if (y->row < 0)
        return cheapest_listed(s, y, p, q, avoid, bound, len);
    if (y->a == y->b)
        return avoid < 0 && bound > 0 ? 0 : INFINITY;
    struct walk x = {
        .y = y, .dist = w->dist + (int64_t)y->row * w->nnode, .avoid = avoid, .found = -1, .p = p, .q = q
    };
    x.bound = bound;
    x.slack = (s->wide ? y->wide : y->limit) - y->hops;
    x.row_at = w->row_at && x.slack == 0 ? w->row_at + (int64_t)y->row * (w->nnode + 1) : NULL;
    int32_t n = 0, end = 1;
    s->now++;
    s->queue[n++] = y->a * K;
    s->stamp[y->a * K] = s->now;
    s->cost[y->a * K] = 0;
    for (int32_t i = 0; i < n; i++) {
        if (i == end) {
            if (x.row_at && n - end > BEAM && fan(s, &x, end, n) > BEAM_FAN)
                n = keep_cheapest(s, end, n);
            end = n;
        }
        if (s->cost[s->queue[i]] < x.bound)
            n = expand(s, &x, s->queue[i], n);
    }
    if (x.found < 0)
        return INFINITY;
    *len = y->hops + x.found;
    trace(s, y, x.dist, x.found, *len);
    return x.bound;
}

double eject_way(struct eject *s, int32_t g, int32_t avoid, double bound, int32_t *len)
{
    return cheapest(s, &s->w->way[s->pair[g]], s->p[g], s->q[g], avoid, bound, len);
}

void eject_insert(struct eject *s, int32_t g)
{
    int32_t len;
    if (eject_way(s, g, -1, INFINITY, &len) < INFINITY)
        eject_place(s, g, s->way, len);
}

/* Sorts order[n] by decreasing size, ties by number: a bottom-up merge sort over the spare half of scratch would need
 * more memory than this heap sort in place. */
static int before(const struct eject *s, int32_t g, int32_t h)
{
    double x = s->p[g] < s->q[g] ? s->p[g] : s->q[g], y = s->p[h] < s->q[h] ? s->p[h] : s->q[h];
    return x > y || (x >= y && g < h);
}

static void sift(const struct eject *s, int32_t *order, int32_t i, int32_t n)
{
    for (int32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(s, order[child], order[child + 1]))
            child++;
        if (!before(s, order[i], order[child]))
            return;
        int32_t swap = order[i];
        order[i] = order[child];
        order[child] = swap;
    }
}

static void sort_by_size(const struct eject *s, int32_t *order, int32_t n)
{
    for (int32_t i = n / 2; i-- > 0;)
        sift(s, order, i, n);
    while (n-- > 1) {
        int32_t swap = order[0];
        order[0] = order[n];
        order[n] = swap;
        sift(s, order, 0, n);
    }
}

void eject_fill(struct eject *s, int in_order)
{
    int32_t n = 0;
    for (int32_t g = 0; g < s->nunit; g++)
        if (s->len[g] < 0)
            s->order[n++] = g;
    if (!in_order)
        sort_by_size(s, s->order, n);
    for (int32_t i = 0; i < n; i++)
        eject_insert(s, s->order[i]);
}

/* Weighted excess that lifting g takes away; g is lifted, its arcs stay readable in its slots. */
static double lift_gain(struct eject *s, int32_t g, int32_t *len)
{
    double gain = 0;
    *len = s->len[g];
    for (int32_t i = 0; i < *len; i++) {
        int32_t a = s->arc[s->at[g] + i];
        gain += s->weight[a] * over(s, a);
    }
    eject_lift(s, g);
    for (int32_t i = 0; i < *len; i++) {
        int32_t a = s->arc[s->at[g] + i];
        gain -= s->weight[a] * over(s, a);
    }
    return gain;
}

/* Puts g back on the arcs still in its slots. */
static void put_back(struct eject *s, int32_t g, int32_t len)
{
    for (int32_t i = 0; i < len; i++)
        link_slot(s, (int32_t)s->at[g] + i, s->p[g], s->q[g]);
    s->len[g] = len;
    s->nlifted--;
}

/* Puts g into unit[n], for the smallest there when it is full and g is larger; returns the new n. */
static int32_t keep_larger(const struct eject *s, int32_t g, int32_t unit[TRIES], int32_t n)
{
    int32_t least = 0;
    if (n < TRIES) {
        unit[n] = g;
        return n + 1;
    }
    for (int32_t i = 1; i < n; i++)
        if (s->p[unit[i]] < s->p[unit[least]])
            least = i;
    if (s->p[g] > s->p[unit[least]])
        unit[least] = g;
    return n;
}

/* Up to TRIES units of arc a that may move now: the largest of LOOK from a random one on; when all of these rest, the
 * one that rests shortest. */
static int32_t choose_units(const struct eject *s, struct rng *rng, int32_t a, int32_t unit[TRIES])
{
    int32_t n = 0, i = s->head[a], soonest = -1, far = s->count[a] < LOOK ? s->count[a] : LOOK;
    for (int32_t skip = rng_below(rng, s->count[a]); skip > 0; skip--)
        i = s->next[i];
    for (int32_t seen = 0; seen < far; seen++) {
        int32_t g = s->owner[i];
        if (s->tabu[g] <= s->step)
            n = keep_larger(s, g, unit, n);
        if (soonest < 0 || s->tabu[g] < s->tabu[soonest])
            soonest = g;
        i = s->next[i] >= 0 ? s->next[i] : s->head[a];
    }
    if (n == 0)
        unit[n++] = soonest;
    return n;
}

/* One move off arc a; returns the change of weighted excess, INFINITY when no unit of a has another way. */
static double move_off(struct eject *s, struct rng *rng, int32_t a)
{
    int32_t unit[TRIES], best = -1, best_len = 0;
    int32_t n = choose_units(s, rng, a, unit);
    double best_delta = INFINITY;
    for (int32_t k = 0; k < n; k++) {
        int32_t g = unit[k], len, found;
        double gain = lift_gain(s, g, &len);
        double cost = eject_way(s, g, a, best_delta + gain, &found);
        put_back(s, g, len);
        if (cost - gain < best_delta) {
            best_delta = cost - gain;
            best = g;
            best_len = found;
            memcpy(s->best_way, s->way, (size_t)found * sizeof *s->way);
            if (cost < 1e3 * s->tiny && gain >= s->sum[a] - s->cap[a])
                break; /* heals the arc and hurts none */
        }
    }
    if (best < 0)
        return INFINITY;
    eject_lift(s, best);
    eject_place(s, best, s->best_way, best_len);
    s->tabu[best] = s->step + TENURE + rng_below(rng, TENURE) + s->nviolated / 4;
    return best_delta;
}

static void raise_weights(struct eject *s)
{
    for (int32_t i = 0; i < s->nviolated; i++)
        s->weight[s->violated[i]] += WEIGHT_STEP;
}

static void decay_weights(struct eject *s)
{
    for (int32_t a = 0; a < s->narc; a++)
        s->weight[a] = 1 + (s->weight[a] - 1) * WEIGHT_DECAY;
}

/* Lifts the units of a violated arc and of some arcs beside it, and inserts them again, largest first. */
static void ruin(struct eject *s, struct rng *rng)
{
    int32_t n = 0, room = s->nunit < 96 ? s->nunit : 96;
    int32_t a = s->violated[rng_below(rng, s->nviolated)], v = s->w->tail[a];
    for (int32_t k = 0; k < 6 && n < room; k++) {
        while (s->head[a] >= 0 && n < room) {
            int32_t g = s->owner[s->head[a]];
            eject_lift(s, g);
            s->order[n++] = g;
        }
        if (v >= 0 && s->w->first[v + 1] > s->w->first[v])
            a = s->w->out[s->w->first[v] + rng_below(rng, s->w->first[v + 1] - s->w->first[v])];
    }
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t j = rng_below(rng, i + 1), swap = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = swap;
    }
    for (int32_t i = 0; i < n; i++)
        eject_insert(s, s->order[i]);
}

int eject_search(struct eject *s, struct rng *rng, int64_t steps, int64_t work_end, struct eject_stop *stop)
{
    double best = s->excess;
    int64_t stale = 0, stuck = 0, patience = 200 + 2 * (int64_t)s->nviolated;
    memset(s->tabu, 0, (size_t)s->nunit * sizeof *s->tabu);
    reset_weights(s);
    s->step = 0;
    for (int64_t left = steps; left > 0 && s->nviolated > 0 && s->work < work_end; left--) {
        s->step++;
        s->salt = (uint32_t)rng_next(rng);
        double delta = move_off(s, rng, s->violated[rng_below(rng, s->nviolated)]);
        if (!(delta < INFINITY)) {
            if (++stuck > 8 * (int64_t)s->nviolated + 64)
                return 0;
            continue;
        }
        if (delta > -10 * s->tiny)
            raise_weights(s);
        if (s->step % WEIGHT_PERIOD == 0)
            decay_weights(s);
        stale = s->excess < best - 10 * s->tiny ? 0 : stale + 1;
        best = s->excess < best ? s->excess : best;
        if (stale > patience && s->nviolated > 0) {
            ruin(s, rng);
            stale = 0;
            best = s->excess;
        }
        if (stop && stop->ask && s->step % 64 == 0 && stop->ask(stop->context)) {
            stop->stopped = 1;
            return s->nviolated == 0;
        }
    }
    return s->nviolated == 0;
}
