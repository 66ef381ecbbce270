/* The coordinator: bound by cuts, prices and a bound by coordination, routes from both, a plan with its certificate.
 * Every rank walks through the same calls; only rank 0 assembles the plan. Read solve() first.
 */
#include "solver/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/engine/baseline.h"
#include "solver/engine/cuts.h"
#include "solver/engine/pin.h"
#include "solver/engine/reach.h"
#include "solver/engine/score.h"
#include "solver/engine/split.h"
#include "solver/engine/tables.h"
#include "solver/kernel/paths.h"

/* The price loop of a pinned problem is given this share of the gap, the rest is left to the search. */
static const double PRICE_SHARE = 0.25;
/* Before the search a rough bound and start will do; after it, where the gap is still open, the loop closes its own
 * side down to what certificates can state. */
static const double ROUGH_GAP = 1e-3, FINE_GAP = 1e-6;
/* What double arithmetic may leave between a value and the bound that it meets. */
static const double ROUND_OFF = 1e-9;
/* Rounds that mean, if the gap is open then, that the loop has stopped closing it. */
enum { ROUGH_ROUNDS = 200, MAX_ROUNDS = 4000 };

struct job {
    const struct problem *p;
    const struct pods *pods;
    struct comm *comm;
    const struct hooks *hooks; /* the caller's, translated into the objective's unit */
    struct hooks own;
    double start, deadline;

    struct split *split;
    double *load; /* [nflow] what the price loop routes */
    struct certificate best;
    double *price;     /* [narc] of the last price run, zero where none ran */
    struct plan *plan; /* rank 0 */
    int cancelled, limited;
};

static int maximises(const struct problem *p)
{
    return p->options.objective == OBJ_JOB_FAIR;
}

/* The engines report z, the largest load; the user sees the objective: 1 / z for job_fair. */
static void report(void *context, const struct progress *row)
{
    const struct job *j = context;
    struct progress out = *row;
    if (maximises(j->p) && !strcmp(row->phase, "split")) {
        out.value = row->value > 0 ? 1 / row->value : NAN;
        out.bound = row->bound > 0 ? 1 / row->bound : NAN;
    }
    if (j->best.kind != CERT_NONE &&
        (isnan(out.bound) || (maximises(j->p) ? j->best.bound < out.bound : j->best.bound > out.bound)))
        out.bound = j->best.bound;
    out.gap = plan_gap(out.bound, out.value);
    out.seconds = j->comm->now(j->comm) - j->start;
    if (j->hooks && j->hooks->report)
        j->hooks->report(j->hooks->context, &out);
}

static int stop(void *context)
{
    struct job *j = context;
    if (j->hooks && j->hooks->stop && j->hooks->stop(j->hooks->context))
        j->cancelled = 1;
    return j->cancelled;
}

/* ---- reachability: an unreachable pair is a result, with the cut that shows it ---- */

static int listed(const struct problem *p, int32_t f)
{
    return p->list_first && p->list_first[f] < p->list_first[f + 1];
}

static int has_live_list(const struct problem *p, int32_t f)
{
    for (int64_t k = p->list_first[f]; k < p->list_first[f + 1]; k++) {
        int live = 1;
        for (int64_t h = p->list_at[k]; h < p->list_at[k + 1]; h++)
            live &= p->fabric->live[p->list_arc[h]];
        if (live)
            return 1;
    }
    return 0;
}

/* The first flow without a live path, or -1; seen then marks what its source reaches. Flows are looked at by source, so
 * that a source is flooded once. */
static int64_t unreachable(const struct problem *p, int32_t *seen, int32_t *queue, int32_t *first, int32_t *item)
{
    const struct fabric *f = p->fabric;
    for (int32_t i = 0; i < p->nflow; i++)
        first[p->src[i] + 1]++;
    for (int32_t v = 0; v < f->nnode; v++)
        first[v + 1] += first[v];
    for (int32_t i = p->nflow - 1; i >= 0; i--)
        item[--first[p->src[i] + 1]] = i;
    int64_t worst = -1;
    for (int32_t v = 0; v < f->nnode; v++) {
        int32_t begin = first[v + 1], end = v + 1 < f->nnode ? first[v + 2] : p->nflow, flooded = 0;
        for (int32_t k = begin; k < end; k++) {
            int32_t i = item[k];
            if (!problem_routed(p, i) || (worst >= 0 && i > worst))
                continue;
            if (!flooded++)
                reach(f, NULL, v, v + 1, seen, queue);
            if (listed(p, i) ? !has_live_list(p, i) : seen[p->dst[i]] != v + 1)
                worst = i;
        }
    }
    if (worst >= 0) {
        memset(seen, 0, (size_t)f->nnode * sizeof *seen);
        reach(f, NULL, p->src[worst], 1, seen, queue);
    }
    return worst;
}

