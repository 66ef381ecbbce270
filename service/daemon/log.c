#include "service/daemon/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Appends a member whole, or nothing; two bytes are kept for the end of the line. */
static void append(struct log_line *l, const char *text, size_t n)
{
    if (l->n + n + 2 <= sizeof l->text) {
        memcpy(l->text + l->n, text, n);
        l->n += n;
    }
}

void log_begin(struct log_line *l, const char *level, const char *event)
{
    struct timespec t;
    struct tm day;
    char date[32];
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &day);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &day);
    int n = snprintf(l->text, sizeof l->text, "{\"ts\":\"%s.%03ldZ\",\"level\":\"%s\",\"event\":\"%s\"", date,
                     t.tv_nsec / 1000000, level, event);
    l->n = (size_t)n;
}

void log_number(struct log_line *l, const char *name, int64_t x)
{
    char member[128];
    int n = snprintf(member, sizeof member, ",\"%s\":%" PRId64, name, x);
    append(l, member, (size_t)n);
}

void log_text(struct log_line *l, const char *name, const char *text)
{
    char member[1200];
    size_t n = (size_t)snprintf(member, 100, ",\"%s\":\"", name);
    for (const char *c = text; *c && n + 8 < sizeof member; c++) {
        unsigned char u = (unsigned char)*c;
        if (u == '"' || u == '\\') {
            member[n++] = '\\';
            member[n++] = *c;
        } else if (u < 0x20 || u >= 0x7f) {
            n += (size_t)snprintf(member + n, 7, "\\u%04x", u);
        } else {
            member[n++] = *c;
        }
    }
    member[n++] = '"';
    append(l, member, n);
}

void log_end(struct log_line *l)
{
    l->text[l->n++] = '}';
    l->text[l->n++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, l->text, l->n); /* one call, so that lines stay whole */
    (void)ignored;
}

void log_say(const char *level, const char *event, const char *text)
{
    struct log_line l;
    log_begin(&l, level, event);
    log_text(&l, "text", text);
    log_end(&l);
}
