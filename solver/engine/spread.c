#include "solver/engine/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCORE_WORK = 16, /* work of an exact score for each arc of a path */
    LEVELS = 8,      /* targets tried between the value reached and the bound */
    STEPS = 1500,    /* per target, times effort */
    TRIES = 8,       /* subflows of an arc tried per step */
    LOOK = 128,      /* subflows of an arc looked at to find them */
    WAYS = 3,        /* ways looked at per subflow */
    TENURE = 6,
    HOPELESS = 2,     /* a target that more than 1 / HOPELESS of all flows miss is given up at once */
    SHARE_ROUNDS = 4, /* of fitting shares to rates where demands cap subflows */
    PATIENCE = 400    /* steps without a better penalty before a shake */
};
static const double NOISE = 4;    /* of a random way, in units of its tie cost */
static const double SHORT = 1e-9; /* relative shortfall that counts */

/* Subflows of flow f: k where it can differ in them or shares its NICs' arcs, else one. */
static int32_t subflows(const struct spread *s, int32_t f, const int32_t *users)
{
    const struct lanes *w = s->w;
    const struct lane_pair *y = &w->way[w->pair[f]];
    int choice = y->row >= 0 ? y->a != y->b : y->last - y->first > 1;
    int alone = (w->enter[f] < 0 || users[w->enter[f]] == 1) && (w->leave[f] < 0 || users[w->leave[f]] == 1);
    return choice || !alone ? s->k : 1;
}

static int new_subflows(struct spread *s, const struct climb *c)
{
    int32_t *users = array(s->p->fabric->narc, sizeof *users);
    if (!users)
        return -1;
    for (int32_t g = 0; g < c->nunit; g++) {
        int32_t end[2] = { s->w->enter[c->flow[g]], s->w->leave[c->flow[g]] };
        for (int i = 0; i < 2; i++)
            if (end[i] >= 0)
                users[end[i]]++;
    }
    s->nunit = c->nunit;
    s->flow = array(s->nunit, sizeof *s->flow);
    s->first = array((int64_t)s->nunit + 1, sizeof *s->first);
    s->unit = array((int64_t)s->nunit * s->k, sizeof *s->unit);
    s->pair = array((int64_t)s->nunit * s->k, sizeof *s->pair);
    s->ceiling = array(s->nunit, sizeof *s->ceiling);
    s->want = array(s->nunit, sizeof *s->want);
    s->sum = array(s->nunit, sizeof *s->sum);
    s->below = array(s->nunit, sizeof *s->below);
    s->where = array(s->nunit, sizeof *s->where);
    int rc =
        s->flow && s->first && s->unit && s->pair && s->ceiling && s->want && s->sum && s->below && s->where ? 0 : -1;
    for (int32_t g = 0; rc == 0 && g < s->nunit; g++) {
        s->flow[g] = c->flow[g];
        s->ceiling[g] = c->rate[g];
        s->where[g] = -1;
        for (int32_t i = subflows(s, c->flow[g], users); i > 0; i--) {
            s->unit[s->nsub] = g;
            s->pair[s->nsub++] = c->pair[g];
        }
        s->first[g + 1] = s->nsub;
    }
    free(users);
    return rc;
}

struct spread *spread_new(const struct climb *c, struct err *e)
{
    struct spread *s = array(1, sizeof *s);
    if (!s)
        goto oom;
    *s = (struct spread){ .p = c->p, .w = c->w, .colour = c->colour, .k = c->p->options.paths_per_flow };
    if (new_subflows(s, c) < 0)
        goto oom;
    s->s = eject_new(s->w, s->nsub, s->pair, e);
    if (!s->s) {
        spread_free(s);
        return NULL;
    }
    int64_t hops = s->s->at[s->nsub] + 2 * (int64_t)s->nsub;
    s->one = array(s->nsub, sizeof *s->one);
    s->infinite = array(s->nsub, sizeof *s->infinite);
    s->rate = array(s->nsub, sizeof *s->rate);
    s->old_way = array(s->w->longest, sizeof *s->old_way);
    s->scorer = scorer_new(s->p, s->nsub, hops, e);
    s->routes = routes_new(s->p->nflow, s->nsub, hops, e);
    if (best_init(&s->best, s->p, e) < 0 || !s->one || !s->infinite || !s->rate || !s->old_way || !s->scorer ||
        !s->routes)
        goto oom;
    for (int32_t i = 0; i < s->nsub; i++) {
        s->one[i] = 1;
        s->infinite[i] = INFINITY;
    }
    return s;
oom:
    spread_free(s);
    fail(e, E_MEMORY, "out of memory for the subflows of %d flows", c->p->nflow);
    return NULL;
}

