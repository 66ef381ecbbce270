#include "solver/model/collective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_name[] = { "all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                       "reduce",     "all_to_all",     "send" };
static const char *const algorithm_name[] = { "ring", "tree", "halving_doubling", "direct", "hierarchical" };
enum { OPS = sizeof op_name / sizeof *op_name, ALGORITHMS = sizeof algorithm_name / sizeof *algorithm_name };

/* Which algorithms an op has: bits; the first one set is the usual one. */
#define BIT(a) (1u << (a))
static const unsigned offered[OPS] = {
    [COLL_ALL_REDUCE] = BIT(COLL_RING) | BIT(COLL_TREE) | BIT(COLL_HALVING_DOUBLING) | BIT(COLL_HIERARCHICAL),
    [COLL_REDUCE_SCATTER] = BIT(COLL_RING) | BIT(COLL_HIERARCHICAL),
    [COLL_ALL_GATHER] = BIT(COLL_RING) | BIT(COLL_HIERARCHICAL),
    [COLL_BROADCAST] = BIT(COLL_RING) | BIT(COLL_TREE),
    [COLL_REDUCE] = BIT(COLL_RING) | BIT(COLL_TREE),
    [COLL_ALL_TO_ALL] = BIT(COLL_DIRECT),
    [COLL_SEND] = BIT(COLL_DIRECT),
};

int transfers_add(struct transfers *t, int32_t src, int32_t dst, double bytes, struct err *e)
{
    void *at = t->at;
    if (t->n >= MAX_TRANSFERS)
        return fail(e, E_INPUT, "more than %d flows", MAX_TRANSFERS);
    if (array_grow(&at, &t->room, t->n + 1, sizeof *t->at) < 0)
        return fail(e, E_MEMORY, "out of memory for %lld flows", (long long)t->n + 1);
    t->at = at;
    t->at[t->n++] = (struct transfer){ src, dst, bytes };
    return 0;
}

void transfers_free(struct transfers *t)
{
    free(t->at);
    *t = (struct transfers){ 0 };
}

static int word(const char *const *name, int n, const char *text)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(name[i], text))
            return i;
    return -1;
}

int collective_named(const char *op, const char *algorithm, struct collective *c, struct err *e)
{
    char list[200] = "";
    int o = word(op_name, OPS, op);
    if (o < 0) {
        for (int i = 0; i < OPS; i++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", op_name[i]);
        return fail(e, E_INPUT, "op \"%.60s\" is none of %s", op, list);
    }
    int a = algorithm ? word(algorithm_name, ALGORITHMS, algorithm) : 0;
    while (!algorithm && !(offered[o] & BIT(a)))
        a++;
    if (a < 0 || !(offered[o] & BIT(a))) {
        for (int i = 0; i < ALGORITHMS; i++)
            if (offered[o] & BIT(i))
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "",
                         algorithm_name[i]);
        return fail(e, E_INPUT, "op %s has no algorithm \"%.60s\"; there are %s", op_name[o], algorithm, list);
    }
    c->op = (enum collective_op)o;
    c->algorithm = (enum collective_algorithm)a;
    return 0;
}

/* Flow from rank i to rank k. */
static int move(const struct collective *c, struct transfers *out, int32_t i, int32_t k, double bytes, struct err *e)
{
    return transfers_add(out, c->rank[i], c->rank[k], bytes, e);
}

/* What a ring edge carries of a buffer of s bytes over n ranks. */
static double ring_bytes(enum collective_op op, double s, int32_t n)
{
    return s * (n - 1) / n * (op == COLL_ALL_REDUCE ? 2 : 1);
}

static int ring(const struct collective *c, double s, struct transfers *out, struct err *e)
{
    int32_t n = c->nrank;
    int chain = c->op == COLL_BROADCAST || c->op == COLL_REDUCE;
    int32_t begin = c->op == COLL_REDUCE, end = c->op == COLL_BROADCAST ? n - 1 : n;
    for (int32_t r = begin; r < end; r++)
        if (move(c, out, r, (r + 1) % n, chain ? s : ring_bytes(c->op, s, n), e) < 0)
            return -1;
    return 0;
}