/* Certificate of the cut around what the source reaches: every arc that leaves it is dead. */
static int state_cut(struct job *j, int32_t flow, const int32_t *seen, struct err *e)
{
    const struct fabric *f = j->p->fabric;
    struct certificate *c = &j->plan->certificate;
    c->kind = CERT_CUT;
    for (int32_t a = 0; a < f->narc; a++)
        c->narc += seen[f->tail[a]] && !seen[f->head[a]] && !listed(j->p, flow);
    c->arc = array(c->narc, sizeof *c->arc);
    c->flow = array(1, sizeof *c->flow);
    if (!c->arc || !c->flow)
        return fail(e, E_MEMORY, "out of memory for the cut of %lld arcs", (long long)c->narc);
    c->flow[c->nflow++] = flow;
    for (int32_t a = 0, n = 0; a < f->narc && n < c->narc; a++)
        if (seen[f->tail[a]] && !seen[f->head[a]])
            c->arc[n++] = a;
    return 0;
}

/* 1: infeasible, and rank 0's plan says so. 0: every pair has a way. */
static int look_for_cut(struct job *j, struct err *e)
{
    const struct problem *p = j->p;
    int32_t n = p->fabric->nnode;
    int32_t *seen = array(n, sizeof *seen), *queue = array(n, sizeof *queue),
            *first = array((int64_t)n + 2, sizeof *first);
    int32_t *item = array(p->nflow, sizeof *item);
    int rc = 0;
    if (!seen || !queue || !first || !item) {
        rc = fail(e, E_MEMORY, "out of memory for %d nodes", n);
    } else {
        int64_t flow = unreachable(p, seen, queue, first, item);
        if (flow >= 0)
            rc = j->plan && state_cut(j, (int32_t)flow, seen, e) < 0 ? -1 : 1;
    }
    free(seen);
    free(queue);
    free(first);
    free(item);
    return rc;
}

/* ---- steps of a solve ---- */

/* Keep the better of two proofs. The prices are the split's; cuts that they point at are tried too. */
static int learn_from_prices(struct job *j, const struct split_result *r, struct err *e)
{
    int32_t narc = j->p->fabric->narc;
    if (narc > 0)
        memcpy(j->price, r->price, (size_t)narc * sizeof *j->price);
    double bound = maximises(j->p) ? 1 / r->bound : r->bound;
    if (r->bound > 0 &&
        (j->best.kind == CERT_NONE || (maximises(j->p) ? bound < j->best.bound : bound > j->best.bound)) &&
        certificate_prices(&j->best, bound, j->price, narc, e) < 0)
        return -1;
    return cuts_bound(j->p, j->pods, j->price, &j->best, e);
}

static void note_end(struct job *j, enum split_end end)
{
    j->cancelled |= end == SPLIT_CANCELLED;
    j->limited |= end == SPLIT_DEADLINE;
}

static int run_prices(struct job *j, double gap, int64_t rounds, double enough, struct split_result *r, struct err *e)
{
    struct split_goal goal = { .gap = gap, .rounds = rounds, .enough = enough, .deadline = j->deadline };
    if (!j->split)
        j->split = split_new(j->p, j->pods, j->comm, e);
    if (comm_agree(j->comm, j->split ? 0 : -1, e) < 0)
        return -1;
    if (split_run(j->split, j->load, &goal, &j->own, r, e) < 0)
        return -1;
    note_end(j, r->end);
    if (j->plan)
        j->plan->info.rounds += r->rounds;
    return comm_agree(j->comm, learn_from_prices(j, r, e), e);
}

static double clock_of(struct job *j)
{
    return j->comm->now(j->comm);
}

