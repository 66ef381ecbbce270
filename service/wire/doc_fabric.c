/* Reading a fabric: nodes, then links, then fabric_finish. */
#include "service/wire/doc_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_NAME, NODE_KIND, NODE_POD, NODE_SITE, NODE_HOST, NODE_TIER, NODE_RAIL, NODE_UP, NODE_GUID, NODE_LID, NODE_FIELDS };
static const struct field node_field[NODE_FIELDS] = {
    { "name", CELL_TEXT, 1 }, { "kind", CELL_TEXT, 1 }, { "pod", CELL_TEXT, 0 }, { "site", CELL_TEXT, 0 },
    { "host", CELL_TEXT, 0 }, { "tier", CELL_INT, 0 },  { "rail", CELL_INT, 0 }, { "up", CELL_FLAG, 0 },
    { "guid", CELL_TEXT, 0 }, { "lid", CELL_INT, 0 },
};

enum {
    LINK_FROM,
    LINK_TO,
    LINK_GBPS,
    LINK_UP,
    LINK_DIRECTED,
    LINK_FROM_PORT,
    LINK_TO_PORT,
    LINK_LATENCY,
    LINK_COST,
    LINK_FIELDS
};
static const struct field link_field[LINK_FIELDS] = {
    { "from", CELL_NODE, 1 },   { "to", CELL_NODE, 1 },         { "gbps", CELL_REAL, 1 },
    { "up", CELL_FLAG, 0 },     { "directed", CELL_FLAG, 0 },   { "from_port", CELL_INT, 0 },
    { "to_port", CELL_INT, 0 }, { "latency_us", CELL_REAL, 0 }, { "cost", CELL_REAL, 0 },
};

enum { FABRIC_NAME, FABRIC_NODES, FABRIC_LINKS, FABRIC_FIELDS };
static const struct field fabric_field[FABRIC_FIELDS] = {
    { "name", CELL_TEXT, 0 },
    { "nodes", CELL_ANY, 1 },
    { "links", CELL_ANY, 1 },
};

enum { MAX_LID = 0xbfff }; /* the largest unicast address */

/* What reading needs besides the fabric: name tables of the nodes and of each kind of label. */
struct reader {
    struct fabric *f;
    struct names *node, *pod, *site, *host;
};

static int read_label(const struct value *v, const char *key, int32_t i, struct labels *l, struct names *names,
                      struct err *e)
{
    const char *text = NULL;
    if (!v)
        return 0;
    if (cell_name(v, key, &text, e) < 0)
        return -1;
    int64_t number = names_intern(names, text, e);
    if (number < 0)
        return -1;
    if (number < l->count) {
        l->of[i] = (int32_t)number;
        return 0;
    }
    int64_t room = value_room(l->count);
    if (l->count == room) { /* the array has the room of a map of that many keys: powers of two */
        void *name = l->name;
        if (array_grow(&name, &room, value_room((int64_t)l->count + 1), sizeof *l->name) < 0)
            return fail(e, E_MEMORY, "out of memory for %s \"%s\"", key, text);
        l->name = name;
    }
    if (!(l->name[l->count] = text_copy(text)))
        return fail(e, E_MEMORY, "out of memory for %s \"%s\"", key, text);
    l->of[i] = l->count++;
    return 0;
}

static int read_kind(const struct value *v, uint8_t *kind, struct err *e)
{
    char said[100];
    if (v->kind == VALUE_TEXT && !strcmp(v->as.bytes, "switch"))
        *kind = NODE_SWITCH;
    else if (v->kind == VALUE_TEXT && !strcmp(v->as.bytes, "nic"))
        *kind = NODE_NIC;
    else
        return fail(e, E_INPUT, "kind %s is neither \"switch\" nor \"nic\"", value_say(v, said, sizeof said));
    return 0;
}

/* "0x2c5eab0300b87b40": what a JSON number could not hold. */
static int read_guid(const struct value *v, uint64_t *guid, struct err *e)
{
    char said[100];
    if (!v)
        return 0;
    size_t n = v->kind == VALUE_TEXT ? strspn(v->as.bytes, "0123456789abcdefxABCDEF") : 0;
    uint64_t x = 0;
    if (n > 2 && n <= 18 && (int64_t)n == v->n && v->as.bytes[0] == '0' && v->as.bytes[1] == 'x' &&
        !strchr(v->as.bytes + 2, 'x'))
        x = strtoull(v->as.bytes + 2, NULL, 16);
    if (x == 0)
        return fail(e, E_INPUT, "guid %s is not like \"0x2c5eab0300b87b40\"", value_say(v, said, sizeof said));
    *guid = x;
    return 0;
}

