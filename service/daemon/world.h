/* The life of one world of ranks, as a state machine: `now` is an argument, and what it does to processes goes through
 * three calls, so that every deadline is tested without a process or a wait.
 *
 *   down -> starting -> ready <-> busy       stopping and every death lead back to down, and from there to a restart
 */
#ifndef HEDDLE_WORLD_H
#define HEDDLE_WORLD_H

#include "solver/model/base.h"

enum world_state { WORLD_DOWN, WORLD_STARTING, WORLD_READY, WORLD_BUSY, WORLD_STOPPING };
extern const char *const world_state_name[];

struct world_limits {
    double start_limit, dead_after, cancel_grace, kill_grace; /* seconds */
    int64_t jobs;                                             /* then a fresh one takes its place */
};

struct world {
    int32_t number;
    enum world_state state;
    int64_t epoch; /* of the present start; no two starts share one */
    int pid;       /* of the launcher, 0: none */
    char peer[64]; /* where its messages come from */
    int64_t npeer;
    int64_t job, attempt; /* busy */
    int64_t jobs;         /* taken since the start */
    int64_t starts;
    double since;    /* of the present state */
    double beat;     /* last sign of life */
    double start_at; /* down: when to start; HUGE_VAL: never */
    double term_at;  /* when to send SIGTERM; HUGE_VAL: not */
    double kill_at;  /* when to send SIGKILL; HUGE_VAL: not */
    int failures;    /* starts in a row that came to nothing */
    char cause[200]; /* why it is being ended, "" while it is not */
};

struct world_calls {
    void *context;
    int (*start)(void *context, struct world *w, struct err *e); /* sets pid */
    void (*terminate)(void *context, struct world *w);           /* SIGTERM to the launcher */
    void (*kill)(void *context, struct world *w);                /* SIGKILL to every process of the world */
};

void world_init(struct world *w, int32_t number, double now); /* to be started at once */

/* Does what is due: start, SIGTERM, SIGKILL; takes a silent world for dead. epoch: for a start. Returns 1 when it has
 * started one. */
int world_tick(struct world *w, const struct world_limits *limits, const struct world_calls *calls, int64_t epoch,
               double now, struct err *e);
double world_due(const struct world *w, const struct world_limits *limits); /* when world_tick has something to do */

/* The world says that it can take jobs. -1: nothing of the sort was awaited. */
int world_ready(struct world *w, const void *peer, int64_t npeer, double now);
int world_speaks(const struct world *w, const void *peer, int64_t npeer, int64_t epoch); /* the message is from it */
void world_beat(struct world *w, double now);
void world_take(struct world *w, int64_t job, int64_t attempt, double now);
/* Its job has ended. Returns 1 when the world has done its share and is to be told to go. */
int world_done(struct world *w, const struct world_limits *limits, double now);
void world_cancel(struct world *w, const struct world_limits *limits, double now); /* it has been told; else SIGTERM */
/* It shall end: SIGTERM after grace seconds, SIGKILL some time later. */
void world_stop(struct world *w, const char *cause, double grace, double now);

/* Its launcher has ended. The next start is at once after a good run, later and later (0.25 s doubling to 10 s) after
 * starts that came to nothing. */
void world_exited(struct world *w, double now);

#endif
