#include "solver/kernel/heap.h"

static int before(const struct stop *a, const struct stop *b)
{
    return a->level < b->level || (!(b->level < a->level) && a->id < b->id);
}

static void sift_down(struct stop *heap, int64_t n, int64_t i)
{
    struct stop x = heap[i];
    for (;;) {
        int64_t c = 2 * i + 1;
        if (c >= n)
            break;
        if (c + 1 < n && before(&heap[c + 1], &heap[c]))
            c++;
        if (!before(&heap[c], &x))
            break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = x;
}

void heap_make(struct stop *heap, int64_t n)
{
    for (int64_t i = n / 2 - 1; i >= 0; i--)
        sift_down(heap, n, i);
}

void heap_pop(struct stop *heap, int64_t *n)
{
    heap[0] = heap[--*n];
    if (*n > 0)
        sift_down(heap, *n, 0);
}

void heap_raise(struct stop *heap, int64_t n, double level)
{
    heap[0].level = level;
    sift_down(heap, n, 0);
}
