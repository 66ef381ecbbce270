#include "check.h"
#include "solver/model/base.h"

static void test_fail_keeps_the_sentence(void **state)
{
    struct err e = { 0 };
    (void)state;
    CHECK(fail(&e, E_INPUT, "links[%d]: gbps %g", 3, -1.0) == -1);
    CHECK(e.code == E_INPUT);
    CHECK(fail_at(&e, "%s: ", "a.json") == -1);
    CHECK(!strcmp(e.text, "a.json: links[3]: gbps -1"), "got \"%s\"", e.text);
    CHECK(fail(NULL, E_INPUT, "nobody listens") == -1);
}

static void test_array_refuses_overflow(void **state)
{
    (void)state;
    CHECK(!array(-1, 8));
    CHECK(!array(INT64_MAX, 8));
    CHECK(!array(INT64_MAX / 8 + 1, 8));
    void *p = array(0, 8);
    CHECK(p);
    free(p);
    int32_t *q = NULL;
    int64_t room = 0;
    void *data = q;
    CHECK(array_grow(&data, &room, 3, sizeof *q) == 0 && room >= 3);
    q = data;
    q[2] = 7;
    CHECK(array_grow(&data, &room, 1000, sizeof *q) == 0 && room >= 1000);
    q = data;
    CHECK(q[2] == 7 && q[999] == 0);
    CHECK(array_grow(&data, &room, INT64_MAX, sizeof *q) == -1 && data == q);
    free(q);
}

static void test_rng_is_the_published_sequence(void **state)
{
    (void)state;
    struct rng r = { 1234567 };
    CHECK(rng_next(&r) == 6457827717110365317u, "SplitMix64 reference value for seed 1234567");
    CHECK(rng_next(&r) == 3203168211198807973u);
    for (int i = 0; i < 1000; i++) {
        int32_t k = rng_below(&r, 7);
        double u = rng_unit(&r);
        CHECK(k >= 0 && k < 7 && u >= 0 && u < 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_keeps_the_sentence),
        cmocka_unit_test(test_array_refuses_overflow),
        cmocka_unit_test(test_rng_is_the_published_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
