#include "check.h"
#include "service/wire/json.h"
#include "service/wire/wire.h"
#include "short.h"

#include <math.h>
#include <sys/resource.h>

/* ---- bytes written by hand, by the msgpack specification ---- */

static void test_known_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int64_t n;
        const char *json;
    } row[] = {
        { "\x80", 1, "{}" },
        { "\x90", 1, "[]" },
        { "\x81\xa1\x61\x07", 4, "{\"a\": 7}" },
        { "\x93\xc0\xc2\xc3", 4, "[null, false, true]" },
        { "\x94\x7f\xcc\xff\xcd\x01\x00\xce\x00\x01\x00\x00", 12, "[127, 255, 256, 65536]" },
        { "\x91\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", 10, "[9223372036854775807]" },
        { "\x95\xff\xe0\xd0\xdf\xd1\xff\x7f\xd2\xff\xff\x7f\xff", 13, "[-1, -32, -33, -129, -32769]" },
        { "\x91\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 10, "[-9223372036854775808]" },
        { "\x91\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a", 10, "[0.1]" },
        { "\x92\xa0\xa2\xc3\xa9", 5, "[\"\", \"\xc3\xa9\"]" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct err e = { 0 };
        struct arena *a = arena_new(0, &e);
        struct value *v, *j;
        char *text, *bytes;
        int64_t n;
        CHECK(wire_read(row[i].bytes, row[i].n, &wire_document, a, &v, &e) == 0, "row %zu: %s", i, e.text);
        CHECK(json_write(v, 0, &text, &n, &e) == 0 && !strcmp(text, row[i].json), "row %zu: %s", i, text);
        free(text);
        CHECK(json_read(row[i].json, (int64_t)strlen(row[i].json), a, &j, &e) == 0);
        CHECK(wire_write(j, &bytes, &n, &e) == 0 && n == row[i].n && !memcmp(bytes, row[i].bytes, (size_t)n), "row %zu",
              i);
        free(bytes);
        arena_free(a);
    }
}

static void test_other_forms_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int64_t n;
        const char *json;
    } row[] = {
        { "\xdf\x00\x00\x00\x01\xdb\x00\x00\x00\x01\x61\xdd\x00\x00\x00\x01\xd9\x01z", 19, "{\"a\": [\"z\"]}" },
        { "\xde\x00\x01\xda\x00\x01\x61\xdc\x00\x01\xca\x3f\x00\x00\x00", 15, "{\"a\": [0.5]}" },
        { "\x93\xcc\x01\xd3\x00\x00\x00\x00\x00\x00\x00\x01\xd1\x00\x05", 15, "[1, 1, 5]" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct err e = { 0 };
        struct arena *a = arena_new(0, &e);
        struct value *v;
        char *text;
        int64_t n;
        CHECK(wire_read(row[i].bytes, row[i].n, &wire_document, a, &v, &e) == 0, "row %zu: %s", i, e.text);
        CHECK(json_write(v, 0, &text, &n, &e) == 0 && !strcmp(text, row[i].json), "row %zu: %s", i, text);
        free(text);
        arena_free(a);
    }
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *v;
    CHECK(wire_read("\x92\xc4\x03\x00\x01\xff\xc5\x00\x00", 9, &wire_document, a, &v, &e) == 0, "%s", e.text);
    CHECK(v->as.item[0].kind == VALUE_BYTES && v->as.item[0].n == 3 && !memcmp(v->as.item[0].as.bytes, "\0\1\xff", 3));
    CHECK(v->as.item[1].kind == VALUE_BYTES && v->as.item[1].n == 0);
    arena_free(a);
}

/* ---- trees of any shape survive the trip ---- */

