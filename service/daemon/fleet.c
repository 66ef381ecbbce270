/* The worlds: starting and ending them, giving them jobs, hearing from them. A message counts only from the world that
 * it claims to be from, at its present epoch, about the job and attempt that this world has; all else is stale and is
 * dropped (a world of a former daemon is told to go).
 */
#include "service/daemon/daemon.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "service/daemon/launch.h"
#include "service/daemon/log.h"
#include "service/wire/digest.h"

static const double progress_pause = 0.2; /* events of progress: five a second and job, at most */

static void log_world(const struct world *w, const char *level, const char *event, const char *text)
{
    struct log_line l;
    log_begin(&l, level, event);
    log_number(&l, "world", w->number);
    log_number(&l, "epoch", w->epoch);
    log_number(&l, "pid", w->pid);
    if (w->job)
        log_number(&l, "job", w->job);
    if (text && *text)
        log_text(&l, "text", text);
    log_end(&l);
}

static void folder_of(const struct daemon *d, const struct world *w, char *path, size_t n)
{
    snprintf(path, n, "%s/world-%d", d->scratch, (int)w->number);
}

static int start_world(void *context, struct world *w, struct err *e)
{
    struct daemon *d = context;
    char folder[CONFIG_TEXT + 32], log[CONFIG_TEXT + 32];
    folder_of(d, w, folder, sizeof folder);
    snprintf(log, sizeof log, "%s/world-%d.log", d->config.state, (int)w->number);
    struct launch l = { .launcher = d->config.launcher,
                        .solver = d->solver,
                        .folder = folder,
                        .address = sock_address(d->workers),
                        .log = log,
                        .ranks = d->config.ranks,
                        .epoch = w->epoch,
                        .world = w->number };
    launch_kill(folder);
    launch_remove(folder);
    w->pid = launch_world(&l, e);
    return w->pid < 0 ? -1 : 0;
}

static void terminate_world(void *context, struct world *w)
{
    (void)context;
    log_world(w, "warn", "world_terminate", w->cause);
    kill(w->pid, SIGTERM);
}

static void kill_world(void *context, struct world *w)
{
    struct daemon *d = context;
    char folder[CONFIG_TEXT + 32];
    log_world(w, "warn", "world_kill", w->cause);
    folder_of(d, w, folder, sizeof folder);
    kill(-w->pid, SIGKILL);
    launch_kill(folder);
}

void fleet_tick(struct daemon *d)
{
    struct world_calls calls = { d, start_world, terminate_world, kill_world };
    for (int i = 0; i < d->config.worlds; i++) {
        struct world *w = &d->world[i];
        struct job *j = w->state == WORLD_BUSY ? queue_find(d->queue, w->job) : NULL;
        struct err e = { 0 };
        if (j && job_overdue(j, d->now) && w->term_at == HUGE_VAL)
            fleet_cancel(d, j);
        if (d->draining && w->state == WORLD_DOWN)
            continue;
        int rc = world_tick(w, &d->world_limits, &calls, d->epoch + 1, d->now, &e);
        d->epoch += w->epoch > d->epoch;
        if (rc < 0)
            log_world(w, "error", "world_not_started", e.text);
        else if (rc > 0)
            log_world(w, "info", "world_started", NULL);
    }
}

double fleet_due(const struct daemon *d)
{
    double due = HUGE_VAL;
    for (int i = 0; i < d->config.worlds; i++) {
        const struct world *w = &d->world[i];
        const struct job *j = w->state == WORLD_BUSY ? queue_find(d->queue, w->job) : NULL;
        due = fmin(due, world_due(w, &d->world_limits));
        if (j && j->deadline > 0 && w->term_at == HUGE_VAL)
            due = fmin(due, j->deadline);
    }
    return due;
}

/* The world's launcher has ended: whatever is left of it goes too, and its job goes back in the line. */
static void world_gone(struct daemon *d, struct world *w, int status)
{
    char folder[CONFIG_TEXT + 32], text[320];
    struct job *j = w->job ? queue_current(d->queue, w->job, w->attempt, w->epoch) : NULL;
    folder_of(d, w, folder, sizeof folder);
    launch_kill(folder);
    launch_remove(folder);
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "%s%sended by signal %d", w->cause, w->cause[0] ? "; " : "", WTERMSIG(status));
    else
        snprintf(text, sizeof text, "%s%sexit status %d%s", w->cause, w->cause[0] ? "; " : "", WEXITSTATUS(status),
                 WEXITSTATUS(status) == 127 ? " (launcher or solver cannot be run)" : "");
    log_world(w, w->cause[0] && !j ? "info" : "warn", "world_exited", text);
    if (j)
        queue_lost(d->queue, j, !d->draining, text, d->now, d->time);
    world_exited(w, d->now);
}

