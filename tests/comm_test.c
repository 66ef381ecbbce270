/* One list of checks that every struct comm must pass: self, sim with 1 to 8 ranks, and under mpiexec with the argument
 * "mpi". Then what only sim can do: ranks that fail, leave, run out of memory or make another call than the others.
 */
#include "check.h"
#include "sim.h"

void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return sim_short() ? NULL : __real_array(n, size);
}

/* A check that holds on every rank: the sentence travels back with the rank. */
#define HOLD(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return fail(e, E_INTERNAL, "%s:%d: rank %d of %d: %s", __FILE__, __LINE__, c->rank, c->size, #condition);  \
    } while (0)

static int bcast_reaches_everyone(struct comm *c, void *context, struct err *e)
{
    static const int64_t size[] = { 0, 1, 2, 7, 8, 100, 4099 };
    (void)context;
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        unsigned char data[4099];
        memset(data, c->rank == 0 ? (int)(k + 1) : 0xee, sizeof data);
        HOLD(c->bcast(c, data, size[k], e) == 0);
        for (int64_t i = 0; i < (int64_t)sizeof data; i++)
            HOLD(data[i] == (i < size[k] || c->rank == 0 ? k + 1 : 0xee));
    }
    return 0;
}

static int sum_adds_exactly(struct comm *c, void *context, struct err *e)
{
    int64_t x[1001];
    (void)context;
    for (int i = 0; i < 1001; i++)
        x[i] = ((int64_t)1 << 60) / 16 * (i % 3 - 1) + i * (c->rank + 1);
    HOLD(c->sum(c, x, 1001, e) == 0);
    for (int i = 0; i < 1001; i++)
        HOLD(x[i] == c->size * (((int64_t)1 << 60) / 16 * (i % 3 - 1)) + (int64_t)i * c->size * (c->size + 1) / 2);
    int64_t one = INT64_MIN; /* a bit pattern to which exactly one rank contributes */
    if (c->rank != c->size - 1)
        one = 0;
    HOLD(c->sum(c, &one, 1, e) == 0 && one == INT64_MIN);
    HOLD(c->sum(c, NULL, 0, e) == 0);
    return 0;
}

/* Rank r brings r * scale bytes, some ranks none. */
static int gather_keeps_rank_order(struct comm *c, void *context, struct err *e)
{
    (void)context;
    for (int scale = 0; scale < 40; scale += 13) {
        char mine[7 * 40], *all = NULL;
        int64_t first[9], n = (int64_t)c->rank * scale % 200;
        memset(mine, 'a' + c->rank, sizeof mine);
        HOLD(c->gather(c, n > 0 ? mine : NULL, n, c->rank == 0 ? &all : NULL, c->rank == 0 ? first : NULL, e) == 0);
        if (c->rank != 0)
            continue;
        HOLD(all && first[0] == 0);
        for (int r = 0; r < c->size; r++) {
            HOLD(first[r + 1] - first[r] == (int64_t)r * scale % 200);
            for (int64_t i = first[r]; i < first[r + 1]; i++)
                HOLD(all[i] == 'a' + r);
        }
        free(all);
    }
    return 0;
}

static int share_gives_the_bytes(struct comm *c, void *context, struct err *e)
{
    char text[] = "one problem for all", *data = c->rank == 0 ? text : NULL;
    int64_t n = c->rank == 0 ? (int64_t)sizeof text : -1;
    (void)context;
    HOLD(comm_share(c, &data, &n, e) == 0 && n == (int64_t)sizeof text && !strcmp(data, text));
    if (c->rank != 0)
        free(data);
    return 0;
}

static int agree_tells_everyone(struct comm *c, void *context, struct err *e)
{
    struct err mine = { 0 };
    (void)context;
    HOLD(comm_agree(c, 0, &mine) == 0 && !mine.code);
    for (int bad = 0; bad < c->size; bad++) {
        int rc = c->rank == bad ? fail(&mine, E_INPUT, "mine") : (mine.code = E_NONE, 0);
        HOLD(comm_agree(c, rc, &mine) == -1);
        HOLD(mine.code == (c->rank == bad ? E_INPUT : E_COMM));
    }
    return 0;
}

