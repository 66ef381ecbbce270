/* check against slow referees and against the engine, on random problems. */
#include "check.h"
#include "referee.h"
#include "solver/engine/baseline.h"
#include "solver/engine/cuts.h"
#include "stated.h"

#include <math.h>

/* What the policy forbids: a way over a third leaf is 6 arcs long. */
static void test_policies(void **state)
{
    (void)state;
    struct err e;
    struct check_report r;
    static const int32_t listed[] = { 0, 8, 13, 3 };
    for (int policy = 0; policy < 4; policy++)
        for (int longer = 0; longer < 2; longer++) {
            struct problem *p = problem_new(referee_clos(3, 2, 1, 100), 1, 1, &e);
            p->job_name[0] = text_copy("a");
            p->job_first[1] = 1;
            p->src[0] = 5;
            p->dst[0] = 6;
            p->demand[0] = 1e9;
            if (policy == 3) { /* lists the way over the other spine */
                p->nlist = 1;
                p->list_first = array(2, sizeof *p->list_first);
                p->list_at = array(2, sizeof *p->list_at);
                p->list_arc = array(4, sizeof *p->list_arc);
                p->list_first[1] = 1;
                p->list_at[1] = 4;
                memcpy(p->list_arc, listed, sizeof listed);
            }
            CHECK(problem_finish(p, &e) == 0, "%s", e.text);
            p->options.policy = policy < 3 ? (enum path_policy)policy : PATHS_ALL;
            p->options.disjoint = policy == PATHS_DISJOINT ? 2 : 0;
            struct routes *routes = routes_new(1, 1, 6, &e);
            routes->first[1] = 1;
            routes->share[0] = 1;
            routes->at[1] = longer ? 6 : 4;
            memcpy(routes->arc, longer ? (int32_t[]){ 0, 6, 15, 16, 13, 3 } : (int32_t[]){ 0, 6, 11, 3, 0, 0 }, 24);
            double price[18] = { 1 };
            struct plan *plan = state_plan(p, routes, 1);
            CHECK(certificate_prices(&plan->certificate, 1, price, 18, &e) == 0);
            CHECK(check_plan(p, plan, &r, &e) == 0);
            static const char *const wrong[] = { NULL, "path 0: has 6 arcs, the shortest 4",
                                                 "path 0: is none of the 1 disjoint ones",
                                                 "path 0: is not one that the problem lists" };
            const char *fault = longer || policy == 3 ? wrong[policy] : NULL;
            CHECK(fault ? says(&r, fault) : r.nfault == 0, "policy %d longer %d: %s", policy, longer,
                  r.nfault ? r.fault[0] : "no fault");
            plan_free(plan);
            problem_free(p);
        }
}

/* Length of the cheapest path of flow f that the policy allows, from the list of all paths; NAN when there are too
 * many to list. */
static double cheapest(const struct problem *p, int32_t f, const double *length)
{
    enum { ROOM = 1 << 13 };
    int32_t width = p->fabric->nnode + 1, *path = array((int64_t)ROOM * width, sizeof *path), hops = INT32_MAX;
    CHECK(path);
    int32_t n = referee_paths(p->fabric, p->src[f], p->dst[f], path, ROOM);
    double best = n < ROOM ? INFINITY : NAN;
    for (int32_t i = 0; i < n && n < ROOM; i++) {
        int32_t h = 0;
        double sum = 0;
        for (const int32_t *a = path + (int64_t)i * width; *a >= 0; a++, h++)
            sum += length[*a];
        if (p->options.policy == PATHS_SHORTEST && h > hops)
            continue;
        best = p->options.policy == PATHS_SHORTEST && h < hops ? sum : fmin(best, sum);
        hops = h < hops ? h : hops;
    }
    free(path);
    return best;
}

/* Random problems and prices: the bound is the one that listing all paths gives, with nothing to find fault with. */
static void price_one(uint64_t seed)
{
    struct err e;
    struct check_report r;
    struct rng g = { seed };
    struct problem *p = referee_problem(seed, seed & 1 ? DEMAND_GBPS : DEMAND_BYTES, 2 + (int32_t)(seed % 4), 10);
    int32_t narc = p->fabric->narc;
    double *price = array(narc, sizeof *price), capacity = 0, need = 0;
    p->options.objective = seed & 2 ? OBJ_MAX_UTILIZATION : OBJ_JOB_FAIR;
    p->options.policy = seed & 4 ? PATHS_SHORTEST : PATHS_ALL;
    for (int32_t a = 0; a < narc; a++)
        if (p->fabric->live[a] && rng_below(&g, 2))
            capacity += p->fabric->cap[a] * (price[a] = (1 + rng_below(&g, 3)) / p->fabric->cap[a]);
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            need += cheapest(p, f, price) *
                    (p->options.objective == OBJ_JOB_FAIR ? p->need[f] * p->job_weight[p->job[f]] : problem_load(p, f));
    struct routes *routes;
    CHECK(baseline_ecmp(p, seed, &routes, &e) == 0, "%s", e.text);
    double bound = p->options.objective == OBJ_JOB_FAIR ? capacity / need : need / capacity;
    if (bound > 0 && isfinite(bound)) {
        struct plan *plan = state_plan(p, routes, bound);
        CHECK(certificate_prices(&plan->certificate, bound, price, narc, &e) == 0);
        CHECK(check_plan(p, plan, &r, &e) == 0);
        CHECK(r.nfault == 0, "seed %d: %s", (int)seed, r.fault[0]);
        CHECK(fabs(r.bound - bound) <= 1e-9 * bound, "seed %d: %.12g is %.12g", (int)seed, r.bound, bound);
        int64_t k = routes->npath > 0 ? rng_below(&g, (int32_t)routes->npath) : -1;
        if (k >= 0) { /* and one wrong rate is seen */
            routes->gbps[k] *= 1 + 1e-4;
            CHECK(check_plan(p, plan, &r, &e) == 0 && says(&r, "water-filling gives"), "seed %d path %d", (int)seed,
                  (int)k);
        }
        plan_free(plan);
    } else {
        routes_free(routes);
    }
    free(price);
    problem_free(p);
}

static void test_prices(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++)
        price_one(seed);
}

/* Hashed routes under every policy, several paths each, with the certificate of the cuts: all of it stands. */
static void test_engine_agrees(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct err e = { 0 };
        struct check_report r;
        struct problem *p = referee_problem(seed, seed & 1 ? DEMAND_GBPS : DEMAND_BYTES, 2 + (int32_t)(seed % 7), 30);
        struct certificate best = { 0 };
        struct routes *routes;
        int32_t *of = array(p->fabric->nnode, sizeof *of);
        struct pods *pods = pods_new(p->fabric, 1, of, &e);
        CHECK(pods, "%s", e.text);
        p->options.policy = (enum path_policy)(seed / 2 % 3);
        p->options.disjoint = p->options.policy == PATHS_DISJOINT ? 3 : 0;
        p->options.paths_per_flow = seed / 6 % 2 ? 2 : 1;
        CHECK(baseline_ecmp(p, seed, &routes, &e) == 0, "%s", e.text);
        CHECK(cuts_bound(p, pods, NULL, &best, &e) == 0, "%s", e.text);
        struct plan *plan = state_plan(p, routes, best.bound);
        plan->certificate = best;
        CHECK(check_plan(p, plan, &r, &e) == 0);
        CHECK(r.nfault == 0, "seed %d: %s", (int)seed, r.fault[0]);
        plan_free(plan);
        pods_free(pods);
        free(of);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_prices),
        cmocka_unit_test(test_engine_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
