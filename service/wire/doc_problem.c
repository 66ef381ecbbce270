/* Reading a problem: the fabric, then jobs one by one (collectives expanded before the job's own flows), then options.
 */
#include "service/wire/doc_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/model/collective.h"

enum { ROOT_HEDDLE, ROOT_FABRIC, ROOT_JOBS, ROOT_OPTIONS, ROOT_FIELDS };
static const struct field root_field[ROOT_FIELDS] = {
    { "heddle", CELL_INT, 0 },
    { "fabric", CELL_ANY, 1 },
    { "jobs", CELL_LIST, 1 },
    { "options", CELL_ANY, 0 },
};

enum { JOB_NAME, JOB_WEIGHT, JOB_COLLECTIVES, JOB_FLOWS, JOB_FIELDS };
static const struct field job_field[JOB_FIELDS] = {
    { "name", CELL_TEXT, 0 },
    { "weight", CELL_REAL, 0 },
    { "collectives", CELL_LIST, 0 },
    { "flows", CELL_ANY, 0 },
};

enum { COLL_OP, COLL_ALGORITHM, COLL_BYTES, COLL_RANKS, COLL_CHANNELS, COLL_FIELDS };
static const struct field collective_field[COLL_FIELDS] = {
    { "op", CELL_TEXT, 1 },    { "algorithm", CELL_TEXT, 0 }, { "bytes", CELL_REAL, 1 },
    { "ranks", CELL_LIST, 1 }, { "channels", CELL_INT, 0 },
};

enum { FLOW_SRC, FLOW_DST, FLOW_BYTES, FLOW_GBPS, FLOW_PATHS, FLOW_FIELDS };
static const struct field flow_field[FLOW_FIELDS] = {
    { "src", CELL_NODE, 1 },  { "dst", CELL_NODE, 1 },   { "bytes", CELL_REAL, 0 },
    { "gbps", CELL_REAL, 0 }, { "paths", CELL_LIST, 0 },
};

/* What is known so far; becomes the problem at the end. */
struct builder {
    struct fabric *fabric;
    struct names *node, *job;
    struct transfers flow; /* demands of either kind */
    int kind;              /* enum demand_kind, -1 while no demand has been seen */
    char first[80];        /* where the first demand stood */
    int32_t *job_first;    /* [njob + 1] */
    int32_t *job_expanded; /* [njob] flows that came from collectives */
    char **job_name;       /* [njob], owned */
    double *job_weight;    /* [njob] */
    int32_t njob;          /* read so far */
    int64_t *flow_list;    /* flow_list[f + 1]: listed paths up to and with flow f; as long as any flow listed some */
    int64_t flow_list_room;
    int64_t *list_at; /* list_at[i + 1]: end of path i */
    int64_t list_at_room, nlist;
    int32_t *list_arc;
    int64_t list_arc_room, narc;
};

static void builder_free(struct builder *b)
{
    fabric_free(b->fabric);
    names_free(b->node);
    names_free(b->job);
    transfers_free(&b->flow);
    for (int32_t j = 0; b->job_name && j < b->njob; j++)
        free(b->job_name[j]);
    free(b->job_first);
    free(b->job_expanded);
    free(b->job_name);
    free(b->job_weight);
    free(b->flow_list);
    free(b->list_at);
    free(b->list_arc);
}

/* One kind of demand in the whole problem. place is "jobs[j]", what says which part of it. */
static int set_kind(struct builder *b, enum demand_kind kind, const char *part, int32_t i, struct err *e)
{
    static const char *const word[] = { "bytes", "gbps" };
    if (b->kind < 0) {
        b->kind = kind;
        snprintf(b->first, sizeof b->first, "jobs[%d].%s[%d]", b->njob, part, i);
    }
    if (b->kind != (int)kind)
        return fail(e, E_INPUT, "demand in %s, but %s gave %s: a problem has one kind", word[kind], b->first,
                    word[b->kind]);
    return 0;
}

static int read_ranks(const struct builder *b, const struct value *v, int32_t **out, struct err *e)
{
    char said[100];
    struct node_index nodes = { b->node, b->fabric->nnode };
    if (v->kind != VALUE_LIST || v->n > INT32_MAX)
        return fail(e, E_INPUT, "ranks %s is not a list of nodes", value_say(v, said, sizeof said));
    if (!(*out = array(3 * v->n, sizeof **out)))
        return fail(e, E_MEMORY, "out of memory for %lld ranks", (long long)v->n);
    for (int64_t i = 0; i < v->n; i++) {
        char key[32];
        snprintf(key, sizeof key, "ranks[%d]", (int)i);
        if (cell_node(&v->as.item[i], key, &nodes, &(*out)[i], e) < 0)
            return -1;
    }
    return 0;
}