static int search(struct job *j, double *value, struct err *e)
{
    struct routes *rounded = NULL;
    if (split_round(j->split, (uint64_t)j->p->options.seed, &rounded, e) < 0)
        return -1;
    const struct routes *start[] = { rounded };
    struct pin_goal goal = {
        .bound = j->best.bound, .nstart = rounded != NULL, .start = start, .deadline = j->deadline
    };
    struct pin_result out = { 0 };
    int rc = pin_solve(j->p, j->pods, j->comm, &goal, &j->own, &out, e);
    routes_free(rounded);
    if (rc < 0)
        return -1;
    j->limited |= out.cut_short && !j->cancelled;
    *value = out.value;
    if (j->plan)
        j->plan->routes = out.routes;
    return 0;
}

/* Pinned: the price loop gives a bound, prices and a rounded start; the portfolio search gives the routes; where its
 * value does not meet the bound, the loop goes on for a sharper one. */
static int solve_pinned(struct job *j, struct err *e)
{
    struct split_result r;
    double goal = j->p->options.gap, value;
    double enough = (maximises(j->p) ? 1 / j->best.bound : j->best.bound) * (1 + ROUND_OFF);
    if (run_prices(j, fmax(PRICE_SHARE * goal, ROUGH_GAP), ROUGH_ROUNDS, enough, &r, e) < 0)
        return -1;
    double begin = clock_of(j);
    if (search(j, &value, e) < 0)
        return -1;
    if (j->plan)
        j->plan->info.seconds_round = clock_of(j) - begin;
    int64_t done = plan_gap(j->best.bound, value) <= goal + ROUND_OFF || j->cancelled || j->limited || r.z <= enough;
    if (j->comm->bcast(j->comm, &done, sizeof done, e) < 0) /* only rank 0 knows of a cancel */
        return -1;
    return done ? 0 : run_prices(j, fmax(PRICE_SHARE * goal, FINE_GAP), MAX_ROUNDS, enough, &r, e);
}

/* Destination: forwarding tables in place of paths. Prices are asked for only where the cuts' bound is not met. */
static int solve_tables(struct job *j, struct err *e)
{
    struct split_result r;
    double goal = j->p->options.gap;
    double enough = (maximises(j->p) ? 1 / j->best.bound : j->best.bound) * (1 + ROUND_OFF);
    double begin = clock_of(j);
    struct tables_goal aim = { .bound = j->best.bound, .deadline = j->deadline };
    struct tables_result out;
    if (tables_solve(j->p, j->pods, j->comm, &aim, &j->own, &out, e) < 0)
        return -1;
    j->limited |= out.cut_short && !j->cancelled;
    if (j->plan) {
        routes_free(j->plan->routes);
        j->plan->routes = out.routes;
        j->plan->tables = out.tables;
        j->plan->info.seconds_round = clock_of(j) - begin;
    }
    int64_t done = plan_gap(j->best.bound, out.value) <= goal + ROUND_OFF || j->cancelled || j->limited;
    if (j->comm->bcast(j->comm, &done, sizeof done, e) < 0) /* only rank 0 knows value and cancel */
        return -1;
    return done ? 0 : run_prices(j, fmax(PRICE_SHARE * goal, ROUGH_GAP), ROUGH_ROUNDS, enough, &r, e);
}

/* Rates of a max_utilization plan with split routes: every flow ends together, at z seconds (bytes), or has its demand
 * scaled to what fits (gbps). */
static void state_rates(const struct problem *p, struct routes *r, double z)
{
    double slow = p->kind == DEMAND_GBPS ? fmax(z, 1) : z;
    for (int32_t f = 0; f < r->nflow; f++)
        for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
            r->gbps[i] = slow > 0 ? r->share[i] * problem_load(p, f) / slow : 0;
}

static int solve_split_utilization(struct job *j, struct err *e)
{
    struct split_result r;
    struct routes *routes = NULL;
    if (run_prices(j, j->p->options.gap, MAX_ROUNDS, 0, &r, e) < 0 || split_routes(j->split, &routes, e) < 0)
        return -1;
    if (j->plan) {
        j->plan->routes = routes;
        state_rates(j->p, routes, r.z);
    }
    return 0;
}