/* Parent of r > 0 in NCCL's binary tree over [0, n): the lowest set bit moves up by one place, or goes where that would
 * leave the range (graph/trees.cc, ncclGetBtree). Root 0. */
static int32_t tree_parent(int32_t r, int32_t n)
{
    int32_t bit = r & -r;
    int64_t up = (r ^ bit) | ((int64_t)bit << 1);
    return up < n ? (int32_t)up : r ^ bit;
}

/* Rank r of the second tree stands for rank r + 1 (n odd) or n - 1 - r (n even), so that inner ranks of one tree are
 * mostly leaves of the other (ncclGetDtree). */
static int32_t second(int32_t r, int32_t n)
{
    return n % 2 ? (r + 1) % n : n - 1 - r;
}

static int tree(const struct collective *c, double s, struct transfers *out, struct err *e)
{
    int32_t n = c->nrank;
    if (c->op != COLL_ALL_REDUCE) {
        for (int32_t r = 1; r < n; r++) {
            int32_t up = r & (r - 1);
            if ((c->op == COLL_REDUCE ? move(c, out, r, up, s, e) : move(c, out, up, r, s, e)) < 0)
                return -1;
        }
        return 0;
    }
    for (int which = 0; which < 2; which++)
        for (int32_t r = 1; r < n; r++) {
            int32_t child = r, up = tree_parent(r, n);
            if (which) {
                child = second(child, n);
                up = second(up, n);
            }
            if (move(c, out, child, up, s / 2, e) < 0 || move(c, out, up, child, s / 2, e) < 0)
                return -1;
        }
    return 0;
}

static int halving_doubling(const struct collective *c, double s, struct transfers *out, struct err *e)
{
    int32_t size = 1;
    while (size <= c->nrank / 2)
        size *= 2;
    for (int32_t i = 0; i < c->nrank - size; i++)
        if (move(c, out, size + i, i, s, e) < 0)
            return -1;
    for (int32_t step = 1, part = 1; step < size; step *= 2, part *= 2)
        for (int32_t r = 0; r < size; r++)
            if (move(c, out, r, r ^ step, s / part, e) < 0)
                return -1;
    for (int32_t i = 0; i < c->nrank - size; i++)
        if (move(c, out, i, size + i, s, e) < 0)
            return -1;
    return 0;
}

static int direct(const struct collective *c, double s, struct transfers *out, struct err *e)
{
    int32_t n = c->nrank;
    if (c->op == COLL_SEND)
        return move(c, out, 0, 1, s, e);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++)
            if (i != k && move(c, out, i, k, s / n, e) < 0)
                return -1;
    return 0;
}

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Number labels by first appearance: of[i] is the number of label[i]; room[2n] is scratch. Returns their count, or -1.
 */
static int32_t number_labels(const int32_t *label, int32_t n, int32_t *of, int32_t *room, const char *what,
                             struct err *e)
{
    int32_t *sorted = room, *number = room + n, distinct = 0, count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!label || label[i] < 0)
            return fail(e, E_INPUT, "ranks[%d]: its node has no %s, which algorithm hierarchical needs", i, what);
        sorted[i] = label[i];
    }
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[distinct - 1])
            sorted[distinct++] = sorted[i];
    for (int32_t i = 0; i < distinct; i++)
        number[i] = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t *found = bsearch(&label[i], sorted, (size_t)distinct, sizeof *sorted, compare);
        if (number[found - sorted] < 0)
            number[found - sorted] = count++;
        of[i] = number[found - sorted];
    }
    return count;
}

/* grid[rail * hosts + host] = 1 + rank; refuses a place that is taken twice. */
static int fill_grid(int32_t n, const int32_t *host, const int32_t *rail, int32_t hosts, int32_t *grid, struct err *e)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t *place = &grid[(int64_t)rail[i] * hosts + host[i]];
        if (*place)
            return fail(e, E_INPUT, "ranks[%d]: same host and rail as ranks[%d]", i, *place - 1);
        *place = i + 1;
    }
    return 0;
}

