/* Writing fabrics and problems: lists of objects for people, columns for size. Only what differs from the default is
 * written.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/wire/doc_parts.h"

static void put_flag(struct arena *a, struct value *map, const char *key, int x)
{
    value_put(a, map, key, value_flag(a, x));
}

static void put_text(struct arena *a, struct value *map, const char *key, const char *text)
{
    value_put(a, map, key, value_text(a, text));
}

static void put_label(struct arena *a, struct value *map, const char *key, const struct labels *l, int32_t v)
{
    if (l->of[v] >= 0)
        put_text(a, map, key, l->name[l->of[v]]);
}

static void guid_text(uint64_t guid, char *text, size_t n)
{
    snprintf(text, n, "0x%016" PRIx64, guid);
}

static void put_guid(struct arena *a, struct value *map, uint64_t guid)
{
    char text[24];
    guid_text(guid, text, sizeof text);
    if (guid)
        put_text(a, map, "guid", text);
}

static const char *kind_word(const struct fabric *f, int32_t v)
{
    return f->node_kind[v] == NODE_NIC ? "nic" : "switch";
}

static struct value *node_rows(const struct fabric *f, struct arena *a)
{
    struct value *list = value_list(a, f->nnode);
    for (int32_t v = 0; v < f->nnode && list; v++) {
        struct value *node = &list->as.item[v];
        node->kind = VALUE_MAP;
        put_text(a, node, "name", f->node_name[v]);
        put_text(a, node, "kind", kind_word(f, v));
        put_label(a, node, "pod", &f->pod, v);
        put_label(a, node, "site", &f->site, v);
        put_label(a, node, "host", &f->host, v);
        if (f->node_tier[v] >= 0)
            value_put(a, node, "tier", value_int(a, f->node_tier[v]));
        if (f->node_rail[v] >= 0)
            value_put(a, node, "rail", value_int(a, f->node_rail[v]));
        if (!f->node_up[v])
            put_flag(a, node, "up", 0);
        put_guid(a, node, f->node_guid[v]);
        if (f->node_lid[v] >= 0)
            value_put(a, node, "lid", value_int(a, f->node_lid[v]));
    }
    return list;
}

static struct value *link_rows(const struct fabric *f, struct arena *a)
{
    struct value *list = value_list(a, f->nlink);
    for (int32_t i = 0; i < f->nlink && list; i++) {
        struct value *link = &list->as.item[i];
        link->kind = VALUE_MAP;
        put_text(a, link, "from", f->node_name[f->link_from[i]]);
        put_text(a, link, "to", f->node_name[f->link_to[i]]);
        value_put(a, link, "gbps", value_real(a, f->link_gbps[i]));
        if (!f->link_up[i])
            put_flag(a, link, "up", 0);
        if (f->link_directed[i])
            put_flag(a, link, "directed", 1);
        if (f->link_from_port[i] >= 0)
            value_put(a, link, "from_port", value_int(a, f->link_from_port[i]));
        if (f->link_to_port[i] >= 0)
            value_put(a, link, "to_port", value_int(a, f->link_to_port[i]));
        if (f->link_latency[i] > 0)
            value_put(a, link, "latency_us", value_real(a, f->link_latency[i]));
        if (f->link_cost[i] > 0)
            value_put(a, link, "cost", value_real(a, f->link_cost[i]));
    }
    return list;
}

/* ---- columns ---- */

static struct value *bin(struct arena *a, int64_t n, int64_t size)
{
    struct value *v = value_bytes(a, NULL, 0);
    if (!v || !(v->as.bytes = arena_take(a, n * size + 1, 1)))
        return NULL;
    v->n = n * size;
    return v;
}

static void store(char *at, uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = (char)(x >> 8 * i & 0xff);
}

static struct value *int_column(struct arena *a, const int32_t *x, int64_t n)
{
    struct value *v = bin(a, n, 4);
    for (int64_t i = 0; i < n && v; i++)
        store(v->as.bytes + 4 * i, (uint32_t)x[i], 4);
    return v;
}

static struct value *flag_column(struct arena *a, const uint8_t *x, int64_t n)
{
    struct value *v = bin(a, n, 4);
    for (int64_t i = 0; i < n && v; i++)
        store(v->as.bytes + 4 * i, x[i], 4);
    return v;
}

static struct value *real_column(struct arena *a, const double *x, int64_t n)
{
    struct value *v = bin(a, n, 8);
    for (int64_t i = 0; i < n && v; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        store(v->as.bytes + 8 * i, bits, 8);
    }
    return v;
}

