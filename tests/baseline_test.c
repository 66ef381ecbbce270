#include "check.h"
#include "referee.h"
#include "solver/engine/baseline.h"
#include "solver/engine/score.h"

#include <math.h>

static int close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

/* Arcs on the fewest-hop paths between every two nodes; nnode * nnode, INFINITY where there is none. */
static double *all_hops(const struct fabric *f)
{
    double *one = array(f->narc, sizeof *one), *hops = array((int64_t)f->nnode * f->nnode, sizeof *hops);
    CHECK(one && hops);
    for (int32_t a = 0; a < f->narc; a++)
        one[a] = 1;
    for (int32_t v = 0; v < f->nnode; v++)
        referee_distances(f, v, one, hops + (int64_t)v * f->nnode);
    free(one);
    return hops;
}

/* njob jobs of one flow each, from NIC to NIC of a Clos. */
static struct problem *pairs(struct fabric *f, int32_t n, const int32_t *src, const int32_t *dst)
{
    struct err e;
    struct problem *p = problem_new(f, n, n, &e);
    CHECK(p);
    for (int32_t j = 0; j < n; j++) {
        char name[12];
        snprintf(name, sizeof name, "j%d", j);
        p->job_name[j] = text_copy(name);
        p->job_first[j + 1] = j + 1;
        p->src[j] = src[j];
        p->dst[j] = dst[j];
        p->demand[j] = 1e9;
    }
    CHECK(problem_finish(p, &e) == 0, "%s", e.text);
    return p;
}

static void check_shortest(const struct problem *p, const struct routes *r, const double *hops, int seed)
{
    const struct fabric *f = p->fabric;
    for (int32_t i = 0; i < p->nflow; i++) {
        int64_t n = r->first[i + 1] - r->first[i];
        CHECK(n == (problem_routed(p, i) ? p->options.paths_per_flow : 0), "seed %d flow %d: %d paths", seed, i,
              (int)n);
        for (int64_t k = r->first[i]; k < r->first[i + 1]; k++) {
            int32_t v = p->src[i];
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++) {
                CHECK(f->live[r->arc[h]] && f->tail[r->arc[h]] == v, "seed %d flow %d", seed, i);
                CHECK(v == p->src[i] || f->node_kind[v] == NODE_SWITCH, "seed %d flow %d: NIC inside", seed, i);
                v = f->head[r->arc[h]];
            }
            CHECK(v == p->dst[i], "seed %d flow %d: ends at %d", seed, i, v);
            CHECK((double)(r->at[k + 1] - r->at[k]) == hops[(int64_t)p->src[i] * f->nnode + v],
                  "seed %d flow %d: %d arcs", seed, i, (int)(r->at[k + 1] - r->at[k]));
            CHECK(close_to(r->share[k], 1.0 / (double)n));
        }
    }
}

static void test_ecmp_sweep(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct err e;
        struct problem *p = referee_problem(seed, seed & 1 ? DEMAND_GBPS : DEMAND_BYTES, 2 + (int32_t)(seed % 6), 20);
        double *hops = all_hops(p->fabric), mean[4] = { 0 }, worst[4], one[4], got[4], low[4];
        struct routes *r, *again;
        p->options.paths_per_flow = 1 + (int32_t)(seed / 2 % 3);
        for (int32_t j = 0; j < 4; j++)
            worst[j] = INFINITY;
        for (uint64_t s = 0; s < ECMP_SEEDS; s++) {
            CHECK(baseline_ecmp(p, s, &r, &e) == 0, "seed %d: %s", (int)seed, e.text);
            check_shortest(p, r, hops, (int)seed);
            referee_efficiency(p, r, one);
            for (int32_t j = 0; j < p->njob; j++) {
                mean[j] += one[j] / ECMP_SEEDS;
                worst[j] = fmin(worst[j], one[j]);
            }
            CHECK(baseline_ecmp(p, s, &again, &e) == 0);
            CHECK(!memcmp(r->arc, again->arc, (size_t)r->at[r->npath] * sizeof *r->arc), "the same seed again");
            routes_free(r);
            routes_free(again);
        }
        CHECK(baseline_ecmp_efficiency(p, got, low, &e) == 0);
        for (int32_t j = 0; j < p->njob; j++)
            CHECK(close_to(got[j], mean[j]) && close_to(low[j], worst[j]), "seed %d job %d", (int)seed, j);
        CHECK(baseline_ecmp_efficiency(p, got, NULL, &e) == 0);
        free(hops);
        problem_free(p);
    }
}

