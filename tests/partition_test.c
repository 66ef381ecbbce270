/* The choice of pods: labels, sites, METIS; the same on any number of ranks, and refused by all when one can not go on.
 */
#include "check.h"
#include "sim.h"

#include "partition/partition.h"

void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return sim_short() ? NULL : __real_array(n, size);
}

/* Two rings of switches with one NIC each, joined by one thin cable; node v: switches first. */
static struct problem *two_rings(int32_t per, int32_t pods)
{
    struct err e = { 0 };
    int32_t ns = 2 * per;
    struct fabric *f = fabric_new(2 * ns, 3 * ns + 1, &e);
    for (int32_t v = 0; v < 2 * ns; v++) {
        char name[16];
        snprintf(name, sizeof name, v < ns ? "s%d" : "n%d", v % ns);
        f->node_name[v] = text_copy(name);
        f->node_kind[v] = v < ns ? NODE_SWITCH : NODE_NIC;
    }
    int32_t l = 0;
    for (int32_t s = 0; s < ns; s++) {
        int32_t r = s / per;
        int32_t ends[3][2] = { { s, r * per + (s + 1) % per }, { s, r * per + (s + 2) % per }, { ns + s, s } };
        for (int i = 0; i < 3; i++, l++) {
            f->link_from[l] = ends[i][0];
            f->link_to[l] = ends[i][1];
            f->link_gbps[l] = 400;
        }
    }
    f->link_from[l] = 0;
    f->link_to[l] = per;
    f->link_gbps[l] = 1e-3;
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    struct problem *p = problem_new(f, 0, 0, &e);
    p->options.pods = pods;
    CHECK(p && problem_finish(p, &e) == 0, "%s", e.text);
    return p;
}

struct shared {
    const struct problem *p;
    struct pods *out[8];
};

static int on_rank(struct comm *c, void *context, struct err *e)
{
    struct shared *s = context;
    s->out[c->rank] = partition(s->p, c, e);
    return s->out[c->rank] ? 0 : -1;
}

/* The pods of p on 1 to 8 ranks, all the same; the caller frees. */
static struct pods *run(const struct problem *p)
{
    struct pods *one = NULL;
    for (int size = 1; size <= 8; size += size < 3 ? 1 : 5) {
        struct shared s = { .p = p };
        struct sim_script script = { .jitter_us = 30, .seed = (uint64_t)size };
        struct sim_rank out[8];
        CHECK(sim_run(size, &script, on_rank, &s, out) == 0, "%s", out[0].e.text);
        for (int r = 0; r < size; r++) {
            if (!one) {
                one = s.out[r];
                continue;
            }
            CHECK(s.out[r]->npod == one->npod && s.out[r]->ncut == one->ncut);
            CHECK(!memcmp(s.out[r]->of, one->of, (size_t)one->nnode * sizeof *one->of), "rank %d of %d", r, size);
            pods_free(s.out[r]);
        }
    }
    return one;
}

static void test_metis_finds_the_thin_cable(void **state)
{
    (void)state;
    struct problem *p = two_rings(20, 2);
    struct pods *pods = run(p);
    CHECK(pods->npod == 2 && pods->ncut == 2 && pods->cut[0] == 2 * (p->fabric->nlink - 1));
    for (int32_t s = 0; s < 40; s++)
        CHECK(pods->of[40 + s] == pods->of[s], "NIC %d is not with its switch", s);
    pods_free(pods);
    problem_free(p);
}

static void test_number_of_pods(void **state)
{
    static const int32_t row[][3] = { { 10, 0, 1 }, { 63, 0, 1 },   { 64, 0, 2 }, { 640, 0, 20 }, { 20, 5, 5 },
                                      { 20, 1, 1 }, { 20, 100, 5 }, { 4, 3, 1 },  { 70, 16, 16 } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct problem *p = two_rings(row[i][0], row[i][1]);
        struct pods *pods = run(p);
        CHECK(pods->npod == row[i][2], "%d switches, pods=%d: %d", 2 * row[i][0], row[i][1], pods->npod);
        pods_free(pods);
        problem_free(p);
    }
}

static void test_labels_win(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct problem *p = two_rings(8, 4);
    struct fabric *f = p->fabric;
    labels_set(&f->site, 0, "here", &e);
    struct pods *pods = run(p);
    CHECK(pods->npod == 2, "one site leaves it to METIS, which has 16 switches to cut: %d", pods->npod);
    pods_free(pods);
    labels_set(&f->site, 8, "there", &e);
    pods = run(p);
    CHECK(pods->npod == 2 && pods->ncut == 2, "two sites with one labelled switch each: %d cut", pods->ncut);
    for (int32_t v = 0; v < 32; v++)
        CHECK(pods->of[v] == v % 16 / 8, "node %d", v);
    pods_free(pods);
    labels_set(&f->pod, 3, "p", &e);
    labels_set(&f->pod, 4, "q", &e);
    labels_set(&f->pod, 5, "r", &e);
    labels_set(&f->pod, 3, "q", &e); /* nobody is in p any more */
    pods = run(p);
    CHECK(pods->npod == 2 && pods->of[3] == pods->of[4] && pods->of[5] != pods->of[4], "%d pods", pods->npod);
    CHECK(pods->of[5] == pods->of[16 + 5] && pods->of[12] == pods->of[0]);
    pods_free(pods);
    problem_free(p);
}

