/* Reading a plan: its routes, what it states about them, and its certificate. What it says about its making is left
 * unread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/wire/doc_parts.h"

enum {
    PLAN_HEDDLE,
    PLAN_OBJECTIVE,
    PLAN_ROUTING,
    PLAN_STATUS,
    PLAN_VALUE,
    PLAN_BOUND,
    PLAN_GAP,
    PLAN_JOBS,
    PLAN_FLOWS,
    PLAN_ARCS,
    PLAN_CERTIFICATE,
    PLAN_LEVELS,
    PLAN_SOLVER,
    PLAN_TABLES,
    PLAN_FIELDS
};
static const struct field plan_field[PLAN_FIELDS] = {
    { "heddle", CELL_INT, 0 },  { "objective", CELL_TEXT, 1 },  { "routing", CELL_TEXT, 1 },
    { "status", CELL_TEXT, 1 }, { "value", CELL_REAL, 1 },      { "bound", CELL_REAL, 1 },
    { "gap", CELL_REAL, 0 },    { "jobs", CELL_LIST, 1 },       { "flows", CELL_LIST, 1 },
    { "arcs", CELL_LIST, 0 },   { "certificate", CELL_ANY, 0 }, { "levels", CELL_LIST, 0 },
    { "solver", CELL_ANY, 0 },  { "tables", CELL_ANY, 0 },
};

enum { JOB_NAME, JOB_SECONDS, JOB_IDEAL, JOB_EFFICIENCY, JOB_ECMP, JOB_BOUND, JOB_FIELDS };
static const struct field job_field[JOB_FIELDS] = {
    { "name", CELL_TEXT, 1 },       { "seconds", CELL_REAL, 0 },         { "ideal_seconds", CELL_REAL, 0 },
    { "efficiency", CELL_REAL, 1 }, { "ecmp_efficiency", CELL_REAL, 0 }, { "bound", CELL_REAL, 0 },
};

enum { FLOW_JOB, FLOW_SRC, FLOW_DST, FLOW_BYTES, FLOW_DEMAND, FLOW_GBPS, FLOW_PATHS, FLOW_FIELDS };
static const struct field flow_field[FLOW_FIELDS] = {
    { "job", CELL_TEXT, 0 },         { "src", CELL_NODE, 1 },  { "dst", CELL_NODE, 1 },   { "bytes", CELL_REAL, 0 },
    { "demand_gbps", CELL_REAL, 0 }, { "gbps", CELL_REAL, 0 }, { "paths", CELL_LIST, 1 },
};

enum { PATH_SHARE, PATH_ARCS, PATH_GBPS, PATH_FIELDS };
static const struct field path_field[PATH_FIELDS] = {
    { "share", CELL_REAL, 1 },
    { "arcs", CELL_LIST, 1 },
    { "gbps", CELL_REAL, 0 },
};

enum { ARC_ARC, ARC_LOAD, ARC_PRICE, ARC_FIELDS };
static const struct field arc_field[ARC_FIELDS] = {
    { "arc", CELL_INT, 1 },
    { "load", CELL_REAL, 0 },
    { "price", CELL_REAL, 0 },
};

enum { CERT_KIND, CERT_BOUND, CERT_PRICE, CERT_ARCS, CERT_FLOWS, CERT_FLOW, CERT_FIELDS };
static const struct field cert_field[CERT_FIELDS] = {
    { "kind", CELL_TEXT, 1 }, { "bound", CELL_REAL, 0 }, { "prices", CELL_LIST, 0 },
    { "arcs", CELL_LIST, 0 }, { "flows", CELL_LIST, 0 }, { "flow", CELL_INT, 0 },
};

enum { LEVEL_EFFICIENCY, LEVEL_JOBS, LEVEL_BOUND, LEVEL_PRICES, LEVEL_FIELDS };
static const struct field level_field[LEVEL_FIELDS] = {
    { "efficiency", CELL_REAL, 1 },
    { "jobs", CELL_LIST, 1 },
    { "bound", CELL_REAL, 0 },
    { "prices", CELL_LIST, 1 },
};

/* A number that may be null (not known): NaN. */
static int read_real(const struct value *v, const char *key, double *out, struct err *e)
{
    *out = NAN;
    return v && v->kind == VALUE_NULL ? 0 : cell_real(v, key, out, e);
}