/* The node array has room for host and rail of each rank behind it. */
static void label_ranks(const struct fabric *f, struct collective *c, int32_t *rank)
{
    int32_t n = c->nrank;
    for (int32_t i = 0; i < n; i++) {
        rank[n + i] = f->host.of[rank[i]];
        rank[2 * n + i] = f->node_rail[rank[i]];
    }
    c->rank = rank;
    c->host = rank + n;
    c->rail = rank + 2 * n;
}

static int read_collective(struct builder *b, const struct value *v, int32_t i, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    const char *op = NULL, *algorithm = NULL;
    struct collective c = { .channels = 1 };
    int32_t *rank = NULL;
    if (fields_read(v, collective_field, COLL_FIELDS, cell, e) < 0 ||
        set_kind(b, DEMAND_BYTES, "collectives", i, e) < 0 || cell_name(cell[COLL_OP], "op", &op, e) < 0 ||
        cell_name(cell[COLL_ALGORITHM], "algorithm", &algorithm, e) < 0 || collective_named(op, algorithm, &c, e) < 0 ||
        cell_real(cell[COLL_BYTES], "bytes", &c.bytes, e) < 0 ||
        cell_int(cell[COLL_CHANNELS], "channels", 1, 64, &c.channels, e) < 0)
        return -1;
    int rc = read_ranks(b, cell[COLL_RANKS], &rank, e);
    if (rc == 0) {
        c.nrank = (int32_t)cell[COLL_RANKS]->n;
        label_ranks(b->fabric, &c, rank);
        rc = collective_expand(&c, &b->flow, e);
    }
    free(rank);
    return rc;
}

static int read_path(struct builder *b, const struct value *v, int64_t k, struct err *e)
{
    char said[100], key[40];
    void *at = b->list_at, *arc = b->list_arc;
    snprintf(key, sizeof key, "paths[%lld]", (long long)k);
    if (v->kind != VALUE_LIST)
        return fail(e, E_INPUT, "%s %s is not a list of arcs", key, value_say(v, said, sizeof said));
    if (array_grow(&at, &b->list_at_room, b->nlist + 2, sizeof *b->list_at) < 0)
        return fail(e, E_MEMORY, "out of memory for %lld paths", (long long)b->nlist);
    b->list_at = at;
    if (array_grow(&arc, &b->list_arc_room, b->narc + v->n, sizeof *b->list_arc) < 0)
        return fail(e, E_MEMORY, "out of memory for arcs of %lld paths", (long long)b->nlist);
    b->list_arc = arc;
    snprintf(key, sizeof key, "paths[%lld]: arc", (long long)k);
    for (int64_t i = 0; i < v->n; i++)
        if (cell_int(&v->as.item[i], key, 0, (int64_t)b->fabric->narc - 1, &b->list_arc[b->narc++], e) < 0)
            return -1;
    b->list_at[++b->nlist] = b->narc;
    return 0;
}

/* The allowed paths of the newest flow; none, null or an empty list: the path policy decides. */
static int read_paths(struct builder *b, const struct value *v, struct err *e)
{
    char said[100];
    if (!v || v->kind == VALUE_NULL)
        return 0;
    if (v->kind != VALUE_LIST)
        return fail(e, E_INPUT, "paths %s is not a list of lists of arcs", value_say(v, said, sizeof said));
    for (int64_t k = 0; k < v->n; k++)
        if (read_path(b, &v->as.item[k], k, e) < 0)
            return -1;
    return 0;
}

static int read_flow(struct builder *b, const struct value **cell, int32_t i, struct err *e)
{
    struct node_index nodes = { b->node, b->fabric->nnode };
    int32_t src = 0, dst = 0;
    double demand = 0;
    if (!cell[FLOW_BYTES] == !cell[FLOW_GBPS])
        return fail(e, E_INPUT,
                    cell[FLOW_BYTES] ? "both \"bytes\" and \"gbps\" are given"
                                     : "neither \"bytes\" nor \"gbps\" is given");
    if (cell_node(cell[FLOW_SRC], "src", &nodes, &src, e) < 0 ||
        cell_node(cell[FLOW_DST], "dst", &nodes, &dst, e) < 0 ||
        set_kind(b, cell[FLOW_BYTES] ? DEMAND_BYTES : DEMAND_GBPS, "flows", i, e) < 0 ||
        cell_real(cell[FLOW_BYTES], "bytes", &demand, e) < 0 || cell_real(cell[FLOW_GBPS], "gbps", &demand, e) < 0 ||
        transfers_add(&b->flow, src, dst, demand, e) < 0)
        return -1;
    void *list = b->flow_list;
    if (array_grow(&list, &b->flow_list_room, b->flow.n + 1, sizeof *b->flow_list) < 0)
        return fail(e, E_MEMORY, "out of memory for %lld flows", (long long)b->flow.n);
    b->flow_list = list;
    if (read_paths(b, cell[FLOW_PATHS], e) < 0)
        return -1;
    b->flow_list[b->flow.n] = b->nlist;
    return 0;
}

