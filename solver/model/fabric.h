/* The fabric: nodes, cables, and the live arcs as a compressed adjacency. Immutable after fabric_finish.
 * Happy path: fabric_new(nnode, nlink), fill the node_ and link_ arrays, fabric_finish; then read only.
 * Arc numbers (service/wire/README.md): link i has arc 2i (from -> to) and arc 2i + 1 (to -> from; dead when directed).
 */
#ifndef HEDDLE_FABRIC_H
#define HEDDLE_FABRIC_H

#include "solver/model/base.h"

enum node_kind { NODE_SWITCH, NODE_NIC };

/* A word per node out of a short list (pod, site, host): of[v] is an index into name, or -1. */
struct labels {
    int32_t *of; /* [nnode] */
    char **name; /* [count], owned */
    int32_t count;
};

struct fabric {
    char *name;                 /* may be NULL */
    int32_t nnode, nlink, narc; /* narc = 2 nlink, dead arcs included */

    char **node_name;   /* [nnode], unique, owned */
    uint8_t *node_kind; /* [nnode] enum node_kind */
    uint8_t *node_up;   /* [nnode] 0 or 1; fabric_new sets 1 */
    int32_t *node_tier; /* [nnode], -1 where not given */
    int32_t *node_rail; /* [nnode], -1 where not given */
    uint64_t *node_guid;        /* [nnode] InfiniBand: of a switch, or of the port of a NIC; 0 where not given */
    int32_t *node_lid;          /* [nnode] InfiniBand address, -1 where not given */
    struct labels pod, site, host;

    int32_t *link_from, *link_to;           /* [nlink] nodes */
    double *link_gbps;                      /* [nlink] Gb/s per direction */
    double *link_cost, *link_latency;       /* [nlink] cost per Gb/s; microseconds; 0 where not given */
    int32_t *link_from_port, *link_to_port; /* [nlink], -1 where not given */
    uint8_t *link_up, *link_directed;       /* [nlink] 0 or 1; fabric_new sets up to 1 */

    /* Made by fabric_finish: */
    int32_t *tail, *head; /* [narc] nodes */
    double *cap;          /* [narc] Gb/s */
    uint8_t *live;        /* [narc] 1 when the link and both ends are up and the direction exists */
    int32_t *first, *out; /* first[nnode + 1], out[first[v] .. first[v + 1]): live arcs out of v, by arc number */
    int32_t *ifirst, *in; /* the same for live arcs into v */
};

/* Empty arrays of the given sizes (labels all -1); NULL with e set when memory is short or a size is negative or over
 * 2^30 links. */
struct fabric *fabric_new(int32_t nnode, int32_t nlink, struct err *e);

/* Check every link (ends in range, no self-loop, capacity finite and positive) and derive the arcs. Messages name
 * "links[i]". On failure the fabric may only be freed. */
int fabric_finish(struct fabric *f, struct err *e);

/* Give node v the label; equal text gives equal index. O(count) per call, O(1) where the label is the newest one;
 * readers of large files intern first and fill of/name themselves. Takes a copy. */
int labels_set(struct labels *l, int32_t v, const char *text, struct err *e);

void fabric_free(struct fabric *f);

#endif
