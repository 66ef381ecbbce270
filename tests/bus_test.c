#include "check.h"
#include "service/wire/bus.h"
#include "service/wire/digest.h"

#include <unistd.h>

static const struct sock_limits usual = { .frame = 1 << 20, .linger = 0, .heartbeat = 1 };

/* Waits for a message, ten seconds at most. */
static int hear(struct sock *s, struct parcel *p)
{
    struct err e = { 0 };
    for (int i = 0; i < 100; i++) {
        struct watch w = { .sock = s };
        int rc = sock_receive(s, p, &e);
        CHECK(rc >= 0, "%s", e.text);
        if (rc == 1)
            return 1;
        CHECK(bus_poll(&w, 1, 100, &e) >= 0, "%s", e.text);
    }
    return 0;
}

static struct span text(const char *t)
{
    return (struct span){ t, (int64_t)strlen(t) };
}

static int is(struct span s, const char *t)
{
    return s.n == (int64_t)strlen(t) && !memcmp(s.data, t, (size_t)s.n);
}

struct pair {
    struct bus *bus;
    struct sock *router, *dealer;
};

static struct pair pair_new(const struct sock_limits *limits)
{
    struct err e = { 0 };
    struct pair p = { .bus = bus_new(&e) };
    CHECK(p.bus, "%s", e.text);
    p.router = sock_bind(p.bus, "tcp://127.0.0.1:*", limits, &e);
    CHECK(p.router, "%s", e.text);
    CHECK(strncmp(sock_address(p.router), "tcp://127.0.0.1:", 16) == 0 && atoi(sock_address(p.router) + 16) > 0);
    p.dealer = sock_connect(p.bus, sock_address(p.router), limits, &e);
    CHECK(p.dealer, "%s", e.text);
    return p;
}

static void pair_free(struct pair *p)
{
    sock_close(p->dealer);
    sock_close(p->router);
    bus_free(p->bus);
}

static void test_there_and_back(void **state)
{
    struct pair p = pair_new(&usual);
    struct parcel in, back;
    struct err e = { 0 };
    (void)state;
    CHECK(sock_receive(p.router, &in, &e) == 0);
    struct span out[] = { text("head"), text(""), text("body") };
    CHECK(sock_send(p.dealer, out, 3, &e) == 1, "%s", e.text);
    CHECK(hear(p.router, &in) && in.nframe == 4 && is(in.frame[1], "head") && in.frame[2].n == 0 &&
          is(in.frame[3], "body"));
    struct span reply[] = { in.frame[0], text("answer") };
    CHECK(sock_send(p.router, reply, 2, &e) == 1, "%s", e.text);
    CHECK(hear(p.dealer, &back) && back.nframe == 1 && is(back.frame[0], "answer"));
    parcel_free(&in);
    parcel_free(&back);
    parcel_free(&back);
    pair_free(&p);
}

static void test_too_many_frames_and_too_large(void **state)
{
    struct pair p = pair_new(&usual);
    struct parcel in;
    struct err e = { 0 };
    struct span many[BUS_FRAMES + 1];
    (void)state;
    for (int i = 0; i <= BUS_FRAMES; i++)
        many[i] = text("x");
    CHECK(sock_send(p.dealer, many, BUS_FRAMES + 1, &e) < 0 && e.code == E_INTERNAL);
    CHECK(sock_send(p.dealer, many, 0, &e) < 0);
    CHECK(sock_send(p.dealer, many, BUS_FRAMES, &e) == 1, "with the routing id it is one too many");
    struct span one[] = { text("after") };
    CHECK(sock_send(p.dealer, one, 1, &e) == 1);
    CHECK(hear(p.router, &in) && in.nframe == 0 && !in.store, "dropped, and said so");
    CHECK(hear(p.router, &in) && in.nframe == 2 && is(in.frame[1], "after"), "the next one is whole");
    parcel_free(&in);
    char *large = calloc(1, (1 << 20) + 1);
    struct span big[] = { { large, 1 << 20 } };
    CHECK(sock_send(p.dealer, big, 1, &e) == 1 && hear(p.router, &in) && in.frame[1].n == 1 << 20);
    parcel_free(&in);
    big[0].n++;
    CHECK(sock_send(p.dealer, big, 1, &e) == 1);
    CHECK(sock_send(p.dealer, one, 1, &e) == 1);
    CHECK(hear(p.router, &in) && is(in.frame[1], "after"), "over the limit: the peer is cut off, and comes back");
    parcel_free(&in);
    free(large);
    pair_free(&p);
}

