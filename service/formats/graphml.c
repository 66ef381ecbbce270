/* GraphML, as the Internet Topology Zoo has it: nodes with a label, edges with LinkSpeedRaw in bit/s (or a capacity
 * without a unit). Labels that are "None" or not unique get the id behind them: "Athens#12".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"
#include "service/formats/xml.h"

struct graphml {
    struct wiring *w;
    struct names *id, *label; /* ids to nodes; labels to uses */
    int32_t *uses;
    const char *label_key, *raw_key, *capacity_key; /* ids of <key>s, or NULL */
};

static int bad(struct graphml *r, const struct xml *x, const char *what)
{
    wiring_line(r->w, 0, x->line);
    return wiring_bad(r->w, "<%.40s> %s", x->name, what);
}

static const char *data_of(const struct xml *x, const char *key)
{
    for (const struct xml *d = x->first; key && d; d = d->next) {
        const char *k = !strcmp(d->name, "data") ? xml_attribute(d, "key") : NULL;
        if (k && !strcmp(k, key))
            return *d->text ? d->text : NULL;
    }
    return NULL;
}

static int read_keys(struct graphml *r, const struct xml *root)
{
    for (const struct xml *k = root->first; k; k = k->next) {
        if (strcmp(k->name, "key") != 0)
            continue;
        const char *id = xml_attribute(k, "id"), *name = xml_attribute(k, "attr.name"), *of = xml_attribute(k, "for");
        if (!id)
            return bad(r, k, "has no id");
        int node = !of || !strcmp(of, "node") || !strcmp(of, "all"), edge = !of || strcmp(of, "node") != 0;
        if (node && name && !strcmp(name, "label"))
            r->label_key = id;
        if (edge && name && !strcmp(name, "LinkSpeedRaw"))
            r->raw_key = id;
        if (edge && name && (!strcmp(name, "capacity") || !strcmp(name, "bandwidth")))
            r->capacity_key = id;
    }
    return 0;
}

static const char *usable_label(struct graphml *r, const struct xml *node)
{
    const char *label = data_of(node, r->label_key);
    return label && strcmp(label, "None") != 0 && strlen(label) <= TEXT_NAME ? label : NULL;
}

static int count_labels(struct graphml *r, const struct xml *graph)
{
    int64_t n = 0;
    for (const struct xml *x = graph->first; x; x = x->next)
        n++;
    r->uses = array(n, sizeof *r->uses);
    if (!r->uses)
        return fail(r->w->e, E_MEMORY, "out of memory for %lld nodes", (long long)n);
    for (const struct xml *x = graph->first; x; x = x->next) {
        const char *label = !strcmp(x->name, "node") ? usable_label(r, x) : NULL;
        int64_t k = label ? names_intern(r->label, label, r->w->e) : 0;
        if (k < 0)
            return -1;
        if (label)
            r->uses[k]++;
    }
    return 0;
}

static int read_node(struct graphml *r, const struct xml *x)
{
    char name[2 * TEXT_NAME + 16];
    const char *id = xml_attribute(x, "id"), *label = usable_label(r, x);
    if (!id || !*id || strlen(id) > TEXT_NAME)
        return bad(r, x, "has no id of at most 200 bytes");
    if (xml_child(x, "graph"))
        return bad(r, x, "holds a graph of its own, which is not read");
    wiring_line(r->w, 0, x->line);
    if (r->label_key && (!label || r->uses[names_find(r->label, label)] > 1)) {
        wiring_note(r->w, "nodes whose label is missing or not unique, called label#id");
        snprintf(name, sizeof name, "%s#%s", label ? label : "node", id);
    } else {
        snprintf(name, sizeof name, "%s", label ? label : id);
    }
    int32_t v = wiring_new_node(r->w, (struct text){ name, (int)strlen(name) });
    if (v < 0)
        return -1;
    r->w->node[v].kind = NODE_SWITCH;
    int known = names_add(r->id, id, v, r->w->e);
    return known > 0 ? bad(r, x, "has an id that another node has") : known;
}

static int edge_end(struct graphml *r, const struct xml *x, const char *which, int32_t *v)
{
    const char *id = xml_attribute(x, which);
    int64_t k = id ? names_find(r->id, id) : -1;
    wiring_line(r->w, 0, x->line);
    if (k < 0)
        return wiring_bad(r->w, "<edge> has the %s \"%.60s\", which is no node's id", which, id ? id : "");
    *v = (int32_t)k;
    return 0;
}

static int read_edge(struct graphml *r, const struct xml *x, int directed)
{
    struct wire_cable c = { .directed = directed };
    const char *own = xml_attribute(x, "directed"), *raw = data_of(x, r->raw_key);
    const char *capacity = data_of(x, r->capacity_key), *number = raw ? raw : capacity;
    if (own)
        c.directed = !strcmp(own, "true");
    if (edge_end(r, x, "source", &c.from) < 0 || edge_end(r, x, "target", &c.to) < 0)
        return -1;
    if (number &&
        (strlen(number) > 60 || !text_real((struct text){ number, (int)strlen(number) }, &c.gbps) || !(c.gbps >= 0)))
        return wiring_bad(r->w, "<edge> has the capacity \"%.60s\", which is no number", number);
    if (raw)
        c.gbps *= 1e-9;
    else if (capacity)
        wiring_note(r->w, "capacities without a unit, read as Gb/s");
    return wiring_cable(r->w, &c);
}

static int read_all(struct graphml *r)
{
    struct xml *root = NULL, *graph;
    const struct format_file *f = r->w->in->file;
    if (xml_read(f->path, f->data, f->n, r->w->arena, &root, r->w->e) < 0)
        return -1;
    if (strcmp(root->name, "graphml") != 0 || !(graph = xml_child(root, "graph")))
        return bad(r, root, "is no <graphml> with a <graph>");
    const char *direction = xml_attribute(graph, "edgedefault");
    if (read_keys(r, root) < 0 || count_labels(r, graph) < 0)
        return -1;
    for (const struct xml *x = graph->first; x; x = x->next)
        if (!strcmp(x->name, "node") && read_node(r, x) < 0)
            return -1;
    for (const struct xml *x = graph->first; x; x = x->next)
        if (!strcmp(x->name, "hyperedge"))
            return bad(r, x, "joins more than two nodes, which no cable does");
        else if (!strcmp(x->name, "edge") && read_edge(r, x, direction && !strcmp(direction, "directed")) < 0)
            return -1;
    return 0;
}

int graphml_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct graphml r = { .w = wiring_new(in, e), .id = names_new(e), .label = names_new(e) };
    int rc = r.w && r.id && r.label && read_all(&r) == 0 ? wiring_fabric(r.w, out) : -1;
    wiring_free(r.w);
    names_free(r.id);
    names_free(r.label);
    free(r.uses);
    return rc;
}
