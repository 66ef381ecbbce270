/* The search for forwarding tables: levels, ladder, and the way from the best trees to whole tables. Read tables_solve
 * and search_fair first.
 */
#include "solver/engine/tables.h"

#include "solver/engine/best.h"
#include "solver/engine/complete.h"
#include "solver/engine/cover.h"
#include "solver/engine/tables_start.h"
#include "solver/engine/trees_part.h"
#include "solver/kernel/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOOR_STEPS = 30000, /* of the first try at the bound */
    LEVEL_STEPS = 6000,  /* of a try at a lower common level */
    RAISE_STEPS = 500,   /* of a try at a vector of levels; twice and four times that in later rounds */
    REFINEMENTS = 5,     /* of what flows are counted with */
    BISECTIONS = 2,
    LOAD_BISECTIONS = 14,
    ROUNDS = 40, /* of the ladder */
};
static const int64_t WORK = 85000000; /* arcs touched, all tries together: two to three seconds */
static const double SAME = 1e-9;       /* relative, between levels */
static const double GRID = 1.03;       /* of what flows are seen to take */
static const double CLOSE = 1.01;      /* ratio of levels at which bisection stops */

/* Levels at which parts of one cable's flows are served, from the rings (1, 1/2, ...) to all-to-all of up to sixteen.
 */
static const double rungs[] = { 1,      14. / 15, 7. / 8, 6. / 7, 7. / 9, 5. / 7,  2. / 3, .6,
                                4. / 7, .5,       3. / 7, .4,     3. / 8, 1. / 3,  2. / 7, .25,
                                .2,     1. / 6,   1. / 7, 1. / 8, .1,     1. / 12, 1. / 16 };
enum { RUNGS = sizeof rungs / sizeof *rungs };

struct search {
    const struct problem *p;
    struct comm *comm;
    const struct tables_goal *goal;
    const struct hooks *hooks;

    struct updown *order;
    struct trees *t;
    struct cover *cover;
    struct starter *starter; /* NULL where the fabric has no tiers to colour */
    double *rate, *need;     /* [nflow] Gb/s that NICs alone allow; that the target asks for */
    double *most;            /* [nflow] Gb/s that the flow is counted with at most: rate, or what it was seen to take */
    double *ceiling;         /* [njob] efficiency that NICs alone allow */
    double *target;          /* [njob] */
    double bound;            /* on the value, NIC ceilings included */

    struct scorer *scorer;
    struct routes *routes; /* the present state, for scoring */
    struct best best;

    int32_t *keep_len, *keep_arc; /* a state to come back to */
    double ladder[RUNGS + 1];
    int32_t nladder, *rung; /* [njob] */
    double *hi, *lo;        /* [njob] */
    uint8_t *low;           /* [njob] */
    int64_t raise_steps;    /* of this round's tries */
    struct rng rng;
    struct trees_stop stop;
    int64_t work_end;
};

/* ---- flows outside the trees ---- */

/* The arcs of flow f before (0) and behind (1) its unit's way; -1: none. A direct cable stands before. */
static int32_t outer_arc(const struct search *s, int32_t f, int behind)
{
    int32_t direct = trees_direct(s->p, f), v = behind ? s->p->dst[f] : s->p->src[f];
    if (direct >= 0)
        return behind ? -1 : direct;
    if (s->p->fabric->node_kind[v] == NODE_SWITCH)
        return -1;
    return behind ? s->order->leave[v] : s->order->enter[v];
}

/* What NICs alone allow: water-filling on the arcs that are no choice. */
static int find_rates(struct search *s)
{
    const struct problem *p = s->p;
    int64_t n = 0, nhop = 0, *at = array((int64_t)p->nflow + 1, sizeof *at);
    int32_t *arc = array(2 * (int64_t)p->nflow, sizeof *arc), *flow = array(p->nflow, sizeof *flow);
    double *top = array(p->nflow, sizeof *top), *got = array(p->nflow, sizeof *got);
    struct rates *r = rates_new(p->nflow, 2 * (int64_t)p->nflow, p->fabric->narc);
    int rc = at && arc && flow && top && got && r ? 0 : -1;
    for (int32_t f = 0; rc == 0 && f < p->nflow; f++) {
        if (!problem_routed(p, f))
            continue;
        for (int side = 0; side < 2; side++)
            if (outer_arc(s, f, side) >= 0)
                arc[nhop++] = outer_arc(s, f, side);
        flow[n] = f;
        top[n++] = p->kind == DEMAND_GBPS ? p->demand[f] : INFINITY;
        at[n] = nhop;
    }
    if (rc == 0)
        rates_fill(r, n, at, arc, top, p->fabric->narc, p->fabric->cap, got);
    for (int64_t i = 0; rc == 0 && i < n; i++)
        s->rate[flow[i]] = got[i];
    free(at);
    free(arc);
    free(flow);
    free(top);
    free(got);
    rates_free(r);
    return rc;
}