static int want_list(const struct value *v, const char *key, struct err *e)
{
    char said[100];
    if (v && v->kind == VALUE_LIST)
        return 0;
    return fail(e, E_INPUT, "%s %s is not a list", key, value_say(v, said, sizeof said));
}

static int same_name(const struct value *v, const char *key, const char *name, struct err *e)
{
    char said[100];
    if (v && (v->kind != VALUE_TEXT || strcmp(v->as.bytes, name) != 0))
        return fail(e, E_INPUT, "%s is %s, the problem has \"%s\"", key, value_say(v, said, sizeof said), name);
    return 0;
}

static int read_status(const struct value *v, enum plan_status *status, struct err *e)
{
    static const char *const word[] = { "optimal", "feasible", "cancelled", "infeasible", "failed" };
    char said[100];
    for (int i = 0; i < 5; i++)
        if (v->kind == VALUE_TEXT && !strcmp(v->as.bytes, word[i])) {
            *status = (enum plan_status)i;
            return 0;
        }
    return fail(e, E_INPUT, "status %s is none of optimal, feasible, cancelled, infeasible, failed",
                value_say(v, said, sizeof said));
}

static int read_jobs(const struct value *v, const struct problem *p, struct plan *plan, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    if (want_list(v, "jobs", e) < 0)
        return -1;
    if (v->n != p->njob)
        return fail(e, E_INPUT, "jobs: %lld in the plan, %d in the problem", (long long)v->n, p->njob);
    plan->efficiency = array(p->njob, sizeof *plan->efficiency);
    plan->ecmp = array(p->njob, sizeof *plan->ecmp);
    if (!plan->efficiency || !plan->ecmp)
        return fail(e, E_MEMORY, "out of memory for %d jobs", p->njob);
    int ecmp = 1;
    for (int32_t j = 0; j < p->njob; j++) {
        if (fields_read(&v->as.item[j], job_field, JOB_FIELDS, cell, e) < 0 ||
            same_name(cell[JOB_NAME], "name", p->job_name[j], e) < 0 ||
            read_real(cell[JOB_EFFICIENCY], "efficiency", &plan->efficiency[j], e) < 0 ||
            read_real(cell[JOB_ECMP], "ecmp_efficiency", &plan->ecmp[j], e) < 0)
            return fail_at(e, "jobs[%d]: ", j);
        ecmp &= cell[JOB_ECMP] && cell[JOB_ECMP]->kind != VALUE_NULL;
    }
    if (!ecmp) {
        free(plan->ecmp);
        plan->ecmp = NULL;
    }
    return 0;
}

/* Numbers in [0, limit) into out[v->n]. */
static int read_indices(const struct value *v, const char *key, int32_t limit, int32_t *out, struct err *e)
{
    for (int64_t i = 0; i < v->n; i++)
        if (cell_int(&v->as.item[i], key, 0, (int64_t)limit - 1, &out[i], e) < 0)
            return -1;
    return 0;
}

/* First pass: how much room the paths of one flow take. */
static int measure_paths(const struct value *v, int64_t *npath, int64_t *narc, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    if (want_list(v, "paths", e) < 0)
        return -1;
    for (int64_t k = 0; k < v->n; k++) {
        if (fields_read(&v->as.item[k], path_field, PATH_FIELDS, cell, e) < 0 ||
            want_list(cell[PATH_ARCS], "arcs", e) < 0)
            return fail_at(e, "paths[%lld]: ", (long long)k);
        *narc += cell[PATH_ARCS]->n;
    }
    *npath += v->n;
    return 0;
}

