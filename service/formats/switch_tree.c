#include "service/formats/switch_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/hostlist.h"

int tree_new(struct switch_tree *t, const struct format_input *in, struct err *e)
{
    *t = (struct switch_tree){ .w = wiring_new(in, e) };
    t->pair = t->w ? names_new(e) : NULL;
    return t->pair ? 0 : -1;
}

void tree_free(struct switch_tree *t)
{
    wiring_free(t->w);
    names_free(t->pair);
    free(t->block);
    free(t->block_size);
}

int32_t tree_switch(struct switch_tree *t, struct text name)
{
    struct wiring *w = t->w;
    int32_t v = wiring_node(w, name);
    if (v < 0)
        return -1;
    if (w->node[v].kind == NODE_SWITCH)
        return wiring_bad(w, "switch \"%.*s\" is described twice", TEXT_SAY(name));
    if (w->node[v].kind == NODE_NIC)
        return wiring_bad(w, "\"%.*s\" is a node and a switch", TEXT_SAY(name));
    w->node[v].kind = NODE_SWITCH;
    w->node[v].place = w->place;
    return v;
}

/* ---- what hangs on a switch ---- */

struct hang {
    struct switch_tree *t;
    int32_t sw;
    int nodes; /* 1: nodes of the cluster, 0: switches */
    int64_t count;
};

static int add_below(struct switch_tree *t, int32_t below, int32_t sw)
{
    char key[40];
    snprintf(key, sizeof key, "%d %d", below, sw);
    int rc = names_add(t->pair, key, 0, t->w->e);
    if (rc > 0)
        return wiring_bad(t->w, "\"%.60s\" hangs on \"%.60s\" twice", t->w->node[below].name, t->w->node[sw].name);
    if (below == sw)
        return wiring_bad(t->w, "switch \"%.60s\" hangs on itself", t->w->node[sw].name);
    return rc < 0 ? -1 : wiring_cable(t->w, &(struct wire_cable){ .from = below, .to = sw });
}

static int hang_one(void *context, struct text name)
{
    struct hang *h = context;
    struct wiring *w = h->t->w;
    int32_t v = wiring_node(w, name);
    if (v < 0)
        return -1;
    h->count++;
    if (h->nodes) {
        if (w->node[v].kind == NODE_SWITCH)
            return wiring_bad(w, "\"%.*s\" is a node and a switch", TEXT_SAY(name));
        w->node[v].kind = NODE_NIC;
        w->node[v].tier = 0;
    } else if (w->node[v].kind == NODE_NIC) {
        return wiring_bad(w, "\"%.*s\" is a node and a switch", TEXT_SAY(name));
    }
    return add_below(h->t, v, h->sw);
}

/* Sentences of the host list itself get their place here; all others have one. */
static int hang_all(struct hang *h, struct text list)
{
    struct err e = { 0 };
    struct wiring *w = h->t->w;
    w->e->code = E_NONE;
    if (hostlist_expand(list, hang_one, h, &e) == 0)
        return 0;
    return e.code != E_NONE ? wiring_bad(w, "%s", e.text) : -1;
}

int tree_children(struct switch_tree *t, int32_t sw, struct text list)
{
    return hang_all(&(struct hang){ .t = t, .sw = sw }, list);
}

int tree_nodes(struct switch_tree *t, int32_t sw, struct text list)
{
    return hang_all(&(struct hang){ .t = t, .sw = sw, .nodes = 1 }, list);
}

/* ---- blocks ---- */

int tree_block(struct switch_tree *t, struct text name, struct text list)
{
    int32_t v = tree_switch(t, name);
    void *block = t->block, *size = t->block_size;
    struct hang h = { .t = t, .sw = v, .nodes = 1 };
    if (v < 0 || hang_all(&h, list) < 0)
        return -1;
    if (array_grow(&block, &t->block_room, (int64_t)t->nblock + 1, sizeof *t->block) < 0)
        return fail(t->w->e, E_MEMORY, "out of memory for %d blocks", t->nblock);
    t->block = block;
    if (array_grow(&size, &t->size_room, (int64_t)t->nblock + 1, sizeof *t->block_size) < 0)
        return fail(t->w->e, E_MEMORY, "out of memory for %d blocks", t->nblock);
    t->block_size = size;
    t->block[t->nblock] = v;
    t->block_size[t->nblock++] = h.count;
    return 0;
}

