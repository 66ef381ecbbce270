/* Ranks as threads. A collective call is one meeting: every rank puts its call on the table and waits; the last to come
 * checks that all made the same call and does the work for everyone, while the others' buffers stand still.
 */
#include "sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum call_kind { CALL_BCAST, CALL_SUM, CALL_GATHER_SIZE, CALL_GATHER };
static const char *const call_name[] = { "bcast", "sum", "gather", "gather" };

struct call {
    enum call_kind kind;
    int64_t n;     /* bytes, or numbers for a sum */
    void *data;    /* what it brings; for bcast and sum also where the result goes */
    int64_t value; /* CALL_GATHER: -1 from rank 0 says that it has no memory */
};

struct world {
    pthread_mutex_t lock;
    pthread_cond_t met;
    int size, here;    /* ranks that wait at the table now */
    int64_t meeting;   /* counts finished meetings */
    struct call *call; /* [size] */
    char **all;        /* rank 0's places for a gather */
    int64_t *first;
    struct err broken; /* once set, every call returns it */
    struct sim_script script;
};

struct member {
    struct comm comm;
    struct world *world;
    int (*body)(struct comm *, void *, struct err *);
    void *context;
    struct sim_rank result;
    pthread_t thread;
    struct rng rng;
    double clock;
};

static _Thread_local struct member *self;

/* First mismatch between rank 0's call and another's. */
static int check_same(struct world *w)
{
    const struct call *a = &w->call[0];
    for (int r = 1; r < w->size; r++) {
        const struct call *b = &w->call[r];
        int sized = a->kind == CALL_BCAST || a->kind == CALL_SUM;
        if (a->kind != b->kind || (sized && a->n != b->n))
            return fail(&w->broken, E_INTERNAL, "rank 0 calls %s(%lld) while rank %d calls %s(%lld)",
                        call_name[a->kind], (long long)a->n, r, call_name[b->kind], (long long)b->n);
    }
    return 0;
}

static void work_sum(struct world *w)
{
    for (int64_t i = 0; i < w->call[0].n; i++) {
        uint64_t total = 0; /* wraps like the sum of an MPI library */
        for (int r = 0; r < w->size; r++)
            total += (uint64_t)((int64_t *)w->call[r].data)[i];
        for (int r = 0; r < w->size; r++)
            ((int64_t *)w->call[r].data)[i] = (int64_t)total;
    }
}

/* The last rank at the table does this for all. */
static int work(struct world *w)
{
    if (check_same(w) < 0)
        return -1;
    switch (w->call[0].kind) {
    case CALL_BCAST:
        for (int r = 1; r < w->size && w->call[0].n > 0; r++)
            memcpy(w->call[r].data, w->call[0].data, (size_t)w->call[0].n);
        break;
    case CALL_SUM:
        work_sum(w);
        break;
    case CALL_GATHER_SIZE:
        w->first[0] = 0;
        for (int r = 0; r < w->size; r++)
            w->first[r + 1] = w->first[r] + w->call[r].n;
        break;
    case CALL_GATHER:
        for (int r = 0; r < w->size && w->call[0].value >= 0; r++) {
            w->call[r].value = 0;
            if (w->call[r].n > 0)
                memcpy(*w->all + w->first[r], w->call[r].data, (size_t)w->call[r].n);
        }
        for (int r = 1; r < w->size; r++)
            w->call[r].value = w->call[0].value;
        break;
    }
    return 0;
}

/* Puts the call on the table and waits for the others. *value is the call's value after the work. */
static int meet(struct member *m, struct call call, int64_t *value, struct err *e)
{
    struct world *w = m->world;
    int rc = 0;
    pthread_mutex_lock(&w->lock);
    int64_t meeting = w->meeting;
    if (!w->broken.code) {
        w->call[m->comm.rank] = call;
        if (++w->here == w->size && work(w) == 0) {
            w->here = 0;
            w->meeting++;
        }
        if (w->here == 0 || w->broken.code)
            pthread_cond_broadcast(&w->met);
        while (meeting == w->meeting && !w->broken.code)
            pthread_cond_wait(&w->met, &w->lock);
        if (value)
            *value = w->call[m->comm.rank].value;
    }
    if (meeting == w->meeting) /* a meeting that was held counts, even when somebody has left since */
        rc = fail(e, w->broken.code, "%s", w->broken.text);
    pthread_mutex_unlock(&w->lock);
    return rc;
}

static void break_world(struct world *w, const char *what, int rank, int64_t calls)
{
    pthread_mutex_lock(&w->lock);
    if (!w->broken.code)
        fail(&w->broken, E_COMM, "rank %d %s after %lld calls", rank, what, (long long)calls);
    pthread_cond_broadcast(&w->met);
    pthread_mutex_unlock(&w->lock);
}

