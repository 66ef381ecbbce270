#include "build.h"
#include "check.h"
#include "referee.h"
#include "short.h"
#include "solver/engine/eject.h"

#include <math.h>

/* Two leaves, two spines, two NICs a leaf; the ring over all four NICs crosses once each way. */
static struct problem *square(void)
{
    struct build b;
    build_start(&b, 1);
    build_clos(&b, 2, 2, 2, 1, 100, 100);
    int32_t nic[4] = { b.nic[0], b.nic[2], b.nic[1], b.nic[3] };
    build_ring(&b, nic, 4, 1e9);
    return build_problem(&b, DEMAND_BYTES);
}

static void list_pairs(const struct problem *p, const struct lanes *w, int32_t *pair, int32_t *n)
{
    *n = 0;
    for (int32_t f = 0; f < p->nflow; f++)
        if (w->pair[f] >= 0)
            pair[(*n)++] = w->pair[f];
}

static void test_half_rates_share_an_arc(void **state)
{
    (void)state;
    struct err e;
    struct problem *p = square();
    struct lanes *w = lanes_new(p, &e);
    CHECK(w, "%s", e.text);
    int32_t pair[4], n;
    list_pairs(p, w, pair, &n);
    CHECK(n == 4);
    struct eject *s = eject_new(w, n, pair, &e);
    double rate[4] = { 100, 100, 100, 100 }, half[4] = { 50, 50, 50, 50 }, mixed[4] = { 50, 50, 100, 50 };
    int32_t up[2][2] = { { -1, -1 }, { -1, -1 } }; /* arcs leaf0 -> spine0 -> leaf1 */
    for (int32_t a = 0; a < p->fabric->narc; a++) {
        if (p->fabric->tail[a] == 0 && p->fabric->head[a] == 2)
            up[0][0] = a;
        if (p->fabric->tail[a] == 2 && p->fabric->head[a] == 1)
            up[0][1] = a;
    }
    eject_target(s, rate, half, 1);
    CHECK(eject_place(s, 0, up[0], 2) == 0 && eject_place(s, 2, up[0], 2) == 0);
    CHECK(s->nviolated == 0, "two flows that need half fit on one cable");
    eject_target(s, rate, mixed, 1);
    CHECK(s->nviolated == 2 && fabs(s->excess - 200) < 1e-6, "with one that needs all they do not: %g", s->excess);
    eject_fill(s, 0);
    struct rng rng = { 1 };
    CHECK(eject_search(s, &rng, 1000, INT64_MAX, NULL) == 1 && s->excess == 0);
    CHECK(eject_place(s, 0, up[0], 1000) == -1, "no room for a thousand arcs");
    eject_free(s);
    lanes_free(w);
    problem_free(p);
}

/* Sums, largest needs, violated arcs and excess counted from scratch. */
static void recount(const struct eject *s, int seed)
{
    double excess = 0;
    int32_t nviolated = 0;
    for (int32_t a = 0; a < s->narc; a++) {
        double high = 0, sum = 0;
        int32_t count = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int32_t g = 0; g < s->nunit; g++)
                for (int32_t i = 0; i < s->len[g]; i++)
                    if (s->arc[s->at[g] + i] == a) {
                        high = fmax(high, s->q[g]);
                        sum += pass ? fmin(s->p[g], high) : 0;
                        count += pass;
                    }
        CHECK(count == s->count[a] && high == s->high[a] && fabs(sum - s->sum[a]) < 1e-9 * (1 + sum),
              "seed %d: arc %d: %d units, high %g and %g, sum %g and %g", seed, a, count, high, s->high[a], sum,
              s->sum[a]);
        excess += fmax(0, s->sum[a] - s->cap[a]);
        nviolated += s->sum[a] > s->cap[a];
        CHECK((s->where[a] >= 0) == (s->sum[a] > s->cap[a]), "seed %d: arc %d in the list of violated ones", seed, a);
    }
    CHECK(nviolated == s->nviolated && fabs(excess - s->excess) < 1e-6 * (1 + excess), "seed %d: excess %g and %g",
          seed, excess, s->excess);
}

