/* What clients ask: one function per type of request, in a table at the end. A request is checked whole before anything
 * changes; every one gets one answer (watch: events until the job has ended).
 */
#include "service/daemon/daemon.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/daemon/log.h"
#include "service/wire/digest.h"
#include "service/wire/wire.h"
#include "solver/model/options.h"

enum { SET_BYTES = 8192, LIST_MOST = 1000 };

static struct arena *reply_arena(struct daemon *d, const struct message *m)
{
    struct arena *a = arena_new((int64_t)8 << 20, NULL);
    if (!a)
        post_refuse(d, m, "internal", NULL, "out of memory");
    return a;
}

/* The job that the header (or the body) names; answers not_found otherwise. */
static struct job *named_job(struct daemon *d, const struct message *m)
{
    char text[200], *end;
    const char *name = m->job ? m->job : body_text(m->body, "job", NULL);
    if (!name) {
        post_refuse(d, m, "bad_frame", "job", "job: must be a text in the header");
        return NULL;
    }
    long long id = strtoll(name, &end, 10);
    struct job *j = *name && !*end ? queue_find(d->queue, id) : NULL;
    if (!j) {
        snprintf(text, sizeof text, "job \"%.60s\" is not known here", name);
        post_refuse(d, m, "not_found", "job", text);
    }
    return j;
}

static void hello(struct daemon *d, const struct message *m)
{
    static const char *const feature[] = { "submit", "wait", "watch", "result", "cancel", "list", "stats" };
    const int nfeature = sizeof feature / sizeof *feature;
    struct arena *a = reply_arena(d, m);
    if (!a)
        return;
    struct value *body = value_map(a), *range = value_list(a, 2), *list = value_list(a, nfeature);
    struct value *version = value_int(a, MESSAGE_VERSION);
    for (int i = 0; range && version && i < 2; i++)
        range->as.item[i] = *version;
    for (int i = 0; list && i < nfeature; i++) {
        struct value *text = value_text(a, feature[i]);
        if (text)
            list->as.item[i] = *text;
    }
    value_put(a, body, "server", value_text(a, "heddled " HEDDLE_VERSION));
    value_put(a, body, "boot", value_text(a, d->boot));
    value_put(a, body, "protocol", range);
    value_put(a, body, "max_message", value_int(a, d->config.max_message));
    value_put(a, body, "max_header", value_int(a, MESSAGE_HEADER));
    value_put(a, body, "chunk", value_int(a, MESSAGE_CHUNK));
    value_put(a, body, "features", list);
    post_reply(d, m, "welcome", a, body, 0);
    arena_free(a);
}

static void ping(struct daemon *d, const struct message *m)
{
    struct arena *a = reply_arena(d, m);
    if (!a)
        return;
    struct value *body = value_map(a);
    value_put(a, body, "boot", value_text(a, d->boot));
    post_reply(d, m, "pong", a, body, 0);
    arena_free(a);
}

/* One setting, checked as the solver will read it. */
static int add_setting(char *set, size_t room, const char *text, struct err *e)
{
    struct options o;
    char name[64];
    const char *value = strchr(text, '=');
    if (!value || value == text || value - text >= (int)sizeof name || strchr(text, '\n'))
        return fail(e, E_INPUT, "set: \"%.80s\": want option=value", text);
    memcpy(name, text, (size_t)(value - text));
    name[value - text] = 0;
    options_default(&o);
    if (options_set(&o, name, value + 1, e) < 0)
        return -1;
    size_t n = strlen(set);
    if (snprintf(set + n, room - n, "%s%s", n ? "\n" : "", text) >= (int)(room - n))
        return fail(e, E_INPUT, "set: more than %d bytes of settings", SET_BYTES);
    return 0;
}

/* body.set, a list of option=value, and body.time_limit, a number, as lines. */
static int read_settings(const struct value *body, char set[SET_BYTES], struct err *e)
{
    const struct value *list = value_get(body, "set");
    set[0] = 0;
    if (list && list->kind != VALUE_LIST)
        return fail(e, E_INPUT, "set: must be a list of \"option=value\"");
    for (int64_t i = 0; list && i < list->n; i++) {
        const struct value *item = &list->as.item[i];
        if (item->kind != VALUE_TEXT || strlen(item->as.bytes) != (size_t)item->n)
            return fail(e, E_INPUT, "set[%lld]: must be a text", (long long)i);
        if (add_setting(set, SET_BYTES, item->as.bytes, e) < 0)
            return -1;
    }
    if (value_get(body, "time_limit")) {
        char text[64];
        snprintf(text, sizeof text, "time_limit=%.17g", body_real(body, "time_limit", NAN));
        return add_setting(set, SET_BYTES, text, e);
    }
    return 0;
}

