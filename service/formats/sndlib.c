/* SNDlib native: sections NAME ( ... ) of words and brackets; # starts a comment. */
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"

struct sndlib {
    struct wiring *w;
    struct scan scan;
    struct text line; /* the rest of the present line */
    double unit;      /* Gb/s of a capacity of 1 */
    int has_unit, more;
};

/* The next token: a bracket or a word; n = 0 at the end of the file or -1 with e set. */
static int token(struct sndlib *r, struct text *t)
{
    for (;;) {
        text_skip_blank(&r->line);
        if (r->line.n > 0 && *r->line.at != '#' && *r->line.at != '?')
            break;
        r->more = scan_line(&r->scan, &r->line);
        if (r->more <= 0) {
            r->line.n = 0;
            *t = (struct text){ r->scan.at, 0 };
            return r->more < 0 ? wiring_bad(r->w, "a line of more than a megabyte") : 0;
        }
        wiring_line(r->w, 0, r->scan.line);
    }
    *t = (struct text){ r->line.at, 0 };
    if (*t->at == '(' || *t->at == ')')
        t->n = 1;
    else
        while (t->n < r->line.n && !memchr("() \t\r\n", t->at[t->n], 6))
            t->n++;
    text_skip(&r->line, t->n);
    return 0;
}

static int expect(struct sndlib *r, const char *what)
{
    struct text t;
    if (token(r, &t) < 0)
        return -1;
    return text_is(t, what) ? 0 : wiring_bad(r->w, "\"%.*s\" stands where \"%s\" should", TEXT_SAY(t), what);
}

static int number(struct sndlib *r, const char *what, double *x)
{
    struct text t;
    if (token(r, &t) < 0)
        return -1;
    return text_real(t, x) ? 0 : wiring_bad(r->w, "%s \"%.*s\" is no number", what, TEXT_SAY(t));
}

/* Up to the bracket that closes the one already taken. */
static int skip_bracket(struct sndlib *r)
{
    struct text t;
    for (int64_t depth = 1; depth > 0;) {
        if (token(r, &t) < 0)
            return -1;
        if (t.n == 0)
            return wiring_bad(r->w, "the file ends inside brackets");
        depth += text_is(t, "(") ? 1 : text_is(t, ")") ? -1 : 0;
    }
    return 0;
}

/* META: only "unit = WORD", which stands alone on a line, matters. */
static int read_meta(struct sndlib *r)
{
    static const struct {
        const char *name;
        double gbps;
    } unit[] = { { "BITPERSEC", 1e-9 }, { "KBITPERSEC", 1e-6 }, { "MBITPERSEC", 1e-3 }, { "GBITPERSEC", 1 } };
    struct text t = { 0 }, last[2] = { { "", 0 }, { "", 0 } };
    for (int64_t depth = 1; depth > 0;) {
        if (token(r, &t) < 0)
            return -1;
        if (t.n == 0)
            return wiring_bad(r->w, "the file ends inside META");
        depth += text_is(t, "(") ? 1 : text_is(t, ")") ? -1 : 0;
        for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
            if (text_is(last[0], "unit") && text_is(last[1], "=") && text_is(t, unit[i].name)) {
                r->unit = unit[i].gbps;
                r->has_unit = 1;
            }
        last[0] = last[1];
        last[1] = t;
    }
    return 0;
}

static int read_node(struct sndlib *r, struct text id)
{
    int32_t v = wiring_new_node(r->w, id);
    struct text t;
    if (v < 0)
        return -1;
    r->w->node[v].kind = NODE_SWITCH;
    struct sndlib ahead = *r; /* the coordinates are optional */
    if (token(&ahead, &t) < 0)
        return -1;
    if (!text_is(t, "("))
        return 0;
    *r = ahead;
    return skip_bracket(r);
}

/* id ( s t ) preCap preCost routingCost setupCost ( {cap cost}* ) */
static int read_link(struct sndlib *r, struct text id)
{
    struct text s, t;
    struct wire_cable c = { 0 };
    double skip;
    if (expect(r, "(") < 0 || token(r, &s) < 0 || token(r, &t) < 0 || expect(r, ")") < 0)
        return -1;
    c.from = wiring_known(r->w, s);
    c.to = c.from < 0 ? -1 : wiring_known(r->w, t);
    if (c.to < 0 || number(r, "the installed capacity", &c.gbps) < 0 || number(r, "its cost", &skip) < 0 ||
        number(r, "the routing cost", &c.cost) < 0 || number(r, "the setup cost", &skip) < 0 || expect(r, "(") < 0)
        return -1;
    struct place here = r->w->place;
    if (skip_bracket(r) < 0)
        return -1;
    r->w->place = here;
    if (c.gbps < 0)
        return wiring_bad(r->w, "link \"%.*s\": capacity %g must not be negative", TEXT_SAY(id), c.gbps);
    if (!(c.gbps > 0))
        wiring_note(r->w, "links without an installed capacity");
    else if (!r->has_unit)
        wiring_note(r->w, "capacities without a unit, read as Gb/s");
    c.gbps *= r->unit;
    return wiring_cable(r->w, &c);
}

static int read_section(struct sndlib *r, struct text name)
{
    struct text t;
    if (expect(r, "(") < 0)
        return -1;
    if (text_is(name, "META"))
        return read_meta(r);
    int nodes = text_is(name, "NODES"), links = text_is(name, "LINKS");
    if (!nodes && !links) {
        wiring_note(r->w, "sections that are no part of a fabric, left out");
        return skip_bracket(r);
    }
    for (;;) {
        if (token(r, &t) < 0)
            return -1;
        if (t.n == 0)
            return wiring_bad(r->w, "the file ends inside %s", nodes ? "NODES" : "LINKS");
        if (text_is(t, ")"))
            return 0;
        if ((nodes ? read_node(r, t) : read_link(r, t)) < 0)
            return -1;
    }
}

static int read_all(struct sndlib *r)
{
    struct text name;
    for (;;) {
        if (token(r, &name) < 0)
            return -1;
        if (name.n == 0)
            return 0;
        if (text_is(name, "(") || text_is(name, ")"))
            return wiring_bad(r->w, "a bracket stands where a section's name should");
        if (read_section(r, name) < 0)
            return -1;
    }
}

int sndlib_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct sndlib r = { .w = wiring_new(in, e), .scan = scan_start(in->file->data, in->file->n), .unit = 1 };
    int rc = r.w && read_all(&r) == 0 ? wiring_fabric(r.w, out) : -1;
    wiring_free(r.w);
    return rc;
}
