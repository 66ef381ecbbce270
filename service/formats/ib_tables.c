/* Forwarding tables out and in. What OpenSM's reader of such files makes of them decides what is written:
 *   - a switch that the file names loses its old table first, so every address is written, switches and the switch's
 *     own (port 0) included;
 *   - a line's "portguid" overrides its address, so it always stands there: addresses change from sweep to sweep;
 *   - a NIC with 2^lmc addresses needs as many lines with aligned addresses;
 *   - lines of 1024 bytes and more break.
 */
#include "service/formats/ib_tables.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/exports.h"
#include "service/formats/ib_identity.h"

/* ---- out ---- */

struct writer {
    const struct fabric *f;
    const struct forward *t;
    struct ib_identity x;
    int32_t *order; /* [nnode] nodes of the subnet by address */
    int32_t n, lmc;
    FILE *out;
};

struct place {
    int32_t lid, node;
};

static int by_lid(const void *x, const void *y)
{
    const struct place *s = x, *t = y;
    return (s->lid > t->lid) - (s->lid < t->lid);
}

static int sort_nodes(struct writer *w)
{
    struct place *place = array(w->f->nnode, sizeof *place);
    w->order = array(w->f->nnode, sizeof *w->order);
    for (int32_t v = 0; v < w->f->nnode && place && w->order; v++)
        if (w->x.lid[v] >= 0)
            place[w->n++] = (struct place){ w->x.lid[v], v };
    int rc = place && w->order ? 0 : -1;
    if (rc == 0)
        qsort(place, (size_t)w->n, sizeof *place, by_lid);
    for (int32_t i = 0; i < w->n && rc == 0; i++)
        w->order[i] = place[i].node;
    free(place);
    return rc;
}

/* Lines for destination d, one per address of it. Returns how many, -1 when the table has no entry. */
static int32_t write_entries(struct writer *w, int32_t v, int32_t d)
{
    const char *kind = w->f->node_kind[d] == NODE_NIC ? "Channel Adapter" : "Switch";
    int32_t a = d == v ? -1 : forward_row(w->t, v)[d], port = d == v ? 0 : a < 0 ? -1 : w->x.port[a];
    int32_t n = w->f->node_kind[d] == NODE_NIC ? 1 << w->lmc : 1;
    if (port < 0)
        return -1;
    for (int32_t i = 0; i < n; i++)
        fprintf(w->out, "0x%04x %03d # %s portguid 0x%016" PRIx64 ": '%s'\n", (unsigned)(w->x.lid[d] + i), port, kind,
                w->x.guid[d], w->f->node_name[d]);
    return n;
}

static int write_switch(struct writer *w, int32_t v, struct err *e)
{
    int32_t lines = 0;
    fprintf(w->out, "Unicast lids [0-%d] of switch Lid %d guid 0x%016" PRIx64 " ('%s'):\n", w->x.highest_lid,
            w->x.lid[v], w->x.guid[v], w->f->node_name[v]);
    for (int32_t i = 0; i < w->n; i++) {
        int32_t n = write_entries(w, v, w->order[i]);
        if (n < 0)
            return fail(e, E_INPUT,
                        "tables: \"%s\" has no entry towards \"%s\"; the manager would leave it without a way",
                        w->f->node_name[v], w->f->node_name[w->order[i]]);
        lines += n;
    }
    fprintf(w->out, "%d lids dumped\n", lines);
    return 0;
}

int ib_tables_write(const struct problem *p, const struct plan *plan, const struct export_options *o, FILE *out,
                    struct err *e)
{
    struct writer w = { .f = p->fabric, .t = plan->tables, .lmc = o->lmc, .out = out };
    if (!plan->tables)
        return fail(e, E_INPUT, "the plan has no forwarding tables; solve with --set routing=destination");
    if (ib_identity_new(&w.x, p->fabric, o->lmc, e) < 0)
        return -1;
    int rc = sort_nodes(&w) == 0 ? 0 : fail(e, E_MEMORY, "out of memory for %d nodes", p->fabric->nnode);
    for (int32_t i = 0; i < w.n && rc == 0; i++)
        if (p->fabric->node_kind[w.order[i]] == NODE_SWITCH)
            rc = write_switch(&w, w.order[i], e);
    free(w.order);
    ib_identity_free(&w.x);
    return rc;
}

/* ---- in ---- */

struct reader {
    const char *path;
    int64_t line;
    const struct fabric *f;
    struct forward *t;
    struct ib_identity x;
    int32_t *by_lid; /* [IB_MAX_LID + 1] node with the address, -1 */
    int32_t *arc_at; /* [IB_MAX_PORT + 1] arcs of the present switch by port, -1 */
    int32_t v;       /* present switch, -1: none of the fabric's */
    int multicast;   /* the lines are of a multicast table, which is not read */
    int64_t entries;
    struct format_report *report;
    struct err *e;
};

/* The number behind a word of the line, in the given base; 0 when the word is not there. */
static uint64_t behind(const char *line, const char *word, int base)
{
    const char *at = strstr(line, word);
    return at ? strtoull(at + strlen(word), NULL, base) : 0;
}

