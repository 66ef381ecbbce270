/* split: public instances of known optimum, where they lie beside the checkout. Exit status 77 without them.
 */
#include "solver/engine/split.h"
#include "tests/lp.h"
#include "tests/nets.h"

#include <math.h>

static void check_known(struct problem *p, double best, const char *what)
{
    struct err e;
    struct pods *pods = nets_pods(p->fabric, 4);
    struct comm *c = comm_self(&e);
    struct split *s = split_new(p, pods, c, &e);
    double *load = lp_loads(p);
    struct split_goal goal = { 1e-3, 3000, INFINITY };
    struct split_result r;
    struct routes *routes = NULL;
    CHECK(s && split_run(s, load, &goal, NULL, &r, &e) == 0 && split_routes(s, &routes, &e) == 0, "%s: %s", what,
          e.text);
    double value = lp_value(p, routes, load, what), bound = lp_proven(p, load, r.price);
    print_message("%s: %.8f, bound %.8f, known %.8f, %lld rounds\n", what, r.z, r.bound, best, (long long)r.rounds);
    CHECK(r.end == SPLIT_GAP && r.z <= best * 1.001 && r.z >= best * (1 - 1e-6), "%s: z %.9g", what, r.z);
    CHECK(r.bound >= best * 0.999 && r.bound <= best * (1 + 1e-6), "%s: bound %.9g", what, r.bound);
    CHECK(fabs(value - r.z) <= 1e-8 * value && bound >= r.bound * (1 - 1e-9), "%s: %.9g %.9g", what, value, bound);
    free(load);
    routes_free(routes);
    split_free(s);
    comm_free(c);
    pods_free(pods);
    problem_free(p);
}

static void test_public(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        double best; /* data/mmcf/mlu_optimal.csv */
    } row[] = { { "grid/grid1", 0.67529586 },      { "grid/grid2", 0.83843492 },     { "grid/grid3", 0.34748428 },
                { "grid/grid4", 0.66418743 },      { "grid/grid5", 0.41526644 },     { "planar/planar30", 0.47169811 },
                { "planar/planar50", 0.58343949 }, { "planar/planar100", 0.5218712 } };
    char name[200];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        snprintf(name, sizeof name, "data/mmcf/commalab_%s", row[i].file);
        struct problem *p = nets_commalab(shared_file(name));
        p->options.objective = OBJ_MAX_UTILIZATION;
        check_known(p, row[i].best, row[i].file);
    }
    for (int i = 0; i < 2; i++) { /* te/ncflow_instances/known_values.csv, min_mlu */
        char file[3][1024];
        const char *net = i ? "Colt" : "Deltacom", *part[] = { ".edges", "_gravity_8_mlu.tm", ".paths4" };
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "data/te/ncflow_instances/%s%s", net, part[k]);
            const char *path = shared_file(name);
            CHECK(path, "%s", name);
            snprintf(file[k], sizeof file[k], "%s", path ? path : "");
        }
        struct problem *p = nets_te(file[0], file[1], file[2]);
        p->options.objective = OBJ_MAX_UTILIZATION;
        check_known(p, i ? 0.7221125 : 0.6601022, net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_public) };
    if (!shared_file("data/mmcf/mlu_optimal.csv")) {
        printf("skipped: no public instances beside the checkout\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
