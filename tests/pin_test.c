#include "build.h"
#include "check.h"
#include "referee.h"
#include "sim.h"
#include "solver/engine/baseline.h"
#include "solver/engine/cuts.h"
#include "solver/engine/pin.h"
#include "solver/engine/score.h"

#include <math.h>

void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return sim_short() ? NULL : __real_array(n, size);
}

static struct pods *one_pod(const struct problem *p)
{
    struct err e;
    int32_t *of = array(p->fabric->nnode, sizeof *of);
    struct pods *pods = pods_new(p->fabric, 1, of, &e);
    CHECK(pods, "%s", e.text);
    free(of);
    return pods;
}

static double bound_of(const struct problem *p, const struct pods *pods)
{
    struct err e;
    struct certificate c = { CERT_NONE };
    CHECK(cuts_bound(p, pods, NULL, &c, &e) == 0, "%s", e.text);
    double bound = c.bound;
    certificate_free(&c);
    return bound;
}

/* One rank, no hooks. */
static struct pin_result solve_alone(const struct problem *p, double bound, const struct routes *start)
{
    struct err e;
    struct pods *pods = one_pod(p);
    struct comm *c = comm_self(&e);
    struct pin_goal goal = { .bound = bound, .nstart = start != NULL, .start = &start, .deadline = INFINITY };
    struct pin_result out = { NULL };
    CHECK(pin_solve(p, pods, c, &goal, NULL, &out, &e) == 0, "%s", e.text);
    comm_free(c);
    pods_free(pods);
    return out;
}

/* Every routed flow has at most k live paths from end to end with shares that sum to one, no NIC inside; returns the
 * value by the referee's rates. */
static double check_routes(const struct problem *p, const struct routes *r, const char *what)
{
    const struct fabric *f = p->fabric;
    CHECK(r && r->nflow == p->nflow, "%s", what);
    for (int32_t i = 0; i < p->nflow; i++) {
        double share = 0;
        CHECK(r->first[i + 1] - r->first[i] <= p->options.paths_per_flow, "%s: flow %d has too many paths", what, i);
        for (int64_t k = r->first[i]; k < r->first[i + 1]; k++) {
            int32_t at = p->src[i];
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++) {
                int32_t a = r->arc[h];
                CHECK(a >= 0 && a < f->narc && f->live[a] && f->tail[a] == at, "%s: flow %d, arc %d", what, i, a);
                at = f->head[a];
                CHECK(f->node_kind[at] != NODE_NIC || at == p->dst[i], "%s: flow %d passes a NIC", what, i);
                CHECK(at != p->src[i], "%s: flow %d comes back", what, i);
            }
            CHECK(at == p->dst[i], "%s: flow %d ends at %d", what, i, at);
            share += r->share[k];
        }
        CHECK(!problem_routed(p, i) || fabs(share - 1) < 1e-9, "%s: flow %d: shares add to %g", what, i, share);
    }
    double *e = array(p->njob, sizeof *e), least = p->njob > 0 ? INFINITY : 1;
    referee_efficiency(p, r, e);
    for (int32_t j = 0; j < p->njob; j++)
        least = fmin(least, e[j] / p->job_weight[j]);
    free(e);
    return least;
}

static int32_t ones(const struct problem *p, struct routes *r)
{
    struct err e;
    int32_t n = 0;
    double *x = array(p->njob, sizeof *x);
    CHECK(score_pinned(p, r, x, NULL, &e) == 0, "%s", e.text);
    for (int32_t j = 0; j < p->njob; j++)
        n += x[j] > 1 - 1e-9;
    free(x);
    return n;
}

/* ---- small random problems against all routings ---- */

static double routings(const struct problem *p)
{
    enum { ROOM = 512 };
    double n = 1;
    int32_t *path = array((int64_t)ROOM * (p->fabric->nnode + 1), sizeof *path);
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            n *= referee_paths(p->fabric, p->src[f], p->dst[f], path, ROOM);
    free(path);
    return n;
}

