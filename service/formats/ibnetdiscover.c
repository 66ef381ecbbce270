/* The grammar of ibnetdiscover dumps: lines become nodes and ports. Tolerant where dumps are dirty, strict where a line
 * says something that can not be; ib_fabric.c takes it from there.
 */
#include "service/formats/ibnetdiscover.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/ib.h"

int ib_bad(struct ib *r, int64_t line, const char *format, ...)
{
    char sentence[320];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    for (char *c = sentence; *c; c++) /* pieces of the file: nothing that a terminal obeys */
        if ((unsigned char)*c < 32 || *c == 127)
            *c = *c == '\t' ? ' ' : '?';
    return fail(r->e, E_INPUT, "%.120s:%lld: %s", r->path, (long long)line, sentence);
}

int ib_oom(struct ib *r)
{
    return fail(r->e, E_MEMORY, "%.60s: out of memory for %lld nodes and %lld ports", r->path, (long long)r->nnode,
                (long long)r->nport);
}

/* ---- lines ---- */

/* The text up to the closing character, when the next one is the opening one. 1 taken, 0 not there, -1 never closed. */
static int enclosed(struct text *t, char open, char close, struct text *out)
{
    text_skip_blank(t);
    if (t->n == 0 || *t->at != open)
        return 0;
    const char *end = memchr(t->at + 1, close, (size_t)t->n - 1);
    if (!end)
        return -1;
    *out = (struct text){ t->at + 1, (int)(end - t->at - 1) };
    text_skip(t, out->n + 2);
    return 1;
}

/* All of t as a hexadecimal number with or without 0x, at most 64 bits; 0 when it is none. */
static uint64_t hexadecimal(struct text t)
{
    uint64_t x = 0;
    if (text_starts(t, "0x"))
        text_skip(&t, 2);
    for (int i = 0; i < t.n; i++) {
        int digit = tolower((unsigned char)t.at[i]);
        if (!isxdigit(digit) || i == 16)
            return 0;
        x = x << 4 | (uint64_t)(isdigit(digit) ? digit - '0' : digit - 'a' + 10);
    }
    return x;
}

/* The number behind the first word "lid" of t; -1 where there is none, or none of a host (65535: the port is down). */
static int32_t lid_of(struct text t)
{
    while (t.n > 4) {
        if (!strncmp(t.at, "lid", 3) && isspace((unsigned char)t.at[3])) {
            text_skip(&t, 4);
            struct text number = { t.at, 0 };
            while (number.n < t.n && isdigit((unsigned char)number.at[number.n]))
                number.n++;
            int32_t lid = text_number(number);
            return lid >= 1 && lid <= IB_LID ? lid : -1;
        }
        text_skip(&t, 1);
    }
    return -1;
}

/* switchguid=0x2c5eab0300b87b40(2c5eab0300b87b40) */
static uint64_t guid_line(struct text t)
{
    text_skip(&t, (int)strlen("switchguid="));
    struct text number = { t.at, 0 };
    while (number.n < t.n && isalnum((unsigned char)number.at[number.n]))
        number.n++;
    return hexadecimal(number);
}

/* <kind>[ ]<ports>[ ]"id" [#[ ]"description" ...] */
static int read_header(struct ib *r, struct text t, int is_switch)
{
    struct ib_node node = {
        .line = r->line, .is_switch = is_switch, .first = (int32_t)r->nport, .guid = r->guid, .lid = -1
    };
    r->guid = 0;
    void *data = r->node;
    text_skip_blank(&t);
    while (t.n > 0 && isdigit((unsigned char)*t.at))
        text_skip(&t, 1);
    if (enclosed(&t, '"', '"', &node.id) != 1 || !text_printable(node.id))
        return ib_bad(r, r->line, "a node needs an id in quotes, at most %d printable characters", IB_NAME);
    text_skip_blank(&t);
    if (t.n > 0 && *t.at == '#') {
        text_skip(&t, 1);
        if (enclosed(&t, '"', '"', &node.desc) < 0)
            return ib_bad(r, r->line, "the description of \"%.*s\" has no closing quote", node.id.n, node.id.at);
    }
    if (is_switch)
        node.lid = lid_of(t);
    struct text digits = node.id;
    if (is_switch && !node.guid && text_starts(digits, "S-")) {
        text_skip(&digits, 2);
        node.guid = hexadecimal(digits);
    }
    node.left_out = !is_switch && text_contains(node.desc, "Aggregation Node");
    if (node.left_out)
        format_note(r->report, "SHARP aggregation nodes left out", r->line);
    char id[IB_NAME + 1];
    snprintf(id, sizeof id, "%.*s", node.id.n, node.id.at);
    int rc = names_add(r->id, id, r->nnode, r->e);
    if (rc < 0)
        return -1;
    if (rc > 0)
        return ib_bad(r, r->line, "node \"%s\" stands on line %lld already", id,
                      (long long)r->node[names_find(r->id, id)].line);
    if (array_grow(&data, &r->node_room, r->nnode + 1, sizeof *r->node) < 0)
        return ib_oom(r);
    r->node = data;
    r->node[r->nnode++] = node;
    return 0;
}

