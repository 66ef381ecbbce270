/* SNDlib as JSON: {"nodes": [{"id"}], "links": [{"id", "source", "target", "pre_installed_capacity", ...}], ...}. */
#include "service/formats/entry.h"
#include "service/formats/readers.h"

static int read_link(struct wiring *w, const struct value *link)
{
    struct text s, t;
    struct wire_cable c = { 0 };
    if (entry_text(w, link, "source", &s) < 0 || entry_text(w, link, "target", &t) < 0 ||
        entry_number(w, link, "pre_installed_capacity", &c.gbps) < 0 ||
        entry_number(w, link, "routing_cost", &c.cost) < 0)
        return -1;
    c.from = wiring_known(w, s);
    c.to = c.from < 0 ? -1 : wiring_known(w, t);
    wiring_note(w, c.gbps > 0 ? "capacities without a unit, read as Gb/s" : "links without an installed capacity");
    return c.to < 0 ? -1 : wiring_cable(w, &c);
}

static int read_all(struct wiring *w)
{
    const struct value *root, *list;
    struct text id;
    if (entry_open(w, 0, ENTRY_JSON, &root) < 0 || !(list = entry_list(w, root, "nodes")))
        return -1;
    for (int64_t i = 0; i < list->n; i++) {
        wiring_entry(w, 0, "nodes", i);
        int32_t v = entry_text(w, &list->as.item[i], "id", &id) < 0 ? -1 : wiring_new_node(w, id);
        if (v < 0)
            return -1;
        w->node[v].kind = NODE_SWITCH;
    }
    wiring_entry(w, 0, "document", -1);
    if (!(list = entry_list(w, root, "links")))
        return -1;
    for (int64_t i = 0; i < list->n; i++) {
        wiring_entry(w, 0, "links", i);
        if (read_link(w, &list->as.item[i]) < 0)
            return -1;
    }
    return 0;
}

int sndlib_json_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct wiring *w = wiring_new(in, e);
    int rc = w && read_all(w) == 0 ? wiring_fabric(w, out) : -1;
    wiring_free(w);
    return rc;
}