static int read_node(struct reader *r, int32_t i, const struct value **cell, struct err *e)
{
    struct fabric *f = r->f;
    const char *name = NULL;
    if (cell_name(cell[NODE_NAME], "name", &name, e) < 0)
        return -1;
    int added = names_add(r->node, name, i, e);
    if (added > 0)
        return fail(e, E_INPUT, "name \"%s\" is taken by nodes[%lld]", name, (long long)names_find(r->node, name));
    if (added < 0)
        return -1;
    if (!(f->node_name[i] = text_copy(name)))
        return fail(e, E_MEMORY, "out of memory for name \"%s\"", name);
    if (read_kind(cell[NODE_KIND], &f->node_kind[i], e) < 0 ||
        cell_int(cell[NODE_TIER], "tier", 0, INT32_MAX, &f->node_tier[i], e) < 0 ||
        cell_int(cell[NODE_RAIL], "rail", 0, INT32_MAX, &f->node_rail[i], e) < 0 ||
        cell_flag(cell[NODE_UP], "up", &f->node_up[i], e) < 0 || read_guid(cell[NODE_GUID], &f->node_guid[i], e) < 0 ||
        cell_int(cell[NODE_LID], "lid", 1, MAX_LID, &f->node_lid[i], e) < 0 ||
        read_label(cell[NODE_POD], "pod", i, &f->pod, r->pod, e) < 0 ||
        read_label(cell[NODE_SITE], "site", i, &f->site, r->site, e) < 0 ||
        read_label(cell[NODE_HOST], "host", i, &f->host, r->host, e) < 0)
        return -1;
    return 0;
}

static int read_link(const struct reader *r, int32_t i, const struct value **cell, struct err *e)
{
    struct fabric *f = r->f;
    struct node_index nodes = { r->node, f->nnode };
    return cell_node(cell[LINK_FROM], "from", &nodes, &f->link_from[i], e) < 0 ||
                   cell_node(cell[LINK_TO], "to", &nodes, &f->link_to[i], e) < 0 ||
                   cell_real(cell[LINK_GBPS], "gbps", &f->link_gbps[i], e) < 0 ||
                   cell_flag(cell[LINK_UP], "up", &f->link_up[i], e) < 0 ||
                   cell_flag(cell[LINK_DIRECTED], "directed", &f->link_directed[i], e) < 0 ||
                   cell_int(cell[LINK_FROM_PORT], "from_port", 0, INT32_MAX, &f->link_from_port[i], e) < 0 ||
                   cell_int(cell[LINK_TO_PORT], "to_port", 0, INT32_MAX, &f->link_to_port[i], e) < 0 ||
                   cell_real(cell[LINK_LATENCY], "latency_us", &f->link_latency[i], e) < 0 ||
                   cell_real(cell[LINK_COST], "cost", &f->link_cost[i], e) < 0
               ? -1
               : 0;
}

static int read_tables(struct reader *r, const struct value **part, struct err *e)
{
    struct table nodes, links;
    const struct value *cell[MAX_FIELDS];
    if (table_open(&nodes, node_field, NODE_FIELDS, part[FABRIC_NODES], e) < 0)
        return fail_at(e, "nodes: ");
    if (table_open(&links, link_field, LINK_FIELDS, part[FABRIC_LINKS], e) < 0)
        return fail_at(e, "links: ");
    if (!(r->f = fabric_new(nodes.n, links.n, e)))
        return -1;
    for (int32_t i = 0; i < nodes.n; i++)
        if (table_row(&nodes, i, cell, e) < 0 || read_node(r, i, cell, e) < 0)
            return fail_at(e, "nodes[%d]: ", i);
    for (int32_t i = 0; i < links.n; i++)
        if (table_row(&links, i, cell, e) < 0 || read_link(r, i, cell, e) < 0)
            return fail_at(e, "links[%d]: ", i);
    return 0;
}