void spread_free(struct spread *s)
{
    if (!s)
        return;
    eject_free(s->s);
    scorer_free(s->scorer);
    routes_free(s->routes);
    best_free(&s->best);
    void *owned[] = { s->flow, s->first, s->unit, s->pair,  s->one,   s->infinite, s->ceiling,
                      s->want, s->rate,  s->sum,  s->below, s->where, s->old_way };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(s);
}

int spread_reset(struct spread *s, const struct routes *best, struct err *e)
{
    best_clear(&s->best);
    s->stop.stopped = 0;
    s->steps = 0;
    return best ? best_take(&s->best, best, e) : 0;
}

/* ---- estimated rates and the penalty ---- */

static double value_of(const struct spread *s, int32_t g)
{
    return s->sum[g] < s->ceiling[g] ? s->sum[g] : s->ceiling[g];
}

static double shortfall(const struct spread *s, int32_t g)
{
    double v = value_of(s, g);
    if (!(v < s->want[g] * (1 - SHORT)))
        return 0;
    double x = 1 - v / s->want[g];
    return x * x;
}

/* Least u_a / n_a over the arcs of subflow i, its NIC's ceiling where it has none. */
static double estimate(const struct spread *s, int32_t i)
{
    double least = s->ceiling[s->unit[i]];
    for (int32_t h = 0; h < s->s->len[i]; h++) {
        int32_t a = s->s->arc[s->s->at[i] + h];
        double share = s->p->fabric->cap[a] / s->s->count[a];
        least = share < least ? share : least;
    }
    return s->s->len[i] < 0 ? 0 : least;
}

static void update(struct spread *s, int32_t i)
{
    int32_t g = s->unit[i];
    double rate = estimate(s, i), before = shortfall(s, g);
    s->sum[g] += rate - s->rate[i];
    s->rate[i] = rate;
    double after = shortfall(s, g);
    s->penalty += after - before;
    if (after > 0 && s->where[g] < 0) {
        s->where[g] = s->nshort;
        s->below[s->nshort++] = g;
    } else if (after <= 0 && s->where[g] >= 0) {
        int32_t last = s->below[--s->nshort];
        s->below[s->where[g]] = last;
        s->where[last] = s->where[g];
        s->where[g] = -1;
    }
}

/* Takes up the new counts of the arcs arc[n] in all subflows on them. */
static void update_arcs(struct spread *s, const int32_t *arc, int32_t n)
{
    for (int32_t h = 0; h < n; h++) {
        s->s->work += s->s->count[arc[h]];
        for (int32_t k = s->s->head[arc[h]]; k >= 0; k = s->s->next[k])
            update(s, s->s->owner[k]);
    }
}

static void lift(struct spread *s, int32_t i)
{
    int32_t n = s->s->len[i];
    eject_lift(s->s, i);
    update(s, i);
    update_arcs(s, s->s->arc + s->s->at[i], n);
}

static void place(struct spread *s, int32_t i, const int32_t *arc, int32_t n)
{
    eject_place(s->s, i, arc, n);
    update(s, i);
    update_arcs(s, arc, n);
}

static void recount(struct spread *s)
{
    s->penalty = 0;
    s->nshort = 0;
    for (int32_t g = 0; g < s->nunit; g++) {
        s->sum[g] = 0;
        s->where[g] = -1;
        for (int32_t i = s->first[g]; i < s->first[g + 1]; i++) {
            s->rate[i] = estimate(s, i);
            s->sum[g] += s->rate[i];
        }
        double x = shortfall(s, g);
        s->penalty += x;
        if (x > 0) {
            s->where[g] = s->nshort;
            s->below[s->nshort++] = g;
        }
    }
}

/* ---- exact score ---- */

static void write_routes(struct spread *s)
{
    struct routes *r = s->routes;
    int64_t n = 0, path = 0;
    int32_t g = 0;
    for (int32_t f = 0; f < s->p->nflow; f++) {
        r->first[f] = path;
        if (s->w->pair[f] < 0)
            continue;
        for (int32_t i = s->first[g]; i < s->first[g + 1]; i++) {
            if (s->w->enter[f] >= 0)
                r->arc[n++] = s->w->enter[f];
            for (int32_t h = 0; h < s->s->len[i]; h++)
                r->arc[n++] = s->s->arc[s->s->at[i] + h];
            if (s->w->leave[f] >= 0)
                r->arc[n++] = s->w->leave[f];
            r->share[path] = 1.0 / (s->first[g + 1] - s->first[g]);
            r->at[++path] = n;
        }
        g++;
    }
    r->first[s->p->nflow] = r->npath = path;
}