static void begin_switch(struct reader *r, const char *line)
{
    uint64_t guid = behind(line, " guid 0x", 16), lid = behind(line, "Lid ", 10);
    r->v = guid ? ib_identity_find(&r->x, guid) : -1;
    if (r->v >= 0 && r->f->node_kind[r->v] != NODE_SWITCH)
        r->v = -1;
    if (r->v < 0) {
        format_note(r->report, "tables of switches that the fabric does not have", r->line);
        return;
    }
    if (lid >= 1 && lid <= IB_MAX_LID)
        r->by_lid[lid] = r->v;
    for (int32_t i = 0; i <= IB_MAX_PORT; i++)
        r->arc_at[i] = -1;
    for (int32_t k = r->f->first[r->v]; k < r->f->first[r->v + 1]; k++)
        r->arc_at[r->x.port[r->f->out[k]]] = r->f->out[k];
}

/* "0x0001 030 : (Channel Adapter portguid 0x...: 'x')": address in hexadecimal, port in decimal, the rest may lack. */
static int read_entry(struct reader *r, const char *line)
{
    char *end;
    unsigned long lid = strtoul(line, &end, 16);
    if (end == line || !isspace((unsigned char)*end))
        return fail(r->e, E_INPUT, "%.100s:%lld: \"%.40s\" does not begin with an address", r->path, (long long)r->line,
                    line);
    const char *number = end;
    unsigned long port = strtoul(number, &end, 10);
    if (end == number || (*end && !isspace((unsigned char)*end)) || port > 255 || lid > 0xffff)
        return fail(r->e, E_INPUT, "%.100s:%lld: \"%.40s\" has no port in [0, 255]", r->path, (long long)r->line, line);
    if (r->v < 0)
        return 0;
    uint64_t guid = behind(line, " portguid 0x", 16);
    int32_t d = guid ? ib_identity_find(&r->x, guid) : lid <= IB_MAX_LID ? r->by_lid[lid] : -1;
    int32_t a = port <= IB_MAX_PORT ? r->arc_at[port] : -1;
    if (d < 0)
        format_note(r->report, "entries for destinations that the fabric does not have", r->line);
    else if (d != r->v && a < 0)
        format_note(r->report, "entries for ports without a live cable", r->line);
    else if (d != r->v && port > 0) {
        forward_row(r->t, r->v)[d] = a;
        r->entries++;
    }
    return 0;
}

static int read_line(struct reader *r, const char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    if (!strncmp(line, "Unicast lids", 12)) {
        r->multicast = 0;
        begin_switch(r, line);
    } else if (!strncmp(line, "Multicast", 9))
        r->multicast = 1;
    else if (!r->multicast && !strncmp(line, "0x", 2))
        return read_entry(r, line);
    return 0; /* blank, remarks, "n lids dumped" and what else tools print between the tables */
}

static int read_lines(struct reader *r, const char *data, int64_t n)
{
    char line[1024];
    for (int64_t at = 0; at < n;) {
        const char *end = memchr(data + at, '\n', (size_t)(n - at));
        int64_t length = end ? end - (data + at) : n - at;
        r->line++;
        if (length >= (int64_t)sizeof line)
            return fail(r->e, E_INPUT, "%.100s:%lld: a line of %lld bytes", r->path, (long long)r->line,
                        (long long)length);
        memcpy(line, data + at, (size_t)length);
        line[length] = 0;
        if (read_line(r, line) < 0)
            return -1;
        at += length + 1;
    }
    return r->entries > 0
               ? 0
               : fail(r->e, E_INPUT, "%.100s: no entry for a switch of this fabric (are its GUIDs those of the file?)",
                      r->path);
}

int ib_tables_read(const char *path, const char *data, int64_t n, const struct fabric *f, struct forward **out,
                   struct format_report *report, struct err *e)
{
    struct reader r = { .path = path, .f = f, .v = -1, .report = report, .e = e };
    r.by_lid = array((int64_t)IB_MAX_LID + 1, sizeof *r.by_lid);
    r.arc_at = array(IB_MAX_PORT + 1, sizeof *r.arc_at);
    int rc = r.by_lid && r.arc_at ? 0 : fail(e, E_MEMORY, "out of memory for the tables of %d nodes", f->nnode);
    if (rc == 0 && ((r.t = forward_new(f, e)) == NULL || ib_identity_new(&r.x, f, 0, e) < 0))
        rc = -1;
    if (rc == 0) {
        for (int32_t i = 0; i <= IB_MAX_LID; i++)
            r.by_lid[i] = -1;
        for (int32_t v = 0; v < f->nnode; v++)
            if (r.x.lid[v] >= 0)
                r.by_lid[r.x.lid[v]] = v;
        rc = read_lines(&r, data, n);
    }
    free(r.by_lid);
    free(r.arc_at);
    ib_identity_free(&r.x);
    if (rc < 0)
        forward_free(r.t);
    else
        *out = r.t;
    return rc;
}
