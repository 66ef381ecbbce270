/* heddle evaluate: what given routes make of a problem: hashed ones (ECMP), sprayed ones, or a plan's; and the bound.
 * Reads, rates, and shows the result as a plan's document would be shown.
 */
#include "service/cli/cli.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/partition.h"
#include "service/cli/input.h"
#include "service/cli/table.h"
#include "service/formats/ib_tables.h"
#include "service/wire/file.h"
#include "solver/check.h"
#include "solver/engine/baseline.h"
#include "solver/engine/cuts.h"
#include "solver/engine/score.h"
#include "solver/engine/tables.h"

static const char usage[] = "PROBLEM [--routes ecmp|spray|PLAN|lfts:FILE] [--set option=value ...] [--json]";

enum { SLOWEST = 10 };

struct arguments {
    const char *problem, *routes;
    struct input_set set;
    int json;
};

/* What the routes give. Under ecmp: efficiency is the mean over the seeds and worst the smallest; flow rates and loads
 * are means, too. */
struct evaluation {
    struct problem *p;
    double *efficiency, *worst, *ecmp; /* [njob]; worst under ecmp only */
    double *alone;                     /* [njob] what the job could have at most */
    double *rate;                      /* [nflow] Gb/s */
    double *pace;                      /* [nflow] the flow's own efficiency: I_j / its time, or rate / demand */
    double *load;                      /* [narc] load_a / u_a */
    double value;
    struct certificate best;
};

static void help(void)
{
    printf(
        "usage: heddle evaluate %s\n\n"
        "What routes give to every job and flow of PROBLEM, where the fabric is hottest, and a bound that no routing\n"
        "can beat.\n\n"
        "  --routes ecmp       every flow hashed over the shortest paths; mean over %d seeds (default)\n"
        "  --routes spray      every flow spread evenly over all shortest paths\n"
        "  --routes PLAN       the routes of a plan file; its certificate counts once it has been re-verified\n"
        "  --routes lfts:FILE  InfiniBand forwarding tables: opensm-lfts.dump, output of ibroute, heddle export ib-lft\n"
        "  --set option=value  override an option of the problem\n"
        "  --json              print the result, with all flows, as JSON\n",
        usage, ECMP_SEEDS);
}