/* Dead cables do not count for the cut, but say where a cut-off node belongs; NICs without a switch go somewhere. */
static void test_dead_cables_and_loose_nodes(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct fabric *f = fabric_new(40, 60, &e);
    for (int32_t v = 0; v < 40; v++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", v);
        f->node_name[v] = text_copy(name);
        f->node_kind[v] = v < 32 ? NODE_SWITCH : NODE_NIC;
    }
    for (int32_t l = 0; l < 60; l++) { /* two live rings of 16; two dead cables between them; NIC 32 on a dead one */
        int32_t s = l % 32, r = s / 16 * 16;
        f->link_from[l] = l < 57 ? s : l == 57 ? 32 : 33 + (l - 58);
        f->link_to[l] = l < 32 ? r + (s + 1) % 16 : l < 57 ? r + (s + 3) % 16 : l == 57 ? 20 : 35 + (l - 58);
        f->link_gbps[l] = 100;
    }
    f->link_from[55] = 0;
    f->link_to[55] = 16;
    f->link_gbps[55] = 1e6;
    f->link_up[55] = f->link_up[57] = 0;
    CHECK(fabric_finish(f, &e) == 0);
    struct problem *p = problem_new(f, 0, 0, &e);
    p->options.pods = 2;
    CHECK(problem_finish(p, &e) == 0);
    struct pods *pods = run(p);
    CHECK(pods->npod == 2 && pods->ncut == 0, "%d pods, %d cut", pods->npod, pods->ncut);
    CHECK(pods->of[32] == pods->of[20] && pods->of[33] == pods->of[35]);
    pods_free(pods);
    p->options.pods = 1;
    pods = run(p);
    CHECK(pods->npod == 1 && pods->ncut == 0);
    pods_free(pods);
    problem_free(p);

    p = problem_new(fabric_new(0, 0, &e), 0, 0, &e);
    CHECK(fabric_finish(p->fabric, &e) == 0 && problem_finish(p, &e) == 0);
    pods = run(p);
    CHECK(pods->npod == 0);
    pods_free(pods);
    problem_free(p);
}

/* Memory fails at each array() of each rank in turn: that rank says so, all ranks refuse. */
static void test_short_memory(void **state)
{
    (void)state;
    struct problem *p = two_rings(20, 2);
    for (int bad = 0; bad < 2; bad++)
        for (int64_t k = 0;; k++) {
            struct shared s = { .p = p };
            struct sim_script script = { .fault = SIM_SHORT, .rank = bad, .call = k };
            struct sim_rank out[2];
            if (sim_run(2, &script, on_rank, &s, out) == 0) {
                CHECK(k > (bad == 0 ? 20 : 4), "rank %d takes %d arrays", bad, (int)k);
                pods_free(s.out[0]);
                pods_free(s.out[1]);
                break;
            }
            CHECK(!s.out[0] && !s.out[1], "rank %d, array %d", bad, (int)k);
            CHECK(out[bad].e.code == E_MEMORY && out[1 - bad].e.code != E_NONE, "rank %d, array %d: %s", bad, (int)k,
                  out[bad].e.text);
        }
    problem_free(p);
}

static void test_a_failed_call_reaches_all(void **state)
{
    (void)state;
    struct problem *p = two_rings(20, 2);
    for (int fault = SIM_FAILS; fault <= SIM_LEAVES; fault++)
        for (int64_t call = 0; call < 4; call++) {
            struct shared s = { .p = p };
            struct sim_script script = { .fault = (enum sim_fault)fault, .rank = 1, .call = call };
            struct sim_rank out[3];
            CHECK(sim_run(3, &script, on_rank, &s, out) == -1);
            CHECK(out[1].rc == -1 && out[1].e.code == E_COMM, "call %d", (int)call);
            for (int r = 0; r < 3; r++)
                pods_free(s.out[r]);
        }
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metis_finds_the_thin_cable),
        cmocka_unit_test(test_number_of_pods),
        cmocka_unit_test(test_labels_win),
        cmocka_unit_test(test_dead_cables_and_loose_nodes),
        cmocka_unit_test(test_short_memory),
        cmocka_unit_test(test_a_failed_call_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