static int clock_and_counters_move(struct comm *c, void *context, struct err *e)
{
    double before = c->now(c), after = c->now(c);
    int64_t calls = c->calls, bytes = c->bytes, x[3] = { 1, 2, 3 };
    (void)context;
    HOLD(after >= before);
    HOLD(c->sum(c, x, 3, e) == 0 && c->calls == calls + 1 && c->bytes == bytes + 24);
    return 0;
}

static int (*const conformance[])(struct comm *, void *, struct err *) = {
    bcast_reaches_everyone, sum_adds_exactly,     gather_keeps_rank_order,
    share_gives_the_bytes,  agree_tells_everyone, clock_and_counters_move,
};
static const int NCHECK = sizeof conformance / sizeof *conformance;

/* The program as a rank under mpiexec: every rank runs the list, the worst result is the exit status. */
static int mpi_main(void)
{
    struct err e = { 0 };
    struct comm *c = comm_mpi(&e);
    if (!c) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    int bad = 0;
    for (int i = 0; i < NCHECK; i++)
        if (conformance[i](c, NULL, &e) < 0) {
            fprintf(stderr, "check %d: %s\n", i, e.text);
            bad = 1;
        }
    if (comm_mpi(&e) || e.code != E_INTERNAL || !comm_launched())
        bad = 1;
    if (c->rank == 0)
        printf("%d checks on %d ranks\n", NCHECK, c->size);
    comm_free(c);
    return bad;
}

static void test_self_conforms(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct comm *c = comm_self(&e);
    CHECK(c && c->rank == 0 && c->size == 1);
    for (int i = 0; i < NCHECK; i++)
        CHECK(conformance[i](c, NULL, &e) == 0, "check %d: %s", i, e.text);
    comm_free(c);
    comm_free(NULL);
}

static void test_sim_conforms(void **state)
{
    (void)state;
    for (int size = 1; size <= 8; size++)
        for (int i = 0; i < 2 * NCHECK; i++) {
            struct sim_script slow = { .jitter_us = i < NCHECK ? 0 : 200, .seed = (uint64_t)(size + i) };
            struct sim_rank out[8];
            int rc = sim_run(size, &slow, conformance[i % NCHECK], NULL, out);
            for (int r = 0; r < size; r++)
                CHECK(out[r].rc == 0, "check %d, rank %d of %d: %s", i, r, size, out[r].e.text);
            CHECK(rc == 0);
        }
}

static int three_sums(struct comm *c, void *context, struct err *e)
{
    int32_t *done = context;
    for (int i = 0; i < 3; i++) {
        int64_t x = 1;
        if (c->sum(c, &x, 1, e) < 0)
            return -1;
        HOLD(x == c->size);
        done[c->rank]++;
    }
    return 0;
}

static void test_a_failed_call_stops_everyone(void **state)
{
    (void)state;
    for (int fault = SIM_FAILS; fault <= SIM_LEAVES; fault++)
        for (int bad = 0; bad < 4; bad++)
            for (int64_t n = 0; n < 3; n++) {
                int32_t done[4] = { 0 };
                struct sim_script s = { .fault = (enum sim_fault)fault, .rank = bad, .call = n, .jitter_us = 50 };
                struct sim_rank out[4];
                CHECK(sim_run(4, &s, three_sums, done, out) == -1);
                CHECK(out[bad].rc == -1 && out[bad].e.code == E_COMM && done[bad] == n);
                for (int r = 0; r < 4; r++) { /* who fails at the last call has taken part in it */
                    int whole = fault == SIM_FAILS && n == 2 && r != bad;
                    CHECK(out[r].rc == (whole ? 0 : -1), "fault %d of rank %d at %d: rank %d", fault, bad, (int)n, r);
                    CHECK(whole || out[r].e.code == E_COMM);
                    CHECK(done[r] - done[bad] <= 1);
                }
            }
}