static void sweep(enum objective objective, enum demand_kind kind, int *tried, int *optimal)
{
    for (int seed = 0; seed < 120; seed++) {
        char what[64];
        struct err e;
        struct problem *p = referee_problem((uint64_t)seed, kind, 4, 5);
        p->options.objective = objective;
        snprintf(what, sizeof what, "objective %d kind %d seed %d", (int)objective, (int)kind, seed);
        if (routings(p) < 5000) {
            double best = referee_best_pinned(p), value;
            struct pods *pods = one_pod(p);
            struct pin_result out = solve_alone(p, bound_of(p, pods), NULL);
            value = check_routes(p, out.routes, what);
            struct routes *hashed;
            CHECK(baseline_ecmp(p, 0, &hashed, &e) == 0, "%s: %s", what, e.text);
            double *load = array(p->fabric->narc, sizeof *load), *x = array(p->njob, sizeof *x);
            CHECK(score_pinned(p, hashed, x, load, &e) == 0, "%s", e.text);
            double ecmp = score_value(p, x, load);
            if (objective == OBJ_JOB_FAIR) {
                CHECK(fabs(value - out.value) < 1e-6 * value, "%s: says %g, is %g", what, out.value, value);
                CHECK(out.value <= best * (1 + 1e-6), "%s: %g beats the best %g", what, out.value, best);
                CHECK(out.value >= ecmp * (1 - 1e-9), "%s: %g, hashed %g", what, out.value, ecmp);
            } else {
                CHECK(out.value >= best * (1 - 1e-6), "%s: %g beats the best %g", what, out.value, best);
                CHECK(out.value <= ecmp * (1 + 1e-9), "%s: %g, hashed %g", what, out.value, ecmp);
            }
            *optimal += fabs(out.value - best) <= 1e-6 * best;
            ++*tried;
            free(load);
            free(x);
            routes_free(hashed);
            routes_free(out.routes);
            pods_free(pods);
        }
        problem_free(p);
    }
}

static void test_small_problems_are_optimal(void **state)
{
    (void)state;
    for (int objective = 0; objective < 2; objective++)
        for (int kind = 0; kind < 2; kind++) {
            int tried = 0, optimal = 0;
            sweep(objective, kind, &tried, &optimal);
            CHECK(tried > 25 && optimal >= tried - tried / 20, "objective %d kind %d: %d of %d optimal", objective,
                  kind, optimal, tried);
        }
}

/* ---- known optima ---- */

static void test_healthy_fabrics_give_all_jobs_everything(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct build b;
        build_start(&b, 7);
        if (kind < 2)
            build_clos(&b, 16, kind ? 4 : 8, 8, kind ? 2 : 1, 100, 100);
        else
            build_fat_tree(&b, kind == 2 ? 8 : 6, kind == 2 ? 4 : 3, kind == 2 ? 4 : 3, kind == 2 ? 4 : 3,
                           kind == 2 ? 4 : 3, 100);
        int32_t n = b.nnic, *nic = array(n, sizeof *nic);
        memcpy(nic, b.nic, (size_t)n * sizeof *nic);
        build_shuffle(&b, nic, n);
        for (int32_t i = 0; i + 6 <= n; i += 6)
            if (kind & 1)
                build_all_to_all(&b, nic + i, 6, 1e9);
            else
                build_ring(&b, nic + i, 6, 1e9);
        struct problem *p = build_problem(&b, DEMAND_BYTES);
        struct pin_result out = solve_alone(p, 1, NULL);
        double value = check_routes(p, out.routes, "healthy");
        CHECK(value > 1 - 1e-9 && ones(p, out.routes) == p->njob, "kind %d: %g", kind, value);
        routes_free(out.routes);
        free(nic);
        problem_free(p);
    }
}

