/* Inside of split: the calls between its files, on the state of split_state.h. All ranks make those that exchange.
 */
#ifndef HEDDLE_SPLIT_INNER_H
#define HEDDLE_SPLIT_INNER_H

#include "solver/engine/split_state.h"

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
/* Listed or disjoint paths, else the cheapest one at prices 1 / cap. */
int split_ways_start(struct split *s, struct err *e);
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
