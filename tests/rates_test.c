#include "check.h"
#include "referee.h"
#include "solver/kernel/rates.h"

#include <math.h>

static int close_to(double a, double b)
{
    return (isinf(a) && isinf(b)) || fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

/* Two subflows share arc 0 (10), one of them alone is held by arc 1 (3): 3 and 7; a third alone on arc 2. */
static void test_by_hand(void **state)
{
    (void)state;
    int64_t at[] = { 0, 2, 3, 4, 4 };
    int32_t arc[] = { 0, 1, 0, 2 };
    double cap[] = { 10, 3, 5 }, rate[4], ceiling[] = { 100, 6, INFINITY, 2 };
    struct rates *r = rates_new(4, 4, 3);
    CHECK(r);
    rates_fill(r, 4, at, arc, NULL, 3, cap, rate);
    CHECK(rate[0] == 3 && rate[1] == 7 && rate[2] == 5 && isinf(rate[3]));
    rates_fill(r, 4, at, arc, ceiling, 3, cap, rate);
    CHECK(rate[0] == 3 && rate[1] == 6 && rate[2] == 5 && rate[3] == 2, "ceilings");
    rates_fill(r, 0, at, arc, NULL, 3, cap, rate);
    rates_free(r);
    rates_free(NULL);
    CHECK(!rates_new(-1, 0, 0) && !rates_new(0, -1, 0) && !rates_new(INT64_MAX, 0, 0));
}

/* The order of arcs decides nothing but the last bits; with equal capacities not even those. */
static void test_equal_bottlenecks(void **state)
{
    (void)state;
    enum { N = 300 };
    static int64_t at[N + 1];
    static int32_t arc[2 * N];
    double cap[2 * N / 3], rate[N];
    for (int i = 0; i < N; i++) { /* three subflows on each of N / 3 uplinks and downlinks, crossed over */
        at[i + 1] = 2 * (i + 1);
        arc[2 * i] = i / 3;
        arc[2 * i + 1] = N / 3 + i % (N / 3);
    }
    for (int a = 0; a < 2 * N / 3; a++)
        cap[a] = 400;
    struct rates *r = rates_new(N, 2 * N, 2 * N / 3);
    CHECK(r);
    rates_fill(r, N, at, arc, NULL, 2 * N / 3, cap, rate);
    for (int i = 0; i < N; i++)
        CHECK(rate[i] > 0 && fabs(rate[i] - 400.0 / 3) < 1e-9, "subflow %d: %g", i, rate[i]);
    rates_free(r);
}

/* Capacities of 12 orders of magnitude: rounding on the large must not starve the small. */
static void sweep(uint64_t seed, int wide)
{
    struct rng g = { seed };
    int32_t narc = 1 + rng_below(&g, 12), nsub = rng_below(&g, 30);
    int64_t at[32] = { 0 };
    int32_t arc[200];
    double cap[16], ceiling[32], fast[32], slow[32];
    for (int32_t a = 0; a < narc; a++)
        cap[a] = wide ? (double[]){ 1e-6, 1, 3, 1e3, 1e6 }[rng_below(&g, 5)] : 1 + rng_below(&g, 4);
    for (int32_t i = 0; i < nsub; i++) {
        at[i + 1] = at[i];
        for (int32_t a = 0; a < narc; a++)
            if (rng_below(&g, 3) == 0)
                arc[at[i + 1]++] = a;
        ceiling[i] = rng_below(&g, 2) ? INFINITY : rng_below(&g, 5) * cap[rng_below(&g, narc)] / 4;
    }
    struct rates *r = rates_new(nsub, at[nsub], narc);
    CHECK(r);
    for (int with = 0; with < 2; with++) {
        rates_fill(r, nsub, at, arc, with ? ceiling : NULL, narc, cap, fast);
        referee_rates(nsub, at, arc, NULL, with ? ceiling : NULL, narc, cap, slow);
        for (int32_t i = 0; i < nsub; i++)
            CHECK(close_to(fast[i], slow[i]) && (slow[i] <= 0 || fast[i] > 0), "seed %llu subflow %d: %.12g is %.12g",
                  (unsigned long long)seed, i, fast[i], slow[i]);
    }
    rates_free(r);
}

static void test_sweep(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4000; seed++)
        sweep(seed, seed & 1);
}

/* 1/8 of a million subflows over six hops; a full million is measured in the bench. Every subflow must have an arc that
 * is full and on which nobody is faster. */
static void test_large(void **state)
{
    (void)state;
    int32_t nsub = 1 << 17, narc = 1 << 16;
    int64_t *at = calloc((size_t)nsub + 1, sizeof *at);
    int32_t *arc = calloc((size_t)nsub * 6, sizeof *arc);
    double *cap = calloc((size_t)narc, sizeof *cap), *rate = calloc((size_t)nsub, sizeof *rate);
    double *used = calloc((size_t)narc, sizeof *used), *top = calloc((size_t)narc, sizeof *top);
    struct rng g = { 7 };
    for (int32_t i = 0; i < nsub; i++) {
        for (int h = 0; h < 6; h++)
            arc[6 * i + h] = rng_below(&g, narc);
        at[i + 1] = 6 * ((int64_t)i + 1);
    }
    for (int32_t a = 0; a < narc; a++)
        cap[a] = 100 * (1 + rng_below(&g, 4));
    struct rates *r = rates_new(nsub, at[nsub], narc);
    CHECK(r && at && arc && cap && rate && used && top);
    rates_fill(r, nsub, at, arc, NULL, narc, cap, rate);
    for (int64_t h = 0; h < at[nsub]; h++) {
        used[arc[h]] += rate[h / 6];
        top[arc[h]] = fmax(top[arc[h]], rate[h / 6]);
    }
    for (int32_t a = 0; a < narc; a++)
        CHECK(used[a] <= cap[a] * (1 + 1e-9), "arc %d holds %g of %g", a, used[a], cap[a]);
    for (int32_t i = 0; i < nsub; i++) {
        int held = 0;
        for (int h = 6 * i; h < 6 * i + 6; h++)
            held |= used[arc[h]] >= cap[arc[h]] * (1 - 1e-9) && top[arc[h]] <= rate[i] * (1 + 1e-9);
        CHECK(held, "subflow %d at %g could be faster", i, rate[i]);
    }
    rates_free(r);
    free(at);
    free(arc);
    free(cap);
    free(rate);
    free(used);
    free(top);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
static int64_t calls_left = INT64_MAX;

void *__wrap_calloc(size_t n, size_t size)
{
    return calls_left-- > 0 ? __real_calloc(n, size) : NULL;
}

static void test_memory(void **state)
{
    (void)state;
    struct rates *r = NULL;
    int64_t call = 0;
    for (; !r; call++) {
        calls_left = call;
        r = rates_new(5, 20, 4);
        CHECK(call < 20);
    }
    CHECK(call >= 5, "only %lld allocations were refused", (long long)call);
    int64_t at[] = { 0, 1 };
    int32_t arc[] = { 0 };
    double cap[] = { 1 }, rate[1];
    calls_left = 0; /* filling takes none */
    rates_fill(r, 1, at, arc, NULL, 1, cap, rate);
    CHECK(rate[0] == 1);
    calls_left = INT64_MAX;
    rates_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_equal_bottlenecks),
        cmocka_unit_test(test_sweep),   cmocka_unit_test(test_large),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
