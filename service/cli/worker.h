/* A world's side of the service: rank 0 dials heddled and takes jobs, the other ranks sleep until it wakes them. What
 * solves a job is an argument, so that tests can script it.
 */
#ifndef HEDDLE_WORKER_H
#define HEDDLE_WORKER_H

#include "service/cli/run.h"

struct worker {
    const char *address; /* of heddled's socket for worlds */
    const char *folder;  /* of this world: its wake-up socket lies here; NULL with one rank */
    int32_t world;
    int64_t epoch;
    int (*run)(struct comm *c, const struct run_job *job, const struct hooks *hooks, struct run_result *out,
               struct err *e);
};

/* All ranks call it. Returns 0 when heddled has told the world to go; -1 when the world cannot go on (a rank failed,
 * the parent process is gone): the process shall then end at once, without another call on c. */
int worker_run(struct comm *c, const struct worker *w, struct err *e);

#endif
