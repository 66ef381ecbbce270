/* Files of problems and plans. A file appears whole or not at all: written under another name, fsync, rename; the
 * folder itself is synced before the row that speaks of the file is committed.
 */
#ifndef HEDDLE_SPOOL_H
#define HEDDLE_SPOOL_H

#include "solver/model/base.h"

struct spool;

/* Opens or makes the folder (mode 0700). */
struct spool *spool_open(const char *folder, struct err *e);
void spool_close(struct spool *s);

/* Names: <id>.problem and <id>.<attempt>.plan. */
enum { SPOOL_NAME = 64 };
void spool_problem_name(char name[SPOOL_NAME], int64_t id);
void spool_plan_name(char name[SPOOL_NAME], int64_t id, int64_t attempt);

/* E_IO with the name; nothing is left behind then. The name may stand for a file of before: it is replaced. */
int spool_write(struct spool *s, const char *name, const void *data, int64_t n, struct err *e);
int spool_sync(struct spool *s, struct err *e); /* makes the names of all files written so far durable */
int spool_full(const struct spool *s);          /* the last failure was for want of room */

/* n bytes from offset on into data; fewer is a failure. */
int spool_read(struct spool *s, const char *name, int64_t offset, void *data, int64_t n, struct err *e);
void spool_remove(struct spool *s, const char *name); /* an absent file is fine */

/* Removes every file that keep refuses (returns 0) and every half-written one; returns how many. name as above. */
int64_t spool_sweep(struct spool *s, int (*keep)(void *context, const char *name), void *context);

#endif
