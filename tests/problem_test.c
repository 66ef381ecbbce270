#include "check.h"
#include "short.h"
#include "solver/model/problem.h"

#include <math.h>

/* Two NICs a, b under one switch s, and a second switch t beside it. Links: a-s 100, b-s 50, s-t 10, t-b 25. */
static struct fabric *small(void)
{
    struct err e = { 0 };
    static const char *const name[] = { "a", "b", "s", "t" };
    static const int from[] = { 0, 1, 2, 3 }, to[] = { 2, 2, 3, 1 };
    static const double gbps[] = { 100, 50, 10, 25 };
    struct fabric *f = fabric_new(4, 4, &e);
    CHECK(f, "%s", e.text);
    for (int v = 0; v < 4; v++) {
        f->node_name[v] = text_copy(name[v]);
        f->node_kind[v] = v < 2 ? NODE_NIC : NODE_SWITCH;
    }
    for (int i = 0; i < 4; i++) {
        f->link_from[i] = from[i];
        f->link_to[i] = to[i];
        f->link_gbps[i] = gbps[i];
    }
    return f;
}

/* Two jobs: 0 has flows a->b 1e9 and b->a 4e9, job 1 has a->a and an empty a->b. */
static struct problem *two_jobs(struct fabric *f)
{
    struct err e = { 0 };
    static const int32_t src[] = { 0, 1, 0, 0 }, dst[] = { 1, 0, 0, 1 };
    static const double demand[] = { 1e9, 4e9, 7e9, 0 };
    struct problem *p = problem_new(f, 2, 4, &e);
    CHECK(p, "%s", e.text);
    p->job_name[0] = text_copy("one");
    p->job_name[1] = text_copy("two");
    p->job_first[1] = 2;
    p->job_first[2] = 4;
    memcpy(p->src, src, sizeof src);
    memcpy(p->dst, dst, sizeof dst);
    memcpy(p->demand, demand, sizeof demand);
    return p;
}