static void find_ceilings(struct search *s)
{
    double top = INFINITY;
    for (int32_t j = 0; j < s->p->njob; j++) {
        s->ceiling[j] = 1;
        for (int32_t f = s->p->job_first[j]; f < s->p->job_first[j + 1]; f++)
            if (s->p->need[f] > 0)
                s->ceiling[j] = fmin(s->ceiling[j], s->rate[f] / s->p->need[f]);
        top = fmin(top, s->ceiling[j] / s->p->job_weight[j]);
    }
    s->bound = isnan(s->goal->bound) ? top : fmin(s->goal->bound, top);
}

/* max_utilization: p is the load, no q; the bound is at least the load of the arcs that are no choice. */
static void find_loads(struct search *s)
{
    double *load = s->best.load, most = 0;
    memset(load, 0, (size_t)s->p->fabric->narc * sizeof *load);
    for (int32_t f = 0; f < s->p->nflow; f++) {
        if (!problem_routed(s->p, f))
            continue;
        s->rate[f] = problem_load(s->p, f);
        s->need[f] = INFINITY;
        for (int side = 0; side < 2; side++) {
            int32_t a = outer_arc(s, f, side);
            if (a >= 0)
                most = fmax(most, load[a] += s->rate[f] / s->p->fabric->cap[a]);
        }
    }
    s->bound = isnan(s->goal->bound) ? most : fmax(s->goal->bound, most);
}

/* ---- scoring and states ---- */

static void write_routes(struct search *s)
{
    struct routes *r = s->routes;
    const struct trees *t = s->t;
    int64_t n = 0, k = 0;
    for (int32_t f = 0; f < s->p->nflow; f++) {
        r->first[f] = k;
        if (!problem_routed(s->p, f))
            continue;
        int32_t g = t->unit[f], before = outer_arc(s, f, 0), behind = outer_arc(s, f, 1);
        if (before >= 0)
            r->arc[n++] = before;
        for (int32_t i = 0; g >= 0 && i < t->len[g]; i++)
            r->arc[n++] = t->arc[g * t->longest + i];
        if (behind >= 0)
            r->arc[n++] = behind;
        r->share[k] = 1;
        r->at[++k] = n;
    }
    r->first[s->p->nflow] = k;
    r->npath = k;
}

static void score(struct search *s)
{
    write_routes(s);
    best_offer(&s->best, s->scorer, s->routes);
}

static void keep(struct search *s)
{
    memcpy(s->keep_len, s->t->len, (size_t)s->t->nunit * sizeof *s->keep_len);
    memcpy(s->keep_arc, s->t->arc, (size_t)s->t->nunit * (size_t)s->t->longest * sizeof *s->keep_arc);
}

static void come_back(struct search *s)
{
    trees_load(s->t, s->keep_len, s->keep_arc);
}

/* The best routes as the present state. */
static void load_best(struct search *s)
{
    const struct routes *r = s->best.routes;
    struct trees *t = s->t;
    for (int32_t g = 0; g < t->nunit; g++) {
        int32_t f = t->uflow[t->ufirst[g]];
        int64_t at = r->at[r->first[f]] + (outer_arc(s, f, 0) >= 0);
        s->keep_len[g] = t->whops[t->pair[g]];
        memcpy(s->keep_arc + g * t->longest, r->arc + at, (size_t)s->keep_len[g] * sizeof *s->keep_arc);
    }
    come_back(s);
}

static int over(const struct search *s)
{
    return s->stop.stopped || s->t->work >= s->work_end;
}

/* ---- targets ---- */

static double at_level(const struct search *s, int32_t j, double v)
{
    return fmin(v * s->p->job_weight[j], s->ceiling[j]);
}

static void aim(struct search *s)
{
    for (int32_t f = 0; f < s->p->nflow; f++)
        s->need[f] = s->target[s->p->job[f]] * s->p->need[f];
    memcpy(s->most, s->rate, (size_t)s->p->nflow * sizeof *s->most);
    trees_target(s->t, s->most, s->need, 1);
}

