#include "service/daemon/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include <sqlite3.h>

enum { SCHEMA = 1 };

enum statement {
    INSERT_JOB,
    UPDATE_JOB,
    DELETE_JOB,
    DELETE_EVENTS,
    INSERT_EVENT,
    NEXT_EVENT,
    GET_META,
    SET_META,
    NSTATEMENT
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statement[NSTATEMENT];
    int open; /* a transaction has begun */
    int full;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS job(id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL DEFAULT '', key BLOB,"
    " digest BLOB NOT NULL, state TEXT NOT NULL, priority INTEGER NOT NULL, options TEXT NOT NULL,"
    " problem_bytes INTEGER NOT NULL, attempt INTEGER NOT NULL, lost INTEGER NOT NULL, epoch INTEGER NOT NULL,"
    " cancel INTEGER NOT NULL, t_submitted REAL NOT NULL, t_started REAL NOT NULL, t_ended REAL NOT NULL,"
    " status TEXT NOT NULL, value REAL, bound REAL, gap REAL, seconds REAL, plan_bytes INTEGER NOT NULL,"
    " plan_digest BLOB NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL, events INTEGER NOT NULL,"
    " UNIQUE(user, key));"
    "CREATE TABLE IF NOT EXISTS event(job INTEGER NOT NULL, seq INTEGER NOT NULL, t REAL NOT NULL, body BLOB NOT NULL,"
    " PRIMARY KEY(job, seq)) WITHOUT ROWID;";

static const char *const text_of[NSTATEMENT] = {
    [INSERT_JOB] =
        "INSERT INTO job(id, key, digest, state, priority, options, problem_bytes, attempt, lost, epoch, cancel,"
        " t_submitted, t_started, t_ended, status, value, bound, gap, seconds, plan_bytes, plan_digest, code,"
        " message, events)"
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24)",
    [UPDATE_JOB] =
        "UPDATE job SET key=?2, digest=?3, state=?4, priority=?5, options=?6, problem_bytes=?7, attempt=?8,"
        " lost=?9, epoch=?10, cancel=?11, t_submitted=?12, t_started=?13, t_ended=?14, status=?15, value=?16,"
        " bound=?17, gap=?18, seconds=?19, plan_bytes=?20, plan_digest=?21, code=?22, message=?23, events=?24"
        " WHERE id=?1 AND state=?25 AND attempt=?26",
    [DELETE_JOB] = "DELETE FROM job WHERE id=?1",
    [DELETE_EVENTS] = "DELETE FROM event WHERE job=?1",
    [INSERT_EVENT] = "INSERT INTO event(job, seq, t, body) VALUES(?1, ?2, ?3, ?4)",
    [NEXT_EVENT] = "SELECT seq, body FROM event WHERE job=?1 AND seq>=?2 ORDER BY seq LIMIT 1",
    [GET_META] = "SELECT value FROM meta WHERE name=?1",
    [SET_META] = "INSERT INTO meta(name, value) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET value=?2",
};

static const char load_text[] =
    "SELECT id, key, digest, state, priority, options, problem_bytes, attempt, lost, epoch, cancel, t_submitted, "
    "t_started,"
    " t_ended, status, value, bound, gap, seconds, plan_bytes, plan_digest, code, message, events FROM job ORDER BY id";

static int refuse(struct store *s, const char *what, struct err *e)
{
    s->full = sqlite3_errcode(s->db) == SQLITE_FULL;
    return fail(e, E_IO, "jobs.db: cannot %s: %s", what, sqlite3_errmsg(s->db));
}

static int run_text(struct store *s, const char *text, struct err *e)
{
    return sqlite3_exec(s->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : refuse(s, text, e);
}

/* WAL needs shared memory and locks that work; network file systems give neither (the magic numbers of statfs(2)). */
static int check_place(const char *folder, struct err *e)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } remote[] = { { 0x6969, "NFS" },        { 0x0bd00bd0, "Lustre" }, { 0xff534d42, "CIFS" },
                   { 0xfe534d42, "SMB" },    { 0x517b, "SMB" },        { 0x47504653, "GPFS" },
                   { 0x19830326, "BeeGFS" }, { 0x00c36400, "Ceph" },   { 0x5346414f, "AFS" } };
    struct statfs fs;
    if (statfs(folder, &fs) < 0)
        return fail(e, E_IO, "%s: cannot be looked at: %m", folder);
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if (((unsigned long)fs.f_type & 0xffffffffu) == remote[i].magic)
            return fail(e, E_INPUT, "%s lies on %s; the job store needs a local disk", folder, remote[i].name);
    return 0;
}

