/* Cheapest paths under prices, and k edge-disjoint paths, on the compressed adjacency of the live arcs. NICs are never
 * passed through. Ties break by hops, then by the smaller arc number: the same tree everywhere.
 */
#ifndef HEDDLE_PATHS_H
#define HEDDLE_PATHS_H

#include <stdint.h>

/* The graph as paths needs it: borrowed arrays of struct fabric. */
struct graph {
    int32_t nnode, narc;
    const int32_t *first, *out; /* live arcs out of each node */
    const int32_t *head, *tail; /* [narc] */
    const uint8_t *nic;         /* [nnode] 1: may start or end a path, never be inside one */
};

struct paths *paths_new(const struct graph *g); /* workspace; NULL on short memory; keeps a copy of the struct g */
void paths_free(struct paths *w);

/* Dijkstra from s under length[narc] >= 0: dist[nnode] (INFINITY: unreachable) and via[nnode], the arc that enters each
 * node on its cheapest path (-1 at s and where unreachable). within_hops: only fewest-hop paths compete. */
void paths_tree(struct paths *w, int32_t s, const double *length, int within_hops, double *dist, int32_t *via);

/* The path to t out of via as arcs in order, at most room of them; returns the number of arcs, or -1 when there is no
 * path or it does not fit. */
int32_t paths_trace(const struct paths *w, int32_t s, int32_t t, const int32_t *via, int32_t *arc, int32_t room);

/* Up to k arc-disjoint paths s -> t: k times the fewest-hop path (ties: smallest arc number at each step back from t),
 * its arcs removed. Path i is arc[at[i] .. at[i + 1]), at[k + 1]; returns how many were found, or -1 when room is
 * short. */
int32_t paths_disjoint(struct paths *w, int32_t s, int32_t t, int32_t k, int32_t *at, int32_t *arc, int32_t room);

#endif