static void aim_level(struct search *s, double v)
{
    for (int32_t j = 0; j < s->p->njob; j++)
        s->target[j] = at_level(s, j, v);
    aim(s);
}

static void aim_rungs(struct search *s)
{
    for (int32_t j = 0; j < s->p->njob; j++)
        s->target[j] = at_level(s, j, s->ladder[s->rung[j]]);
    aim(s);
}

/* Flows may take more than their NICs' fair share when others of the NIC are held back elsewhere. Counts every flow
 * with what it takes now, in steps of GRID; 0 when that is nothing new. */
static int count_more(struct search *s)
{
    int more = 0;
    for (int32_t f = 0; f < s->p->nflow; f++) {
        if (!problem_routed(s->p, f) || !isfinite(s->rate[f]))
            continue;
        double takes = s->routes->gbps[s->routes->first[f]], before = s->most[f];
        while (s->most[f] * (1 + SAME) < takes)
            s->most[f] *= GRID;
        more |= s->most[f] > before;
    }
    return more;
}

static int run(struct search *s, int64_t steps)
{
    return trees_search(s->t, &s->rng, steps, s->work_end, &s->stop);
}

/* 1 when the last score has every job at its target. */
static int on_target(const struct search *s)
{
    for (int32_t j = 0; j < s->p->njob; j++)
        if (s->best.trial[j] < s->target[j] * (1 - 1e-7))
            return 0;
    return 1;
}

/* Jobs whose flows take more than their share have others that are held back: none are when all of the job get what
 * NICs allow. Asks for that; 0 when there is no such job. */
static int ask_for_all(struct search *s)
{
    int more = 0;
    for (int32_t j = 0; j < s->p->njob; j++) {
        int32_t f = s->p->job_first[j], end = s->p->job_first[j + 1];
        while (f < end && (!problem_routed(s->p, f) || !isfinite(s->rate[f]) ||
                           s->routes->gbps[s->routes->first[f]] <= s->rate[f] * (1 + 1e-6)))
            f++;
        if (f == end || s->target[j] >= s->ceiling[j])
            continue;
        more = 1;
        for (f = s->p->job_first[j]; f < end; f++)
            s->need[f] = s->ceiling[j] * s->p->need[f];
    }
    return more;
}

/* 1 when the counts come to hold and the exact rates are on target. */
static int attempt(struct search *s, int64_t steps)
{
    trees_target(s->t, s->most, s->need, 1);
    if (!run(s, steps))
        return 0;
    score(s);
    return on_target(s);
}

/* The same, by every means: as aimed; with jobs that take too much served in full; with what they take counted. */
static int reach(struct search *s, int64_t steps)
{
    if (attempt(s, steps))
        return 1;
    if (s->t->nviolated > 0)
        return 0;
    if (ask_for_all(s)) {
        if (attempt(s, steps))
            return 1;
        score(s);
        aim(s);
    }
    for (int i = 0; i < REFINEMENTS && count_more(s); i++) {
        if (attempt(s, steps))
            return 1;
        if (s->t->nviolated > 0)
            return 0;
    }
    return 0;
}

/* ---- starts ---- */

/* Greedy, then the colouring where that leaves something violated; the one with less excess stays. */
static void start(struct search *s)
{
    trees_clear(s->t);
    trees_fill(s->t);
    score(s);
    if (s->t->nviolated == 0 || !s->starter)
        return;
    double excess = s->t->excess;
    keep(s);
    starter_place(s->starter, s->t, s->rate, s->need);
    trees_fill(s->t);
    score(s);
    if (s->t->excess > excess)
        come_back(s);
}

/* ---- the common level ---- */

static int meets_bound(const struct search *s)
{
    return s->best.routes && s->best.value >= s->bound * (1 - SAME);
}

/* One try at a common level; hi and lo close in on what is possible. */
static void try_level(struct search *s, double v, double *hi)
{
    aim_level(s, v);
    if (reach(s, LEVEL_STEPS))
        return;
    score(s);
    if (s->best.value < v)
        *hi = v;
}

/* The largest common level reached: the exact value, which may be more than was aimed at. The bound first, then the
 * rungs below it by bisection, then what lies between the last two. */
