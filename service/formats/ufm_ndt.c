/* UFM NDT: cabling plans as CSV. Planning sheets carry more columns, repeat their header and have rows without cables.
 */
#include <stdio.h>
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"

enum { START, START_PORT, END, END_PORT, TYPE, SPEED, START_PLACE, END_PLACE, COLUMNS };

static const char *const title[COLUMNS] = { "StartDevice", "StartPort", "EndDevice",           "EndPort",
                                            "LinkType",    "Speed",     "StartDeviceLocation", "EndDeviceLocation" };

struct ndt {
    struct wiring *w;
    struct names *placed; /* "device@location", and devices whose location is known, to nodes */
    int column[COLUMNS];  /* -1: not there */
    int known;            /* 1: a header has been seen in this file */
};

/* "#StartDevice" and "#Fields:StartDevice" are "StartDevice". */
static struct text plain_title(struct text cell)
{
    if (cell.n > 0 && *cell.at == '#')
        text_skip(&cell, 1);
    if (text_starts(cell, "Fields:"))
        text_skip(&cell, 7);
    return text_trim(cell);
}

/* 1 the line is a header, 0 it is none, -1 refused. */
static int read_header(struct ndt *r, struct text t)
{
    struct text cell;
    int column[COLUMNS], more, header = 0;
    for (int k = 0; k < COLUMNS; k++)
        column[k] = -1;
    for (int i = 0; (more = text_cell(&t, &cell)) > 0; i++)
        for (int k = 0; k < COLUMNS; k++)
            if (text_is(plain_title(cell), title[k]) && column[k] < 0) {
                column[k] = i;
                header |= k == START;
            }
    if (more < 0)
        return wiring_bad(r->w, "a quote never closes");
    if (!header)
        return 0;
    for (int k = START; k <= END_PORT; k++)
        if (column[k] < 0)
            return wiring_bad(r->w, "the header has no column %s", title[k]);
    memcpy(r->column, column, sizeof column);
    r->known = 1;
    return 1;
}

static int is_switch_port(struct text port)
{
    return text_starts(port, "Port") || text_starts(port, "Blade") || text_number(port) >= 0;
}

/* Sheets give one name to devices at several locations: the first keeps it, the others are called name@location. */
static int32_t placed_node(struct ndt *r, struct text name, struct text location)
{
    struct wiring *w = r->w;
    char key[2 * TEXT_NAME + 2], plain[TEXT_NAME + 1];
    if (location.n == 0 || location.n > TEXT_NAME || !text_out(name, plain, sizeof plain))
        return wiring_node(w, name);
    int n = snprintf(key, sizeof key, "%s@%.*s", plain, location.n, location.at);
    int64_t known = names_find(r->placed, key);
    if (known >= 0)
        return (int32_t)known;
    int taken = names_find(r->placed, plain) >= 0; /* by another location */
    int32_t v = wiring_node(w, taken ? (struct text){ key, n } : name);
    if (v < 0 || names_add(r->placed, key, v, w->e) < 0 || names_add(r->placed, plain, v, w->e) < 0)
        return -1;
    if (taken)
        wiring_note(w, "devices whose name stands at another location too, called name@location");
    return v;
}

/* The node of a device, and the port as its last word where it is a host's ("gpu1 mlx5_0"). */
static int32_t device(struct ndt *r, struct text name, struct text location, struct text *port)
{
    struct wiring *w = r->w;
    int kind = is_switch_port(*port) ? NODE_SWITCH : NODE_NIC;
    int32_t v = placed_node(r, name, location);
    if (v < 0)
        return -1;
    if (w->node[v].kind == KIND_UNKNOWN)
        w->node[v].kind = kind;
    if (w->node[v].kind != kind)
        return wiring_bad(w, "\"%.*s\" has ports of a switch and of a host (\"%.*s\")", TEXT_SAY(name),
                          TEXT_SAY(*port));
    for (int i = port->n - 1; kind == NODE_NIC && i >= 0; i--)
        if (port->at[i] == ' ') {
            text_skip(port, i + 1);
            break;
        }
    return v;
}

static int add_cable(struct ndt *r, struct text *cell)
{
    struct wiring *w = r->w;
    char from_port[TEXT_NAME + 1], to_port[TEXT_NAME + 1];
    struct wire_cable c = { .from_port = from_port, .to_port = to_port };
    for (int k = START; k <= END_PORT; k++)
        if (cell[k].n == 0)
            return wiring_bad(w, "%s is empty", title[k]);
    c.from = device(r, cell[START], cell[START_PLACE], &cell[START_PORT]);
    c.to = c.from < 0 ? -1 : device(r, cell[END], cell[END_PLACE], &cell[END_PORT]);
    if (c.to < 0)
        return -1;
    if (!text_out(cell[START_PORT], from_port, sizeof from_port) || !text_out(cell[END_PORT], to_port, sizeof to_port))
        return wiring_bad(w, "a port's name is longer than %d bytes", TEXT_NAME);
    if (cell[SPEED].n > 0) {
        if (!text_real(cell[SPEED], &c.gbps) || !(c.gbps > 0))
            return wiring_bad(w, "Speed \"%.*s\" is no positive number of Mbit/s", TEXT_SAY(cell[SPEED]));
        c.gbps /= 1000;
    }
    return wiring_join(w, &c);
}

static int read_line(struct ndt *r, struct text t)
{
    struct text cell[COLUMNS], one, rest = t;
    int more, empty = 1;
    if (text_trim(t).n == 0)
        return 0;
    int header = read_header(r, t);
    if (header != 0)
        return header < 0 ? -1 : 0;
    if (!r->known)
        return wiring_bad(r->w, "this line stands before a header with StartDevice, StartPort, EndDevice, EndPort");
    if (*text_trim(t).at == '#')
        return 0;
    for (int k = 0; k < COLUMNS; k++)
        cell[k] = (struct text){ "", 0 };
    for (int i = 0; (more = text_cell(&rest, &one)) > 0; i++)
        for (int k = 0; k < COLUMNS; k++)
            if (r->column[k] == i)
                cell[k] = text_trim(one);
    for (int k = START; k <= END_PORT; k++)
        empty &= cell[k].n == 0;
    if (empty) {
        wiring_note(r->w, "lines without a cable");
        return 0;
    }
    if (cell[TYPE].n > 0 && !text_is(cell[TYPE], "Data")) {
        wiring_note(r->w, "cables that are not of type Data, left out");
        return 0;
    }
    return add_cable(r, cell);
}

int ufm_ndt_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct ndt r = { .w = wiring_new(in, e), .placed = names_new(e) };
    struct text t;
    int more, rc = r.w && r.placed ? 0 : -1;
    if (r.w)
        r.w->nic_per_port = 1;
    for (int32_t i = 0; i < in->nfile && rc == 0; i++) {
        struct scan s = scan_start(in->file[i].data, in->file[i].n);
        r.known = 0;
        while (rc == 0 && (more = scan_line(&s, &t)) != 0) {
            wiring_line(r.w, i, s.line);
            rc = more < 0 ? wiring_bad(r.w, "a line of more than a megabyte") : read_line(&r, t);
        }
    }
    if (rc == 0)
        rc = wiring_fabric(r.w, out);
    wiring_free(r.w);
    names_free(r.placed);
    return rc;
}
