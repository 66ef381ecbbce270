#include "check.h"
#include "solver/engine/cuts.h"

#include <math.h>

/* leaves x spines, nics per leaf, all links of 100 Gb/s; the last `dead` spines are down. Node numbers: NICs, then
 * leaves, then spines. One job; the caller fills the flows. */
static struct problem *clos(int leaves, int spines, int nics, int dead, int nflow)
{
    struct err e = { 0 };
    int nnic = leaves * nics;
    struct fabric *f = fabric_new(nnic + leaves + spines, nnic + leaves * spines, &e);
    CHECK(f, "%s", e.text);
    for (int v = 0; v < f->nnode; v++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", v);
        f->node_name[v] = text_copy(name);
        f->node_kind[v] = v < nnic ? NODE_NIC : NODE_SWITCH;
        f->node_up[v] = v < f->nnode - dead;
    }
    for (int i = 0; i < f->nlink; i++) {
        f->link_gbps[i] = 100;
        f->link_from[i] = i < nnic ? i : nnic + (i - nnic) / spines;
        f->link_to[i] = i < nnic ? nnic + i / nics : nnic + leaves + (i - nnic) % spines;
    }
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    struct problem *p = problem_new(f, 1, nflow, &e);
    CHECK(p, "%s", e.text);
    p->job_name[0] = text_copy("job");
    p->job_first[1] = nflow;
    return p;
}

static void set_flow(struct problem *p, int i, int src, int dst, double bytes)
{
    p->src[i] = src;
    p->dst[i] = dst;
    p->demand[i] = bytes;
}

/* Is every flow of the certificate cut off without its arcs? Repeated relaxation, unlike the code under test. */
static int crosses(const struct problem *p, const struct certificate *c, int flow)
{
    const struct fabric *f = p->fabric;
    uint8_t *cut = array(f->narc, 1), *seen = array(f->nnode, 1);
    for (int64_t i = 0; i < c->narc; i++)
        cut[c->arc[i]] = 1;
    seen[p->src[flow]] = 1;
    for (int again = 1; again;) {
        again = 0;
        for (int a = 0; a < f->narc; a++)
            if (f->live[a] && !cut[a] && seen[f->tail[a]] && !seen[f->head[a]] &&
                (f->node_kind[f->tail[a]] != NODE_NIC || f->tail[a] == p->src[flow]))
                seen[f->head[a]] = again = 1;
    }
    int reached = seen[p->dst[flow]];
    free(cut);
    free(seen);
    return !reached;
}

/* The pigeonhole formula of solver/README.md, recounted: n flows do not fit just above the bound. */
static void recount(const struct problem *p, const struct certificate *c)
{
    double r = INFINITY, held = 0;
    for (int64_t i = 0; i < c->nflow; i++) {
        CHECK(crosses(p, c, c->flow[i]), "flow %d does not need the cut", c->flow[i]);
        r = fmin(r, p->job_weight[p->job[c->flow[i]]] * p->need[c->flow[i]]);
    }
    for (int64_t i = 0; i < c->narc; i++)
        held += floor(p->fabric->cap[c->arc[i]] / (c->bound * (1 + 1e-9) * r) * (1 + 1e-12));
    CHECK(held < (double)c->nflow, "%g flows fit above %g", held, c->bound);
}

static void test_one_dead_spine_is_a_pigeonhole(void **state)
{
    struct err e = { 0 };
    (void)state;
    for (int dead = 0; dead < 3; dead++) {
        struct problem *p = clos(3, 4, 4, dead, 4);
        for (int i = 0; i < 4; i++)
            set_flow(p, i, i, 4 + i, 1e9);
        CHECK(problem_finish(p, &e) == 0, "%s", e.text);
        struct certificate best = { 0 };
        CHECK(cuts_bound(p, NULL, NULL, &best, &e) == 0, "%s", e.text);
        CHECK(fabs(best.bound - (dead ? 0.5 : 1.0)) < 1e-12, "%d dead: bound %.17g", dead, best.bound);
        CHECK(best.kind == (dead == 1 ? CERT_PIGEONHOLE : CERT_PRICES));
        if (dead == 1)
            recount(p, &best);
        certificate_free(&best);
        p->options.routing = ROUTE_SPLIT;
        CHECK(cuts_bound(p, NULL, NULL, &best, &e) == 0 && best.kind == CERT_PRICES);
        CHECK(fabs(best.bound - (4 - dead) / 4.0) < 1e-12, "%d dead, split: bound %.17g", dead, best.bound);
        certificate_free(&best);
        problem_free(p);
    }
}

