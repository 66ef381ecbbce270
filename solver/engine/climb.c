#include "solver/engine/climb.h"

#include "solver/kernel/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LADDER = 24,    /* levels that job raising tries */
    MAX_FLOOR = 64,     /* levels that the search for the common level bisects */
    FLOOR_STEPS = 1500, /* steps of one try at a common level, times effort */
    RAISE_STEPS = 600,  /* of one try at a vector of levels, times effort */
    BISECTIONS = 12,    /* of the largest load */
    SCORE_WORK = 8      /* work of an exact score for each arc of a path */
};
static const double SAME = 1e-9;       /* relative, between levels */
static const double CLOSE = .25;       /* share of options.gap at which max_utilization stops */
static const double LADDER_STEP = .01; /* smallest relative distance of two rungs */

static int new_units(struct climb *c)
{
    const struct problem *p = c->p;
    c->copies = p->options.objective == OBJ_MAX_UTILIZATION ? p->options.paths_per_flow : 1;
    int64_t n = (int64_t)p->nflow * c->copies;
    c->flow = array(n, sizeof *c->flow);
    c->pair = array(n, sizeof *c->pair);
    c->rate = array(n, sizeof *c->rate);
    c->need = array(n, sizeof *c->need);
    if (n > INT32_MAX || !c->flow || !c->pair || !c->rate || !c->need)
        return -1;
    for (int32_t f = 0; f < p->nflow; f++)
        for (int32_t i = 0; c->w->pair[f] >= 0 && i < c->copies; i++) {
            c->flow[c->nunit] = f;
            c->pair[c->nunit++] = c->w->pair[f];
        }
    return 0;
}

/* Speed of the fastest live arc out of (into) v: no single path can carry more. */
static double fastest(const struct fabric *g, int32_t v, int in)
{
    const int32_t *first = in ? g->ifirst : g->first, *list = in ? g->in : g->out;
    double most = 0;
    for (int32_t i = first[v]; i < first[v + 1]; i++)
        most = fmax(most, g->cap[list[i]]);
    return most;
}

/* p of every unit: water-filling on the arcs that are no choice. */
static int find_rates(struct climb *c)
{
    const struct problem *p = c->p;
    int64_t n = c->nunit, *at = array(n + 1, sizeof *at), nhop = 0;
    int32_t *arc = array(2 * n, sizeof *arc);
    double *top = array(n, sizeof *top);
    struct rates *r = rates_new(n, 2 * n, p->fabric->narc);
    int rc = at && arc && top && r ? 0 : -1;
    for (int32_t g = 0; rc == 0 && g < c->nunit; g++) {
        int32_t f = c->flow[g];
        if (c->w->enter[f] >= 0)
            arc[nhop++] = c->w->enter[f];
        if (c->w->leave[f] >= 0)
            arc[nhop++] = c->w->leave[f];
        at[g + 1] = nhop;
        top[g] = fmin(fastest(p->fabric, p->src[f], 0), fastest(p->fabric, p->dst[f], 1));
        if (p->kind == DEMAND_GBPS)
            top[g] = fmin(top[g], p->demand[f]);
    }
    if (rc == 0)
        rates_fill(r, n, at, arc, top, p->fabric->narc, p->fabric->cap, c->rate);
    free(at);
    free(arc);
    free(top);
    rates_free(r);
    return rc;
}

/* Loads of the arcs that are no choice, for max_utilization; c->rate becomes the load of each unit. */
static void find_loads(struct climb *c)
{
    const struct problem *p = c->p;
    memset(c->best.load, 0, (size_t)p->fabric->narc * sizeof *c->best.load);
    for (int32_t g = 0; g < c->nunit; g++) {
        int32_t f = c->flow[g], end[2] = { c->w->enter[f], c->w->leave[f] };
        c->rate[g] = problem_load(p, f) / c->copies;
        c->need[g] = INFINITY;
        for (int i = 0; i < 2; i++)
            if (end[i] >= 0) {
                c->best.load[end[i]] += c->rate[g] / p->fabric->cap[end[i]];
                c->fixed = fmax(c->fixed, c->best.load[end[i]]);
            }
    }
}

static void find_ceilings(struct climb *c)
{
    for (int32_t j = 0; j < c->p->njob; j++)
        c->ceiling[j] = 1;
    for (int32_t g = 0; g < c->nunit; g++) {
        int32_t f = c->flow[g], j = c->p->job[f];
        if (c->p->need[f] > 0)
            c->ceiling[j] = fmin(c->ceiling[j], c->rate[g] / c->p->need[f]);
    }
}