static int read_object(const struct value *v, struct fabric **out, struct names **names, struct err *e)
{
    const struct value *part[MAX_FIELDS];
    const char *name = NULL;
    struct reader r = { 0 };
    int rc = -1;
    if (fields_read(v, fabric_field, FABRIC_FIELDS, part, e) < 0 ||
        (part[FABRIC_NAME] && cell_name(part[FABRIC_NAME], "name", &name, e) < 0))
        return fail_at(e, "fabric: ");
    if (!(r.node = names_new(e)) || !(r.pod = names_new(e)) || !(r.site = names_new(e)) || !(r.host = names_new(e)))
        goto done;
    if (read_tables(&r, part, e) < 0)
        goto done;
    if (name && !(r.f->name = text_copy(name))) {
        fail(e, E_MEMORY, "out of memory for fabric name \"%s\"", name);
        goto done;
    }
    if ((rc = fabric_finish(r.f, e)) == 0) {
        *out = r.f;
        *names = r.node;
        r.f = NULL;
        r.node = NULL;
    }
done:
    fabric_free(r.f);
    names_free(r.node);
    names_free(r.pod);
    names_free(r.site);
    names_free(r.host);
    return rc;
}

const struct value *doc_fabric_object(const struct value *v, struct err *e)
{
    char said[100];
    if (v && v->kind == VALUE_MAP && !value_get(v, "nodes") && value_get(v, "fabric")) {
        v = value_get(v, "fabric");
        if (v->kind == VALUE_MAP)
            return v;
        fail(e, E_INPUT, "fabric: %s where an object is expected", value_say(v, said, sizeof said));
        return NULL;
    }
    if (v && v->kind == VALUE_MAP)
        return v;
    fail(e, E_INPUT, "%s where a fabric is expected", value_say(v, said, sizeof said));
    return NULL;
}

int doc_fabric_path(const struct value *name, const char *folder, char *path, size_t n, struct err *e)
{
    char said[100];
    const char *file = NULL;
    if (cell_text(name, "fabric", &file, e) < 0)
        return -1;
    value_say(name, said, sizeof said);
    for (const char *c = file; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            return fail(e, E_INPUT, "fabric %s: a file name with a control character", said);
    if (!folder)
        return fail(e, E_INPUT, "fabric %s: a document sent over the wire can not name a file; send the fabric in it",
                    said);
    int k = file[0] == '/' || !folder[0] ? snprintf(path, n, "%s", file) : snprintf(path, n, "%s/%s", folder, file);
    if (!file[0] || k < 0 || (size_t)k >= n || !strcmp(file, "-"))
        return fail(e, E_INPUT, "fabric %s is no file name", said);
    return 0;
}

static int read_file(const struct value *v, const char *folder, struct fabric **out, struct names **names,
                     struct err *e)
{
    char path[PATH_MAX];
    struct value *document;
    if (doc_fabric_path(v, folder, path, sizeof path, e) < 0)
        return -1;
    struct arena *a = arena_new(0, e);
    if (!a)
        return -1;
    int rc = doc_load(path, a, &document, e);
    if (rc == 0) {
        const struct value *object = doc_fabric_object(document, e);
        rc = object ? read_object(object, out, names, e) : -1;
        if (rc < 0)
            fail_at(e, "%.200s: ", path);
    }
    arena_free(a);
    return rc;
}

int doc_fabric_named(const struct value *v, const char *folder, struct fabric **out, struct names **names,
                     struct err *e)
{
    return v->kind == VALUE_TEXT ? read_file(v, folder, out, names, e) : read_object(v, out, names, e);
}

int doc_fabric(const struct value *v, struct fabric **out, struct err *e)
{
    struct names *names = NULL;
    const struct value *object = doc_fabric_object(v, e);
    if (!object || read_object(object, out, &names, e) < 0)
        return -1;
    names_free(names);
    return 0;
}

int doc_inline(struct value *v, const char *folder, struct arena *a, struct err *e)
{
    char path[PATH_MAX];
    struct value *document;
    for (int64_t i = 0; v->kind == VALUE_MAP && i < v->n; i++) {
        struct pair *p = &v->as.pair[i];
        if (strcmp(p->key, "fabric") != 0 || p->value->kind != VALUE_TEXT)
            continue;
        if (doc_fabric_path(p->value, folder, path, sizeof path, e) < 0 || doc_load(path, a, &document, e) < 0)
            return -1;
        const struct value *object = doc_fabric_object(document, e);
        if (!object)
            return fail_at(e, "%.200s: ", path);
        *p->value = *object;
    }
    return 0;
}