/* Shares in proportion to the rates; subflows held back by their own share of the demand ask for more. */
static void fit_shares(struct spread *s)
{
    struct routes *r = s->routes;
    for (int32_t f = 0; f < s->p->nflow; f++) {
        double sum = 0, ceiling = s->p->kind == DEMAND_GBPS ? s->p->demand[f] : INFINITY;
        for (int64_t i = r->first[f]; i < r->first[f + 1]; i++) {
            if (r->gbps[i] >= r->share[i] * ceiling * (1 - SHORT))
                r->gbps[i] *= 2;
            sum += r->gbps[i];
        }
        for (int64_t i = r->first[f]; sum > 0 && i < r->first[f + 1]; i++)
            r->share[i] = r->gbps[i] / sum;
    }
}

static void score_state(struct spread *s)
{
    write_routes(s);
    s->s->work += SCORE_WORK * s->routes->at[s->routes->npath];
    for (int i = 0; i < (s->p->kind == DEMAND_GBPS ? SHARE_ROUNDS : 1); i++) {
        scorer_pinned(s->scorer, s->routes, s->best.trial, NULL);
        fit_shares(s);
        best_offer(&s->best, s->scorer, s->routes);
    }
}

/* ---- search ---- */

static int over(const struct spread *s)
{
    return s->stop.stopped || s->s->work >= s->work_end;
}

/* The slowest subflow of unit g and its tightest arc; -1 when its ways have no arc. */
static int32_t tightest(const struct spread *s, int32_t g)
{
    int32_t slow = s->first[g], arc = -1;
    for (int32_t i = s->first[g]; i < s->first[g + 1]; i++)
        if (s->rate[i] < s->rate[slow])
            slow = i;
    double least = INFINITY;
    for (int32_t h = 0; h < s->s->len[slow]; h++) {
        int32_t a = s->s->arc[s->s->at[slow] + h];
        if (s->p->fabric->cap[a] / s->s->count[a] < least) {
            least = s->p->fabric->cap[a] / s->s->count[a];
            arc = a;
        }
    }
    return arc;
}

/* Best of WAYS ways for subflow i off arc a; i is where it was on return. Lowers *least and fills s->s->best_way. */
static int try_subflow(struct spread *s, int32_t i, int32_t a, double *least, int32_t *best_len)
{
    int32_t old = s->s->len[i], len, better = 0;
    memcpy(s->old_way, s->s->arc + s->s->at[i], (size_t)old * sizeof *s->old_way);
    lift(s, i);
    for (int k = 0; k < WAYS; k++) {
        s->s->noise = k > 0 ? NOISE * s->s->tiny : 0;
        s->s->salt = (uint32_t)rng_next(&s->rng);
        if (!(eject_way(s->s, i, a, INFINITY, &len) < INFINITY))
            break;
        place(s, i, s->s->way, len);
        if (s->penalty < *least) {
            *least = s->penalty;
            *best_len = len;
            memcpy(s->s->best_way, s->s->way, (size_t)len * sizeof *s->s->way);
            better = 1;
        }
        lift(s, i);
    }
    s->s->noise = 0;
    place(s, i, s->old_way, old);
    return better;
}

static void step(struct spread *s)
{
    int32_t a = tightest(s, s->below[rng_below(&s->rng, s->nshort)]), list[TRIES], n = 0, best = -1, best_len = 0;
    if (a < 0)
        return;
    int32_t far = s->s->count[a] < LOOK ? s->s->count[a] : LOOK, skip = rng_below(&s->rng, s->s->count[a]),
            k = s->s->head[a];
    while (skip-- > 0)
        k = s->s->next[k];
    for (int32_t seen = 0; seen < far && n < TRIES; seen++) {
        if (s->s->tabu[s->s->owner[k]] <= s->s->step)
            list[n++] = s->s->owner[k];
        k = s->s->next[k] >= 0 ? s->s->next[k] : s->s->head[a];
    }
    double least = INFINITY;
    for (int32_t i = 0; i < n; i++)
        if (try_subflow(s, list[i], a, &least, &best_len))
            best = list[i];
    if (best < 0)
        return;
    lift(s, best);
    place(s, best, s->s->best_way, best_len);
    s->s->tabu[best] = s->s->step + TENURE + rng_below(&s->rng, TENURE) + s->nshort / 8;
}