/* 64 leaves x 32 spines, one spine dead, 16 rings over scattered NICs, all NICs busy. */
static struct problem *scattered(int32_t dead, int32_t njob, uint64_t seed)
{
    struct build b;
    build_start(&b, seed);
    int32_t first = build_clos(&b, 64, 32, 32, 1, 100, 100), n = b.nnic, *nic = array(n, sizeof *nic);
    for (int32_t s = 0; s < dead; s++)
        build_kill(&b, first + 64 + 31 - s);
    memcpy(nic, b.nic, (size_t)n * sizeof *nic);
    build_shuffle(&b, nic, n);
    for (int32_t j = 0; j < njob; j++)
        build_ring(&b, nic + j * (n / njob), n / njob, 1e9);
    free(nic);
    return build_problem(&b, DEMAND_BYTES);
}

static void test_few_jobs_suffer_for_a_dead_spine(void **state)
{
    (void)state;
    struct problem *p = scattered(1, 16, 3);
    struct pin_result out = solve_alone(p, .5, NULL);
    CHECK(check_routes(p, out.routes, "scattered") > .5 - 1e-9);
    CHECK(ones(p, out.routes) >= 11, "%d of 16 jobs kept", ones(p, out.routes));
    routes_free(out.routes);
    problem_free(p);
}

/* Several paths: arcs of a leaf with 31 of 32 spines hold k or k + 1 subflows; one slow subflow per flow. */
static void test_several_paths_per_flow(void **state)
{
    (void)state;
    double least[5] = { 0, .5, 5. / 6, 0, .94 };
    for (int32_t k = 1; k <= 4; k *= 2) {
        struct problem *p = scattered(1, 1, 5);
        p->options.paths_per_flow = k;
        struct pin_result out = solve_alone(p, k == 1 ? .5 : 31. / 32, NULL);
        double value = check_routes(p, out.routes, "several paths");
        CHECK(value > least[k] - 1e-9 && value <= 31. / 32 + 1e-9, "%d paths: %g", k, value);
        routes_free(out.routes);
        problem_free(p);
    }
}

/* Two fabrics of 32 leaves and 32 spines, thin links of 4, 2, 2, 1, 1, 1 NIC speeds between different leaves; rings of
 * 128 NICs in blocks of eight, the first `cross` alternate between the two. */
static struct problem *two_sites(int32_t cross)
{
    struct build b;
    build_start(&b, 1);
    int32_t first[2] = { build_clos(&b, 32, 32, 32, 1, 100, 100), build_clos(&b, 32, 32, 32, 1, 100, 100) };
    static const double thin[6] = { 4, 2, 2, 1, 1, 1 };
    for (int32_t i = 0; i < 6; i++)
        build_link(&b, first[0] + 5 * i, first[1] + 3 + 4 * i, 100 * thin[i]);
    int32_t block[2][128], used[2] = { 0, 0 }, ring[128];
    for (int32_t s = 0; s < 2; s++) {
        for (int32_t i = 0; i < 128; i++)
            block[s][i] = s * 128 + i;
        build_shuffle(&b, block[s], 128);
    }
    for (int32_t j = 0; j < 15; j++) {
        int32_t n = 0, home = used[0] <= used[1] ? 0 : 1;
        for (int32_t k = 0; k < 16; k++) {
            int32_t s = j < cross ? k & 1 : home, from = block[s][used[s]++] * 8;
            for (int32_t i = 0; i < 8; i++)
                ring[n++] = b.nic[from + i];
        }
        build_ring(&b, ring, n, 1e9);
    }
    return build_problem(&b, DEMAND_BYTES);
}

static void test_thin_links_between_sites(void **state)
{
    (void)state;
    struct problem *p = two_sites(5);
    struct pin_result out = solve_alone(p, .25, NULL);
    CHECK(check_routes(p, out.routes, "two sites") > .25 - 1e-9 && ones(p, out.routes) >= 10, "%g, %d jobs at 1",
          out.value, ones(p, out.routes));
    int32_t used = 0;
    for (int32_t i = 0; i < 6; i++) {
        int32_t hits = 0;
        for (int32_t a = 2 * (p->fabric->nlink - 6 + i); a < 2 * (p->fabric->nlink - 6 + i) + 2; a++)
            for (int64_t h = 0; h < out.routes->at[out.routes->npath]; h++)
                hits += out.routes->arc[h] == a;
        used += hits > 0;
    }
    CHECK(used == 6, "%d of six thin links used", used);
    routes_free(out.routes);
    problem_free(p);
}

