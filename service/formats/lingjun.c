/* topo.csv of the Lingjun data set: one row per host with the switches above it, by the names in the header. */
#include <stdio.h>
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"

enum { HOST, ASW, PSW, DSW, LEVELS };

static const char *const title[LEVELS] = { "ip", "ASW", "PSW", "DSW" };

struct lingjun {
    struct wiring *w;
    struct names *pair;
    int column[LEVELS], known;
};

static int read_header(struct lingjun *r, struct text t)
{
    struct text cell;
    for (int k = 0; k < LEVELS; k++)
        r->column[k] = -1;
    for (int i = 0; text_cell(&t, &cell) > 0; i++)
        for (int k = 0; k < LEVELS; k++)
            if (text_is(cell, title[k]))
                r->column[k] = i;
    for (int k = 0; k < LEVELS; k++)
        if (r->column[k] < 0)
            return wiring_bad(r->w, "the header has no column %s", title[k]);
    r->known = 1;
    return 0;
}

static int join(struct lingjun *r, int32_t lower, int32_t upper)
{
    char key[40];
    snprintf(key, sizeof key, "%d %d", lower, upper);
    int there = names_add(r->pair, key, 0, r->w->e);
    return there != 0 ? (there > 0 ? 0 : -1) : wiring_cable(r->w, &(struct wire_cable){ .from = lower, .to = upper });
}

static int read_line(struct lingjun *r, struct text t)
{
    struct text cell, name[LEVELS] = { { "", 0 }, { "", 0 }, { "", 0 }, { "", 0 } };
    int32_t v[LEVELS];
    int more;
    if (text_trim(t).n == 0)
        return 0;
    if (!r->known)
        return read_header(r, t);
    for (int i = 0; (more = text_cell(&t, &cell)) > 0; i++)
        for (int k = 0; k < LEVELS; k++)
            if (r->column[k] == i)
                name[k] = text_trim(cell);
    if (more < 0)
        return wiring_bad(r->w, "a quote never closes");
    for (int k = 0; k < LEVELS; k++) {
        if (name[k].n == 0)
            return wiring_bad(r->w, "the %s is missing", title[k]);
        v[k] = k == HOST ? wiring_new_node(r->w, name[k]) : wiring_node(r->w, name[k]);
        if (v[k] < 0)
            return -1;
        struct wire_node *n = &r->w->node[v[k]];
        if (n->tier >= 0 && n->tier != k)
            return wiring_bad(r->w, "\"%.*s\" is a %s and a %s", TEXT_SAY(name[k]), title[n->tier], title[k]);
        n->tier = k;
        n->kind = k == HOST ? NODE_NIC : NODE_SWITCH;
    }
    for (int k = 0; k + 1 < LEVELS; k++)
        if (join(r, v[k], v[k + 1]) < 0)
            return -1;
    return 0;
}

int lingjun_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct lingjun r = { .w = wiring_new(in, e), .pair = names_new(e) };
    struct scan s = scan_start(in->file->data, in->file->n);
    struct text t;
    int more, rc = r.w && r.pair ? 0 : -1;
    while (rc == 0 && (more = scan_line(&s, &t)) != 0) {
        wiring_line(r.w, 0, s.line);
        rc = more < 0 ? wiring_bad(r.w, "a line of more than a megabyte") : read_line(&r, t);
    }
    if (rc == 0)
        rc = wiring_fabric(r.w, out);
    wiring_free(r.w);
    names_free(r.pair);
    return rc;
}
