/* Other tools' files as fabrics, behind one table.
 */
#ifndef HEDDLE_FORMATS_H
#define HEDDLE_FORMATS_H

#include "solver/model/fabric.h"

/* What a reader left out on purpose or doubted: equal remarks are counted, the first place is kept. */
struct format_note {
    const char *what; /* static string */
    int64_t count, line;
};
struct format_report {
    struct format_note note[16];
    int32_t nnote;
};
void format_note(struct format_report *r, const char *what, int64_t line);

struct format {
    const char *name, *summary;
    /* data[n] has a zero byte behind it; path is for messages. A finished fabric or one sentence "path:LINE: ...". */
    int (*read)(const char *path, const char *data, int64_t n, struct fabric **out, struct format_report *report,
                struct err *e);
};
extern const struct format format_table[]; /* NULL name at the end */

const struct format *format_find(const char *name, struct err *e);

#endif
