#include "service/daemon/queue.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const job_state_name[JOB_STATES] = { "queued", "assigned",  "running", "done",
                                                 "failed", "cancelled", "timeout" };

/* Jobs in order of id, and a table of those with a key: open addressing, at most half full. */
struct queue {
    struct queue_limits limits;
    struct job **job;
    int64_t n, room, last;
    struct job **slot;
    int64_t nslot;
    int64_t count[JOB_STATES];
};

int job_ended(enum job_state state)
{
    return state >= JOB_DONE;
}

struct queue *queue_new(const struct queue_limits *limits, struct err *e)
{
    struct queue *q = array(1, sizeof *q);
    if (!q) {
        fail(e, E_MEMORY, "out of memory for the queue");
        return NULL;
    }
    q->limits = *limits;
    return q;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    for (int64_t i = 0; i < q->n; i++)
        job_free(q->job[i]);
    free(q->job);
    free(q->slot);
    free(q);
}

struct job *job_new(struct err *e)
{
    struct job *j = array(1, sizeof *j);
    if (!j) {
        fail(e, E_MEMORY, "out of memory for a job");
        return NULL;
    }
    j->world = -1;
    return j;
}

void job_free(struct job *j)
{
    if (j) {
        free(j->set);
        free(j);
    }
}

static uint64_t key_hash(const unsigned char *key, int64_t n)
{
    uint64_t h = (uint64_t)n;
    for (int64_t i = 0; i < n; i++)
        h = mix64(h ^ key[i]);
    return h;
}

/* The slot that holds the key, or the free one where it would go. */
static int64_t slot_of(const struct queue *q, const unsigned char *key, int64_t n)
{
    int64_t i = (int64_t)(key_hash(key, n) & (uint64_t)(q->nslot - 1));
    while (q->slot[i] && !(q->slot[i]->nkey == n && !memcmp(q->slot[i]->key, key, (size_t)n)))
        i = (i + 1) & (q->nslot - 1);
    return i;
}

static void fill_slots(struct queue *q)
{
    memset(q->slot, 0, (size_t)q->nslot * sizeof *q->slot);
    for (int64_t i = 0; i < q->n; i++)
        if (q->job[i]->nkey > 0)
            q->slot[slot_of(q, q->job[i]->key, q->job[i]->nkey)] = q->job[i];
}

/* Room for one more job in both tables. */
static int make_room(struct queue *q, struct err *e)
{
    void *job = q->job;
    int rc = array_grow(&job, &q->room, q->n + 1, sizeof *q->job);
    q->job = job;
    if (rc == 0 && 2 * (q->n + 1) > q->nslot) {
        int64_t nslot = q->nslot ? q->nslot * 2 : 64;
        struct job **slot = array(nslot, sizeof *slot);
        if (slot) {
            free(q->slot);
            q->slot = slot;
            q->nslot = nslot;
            fill_slots(q);
        }
        rc = slot ? 0 : -1;
    }
    return rc < 0 ? fail(e, E_MEMORY, "out of memory for %lld jobs", (long long)q->n + 1) : 0;
}

static void append(struct queue *q, struct job *j)
{
    q->job[q->n++] = j;
    q->last = j->id;
    if (j->nkey > 0)
        q->slot[slot_of(q, j->key, j->nkey)] = j;
    q->count[j->state]++;
}

static void turn(struct queue *q, struct job *j, enum job_state state)
{
    q->count[j->state]--;
    q->count[state]++;
    j->state = state;
    j->dirty = 1;
}

int queue_add(struct queue *q, struct job *j, double time, struct err *e)
{
    int64_t waiting = q->count[JOB_QUEUED] + q->count[JOB_ASSIGNED] + q->count[JOB_RUNNING];
    if (waiting >= q->limits.waiting)
        return fail(e, E_INPUT, "%lld jobs are waiting, no more are allowed", (long long)waiting);
    assert(j->nkey == 0 || !queue_find_key(q, j->key, j->nkey));
    if (make_room(q, e) < 0)
        return -1;
    j->id = q->last + 1;
    j->state = JOB_QUEUED;
    j->submitted = time;
    j->dirty = 1;
    append(q, j);
    return 0;
}

int queue_restore(struct queue *q, struct job *j, struct err *e)
{
    if (j->id <= q->last)
        return fail(e, E_INTERNAL, "job %lld is stored twice or out of order", (long long)j->id);
    if (j->nkey > 0 && queue_find_key(q, j->key, j->nkey))
        return fail(e, E_INTERNAL, "job %lld has the key of another one", (long long)j->id);
    if (make_room(q, e) < 0)
        return -1;
    append(q, j);
    job_stored(j);
    if (j->state == JOB_ASSIGNED || j->state == JOB_RUNNING) {
        j->world = -1;
        turn(q, j, j->cancel ? JOB_CANCELLED : JOB_QUEUED);
        if (j->cancel)
            j->ended = j->started;
    }
    return 0;
}

