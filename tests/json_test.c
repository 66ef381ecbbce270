#include "check.h"
#include "service/wire/json.h"
#include "short.h"

#include <float.h>
#include <math.h>

static struct value *read_text(const char *text, struct arena **a)
{
    struct err e = { 0 };
    struct value *v = NULL;
    *a = arena_new(0, &e);
    CHECK(*a && json_read(text, (int64_t)strlen(text), *a, &v, &e) == 0, "%s: %s", text, e.text);
    return v;
}

static void written(const char *text, int indent, const char *want)
{
    struct err e = { 0 };
    struct arena *a;
    char *out;
    int64_t n;
    struct value *v = read_text(text, &a);
    CHECK(json_write(v, indent, &out, &n, &e) == 0, "%s", e.text);
    CHECK(!strcmp(out, want) && n == (int64_t)strlen(want), "got  %s\nwant %s", out, want);
    free(out);
    arena_free(a);
}

static void test_kinds(void **state)
{
    (void)state;
    struct arena *a;
    const struct value *v =
        read_text("{\"a\": [1, -2.5, true, false, null, \"x\\u00e9\\ty\"], \"b\": {}, \"z\": 1e3}", &a);
    CHECK(v->kind == VALUE_MAP && v->n == 3 && !strcmp(v->as.pair[2].key, "z") && !value_get(v, "c"));
    const struct value *list = value_get(v, "a"), *i = list->as.item;
    CHECK(list->kind == VALUE_LIST && list->n == 6);
    CHECK(i[0].kind == VALUE_INT && i[0].as.integer == 1 && i[1].kind == VALUE_REAL && i[1].as.real < -2.4);
    CHECK(i[2].kind == VALUE_BOOL && i[2].as.flag == 1 && i[3].as.flag == 0 && i[4].kind == VALUE_NULL);
    CHECK(i[5].kind == VALUE_TEXT && i[5].n == 5 && !strcmp(i[5].as.bytes, "x\xc3\xa9\ty"));
    CHECK(value_get(v, "b")->kind == VALUE_MAP && value_get(v, "b")->n == 0);
    CHECK(value_get(v, "z")->kind == VALUE_REAL, "an exponent makes a real");
    CHECK(!value_get(list, "a") && !value_get(NULL, "a"));
    arena_free(a);
}

static void test_writing(void **state)
{
    (void)state;
    written("[]", 0, "[]");
    written("{ }", 0, "{}");
    written("[ ]", 1, "[]\n");
    written("{\"b\":1,\"a\":[ [1,2.0] ,[ ]],\"c\":\"\\\"\\\\\\n\\u0001/\\u20ac\"}", 0,
            "{\"b\": 1, \"a\": [[1, 2.0], []], \"c\": \"\\\"\\\\\\u000a\\u0001/\xe2\x82\xac\"}");
    written("{\"b\":1,\"a\":[[1,2],{\"x\":true}]}", 1,
            "{\n \"b\": 1,\n \"a\": [\n  [1, 2],\n  {\n   \"x\": true\n  }\n ]\n}\n");
    written("\xef\xbb\xbf[-0.0, 1e22, 123456789012345680, 0.1, 5e-324, 100.0]", 0,
            "[-0.0, 1e+22, 123456789012345680, 0.1, 4.94065645841247e-324, 100.0]");
}

static int same_bits(double a, double b)
{
    return !memcmp(&a, &b, sizeof a);
}

static void write_and_read(double x)
{
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *list = value_list(a, 1), *back = NULL, *v = value_real(a, x);
    char *out, shorter[64];
    int64_t n;
    list->as.item[0] = *v;
    CHECK(json_write(list, 0, &out, &n, &e) == 0 && json_read(out, n, a, &back, &e) == 0, "%s: %s", out, e.text);
    CHECK(back->as.item[0].kind == VALUE_REAL && same_bits(back->as.item[0].as.real, x), "%.17g became %s", x, out);
    for (int digits = 15; digits <= 16; digits++) { /* as few digits as it takes */
        snprintf(shorter, sizeof shorter, "[%.*g", digits, x);
        if (same_bits(strtod(shorter + 1, NULL), x)) {
            CHECK(!strncmp(out, shorter, strlen(shorter)), "%s could be %s", out, shorter);
            break;
        }
    }
    free(out);
    arena_free(a);
}

static void test_reals_read_back_bit_for_bit(void **state)
{
    (void)state;
    static const double row[] = { 0,
                                  -0.0,
                                  1,
                                  0.1,
                                  1.0 / 3,
                                  2.0 / 3,
                                  1e9,
                                  22000000002,
                                  1e15,
                                  1e16,
                                  1e17,
                                  9007199254740992,
                                  DBL_MAX,
                                  DBL_MIN,
                                  DBL_EPSILON,
                                  5e-324,
                                  -1.7976931348623157e308,
                                  1e21,
                                  1e22,
                                  1e23 };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        write_and_read(row[i]);
    struct rng r = { 20 };
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&r);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x))
            write_and_read(x);
        write_and_read(rng_unit(&r));
    }
}

