#include "check.h"
#include "referee.h"
#include "stated.h"

#include <math.h>

/* Clos of 2 leaves (0, 1), 2 spines (2, 3), 3 NICs a leaf (4-6, 7-9), 100 Gb/s. Links 0-5 NICs, 6 7 leaf0 to spines,
 * 8 9 leaf1 to spines. Job a has flow 4 -> 7, job b flows 5 -> 8 and 6 -> 9: three flows over two uplinks. */
static struct problem *three_flows(void)
{
    struct err e;
    struct problem *p = problem_new(referee_clos(2, 2, 3, 100), 2, 3, &e);
    CHECK(p);
    p->job_name[0] = text_copy("a");
    p->job_name[1] = text_copy("b");
    p->job_first[1] = 1;
    p->job_first[2] = 3;
    for (int32_t f = 0; f < 3; f++) {
        p->src[f] = 4 + f;
        p->dst[f] = 7 + f;
        p->demand[f] = 1e9;
    }
    CHECK(problem_finish(p, &e) == 0, "%s", e.text);
    return p;
}

/* Routes over spine numbers; -1 ends a flow. */
static struct routes *over(const int spine[3][2], const double share[3][2])
{
    struct err e;
    struct routes *r = routes_new(3, 6, 48, &e); /* twice the room: rows below lengthen paths */
    CHECK(r);
    int64_t n = 0;
    for (int f = 0; f < 3; f++) {
        for (int k = 0; k < 2 && spine[f][k] >= 0; k++, n++) {
            int32_t arc[] = { 2 * f, 2 * (6 + spine[f][k]), 2 * (8 + spine[f][k]) + 1, 2 * (3 + f) + 1 };
            memcpy(r->arc + r->at[n], arc, sizeof arc);
            r->at[n + 1] = r->at[n] + 4;
            r->share[n] = share[f][k];
        }
        r->first[f + 1] = n;
    }
    r->npath = n;
    return r;
}

static const int one_each[3][2] = { { 0, -1 }, { 1, -1 }, { 1, -1 } };
static const double whole[3][2] = { { 1 }, { 1 }, { 1 } };

/* Pinned, with the pigeonhole proof that one of two uplinks holds two flows. */
static struct plan *pinned(struct problem *p)
{
    struct err e;
    struct plan *plan = state_plan(p, over(one_each, whole), .5);
    CHECK(certificate_pigeonhole(&plan->certificate, .5, (int32_t[]){ 12, 14 }, 2, (int32_t[]){ 0, 1, 2 }, 3, &e) == 0);
    return plan;
}

/* The same routes with prices on both uplinks: e_j <= 200 / 300. */
static struct plan *priced(struct problem *p)
{
    struct err e;
    double price[20] = { 0 };
    price[12] = price[14] = 1;
    double bound = p->options.objective == OBJ_JOB_FAIR ? 2.0 / 3 : 24.0 / 200;
    struct plan *plan = state_plan(p, over(one_each, whole), bound);
    CHECK(certificate_prices(&plan->certificate, bound, price, 20, &e) == 0);
    return plan;
}

static struct plan *utilization(struct problem *p)
{
    p->options.objective = OBJ_MAX_UTILIZATION;
    return priced(p);
}

/* Split: job a on spine 0, job b half on both; every flow at 2/3. One level holds both jobs. */
static struct plan *split(struct problem *p)
{
    struct err e;
    double price[20] = { 0 };
    price[12] = price[14] = 1;
    p->options.routing = ROUTE_SPLIT;
    struct routes *r = over((const int[3][2]){ { 0, 1 }, { 0, 1 }, { 0, 1 } },
                            (const double[3][2]){ { .5, .5 }, { .5, .5 }, { .5, .5 } });
    for (int k = 0; k < 6; k++)
        r->gbps[k] = 100.0 / 3;
    struct plan *plan = state_plan(p, r, 2.0 / 3);
    CHECK(certificate_prices(&plan->certificate, 2.0 / 3, price, 20, &e) == 0);
    plan->nlevel = 1;
    plan->level = array(1, sizeof *plan->level);
    plan->level[0].efficiency = 2.0 / 3;
    plan->level[0].njob = 2;
    plan->level[0].job = array(2, sizeof(int32_t));
    plan->level[0].job[1] = 1;
    CHECK(certificate_prices(&plan->level[0].proof, 2.0 / 3, price, 20, &e) == 0);
    return plan;
}