static int odd_one_out(struct comm *c, void *context, struct err *e)
{
    int64_t x[2] = { 0, 0 };
    (void)context;
    return c->rank == 2 ? c->bcast(c, x, 8, e) : c->sum(c, x, 1, e);
}

static int odd_length(struct comm *c, void *context, struct err *e)
{
    int64_t x[2] = { 0, 0 };
    (void)context;
    return c->sum(c, x, c->rank == 1 ? 2 : 1, e);
}

static void test_a_different_call_is_named(void **state)
{
    (void)state;
    struct sim_rank out[3];
    CHECK(sim_run(3, NULL, odd_one_out, NULL, out) == -1);
    for (int r = 0; r < 3; r++)
        CHECK(!strcmp(out[r].e.text, "rank 0 calls sum(1) while rank 2 calls bcast(8)"), "%s", out[r].e.text);
    CHECK(sim_run(3, NULL, odd_length, NULL, out) == -1);
    CHECK(!strcmp(out[0].e.text, "rank 0 calls sum(1) while rank 1 calls sum(2)"), "%s", out[0].e.text);
}

static int share_and_gather(struct comm *c, void *context, struct err *e)
{
    char text[] = "text", *data = c->rank == 0 ? text : NULL, *all = NULL;
    int64_t n = sizeof text, first[5];
    (void)context;
    if (comm_share(c, &data, &n, e) < 0)
        return -1;
    int rc = c->gather(c, data, n, c->rank == 0 ? &all : NULL, c->rank == 0 ? first : NULL, e);
    HOLD(rc < 0 ? !all : c->rank != 0 || !strcmp(all + first[c->size - 1], "text"));
    free(all);
    if (c->rank != 0)
        free(data);
    return rc;
}

/* Each rank takes one array; the rank that gets none says so, the others learn that somebody failed. */
static void test_short_memory_reaches_all(void **state)
{
    (void)state;
    for (int bad = 0; bad < 4; bad++) {
        struct sim_script s = { .fault = SIM_SHORT, .rank = bad, .call = 0 };
        struct sim_rank out[4];
        CHECK(sim_run(4, &s, share_and_gather, NULL, out) == -1);
        for (int r = 0; r < 4; r++) {
            CHECK(out[r].rc == -1, "rank %d short, rank %d goes on", bad, r);
            CHECK(out[r].e.code == (r == bad ? E_MEMORY : E_COMM), "rank %d: %s", r, out[r].e.text);
            CHECK(out[r].arrays <= 1);
        }
    }
    struct sim_script beyond = { .fault = SIM_SHORT, .rank = 0, .call = 1 };
    CHECK(sim_run(4, &beyond, share_and_gather, NULL, NULL) == 0);
}

static void test_launched_reads_the_environment(void **state)
{
    static const char *const sign[] = { "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK" };
    (void)state;
    CHECK(!comm_launched());
    for (int i = 0; i < 3; i++) {
        setenv(sign[i], "0", 1);
        CHECK(comm_launched(), "%s", sign[i]);
        unsetenv(sign[i]);
    }
    setenv("SLURM_NTASKS", "8", 1); /* a batch script: no step, so no world to join */
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    CHECK(!comm_launched());
    setenv("SLURM_STEP_NUM_TASKS", "8", 1);
    CHECK(comm_launched());
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("SLURM_NTASKS");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "mpi"))
        return mpi_main();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_conforms),
        cmocka_unit_test(test_sim_conforms),
        cmocka_unit_test(test_a_failed_call_stops_everyone),
        cmocka_unit_test(test_a_different_call_is_named),
        cmocka_unit_test(test_short_memory_reaches_all),
        cmocka_unit_test(test_launched_reads_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
