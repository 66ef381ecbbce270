/* Heartbeats come from rank 0's own loop and, during a solve, from the solver's calls of its hooks: a world that hangs
 * falls silent. Waiting costs no processor time: everyone sleeps in a poll, and message passing is not touched.
 */
#include "service/cli/worker.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/wire/message.h"

static const double beat_seconds = 1, report_seconds = 0.2, gather_seconds = 30;

/* Rank 0 may wait for another rank's long search, and says so; but not for ever, nor for a rank that was stopped. */
static const double stall_seconds = 120;

/* Rank 0. */
struct line {
    const struct worker *worker;
    struct comm *comm;
    struct bus *bus;
    struct sock *daemon, *wake;
    struct parcel *here; /* [size - 1]: who to wake: name, pid */
    int nhere;
    pid_t parent;
    double beat_at, report_at;
    double solver_at;    /* when the solver itself last called a hook */
    struct progress row; /* the latest, when unsent */
    int unsent, cancelled, leave;
    char job[24];
    int64_t attempt;
};

static const struct sock_limits no_limits = { .frame = -1, .linger = 2000 };

static struct value *head_of(const struct line *l, struct arena *a, const char *type)
{
    struct value *head = message_head(a, type, 0);
    value_put(a, head, "epoch", value_int(a, l->worker->epoch));
    if (l->job[0]) {
        value_put(a, head, "job", value_text(a, l->job));
        value_put(a, head, "attempt", value_int(a, l->attempt));
    }
    return head;
}

/* The socket's queue is far larger than what is ever under way, so that no room means that heddled is gone. */
static int say(struct line *l, struct arena *a, const char *type, const struct value *body, const struct span *raw,
               struct err *e)
{
    int rc = a ? message_send(l->daemon, a, head_of(l, a, type), body, raw, e) : -1;
    if (rc == 0)
        rc = fail(e, E_COMM, "heddled takes no more messages");
    return rc < 0 ? -1 : 0;
}

static int say_short(struct line *l, const char *type, struct err *e)
{
    struct arena *a = arena_new(0, e);
    struct value *body = a ? value_map(a) : NULL;
    value_put(a, body, "world", a ? value_int(a, l->worker->world) : NULL);
    int rc = a ? say(l, a, type, body, NULL, e) : -1;
    arena_free(a);
    return rc;
}

static void put_real(struct arena *a, struct value *map, const char *name, double x)
{
    if (isfinite(x))
        value_put(a, map, name, value_real(a, x));
}

static void send_row(struct line *l)
{
    struct arena *a = arena_new(0, NULL);
    if (!a)
        return;
    struct value *body = value_map(a);
    value_put(a, body, "phase", value_text(a, l->row.phase ? l->row.phase : ""));
    value_put(a, body, "round", value_int(a, l->row.round));
    put_real(a, body, "value", l->row.value);
    put_real(a, body, "bound", l->row.bound);
    put_real(a, body, "gap", l->row.gap);
    put_real(a, body, "seconds", l->row.seconds);
    l->unsent = say(l, a, "progress", body, NULL, NULL) < 0;
    arena_free(a);
}

static int orphaned(pid_t parent, struct err *e)
{
    return getppid() != parent ? fail(e, E_COMM, "the launcher is gone") : 0;
}

/* MPI never notices a stopped process. The ranks of a world with a wake-up socket are on one machine. */
static int others_run(const struct line *l)
{
    for (int i = 0; i < l->nhere; i++) {
        const struct span *pid = &l->here[i].frame[l->here[i].nframe - 1];
        char path[64], stat[512];
        snprintf(path, sizeof path, "/proc/%.*s/stat", (int)(pid->n < 20 ? pid->n : 20), (const char *)pid->data);
        FILE *f = fopen(path, "r");
        size_t n = f ? fread(stat, 1, sizeof stat - 1, f) : 0;
        if (f)
            fclose(f);
        stat[n] = 0;
        const char *state = strrchr(stat, ')');
        if (!state || strlen(state) < 3 || strchr("TtZX", state[2]))
            return 0;
    }
    return 1;
}

static void beat(struct line *l, double now)
{
    l->beat_at = now + beat_seconds;
    say_short(l, "heartbeat", NULL);
    if (orphaned(l->parent, NULL) < 0)
        l->cancelled = l->leave = 1;
}

