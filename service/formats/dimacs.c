/* DIMACS network files: lines by their first letter: c comment, p problem, n supply of a node, a arc. */
#include <stdio.h>
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"

struct dimacs {
    struct wiring *w;
    int64_t narc, seen;
    int with_cost; /* p min: low cap cost; p max: cap */
};

static int read_problem(struct dimacs *d, struct text t)
{
    struct text kind = text_word(&t), nodes = text_word(&t), arcs = text_word(&t);
    int64_t n;
    if (d->narc >= 0)
        return wiring_bad(d->w, "a second problem line");
    d->with_cost = text_is(kind, "min");
    if (!d->with_cost && !text_is(kind, "max"))
        return wiring_bad(d->w, "problem \"%.*s\" is neither min nor max", TEXT_SAY(kind));
    if (!text_integer(nodes, &n) || n < 1 || n > d->w->in->file->n)
        return wiring_bad(d->w, "\"%.*s\" nodes are out of range for a file of %lld bytes", TEXT_SAY(nodes),
                          (long long)d->w->in->file->n);
    if (!text_integer(arcs, &d->narc) || d->narc < 0 || text_word(&t).n > 0)
        return wiring_bad(d->w, "\"%.*s\" is no number of arcs", TEXT_SAY(arcs));
    for (int64_t i = 1; i <= n; i++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)i);
        int32_t v = wiring_new_node(d->w, (struct text){ name, (int)strlen(name) });
        if (v < 0)
            return -1;
        d->w->node[v].kind = NODE_SWITCH;
    }
    wiring_note(d->w, "file with capacities that have no unit, read as Gb/s");
    return 0;
}

static int read_arc(struct dimacs *d, struct text t)
{
    struct wire_cable c = { .directed = 1 };
    int64_t end[2];
    double low = 0;
    for (int k = 0; k < 2; k++) {
        struct text word = text_word(&t);
        if (!text_integer(word, &end[k]) || end[k] < 1 || end[k] > d->w->nnode)
            return wiring_bad(d->w, "node \"%.*s\" is not in [1, %d]", TEXT_SAY(word), d->w->nnode);
    }
    struct text lower = d->with_cost ? text_word(&t) : (struct text){ "0", 1 }, cap = text_word(&t);
    struct text cost = d->with_cost ? text_word(&t) : (struct text){ "0", 1 };
    if (!text_real(lower, &low) || !text_real(cap, &c.gbps) || !text_real(cost, &c.cost) || text_word(&t).n > 0)
        return wiring_bad(d->w, "an arc of this problem is: a tail head %s", d->with_cost ? "low cap cost" : "cap");
    d->seen++;
    if (low > 0 || low < 0)
        return wiring_bad(d->w, "the lower bound %g of this arc can not be kept: there is none in a fabric", low);
    c.from = (int32_t)end[0] - 1;
    c.to = (int32_t)end[1] - 1;
    if (c.gbps < 0) {
        wiring_note(d->w, "arcs of unbounded capacity");
        c.gbps = 0;
    } else if (!(c.gbps > 0)) {
        wiring_note(d->w, "arcs of capacity 0 left out");
        return 0;
    }
    return wiring_cable(d->w, &c);
}

static int read_line(struct dimacs *d, struct text t)
{
    struct text letter = text_word(&t);
    if (letter.n == 0 || *letter.at == 'c')
        return 0;
    if (text_is(letter, "p"))
        return read_problem(d, t);
    if (!text_is(letter, "a") && !text_is(letter, "n"))
        return wiring_bad(d->w, "\"%.*s\" starts no line of a DIMACS file", TEXT_SAY(letter));
    if (d->narc < 0)
        return wiring_bad(d->w, "this line stands before the problem line");
    if (text_is(letter, "a"))
        return read_arc(d, t);
    wiring_note(d->w, "supplies of nodes left out");
    return 0;
}

int dimacs_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct dimacs d = { .w = wiring_new(in, e), .narc = -1 };
    struct scan s = scan_start(in->file->data, in->file->n);
    struct text t;
    int more, rc = d.w ? 0 : -1;
    while (rc == 0 && (more = scan_line(&s, &t)) != 0) {
        wiring_line(d.w, 0, s.line);
        rc = more < 0 ? wiring_bad(d.w, "a line of more than a megabyte") : read_line(&d, t);
    }
    if (rc == 0 && d.narc >= 0 && d.seen != d.narc)
        rc = wiring_bad(d.w, "%lld arcs, but the problem line says %lld", (long long)d.seen, (long long)d.narc);
    if (rc == 0)
        rc = wiring_fabric(d.w, out);
    wiring_free(d.w);
    return rc;
}