/* The same with demands of two thirds of a NIC, which are met: all at 1. */
static struct plan *split_gbps(struct problem *p)
{
    p->kind = DEMAND_GBPS;
    for (int32_t f = 0; f < 3; f++)
        p->demand[f] = p->need[f] = 200.0 / 3;
    p->ideal[0] = p->ideal[1] = 1;
    struct plan *plan = split(p);
    plan->bound = plan->value;
    plan->certificate.bound = plan->level[0].proof.bound = plan->level[0].efficiency = 1;
    plan->gap = 0;
    plan->status = PLAN_OPTIMAL;
    return plan;
}

/* Three jobs and two levels: flow 6 -> 9 now is a job c that may have all of what a slow NIC cable leaves it. */
static struct plan *two_levels(struct problem *p)
{
    struct err e;
    double low[20] = { 0 }, high[20] = { 0 };
    p->options.routing = ROUTE_SPLIT;
    p->job_first[1] = 2; /* a: flows 0 and 1; b: flow 2 */
    p->job[1] = 0;
    p->fabric->cap[0] = 50; /* flow 0 reaches half its need only: I_j stays as it was derived */
    struct routes *r = over((const int[3][2]){ { 0, -1 }, { 0, -1 }, { 1, -1 } }, whole);
    r->gbps[0] = r->gbps[1] = 50;
    r->gbps[2] = 100;
    low[0] = 1;
    high[4] = 1;
    struct plan *plan = state_plan(p, r, .5);
    CHECK(certificate_prices(&plan->certificate, .5, low, 20, &e) == 0);
    plan->nlevel = 2;
    plan->level = array(2, sizeof *plan->level);
    for (int l = 0; l < 2; l++) {
        plan->level[l].efficiency = l ? 1 : .5;
        plan->level[l].njob = 1;
        plan->level[l].job = array(1, sizeof(int32_t));
        plan->level[l].job[0] = l;
        CHECK(certificate_prices(&plan->level[l].proof, l ? 1 : .5, l ? high : low, 20, &e) == 0);
    }
    return plan;
}

/* Job b counts four times: at a quarter, with all it can have, it is the lower level, whatever its prices leave room
 * for. */
static struct plan *served_level(struct problem *p)
{
    double weak[20] = { 0 };
    struct plan *plan = two_levels(p);
    struct level swap = plan->level[0];
    weak[12] = weak[14] = 1;
    p->job_weight[1] = 4;
    plan->level[0] = plan->level[1];
    plan->level[1] = swap;
    plan->level[0].efficiency = plan->value = .25;
    plan->gap = plan_gap(.5, .25);
    plan->status = PLAN_FEASIBLE;
    CHECK(certificate_prices(&plan->level[0].proof, 1.0 / 3, weak, 20, NULL) == 0);
    return plan;
}

static void refinish(struct problem *p)
{
    struct fabric *f = p->fabric;
    void *made[] = { f->tail, f->head, f->cap, f->live, f->first, f->out, f->ifirst, f->in, p->job, p->ideal, p->need };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        free(made[i]);
    CHECK(fabric_finish(f, NULL) == 0 && problem_finish(p, NULL) == 0);
}

/* Leaf 1 is cut off from the spines. Source 4 reaches 5, 6, leaf 0 and the spines. */
static struct plan *infeasible(struct problem *p)
{
    p->fabric->link_up[8] = p->fabric->link_up[9] = 0;
    refinish(p);
    struct plan *plan = array(1, sizeof *plan);
    CHECK(plan);
    plan->status = PLAN_INFEASIBLE;
    plan->certificate.kind = CERT_CUT;
    plan->certificate.arc = array(2, sizeof(int32_t));
    plan->certificate.flow = array(1, sizeof(int32_t));
    plan->certificate.narc = 2;
    plan->certificate.nflow = 1;
    plan->certificate.arc[0] = 17;
    plan->certificate.arc[1] = 19;
    return plan;
}

/* ---- one row per way to be wrong ---- */

