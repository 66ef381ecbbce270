/* Every deadline of a world, without a process and without a wait: now is an argument, and the three calls are
 * recorded. */
#include "check.h"
#include "service/daemon/world.h"

#include <math.h>

static const struct world_limits limits = {
    .start_limit = 30, .dead_after = 5, .cancel_grace = 2, .kill_grace = 1, .jobs = 3
};

struct tape {
    int starts, terms, kills, refuse;
};

static int tape_start(void *context, struct world *w, struct err *e)
{
    struct tape *t = context;
    t->starts++;
    w->pid = t->refuse ? 0 : 100 + t->starts;
    return t->refuse ? fail(e, E_IO, "no such launcher") : 0;
}

static void tape_terminate(void *context, struct world *w)
{
    CHECK(w->pid > 0);
    ((struct tape *)context)->terms++;
}

static void tape_kill(void *context, struct world *w)
{
    CHECK(w->pid > 0);
    ((struct tape *)context)->kills++;
}

static int tick(struct world *w, struct tape *t, int64_t epoch, double now)
{
    struct world_calls calls = { t, tape_start, tape_terminate, tape_kill };
    struct err e = { 0 };
    return world_tick(w, &limits, &calls, epoch, now, &e);
}

/* A world that has just become ready at time 1. */
static struct world ready(struct tape *t)
{
    struct world w;
    *t = (struct tape){ 0 };
    world_init(&w, 0, 0);
    CHECK(tick(&w, t, 9, 0) == 1 && w.state == WORLD_STARTING && w.epoch == 9 && w.pid == 101);
    CHECK(world_ready(&w, "peer", 4, 1) == 0 && w.state == WORLD_READY);
    return w;
}

static void test_good_run(void **state)
{
    struct tape t;
    struct world w = ready(&t);
    (void)state;
    CHECK(world_ready(&w, "other", 5, 1) < 0, "only once");
    CHECK(world_speaks(&w, "peer", 4, 9));
    CHECK(!world_speaks(&w, "peer", 4, 8) && !world_speaks(&w, "pear", 4, 9) && !world_speaks(&w, "pee", 3, 9));
    CHECK(world_due(&w, &limits) == 6);
    for (int i = 1; i <= 3; i++) {
        world_take(&w, 40 + i, 1, i);
        world_beat(&w, i);
        CHECK(w.state == WORLD_BUSY && tick(&w, &t, 10, i) == 0);
        CHECK(world_done(&w, &limits, i) == (i == 3), "job %d of 3", i);
        CHECK(w.state == WORLD_READY && w.job == 0);
    }
    world_stop(&w, "its share", 2, 4);
    CHECK(w.state == WORLD_STOPPING && world_due(&w, &limits) == 6);
    world_exited(&w, 4.5);
    CHECK(w.state == WORLD_DOWN && w.pid == 0 && world_due(&w, &limits) == 4.5, "started again at once");
    CHECK(tick(&w, &t, 10, 4.5) == 1 && w.epoch == 10 && t.starts == 2 && t.terms == 0 && t.kills == 0);
}

static void test_silence_is_death(void **state)
{
    struct tape t;
    struct world w = ready(&t);
    (void)state;
    world_take(&w, 7, 1, 2);
    world_beat(&w, 3);
    CHECK(tick(&w, &t, 10, 7.9) == 0 && w.state == WORLD_BUSY && t.kills == 0);
    tick(&w, &t, 10, 8);
    CHECK(w.state == WORLD_STOPPING && t.kills == 1 && t.terms == 0, "a stopped world hears no SIGTERM");
    CHECK(strstr(w.cause, "no heartbeat for 5 s"), "%s", w.cause);
    tick(&w, &t, 10, 8.5);
    CHECK(t.kills == 1);
    tick(&w, &t, 10, 9);
    CHECK(t.kills == 2, "again, should something have escaped");
    CHECK(!world_done(&w, &limits, 9) && w.state == WORLD_STOPPING, "a late answer does not save it");
}

