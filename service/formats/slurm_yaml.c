/* topology.yaml: a list of topologies, of which one tree or block is read: the cluster's default, else the first. */
#include <string.h>

#include "service/formats/entry.h"
#include "service/formats/readers.h"
#include "service/formats/switch_tree.h"

static int read_tree(struct switch_tree *t, const struct value *tree)
{
    struct wiring *w = t->w;
    struct text name, children, nodes;
    const struct value *list = entry_list(w, tree, "switches");
    for (int64_t i = 0; list && i < list->n; i++) {
        const struct value *sw = &list->as.item[i];
        wiring_entry(w, 0, "tree.switches", i);
        if (entry_text(w, sw, "switch", &name) < 0 || entry_maybe(w, sw, "children", &children) < 0 ||
            entry_maybe(w, sw, "nodes", &nodes) < 0)
            return -1;
        if ((children.n > 0) == (nodes.n > 0))
            return wiring_bad(w, "switch \"%.*s\" needs either nodes or children", TEXT_SAY(name));
        int32_t v = tree_switch(t, name);
        if (v < 0 || (nodes.n > 0 ? tree_nodes(t, v, nodes) : tree_children(t, v, children)) < 0)
            return -1;
    }
    return list ? 0 : -1;
}

static int read_blocks(struct switch_tree *t, const struct value *block)
{
    struct wiring *w = t->w;
    struct text name, nodes, size;
    const struct value *sizes = value_get(block, "block_sizes");
    for (int64_t i = 0; sizes && sizes->kind == VALUE_LIST && i < sizes->n; i++) {
        wiring_entry(w, 0, "block.block_sizes", i);
        if (entry_word(w, &sizes->as.item[i], "size", &size) < 0 || tree_block_size(t, size) < 0)
            return -1;
    }
    const struct value *list = entry_list(w, block, "blocks");
    for (int64_t i = 0; list && i < list->n; i++) {
        wiring_entry(w, 0, "block.blocks", i);
        if (entry_text(w, &list->as.item[i], "block", &name) < 0 ||
            entry_text(w, &list->as.item[i], "nodes", &nodes) < 0 || tree_block(t, name, nodes) < 0)
            return -1;
    }
    return list ? 0 : -1;
}

static int is_default(const struct value *topology)
{
    const struct value *v = value_get(topology, "cluster_default");
    return v && v->kind == VALUE_TEXT && (!strcasecmp(v->as.bytes, "true") || !strcasecmp(v->as.bytes, "yes"));
}

static int read_all(struct switch_tree *t)
{
    struct wiring *w = t->w;
    const struct value *root, *best = NULL;
    if (entry_open(w, 0, ENTRY_YAML, &root) < 0)
        return -1;
    if (root->kind != VALUE_LIST)
        return wiring_bad(w, "wanted a list of topologies");
    for (int64_t i = 0; i < root->n; i++) {
        const struct value *topology = &root->as.item[i];
        int usable = value_get(topology, "tree") || value_get(topology, "block");
        if (usable && (!best || (is_default(topology) && !is_default(best))))
            best = topology;
    }
    if (!best)
        return wiring_bad(w, "none of %lld topologies is a tree or a block", (long long)root->n);
    if (root->n > 1)
        wiring_note(w, "file with several topologies, of which one tree or block is read");
    const struct value *tree = value_get(best, "tree");
    return tree ? read_tree(t, tree) : read_blocks(t, value_get(best, "block"));
}

int slurm_yaml_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct switch_tree t = { 0 };
    int rc = tree_new(&t, in, e) == 0 && read_all(&t) == 0 ? tree_fabric(&t, out) : -1;
    tree_free(&t);
    return rc;
}
