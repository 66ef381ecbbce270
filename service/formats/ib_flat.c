/* Lines with both ends of a cable become the nodes and ports that ib_fabric.c pairs. */
#include "service/formats/readers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/ib.h"

struct end {
    struct text id, desc;
    int is_switch;
    int32_t port;
};

/* One side of a cable as a line tells it. */
struct side {
    int32_t node, port, peer, peer_port;
    int64_t line;
    double gbps;
};

struct flat {
    struct ib ib;
    struct side *side;
    int64_t nside, room;
    int by_port; /* an id is a port's, not an adapter's */
};

/* The node of an end, which is new or as it was. */
static int32_t end_node(struct flat *f, const struct end *end)
{
    char id[IB_NAME + 1];
    struct ib *r = &f->ib;
    void *data = r->node;
    text_out(end->id, id, sizeof id);
    int64_t k = names_find(r->id, id);
    if (k >= 0 && r->node[k].is_switch != end->is_switch)
        return ib_bad(r, r->line, "%s is a switch and an adapter, see line %lld", id, (long long)r->node[k].line);
    if (k >= 0)
        return (int32_t)k;
    if (names_add(r->id, id, r->nnode, r->e) < 0)
        return -1;
    if (r->nnode == INT32_MAX || array_grow(&data, &r->node_room, r->nnode + 1, sizeof *r->node) < 0)
        return ib_oom(r);
    r->node = data;
    r->node[r->nnode] =
        (struct ib_node){ .id = end->id, .desc = end->desc, .line = r->line, .is_switch = end->is_switch };
    struct ib_node *node = &r->node[r->nnode];
    node->suffix = f->by_port && !end->is_switch && end->port > 1 ? end->port : 0;
    node->left_out = !end->is_switch && text_contains(end->desc, "Aggregation Node");
    if (node->left_out)
        format_note(r->report, "SHARP aggregation nodes left out", r->line);
    return (int32_t)r->nnode++;
}

static int add_cable(struct flat *f, const struct end *a, const struct end *b, double gbps)
{
    int32_t v = end_node(f, a), u = v < 0 ? -1 : end_node(f, b);
    void *data = f->side;
    if (u < 0)
        return -1;
    if (array_grow(&data, &f->room, f->nside + 2, sizeof *f->side) < 0)
        return ib_oom(&f->ib);
    f->side = data;
    f->side[f->nside++] = (struct side){ v, a->port, u, b->port, f->ib.line, gbps };
    f->side[f->nside++] = (struct side){ u, b->port, v, a->port, f->ib.line, gbps };
    return 0;
}

static int by_port(const void *a, const void *b)
{
    const struct side *s = a, *t = b;
    if (s->node != t->node)
        return s->node < t->node ? -1 : 1;
    if (s->port != t->port)
        return s->port < t->port ? -1 : 1;
    return s->line < t->line ? -1 : s->line > t->line;
}

/* Sides told twice become one port; sides that contradict are refused. */
static int make_ports(struct flat *f)
{
    struct ib *r = &f->ib;
    if (f->nside > INT32_MAX)
        return ib_bad(r, r->line, "too many ports");
    qsort(f->side, (size_t)f->nside, sizeof *f->side, by_port);
    r->port = array(f->nside, sizeof *r->port);
    if (!r->port)
        return ib_oom(r);
    for (int64_t i = 0; i < f->nside; i++) {
        const struct side *s = &f->side[i];
        struct ib_node *node = &r->node[s->node];
        struct ib_port *last = node->nport > 0 ? &r->port[r->nport - 1] : NULL;
        if (last && last->port == s->port) {
            const struct side *t = s - 1;
            if (t->peer != s->peer || t->peer_port != s->peer_port)
                return ib_bad(r, s->line, "port %d of %.*s has another cable on line %lld", s->port, TEXT_SAY(node->id),
                              (long long)last->line);
            if (!(last->gbps > 0) || (s->gbps > 0 && s->gbps < last->gbps))
                last->gbps = s->gbps;
            continue;
        }
        if (node->nport == 0)
            node->first = (int32_t)r->nport;
        node->nport++;
        r->port[r->nport++] = (struct ib_port){ .node = s->node,
                                                .port = s->port,
                                                .peer_port = s->peer_port,
                                                .mate = -1,
                                                .peer = r->node[s->peer].id,
                                                .line = s->line,
                                                .gbps = s->gbps };
    }
    return 0;
}

