#include "check.h"
#include "solver/engine/euler.h"

enum { LEVELS = 3, MOST = 600 };

/* Random edges whose ends lie in laminar groups: group l of an end is its number shifted by 2 l bits. */
static void random_edges(struct rng *g, int32_t n, int32_t ends, int32_t *left, int32_t *right)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t s = rng_below(g, ends), t = rng_below(g, ends);
        for (int32_t l = 0; l < LEVELS; l++) {
            left[l * n + i] = s >> (2 * l);
            right[l * n + i] = t >> (2 * l);
        }
    }
}

/* At the halving after `high` bits, the two halves of every part hold numbers of a group's edges that differ by at most
 * one: counted from scratch. */
static void check_halving(int32_t n, const int32_t *group, int bits, int high, const int32_t *colour, int seed)
{
    int32_t parts = 1 << high;
    int32_t *count = array((int64_t)2 * parts * MOST, sizeof *count);
    for (int32_t i = 0; i < n; i++)
        count[((int64_t)group[i] * parts + (colour[i] >> (bits - high))) * 2 + (colour[i] >> (bits - high - 1) & 1)]++;
    for (int64_t k = 0; k < (int64_t)parts * MOST; k++)
        CHECK(abs(count[2 * k] - count[2 * k + 1]) <= 1, "seed %d: group %lld: %d and %d after %d bits", seed,
              (long long)(k / parts), count[2 * k], count[2 * k + 1], high);
    free(count);
}

static void test_every_group_is_halved(void **state)
{
    (void)state;
    static int32_t left[LEVELS * MOST], right[LEVELS * MOST], colour[MOST], again[MOST];
    struct euler *x = euler_new(MOST);
    CHECK(x, "memory");
    for (int seed = 0; seed < 200; seed++) {
        struct rng g = { (uint64_t)seed };
        int32_t n = rng_below(&g, MOST), ends = 1 + rng_below(&g, 100), nlevel = 1 + rng_below(&g, LEVELS);
        int bits = rng_below(&g, 6);
        random_edges(&g, n, ends, left, right);
        euler_split(x, n, nlevel, left, right, bits, colour);
        for (int32_t i = 0; i < n; i++)
            CHECK(colour[i] >= 0 && colour[i] < 1 << bits, "seed %d: colour %d", seed, colour[i]);
        for (int high = 0; high < bits; high++)
            for (int32_t l = 0; l < nlevel; l++) {
                check_halving(n, left + l * n, bits, high, colour, seed);
                check_halving(n, right + l * n, bits, high, colour, seed);
            }
        euler_split(x, n, nlevel, left, right, bits, again);
        CHECK(!memcmp(colour, again, (size_t)n * sizeof *colour), "seed %d: two runs differ", seed);
    }
    euler_free(x);
}

/* A permutation between leaves of eight ends each, eight colours: every leaf sends and receives each colour once. */
static void test_full_permutation(void **state)
{
    (void)state;
    enum { N = 128 };
    static int32_t left[N], right[N], colour[N];
    struct euler *x = euler_new(N);
    for (int32_t i = 0; i < N; i++) {
        left[i] = i / 8;
        right[i] = (i * 37 + 5) % N / 8;
    }
    euler_split(x, N, 1, left, right, 3, colour);
    for (int32_t i = 0; i < N; i++)
        for (int32_t k = 0; k < i; k++)
            CHECK(colour[i] != colour[k] || (left[i] != left[k] && right[i] != right[k]), "edges %d and %d clash", i,
                  k);
    euler_free(x);
}

static void test_small(void **state)
{
    (void)state;
    int32_t one = 7, colour = -1;
    struct euler *x = euler_new(1);
    euler_split(x, 0, 1, NULL, NULL, 4, NULL);
    euler_split(x, 1, 1, &one, &one, 0, &colour);
    CHECK(colour == 0);
    euler_split(x, 1, 1, &one, &one, 3, &colour);
    CHECK(colour >= 0 && colour < 8);
    euler_free(x);
    euler_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_group_is_halved),
        cmocka_unit_test(test_full_permutation),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