static struct value *random_tree(struct rng *r, struct arena *a, int depth)
{
    char text[12];
    uint64_t bits;
    double x;
    switch (rng_below(r, depth > 0 ? 8 : 5)) {
    case 0:
        return value_int(a, (int64_t)rng_next(r) >> rng_below(r, 64));
    case 1:
        bits = rng_next(r);
        memcpy(&x, &bits, sizeof x);
        return value_real(a, isfinite(x) ? x : rng_unit(r));
    case 2:
        for (int i = 0; i < 11; i++)
            text[i] = (char)(1 + rng_below(r, 126));
        text[rng_below(r, 12)] = 0;
        text[11] = 0;
        return value_text(a, text);
    case 3:
        return value_flag(a, rng_below(r, 2));
    case 4:
        return value_real(a, NAN);
    case 5:
    case 6: {
        struct value *list = value_list(a, rng_below(r, 40));
        for (int64_t i = 0; list && i < list->n; i++)
            list->as.item[i] = *random_tree(r, a, depth - 1);
        return list;
    }
    default: {
        struct value *map = value_map(a);
        int32_t n = rng_below(r, 40);
        for (int32_t i = 0; i < n; i++) {
            snprintf(text, sizeof text, "k%d", i * 7919 % 40);
            value_put(a, map, text, random_tree(r, a, depth - 1));
        }
        return map;
    }
    }
}

static void test_round_trip_keeps_the_json(void **state)
{
    (void)state;
    for (int seed = 0; seed < 300; seed++) {
        struct rng r = { (uint64_t)seed };
        struct err e = { 0 };
        struct arena *a = arena_new(0, &e);
        struct value *v = value_list(a, 1), *back, *again;
        char *json = NULL, *packed = NULL, *json2 = NULL, *packed2 = NULL;
        int64_t n = 0, m = 0, n2 = 0, m2 = 0;
        v->as.item[0] = *random_tree(&r, a, 3);
        CHECK(json_write(v, seed % 2, &json, &n, &e) == 0 && wire_write(v, &packed, &m, &e) == 0, "seed %d", seed);
        CHECK(wire_read(packed, m, &wire_document, a, &back, &e) == 0, "seed %d: %s", seed, e.text);
        CHECK(json_write(back, seed % 2, &json2, &n2, &e) == 0 && n == n2 && !memcmp(json, json2, (size_t)n), "seed %d",
              seed);
        CHECK(json_read(json, n, a, &again, &e) == 0 && wire_write(again, &packed2, &m2, &e) == 0, "seed %d: %s", seed,
              e.text);
        CHECK(m == m2 && !memcmp(packed, packed2, (size_t)m), "seed %d: JSON to msgpack differs", seed);
        free(json);
        free(packed);
        free(json2);
        free(packed2);
        arena_free(a);
    }
}

/* ---- what is refused ---- */

static int64_t peak_kib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static void refused(const char *bytes, int64_t n, const struct wire_limits *limits, const char *says)
{
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *v;
    CHECK(wire_read(bytes, n, limits, a, &v, &e) == -1 && e.code == E_INPUT, "accepted; should say \"%s\"", says);
    CHECK(strstr(e.text, says), "\"%s\" should say \"%s\"", e.text, says);
    arena_free(a);
}

static void test_bombs(void **state)
{
    (void)state;
    int64_t before = peak_kib();
    refused("\xdd\xff\xff\xff\xff", 5, &wire_document, "byte 0: 4294967295 items declared, 0 bytes left");
    refused("\xdd\x10\x00\x00\x00", 5, &wire_document, "268435456 items declared");
    refused("\xdf\x0f\xff\xff\xff", 5, &wire_document, "536870910 items declared");
    refused("\x81\xa1\x61\xdf\xff\xff\xff\xff", 8, &wire_document, "byte 3: 8589934590 items declared");
    refused("\xc6\xff\xff\xff\xff", 5, &wire_document, "byte 0: an item is cut off");
    refused("\x91\xdb\xff\xff\xff\xff", 6, &wire_document, "byte 1: an item is cut off");
    refused("\xdb\x7f\xff\xff\xffx", 6, &wire_document, "byte 0: an item is cut off");
    refused("\x92\xdd\x00\x00", 4, &wire_document, "byte 1: an item is cut off");
    static char deep[1000000];
    memset(deep, '\x91', sizeof deep);
    refused(deep, sizeof deep, &wire_document, "byte 8: more than 8 levels");
    refused(deep, sizeof deep, &wire_header, "byte 4: more than 4 levels");
    memset(deep, '\x81', sizeof deep);
    refused(deep, sizeof deep, &wire_document, "byte 8: more than");
    CHECK(peak_kib() - before < 8192, "%lld KiB were taken", (long long)(peak_kib() - before));
}