/* Counts the call, waits where the script says so, and returns 1 when it must fail on this rank alone. */
static int begin(struct member *m, int64_t bytes)
{
    const struct sim_script *s = &m->world->script;
    int mine = s->rank == m->comm.rank;
    if (s->jitter_us > 0)
        usleep((useconds_t)rng_below(&m->rng, s->jitter_us));
    if (mine && s->fault == SIM_LEAVES && m->comm.calls >= s->call)
        break_world(m->world, "died", m->comm.rank, m->comm.calls);
    int fails = mine && s->fault == SIM_FAILS && m->comm.calls == s->call;
    m->comm.calls++;
    m->comm.bytes += bytes;
    return fails;
}

static int finish(struct member *m, int fails, int rc, struct err *e)
{
    if (fails && rc == 0)
        return fail(e, E_COMM, "rank %d: call %lld fails as scripted", m->comm.rank, (long long)m->comm.calls - 1);
    return rc;
}

static int sim_bcast(struct comm *c, void *data, int64_t bytes, struct err *e)
{
    struct member *m = c->state;
    int fails = begin(m, bytes);
    return finish(m, fails, meet(m, (struct call){ CALL_BCAST, bytes, data, 0 }, NULL, e), e);
}

static int sim_sum(struct comm *c, int64_t *data, int64_t n, struct err *e)
{
    struct member *m = c->state;
    int fails = begin(m, n * (int64_t)sizeof *data);
    return finish(m, fails, meet(m, (struct call){ CALL_SUM, n, data, 0 }, NULL, e), e);
}

static int sim_gather(struct comm *c, const void *mine, int64_t bytes, char **all, int64_t *first, struct err *e)
{
    struct member *m = c->state;
    int fails = begin(m, bytes);
    if (c->rank == 0) { /* others read these only after everyone has met */
        m->world->all = all;
        m->world->first = first;
        *all = NULL;
    }
    if (meet(m, (struct call){ CALL_GATHER_SIZE, bytes, NULL, 0 }, NULL, e) < 0)
        return -1;
    struct call call = { CALL_GATHER, bytes, (void *)(uintptr_t)mine, 0 };
    int64_t value = 0;
    if (c->rank == 0) {
        *all = array(first[c->size], 1);
        call.value = *all ? 0 : -1;
    }
    int rc = meet(m, call, &value, e);
    if (rc == 0 && value < 0)
        rc = fail(e, c->rank == 0 ? E_MEMORY : E_COMM, "rank 0: out of memory for the gathered bytes");
    rc = finish(m, fails, rc, e);
    if (rc < 0 && c->rank == 0) {
        free(*all);
        *all = NULL;
    }
    return rc;
}

static double sim_now(struct comm *c)
{
    struct member *m = c->state;
    m->clock += m->world->script.tick > 0 ? m->world->script.tick : 1e-3;
    return m->clock;
}

static void sim_free(struct comm *c)
{
    (void)c; /* sim_run owns it */
}

int sim_short(void)
{
    if (!self)
        return 0;
    const struct sim_script *s = &self->world->script;
    int64_t number = self->result.arrays++;
    return s->fault == SIM_SHORT && s->rank == self->comm.rank && s->call == number;
}

static void *run(void *argument)
{
    struct member *m = argument;
    self = m;
    m->result.rc = m->body(&m->comm, m->context, &m->result.e);
    break_world(m->world, "left", m->comm.rank, m->comm.calls);
    m->result.calls = m->comm.calls;
    m->result.bytes = m->comm.bytes;
    self = NULL;
    return NULL;
}

static void start(struct world *w, struct member *m, int rank, uint64_t seed)
{
    m->comm = (struct comm){ .rank = rank,
                             .size = w->size,
                             .bcast = sim_bcast,
                             .sum = sim_sum,
                             .gather = sim_gather,
                             .now = sim_now,
                             .free = sim_free,
                             .state = m };
    m->world = w;
    m->rng.state = mix64(seed) + (uint64_t)rank;
    m->clock = 1000.0 * rank;
    if (pthread_create(&m->thread, NULL, run, m) != 0) {
        fprintf(stderr, "sim: no thread for rank %d\n", rank);
        abort();
    }
}

int sim_run(int size, const struct sim_script *script, int (*body)(struct comm *c, void *context, struct err *e),
            void *context, struct sim_rank *out)
{
    struct world w = { .lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER, .size = size };
    struct member *member = calloc((size_t)size, sizeof *member);
    w.call = calloc((size_t)size, sizeof *w.call);
    if (!member || !w.call)
        abort();
    if (script)
        w.script = *script;
    for (int r = 0; r < size; r++) {
        member[r].body = body;
        member[r].context = context;
        start(&w, &member[r], r, w.script.seed);
    }
    int rc = 0;
    for (int r = 0; r < size; r++) {
        pthread_join(member[r].thread, NULL);
        rc = member[r].result.rc < 0 ? -1 : rc;
        if (out)
            out[r] = member[r].result;
    }
    free(w.call);
    free(member);
    return rc;
}
