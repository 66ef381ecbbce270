/* topology.conf: lines of Key=Value, comments behind #, a line that ends in a backslash goes on. */
#include <stdlib.h>
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/switch_tree.h"

enum { SWITCH_NAME, NODES, SWITCHES, BLOCK_NAME, BLOCK_SIZES, LINK_SPEED, KEYS };

static const char *const key_name[KEYS] = { "SwitchName", "Nodes", "Switches", "BlockName", "BlockSizes", "LinkSpeed" };

struct conf {
    struct switch_tree tree;
    char *joined; /* a line that goes on over several */
    int64_t joined_n, joined_room;
};

static int read_sizes(struct conf *c, struct text list)
{
    while (list.n > 0)
        if (tree_block_size(&c->tree, text_trim(text_until(&list, ','))) < 0)
            return -1;
    return 0;
}

static int read_entry(struct conf *c, const struct text *value)
{
    struct wiring *w = c->tree.w;
    if (value[BLOCK_SIZES].n > 0)
        return read_sizes(c, value[BLOCK_SIZES]);
    if (value[BLOCK_NAME].n > 0) {
        if (value[NODES].n == 0 || value[SWITCH_NAME].n > 0 || value[SWITCHES].n > 0)
            return wiring_bad(w, "block \"%.*s\" needs Nodes, and nothing else", TEXT_SAY(value[BLOCK_NAME]));
        return tree_block(&c->tree, value[BLOCK_NAME], value[NODES]);
    }
    if (value[SWITCH_NAME].n == 0)
        return wiring_bad(w, "the line has neither SwitchName nor BlockName nor BlockSizes");
    if ((value[NODES].n > 0) == (value[SWITCHES].n > 0))
        return wiring_bad(w, "switch \"%.*s\" needs either Nodes or Switches", TEXT_SAY(value[SWITCH_NAME]));
    int32_t v = tree_switch(&c->tree, value[SWITCH_NAME]);
    if (v < 0)
        return -1;
    return value[NODES].n > 0 ? tree_nodes(&c->tree, v, value[NODES]) : tree_children(&c->tree, v, value[SWITCHES]);
}

static int read_line(struct conf *c, struct text t)
{
    struct wiring *w = c->tree.w;
    struct text value[KEYS] = { { 0 } };
    text_skip_blank(&t);
    if (t.n == 0)
        return 0;
    while (t.n > 0) {
        struct text pair = { t.at, 0 };
        int quoted = 0, k = 0;
        while (pair.n < t.n && (quoted || !strchr(" \t", t.at[pair.n])))
            quoted ^= t.at[pair.n++] == '"';
        text_skip(&t, pair.n);
        text_skip_blank(&t);
        struct text rest = pair, key = text_until(&rest, '=');
        while (k < KEYS && !text_is(text_trim(key), key_name[k]))
            k++;
        if (k == KEYS)
            return wiring_bad(w, "\"%.*s\" is no key of topology.conf", TEXT_SAY(key));
        if (rest.n > 1 && *rest.at == '"' && rest.at[rest.n - 1] == '"')
            rest = (struct text){ rest.at + 1, rest.n - 2 };
        if (rest.n == 0)
            return wiring_bad(w, "%s has no value", key_name[k]);
        if (value[k].n > 0)
            return wiring_bad(w, "%s stands twice in the line", key_name[k]);
        value[k] = rest;
    }
    return read_entry(c, value);
}

static int join(struct conf *c, struct text t)
{
    void *joined = c->joined;
    if (c->joined_n + t.n > 1 << 24)
        return wiring_bad(c->tree.w, "a line of more than 16 megabytes");
    if (array_grow(&joined, &c->joined_room, c->joined_n + t.n + 1, 1) < 0)
        return fail(c->tree.w->e, E_MEMORY, "out of memory for a line");
    c->joined = joined;
    memcpy(c->joined + c->joined_n, t.at, (size_t)t.n);
    c->joined_n += t.n;
    return 0;
}

static int take_line(struct conf *c, struct text t)
{
    t = text_until(&t, '#');
    t = text_trim(t);
    int goes_on = t.n > 0 && t.at[t.n - 1] == '\\';
    t.n -= goes_on;
    if (c->joined_n > 0 || goes_on) {
        if (join(c, t) < 0)
            return -1;
        if (goes_on)
            return 0;
        t = (struct text){ c->joined, (int)c->joined_n };
        c->joined_n = 0;
    }
    return read_line(c, t);
}

int slurm_conf_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct conf c = { 0 };
    struct scan s = scan_start(in->file->data, in->file->n);
    struct text t;
    int more, rc = tree_new(&c.tree, in, e);
    while (rc == 0 && (more = scan_line(&s, &t)) != 0) {
        wiring_line(c.tree.w, 0, s.line);
        rc = more < 0 ? wiring_bad(c.tree.w, "a line of more than a megabyte") : take_line(&c, t);
    }
    if (rc == 0 && c.joined_n > 0)
        rc = read_line(&c, (struct text){ c.joined, (int)c.joined_n });
    if (rc == 0)
        rc = tree_fabric(&c.tree, out);
    tree_free(&c.tree);
    free(c.joined);
    return rc;
}
