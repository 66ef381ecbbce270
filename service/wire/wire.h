/* msgpack to and from the document model; the only file that sees msgpack.h. A buffer is scanned before anything is
 * decoded: depth, declared lengths against what is left, number of objects, exactly one object.
 */
#ifndef HEDDLE_WIRE_H
#define HEDDLE_WIRE_H

#include "service/wire/value.h"

struct wire_limits {
    int32_t depth;   /* nesting of maps and lists */
    int64_t objects; /* in all */
};
extern const struct wire_limits wire_document; /* depth 8, objects 64 million */
extern const struct wire_limits wire_header;   /* depth 4, objects 256 */

/* Iterative, allocates nothing. E_INPUT with the byte offset. */
int wire_scan(const void *data, int64_t n, const struct wire_limits *limits, struct err *e);

/* Scans, then decodes. Duplicate keys and ext types are refused. */
int wire_read(const void *data, int64_t n, const struct wire_limits *limits, struct arena *a, struct value **out,
              struct err *e);

/* *data is allocated (caller frees). Integers in their shortest form, reals as float64. */
int wire_write(const struct value *v, char **data, int64_t *n, struct err *e);

#endif