/* One number that a pragma or query gives; fallback when it gives none. */
static int64_t query_number(struct store *s, const char *text, int64_t fallback)
{
    sqlite3_stmt *q = NULL;
    int64_t x = fallback;
    if (sqlite3_prepare_v2(s->db, text, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        x = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return x;
}

static int check_health(struct store *s, struct err *e)
{
    sqlite3_stmt *q = NULL;
    int rc = -1;
    if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
        rc = refuse(s, "be checked", e);
    else if (strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
        fail(e, E_IO, "jobs.db is damaged: %s", (const char *)sqlite3_column_text(q, 0));
    else
        rc = 0;
    sqlite3_finalize(q);
    return rc;
}

static int set_up(struct store *s, struct err *e)
{
    static const char *const settings[] = {
        "PRAGMA locking_mode=EXCLUSIVE",  "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
        "PRAGMA wal_autocheckpoint=1000", "BEGIN EXCLUSIVE",         "COMMIT"
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (run_text(s, settings[i], e) < 0)
            return sqlite3_errcode(s->db) == SQLITE_BUSY ? fail(e, E_IO, "jobs.db is in use by another heddled") : -1;
    int64_t version = query_number(s, "PRAGMA user_version", -1);
    if (version > SCHEMA || version < 0)
        return fail(e, E_INPUT, "jobs.db has version %lld of the tables, this program knows %d", (long long)version,
                    SCHEMA);
    if (check_health(s, e) < 0 || run_text(s, schema, e) < 0 || run_text(s, "PRAGMA user_version=1", e) < 0)
        return -1;
    for (int i = 0; i < NSTATEMENT; i++)
        if (sqlite3_prepare_v3(s->db, text_of[i], -1, SQLITE_PREPARE_PERSISTENT, &s->statement[i], NULL) != SQLITE_OK)
            return refuse(s, text_of[i], e);
    return 0;
}

struct store *store_open(const char *folder, struct err *e)
{
    char path[4096];
    if (check_place(folder, e) < 0)
        return NULL;
    if (snprintf(path, sizeof path, "%s/jobs.db", folder) >= (int)sizeof path) {
        fail(e, E_INPUT, "%.100s...: too long a path", folder);
        return NULL;
    }
    struct store *s = array(1, sizeof *s);
    if (!s) {
        fail(e, E_MEMORY, "out of memory for the store");
        return NULL;
    }
    int rc = 0;
    if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        rc = s->db ? refuse(s, "be opened", e) : fail(e, E_MEMORY, "out of memory for the store");
    if (rc == 0)
        rc = set_up(s, e);
    if (rc < 0) {
        fail_at(e, "%s: ", folder);
        store_close(s);
        s = NULL;
    }
    return s;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < NSTATEMENT; i++)
        sqlite3_finalize(s->statement[i]);
    sqlite3_close(s->db);
    free(s);
}

static void copy_text(char *to, size_t room, sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    snprintf(to, room, "%s", text ? text : "");
}

static double real_or_nan(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL ? NAN : sqlite3_column_double(q, column);
}

static int read_blob(unsigned char *to, int room, sqlite3_stmt *q, int column, int32_t *n)
{
    int bytes = sqlite3_column_bytes(q, column);
    if (bytes > room)
        return -1;
    if (bytes > 0)
        memcpy(to, sqlite3_column_blob(q, column), (size_t)bytes);
    *n = bytes;
    return 0;
}

static int read_job(sqlite3_stmt *q, struct job *j, struct err *e)
{
    int32_t n, plan;
    char state[16];
    j->id = sqlite3_column_int64(q, 0);
    copy_text(state, sizeof state, q, 3);
    int k = 0;
    while (k < JOB_STATES && strcmp(job_state_name[k], state) != 0)
        k++;
    if (k == JOB_STATES)
        return fail(e, E_INPUT, "state \"%s\" is not known", state);
    j->state = (enum job_state)k;
    if (read_blob(j->key, sizeof j->key, q, 1, &j->nkey) < 0 || read_blob(j->digest, 32, q, 2, &n) < 0 || n != 32 ||
        read_blob(j->end.plan_digest, 32, q, 20, &plan) < 0)
        return fail(e, E_INPUT, "key or digest has a wrong length");
    const char *set = (const char *)sqlite3_column_text(q, 5);
    if (!(j->set = text_copy(set ? set : "")))
        return fail(e, E_MEMORY, "out of memory for a job");
    j->priority = sqlite3_column_int(q, 4);
    j->problem_bytes = sqlite3_column_int64(q, 6);
    j->attempt = sqlite3_column_int64(q, 7);
    j->lost = sqlite3_column_int64(q, 8);
    j->epoch = sqlite3_column_int64(q, 9);
    j->cancel = sqlite3_column_int(q, 10);
    j->submitted = sqlite3_column_double(q, 11);
    j->started = sqlite3_column_double(q, 12);
    j->ended = sqlite3_column_double(q, 13);
    j->end.state = j->state;
    copy_text(j->end.status, sizeof j->end.status, q, 14);
    j->end.value = real_or_nan(q, 15);
    j->end.bound = real_or_nan(q, 16);
    j->end.gap = real_or_nan(q, 17);
    j->end.seconds = real_or_nan(q, 18);
    j->end.plan_bytes = sqlite3_column_int64(q, 19);
    copy_text(j->end.code, sizeof j->end.code, q, 21);
    copy_text(j->end.text, sizeof j->end.text, q, 22);
    j->events = sqlite3_column_int64(q, 23);
    return 0;
}

int store_load(struct store *s, const struct store_reader *reader, struct err *e)
{
    sqlite3_stmt *q = NULL;
    int step = SQLITE_ERROR, rc = 0;
    if (sqlite3_prepare_v2(s->db, load_text, -1, &q, NULL) != SQLITE_OK)
        return refuse(s, "list the jobs", e);
    while (rc == 0 && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct err why = { 0 };
        struct job *j = job_new(e);
        if (!j) {
            rc = -1;
        } else if (read_job(q, j, &why) < 0 || reader->take(reader->context, j, &why) < 0) {
            reader->bad(reader->context, sqlite3_column_int64(q, 0), why.text);
            job_free(j);
        }
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = refuse(s, "list the jobs", e);
    sqlite3_finalize(q);
    return rc;
}

static int begin(struct store *s, struct err *e)
{
    if (!s->open && run_text(s, "BEGIN IMMEDIATE", e) < 0)
        return -1;
    s->open = 1;
    return 0;
}

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
    sqlite3_bind_text(q, at, text, -1, SQLITE_TRANSIENT);
}

/* Runs a bound statement that gives no rows; on failure the whole transaction is undone. */
static int step(struct store *s, sqlite3_stmt *q, const char *what, struct err *e)
{
    int rc = sqlite3_step(q) == SQLITE_DONE ? 0 : refuse(s, what, e);
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    if (rc < 0)
        store_rollback(s);
    return rc;
}

static void bind_job(sqlite3_stmt *q, const struct job *j)
{
    sqlite3_bind_int64(q, 1, j->id);
    if (j->nkey > 0)
        sqlite3_bind_blob(q, 2, j->key, j->nkey, SQLITE_TRANSIENT);
    sqlite3_bind_blob(q, 3, j->digest, sizeof j->digest, SQLITE_TRANSIENT);
    bind_text(q, 4, job_state_name[j->state]);
    sqlite3_bind_int(q, 5, j->priority);
    bind_text(q, 6, j->set ? j->set : "");
    sqlite3_bind_int64(q, 7, j->problem_bytes);
    sqlite3_bind_int64(q, 8, j->attempt);
    sqlite3_bind_int64(q, 9, j->lost);
    sqlite3_bind_int64(q, 10, j->epoch);
    sqlite3_bind_int(q, 11, j->cancel);
    sqlite3_bind_double(q, 12, j->submitted);
    sqlite3_bind_double(q, 13, j->started);
    sqlite3_bind_double(q, 14, j->ended);
    bind_text(q, 15, j->end.status);
    sqlite3_bind_double(q, 16, j->end.value); /* NaN is stored as NULL */
    sqlite3_bind_double(q, 17, j->end.bound);
    sqlite3_bind_double(q, 18, j->end.gap);
    sqlite3_bind_double(q, 19, j->end.seconds);
    sqlite3_bind_int64(q, 20, j->end.plan_bytes);
    sqlite3_bind_blob(q, 21, j->end.plan_digest, sizeof j->end.plan_digest, SQLITE_TRANSIENT);
    bind_text(q, 22, j->end.code);
    bind_text(q, 23, j->end.text);
    sqlite3_bind_int64(q, 24, j->events);
}

int store_put(struct store *s, const struct job *j, struct err *e)
{
    if (begin(s, e) < 0)
        return -1;
    sqlite3_stmt *q = s->statement[j->stored ? UPDATE_JOB : INSERT_JOB];
    bind_job(q, j);
    if (j->stored) {
        bind_text(q, 25, job_state_name[j->stored_state]);
        sqlite3_bind_int64(q, 26, j->stored_attempt);
    }
    if (step(s, q, "store a job", e) < 0)
        return -1;
    if (sqlite3_changes(s->db) != 1) {
        store_rollback(s);
        return fail(e, E_INTERNAL, "jobs.db: the row of job %lld is not as it was left", (long long)j->id);
    }
    return 0;
}

int store_delete(struct store *s, int64_t id, struct err *e)
{
    static const enum statement both[] = { DELETE_EVENTS, DELETE_JOB };
    for (int i = 0; i < 2; i++) {
        if (begin(s, e) < 0)
            return -1;
        sqlite3_bind_int64(s->statement[both[i]], 1, id);
        if (step(s, s->statement[both[i]], "delete a job", e) < 0)
            return -1;
    }
    return 0;
}

int store_event(struct store *s, int64_t job, int64_t seq, double time, const void *body, int64_t n, struct err *e)
{
    if (begin(s, e) < 0)
        return -1;
    sqlite3_stmt *q = s->statement[INSERT_EVENT];
    sqlite3_bind_int64(q, 1, job);
    sqlite3_bind_int64(q, 2, seq);
    sqlite3_bind_double(q, 3, time);
    sqlite3_bind_blob64(q, 4, body, (sqlite3_uint64)n, SQLITE_TRANSIENT);
    return step(s, q, "store an event", e);
}

int store_commit(struct store *s, struct err *e)
{
    if (!s->open)
        return 0;
    if (run_text(s, "COMMIT", e) < 0) {
        store_rollback(s);
        return -1;
    }
    s->open = 0;
    s->full = 0;
    return 0;
}

void store_rollback(struct store *s)
{
    if (s->open && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open = 0;
}

int store_full(const struct store *s)
{
    return s->full;
}

int64_t store_next_event(struct store *s, int64_t job, int64_t seq, char **body, int64_t *n, struct err *e)
{
    sqlite3_stmt *q = s->statement[NEXT_EVENT];
    int64_t found = 0;
    sqlite3_bind_int64(q, 1, job);
    sqlite3_bind_int64(q, 2, seq);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        found = sqlite3_column_int64(q, 0);
        *n = sqlite3_column_bytes(q, 1);
        *body = array(*n, 1);
        if (*body && *n > 0)
            memcpy(*body, sqlite3_column_blob(q, 1), (size_t)*n);
        if (!*body)
            found = fail(e, E_MEMORY, "out of memory for an event");
    } else if (rc != SQLITE_DONE) {
        found = refuse(s, "read an event", e);
    }
    sqlite3_reset(q);
    return found;
}

int64_t store_last_id(struct store *s)
{
    return query_number(s, "SELECT seq FROM sqlite_sequence WHERE name='job'", 0);
}

int64_t store_number(struct store *s, const char *name)
{
    sqlite3_stmt *q = s->statement[GET_META];
    bind_text(q, 1, name);
    int64_t x = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_reset(q);
    return x;
}

int store_set_number(struct store *s, const char *name, int64_t x, struct err *e)
{
    if (begin(s, e) < 0)
        return -1;
    bind_text(s->statement[SET_META], 1, name);
    sqlite3_bind_int64(s->statement[SET_META], 2, x);
    return step(s, s->statement[SET_META], "store a number", e);
}
