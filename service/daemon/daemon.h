/* The daemon's one object, and how its parts share it. One process, one thread, one loop (heddled.c):
 *
 *   read all messages  ->  change the queue  ->  one commit  ->  answers, events, jobs to idle worlds  ->  wait
 *
 * Nothing is answered before the commit, so that an answer always speaks of what survives.
 */
#ifndef HEDDLE_DAEMON_H
#define HEDDLE_DAEMON_H

#include "service/daemon/config.h"
#include "service/daemon/queue.h"
#include "service/daemon/spool.h"
#include "service/daemon/store.h"
#include "service/daemon/world.h"
#include "service/wire/message.h"

enum { MAX_WORLDS = 8, MAX_LISTENERS = 10000 };

/* A client that waits for a job's end, or watches its events. */
struct listener {
    struct listener *next;
    int64_t job, id;
    double deadline; /* waiting: then the answer is "timeout" */
    int64_t seq;     /* watching: the next event to send; 0: waiting */
    int64_t npeer;
    char peer[64];
};

/* A message on its way out. */
struct post {
    struct post *next;
    struct letter letter;
    int64_t job; /* it promises that this job is stored; 0: no promise */
    int64_t id;
    double since;
    int to_world;
};

struct daemon {
    struct config config;
    char solver[CONFIG_TEXT], scratch[CONFIG_TEXT], boot[17];
    struct queue *queue;
    struct store *store;
    struct spool *spool;
    struct bus *bus;
    struct sock *clients, *workers;
    struct world world[MAX_WORLDS];
    struct world_limits world_limits;
    int64_t epoch; /* of the last world started */
    struct post *post, **post_end;
    int64_t npost, post_bytes;
    struct listener *listener;
    int64_t nlistener;
    double now, time; /* of this turn of the loop: monotonic, and seconds since 1970 */
    double store_at;  /* after a failed commit: when to try again */
    double tidy_at;   /* when to look for jobs that are too old */
    double progress_at[MAX_WORLDS];
    int draining, listener_blocked;
    int64_t submitted, duplicates, refused, dropped, stale, finished; /* counts for stats */
    double started;
};

/* front.c: what clients ask. */
void front_receive(struct daemon *d, struct parcel *p);
void front_listeners(struct daemon *d); /* answers those whose job has news; needs a finished commit */

/* fleet.c: the worlds. */
void fleet_receive(struct daemon *d, struct parcel *p);
void fleet_reap(struct daemon *d);     /* launchers that have ended */
void fleet_tick(struct daemon *d);     /* deadlines and starts */
void fleet_dispatch(struct daemon *d); /* queued jobs to idle worlds */
void fleet_cancel(struct daemon *d, struct job *j);
double fleet_due(const struct daemon *d);
int fleet_stop(struct daemon *d); /* asks all worlds to go; returns how many are still there */

/* post.c: answers and the commit before them. */
void post_reply(struct daemon *d, const struct message *to, const char *type, struct arena *a, const struct value *body,
                int64_t promised);
void post_refuse(struct daemon *d, const struct message *to, const char *code, const char *field, const char *text);
int post_world(struct daemon *d, const struct world *w, struct arena *a, const struct value *head,
               const struct value *body, const struct span *raw, struct err *e);
void post_commit(struct daemon *d); /* stores every dirty job with its events */
void post_flush(struct daemon *d);
void post_free(struct daemon *d);
void post_event(struct daemon *d, struct job *j, struct arena *a, const struct value *body);

/* A job as the map that status, wait, list and events show. */
struct value *post_job(struct arena *a, const struct job *j);

#endif
