/* The document model: one tree that JSON and msgpack both read into and write from. Maps keep the order of their keys,
 * so a document says the same bytes again. Numeric columns may be one packed value (msgpack bin) in place of a list.
 */
#ifndef HEDDLE_VALUE_H
#define HEDDLE_VALUE_H

#include "solver/model/base.h"

enum value_kind {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_REAL,
    VALUE_TEXT,  /* bytes[n], zero-terminated besides; UTF-8 */
    VALUE_BYTES, /* msgpack bin: raw, or a column of little-endian int32 / float64 as its reader asks */
    VALUE_LIST,
    VALUE_MAP,
};

struct value {
    enum value_kind kind;
    int64_t n; /* bytes of text and bytes; items of list and map */
    union {
        int flag;
        int64_t integer;
        double real;
        char *bytes;
        struct value *item; /* list: [n] */
        struct pair {
            char *key;
            struct value *value;
        } * pair; /* map: [n], keys unique, in document order */
    } as;
};

/* Trees live in an arena: freed together. The arena limits what a hostile document may take. */
struct arena;
struct arena *arena_new(int64_t limit, struct err *e);     /* bytes in all; 0: no limit */
void *arena_take(struct arena *a, int64_t n, size_t size); /* zeroed; NULL past the limit, and ever after */
int arena_failed(const struct arena *a);                   /* 1 once a take or a builder has failed */
void arena_free(struct arena *a);

const struct value *value_get(const struct value *map, const char *key); /* NULL: absent, or not a map */

/* A short one-line picture of a value for messages: texts quoted and cut, control characters as '?'; returns out. */
const char *value_say(const struct value *v, char *out, size_t n);

/* Pairs that a map of n keys has room for: readers allocate this many, so that value_put may append to their maps. */
int64_t value_room(int64_t n);

/* 1 when the bytes are UTF-8 without a zero byte. */
int value_utf8(const char *bytes, int64_t n);

/* Builders for documents that we write. All take from the arena; NULL when it is short (and accept NULL children). The
 * arena remembers the failure, so a writer checks arena_failed once, at the end. */
struct value *value_map(struct arena *a);
struct value *value_list(struct arena *a, int64_t n);
struct value *value_int(struct arena *a, int64_t x);
struct value *value_real(struct arena *a, double x);
struct value *value_flag(struct arena *a, int x);
struct value *value_text(struct arena *a, const char *text);
struct value *value_bytes(struct arena *a, const void *data, int64_t n);
struct value *value_put(struct arena *a, struct value *map, const char *key,
                        struct value *child); /* appends; returns child */

#endif