static void test_never_ready(void **state)
{
    struct tape t = { 0 };
    struct world w;
    (void)state;
    world_init(&w, 0, 0);
    CHECK(tick(&w, &t, 1, 0) == 1 && world_due(&w, &limits) == 30);
    tick(&w, &t, 1, 29.9);
    CHECK(t.kills == 0);
    tick(&w, &t, 1, 30);
    CHECK(t.kills == 1 && strstr(w.cause, "not ready after 30 s"));
    CHECK(world_ready(&w, "peer", 4, 30) < 0, "too late");
}

static void test_cancel_ladder(void **state)
{
    struct tape t;
    struct world w = ready(&t);
    (void)state;
    world_take(&w, 7, 1, 2);
    world_cancel(&w, &limits, 3);
    world_beat(&w, 4);
    world_cancel(&w, &limits, 4); /* a second one does not give more time */
    tick(&w, &t, 10, 4.9);
    CHECK(t.terms == 0 && w.state == WORLD_BUSY);
    tick(&w, &t, 10, 5);
    CHECK(t.terms == 1 && t.kills == 0 && w.state == WORLD_STOPPING && strstr(w.cause, "did not end within 2 s"));
    tick(&w, &t, 10, 5.9);
    CHECK(t.terms == 1 && t.kills == 0);
    tick(&w, &t, 10, 6);
    CHECK(t.terms == 1 && t.kills == 1);
    w = ready(&t);
    world_take(&w, 7, 1, 2);
    world_cancel(&w, &limits, 3);
    CHECK(world_done(&w, &limits, 4) == 0 && w.state == WORLD_READY, "it came back in time");
    world_beat(&w, 5.5);
    tick(&w, &t, 10, 6);
    CHECK(t.terms == 0 && w.state == WORLD_READY);
    world_take(&w, 8, 1, 6);
    tick(&w, &t, 10, 6.5);
    CHECK(t.terms == 0 && w.state == WORLD_BUSY, "the next job does not pay for the last one's cancel");
}

static void test_back_off(void **state)
{
    static const double pause[] = { 0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10, 10, 10 };
    struct tape t = { .refuse = 1 };
    struct world w;
    double now = 0;
    (void)state;
    world_init(&w, 0, 0);
    for (size_t i = 0; i < sizeof pause / sizeof *pause; i++) {
        t.refuse = i % 2 == 0; /* a launcher that does not start, and one that ends before it is ready */
        CHECK(tick(&w, &t, 1, now) == (t.refuse ? -1 : 1));
        if (!t.refuse)
            world_exited(&w, now);
        CHECK(w.state == WORLD_DOWN && world_due(&w, &limits) == now + pause[i], "start %d: %g", (int)i,
              world_due(&w, &limits) - now);
        CHECK(tick(&w, &t, 1, now + pause[i] * 0.9) == 0);
        now += pause[i];
    }
    t.refuse = 0;
    tick(&w, &t, 2, now);
    world_ready(&w, "p", 1, now);
    world_exited(&w, now + 1);
    CHECK(world_due(&w, &limits) == now + 1, "after a good start it is at once again");
}

static void test_stop_while_down_or_starting(void **state)
{
    struct tape t = { 0 };
    struct world w;
    (void)state;
    world_init(&w, 0, 0);
    world_stop(&w, "the daemon stops", 0, 0);
    CHECK(w.state == WORLD_DOWN);
    tick(&w, &t, 1, 0);
    world_stop(&w, "the daemon stops", 0, 1);
    world_stop(&w, "again", 5, 1);
    tick(&w, &t, 1, 1);
    CHECK(t.terms == 1 && !strcmp(w.cause, "the daemon stops"));
    tick(&w, &t, 1, 2);
    CHECK(t.kills == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_run),    cmocka_unit_test(test_silence_is_death),
        cmocka_unit_test(test_never_ready), cmocka_unit_test(test_cancel_ladder),
        cmocka_unit_test(test_back_off),    cmocka_unit_test(test_stop_while_down_or_starting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
