/* The ways each flow may take, on any graph: what the pinned engine chooses from.
 * A flow whose NIC has one live cable enters and leaves the fabric in one way only; the rest, from switch a to switch
 * b, is shared by all flows between the same two switches (a pair). A pair is implicit, all walks of at most limit arcs
 * that the distances to b allow (fewest-hop ways, and longer ones where those are scarce), or an explicit list
 * (options.policy disjoint:k, paths listed by the flow). Happy path: lanes_new, read, lanes_free.
 */
#ifndef HEDDLE_LANES_H
#define HEDDLE_LANES_H

#include "solver/model/routes.h"

enum { LANES_SLACK = 4, LANES_FAR = 65535 };

struct lane_pair {
    int32_t a, b;        /* compact nodes; a == b: nothing to choose */
    int32_t row;         /* implicit: row of dist for b; -1: explicit list */
    int32_t hops, limit; /* implicit: fewest arcs, most arcs allowed; explicit: of the shortest and longest path */
    int32_t wide;        /* most arcs that a wide search may use, >= limit */
    int64_t first, last; /* explicit: paths [first, last) of list_at */
};

struct lanes {
    const struct problem *problem; /* borrowed */
    int32_t nnode, nswitch;        /* compact nodes: switches first, then NICs that are ends of ways themselves */
    int32_t *compact;              /* [fabric nnode] compact number, -1 for the other NICs */
    int32_t *first, *out;          /* first[nnode + 1]: live arcs between compact nodes, by tail */
    int32_t *head, *tail;          /* [narc] compact ends, -1 where none */

    int32_t nrow;
    uint16_t *dist;  /* [nrow * nnode] hops to the row's end node, LANES_FAR when unreached */
    int64_t *row_at; /* [nrow * (nnode + 1)]: fewest-hop arcs out of each node, in row_arc; NULL when too large */
    int32_t *row_arc;

    int32_t *enter, *leave; /* [nflow] the only arc out of the source, into the destination; -1: part of the way */
    int32_t *pair;          /* [nflow], -1 where the flow needs no route */
    int32_t npair;
    struct lane_pair *way; /* [npair] */

    int64_t nlist;
    int64_t *list_at; /* [nlist + 1] */
    int32_t *list_arc;
    int32_t longest; /* most arcs of any way */
};

/* As problem->options.policy says. E_INPUT when a routed flow has no live path, naming the flow. NULL on failure. */
struct lanes *lanes_new(const struct problem *p, struct err *e);
void lanes_free(struct lanes *w);

#endif
