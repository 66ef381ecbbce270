/* What the routes achieve, computed anew, against what the plan states. The rates of pinned routes come from rounds: in
 * each, every arc all of whose open paths are held back by it alone (a local bottleneck) settles them at once. The
 * solver fills one global level at a time; both end at the one max-min fair allocation.
 */
#include "solver/check_part.h"

#include <math.h>
#include <stdlib.h>

/* Shares that rounding tells apart are the same bottleneck. */
static const double SAME = 1e-12;

struct rounds {
    int64_t nopen, *open;       /* paths without a rate yet */
    double *hold;               /* [npath] smallest share on the path's arcs, or its own ceiling */
    double *ceiling;            /* [npath] */
    double *room, *share, *low; /* [narc] left; room / users; smallest hold of the arc's open paths */
    int64_t *users;             /* [narc] open paths (each time they pass) */
};

static void rounds_free(struct rounds *w)
{
    void *owned[] = { w->open, w->hold, w->ceiling, w->room, w->share, w->low, w->users };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

static int rounds_init(struct rounds *w, const struct problem *p, const struct routes *r)
{
    const struct fabric *f = p->fabric;
    w->open = array(r->npath, sizeof *w->open);
    w->hold = array(r->npath, sizeof *w->hold);
    w->ceiling = array(r->npath, sizeof *w->ceiling);
    w->room = array(f->narc, sizeof *w->room);
    w->share = array(f->narc, sizeof *w->share);
    w->low = array(f->narc, sizeof *w->low);
    w->users = array(f->narc, sizeof *w->users);
    if (!w->open || !w->hold || !w->ceiling || !w->room || !w->share || !w->low || !w->users)
        return -1;
    for (int32_t a = 0; a < f->narc; a++)
        w->room[a] = f->cap[a];
    for (int32_t i = 0; i < p->nflow; i++)
        for (int64_t k = r->first[i]; k < r->first[i + 1]; k++) {
            w->ceiling[k] = p->kind == DEMAND_GBPS ? r->share[k] * p->demand[i] : INFINITY;
            w->open[w->nopen++] = k;
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++)
                w->users[r->arc[h]]++;
        }
    return 0;
}

/* What holds every open path back, and the lowest hold on every arc. */
static void measure(struct rounds *w, const struct routes *r, int32_t narc)
{
    for (int32_t a = 0; a < narc; a++) {
        w->share[a] = w->users[a] > 0 ? fmax(w->room[a], 0) / (double)w->users[a] : INFINITY;
        w->low[a] = INFINITY;
    }
    for (int64_t i = 0; i < w->nopen; i++) {
        int64_t k = w->open[i];
        w->hold[k] = w->ceiling[k];
        for (int64_t h = r->at[k]; h < r->at[k + 1]; h++)
            w->hold[k] = fmin(w->hold[k], w->share[r->arc[h]]);
        for (int64_t h = r->at[k]; h < r->at[k + 1]; h++)
            w->low[r->arc[h]] = fmin(w->low[r->arc[h]], w->hold[k]);
    }
}

/* The arc with the smallest share of all is always a local bottleneck, so every round settles a path. */
static void rates_by_rounds(struct rounds *w, const struct routes *r, int32_t narc, double *rate)
{
    while (w->nopen > 0) {
        int64_t left = 0;
        measure(w, r, narc);
        for (int64_t i = 0; i < w->nopen; i++) {
            int64_t k = w->open[i];
            int settled = w->ceiling[k] <= w->hold[k];
            for (int64_t h = r->at[k]; h < r->at[k + 1] && !settled; h++) {
                double share = w->share[r->arc[h]];
                settled = w->low[r->arc[h]] >= share * (1 - SAME) && w->hold[k] >= share * (1 - SAME);
            }
            if (!settled) {
                w->open[left++] = k;
                continue;
            }
            rate[k] = w->hold[k];
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++) {
                w->room[r->arc[h]] -= rate[k];
                w->users[r->arc[h]]--;
            }
        }
        w->nopen = left;
    }
}

static void check_stated_pinned(const struct problem *p, const struct routes *r, const double *rate,
                                struct check_report *report)
{
    for (int32_t f = 0; f < p->nflow; f++)
        for (int64_t k = r->first[f]; k < r->first[f + 1]; k++)
            if (!check_close(r->gbps[k], rate[k], CHECK_RATE))
                check_fault_flow(report, p, r, f, k, "stated %.9g Gb/s, water-filling gives %.9g", r->gbps[k], rate[k]);
}

