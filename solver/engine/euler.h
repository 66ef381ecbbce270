/* Laminar Euler split: colours the edges of a bipartite multigraph with 2^bits colours so that every group of every
 * level (a NIC, its leaf, its pod, ... on either side) gets floor or ceil of its share of each half at every halving.
 * Edges are paired inside the finest groups first, what is left over inside the next; the two pairings make even cycles
 * and paths, which are coloured alternately. Arrays in, arrays out; nothing is allocated after euler_new.
 */
#ifndef HEDDLE_EULER_H
#define HEDDLE_EULER_H

#include "solver/model/base.h"

struct euler;

struct euler *euler_new(int32_t room); /* for up to room edges; NULL on short memory */
void euler_free(struct euler *x);

/* left[level * n + i], right[level * n + i]: group of edge i's end at each of nlevel levels, finest first; a group lies
 * inside one group of the next level. colour[n] in [0, 2^bits). O(n bits nlevel + n log n). n <= room. */
void euler_split(struct euler *x, int32_t n, int32_t nlevel, const int32_t *left, const int32_t *right, int bits,
                 int32_t *colour);

#endif