static int solve_split_fair(struct job *j, struct err *e)
{
    struct split_result r;
    struct split_levels levels = { 0 };
    struct split_goal goal = { .gap = PRICE_SHARE * j->p->options.gap, .rounds = MAX_ROUNDS, .deadline = j->deadline };
    double *efficiency = array(j->p->njob, sizeof *efficiency);
    int rc = comm_agree(j->comm, efficiency ? 0 : fail(e, E_MEMORY, "out of memory for %d jobs", j->p->njob), e);
    if (rc == 0)
        rc = run_prices(j, goal.gap, MAX_ROUNDS, 0, &r, e);
    if (rc == 0)
        rc = split_job_fair(j->split, &goal, &j->own, efficiency, &levels, e);
    free(efficiency);
    if (rc < 0)
        return -1;
    note_end(j, levels.end);
    if (j->plan) {
        j->plan->routes = levels.routes;
        j->plan->level = levels.level;
        j->plan->nlevel = levels.nlevel;
        j->plan->info.rounds += levels.rounds;
    }
    return 0;
}

/* ---- the plan ---- */

/* Jobs with gbps demands cannot have more than they ask for, which no prices can say. */
static int all_served(const struct job *j)
{
    int served = maximises(j->p) && j->p->kind == DEMAND_GBPS;
    for (int32_t i = 0; i < j->p->njob; i++)
        served &= j->plan->efficiency[i] >= 1 - ROUND_OFF;
    return served;
}

static enum plan_status status_of(const struct job *j, double gap)
{
    if (gap <= j->p->options.gap + ROUND_OFF || all_served(j))
        return PLAN_OPTIMAL;
    return j->cancelled ? PLAN_CANCELLED : PLAN_FEASIBLE;
}

/* What hashing gives each job, the mean over the 16 seeds. Seed s is tried by rank s mod size; each result is
 * brought by one rank, as bits, and added in the order of the seeds. Only rank 0 has mean. */
static int ecmp_means(struct job *j, double *mean, struct err *e)
{
    const struct problem *p = j->p;
    int64_t n = (int64_t)ECMP_SEEDS * p->njob;
    int64_t *bits = array(n, sizeof *bits);
    double *own = array(p->njob, sizeof *own);
    int rc = bits && own ? 0 : fail(e, E_MEMORY, "out of memory for %d jobs under ECMP", p->njob);
    for (int seed = j->comm->rank; rc == 0 && seed < ECMP_SEEDS; seed += j->comm->size) {
        struct routes *r = NULL;
        rc = baseline_ecmp(p, (uint64_t)seed, &r, e);
        if (rc == 0)
            rc = score_pinned(p, r, own, NULL, e);
        routes_free(r);
        if (rc == 0 && p->njob > 0)
            memcpy(bits + (int64_t)seed * p->njob, own, (size_t)p->njob * sizeof *own);
        if (j->comm->rank == 0)
            stop(j); /* a sign of life; the means are wanted all the same */
    }
    rc = comm_agree(j->comm, rc, e);
    if (rc == 0)
        rc = j->comm->sum(j->comm, bits, n, e);
    for (int64_t i = 0; rc == 0 && mean && i < n; i++) {
        double x;
        memcpy(&x, &bits[i], sizeof x);
        mean[i % p->njob] += x / ECMP_SEEDS;
    }
    free(bits);
    free(own);
    return rc;
}

/* The baseline beside the plan, unless someone waits for a cancelled solve to end. */
static int compare(struct job *j, struct err *e)
{
    int64_t hurry = j->cancelled;
    if (j->comm->bcast(j->comm, &hurry, sizeof hurry, e) < 0)
        return -1;
    if (!hurry)
        return ecmp_means(j, j->plan ? j->plan->ecmp : NULL, e);
    if (j->plan) {
        free(j->plan->ecmp);
        j->plan->ecmp = NULL;
    }
    return 0;
}

