/* JSON to and from the document model; the only file that sees jansson.h. */
#ifndef HEDDLE_JSON_H
#define HEDDLE_JSON_H

#include "service/wire/value.h"

/* E_INPUT with line and column on bad text, duplicate keys, NaN and Infinity included. */
int json_read(const char *text, int64_t n, struct arena *a, struct value **out, struct err *e);

/* *text is allocated (caller frees), zero-terminated, *n without the zero; indent 0: one line. Reals are written so
 * that they read back bit for bit, in as few digits as that takes. */
int json_write(const struct value *v, int indent, char **text, int64_t *n, struct err *e);

#endif