/* Moves a few random subflows of short flows to random ways. */
static void shake(struct spread *s)
{
    for (int k = 0; k < 6 && s->nshort > 0; k++) {
        int32_t g = s->below[rng_below(&s->rng, s->nshort)], len;
        int32_t i = s->first[g] + rng_below(&s->rng, s->first[g + 1] - s->first[g]);
        lift(s, i);
        s->s->noise = NOISE * s->s->tiny;
        s->s->salt = (uint32_t)rng_next(&s->rng);
        eject_way(s->s, i, -1, INFINITY, &len);
        s->s->noise = 0;
        place(s, i, s->s->way, len);
    }
}

static int search(struct spread *s, int64_t steps)
{
    double best = s->penalty;
    int64_t stale = 0;
    memset(s->s->tabu, 0, (size_t)s->nsub * sizeof *s->s->tabu);
    s->s->step = 0;
    for (; s->s->step < steps && s->nshort > 0 && !over(s); s->s->step++) {
        step(s);
        stale = s->penalty < best * (1 - SHORT) ? 0 : stale + 1;
        best = s->penalty < best ? s->penalty : best;
        if (stale > PATIENCE && s->nshort > 0) {
            score_state(s);
            shake(s);
            stale = 0;
            best = s->penalty;
        }
        if (s->stop.ask && s->s->step % 64 == 0 && s->stop.ask(s->stop.context))
            s->stop.stopped = 1;
    }
    s->steps += s->s->step;
    return s->nshort == 0;
}

/* Subflows per Gb/s that arcs should hold when all flows have level v. */
static double density(const struct spread *s, double v)
{
    double need = 0;
    for (int32_t g = 0; g < s->nunit; g++)
        need += v * s->p->job_weight[s->p->job[s->flow[g]]] * s->p->need[s->flow[g]];
    return need > 0 ? s->nsub / need : 1;
}

static void aim(struct spread *s, double v)
{
    for (int32_t g = 0; g < s->nunit; g++) {
        double want = v * s->p->job_weight[s->p->job[s->flow[g]]] * s->p->need[s->flow[g]];
        s->want[g] = want < s->ceiling[g] ? want : s->ceiling[g];
    }
    recount(s);
}

/* The paths of r, as many as fit. */
static void place_routes(struct spread *s, const struct routes *r)
{
    for (int32_t g = 0; g < s->nunit; g++) {
        int32_t f = s->flow[g], i = s->first[g];
        for (int64_t k = r->first[f]; k < r->first[f + 1] && i < s->first[g + 1]; k++) {
            int64_t at = r->at[k], end = r->at[k + 1];
            if (s->w->enter[f] >= 0 && (at == end || r->arc[at++] != s->w->enter[f]))
                continue;
            if (s->w->leave[f] >= 0 && (at == end || r->arc[--end] != s->w->leave[f]))
                continue;
            eject_place(s->s, i++, r->arc + at, (int32_t)(end - at));
        }
    }
}

static void place_start(struct spread *s, enum climb_start start)
{
    eject_clear(s->s);
    if (start == START_BEST && s->best.routes)
        place_routes(s, s->best.routes);
    else if (start == START_COLOUR && s->colour)
        colour_spread(s->colour, s->s, s->unit);
    eject_fill(s->s, 1);
}

void spread_run(struct spread *s, enum climb_start start, double bound, int32_t effort, int64_t work, uint64_t seed)
{
    s->work_end = s->s->work + work;
    s->rng.state = mix64(seed);
    s->s->salt = (uint32_t)s->rng.state;
    double lo = s->best.routes ? s->best.value : 0, hi = bound, v = bound;
    eject_target(s->s, s->one, s->infinite, density(s, bound));
    place_start(s, start);
    score_state(s);
    for (int i = 0; i < LEVELS && !over(s) && lo < hi * (1 - 1e-4); i++) {
        if (i > 0)
            place_start(s, START_BEST);
        aim(s, v);
        int done = s->nshort == 0 || (s->nshort < s->nunit / HOPELESS && search(s, (int64_t)STEPS * effort));
        score_state(s);
        if (done)
            lo = fmax(v, lo);
        else
            hi = v;
        lo = fmax(lo, s->best.value);
        v = .5 * (lo + hi);
    }
}
