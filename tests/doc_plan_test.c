#include "doc_text.h"
#include "short.h"

#include <math.h>

static struct problem *planned(void)
{
    return accept("{" FABRIC ", 'jobs': [{'name': 'x', 'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1e9},"
                  "{'src': 'a', 'dst': 'a', 'bytes': 5}]}, {'name': 'y', 'flows': [{'src': 0, 'dst': 1, 'bytes': 3}]}],"
                  "'options': {'routing': 'split'}}");
}

static struct plan *some_plan(const struct problem *p)
{
    struct err e = { 0 };
    struct plan *plan = array(1, sizeof *plan);
    double price[6] = { 0, 0, 0.125, 0, 0, 0 };
    plan->status = PLAN_FEASIBLE;
    plan->value = 0.5;
    plan->bound = 0.75;
    plan->gap = plan_gap(0.75, 0.5);
    plan->routes = routes_new(3, 3, 6, &e);
    static const int64_t first[] = { 0, 2, 2, 3 };
    memcpy(plan->routes->first, first, sizeof first);
    for (int i = 0; i < 3; i++) {
        plan->routes->share[i] = i == 0 ? 0.25 : i == 1 ? 0.75 : 1;
        plan->routes->gbps[i] = 10 * (i + 1) / 3.0;
        plan->routes->at[i + 1] = 2 * (i + 1);
        plan->routes->arc[2 * i + 1] = 2;
    }
    plan->efficiency = array(2, sizeof *plan->efficiency);
    plan->load = array(6, sizeof *plan->load);
    plan->efficiency[0] = 0.5;
    plan->efficiency[1] = 1;
    plan->load[0] = 1.0 / 3;
    CHECK(certificate_prices(&plan->certificate, 0.75, price, p->fabric->narc, &e) == 0);
    plan->nlevel = 1;
    plan->level = array(1, sizeof *plan->level);
    plan->level[0].efficiency = 0.5;
    plan->level[0].njob = 1;
    plan->level[0].job = array(1, sizeof *plan->level[0].job);
    plan->level[0].job[0] = 1;
    CHECK(certificate_prices(&plan->level[0].proof, 0.5625, price, p->fabric->narc, &e) == 0);
    plan->info = (struct solver_info){ .ranks = 2, .pods = 8, .cut_arcs = 64, .rounds = 14, .seconds_total = 0.7 };
    return plan;
}

static char *plan_text(const struct problem *p, const struct plan *plan)
{
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *v = NULL, *back = NULL;
    char *bytes = NULL;
    int64_t n = 0;
    CHECK(doc_plan_write(p, plan, a, &v, &e) == 0, "%s", e.text);
    char *text = text_of(v);
    CHECK(wire_write(v, &bytes, &n, &e) == 0 && wire_read(bytes, n, &wire_document, a, &back, &e) == 0, "%s", e.text);
    char *again = text_of(back);
    CHECK(!strcmp(text, again), "msgpack keeps the text\n%s\n%s", text, again);
    free(again);
    free(bytes);
    arena_free(a);
    return text;
}

static void test_plan_text(void **state)
{
    (void)state;
    struct problem *p = planned();
    struct plan *plan = some_plan(p);
    char *text = plan_text(p, plan);
    char *want = quoted(
        "{'heddle': 1, 'objective': 'job_fair', 'routing': 'split', 'status': 'feasible', 'value': 0.5, 'bound': 0.75, "
        "'gap': 0.333333333333333, "
        "'jobs': [{'name': 'x', 'seconds': 0.316831683168317, 'ideal_seconds': 0.158415841584158, 'efficiency': 0.5}, "
        "{'name': 'y', 'seconds': 4.75247524752475e-10, 'ideal_seconds': 4.75247524752475e-10, 'efficiency': 1.0}], "
        "'flows': [{'job': 'x', 'src': 'a', 'dst': 'b', 'bytes': 1000000000.0, 'gbps': 10.0, 'paths': [{'share': 0.25, "
        "'arcs': [0, 2], 'gbps': 3.33333333333333}, {'share': 0.75, 'arcs': [0, 2], 'gbps': 6.66666666666667}]}, "
        "{'job': 'x', 'src': 'a', 'dst': 'a', 'bytes': 5.0, 'gbps': 0.0, 'paths': []}, "
        "{'job': 'y', 'src': 'a', 'dst': 'b', 'bytes': 3.0, 'gbps': 10.0, 'paths': [{'share': 1.0, 'arcs': [0, 2], "
        "'gbps': 10.0}]}], "
        "'arcs': [{'arc': 0, 'load': 0.333333333333333, 'price': 0.0}, {'arc': 2, 'load': 0.0, 'price': 0.125}], "
        "'certificate': {'kind': 'prices', 'bound': 0.75, 'prices': [[2, 0.125]]}, "
        "'levels': [{'efficiency': 0.5, 'jobs': ['y'], 'bound': 0.5625, 'prices': [[2, 0.125]]}], "
        "'solver': {'version': '" HEDDLE_VERSION "', 'ranks': 2, 'pods': 8, 'rounds': 14, 'cut_arcs': 64, 'seconds': "
        "{'read': 0.0, 'partition': 0.0, 'solve': 0.0, 'round': 0.0, 'total': 0.7}, 'peak_bytes_per_rank': 0}}");
    const char *key[] = { "\"heddle\": 1, \"objective\"", "\"gap\": 0.33333333333333", "\"paths\": []}",
                          "[[2, 0.125]]" };
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        CHECK(strstr(text, key[i]), "%s is not in %s", key[i], text);
    /* Same keys and structure, digits apart. */
    char *x = text, *y = want;
    while (*x && *y) {
        double u = 0, w = 0;
        char *ex = x, *ey = y;
        if ((*x >= '0' && *x <= '9') && (*y >= '0' && *y <= '9')) {
            u = strtod(x, &ex);
            w = strtod(y, &ey);
            CHECK(fabs(u - w) <= 1e-14 * fmax(1e-10, fabs(w)), "%.17g is not %.17g", u, w);
        } else {
            CHECK(*x == *y, "\n%s\n%s", x, y);
            ex++;
            ey++;
        }
        x = ex;
        y = ey;
    }
    CHECK(!*x && !*y);
    free(want);
    free(text);
    plan_free(plan);
    problem_free(p);
}