static int measure_flows(const struct value *v, const struct problem *p, int64_t *npath, int64_t *narc, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    if (want_list(v, "flows", e) < 0)
        return -1;
    if (v->n != p->nflow)
        return fail(e, E_INPUT, "flows: %lld in the plan, %d in the problem", (long long)v->n, p->nflow);
    for (int32_t f = 0; f < p->nflow; f++)
        if (fields_read(&v->as.item[f], flow_field, FLOW_FIELDS, cell, e) < 0 ||
            same_name(cell[FLOW_JOB], "job", p->job_name[p->job[f]], e) < 0 ||
            same_name(cell[FLOW_SRC], "src", p->fabric->node_name[p->src[f]], e) < 0 ||
            same_name(cell[FLOW_DST], "dst", p->fabric->node_name[p->dst[f]], e) < 0 ||
            measure_paths(cell[FLOW_PATHS], npath, narc, e) < 0)
            return fail_at(e, "flows[%d]: ", f);
    return 0;
}

/* Second pass: path k of a flow becomes path i of the routes, whose arcs begin at at[i]. */
static int fill_path(const struct value *v, const struct fabric *f, struct routes *r, int64_t i, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    if (fields_read(v, path_field, PATH_FIELDS, cell, e) < 0 ||
        cell_real(cell[PATH_SHARE], "share", &r->share[i], e) < 0)
        return -1;
    if (cell[PATH_GBPS] && cell[PATH_GBPS]->kind != VALUE_NULL &&
        cell_real(cell[PATH_GBPS], "gbps", &r->gbps[i], e) < 0)
        return -1;
    r->at[i + 1] = r->at[i] + cell[PATH_ARCS]->n;
    return read_indices(cell[PATH_ARCS], "arc", f->narc, r->arc + r->at[i], e);
}

static int read_flows(const struct value *v, const struct problem *p, struct plan *plan, struct err *e)
{
    int64_t npath = 0, narc = 0, i = 0;
    if (measure_flows(v, p, &npath, &narc, e) < 0)
        return -1;
    struct routes *r = plan->routes = routes_new(p->nflow, npath, narc, e);
    if (!r)
        return -1;
    for (int32_t f = 0; f < p->nflow; f++) {
        const struct value *paths = value_get(&v->as.item[f], "paths");
        for (int64_t k = 0; k < paths->n; k++, i++)
            if (fill_path(&paths->as.item[k], p->fabric, r, i, e) < 0)
                return fail_at(e, "flows[%d].paths[%lld]: ", f, (long long)k);
        r->first[f + 1] = i;
    }
    return 0;
}

static int read_arcs(const struct value *v, const struct problem *p, struct plan *plan, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    struct table t;
    int32_t a = 0;
    if (!(plan->load = array(p->fabric->narc, sizeof *plan->load)))
        return fail(e, E_MEMORY, "out of memory for loads of %d arcs", p->fabric->narc);
    if (table_open(&t, arc_field, ARC_FIELDS, v, e) < 0)
        return fail_at(e, "arcs: ");
    for (int32_t i = 0; i < t.n; i++) {
        double load = 0;
        if (table_row(&t, i, cell, e) < 0 ||
            cell_int(cell[ARC_ARC], "arc", 0, (int64_t)p->fabric->narc - 1, &a, e) < 0 ||
            cell_real(cell[ARC_LOAD], "load", &load, e) < 0)
            return fail_at(e, "arcs[%d]: ", i);
        plan->load[a] = load;
    }
    return 0;
}

/* [[arc, price], ...], arcs ascending; prices of 0 say nothing and are dropped. */
static int read_prices(const struct value *v, int32_t narc, struct certificate *c, struct err *e)
{
    if (want_list(v, "prices", e) < 0)
        return -1;
    c->kind = CERT_PRICES;
    c->arc = array(v->n, sizeof *c->arc);
    c->price = array(v->n, sizeof *c->price);
    if (!c->arc || !c->price)
        return fail(e, E_MEMORY, "out of memory for %lld prices", (long long)v->n);
    int32_t last = -1;
    for (int64_t i = 0; i < v->n; i++) {
        const struct value *pair = &v->as.item[i];
        int32_t arc = 0;
        double price = 0;
        if (pair->kind != VALUE_LIST || pair->n != 2)
            return fail(e, E_INPUT, "prices[%lld]: not an [arc, price] pair", (long long)i);
        if (cell_int(&pair->as.item[0], "arc", 0, (int64_t)narc - 1, &arc, e) < 0 ||
            cell_real(&pair->as.item[1], "price", &price, e) < 0)
            return fail_at(e, "prices[%lld]: ", (long long)i);
        if (arc <= last)
            return fail(e, E_INPUT, "prices[%lld]: arc %d after arc %d; arcs ascend", (long long)i, arc, last);
        last = arc;
        if (price > 0) {
            c->arc[c->narc] = arc;
            c->price[c->narc++] = price;
        }
    }
    return 0;
}