static int assemble(struct job *j, struct err *e)
{
    const struct problem *p = j->p;
    struct plan *plan = j->plan;
    plan->efficiency = array(p->njob, sizeof *plan->efficiency);
    plan->load = array(p->fabric->narc, sizeof *plan->load);
    if (maximises(p))
        plan->job_bound = array(p->njob, sizeof *plan->job_bound);
    if (!plan->efficiency || !plan->load || (maximises(p) && !plan->job_bound))
        return fail(e, E_MEMORY, "out of memory for a plan of %d jobs", p->njob);
    int rc = p->options.routing != ROUTE_SPLIT ? score_pinned(p, plan->routes, plan->efficiency, plan->load, e)
                                               : score_split(p, plan->routes, plan->efficiency, plan->load, e);
    if (rc < 0 || (plan->job_bound && cuts_alone(p, j->pods, plan->job_bound, e) < 0))
        return -1;
    plan->value = score_value(p, plan->efficiency, plan->load);
    plan->certificate = j->best;
    j->best = (struct certificate){ 0 };
    plan->bound = plan->certificate.bound;
    plan->gap = plan_gap(plan->bound, plan->value);
    plan->status = status_of(j, plan->gap);
    return 0;
}

/* Nothing to route: every job is at 1, no arc has a load. */
static int solve_nothing(struct job *j, struct err *e)
{
    if (j->plan && !(j->plan->routes = routes_new(j->p->nflow, 0, 0, e)))
        return -1;
    return certificate_prices(&j->best, maximises(j->p) ? 1 : 0, j->price, j->p->fabric->narc, e);
}

static int solve_routes(struct job *j, struct err *e)
{
    double any = 0;
    for (int32_t f = 0; f < j->p->nflow; f++)
        any += j->load[f];
    int rc = any > 0 ? cuts_bound(j->p, j->pods, NULL, &j->best, e) : solve_nothing(j, e);
    if (comm_agree(j->comm, rc, e) < 0)
        return -1;
    if (j->p->options.routing == ROUTE_DESTINATION)
        return solve_tables(j, e); /* tables are whole, also where nothing is to be routed */
    if (!(any > 0))
        return 0;
    if (j->p->options.routing == ROUTE_PINNED)
        return solve_pinned(j, e);
    return maximises(j->p) ? solve_split_fair(j, e) : solve_split_utilization(j, e);
}

static int prepare(struct job *j, struct err *e)
{
    const struct problem *p = j->p;
    j->own = (struct hooks){ .context = j, .report = report, .stop = stop };
    j->start = clock_of(j);
    j->deadline = j->start + p->options.time_limit;
    j->load = array(p->nflow, sizeof *j->load);
    j->price = array(p->fabric->narc, sizeof *j->price);
    if (j->comm->rank == 0 && (j->plan = array(1, sizeof *j->plan)))
        j->plan->ecmp = array(p->njob, sizeof *j->plan->ecmp);
    if (!j->load || !j->price || (j->comm->rank == 0 && !(j->plan && j->plan->ecmp)))
        return fail(e, E_MEMORY, "out of memory for %d flows", p->nflow);
    for (int32_t f = 0; f < p->nflow; f++)
        j->load[f] = maximises(p) ? p->job_weight[p->job[f]] * p->need[f] : problem_load(p, f);
    if (j->plan) {
        j->plan->info.ranks = j->comm->size;
        j->plan->info.pods = j->pods->npod;
        j->plan->info.cut_arcs = j->pods->ncut;
    }
    return 0;
}

int solve(const struct problem *p, const struct pods *pods, struct comm *c, const struct hooks *hooks,
          struct plan **out, struct err *e)
{
    struct job j = { .p = p, .pods = pods, .comm = c, .hooks = hooks };
    *out = NULL;
    int rc = prepare(&j, e), cut = 0;
    if (rc == 0)
        rc = cut = look_for_cut(&j, e);
    rc = comm_agree(c, rc < 0 ? -1 : 0, e);
    if (rc == 0 && !cut)
        rc = solve_routes(&j, e);
    if (rc == 0 && j.plan && !cut)
        rc = assemble(&j, e);
    rc = comm_agree(c, rc, e);
    double solved = clock_of(&j);
    if (rc == 0 && !cut)
        rc = compare(&j, e);
    if (rc == 0 && j.plan) {
        if (cut)
            j.plan->status = PLAN_INFEASIBLE;
        j.plan->info.seconds_solve = solved - j.start; /* the baseline is no part of the search */
        *out = j.plan;
        j.plan = NULL;
    }
    split_free(j.split);
    certificate_free(&j.best);
    free(j.load);
    free(j.price);
    plan_free(j.plan);
    return rc;
}
