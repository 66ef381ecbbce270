#include "check.h"
#include "service/daemon/queue.h"

/* Memory that fails at the call number fail_call, for add and restore. */
static int64_t fail_call = -1, calls;
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return calls++ == fail_call ? NULL : __real_array(n, size);
}

static const struct queue_limits usual = { .waiting = 1000, .attempts = 3, .job_seconds = 10 };

static struct job *new_job(int32_t priority, const char *key)
{
    struct job *j = job_new(NULL);
    CHECK(j);
    j->priority = priority;
    j->nkey = (int32_t)strlen(key);
    memcpy(j->key, key, strlen(key));
    return j;
}

static struct job *add(struct queue *q, int32_t priority, const char *key)
{
    struct err e = { 0 };
    struct job *j = new_job(priority, key);
    CHECK(queue_add(q, j, 100, &e) == 0, "%s", e.text);
    return j;
}

static void test_life_of_a_job(void **state)
{
    struct queue *q = queue_new(&usual, NULL);
    struct outcome end = { .state = JOB_DONE, .status = "optimal", .value = 0.5, .plan_bytes = 7 };
    (void)state;
    CHECK(!queue_next(q) && !queue_find(q, 1) && !queue_find_key(q, "k", 1));
    struct job *j = add(q, 0, "k");
    CHECK(j->id == 1 && j->state == JOB_QUEUED && j->dirty && !j->stored && queue_next(q) == j);
    job_stored(j);
    queue_assign(q, j, 4, 77, 5, 105);
    CHECK(j->state == JOB_ASSIGNED && j->attempt == 1 && j->world == 4 && j->dirty && !queue_next(q));
    CHECK(j->stored_state == JOB_QUEUED && j->stored_attempt == 0);
    CHECK(queue_current(q, 1, 1, 77) == j);
    CHECK(!queue_current(q, 1, 1, 76) && !queue_current(q, 1, 2, 77) && !queue_current(q, 2, 1, 77));
    queue_running(q, j);
    CHECK(j->state == JOB_RUNNING && queue_count(q, JOB_RUNNING) == 1 && queue_count(q, JOB_ASSIGNED) == 0);
    queue_finish(q, j, &end, 107);
    CHECK(j->state == JOB_DONE && j->ended == 107 && j->world == -1 && !strcmp(j->end.status, "optimal"));
    CHECK(!queue_current(q, 1, 1, 77), "a second result is stale");
    CHECK(queue_cancel(q, j, 108) == 0 && j->state == JOB_DONE, "what has ended stays as it is");
    CHECK(queue_find_key(q, "k", 1) == j);
    queue_free(q);
}

static void test_priority_then_order(void **state)
{
    struct queue *q = queue_new(&usual, NULL);
    (void)state;
    add(q, 0, "a");
    add(q, 5, "b");
    add(q, 5, "c");
    add(q, -3, "d");
    static const int64_t order[] = { 2, 3, 1, 4 };
    for (int i = 0; i < 4; i++) {
        struct job *j = queue_next(q);
        CHECK(j && j->id == order[i], "turn %d: job %lld", i, j ? (long long)j->id : -1);
        queue_assign(q, j, 0, 1, 0, 0);
    }
    queue_free(q);
}

static void test_lost_worlds_are_counted(void **state)
{
    struct queue *q = queue_new(&usual, NULL);
    struct job *j = add(q, 0, "k");
    (void)state;
    for (int i = 0; i < 5; i++) { /* stops of the daemon are nobody's fault */
        queue_assign(q, j, 0, i, 0, 0);
        queue_lost(q, j, 0, "stop", 1, 1);
        CHECK(j->state == JOB_QUEUED && j->lost == 0 && j->world == -1);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(j->state == JOB_QUEUED && j->attempt == 5 + i);
        queue_assign(q, j, 0, 10 + i, 0, 0);
        queue_lost(q, j, 1, "signal 9", 1, 1);
    }
    CHECK(j->state == JOB_FAILED && j->lost == 3 && !strcmp(j->end.code, "worker_lost"));
    CHECK(strstr(j->end.text, "3 times") && strstr(j->end.text, "signal 9"), "%s", j->end.text);
    queue_free(q);
}