static int read_flat(const struct format_input *in, int by_port, int (*line)(struct flat *f, struct text t),
                     const char *what, struct fabric **out, struct err *e)
{
    const struct format_file *file = in->file;
    struct flat f = { .ib = { .path = file->path, .report = in->report, .e = e, .overlay = in->overlay, .ask = 1 },
                      .by_port = by_port };
    struct scan s = scan_start(file->data, file->n);
    struct text t;
    int more = 0, rc = -1;
    f.ib.id = names_new(e);
    if (f.ib.id) {
        for (rc = 0; rc == 0 && (more = scan_line(&s, &t)) > 0;) {
            f.ib.line = s.line;
            rc = line(&f, text_trim(t));
        }
        if (rc == 0 && more < 0)
            rc = ib_bad(&f.ib, s.line, "a line of more than a megabyte");
        if (rc == 0 && f.nside == 0)
            rc = ib_bad(&f.ib, 1, "no cable found; is this %s?", what);
    }
    if (rc == 0)
        rc = make_ports(&f) < 0 ? -1 : ib_fabric(&f.ib, out);
    names_free(f.ib.id);
    free(f.ib.node);
    free(f.ib.port);
    free(f.side);
    return rc;
}

/* ---- ibnetdiscover -p ---- */

/* "CA   134  1 0x7cfe9003003b4bde" */
static int read_p_end(struct flat *f, struct text *t, struct end *end)
{
    struct text type = text_word(t), lid = text_word(t), port = text_word(t);
    end->id = text_word(t);
    end->is_switch = text_is(type, "SW") || text_is(type, "RT");
    end->port = text_number(port);
    if (!end->is_switch && !text_is(type, "CA"))
        return ib_bad(&f->ib, f->ib.line, "\"%.*s\" is no kind of node: CA, SW or RT", TEXT_SAY(type));
    if (text_number(lid) < 0)
        return ib_bad(&f->ib, f->ib.line, "\"%.*s\" is no LID", TEXT_SAY(lid));
    if (end->port < 0)
        return ib_bad(&f->ib, f->ib.line, "\"%.*s\" is no port number", TEXT_SAY(port));
    if (!text_starts(end->id, "0x") || !text_printable(end->id))
        return ib_bad(&f->ib, f->ib.line, "\"%.*s\" is no GUID", TEXT_SAY(end->id));
    return 0;
}

/* "( 'o0001 HCA-1' - 'ib-i1l1s01' )": the pieces between the first and the last quote around "' - '". */
static int read_names(struct flat *f, struct text t, struct end *a, struct end *b)
{
    t = text_trim(t);
    const char *middle = memmem(t.at, (size_t)t.n, "' - '", 5);
    if (t.n < 2 || *t.at != '(' || t.at[t.n - 1] != ')' || !middle)
        return ib_bad(&f->ib, f->ib.line, "the line does not end with ( 'name' - 'name' )");
    struct text left = { t.at + 1, (int)(middle - t.at) - 1 }, right = { middle + 5, t.n - 6 - (int)(middle - t.at) };
    left = text_trim(left);
    right = text_trim(right);
    if (left.n < 1 || *left.at != '\'' || right.n < 1 || right.at[right.n - 1] != '\'')
        return ib_bad(&f->ib, f->ib.line, "a name has no closing quote");
    text_skip(&left, 1);
    right.n--;
    a->desc = text_trim(left);
    b->desc = text_trim(right);
    return 0;
}

static int read_p_line(struct flat *f, struct text t)
{
    struct end a = { 0 }, b = { 0 };
    if (t.n == 0 || *t.at == '#')
        return 0;
    if (read_p_end(f, &t, &a) < 0)
        return -1;
    struct text width = text_word(&t), speed = text_word(&t);
    char both[40];
    if (width.n > 8 || speed.n > 16)
        return ib_bad(&f->ib, f->ib.line, "\"%.*s %.*s\" is no width and speed", TEXT_SAY(width), TEXT_SAY(speed));
    snprintf(both, sizeof both, "%.*s%.*s", width.n, width.at, speed.n, speed.at);
    int known = !strchr(both, '?');
    double gbps = known ? ib_rate((struct text){ both, (int)strlen(both) }) : 0;
    if (known && !(gbps > 0))
        return ib_bad(&f->ib, f->ib.line, "\"%.*s %.*s\" is no width and speed like 4x EDR", TEXT_SAY(width),
                      TEXT_SAY(speed));
    text_skip_blank(&t);
    if (t.n == 0 || *t.at == '\'') {
        format_note(f->ib.report, "ports without a cable", f->ib.line);
        return 0;
    }
    struct text dash = text_word(&t);
    if (!text_is(dash, "-"))
        return ib_bad(&f->ib, f->ib.line, "\"%.*s\" stands where - does before the other end", TEXT_SAY(dash));
    return read_p_end(f, &t, &b) < 0 || read_names(f, t, &a, &b) < 0 ? -1 : add_cable(f, &a, &b, gbps);
}

int ibnetdiscover_p_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    return read_flat(in, 1, read_p_line, "the output of ibnetdiscover -p", out, e);
}