static void set_text(struct arena *a, struct value *item, const char *text)
{
    struct value *v = value_text(a, text);
    if (v)
        *item = *v;
}

static void put_label_column(struct arena *a, struct value *map, const char *key, const struct labels *l, int32_t n)
{
    if (l->count == 0)
        return;
    struct value *list = value_list(a, n);
    for (int32_t v = 0; v < n && list; v++)
        if (l->of[v] >= 0)
            set_text(a, &list->as.item[v], l->name[l->of[v]]);
    value_put(a, map, key, list);
}

static int any_int(const int32_t *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (x[i] >= 0)
            return 1;
    return 0;
}

static int any_real(const double *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (x[i] > 0)
            return 1;
    return 0;
}

static int any_flag(const uint8_t *x, int32_t n, int wanted)
{
    for (int32_t i = 0; i < n; i++)
        if (x[i] == wanted)
            return 1;
    return 0;
}

static void put_guid_column(struct arena *a, struct value *map, const struct fabric *f)
{
    char text[24];
    int any = 0;
    for (int32_t v = 0; v < f->nnode; v++)
        any |= f->node_guid[v] != 0;
    if (!any)
        return;
    struct value *list = value_list(a, f->nnode);
    for (int32_t v = 0; v < f->nnode && list; v++)
        if (f->node_guid[v]) {
            guid_text(f->node_guid[v], text, sizeof text);
            set_text(a, &list->as.item[v], text);
        }
    value_put(a, map, "guid", list);
}

static struct value *node_columns(const struct fabric *f, struct arena *a)
{
    struct value *map = value_map(a), *name = value_list(a, f->nnode), *kind = value_list(a, f->nnode);
    for (int32_t v = 0; v < f->nnode && name && kind; v++) {
        set_text(a, &name->as.item[v], f->node_name[v]);
        set_text(a, &kind->as.item[v], kind_word(f, v));
    }
    value_put(a, map, "name", name);
    value_put(a, map, "kind", kind);
    put_label_column(a, map, "pod", &f->pod, f->nnode);
    put_label_column(a, map, "site", &f->site, f->nnode);
    put_label_column(a, map, "host", &f->host, f->nnode);
    if (any_int(f->node_tier, f->nnode))
        value_put(a, map, "tier", int_column(a, f->node_tier, f->nnode));
    if (any_int(f->node_rail, f->nnode))
        value_put(a, map, "rail", int_column(a, f->node_rail, f->nnode));
    if (any_flag(f->node_up, f->nnode, 0))
        value_put(a, map, "up", flag_column(a, f->node_up, f->nnode));
    put_guid_column(a, map, f);
    if (any_int(f->node_lid, f->nnode))
        value_put(a, map, "lid", int_column(a, f->node_lid, f->nnode));
    return map;
}

static struct value *link_columns(const struct fabric *f, struct arena *a)
{
    struct value *map = value_map(a);
    int32_t n = f->nlink;
    value_put(a, map, "from", int_column(a, f->link_from, n));
    value_put(a, map, "to", int_column(a, f->link_to, n));
    value_put(a, map, "gbps", real_column(a, f->link_gbps, n));
    if (any_flag(f->link_up, n, 0))
        value_put(a, map, "up", flag_column(a, f->link_up, n));
    if (any_flag(f->link_directed, n, 1))
        value_put(a, map, "directed", flag_column(a, f->link_directed, n));
    if (any_int(f->link_from_port, n))
        value_put(a, map, "from_port", int_column(a, f->link_from_port, n));
    if (any_int(f->link_to_port, n))
        value_put(a, map, "to_port", int_column(a, f->link_to_port, n));
    if (any_real(f->link_latency, n))
        value_put(a, map, "latency_us", real_column(a, f->link_latency, n));
    if (any_real(f->link_cost, n))
        value_put(a, map, "cost", real_column(a, f->link_cost, n));
    return map;
}

int doc_fabric_write(const struct fabric *f, int columns, struct arena *a, struct value **out, struct err *e)
{
    struct value *map = value_map(a);
    if (f->name)
        put_text(a, map, "name", f->name);
    value_put(a, map, "nodes", columns ? node_columns(f, a) : node_rows(f, a));
    value_put(a, map, "links", columns ? link_columns(f, a) : link_rows(f, a));
    if (arena_failed(a))
        return fail(e, E_MEMORY, "out of memory for the document of %d nodes and %d links", f->nnode, f->nlink);
    *out = map;
    return 0;
}

