#include "check.h"
#include "short.h"
#include "solver/model/collective.h"

#include <math.h>

enum { MOST = 40 };
static int32_t identity[MOST];

static struct transfers expand(const char *op, const char *algorithm, int32_t n, double bytes)
{
    struct err e = { 0 };
    struct collective c = { .bytes = bytes, .nrank = n, .rank = identity, .channels = 1 };
    struct transfers t = { 0 };
    for (int32_t i = 0; i < MOST; i++)
        identity[i] = i;
    CHECK(collective_named(op, algorithm, &c, &e) == 0, "%s", e.text);
    CHECK(collective_expand(&c, &t, &e) == 0, "%s", e.text);
    return t;
}

static double total(const struct transfers *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += t->at[i].bytes;
    return sum;
}

/* Bytes that rank r sends (or gets). */
static double of_rank(const struct transfers *t, int32_t r, int sends)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        if ((sends ? t->at[i].src : t->at[i].dst) == r)
            sum += t->at[i].bytes;
    return sum;
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fmax(fabs(a), fabs(b)));
}

static const int32_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32 };
#define FOR_SIZES(n)                                                                                                   \
    for (size_t at_ = 0, n = 1; at_ < sizeof sizes / sizeof *sizes && (n = (size_t)sizes[at_], 1); at_++)

static void test_small_cases_in_order(void **state)
{
    (void)state;
    static const struct transfer ring3[] = { { 0, 1, 4 }, { 1, 2, 4 }, { 2, 0, 4 } };
    static const struct transfer all3[] = {
        { 0, 1, 1 }, { 0, 2, 1 }, { 1, 0, 1 }, { 1, 2, 1 }, { 2, 0, 1 }, { 2, 1, 1 }
    };
    static const struct transfer chain3[] = { { 1, 2, 3 }, { 2, 0, 3 } };
    static const struct transfer halves3[] = { { 2, 0, 3 }, { 0, 1, 3 }, { 1, 0, 3 }, { 0, 2, 3 } };
    static const struct transfer tree2[] = { { 1, 0, 1.5 }, { 0, 1, 1.5 }, { 0, 1, 1.5 }, { 1, 0, 1.5 } };
    struct {
        const char *op, *algorithm;
        int32_t n;
        const struct transfer *flow;
        int64_t count;
    } row[] = {
        { "all_reduce", NULL, 3, ring3, 3 },   { "all_to_all", NULL, 3, all3, 6 },
        { "reduce", NULL, 3, chain3, 2 },      { "all_reduce", "halving_doubling", 3, halves3, 4 },
        { "all_reduce", "tree", 2, tree2, 4 },
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct transfers t = expand(row[k].op, row[k].algorithm, row[k].n, 3);
        CHECK(t.n == row[k].count, "row %zu: %lld flows", k, (long long)t.n);
        for (int64_t i = 0; i < t.n; i++)
            CHECK(t.at[i].src == row[k].flow[i].src && t.at[i].dst == row[k].flow[i].dst &&
                      near(t.at[i].bytes, row[k].flow[i].bytes),
                  "row %zu flow %lld: %d -> %d, %g", k, (long long)i, t.at[i].src, t.at[i].dst, t.at[i].bytes);
        transfers_free(&t);
    }
}

/* Closed forms: what every rank sends and gets, and the sum. */
static void test_symmetric_volumes(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        double factor; /* of (n - 1)/n S per rank */
    } row[] = { { "all_reduce", 2 }, { "reduce_scatter", 1 }, { "all_gather", 1 }, { "all_to_all", 1 } };
    const double s = 1e9;
    FOR_SIZES(n) for (size_t k = 0; k < 4; k++)
    {
        struct transfers t = expand(row[k].op, NULL, (int32_t)n, s);
        for (int32_t r = 0; r < (int32_t)n; r++) {
            double want = row[k].factor * (double)(n - 1) / (double)n * s;
            CHECK(near(of_rank(&t, r, 1), want) && near(of_rank(&t, r, 0), want), "%s n %zu rank %d", row[k].op, n, r);
        }
        CHECK(t.n == (int64_t)(n < 2 ? 0 : k == 3 ? n * (n - 1) : n));
        transfers_free(&t);
    }
}

/* Everyone but the root gets S once, from someone who has it already; a reduce is the same the other way round. */
static void test_rooted(void **state)
{
    (void)state;
    static const char *const algorithm[] = { "ring", "tree" };
    FOR_SIZES(n) for (int k = 0; k < 4; k++)
    {
        struct transfers t = expand(k < 2 ? "broadcast" : "reduce", algorithm[k % 2], (int32_t)n, 5);
        int has[MOST] = { 1 };
        CHECK(t.n == (int64_t)n - 1 && near(total(&t), 5.0 * (double)(n - 1)));
        for (size_t round = 0; round < n; round++)
            for (int64_t i = 0; i < t.n; i++) {
                int32_t from = k < 2 ? t.at[i].src : t.at[i].dst, to = k < 2 ? t.at[i].dst : t.at[i].src;
                if (has[from] == 1)
                    has[to] = 1;
            }
        for (int32_t r = 0; r < (int32_t)n; r++) {
            CHECK(has[r], "n %zu case %d: rank %d is not reached", n, k, r);
            CHECK(near(of_rank(&t, r, k >= 2), r ? 5 : 0));
        }
        transfers_free(&t);
    }
}