typedef void spoiler(struct problem *p, struct plan *plan);

#define SPOIL(name, ...)                                                                                               \
    static void name(struct problem *p, struct plan *plan)                                                             \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        (void)plan;                                                                                                    \
        __VA_ARGS__                                                                                                    \
    }

/* Path 0 of flow 0 gets these arcs (at most 4 more than it had: the others move up). */
static void replace(struct plan *plan, const int32_t *arc, int64_t n)
{
    struct routes *r = plan->routes;
    int64_t more = n - r->at[1];
    memmove(r->arc + n, r->arc + r->at[1], (size_t)(r->at[r->npath] - r->at[1]) * sizeof *arc);
    memmove(r->arc, arc, (size_t)n * sizeof *arc);
    for (int64_t k = 1; k <= r->npath; k++)
        r->at[k] += more;
}

SPOIL(nothing, )
SPOIL(lost_routes, routes_free(plan->routes); plan->routes = NULL;)
SPOIL(failed, plan->status = PLAN_FAILED;)
SPOIL(fewer_flows, plan->routes->nflow = 2;)
SPOIL(bad_offsets, plan->routes->first[1] = 2; plan->routes->first[2] = 1;)
SPOIL(bad_at, plan->routes->at[1] = 9;)
SPOIL(no_path, plan->routes->first[1] = 0;)
SPOIL(arc_range, plan->routes->arc[1] = 20;)
SPOIL(arc_negative, plan->routes->arc[1] = -1;)
SPOIL(dead_arc, p->fabric->link_up[6] = 0; refinish(p);)
SPOIL(jump, plan->routes->arc[2] = 18;)
SPOIL(wrong_spine, plan->routes->arc[2] = 19;)
SPOIL(wrong_end, plan->routes->arc[3] = 9;)
SPOIL(too_short, replace(plan, (int32_t[]){ 0, 12, 17 }, 3);)
SPOIL(empty_path, replace(plan, plan->routes->arc, 0);)
SPOIL(loop, replace(plan, (int32_t[]){ 0, 12, 13, 14, 19, 7 }, 6);)
SPOIL(home, replace(plan, (int32_t[]){ 0, 1, 0, 12, 17, 7 }, 6);)
SPOIL(through_nic, replace(plan, (int32_t[]){ 0, 3, 2, 12, 17, 7 }, 6);)
SPOIL(on_from_dst, replace(plan, (int32_t[]){ 0, 12, 17, 7, 6, 9 }, 6);)
SPOIL(half_share, plan->routes->share[0] = .5;)
SPOIL(negative_share, plan->routes->share[0] = -1;)
SPOIL(nan_share, plan->routes->share[0] = NAN;)
SPOIL(too_many, plan->routes->npath = 4; plan->routes->at[4] = plan->routes->at[3] + 4;
      memcpy(plan->routes->arc + 12, plan->routes->arc + 8, 16); plan->routes->first[3] = 4;
      plan->routes->share[2] = plan->routes->share[3] = .5;)
SPOIL(unneeded, p->demand[2] = 0;)
SPOIL(fast, plan->routes->gbps[0] = 101;)
SPOIL(slow, plan->routes->gbps[1] = 49.99;)
SPOIL(nan_rate, plan->routes->gbps[1] = NAN;)
SPOIL(over_capacity, plan->routes->gbps[0] = 34;)
SPOIL(negative_rate, plan->routes->gbps[0] = -1;)
SPOIL(greedy, plan->routes->gbps[1] = 34; plan->routes->gbps[0] -= 1;)
SPOIL(vain_job, plan->efficiency[0] = 1.01;)
SPOIL(modest_job, plan->efficiency[1] = .45;)
SPOIL(load_up, plan->load[12] *= 1.01;)
SPOIL(load_where_none, plan->load[1] = .1;)
SPOIL(vain_value, plan->value = .51;)
SPOIL(moved, plan->routes->arc[5] = 12; plan->routes->arc[6] = 17;)
SPOIL(no_certificate, certificate_free(&plan->certificate);)
SPOIL(wrong_kind, plan->certificate.kind = CERT_CUT;)
SPOIL(tight_bound, plan->bound = plan->certificate.bound = .6;)
SPOIL(tight_smaller, plan->bound = plan->certificate.bound = .13;)
SPOIL(two_bounds, plan->bound = .7; plan->gap = plan_gap(.7, .5);)
SPOIL(beats_bound, for (int k = 0; k < 6; k++) plan->routes->gbps[k] *= 1.02;
      plan->efficiency[0] = plan->efficiency[1] = plan->value = .68; plan->gap = plan_gap(2.0 / 3, .68);)
