#include "check.h"
#include "short.h"
#include "solver/model/routes.h"

#include <math.h>

static struct routes *three_paths(void)
{
    struct err e = { 0 };
    static const int64_t first[] = { 0, 2, 2, 3 }, at[] = { 0, 2, 5, 6 };
    static const int32_t arc[] = { 4, 8, 4, 6, 10, 2 };
    struct routes *r = routes_new(3, 3, 6, &e);
    CHECK(r, "%s", e.text);
    memcpy(r->first, first, sizeof first);
    memcpy(r->at, at, sizeof at);
    memcpy(r->arc, arc, sizeof arc);
    for (int i = 0; i < 3; i++) {
        r->share[i] = i == 2 ? 1 : 0.5;
        r->gbps[i] = 10 + i;
    }
    return r;
}

static void test_copy_is_equal_and_its_own(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct routes *r = three_paths(), *c = routes_copy(r, &e);
    CHECK(c && c->nflow == 3 && c->npath == 3);
    CHECK(!memcmp(c->first, r->first, 4 * sizeof *r->first) && !memcmp(c->at, r->at, 4 * sizeof *r->at));
    CHECK(!memcmp(c->arc, r->arc, 6 * sizeof *r->arc) && !memcmp(c->share, r->share, 3 * sizeof *r->share));
    CHECK(!memcmp(c->gbps, r->gbps, 3 * sizeof *r->gbps));
    r->arc[0] = 99;
    CHECK(c->arc[0] == 4);
    routes_free(r);
    routes_free(c);
    r = routes_new(0, 0, 0, &e);
    c = r ? routes_copy(r, &e) : NULL;
    CHECK(c && c->first[0] == 0 && c->at[0] == 0, "no flows at all");
    routes_free(r);
    routes_free(c);
    routes_free(NULL);
}

static void test_certificates(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct certificate c = { 0 };
    const double price[] = { 0, 0.5, 0, 1e-300, 2 };
    CHECK(certificate_prices(&c, 0.25, price, 5, &e) == 0 && c.kind == CERT_PRICES && c.narc == 3);
    CHECK(c.arc[0] == 1 && c.arc[1] == 3 && c.arc[2] == 4 && c.price[1] > 0 && c.price[2] > 1.9 && c.bound > 0.24);
    const int32_t arc[] = { 3, 4 }, flow[] = { 7, 8, 9 };
    CHECK(certificate_pigeonhole(&c, 0.5, arc, 2, flow, 3, &e) == 0, "replaces the prices");
    CHECK(c.kind == CERT_PIGEONHOLE && c.narc == 2 && c.nflow == 3 && !c.price && c.flow[2] == 9 && c.arc[1] == 4);
    short_at = 0;
    CHECK(certificate_prices(&c, 0.1, price, 5, &e) == -1 && e.code == E_MEMORY);
    short_at = -1;
    CHECK(c.kind == CERT_PIGEONHOLE && c.narc == 2, "a failure leaves the certificate as it was");
    certificate_free(&c);
    CHECK(c.kind == CERT_NONE && !c.arc && !c.flow && c.narc == 0);
    certificate_free(&c);
    CHECK(certificate_prices(&c, 1, price, 1, &e) == 0 && c.narc == 0, "no positive price");
    certificate_free(&c);
}

static void test_gap(void **state)
{
    (void)state;
    CHECK(plan_gap(0, 0) <= 0 && plan_gap(0, 0) >= 0);
    CHECK(fabs(plan_gap(1, 0.5) - 0.5) < 1e-15 && fabs(plan_gap(0.5, 1) - 0.5) < 1e-15);
    CHECK(fabs(plan_gap(0, 3) - 1) < 1e-15);
}

static void test_plan_free_takes_half_built_plans(void **state)
{
    (void)state;
    plan_free(NULL);
    plan_free(array(1, sizeof(struct plan)));
    struct plan *p = array(1, sizeof *p);
    p->nlevel = 3;
    p->level = array(3, sizeof *p->level);
    p->level[1].job = array(2, sizeof *p->level[1].job);
    p->level[2].proof.arc = array(2, sizeof *p->level[2].proof.arc);
    p->routes = three_paths();
    plan_free(p);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct routes *r = three_paths(), *c = NULL;
    for (int64_t k = 0; !c && k < 50; k++) {
        struct err e = { 0 };
        short_at = k;
        c = routes_copy(r, &e);
        short_at = -1;
        CHECK(c || e.code == E_MEMORY, "call %lld", (long long)k);
    }
    CHECK(c);
    routes_free(c);
    routes_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_is_equal_and_its_own),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_plan_free_takes_half_built_plans),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