/* ---- problems ---- */

/* The listed paths of flow f, or NULL where it lists none. */
static struct value *list_of_paths(const struct problem *p, int32_t f, struct arena *a)
{
    int64_t first = p->list_first ? p->list_first[f] : 0, n = p->list_first ? p->list_first[f + 1] - first : 0;
    struct value *list = n > 0 ? value_list(a, n) : NULL;
    for (int64_t k = 0; k < n && list; k++) {
        int64_t at = p->list_at[first + k], hops = p->list_at[first + k + 1] - at;
        struct value *path = value_list(a, hops);
        if (!path)
            return NULL;
        for (int64_t h = 0; h < hops; h++) {
            path->as.item[h].kind = VALUE_INT;
            path->as.item[h].as.integer = p->list_arc[at + h];
        }
        list->as.item[k] = *path;
    }
    return list;
}

static const char *demand_word(const struct problem *p)
{
    return p->kind == DEMAND_BYTES ? "bytes" : "gbps";
}

static struct value *flow_rows(const struct problem *p, int32_t j, struct arena *a)
{
    struct value *list = value_list(a, p->job_first[j + 1] - p->job_first[j]);
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1] && list; f++) {
        struct value *flow = &list->as.item[f - p->job_first[j]];
        flow->kind = VALUE_MAP;
        put_text(a, flow, "src", p->fabric->node_name[p->src[f]]);
        put_text(a, flow, "dst", p->fabric->node_name[p->dst[f]]);
        value_put(a, flow, demand_word(p), value_real(a, p->demand[f]));
        value_put(a, flow, "paths", list_of_paths(p, f, a));
    }
    return list;
}

static struct value *flow_columns(const struct problem *p, int32_t j, struct arena *a)
{
    int32_t first = p->job_first[j], n = p->job_first[j + 1] - first;
    struct value *map = value_map(a);
    value_put(a, map, "src", int_column(a, p->src + first, n));
    value_put(a, map, "dst", int_column(a, p->dst + first, n));
    value_put(a, map, demand_word(p), real_column(a, p->demand + first, n));
    if (p->list_first && p->list_first[first + n] > p->list_first[first]) {
        struct value *paths = value_list(a, n);
        for (int32_t i = 0; i < n && paths; i++) {
            struct value *list = list_of_paths(p, first + i, a);
            if (list)
                paths->as.item[i] = *list;
        }
        value_put(a, map, "paths", paths);
    }
    return map;
}

static struct value *option_map(const struct options *o, struct arena *a)
{
    struct value *map = value_map(a);
    struct options usual;
    char text[64], initial[64];
    options_default(&usual);
    for (const struct option_row *row = option_table; row->name; row++) {
        options_get(o, row->name, text, sizeof text);
        options_get(&usual, row->name, initial, sizeof initial);
        if (!strcmp(text, initial))
            continue;
        value_put(a, map, row->name,
                  row->type == OPTION_WORD      ? value_text(a, text)
                  : row->type == OPTION_INTEGER ? value_int(a, strtoll(text, NULL, 10))
                                                : value_real(a, strtod(text, NULL)));
    }
    return map;
}

int doc_problem_write(const struct problem *p, int columns, struct arena *a, struct value **out, struct err *e)
{
    struct value *root = value_map(a), *fabric = NULL, *jobs = value_list(a, p->njob);
    if (doc_fabric_write(p->fabric, columns, a, &fabric, e) < 0)
        return -1;
    for (int32_t j = 0; j < p->njob && jobs; j++) {
        struct value *job = &jobs->as.item[j];
        job->kind = VALUE_MAP;
        put_text(a, job, "name", p->job_name[j]);
        if (p->job_weight[j] < 1 || p->job_weight[j] > 1)
            value_put(a, job, "weight", value_real(a, p->job_weight[j]));
        value_put(a, job, "flows", columns ? flow_columns(p, j, a) : flow_rows(p, j, a));
    }
    value_put(a, root, "heddle", value_int(a, 1));
    value_put(a, root, "fabric", fabric);
    value_put(a, root, "jobs", jobs);
    value_put(a, root, "options", option_map(&p->options, a));
    if (arena_failed(a))
        return fail(e, E_MEMORY, "out of memory for the document of %d flows", p->nflow);
    *out = root;
    return 0;
}