SPOIL(free_prices, plan->certificate.narc = 0;)
SPOIL(negative_price, plan->certificate.price[0] = -1;)
SPOIL(nan_price, plan->certificate.price[0] = NAN;)
SPOIL(price_nowhere, plan->certificate.arc[0] = 20;)
SPOIL(price_twice, plan->certificate.arc[1] = 12;)
SPOIL(price_lost, plan->certificate.price[1] = .5;)
SPOIL(wrong_gap, plan->gap = .1;)
SPOIL(not_optimal, plan->status = PLAN_OPTIMAL;)
SPOIL(hole_twice, plan->certificate.flow[1] = 0;)
SPOIL(hole_flow, plan->certificate.flow[1] = 3;)
SPOIL(hole_arc, plan->certificate.arc[1] = -1;)
SPOIL(hole_missed, plan->certificate.arc[1] = 16;)
SPOIL(hole_level, plan->bound = plan->certificate.bound = .49;)
SPOIL(hole_zero, plan->certificate.bound = 0;)
SPOIL(hole_empty, plan->certificate.nflow = 0;)
SPOIL(hole_paths, p->options.paths_per_flow = 2;)
SPOIL(hole_split, p->options.routing = ROUTE_SPLIT;)
SPOIL(level_lost, plan->level[0].njob = 1;)
SPOIL(level_twice, plan->level[0].job[1] = 0;)
SPOIL(level_nobody, plan->level[0].job[1] = 2;)
SPOIL(level_high, plan->level[0].efficiency = .7;)
SPOIL(level_zero, plan->level[0].efficiency = 0;)
SPOIL(level_order, plan->level[1].efficiency = .4;)
SPOIL(level_price, plan->level[0].proof.price[0] = -2;)
SPOIL(level_claims, plan->level[1].proof.bound = .9;)
SPOIL(level_weak, double y[20] = { 0 }; y[12] = y[14] = 1;
      CHECK(certificate_prices(&plan->level[0].proof, 2.0 / 3, y, 20, NULL) == 0);)
SPOIL(level_bare, plan->level[0].proof.narc = 0;)
SPOIL(level_done, plan->level[1].proof.narc = 0;)
SPOIL(level_silent, plan->level[1].proof.arc[0] = 1;)
SPOIL(cut_none, certificate_free(&plan->certificate);)
SPOIL(cut_flow, plan->certificate.flow[0] = 3;)
SPOIL(cut_heals, p->fabric->link_up[8] = 1; refinish(p);)
SPOIL(cut_short, plan->certificate.narc = 1;)
SPOIL(cut_wrong, plan->certificate.arc[0] = 12;)
SPOIL(cut_range, plan->certificate.arc[0] = 20;)

struct row {
    struct plan *(*good)(struct problem *p);
    spoiler *spoil;
    const char *says; /* NULL: no fault */
};

