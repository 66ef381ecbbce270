/* Other tools' files as fabrics, behind one table.
 */
#ifndef HEDDLE_FORMATS_H
#define HEDDLE_FORMATS_H

#include "service/formats/overlay.h"
#include "solver/model/fabric.h"

/* What a reader left out on purpose or doubted: equal remarks are counted, the first place is kept. */
struct format_note {
    const char *what;    /* static string */
    int64_t count, line; /* line 0: a document without lines */
};
struct format_report {
    struct format_note note[16];
    int32_t nnote;
};
void format_note(struct format_report *r, const char *what, int64_t line);

struct format_file {
    const char *path; /* for messages */
    const char *data; /* [n], a zero byte behind it */
    int64_t n;
};

struct format_input {
    const struct format_file *file;
    int32_t nfile;
    struct overlay *overlay; /* what the files do not say; NULL: nothing is added */
    struct format_report *report;
};

struct format {
    const char *name, *summary;
    int many; /* 1: several files make one fabric */
    /* A finished fabric, or one sentence "path:LINE: ..." (documents: "path: entry: ..."). */
    int (*read)(const struct format_input *in, struct fabric **out, struct err *e);
};
extern const struct format format_table[]; /* NULL name at the end */

const struct format *format_find(const char *name, struct err *e);

/* Reads through the table: refuses more files than the format takes, and rules of the overlay that nothing needed. */
int format_read(const struct format *f, const struct format_input *in, struct fabric **out, struct err *e);

#endif
