/* What must outlive the daemon: rows of jobs and events in SQLite; the only file that sees sqlite3.h. One connection
 * with an exclusive lock, so that a second daemon on the same folder is refused (and libsqlite's bug with several
 * writers of one WAL cannot bite). Commits are synchronous: what store_commit has accepted survives kill -9 and a power
 * cut. Files of problems and plans are spool.h's.
 */
#ifndef HEDDLE_STORE_H
#define HEDDLE_STORE_H

#include "service/daemon/queue.h"

struct store;

/* Opens or makes <folder>/jobs.db. Refuses a folder on a network file system, a database of a newer version, one that
 * another process holds, and one that fails SQLite's own check. */
struct store *store_open(const char *folder, struct err *e);
void store_close(struct store *s);

/* Rows in order of id; take may keep the job (return 0) or refuse it (-1: store_load passes its sentence to bad and
 * goes on with the next row, which then stays as it is). */
struct store_reader {
    void *context;
    int (*take)(void *context, struct job *j, struct err *e);
    void (*bad)(void *context, int64_t id, const char *why);
};
int store_load(struct store *s, const struct store_reader *reader, struct err *e);

/* Changes gather in one transaction, begun by the first of them, until commit. E_IO with "disk full" in the sentence
 * when there is no room; the transaction is then undone. */
int store_put(struct store *s, const struct job *j, struct err *e); /* the row must be as j->stored_... remembers it */
int store_delete(struct store *s, int64_t id, struct err *e);       /* job and events */
int store_event(struct store *s, int64_t job, int64_t seq, double time, const void *body, int64_t n, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);
int store_full(const struct store *s); /* the last failure was for want of room */

/* The first event of a job from seq on: its number, or 0 when there is none; *body is allocated. */
int64_t store_next_event(struct store *s, int64_t job, int64_t seq, char **body, int64_t *n, struct err *e);

int64_t store_last_id(struct store *s); /* the largest id that a job ever had */

/* Numbers that outlive the daemon; missing ones are 0. set is part of the transaction. */
int64_t store_number(struct store *s, const char *name);
int store_set_number(struct store *s, const char *name, int64_t x, struct err *e);

#endif
