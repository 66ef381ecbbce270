/* The store and the spool: what is committed is there after a kill, one at a time holds the lock, rows change only from
 * where they were left, bad rows and files are set aside.
 */
#include "check.h"
#include "service/daemon/spool.h"
#include "service/daemon/store.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char home[64];

static int make_home(void **state)
{
    (void)state;
    strcpy(home, "/tmp/heddle-store-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static int drop_home(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

struct found {
    int n, nbad;
    struct job *job[100];
    char why[200];
};

static int keep(void *context, struct job *j, struct err *e)
{
    struct found *f = context;
    if (f->n == 100)
        return fail(e, E_INTERNAL, "too many");
    f->job[f->n++] = j;
    return 0;
}

static void set_aside(void *context, int64_t id, const char *why)
{
    struct found *f = context;
    f->nbad++;
    snprintf(f->why, sizeof f->why, "%lld: %s", (long long)id, why);
}

static struct found load(struct store *s)
{
    struct found f = { 0 };
    struct err e = { 0 };
    struct store_reader reader = { &f, keep, set_aside };
    CHECK(store_load(s, &reader, &e) == 0, "%s", e.text);
    return f;
}

static void drop(struct found *f)
{
    for (int i = 0; i < f->n; i++)
        job_free(f->job[i]);
}

static struct store *open_store(void)
{
    struct err e = { 0 };
    struct store *s = store_open(home, &e);
    CHECK(s, "%s", e.text);
    return s;
}

static struct job example(int64_t id)
{
    struct job j = { .id = id,
                     .state = JOB_RUNNING,
                     .priority = -3,
                     .nkey = 16,
                     .problem_bytes = 9,
                     .attempt = 2,
                     .lost = 1,
                     .epoch = (int64_t)5 << 40,
                     .cancel = 1,
                     .submitted = 1.5,
                     .started = 2.5,
                     .ended = 3.5,
                     .events = 4 };
    j.set = "gap=0.1\npods=3";
    memcpy(j.key, "0123456789abcdef", 16);
    j.key[0] = (unsigned char)id;
    j.digest[31] = 200;
    j.end = (struct outcome){ .status = "optimal",
                              .value = 0.1,
                              .bound = NAN,
                              .gap = 0,
                              .seconds = 2,
                              .plan_bytes = 77,
                              .code = "c",
                              .text = "it's \"fine\"" };
    return j;
}

static void test_rows_come_back(void **state)
{
    struct err e = { 0 };
    (void)state;
    struct store *s = open_store();
    struct job j = example(7);
    CHECK(store_number(s, "x") == 0 && store_last_id(s) == 0);
    CHECK(store_put(s, &j, &e) == 0 && store_set_number(s, "x", 5, &e) == 0 && store_commit(s, &e) == 0, "%s", e.text);
    job_stored(&j);
    store_close(s);
    s = open_store();
    struct found f = load(s);
    CHECK(f.n == 1 && f.nbad == 0 && store_number(s, "x") == 5 && store_last_id(s) == 7);
    struct job *k = f.job[0];
    CHECK(k->id == 7 && k->state == JOB_RUNNING && k->priority == -3 && k->problem_bytes == 9 && k->attempt == 2);
    CHECK(k->lost == 1 && k->epoch == (int64_t)5 << 40 && k->cancel == 1 && k->events == 4 && k->end.plan_bytes == 77);
    CHECK(k->nkey == 16 && !memcmp(k->key, j.key, 16) && !memcmp(k->digest, j.digest, 32) && !strcmp(k->set, j.set));
    CHECK(k->submitted == 1.5 && k->started == 2.5 && k->ended == 3.5 && k->end.value == 0.1 && isnan(k->end.bound));
    CHECK(!strcmp(k->end.status, "optimal") && !strcmp(k->end.text, "it's \"fine\""));
    drop(&f);
    store_close(s);
}

static void test_updates_and_rollback(void **state)
{
    struct err e = { 0 };
    (void)state;
    struct store *s = open_store();
    struct job j = example(1), k = example(2);
    CHECK(store_put(s, &j, &e) == 0 && store_commit(s, &e) == 0);
    job_stored(&j);
    j.state = JOB_DONE;
    CHECK(store_put(s, &j, &e) == 0 && store_put(s, &k, &e) == 0);
    store_rollback(s);
    struct found f = load(s);
    CHECK(f.n == 1 && f.job[0]->state == JOB_RUNNING, "undone");
    drop(&f);
    CHECK(store_put(s, &j, &e) == 0 && store_commit(s, &e) == 0);
    CHECK(store_put(s, &j, &e) < 0 && e.code == E_INTERNAL && strstr(e.text, "job 1"), "the row has moved on");
    memcpy(k.key, j.key, 16);
    CHECK(store_put(s, &k, &e) < 0 && e.code == E_IO && strstr(e.text, "UNIQUE"), "%s", e.text);
    CHECK(store_delete(s, 1, &e) == 0 && store_commit(s, &e) == 0 && store_last_id(s) == 1);
    f = load(s);
    CHECK(f.n == 0);
    store_close(s);
}

static void test_events(void **state)
{
    struct err e = { 0 };
    char *body;
    int64_t n;
    (void)state;
    struct store *s = open_store();
    CHECK(store_event(s, 3, 1, 0, "a\0b", 3, &e) == 0 && store_event(s, 3, 5, 0, "", 0, &e) == 0);
    CHECK(store_event(s, 4, 2, 0, "x", 1, &e) == 0 && store_commit(s, &e) == 0);
    CHECK(store_next_event(s, 3, 1, &body, &n, &e) == 1 && n == 3 && !memcmp(body, "a\0b", 3));
    free(body);
    CHECK(store_next_event(s, 3, 2, &body, &n, &e) == 5 && n == 0);
    free(body);
    CHECK(store_next_event(s, 3, 6, &body, &n, &e) == 0);
    CHECK(store_delete(s, 3, &e) == 0 && store_commit(s, &e) == 0);
    CHECK(store_next_event(s, 3, 1, &body, &n, &e) == 0);
    store_close(s);
}

/* A child that commits row after row and says so on a pipe is killed at a random moment: every row it spoke of is
 * there. */
static void test_kill_of_the_writer(void **state)
{
    struct rng r = { 11 };
    struct err e = { 0 };
    int64_t said = 0;
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        int pipes[2];
        CHECK(pipe(pipes) == 0);
        pid_t child = fork();
        if (child == 0) {
            struct store *s = store_open(home, &e);
            for (int64_t id = said + 1; s; id++) {
                struct job j = example(id);
                memcpy(j.key, &id, sizeof id);
                if (store_put(s, &j, &e) < 0 || store_commit(s, &e) < 0 || write(pipes[1], &id, sizeof id) < 0)
                    break;
            }
            _exit(1);
        }
        close(pipes[1]);
        int64_t id = 0;
        int rows = 1 + rng_below(&r, 6);
        while (rows-- > 0 && read(pipes[0], &id, sizeof id) == sizeof id)
            said = id;
        kill(child, SIGKILL);
        CHECK(waitpid(child, NULL, 0) == child);
        while (read(pipes[0], &id, sizeof id) == sizeof id)
            said = id;
        close(pipes[0]);
        CHECK(said > 0);
        struct store *s = open_store();
        struct found f = load(s);
        CHECK(f.n >= said && f.n <= said + 1 && f.nbad == 0, "turn %d: %d rows, %d were said", turn, f.n, (int)said);
        said = f.n;
        drop(&f);
        store_close(s);
    }
}

static void test_one_at_a_time(void **state)
{
    int status;
    (void)state;
    struct store *s = open_store();
    pid_t child = fork();
    if (child == 0) {
        struct err e = { 0 };
        _exit(store_open(home, &e) != NULL || !strstr(e.text, "in use by another heddled"));
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    store_close(s);
}

static void test_strange_files(void **state)
{
    char path[128], command[400];
    struct err e = { 0 };
    (void)state;
    CHECK(!store_open("/nonexistent", &e) && strstr(e.text, "/nonexistent"), "%s", e.text);
    snprintf(path, sizeof path, "%s/jobs.db", home);
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 2000; i++)
        fputs("garbage ", f);
    fclose(f);
    CHECK(!store_open(home, &e) && strstr(e.text, "not a database"), "%s", e.text);
    unlink(path);
    store_close(open_store());
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3; d=sqlite3.connect('%s'); d.execute('pragma user_version=9')\"", path);
    CHECK(system(command) == 0);
    CHECK(!store_open(home, &e) && strstr(e.text, "version 9"), "%s", e.text);
}