/* Highest bit of an ibsim mask as an index, or -1. */
static int high_bit(struct text t)
{
    int32_t x = text_number(t);
    int i = -1;
    for (; x > 0; x >>= 1)
        i++;
    return i;
}

static const struct {
    const char *name;
    double gbps; /* of 4 lanes, after line coding */
} speed_table[] = { { "SDR", 8 },   { "DDR", 16 },  { "QDR", 32 },  { "FDR10", 40 }, { "FDR", 54.5 },
                    { "EDR", 100 }, { "HDR", 200 }, { "NDR", 400 }, { "XDR", 800 } };

double ib_rate(struct text t)
{
    int lanes = 0, i = 0;
    for (; i < t.n && i < 3 && isdigit((unsigned char)t.at[i]); i++)
        lanes = 10 * lanes + (t.at[i] - '0');
    int known = lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12;
    if (!known || i == t.n || t.at[i] != 'x')
        return -1;
    for (size_t k = 0; k < sizeof speed_table / sizeof *speed_table; k++)
        if ((int)strlen(speed_table[k].name) == t.n - i - 1 &&
            !strncmp(t.at + i + 1, speed_table[k].name, (size_t)(t.n - i - 1)))
            return speed_table[k].gbps * lanes / 4;
    return -1;
}

/* What stands behind the last quote or bracket of a port line: WxSPEED, or ibsim's masks w=, s=, e=. 0: nothing. */
static int read_rate(struct ib *r, struct text t, double *gbps)
{
    static const int lanes[] = { 1, 4, 8, 12, 2 };
    static const int plain[] = { 0, 1, 2 }, extended[] = { 4, 5, 6, 7 }; /* rows of speed_table */
    int w = 1, s = 0, e = -1, masks = 0;
    *gbps = 0;
    for (int i = t.n - 1; i >= 0; i--)
        if (t.at[i] == '"' || t.at[i] == ']' || t.at[i] == ')') {
            text_skip(&t, i + 1);
            break;
        }
    for (text_skip_blank(&t); t.n > 0; text_skip_blank(&t)) {
        struct text word = { t.at, 0 };
        while (word.n < t.n && !isspace((unsigned char)word.at[word.n]))
            word.n++;
        text_skip(&t, word.n);
        struct text value = { word.at + 2, word.n - 2 };
        if (word.n > 2 && word.at[1] == '=' && strchr("wse", word.at[0])) {
            int bit = high_bit(value), most = word.at[0] == 'w' ? 4 : word.at[0] == 's' ? 2 : 3;
            if (bit > most || (bit < 0 && (word.at[0] != 'e' || text_number(value) != 0)))
                return ib_bad(r, r->line, "\"%.*s\" is no mask of widths or speeds", word.n, word.at);
            *(word.at[0] == 'w' ? &w : word.at[0] == 's' ? &s : &e) = bit;
            masks = 1;
        } else if (isdigit((unsigned char)word.at[0]) && memchr(word.at, 'x', (size_t)word.n)) {
            *gbps = ib_rate(word);
            if (!(*gbps > 0))
                return ib_bad(r, r->line, "\"%.*s\" is no width and speed like 4xNDR", word.n < 40 ? word.n : 40,
                              word.at);
        }
    }
    if (masks)
        *gbps = speed_table[e >= 0 ? extended[e] : plain[s]].gbps * lanes[w] / 4;
    return 0;
}

