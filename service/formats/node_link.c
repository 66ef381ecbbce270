/* networkx node-link JSON: {"directed", "nodes": [{"id"}], "links" or "edges": [{"source", "target", "capacity"}]}. */
#include "service/formats/entry.h"
#include "service/formats/readers.h"

static int read_nodes(struct wiring *w, const struct value *root)
{
    const struct value *nodes = entry_list(w, root, "nodes");
    struct text id;
    for (int64_t i = 0; nodes && i < nodes->n; i++) {
        wiring_entry(w, 0, "nodes", i);
        if (entry_text(w, &nodes->as.item[i], "id", &id) < 0)
            return -1;
        int32_t v = wiring_new_node(w, id);
        if (v < 0)
            return -1;
        w->node[v].kind = NODE_SWITCH;
    }
    return nodes ? 0 : -1;
}

static int read_link(struct wiring *w, const struct value *link, int directed)
{
    static const char *const capacity[] = { "capacity", "bandwidth", "bw" };
    struct text s, t;
    struct wire_cable c = { .directed = directed };
    if (entry_text(w, link, "source", &s) < 0 || entry_text(w, link, "target", &t) < 0)
        return -1;
    c.from = wiring_known(w, s);
    c.to = c.from < 0 ? -1 : wiring_known(w, t);
    if (c.to < 0)
        return -1;
    for (size_t k = 0; k < sizeof capacity / sizeof *capacity; k++) {
        if (!value_get(link, capacity[k]))
            continue;
        if (entry_number(w, link, capacity[k], &c.gbps) < 0)
            return -1;
        wiring_note(w, "capacities without a unit, read as Gb/s");
        if (!(c.gbps > 0) && !(c.gbps < 0)) {
            wiring_note(w, "links of capacity 0 left out");
            return 0;
        }
        break;
    }
    return wiring_cable(w, &c);
}

static int read_all(struct wiring *w)
{
    const struct value *root, *flag, *links;
    if (entry_open(w, 0, ENTRY_JSON, &root) < 0 || read_nodes(w, root) < 0)
        return -1;
    const char *key = value_get(root, "links") ? "links" : "edges"; /* networkx 3.4 calls them edges */
    wiring_entry(w, 0, "document", -1);
    flag = value_get(root, "directed");
    links = entry_list(w, root, key);
    for (int64_t i = 0; links && i < links->n; i++) {
        wiring_entry(w, 0, key, i);
        if (read_link(w, &links->as.item[i], flag && flag->kind == VALUE_BOOL && flag->as.flag) < 0)
            return -1;
    }
    return links ? 0 : -1;
}

int node_link_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct wiring *w = wiring_new(in, e);
    int rc = w && read_all(w) == 0 ? wiring_fabric(w, out) : -1;
    wiring_free(w);
    return rc;
}
