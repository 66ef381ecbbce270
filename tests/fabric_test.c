#include "check.h"
#include "solver/model/fabric.h"

#include <math.h>

static struct fabric *triangle(void)
{
    struct err e = { 0 };
    struct fabric *f = fabric_new(3, 4, &e);
    CHECK(f, "%s", e.text);
    for (int v = 0; v < 3; v++) {
        char name[2] = { (char)('a' + v), 0 };
        f->node_name[v] = text_copy(name);
    }
    int from[] = { 0, 1, 2, 0 }, to[] = { 1, 2, 0, 1 };
    for (int i = 0; i < 4; i++) {
        f->link_from[i] = from[i];
        f->link_to[i] = to[i];
        f->link_gbps[i] = 100 * (i + 1);
    }
    return f;
}

static void test_arcs(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct fabric *f = triangle();
    f->link_up[1] = 0;
    f->link_directed[2] = 1;
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    CHECK(f->tail[7] == 1 && f->head[7] == 0 && f->cap[7] == 400);
    CHECK(!f->live[2] && !f->live[3], "a link that is down");
    CHECK(f->live[4] && !f->live[5], "a directed link has one arc");
    int out0[] = { 0, 6 }, in0[] = { 1, 4, 7 };
    CHECK(f->first[1] - f->first[0] == 2 && !memcmp(f->out + f->first[0], out0, sizeof out0));
    CHECK(f->ifirst[1] - f->ifirst[0] == 3 && !memcmp(f->in + f->ifirst[0], in0, sizeof in0));
    CHECK(f->first[3] == 5 && f->ifirst[3] == 5);
    CHECK(labels_set(&f->pod, 1, "p1", &e) == 0 && labels_set(&f->pod, 2, "p0", &e) == 0);
    CHECK(labels_set(&f->pod, 0, "p1", &e) == 0 && f->pod.of[0] == f->pod.of[1] && f->pod.count == 2);
    fabric_free(f);
}

static void test_refusals(void **state)
{
    (void)state;
    struct {
        int from, to;
        double gbps, cost;
        const char *says;
    } row[] = {
        { 3, 1, 1, 0, "links[2]: from node 3" },
        { 0, -1, 1, 0, "links[2]: to node -1" },
        { 1, 1, 1, 0, "both ends are node \"b\"" },
        { 0, 1, 0, 0, "gbps 0" },
        { 0, 1, NAN, 0, "gbps" },
        { 0, 1, INFINITY, 0, "gbps inf" },
        { 0, 1, -4, 0, "gbps -4" },
        { 0, 1, 1, -1, "cost -1" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct err e = { 0 };
        struct fabric *f = triangle();
        f->link_from[2] = row[i].from;
        f->link_to[2] = row[i].to;
        f->link_gbps[2] = row[i].gbps;
        f->link_cost[2] = row[i].cost;
        CHECK(fabric_finish(f, &e) == -1 && e.code == E_INPUT);
        CHECK(strstr(e.text, row[i].says), "\"%s\" should say \"%s\"", e.text, row[i].says);
        fabric_free(f);
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct fabric *f = fabric_new(0, 0, &e);
    CHECK(f && fabric_finish(f, &e) == 0 && f->first[0] == 0);
    fabric_free(f);
    CHECK(!fabric_new(-1, 0, &e) && e.code == E_INPUT);
    fabric_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arcs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