/* Least added excess over all loop-free paths of at most limit arcs between the ends of unit g's way. */
static double least_excess(const struct problem *p, struct eject *s, int32_t g, int32_t f)
{
    enum { ROOM = 2048 };
    const struct fabric *net = p->fabric;
    int32_t width = net->nnode + 1, *path = array((int64_t)ROOM * width, sizeof *path);
    int32_t n = referee_paths(net, p->src[f], p->dst[f], path, ROOM);
    double least = INFINITY, before = s->excess;
    for (int32_t k = 0; k < n; k++) {
        const int32_t *arc = path + (int64_t)k * width;
        int32_t len = 0;
        while (arc[len] >= 0)
            len++;
        if (s->w->enter[f] >= 0) {
            arc++;
            len--;
        }
        len -= s->w->leave[f] >= 0;
        if (len > s->w->way[s->pair[g]].limit)
            continue;
        eject_place(s, g, arc, len);
        least = fmin(least, s->excess - before);
        eject_lift(s, g);
    }
    free(path);
    return least;
}

static void sweep_one(int seed)
{
    struct err e;
    struct problem *p = referee_problem((uint64_t)seed, DEMAND_GBPS, 4 + seed % 3, 12);
    struct lanes *w = lanes_new(p, &e);
    CHECK(w, "seed %d: %s", seed, e.text);
    int32_t pair[12], flow[12], n;
    list_pairs(p, w, pair, &n);
    for (int32_t f = 0, g = 0; f < p->nflow; f++)
        if (w->pair[f] >= 0)
            flow[g++] = f;
    struct eject *s = eject_new(w, n, pair, &e);
    CHECK(s, "seed %d: %s", seed, e.text);
    struct rng rng = { (uint64_t)seed };
    double rate[12], need[12];
    for (int32_t g = 0; g < n; g++) {
        rate[g] = 20 * (1 + rng_below(&rng, 5));
        need[g] = rate[g] * (1 + rng_below(&rng, 4)) / 4;
    }
    eject_target(s, rate, need, 0.3 + rng_unit(&rng));
    for (int k = 0; k < 60; k++) {
        int32_t g = rng_below(&rng, n > 0 ? n : 1);
        if (n == 0)
            break;
        eject_lift(s, g);
        double least = least_excess(p, s, g, flow[g]), before = s->excess;
        eject_insert(s, g);
        CHECK(s->len[g] >= 0 && fabs(s->excess - before - least) < 1e-4 * (1 + least),
              "seed %d: unit %d adds %g, the least is %g", seed, g, s->excess - before, least);
        recount(s, seed);
    }
    eject_fill(s, seed & 1);
    eject_search(s, &rng, 300, INT64_MAX, NULL);
    recount(s, seed);
    CHECK(s->nlifted == 0, "seed %d: %d units lost", seed, s->nlifted);
    eject_free(s);
    lanes_free(w);
    problem_free(p);
}

static void test_random_against_recount(void **state)
{
    (void)state;
    for (int seed = 0; seed < 60; seed++)
        sweep_one(seed);
}

static int ask(void *context)
{
    ++*(int *)context;
    return 1;
}

static void test_stop_and_budget(void **state)
{
    (void)state;
    struct err e;
    struct problem *p = square();
    struct lanes *w = lanes_new(p, &e);
    int32_t pair[4], n, asked = 0;
    list_pairs(p, w, pair, &n);
    struct eject *s = eject_new(w, n, pair, &e);
    double rate[4] = { 100, 100, 100, 100 };
    struct eject_stop stop = { ask, &asked, 0 };
    struct rng rng = { 1 };
    eject_target(s, rate, rate, 0.1); /* hopeless */
    eject_fill(s, 0);
    CHECK(eject_search(s, &rng, 10000, INT64_MAX, &stop) == 0 && stop.stopped && asked == 1 && s->step == 64);
    CHECK(eject_search(s, &rng, 10, INT64_MAX, NULL) == 0 && s->step == 10);
    CHECK(eject_search(s, &rng, 10, s->work, NULL) == 0 && s->step == 0, "no work left");
    eject_free(s);
    lanes_free(w);
    problem_free(p);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct problem *p = square();
    for (int64_t k = 0;; k++) {
        struct err e = { 0 };
        struct eject *s = NULL;
        int32_t pair[4], n;
        short_at = k;
        struct lanes *w = lanes_new(p, &e);
        if (w) {
            list_pairs(p, w, pair, &n);
            s = eject_new(w, n, pair, &e);
        }
        int whole = short_at >= 0;
        short_at = -1;
        CHECK(!s == !whole && (s || e.code == E_MEMORY), "call %lld: %s", (long long)k, e.text);
        eject_free(s);
        lanes_free(w);
        if (whole)
            break;
    }
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_rates_share_an_arc),
        cmocka_unit_test(test_random_against_recount),
        cmocka_unit_test(test_stop_and_budget),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