struct climb *climb_new(const struct problem *p, const struct lanes *w, struct cover *cover, struct colour *colour,
                        struct err *e)
{
    struct climb *c = array(1, sizeof *c);
    if (!c)
        goto oom;
    *c = (struct climb){ .p = p, .w = w, .cover = cover, .colour = colour };
    if (new_units(c) < 0)
        goto oom;
    c->s = eject_new(w, c->nunit, c->pair, e);
    if (!c->s) {
        climb_free(c);
        return NULL;
    }
    int64_t nslot = c->s->at[c->nunit], njob = p->njob;
    c->scorer = scorer_new(p, c->nunit, nslot + 2 * (int64_t)c->nunit, e);
    c->routes = routes_new(p->nflow, c->nunit, nslot + 2 * (int64_t)c->nunit, e);
    c->ceiling = array(njob, sizeof *c->ceiling);
    c->target = array(njob, sizeof *c->target);
    c->keep_len = array(c->nunit, sizeof *c->keep_len);
    c->keep_arc = array(nslot, sizeof *c->keep_arc);
    c->ladder = array(MAX_FLOOR + 2, sizeof *c->ladder);
    c->rung = array(njob, sizeof *c->rung);
    c->hi = array(njob, sizeof *c->hi);
    c->lo = array(njob, sizeof *c->lo);
    c->low = array(njob, sizeof *c->low);
    if (best_init(&c->best, p, e) < 0 || !c->scorer || !c->routes || !c->ceiling || !c->target || !c->keep_len ||
        !c->keep_arc || !c->ladder || !c->rung || !c->hi || !c->lo || !c->low)
        goto oom;
    if (find_rates(c) < 0)
        goto oom;
    find_ceilings(c);
    if (p->options.objective == OBJ_MAX_UTILIZATION)
        find_loads(c);
    eject_target(c->s, c->rate, c->need, 1);
    return c;
oom:
    climb_free(c);
    fail(e, E_MEMORY, "out of memory for the search over %d flows", p->nflow);
    return NULL;
}

void climb_free(struct climb *c)
{
    if (!c)
        return;
    eject_free(c->s);
    scorer_free(c->scorer);
    routes_free(c->routes);
    best_free(&c->best);
    void *owned[] = { c->flow,     c->pair,   c->rate, c->need, c->ceiling, c->target, c->keep_len,
                      c->keep_arc, c->ladder, c->rung, c->hi,   c->lo,      c->low };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(c);
}

/* ---- scoring ---- */

int climb_reset(struct climb *c, const struct routes *best, struct err *e)
{
    best_clear(&c->best);
    c->final = c->stop.stopped = 0;
    c->steps = 0;
    return best ? best_take(&c->best, best, e) : 0;
}

/* The present state as routes, in c->routes. */
static void write_routes(struct climb *c)
{
    struct routes *r = c->routes;
    int64_t n = 0;
    int32_t g = 0;
    r->npath = c->nunit;
    for (int32_t f = 0; f < c->p->nflow; f++) {
        r->first[f] = g;
        for (int32_t i = 0; c->w->pair[f] >= 0 && i < c->copies; i++) {
            if (c->w->enter[f] >= 0)
                r->arc[n++] = c->w->enter[f];
            for (int32_t h = 0; h < c->s->len[g]; h++)
                r->arc[n++] = c->s->arc[c->s->at[g] + h];
            if (c->w->leave[f] >= 0)
                r->arc[n++] = c->w->leave[f];
            r->share[g] = 1.0 / c->copies;
            r->at[++g] = n;
        }
    }
    r->first[c->p->nflow] = g;
}

static void score_state(struct climb *c)
{
    write_routes(c);
    c->s->work += SCORE_WORK * c->routes->at[c->routes->npath];
    best_offer(&c->best, c->scorer, c->routes);
}

/* ---- states ---- */

static void keep(struct climb *c)
{
    memcpy(c->keep_len, c->s->len, (size_t)c->nunit * sizeof *c->keep_len);
    memcpy(c->keep_arc, c->s->arc, (size_t)c->s->at[c->nunit] * sizeof *c->keep_arc);
}