static void hear_daemon(struct line *l)
{
    struct parcel p;
    while (sock_receive(l->daemon, &p, NULL) == 1) {
        struct arena *a = arena_new(0, NULL);
        struct message m;
        if (a && message_read(&p, 0, a, &m, NULL) == 0) {
            int mine = m.job && !strcmp(m.job, l->job) && m.attempt == l->attempt && m.epoch == l->worker->epoch;
            l->cancelled |= mine && !strcmp(m.type, "cancel");
            l->leave |= !strcmp(m.type, "disconnect");
        }
        arena_free(a);
        parcel_free(&p);
    }
}

/* Heartbeat, progress and what heddled has to say, in the middle of a solve. */
static int hook_stop(void *context)
{
    struct line *l = context;
    double now = l->comm->now(l->comm);
    l->solver_at = now;
    if (now >= l->beat_at)
        beat(l, now);
    if (l->unsent && now >= l->report_at) {
        l->report_at = now + report_seconds;
        send_row(l);
    }
    hear_daemon(l);
    return l->cancelled || l->leave;
}

static void hook_idle(void *context)
{
    struct line *l = context;
    double now = l->comm->now(l->comm);
    if (now >= l->beat_at && now < l->solver_at + stall_seconds && others_run(l))
        beat(l, now);
}

static void hook_report(void *context, const struct progress *row)
{
    struct line *l = context;
    l->row = *row;
    l->unsent = 1;
    hook_stop(l);
}

static int send_end(struct line *l, int rc, const struct run_result *r, const struct err *why, struct err *e)
{
    static const char *const status[] = { "optimal", "feasible", "cancelled", "infeasible", "failed" };
    struct arena *a = arena_new(0, e);
    if (!a)
        return -1;
    struct value *body = value_map(a);
    if (rc == 0) {
        struct span plan = { r->plan, r->n };
        value_put(a, body, "status", value_text(a, status[r->status]));
        put_real(a, body, "value", r->value);
        put_real(a, body, "bound", r->bound);
        put_real(a, body, "gap", r->gap);
        put_real(a, body, "seconds", r->seconds);
        rc = say(l, a, "done", body, &plan, e);
    } else {
        value_put(a, body, "code", value_text(a, why->code == E_INPUT ? "invalid_problem" : "internal"));
        value_put(a, body, "msg", value_text(a, why->text));
        rc = say(l, a, "failed", body, NULL, e);
    }
    arena_free(a);
    return rc;
}

static int wake_all(struct line *l, const char *word, struct err *e)
{
    for (int i = 0; i < l->nhere; i++) {
        struct span frame[] = { l->here[i].frame[0], { word, (int64_t)strlen(word) } };
        int rc = sock_send(l->wake, frame, 2, e);
        if (rc <= 0)
            return rc == 0 ? fail(e, E_COMM, "a rank does not take its wake-up") : -1;
    }
    return 0;
}

/* option=value texts of the body; borrowed from it. */
static const char **settings(const struct message *m, struct arena *a, int32_t *n)
{
    const struct value *list = value_get(m->body, "set");
    int64_t most = list && list->kind == VALUE_LIST ? list->n : 0;
    const char **set = arena_take(a, most + 1, sizeof *set);
    *n = 0;
    for (int64_t i = 0; set && i < most; i++)
        if (list->as.item[i].kind == VALUE_TEXT)
            set[(*n)++] = list->as.item[i].as.bytes;
    return set;
}

/* E_COMM from the run means that the ranks are out of step or one is gone: the world ends, and heddled tries again. */
static int solve_job(struct line *l, const struct message *m, struct arena *a, struct err *e)
{
    struct hooks hooks = { l, hook_report, hook_stop, hook_idle };
    struct run_result r = { .plan = NULL };
    struct err why = { 0 };
    struct run_job job = { .data = m->raw.data, .n = m->raw.n, .folder = NULL };
    job.set = settings(m, a, &job.nset);
    snprintf(l->job, sizeof l->job, "%s", m->job ? m->job : "");
    l->attempt = m->attempt;
    l->cancelled = l->unsent = 0;
    l->report_at = 0;
    l->solver_at = l->comm->now(l->comm);
    if (!job.set)
        return fail(e, E_MEMORY, "out of memory for a job");
    if (say_short(l, "running", e) < 0 || wake_all(l, "go", e) < 0)
        return -1;
    int rc = l->worker->run(l->comm, &job, &hooks, &r, &why);
    if (rc < 0 && why.code == E_COMM) {
        *e = why;
    } else {
        if (l->unsent)
            send_row(l);
        rc = send_end(l, rc, &r, &why, e);
    }
    free(r.plan);
    l->job[0] = 0;
    return rc;
}

