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

/* Slots behind the npod partial bounds. */
enum { SLOT_COLUMNS, SLOT_FAILED, SLOT_STOP, SLOTS };

static const double FIXED = 1099511627776.0; /* 2^40 */

static inline int64_t fixed_of(double x)
{
    static const double most = 0x1p55; /* 256 ranks can add this up */
    x *= FIXED;
    x = x > most ? most : x < -most ? -most : x;
    return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* split_flows.c */
int split_merge(struct split *s, struct err *e);
void split_core_free(struct core *c);
int split_core(struct split *s, struct err *e);
double split_demand(struct split *s, const double *load); /* sets com->load, unscaled; returns the sum over all flows */

/* split_ways.c */
int split_ways_start(struct split *s,
                     struct err *e); /* listed or disjoint paths, else the cheapest one at prices 1 / cap */
void split_ways_free(struct split *s);
enum ways_job { WAYS_COLUMNS, WAYS_PLAIN };
/* Under s->length: slot[block] = bits of sum of load * distance over the block. WAYS_COLUMNS: ways that beat a
 * commodity's own by more than tolerance are added and counted; restricted commodities count their own ways.
 * WAYS_PLAIN: distances on the whole fabric except where flows list paths. Own blocks only; no exchange. */
int split_ways_price(struct split *s, enum ways_job job, double tolerance, int64_t *added, struct err *e);
/* part[njob] = sum over the job's flows of load * distance under price, scaled to sum u y = 1, times scale and rounded
 * down; of all ranks. plain as in WAYS_PLAIN. */
int split_parts(struct split *s, const double *price, int plain, double scale, int64_t *part, struct err *e);
/* Distance of commodity k when the tree of its root under length is in core.dist; *last: the arc into dst or -1. */
double split_distance(struct split *s, const struct commodity *k, const double *length, int32_t *last);
double split_cost(const struct way *y, const double *price);

/* split_block.c */
int split_chunks(struct split *s, int64_t all, struct err *e);
int split_pass(struct split *s, struct err *e);            /* every commodity moves once */
int split_loads(struct split *s, int best, struct err *e); /* loads from (best) shares; top */
void split_touch(struct split *s, int32_t a);              /* before a block changes load, r or price of an arc */
void split_freeze(struct split *s);                        /* a block begins its chunk */
void split_thaw(struct split *s);                          /* its changes go to delta, the frozen loads come back */
/* Every block's changes on every rank; searched: as far as they do good together, for each block went to the best point
 * of its own lines and several may have gone for the same arc. */
int split_exchange(struct split *s, int searched, struct err *e);
/* Chunk c of the n items of block b begins at this one; c = nchunk: n. */
int64_t split_chunk(const struct split *s, int32_t b, int64_t n, int32_t c);
int split_multipliers(struct split *s, struct err *e); /* w <- v, by the owners of the arcs */

/* split_routes.c: records of paths on their way to rank 0. */
struct bundle {
    int32_t *word;
    int64_t n, room;
};
int bundle_flows(struct bundle *b, const int32_t *flow, int64_t nflow, int32_t npath); /* opens a record */
int bundle_path(struct bundle *b, double share, const struct way *y);                  /* npath times */
/* Frees the bundle. rc: this rank's so far; all ranks call it. */
int bundle_gather(struct split *s, struct bundle *b, int rc, struct routes **out, struct err *e);

#endif
