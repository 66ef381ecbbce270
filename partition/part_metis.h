/* The only caller of METIS, with its traps handled: one part, more parts than nodes / 8, empty parts reported as
 * success, disconnected graphs, 32-bit overflow of edges and weights, SIGTERM swallowed during the call, output on
 * stdout.
 */
#ifndef HEDDLE_PART_METIS_H
#define HEDDLE_PART_METIS_H

#include "solver/model/base.h"

/* Symmetric graph of n vertices: neighbours of v are to[first[v] .. first[v + 1]) with edge weights w (same order),
 * vertex weights vw[n] (>= 1). part[n] becomes a part in [0, *k) for every vertex, no part empty; *k may be lowered
 * (small graphs) and is at least 1 when n > 0. Same seed, same parts. E_INPUT on an asymmetric or oversized graph. */
int part_metis(int32_t n, const int64_t *first, const int32_t *to, const int64_t *w, const int64_t *vw, int64_t seed,
               int32_t *k, int32_t *part, struct err *e);

#endif