/* Looks at the outside of a problem: bytes that can be a document, and no bomb. What it says is the solver's to judge.
 */
static int check_problem(const struct daemon *d, const struct value *problem, struct err *e)
{
    if (!problem || (problem->kind != VALUE_BYTES && problem->kind != VALUE_TEXT))
        return fail(e, E_INPUT, "problem: must be the bytes of a problem document, JSON or msgpack");
    if (problem->n > d->config.max_message)
        return fail(e, E_INPUT, "problem: %lld bytes, at most %lld are taken", (long long)problem->n,
                    (long long)d->config.max_message);
    int64_t at = 0;
    while (at < problem->n && strchr(" \t\r\n", problem->as.bytes[at]) && problem->as.bytes[at])
        at++;
    if (at < problem->n && problem->as.bytes[at] == '{')
        return 0;
    if (wire_scan(problem->as.bytes, problem->n, &wire_document, e) < 0)
        return fail_at(e, "problem: neither JSON nor msgpack: ");
    return 0;
}

static void accept(struct daemon *d, const struct message *m, const struct job *j, int dup)
{
    char id[24];
    struct arena *a = reply_arena(d, m);
    if (!a)
        return;
    struct value *body = value_map(a);
    snprintf(id, sizeof id, "%" PRId64, j->id);
    value_put(a, body, "job", value_text(a, id));
    value_put(a, body, "dup", value_flag(a, dup));
    post_reply(d, m, "accepted", a, body, j->id);
    arena_free(a);
}

/* A job in the queue with its problem in the spool, or NULL with both as before. */
static struct job *enter(struct daemon *d, const struct message *m, const struct value *problem, const char *set,
                         const unsigned char *digest, struct err *e)
{
    char name[SPOOL_NAME];
    struct job *j = job_new(e);
    if (!j)
        return NULL;
    memcpy(j->digest, digest, DIGEST_BYTES);
    memcpy(j->key, m->key.data, (size_t)m->key.n);
    j->nkey = (int32_t)m->key.n;
    j->priority = (int32_t)body_int(m->body, "priority", 0);
    j->problem_bytes = problem->n;
    if (!(j->set = text_copy(set)))
        fail(e, E_MEMORY, "out of memory for a job");
    if (!j->set || queue_add(d->queue, j, d->time, e) < 0) {
        job_free(j);
        return NULL;
    }
    spool_problem_name(name, j->id);
    if (spool_write(d->spool, name, problem->as.bytes, problem->n, e) < 0) {
        queue_remove(d->queue, j);
        return NULL;
    }
    return j;
}

static void submit(struct daemon *d, const struct message *m)
{
    char set[SET_BYTES];
    struct err e = { 0 };
    unsigned char digest[DIGEST_BYTES];
    const struct value *problem = value_get(m->body, "problem");
    int64_t priority = body_int(m->body, "priority", 0);
    if (d->draining) {
        post_refuse(d, m, "draining", NULL, "the server is about to stop");
        return;
    }
    if (m->key.n < 16 || m->key.n > MESSAGE_KEY) {
        post_refuse(d, m, "bad_frame", "k", "k: a key of 16 to 64 bytes makes a repeated submit safe");
        return;
    }
    if (priority < -100 || priority > 100) {
        post_refuse(d, m, "bad_frame", "priority", "priority: must be in [-100, 100]");
        return;
    }
    if (check_problem(d, problem, &e) < 0) {
        post_refuse(d, m, problem && problem->n > d->config.max_message ? "too_large" : "invalid_problem", "problem",
                    e.text);
        return;
    }
    if (read_settings(m->body, set, &e) < 0) {
        post_refuse(d, m, "invalid_problem", "set", e.text);
        return;
    }
    struct span piece[] = { { problem->as.bytes, problem->n }, { set, (int64_t)strlen(set) } };
    digest_of_pieces(piece, 2, digest);
    struct job *j = queue_find_key(d->queue, m->key.data, m->key.n);
    if (j && memcmp(j->digest, digest, sizeof digest) != 0) {
        post_refuse(d, m, "conflict", "k", "k: another problem was submitted with this key");
        return;
    }
    d->duplicates += j != NULL;
    if (j) {
        accept(d, m, j, 1);
        return;
    }
    if (d->now < d->store_at) {
        post_refuse(d, m, store_full(d->store) ? "disk_full" : "internal", NULL, "the job store cannot be written now");
        return;
    }
    j = enter(d, m, problem, set, digest, &e);
    if (!j) {
        const char *code = e.code == E_INPUT ? "queue_full" : spool_full(d->spool) ? "disk_full" : "internal";
        post_refuse(d, m, code, NULL, e.text);
        return;
    }
    d->submitted++;
    accept(d, m, j, 0);
}