/* ---- policies ---- */

static void test_policies_are_kept(void **state)
{
    (void)state;
    for (int seed = 0; seed < 40; seed++)
        for (int policy = PATHS_SHORTEST; policy <= PATHS_DISJOINT; policy++) {
            struct problem *p = referee_problem((uint64_t)seed, DEMAND_GBPS, 6, 8);
            p->options.policy = (enum path_policy)policy;
            p->options.disjoint = 2;
            p->options.paths_per_flow = 1 + seed % 3;
            struct pin_result out = solve_alone(p, 1, NULL);
            check_routes(p, out.routes, "policy");
            double *one = array(p->fabric->narc, sizeof *one), *dist = array(p->fabric->nnode, sizeof *dist);
            for (int32_t a = 0; a < p->fabric->narc; a++)
                one[a] = 1;
            for (int32_t f = 0; policy == PATHS_SHORTEST && f < p->nflow; f++) {
                referee_distances(p->fabric, p->src[f], one, dist);
                for (int64_t k = out.routes->first[f]; k < out.routes->first[f + 1]; k++)
                    CHECK(out.routes->at[k + 1] - out.routes->at[k] == (int64_t)dist[p->dst[f]], "seed %d flow %d",
                          seed, f);
            }
            free(one);
            free(dist);
            routes_free(out.routes);
            problem_free(p);
        }
}

/* A triangle of switches; the flow may only go the long way. */
static void test_listed_paths_are_kept(void **state)
{
    (void)state;
    struct build b;
    build_start(&b, 1);
    int32_t v[3];
    for (int i = 0; i < 3; i++)
        v[i] = build_node(&b, NODE_SWITCH);
    for (int i = 0; i < 3; i++)
        build_link(&b, v[i], v[(i + 1) % 3], 10);
    build_flow(&b, 0, v[0], v[1], 5);
    build_flow(&b, 0, v[0], v[1], 5);
    struct problem *p = build_problem(&b, DEMAND_GBPS);
    p->nlist = 1;
    p->list_first = array(3, sizeof *p->list_first);
    p->list_at = array(2, sizeof *p->list_at);
    p->list_arc = array(2, sizeof *p->list_arc);
    p->list_first[1] = p->list_first[2] = 1; /* flow 0 lists one path, flow 1 none */
    p->list_at[1] = 2;
    p->list_arc[0] = 5; /* v0 -> v2 */
    p->list_arc[1] = 3; /* v2 -> v1 */
    struct pin_result out = solve_alone(p, 1, NULL);
    CHECK(check_routes(p, out.routes, "listed") > 1 - 1e-9);
    CHECK(out.routes->at[1] == 2 && out.routes->arc[0] == 5 && out.routes->arc[1] == 3);
    routes_free(out.routes);
    problem_free(p);
}

/* ---- starts, stops, ranks, failures ---- */

static void test_never_worse_than_the_start(void **state)
{
    (void)state;
    for (int seed = 0; seed < 30; seed++) {
        struct err e;
        struct problem *p = referee_problem((uint64_t)seed, DEMAND_BYTES, 6, 10);
        p->options.policy = PATHS_SHORTEST; /* the start may know ways that the engine may not take */
        struct routes *start = referee_routes(p, (uint64_t)seed, 1);
        double *before = array(p->njob, sizeof *before), *after = array(p->njob, sizeof *after);
        double *sorted = array(2 * p->njob, sizeof *sorted);
        CHECK(score_pinned(p, start, before, NULL, &e) == 0, "%s", e.text);
        struct pin_result out = solve_alone(p, 1, start);
        CHECK(score_pinned(p, out.routes, after, NULL, &e) == 0, "%s", e.text);
        CHECK(score_compare(p, after, before, sorted) >= 0, "seed %d: worse than its start", seed);
        free(before);
        free(after);
        free(sorted);
        routes_free(start);
        routes_free(out.routes);
        problem_free(p);
    }
}