static int read_arc_list(const struct value *v, const struct problem *p, struct certificate *c, struct err *e)
{
    if (want_list(v, "arcs", e) < 0)
        return -1;
    if (!(c->arc = array(v->n, sizeof *c->arc)))
        return fail(e, E_MEMORY, "out of memory for %lld arcs", (long long)v->n);
    c->narc = v->n;
    return read_indices(v, "arc", p->fabric->narc, c->arc, e);
}

static int read_pigeonhole(const struct value **cell, const struct problem *p, struct certificate *c, struct err *e)
{
    const struct value *flows = cell[CERT_FLOWS];
    c->kind = CERT_PIGEONHOLE;
    if (read_arc_list(cell[CERT_ARCS], p, c, e) < 0 || want_list(flows, "flows", e) < 0)
        return -1;
    if (!(c->flow = array(flows->n, sizeof *c->flow)))
        return fail(e, E_MEMORY, "out of memory for %lld flows", (long long)flows->n);
    c->nflow = flows->n;
    return read_indices(flows, "flow", p->nflow, c->flow, e);
}

static int read_cut(const struct value **cell, const struct problem *p, struct certificate *c, struct err *e)
{
    c->kind = CERT_CUT;
    if (!cell[CERT_FLOW])
        return fail(e, E_INPUT, "key \"flow\" is missing");
    if (read_arc_list(cell[CERT_ARCS], p, c, e) < 0)
        return -1;
    if (!(c->flow = array(1, sizeof *c->flow)))
        return fail(e, E_MEMORY, "out of memory for a flow");
    c->nflow = 1;
    return cell_int(cell[CERT_FLOW], "flow", 0, (int64_t)p->nflow - 1, c->flow, e);
}

static int read_certificate(const struct value *v, const struct problem *p, struct certificate *c, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    char said[100];
    const char *kind = NULL;
    if (!v || v->kind == VALUE_NULL)
        return 0;
    if (fields_read(v, cert_field, CERT_FIELDS, cell, e) < 0 || cell_text(cell[CERT_KIND], "kind", &kind, e) < 0 ||
        read_real(cell[CERT_BOUND], "bound", &c->bound, e) < 0)
        return -1;
    if (!strcmp(kind, "prices"))
        return read_prices(cell[CERT_PRICE], p->fabric->narc, c, e);
    if (!strcmp(kind, "pigeonhole"))
        return read_pigeonhole(cell, p, c, e);
    if (!strcmp(kind, "cut"))
        return read_cut(cell, p, c, e);
    return fail(e, E_INPUT, "kind %s is none of prices, pigeonhole, cut",
                value_say(cell[CERT_KIND], said, sizeof said));
}

