/* What goes out, and the commit that comes before it. */
#include "service/daemon/daemon.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/daemon/log.h"

enum { POST_BYTES = 64 << 20, POST_COUNT = 4096, POST_SECONDS = 30 };

static void put_real(struct arena *a, struct value *map, const char *name, double x)
{
    if (isfinite(x))
        value_put(a, map, name, value_real(a, x));
}

struct value *post_job(struct arena *a, const struct job *j)
{
    char id[24];
    struct value *map = value_map(a);
    snprintf(id, sizeof id, "%" PRId64, j->id);
    value_put(a, map, "job", value_text(a, id));
    value_put(a, map, "state", value_text(a, job_state_name[j->state]));
    value_put(a, map, "priority", value_int(a, j->priority));
    value_put(a, map, "attempt", value_int(a, j->attempt));
    value_put(a, map, "submitted", value_real(a, j->submitted));
    if (j->started > 0)
        value_put(a, map, "started", value_real(a, j->started));
    if (!job_ended(j->state))
        return map;
    value_put(a, map, "ended", value_real(a, j->ended));
    value_put(a, map, "plan_bytes", value_int(a, j->end.plan_bytes));
    if (j->end.status[0]) {
        value_put(a, map, "status", value_text(a, j->end.status));
        put_real(a, map, "value", j->end.value);
        put_real(a, map, "bound", j->end.bound);
        put_real(a, map, "gap", j->end.gap);
        put_real(a, map, "seconds", j->end.seconds);
    }
    if (j->end.code[0])
        value_put(a, map, "code", value_text(a, j->end.code));
    if (j->end.text[0])
        value_put(a, map, "msg", value_text(a, j->end.text));
    return map;
}

static int64_t letter_bytes(const struct letter *l)
{
    int64_t n = 0;
    for (int i = 0; i < l->nframe; i++)
        n += l->frame[i].n;
    return n;
}

/* Takes the letter over. What a client cannot take in time is dropped, newest first, so that memory stays bounded. */
static int enqueue(struct daemon *d, struct letter *l, int64_t job, int64_t id, int to_world)
{
    struct post *p = array(1, sizeof *p);
    if (!p || (!to_world && (d->npost >= POST_COUNT || d->post_bytes + letter_bytes(l) > POST_BYTES))) {
        letter_free(l);
        free(p);
        d->dropped++;
        return -1;
    }
    *p = (struct post){ .letter = *l, .job = job, .id = id, .since = d->now, .to_world = to_world };
    d->post_bytes += letter_bytes(l);
    d->npost++;
    *d->post_end = p;
    d->post_end = &p->next;
    return 0;
}

void post_reply(struct daemon *d, const struct message *to, const char *type, struct arena *a, const struct value *body,
                int64_t promised)
{
    struct letter l;
    struct err e = { 0 };
    struct value *head = message_head(a, type, to->id);
    if (to->job)
        value_put(a, head, "job", value_text(a, to->job));
    if (letter_write(&l, a, &to->peer, head, body, NULL, &e) < 0) {
        log_say("error", "no_reply", e.text);
        d->dropped++;
        return;
    }
    enqueue(d, &l, promised, to->id, 0);
}

void post_refuse(struct daemon *d, const struct message *to, const char *code, const char *field, const char *text)
{
    struct arena *a = arena_new(1 << 20, NULL);
    if (!a)
        return;
    struct value *body = value_map(a);
    value_put(a, body, "code", value_text(a, code));
    value_put(a, body, "msg", value_text(a, text));
    if (field)
        value_put(a, body, "field", value_text(a, field));
    if (!strcmp(code, "disk_full") || !strcmp(code, "queue_full"))
        value_put(a, body, "retry_after_ms", value_int(a, 1000));
    post_reply(d, to, "error", a, body, 0);
    d->refused++;
    arena_free(a);
}

int post_world(struct daemon *d, const struct world *w, struct arena *a, const struct value *head,
               const struct value *body, const struct span *raw, struct err *e)
{
    struct letter l;
    struct span peer = { w->peer, w->npeer };
    if (letter_write(&l, a, &peer, head, body, raw, e) < 0)
        return -1;
    return enqueue(d, &l, 0, 0, 1) == 0 ? 0 : fail(e, E_MEMORY, "out of memory for a message to world %d", w->number);
}

void post_event(struct daemon *d, struct job *j, struct arena *a, const struct value *body)
{
    struct letter l;
    struct err e = { 0 };
    int rc = letter_write(&l, a, NULL, body, NULL, NULL, &e);
    if (rc == 0) {
        rc = store_event(d->store, j->id, j->events + 1, d->time, l.frame[0].data, l.frame[0].n, &e);
        letter_free(&l);
    }
    if (rc == 0) {
        j->events++;
        j->dirty = 1;
    } else {
        log_say("error", "event_lost", e.text);
    }
}

