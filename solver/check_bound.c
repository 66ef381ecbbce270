/* The proof: what the certificate shows by its own data, whatever the plan says about it (solver/README.md).
 */
#include "solver/check_part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Figures of a proof may differ from the stated ones by this much, relative. */
static const double PROOF = 1e-6;

/* Prices as length[narc] (zero on entry). 0 when they are prices, -1 after a fault. */
static int read_prices(const struct problem *p, const struct certificate *c, double *length, const char *what,
                       struct check_report *report)
{
    int64_t before = report->nfault;
    for (int64_t i = 0; i < c->narc; i++) {
        int32_t a = c->arc[i];
        if (a < 0 || a >= p->fabric->narc)
            check_fault(report, "%s: price of arc %d, which is not in [0, %d)", what, a, p->fabric->narc);
        else if (!(c->price[i] >= 0 && isfinite(c->price[i])))
            check_fault(report, "%s: price %g of arc %d is not a price", what, c->price[i], a);
        else if (length[a] > 0)
            check_fault(report, "%s: arc %d has two prices", what, a);
        else
            length[a] = c->price[i];
    }
    return report->nfault > before ? -1 : 0;
}

static double capacity_price(const struct problem *p, const double *length)
{
    double sum = 0;
    for (int32_t a = 0; a < p->fabric->narc; a++)
        sum += p->fabric->cap[a] * length[a];
    return sum;
}

/* w_j * sum of r_f dist(f): what job j pays at level 1. */
static double job_price(const struct problem *p, int32_t j, const double *dist)
{
    double sum = 0;
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++)
        if (p->need[f] > 0)
            sum += p->need[f] * dist[f];
    return p->job_weight[j] * sum;
}

static int nothing_routed(const struct problem *p)
{
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            return 0;
    return 1;
}

/* Weak duality (solver/README.md): the bound of the prices length, with dist of their cheapest paths. NaN
 * where they prove nothing. */
static double prices_bound(const struct problem *p, const double *length, const double *dist)
{
    double capacity = capacity_price(p, length), need = 0;
    int fair = p->options.objective == OBJ_JOB_FAIR;
    if (nothing_routed(p))
        return fair ? 1 : 0;
    for (int32_t j = 0; fair && j < p->njob; j++)
        need += job_price(p, j, dist);
    for (int32_t f = 0; !fair && f < p->nflow; f++)
        if (problem_routed(p, f))
            need += (p->kind == DEMAND_BYTES ? 8e-9 : 1) * p->demand[f] * dist[f];
    double bound = fair ? capacity / need : need / capacity;
    return isfinite(bound) && bound > 0 ? bound : NAN;
}

/* Scratch for one set of prices. */
struct pricing {
    double *length; /* [narc] */
    double *dist;   /* [nflow] */
};

/* 0: measured; 1: faults told; -1: short memory. */
static int price(const struct problem *p, const struct certificate *c, struct pricing *w, const char *what,
                 struct check_report *report, struct err *e)
{
    if (p->fabric->narc > 0)
        memset(w->length, 0, (size_t)p->fabric->narc * sizeof *w->length);
    if (read_prices(p, c, w->length, what, report) < 0)
        return 1;
    return check_distance(p, w->length, w->dist, NULL, e);
}

