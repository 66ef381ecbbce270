/* Ranks over MPI; the only file that sees mpi.h. Main thread only (FUNNELED), a communicator of its own, errors
 * returned and never fatal. Counts beyond int travel in pieces. Nothing here or above may fork: children of MPI ranks
 * are undefined behaviour on RDMA networks.
 */
#include "solver/comm/comm.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes per MPI call. Far below INT_MAX, so that counts and displacements fit int in every layer; the tests build this
 * file with a few bytes, which walks the same loops. */
#ifndef HEDDLE_MPI_PIECE
#define HEDDLE_MPI_PIECE (1 << 28)
#endif
static const int64_t PIECE = HEDDLE_MPI_PIECE;

struct ranks {
    MPI_Comm comm;
    int64_t *bytes;  /* [size], rank 0: what each rank brings to a gather */
    int *count, *at; /* [size], rank 0: the same for one Gatherv */
};

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int check(int code, const char *call, struct err *e)
{
    if (code == MPI_SUCCESS)
        return 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(code, text, &n);
    return fail(e, E_COMM, "%s: %.300s", call, text);
}

/* Wait for a call under way. Short waits spin, since exchanges are many and small; a rank that waits longer gives its
 * core to the one it waits for, sleeps in short naps, and calls idle: a rank 0 that waits for a long search of another
 * rank is alive and must be able to say so. */
static int await(struct comm *c, MPI_Request *request, const char *call, struct err *e)
{
    static const double spin = 50e-6, nap = 1e-3, beat = 0.05; /* seconds */
    double begin = c->now(c), idle_at = begin + beat;
    for (int done = 0;;) {
        int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done)
            return check(code, call, e);
        double now = c->now(c);
        if (now - begin > nap)
            nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
        else if (now - begin > spin)
            sched_yield();
        if (c->idle && now >= idle_at) {
            c->idle(c->idle_context);
            idle_at = now + beat;
        }
    }
}

static int mpi_bcast(struct comm *c, void *data, int64_t bytes, struct err *e)
{
    struct ranks *s = c->state;
    c->calls++;
    c->bytes += bytes;
    for (int64_t i = 0; i < bytes; i += PIECE) {
        MPI_Request r;
        int count = (int)lesser(PIECE, bytes - i);
        if (check(MPI_Ibcast((char *)data + i, count, MPI_BYTE, 0, s->comm, &r), "MPI_Ibcast", e) < 0 ||
            await(c, &r, "MPI_Ibcast", e) < 0)
            return -1;
    }
    return 0;
}

static int mpi_sum(struct comm *c, int64_t *data, int64_t n, struct err *e)
{
    struct ranks *s = c->state;
    int64_t step = (PIECE + 7) / 8;
    c->calls++;
    c->bytes += n * (int64_t)sizeof *data;
    for (int64_t i = 0; i < n; i += step) {
        MPI_Request r;
        int count = (int)lesser(step, n - i);
        if (check(MPI_Iallreduce(MPI_IN_PLACE, data + i, count, MPI_INT64_T, MPI_SUM, s->comm, &r), "MPI_Iallreduce",
                  e) < 0 ||
            await(c, &r, "MPI_Iallreduce", e) < 0)
            return -1;
    }
    return 0;
}

/* More than one Gatherv can place: rank by rank, in pieces, straight to where it belongs. */
static int gather_long(struct comm *c, const char *mine, int64_t bytes, char *all, const int64_t *first, struct err *e)
{
    struct ranks *s = c->state;
    if (c->rank != 0) {
        for (int64_t i = 0; i < bytes; i += PIECE)
            if (check(MPI_Send(mine + i, (int)lesser(PIECE, bytes - i), MPI_BYTE, 0, 0, s->comm), "MPI_Send", e) < 0)
                return -1;
        return 0;
    }
    if (bytes > 0)
        memcpy(all, mine, (size_t)bytes);
    for (int r = 1; r < c->size; r++)
        for (int64_t i = first[r]; i < first[r + 1]; i += PIECE)
            if (check(
                    MPI_Recv(all + i, (int)lesser(PIECE, first[r + 1] - i), MPI_BYTE, r, 0, s->comm, MPI_STATUS_IGNORE),
                    "MPI_Recv", e) < 0)
                return -1;
    return 0;
}

static int gather_short(struct comm *c, const char *mine, int64_t bytes, char *all, const int64_t *first, struct err *e)
{
    struct ranks *s = c->state;
    for (int r = 0; c->rank == 0 && r < c->size; r++) {
        s->count[r] = (int)(first[r + 1] - first[r]);
        s->at[r] = (int)first[r];
    }
    return check(MPI_Gatherv(mine, (int)bytes, MPI_BYTE, all, s->count, s->at, MPI_BYTE, 0, s->comm), "MPI_Gatherv", e);
}