/* 16 seeds of 64 flows from one leaf over 8 spines: 1024 throws, 128 +- 10.6 a spine. And no spine is decided by the
 * choice of another flow: two flows meet in 1 of 8 seeds. */
static void test_ecmp_spreads(void **state)
{
    (void)state;
    enum { N = 64, SPINE = 8 };
    int32_t src[N], dst[N], count[SPINE] = { 0 }, meet = 0;
    struct err e;
    struct fabric *f = referee_clos(2, SPINE, N, 100);
    for (int32_t i = 0; i < N; i++) {
        src[i] = 2 + SPINE + i;
        dst[i] = 2 + SPINE + N + i;
    }
    struct problem *p = pairs(f, N, src, dst);
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct routes *r;
        CHECK(baseline_ecmp(p, seed, &r, &e) == 0);
        for (int64_t k = 0; k < N; k++)
            count[f->head[r->arc[r->at[k] + 1]] - 2]++;
        for (int64_t k = 0; k + 1 < N; k += 2)
            meet += r->arc[r->at[k] + 1] == r->arc[r->at[k + 1] + 1];
        routes_free(r);
    }
    for (int s = 0; s < SPINE; s++)
        CHECK(abs(count[s] - 128) < 53, "spine %d: %d of 1024", s, count[s]);
    CHECK(abs(meet - 64) < 38, "%d of 512 pairs meet", meet);
    problem_free(p);
}

/* Flow 0 lists a path of four arcs, a longer one and a dead one; flow 1 may go where it likes. */
static void give_lists(struct problem *p, const int32_t *arcs, const int64_t *at, int64_t n)
{
    p->nlist = n;
    p->list_first = array((int64_t)p->nflow + 1, sizeof *p->list_first);
    p->list_at = array(n + 1, sizeof *p->list_at);
    p->list_arc = array(at[n], sizeof *p->list_arc);
    CHECK(p->list_first && p->list_at && p->list_arc);
    for (int32_t f = 1; f <= p->nflow; f++)
        p->list_first[f] = n;
    memcpy(p->list_at, at, (size_t)(n + 1) * sizeof *at);
    memcpy(p->list_arc, arcs, (size_t)at[n] * sizeof *arcs);
}

/* Nodes: leaves 0 1 2, spines 3 4, NICs 5 6 7. Links 0-2 NICs, 3 4 leaf0, 5 6 leaf1, 7 8 leaf2 to spines. */
static void test_lists(void **state)
{
    (void)state;
    struct err e;
    struct fabric *f = referee_clos(3, 2, 1, 100);
    int32_t src[] = { 5, 5 }, dst[] = { 6, 6 };
    int32_t listed[] = { 0, 6, 15, 16, 13, 3, 0, 8, 13, 3, 0, 6, 11, 3 };
    int64_t at[] = { 0, 6, 10, 14 };
    struct problem *p = pairs(f, 2, src, dst);
    give_lists(p, listed, at, 3);
    int seen[2] = { 0 };
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct routes *r;
        CHECK(baseline_ecmp(p, seed, &r, &e) == 0, "%s", e.text);
        CHECK(r->at[1] == 4, "the long one is not taken");
        seen[r->arc[1] == 8]++;
        routes_free(r);
    }
    CHECK(seen[0] > 4 && seen[1] > 4, "%d %d", seen[0], seen[1]);
    double rate[2], load[18];
    CHECK(baseline_spray(p, rate, NULL, load, &e) == 0);
    CHECK(close_to(load[6], .08) && close_to(load[8], .08), "both flows half and half: %g %g", load[6], load[8]);
    p->list_first[0] = p->list_first[1] = 0; /* flow 1 lists the long one alone */
    p->list_first[2] = 1;
    struct routes *r;
    CHECK(baseline_ecmp(p, 0, &r, &e) == 0 && r->at[2] - r->at[1] == 6);
    routes_free(r);
    f->live[15] = 0;
    CHECK(baseline_ecmp(p, 0, &r, &e) == -1 && e.code == E_INPUT && strstr(e.text, "jobs[1].flows[0]: no live path"));
    CHECK(baseline_spray(p, rate, NULL, NULL, &e) == -1 && strstr(e.text, "jobs[1].flows[0]: no live path"));
    problem_free(p);
}