static void test_large_flows_count_alone(void **state)
{
    /* Two large flows over one live uplink of a two-spine leaf, and many small ones: the large pair decides. */
    struct err e = { 0 };
    (void)state;
    struct problem *p = clos(2, 2, 6, 1, 6);
    for (int i = 0; i < 6; i++)
        set_flow(p, i, i, 6 + i, i < 2 ? 1e9 : 1e6);
    CHECK(problem_finish(p, &e) == 0);
    struct certificate best = { 0 };
    CHECK(cuts_bound(p, NULL, NULL, &best, &e) == 0);
    CHECK(fabs(best.bound - 100 / 200.4) < 1e-9, "bound %.17g: fluid over all six", best.bound);
    certificate_free(&best);
    problem_free(p);
    p = clos(2, 4, 6, 1, 6); /* three uplinks, four large flows: floor(3 / ...) */
    for (int i = 0; i < 6; i++)
        set_flow(p, i, i, 6 + i, i < 4 ? 1e9 : 1e3);
    CHECK(problem_finish(p, &e) == 0 && cuts_bound(p, NULL, NULL, &best, &e) == 0);
    CHECK(best.kind == CERT_PIGEONHOLE && best.nflow == 4 && fabs(best.bound - 0.5) < 1e-12,
          "bound %.17g of %lld flows", best.bound, (long long)best.nflow);
    recount(p, &best);
    certificate_free(&best);
    problem_free(p);
}

static void test_prices_point_at_a_cut(void **state)
{
    /* Two leaves joined by one spine: pricing the spine's links finds the cut that a single leaf shows as well. */
    struct err e = { 0 };
    (void)state;
    struct problem *p = clos(2, 1, 3, 0, 3);
    for (int i = 0; i < 3; i++)
        set_flow(p, i, i, 3 + i, 1e9);
    CHECK(problem_finish(p, &e) == 0);
    double *price = array(p->fabric->narc, sizeof *price);
    price[2 * 6] = 1; /* leaf 0 -> spine */
    struct certificate best = { 0 };
    CHECK(cuts_bound(p, NULL, price, &best, &e) == 0 && fabs(best.bound - 1.0 / 3) < 1e-12, "bound %.17g", best.bound);
    certificate_free(&best);
    p->options.objective = OBJ_MAX_UTILIZATION;
    CHECK(cuts_bound(p, NULL, price, &best, &e) == 0 && fabs(best.bound - 3 * 8 / 100.0) < 1e-12, "bound %.17g",
          best.bound);
    certificate_free(&best);
    free(price);
    problem_free(p);
}

/* Random flows and capacities: every certificate must survive the recount, and a prices bound must equal its own sum.
 */
static void test_random_certificates_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct err e = { 0 };
        struct rng r = { seed };
        int n = 1 + rng_below(&r, 12);
        struct problem *p = clos(2 + rng_below(&r, 4), 1 + rng_below(&r, 4), 4, 0, n);
        for (int i = 0; i < n; i++) {
            set_flow(p, i, rng_below(&r, 8), rng_below(&r, 8), rng_below(&r, 3) ? 1e9 : 5e8 * rng_below(&r, 4));
        }
        CHECK(problem_finish(p, &e) == 0, "seed %llu: %s", (unsigned long long)seed, e.text);
        double *price = array(p->fabric->narc, sizeof *price);
        for (int a = 0; a < p->fabric->narc; a++)
            price[a] = rng_below(&r, 3) ? 0 : rng_unit(&r);
        struct certificate best = { 0 };
        CHECK(cuts_bound(p, NULL, price, &best, &e) == 0, "seed %llu: %s", (unsigned long long)seed, e.text);
        if (best.kind == CERT_PIGEONHOLE)
            recount(p, &best);
        if (best.kind == CERT_PRICES) {
            double room = 0, need = 0;
            for (int64_t i = 0; i < best.narc; i++)
                room += best.price[i] * p->fabric->cap[best.arc[i]];
            for (int i = 0; i < n; i++)
                need += crosses(p, &best, i) ? p->need[i] : 0;
            CHECK(best.bound >= room / need * (1 - 1e-12), "seed %llu: claims %g, proves %g", (unsigned long long)seed,
                  best.bound, room / need);
        }
        certificate_free(&best);
        free(price);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_dead_spine_is_a_pigeonhole),
        cmocka_unit_test(test_large_flows_count_alone),
        cmocka_unit_test(test_prices_point_at_a_cut),
        cmocka_unit_test(test_random_certificates_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