static void status(struct daemon *d, const struct message *m)
{
    struct job *j = named_job(d, m);
    struct arena *a = j ? reply_arena(d, m) : NULL;
    if (a)
        post_reply(d, m, "status", a, post_job(a, j), j->id);
    arena_free(a);
}

/* Newest first; before: only jobs with smaller numbers, for the next page. */
static void list(struct daemon *d, const struct message *m)
{
    const char *state = body_text(m->body, "state", NULL);
    int64_t limit = body_int(m->body, "limit", 100), before = body_int(m->body, "before", INT64_MAX), n = 0;
    if (limit < 1 || limit > LIST_MOST) {
        post_refuse(d, m, "bad_frame", "limit", "limit: must be in [1, 1000]");
        return;
    }
    struct job **pick = array(limit, sizeof *pick);
    struct arena *a = pick ? reply_arena(d, m) : NULL;
    if (!a) {
        free(pick);
        return;
    }
    for (int64_t i = queue_size(d->queue) - 1; i >= 0 && n < limit; i--) {
        struct job *j = queue_at(d->queue, i);
        if (j->id < before && (!state || !strcmp(state, job_state_name[j->state])))
            pick[n++] = j;
    }
    struct value *body = value_map(a), *jobs = value_list(a, n);
    for (int64_t i = 0; jobs && i < n; i++) {
        struct value *one = post_job(a, pick[i]);
        if (one)
            jobs->as.item[i] = *one;
    }
    value_put(a, body, "jobs", jobs);
    value_put(a, body, "total", value_int(a, queue_size(d->queue)));
    post_reply(d, m, "list", a, body, 0);
    arena_free(a);
    free(pick);
}

/* A client has one wait and one watch per job: asking again replaces. */
static struct listener *listen_to(struct daemon *d, const struct message *m, int64_t job, int watching)
{
    struct listener *l = d->listener;
    while (l && !(l->job == job && (l->seq > 0) == watching && l->npeer == m->peer.n &&
                  !memcmp(l->peer, m->peer.data, (size_t)l->npeer)))
        l = l->next;
    if (!l && (d->nlistener >= MAX_LISTENERS || m->peer.n > (int64_t)sizeof l->peer || !(l = array(1, sizeof *l)))) {
        post_refuse(d, m, "quota", NULL, "too many clients are waiting");
        return NULL;
    }
    if (l->npeer == 0) {
        l->next = d->listener;
        d->listener = l;
        d->nlistener++;
    }
    l->job = job;
    l->id = m->id;
    l->npeer = m->peer.n;
    memcpy(l->peer, m->peer.data, (size_t)m->peer.n);
    return l;
}

static void wait_for(struct daemon *d, const struct message *m)
{
    struct job *j = named_job(d, m);
    double timeout = body_real(m->body, "timeout_ms", 60000) * 1e-3;
    if (!j)
        return;
    if (!(timeout >= 0 && timeout <= 86400)) {
        post_refuse(d, m, "bad_frame", "timeout_ms", "timeout_ms: must be in [0, 86400000]");
        return;
    }
    struct listener *l = listen_to(d, m, j->id, 0);
    if (l)
        l->deadline = d->now + timeout;
}

static void watch(struct daemon *d, const struct message *m)
{
    struct job *j = named_job(d, m);
    struct listener *l = j ? listen_to(d, m, j->id, 1) : NULL;
    if (l) {
        l->seq = m->seq > 0 ? m->seq : 1;
        l->deadline = HUGE_VAL;
    }
}

static void drop_listener(struct daemon *d, struct listener **at)
{
    struct listener *l = *at;
    *at = l->next;
    d->nlistener--;
    free(l);
}

