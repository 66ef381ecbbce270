/* paths: trees against Bellman-Ford on (length, hops), disjoint paths against a slow rescan, limits of the arguments.
 */
#include "solver/kernel/paths.h"
#include "solver/model/base.h"
#include "tests/check.h"

#include <math.h>

enum { MAX_NODE = 24, MAX_ARC = 120 };

struct net {
    struct graph g;
    int32_t first[MAX_NODE + 1], out[MAX_ARC], head[MAX_ARC], tail[MAX_ARC];
    uint8_t nic[MAX_NODE], live[MAX_ARC];
    double length[MAX_ARC];
};

static void net_finish(struct net *n, int32_t nnode, int32_t narc)
{
    int32_t k = 0;
    for (int32_t v = 0; v < nnode; v++) {
        n->first[v] = k;
        for (int32_t a = 0; a < narc; a++)
            if (n->live[a] && n->tail[a] == v)
                n->out[k++] = a;
    }
    n->first[nnode] = k;
    n->g = (struct graph){ nnode, narc, n->first, n->out, n->head, n->tail, n->nic };
}

static void net_random(struct net *n, uint64_t seed)
{
    struct rng r = { seed };
    int32_t nnode = 1 + rng_below(&r, MAX_NODE), narc = nnode < 2 ? 0 : rng_below(&r, MAX_ARC + 1);
    memset(n, 0, sizeof *n);
    for (int32_t v = 0; v < nnode; v++)
        n->nic[v] = rng_below(&r, 5) == 0;
    for (int32_t a = 0; a < narc; a++) {
        n->tail[a] = rng_below(&r, nnode);
        n->head[a] = (n->tail[a] + 1 + rng_below(&r, nnode - 1)) % nnode;
        n->live[a] = rng_below(&r, 8) > 0;
        n->length[a] = rng_below(&r, 3) == 0 ? 0 : 0.25 * rng_below(&r, 9); /* exact sums, many ties, many zeros */
    }
    net_finish(n, nnode, narc);
}

/* dist and hops by relaxing until nothing changes; hops_first puts hops ahead of length. */
static void referee_tree(const struct net *n, int32_t s, int hops_first, double *dist, int32_t *hops)
{
    for (int32_t v = 0; v < n->g.nnode; v++) {
        dist[v] = INFINITY;
        hops[v] = INT32_MAX;
    }
    dist[s] = hops[s] = 0;
    for (int again = 1; again;) {
        again = 0;
        for (int32_t a = 0; a < n->g.narc; a++) {
            int32_t u = n->tail[a], v = n->head[a];
            if (!n->live[a] || hops[u] == INT32_MAX || (n->nic[u] && u != s))
                continue;
            double d = dist[u] + n->length[a];
            int32_t h = hops[u] + 1;
            int less = hops_first ? h < hops[v] || (h == hops[v] && d < dist[v])
                                  : d < dist[v] || (d == dist[v] && h < hops[v]);
            if (less) {
                dist[v] = d;
                hops[v] = h;
                again = 1;
            }
        }
    }
}

/* Walks like a path: contiguous, live, from s to t, no NIC and no node twice inside. */
static void check_path(const struct net *n, int32_t s, int32_t t, const int32_t *arc, int32_t len, uint64_t seed)
{
    int32_t v = s;
    uint8_t seen[MAX_NODE] = { 0 };
    seen[s] = 1;
    for (int32_t i = 0; i < len; i++) {
        CHECK(n->live[arc[i]] && n->tail[arc[i]] == v, "seed %llu: arc %d", (unsigned long long)seed, arc[i]);
        CHECK(v == s || !n->nic[v], "seed %llu: passes NIC %d", (unsigned long long)seed, v);
        v = n->head[arc[i]];
        CHECK(!seen[v], "seed %llu: node %d twice", (unsigned long long)seed, v);
        seen[v] = 1;
    }
    CHECK(v == t, "seed %llu: ends at %d, not %d", (unsigned long long)seed, v, t);
}