/* Split routes state their rates: they must fit, and a flow with a demand in Gb/s has no use for more. */
static void check_stated_split(const struct problem *p, const struct routes *r, double *used,
                               struct check_report *report)
{
    const struct fabric *f = p->fabric;
    for (int32_t i = 0; i < p->nflow; i++)
        for (int64_t k = r->first[i]; k < r->first[i + 1]; k++) {
            if (!(r->gbps[k] >= 0 && isfinite(r->gbps[k])))
                check_fault_flow(report, p, r, i, k, "rate %g Gb/s is not a rate", r->gbps[k]);
            double most = p->kind == DEMAND_GBPS ? r->share[k] * p->demand[i] : INFINITY;
            if (r->gbps[k] > most + CHECK_RATE * fmax(1, most))
                check_fault_flow(report, p, r, i, k, "stated %.9g Gb/s, its share of the demand is %.9g", r->gbps[k],
                                 most);
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++)
                used[r->arc[h]] += r->gbps[k];
        }
    for (int32_t a = 0; a < f->narc; a++)
        if (used[a] > f->cap[a] * (1 + CHECK_RATE))
            check_fault(report, "arc %d (\"%s\" -> \"%s\"): stated rates add to %.9g of %.9g Gb/s", a,
                        f->node_name[f->tail[a]], f->node_name[f->head[a]], used[a], f->cap[a]);
}

/* e_j of solver/README.md from the rates. */
static double efficiency(const struct problem *p, const struct routes *r, const double *rate, int32_t j)
{
    double slowest = 0, least = 1;
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
        double sum = 0;
        if (!problem_routed(p, f))
            continue;
        for (int64_t k = r->first[f]; k < r->first[f + 1]; k++) {
            sum += rate[k];
            if (r->share[k] > 0)
                slowest = fmax(slowest, rate[k] > 0 ? 8e-9 * p->demand[f] * r->share[k] / rate[k] : INFINITY);
        }
        least = fmin(least, sum / p->demand[f]);
    }
    if (p->kind == DEMAND_GBPS)
        return least;
    return slowest > 0 ? p->ideal[j] / slowest : 1;
}

/* Returns the smallest e_j / w_j, 1 when there is no job. */
static double check_efficiencies(const struct problem *p, const struct plan *plan, const double *rate,
                                 struct check_report *report)
{
    double least = p->njob > 0 ? INFINITY : 1;
    for (int32_t j = 0; j < p->njob; j++) {
        double e = efficiency(p, plan->routes, rate, j);
        least = fmin(least, e / p->job_weight[j]);
        if (plan->efficiency && !check_close(e, plan->efficiency[j], CHECK_VALUE))
            check_fault(report, "jobs[%d] \"%s\": stated efficiency %.9g, routes give %.9g", j, p->job_name[j],
                        plan->efficiency[j], e);
    }
    return least;
}

/* Returns the largest load. load is zero on entry. */
static double check_loads(const struct problem *p, const struct plan *plan, double *load, struct check_report *report)
{
    const struct routes *r = plan->routes;
    double scale = p->kind == DEMAND_BYTES ? 8e-9 : 1, largest = 0;
    for (int32_t f = 0; f < p->nflow; f++)
        for (int64_t k = r->first[f]; k < r->first[f + 1]; k++)
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++)
                load[r->arc[h]] += scale * p->demand[f] * r->share[k] / p->fabric->cap[r->arc[h]];
    for (int32_t a = 0; a < p->fabric->narc; a++) {
        largest = fmax(largest, load[a]);
        if (plan->load && !check_close(plan->load[a], load[a], CHECK_VALUE))
            check_fault(report, "arc %d (\"%s\" -> \"%s\"): stated load %.9g, routes give %.9g", a,
                        p->fabric->node_name[p->fabric->tail[a]], p->fabric->node_name[p->fabric->head[a]],
                        plan->load[a], load[a]);
    }
    return largest;
}

int check_rates(const struct problem *p, const struct plan *plan, struct check_report *report, struct err *e)
{
    const struct routes *r = plan->routes;
    int pinned = p->options.routing != ROUTE_SPLIT;
    struct rounds w = { 0 };
    double *rate = array(r->npath, sizeof *rate), *load = array(p->fabric->narc, sizeof *load);
    double *used = array(p->fabric->narc, sizeof *used);
    int rc = rate && load && used && (!pinned || rounds_init(&w, p, r) == 0) ? 0 : -1;
    if (rc == 0) {
        if (pinned) {
            rates_by_rounds(&w, r, p->fabric->narc, rate);
            check_stated_pinned(p, r, rate, report);
        } else {
            check_stated_split(p, r, used, report);
        }
        double least = check_efficiencies(p, plan, pinned ? rate : r->gbps, report);
        double largest = check_loads(p, plan, load, report);
        report->value = p->options.objective == OBJ_JOB_FAIR ? least : largest;
        if (!check_close(report->value, plan->value, CHECK_VALUE))
            check_fault(report, "stated value %.9g, routes give %.9g", plan->value, report->value);
    }
    rounds_free(&w);
    free(rate);
    free(load);
    free(used);
    return rc < 0 ? fail(e, E_MEMORY, "out of memory for the rates of %lld paths", (long long)r->npath) : 0;
}
