/* The daemon's log: one JSON object a line on standard error, with time, level and event first.
 *
 *   struct log_line l;
 *   log_begin(&l, "info", "job_ended");
 *   log_number(&l, "job", 17);
 *   log_text(&l, "state", "done");
 *   log_end(&l);
 */
#ifndef HEDDLE_LOG_H
#define HEDDLE_LOG_H

#include "solver/model/base.h"

struct log_line {
    size_t n;
    char text[2048]; /* what does not fit is cut off at a whole member */
};

void log_begin(struct log_line *l, const char *level, const char *event);
void log_number(struct log_line *l, const char *name, int64_t x);
void log_text(struct log_line *l, const char *name, const char *text);
void log_end(struct log_line *l);

/* The common short line: an event and a sentence. */
void log_say(const char *level, const char *event, const char *text);

#endif