static void test_by_hand(void **state)
{
    /* 0 -> 1 -> 3 and 0 -> 2 -> 3 at equal length, a parallel arc 0 -> 1, and NIC 4 as a forbidden short cut. */
    (void)state;
    static struct net n = { .tail = { 0, 0, 0, 1, 2, 0, 4 }, .head = { 2, 1, 1, 3, 3, 4, 3 } };
    int32_t via[5], arc[4], at[4];
    double dist[5];
    for (int32_t a = 0; a < 7; a++) {
        n.live[a] = 1;
        n.length[a] = a < 5 ? 1 : 0;
    }
    n.nic[4] = 1;
    net_finish(&n, 5, 7);
    struct paths *w = paths_new(&n.g);
    CHECK(w, "memory");
    paths_tree(w, 0, n.length, 0, dist, via);
    CHECK(dist[3] == 2 && via[3] == 3 && via[1] == 1 && dist[4] == 0, "ties go to the smaller arc");
    CHECK(paths_trace(w, 0, 3, via, arc, 4) == 2 && arc[0] == 1 && arc[1] == 3, "trace");
    CHECK(paths_trace(w, 0, 3, via, arc, 1) == -1, "room");
    CHECK(paths_trace(w, 0, 0, via, arc, 0) == 0, "to itself");
    paths_tree(w, 3, n.length, 0, dist, via);
    CHECK(isinf(dist[0]) && paths_trace(w, 3, 0, via, arc, 4) == -1, "unreachable");
    CHECK(paths_disjoint(w, 0, 3, 3, at, arc, 4) == 2 && at[2] == 4, "two disjoint paths");
    CHECK(arc[0] == 1 && arc[1] == 3 && arc[2] == 0 && arc[3] == 4, "smallest arcs first");
    CHECK(paths_disjoint(w, 0, 3, 3, at, arc, 3) == -1, "room of disjoint paths");
    CHECK(paths_disjoint(w, 0, 0, 3, at, arc, 3) == 0, "no path to itself");
    paths_free(w);
    paths_free(NULL);
}

static void test_trees(void **state)
{
    (void)state;
    static struct net n;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        double dist[MAX_NODE], want[MAX_NODE];
        int32_t via[MAX_NODE], hops[MAX_NODE], arc[MAX_NODE];
        net_random(&n, seed);
        struct paths *w = paths_new(&n.g);
        CHECK(w, "memory");
        for (int within = 0; within < 2; within++)
            for (int32_t s = 0; s < n.g.nnode; s++) {
                paths_tree(w, s, n.length, within, dist, via);
                referee_tree(&n, s, within, want, hops);
                for (int32_t t = 0; t < n.g.nnode; t++) {
                    CHECK(dist[t] == want[t], "seed %llu: %d -> %d: %g, referee %g", (unsigned long long)seed, s, t,
                          dist[t], want[t]);
                    int32_t len = paths_trace(w, s, t, via, arc, MAX_NODE);
                    CHECK(len == (hops[t] == INT32_MAX ? -1 : hops[t]), "seed %llu: %d -> %d: %d arcs",
                          (unsigned long long)seed, s, t, len);
                    if (len > 0)
                        check_path(&n, s, t, arc, len, seed);
                    for (int32_t a = 0; len > 0 && a < via[t]; a++) /* no smaller arc does as well */
                        CHECK(!(n.live[a] && n.head[a] == t && hops[n.tail[a]] == hops[t] - 1 &&
                                (n.tail[a] == s || !n.nic[n.tail[a]]) && want[n.tail[a]] + n.length[a] == dist[t]),
                              "seed %llu: arc %d is smaller than %d", (unsigned long long)seed, a, via[t]);
                }
            }
        paths_free(w);
    }
}

static void test_disjoint(void **state)
{
    (void)state;
    static struct net n, left;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        int32_t at[6], arc[5 * MAX_NODE];
        net_random(&n, seed);
        struct paths *w = paths_new(&n.g);
        CHECK(w, "memory");
        for (int32_t s = 0; s < n.g.nnode; s++)
            for (int32_t t = 0; t < n.g.nnode; t++) {
                int32_t k = paths_disjoint(w, s, t, 5, at, arc, 5 * MAX_NODE);
                left = n; /* the referee takes the arcs away one path after the other */
                for (int32_t i = 0; i <= k && i < 5; i++) {
                    double dist[MAX_NODE];
                    int32_t hops[MAX_NODE];
                    referee_tree(&left, s, 1, dist, hops);
                    if (i == k) {
                        CHECK(s == t || hops[t] == INT32_MAX, "seed %llu: a path is missing", (unsigned long long)seed);
                        continue;
                    }
                    CHECK(at[i + 1] - at[i] == hops[t], "seed %llu: path %d", (unsigned long long)seed, i);
                    check_path(&left, s, t, arc + at[i], at[i + 1] - at[i], seed);
                    for (int32_t j = at[i]; j < at[i + 1]; j++)
                        left.live[arc[j]] = 0;
                }
            }
        paths_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_by_hand), cmocka_unit_test(test_trees),
                                        cmocka_unit_test(test_disjoint) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
