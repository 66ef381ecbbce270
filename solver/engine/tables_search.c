/* The search for the best trees: the common level by bisection, then a ladder of levels per job. Read
 * tables_search_fair first.
 */
#include "solver/engine/tables_part.h"

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
static const double SAME = 1e-9;  /* relative, between levels */
static const double GRID = 1.03;  /* of what flows are seen to take */
static const double CLOSE = 1.01; /* ratio of levels at which bisection stops */

/* Levels at which parts of one cable's flows are served, from the rings (1, 1/2, ...) to all-to-all of up to sixteen.
 */
static const double rungs[TABLES_RUNGS] = { 1,      14. / 15, 7. / 8, 6. / 7, 7. / 9, 5. / 7,  2. / 3, .6,
                                            4. / 7, .5,       3. / 7, .4,     3. / 8, 1. / 3,  2. / 7, .25,
                                            .2,     1. / 6,   1. / 7, 1. / 8, .1,     1. / 12, 1. / 16 };

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
        int32_t g = t->unit[f], before = tables_outer(s, f, 0), behind = tables_outer(s, f, 1);
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
        int64_t at = r->at[r->first[f]] + (tables_outer(s, f, 0) >= 0);
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
    for (int from = 0, to = TABLES_RUNGS; !meets_bound(s) && !over(s);) {
        while (from < TABLES_RUNGS && rungs[from] >= hi * (1 - SAME))
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
    for (int i = 0; i < TABLES_RUNGS && rungs[i] * top > floor * (1 + 1e-6); i++)
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

void tables_search_fair(struct search *s)
{
    find_floor(s);
    report(s, 0);
    for (int32_t round = 0; round < ROUNDS && s->p->njob > 0 && !all_at_top(s) && !over(s); round++) {
        ladder_round(s, round);
        report(s, round + 1);
    }
}

/* ---- the largest load ---- */

void tables_search_load(struct search *s)
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