static int read_level(const struct value *v, const struct problem *p, const struct names *job, struct level *l,
                      struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    char said[100];
    if (fields_read(v, level_field, LEVEL_FIELDS, cell, e) < 0 ||
        read_real(cell[LEVEL_EFFICIENCY], "efficiency", &l->efficiency, e) < 0 ||
        want_list(cell[LEVEL_JOBS], "jobs", e) < 0)
        return -1;
    const struct value *names = cell[LEVEL_JOBS];
    if (names->n > p->njob)
        return fail(e, E_INPUT, "jobs: %lld in the level, %d in the problem", (long long)names->n, p->njob);
    if (!(l->job = array(names->n, sizeof *l->job)))
        return fail(e, E_MEMORY, "out of memory for %lld jobs", (long long)names->n);
    for (; l->njob < names->n; l->njob++) {
        const struct value *name = &names->as.item[l->njob];
        int64_t j = name->kind == VALUE_TEXT ? names_find(job, name->as.bytes) : -1;
        if (j < 0)
            return fail(e, E_INPUT, "jobs[%d]: %s is no job of the problem", l->njob,
                        value_say(name, said, sizeof said));
        l->job[l->njob] = (int32_t)j;
    }
    if (read_prices(cell[LEVEL_PRICES], p->fabric->narc, &l->proof, e) < 0)
        return -1;
    l->proof.bound = l->efficiency;
    return cell[LEVEL_BOUND] ? read_real(cell[LEVEL_BOUND], "bound", &l->proof.bound, e) : 0;
}

static int read_levels(const struct value *v, const struct problem *p, struct plan *plan, struct err *e)
{
    if (!v)
        return 0;
    if (want_list(v, "levels", e) < 0)
        return -1;
    if (v->n > p->njob)
        return fail(e, E_INPUT, "levels: %lld of them for %d jobs", (long long)v->n, p->njob);
    struct names *job = names_new(e);
    int rc = job && (plan->level = array(v->n, sizeof *plan->level))
                 ? 0
                 : fail(e, E_MEMORY, "out of memory for %lld levels", (long long)v->n);
    for (int32_t j = 0; j < p->njob && rc == 0; j++)
        rc = names_add(job, p->job_name[j], j, e) < 0 ? -1 : 0;
    for (int32_t i = 0; i < v->n && rc == 0; i++) {
        plan->nlevel = i + 1;
        if (read_level(&v->as.item[i], p, job, &plan->level[i], e) < 0)
            rc = fail_at(e, "levels[%d]: ", i);
    }
    names_free(job);
    return rc;
}

int doc_plan_options(const struct value *v, struct options *o, struct err *e)
{
    static const char *const key[] = { "objective", "routing" };
    char said[100];
    for (int i = 0; i < 2; i++) {
        const struct value *word = value_get(v, key[i]);
        if (!word || word->kind != VALUE_TEXT || word->n > 40)
            return fail(e, E_INPUT, "%s %s is not a word", key[i], value_say(word, said, sizeof said));
        value_say(word, said, sizeof said);
        said[strlen(said) - 1] = 0;
        if (options_set(o, key[i], said + 1, e) < 0)
            return -1;
    }
    return 0;
}

int doc_plan(const struct value *v, const struct problem *p, struct plan **out, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    if (fields_read(v, plan_field, PLAN_FIELDS, cell, e) < 0 || doc_version(cell[PLAN_HEDDLE], e) < 0)
        return -1;
    struct plan *plan = array(1, sizeof *plan);
    if (!plan)
        return fail(e, E_MEMORY, "out of memory for a plan");
    if (read_status(cell[PLAN_STATUS], &plan->status, e) < 0 ||
        read_real(cell[PLAN_VALUE], "value", &plan->value, e) < 0 ||
        read_real(cell[PLAN_BOUND], "bound", &plan->bound, e) < 0 ||
        read_real(cell[PLAN_GAP], "gap", &plan->gap, e) < 0 || read_jobs(cell[PLAN_JOBS], p, plan, e) < 0 ||
        read_flows(cell[PLAN_FLOWS], p, plan, e) < 0 || read_arcs(cell[PLAN_ARCS], p, plan, e) < 0)
        goto refused;
    if (cell[PLAN_TABLES] && doc_tables(cell[PLAN_TABLES], p->fabric, &plan->tables, e) < 0)
        goto refused;
    if (read_certificate(cell[PLAN_CERTIFICATE], p, &plan->certificate, e) < 0) {
        fail_at(e, "certificate: ");
        goto refused;
    }
    if (read_levels(cell[PLAN_LEVELS], p, plan, e) < 0)
        goto refused;
    *out = plan;
    return 0;
refused:
    plan_free(plan);
    return -1;
}
