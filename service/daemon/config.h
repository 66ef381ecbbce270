/* heddled's options: one struct, one table. A row gives name, default, range and help to the file, the command line,
 * --help and configs/heddled.conf (a test keeps that file equal to the table). The only file that sees ini.h.
 */
#ifndef HEDDLE_CONFIG_H
#define HEDDLE_CONFIG_H

#include <stdio.h>

#include "solver/model/base.h"

enum { CONFIG_TEXT = 1024 };

struct config {
    char listen[CONFIG_TEXT], state[CONFIG_TEXT], scratch[CONFIG_TEXT], solver[CONFIG_TEXT], launcher[CONFIG_TEXT];
    int64_t worlds, ranks;
    double start_limit, dead_after, cancel_grace, kill_grace, job_limit;
    int64_t attempts, jobs_per_world, max_message, max_waiting, keep_jobs;
    double keep_days;
};

struct config_row {
    const char *name, *initial, *help;
    size_t offset;
    enum { CONFIG_IS_TEXT, CONFIG_IS_INTEGER, CONFIG_IS_REAL } type;
    double min, max; /* of numbers, ends included */
};
extern const struct config_row config_table[]; /* NULL name at the end */

void config_default(struct config *c);

/* Refuses an unknown name (with the known ones), trailing junk, a value out of range, a text that is too long, and an
 * address that is not on loopback; c is then unchanged. */
int config_set(struct config *c, const char *name, const char *value, struct err *e);

/* Reads name = value lines; the sentence of a refusal begins with file and line. c is unchanged on failure. */
int config_load(struct config *c, const char *path, struct err *e);

void config_print(FILE *to); /* the table as the file of defaults */

#endif
