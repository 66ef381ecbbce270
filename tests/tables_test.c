/* Forwarding tables: by hand, against all tables of small fabrics tried one by one, on damaged and odd fabrics with the
 * check as judge, the check against spoilt tables, ranks, short memory.
 */
#include "build.h"
#include "check.h"
#include "referee.h"
#include "sim.h"

#include "solver/check.h"
#include "solver/engine/complete.h"
#include "solver/engine/score.h"
#include "solver/engine/tables.h"
#include "solver/solve.h"

#include <math.h>

static int64_t left = -1;
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_array(n, size);
}

static struct pods *one_pod(const struct fabric *f)
{
    struct err e;
    int32_t *of = array(f->nnode, sizeof *of);
    struct pods *pods = of ? pods_new(f, f->nnode > 0, of, &e) : NULL;
    free(of);
    return pods;
}

/* NULL with e set when the solver refuses. */
static struct plan *plan_of(struct problem *p, struct err *e)
{
    struct comm *c = comm_self(e);
    struct pods *pods = one_pod(p->fabric);
    struct plan *plan = NULL;
    p->options.routing = ROUTE_DESTINATION;
    if (!c || !pods || solve(p, pods, c, NULL, &plan, e) < 0)
        plan = NULL;
    pods_free(pods);
    comm_free(c);
    return plan;
}

static void judge(const struct problem *p, const struct plan *plan, const char *what, uint64_t seed)
{
    struct err e = { 0 };
    struct check_report *r = array(1, sizeof *r);
    CHECK(r && check_plan(p, plan, r, &e) == 0, "%s %llu: %s", what, (unsigned long long)seed, e.text);
    CHECK(r->nfault == 0, "%s %llu: %s", what, (unsigned long long)seed, r->fault[0]);
    free(r);
}

/* ---- by hand ---- */

/* Two leaves, two spines; both NICs of leaf 0 send to leaf 1: one goes over each spine. */
static void test_two_ways(void **state)
{
    (void)state;
    struct build b;
    struct err e = { 0 };
    build_start(&b, 1);
    int32_t leaf = build_clos(&b, 2, 2, 2, 1, 100, 100);
    int32_t nic[4] = { b.nic[0], b.nic[1], b.nic[2], b.nic[3] };
    build_flow(&b, 0, nic[0], nic[2], 1e9);
    build_flow(&b, 0, nic[1], nic[3], 1e9);
    struct problem *p = build_problem(&b, DEMAND_BYTES);
    struct plan *plan = plan_of(p, &e);
    CHECK(plan, "%s", e.text);
    CHECK(fabs(plan->value - 1) < 1e-9 && plan->status == PLAN_OPTIMAL, "value %g", plan->value);
    judge(p, plan, "by hand", 0);
    const struct forward *t = plan->tables;
    int32_t spine0 = p->fabric->head[forward_row(t, leaf)[nic[2]]],
            spine1 = p->fabric->head[forward_row(t, leaf)[nic[3]]];
    CHECK(spine0 != spine1, "both over spine %d", spine0);
    for (int32_t v = leaf; v < leaf + 4; v++) /* whole: to every other node, switches too */
        for (int32_t d = 0; d < p->fabric->nnode; d++)
            CHECK((forward_row(t, v)[d] >= 0) == (v != d), "switch %d towards %d", v, d);
    plan_free(plan);
    problem_free(p);
}

/* Nothing to route: tables all the same, for a fabric in two parts and one without any switch, too. */
static void test_nothing_to_route(void **state)
{
    (void)state;
    for (int parts = 0; parts < 3; parts++) {
        struct build b;
        struct err e = { 0 };
        build_start(&b, 1);
        for (int i = 0; i < parts; i++)
            build_clos(&b, 2, 2, 2, 1, 100, 100);
        struct problem *p = build_problem(&b, DEMAND_BYTES);
        struct plan *plan = plan_of(p, &e);
        CHECK(plan && plan->tables, "%d parts: %s", parts, e.text);
        judge(p, plan, "nothing", (uint64_t)parts);
        for (int32_t v = 0; v < p->fabric->nnode; v++)
            for (int32_t d = 0; plan->tables->row[v] >= 0 && d < p->fabric->nnode; d++)
                CHECK((forward_row(plan->tables, v)[d] >= 0) == (v != d && v / 8 == d / 8), "%d towards %d", v, d);
        plan_free(plan);
        problem_free(p);
    }
}