static int64_t index_of(const struct queue *q, int64_t id)
{
    int64_t low = 0, high = q->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (q->job[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void queue_remove(struct queue *q, struct job *j)
{
    int64_t i = index_of(q, j->id);
    assert(i < q->n && q->job[i] == j);
    q->count[j->state]--;
    memmove(q->job + i, q->job + i + 1, (size_t)(q->n - i - 1) * sizeof *q->job);
    q->n--;
    if (j->nkey > 0)
        fill_slots(q);
    job_free(j);
}

int64_t queue_size(const struct queue *q)
{
    return q->n;
}

struct job *queue_at(const struct queue *q, int64_t i)
{
    return q->job[i];
}

struct job *queue_find(const struct queue *q, int64_t id)
{
    int64_t i = index_of(q, id);
    return i < q->n && q->job[i]->id == id ? q->job[i] : NULL;
}

struct job *queue_find_key(const struct queue *q, const void *key, int64_t n)
{
    return q->nslot > 0 && n > 0 ? q->slot[slot_of(q, key, n)] : NULL;
}

int64_t queue_count(const struct queue *q, enum job_state state)
{
    return q->count[state];
}

void queue_skip_ids(struct queue *q, int64_t last)
{
    if (last > q->last)
        q->last = last;
}

struct job *queue_next(const struct queue *q)
{
    struct job *best = NULL;
    for (int64_t i = 0; q->count[JOB_QUEUED] > 0 && i < q->n; i++)
        if (q->job[i]->state == JOB_QUEUED && (!best || q->job[i]->priority > best->priority))
            best = q->job[i];
    return best;
}

void queue_assign(struct queue *q, struct job *j, int32_t world, int64_t epoch, double now, double time)
{
    assert(j->state == JOB_QUEUED);
    turn(q, j, JOB_ASSIGNED);
    j->attempt++;
    j->world = world;
    j->epoch = epoch;
    j->started = time;
    j->deadline = q->limits.job_seconds > 0 ? now + q->limits.job_seconds : 0;
}

struct job *queue_current(const struct queue *q, int64_t id, int64_t attempt, int64_t epoch)
{
    struct job *j = queue_find(q, id);
    int under_way = j && (j->state == JOB_ASSIGNED || j->state == JOB_RUNNING);
    return under_way && j->attempt == attempt && j->epoch == epoch ? j : NULL;
}

void queue_running(struct queue *q, struct job *j)
{
    if (j->state == JOB_ASSIGNED)
        turn(q, j, JOB_RUNNING);
}

void queue_finish(struct queue *q, struct job *j, const struct outcome *end, double time)
{
    assert(!job_ended(j->state) && job_ended(end->state));
    j->end = *end;
    j->ended = time;
    j->world = -1;
    turn(q, j, end->state);
}

void queue_lost(struct queue *q, struct job *j, int blame, const char *cause, double now, double time)
{
    struct outcome end = { .state = JOB_FAILED };
    j->lost += blame != 0;
    if (j->cancel) {
        end.state = JOB_CANCELLED;
    } else if (job_overdue(j, now)) {
        end.state = JOB_TIMEOUT;
        snprintf(end.text, sizeof end.text, "it took longer than %g s", q->limits.job_seconds);
    } else if (j->lost >= q->limits.attempts) {
        snprintf(end.code, sizeof end.code, "worker_lost");
        snprintf(end.text, sizeof end.text, "its world died %lld times, the last time: %s", (long long)j->lost, cause);
    } else {
        j->world = -1;
        turn(q, j, JOB_QUEUED);
        return;
    }
    queue_finish(q, j, &end, time);
}

int queue_cancel(struct queue *q, struct job *j, double time)
{
    if (job_ended(j->state))
        return 0;
    if (j->state == JOB_QUEUED) {
        struct outcome end = { .state = JOB_CANCELLED };
        j->cancel = 1;
        queue_finish(q, j, &end, time);
        return 0;
    }
    j->dirty |= !j->cancel;
    j->cancel = 1;
    return 1;
}

int job_overdue(const struct job *j, double now)
{
    return j->deadline > 0 && now > j->deadline;
}

struct job *queue_dirty(const struct queue *q, int64_t *at)
{
    for (; *at < q->n; (*at)++)
        if (q->job[*at]->dirty)
            return q->job[(*at)++];
    return NULL;
}

void job_stored(struct job *j)
{
    j->dirty = 0;
    j->stored = 1;
    j->stored_state = j->state;
    j->stored_attempt = j->attempt;
}