static void find_floor(struct search *s)
{
    double hi = s->bound;
    aim_level(s, s->bound);
    start(s);
    reach(s, FLOOR_STEPS);
    score(s);
    for (int from = 0, to = RUNGS; !meets_bound(s) && !over(s);) {
        while (from < RUNGS && rungs[from] >= hi * (1 - SAME))
            from++;
        while (to > from && rungs[to - 1] <= s->best.value * (1 + SAME))
            to--;
        if (from >= to)
            break;
        try_level(s, rungs[from + (to - from) / 2], &hi);
    }
    for (int i = 0; i < BISECTIONS && !meets_bound(s) && hi > s->best.value * CLOSE && !over(s); i++)
        try_level(s, .5 * (s->best.value + hi), &hi);
}

/* ---- raising single jobs ---- */

static void build_ladder(struct search *s)
{
    double top = 0, floor = s->best.value;
    for (int32_t j = 0; j < s->p->njob; j++)
        top = fmax(top, s->ceiling[j] / s->p->job_weight[j]);
    s->nladder = 0;
    for (int i = 0; i < RUNGS && rungs[i] * top > floor * (1 + 1e-6); i++)
        s->ladder[s->nladder++] = rungs[i] * top;
    s->ladder[s->nladder++] = floor;
}

/* Steps jobs down until no cut is overloaded. */
static void respect_cuts(struct search *s)
{
    int least;
    for (;;) {
        int32_t moved = 0;
        for (int32_t j = 0; j < s->p->njob; j++) {
            s->hi[j] = at_level(s, j, s->ladder[s->rung[j]]);
            s->lo[j] = at_level(s, j, s->ladder[s->nladder - 1]);
        }
        if (cover_allows(s->cover, s->hi))
            return;
        cover_choose(s->cover, s->hi, s->lo, &s->rng, s->low, &least);
        for (int32_t j = 0; j < s->p->njob; j++)
            if (s->low[j] && s->rung[j] < s->nladder - 1) {
                s->rung[j]++;
                moved = 1;
            }
        if (!moved)
            return;
    }
}

/* The job above the last rung with most excess on violated arcs, -1 when there is none. */
static int32_t most_excess(struct search *s)
{
    const struct trees *t = s->t;
    int32_t worst = -1;
    memset(s->hi, 0, (size_t)s->p->njob * sizeof *s->hi);
    for (int32_t k = 0; k < t->nviolated; k++) {
        int32_t a = t->violated[k];
        for (int32_t i = t->head[a]; i >= 0; i = t->slot_next[i])
            for (int32_t x = t->ufirst[i / t->longest]; x < t->ufirst[i / t->longest + 1]; x++)
                s->hi[s->p->job[t->uflow[x]]] += (t->sum[a] - 1) / t->count[a];
    }
    for (int32_t j = 0; j < s->p->njob; j++)
        if (s->rung[j] < s->nladder - 1 && s->hi[j] > 0 && (worst < 0 || s->hi[j] > s->hi[worst]))
            worst = j;
    return worst;
}

/* The job above the last rung that the last score has least of its target, -1 when there is none. */
static int32_t furthest_behind(const struct search *s)
{
    int32_t worst = -1;
    double least = 1 - 1e-7;
    for (int32_t j = 0; j < s->p->njob; j++)
        if (s->rung[j] < s->nladder - 1 && s->best.trial[j] / s->target[j] < least) {
            least = s->best.trial[j] / s->target[j];
            worst = j;
        }
    return worst;
}

/* Aims at the rungs; jobs in the way step down one by one until the target holds. 0 when all are down. */
static int descend(struct search *s)
{
    aim_rungs(s);
    while (!reach(s, s->raise_steps) && !over(s)) {
        int32_t j = s->t->nviolated > 0 ? most_excess(s) : furthest_behind(s);
        if (j < 0)
            return 0;
        s->rung[j]++;
        aim_rungs(s);
    }
    return s->t->nviolated == 0 && !over(s);
}

/* One try to bring job j one rung up from the kept state. */
static int try_up(struct search *s, int32_t j)
{
    s->rung[j]--;
    for (int32_t i = 0; i < s->p->njob; i++)
        s->target[i] = at_level(s, i, s->ladder[s->rung[i]]);
    if (cover_allows(s->cover, s->target)) {
        aim(s);
        if (reach(s, s->raise_steps)) {
            keep(s);
            return 1;
        }
        come_back(s);
    }
    s->rung[j]++;
    return 0;
}