static void test_cancel_and_time(void **state)
{
    struct queue *q = queue_new(&usual, NULL);
    struct job *waiting = add(q, 0, "a"), *under_way = add(q, 1, "b"), *late = add(q, 1, "c");
    (void)state;
    CHECK(queue_cancel(q, waiting, 3) == 0 && waiting->state == JOB_CANCELLED && waiting->ended == 3);
    queue_assign(q, under_way, 0, 1, 0, 0);
    job_stored(under_way);
    CHECK(queue_cancel(q, under_way, 3) == 1 && under_way->state == JOB_ASSIGNED && under_way->dirty);
    queue_lost(q, under_way, 1, "killed", 3, 3);
    CHECK(under_way->state == JOB_CANCELLED, "its world had to be killed");
    queue_assign(q, late, 0, 1, 50, 0);
    CHECK(!job_overdue(late, 60) && job_overdue(late, 60.5));
    queue_lost(q, late, 1, "killed", 60.5, 3);
    CHECK(late->state == JOB_TIMEOUT && strstr(late->end.text, "10 s"));
    queue_free(q);
}

static void test_restore(void **state)
{
    struct queue *q = queue_new(&usual, NULL);
    struct err e = { 0 };
    static const enum job_state before[] = { JOB_QUEUED, JOB_ASSIGNED, JOB_RUNNING, JOB_DONE, JOB_RUNNING };
    static const enum job_state after[] = { JOB_QUEUED, JOB_QUEUED, JOB_QUEUED, JOB_DONE, JOB_CANCELLED };
    (void)state;
    for (int i = 0; i < 5; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        struct job *j = new_job(0, key);
        j->id = 10 + 3 * i;
        j->attempt = 2;
        j->state = before[i];
        j->cancel = i == 4;
        CHECK(queue_restore(q, j, &e) == 0, "%s", e.text);
        CHECK(j->state == after[i] && j->attempt == 2 && j->stored && j->stored_state == before[i]);
        CHECK(j->dirty == (before[i] != after[i]));
    }
    struct job *twice = new_job(0, "other");
    twice->id = 22;
    CHECK(queue_restore(q, twice, &e) < 0 && strstr(e.text, "job 22"));
    twice->id = 40;
    twice->nkey = 2;
    memcpy(twice->key, "k3", 2);
    CHECK(queue_restore(q, twice, &e) < 0 && strstr(e.text, "job 40"));
    job_free(twice);
    queue_skip_ids(q, 99);
    queue_skip_ids(q, 50);
    CHECK(add(q, 0, "new")->id == 100);
    queue_free(q);
}

static void test_limit_and_short_memory(void **state)
{
    struct queue_limits two = { .waiting = 2, .attempts = 1 };
    struct err e = { 0 };
    (void)state;
    struct queue *q = queue_new(&two, NULL);
    add(q, 0, "a");
    struct job *b = add(q, 0, "b"), *c = new_job(0, "c");
    CHECK(queue_add(q, c, 0, &e) < 0 && e.code == E_INPUT && strstr(e.text, "2 jobs"));
    queue_cancel(q, b, 0);
    CHECK(queue_add(q, c, 0, &e) == 0 && c->id == 3);
    queue_free(q);
    for (fail_call = 0;; fail_call++) {
        int64_t want = fail_call;
        calls = 0;
        q = queue_new(&usual, &e);
        struct job *j = q ? job_new(&e) : NULL;
        int rc = j ? queue_add(q, j, 0, &e) : -1;
        int64_t made = calls;
        if (rc < 0) {
            CHECK(e.code == E_MEMORY, "call %lld: code %d", (long long)want, (int)e.code);
            CHECK(!q || queue_size(q) == 0);
            job_free(j);
        }
        queue_free(q);
        if (rc == 0) {
            CHECK(made <= want && want >= 3, "%lld calls", (long long)made);
            break;
        }
    }
    fail_call = -1;
}

/* The same random story told to the queue and to a plain list that is searched from end to end. */
struct told {
    int64_t id, attempt, epoch;
    int32_t priority;
    int lost, cancel, gone;
    enum job_state state;
    char key[32];
};

static const struct told *told_next(const struct told *t, int n)
{
    const struct told *best = NULL;
    for (int i = n - 1; i >= 0; i--)
        if (!t[i].gone && t[i].state == JOB_QUEUED && (!best || t[i].priority >= best->priority))
            best = &t[i];
    return best;
}