static void test_double_tree(void **state)
{
    (void)state;
    FOR_SIZES(n)
    {
        struct transfers t = expand("all_reduce", "tree", (int32_t)n, 1e6);
        CHECK(t.n == 4 * ((int64_t)n - 1) && near(total(&t), 2e6 * (double)(n - 1)), "n %zu", n);
        int inner[2][MOST] = { { 0 } };
        for (int which = 0; which < 2; which++) {
            int parent[MOST], root = -1;
            for (size_t r = 0; r < n; r++)
                parent[r] = -1;
            for (size_t i = 0; i + 1 < n; i++) { /* up flows, each followed by its way down */
                const struct transfer *up = &t.at[2 * ((size_t)which * (n - 1) + i)];
                CHECK(up[0].src == up[1].dst && up[0].dst == up[1].src && near(up[0].bytes, 5e5));
                CHECK(parent[up->src] < 0, "n %zu: rank %d has two parents", n, up->src);
                parent[up->src] = up->dst;
                inner[which][up->dst]++;
            }
            for (int r = 0; r < (int)n; r++) {
                int steps = 0, v = r;
                while (parent[v] >= 0 && steps <= (int)n) {
                    v = parent[v];
                    steps++;
                }
                CHECK(1 << (steps > 0 ? steps - 1 : 0) <= (int)n, "n %zu: rank %d is %d deep", n, r, steps);
                CHECK(root < 0 || root == v, "n %zu: two roots", n);
                root = v;
                CHECK(inner[which][r] <= 2);
            }
        }
        for (size_t r = 0; r < n && n % 2 == 0 && n > 2;
             r++) /* the point of two trees: inner in one, leaf in the other */
            CHECK(!(inner[0][r] && inner[1][r]) || r == 0 || r == n - 1, "n %zu: rank %zu works twice", n, r);
        transfers_free(&t);
    }
}

static void test_halving_doubling(void **state)
{
    (void)state;
    const double s = 1e6;
    FOR_SIZES(n)
    {
        struct transfers t = expand("all_reduce", "halving_doubling", (int32_t)n, s);
        int32_t size = 1, extra;
        while (2 * size <= (int32_t)n)
            size *= 2;
        extra = (int32_t)n - size;
        double core = 2.0 * (size - 1) / size * s;
        for (int32_t r = 0; r < (int32_t)n && n > 1; r++) {
            double want = r >= size ? s : core + (r < extra ? s : 0);
            CHECK(near(of_rank(&t, r, 1), want) && near(of_rank(&t, r, 0), want), "n %zu rank %d", n, r);
        }
        CHECK(near(total(&t), n > 1 ? core * size + 2 * s * extra : 0));
        transfers_free(&t);
    }
}

static void test_hierarchical(void **state)
{
    (void)state;
    struct err e = { 0 };
    enum { HOSTS = 5, RAILS = 3, N = HOSTS * RAILS };
    int32_t rank[N], host[N], rail[N];
    struct rng r = { 7 };
    for (int32_t i = 0; i < N; i++) {
        rank[i] = 100 + i;
        host[i] = 1000000 * (i / RAILS) + 3;
        rail[i] = 2000000000 - i % RAILS;
    }
    for (int32_t i = N - 1; i > 0; i--) { /* any order of ranks */
        int32_t k = rng_below(&r, i + 1), t;
        t = rank[i], rank[i] = rank[k], rank[k] = t;
        t = host[i], host[i] = host[k], host[k] = t;
        t = rail[i], rail[i] = rail[k], rail[k] = t;
    }
    struct collective c = { .bytes = 3e6, .nrank = N, .rank = rank, .channels = 1, .host = host, .rail = rail };
    struct transfers t = { 0 };
    CHECK(collective_named("all_reduce", "hierarchical", &c, &e) == 0);
    CHECK(collective_expand(&c, &t, &e) == 0 && t.n == N, "%s", e.text);
    for (int64_t i = 0; i < t.n; i++) {
        CHECK((t.at[i].src - 100) % RAILS == (t.at[i].dst - 100) % RAILS, "leaves its rail");
        CHECK(near(t.at[i].bytes, 2.0 * (HOSTS - 1) / HOSTS * 1e6));
    }
    for (int32_t v = 100; v < 100 + N; v++)
        CHECK(near(of_rank(&t, v, 1), of_rank(&t, v, 0)) && of_rank(&t, v, 1) > 0);
    transfers_free(&t);
    rail[4] = rail[5] - 7;
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "15 ranks do not fill 5 hosts x 4 rails"), "%s",
          e.text);
    rail[4] = -1;
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "ranks[4]: its node has no rail"), "%s", e.text);
    c.host = NULL;
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "ranks[0]: its node has no host"), "%s", e.text);
    int32_t h[4] = { 1, 1, 2, 2 }, g[4] = { 5, 5, 6, 6 };
    c = (struct collective){
        .op = c.op, .algorithm = c.algorithm, .nrank = 4, .rank = rank, .channels = 1, .host = h, .rail = g
    };
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "ranks[1]: same host and rail as ranks[0]"), "%s",
          e.text);
    h[1] = h[2] = h[3] = 1;
    g[1] = 1, g[2] = 2, g[3] = 3;
    CHECK(collective_expand(&c, &t, &e) == 0 && t.n == 0, "one host: nothing crosses the fabric");
    transfers_free(&t);
}