static const struct row rows[] = {
    { pinned, nothing, NULL },
    { priced, nothing, NULL },
    { utilization, nothing, NULL },
    { split, nothing, NULL },
    { two_levels, nothing, NULL },
    { served_level, nothing, NULL },
    { infeasible, nothing, NULL },
    { pinned, lost_routes, "plan has no routes" },
    { pinned, failed, "plan has no routes" },
    { pinned, fewer_flows, "plan has 2 flows, problem 3" },
    { pinned, bad_offsets, "tables of paths do not follow" },
    { pinned, bad_at, "tables of paths do not follow" },
    { pinned, no_path, "jobs[0].flows[0] (\"n0.0\" -> \"n1.0\"): no path" },
    { pinned, arc_range, "jobs[0].flows[0] (\"n0.0\" -> \"n1.0\"): path 0: arc 20 is not in [0, 20)" },
    { pinned, arc_negative, "arc -1 is not in [0, 20)" },
    { pinned, dead_arc, "arc 12 is not live" },
    { pinned, jump, "arc 18 does not start at \"spine0\"" },
    { pinned, wrong_spine, "arc 19 does not start at \"spine0\"" },
    { pinned, wrong_end, "ends at \"n1.1\"" },
    { pinned, too_short, "ends at \"leaf1\"" },
    { pinned, empty_path, "ends at \"n0.0\"" },
    { pinned, loop, "visits \"leaf0\" twice" },
    { pinned, home, "visits \"n0.0\" twice" },
    { pinned, through_nic, "passes through NIC \"n0.1\"" },
    { pinned, on_from_dst, "passes through NIC \"n1.0\"" },
    { pinned, half_share, "shares add to 0.5" },
    { pinned, negative_share, "share -1 is not in [0, 1]" },
    { pinned, nan_share, "share nan is not in [0, 1]" },
    { pinned, too_many, "2 paths, allowed 1" },
    { pinned, unneeded, "jobs[1].flows[1] (\"n0.2\" -> \"n1.2\"): needs no route and has 1 paths" },
    { pinned, fast, "path 0: stated 101 Gb/s, water-filling gives 100" },
    { pinned, slow, "stated 49.99 Gb/s, water-filling gives 50" },
    { pinned, nan_rate, "stated nan Gb/s" },
    { utilization, slow, "stated 49.99 Gb/s" },
    { split, over_capacity, "arc 12 (\"leaf0\" -> \"spine0\"): stated rates add to 100.6" },
    { split, negative_rate, "rate -1 Gb/s is not a rate" },
    { split_gbps, nothing, NULL },
    { split_gbps, greedy, "path 1: stated 34 Gb/s, its share of the demand is 33.3333333" },
    { split, nan_rate, "rate nan Gb/s is not a rate" },
    { pinned, vain_job, "jobs[0] \"a\": stated efficiency 1.01, routes give 1" },
    { pinned, modest_job, "jobs[1] \"b\": stated efficiency 0.45, routes give 0.5" },
    { pinned, load_up, "arc 12 (\"leaf0\" -> \"spine0\"): stated load 0.0808, routes give 0.08" },
    { pinned, load_where_none, "stated load 0.1, routes give 0" },
    { pinned, vain_value, "stated value 0.51, routes give 0.5" },
    { utilization, vain_value, "stated value 0.51, routes give 0.16" },
    { pinned, moved, "water-filling gives" },
    { priced, no_certificate, "no certificate" },
    { priced, wrong_kind, "no certificate" },
    { priced, tight_bound, "certificate proves 0.666666667, plan claims 0.6" },
    { utilization, tight_smaller, "certificate proves 0.12, plan claims 0.13" },
    { priced, two_bounds, "certificate states bound 0.666666667, the plan 0.7" },
    { split, beats_bound, "value 0.68 is better than the proven bound 0.666666667" },
    { priced, free_prices, "its 0 prices prove nothing" },
    { utilization, free_prices, "its 0 prices prove nothing" },
    { priced, negative_price, "price -1 of arc 12 is not a price" },
    { priced, nan_price, "price nan of arc 12 is not a price" },
    { priced, price_nowhere, "price of arc 20, which is not in [0, 20)" },
    { priced, price_twice, "arc 12 has two prices" },
    { priced, price_lost, "certificate proves 1, plan claims 0.666666667" },
    { priced, wrong_gap, "stated gap 0.1, bound and value give 0.25" },
    { priced, not_optimal, "status is optimal, but the gap 0.25 is over 0.01" },
    { pinned, hole_twice, "pigeonhole: flow 0 is counted twice" },
    { pinned, hole_flow, "pigeonhole: flow 3 is no flow" },
    { pinned, hole_arc, "pigeonhole: arc -1 is not in [0, 20)" },
    { pinned, hole_missed, "pigeonhole: flow 0 does not need the cut" },
    { pinned, hole_level, "pigeonhole: 3 flows fit the cut above level 0.49" },
    { pinned, hole_zero, "pigeonhole: needs arcs, flows and a positive bound" },
    { pinned, hole_empty, "pigeonhole: needs arcs, flows and a positive bound" },
    { pinned, hole_paths, "pigeonhole: proves something for job_fair with one pinned path" },
    { pinned, hole_split, "pigeonhole: proves something for job_fair with one pinned path" },
    { split, level_lost, "levels: job \"b\" is in none" },
    { split, level_twice, "levels[0]: job \"a\" is in level 0 already" },
    { split, level_nobody, "levels[0]: job 2 is not in [0, 2)" },
    { split, level_high, "levels[0]: job \"a\" is at 0.666666667, its level at 0.7" },
    { split, level_zero, "levels[0]: efficiency 0 must be positive" },
    { split, level_price, "levels[0]: price -2 of arc 12 is not a price" },
    { two_levels, level_order, "levels[1]: efficiency 0.4 is below the level before" },
    { two_levels, level_silent, "levels[1]: its 1 prices prove nothing" },
    { two_levels, level_claims, "levels[1]: prices prove 1, plan claims 0.9" },
    { two_levels, level_weak, "levels[0]: at 0.5, but its prices allow 0.666666667" },
    { two_levels, level_bare, "levels[0]: job \"a\" is at 0.5 and no price says why" },
    { two_levels, level_done, NULL },
    { infeasible, cut_none, "needs a cut and the one flow" },
    { infeasible, cut_flow, "needs a cut and the one flow" },
    { infeasible, cut_heals, "cut: flow 0 reaches \"n1.0\" over live arcs" },
    { infeasible, cut_short, "cut: arc 19 leaves what the source reaches and is not listed" },
    { infeasible, cut_wrong, "cut: arc 12 does not leave what the source reaches" },
    { infeasible, cut_range, "cut: arc 20 is not in [0, 20)" },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e;
        struct check_report r;
        struct problem *p = three_flows();
        struct plan *plan = rows[i].good(p);
        rows[i].spoil(p, plan);
        CHECK(check_plan(p, plan, &r, &e) == 0);
        if (!rows[i].says)
            CHECK(r.nfault == 0, "row %zu: %s", i, r.fault[0]);
        else
            CHECK(says(&r, rows[i].says), "row %zu: \"%s\" should say \"%s\"", i, r.nfault ? r.fault[0] : "no fault",
                  rows[i].says);
        if (plan->routes) /* the free functions go by these */
            plan->routes->nflow = 3;
        plan_free(plan);
        problem_free(p);
    }
}