static void test_bad_rows_are_set_aside(void **state)
{
    char command[600];
    struct err e = { 0 };
    (void)state;
    struct store *s = open_store();
    for (int64_t id = 1; id <= 3; id++) {
        struct job j = example(id);
        CHECK(store_put(s, &j, &e) == 0);
    }
    CHECK(store_commit(s, &e) == 0);
    store_close(s);
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3; d=sqlite3.connect('%s/jobs.db'); d.execute('update job set state=\\'odd\\' "
             "where id=2');"
             " d.commit()\"",
             home);
    CHECK(system(command) == 0);
    s = open_store();
    struct found f = load(s);
    CHECK(f.n == 2 && f.nbad == 1 && !strcmp(f.why, "2: state \"odd\" is not known"), "%s", f.why);
    drop(&f);
    store_close(s);
}

static void test_disk_full(void **state)
{
    struct err e = { 0 };
    (void)state;
    struct store *s = open_store();
    char spool_folder[128];
    snprintf(spool_folder, sizeof spool_folder, "%s/spool", home);
    struct spool *p = spool_open(spool_folder, &e);
    struct job j = example(1), k = example(2);
    CHECK(p && store_put(s, &j, &e) == 0 && store_commit(s, &e) == 0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, tight = { 64 << 10, RLIM_INFINITY };
    getrlimit(RLIMIT_FSIZE, &before);
    tight.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &tight);
    int rc = 0;
    for (int64_t id = 2; rc == 0 && id < 200; id++) {
        k = example(id);
        memcpy(k.key, &id, sizeof id);
        rc = store_put(s, &k, &e) < 0 || store_commit(s, &e) < 0;
    }
    CHECK(rc != 0 && e.code == E_IO, "the file could grow");
    char *big = calloc(1, 128 << 10);
    CHECK(spool_write(p, "1.problem", big, 128 << 10, &e) < 0 && strstr(e.text, "1.problem"), "%s", e.text);
    setrlimit(RLIMIT_FSIZE, &before);
    int64_t again = k.id + 1000;
    k = example(again);
    memcpy(k.key, &again, sizeof again);
    CHECK(store_put(s, &k, &e) == 0 && store_commit(s, &e) == 0, "it goes on when there is room again: %s", e.text);
    CHECK(spool_write(p, "1.problem", big, 128 << 10, &e) == 0 && spool_sync(p, &e) == 0);
    free(big);
    spool_close(p);
    store_close(s);
}

