/* Inside of split: the state that its files share. Not for use outside solver/engine/split*.
 * split_flows.c merges flows into commodities, split_ways.c keeps and prices their paths, split_block.c moves shares
 * and exchanges loads, split.c is the coordinator's loop; split_routes.c, split_round.c, split_levels.c build on it.
 *
 * Scales: demands are divided by a power of two (unit) so that the largest relative load is about 1. Relative loads are
 * int64 in steps of 2^-40, so that sums over blocks and ranks do not depend on their order.
 */
#ifndef HEDDLE_SPLIT_STATE_H
#define HEDDLE_SPLIT_STATE_H

#include "solver/engine/split.h"
#include "solver/kernel/paths.h"
#include "solver/kernel/prices.h"

/* A path of a commodity. */
struct way {
    const int32_t *arc; /* in the store, or in the problem's lists */
    int32_t len, next;  /* next way of the commodity, -1: the last one */
    double share, best; /* of the commodity's load: now, and in the best iterate */
};

/* Flows with the same ends that list no paths, or one flow that lists its own. */
struct commodity {
    int32_t src, dst;
    int32_t root;   /* core node at which its trees start, -1 when the flow lists its paths */
    int32_t prefix; /* arc from src to the root where they differ, else -1 */
    int32_t way, nway;
    double load; /* of all its flows, in units */
};

/* The fabric without its NICs, but for NICs that need trees of their own: NICs are never passed through, so the tree of
 * the switch behind a NIC with one cable serves all such NICs of the switch. Arcs keep their numbers. */
struct core {
    int32_t nnode;
    int32_t *of; /* [nnode of the fabric], -1 */
    int32_t *first, *out, *head, *tail;
    uint8_t *nic;
    struct paths *paths;
    double *dist; /* [nnode] the tree last built */
    int32_t *via;
};

/* Arrays of arcs that never move, so that ways can point into them. */
struct store {
    int32_t **slab;
    int64_t nslab, slab_room, left; /* left: free arcs at the end of the last slab */
    int64_t size;                   /* of the last slab */
};

/* Where a block's own changes are kept while it works on the loads of the last exchange. */
struct touched {
    int32_t n;
    int32_t *arc;   /* [narc] */
    int64_t *load;  /* [narc] */
    double *price;  /* [narc] */
    uint32_t *mark; /* [narc] mark[a] == round: a is listed */
    uint32_t round;
};

/* Share that a block has moved between two ways. */
struct transfer {
    int32_t from, to;
    double share;
};

struct split {
    const struct problem *p;
    const struct pods *pods;
    struct comm *comm;
    int32_t narc, own, end; /* this rank's blocks are [own, end) */

    struct core core;
    int32_t ncom;
    struct commodity *com; /* by block, then root, then ends */
    int32_t *block;        /* [end - own + 1]: commodities of a block */
    int64_t *flow_at;      /* [ncom + 1] */
    int32_t *flow;         /* flows of a commodity */
    double *flow_load;     /* theirs, unscaled */

    struct way *way;
    int64_t nway, way_room;
    struct store store;
    int32_t *trace; /* [core.nnode + 2] scratch */

    double *icap; /* [narc] 1 / cap, 0 where no path may go */
    int32_t nlive;
    int64_t *load;          /* [narc] relative, 2^-40 */
    double *r, *w, *price;  /* [narc] relative load, multiplier, price in use */
    double *length, *proof; /* [narc] price that is being evaluated; that of the best bound */
    double *plain;          /* [narc] disjoint: that of the best bound by plain distances */
    int64_t *delta;         /* [narc] to be exchanged */
    struct touched touched;
    uint64_t *dirty;        /* bit per arc: delta may be non-zero */
    struct transfer *moved; /* moves since the last exchange */
    int64_t nmoved;
    uint32_t *side; /* [narc] which arcs the dearest way uses; stamps */
    uint32_t side_round;
    int32_t *line_arc; /* [narc] the line of a search: of a move, or of an exchange */
    double *line_step, *line_w, *line_r, *line_v;
    int64_t *slot; /* [npod + SLOTS] */

    int32_t nchunk; /* of a pass */
    int64_t all;    /* commodities of all ranks */

    double equal; /* relative spread of costs below which nothing moves */
    double unit;
    double total; /* load of all flows, in units */
    struct rule rule;
    double level;        /* of the augmented Lagrangian */
    double top;          /* largest relative load now */
    double value, bound; /* best: of shares and of prices, in units */
    double mark;         /* gap some rounds ago */
    double claim;        /* what plain distances prove, where the policy's own prove more; else bound */
    double warm;         /* penalty times value that an earlier run ended with, 0: no multipliers from it */
    int64_t rounds;      /* of this run */
};

#endif