static int take(struct line *l, struct err *e)
{
    struct parcel p;
    int rc = sock_receive(l->daemon, &p, e);
    if (rc <= 0)
        return rc;
    struct message m;
    struct arena *a = arena_new(0, e);
    rc = a ? message_read(&p, 0, a, &m, e) : -1;
    if (rc == 0 && !strcmp(m.type, "disconnect"))
        l->leave = 1;
    else if (rc == 0 && !strcmp(m.type, "assign"))
        rc = solve_job(l, &m, a, e);
    arena_free(a);
    parcel_free(&p);
    return rc;
}

/* Every other rank says that it is there before the world is called ready: no wake-up can be lost. */
static int gather_ranks(struct line *l, struct err *e)
{
    char address[512];
    double end = l->comm->now(l->comm) + gather_seconds;
    int others = l->comm->size - 1;
    l->here = array(others, sizeof *l->here);
    if (!l->here)
        return fail(e, E_MEMORY, "out of memory for %d ranks", others);
    if (others == 0)
        return 0;
    snprintf(address, sizeof address, "ipc://%s/wake.sock", l->worker->folder);
    if (!(l->wake = sock_bind(l->bus, address, &no_limits, e)))
        return -1;
    while (l->nhere < others) {
        struct watch w = { .sock = l->wake };
        int rc = sock_receive(l->wake, &l->here[l->nhere], e);
        if (rc < 0 || (rc == 0 && bus_poll(&w, 1, 1000, e) < 0))
            return -1;
        l->nhere += rc;
        if (rc == 0 && l->comm->now(l->comm) > end)
            return fail(e, E_COMM, "only %d of %d other ranks have come", l->nhere, others);
    }
    return 0;
}

static int lead(struct line *l, struct err *e)
{
    if (gather_ranks(l, e) < 0)
        return -1;
    if (!(l->daemon = sock_connect(l->bus, l->worker->address, &no_limits, e)) || say_short(l, "ready", e) < 0)
        return -1;
    l->beat_at = l->comm->now(l->comm) + beat_seconds;
    while (!l->leave) {
        struct watch w = { .sock = l->daemon };
        double wait = l->beat_at - l->comm->now(l->comm);
        if (bus_poll(&w, 1, wait > 0 ? (int)ceil(wait * 1e3) : 0, e) < 0 || orphaned(l->parent, e) < 0)
            return -1;
        if (l->comm->now(l->comm) >= l->beat_at) {
            l->beat_at = l->comm->now(l->comm) + beat_seconds;
            if (say_short(l, "heartbeat", e) < 0)
                return -1;
        }
        if (w.ready && take(l, e) < 0)
            return -1;
    }
    return wake_all(l, "end", e);
}

/* Every other rank: asleep until "go" or "end". */
static int follow(struct comm *c, const struct worker *w, struct bus *bus, struct err *e)
{
    char address[512], pid[24];
    pid_t parent = getppid();
    snprintf(address, sizeof address, "ipc://%s/wake.sock", w->folder);
    struct sock *s = sock_connect(bus, address, &no_limits, e);
    struct span here = { pid, snprintf(pid, sizeof pid, "%lld", (long long)getpid()) };
    int rc = s && sock_send(s, &here, 1, e) == 1 ? 0 : -1;
    for (int leave = 0; rc == 0 && !leave;) {
        struct watch watch = { .sock = s };
        struct parcel p;
        rc = bus_poll(&watch, 1, 1000, e) < 0 ? -1 : orphaned(parent, e);
        int got = rc == 0 ? sock_receive(s, &p, e) : 0;
        if (got <= 0) {
            rc = got < 0 ? -1 : rc;
            continue;
        }
        leave = p.frame[0].n == 3 && !memcmp(p.frame[0].data, "end", 3);
        parcel_free(&p);
        struct run_job job = { .data = NULL };
        struct run_result r = { .plan = NULL };
        struct err why = { 0 };
        if (!leave && w->run(c, &job, NULL, &r, &why) < 0 && why.code == E_COMM) {
            *e = why;
            rc = -1;
        }
        free(r.plan);
    }
    sock_close(s);
    return rc;
}

int worker_run(struct comm *c, const struct worker *w, struct err *e)
{
    struct line l = { .worker = w, .comm = c, .parent = getppid() };
    if (c->size > 1 && !w->folder)
        return fail(e, E_INPUT, "a world of several ranks needs --folder");
    if (!(l.bus = bus_new(e)))
        return -1;
    int rc = c->rank == 0 ? lead(&l, e) : follow(c, w, l.bus, e);
    for (int i = 0; i < l.nhere; i++)
        parcel_free(&l.here[i]);
    free(l.here);
    sock_close(l.daemon);
    sock_close(l.wake);
    bus_free(l.bus);
    return rc;
}