static int check_prices(const struct problem *p, const struct plan *plan, struct pricing *w,
                        struct check_report *report, struct err *e)
{
    int rc = price(p, &plan->certificate, w, "certificate", report, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    report->bound = prices_bound(p, w->length, w->dist);
    if (isnan(report->bound))
        check_fault(report, "certificate: its %lld prices prove nothing", (long long)plan->certificate.narc);
    return 0;
}

/* n pinned flows all need the arcs of a cut, each at least t * r at level t: arc a holds at most floor(u_a / (t r)) of
 * them. A flow needs the cut when its cheapest path, at one per cut arc, is not free. */
static int check_pigeonhole(const struct problem *p, const struct plan *plan, struct pricing *w,
                            struct check_report *report, struct err *e)
{
    const struct certificate *c = &plan->certificate;
    int64_t before = report->nfault;
    double least = INFINITY, room = 0, level = c->bound * (1 + 1e-9);
    uint8_t *counted = array(p->nflow, 1);
    if (!counted)
        return fail(e, E_MEMORY, "out of memory for a certificate of %d flows", p->nflow);
    if (p->options.objective != OBJ_JOB_FAIR || p->options.routing == ROUTE_SPLIT || p->options.paths_per_flow != 1)
        check_fault(report, "pigeonhole: proves something for job_fair with one pinned path per flow only");
    if (c->narc <= 0 || c->nflow <= 0 || !(c->bound > 0 && isfinite(c->bound)))
        check_fault(report, "pigeonhole: needs arcs, flows and a positive bound");
    memset(w->length, 0, (size_t)p->fabric->narc * sizeof *w->length);
    for (int64_t i = 0; i < c->narc; i++)
        if (c->arc[i] < 0 || c->arc[i] >= p->fabric->narc)
            check_fault(report, "pigeonhole: arc %d is not in [0, %d)", c->arc[i], p->fabric->narc);
        else
            w->length[c->arc[i]] = 1;
    int rc = check_distance(p, w->length, w->dist, NULL, e);
    for (int64_t i = 0; i < c->nflow && rc == 0; i++) {
        int32_t f = c->flow[i];
        if (f < 0 || f >= p->nflow || !problem_routed(p, f))
            check_fault(report, "pigeonhole: flow %d is no flow that needs a route", f);
        else if (counted[f]++)
            check_fault(report, "pigeonhole: flow %d is counted twice", f);
        else if (!(w->dist[f] >= 1))
            check_fault(report, "pigeonhole: flow %d does not need the cut", f);
        else
            least = fmin(least, p->job_weight[p->job[f]] * p->need[f]);
    }
    for (int32_t a = 0; a < p->fabric->narc; a++)
        if (w->length[a] > 0 && p->fabric->live[a])
            room += floor(p->fabric->cap[a] / (level * least) * (1 + 1e-12));
    free(counted);
    if (rc < 0 || report->nfault > before)
        return rc;
    if (room >= (double)c->nflow)
        check_fault(report, "pigeonhole: %lld flows fit the cut above level %.9g", (long long)c->nflow, c->bound);
    else
        report->bound = c->bound;
    return 0;
}

/* ---- levels of job_fair with split routes: one per saturated set, lowest first. A search that was cut short leaves
 * its last level open: what is left of the jobs, at what they have, under whatever bound there was. ---- */

/* Every job in one level, levels rising, each job at its level. of[njob] becomes the level of each job. 0, or -1 after
 * a fault. */
static int read_levels(const struct problem *p, const struct plan *plan, int32_t *of, struct check_report *report)
{
    int64_t before = report->nfault;
    double tolerance = p->options.gap + CHECK_VALUE;
    for (int32_t j = 0; j < p->njob; j++)
        of[j] = -1;
    for (int32_t l = 0; l < plan->nlevel; l++) {
        const struct level *level = &plan->level[l];
        if (!(level->efficiency > 0 && isfinite(level->efficiency)))
            check_fault(report, "levels[%d]: efficiency %g must be positive", l, level->efficiency);
        if (l > 0 && level->efficiency < plan->level[l - 1].efficiency * (1 - PROOF))
            check_fault(report, "levels[%d]: efficiency %.9g is below the level before", l, level->efficiency);
        for (int32_t i = 0; i < level->njob; i++) {
            int32_t j = level->job[i];
            if (j < 0 || j >= p->njob) {
                check_fault(report, "levels[%d]: job %d is not in [0, %d)", l, j, p->njob);
                continue;
            }
            double e = plan->efficiency[j] / p->job_weight[j];
            if (of[j] >= 0)
                check_fault(report, "levels[%d]: job \"%s\" is in level %d already", l, p->job_name[j], of[j]);
            of[j] = l;
            if (fabs(e - level->efficiency) > tolerance * level->efficiency)
                check_fault(report, "levels[%d]: job \"%s\" is at %.9g, its level at %.9g", l, p->job_name[j], e,
                            level->efficiency);
        }
    }
    return report->nfault > before ? -1 : 0;
}

/* A level without prices that still states a bound: its jobs must be served in full. */
static void check_top(const struct problem *p, const struct plan *plan, int32_t l, struct check_report *report)
{
    for (int32_t i = 0; i < plan->level[l].njob && !isnan(plan->level[l].proof.bound); i++) {
        int32_t j = plan->level[l].job[i];
        if (!(plan->efficiency[j] >= 1 - PROOF))
            check_fault(report, "levels[%d]: job \"%s\" is at %.9g and no price says why", l, p->job_name[j],
                        plan->efficiency[j]);
    }
}

/* What a level states must follow from its prices; how far its bound is from what its jobs have is no fault, nor is a
 * job in no level (a limit ended the climb). With the jobs of lower levels where they are, those of level l and above
 * can not all be above (sum u y - sum_lower (e_j / w_j) D_j) / sum_others D_j. */
static void check_level(const struct problem *p, const struct plan *plan, const int32_t *of, int32_t l,
                        const struct pricing *w, struct check_report *report)
{
    const struct level *level = &plan->level[l];
    double left = capacity_price(p, w->length), free_sum = 0;
    for (int32_t j = 0; j < p->njob; j++) {
        double pays = job_price(p, j, w->dist);
        if (of[j] >= 0 && of[j] < l)
            left -= pays * plan->efficiency[j] / p->job_weight[j];
        else
            free_sum += pays;
    }
    double proven = left / free_sum;
    if (!(isfinite(proven) && free_sum > 0)) {
        check_fault(report, "levels[%d]: its %lld prices prove nothing", l, (long long)level->proof.narc);
        return;
    }
    if (!isnan(level->proof.bound) && !(proven <= level->proof.bound * (1 + PROOF)))
        check_fault(report, "levels[%d]: prices prove %.9g, plan claims %.9g", l, proven, level->proof.bound);
    if (!(level->efficiency <= proven * (1 + PROOF)))
        check_fault(report, "levels[%d]: at %.9g, better than the proven %.9g", l, level->efficiency, proven);
}

static int check_levels(const struct problem *p, const struct plan *plan, struct pricing *w,
                        struct check_report *report, struct err *e)
{
    int32_t *of = array(p->njob, sizeof *of);
    int rc = of ? 0 : fail(e, E_MEMORY, "out of memory for %d jobs", p->njob);
    int read = rc == 0 && read_levels(p, plan, of, report) == 0;
    for (int32_t l = 0; read && l < plan->nlevel && rc == 0; l++) {
        char what[32];
        if (plan->level[l].proof.narc == 0) {
            check_top(p, plan, l, report);
            continue;
        }
        snprintf(what, sizeof what, "levels[%d]", l);
        int priced = price(p, &plan->level[l].proof, w, what, report, e);
        if (priced == 0)
            check_level(p, plan, of, l, w, report);
        rc = priced < 0 ? -1 : 0;
    }
    free(of);
    return rc;
}

int check_bound(const struct problem *p, const struct plan *plan, struct check_report *report, struct err *e)
{
    struct pricing w = { .length = array(p->fabric->narc, sizeof *w.length), .dist = array(p->nflow, sizeof *w.dist) };
    int rc = w.length && w.dist ? 0 : fail(e, E_MEMORY, "out of memory for a bound on %d flows", p->nflow);
    if (rc == 0 && plan->certificate.kind == CERT_PRICES)
        rc = check_prices(p, plan, &w, report, e);
    else if (rc == 0 && plan->certificate.kind == CERT_PIGEONHOLE)
        rc = check_pigeonhole(p, plan, &w, report, e);
    else if (rc == 0)
        check_fault(report, "no certificate of a bound");
    if (rc == 0 && p->options.objective == OBJ_JOB_FAIR && p->options.routing == ROUTE_SPLIT && plan->efficiency &&
        plan->nlevel > 0)
        rc = check_levels(p, plan, &w, report, e);
    free(w.length);
    free(w.dist);
    return rc;
}

/* ---- infeasible ---- */

/* Marks what the source reaches over live arcs. */
static void reach(const struct fabric *f, int32_t s, uint8_t *seen, int32_t *stack)
{
    int32_t n = 0;
    seen[s] = 1;
    stack[n++] = s;
    while (n > 0) {
        int32_t v = stack[--n];
        for (int32_t k = f->first[v]; k < f->first[v + 1]; k++) {
            int32_t u = f->head[f->out[k]];
            if (seen[u])
                continue;
            seen[u] = 1;
            if (f->node_kind[u] == NODE_SWITCH)
                stack[n++] = u;
        }
    }
}

/* A flow that lists its paths has none when each has a dead arc; no cut is needed. */
static void check_dead_lists(const struct problem *p, int32_t f, struct check_report *report)
{
    for (int64_t i = p->list_first[f]; i < p->list_first[f + 1]; i++) {
        int dead = 0;
        for (int64_t h = p->list_at[i]; h < p->list_at[i + 1]; h++)
            dead |= !p->fabric->live[p->list_arc[h]];
        if (!dead)
            check_fault(report, "cut: flow %d may take its listed path %lld, which is live", f,
                        (long long)(i - p->list_first[f]));
    }
}

static void check_cut_arcs(const struct problem *p, const struct certificate *c, const uint8_t *seen, uint8_t *stated,
                           struct check_report *report)
{
    const struct fabric *g = p->fabric;
    int32_t s = p->src[c->flow[0]];
    for (int64_t i = 0; i < c->narc; i++)
        if (c->arc[i] < 0 || c->arc[i] >= g->narc)
            check_fault(report, "cut: arc %d is not in [0, %d)", c->arc[i], g->narc);
        else
            stated[c->arc[i]] = 1;
    for (int32_t a = 0; a < g->narc; a++) {
        int passable = g->tail[a] == s || g->node_kind[g->tail[a]] == NODE_SWITCH;
        int leaves = seen[g->tail[a]] && !seen[g->head[a]];
        if (stated[a] && !leaves)
            check_fault(report, "cut: arc %d does not leave what the source reaches", a);
        else if (leaves && passable && !stated[a])
            check_fault(report, "cut: arc %d leaves what the source reaches and is not listed", a);
    }
}

int check_cut(const struct problem *p, const struct certificate *c, struct check_report *report, struct err *e)
{
    const struct fabric *g = p->fabric;
    if (c->kind != CERT_CUT || c->nflow != 1 || c->flow[0] < 0 || c->flow[0] >= p->nflow ||
        !problem_routed(p, c->flow[0])) {
        check_fault(report, "status infeasible needs a cut and the one flow that it stops");
        return 0;
    }
    int32_t f = c->flow[0];
    if (p->list_first && p->list_first[f + 1] > p->list_first[f]) {
        check_dead_lists(p, f, report);
        return 0;
    }
    uint8_t *seen = array(g->nnode, 1), *stated = array(g->narc, 1);
    int32_t *stack = array(g->nnode, sizeof *stack);
    int rc = seen && stated && stack ? 0 : fail(e, E_MEMORY, "out of memory for a cut of %d nodes", g->nnode);
    if (rc == 0) {
        reach(g, p->src[f], seen, stack);
        if (seen[p->dst[f]])
            check_fault(report, "cut: flow %d reaches \"%s\" over live arcs", f, g->node_name[p->dst[f]]);
        else
            check_cut_arcs(p, c, seen, stated, report);
    }
    free(seen);
    free(stated);
    free(stack);
    return rc;
}