void fleet_reap(struct daemon *d)
{
    for (int i = 0; i < d->config.worlds; i++) {
        struct world *w = &d->world[i];
        int status;
        if (w->pid > 0 && waitpid(w->pid, &status, WNOHANG) == w->pid)
            world_gone(d, w, status);
    }
}

static void say_to_world(struct daemon *d, const struct world *w, const char *type, int64_t attempt)
{
    struct err e = { 0 };
    char id[24];
    struct arena *a = arena_new(1 << 16, &e);
    int rc = -1;
    if (a) {
        struct value *head = message_head(a, type, 0);
        snprintf(id, sizeof id, "%" PRId64, w->job);
        value_put(a, head, "job", value_text(a, id));
        value_put(a, head, "attempt", value_int(a, attempt));
        value_put(a, head, "epoch", value_int(a, w->epoch));
        rc = post_world(d, w, a, head, NULL, NULL, &e);
    }
    if (rc < 0)
        log_world(w, "error", "world_not_told", e.text);
    arena_free(a);
}

void fleet_cancel(struct daemon *d, struct job *j)
{
    struct world *w = j->world >= 0 && j->world < d->config.worlds ? &d->world[j->world] : NULL;
    if (!w || w->state != WORLD_BUSY || w->job != j->id || w->term_at != HUGE_VAL)
        return;
    say_to_world(d, w, "cancel", j->attempt);
    world_cancel(w, &d->world_limits, d->now);
}

/* The settings as a list of texts. */
static struct value *settings(struct arena *a, const char *set)
{
    int64_t n = *set != 0;
    for (const char *p = set; *p; p++)
        n += *p == '\n';
    struct value *list = value_list(a, n);
    for (int64_t i = 0; list && i < n; i++) {
        char line[1024];
        size_t length = strcspn(set, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, set);
        struct value *text = value_text(a, line);
        if (text)
            list->as.item[i] = *text;
        set += length + (set[length] == '\n');
    }
    return list;
}

static int assign(struct daemon *d, struct world *w, struct job *j, struct err *e)
{
    char name[SPOOL_NAME], id[24];
    spool_problem_name(name, j->id);
    char *data = array(j->problem_bytes, 1);
    struct arena *a = data ? arena_new(1 << 20, e) : NULL;
    int rc = a ? 0 : fail(e, E_MEMORY, "out of memory for a problem of %lld bytes", (long long)j->problem_bytes);
    if (rc == 0)
        rc = spool_read(d->spool, name, 0, data, j->problem_bytes, e);
    if (rc == 0) {
        struct value *head = message_head(a, "assign", 0), *body = value_map(a);
        snprintf(id, sizeof id, "%" PRId64, j->id);
        value_put(a, head, "job", value_text(a, id));
        value_put(a, head, "attempt", value_int(a, j->attempt + 1));
        value_put(a, head, "epoch", value_int(a, w->epoch));
        value_put(a, body, "set", settings(a, j->set));
        struct span raw = { data, j->problem_bytes };
        rc = post_world(d, w, a, head, body, &raw, e);
    }
    arena_free(a);
    free(data);
    return rc;
}

/* Only stored jobs go out, so that a job that a failed commit takes back was never run. */
void fleet_dispatch(struct daemon *d)
{
    for (int i = 0; i < d->config.worlds && !d->draining; i++) {
        struct world *w = &d->world[i];
        struct job *j = w->state == WORLD_READY ? queue_next(d->queue) : NULL;
        struct err e = { 0 };
        if (!j || !j->stored)
            continue;
        if (assign(d, w, j, &e) == 0) {
            queue_assign(d->queue, j, w->number, w->epoch, d->now, d->time);
            world_take(w, j->id, j->attempt, d->now);
            d->progress_at[i] = 0;
        } else {
            struct outcome end = { .state = JOB_FAILED, .code = "internal" };
            snprintf(end.text, sizeof end.text, "%.470s", e.text);
            queue_finish(d->queue, j, &end, d->time);
        }
    }
}

static void progress(struct daemon *d, struct world *w, struct job *j, const struct message *m)
{
    static const char *const real[] = { "value", "bound", "gap", "seconds" };
    queue_running(d->queue, j);
    if (d->now < d->progress_at[w->number])
        return;
    d->progress_at[w->number] = d->now + progress_pause;
    struct arena *a = arena_new(1 << 16, NULL);
    if (!a)
        return;
    struct value *body = value_map(a);
    value_put(a, body, "kind", value_text(a, "progress"));
    value_put(a, body, "phase", value_text(a, body_text(m->body, "phase", "")));
    value_put(a, body, "round", value_int(a, body_int(m->body, "round", 0)));
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        double x = body_real(m->body, real[i], NAN);
        if (isfinite(x))
            value_put(a, body, real[i], value_real(a, x));
    }
    post_event(d, j, a, body);
    arena_free(a);
}

