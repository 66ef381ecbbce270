/* A binary heap of (level, id), smallest level first, ties by the smaller id: the order in which arcs and ceilings stop
 * rising rates. The array is the caller's.
 */
#ifndef HEDDLE_HEAP_H
#define HEDDLE_HEAP_H

#include <stdint.h>

struct stop {
    double level;
    int64_t id;
};

void heap_make(struct stop *heap, int64_t n);                /* any order -> heap order */
void heap_pop(struct stop *heap, int64_t *n);                /* drops heap[0] */
void heap_raise(struct stop *heap, int64_t n, double level); /* heap[0] gets a higher level and finds its place */

#endif