static void compare(struct queue *q, const struct told *t, int n, int seed)
{
    int64_t count[JOB_STATES] = { 0 }, size = 0;
    for (int i = 0; i < n; i++) {
        struct job *j = queue_find(q, t[i].id), *k = queue_find_key(q, t[i].key, (int64_t)strlen(t[i].key));
        CHECK(t[i].gone ? !j && !k : j && j == k, "seed %d, job %lld", seed, (long long)t[i].id);
        if (t[i].gone)
            continue;
        CHECK(j->state == t[i].state && j->attempt == t[i].attempt && j->lost == t[i].lost, "seed %d, job %lld: %s",
              seed, (long long)t[i].id, job_state_name[j->state]);
        count[t[i].state]++;
        CHECK(queue_at(q, size++) == j, "seed %d", seed);
    }
    CHECK(queue_size(q) == size, "seed %d", seed);
    for (int s = 0; s < JOB_STATES; s++)
        CHECK(queue_count(q, (enum job_state)s) == count[s], "seed %d, state %d", seed, s);
    const struct told *next = told_next(t, n);
    struct job *mine = queue_next(q);
    CHECK((next != NULL) == (mine != NULL) && (!next || next->id == mine->id), "seed %d", seed);
}

static void lose(struct queue *q, struct told *t, struct job *j)
{
    queue_lost(q, j, 1, "x", 0, 0);
    t->lost++;
    t->state = t->cancel ? JOB_CANCELLED : t->lost >= 3 ? JOB_FAILED : JOB_QUEUED;
}

static void one_step(struct queue *q, struct told *t, int *n, struct rng *r, int64_t *epoch)
{
    int i = *n > 0 ? rng_below(r, *n) : 0;
    struct job *j = *n > 0 && !t[i].gone ? queue_find(q, t[i].id) : NULL;
    int under_way = j && (j->state == JOB_ASSIGNED || j->state == JOB_RUNNING);
    switch (rng_below(r, 8)) {
    case 0:
    case 1: {
        struct told *fresh = &t[*n];
        snprintf(fresh->key, sizeof fresh->key, "key-%d", *n);
        fresh->priority = rng_below(r, 3) - 1;
        fresh->id = add(q, fresh->priority, fresh->key)->id;
        ++*n;
        break;
    }
    case 2:
    case 3: {
        struct told *next = (struct told *)told_next(t, *n);
        if (next) {
            queue_assign(q, queue_next(q), 0, ++*epoch, 0, 0);
            next->state = JOB_ASSIGNED;
            next->attempt++;
            next->epoch = *epoch;
        }
        break;
    }
    case 4:
        if (under_way && queue_current(q, t[i].id, t[i].attempt, t[i].epoch) == j) {
            queue_running(q, j);
            t[i].state = JOB_RUNNING;
        }
        break;
    case 5:
        if (under_way)
            lose(q, &t[i], j);
        break;
    case 6:
        if (j && !job_ended(j->state)) {
            CHECK(queue_cancel(q, j, 0) == under_way);
            t[i].cancel = 1;
            t[i].state = under_way ? t[i].state : JOB_CANCELLED;
        }
        break;
    default:
        if (under_way) {
            struct outcome end = { .state = JOB_DONE };
            queue_finish(q, j, &end, 0);
            t[i].state = JOB_DONE;
        } else if (j && job_ended(j->state)) {
            queue_remove(q, j);
            t[i].gone = 1;
        }
    }
}

static void test_against_a_plain_list(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 40; seed++) {
        struct rng r = { (uint64_t)seed };
        struct told *t = calloc(400, sizeof *t);
        struct queue *q = queue_new(&usual, NULL);
        int64_t epoch = 0;
        int n = 0;
        for (int step = 0; step < 400; step++) {
            one_step(q, t, &n, &r, &epoch);
            if (step % 7 == 0)
                compare(q, t, n, seed);
        }
        compare(q, t, n, seed);
        queue_free(q);
        free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life_of_a_job),
        cmocka_unit_test(test_priority_then_order),
        cmocka_unit_test(test_cancel_and_time),
        cmocka_unit_test(test_lost_worlds_are_counted),
        cmocka_unit_test(test_restore),
        cmocka_unit_test(test_limit_and_short_memory),
        cmocka_unit_test(test_against_a_plain_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
