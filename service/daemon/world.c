#include "service/daemon/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const world_state_name[] = { "down", "starting", "ready", "busy", "stopping" };

static const double first_pause = 0.25, last_pause = 10;

static void turn(struct world *w, enum world_state state, double now)
{
    w->state = state;
    w->since = now;
}

void world_init(struct world *w, int32_t number, double now)
{
    *w = (struct world){ .number = number, .start_at = now, .term_at = HUGE_VAL, .kill_at = HUGE_VAL };
    turn(w, WORLD_DOWN, now);
}

static int start(struct world *w, const struct world_calls *calls, int64_t epoch, double now, struct err *e)
{
    w->epoch = epoch;
    w->npeer = 0;
    w->job = w->attempt = w->jobs = 0;
    w->cause[0] = 0;
    w->term_at = w->kill_at = HUGE_VAL;
    w->starts++;
    if (calls->start(calls->context, w, e) < 0) {
        world_exited(w, now);
        return -1;
    }
    w->start_at = HUGE_VAL;
    turn(w, WORLD_STARTING, now);
    return 1;
}

static double last_moment(const struct world *w, const struct world_limits *limits)
{
    if (w->state == WORLD_STARTING)
        return w->since + limits->start_limit;
    if (w->state == WORLD_READY || w->state == WORLD_BUSY)
        return w->beat + limits->dead_after;
    return HUGE_VAL;
}

int world_tick(struct world *w, const struct world_limits *limits, const struct world_calls *calls, int64_t epoch,
               double now, struct err *e)
{
    if (w->state == WORLD_DOWN)
        return now >= w->start_at ? start(w, calls, epoch, now, e) : 0;
    if (now >= last_moment(w, limits)) { /* it may be stopped or hung: asking it to go is of no use */
        if (w->state == WORLD_STARTING)
            snprintf(w->cause, sizeof w->cause, "it was not ready after %g s", limits->start_limit);
        else
            snprintf(w->cause, sizeof w->cause, "no heartbeat for %g s", limits->dead_after);
        turn(w, WORLD_STOPPING, now);
        w->kill_at = now;
    }
    if (now >= w->term_at && now < w->kill_at) {
        if (!w->cause[0])
            snprintf(w->cause, sizeof w->cause, "the cancelled job did not end within %g s", limits->cancel_grace);
        turn(w, WORLD_STOPPING, now);
        calls->terminate(calls->context, w);
        w->term_at = HUGE_VAL;
        w->kill_at = now + limits->kill_grace;
    }
    if (now >= w->kill_at) {
        calls->kill(calls->context, w);
        w->term_at = HUGE_VAL;
        w->kill_at = now + 1; /* again, should something have been forked in between */
    }
    return 0;
}

double world_due(const struct world *w, const struct world_limits *limits)
{
    return w->state == WORLD_DOWN ? w->start_at : fmin(last_moment(w, limits), fmin(w->term_at, w->kill_at));
}

int world_ready(struct world *w, const void *peer, int64_t npeer, double now)
{
    if (w->state != WORLD_STARTING || npeer < 1 || npeer > (int64_t)sizeof w->peer)
        return -1;
    memcpy(w->peer, peer, (size_t)npeer);
    w->npeer = npeer;
    w->failures = 0;
    w->beat = now;
    turn(w, WORLD_READY, now);
    return 0;
}

int world_speaks(const struct world *w, const void *peer, int64_t npeer, int64_t epoch)
{
    return w->npeer > 0 && w->npeer == npeer && w->epoch == epoch && !memcmp(w->peer, peer, (size_t)npeer);
}

void world_beat(struct world *w, double now)
{
    w->beat = now;
}

void world_take(struct world *w, int64_t job, int64_t attempt, double now)
{
    w->job = job;
    w->attempt = attempt;
    w->jobs++;
    turn(w, WORLD_BUSY, now);
}

int world_done(struct world *w, const struct world_limits *limits, double now)
{
    w->job = w->attempt = 0;
    if (w->state != WORLD_BUSY)
        return 0; /* it came back while it was being ended: that goes on */
    w->term_at = HUGE_VAL;
    turn(w, WORLD_READY, now);
    return w->jobs >= limits->jobs;
}

void world_cancel(struct world *w, const struct world_limits *limits, double now)
{
    if (w->state == WORLD_BUSY && w->term_at == HUGE_VAL)
        w->term_at = now + limits->cancel_grace;
}

void world_stop(struct world *w, const char *cause, double grace, double now)
{
    if (w->state == WORLD_DOWN || w->state == WORLD_STOPPING)
        return;
    snprintf(w->cause, sizeof w->cause, "%s", cause);
    turn(w, WORLD_STOPPING, now);
    w->term_at = now + grace;
    w->kill_at = HUGE_VAL;
}

void world_exited(struct world *w, double now)
{
    int came_to_nothing = w->npeer == 0;
    w->pid = 0;
    w->npeer = 0;
    w->job = w->attempt = 0;
    w->term_at = w->kill_at = HUGE_VAL;
    w->failures = came_to_nothing ? w->failures + 1 : 0;
    double pause =
        w->failures > 0 ? fmin(last_pause, first_pause * ldexp(1, w->failures < 10 ? w->failures - 1 : 9)) : 0;
    w->start_at = now + pause;
    turn(w, WORLD_DOWN, now);
}
