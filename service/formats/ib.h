/* Inside of the ibnetdiscover reader: what its two halves share. ibnetdiscover.c reads lines into nodes and ports;
 * ib_fabric.c pairs the ports to cables and makes the fabric.
 */
#ifndef HEDDLE_IB_H
#define HEDDLE_IB_H

#include "service/formats/formats.h"
#include "service/formats/text.h"
#include "service/wire/names.h"

enum { IB_LID = 0xbfff /* the largest unicast address */ };
enum { IB_NAME = TEXT_NAME }; /* bytes of an id or a description; the hardware has 64 */

struct ib_node {
    struct text id, desc;
    int64_t line;
    int is_switch, left_out;
    int32_t suffix;       /* 0, or the port that is an adapter of its own: the name ends in "/p2" */
    int32_t first, nport; /* its ports */
    int32_t number;       /* in the fabric */
    uint64_t guid;        /* switches; 0: not given */
    int32_t lid;          /* switches; -1: not given */
};

struct ib_port {
    int32_t node, port, peer_port;
    int32_t mate; /* the port at the other end, -1 before pairing */
    struct text peer;
    int64_t line;
    double gbps;   /* 0: not given */
    uint64_t guid; /* adapters; 0: not given */
    int32_t lid;   /* adapters; -1: not given */
};

struct ib {
    const char *path;
    struct format_report *report;
    struct ib_node *node;
    struct ib_port *port;
    int64_t nnode, node_room, nport, port_room, line;
    struct names *id; /* id to node */
    uint64_t guid;    /* of the switchguid line that stands before a switch; 0: none */
    struct overlay *overlay;
    int ask; /* 1: an unknown speed is asked of the overlay; 0: it is the default of ibsim */
    struct err *e;
};

/* "path:line: sentence"; returns -1. */
int ib_bad(struct ib *r, int64_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));
int ib_oom(struct ib *r);

/* "4xNDR" as Gb/s of data, or -1. */
double ib_rate(struct text t);

/* Compares both ends of every cable, then makes the fabric. */
int ib_fabric(struct ib *r, struct fabric **out);

#endif