int tree_block_size(struct switch_tree *t, struct text number)
{
    int64_t x, last = t->nsize > 0 ? t->size[t->nsize - 1] : 1;
    if (!text_integer(number, &x) || x < 1 || x % last != 0 || (t->nsize > 0 && x == last))
        return wiring_bad(t->w, "block size \"%.*s\" is no larger multiple of the size before it, %lld",
                          TEXT_SAY(number), (long long)last);
    if (t->nsize == TREE_SIZES)
        return wiring_bad(t->w, "more than %d block sizes", TREE_SIZES);
    t->size[t->nsize++] = x;
    return 0;
}

/* Each further size joins the next size / smaller size blocks, in the order of the file. */
static int join_blocks(struct switch_tree *t)
{
    int32_t n = t->nblock;
    for (int32_t s = 1; s < t->nsize && n > 1; s++) {
        int64_t ratio = t->size[s] / t->size[s - 1];
        int32_t joined = 0;
        for (int32_t i = 0; i < n; joined++) {
            char name[64];
            snprintf(name, sizeof name, "block%lld.%d", (long long)t->size[s], joined);
            int32_t v = tree_switch(t, (struct text){ name, (int)strlen(name) });
            if (v < 0)
                return -1;
            for (int64_t k = 0; k < ratio && i < n; k++, i++)
                if (add_below(t, t->block[i], v) < 0)
                    return -1;
            t->block[joined] = v;
        }
        n = joined;
    }
    if (n > 1)
        wiring_note(t->w, "file whose largest blocks are joined by nothing");
    return 0;
}

/* ---- tiers ---- */

static int check_described(struct switch_tree *t)
{
    struct wiring *w = t->w;
    for (int32_t v = 0; v < w->nnode; v++) {
        if (w->node[v].kind != KIND_UNKNOWN)
            continue;
        if (!t->bare)
            return wiring_bad_at(w, &w->node[v].place, "switch \"%.60s\" is described nowhere", w->node[v].name);
        w->node[v].kind = NODE_SWITCH;
        format_note(w->report, "switches with nothing below them", w->node[v].place.line);
    }
    return 0;
}

/* Cables go from below to above. waits[v]: cables from below whose lower end has no tier yet. above: list of cables by
 * lower end, in first/next form. */
static int set_heights(struct switch_tree *t, int32_t *waits, int32_t *first, int32_t *next, int32_t *queue)
{
    struct wiring *w = t->w;
    int32_t n = 0;
    for (int32_t v = 0; v < w->nnode; v++)
        first[v] = -1;
    for (int32_t i = w->ncable - 1; i >= 0; i--) {
        waits[w->cable[i].to]++;
        next[i] = first[w->cable[i].from];
        first[w->cable[i].from] = i;
    }
    for (int32_t v = 0; v < w->nnode; v++) {
        w->node[v].tier = w->node[v].kind == NODE_NIC ? 0 : 1;
        if (waits[v] == 0)
            queue[n++] = v;
    }
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = first[queue[k]]; i >= 0; i = next[i]) {
            struct wire_node *up = &w->node[w->cable[i].to];
            if (up->tier < w->node[queue[k]].tier + 1)
                up->tier = w->node[queue[k]].tier + 1;
            if (--waits[w->cable[i].to] == 0)
                queue[n++] = w->cable[i].to;
        }
    for (int32_t v = 0; n < w->nnode && v < w->nnode; v++)
        if (waits[v] > 0)
            return wiring_bad_at(w, &w->node[v].place, "switch \"%.60s\" hangs below itself", w->node[v].name);
    return 0;
}

int tree_fabric(struct switch_tree *t, struct fabric **out)
{
    struct wiring *w = t->w;
    if (check_described(t) < 0 || (t->nblock > 0 && join_blocks(t) < 0))
        return -1;
    int32_t *waits = array(w->nnode, sizeof *waits), *first = array(w->nnode, sizeof *first);
    int32_t *next = array(w->ncable, sizeof *next), *queue = array(w->nnode, sizeof *queue);
    int rc = waits && first && next && queue ? set_heights(t, waits, first, next, queue)
                                             : fail(w->e, E_MEMORY, "out of memory for %d nodes", w->nnode);
    free(waits);
    free(first);
    free(next);
    free(queue);
    return rc < 0 ? -1 : wiring_fabric(w, out);
}