/* Returns -1 when the command may go on, else the exit status. */
static int parse(int argc, char **argv, struct arguments *a)
{
    static const struct option known[] = {
        { "routes", required_argument, NULL, 'r' },
        { "set", required_argument, NULL, 's' },
        { "json", no_argument, NULL, 'j' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    char text[200];
    opterr = 0;
    optind = 0; /* a fresh scan, whoever used getopt before */
    for (int c; (c = getopt_long(argc, argv, ":h", known, NULL)) != -1;)
        switch (c) {
        case 'r':
            a->routes = optarg;
            break;
        case 's':
            if (a->set.n == INPUT_SETS)
                return cli_usage("evaluate", usage, "too many --set");
            a->set.text[a->set.n++] = optarg;
            break;
        case 'j':
            a->json = 1;
            break;
        case 'h':
            help();
            return EXIT_DONE;
        default:
            snprintf(text, sizeof text, c == ':' ? "%.100s needs a value" : "%.100s is no option of it",
                     argv[optind - 1]);
            return cli_usage("evaluate", usage, text);
        }
    if (optind + 1 != argc)
        return cli_usage("evaluate", usage, optind == argc ? "no PROBLEM given" : "more than one PROBLEM given");
    a->problem = argv[optind];
    return -1;
}

static void evaluation_free(struct evaluation *v)
{
    void *owned[] = { v->efficiency, v->worst, v->ecmp, v->alone, v->rate, v->pace, v->load };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    certificate_free(&v->best);
    problem_free(v->p);
}

static int oom(const struct problem *p, struct err *e)
{
    return fail(e, E_MEMORY, "out of memory for the rates of %d flows", p->nflow);
}

static int evaluation_arrays(struct evaluation *v, struct err *e)
{
    const struct problem *p = v->p;
    v->efficiency = array(p->njob, sizeof *v->efficiency);
    v->worst = array(p->njob, sizeof *v->worst);
    v->ecmp = array(p->njob, sizeof *v->ecmp);
    v->alone = array(p->njob, sizeof *v->alone);
    v->rate = array(p->nflow, sizeof *v->rate);
    v->pace = array(p->nflow, sizeof *v->pace);
    v->load = array(p->fabric->narc, sizeof *v->load);
    return v->efficiency && v->worst && v->ecmp && v->alone && v->rate && v->pace && v->load ? 0 : oom(p, e);
}

/* Add part of one routing's rates to rate and pace. */
static void add_rates(struct evaluation *v, const struct routes *r, double part)
{
    const struct problem *p = v->p;
    for (int32_t f = 0; f < p->nflow; f++) {
        double rate = 0, slowest = INFINITY; /* rate of a subflow / its share of the demand */
        for (int64_t k = r->first[f]; k < r->first[f + 1]; k++) {
            rate += r->gbps[k];
            if (r->share[k] > 0)
                slowest = fmin(slowest, r->gbps[k] / (r->share[k] * p->demand[f]));
        }
        if (!problem_routed(p, f))
            continue;
        v->rate[f] += part * rate;
        v->pace[f] += part * (p->kind == DEMAND_GBPS ? rate / p->demand[f] : slowest * p->ideal[p->job[f]] / 8e-9);
    }
}

static void add_seed(void *context, const struct routes *r, const double *efficiency, const double *load)
{
    struct evaluation *v = context;
    add_rates(v, r, 1.0 / ECMP_SEEDS);
    for (int32_t j = 0; j < v->p->njob; j++) {
        v->efficiency[j] += efficiency[j] / ECMP_SEEDS;
        v->worst[j] = fmin(v->worst[j], efficiency[j]);
    }
    double z = 0;
    for (int32_t a = 0; a < v->p->fabric->narc; a++) {
        v->load[a] += load[a] / ECMP_SEEDS;
        z = fmax(z, load[a]);
    }
    v->value += z / ECMP_SEEDS;
}

/* The value is that of the mean job; with max_utilization the mean of the seeds' values. */
static int evaluate_ecmp(struct evaluation *v, struct err *e)
{
    for (int32_t j = 0; j < v->p->njob; j++)
        v->worst[j] = INFINITY;
    if (baseline_ecmp_each(v->p, add_seed, v, e) < 0)
        return -1;
    memcpy(v->ecmp, v->efficiency, (size_t)v->p->njob * sizeof *v->ecmp);
    if (v->p->options.objective == OBJ_JOB_FAIR)
        v->value = score_value(v->p, v->efficiency, v->load);
    return 0;
}

static int evaluate_spray(struct evaluation *v, struct err *e)
{
    const struct problem *p = v->p;
    if (baseline_spray(p, v->rate, v->efficiency, v->load, e) < 0)
        return -1;
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            v->pace[f] = v->rate[f] / p->demand[f] * (p->kind == DEMAND_GBPS ? 1 : p->ideal[p->job[f]] / 8e-9);
    return 0;
}

/* The plan's routes must be routes of this problem; what it states about them is recomputed. */
static int evaluate_plan(struct evaluation *v, const char *path, struct err *e)
{
    struct problem *p = v->p;
    struct plan *plan = NULL;
    struct check_report *report = array(1, sizeof *report);
    int rc = report ? input_plan(path, p, &plan, e) : oom(p, e);
    if (rc == 0)
        rc = check_plan(p, plan, report, e);
    if (rc == 0 && (!plan->routes || isnan(report->value)))
        rc = fail(e, E_INPUT, "%s: %s", path, report->nfault ? report->fault[0] : "the plan has no routes");
    if (rc == 0)
        rc = p->options.routing != ROUTE_SPLIT ? score_pinned(p, plan->routes, v->efficiency, v->load, e)
                                                : score_split(p, plan->routes, v->efficiency, v->load, e);
    if (rc == 0) {
        add_rates(v, plan->routes, 1);
        if (!isnan(report->bound)) { /* proven by the certificate's own data, whatever the plan says */
            v->best = plan->certificate;
            v->best.bound = report->bound;
            plan->certificate = (struct certificate){ 0 };
        }
    }
    plan_free(plan);
    free(report);
    return rc;
}

/* What a manager has installed. What the file says about nodes that the fabric does not have is told and left. */
static int evaluate_tables(struct evaluation *v, const char *path, struct err *e)
{
    struct problem *p = v->p;
    struct format_report report = { 0 };
    struct forward *t = NULL;
    struct routes *r = NULL;
    char *data = NULL;
    int64_t n;
    int rc = file_read(path, &data, &n, e);
    if (rc == 0)
        rc = ib_tables_read(path, data, n, p->fabric, &t, &report, e);
    for (int32_t i = 0; i < report.nnote; i++)
        fprintf(stderr, "%s:%lld: %lld %s\n", path, (long long)report.note[i].line, (long long)report.note[i].count,
                report.note[i].what);
    if (rc == 0)
        rc = tables_routes(p, t, &r, e) < 0 ? fail_at(e, "%s: ", path) : 0;
    if (rc == 0)
        rc = score_pinned(p, r, v->efficiency, v->load, e);
    if (rc == 0)
        add_rates(v, r, 1);
    p->options.routing = ROUTE_DESTINATION;
    free(data);
    forward_free(t);
    routes_free(r);
    return rc;
}

/* The best bound: the cuts' and, where there is one, the plan's. */
static int bound(struct evaluation *v, struct err *e)
{
    struct comm *c = comm_self(e);
    struct pods *pods = c ? partition(v->p, c, e) : NULL;
    int rc = pods ? cuts_bound(v->p, pods, NULL, &v->best, e) : -1;
    if (rc == 0)
        rc = cuts_alone(v->p, pods, v->alone, e);
    pods_free(pods);
    comm_free(c);
    return rc;
}

static int evaluate(struct evaluation *v, const struct arguments *a, struct err *e)
{
    int rc = evaluation_arrays(v, e), ecmp = !strcmp(a->routes, "ecmp"), spray = !strcmp(a->routes, "spray");
    if (rc == 0)
        rc = ecmp                                 ? evaluate_ecmp(v, e)
             : spray                              ? evaluate_spray(v, e)
             : strncmp(a->routes, "lfts:", 5) != 0 ? evaluate_plan(v, a->routes, e)
                                                   : evaluate_tables(v, a->routes + 5, e);
    if (rc == 0 && !ecmp) {
        v->value = score_value(v->p, v->efficiency, v->load);
        rc = baseline_ecmp_efficiency(v->p, v->ecmp, NULL, e);
    }
    return rc < 0 ? -1 : bound(v, e);
}

/* ---- the result as a document ---- */

static struct value *jobs(const struct evaluation *v, int ecmp, struct arena *a)
{
    const struct problem *p = v->p;
    struct value *list = value_list(a, p->njob);
    for (int32_t j = 0; j < p->njob && list; j++) {
        struct value *job = &list->as.item[j];
        double e = v->efficiency[j];
        job->kind = VALUE_MAP;
        value_put(a, job, "name", value_text(a, p->job_name[j]));
        if (p->kind == DEMAND_BYTES) {
            value_put(a, job, "seconds", value_real(a, e > 0 ? p->ideal[j] / e : NAN));
            value_put(a, job, "ideal_seconds", value_real(a, p->ideal[j]));
        }
        value_put(a, job, "efficiency", value_real(a, e));
        value_put(a, job, "ecmp_efficiency", value_real(a, v->ecmp[j]));
        if (p->options.objective == OBJ_JOB_FAIR)
            value_put(a, job, "bound", value_real(a, v->alone[j]));
        if (ecmp)
            value_put(a, job, "worst_efficiency", value_real(a, v->worst[j]));
    }
    return list;
}

static struct value *arcs(const struct evaluation *v, struct arena *a)
{
    const struct fabric *f = v->p->fabric;
    int64_t n = 0;
    for (int32_t i = 0; i < f->narc; i++)
        n += v->load[i] > 0;
    struct value *list = value_list(a, n);
    for (int32_t i = 0, k = 0; i < f->narc && list; i++) {
        if (!(v->load[i] > 0))
            continue;
        struct value *arc = &list->as.item[k++];
        arc->kind = VALUE_MAP;
        value_put(a, arc, "arc", value_int(a, i));
        value_put(a, arc, "from", value_text(a, f->node_name[f->tail[i]]));
        value_put(a, arc, "to", value_text(a, f->node_name[f->head[i]]));
        value_put(a, arc, "load", value_real(a, v->load[i]));
    }
    return list;
}

static struct value *flows(const struct evaluation *v, struct arena *a)
{
    const struct problem *p = v->p;
    struct value *list = value_list(a, p->nflow);
    for (int32_t f = 0; f < p->nflow && list; f++) {
        struct value *flow = &list->as.item[f];
        flow->kind = VALUE_MAP;
        value_put(a, flow, "job", value_text(a, p->job_name[p->job[f]]));
        value_put(a, flow, "src", value_text(a, p->fabric->node_name[p->src[f]]));
        value_put(a, flow, "dst", value_text(a, p->fabric->node_name[p->dst[f]]));
        if (problem_routed(p, f)) {
            value_put(a, flow, "gbps", value_real(a, v->rate[f]));
            value_put(a, flow, "efficiency", value_real(a, v->pace[f]));
        }
    }
    return list;
}

static struct value *document(const struct evaluation *v, const struct arguments *arg, struct arena *a)
{
    static const char *const kind[] = { NULL, "prices", "pigeonhole", "cut" };
    struct value *root = value_map(a), *proof = value_map(a);
    char text[64];
    int proven = v->best.kind != CERT_NONE;
    options_get(&v->p->options, "objective", text, sizeof text);
    value_put(a, root, "routes", value_text(a, arg->routes));
    value_put(a, root, "objective", value_text(a, text));
    value_put(a, root, "value", value_real(a, v->value));
    value_put(a, root, "bound", value_real(a, proven ? v->best.bound : NAN));
    value_put(a, root, "gap", value_real(a, proven ? plan_gap(v->best.bound, v->value) : NAN));
    value_put(a, root, "jobs", jobs(v, !strcmp(arg->routes, "ecmp"), a));
    if (arg->json)
        value_put(a, root, "flows", flows(v, a));
    value_put(a, root, "arcs", arcs(v, a));
    if (proven)
        value_put(a, proof, "kind", value_text(a, kind[v->best.kind]));
    value_put(a, root, "certificate", proof);
    return root;
}

/* ---- the flows for people: how they are spread, and the slowest ---- */

struct pace {
    double pace;
    int32_t flow;
};

static int by_pace(const void *x, const void *y)
{
    const struct pace *a = x, *b = y;
    if (a->pace < b->pace || b->pace < a->pace)
        return a->pace < b->pace ? -1 : 1;
    return (a->flow > b->flow) - (a->flow < b->flow);
}

static int show_flows(const struct evaluation *v, struct err *e)
{
    const struct problem *p = v->p;
    struct pace *order = array(p->nflow, sizeof *order);
    int32_t n = 0;
    if (!order)
        return oom(p, e);
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            order[n++] = (struct pace){ v->pace[f], f };
    qsort(order, (size_t)n, sizeof *order, by_pace);
    if (n > 0) {
        printf("\nefficiency of %d flows: smallest %.4f, 5%% below %.4f, half below %.4f, largest %.4f\n", n,
               order[0].pace, order[n / 20].pace, order[n / 2].pace, order[n - 1].pace);
        printf("%-48s %-18s %11s %11s\n", "slowest flows", "job", "Gb/s", "efficiency");
    }
    for (int32_t i = 0; i < n && i < SLOWEST; i++) {
        int32_t f = order[i].flow;
        char text[120];
        snprintf(text, sizeof text, "%.50s -> %.50s", p->fabric->node_name[p->src[f]], p->fabric->node_name[p->dst[f]]);
        printf("%-48s %-18s %11.6g %11.4f\n", text, p->job_name[p->job[f]], v->rate[f], v->pace[f]);
    }
    free(order);
    return 0;
}

int cmd_evaluate(int argc, char **argv)
{
    struct arguments a = { .routes = "ecmp" };
    struct evaluation v = { 0 };
    struct err e = { 0 };
    int status = parse(argc, argv, &a);
    if (status >= 0)
        return status;
    struct arena *arena = arena_new(0, &e);
    int rc = arena ? input_problem(a.problem, &a.set, &v.p, &e) : -1;
    if (rc == 0)
        rc = evaluate(&v, &a, &e);
    if (rc == 0) {
        struct value *doc = document(&v, &a, arena);
        if (arena_failed(arena))
            rc = fail(&e, E_MEMORY, "out of memory for the result");
        else if (a.json)
            rc = table_json(stdout, doc, &e);
        else if ((rc = table_plan(stdout, doc, v.p->fabric, &e)) == 0)
            rc = show_flows(&v, &e);
    }
    arena_free(arena);
    evaluation_free(&v);
    return rc < 0 ? cli_refuse(&e) : EXIT_DONE;
}