static int moved(const struct climb *c, int32_t g)
{
    int64_t at = c->s->at[g];
    return c->s->len[g] != c->keep_len[g] ||
           (c->keep_len[g] > 0 &&
            memcmp(c->s->arc + at, c->keep_arc + at, (size_t)c->keep_len[g] * sizeof *c->keep_arc) != 0);
}

static void come_back(struct climb *c)
{
    for (int32_t g = 0; g < c->nunit; g++)
        if (moved(c, g)) {
            eject_lift(c->s, g);
            if (c->keep_len[g] >= 0)
                eject_place(c->s, g, c->keep_arc + c->s->at[g], c->keep_len[g]);
        }
}

/* The paths of r, first to first unit, where they fit into the unit's room and lie on its ways' ends. */
static void place_routes(struct climb *c, const struct routes *r)
{
    eject_clear(c->s);
    for (int32_t g = 0; g < c->nunit; g++) {
        int32_t f = c->flow[g];
        int64_t path = r->first[f] + g % c->copies;
        if (path >= r->first[f + 1])
            continue;
        int64_t i = r->at[path], end = r->at[path + 1];
        if (c->w->enter[f] >= 0 && (i == end || r->arc[i++] != c->w->enter[f]))
            continue;
        if (c->w->leave[f] >= 0 && (i == end || r->arc[--end] != c->w->leave[f]))
            continue;
        eject_place(c->s, g, r->arc + i, (int32_t)(end - i));
    }
}

static void place_start(struct climb *c, enum climb_start start)
{
    if (start == START_BEST && c->best.routes)
        place_routes(c, c->best.routes);
    else if (start == START_COLOUR && c->colour)
        colour_place(c->colour, c->s);
    else
        eject_clear(c->s);
    int64_t before = c->s->work;
    eject_fill(c->s, start == START_ORDER);
    c->fill = c->s->work - before > c->fill ? c->s->work - before : c->fill;
}

static int search(struct climb *c, int64_t steps)
{
    int done = eject_search(c->s, &c->rng, steps, c->work_end, &c->stop);
    c->steps += c->s->step;
    return done;
}

/* Stopped from outside, or out of work. */
static int over(const struct climb *c)
{
    return c->stop.stopped || c->s->work >= c->work_end;
}

/* ---- levels ---- */

/* Efficiency that level v (of e_j / w_j) means for job j. */
static double at_level(const struct climb *c, int32_t j, double v)
{
    return fmin(v * c->p->job_weight[j], c->ceiling[j]);
}

static void aim(struct climb *c)
{
    for (int32_t g = 0; g < c->nunit; g++)
        c->need[g] = c->target[c->p->job[c->flow[g]]] * c->p->need[c->flow[g]];
    eject_target(c->s, c->rate, c->need, 1);
}

static int descending(const void *x, const void *y)
{
    double s = *(const double *)x, t = *(const double *)y;
    return (s < t) - (s > t);
}

/* Keeps at most room values out of n, sorted, distinct, evenly over their order, first and last kept. */
static int32_t thin(double *v, int32_t n, int32_t room)
{
    int32_t k = 0;
    qsort(v, (size_t)n, sizeof *v, descending);
    for (int32_t i = 0; i < n; i++)
        if (k == 0 || v[i] < v[k - 1] * (1 - LADDER_STEP))
            v[k++] = v[i];
    if (k <= room)
        return k;
    for (int32_t i = 0; i < room; i++)
        v[i] = v[(int64_t)i * (k - 1) / (room - 1)];
    return room;
}

/* Distinct values (relative 1e-6) of x[n], at most room of them. */
static int32_t distinct(double *to, int32_t room, int32_t have, double x)
{
    for (int32_t i = 0; i < have; i++)
        if (fabs(to[i] - x) <= 1e-6 * x)
            return have;
    if (have < room)
        to[have++] = x;
    return have;
}

/* Levels strictly between lo and hi at which the number of units that fit on an arc changes: (u - i p) / (n w r), for
 * up to eight capacities and sixteen requirements. */