static void unwatch(struct daemon *d, const struct message *m)
{
    struct job *j = named_job(d, m);
    struct arena *a = j ? reply_arena(d, m) : NULL;
    if (!a)
        return;
    for (struct listener **at = &d->listener; *at;)
        if ((*at)->job == j->id && (*at)->seq > 0 && (*at)->npeer == m->peer.n &&
            !memcmp((*at)->peer, m->peer.data, (size_t)m->peer.n))
            drop_listener(d, at);
        else
            at = &(*at)->next;
    post_reply(d, m, "unwatched", a, value_map(a), 0);
    arena_free(a);
}

static void cancel(struct daemon *d, const struct message *m)
{
    struct job *j = named_job(d, m);
    struct arena *a = j ? reply_arena(d, m) : NULL;
    if (!a)
        return;
    if (queue_cancel(d->queue, j, d->time))
        fleet_cancel(d, j);
    post_reply(d, m, "cancelling", a, post_job(a, j), j->id);
    arena_free(a);
}

/* A part of the plan, from body.offset on, at most body.length bytes. */
static void result(struct daemon *d, const struct message *m)
{
    char name[SPOOL_NAME];
    struct err e = { 0 };
    struct job *j = named_job(d, m);
    int64_t offset = body_int(m->body, "offset", 0), length = body_int(m->body, "length", MESSAGE_CHUNK);
    if (!j)
        return;
    if (!job_ended(j->state) || j->end.plan_bytes == 0) {
        char text[200];
        snprintf(text, sizeof text, "job %" PRId64 " is %s and has no plan", j->id, job_state_name[j->state]);
        post_refuse(d, m, "not_found", "job", text);
        return;
    }
    if (offset < 0 || offset > j->end.plan_bytes || length < 1) {
        post_refuse(d, m, "bad_frame", "offset", "offset: must lie in the plan, and length be at least 1");
        return;
    }
    int64_t n = j->end.plan_bytes - offset;
    n = n < length ? n : length;
    n = n < MESSAGE_CHUNK ? n : MESSAGE_CHUNK;
    char *data = array(n, 1);
    struct arena *a = data ? reply_arena(d, m) : NULL;
    spool_plan_name(name, j->id, j->attempt);
    if (a && spool_read(d->spool, name, offset, data, n, &e) < 0) {
        post_refuse(d, m, "internal", NULL, e.text);
    } else if (a) {
        struct value *body = post_job(a, j);
        value_put(a, body, "total", value_int(a, j->end.plan_bytes));
        value_put(a, body, "offset", value_int(a, offset));
        value_put(a, body, "sha256", value_bytes(a, j->end.plan_digest, DIGEST_BYTES));
        value_put(a, body, "data", value_bytes(a, data, n));
        post_reply(d, m, "result", a, body, j->id);
    }
    arena_free(a);
    free(data);
}

static void stats(struct daemon *d, const struct message *m)
{
    struct arena *a = reply_arena(d, m);
    if (!a)
        return;
    struct value *body = value_map(a), *jobs = value_map(a), *worlds = value_list(a, d->config.worlds);
    for (int i = 0; i < JOB_STATES; i++)
        value_put(a, jobs, job_state_name[i], value_int(a, queue_count(d->queue, (enum job_state)i)));
    for (int i = 0; worlds && i < d->config.worlds; i++) {
        const struct world *w = &d->world[i];
        struct value *one = value_map(a);
        value_put(a, one, "state", value_text(a, world_state_name[w->state]));
        value_put(a, one, "pid", value_int(a, w->pid));
        value_put(a, one, "epoch", value_int(a, w->epoch));
        value_put(a, one, "starts", value_int(a, w->starts));
        value_put(a, one, "job", value_int(a, w->job));
        value_put(a, one, "heartbeat_age", value_real(a, w->npeer ? d->now - w->beat : 0));
        if (one)
            worlds->as.item[i] = *one;
    }
    value_put(a, body, "boot", value_text(a, d->boot));
    value_put(a, body, "uptime", value_real(a, d->now - d->started));
    value_put(a, body, "jobs", jobs);
    value_put(a, body, "worlds", worlds);
    value_put(a, body, "submitted", value_int(a, d->submitted));
    value_put(a, body, "duplicates", value_int(a, d->duplicates));
    value_put(a, body, "finished", value_int(a, d->finished));
    value_put(a, body, "refused", value_int(a, d->refused));
    value_put(a, body, "dropped", value_int(a, d->dropped));
    value_put(a, body, "stale", value_int(a, d->stale));
    value_put(a, body, "listeners", value_int(a, d->nlistener));
    post_reply(d, m, "stats", a, body, 0);
    arena_free(a);
}

