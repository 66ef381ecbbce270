/* prices: exp and log against libm, the level against bisection, the step along a line against a fine scan. */
#include "solver/kernel/prices.h"
#include "solver/model/base.h"
#include "tests/check.h"

#include <math.h>

enum { MOST = 40 };

static void test_exp_and_log(void **state)
{
    (void)state;
    struct rng g = { 1 };
    CHECK(prices_exp(0) == 1 && prices_exp(-701) == 0 && prices_exp(-INFINITY) == 0 && isinf(prices_exp(701)), "ends");
    CHECK(prices_log(1) == 0, "ln 1");
    for (int i = 0; i < 200000; i++) {
        double x = 1400 * rng_unit(&g) - 700, y = exp(x);
        CHECK(fabs(prices_exp(x) - y) <= 1e-15 * y, "exp(%.17g) = %.17g, libm %.17g", x, prices_exp(x), y);
        CHECK(fabs(prices_log(y) - x) <= 1e-13, "ln(%.17g) = %.17g", y, prices_log(y));
    }
}

static int random_arcs(struct rng *g, double *w, double *r, double *icap)
{
    int n = 1 + rng_below(g, MOST);
    double sum = 0;
    for (int a = 0; a < n; a++) {
        w[a] = rng_below(g, 3) ? 0 : rng_unit(g);
        r[a] = rng_below(g, 4) ? 2 * rng_unit(g) : 0;
        icap[a] = rng_below(g, 6) ? ldexp(1, rng_below(g, 30) - 15) : 0;
        sum += w[a];
    }
    for (int a = 0; a < n && sum > 0; a++)
        w[a] /= sum;
    return n;
}

static void test_level(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct rng g = { seed };
        double w[MOST], r[MOST], icap[MOST], price[MOST], rate = ldexp(1, rng_below(&g, 30) - 8), sum = 0, v = 0;
        int n = random_arcs(&g, w, r, icap);
        double z = prices_level(n, w, r, rate, 10 * rng_unit(&g) - 5);
        for (int a = 0; a < n; a++)
            sum += fmax(0, w[a] + rate * (r[a] - z));
        CHECK(fabs(sum - 1) <= 1e-6, "seed %llu: %d arcs: multipliers at level %.17g sum to %.17g",
              (unsigned long long)seed, n, z, sum);
        struct rule rule = { .rate = rate, .level = z };
        double got = prices_fill(&rule, n, w, r, icap, price);
        for (int a = 0; a < n; a++) {
            CHECK(price[a] == rule_value(&rule, w[a], r[a]) * icap[a], "arc %d", a);
            v += icap[a] > 0 ? rule_value(&rule, w[a], r[a]) : 0;
        }
        CHECK(got == v, "sum over the arcs that are there");
    }
}

static double slope(const struct rule *p, int n, const double *step, const double *w, const double *r, double x)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += step[i] * rule_value(p, w[i], r[i] + x * step[i]);
    return sum;
}

static void test_search(void **state)
{
    (void)state;
    int moved = 0, whole = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct rng g = { seed };
        double w[MOST], r[MOST], step[MOST], icap[MOST], v[MOST], most = ldexp(rng_unit(&g), rng_below(&g, 12) - 6);
        int n = random_arcs(&g, w, r, icap);
        struct rule rule = { .exponential = (int)(seed % 2),
                             .rate = 1 + 200 * rng_unit(&g),
                             .level = 2 * rng_unit(&g) };
        for (int i = 0; i < n; i++)
            step[i] = (rng_below(&g, 2) ? 1 : -1) * ldexp(1, rng_below(&g, 30) - 15);
        double first = slope(&rule, n, step, w, r, 0), x = prices_search(&rule, n, step, w, r, v, most);
        CHECK(x >= 0 && x <= most, "seed %llu: %g of %g", (unsigned long long)seed, x, most);
        if (!(first < 0)) {
            CHECK(x == 0, "seed %llu: %g up a slope", (unsigned long long)seed, x);
            continue;
        }
        double last = slope(&rule, n, step, w, r, x);
        moved++;
        whole += x == most;
        CHECK(fabs(last) <= -0.1 * first * (1 + 1e-9) || (x == most && last < 0),
              "seed %llu: slope %g at 0, %g at %g of %g", (unsigned long long)seed, first, last, x, most);
    }
    CHECK(moved > 1000 && whole > 100 && whole < moved, "the sweep covers both ends: %d of %d", whole, moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exp_and_log), cmocka_unit_test(test_level),
                                        cmocka_unit_test(test_search) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