static void test_disjoint(void **state)
{
    (void)state;
    struct err e;
    int32_t src[] = { 5 }, dst[] = { 6 };
    struct problem *p = pairs(referee_clos(3, 2, 2, 100), 1, src, dst);
    p->src[0] = 0; /* leaf to leaf: three disjoint ways out of leaf 0 do not exist */
    p->dst[0] = 1;
    p->options.policy = PATHS_DISJOINT;
    p->options.disjoint = 3;
    int seen[2] = { 0 };
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct routes *r;
        CHECK(baseline_ecmp(p, seed, &r, &e) == 0, "%s", e.text);
        CHECK(r->at[1] == 2);
        seen[p->fabric->head[r->arc[0]] - 3]++;
        routes_free(r);
    }
    CHECK(seen[0] > 4 && seen[1] > 4, "%d %d", seen[0], seen[1]);
    problem_free(p);
}

static void test_unreachable(void **state)
{
    (void)state;
    struct err e;
    struct routes *r;
    struct fabric *f = referee_clos(2, 1, 1, 100);
    f->link_up[3] = 0; /* leaf1 is cut off */
    free(f->tail);
    free(f->head);
    free(f->cap);
    free(f->live);
    free(f->first);
    free(f->out);
    free(f->ifirst);
    free(f->in);
    CHECK(fabric_finish(f, &e) == 0);
    struct problem *p = pairs(f, 1, (int32_t[]){ 3 }, (int32_t[]){ 4 });
    double mean[1];
    const char *says = "jobs[0].flows[0]: no live path from \"n0.0\" to \"n1.0\"";
    CHECK(baseline_ecmp(p, 0, &r, &e) == -1 && e.code == E_INPUT && !strcmp(e.text, says), "%s", e.text);
    CHECK(baseline_ecmp_efficiency(p, mean, NULL, &e) == -1 && !strcmp(e.text, says));
    CHECK(baseline_spray(p, NULL, mean, NULL, &e) == -1 && !strcmp(e.text, says));
    p->options.policy = PATHS_DISJOINT;
    p->options.disjoint = 2;
    CHECK(baseline_ecmp(p, 0, &r, &e) == -1 && !strcmp(e.text, says));
    problem_free(p);
}

/* Fractions of a sprayed flow from the list of all its paths: a path has the product of 1 / branches along it. */
static int64_t fractions(const struct problem *p, int32_t f, const double *hops, int32_t *arc, double *x)
{
    enum { ROOM = 1 << 14 };
    const struct fabric *g = p->fabric;
    int32_t width = g->nnode + 1, *path = array((int64_t)ROOM * width, sizeof *path), t = p->dst[f];
    double *on = array(g->narc, sizeof *on);
    CHECK(path && on);
    int32_t n = referee_paths(g, p->src[f], t, path, ROOM);
    CHECK(n < ROOM);
    for (int32_t i = 0; i < n; i++) {
        int32_t *a = path + (int64_t)i * width, length = 0;
        double share = 1;
        for (; a[length] >= 0; length++) {
            int32_t v = g->tail[a[length]], branches = 0;
            for (int32_t k = g->first[v]; k < g->first[v + 1]; k++) {
                int32_t u = g->head[g->out[k]];
                branches += (u == t || g->node_kind[u] == NODE_SWITCH) &&
                            hops[(int64_t)u * g->nnode + t] + 1 == hops[(int64_t)v * g->nnode + t];
            }
            share /= branches;
        }
        for (int32_t h = 0; h < length && length == hops[(int64_t)p->src[f] * g->nnode + t]; h++)
            on[a[h]] += share;
    }
    int64_t m = 0;
    for (int32_t a = 0; a < g->narc; a++)
        if (on[a] > 0) {
            arc[m] = a;
            x[m++] = on[a];
        }
    free(path);
    free(on);
    return m;
}