static int read_collectives(struct builder *b, const struct value *v, struct err *e)
{
    char said[100];
    if (!v)
        return 0;
    if (v->kind != VALUE_LIST)
        return fail(e, E_INPUT, "collectives: %s where a list is expected", value_say(v, said, sizeof said));
    for (int64_t i = 0; i < v->n; i++)
        if (read_collective(b, &v->as.item[i], (int32_t)i, e) < 0)
            return fail_at(e, "collectives[%lld]: ", (long long)i);
    /* Expanded flows list no paths: as many listed as before. */
    void *list = b->flow_list;
    int64_t old = b->job_first[b->njob];
    if (array_grow(&list, &b->flow_list_room, b->flow.n + 1, sizeof *b->flow_list) < 0)
        return fail(e, E_MEMORY, "out of memory for %lld flows", (long long)b->flow.n);
    b->flow_list = list;
    for (int64_t f = old; f < b->flow.n; f++)
        b->flow_list[f + 1] = b->nlist;
    return 0;
}

static int read_flows(struct builder *b, const struct value *v, struct err *e)
{
    struct table t;
    const struct value *cell[MAX_FIELDS];
    if (table_open(&t, flow_field, FLOW_FIELDS, v, e) < 0)
        return fail_at(e, "flows: ");
    for (int32_t i = 0; i < t.n; i++)
        if (table_row(&t, i, cell, e) < 0 || read_flow(b, cell, i, e) < 0)
            return fail_at(e, "flows[%d]: ", i);
    return 0;
}

static int read_job_name(struct builder *b, const struct value *v, struct err *e)
{
    char number[16];
    const char *name = number;
    snprintf(number, sizeof number, "%d", b->njob);
    if (cell_name(v, "name", &name, e) < 0)
        return fail_at(e, ".");
    int added = names_add(b->job, name, b->njob, e);
    if (added > 0)
        return fail(e, E_INPUT, ".name \"%s\" is taken by jobs[%lld]", name, (long long)names_find(b->job, name));
    if (added < 0)
        return -1;
    if (!(b->job_name[b->njob] = text_copy(name)))
        return fail(e, E_MEMORY, "out of memory for job \"%s\"", name);
    return 0;
}

/* Messages begin with what stands behind "jobs[j]". */
static int read_job(struct builder *b, const struct value *v, struct err *e)
{
    const struct value *cell[MAX_FIELDS];
    int32_t j = b->njob;
    b->job_weight[j] = 1;
    if (fields_read(v, job_field, JOB_FIELDS, cell, e) < 0 ||
        cell_real(cell[JOB_WEIGHT], "weight", &b->job_weight[j], e) < 0)
        return fail_at(e, ": ");
    if (read_job_name(b, cell[JOB_NAME], e) < 0)
        return -1;
    if (read_collectives(b, cell[JOB_COLLECTIVES], e) < 0)
        return fail_at(e, ".");
    b->job_expanded[j] = (int32_t)b->flow.n - b->job_first[j];
    if (read_flows(b, cell[JOB_FLOWS], e) < 0)
        return fail_at(e, ".");
    b->job_first[j + 1] = (int32_t)b->flow.n;
    return 0;
}

static int read_jobs(struct builder *b, const struct value *v, struct err *e)
{
    char said[100];
    if (v->kind != VALUE_LIST || v->n > INT32_MAX)
        return fail(e, E_INPUT, "jobs: %s where a list of jobs is expected", value_say(v, said, sizeof said));
    b->job_first = array(v->n + 1, sizeof *b->job_first);
    b->job_expanded = array(v->n, sizeof *b->job_expanded);
    b->job_name = array(v->n, sizeof *b->job_name);
    b->job_weight = array(v->n, sizeof *b->job_weight);
    if (!b->job_first || !b->job_expanded || !b->job_name || !b->job_weight || !(b->job = names_new(e)))
        return fail(e, E_MEMORY, "out of memory for %lld jobs", (long long)v->n);
    for (int64_t j = 0; j < v->n; j++) {
        if (read_job(b, &v->as.item[j], e) < 0) {
            free(b->job_name[j]);
            b->job_name[j] = NULL;
            return fail_at(e, "jobs[%lld]", (long long)j);
        }
        b->njob++;
    }
    return 0;
}