static int odd(void *context, const char *name)
{
    ++*(int *)context;
    return strtoll(name, NULL, 10) % 2 == 1;
}

static void test_spool(void **state)
{
    struct err e = { 0 };
    char folder[128], name[SPOOL_NAME], data[8];
    int asked = 0;
    struct stat st;
    (void)state;
    snprintf(folder, sizeof folder, "%s/spool", home);
    struct spool *s = spool_open(folder, &e);
    CHECK(s && stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
    for (int64_t id = 1; id <= 4; id++) {
        spool_problem_name(name, id);
        CHECK(spool_write(s, name, "abcdefgh", 8, &e) == 0, "%s", e.text);
    }
    spool_plan_name(name, 3, 2);
    CHECK(!strcmp(name, "3.2.plan") && spool_write(s, name, "", 0, &e) == 0);
    CHECK(spool_write(s, name, "second", 6, &e) == 0 && spool_sync(s, &e) == 0);
    CHECK(spool_read(s, name, 2, data, 4, &e) == 0 && !memcmp(data, "cond", 4));
    CHECK(spool_read(s, name, 3, data, 4, &e) < 0 && strstr(e.text, "3.2.plan ends at byte 6, not at 7"), "%s", e.text);
    CHECK(spool_read(s, "9.problem", 0, data, 1, &e) < 0 && strstr(e.text, "9.problem"));
    snprintf(folder, sizeof folder, "%s/spool/5.problem.tmp", home);
    FILE *half = fopen(folder, "w");
    CHECK(half && fclose(half) == 0);
    CHECK(spool_sweep(s, odd, &asked) == 3 && asked == 5, "two even ones and the half-written one");
    spool_remove(s, "1.problem");
    spool_remove(s, "1.problem");
    CHECK(spool_read(s, "1.problem", 0, data, 1, &e) < 0 && spool_read(s, "3.problem", 0, data, 8, &e) == 0);
    spool_close(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_home, drop_home)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows_come_back),
        TEST(test_updates_and_rollback),
        TEST(test_events),
        TEST(test_kill_of_the_writer),
        TEST(test_one_at_a_time),
        TEST(test_strange_files),
        TEST(test_bad_rows_are_set_aside),
        TEST(test_disk_full),
        TEST(test_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