/* [port] [[ext]] [(guid)] "peer" [port] [[ext]] [(guid)] rest */
static int read_port(struct ib *r, struct text t)
{
    struct ib_port port = { .node = (int32_t)r->nnode - 1, .mate = -1, .line = r->line, .lid = -1 };
    struct text own, peer, extra;
    void *data = r->port;
    int left = enclosed(&t, '[', ']', &own);
    port.port = left == 1 ? text_number(own) : -1;
    if (port.port < 0)
        return ib_bad(r, r->line, "a port line starts with [number]");
    if (r->nnode == 0)
        return ib_bad(r, r->line, "port %d stands before any node", port.port);
    while (enclosed(&t, '[', ']', &extra) == 1 || enclosed(&t, '(', ')', &extra) == 1)
        if (extra.at[-1] == '(')
            port.guid = hexadecimal(extra);
    if (enclosed(&t, '"', '"', &port.peer) != 1 || !text_printable(port.peer))
        return ib_bad(r, r->line, "port %d: no peer in quotes", port.port);
    left = enclosed(&t, '[', ']', &peer);
    port.peer_port = left == 1 ? text_number(peer) : -1;
    if (port.peer_port < 0)
        return ib_bad(r, r->line, "port %d: no [number] behind peer \"%.*s\"", port.port, port.peer.n, port.peer.at);
    struct ib_node *node = &r->node[port.node];
    const char *remark = t.n > 0 ? memchr(t.at, '#', (size_t)t.n) : NULL;
    if (!node->is_switch && remark)
        port.lid = lid_of((struct text){ remark, (int)(t.n - (remark - t.at)) });
    for (int32_t i = 0; i < node->nport; i++)
        if (r->port[node->first + i].port == port.port)
            return ib_bad(r, r->line, "port %d of \"%.*s\" stands on line %lld already", port.port, node->id.n,
                          node->id.at, (long long)r->port[node->first + i].line);
    if (read_rate(r, t, &port.gbps) < 0)
        return -1;
    if (r->nport == INT32_MAX)
        return ib_bad(r, r->line, "too many ports");
    if (array_grow(&data, &r->port_room, r->nport + 1, sizeof *r->port) < 0)
        return ib_oom(r);
    r->port = data;
    r->port[r->nport++] = port;
    r->node[port.node].nport++;
    return 0;
}

/* The dialect of ibnetdiscover -p: "CA  134  1 0x7cfe9003003b4bde 4x EDR - SW ..." */
static int is_flat(struct text t)
{
    if (t.n < 4 || (strncmp(t.at, "CA ", 3) != 0 && strncmp(t.at, "SW ", 3) != 0 && strncmp(t.at, "RT ", 3) != 0))
        return 0;
    text_skip(&t, 3);
    text_skip_blank(&t);
    return t.n > 0 && isdigit((unsigned char)*t.at);
}

static int read_line(struct ib *r, struct text t)
{
    static const struct {
        const char *word;
        int is_switch;
    } kind[] = { { "Switch", 1 }, { "Hca", 0 }, { "Ca", 0 }, { "Rt", 1 }, { "Router", 1 } };
    static const char *const attribute[] = { "vendid=", "devid=",  "sysimgguid=", "switchguid=",
                                             "caguid=", "rtguid=", "Chassis",     "Non-Chassis Nodes" };
    text_skip_blank(&t);
    if (t.n == 0 || *t.at == '#')
        return 0;
    if (*t.at == '[' && t.n > 1 && isdigit((unsigned char)t.at[1]))
        return read_port(r, t);
    for (size_t i = 0; i < sizeof attribute / sizeof *attribute; i++)
        if (text_starts(t, attribute[i])) {
            if (!strcmp(attribute[i], "switchguid="))
                r->guid = guid_line(t);
            return 0;
        }
    if (is_flat(t))
        return ib_bad(r, r->line, "this is the flat form of ibnetdiscover -p; its format is ibnetdiscover-p");
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        struct text rest = t;
        if (!text_starts(t, kind[i].word))
            continue;
        text_skip(&rest, (int)strlen(kind[i].word));
        text_skip_blank(&rest);
        if (rest.n > 0 && isdigit((unsigned char)*rest.at))
            return read_header(r, rest, kind[i].is_switch);
    }
    if (memchr(t.at, '"', (size_t)t.n))
        return ib_bad(r, r->line, "neither a node nor a port: %.*s", t.n < 60 ? t.n : 60, t.at);
    format_note(r->report, "lines that are no part of a dump, skipped", r->line);
    return 0;
}

static int read_lines(struct ib *r, const char *data, int64_t n)
{
    for (int64_t at = 0; at < n;) {
        const char *end = memchr(data + at, '\n', (size_t)(n - at));
        int64_t length = end ? end - (data + at) : n - at;
        r->line++;
        if (length > 1 << 20)
            return ib_bad(r, r->line, "a line of %lld bytes", (long long)length);
        if (read_line(r, (struct text){ data + at, (int)length }) < 0)
            return -1;
        at += length + 1;
    }
    return r->nnode > 0 ? 0 : ib_bad(r, 1, "no node found; is this the output of ibnetdiscover?");
}

int ibnetdiscover_read(const char *path, const char *data, int64_t n, struct fabric **out, struct format_report *report,
                       struct err *e)
{
    struct ib r = { .path = path, .report = report, .e = e };
    r.id = names_new(e);
    int rc = r.id && read_lines(&r, data, n) == 0 && ib_fabric(&r, out) == 0 ? 0 : -1;
    names_free(r.id);
    free(r.node);
    free(r.port);
    return rc;
}