static int set_option(struct options *o, const char *key, const struct value *v, struct err *e)
{
    char text[80], said[100];
    struct value name = { .kind = VALUE_TEXT, .n = (int64_t)strlen(key), .as.bytes = (char *)key };
    const struct option_row *row = option_table;
    while (row->name && strcmp(row->name, key) != 0)
        row++;
    if (!row->name) { /* as it can be printed on one line */
        value_say(&name, said, sizeof said);
        said[strlen(said) - 1] = 0;
        return options_set(o, said + 1, "", e);
    }
    if (v->kind == VALUE_INT)
        snprintf(text, sizeof text, "%lld", (long long)v->as.integer);
    else if (v->kind == VALUE_REAL)
        snprintf(text, sizeof text, "%.17g", v->as.real);
    else if (v->kind == VALUE_TEXT && v->n < 60 && !strchr(value_say(v, said, sizeof said), '?'))
        snprintf(text, sizeof text, "%s", v->as.bytes);
    else
        return fail(e, E_INPUT, "option %.30s: %s is neither a number nor a word", key,
                    value_say(v, said, sizeof said));
    return options_set(o, key, text, e);
}

int doc_options(const struct value *v, struct options *o, struct err *e)
{
    char said[100];
    if (!v)
        return 0;
    if (v->kind != VALUE_MAP)
        return fail(e, E_INPUT, "options: %s where an object is expected", value_say(v, said, sizeof said));
    for (int64_t i = 0; i < v->n; i++)
        if (set_option(o, v->as.pair[i].key, v->as.pair[i].value, e) < 0)
            return -1;
    return 0;
}

int doc_version(const struct value *v, struct err *e)
{
    char said[100];
    if (v && !(v->kind == VALUE_INT && v->as.integer == 1))
        return fail(e, E_INPUT, "heddle: version %s is not read here, only 1", value_say(v, said, sizeof said));
    return 0;
}

/* Hand everything to a problem; the builder keeps what it still owns. */
static struct problem *build(struct builder *b, struct err *e)
{
    struct problem *p = problem_new(b->fabric, b->njob, (int32_t)b->flow.n, e);
    b->fabric = NULL;
    if (!p)
        return NULL;
    p->kind = b->kind == DEMAND_GBPS ? DEMAND_GBPS : DEMAND_BYTES;
    for (int32_t f = 0; f < p->nflow; f++) {
        p->src[f] = b->flow.at[f].src;
        p->dst[f] = b->flow.at[f].dst;
        p->demand[f] = b->flow.at[f].bytes;
    }
    for (int32_t j = 0; j < p->njob; j++) {
        p->job_name[j] = b->job_name[j];
        b->job_name[j] = NULL;
        p->job_weight[j] = b->job_weight[j];
        p->job_first[j + 1] = b->job_first[j + 1];
        p->job_expanded[j] = b->job_expanded[j];
    }
    if (b->nlist > 0) {
        p->nlist = b->nlist;
        p->list_first = b->flow_list;
        p->list_at = b->list_at;
        p->list_arc = b->list_arc;
        b->flow_list = b->list_at = NULL;
        b->list_arc = NULL;
    }
    return p;
}

int doc_problem(const struct value *v, const char *folder, struct problem **out, struct err *e)
{
    const struct value *part[MAX_FIELDS];
    struct builder b = { .kind = -1 };
    struct problem *p = NULL;
    if (fields_read(v, root_field, ROOT_FIELDS, part, e) < 0 || doc_version(part[ROOT_HEDDLE], e) < 0)
        return -1;
    if (doc_fabric_named(part[ROOT_FABRIC], folder, &b.fabric, &b.node, e) == 0 &&
        read_jobs(&b, part[ROOT_JOBS], e) == 0)
        p = build(&b, e);
    builder_free(&b);
    if (p && (doc_options(part[ROOT_OPTIONS], &p->options, e) < 0 || problem_finish(p, e) < 0)) {
        problem_free(p);
        p = NULL;
    }
    if (!p)
        return -1;
    *out = p;
    return 0;
}
