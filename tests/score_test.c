#include "check.h"
#include "referee.h"
#include "solver/engine/score.h"

#include <math.h>

static int close_to(double a, double b)
{
    return (isinf(a) && isinf(b)) || fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

/* Leaves 0, 1; spines 2, 3; NICs n0.0 = 4, n0.1 = 5, n1.0 = 6, n1.1 = 7. Links 0-3: NICs; 4, 5: leaf0 to spines; 6, 7:
 * leaf1 to spines. Flows 4 -> 6 and 5 -> 7 in jobs of their own. */
static struct problem *two_flows(enum demand_kind kind, double demand)
{
    struct err e;
    struct problem *p = problem_new(referee_clos(2, 2, 2, 100), 2, 2, &e);
    CHECK(p);
    p->kind = kind;
    for (int j = 0; j < 2; j++) {
        p->job_name[j] = text_copy(j ? "b" : "a");
        p->job_first[j + 1] = j + 1;
        p->src[j] = 4 + j;
        p->dst[j] = 6 + j;
        p->demand[j] = demand;
    }
    CHECK(problem_finish(p, &e) == 0, "%s", e.text);
    return p;
}

/* One path per spine number given; spine -1 ends the flow. */
static struct routes *over(const struct problem *p, const int spine[2][2], const double share[2][2])
{
    struct err e;
    struct routes *r = routes_new(2, 4, 16, &e);
    CHECK(r);
    int64_t n = 0;
    for (int f = 0; f < 2; f++) {
        for (int k = 0; k < 2 && spine[f][k] >= 0; k++, n++) {
            int32_t arc[] = { 2 * f, 2 * (4 + spine[f][k]), 2 * (6 + spine[f][k]) + 1, 2 * (2 + f) + 1 };
            memcpy(r->arc + r->at[n], arc, sizeof arc);
            r->at[n + 1] = r->at[n] + 4;
            r->share[n] = share[f][k];
        }
        r->first[f + 1] = n;
    }
    r->npath = n;
    (void)p;
    return r;
}

static void test_by_hand(void **state)
{
    (void)state;
    struct {
        enum demand_kind kind;
        double demand;
        int spine[2][2];
        double share[2][2], e[2], up; /* up: load of leaf0 -> spine0, arc 8 */
    } row[] = {
        { DEMAND_BYTES, 1e9, { { 0, -1 }, { 0, -1 } }, { { 1 }, { 1 } }, { .5, .5 }, .16 },
        { DEMAND_BYTES, 1e9, { { 0, -1 }, { 1, -1 } }, { { 1 }, { 1 } }, { 1, 1 }, .08 },
        { DEMAND_BYTES, 1e9, { { 0, 1 }, { 1, -1 } }, { { .5, .5 }, { 1 } }, { 1, .5 }, .04 },
        { DEMAND_BYTES, 1e9, { { 0, 1 }, { 1, -1 } }, { { .8, .2 }, { 1 } }, { .625, .5 }, .064 },
        { DEMAND_BYTES, 1e9, { { 0, -1 }, { -1, -1 } }, { { 1 }, { 0 } }, { 1, 0 }, .08 },
        { DEMAND_GBPS, 80, { { 0, -1 }, { 0, -1 } }, { { 1 }, { 1 } }, { .625, .625 }, 1.6 },
        { DEMAND_GBPS, 30, { { 0, -1 }, { 0, -1 } }, { { 1 }, { 1 } }, { 1, 1 }, .6 },
        { DEMAND_GBPS, 80, { { 0, 1 }, { 0, -1 } }, { { .5, .5 }, { 1 } }, { 1, .75 }, 1.2 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct err e;
        struct problem *p = two_flows(row[i].kind, row[i].demand);
        struct routes *r = over(p, row[i].spine, row[i].share);
        double efficiency[2], load[32];
        CHECK(score_pinned(p, r, efficiency, load, &e) == 0);
        CHECK(close_to(efficiency[0], row[i].e[0]) && close_to(efficiency[1], row[i].e[1]), "row %zu: %g %g", i,
              efficiency[0], efficiency[1]);
        CHECK(close_to(load[8], row[i].up), "row %zu: load %g", i, load[8]);
        CHECK(close_to(score_value(p, efficiency, load), fmin(row[i].e[0], row[i].e[1])), "row %zu", i);
        p->job_weight[1] = 4;
        CHECK(close_to(score_value(p, efficiency, load), fmin(row[i].e[0], row[i].e[1] / 4)), "row %zu: weight", i);
        p->options.objective = OBJ_MAX_UTILIZATION;
        double z = score_value(p, efficiency, load);
        CHECK(z >= load[8] && z <= 2, "row %zu: %g", i, z);
        double split[2];
        CHECK(score_split(p, r, split, NULL, &e) == 0);
        CHECK(close_to(split[0], efficiency[0]) && close_to(split[1], efficiency[1]), "rates taken as stated");
        for (int64_t k = 0; k < r->npath; k++)
            r->gbps[k] /= 2;
        CHECK(score_split(p, r, split, NULL, &e) == 0);
        CHECK(close_to(split[0], efficiency[0] / 2) && close_to(split[1], efficiency[1] / 2), "half the rates");
        routes_free(r);
        problem_free(p);
    }
}

static void test_sweep(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct err e;
        struct problem *p = referee_problem(seed, seed & 1 ? DEMAND_GBPS : DEMAND_BYTES, 3 + (int32_t)(seed % 3), 14);
        struct routes *r = referee_routes(p, seed, 1 + (int32_t)(seed / 2 % 3));
        double *fast = array(p->njob, sizeof *fast), *slow = array(p->njob, sizeof *slow);
        double *load = array(p->fabric->narc, sizeof *load), *sum = array(p->fabric->narc, sizeof *sum);
        CHECK(score_pinned(p, r, fast, load, &e) == 0);
        referee_efficiency(p, r, slow);
        int own = 0; /* flows to oneself count in the ideal time, which can then be beaten */
        for (int32_t f = 0; f < p->nflow; f++)
            own |= p->src[f] == p->dst[f];
        for (int32_t j = 0; j < p->njob && !own; j++)
            CHECK(fast[j] <= 1 + 1e-9, "seed %d job %d: efficiency %g", (int)seed, j, fast[j]);
        for (int32_t j = 0; j < p->njob; j++)
            CHECK(close_to(fast[j], slow[j]), "seed %d job %d: %.12g is %.12g", (int)seed, j, fast[j], slow[j]);
        for (int32_t f = 0; f < p->nflow; f++)
            for (int64_t h = r->at[r->first[f]]; h < r->at[r->first[f + 1]]; h++) {
                int64_t k = r->first[f];
                while (h >= r->at[k + 1])
                    k++;
                sum[r->arc[h]] += r->share[k] * p->demand[f] * (p->kind == DEMAND_BYTES ? 8e-9 : 1);
            }
        for (int32_t a = 0; a < p->fabric->narc; a++)
            CHECK(close_to(load[a], sum[a] / p->fabric->cap[a]), "seed %d arc %d", (int)seed, a);
        free(fast);
        free(slow);
        free(load);
        free(sum);
        routes_free(r);
        problem_free(p);
    }
}

static void test_compare(void **state)
{
    (void)state;
    struct err e;
    struct problem *p = problem_new(referee_clos(1, 0, 1, 1), 3, 0, &e);
    double scratch[6];
    CHECK(p);
    struct {
        double a[3], b[3];
        int sign;
    } row[] = {
        { { .5, 1, 1 }, { 1, 1, .5 }, 0 },    { { .5, .6, 1 }, { 1, .5, .5 }, 1 },
        { { .4, 1, 1 }, { .5, .5, .5 }, -1 }, { { .5, .7, .9 }, { .5 * (1 + 1e-12), .7, .8 }, 1 },
        { { 0, 0, 0 }, { 0, 0, 0 }, 0 },      { { 0, 0, 1e-6 }, { 0, 0, 0 }, 1 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        CHECK(score_compare(p, row[i].a, row[i].b, scratch) == row[i].sign, "row %zu", i);
        CHECK(score_compare(p, row[i].b, row[i].a, scratch) == -row[i].sign, "row %zu", i);
    }
    p->job_weight[0] = 2; /* .8 / 2 is less than .5 */
    CHECK(score_compare(p, (double[]){ .8, .5, .5 }, (double[]){ 1, .5, .5 }, scratch) == -1);
    problem_free(p);
}

static void test_nothing(void **state)
{
    (void)state;
    struct err e;
    struct problem *p = problem_new(referee_clos(1, 1, 1, 1), 0, 0, &e);
    CHECK(p && problem_finish(p, &e) == 0);
    struct routes *r = routes_new(0, 0, 0, &e);
    double load[8];
    CHECK(score_pinned(p, r, NULL, load, &e) == 0 && score_value(p, NULL, load) == 1);
    p->options.objective = OBJ_MAX_UTILIZATION;
    CHECK(score_value(p, NULL, load) == 0);
    routes_free(r);
    problem_free(p);
}

void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
static int64_t calls_left = INT64_MAX;

void *__wrap_array(int64_t n, size_t size)
{
    return calls_left-- > 0 ? __real_array(n, size) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return calls_left-- > 0 ? __real_calloc(n, size) : NULL;
}

static void test_memory(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct problem *p = two_flows(DEMAND_GBPS, 80);
    struct routes *r = over(p, (const int[2][2]){ { 0, -1 }, { 0, -1 } }, (const double[2][2]){ { 1 }, { 1 } });
    struct scorer *s = NULL;
    double efficiency[2];
    for (int64_t call = 0; !s; call++) {
        calls_left = call;
        s = scorer_new(p, r->npath, r->at[r->npath], &e);
        calls_left = INT64_MAX;
        CHECK(call < 40 && (s || e.code == E_MEMORY));
        CHECK(s ? call >= 6 : 1, "%lld allocations", (long long)call);
    }
    calls_left = 0; /* scoring takes none */
    scorer_pinned(s, r, efficiency, NULL);
    calls_left = INT64_MAX;
    CHECK(close_to(efficiency[0], .625));
    calls_left = 1;
    CHECK(score_pinned(p, r, efficiency, NULL, &e) == -1);
    calls_left = INT64_MAX;
    scorer_free(s);
    scorer_free(NULL);
    routes_free(r);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_sweep),  cmocka_unit_test(test_compare),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