/* ---- opensm-subnet.lst ---- */

/* "KEY:value" somewhere in t, up to a blank; empty where absent. */
static struct text value_of(struct text t, const char *key)
{
    const char *at = t.n > 0 ? memmem(t.at, (size_t)t.n, key, strlen(key)) : NULL;
    if (!at)
        return (struct text){ t.at, 0 };
    text_skip(&t, (int)(at - t.at) + (int)strlen(key));
    return text_word(&t);
}

static int32_t hexadecimal(struct text t)
{
    int32_t x = 0;
    for (int i = 0; i < t.n; i++) {
        int c = tolower((unsigned char)t.at[i]);
        if (!isxdigit(c) || t.n > 4)
            return -1;
        x = 16 * x + (isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    return t.n > 0 ? x : -1;
}

/* "{ SW-SM Ports:24 ... NodeGUID:... {desc} LID:0001 PN:01 }" */
static int read_subnet_end(struct flat *f, struct text *t, struct end *end)
{
    struct ib *r = &f->ib;
    text_skip_blank(t);
    const char *desc_end = t->n > 0 ? memmem(t->at, (size_t)t->n, "} LID:", 6) : NULL;
    const char *brace = t->n > 2 ? memchr(t->at + 1, '{', (size_t)t->n - 1) : NULL;
    if (t->n == 0 || *t->at != '{' || !desc_end || !brace || brace > desc_end)
        return ib_bad(r, r->line, "an end is no { KIND Ports:.. NodeGUID:.. {name} LID:.. PN:.. }");
    struct text head = { t->at + 1, (int)(brace - t->at) - 1 };
    struct text tail = { desc_end + 1, t->n - (int)(desc_end - t->at) - 1 };
    const char *close = memchr(tail.at, '}', (size_t)tail.n);
    if (!close)
        return ib_bad(r, r->line, "an end has no closing brace");
    end->desc = text_trim((struct text){ brace + 1, (int)(desc_end - brace) - 1 });
    struct text kind = text_word(&head), own = { tail.at, (int)(close - tail.at) };
    end->is_switch = text_starts(kind, "SW") || text_starts(kind, "RT");
    end->id = value_of(head, "NodeGUID:");
    end->port = hexadecimal(value_of(own, "PN:"));
    text_skip(t, (int)(close - t->at) + 1);
    if (!end->is_switch && !text_starts(kind, "CA"))
        return ib_bad(r, r->line, "\"%.*s\" is no kind of node: CA, SW or Rt", TEXT_SAY(kind));
    if (!text_printable(end->id))
        return ib_bad(r, r->line, "an end has no NodeGUID");
    return end->port < 0 ? ib_bad(r, r->line, "an end has no port number (PN:, hexadecimal)") : 0;
}

static int read_subnet_line(struct flat *f, struct text t)
{
    static const struct {
        const char *text, *speed;
    } speed[] = { { "2.5", "SDR" }, { "5", "DDR" },  { "10", "QDR" }, { "FDR10", "FDR10" },
                  { "14", "FDR" },  { "25", "EDR" }, { "50", "HDR" }, { "100", "NDR" } };
    struct end a = { 0 }, b = { 0 };
    double gbps = 0;
    if (t.n == 0 || *t.at == '#')
        return 0;
    if (read_subnet_end(f, &t, &a) < 0 || read_subnet_end(f, &t, &b) < 0)
        return -1;
    struct text width = value_of(t, "PHY="), state = value_of(t, "LOG="), rate = value_of(t, "SPD=");
    if (width.n == 0 || state.n == 0 || rate.n == 0)
        return ib_bad(&f->ib, f->ib.line, "PHY=, LOG= or SPD= is missing behind the two ends");
    if (text_is(state, "DWN")) {
        format_note(f->ib.report, "cables that are down, left out", f->ib.line);
        return 0;
    }
    for (size_t i = 0; i < sizeof speed / sizeof *speed && width.n < 8; i++)
        if (text_is(rate, speed[i].text)) {
            char both[40];
            snprintf(both, sizeof both, "%.*s%s", width.n, width.at, speed[i].speed);
            gbps = ib_rate((struct text){ both, (int)strlen(both) });
        }
    if (!(gbps > 0) && !memchr(rate.at, '?', (size_t)rate.n) && !memchr(width.at, '?', (size_t)width.n))
        return ib_bad(&f->ib, f->ib.line, "PHY=%.*s SPD=%.*s is no width and speed", TEXT_SAY(width), TEXT_SAY(rate));
    return add_cable(f, &a, &b, gbps > 0 ? gbps : 0);
}

int opensm_subnet_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    return read_flat(in, 0, read_subnet_line, "an opensm-subnet.lst", out, e);
}