static void test_channels(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct transfers one = expand("all_reduce", "ring", 6, 12), four = { 0 };
    struct collective c = { .bytes = 12, .nrank = 6, .rank = identity, .channels = 4 };
    CHECK(collective_named("all_reduce", "ring", &c, &e) == 0 && collective_expand(&c, &four, &e) == 0);
    CHECK(four.n == 4 * one.n && near(total(&four), total(&one)));
    for (int64_t i = 0; i < four.n; i++)
        CHECK(four.at[i].src == one.at[i % one.n].src && four.at[i].dst == one.at[i % one.n].dst);
    transfers_free(&one);
    transfers_free(&four);
}

static void test_refusals(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct transfers t = { 0 };
    struct collective c = { .bytes = 1, .nrank = 3, .rank = (int32_t[]){ 5, 9, 5 }, .channels = 1 };
    CHECK(collective_named("gossip", NULL, &c, &e) == -1 && e.code == E_INPUT);
    CHECK(strstr(e.text, "op \"gossip\" is none of all_reduce, reduce_scatter, all_gather, broadcast"), "%s", e.text);
    CHECK(collective_named("all_reduce", "direct", &c, &e) == -1);
    CHECK(strstr(e.text,
                 "op all_reduce has no algorithm \"direct\"; there are ring, tree, halving_doubling, hierarchical"),
          "%s", e.text);
    CHECK(collective_named("all_to_all", "x", &c, &e) == -1 && strstr(e.text, "there are direct"), "%s", e.text);
    CHECK(collective_named("all_to_all", NULL, &c, &e) == 0 && c.algorithm == COLL_DIRECT);
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "ranks[2]: the same node as ranks[0]"), "%s", e.text);
    double bad[] = { -1, NAN, INFINITY };
    c.rank = (int32_t[]){ 5, 9, 7 };
    for (int i = 0; i < 3; i++) {
        c.bytes = bad[i];
        CHECK(collective_expand(&c, &t, &e) == -1 && e.code == E_INPUT && strstr(e.text, "bytes"), "%s", e.text);
    }
    c.bytes = 1;
    c.channels = 0;
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "channels 0"), "%s", e.text);
    c.channels = 1;
    CHECK(collective_named("send", NULL, &c, &e) == 0);
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "a send has 2 ranks, not 3"), "%s", e.text);
    c.nrank = 1 << 14;
    CHECK(collective_named("all_to_all", NULL, &c, &e) == 0);
    CHECK(collective_expand(&c, &t, &e) == -1 && strstr(e.text, "16384 ranks expand to more than"), "%s", e.text);
    c.nrank = 0;
    c.rank = NULL;
    CHECK(collective_expand(&c, &t, &e) == 0 && t.n == 0);
    transfers_free(&t);
}

static void test_short_memory(void **state)
{
    (void)state;
    int32_t rank[] = { 0, 1, 2, 3 }, host[] = { 0, 0, 1, 1 }, rail[] = { 0, 1, 0, 1 };
    struct collective c = { .op = COLL_ALL_REDUCE,
                            .algorithm = COLL_HIERARCHICAL,
                            .bytes = 1,
                            .nrank = 4,
                            .rank = rank,
                            .channels = 1,
                            .host = host,
                            .rail = rail };
    int done = 0;
    for (int64_t k = 0; !done && k < 100; k++) {
        struct err e = { 0 };
        struct transfers t = { 0 };
        short_at = k;
        done = collective_expand(&c, &t, &e) == 0;
        short_at = -1;
        CHECK(done || e.code == E_MEMORY, "call %lld: %s", (long long)k, e.text);
        transfers_free(&t);
    }
    CHECK(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_cases_in_order),
        cmocka_unit_test(test_symmetric_volumes),
        cmocka_unit_test(test_rooted),
        cmocka_unit_test(test_double_tree),
        cmocka_unit_test(test_halving_doubling),
        cmocka_unit_test(test_hierarchical),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