static int32_t find_levels(struct climb *c, double lo, double hi, double *out, int32_t room)
{
    enum { CAPS = 8, NEEDS = 16, PARTS = 4, MOST = 4096 };
    double cap[CAPS], need[NEEDS], part[PARTS], v[MOST];
    int32_t ncap = 0, nneed = 0, npart = 0, n = 0;
    for (int32_t i = 0; i < c->w->first[c->w->nnode]; i++)
        ncap = distinct(cap, CAPS, ncap, c->p->fabric->cap[c->w->out[i]]);
    for (int32_t g = 0; g < c->nunit; g++) {
        int32_t f = c->flow[g];
        if (c->p->need[f] > 0)
            nneed = distinct(need, NEEDS, nneed, c->p->need[f] * c->p->job_weight[c->p->job[f]]);
        npart = distinct(part, PARTS, npart, c->rate[g]);
    }
    part[npart < PARTS ? npart++ : PARTS - 1] = 0;
    for (int32_t k = 0; k < npart; k++)
        for (int32_t x = 0; x < ncap; x++)
            for (int32_t y = 0; y < nneed; y++)
                for (int32_t i = part[k] > 0; i <= (part[k] > 0 ? 8 : 0); i++)
                    for (int32_t m = 1; m <= 64 && n < MOST; m++) {
                        double t = (cap[x] - i * part[k]) / (m * need[y]);
                        if (t < hi * (1 - SAME) && t > lo * (1 + SAME))
                            v[n++] = t;
                        if (t <= lo)
                            break;
                    }
    n = thin(v, n, room);
    memcpy(out, v, (size_t)n * sizeof *v);
    return n;
}

static int try_floor(struct climb *c, double v, enum climb_start start, int32_t effort)
{
    for (int32_t j = 0; j < c->p->njob; j++)
        c->target[j] = at_level(c, j, v);
    if (!cover_allows(c->cover, c->target))
        return 0;
    aim(c);
    place_start(c, start);
    int done = search(c, (int64_t)FLOOR_STEPS * effort);
    score_state(c);
    if (done)
        keep(c);
    return done;
}

/* The largest common level reached, and its state in keep. */
static double find_floor(struct climb *c, enum climb_start start, double bound, int32_t effort)
{
    if (try_floor(c, bound, start, effort))
        return bound;
    double reached = c->best.value;
    int32_t n = find_levels(c, reached, bound, c->ladder, MAX_FLOOR), lo = n, hi = -1, found = 0;
    while (hi + 1 < lo && !over(c)) {
        int32_t mid = (lo + hi) / 2;
        if (try_floor(c, c->ladder[mid], start, effort)) {
            lo = mid;
            found = 1;
            reached = c->ladder[mid];
        } else {
            hi = mid;
        }
    }
    if (found)
        return reached;
    for (int32_t j = 0; j < c->p->njob; j++)
        c->target[j] = at_level(c, j, c->best.value);
    aim(c);
    place_start(c, START_BEST);
    keep(c);
    return c->best.value;
}

/* ---- raising single jobs ---- */

static void build_ladder(struct climb *c, double floor)
{
    double top = floor;
    for (int32_t j = 0; j < c->p->njob; j++)
        top = fmax(top, c->ceiling[j] / c->p->job_weight[j]);
    int32_t n = find_levels(c, floor, top, c->ladder + 1, MAX_LADDER - 2);
    c->ladder[0] = top;
    c->ladder[n + 1] = floor;
    c->nladder = top > floor * (1 + SAME) ? n + 2 : 1;
}

static void aim_rungs(struct climb *c)
{
    for (int32_t j = 0; j < c->p->njob; j++)
        c->target[j] = at_level(c, j, c->ladder[c->rung[j]]);
    aim(c);
}

/* The job above the last rung with most excess on violated arcs, -1 when there is none. */
static int32_t most_excess(struct climb *c)
{
    int32_t worst = -1;
    memset(c->hi, 0, (size_t)c->p->njob * sizeof *c->hi);
    for (int32_t k = 0; k < c->s->nviolated; k++) {
        int32_t a = c->s->violated[k];
        for (int32_t i = c->s->head[a]; i >= 0; i = c->s->next[i])
            c->hi[c->p->job[c->flow[c->s->owner[i]]]] += (c->s->sum[a] - c->s->cap[a]) / c->s->count[a];
    }
    for (int32_t j = 0; j < c->p->njob; j++)
        if (c->rung[j] < c->nladder - 1 && c->hi[j] > 0 && (worst < 0 || c->hi[j] > c->hi[worst]))
            worst = j;
    return worst;
}

/* Lowers J / 20 of the jobs that stand in the way; 0 when there are none. */
static int lower_some(struct climb *c)
{
    int32_t n = c->p->njob / 20 > 1 ? c->p->njob / 20 : 1, done = 0;
    for (; done < n; done++) {
        int32_t j = most_excess(c);
        if (j < 0)
            break;
        c->rung[j] += (c->nladder - 1 - c->rung[j] + 1) / 2;
    }
    return done > 0;
}

