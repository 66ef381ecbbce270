/* NetQ's topology graph: links of links between two interfaces, tiers of nodes. */
#include <string.h>

#include "service/formats/entry.h"
#include "service/formats/readers.h"

struct netq {
    struct wiring *w;
    struct names *id; /* NetQ's id to the node */
};

/* Called by its name where that is free, else by its id. A device_type "switch" is one, everything else a host. */
static int read_node(struct netq *r, const struct value *node)
{
    struct wiring *w = r->w;
    struct text id, name, type;
    char key[TEXT_NAME + 1], called[TEXT_NAME + 1];
    double tier = -1;
    if (entry_text(w, node, "id", &id) < 0 || entry_maybe(w, node, "name", &name) < 0 ||
        entry_text(w, node, "device_type", &type) < 0 || entry_number(w, node, "tier", &tier) < 0)
        return -1;
    if (id.n == 0 || !text_out(id, key, sizeof key))
        return wiring_bad(w, "id \"%.*s\" has not 1 to %d bytes", TEXT_SAY(id), TEXT_NAME);
    if (name.n == 0 || !text_out(name, called, sizeof called) || names_find(w->name, called) >= 0) {
        wiring_note(w, "nodes without a name of their own, called by their id");
        name = id;
    }
    int32_t v = wiring_new_node(w, name);
    if (v < 0)
        return -1;
    w->node[v].kind = text_contains(type, "switch") ? NODE_SWITCH : NODE_NIC;
    if (w->node[v].kind == NODE_NIC)
        w->node[v].tier = 0;
    else if (tier >= 1 && tier <= 100)
        w->node[v].tier = (int32_t)tier;
    int known = names_add(r->id, key, v, w->e);
    return known > 0 ? wiring_bad(w, "id \"%s\" stands twice", key) : known;
}

static int read_end(struct netq *r, const struct value *end, int32_t *v, const char **port)
{
    struct text node, interface;
    char key[TEXT_NAME + 1];
    if (entry_text(r->w, end, "node", &node) < 0 || entry_text(r->w, end, "interface", &interface) < 0)
        return -1;
    int64_t k = text_out(node, key, sizeof key) ? names_find(r->id, key) : -1;
    if (k < 0)
        return wiring_bad(r->w, "node \"%.*s\" is none of the file's nodes", TEXT_SAY(node));
    *v = (int32_t)k;
    *port = entry_port(r->w, interface);
    return *port ? 0 : -1;
}

static int read_link(struct netq *r, const struct value *link)
{
    struct wire_cable c = { 0 };
    const struct value *end = entry_list(r->w, link, "interfaces");
    if (!end)
        return -1;
    if (end->n != 2)
        return wiring_bad(r->w, "%lld interfaces, not 2", (long long)end->n);
    return read_end(r, &end->as.item[0], &c.from, &c.from_port) < 0 ||
                   read_end(r, &end->as.item[1], &c.to, &c.to_port) < 0
               ? -1
               : wiring_join(r->w, &c);
}

/* Every inner object of graph[outer][i][inner][k]. */
static int each(struct netq *r, const struct value *graph, const char *outer, const char *inner,
                int (*read)(struct netq *r, const struct value *v))
{
    const struct value *list, *group = entry_list(r->w, graph, outer);
    for (int64_t i = 0; group && i < group->n; i++) {
        wiring_entry(r->w, 0, outer, i);
        const char *path = entry_path(r->w, outer, i, inner);
        if (!path || !(list = entry_list(r->w, &group->as.item[i], inner)))
            return -1;
        for (int64_t k = 0; k < list->n; k++) {
            wiring_entry(r->w, 0, path, k);
            if (read(r, &list->as.item[k]) < 0)
                return -1;
        }
    }
    return group ? 0 : -1;
}

static int read_all(struct netq *r)
{
    const struct value *root;
    if (entry_open(r->w, 0, ENTRY_JSON, &root) < 0)
        return -1;
    if (root->kind == VALUE_LIST) {
        if (root->n != 1)
            return wiring_bad(r->w, "a list of %lld graphs, not of 1", (long long)root->n);
        root = &root->as.item[0];
    }
    if (each(r, root, "nodes", "compounded_nodes", read_node) < 0)
        return -1;
    wiring_entry(r->w, 0, "document", -1);
    return each(r, root, "links", "compounded_links", read_link);
}

int netq_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct netq r = { .w = wiring_new(in, e), .id = names_new(e) };
    if (r.w)
        r.w->nic_per_port = 1;
    int rc = r.w && r.id && read_all(&r) == 0 ? wiring_fabric(r.w, out) : -1;
    wiring_free(r.w);
    names_free(r.id);
    return rc;
}
