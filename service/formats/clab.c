/* Containerlab: topology.nodes with kinds (their own, their group's, or the default), topology.links between
 * "node:interface" texts. Nodes of kind linux are hosts, but for those that others of the kind hang on: a linux node
 * with two cables or more, one of them to another linux node, forwards (an FRR lab), so it is a switch.
 */
#include <stdlib.h>
#include <string.h>

#include "service/formats/entry.h"
#include "service/formats/readers.h"

struct clab {
    struct wiring *w;
    const struct value *topology;
};

static int kind_of(struct clab *r, const struct value *node, struct text *kind)
{
    struct text group;
    if (entry_maybe(r->w, node, "kind", kind) < 0 || entry_maybe(r->w, node, "group", &group) < 0)
        return -1;
    char name[TEXT_NAME + 1];
    if (kind->n == 0 && group.n > 0 && text_out(group, name, sizeof name) &&
        entry_maybe(r->w, value_get(value_get(r->topology, "groups"), name), "kind", kind) < 0)
        return -1;
    return kind->n == 0 ? entry_maybe(r->w, value_get(r->topology, "defaults"), "kind", kind) : 0;
}

static int read_nodes(struct clab *r)
{
    struct wiring *w = r->w;
    const struct value *nodes = entry_map(w, r->topology, "nodes");
    struct text kind;
    for (int64_t i = 0; nodes && i < nodes->n; i++) {
        const char *name = nodes->as.pair[i].key;
        wiring_entry(w, 0, "topology.nodes", i);
        int32_t v = wiring_new_node(w, (struct text){ name, (int)strlen(name) });
        if (v < 0 || kind_of(r, nodes->as.pair[i].value, &kind) < 0)
            return -1;
        w->node[v].kind = text_is(kind, "linux") ? NODE_NIC : NODE_SWITCH;
    }
    return nodes ? 0 : -1;
}

/* 1 an end at a node, 0 one outside of the lab ("host:eth0", "mgmt-net:x", "macvlan:eth0"), -1 refused. */
static int read_end(struct clab *r, const struct value *end, int32_t *v, const char **port)
{
    struct wiring *w = r->w;
    struct text name, interface;
    char key[TEXT_NAME + 1];
    if (end->kind == VALUE_MAP) {
        if (entry_text(w, end, "node", &name) < 0 || entry_maybe(w, end, "interface", &interface) < 0)
            return -1;
    } else {
        if (entry_word(w, end, "endpoint", &interface) < 0)
            return -1;
        name = text_until(&interface, ':');
    }
    if (!text_out(name, key, sizeof key) || names_find(w->name, key) < 0) {
        if (text_is(name, "host") || text_is(name, "mgmt-net") || text_is(name, "macvlan"))
            return 0;
        return wiring_known(w, name);
    }
    *v = (int32_t)names_find(w->name, key);
    *port = entry_port(w, interface);
    return *port ? 1 : -1;
}

static int read_link(struct clab *r, const struct value *link)
{
    struct wire_cable c = { 0 };
    const struct value *ends = value_get(link, "endpoints");
    if (!ends && value_get(link, "endpoint")) {
        wiring_note(r->w, "links that leave the lab, left out");
        return 0;
    }
    if (!(ends = entry_list(r->w, link, "endpoints")))
        return -1;
    if (ends->n != 2)
        return wiring_bad(r->w, "%lld endpoints, not 2", (long long)ends->n);
    int a = read_end(r, &ends->as.item[0], &c.from, &c.from_port);
    int b = a < 0 ? -1 : read_end(r, &ends->as.item[1], &c.to, &c.to_port);
    if (b < 0)
        return -1;
    if (a == 0 || b == 0) {
        wiring_note(r->w, "links that leave the lab, left out");
        return 0;
    }
    return wiring_join(r->w, &c);
}

static int settle_linux(struct wiring *w)
{
    int32_t *degree = array(w->nnode, sizeof *degree);
    uint8_t *paired = array(w->nnode, sizeof *paired);
    int ok = degree && paired;
    for (int32_t i = 0; ok && i < w->ncable; i++) {
        int32_t s = w->cable[i].from, t = w->cable[i].to;
        degree[s]++;
        degree[t]++;
        if (w->node[s].kind == NODE_NIC && w->node[t].kind == NODE_NIC)
            paired[s] = paired[t] = 1;
    }
    for (int32_t v = 0; ok && v < w->nnode; v++)
        if (paired[v] && degree[v] > 1 && !overlay_is_host(w->in->overlay, w->node[v].name)) {
            w->node[v].kind = NODE_SWITCH;
            format_note(w->report, "nodes of kind linux that forward, taken as switches", 0);
        }
    free(degree);
    free(paired);
    return ok ? 0 : fail(w->e, E_MEMORY, "out of memory for %d nodes", w->nnode);
}

static int read_all(struct clab *r)
{
    const struct value *root, *links;
    if (entry_open(r->w, 0, ENTRY_YAML, &root) < 0 || !(r->topology = entry_map(r->w, root, "topology")) ||
        read_nodes(r) < 0)
        return -1;
    wiring_entry(r->w, 0, "topology", -1);
    links = entry_list(r->w, r->topology, "links");
    for (int64_t i = 0; links && i < links->n; i++) {
        wiring_entry(r->w, 0, "topology.links", i);
        if (read_link(r, &links->as.item[i]) < 0)
            return -1;
    }
    return links ? settle_linux(r->w) : -1;
}

int clab_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct clab r = { .w = wiring_new(in, e) };
    if (r.w)
        r.w->nic_per_port = 1;
    int rc = r.w && read_all(&r) == 0 ? wiring_fabric(r.w, out) : -1;
    wiring_free(r.w);
    return rc;
}
