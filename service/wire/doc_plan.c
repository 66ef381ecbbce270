/* Writing a plan: README.md in this folder, keys in its order. What is not known is null: an infeasible plan has no
 * value. */
#include "service/wire/doc_parts.h"

#include <math.h>
#include <stdlib.h>

static const char *const status_word[] = { "optimal", "feasible", "cancelled", "infeasible", "failed" };

static void put_option(struct arena *a, struct value *root, const struct options *o, const char *name)
{
    char text[64];
    options_get(o, name, text, sizeof text);
    value_put(a, root, name, value_text(a, text));
}

static int has_answer(const struct plan *plan)
{
    return plan->status != PLAN_INFEASIBLE && plan->status != PLAN_FAILED && plan->routes;
}

static struct value *real_or_null(struct arena *a, int known, double x)
{
    return value_real(a, known ? x : NAN);
}

static struct value *jobs(const struct problem *p, const struct plan *plan, struct arena *a)
{
    struct value *list = value_list(a, p->njob);
    int known = has_answer(plan) && plan->efficiency, timed = p->kind == DEMAND_BYTES;
    for (int32_t j = 0; j < p->njob && list; j++) {
        double e = known ? plan->efficiency[j] : NAN;
        struct value *job = &list->as.item[j];
        job->kind = VALUE_MAP;
        value_put(a, job, "name", value_text(a, p->job_name[j]));
        value_put(a, job, "seconds", real_or_null(a, known && timed && e > 0, p->ideal[j] / e));
        value_put(a, job, "ideal_seconds", real_or_null(a, timed, p->ideal[j]));
        value_put(a, job, "efficiency", value_real(a, e));
        if (plan->ecmp && has_answer(plan))
            value_put(a, job, "ecmp_efficiency", value_real(a, plan->ecmp[j]));
        if (plan->job_bound && has_answer(plan))
            value_put(a, job, "bound", value_real(a, plan->job_bound[j]));
    }
    return list;
}

static struct value *int_list(struct arena *a, const int32_t *x, int64_t n)
{
    struct value *list = value_list(a, n);
    for (int64_t i = 0; i < n && list; i++) {
        list->as.item[i].kind = VALUE_INT;
        list->as.item[i].as.integer = x[i];
    }
    return list;
}

static struct value *paths(const struct routes *r, int32_t f, struct arena *a)
{
    int64_t first = r ? r->first[f] : 0, n = r ? r->first[f + 1] - first : 0;
    struct value *list = value_list(a, n);
    for (int64_t i = first; i < first + n && list; i++) {
        struct value *path = &list->as.item[i - first];
        path->kind = VALUE_MAP;
        value_put(a, path, "share", value_real(a, r->share[i]));
        value_put(a, path, "arcs", int_list(a, r->arc + r->at[i], r->at[i + 1] - r->at[i]));
        value_put(a, path, "gbps", value_real(a, r->gbps[i]));
    }
    return list;
}

/* A flow's rate is that of its paths together. */
static double flow_rate(const struct routes *r, int32_t f)
{
    double sum = 0;
    for (int64_t i = r ? r->first[f] : 0; r && i < r->first[f + 1]; i++)
        sum += r->gbps[i];
    return sum;
}

static struct value *flows(const struct problem *p, const struct plan *plan, struct arena *a)
{
    const struct routes *r = has_answer(plan) ? plan->routes : NULL;
    struct value *list = value_list(a, p->nflow);
    for (int32_t f = 0; f < p->nflow && list; f++) {
        struct value *flow = &list->as.item[f];
        flow->kind = VALUE_MAP;
        value_put(a, flow, "job", value_text(a, p->job_name[p->job[f]]));
        value_put(a, flow, "src", value_text(a, p->fabric->node_name[p->src[f]]));
        value_put(a, flow, "dst", value_text(a, p->fabric->node_name[p->dst[f]]));
        value_put(a, flow, p->kind == DEMAND_BYTES ? "bytes" : "demand_gbps", value_real(a, p->demand[f]));
        value_put(a, flow, "gbps", value_real(a, flow_rate(r, f)));
        value_put(a, flow, "paths", paths(r, f, a));
    }
    return list;
}

/* Price of every arc, 0 where the certificate is of another kind; caller frees. */
static double *arc_prices(const struct problem *p, const struct certificate *c)
{
    double *price = array(p->fabric->narc, sizeof *price);
    for (int64_t i = 0; price && c->kind == CERT_PRICES && i < c->narc; i++)
        price[c->arc[i]] = c->price[i];
    return price;
}

static struct value *arcs(const struct problem *p, const struct plan *plan, const double *price, struct arena *a)
{
    const double *load = has_answer(plan) ? plan->load : NULL;
    int32_t n = 0;
    for (int32_t i = 0; i < p->fabric->narc; i++)
        n += price[i] > 0 || (load && load[i] > 0);
    struct value *list = value_list(a, n);
    for (int32_t i = 0, k = 0; i < p->fabric->narc && list; i++) {
        if (!(price[i] > 0 || (load && load[i] > 0)))
            continue;
        struct value *arc = &list->as.item[k++];
        arc->kind = VALUE_MAP;
        value_put(a, arc, "arc", value_int(a, i));
        value_put(a, arc, "load", value_real(a, load ? load[i] : 0));
        value_put(a, arc, "price", value_real(a, price[i]));
    }
    return list;
}

