/* How ranks talk: the contract that the solver sees in place of a message-passing library. Three implementations: self
 * (one rank), mpi (the only file with mpi.h), and in tests sim (ranks as threads, scripted failures).
 * All ranks make the same calls in the same order. Sums are of int64_t only, so that their order can not show: doubles
 * travel as fixed point (load / u * 2^40), or as bit patterns to which exactly one rank contributes non-zero bits.
 */
#ifndef HEDDLE_COMM_H
#define HEDDLE_COMM_H

#include "solver/model/base.h"

struct comm {
    int rank, size;
    /* data[bytes] of rank 0 to every rank. */
    int (*bcast)(struct comm *c, void *data, int64_t bytes, struct err *e);
    /* data[i] becomes the sum over the ranks, on every rank. */
    int (*sum)(struct comm *c, int64_t *data, int64_t n, struct err *e);
    /* Rank 0 gets every rank's bytes, in rank order: *all is allocated (caller frees), rank r's part is
     * (*all)[first[r] .. first[r + 1]); first[size + 1] is the caller's on rank 0. Other ranks pass NULL, NULL. */
    int (*gather)(struct comm *c, const void *mine, int64_t bytes, char **all, int64_t *first, struct err *e);
    /* Seconds on a monotonic clock of this rank. Only rank 0's may decide anything. */
    double (*now)(struct comm *c);
    void (*free)(struct comm *c);
    void *state;
    /* Called now and then while this rank waits for the others (heartbeats, cancel messages); may be NULL, and must not
     * call the comm. */
    void (*idle)(void *context);
    void *idle_context;
    int64_t calls, bytes; /* collective calls made and bytes this rank put in, for --stats */
};

struct comm *comm_self(struct err *e);

/* Joins the world that mpirun or srun has started (MPI_Init_thread, funneled); one per process. Refuses when the
 * launcher announced more tasks than the world has (a silent singleton). */
struct comm *comm_mpi(struct err *e);

/* 1 when the environment says that mpirun, or srun with more than one task, started this process; a process on its own
 * then takes comm_self and saves the third of a second that MPI_Init costs. */
int comm_launched(void);

/* Frees c after its last call; for mpi this is MPI_Finalize. c may be NULL. */
void comm_free(struct comm *c);

/* Bytes of any length from rank 0: on other ranks *data is allocated (caller frees) and *n set. */
int comm_share(struct comm *c, char **data, int64_t *n, struct err *e);

/* A failure flag rides a sum: returns 0 when rc is 0 on every rank, else -1 on all of them, with e set on those that
 * had not failed themselves. */
int comm_agree(struct comm *c, int rc, struct err *e);

#endif
