#include "solver/engine/euler.h"

#include <stdlib.h>
#include <string.h>

struct euler {
    int32_t *order[2];    /* [room] edges of the present parts, sorted by the groups of one side, coarsest first */
    int32_t *partner[2];  /* [room] the edge paired with each one on a side, -1: none */
    int32_t *rest, *move; /* [room] scratch */
    uint8_t *half;        /* [room] */
};

struct euler *euler_new(int32_t room)
{
    struct euler *x = array(1, sizeof *x);
    if (!x)
        return NULL;
    for (int side = 0; side < 2; side++) {
        x->order[side] = array(room, sizeof *x->order[side]);
        x->partner[side] = array(room, sizeof *x->partner[side]);
    }
    x->rest = array(room, sizeof *x->rest);
    x->move = array(room, sizeof *x->move);
    x->half = array(room, sizeof *x->half);
    if (x->order[0] && x->order[1] && x->partner[0] && x->partner[1] && x->rest && x->move && x->half)
        return x;
    euler_free(x);
    return NULL;
}

void euler_free(struct euler *x)
{
    if (!x)
        return;
    for (int side = 0; side < 2; side++) {
        free(x->order[side]);
        free(x->partner[side]);
    }
    free(x->rest);
    free(x->move);
    free(x->half);
    free(x);
}

/* Order of two edges by their groups, coarsest level first, then by number. */
static int precedes(const int32_t *group, int32_t nlevel, int32_t n, int32_t e, int32_t f)
{
    for (int32_t l = nlevel - 1; l >= 0; l--) {
        int32_t s = group[(int64_t)l * n + e], t = group[(int64_t)l * n + f];
        if (s != t)
            return s < t;
    }
    return e < f;
}

/* Bottom-up merge sort of order[n], with move as the other half. */
static void sort_edges(struct euler *x, int32_t *order, const int32_t *group, int32_t nlevel, int32_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            int64_t mid = lo + width < n ? lo + width : n, hi = mid + width < n ? mid + width : n;
            int64_t i = lo, j = mid, k = lo;
            while (k < hi)
                if (j >= hi || (i < mid && precedes(group, nlevel, n, order[i], order[j])))
                    x->move[k++] = order[i++];
                else
                    x->move[k++] = order[j++];
        }
        memcpy(order, x->move, (size_t)n * sizeof *order);
    }
}

/* Pairs the edges order[k] on one side: neighbours of one group, finest level first, then whoever is left. */
static void pair_up(struct euler *x, int side, const int32_t *order, int32_t k, const int32_t *group, int32_t nlevel,
                    int32_t n)
{
    int32_t *partner = x->partner[side], left = k;
    memcpy(x->rest, order, (size_t)k * sizeof *order);
    for (int32_t l = 0; l <= nlevel; l++) {
        int32_t kept = 0;
        for (int32_t i = 0; i < left; i++) {
            int32_t e = x->rest[i], f = i + 1 < left ? x->rest[i + 1] : -1;
            if (f >= 0 && (l == nlevel || group[(int64_t)l * n + e] == group[(int64_t)l * n + f])) {
                partner[e] = f;
                partner[f] = e;
                i++;
            } else {
                x->rest[kept++] = e;
            }
        }
        left = kept;
    }
    if (left > 0)
        partner[x->rest[0]] = -1;
}

/* Colours the chain from edge e alternately, leaving e first through the given side; 2: not yet coloured. */
static void walk(struct euler *x, int32_t e, int side)
{
    uint8_t half = 0;
    while (e >= 0 && x->half[e] == 2) {
        x->half[e] = half;
        half ^= 1;
        e = x->partner[side][e];
        side ^= 1;
    }
}

/* Splits the edges [lo, hi) of both orders in two; returns where the second half begins. */
static int32_t halve(struct euler *x, int32_t lo, int32_t hi)
{
    const int32_t *edge = x->order[0] + lo;
    int32_t k = hi - lo, mid = lo;
    for (int32_t i = 0; i < k; i++)
        x->half[edge[i]] = 2;
    for (int32_t i = 0; i < k; i++) /* paths from their ends, then cycles */
        for (int side = 0; side < 2; side++)
            if (x->partner[side][edge[i]] < 0)
                walk(x, edge[i], side ^ 1);
    for (int32_t i = 0; i < k; i++)
        walk(x, edge[i], 0);
    for (int side = 0; side < 2; side++) {
        int32_t *order = x->order[side] + lo, second = 0;
        mid = lo;
        for (int32_t i = 0; i < k; i++)
            if (x->half[order[i]])
                x->move[second++] = order[i];
            else
                x->order[side][mid++] = order[i];
        memcpy(x->order[side] + mid, x->move, (size_t)second * sizeof *order);
    }
    return mid;
}

/* Depth first over the halvings; the recursion is as deep as bits. */
static void split(struct euler *x, int32_t lo, int32_t hi, const int32_t *group[2], int32_t nlevel, int32_t n, int bits,
                  int32_t base, int32_t *colour)
{
    if (bits == 0 || hi - lo <= 0) {
        for (int32_t i = lo; i < hi; i++)
            colour[x->order[0][i]] = base;
        return;
    }
    for (int side = 0; side < 2; side++)
        pair_up(x, side, x->order[side] + lo, hi - lo, group[side], nlevel, n);
    int32_t mid = halve(x, lo, hi);
    split(x, lo, mid, group, nlevel, n, bits - 1, base, colour);
    split(x, mid, hi, group, nlevel, n, bits - 1, base + (1 << (bits - 1)), colour);
}

void euler_split(struct euler *x, int32_t n, int32_t nlevel, const int32_t *left, const int32_t *right, int bits,
                 int32_t *colour)
{
    const int32_t *group[2] = { left, right };
    for (int side = 0; side < 2; side++) {
        for (int32_t i = 0; i < n; i++)
            x->order[side][i] = i;
        sort_edges(x, x->order[side], group[side], nlevel, n);
    }
    split(x, 0, n, group, nlevel, n, bits, 0, colour);
}