/* What the plan's own status makes of the job. */
static enum job_state state_after(const struct daemon *d, const struct job *j, const char *status)
{
    if (!strcmp(status, "failed"))
        return JOB_FAILED;
    if (strcmp(status, "cancelled") != 0)
        return JOB_DONE;
    return j->cancel || !job_overdue(j, d->now) ? JOB_CANCELLED : JOB_TIMEOUT;
}

static void done(struct daemon *d, struct job *j, const struct message *m)
{
    char name[SPOOL_NAME];
    struct err e = { 0 };
    struct outcome end = { .value = body_real(m->body, "value", NAN),
                           .bound = body_real(m->body, "bound", NAN),
                           .gap = body_real(m->body, "gap", NAN),
                           .seconds = body_real(m->body, "seconds", NAN),
                           .plan_bytes = m->raw.n };
    snprintf(end.status, sizeof end.status, "%s", body_text(m->body, "status", "failed"));
    end.state = state_after(d, j, end.status);
    digest_of(m->raw.data, m->raw.n, end.plan_digest);
    spool_plan_name(name, j->id, j->attempt);
    if (m->raw.n > 0 && spool_write(d->spool, name, m->raw.data, m->raw.n, &e) < 0) {
        end = (struct outcome){ .state = JOB_FAILED };
        snprintf(end.code, sizeof end.code, "%s", spool_full(d->spool) ? "disk_full" : "internal");
        snprintf(end.text, sizeof end.text, "%.470s", e.text);
    }
    queue_finish(d->queue, j, &end, d->time);
}

static void failed(struct daemon *d, struct job *j, const struct message *m)
{
    struct outcome end = { .state = JOB_FAILED, .value = NAN, .bound = NAN, .gap = NAN, .seconds = NAN };
    snprintf(end.code, sizeof end.code, "%s", body_text(m->body, "code", "internal"));
    snprintf(end.text, sizeof end.text, "%s", body_text(m->body, "msg", ""));
    queue_finish(d->queue, j, &end, d->time);
}

/* A message about a job, from the world that has it. */
static void about_job(struct daemon *d, struct world *w, struct job *j, const struct message *m)
{
    if (!strcmp(m->type, "running")) {
        queue_running(d->queue, j);
    } else if (!strcmp(m->type, "progress")) {
        progress(d, w, j, m);
    } else if (!strcmp(m->type, "done") || !strcmp(m->type, "failed")) {
        if (m->type[0] == 'd')
            done(d, j, m);
        else
            failed(d, j, m);
        d->finished++;
        if (world_done(w, &d->world_limits, d->now)) {
            say_to_world(d, w, "disconnect", 0);
            world_stop(w, "it has done its share of jobs", d->world_limits.cancel_grace, d->now);
        }
    }
}

static void from_world(struct daemon *d, struct world *w, const struct message *m)
{
    world_beat(w, d->now);
    if (!strcmp(m->type, "heartbeat"))
        return;
    struct job *j = m->job ? queue_current(d->queue, strtoll(m->job, NULL, 10), m->attempt, w->epoch) : NULL;
    if (j && j->world == w->number)
        about_job(d, w, j, m);
    else
        d->stale++;
}

void fleet_receive(struct daemon *d, struct parcel *p)
{
    struct message m;
    struct err e = { 0 };
    int64_t small = p->nframe > 2 ? p->frame[1].n + p->frame[2].n : 0;
    struct arena *a = arena_new(4 * small + (4 << 20), &e);
    if (!a || message_read(p, 1, a, &m, &e) < 0) {
        d->dropped++;
        log_say("warn", "world_message", e.text);
        arena_free(a);
        return;
    }
    int64_t number = body_int(m.body, "world", -1);
    struct world *w = NULL;
    for (int i = 0; i < d->config.worlds; i++)
        if (world_speaks(&d->world[i], m.peer.data, m.peer.n, m.epoch))
            w = &d->world[i];
    if (w) {
        from_world(d, w, &m);
    } else if (!strcmp(m.type, "ready") && number >= 0 && number < d->config.worlds &&
               d->world[number].epoch == m.epoch &&
               world_ready(&d->world[number], m.peer.data, m.peer.n, d->now) == 0) {
        log_world(&d->world[number], "info", "world_ready", NULL);
    } else {
        struct world stranger = { .number = -1, .epoch = m.epoch };
        d->stale++;
        if (m.peer.n <= (int64_t)sizeof stranger.peer) {
            memcpy(stranger.peer, m.peer.data, (size_t)m.peer.n);
            stranger.npeer = m.peer.n;
            say_to_world(d, &stranger, "disconnect", 0);
        }
    }
    arena_free(a);
}

int fleet_stop(struct daemon *d)
{
    int left = 0;
    for (int i = 0; i < d->config.worlds; i++) {
        struct world *w = &d->world[i];
        if (w->state == WORLD_READY)
            say_to_world(d, w, "disconnect", 0);
        world_stop(w, "the daemon stops", w->state == WORLD_READY ? d->world_limits.cancel_grace : 0, d->now);
        left += w->pid > 0;
    }
    return left;
}
