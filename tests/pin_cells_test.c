#include "check.h"
#include "service/wire/doc.h"
#include "solver/engine/cuts.h"
#include "solver/engine/pin.h"

#include <math.h>

/* The literature's traffic cells, where the sample data lies beside the checkout. */
static void solve_cell(const char *name, int32_t paths, double least)
{
    char path[200];
    struct err e;
    struct problem *p = NULL;
    struct value *v = NULL;
    snprintf(path, sizeof path, "data/paper_cells/%s.json", name);
    const char *file = shared_file(path);
    CHECK(file, "%s went away", path);
    struct arena *a = arena_new(0, &e);
    CHECK(a && doc_load(file, a, &v, &e) == 0 && doc_problem(v, NULL, &p, &e) == 0, "%s: %s", name, e.text);
    arena_free(a);
    p->options.paths_per_flow = paths;
    int32_t *of = array(p->fabric->nnode, sizeof *of);
    struct pods *pods = pods_new(p->fabric, 1, of, &e);
    struct comm *c = comm_self(&e);
    struct certificate proof = { CERT_NONE };
    CHECK(cuts_bound(p, pods, NULL, &proof, &e) == 0, "%s", e.text);
    struct pin_goal goal = { .bound = proof.bound, .deadline = INFINITY };
    struct pin_result out = { NULL };
    CHECK(pin_solve(p, pods, c, &goal, NULL, &out, &e) == 0, "%s: %s", name, e.text);
    CHECK(out.value > least - 1e-9 && out.value <= proof.bound * (1 + 1e-9), "%s, %d paths: %g, bound %g", name, paths,
          out.value, proof.bound);
    routes_free(out.routes);
    certificate_free(&proof);
    comm_free(c);
    pods_free(pods);
    free(of);
    problem_free(p);
}

static void test_cells(void **state)
{
    (void)state;
    solve_cell("cell-3-8-0", 1, 1);
    solve_cell("cell-5-4-0", 1, 1);
    solve_cell("cell-1-4-1", 1, .5);
    solve_cell("cell-1-4-1", 2, 5. / 6);
    solve_cell("cell-1-4-1", 4, .95);
}

int main(void)
{
    if (!shared_file("data/paper_cells/cell-3-8-0.json")) {
        printf("skipped: no sample data beside the checkout\n");
        return 77;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_cells) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
