#include "check.h"
#include "service/wire/message.h"
#include "service/wire/wire.h"

static int64_t fail_call = -1, calls;
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return calls++ == fail_call ? NULL : __real_array(n, size);
}

/* A parcel over frames that belong to the test. */
static struct parcel parcel_of(const struct span *frame, int n)
{
    struct parcel p = { .nframe = n };
    memcpy(p.frame, frame, (size_t)n * sizeof *frame);
    return p;
}

static int write_sample(struct letter *l, struct err *e)
{
    struct arena *a = arena_new(0, e);
    if (!a)
        return -1;
    struct value *head = message_head(a, "submit", 17), *body = value_map(a);
    struct span peer = { "peer", 4 }, raw = { "raw", 3 };
    value_put(a, head, "job", value_text(a, "5"));
    value_put(a, head, "k", value_bytes(a, "0123456789abcdef", 16));
    value_put(a, head, "attempt", value_int(a, 3));
    value_put(a, head, "epoch", value_int(a, (int64_t)1 << 40));
    value_put(a, head, "unknown", value_flag(a, 1));
    value_put(a, body, "x", value_int(a, 7));
    value_put(a, body, "y", value_real(a, 0.5));
    value_put(a, body, "z", value_text(a, "text"));
    int rc = letter_write(l, a, &peer, head, body, &raw, e);
    arena_free(a);
    return rc;
}

static void test_there_and_back(void **state)
{
    struct letter l;
    struct message m;
    struct err e = { 0 };
    (void)state;
    CHECK(write_sample(&l, &e) == 0 && l.nframe == 4, "%s", e.text);
    struct parcel p = parcel_of(l.frame, 4);
    struct arena *a = arena_new(0, &e);
    CHECK(message_read(&p, 1, a, &m, &e) == 0 && !m.fault, "%s", e.text);
    CHECK(!strcmp(m.type, "submit") && m.id == 17 && !strcmp(m.job, "5") && m.attempt == 3 &&
          m.epoch == (int64_t)1 << 40);
    CHECK(m.peer.n == 4 && m.key.n == 16 && m.raw.n == 3 && m.seq == 0);
    CHECK(body_int(m.body, "x", -1) == 7 && body_real(m.body, "x", 0) == 7 && body_real(m.body, "y", 0) == 0.5);
    CHECK(body_int(m.body, "y", -1) == -1 && body_int(m.body, "absent", 9) == 9 && !body_text(m.body, "x", NULL));
    CHECK(!strcmp(body_text(m.body, "z", ""), "text"));
    arena_free(a);
    letter_free(&l);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *head;
        size_t n;
        const char *fault;
    } bad[] = { { "", 0, "bad_frame" },
                { "\xc0", 1, "bad_frame" },
                { "\x90", 1, "bad_frame" },
                { "\x80", 1, "bad_version" },
                { "\x81\xa1v\x02", 4, "bad_version" },
                { "\x81\xa1v\xcb\x3f\xf0\0\0\0\0\0\0", 12, "bad_version" },
                { "\x81\xa1v\x01", 4, "bad_frame" },
                { "\x82\xa1v\x01\xa1t\x05", 7, "bad_frame" },
                { "\x83\xa1v\x01\xa1t\xa1x\xa1k\x05", 11, "bad_frame" },
                { "\x82\xa1v\x01\xa1v\x01", 7, "bad_frame" },
                { "\x83\xa1v\x01\xa1t\xa1x\xa4need\x91\xa1q", 16, "unsupported" },
                { "\x82\xa1v\x01\xa1t\xa1x\x00", 9, "bad_frame" },
                { "\xdf\x0f\xff\xff\xff", 5, "bad_frame" } };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = { 0 };
        struct message m;
        struct span frame[] = { { bad[i].head, (int64_t)bad[i].n }, { "\x80", 1 } };
        struct parcel p = parcel_of(frame, 2);
        struct arena *a = arena_new(1 << 20, &e);
        CHECK(message_read(&p, 0, a, &m, &e) < 0 && e.code == E_INPUT, "row %d", (int)i);
        CHECK(m.fault && !strcmp(m.fault, bad[i].fault), "row %d: %s: %s", (int)i, m.fault, e.text);
        arena_free(a);
    }
}

static void test_header_size_and_frames(void **state)
{
    static char large[MESSAGE_HEADER + 2] = "\x83\xa1v\x01\xa1t\xa1x\xa1p\xda";
    struct err e = { 0 };
    struct message m;
    (void)state;
    size_t at = 11, pad = MESSAGE_HEADER - at - 2;
    large[at] = (char)(pad >> 8);
    large[at + 1] = (char)pad;
    memset(large + at + 2, 'p', pad);
    struct span frame[] = { { large, MESSAGE_HEADER }, { "\x80", 1 }, { "r", 1 } };
    struct parcel p = parcel_of(frame, 3);
    struct arena *a = arena_new(0, &e);
    CHECK(message_read(&p, 0, a, &m, &e) == 0 && m.raw.n == 1, "%s", e.text);
    p.frame[0].n++;
    CHECK(message_read(&p, 0, a, &m, &e) < 0 && !strcmp(m.fault, "too_large"));
    p = parcel_of(frame, 1);
    CHECK(message_read(&p, 0, a, &m, &e) < 0 && message_read(&p, 1, a, &m, &e) < 0, "a header alone");
    p = parcel_of(frame, 3);
    p.frame[1] = (struct span){ "\xdd\x10\0\0\0", 5 };
    CHECK(message_read(&p, 0, a, &m, &e) < 0 && !strcmp(m.fault, "bad_frame") && strstr(e.text, "body"), "%s", e.text);
    arena_free(a);
}

static void test_short_memory(void **state)
{
    (void)state;
    for (int64_t at = 0;; at++) {
        struct letter l = { 0 };
        struct err e = { 0 };
        calls = 0;
        fail_call = at;
        int rc = write_sample(&l, &e);
        fail_call = -1;
        CHECK(rc == 0 || (e.code == E_MEMORY && l.nframe == 0), "call %lld: code %d", (long long)at, (int)e.code);
        letter_free(&l);
        if (rc == 0) {
            CHECK(at >= 3);
            break;
        }
    }
}

/* Bits flipped and ends cut off: a refusal or a message, never more memory than the arena allows. */
static void test_damaged(void **state)
{
    struct letter l;
    struct err e = { 0 };
    (void)state;
    CHECK(write_sample(&l, &e) == 0);
    for (int seed = 1; seed <= 40000; seed++) {
        struct rng r = { (uint64_t)seed };
        struct span frame[4];
        char copy[2][512];
        for (int i = 0; i < 4; i++)
            frame[i] = l.frame[i];
        for (int i = 0; i < 2; i++) {
            memcpy(copy[i], l.frame[i + 1].data, (size_t)l.frame[i + 1].n);
            for (int k = rng_below(&r, 4); k > 0; k--)
                copy[i][rng_below(&r, (int32_t)l.frame[i + 1].n)] ^= (char)(1 << rng_below(&r, 8));
            frame[i + 1].data = copy[i];
            frame[i + 1].n -= rng_below(&r, 4) == 0 ? rng_below(&r, (int32_t)l.frame[i + 1].n) : 0;
        }
        struct parcel p = parcel_of(frame, 4);
        struct message m;
        struct arena *a = arena_new(1 << 16, &e);
        int rc = message_read(&p, 1, a, &m, &e);
        CHECK(rc == 0 ? m.type && m.body && !m.fault : m.fault != NULL, "seed %d", seed);
        arena_free(a);
    }
    letter_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_header_size_and_frames),
        cmocka_unit_test(test_short_memory),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