/* One try to bring job j to the given rung from the kept state. */
static int try_rung(struct climb *c, int32_t j, int32_t rung, int32_t effort)
{
    int32_t old = c->rung[j];
    c->rung[j] = rung;
    for (int32_t i = 0; i < c->p->njob; i++)
        c->target[i] = at_level(c, i, c->ladder[c->rung[i]]);
    if (cover_allows(c->cover, c->target)) {
        aim(c);
        if (search(c, (int64_t)RAISE_STEPS * effort)) {
            keep(c);
            return 1;
        }
        come_back(c);
    }
    c->rung[j] = old;
    return 0;
}

/* Raises jobs one by one, the lowest first, each as far as it goes by halving; returns how many rose. */
static int32_t raise_pass(struct climb *c, int32_t effort)
{
    int32_t rose = 0;
    for (int32_t r = c->nladder - 1; r > 0; r--) {
        int32_t shift = rng_below(&c->rng, c->p->njob);
        for (int32_t i = 0; i < c->p->njob && !over(c); i++) {
            int32_t j = (i + shift) % c->p->njob, up = -1;
            if (c->rung[j] != r)
                continue;
            for (int32_t down = r; up + 1 < down && !over(c);) {
                int32_t mid = up < 0 ? 0 : (up + down) / 2;
                if (try_rung(c, j, mid, effort)) {
                    down = mid;
                    rose++;
                } else {
                    up = mid;
                }
            }
        }
    }
    return rose;
}

static void raise_jobs(struct climb *c, double floor, int32_t effort)
{
    int least = 0, clean = 1;
    build_ladder(c, floor);
    for (int32_t j = 0; j < c->p->njob; j++) {
        c->hi[j] = at_level(c, j, c->ladder[0]);
        c->lo[j] = at_level(c, j, floor);
    }
    cover_choose(c->cover, c->hi, c->lo, &c->rng, c->low, &least);
    for (int32_t j = 0; j < c->p->njob; j++)
        c->rung[j] = c->low[j] ? c->nladder - 1 : 0;
    aim_rungs(c);
    while (!search(c, (int64_t)RAISE_STEPS * effort) && !over(c)) {
        clean = 0;
        if (!lower_some(c))
            break;
        aim_rungs(c);
    }
    score_state(c);
    if (c->s->nviolated > 0)
        return;
    keep(c);
    c->final = clean && least && c->nladder <= 2;
    for (int i = 0; i < 3 && !c->final && raise_pass(c, effort) > 0; i++)
        aim_rungs(c);
    score_state(c);
}

/* ---- the two climbs ---- */

static void climb_fair(struct climb *c, enum climb_start start, double bound, int32_t effort)
{
    double top = INFINITY;
    for (int32_t j = 0; j < c->p->njob; j++)
        top = fmin(top, c->ceiling[j] / c->p->job_weight[j]);
    double floor = find_floor(c, start, fmin(bound, top), effort);
    if (over(c))
        return;
    come_back(c);
    raise_jobs(c, floor, effort);
    c->final = c->final && floor >= bound * (1 - SAME);
}

static int try_load(struct climb *c, double z, enum climb_start start, int32_t effort)
{
    eject_target(c->s, c->rate, c->need, z);
    place_start(c, start);
    int done = search(c, (int64_t)FLOOR_STEPS * effort);
    score_state(c);
    return done;
}

static void climb_load(struct climb *c, enum climb_start start, double bound, int32_t effort)
{
    double least = fmax(bound, c->fixed), lo = least, near = 1 + CLOSE * c->p->options.gap + SAME;
    if (!(c->best.value <= least * near))
        try_load(c, least, start, effort);
    for (int i = 0; i < BISECTIONS && c->best.value > lo * near && !over(c); i++) {
        double mid = sqrt(lo * c->best.value);
        if (!try_load(c, mid, start, effort))
            lo = mid;
    }
    c->final = c->best.value <= least * near;
}

void climb_run(struct climb *c, enum climb_start start, double bound, int32_t effort, int64_t work, uint64_t seed)
{
    c->work_end = c->s->work + work;
    c->rng.state = mix64(seed);
    c->s->salt = (uint32_t)c->rng.state;
    c->final = 0;
    if (c->p->options.objective == OBJ_JOB_FAIR)
        climb_fair(c, start, bound, effort);
    else
        climb_load(c, start, bound, effort);
}
