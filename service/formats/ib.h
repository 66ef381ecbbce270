/* Inside of the ibnetdiscover reader: what its two halves share. ibnetdiscover.c reads lines into nodes and ports;
 * ib_fabric.c pairs the ports to cables and makes the fabric.
 */
#ifndef HEDDLE_IB_H
#define HEDDLE_IB_H

#include "service/formats/formats.h"
#include "service/wire/names.h"

enum { IB_LID = 0xbfff /* the largest unicast address */ };
enum { IB_NAME = 200 }; /* bytes of an id or a description; the hardware has 64 */

/* A piece of the file, not zero-terminated. */
struct text {
    const char *at;
    int n;
};

struct ib_node {
    struct text id, desc;
    int64_t line;
    int is_switch, left_out;
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
    struct err *e;
};

/* "path:line: sentence"; returns -1. */
int ib_bad(struct ib *r, int64_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));
int ib_oom(struct ib *r);

void text_skip(struct text *t, int n);
void text_skip_blank(struct text *t);

/* All of t as a number in [0, 65536], or -1. */
int32_t text_number(struct text t);
uint64_t text_hexadecimal(struct text t); /* with or without 0x; 0 when it is none */
int text_printable(struct text t); /* ASCII, not empty, at most IB_NAME bytes */
int text_starts(struct text t, const char *word);
int text_contains(struct text t, const char *word);

/* Compares both ends of every cable, then makes the fabric. */
int ib_fabric(struct ib *r, struct fabric **out);

#endif
