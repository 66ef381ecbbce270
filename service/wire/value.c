#include "service/wire/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks hold many small pieces; a piece too large for a block gets one of its own. */
struct block {
    struct block *next;
    int64_t used, room;
    max_align_t data[];
};

struct arena {
    struct block *block; /* the one with room comes first */
    int64_t taken, limit;
    int failed;
};

enum { FIRST_BLOCK = 1 << 12, LAST_BLOCK = 1 << 20 };

struct arena *arena_new(int64_t limit, struct err *e)
{
    struct arena *a = array(1, sizeof *a);
    if (!a) {
        fail(e, E_MEMORY, "out of memory for a document");
        return NULL;
    }
    a->limit = limit;
    return a;
}

/* A new block in front; a large piece goes behind the present one, which still has room. */
static struct block *grow(struct arena *a, int64_t bytes)
{
    int64_t usual = a->block ? a->block->room * 2 : FIRST_BLOCK;
    if (usual > LAST_BLOCK)
        usual = LAST_BLOCK;
    int64_t room = bytes > usual ? bytes : usual;
    struct block *b = room > INT64_MAX / 2 ? NULL : array(room + (int64_t)sizeof *b, 1);
    if (!b)
        return NULL;
    b->room = room;
    if (a->block && bytes > usual / 2) {
        b->next = a->block->next;
        a->block->next = b;
    } else {
        b->next = a->block;
        a->block = b;
    }
    return b;
}

void *arena_take(struct arena *a, int64_t n, size_t size)
{
    const int64_t step = (int64_t) _Alignof(max_align_t);
    if (a->failed || n < 0 || (size > 0 && (uint64_t)n > (uint64_t)(INT64_MAX / 2) / size)) {
        a->failed = 1;
        return NULL;
    }
    int64_t bytes = (n * (int64_t)size + step - 1) / step * step;
    if (a->limit > 0 && bytes > a->limit - a->taken) {
        a->failed = 1;
        return NULL;
    }
    struct block *b = a->block;
    if (!b || bytes > b->room - b->used)
        b = grow(a, bytes);
    if (!b) {
        a->failed = 1;
        return NULL;
    }
    void *piece = (char *)b->data + b->used;
    b->used += bytes;
    a->taken += bytes;
    return piece;
}

int arena_failed(const struct arena *a)
{
    return a->failed;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    while (a->block) {
        struct block *next = a->block->next;
        free(a->block);
        a->block = next;
    }
    free(a);
}

const struct value *value_get(const struct value *map, const char *key)
{
    if (!map || map->kind != VALUE_MAP)
        return NULL;
    for (int64_t i = 0; i < map->n; i++)
        if (!strcmp(map->as.pair[i].key, key))
            return map->as.pair[i].value;
    return NULL;
}

static void say_text(const struct value *v, char *out, size_t n)
{
    enum { SHOWN = 60 };
    int64_t cut = v->n <= SHOWN ? v->n : SHOWN;
    while (cut > 0 && cut < v->n && (v->as.bytes[cut] & 0xc0) == 0x80) /* not inside a character */
        cut--;
    char text[SHOWN + 1];
    for (int64_t i = 0; i < cut; i++) {
        unsigned char c = (unsigned char)v->as.bytes[i];
        text[i] = c < 32 || c == 127 ? '?' : (char)c;
    }
    text[cut] = 0;
    snprintf(out, n, "\"%s%s\"", text, cut < v->n ? "..." : "");
}

const char *value_say(const struct value *v, char *out, size_t n)
{
    switch (v ? v->kind : VALUE_NULL) {
    case VALUE_NULL:
        snprintf(out, n, "null");
        break;
    case VALUE_BOOL:
        snprintf(out, n, "%s", v->as.flag ? "true" : "false");
        break;
    case VALUE_INT:
        snprintf(out, n, "%lld", (long long)v->as.integer);
        break;
    case VALUE_REAL:
        snprintf(out, n, "%.9g", v->as.real);
        break;
    case VALUE_TEXT:
        say_text(v, out, n);
        break;
    case VALUE_BYTES:
        snprintf(out, n, "bin of %lld bytes", (long long)v->n);
        break;
    case VALUE_LIST:
        snprintf(out, n, "list of %lld", (long long)v->n);
        break;
    case VALUE_MAP:
        snprintf(out, n, "object of %lld", (long long)v->n);
        break;
    }
    return out;
}

int64_t value_room(int64_t n)
{
    int64_t room = 4;
    if (n <= 0)
        return 0;
    while (room < n)
        room *= 2;
    return room;
}

/* Length of the character that starts at s (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF), or 0. */
static int64_t character(const unsigned char *s, int64_t left)
{
    if (s[0] < 0x80)
        return s[0] != 0;
    int64_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > left)
        return 0;
    for (int64_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

int value_utf8(const char *bytes, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        int64_t step = character((const unsigned char *)bytes + i, n - i);
        if (step == 0)
            return 0;
        i += step;
    }
    return 1;
}

static struct value *make(struct arena *a, enum value_kind kind)
{
    struct value *v = arena_take(a, 1, sizeof *v);
    if (v)
        v->kind = kind;
    return v;
}

struct value *value_map(struct arena *a)
{
    return make(a, VALUE_MAP);
}

struct value *value_list(struct arena *a, int64_t n)
{
    struct value *v = make(a, VALUE_LIST);
    if (!v || !(v->as.item = arena_take(a, n, sizeof *v->as.item)))
        return NULL;
    v->n = n;
    return v;
}

struct value *value_int(struct arena *a, int64_t x)
{
    struct value *v = make(a, VALUE_INT);
    if (v)
        v->as.integer = x;
    return v;
}

struct value *value_real(struct arena *a, double x)
{
    struct value *v = make(a, isfinite(x) ? VALUE_REAL : VALUE_NULL);
    if (v && isfinite(x))
        v->as.real = x;
    return v;
}

struct value *value_flag(struct arena *a, int x)
{
    struct value *v = make(a, VALUE_BOOL);
    if (v)
        v->as.flag = x != 0;
    return v;
}

struct value *value_bytes(struct arena *a, const void *data, int64_t n)
{
    struct value *v = make(a, VALUE_BYTES);
    if (!v || n < 0 || !(v->as.bytes = arena_take(a, n + 1, 1)))
        return NULL;
    if (n > 0)
        memcpy(v->as.bytes, data, (size_t)n);
    v->n = n;
    return v;
}

struct value *value_text(struct arena *a, const char *text)
{
    struct value *v = value_bytes(a, text, (int64_t)strlen(text));
    if (v)
        v->kind = VALUE_TEXT;
    return v;
}

struct value *value_put(struct arena *a, struct value *map, const char *key, struct value *child)
{
    if (!map || !child)
        return NULL;
    if (map->n == value_room(map->n)) {
        struct pair *bigger = arena_take(a, value_room(map->n + 1), sizeof *bigger);
        if (!bigger)
            return NULL;
        if (map->n > 0)
            memcpy(bigger, map->as.pair, (size_t)map->n * sizeof *bigger);
        map->as.pair = bigger;
    }
    size_t n = strlen(key) + 1;
    char *copy = arena_take(a, (int64_t)n, 1);
    if (!copy)
        return NULL;
    memcpy(copy, key, n);
    map->as.pair[map->n++] = (struct pair){ copy, child };
    return child;
}