/* A ring of five switches, one NIC each: shortest ways would wait for each other round the ring. */
static void test_ring_of_switches(void **state)
{
    (void)state;
    struct build b;
    struct err e = { 0 };
    int32_t nic[5];
    build_start(&b, 1);
    for (int i = 0; i < 5; i++)
        build_node(&b, NODE_SWITCH);
    for (int i = 0; i < 5; i++)
        build_link(&b, i, (i + 1) % 5, 100);
    for (int i = 0; i < 5; i++)
        build_link(&b, nic[i] = build_node(&b, NODE_NIC), i, 100);
    build_ring(&b, nic, 5, 1e9);
    struct problem *p = build_problem(&b, DEMAND_BYTES);
    struct forward *round = forward_new(p->fabric, &e); /* all clockwise: a ring of waiting arcs */
    for (int v = 0; v < 5; v++)
        for (int i = 0; i < 5; i++)
            forward_row(round, v)[nic[i]] = v == i ? 2 * (5 + i) + 1 : 2 * v;
    CHECK(complete_cyclic(p->fabric, round, &e) == 1, "clockwise tables are cyclic");
    struct plan *plan = plan_of(p, &e);
    CHECK(plan, "%s", e.text);
    CHECK(complete_cyclic(p->fabric, plan->tables, &e) == 0, "the solver's are not");
    judge(p, plan, "ring", 0);
    plan_free(plan);
    forward_free(round);
    problem_free(p);
}

/* ---- every table of a small fabric ---- */

enum { MOST_UNITS = 10 };

/* Smallest efficiency over all choices of a spine per (leaf, destination). */
static double best_by_trial(const struct problem *p, int32_t leaves, int32_t spines, struct routes *r)
{
    struct err e;
    int32_t unit_leaf[MOST_UNITS], unit_dest[MOST_UNITS], n = 0, of[64];
    const struct fabric *f = p->fabric;
    double best = 0, *efficiency = array(p->njob, sizeof *efficiency);
    for (int32_t i = 0; i < p->nflow; i++) {
        int32_t a = f->head[f->out[f->first[p->src[i]]]], b = f->head[f->out[f->first[p->dst[i]]]], k = 0;
        of[i] = -1;
        if (!problem_routed(p, i) || a == b)
            continue;
        while (k < n && (unit_leaf[k] != a || unit_dest[k] != p->dst[i]))
            k++;
        if (k == MOST_UNITS)
            return NAN;
        unit_leaf[k] = a;
        unit_dest[k] = p->dst[i];
        n = k == n ? n + 1 : n;
        of[i] = k;
    }
    int64_t all = 1;
    for (int32_t k = 0; k < n; k++)
        all *= spines;
    for (int64_t x = 0; x < all; x++) {
        int64_t path = 0, at = 0;
        for (int32_t i = 0; i < p->nflow; i++) {
            r->first[i] = path;
            if (!problem_routed(p, i))
                continue;
            int32_t enter = f->out[f->first[p->src[i]]], leave = f->in[f->ifirst[p->dst[i]]];
            r->arc[at++] = enter;
            if (of[i] >= 0) {
                int64_t digit = x;
                for (int32_t k = 0; k < of[i]; k++)
                    digit /= spines;
                int32_t a = f->head[enter], b = f->tail[leave], s = (int32_t)(digit % spines);
                int32_t up = -1, down = -1;
                for (int32_t k = f->first[a]; k < f->first[a + 1]; k++)
                    up = f->head[f->out[k]] == leaves + s ? f->out[k] : up;
                for (int32_t k = f->first[leaves + s]; k < f->first[leaves + s + 1]; k++)
                    down = f->head[f->out[k]] == b ? f->out[k] : down;
                r->arc[at++] = up;
                r->arc[at++] = down;
            }
            r->arc[at++] = leave;
            r->share[path] = 1;
            r->at[++path] = at;
        }
        r->first[p->nflow] = r->npath = path;
        CHECK(score_pinned(p, r, efficiency, NULL, &e) == 0, "memory");
        best = fmax(best, score_value(p, efficiency, NULL));
    }
    free(efficiency);
    return best;
}

static void test_against_all_tables(void **state)
{
    (void)state;
    int tried = 0, equal = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct build b;
        struct err e = { 0 };
        build_start(&b, seed);
        int32_t spines = 2 + (int32_t)(seed % 2);
        build_clos(&b, 3, spines, 3, 1, 100, seed % 3 ? 100 : 150);
        int32_t nflow = 5 + rng_below(&b.rng, 4);
        for (int32_t i = 0; i < nflow; i++)
            build_flow(&b, i / 2, b.nic[rng_below(&b.rng, 9)], b.nic[rng_below(&b.rng, 9)],
                       seed % 4 ? 1e9 : 1e8 * (1 + rng_below(&b.rng, 9)));
        struct problem *p = build_problem(&b, DEMAND_BYTES);
        struct routes *r = routes_new(p->nflow, p->nflow, 4 * (int64_t)p->nflow, &e);
        double best = best_by_trial(p, 3, spines, r);
        struct plan *plan = plan_of(p, &e);
        CHECK(plan, "seed %d: %s", (int)seed, e.text);
        judge(p, plan, "small", seed);
        if (!isnan(best)) {
            CHECK(plan->value <= best * (1 + 1e-9), "seed %d: %.12g over the best of all, %.12g", (int)seed,
                  plan->value, best);
            tried++;
            equal += plan->value >= best * (1 - 1e-9);
        }
        plan_free(plan);
        routes_free(r);
        problem_free(p);
    }
    CHECK(tried >= 100 && equal >= tried - tried / 50, "%d of %d at the optimum", equal, tried);
}