static struct plan *read_plan(const struct problem *p, const char *text, struct err *e)
{
    struct arena *a = arena_new(0, e);
    struct value *v = NULL;
    struct plan *plan = NULL;
    CHECK(doc_parse(text, (int64_t)strlen(text), a, &v, e) == 0, "%s", e->text);
    if (doc_plan(v, p, &plan, e) < 0)
        plan = NULL;
    arena_free(a);
    return plan;
}

static void test_plan_is_read_back(void **state)
{
    (void)state;
    struct problem *p = planned();
    for (int k = 0; k < 4; k++) {
        struct err e = { 0 };
        struct plan *plan = some_plan(p), *back;
        const int32_t arc[] = { 0, 2 }, flow[] = { 0, 2 };
        plan->status = k == 3 ? PLAN_INFEASIBLE : (enum plan_status)k;
        if (k == 1)
            CHECK(certificate_pigeonhole(&plan->certificate, 0.75, arc, 2, flow, 2, &e) == 0);
        if (k == 2) {
            plan->ecmp = array(2, sizeof *plan->ecmp);
            plan->ecmp[1] = 0.125;
        }
        if (k == 3) {
            CHECK(certificate_pigeonhole(&plan->certificate, 0, arc, 2, flow, 1, &e) == 0);
            plan->certificate.kind = CERT_CUT;
            free(plan->load);
            plan->load = NULL;
            plan->nlevel = 0;
        }
        char *text = plan_text(p, plan), *again;
        back = read_plan(p, text, &e);
        CHECK(back, "%s", e.text);
        CHECK(back->status == plan->status && back->certificate.kind == plan->certificate.kind);
        CHECK(back->certificate.narc == plan->certificate.narc && back->certificate.nflow == plan->certificate.nflow);
        back->info = plan->info;
        again = plan_text(p, back);
        CHECK(!strcmp(text, again), "case %d:\n%s\n%s", k, text, again);
        CHECK(k == 3 ? isnan(back->value) : fabs(back->value - 0.5) < 1e-15);
        CHECK((back->ecmp != NULL) == (k == 2));
        free(again);
        free(text);
        plan_free(back);
        free(plan->level[0].job);
        certificate_free(&plan->level[0].proof);
        plan->nlevel = 0;
        plan_free(plan);
    }
    problem_free(p);
}

static void swap(char **text, const char *old, const char *new)
{
    char *from = quoted(old), *to = quoted(new), *at = strstr(*text, from);
    CHECK(at, "%s is not in %s", from, *text);
    char *out = array((int64_t)(strlen(*text) + strlen(to) + 1), 1);
    memcpy(out, *text, (size_t)(at - *text));
    strcat(strcat(out, to), at + strlen(from));
    free(*text);
    free(from);
    free(to);
    *text = out;
}