/* Jobs one rung up each, the lowest first, as long as any rises. */
static void climb(struct search *s)
{
    for (int rose = 1; rose && !over(s);) {
        rose = 0;
        for (int32_t r = s->nladder - 1; r > 0; r--)
            for (int32_t i = 0, shift = rng_below(&s->rng, s->p->njob); i < s->p->njob && !over(s); i++) {
                int32_t j = (i + shift) % s->p->njob;
                if (s->rung[j] == r && at_level(s, j, s->ladder[r - 1]) > at_level(s, j, s->ladder[r]))
                    rose += try_up(s, j);
            }
    }
}

/* 1 when no job can do better: all are at the ceiling that NICs set. */
static int all_at_top(const struct search *s)
{
    for (int32_t j = 0; j < s->p->njob; j++)
        if (s->best.efficiency[j] < s->ceiling[j] * (1 - SAME))
            return 0;
    return 1;
}

static void ladder_round(struct search *s, int32_t round)
{
    build_ladder(s);
    s->raise_steps = (int64_t)RAISE_STEPS << round % 3;
    for (int32_t j = 0; j < s->p->njob; j++)
        s->rung[j] = 0;
    respect_cuts(s);
    if (round % 2) {
        load_best(s);
    } else if (round > 0) {
        aim_rungs(s);
        start(s);
    }
    if (descend(s)) {
        keep(s);
        score(s);
        climb(s);
        come_back(s);
    }
    score(s);
}

static void report(const struct search *s, int64_t round)
{
    if (!s->hooks || !s->hooks->report)
        return;
    struct progress row = { .phase = "tables", .round = round, .value = s->best.value, .bound = s->goal->bound };
    row.gap = plan_gap(row.bound, row.value);
    s->hooks->report(s->hooks->context, &row);
}

static void search_fair(struct search *s)
{
    find_floor(s);
    report(s, 0);
    for (int32_t round = 0; round < ROUNDS && s->p->njob > 0 && !all_at_top(s) && !over(s); round++) {
        ladder_round(s, round);
        report(s, round + 1);
    }
}

/* ---- the largest load ---- */

static void search_load(struct search *s)
{
    double lo = s->bound;
    trees_target(s->t, s->rate, s->need, lo > 0 ? lo : 1);
    start(s);
    run(s, FLOOR_STEPS);
    score(s);
    for (int i = 0; i < LOAD_BISECTIONS && s->best.value > lo * (1 + SAME) && !over(s); i++) {
        double mid = sqrt(lo * s->best.value);
        trees_target(s->t, s->rate, s->need, mid);
        if (!run(s, LEVEL_STEPS))
            lo = s->best.value > mid ? mid : lo;
        score(s);
    }
    report(s, 0);
}

/* ---- life ---- */

static int ask(void *context)
{
    struct search *s = context;
    int stop = s->hooks && s->hooks->stop && s->hooks->stop(s->hooks->context);
    return stop || s->comm->now(s->comm) > s->goal->deadline;
}