/* ---- damage ---- */

static void solve_and_judge(struct build *b, enum objective objective, const char *what, uint64_t seed)
{
    struct err e = { 0 };
    build_shuffle(b, b->nic, b->nnic);
    int32_t third = b->nnic / 3;
    build_ring(b, b->nic, third, 1e9);
    build_all_to_all(b, b->nic + third, third < 6 ? third : 6, 1e9);
    build_ring(b, b->nic + 2 * third, third, 5e8);
    struct problem *p = build_problem(b, DEMAND_BYTES);
    p->options.objective = objective;
    struct plan *plan = plan_of(p, &e);
    CHECK(plan, "%s %d: %s", what, (int)seed, e.text);
    CHECK(plan->status == PLAN_INFEASIBLE || plan->tables, "%s %d: no tables", what, (int)seed);
    judge(p, plan, what, seed);
    plan_free(plan);
    problem_free(p);
}

static void test_damaged_fabrics(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int kind = 0; kind < 4; kind++) {
            struct build b;
            build_start(&b, seed * 7 + (uint64_t)kind);
            if (kind == 0)
                build_clos(&b, 6, 4, 4, 1, 100, 100);
            else if (kind == 1)
                build_clos(&b, 4, 2, 4, 3, 100, 100);
            else
                build_fat_tree(&b, 3, 2, 2, 2, 3, 100);
            build_damage(&b, .08 * (double)(seed % 3));
            solve_and_judge(&b, kind == 3 ? OBJ_MAX_UTILIZATION : OBJ_JOB_FAIR, "damaged", seed * 10 + (uint64_t)kind);
        }
}

/* Any fabric: tables or a sentence that says why not, never worse than what the check can prove. */
static void test_odd_fabrics(void **state)
{
    (void)state;
    int good = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct err e = { 0 };
        struct problem *p = referee_problem(seed, seed % 2 ? DEMAND_BYTES : DEMAND_GBPS, 3 + (int32_t)(seed % 6), 6);
        struct plan *plan = plan_of(p, &e);
        if (plan) {
            judge(p, plan, "odd", seed);
            good++;
        } else {
            CHECK(e.code == E_INPUT && e.text[0], "seed %d: %s", (int)seed, e.text);
        }
        plan_free(plan);
        problem_free(p);
    }
    CHECK(good >= 40, "%d of 200 have tables", good);
}

/* ---- refusals ---- */

static void test_refusals(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        { "paths_per_flow", "2", "paths_per_flow: 2" },
        { "paths", "shortest", "option paths" },
        { "paths", "disjoint:2", "option paths" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct build b;
        struct err e = { 0 };
        build_start(&b, 1);
        build_clos(&b, 2, 2, 2, 1, 100, 100);
        build_flow(&b, 0, b.nic[0], b.nic[3], 1e9);
        struct problem *p = build_problem(&b, DEMAND_BYTES);
        CHECK(options_set(&p->options, row[i][0], row[i][1], &e) == 0, "%s", e.text);
        CHECK(!plan_of(p, &e) && e.code == E_INPUT && strstr(e.text, row[i][2]), "%s", e.text);
        problem_free(p);
    }
}

/* ---- the check ---- */

static struct problem *small(struct plan **plan)
{
    struct build b;
    struct err e = { 0 };
    build_start(&b, 1);
    build_clos(&b, 2, 2, 2, 1, 100, 100);
    build_flow(&b, 0, b.nic[0], b.nic[2], 1e9);
    build_flow(&b, 0, b.nic[1], b.nic[3], 1e9);
    struct problem *p = build_problem(&b, DEMAND_BYTES);
    *plan = plan_of(p, &e);
    CHECK(*plan, "%s", e.text);
    return p;
}