static void test_refused_plans(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        { "'heddle': 1", "'heddle': 3", "heddle: version 3" },
        { "'status': 'feasible'", "'status': 'fine'", "status \"fine\" is none of optimal" },
        { "'value': 0.5, ", "", "key \"value\" is missing" },
        { "'value': 0.5", "'value': 'x'", "value \"x\" is not a number" },
        { "'levels'", "'lovels'", "key \"lovels\" is not known; did you mean \"levels\"?" },
        { "'name': 'y'", "'name': 'z'", "jobs[1]: name is \"z\", the problem has \"y\"" },
        { "'efficiency': 0.5", "'efficiency': -1", "jobs[0]: efficiency -1 must be" },
        { "'src': 'a', 'dst': 'a'", "'src': 'b', 'dst': 'a'", "flows[1]: src is \"b\", the problem has \"a\"" },
        { "'job': 'y'", "'job': 'x'", "flows[2]: job is \"x\", the problem has \"y\"" },
        { "'flows': [", "'flows': [{},", "flows: 4 in the plan, 3 in the problem" },
        { "'jobs': [", "'jobs': [{},", "jobs: 3 in the plan, 2 in the problem" },
        { "'paths': []", "'paths': 5", "flows[1]: paths 5 is not a list" },
        { "'arcs': [0, 2]", "'arcs': [0, 6]", "flows[0].paths[0]: arc 6 is not in [0, 5]" },
        { "'arcs': [0, 2]", "'arcs': [0, 'x']", "flows[0].paths[0]: arc \"x\" is not a whole number" },
        { "'arcs': [0, 2]", "'arcs': 3", "flows[0]: paths[0]: arcs 3 is not a list" },
        { "'share': 0.25, ", "", "flows[0]: paths[0]: key \"share\" is missing" },
        { "'arc': 2", "'arc': 9", "arcs[1]: arc 9 is not in [0, 5]" },
        { "'kind': 'prices'", "'kind': 'vibes'", "certificate: kind \"vibes\" is none of prices, pigeonhole, cut" },
        { "'kind': 'prices'", "'kind': 'cut'", "certificate: key \"flow\" is missing" },
        { "'kind': 'prices'", "'kind': 'pigeonhole'", "certificate: arcs null is not a list" },
        { "[[2, 0.125]]", "[[2, 0.125], [2, 1]]", "certificate: prices[1]: arc 2 after arc 2; arcs ascend" },
        { "[[2, 0.125]]", "[[2, -1]]", "certificate: prices[0]: price -1 must be" },
        { "[[2, 0.125]]", "[2]", "certificate: prices[0]: not an [arc, price] pair" },
        { "[[2, 0.125]]}, ", "[[2, 0.125]], 'flow': 1, 'x': 0}, ", "certificate: key \"x\" is not known" },
        { "'jobs': ['y']", "'jobs': ['w']", "levels[0]: jobs[0]: \"w\" is no job of the problem" },
        { "'jobs': ['y']", "'jobs': ['y', 'x', 'y']", "levels[0]: jobs: 3 in the level" },
    };
    struct problem *p = planned();
    struct plan *plan = some_plan(p);
    char *text = plan_text(p, plan);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct err e = { 0 };
        char *copy = text_copy(text);
        swap(&copy, row[i][0], row[i][1]);
        CHECK(!read_plan(p, copy, &e) && e.code == E_INPUT, "accepted: %s", row[i][1]);
        CHECK(strstr(e.text, row[i][2]), "\"%s\" should say \"%s\"", e.text, row[i][2]);
        free(copy);
    }
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct options o;
    options_default(&o);
    CHECK(doc_plan_options(parse("{'objective': 'max_utilization', 'routing': 'split'}", a), &o, &e) == 0, "%s",
          e.text);
    CHECK(o.objective == OBJ_MAX_UTILIZATION && o.routing == ROUTE_SPLIT);
    CHECK(doc_plan_options(parse("{'objective': 'total_flow', 'routing': 'split'}", a), &o, &e) == -1);
    CHECK(doc_plan_options(parse("{'routing': 'split'}", a), &o, &e) == -1 && strstr(e.text, "objective null"), "%s",
          e.text);
    arena_free(a);
    free(text);
    plan_free(plan);
    problem_free(p);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct problem *p = planned();
    struct plan *plan = some_plan(p);
    char *text = plan_text(p, plan);
    int done = 0;
    for (int64_t k = 0; !done && k < 1000; k++) {
        struct err e = { 0 };
        struct plan *back = NULL;
        struct value *v, *w;
        short_at = k;
        struct arena *a = arena_new(0, &e);
        done = a && doc_parse(text, (int64_t)strlen(text), a, &v, &e) == 0 && doc_plan(v, p, &back, &e) == 0 &&
               doc_plan_write(p, back, a, &w, &e) == 0;
        short_at = -1;
        CHECK(done || e.code == E_MEMORY, "call %lld: %d %s", (long long)k, (int)e.code, e.text);
        plan_free(back);
        arena_free(a);
    }
    CHECK(done);
    free(text);
    plan_free(plan);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_text),
        cmocka_unit_test(test_plan_is_read_back),
        cmocka_unit_test(test_refused_plans),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
