/* Model files of topograph: switches by name with the switches below them, and blocks of nodes below a switch. Domains
 * in the annotations are NVLink's: scale-up, no part of the fabric.
 */
#include <string.h>

#include "service/formats/entry.h"
#include "service/formats/readers.h"
#include "service/formats/switch_tree.h"

/* Several blocks may stand below one switch, and a switch may have blocks and switches. */
static int32_t any_switch(struct switch_tree *t, struct text name)
{
    int32_t v = wiring_node(t->w, name);
    if (v >= 0 && t->w->node[v].kind == NODE_NIC)
        return wiring_bad(t->w, "\"%.*s\" is a node and a switch", TEXT_SAY(name));
    if (v >= 0)
        t->w->node[v].kind = NODE_SWITCH;
    return v;
}

static int below(struct switch_tree *t, int32_t sw, const struct value *map, const char *key,
                 int (*add)(struct switch_tree *t, int32_t sw, struct text list))
{
    struct text name;
    const struct value *list = value_get(map, key);
    if (!list || list->kind == VALUE_NULL)
        return 0;
    if (list->kind != VALUE_LIST)
        return wiring_bad(t->w, "%s: wanted a list", key);
    for (int64_t i = 0; i < list->n; i++)
        if (entry_word(t->w, &list->as.item[i], key, &name) < 0 || add(t, sw, name) < 0)
            return -1;
    return 0;
}

static int read_all(struct switch_tree *t)
{
    struct wiring *w = t->w;
    const struct value *root, *switches, *blocks;
    struct text name;
    if (entry_open(w, 0, ENTRY_YAML, &root) < 0 || !(switches = entry_map(w, root, "switches")))
        return -1;
    for (int64_t i = 0; i < switches->n; i++) {
        const struct pair *p = &switches->as.pair[i];
        wiring_entry(w, 0, "switches", i);
        int32_t v = any_switch(t, (struct text){ p->key, (int)strlen(p->key) });
        if (v < 0 || below(t, v, p->value, "switches", tree_children) < 0)
            return -1;
    }
    wiring_entry(w, 0, "document", -1);
    if (!(blocks = entry_list(w, root, "blocks")))
        return -1;
    for (int64_t i = 0; i < blocks->n; i++) {
        wiring_entry(w, 0, "blocks", i);
        if (entry_text(w, &blocks->as.item[i], "switch", &name) < 0)
            return -1;
        int32_t v = any_switch(t, name);
        if (v < 0 || below(t, v, &blocks->as.item[i], "nodes", tree_nodes) < 0)
            return -1;
    }
    return 0;
}

int topograph_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct switch_tree t = { 0 };
    int rc = tree_new(&t, in, e);
    t.bare = 1;
    if (rc == 0)
        rc = read_all(&t) == 0 ? tree_fabric(&t, out) : -1;
    tree_free(&t);
    return rc;
}
