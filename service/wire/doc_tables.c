/* The forwarding tables of a plan: {"leaf0": [["a/mlx5_0", 12], ...], ...}: per switch, the arc towards each
 * destination; switches and destinations in the order of the nodes.
 */
#include <stdlib.h>

#include "service/wire/doc_parts.h"

static int32_t entries(const int32_t *row, int32_t n)
{
    int32_t count = 0;
    for (int32_t d = 0; d < n; d++)
        count += row[d] >= 0;
    return count;
}

static struct value *row_list(const struct fabric *f, const int32_t *row, struct arena *a)
{
    struct value *list = value_list(a, entries(row, f->nnode));
    for (int32_t d = 0, n = 0; d < f->nnode && list; d++) {
        if (row[d] < 0)
            continue;
        struct value *pair = value_list(a, 2), *name = value_text(a, f->node_name[d]);
        if (!pair || !name)
            return NULL;
        pair->as.item[0] = *name;
        pair->as.item[1].kind = VALUE_INT;
        pair->as.item[1].as.integer = row[d];
        list->as.item[n++] = *pair;
    }
    return list;
}

struct value *doc_tables_write(const struct fabric *f, const struct forward *t, struct arena *a)
{
    struct value *map = value_map(a);
    for (int32_t v = 0; v < f->nnode; v++)
        if (t->row[v] >= 0)
            value_put(a, map, f->node_name[v], row_list(f, forward_row(t, v), a));
    return map;
}

static int read_row(const struct value *list, const struct fabric *f, const struct names *names, int32_t *row,
                    struct err *e)
{
    struct node_index nodes = { names, f->nnode };
    if (list->kind != VALUE_LIST)
        return fail(e, E_INPUT, "not a list of [destination, arc] pairs");
    for (int64_t i = 0; i < list->n; i++) {
        const struct value *pair = &list->as.item[i];
        int32_t d = 0, arc = 0;
        if (pair->kind != VALUE_LIST || pair->n != 2)
            return fail(e, E_INPUT, "[%lld]: not a [destination, arc] pair", (long long)i);
        if (cell_node(&pair->as.item[0], "destination", &nodes, &d, e) < 0 ||
            cell_int(&pair->as.item[1], "arc", 0, (int64_t)f->narc - 1, &arc, e) < 0)
            return fail_at(e, "[%lld]: ", (long long)i);
        if (row[d] >= 0)
            return fail(e, E_INPUT, "[%lld]: destination \"%.200s\" has arc %d already", (long long)i, f->node_name[d],
                        row[d]);
        row[d] = arc;
    }
    return 0;
}

int doc_tables(const struct value *v, const struct fabric *f, struct forward **out, struct err *e)
{
    char said[100];
    if (v->kind != VALUE_MAP)
        return fail(e, E_INPUT, "tables %s is not an object", value_say(v, said, sizeof said));
    struct forward *t = forward_new(f, e);
    struct names *names = t ? names_new(e) : NULL;
    int rc = names ? 0 : -1;
    for (int32_t i = 0; i < f->nnode && rc == 0; i++)
        rc = names_add(names, f->node_name[i], i, e) < 0 ? -1 : 0;
    for (int64_t i = 0; i < v->n && rc == 0; i++) {
        const struct pair *p = &v->as.pair[i];
        int64_t s = names_find(names, p->key);
        if (s < 0 || t->row[s] < 0)
            rc = fail(e, E_INPUT, "tables: \"%.200s\" is no switch of the fabric", p->key);
        else if (read_row(p->value, f, names, forward_row(t, (int32_t)s), e) < 0)
            rc = fail_at(e, "tables.%.200s: ", p->key);
    }
    names_free(names);
    if (rc < 0)
        forward_free(t);
    else
        *out = t;
    return rc;
}