static const struct {
    const char *type;
    void (*run)(struct daemon *d, const struct message *m);
} requests[] = {
    { "hello", hello },   { "ping", ping },     { "submit", submit }, { "status", status },
    { "list", list },     { "wait", wait_for }, { "watch", watch },   { "unwatch", unwatch },
    { "cancel", cancel }, { "result", result }, { "stats", stats },
};

void front_receive(struct daemon *d, struct parcel *p)
{
    struct message m;
    struct err e = { 0 };
    int64_t bytes = 0;
    for (int i = 0; i < p->nframe; i++)
        bytes += p->frame[i].n;
    struct arena *a = arena_new(2 * bytes + (4 << 20), &e);
    if (p->nframe < 3 || !a) { /* nobody to answer, or nothing to answer with */
        d->dropped++;
    } else if (message_read(p, 1, a, &m, &e) < 0) {
        post_refuse(d, &m, m.fault, NULL, e.text);
    } else {
        size_t i = 0, n = sizeof requests / sizeof *requests;
        while (i < n && strcmp(requests[i].type, m.type) != 0)
            i++;
        if (i < n)
            requests[i].run(d, &m);
        else
            post_refuse(d, &m, "unsupported", "t", "t: this server knows no such request");
    }
    arena_free(a);
}

/* The answer to a wait, or the next event of a watch. 1: sent; 0: no room now; -1: nobody is there any more. */
static int tell(struct daemon *d, const struct listener *l, const char *type, const struct job *j, int64_t seq,
                const struct span *ready_body)
{
    char id[24];
    struct letter letter;
    struct span peer = { l->peer, l->npeer };
    struct arena *a = arena_new(1 << 20, NULL);
    if (!a)
        return 0;
    struct value *head = message_head(a, type, l->id), *body = ready_body || !j ? NULL : post_job(a, j);
    snprintf(id, sizeof id, "%" PRId64, l->job);
    value_put(a, head, "job", value_text(a, id));
    if (seq > 0)
        value_put(a, head, "seq", value_int(a, seq));
    if (!strcmp(type, "error")) {
        body = body ? body : value_map(a);
        value_put(a, body, "code", value_text(a, j ? "timeout" : "not_found"));
        value_put(a, body, "msg", value_text(a, j ? "the job has not ended yet" : "the job is not known any more"));
    }
    int rc = letter_write(&letter, a, &peer, head, body, NULL, NULL);
    if (rc == 0) {
        struct span frame[3] = { letter.frame[0], letter.frame[1], ready_body ? *ready_body : letter.frame[2] };
        rc = sock_send(d->clients, frame, 3, NULL);
        letter_free(&letter);
    }
    arena_free(a);
    return rc;
}

/* Sends what the watcher has not had, as far as it goes. 1: the last event is out; 0: more to come; -1: gone. */
static int tell_events(struct daemon *d, struct listener *l, const struct job *j)
{
    int ended = job_ended(j->state) && !j->dirty;
    if (ended && l->seq > j->events)
        l->seq = j->events; /* a client that asks for more than there is hears the end once again */
    while (l->seq <= j->events) {
        char *body = NULL;
        struct span frame = { NULL, 0 };
        int64_t seq = store_next_event(d->store, l->job, l->seq, &body, &frame.n, NULL);
        if (seq <= 0)
            break;
        frame.data = body;
        int rc = tell(d, l, "event", j, seq, &frame);
        free(body);
        if (rc != 1) {
            d->listener_blocked |= rc == 0;
            return rc;
        }
        l->seq = seq + 1;
    }
    return ended;
}

void front_listeners(struct daemon *d)
{
    d->listener_blocked = 0;
    for (struct listener **at = &d->listener; *at;) {
        struct listener *l = *at;
        const struct job *j = queue_find(d->queue, l->job);
        int rc = 0;
        if (!j)
            rc = tell(d, l, "error", NULL, 0, NULL);
        else if (l->seq > 0)
            rc = tell_events(d, l, j);
        else if (job_ended(j->state) && !j->dirty)
            rc = tell(d, l, "status", j, 0, NULL);
        else if (d->now >= l->deadline)
            rc = tell(d, l, "error", j, 0, NULL);
        if (rc != 0)
            drop_listener(d, at);
        else
            at = &l->next;
    }
}