static void spray_one(uint64_t seed)
{
    struct err e;
    struct problem *p = referee_problem(seed, seed & 1 ? DEMAND_GBPS : DEMAND_BYTES, 2 + (int32_t)(seed % 5), 14);
    int32_t narc = p->fabric->narc, n = p->nflow;
    double *hops = all_hops(p->fabric), *x = array((int64_t)n * narc, sizeof *x), rate[14], slow[14], own[4];
    double *load = array(narc, sizeof *load), *sum = array(narc, sizeof *sum), least[4] = { 1, 1, 1, 1 };
    int32_t *arc = array((int64_t)n * narc, sizeof *arc);
    int64_t at[15] = { 0 };
    for (int32_t f = 0; f < n; f++) {
        at[f + 1] = at[f] + (problem_routed(p, f) ? fractions(p, f, hops, arc + at[f], x + at[f]) : 0);
        for (int64_t h = at[f]; h < at[f + 1]; h++)
            sum[arc[h]] += x[h] * problem_load(p, f) / p->fabric->cap[arc[h]];
    }
    referee_rates(n, at, arc, x, p->kind == DEMAND_GBPS ? p->demand : NULL, narc, p->fabric->cap, slow);
    CHECK(baseline_spray(p, rate, own, load, &e) == 0, "seed %d: %s", (int)seed, e.text);
    for (int32_t f = 0; f < n; f++) {
        if (!problem_routed(p, f))
            continue;
        CHECK(close_to(rate[f], slow[f]), "seed %d flow %d: %.12g is %.12g", (int)seed, f, rate[f], slow[f]);
        double e_f = slow[f] / p->demand[f] * (p->kind == DEMAND_GBPS ? 1 : p->ideal[p->job[f]] / 8e-9);
        least[p->job[f]] = e_f < least[p->job[f]] ? e_f : least[p->job[f]];
    }
    for (int32_t a = 0; a < narc; a++)
        CHECK(close_to(load[a], sum[a]), "seed %d arc %d: %g is %g", (int)seed, a, load[a], sum[a]);
    for (int32_t j = 0; j < p->njob; j++)
        CHECK(close_to(own[j], least[j]) || own[j] > 1, "seed %d job %d: %g is %g", (int)seed, j, own[j], least[j]);
    free(hops);
    free(x);
    free(load);
    free(sum);
    free(arc);
    problem_free(p);
}

static void test_spray_sweep(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++)
        spray_one(seed);
}

/* A healthy Clos as wide as it is high carries any permutation at full rate. */
static void test_spray_clos(void **state)
{
    (void)state;
    enum { LEAF = 8, NIC = 8 };
    struct err e;
    int32_t src[LEAF * NIC], dst[LEAF * NIC];
    double rate[LEAF * NIC], efficiency[LEAF * NIC];
    for (int32_t i = 0; i < LEAF * NIC; i++) {
        src[i] = LEAF + NIC + i;
        dst[i] = LEAF + NIC + (i * 13 + 9) % (LEAF * NIC);
    }
    struct problem *p = pairs(referee_clos(LEAF, NIC, NIC, 400), LEAF * NIC, src, dst);
    CHECK(baseline_spray(p, rate, efficiency, NULL, &e) == 0);
    for (int i = 0; i < LEAF * NIC; i++)
        CHECK(src[i] == dst[i] || (close_to(rate[i], 400) && close_to(efficiency[i], 1)), "flow %d: %g", i, rate[i]);
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
    for (int disjoint = 0; disjoint < 2; disjoint++) {
        struct problem *p = referee_problem(5, DEMAND_GBPS, 4, 10);
        double mean[4], rate[10];
        p->options.policy = disjoint ? PATHS_DISJOINT : PATHS_ALL;
        p->options.disjoint = disjoint ? 2 : 0;
        int done = 0;
        for (int64_t call = 0; done < 2; call++) {
            struct err e = { 0 };
            struct routes *r = NULL;
            calls_left = call;
            int rc = done == 0 ? baseline_ecmp_efficiency(p, mean, NULL, &e) : baseline_spray(p, rate, NULL, NULL, &e);
            int rc2 = rc == 0 && done == 0 ? baseline_ecmp(p, 1, &r, NULL) : 0;
            calls_left = INT64_MAX;
            routes_free(rc2 == 0 ? r : NULL);
            CHECK(rc == 0 || e.code == E_MEMORY, "call %d: %s", (int)call, e.text);
            CHECK(call < 400);
            if (rc == 0 && rc2 == 0) {
                CHECK(call > 8, "%d allocations", (int)call);
                done++;
                call = -1;
            }
        }
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ecmp_sweep), cmocka_unit_test(test_ecmp_spreads), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_disjoint),   cmocka_unit_test(test_unreachable),  cmocka_unit_test(test_spray_sweep),
        cmocka_unit_test(test_spray_clos), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