static int hierarchical(const struct collective *c, double s, struct transfers *out, struct err *e)
{
    int32_t n = c->nrank, rc = -1;
    int32_t *host = array(n, sizeof *host), *rail = array(n, sizeof *rail), *grid = array(n, sizeof *grid);
    int32_t *room = array(2 * (int64_t)n, sizeof *room);
    if (!host || !rail || !grid || !room) {
        fail(e, E_MEMORY, "out of memory for %d ranks", n);
        goto done;
    }
    int32_t hosts = number_labels(c->host, n, host, room, "host", e);
    int32_t rails = hosts < 0 ? -1 : number_labels(c->rail, n, rail, room, "rail", e);
    if (rails < 0)
        goto done;
    if ((int64_t)hosts * rails != n) {
        fail(e, E_INPUT, "%d ranks do not fill %d hosts x %d rails", n, hosts, rails);
        goto done;
    }
    if (fill_grid(n, host, rail, hosts, grid, e) < 0)
        goto done;
    for (int32_t g = 0; g < rails && hosts > 1; g++)
        for (int32_t h = 0; h < hosts; h++) {
            int32_t from = grid[(int64_t)g * hosts + h] - 1, to = grid[(int64_t)g * hosts + (h + 1) % hosts] - 1;
            if (move(c, out, from, to, ring_bytes(c->op, s / rails, hosts), e) < 0)
                goto done;
        }
    rc = 0;
done:
    free(host);
    free(rail);
    free(grid);
    free(room);
    return rc;
}

static int check(const struct collective *c, const struct transfers *out, struct err *e)
{
    int64_t n = c->nrank;
    if (!(c->bytes >= 0 && isfinite(c->bytes)))
        return fail(e, E_INPUT, "bytes %g must be finite and not negative", c->bytes);
    if (c->channels < 1)
        return fail(e, E_INPUT, "channels %d must be at least 1", c->channels);
    if (c->op == COLL_SEND && n > 2)
        return fail(e, E_INPUT, "a send has 2 ranks, not %lld", (long long)n);
    int64_t most = c->op == COLL_ALL_TO_ALL ? n * (n - 1) : c->algorithm == COLL_HALVING_DOUBLING ? 32 * n : 4 * n;
    if (most > (MAX_TRANSFERS - out->n) / c->channels)
        return fail(e, E_INPUT, "%lld ranks expand to more than %d flows", (long long)n, MAX_TRANSFERS);
    int32_t *sorted = array(n, sizeof *sorted);
    if (!sorted)
        return fail(e, E_MEMORY, "out of memory for %lld ranks", (long long)n);
    if (n > 0)
        memcpy(sorted, c->rank, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    int32_t twice = -1;
    for (int32_t i = 1; i < n && twice < 0; i++)
        twice = sorted[i] == sorted[i - 1] ? sorted[i] : -1;
    free(sorted);
    for (int32_t i = 0, first = -1; i < n && twice >= 0; i++)
        if (c->rank[i] == twice && first >= 0)
            return fail(e, E_INPUT, "ranks[%d]: the same node as ranks[%d]", i, first);
        else if (c->rank[i] == twice)
            first = i;
    return 0;
}

int collective_expand(const struct collective *c, struct transfers *out, struct err *e)
{
    static int (*const expand[ALGORITHMS])(const struct collective *, double, struct transfers *, struct err *) = {
        [COLL_RING] = ring,
        [COLL_TREE] = tree,
        [COLL_HALVING_DOUBLING] = halving_doubling,
        [COLL_DIRECT] = direct,
        [COLL_HIERARCHICAL] = hierarchical,
    };
    if (check(c, out, e) < 0)
        return -1;
    for (int32_t k = 0; k < c->channels && c->nrank > 1; k++)
        if (expand[c->algorithm](c, c->bytes / c->channels, out, e) < 0)
            return -1;
    return 0;
}