static void test_not_finite_is_null(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *list = value_list(a, 3);
    char *out;
    int64_t n;
    list->as.item[0] = *value_real(a, INFINITY);
    list->as.item[1] = *value_real(a, NAN);
    list->as.item[2].kind = VALUE_REAL;
    list->as.item[2].as.real = -INFINITY;
    CHECK(json_write(list, 0, &out, &n, &e) == 0 && !strcmp(out, "[null, null, null]"), "%s", out);
    free(out);
    list->as.item[0] = *value_bytes(a, "xy", 2);
    CHECK(json_write(list, 0, &out, &n, &e) == -1 && strstr(e.text, "2 raw bytes can not be written as JSON"));
    list->as.item[0].kind = VALUE_TEXT;
    list->as.item[0].as.bytes[0] = (char)0xff;
    CHECK(json_write(list, 0, &out, &n, &e) == -1 && strstr(e.text, "not UTF-8"));
    arena_free(a);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        { "", "line 1, column 0" },
        { "7", "'[' or '{' expected" },
        { "{", "line 1, column 1" },
        { "{\n\"a\": 1,\n\"b\": x}", "line 3" },
        { "{\"a\": 1, \"a\": 2}", "duplicate object key" },
        { "[1] 2", "end of file expected" },
        { "[NaN]", "invalid token" },
        { "[Infinity]", "invalid token" },
        { "[1e999]", "real number overflow" },
        { "[99999999999999999999]", "too big integer" },
        { "[\"\\u0000\"]", "\\u0000 is not allowed" },
        { "[\"a\nb\"]", "unexpected newline" },
        { "[\"\xff\"]", "unable to decode byte 0xff" },
        { "[\"\\ud800\"]", "invalid" },
        { "[01]", "invalid token" },
        { "\xef\xbb\xbf", "line 1" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct err e = { 0 };
        struct arena *a = arena_new(0, &e);
        struct value *v;
        CHECK(json_read(row[i][0], (int64_t)strlen(row[i][0]), a, &v, &e) == -1 && e.code == E_INPUT, "%s", row[i][0]);
        CHECK(strstr(e.text, row[i][1]) && !strpbrk(e.text, "\n\t\r"), "%s: \"%s\" should say \"%s\"", row[i][0],
              e.text, row[i][1]);
        arena_free(a);
    }
}

static void test_depth(void **state)
{
    (void)state;
    struct err e = { 0 };
    enum { DEEP = 1000000 };
    char *text = array(2 * DEEP + 1, 1);
    struct arena *a = arena_new(0, &e);
    struct value *v;
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    CHECK(json_read(text, 2 * DEEP, a, &v, &e) == -1 && strstr(e.text, "more than 32 levels"), "%s", e.text);
    CHECK(json_read(text + DEEP - 33, 66, a, &v, &e) == -1 && strstr(e.text, "more than 32 levels"), "%s", e.text);
    CHECK(json_read(text + DEEP - 32, 64, a, &v, &e) == 0, "%s", e.text);
    char *out;
    int64_t n;
    CHECK(json_write(v, 0, &out, &n, &e) == 0 && n == 64, "what is read can be written");
    free(out);
    static const char quoted[] = "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[\"]";
    CHECK(json_read(quoted, sizeof quoted - 1, a, &v, &e) == 0, "%s", e.text);
    struct value *outer = v;
    for (int i = 0; i < 40; i++) {
        struct value *list = value_list(a, 1);
        list->as.item[0] = *outer;
        outer = list;
    }
    CHECK(json_write(outer, 1, &out, &n, &e) == -1 && strstr(e.text, "levels"), "%s", e.text);
    arena_free(a);
    free(text);
}

static void test_limit_and_short_memory(void **state)
{
    (void)state;
    const char *text = "{\"a\": [1, 2, {\"b\": \"ccccccccccccccccccc\"}], \"d\": {\"e\": [[], {}, 5.5]}}";
    for (int64_t limit = 1; limit < 3000; limit += 7) {
        struct err e = { 0 };
        struct arena *a = arena_new(limit, &e);
        struct value *v;
        int rc = json_read(text, (int64_t)strlen(text), a, &v, &e);
        CHECK(rc == 0 || (e.code == E_MEMORY && strstr(e.text, "takes more memory")), "%s", e.text);
        CHECK((rc < 0) == arena_failed(a));
        CHECK(limit < 2900 || rc == 0);
        arena_free(a);
    }
    int done = 0;
    for (int64_t k = 0; !done && k < 50; k++) {
        struct err e = { 0 };
        char *out = NULL;
        int64_t n;
        short_at = k;
        struct arena *a = arena_new(0, &e);
        struct value *v;
        done = a && json_read(text, (int64_t)strlen(text), a, &v, &e) == 0 && json_write(v, 1, &out, &n, &e) == 0;
        short_at = -1;
        CHECK(done || e.code == E_MEMORY, "call %lld: %s", (long long)k, e.text);
        free(out);
        arena_free(a);
    }
    CHECK(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_reals_read_back_bit_for_bit),
        cmocka_unit_test(test_not_finite_is_null),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_limit_and_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