static void test_gone_and_full(void **state)
{
    struct pair p = pair_new(&usual);
    struct parcel in;
    struct err e = { 0 };
    struct span to_nobody[] = { text("nobody"), text("x") };
    (void)state;
    CHECK(sock_send(p.router, to_nobody, 2, &e) < 0 && e.code == E_COMM, "%s", e.text);
    struct span one[] = { text("hello") };
    CHECK(sock_send(p.dealer, one, 1, &e) == 1 && hear(p.router, &in));
    char *chunk = calloc(1, 1 << 20);
    struct span out[] = { in.frame[0], { chunk, 1 << 20 } };
    int sent = 0, rc;
    while ((rc = sock_send(p.router, out, 2, &e)) == 1 && sent < 5000)
        sent++;
    CHECK(rc == 0 && sent >= 64 && sent < 2000, "a peer that does not read: %d messages went out, then %d", sent, rc);
    sock_close(p.dealer);
    p.dealer = NULL;
    for (int i = 0; i < 1000 && (rc = sock_send(p.router, out, 2, &e)) >= 0; i++) {
        struct watch w = { .sock = p.router };
        bus_poll(&w, 1, 10, &e);
    }
    CHECK(rc < 0 && e.code == E_COMM, "it has gone: %s", e.text);
    parcel_free(&in);
    free(chunk);
    pair_free(&p);
}

static void test_addresses(void **state)
{
    struct pair p = pair_new(&usual);
    struct err e = { 0 };
    (void)state;
    CHECK(!sock_bind(p.bus, sock_address(p.router), &usual, &e) && strstr(e.text, "in use") && e.code == E_IO, "%s",
          e.text);
    CHECK(strstr(e.text, sock_address(p.router)));
    CHECK(!sock_connect(p.bus, "nonsense", &usual, &e) && strstr(e.text, "cannot connect nonsense"), "%s", e.text);
    CHECK(!sock_bind(p.bus, "ipc:///nonexistent/x", &usual, &e) && strstr(e.text, "cannot bind"), "%s", e.text);
    pair_free(&p);
}

static void test_poll(void **state)
{
    struct pair p = pair_new(&usual);
    struct err e = { 0 };
    int pipes[2];
    (void)state;
    CHECK(pipe(pipes) == 0);
    struct watch w[] = { { .sock = p.router }, { .fd = pipes[0] } };
    CHECK(bus_poll(w, 2, 0, &e) == 0 && !w[0].ready && !w[1].ready);
    CHECK(write(pipes[1], "x", 1) == 1);
    CHECK(bus_poll(w, 2, 5000, &e) == 1 && !w[0].ready && w[1].ready);
    struct span one[] = { text("hello") };
    CHECK(sock_send(p.dealer, one, 1, &e) == 1);
    CHECK(bus_poll(w, 1, 5000, &e) == 1 && w[0].ready);
    close(pipes[0]);
    close(pipes[1]);
    pair_free(&p);
}

static void test_digest(void **state)
{
    unsigned char a[DIGEST_BYTES], b[DIGEST_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    struct err e = { 0 };
    (void)state;
    CHECK(digest_start(&e) == 0 && digest_start(&e) == 0);
    digest_of("abc", 3, a); /* FIPS 180-2, appendix B.1 */
    digest_text(a, DIGEST_BYTES, hex);
    CHECK(!strcmp(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "%s", hex);
    struct span one[] = { text("ab"), text("c") }, other[] = { text("a"), text("bc") };
    digest_of_pieces(one, 2, a);
    digest_of_pieces(other, 2, b);
    CHECK(memcmp(a, b, DIGEST_BYTES) != 0, "what moves from one piece to the next shows");
    digest_of_pieces(one, 2, b);
    CHECK(!memcmp(a, b, DIGEST_BYTES));
    digest_random(a, 16);
    digest_random(b, 16);
    CHECK(memcmp(a, b, 16) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_too_many_frames_and_too_large),
        cmocka_unit_test(test_gone_and_full),  cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_poll),           cmocka_unit_test(test_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
