/* A fabric while a reader finds it: nodes by name, cables, capacities that may be unknown. All readers but those of
 * InfiniBand dumps hand over their findings here, so that hosts, rails, tiers, overlays and refusals are the same for
 * all formats. Happy path: wiring_new, then wiring_line or wiring_entry (where the reader stands), wiring_node and
 * wiring_cable for what it finds, wiring_fabric, wiring_free.
 */
#ifndef HEDDLE_WIRING_H
#define HEDDLE_WIRING_H

#include "service/formats/formats.h"
#include "service/formats/text.h"
#include "service/wire/names.h"
#include "service/wire/value.h"

enum { KIND_UNKNOWN = -1 }; /* besides NODE_SWITCH and NODE_NIC; becomes a switch where no --hosts says otherwise */

/* Where something stands: a line of a file, or an entry of a document ("links[3]", or "links" alone where item is -1).
 */
struct place {
    int32_t file;
    int64_t line, item; /* line 0: a document */
    const char *list;
};

struct wire_node {
    const char *name, *host; /* host: of a NIC; NULL: none */
    int kind;
    int32_t tier, rail; /* -1: not given */
    struct place place;
};

struct wire_cable {
    int32_t from, to;
    const char *from_port, *to_port; /* NULL or "": not given */
    double gbps;                     /* 0: not given */
    double latency_us, cost;
    int directed;
    struct place place; /* filled by wiring_cable */
};

struct wiring {
    const struct format_input *in;
    struct format_report *report;
    struct err *e;
    struct arena *arena; /* for texts that live as long as the wiring */
    struct names *name, *end;
    struct wire_node *node;
    struct wire_cable *cable;
    int64_t node_room, cable_room;
    int32_t nnode, ncable;
    int nic_per_port; /* 1: a host is a device, and each of its cabled ports a NIC "host/port" */
    int slips; /* 1: a cable to a port that has one already is kept without that port, with a note, where its other port
                * is free: plans of real sites name the far ends of some cables wrongly */
    struct place place;
};

struct wiring *wiring_new(const struct format_input *in, struct err *e);
void wiring_free(struct wiring *w);

/* Where the reader stands from now on. list must live as long as the wiring. */
void wiring_line(struct wiring *w, int32_t file, int64_t line);
void wiring_entry(struct wiring *w, int32_t file, const char *list, int64_t item);

/* The sentence behind the present place, or behind another; returns -1. */
int wiring_bad(struct wiring *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
int wiring_bad_at(struct wiring *w, const struct place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void wiring_note(struct wiring *w, const char *what);

/* A copy that lives as long as the wiring; NULL with e set. */
const char *wiring_text(struct wiring *w, struct text t);

/* The node of that name, new ones with everything unknown; -1 refused (empty, long, not UTF-8, control characters).
 * wiring_new_node refuses a name that is there already, wiring_known one that is not. */
int32_t wiring_node(struct wiring *w, struct text name);
int32_t wiring_new_node(struct wiring *w, struct text name);
int32_t wiring_known(struct wiring *w, struct text name);

/* One cable more. Ports are copied. Refuses numbers that are not finite or negative; leaves loops out, with a note. */
int wiring_cable(struct wiring *w, const struct wire_cable *c);

/* For formats in which both ends may tell of one cable: a cable between the same two ports is the one that is there
 * already (the lower capacity counts); a port with cables to two places is refused. Without ports, one cable more. */
int wiring_join(struct wiring *w, const struct wire_cable *c);

/* The finished fabric. Unknown kinds: switches, unless the overlay says host. Tiers: those given, else tiers_find.
 * Rails: those given, else a NIC's place among the NICs of its host in the natural order of names. Unknown capacities:
 * from the overlay, else refused. */
int wiring_fabric(struct wiring *w, struct fabric **out);

/* The whole of a reader whose files are read one by one into one fabric, a NIC per port of a host: read(w, i) for each
 * file i, then wiring_fabric. */
int wiring_files(const struct format_input *in, int (*read)(struct wiring *w, int32_t i), struct fabric **out,
                 struct err *e);

#endif