static void test_refusals(void **state)
{
    (void)state;
    refused("", 0, &wire_document, "cut off at byte 0");
    refused("\x91", 1, &wire_document, "1 items declared, 0 bytes left");
    refused("\x81\xa1", 2, &wire_document, "2 items declared, 1 bytes left");
    refused("\x92\x01\xcd", 3, &wire_document, "byte 2: an item is cut off");
    refused("\x91\xc1", 2, &wire_document, "byte 1: type 0xc1 is not accepted");
    refused("\x91\xd4\x01\x01", 4, &wire_document, "byte 1: type 0xd4 is not accepted");
    refused("\x91\xc7\x01\x01\x01", 5, &wire_document, "type 0xc7");
    refused("\x91\xd8\x01", 3, &wire_document, "type 0xd8");
    refused("\x90\x90", 2, &wire_document, "1 bytes after the end at byte 1");
    refused("\x80\x00\x00", 3, &wire_document, "2 bytes after the end at byte 1");
    refused("\x82\xa1\x61\x01\xa1\x61\x02", 7, &wire_document, "key \"a\" stands twice");
    refused("\x81\x01\x02", 3, &wire_document, "a map key is not a text");
    refused("\x91\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", 10, &wire_document, "not finite");
    refused("\x91\xca\x7f\x80\x00\x00", 6, &wire_document, "not finite");
    refused("\x91\xcf\x80\x00\x00\x00\x00\x00\x00\x00", 10, &wire_document, "9223372036854775808 is over");
    refused("\x91\xa1\xff", 3, &wire_document, "byte 2: a text is not UTF-8");
    refused("\x91\xa3\x61\x00\x62", 5, &wire_document, "not UTF-8 or holds a zero byte");
    refused("\x91\xa2\xc0\x80", 4, &wire_document, "not UTF-8");
    refused("\x91\xa3\xed\xa0\x80", 5, &wire_document, "not UTF-8");
    refused("\x81\xa1\xff\x01", 4, &wire_document, "not UTF-8");
    char many[300];
    memset(many, 1, sizeof many);
    memcpy(many, "\xdc\x01\x00", 3);
    refused(many, 259, &wire_header, "more than 256 objects");
    struct err e = { 0 };
    memcpy(many, "\xdc\x00\xff", 3);
    CHECK(wire_scan(many, 258, &wire_header, &e) == 0, "%s", e.text);
}

static void test_many_keys(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *map = value_map(a), *back = NULL;
    char key[16], *bytes;
    int64_t n;
    for (int i = 0; i < 100000; i++) {
        snprintf(key, sizeof key, "key%d", i);
        CHECK(value_put(a, map, key, value_int(a, i)));
    }
    CHECK(wire_write(map, &bytes, &n, &e) == 0 && wire_read(bytes, n, &wire_document, a, &back, &e) == 0, "%s", e.text);
    CHECK(back->n == 100000 && value_get(back, "key99999")->as.integer == 99999);
    free(bytes);
    map->as.pair[77777].key[3] = '1'; /* key77777 becomes key17777 */
    CHECK(wire_write(map, &bytes, &n, &e) == 0 && wire_read(bytes, n, &wire_document, a, &back, &e) == -1);
    CHECK(strstr(e.text, "key \"key17777\" stands twice"), "%s", e.text);
    free(bytes);
    arena_free(a);
}

static void test_limit_and_short_memory(void **state)
{
    (void)state;
    static const char bytes[] = "\x82\xa1\x61\x93\x01\x02\xa3xyz\xa1\x62\x81\xa1\x63\xc4\x02zz";
    for (int64_t limit = 1; limit < 1500; limit += 3) {
        struct err e = { 0 };
        struct arena *a = arena_new(limit, &e);
        struct value *v;
        int rc = wire_read(bytes, sizeof bytes - 1, &wire_document, a, &v, &e);
        CHECK(rc == 0 || (e.code == E_MEMORY && strstr(e.text, "takes more memory")), "%s", e.text);
        CHECK(limit < 1400 || rc == 0);
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
        done =
            a && wire_read(bytes, sizeof bytes - 1, &wire_document, a, &v, &e) == 0 && wire_write(v, &out, &n, &e) == 0;
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
        cmocka_unit_test(test_known_bytes),
        cmocka_unit_test(test_other_forms_are_read),
        cmocka_unit_test(test_round_trip_keeps_the_json),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_limit_and_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
