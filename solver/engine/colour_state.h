/* Inside of colour: the tables that colour_build.c finds in the graph and colour.c fills.
 */
#ifndef HEDDLE_COLOUR_STATE_H
#define HEDDLE_COLOUR_STATE_H

#include "solver/engine/colour.h"

enum { COLOUR_MAX_SLOT = 1 << 25 }; /* slots of one side of a table: 128 MB */

/* One bipartite colouring problem: rows on two sides (the same switches, sending and receiving), colours, and the arc
 * that a row uses for a colour. A colour stands for a switch of the next tier and one of its parallel cables. */
struct table {
    int32_t nrow, ncolour;
    int32_t *row;         /* [nnode] compact node's row, -1 */
    int32_t *arc[2];      /* [nrow * ncolour] arc up (0) and down (1); -1: none */
    uint8_t *room[2];     /* [nrow * ncolour] units that fit under the present target */
    uint8_t *used[2];     /* [nrow * ncolour] */
    int32_t *slot[2];     /* [nrow * ncolour * (depth + 1)] edges; one more than fits while a chain moves */
    int32_t depth, nslot; /* units per colour and row; slots allocated per side */
};

struct colour {
    const struct lanes *w;
    int32_t *tier; /* [nnode] 1: leaves; 0: outside */
    int32_t *pod;  /* [nnode] component over tiers 1 and 2, named by its smallest node */
    struct table t[2];

    struct euler *euler; /* nedge: subflows of all flows, the most there can be */
    int32_t *unit;       /* [nedge] unit of each edge */
    int32_t *end[2];     /* [nedge] row of each edge on both sides */
    int32_t *group[2];   /* [3 * nedge] for the Euler split */
    int32_t *got;        /* [nedge] colour of each edge, -1 */
    int32_t *first;      /* [nedge] colours of the Euler split */
    int32_t *lower;      /* [nedge] colour in table 0 of each edge of table 1 */
    int32_t *mark, now;  /* [nedge] edges of the present chain */
    int32_t *chain;      /* [MAX_CHAIN] */
    int32_t *count;      /* [nnode] */
    int32_t *width;      /* [colours of the wider table] room of each */
};

/* Tiers, pods and both tables of c->w; scratch stays untouched. -1 on short memory. */
int colour_build(struct colour *c);

#endif