/* More faults than room: counted, the first ones kept. */
static void test_many(void **state)
{
    (void)state;
    struct err e;
    struct check_report r;
    struct problem *p = three_flows();
    struct plan *plan = pinned(p);
    for (int32_t a = 0; a < 20; a++)
        plan->load[a] += 1;
    for (int k = 0; k < 3; k++)
        plan->routes->gbps[k] += 1;
    CHECK(check_plan(p, plan, &r, &e) == 0 && r.nfault == 23);
    CHECK(strstr(r.fault[CHECK_FAULTS - 1], "arc 16"), "%s", r.fault[CHECK_FAULTS - 1]);
    plan_free(plan);
    problem_free(p);
}

void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
static int64_t calls_left = INT64_MAX;

void *__wrap_array(int64_t n, size_t size)
{
    return calls_left-- > 0 ? __real_array(n, size) : NULL;
}

static void test_memory(void **state)
{
    (void)state;
    struct plan *(*good[])(struct problem *) = { pinned, priced, split, infeasible, priced, priced };
    for (int i = 0; i < 6; i++) {
        struct problem *p = three_flows();
        struct plan *plan = good[i](p);
        if (i >= 4)
            p->options.policy = i == 4 ? PATHS_SHORTEST : PATHS_DISJOINT;
        p->options.disjoint = i == 5 ? 2 : 0;
        int rc = -1;
        for (int64_t call = 0; rc < 0; call++) {
            struct err e = { 0 };
            struct check_report r;
            calls_left = call;
            rc = check_plan(p, plan, &r, &e);
            calls_left = INT64_MAX;
            CHECK(rc == 0 || e.code == E_MEMORY);
            CHECK(rc < 0 || (r.nfault == (i < 5 ? 0 : 2) && call >= 3), "plan %d: %s", i, r.fault[0]);
        }
        plan_free(plan);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