static void test_check_tells_what_is_wrong(void **state)
{
    (void)state;
    /* leaves 0 1, spines 2 3; links 0..3: leaf l to spine s is 2 l + s at its place before the NICs */
    for (int fault = 0; fault < 8; fault++) {
        static const char *const word[] = { "no forwarding tables", "is not in [0,",  "starts at",   "does not reach",
                                            "goes round",           "its table says", "ends at NIC", "is not live" };
        struct plan *plan;
        struct err e = { 0 };
        struct problem *p = small(&plan);
        const struct fabric *f = p->fabric;
        int32_t d = p->dst[0], other = p->dst[1], *row = forward_row(plan->tables, 0);
        int32_t used = row[d], spine = f->head[used], back = used ^ 1;
        if (fault == 0) {
            forward_free(plan->tables);
            plan->tables = NULL;
        } else if (fault == 1) {
            row[d] = f->narc;
        } else if (fault == 2) {
            row[d] = back;
        } else if (fault == 3) {
            forward_row(plan->tables, spine)[d] = -1;
        } else if (fault == 4) {
            forward_row(plan->tables, spine)[d] = back;
        } else if (fault == 5) {
            row[d] = row[other];
        } else if (fault == 6) {
            forward_row(plan->tables, 1)[d] = f->in[f->ifirst[other]];
        } else {
            ((struct fabric *)f)->live[forward_row(plan->tables, 1)[p->src[0]]] = 0;
        }
        struct check_report *r = array(1, sizeof *r);
        CHECK(check_plan(p, plan, r, &e) == 0 && r->nfault > 0, "fault %d is not seen", fault);
        int told = 0;
        for (int64_t i = 0; i < r->nfault && i < CHECK_FAULTS; i++)
            told |= strstr(r->fault[i], word[fault]) != NULL;
        CHECK(told, "fault %d: \"%s\" is not told: %s", fault, word[fault], r->fault[0]);
        free(r);
        plan_free(plan);
        problem_free(p);
    }
}

/* Tables that reach everything and still may lock: spine 2 sends down to a leaf that sends up again, round and round.
 */
static void test_check_finds_rings(void **state)
{
    (void)state;
    struct build b;
    struct err e = { 0 };
    int32_t nic[4];
    build_start(&b, 1);
    for (int i = 0; i < 4; i++)
        build_node(&b, NODE_SWITCH);
    for (int i = 0; i < 4; i++)
        build_link(&b, i, (i + 1) % 4, 100);
    for (int i = 0; i < 4; i++)
        build_link(&b, nic[i] = build_node(&b, NODE_NIC), i, 100);
    build_flow(&b, 0, nic[0], nic[1], 1e9);
    struct problem *p = build_problem(&b, DEMAND_BYTES);
    struct plan *plan = plan_of(p, &e);
    CHECK(plan, "%s", e.text);
    for (int v = 0; v < 4; v++)
        for (int d = 0; d < p->fabric->nnode; d++)
            forward_row(plan->tables, v)[d] = -1;
    for (int v = 0; v < 4; v++)
        for (int i = 0; i < 4; i++)
            forward_row(plan->tables, v)[nic[i]] = v == i ? 2 * (4 + i) + 1 : 2 * v;
    int32_t way[3] = { 2 * 4, 0, 2 * 5 + 1 };
    memcpy(plan->routes->arc, way, sizeof way);
    struct check_report *r = array(1, sizeof *r);
    CHECK(check_plan(p, plan, r, &e) == 0 && r->nfault > 0 && strstr(r->fault[0], "ring of arcs"), "%s", r->fault[0]);
    free(r);
    plan_free(plan);
    problem_free(p);
}

/* ---- short memory ---- */

static void test_short_memory(void **state)
{
    (void)state;
    struct build b;
    build_start(&b, 3);
    build_fat_tree(&b, 2, 2, 2, 2, 2, 100);
    build_damage(&b, .1);
    build_ring(&b, b.nic, b.nnic, 1e9);
    struct problem *p = build_problem(&b, DEMAND_BYTES);
    p->options.routing = ROUTE_DESTINATION;
    struct err e;
    struct comm *c = comm_self(&e);
    struct pods *pods = one_pod(p->fabric);
    int failed = 0;
    for (int64_t call = 0;; call++) {
        struct tables_goal goal = { .bound = NAN, .deadline = INFINITY };
        struct tables_result out;
        e = (struct err){ 0 };
        left = call;
        int rc = tables_solve(p, pods, c, &goal, NULL, &out, &e);
        int reached = left < 0;
        left = -1;
        if (rc < 0) {
            CHECK(e.code == E_MEMORY && !out.routes && !out.tables, "call %d: %s", (int)call, e.text);
            failed++;
        } else {
            routes_free(out.routes);
            forward_free(out.tables);
        }
        if (!reached)
            break;
    }
    CHECK(failed > 60, "%d failures", failed);
    pods_free(pods);
    comm_free(c);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_ways),
        cmocka_unit_test(test_nothing_to_route),
        cmocka_unit_test(test_ring_of_switches),
        cmocka_unit_test(test_against_all_tables),
        cmocka_unit_test(test_damaged_fabrics),
        cmocka_unit_test(test_odd_fabrics),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_check_tells_what_is_wrong),
        cmocka_unit_test(test_check_finds_rings),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