static int put_job(struct daemon *d, struct job *j, struct err *e)
{
    if (!j->stored || j->state != j->stored_state || j->attempt != j->stored_attempt) {
        struct arena *a = arena_new(1 << 20, e);
        if (!a)
            return -1;
        struct value *body = post_job(a, j);
        value_put(a, body, "kind", value_text(a, "state"));
        post_event(d, j, a, body);
        arena_free(a);
    }
    return store_put(d->store, j, e);
}

/* Promises that cannot be kept are taken back: the client hears why, and the job is gone as if it had never come. */
static void take_back(struct daemon *d, const struct err *e)
{
    int full = store_full(d->store) || spool_full(d->spool);
    for (struct post *p = d->post; p; p = p->next) {
        struct job *j = p->job ? queue_find(d->queue, p->job) : NULL;
        struct arena *a = j && !j->stored ? arena_new(1 << 20, NULL) : NULL;
        if (!a)
            continue;
        struct letter l;
        struct value *body = value_map(a);
        value_put(a, body, "code", value_text(a, full ? "disk_full" : "internal"));
        value_put(a, body, "msg", value_text(a, e->text));
        value_put(a, body, "retry_after_ms", value_int(a, 1000));
        if (letter_write(&l, a, &p->letter.frame[0], message_head(a, "error", p->id), body, NULL, NULL) == 0) {
            d->post_bytes += letter_bytes(&l) - letter_bytes(&p->letter);
            letter_free(&p->letter);
            p->letter = l;
            p->job = 0;
        }
        arena_free(a);
    }
    for (int64_t i = queue_size(d->queue) - 1; i >= 0; i--) {
        struct job *j = queue_at(d->queue, i);
        char name[SPOOL_NAME];
        if (j->stored)
            continue;
        spool_problem_name(name, j->id);
        spool_remove(d->spool, name);
        queue_remove(d->queue, j);
    }
}

static void log_change(const struct job *j)
{
    struct log_line l;
    if (j->stored && j->state == j->stored_state && j->attempt == j->stored_attempt)
        return;
    log_begin(&l, "info", "job");
    log_number(&l, "job", j->id);
    log_text(&l, "state", job_state_name[j->state]);
    log_number(&l, "attempt", j->attempt);
    if (j->world >= 0)
        log_number(&l, "world", j->world);
    if (j->end.status[0])
        log_text(&l, "status", j->end.status);
    if (j->end.code[0])
        log_text(&l, "code", j->end.code);
    if (j->end.text[0])
        log_text(&l, "text", j->end.text);
    log_end(&l);
}

void post_commit(struct daemon *d)
{
    struct err e = { 0 };
    int64_t at = 0;
    int rc = 0;
    if (d->now < d->store_at)
        return;
    for (struct job *j; rc == 0 && (j = queue_dirty(d->queue, &at));)
        rc = put_job(d, j, &e);
    if (rc == 0)
        rc = spool_sync(d->spool, &e);
    if (rc == 0)
        rc = store_commit(d->store, &e);
    if (rc < 0) {
        store_rollback(d->store);
        log_say("error", "store", e.text);
        take_back(d, &e);
        d->store_at = d->now + 1;
        return;
    }
    d->store_at = 0;
    at = 0;
    for (struct job *j; (j = queue_dirty(d->queue, &at));) {
        log_change(j);
        job_stored(j);
    }
}

static void post_drop(struct daemon *d, struct post **at)
{
    struct post *p = *at;
    *at = p->next;
    if (d->post_end == &p->next)
        d->post_end = at;
    d->post_bytes -= letter_bytes(&p->letter);
    d->npost--;
    letter_free(&p->letter);
    free(p);
}

static int same_peer(const struct post *a, const struct post *b)
{
    const struct span *p = &a->letter.frame[0], *q = &b->letter.frame[0];
    return a->to_world == b->to_world && p->n == q->n && !memcmp(p->data, q->data, (size_t)p->n);
}

/* One slow reader holds up only itself: what it could not take stays, in order, and is tried again next time. blocked
 * has one post for each such reader; beyond its room the others are tried once per post, which costs time but nothing
 * else. */
void post_flush(struct daemon *d)
{
    const struct post *blocked[64];
    int nblocked = 0;
    for (struct post **at = &d->post; *at;) {
        struct post *p = *at;
        int i = 0, rc = 0;
        while (i < nblocked && !same_peer(blocked[i], p))
            i++;
        if (i == nblocked)
            rc = sock_send(p->to_world ? d->workers : d->clients, p->letter.frame, p->letter.nframe, NULL);
        if (rc == 0 && d->now - p->since < POST_SECONDS) {
            if (i == nblocked && nblocked < (int)(sizeof blocked / sizeof *blocked))
                blocked[nblocked++] = p;
            at = &p->next;
            continue;
        }
        d->dropped += rc != 1;
        post_drop(d, at);
    }
}

void post_free(struct daemon *d)
{
    while (d->post)
        post_drop(d, &d->post);
}