static struct fabric *finished(void)
{
    struct err e = { 0 };
    struct fabric *f = small();
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    return f;
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

static void test_ideal_and_need(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct problem *p = two_jobs(finished());
    CHECK(problem_finish(p, &e) == 0, "%s", e.text);
    /* b sends 4e9 bytes at 50 + 25 Gb/s: 32/75 s; a gets them at 100 Gb/s in 0.32 s. */
    CHECK(near(p->ideal[0], 32.0 / 75) && near(p->need[0], 8 * 75.0 / 32) && near(p->need[1], 75));
    CHECK(near(p->ideal[1], 56.0 / 100) && p->need[2] <= 0 && p->need[3] <= 0, "a->a is counted, needs no route");
    CHECK(p->job[0] == 0 && p->job[1] == 0 && p->job[2] == 1 && p->job[3] == 1);
    CHECK(problem_routed(p, 0) && !problem_routed(p, 2) && !problem_routed(p, 3));
    CHECK(near(problem_load(p, 1), 32) && problem_load(p, 2) <= 0 && problem_load(p, 3) <= 0);
    problem_free(p);

    p = two_jobs(finished());
    p->kind = DEMAND_GBPS;
    CHECK(problem_finish(p, &e) == 0 && near(p->ideal[0], 1) && near(p->need[1], 4e9) && near(problem_load(p, 0), 1e9));
    problem_free(p);
}

static void test_dead_links_give_no_speed(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct fabric *f = small();
    f->link_up[1] = 0; /* b keeps 25 Gb/s */
    CHECK(fabric_finish(f, &e) == 0);
    struct problem *p = two_jobs(f);
    CHECK(problem_finish(p, &e) == 0 && near(p->ideal[0], 32.0 / 25));
    problem_free(p);
    f = small();
    f->node_up[0] = 0;
    CHECK(fabric_finish(f, &e) == 0);
    p = two_jobs(f);
    CHECK(problem_finish(p, &e) == 0 && near(p->ideal[0], 32.0 / 75) && p->ideal[1] <= 0 && p->need[2] <= 0);
    problem_free(p);
}

/* One field made wrong, and what the sentence says about it. */
static void test_refusals(void **state)
{
    (void)state;
    for (int k = 0; k < 9; k++) {
        static const char *const says[] = {
            "jobs[0].flows[1]: src 4 is not in [0, 4)",
            "jobs[1].flows[0]: dst -1 is not in",
            "jobs[0].flows[0]: bytes -1 must be",
            "jobs[1].flows[1]: bytes",
            "jobs[1].flows[1]: bytes inf",
            "jobs[1]: weight 0 must be positive",
            "jobs[0]: weight",
            "jobs cover flows [1, 4) of 4",
            "jobs[0].flows[0]: gbps -1",
        };
        struct err e = { 0 };
        struct problem *p = two_jobs(finished());
        switch (k) {
        case 0:
            p->src[1] = 4;
            break;
        case 1:
            p->dst[2] = -1;
            break;
        case 8:
            p->kind = DEMAND_GBPS;
            p->demand[0] = -1;
            break;
        case 2:
            p->demand[0] = -1;
            break;
        case 3:
            p->demand[3] = NAN;
            break;
        case 4:
            p->demand[3] = INFINITY;
            break;
        case 5:
            p->job_weight[1] = 0;
            break;
        case 6:
            p->job_weight[0] = NAN;
            break;
        case 7:
            p->job_first[0] = 1;
            break;
        }
        CHECK(problem_finish(p, &e) == -1 && e.code == (k == 7 ? E_INTERNAL : E_INPUT), "case %d", k);
        CHECK(strstr(e.text, says[k]), "\"%s\" should say \"%s\"", e.text, says[k]);
        problem_free(p);
    }
}

static struct problem *with_path(const int32_t *arc, int64_t n)
{
    struct problem *p = two_jobs(finished());
    p->nlist = 1;
    p->list_first = array(5, sizeof *p->list_first);
    p->list_at = array(2, sizeof *p->list_at);
    p->list_arc = array(n, sizeof *p->list_arc);
    for (int f = 1; f <= 4; f++)
        p->list_first[f] = 1;
    p->list_at[1] = n;
    memcpy(p->list_arc, arc, (size_t)n * sizeof *arc);
    return p;
}

/* Paths listed for a -> b. Arcs: 0 a>s, 1 s>a, 2 b>s, 3 s>b, 4 s>t, 5 t>s, 6 t>b, 7 b>t. */
static void test_listed_paths(void **state)
{
    (void)state;
    struct {
        int32_t arc[5];
        int64_t n;
        const char *says;
    } row[] = {
        { { 0, 3 }, 2, NULL },
        { { 0, 4, 6 }, 3, NULL },
        { { 0 }, 1, "ends at \"s\", not at \"b\"" },
        { { 0, 8 }, 2, "arc 8 is not in [0, 8)" },
        { { -1 }, 1, "arc -1 is not in" },
        { { 0, 6 }, 2, "arc 6 does not start at \"s\"" },
        { { 0, 4, 5, 3 }, 4, "visits \"s\" twice" },
        { { 0, 3, 7, 6 }, 4, "passes through NIC \"b\"" },
        { { 0, 1 }, 2, "visits \"a\" twice" },
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct err e = { 0 };
        struct problem *p = with_path(row[k].arc, row[k].n);
        CHECK((problem_finish(p, &e) == 0) == !row[k].says, "case %zu: %s", k, e.text);
        CHECK(!row[k].says || (strstr(e.text, row[k].says) && strstr(e.text, "jobs[0].flows[0]: paths[0]: ")),
              "\"%s\" should say \"%s\"", e.text, row[k].says);
        problem_free(p);
    }
}

/* Flows of collectives come first in a job; the user's own are counted from 0 all the same. */
static void test_expanded_flows_are_told_apart(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        struct err e = { 0 };
        struct problem *p = two_jobs(finished());
        p->job_expanded[0] = 1;
        p->demand[f] = INFINITY;
        CHECK(problem_finish(p, &e) == -1);
        CHECK(!strcmp(e.text, f ? "jobs[0].flows[0]: bytes inf must be finite and not negative"
                                : "jobs[0].collectives: flow 0: bytes inf must be finite and not negative"),
              "%s", e.text);
        problem_free(p);
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct fabric *f = fabric_new(0, 0, &e);
    CHECK(f && fabric_finish(f, &e) == 0);
    struct problem *p = problem_new(f, 0, 0, &e);
    CHECK(p && problem_finish(p, &e) == 0, "%s", e.text);
    problem_free(p);
    CHECK(!problem_new(finished(), -1, 0, &e) && e.code == E_INPUT);
    problem_free(NULL);
}

static void test_short_memory(void **state)
{
    (void)state;
    int done = 0;
    for (int64_t k = 0; !done && k < 200; k++) {
        struct err e = { 0 };
        struct fabric *f = finished();
        short_at = k;
        struct problem *p = problem_new(f, 2, 4, &e);
        if (p)
            done = problem_finish(p, &e) == 0 || e.code == E_INTERNAL; /* jobs of no flows do not cover the 4 */
        short_at = -1;
        CHECK(done || e.code == E_MEMORY, "call %lld: %s", (long long)k, e.text);
        problem_free(p);
    }
    CHECK(done);
    done = 0;
    for (int64_t k = 0; !done && k < 200; k++) {
        struct err e = { 0 };
        struct problem *p = two_jobs(finished());
        short_at = k;
        done = problem_finish(p, &e) == 0;
        short_at = -1;
        CHECK(done || e.code == E_MEMORY, "call %lld: %s", (long long)k, e.text);
        problem_free(p);
    }
    CHECK(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ideal_and_need),
        cmocka_unit_test(test_dead_links_give_no_speed),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_listed_paths),
        cmocka_unit_test(test_expanded_flows_are_told_apart),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
