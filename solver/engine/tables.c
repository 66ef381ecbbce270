/* Destination routes: what NICs alone allow, the search under one order of the switches or the other, and from the best
 * trees to whole tables. Read tables_solve first.
 */
#include "solver/engine/tables_part.h"

#include "solver/engine/complete.h"
#include "solver/kernel/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t WORK = 85000000; /* arcs touched, all tries together: two to three seconds */

/* ---- flows outside the trees ---- */

int32_t tables_outer(const struct search *s, int32_t f, int behind)
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
            if (tables_outer(s, f, side) >= 0)
                arc[nhop++] = tables_outer(s, f, side);
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
            int32_t a = tables_outer(s, f, side);
            if (a >= 0)
                most = fmax(most, load[a] += s->rate[f] / s->p->fabric->cap[a]);
        }
    }
    s->bound = isnan(s->goal->bound) ? most : fmax(s->goal->bound, most);
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
        tables_search_fair(s);
    else
        tables_search_load(s);
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
