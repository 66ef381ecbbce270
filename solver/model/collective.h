/* Collectives as flows: what each operation sends between which ranks, by the closed forms of NCCL's algorithms.
 * Not for: names (ranks are node numbers here), demands that are not bytes.
 */
#ifndef HEDDLE_COLLECTIVE_H
#define HEDDLE_COLLECTIVE_H

#include "solver/model/base.h"

enum collective_op {
    COLL_ALL_REDUCE,
    COLL_REDUCE_SCATTER,
    COLL_ALL_GATHER,
    COLL_BROADCAST,
    COLL_REDUCE,
    COLL_ALL_TO_ALL,
    COLL_SEND,
};

enum collective_algorithm { COLL_RING, COLL_TREE, COLL_HALVING_DOUBLING, COLL_DIRECT, COLL_HIERARCHICAL };

/* S = bytes is the buffer as NCCL counts it: per rank; the input of a reduce_scatter, the output of an all_gather, what
 * a rank sends in all in an all_to_all. */
struct collective {
    enum collective_op op;
    enum collective_algorithm algorithm;
    double bytes;
    int32_t nrank;
    const int32_t *rank;        /* [nrank] nodes in order; root of broadcast and reduce first; sender of send first */
    int32_t channels;           /* 1 or more: the flows once per channel, each with bytes / channels */
    const int32_t *host, *rail; /* [nrank] labels, -1 where there is none; COLL_HIERARCHICAL only, else may be NULL */
};

/* A growing list of flows. */
struct transfer {
    int32_t src, dst;
    double bytes;
};
struct transfers {
    struct transfer *at;
    int64_t n, room;
};
enum { MAX_TRANSFERS = 1 << 26 }; /* in one list */

int transfers_add(struct transfers *t, int32_t src, int32_t dst, double bytes, struct err *e);
void transfers_free(struct transfers *t);

/* op and algorithm by name; algorithm NULL: the usual one of the op. Refusals list what there is. */
int collective_named(const char *op, const char *algorithm, struct collective *c, struct err *e);

/* Append the flows, in this order (S = bytes / channels, n ranks, r the rank number; fewer than two ranks: none):
 *   ring          all_reduce, reduce_scatter, all_gather: r -> r + 1 (mod n) for r = 0, 1, ...: 2 (n-1)/n S, or half
 * that; broadcast: 0 -> 1 -> ... -> n-1, S each; reduce: 1 -> 2 -> ... -> n-1 -> 0, S each tree          all_reduce:
 * two binary trees (NCCL's: the second one shifted or mirrored), of each rank but the root S/2 up and S/2 down. An edge
 * in both trees gives two flows: two connections. broadcast, reduce: one binomial tree with root 0, S per edge
 *   halving_doubling  all_reduce, 2^k <= n < 2^(k+1): rank 2^k + i gives S to i; r <-> r xor 2^i carry S / 2^i each
 * way, i = 0 .. k-1; rank 2^k + i gets S back direct        all_to_all: every ordered pair S/n; send: 0 -> 1, S
 *   hierarchical  all_reduce, reduce_scatter, all_gather: one ring per rail over the hosts, as for ring with S / rails;
 *                 ranks must fill a grid of hosts x rails
 * Refuses a negative or infinite S, a repeated rank, a send of more than two ranks, more than MAX_TRANSFERS. */
int collective_expand(const struct collective *c, struct transfers *out, struct err *e);

#endif