static void search_clear(struct search *s)
{
    updown_free(s->order);
    trees_free(s->t);
    scorer_free(s->scorer);
    routes_free(s->routes);
    best_free(&s->best);
    cover_free(s->cover);
    starter_free(s->starter);
    void *owned[] = { s->rate,     s->need, s->most, s->ceiling, s->target, s->keep_len,
                      s->keep_arc, s->rung, s->hi,   s->lo,      s->low };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

static int search_arrays(struct search *s)
{
    const struct problem *p = s->p;
    int64_t njob = p->njob, slots = (int64_t)s->t->nunit * s->t->longest;
    s->rate = array(p->nflow, sizeof *s->rate);
    s->need = array(p->nflow, sizeof *s->need);
    s->most = array(p->nflow, sizeof *s->most);
    s->ceiling = array(njob, sizeof *s->ceiling);
    s->target = array(njob, sizeof *s->target);
    s->keep_len = array(s->t->nunit, sizeof *s->keep_len);
    s->keep_arc = array(slots, sizeof *s->keep_arc);
    s->rung = array(njob, sizeof *s->rung);
    s->hi = array(njob, sizeof *s->hi);
    s->lo = array(njob, sizeof *s->lo);
    s->low = array(njob, sizeof *s->low);
    return s->rate && s->need && s->most && s->ceiling && s->target && s->keep_len && s->keep_arc && s->rung && s->hi &&
                   s->lo && s->low
               ? 0
               : -1;
}

/* 1: some flow has no legal way under this order. */
static int search_start(struct search *s, const struct pods *pods, enum updown_order order, struct err *e)
{
    const struct problem *p = s->p;
    if (!(s->order = updown_new(p->fabric, order, e)) || trees_new(p, s->order, &s->t, e) < 0)
        return -1;
    if (!s->t)
        return 1;
    int64_t hops = (int64_t)p->nflow * (s->t->longest + 2);
    if (!(s->cover = cover_new(p, pods, e)) || starter_new(p, &s->starter, e) < 0 || best_init(&s->best, p, e) < 0 ||
        !(s->routes = routes_new(p->nflow, p->nflow, hops, e)))
        return -1;
    s->scorer = scorer_new(p, p->nflow, hops, e);
    if (!s->scorer || search_arrays(s) < 0 || find_rates(s) < 0)
        return fail(e, E_MEMORY, "out of memory for the tables of %d flows", p->nflow);
    find_ceilings(s);
    if (p->options.objective == OBJ_MAX_UTILIZATION)
        find_loads(s);
    s->rng.state = mix64((uint64_t)p->options.seed);
    s->work_end = s->t->work + WORK;
    s->stop = (struct trees_stop){ .ask = ask, .context = s };
    return 0;
}

/* Entries that the routes decide. */
static void enter_routes(const struct problem *p, const struct routes *r, struct forward *t)
{
    for (int32_t f = 0; f < p->nflow; f++)
        for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
            for (int64_t h = r->at[i]; h < r->at[i + 1]; h++) {
                int32_t v = p->fabric->tail[r->arc[h]];
                if (t->row[v] >= 0)
                    forward_row(t, v)[p->dst[f]] = r->arc[h];
            }
}

/* Search under one order. 1: this order gives no whole tables. */
static int search_once(const struct problem *p, const struct pods *pods, struct search *s, enum updown_order order,
                       struct tables_result *out, struct err *e)
{
    int rc = search_start(s, pods, order, e);
    if (rc != 0)
        return rc;
    if (p->options.objective == OBJ_JOB_FAIR)
        search_fair(s);
    else
        search_load(s);
    if (s->best.short_memory || !s->best.routes)
        return fail(e, E_MEMORY, "out of memory for the tables of %d flows", p->nflow);
    out->cut_short = s->stop.stopped;
    out->value = s->best.value;
    out->routes = s->best.routes;
    s->best.routes = NULL;
    if (!(out->tables = forward_new(p->fabric, e)))
        return -1;
    enter_routes(p, out->routes, out->tables);
    return complete_tables(s->order, out->tables, e);
}

static void result_clear(struct tables_result *out)
{
    forward_free(out->tables);
    routes_free(out->routes);
    *out = (struct tables_result){ 0 };
}

static int search_all(const struct problem *p, const struct pods *pods, struct comm *c, const struct tables_goal *goal,
                      const struct hooks *hooks, struct tables_result *out, struct err *e)
{
    int rc = 1;
    for (int order = UPDOWN_TIERS; order <= UPDOWN_ROOT && rc == 1; order++) {
        struct search s = { .p = p, .comm = c, .goal = goal, .hooks = hooks };
        result_clear(out);
        rc = search_once(p, pods, &s, (enum updown_order)order, out, e);
        search_clear(&s);
    }
    if (rc == 1)
        rc = fail(e, E_INPUT,
                  "no forwarding tables without deadlock: some cables of the fabric work in one "
                  "direction only");
    if (rc < 0)
        result_clear(out);
    return rc;
}

static int check_options(const struct problem *p, struct err *e)
{
    if (p->options.paths_per_flow != 1)
        return fail(e, E_INPUT, "option paths_per_flow: %d: forwarding tables give every flow one path",
                    p->options.paths_per_flow);
    if (p->options.policy != PATHS_ALL)
        return fail(e, E_INPUT,
                    "option paths: forwarding tables choose among all up-down paths; only \"all\" is "
                    "possible with routing destination");
    for (int32_t f = 0; p->list_first && f < p->nflow; f++)
        if (p->list_first[f + 1] > p->list_first[f])
            return fail(e, E_INPUT, "jobs[%d].flows[%d]: lists paths, which forwarding tables can not follow",
                        p->job[f], f - p->job_first[p->job[f]]);
    return 0;
}

int tables_solve(const struct problem *p, const struct pods *pods, struct comm *c, const struct tables_goal *goal,
                 const struct hooks *hooks, struct tables_result *out, struct err *e)
{
    *out = (struct tables_result){ 0 };
    int rc = check_options(p, e); /* the same on every rank */
    if (rc == 0 && c->rank == 0)
        rc = search_all(p, pods, c, goal, hooks, out, e);
    return comm_agree(c, rc, e);
}