/* Sizes first; rank 0 makes room and tells the total to all, or -1 when it has no room: nobody sends into nothing. */
static int mpi_gather(struct comm *c, const void *mine, int64_t bytes, char **all, int64_t *first, struct err *e)
{
    struct ranks *s = c->state;
    int64_t total = 0;
    c->calls++;
    c->bytes += bytes;
    if (c->rank == 0)
        *all = NULL;
    MPI_Request r; /* the sizes: the only part of a gather in which rank 0 may wait for long */
    if (check(MPI_Igather(&bytes, 1, MPI_INT64_T, s->bytes, 1, MPI_INT64_T, 0, s->comm, &r), "MPI_Igather", e) < 0 ||
        await(c, &r, "MPI_Igather", e) < 0)
        return -1;
    if (c->rank == 0) {
        first[0] = 0;
        for (int i = 0; i < c->size; i++)
            first[i + 1] = first[i] + s->bytes[i];
        *all = array(first[c->size], 1);
        total = *all ? first[c->size] : -1;
    }
    int rc = check(MPI_Bcast(&total, 1, MPI_INT64_T, 0, s->comm), "MPI_Bcast", e);
    if (rc == 0 && total < 0)
        rc = fail(e, c->rank == 0 ? E_MEMORY : E_COMM, "rank 0: out of memory for the gathered bytes");
    if (rc == 0)
        rc = (total <= PIECE ? gather_short : gather_long)(c, mine, bytes, c->rank == 0 ? *all : NULL, first, e);
    if (rc < 0 && c->rank == 0) {
        free(*all);
        *all = NULL;
    }
    return rc;
}

static double mpi_now(struct comm *c)
{
    struct timespec t;
    (void)c;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void mpi_free(struct comm *c)
{
    struct ranks *s = c->state;
    if (s) {
        if (s->comm != MPI_COMM_NULL)
            MPI_Comm_free(&s->comm);
        free(s->bytes);
        free(s->count);
        free(s->at);
        free(s);
    }
    free(c);
    MPI_Finalize();
}

/* How many ranks the launcher announced to this process; the nearest launcher speaks first. */
static long announced(const char **variable)
{
    static const char *const name[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const char *text = getenv(name[i]);
        *variable = name[i];
        if (text)
            return strtol(text, NULL, 10);
    }
    return 1;
}

/* srun without a PMI that this MPI speaks starts n worlds of one rank, each of which would solve the whole problem. */
static int check_world(const struct comm *c, struct err *e)
{
    const char *variable;
    long n = announced(&variable);
    if (c->size == 1 && n > 1)
        return fail(e, E_COMM,
                    "%s=%ld, but this process is alone in its MPI world: start it with mpirun, or with srun --mpi=pmix",
                    variable, n);
    return 0;
}

static int join(struct comm *c, struct ranks *s, struct err *e)
{
    s->comm = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check(MPI_Comm_dup(MPI_COMM_WORLD, &s->comm), "MPI_Comm_dup", e) < 0 ||
        check(MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", e) < 0 ||
        check(MPI_Comm_rank(s->comm, &c->rank), "MPI_Comm_rank", e) < 0 ||
        check(MPI_Comm_size(s->comm, &c->size), "MPI_Comm_size", e) < 0 || check_world(c, e) < 0)
        return -1;
    int64_t n = c->rank == 0 ? c->size : 0;
    s->bytes = array(n, sizeof *s->bytes);
    s->count = array(n, sizeof *s->count);
    s->at = array(n, sizeof *s->at);
    int rc = s->bytes && s->count && s->at ? 0 : fail(e, E_MEMORY, "out of memory for %d ranks", c->size);
    return comm_agree(c, rc, e);
}

/* The helper threads that MPI starts inherit a mask without these signals, so they reach the main thread, which knows
 * when it may be interrupted. */
static int init(int *thread)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return code;
}

struct comm *comm_mpi(struct err *e)
{
    int before = 0, thread = 0;
    MPI_Initialized(&before);
    if (before) {
        fail(e, E_INTERNAL, "comm_mpi: MPI has been initialised in this process already");
        return NULL;
    }
    if (check(init(&thread), "MPI_Init_thread", e) < 0)
        return NULL;
    struct comm *c = array(1, sizeof *c);
    struct ranks *s = array(1, sizeof *s);
    if (!c || !s) { /* the others wait for this rank in MPI_Comm_dup: only the launcher can end them */
        fail(e, E_MEMORY, "out of memory");
        free(c);
        free(s);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return NULL;
    }
    *c = (struct comm){
        .bcast = mpi_bcast, .sum = mpi_sum, .gather = mpi_gather, .now = mpi_now, .free = mpi_free, .state = s
    };
    if (thread < MPI_THREAD_FUNNELED)
        fail(e, E_COMM, "MPI offers thread level %d, FUNNELED (%d) is needed", thread, MPI_THREAD_FUNNELED);
    else if (join(c, s, e) == 0)
        return c;
    mpi_free(c);
    return NULL;
}