static int at_once(void *context)
{
    (void)context;
    return 1;
}

static void test_stop_gives_what_there_is(void **state)
{
    (void)state;
    struct err e;
    struct problem *p = scattered(1, 32, 9);
    struct pods *pods = one_pod(p);
    struct comm *c = comm_self(&e);
    for (int late = 0; late < 2; late++) {
        struct hooks hooks = { .stop = late ? NULL : at_once };
        struct pin_goal goal = { .bound = 1, .deadline = late ? c->now(c) - 1 : INFINITY };
        struct pin_result out = { NULL };
        CHECK(pin_solve(p, pods, c, &goal, &hooks, &out, &e) == 0 && out.cut_short, "%s", e.text);
        CHECK(check_routes(p, out.routes, "stopped") > 0);
        routes_free(out.routes);
    }
    comm_free(c);
    pods_free(pods);
    problem_free(p);
}

struct shared {
    const struct problem *p;
    const struct pods *pods;
    double bound;
    struct pin_result out[4];
};

static int on_rank(struct comm *c, void *context, struct err *e)
{
    struct shared *s = context;
    struct pin_goal goal = { .bound = s->bound, .deadline = INFINITY };
    return pin_solve(s->p, s->pods, c, &goal, NULL, &s->out[c->rank], e);
}

static int same_routes(const struct routes *a, const struct routes *b)
{
    return a->npath == b->npath && !memcmp(a->first, b->first, ((size_t)a->nflow + 1) * sizeof *a->first) &&
           !memcmp(a->at, b->at, ((size_t)a->npath + 1) * sizeof *a->at) &&
           !memcmp(a->arc, b->arc, (size_t)a->at[a->npath] * sizeof *a->arc) &&
           !memcmp(a->share, b->share, (size_t)a->npath * sizeof *a->share) &&
           !memcmp(a->gbps, b->gbps, (size_t)a->npath * sizeof *a->gbps);
}

/* A mixed load with a bound out of reach, so that all waves run. */
static struct problem *mixed(void)
{
    struct build b;
    build_start(&b, 4);
    build_clos(&b, 6, 3, 3, 1, 100, 100);
    build_damage(&b, .06);
    int32_t n = b.nnic, nic[18];
    memcpy(nic, b.nic, sizeof nic);
    build_shuffle(&b, nic, n);
    for (int32_t i = 0; i + 6 <= n; i += 6)
        if (i == 6)
            build_all_to_all(&b, nic + i, 6, 1e9);
        else
            build_ring(&b, nic + i, 6, 1e9);
    return build_problem(&b, DEMAND_BYTES);
}

static void test_same_bytes_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (int k = 1; k <= 2; k++) {
        struct problem *p = mixed();
        p->options.paths_per_flow = k;
        p->options.gap = 0;
        struct pods *pods = one_pod(p);
        struct routes *first = NULL;
        for (int size = 1; size <= 4; size++) {
            struct shared s = { .p = p, .pods = pods, .bound = 1 };
            struct sim_rank rank[4];
            CHECK(sim_run(size, NULL, on_rank, &s, rank) == 0, "%d ranks: %s", size, rank[0].e.text);
            for (int r = 0; r < size; r++)
                CHECK((s.out[r].routes != NULL) == (r == 0) && s.out[r].value == s.out[0].value &&
                          s.out[r].steps == s.out[0].steps,
                      "rank %d of %d", r, size);
            if (!first)
                first = s.out[0].routes;
            CHECK(s.out[0].steps > 0, "the waves of tasks were not needed");
            CHECK(same_routes(first, s.out[0].routes), "%d ranks give other routes than one, k = %d", size, k);
            if (first != s.out[0].routes)
                routes_free(s.out[0].routes);
        }
        check_routes(p, first, "ranks");
        routes_free(first);
        pods_free(pods);
        problem_free(p);
    }
}

