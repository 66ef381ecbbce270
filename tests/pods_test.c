/* Pods against their definition: who owns which arc, which are cut, who owns which pod. */
#include "check.h"
#include "solver/model/pods.h"

/* A ring of n switches, link i from i to i + 1; link 0 is directed, link 1 is down. */
static struct fabric *ring(int32_t n)
{
    struct err e;
    struct fabric *f = fabric_new(n, n, &e);
    char name[16];
    for (int32_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "s%d", v);
        f->node_name[v] = text_copy(name);
        f->link_from[v] = v;
        f->link_to[v] = (v + 1) % n;
        f->link_gbps[v] = 100;
    }
    f->link_directed[0] = 1;
    f->link_up[1] = 0;
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    return f;
}

static void test_arcs_by_hand(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct fabric *f = ring(4);
    int32_t of[] = { 0, 0, 1, 1 };
    struct pods *p = pods_new(f, 2, of, &e);
    CHECK(p, "%s", e.text);
    int32_t want[] = { 0, -1, -1, -1, 1, 1, -1, -1 }; /* arc 1 does not exist, 2 and 3 are dead, 6 and 7 are cut */
    for (int32_t a = 0; a < 8; a++)
        CHECK(p->arc[a] == want[a], "arc %d belongs to %d", a, p->arc[a]);
    CHECK(p->ncut == 2 && p->cut[0] == 6 && p->cut[1] == 7);
    of[0] = 9; /* a copy was taken */
    CHECK(p->of[0] == 0);
    pods_free(p);
    pods_free(NULL);
    fabric_free(f);
}

static void test_bad_pods_are_named(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct fabric *f = ring(4), *none = fabric_new(0, 0, &e);
    int32_t beyond[] = { 0, 1, 2, 1 }, below[] = { 0, -1, 0, 1 }, hole[] = { 0, 2, 2, 0 };
    CHECK(!pods_new(f, 2, beyond, &e) && e.code == E_INPUT && strstr(e.text, "\"s2\": pod 2"), "%s", e.text);
    CHECK(!pods_new(f, 2, below, &e) && strstr(e.text, "\"s1\": pod -1"), "%s", e.text);
    CHECK(!pods_new(f, 3, hole, &e) && strstr(e.text, "pod 1 has no node"), "%s", e.text);
    CHECK(!pods_new(f, 0, hole, &e) && !pods_new(f, 5, hole, &e) && !pods_new(f, -1, hole, &e));
    CHECK(fabric_finish(none, &e) == 0);
    struct pods *p = pods_new(none, 0, NULL, &e);
    CHECK(p && p->npod == 0 && p->ncut == 0, "%s", e.text);
    pods_free(p);
    fabric_free(none);
    fabric_free(f);
}

static void test_every_pod_has_one_rank(void **state)
{
    (void)state;
    for (int32_t npod = 0; npod <= 20; npod++)
        for (int size = 1; size <= 24; size++) {
            struct pods p = { .npod = npod };
            CHECK(pods_begin(&p, 0, size) == 0 && pods_begin(&p, size, size) == npod);
            for (int r = 0; r < size; r++) {
                int32_t n = pods_begin(&p, r + 1, size) - pods_begin(&p, r, size);
                CHECK(n == npod / size || n == (npod + size - 1) / size, "%d pods, rank %d of %d has %d", npod, r, size,
                      n);
            }
        }
}

static void test_random_pods_cover_all_arcs(void **state)
{
    (void)state;
    struct rng rng = { 5 };
    struct err e = { 0 };
    for (int round = 0; round < 200; round++) {
        int32_t n = 3 + rng_below(&rng, 30), npod = 1 + rng_below(&rng, n), of[33], ncut = 0;
        struct fabric *f = ring(n);
        for (int32_t v = 0; v < n; v++)
            of[v] = v < npod ? v : rng_below(&rng, npod);
        struct pods *p = pods_new(f, npod, of, &e);
        CHECK(p, "round %d: %s", round, e.text);
        for (int32_t a = 0; a < f->narc; a++) {
            int same = of[f->tail[a]] == of[f->head[a]];
            CHECK(p->arc[a] == (f->live[a] && same ? of[f->head[a]] : -1));
            if (f->live[a] && !same)
                CHECK(ncut < p->ncut && p->cut[ncut++] == a);
        }
        CHECK(ncut == p->ncut);
        pods_free(p);
        fabric_free(f);
    }
}

static int64_t left = -1;
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_array(n, size);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct fabric *f = ring(4);
    int32_t of[] = { 0, 0, 1, 1 };
    for (int64_t k = 0;; k++) {
        struct err e = { 0 };
        left = k;
        struct pods *p = pods_new(f, 2, of, &e);
        int reached = left < 0;
        left = -1;
        pods_free(p);
        if (!reached) {
            CHECK(p && k == 5, "pods_new takes %d arrays", (int)k);
            break;
        }
        CHECK(!p && e.code == E_MEMORY, "array %d", (int)k);
    }
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arcs_by_hand),           cmocka_unit_test(test_bad_pods_are_named),
        cmocka_unit_test(test_every_pod_has_one_rank), cmocka_unit_test(test_random_pods_cover_all_arcs),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
