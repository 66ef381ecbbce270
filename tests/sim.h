/* A world of ranks inside one test: N threads, each with a struct comm, and a script of what goes wrong. The same body
 * runs on comm_self, sim and mpi. sim is stricter than a real network: a rank that makes another call than the others,
 * or leaves while they still call, fails everyone at once with a sentence instead of hanging.
 * Happy path: sim_run(4, NULL, body, &context, NULL) == 0.
 */
#ifndef HEDDLE_TESTS_SIM_H
#define HEDDLE_TESTS_SIM_H

#include "solver/comm/comm.h"

enum sim_fault {
    SIM_NONE,
    SIM_FAILS,  /* call number `call` returns E_COMM on that rank alone; the others do not notice */
    SIM_LEAVES, /* the rank is dead from call number `call` on: every later call of every rank is E_COMM */
    SIM_SHORT,  /* array() call number `call` of that rank returns NULL; see sim_short */
};

struct sim_script {
    enum sim_fault fault;
    int rank;      /* who it happens to */
    int64_t call;  /* counted from 0 on that rank */
    int jitter_us; /* before each call, each rank waits up to this long: seeded, another length each time */
    uint64_t seed; /* of the waits */
    double tick;   /* now() advances by this much at each call of now(), in seconds; 0: by 1e-3 */
};

/* What one rank did. Its clock starts at 1000 * rank, so that nobody may compare clocks of two ranks unseen. */
struct sim_rank {
    int rc; /* what the body returned */
    struct err e;
    int64_t calls, bytes, arrays; /* collective calls, bytes put in, array() calls seen by sim_short */
};

/* Runs body(c, context, e) on every rank and waits for all. script NULL: nothing goes wrong; out[size] may be NULL.
 * context is shared: a body writes to its own rank's place only. Returns 0 when every body returned 0, else -1. */
int sim_run(int size, const struct sim_script *script, int (*body)(struct comm *c, void *context, struct err *e),
            void *context, struct sim_rank *out);

/* For a test linked with -Wl,--wrap=array:
 *     void *__wrap_array(int64_t n, size_t size) { return sim_short() ? NULL : __real_array(n, size); }
 * 1 when this call of this rank is the one that the script lets fail; 0 always outside of sim_run. */
int sim_short(void);

#endif