/* Memory fails at one call of one rank: all ranks leave with an error, or the call was not needed. */
static void test_short_memory_on_a_rank(void **state)
{
    (void)state;
    struct build b;
    build_start(&b, 2);
    build_clos(&b, 3, 2, 2, 1, 100, 100);
    int32_t nic[6];
    memcpy(nic, b.nic, sizeof nic);
    build_shuffle(&b, nic, 6);
    build_ring(&b, nic, 6, 1e9);
    struct problem *p = build_problem(&b, DEMAND_BYTES);
    struct pods *pods = one_pod(p);
    for (int k = 1; k <= 2; k++) {
        p->options.paths_per_flow = k;
        for (int size = 1; size <= 2; size++) {
            int64_t call = 0, seen;
            do {
                struct shared s = { .p = p, .pods = pods, .bound = 2 };
                struct sim_script script = { .fault = SIM_SHORT, .rank = size - 1, .call = call };
                struct sim_rank rank[4];
                int rc = sim_run(size, &script, on_rank, &s, rank);
                seen = rank[size - 1].arrays;
                for (int r = 0; r < size; r++)
                    CHECK((rank[r].rc < 0) == (rc < 0) && (rc == 0 || rank[r].e.code != E_NONE),
                          "call %lld rank %d: %s", (long long)call, r, rank[r].e.text);
                CHECK((rc == 0) == (s.out[0].routes != NULL));
                routes_free(s.out[0].routes);
            } while (++call <= seen); /* one run beyond the last call: nothing fails */
            CHECK(seen > 20, "%lld calls seen", (long long)seen);
        }
    }
    pods_free(pods);
    problem_free(p);
}

static void test_odd_input(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct err e = { 0 };
        struct build b;
        build_start(&b, 2);
        build_clos(&b, 2, 2, 2, 1, 100, 100);
        int32_t nic[4] = { b.nic[0], b.nic[1], b.nic[2], b.nic[3] };
        if (kind == 1)
            build_flow(&b, 0, nic[0], nic[0], 1e9); /* a self-flow */
        if (kind == 2)
            build_flow(&b, 0, nic[0], nic[3], 0);
        if (kind == 3) {
            build_flow(&b, 0, nic[0], nic[1], 1e9); /* same leaf */
            build_flow(&b, 1, nic[0], nic[3], 1e9); /* no way out */
            build_kill(&b, nic[3]);
        }
        struct problem *p = build_problem(&b, DEMAND_BYTES);
        struct pods *pods = one_pod(p);
        struct comm *c = comm_self(&e);
        struct pin_goal goal = { .bound = 1, .deadline = INFINITY };
        struct pin_result out = { NULL };
        int rc = pin_solve(p, pods, c, &goal, NULL, &out, &e);
        if (kind == 3)
            CHECK(rc == -1 && e.code == E_INPUT && strstr(e.text, "jobs[1].flows[0]"), "%s", e.text);
        else
            CHECK(rc == 0 && check_routes(p, out.routes, "odd") >= 1, "%s", e.text);
        routes_free(out.routes);
        comm_free(c);
        pods_free(pods);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_problems_are_optimal),
        cmocka_unit_test(test_healthy_fabrics_give_all_jobs_everything),
        cmocka_unit_test(test_few_jobs_suffer_for_a_dead_spine),
        cmocka_unit_test(test_several_paths_per_flow),
        cmocka_unit_test(test_thin_links_between_sites),
        cmocka_unit_test(test_policies_are_kept),
        cmocka_unit_test(test_listed_paths_are_kept),
        cmocka_unit_test(test_never_worse_than_the_start),
        cmocka_unit_test(test_stop_gives_what_there_is),
        cmocka_unit_test(test_same_bytes_on_any_number_of_ranks),
        cmocka_unit_test(test_short_memory_on_a_rank),
        cmocka_unit_test(test_odd_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
