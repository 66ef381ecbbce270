/* The jobs and their states: a pure state machine. It reads no clock, file or socket: `now` is an argument, and whoever
 * owns the queue stores the jobs that a call has marked dirty.
 *
 *   queued -> assigned -> running -> done | failed | cancelled | timeout
 *      ^---------- world lost (attempts left) ---'
 *
 * A message about a job counts only when it names the job's present attempt and the epoch of the world that has it.
 */
#ifndef HEDDLE_QUEUE_H
#define HEDDLE_QUEUE_H

#include "solver/model/base.h"

enum job_state { JOB_QUEUED, JOB_ASSIGNED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_TIMEOUT, JOB_STATES };
extern const char *const job_state_name[JOB_STATES];
int job_ended(enum job_state state);

/* What a world has to say at the end of a job. */
struct outcome {
    enum job_state state; /* JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_TIMEOUT */
    char status[16];      /* the plan's own: optimal, feasible, cancelled, infeasible, failed; "" without a plan */
    double value, bound, gap, seconds;
    int64_t plan_bytes; /* 0: there is no plan */
    unsigned char plan_digest[32];
    char code[24]; /* failed: invalid_problem, worker_lost, internal, ... */
    char text[480];
};

struct job {
    int64_t id;
    enum job_state state;
    int32_t priority; /* larger goes first; equals in order of id */
    int32_t nkey;
    unsigned char key[64], digest[32]; /* idempotency: the client's key, SHA-256 of what it asked for */
    char *set;                         /* option=value, one a line; "" when there are none */
    int64_t problem_bytes;
    int64_t attempt;                  /* 1 from the first assignment on */
    int64_t lost;                     /* how often its world died under it */
    int64_t epoch;                    /* of the world that has it */
    int32_t world;                    /* -1: none */
    int cancel;                       /* asked for */
    double submitted, started, ended; /* seconds since 1970; 0: not yet */
    double deadline;                  /* of this attempt on the caller's clock; 0: none */
    struct outcome end;
    int64_t events; /* number of the last event */

    int dirty;                   /* changed since it was last stored */
    int stored;                  /* it has a row */
    enum job_state stored_state; /* of the row, as are */
    int64_t stored_attempt;
};

struct queue_limits {
    int64_t waiting;    /* jobs that have not ended, at most */
    int64_t attempts;   /* a job whose world dies this many times has failed: worker_lost */
    double job_seconds; /* one attempt may take, 0: no limit */
};

struct queue;
struct queue *queue_new(const struct queue_limits *limits, struct err *e);
void queue_free(struct queue *q);

/* The queue takes j (from job_new) over. add gives it the next id; restore keeps the id of its row and puts a job that
 * was under way back in the line. -1: j is still the caller's; E_INPUT: as many jobs as allowed are waiting. */
struct job *job_new(struct err *e);
void job_free(struct job *j);
int queue_add(struct queue *q, struct job *j, double time, struct err *e);
int queue_restore(struct queue *q, struct job *j, struct err *e);
void queue_remove(struct queue *q, struct job *j); /* forgets and frees it */

int64_t queue_size(const struct queue *q);
struct job *queue_at(const struct queue *q, int64_t i); /* in order of id, i in [0, queue_size) */
struct job *queue_find(const struct queue *q, int64_t id);
struct job *queue_find_key(const struct queue *q, const void *key, int64_t n);
int64_t queue_count(const struct queue *q, enum job_state state);
void queue_skip_ids(struct queue *q, int64_t last); /* ids up to last have been given before */

/* The job to run next, or NULL. */
struct job *queue_next(const struct queue *q);

void queue_assign(struct queue *q, struct job *j, int32_t world, int64_t epoch, double now, double time);

/* The job that a world speaks of, or NULL when the message is stale: another attempt, epoch or world has it, or it has
 * ended. */
struct job *queue_current(const struct queue *q, int64_t id, int64_t attempt, int64_t epoch);
void queue_running(struct queue *q, struct job *j);
void queue_finish(struct queue *q, struct job *j, const struct outcome *end, double time);

/* Its world is gone. The job goes back in the line, unless its cancel was asked for, its time was up, or this was the
 * last attempt that it may have. blame 0: the world was stopped for another reason. */
void queue_lost(struct queue *q, struct job *j, int blame, const char *cause, double now, double time);

/* A waiting job ends at once; one under way is marked (returns 1: tell its world). 0 otherwise. */
int queue_cancel(struct queue *q, struct job *j, double time);
int job_overdue(const struct job *j, double now);

/* Any dirty job, or NULL; *at is where to look from, 0 at first. */
struct job *queue_dirty(const struct queue *q, int64_t *at);
void job_stored(struct job *j);

#endif