static struct value *pairs(const struct certificate *c, struct arena *a)
{
    struct value *list = value_list(a, c->narc);
    for (int64_t i = 0; i < c->narc && list; i++) {
        struct value *pair = value_list(a, 2);
        if (!pair)
            return NULL;
        pair->as.item[0].kind = VALUE_INT;
        pair->as.item[0].as.integer = c->arc[i];
        pair->as.item[1].kind = VALUE_REAL;
        pair->as.item[1].as.real = c->price[i];
        list->as.item[i] = *pair;
    }
    return list;
}

static struct value *certificate(const struct certificate *c, struct arena *a)
{
    static const char *const word[] = { NULL, "prices", "pigeonhole", "cut" };
    if (c->kind == CERT_NONE)
        return value_real(a, NAN);
    struct value *v = value_map(a);
    value_put(a, v, "kind", value_text(a, word[c->kind]));
    if (c->kind == CERT_CUT)
        value_put(a, v, "flow", value_int(a, c->nflow > 0 ? c->flow[0] : -1));
    else
        value_put(a, v, "bound", value_real(a, c->bound));
    if (c->kind == CERT_PRICES) {
        value_put(a, v, "prices", pairs(c, a));
        return v;
    }
    value_put(a, v, "arcs", int_list(a, c->arc, c->narc));
    if (c->kind == CERT_PIGEONHOLE)
        value_put(a, v, "flows", int_list(a, c->flow, c->nflow));
    return v;
}

/* "bound" is what the level's own prices prove; the efficiency is what its jobs reach. */
static struct value *levels(const struct problem *p, const struct plan *plan, struct arena *a)
{
    struct value *list = value_list(a, plan->nlevel);
    for (int32_t i = 0; i < plan->nlevel && list; i++) {
        const struct level *l = &plan->level[i];
        struct value *level = &list->as.item[i], *names = value_list(a, l->njob);
        level->kind = VALUE_MAP;
        for (int32_t k = 0; k < l->njob && names; k++) {
            struct value *name = value_text(a, p->job_name[l->job[k]]);
            if (name)
                names->as.item[k] = *name;
        }
        value_put(a, level, "efficiency", value_real(a, l->efficiency));
        value_put(a, level, "jobs", names);
        value_put(a, level, "bound", value_real(a, l->proof.bound));
        value_put(a, level, "prices", pairs(&l->proof, a));
    }
    return list;
}

static struct value *solver(const struct solver_info *info, struct arena *a)
{
    struct value *v = value_map(a), *seconds = value_map(a);
    value_put(a, v, "version", value_text(a, HEDDLE_VERSION));
    value_put(a, v, "ranks", value_int(a, info->ranks));
    value_put(a, v, "pods", value_int(a, info->pods));
    value_put(a, v, "rounds", value_int(a, info->rounds));
    value_put(a, v, "cut_arcs", value_int(a, info->cut_arcs));
    value_put(a, seconds, "read", value_real(a, info->seconds_read));
    value_put(a, seconds, "partition", value_real(a, info->seconds_partition));
    value_put(a, seconds, "solve", value_real(a, info->seconds_solve));
    value_put(a, seconds, "round", value_real(a, info->seconds_round));
    value_put(a, seconds, "total", value_real(a, info->seconds_total));
    value_put(a, v, "seconds", seconds);
    value_put(a, v, "peak_bytes_per_rank", value_int(a, info->peak_bytes_per_rank));
    return v;
}

int doc_plan_write(const struct problem *p, const struct plan *plan, struct arena *a, struct value **out, struct err *e)
{
    int known = has_answer(plan), proven = known && plan->certificate.kind != CERT_NONE;
    double *price = arc_prices(p, &plan->certificate);
    struct value *root = price ? value_map(a) : NULL;
    if (root) {
        value_put(a, root, "heddle", value_int(a, 1));
        put_option(a, root, &p->options, "objective");
        put_option(a, root, &p->options, "routing");
        value_put(a, root, "status", value_text(a, status_word[plan->status]));
        value_put(a, root, "value", real_or_null(a, known, plan->value));
        value_put(a, root, "bound", real_or_null(a, proven, plan->bound));
        value_put(a, root, "gap", real_or_null(a, proven, plan->gap));
        value_put(a, root, "jobs", jobs(p, plan, a));
        value_put(a, root, "flows", flows(p, plan, a));
        value_put(a, root, "arcs", arcs(p, plan, price, a));
        if (known && plan->tables)
            value_put(a, root, "tables", doc_tables_write(p->fabric, plan->tables, a));
        value_put(a, root, "certificate", certificate(&plan->certificate, a));
        if (plan->nlevel > 0)
            value_put(a, root, "levels", levels(p, plan, a));
        value_put(a, root, "solver", solver(&plan->info, a));
    }
    free(price);
    if (!root || arena_failed(a))
        return fail(e, E_MEMORY, "out of memory for the document of a plan of %d flows", p->nflow);
    *out = root;
    return 0;
}
