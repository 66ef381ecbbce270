/* Reading: a scan of our own that allocates nothing, then msgpack_unpack_next on the complete buffer, then a copy into
 * the document model. The streaming unpacker is not used: it trusts declared lengths.
 */
#include "service/wire/wire.h"

#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "service/wire/names.h"

const struct wire_limits wire_document = { 8, (int64_t)64 << 20 };
const struct wire_limits wire_header = { 4, 256 };

enum { MAX_DEPTH = 31 }; /* msgpack-c nests 32 deep at most */

/* One object's head: what it declares. */
struct head {
    int64_t size;    /* bytes of head and payload */
    int64_t objects; /* objects that follow inside it: 0 for all but lists and maps */
    int nested;      /* list or map */
};

static uint64_t big_endian(const uint8_t *bytes, int n)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++)
        x = x << 8 | bytes[i];
    return x;
}

static int read_list(struct head *h, int64_t size, uint64_t count, int per)
{
    h->size = size;
    h->objects = (int64_t)count * per; /* count < 2^32 */
    h->nested = 1;
    return 0;
}

/* Types 0xc0 .. 0xdf: bytes of head and payload; minus the width of a length that follows; 0: not accepted (unused,
 * ext) or a list or map. */
static const int8_t layout[32] = {
    1, 0,  1,  1,  -1, -2, -4, 0, /* nil, unused, false, true, bin8, bin16, bin32, ext8 */
    0, 0,  5,  9,  2,  3,  5,  9, /* ext16, ext32, float32, float64, uint8 .. uint64 */
    2, 3,  5,  9,  0,  0,  0,  0, /* int8 .. int64, fixext1 .. fixext8 */
    0, -1, -2, -4, 0,  0,  0,  0, /* fixext16, str8, str16, str32, array16, array32, map16, map32 */
};

/* The head at s with left > 0 bytes; -1: ext or unused type byte, 1: cut off. */
static int read_head(const uint8_t *s, int64_t left, struct head *h)
{
    uint8_t c = s[0];
    *h = (struct head){ .size = 1 };
    if (c < 0x80 || c >= 0xe0)
        return 0;
    if (c < 0x90)
        return read_list(h, 1, c & 0x0f, 2);
    if (c < 0xa0)
        return read_list(h, 1, c & 0x0f, 1);
    if (c < 0xc0) {
        h->size += c & 0x1f;
        return h->size > left;
    }
    if (c >= 0xdc) { /* array16, array32, map16, map32 */
        int width = c & 1 ? 4 : 2;
        return left < 1 + width ? 1 : read_list(h, 1 + width, big_endian(s + 1, width), c >= 0xde ? 2 : 1);
    }
    int8_t f = layout[c - 0xc0];
    if (f == 0)
        return -1;
    h->size = f > 0 ? f : 1 - f;
    if (f < 0 && left >= h->size)
        h->size += (int64_t)big_endian(s + 1, -f);
    return h->size > left;
}

int wire_scan(const void *data, int64_t n, const struct wire_limits *limits, struct err *e)
{
    const uint8_t *s = data;
    int64_t open[MAX_DEPTH + 1], at = 0, objects = 0; /* open[d]: objects still to come at depth d */
    int depth = 0, most = limits->depth < MAX_DEPTH ? limits->depth : MAX_DEPTH;
    struct head h;
    open[0] = 1;
    for (;;) {
        while (depth > 0 && open[depth] == 0)
            depth--;
        if (depth == 0 && open[0] == 0)
            break;
        if (at >= n)
            return fail(e, E_INPUT, "msgpack: cut off at byte %lld", (long long)n);
        int rc = read_head(s + at, n - at, &h);
        if (rc < 0)
            return fail(e, E_INPUT, "msgpack: byte %lld: type 0x%02x is not accepted", (long long)at, s[at]);
        if (rc > 0)
            return fail(e, E_INPUT, "msgpack: byte %lld: an item is cut off", (long long)at);
        open[depth]--;
        if (++objects > limits->objects)
            return fail(e, E_INPUT, "msgpack: byte %lld: more than %lld objects", (long long)at,
                        (long long)limits->objects);
        if (h.objects > n - at - h.size) /* an object takes a byte at least */
            return fail(e, E_INPUT, "msgpack: byte %lld: %lld items declared, %lld bytes left", (long long)at,
                        (long long)h.objects, (long long)(n - at - h.size));
        if (h.nested) {
            if (depth >= most)
                return fail(e, E_INPUT, "msgpack: byte %lld: more than %d levels", (long long)at, most);
            open[++depth] = h.objects;
        }
        at += h.size;
    }
    return at == n
               ? 0
               : fail(e, E_INPUT, "msgpack: %lld bytes after the end at byte %lld", (long long)(n - at), (long long)at);
}

/* Where conversion stands, for messages. */
struct reader {
    struct arena *a;
    const char *data;
    int64_t n;
    struct err *e;
};

static int memory(const struct reader *r)
{
    return fail(r->e, E_MEMORY, "the document takes more memory than its %lld bytes allow", (long long)r->n);
}

static int read_text(const struct reader *r, const char *bytes, uint32_t n, char **out)
{
    if (!value_utf8(bytes, n))
        return fail(r->e, E_INPUT, "msgpack: byte %lld: a text is not UTF-8 or holds a zero byte",
                    (long long)(bytes - r->data));
    if (!(*out = arena_take(r->a, (int64_t)n + 1, 1)))
        return memory(r);
    if (n > 0)
        memcpy(*out, bytes, n);
    return 0;
}

static int read_object(const struct reader *r, const msgpack_object *o, struct value *v);

static int read_array(const struct reader *r, const msgpack_object *o, struct value *v)
{
    v->kind = VALUE_LIST;
    v->n = o->via.array.size;
    if (!(v->as.item = arena_take(r->a, v->n, sizeof *v->as.item)))
        return memory(r);
    for (uint32_t i = 0; i < o->via.array.size; i++)
        if (read_object(r, &o->via.array.ptr[i], &v->as.item[i]) < 0)
            return -1;
    return 0;
}

/* A few keys are compared in pairs, many by a table. */
static int check_unique(const struct reader *r, const struct value *map)
{
    enum { FEW = 16 };
    char said[100];
    const char *twice = NULL;
    struct names *seen = map->n > FEW ? names_new(r->e) : NULL;
    int rc = map->n > FEW && !seen ? -1 : 0;
    for (int64_t i = 0; i < map->n && rc == 0 && !twice; i++) {
        const char *key = map->as.pair[i].key;
        if (seen) {
            rc = names_add(seen, key, i, r->e);
            twice = rc > 0 ? key : NULL;
        } else {
            for (int64_t k = 0; k < i; k++)
                twice = !strcmp(map->as.pair[k].key, key) ? key : twice;
        }
    }
    names_free(seen);
    if (twice) {
        struct value text = { .kind = VALUE_TEXT, .n = (int64_t)strlen(twice), .as.bytes = (char *)twice };
        return fail(r->e, E_INPUT, "msgpack: key %s stands twice in one map", value_say(&text, said, sizeof said));
    }
    return rc;
}

static int read_map(const struct reader *r, const msgpack_object *o, struct value *v)
{
    int64_t n = o->via.map.size;
    v->kind = VALUE_MAP;
    v->as.pair = arena_take(r->a, value_room(n), sizeof *v->as.pair);
    struct value *value = arena_take(r->a, n, sizeof *value);
    if (!v->as.pair || !value)
        return memory(r);
    for (; v->n < n; v->n++) {
        const msgpack_object_kv *kv = &o->via.map.ptr[v->n];
        struct pair *p = &v->as.pair[v->n];
        if (kv->key.type != MSGPACK_OBJECT_STR)
            return fail(r->e, E_INPUT, "msgpack: a map key is not a text");
        p->value = &value[v->n];
        if (read_text(r, kv->key.via.str.ptr, kv->key.via.str.size, &p->key) < 0 ||
            read_object(r, &kv->val, p->value) < 0)
            return -1;
    }
    return check_unique(r, v);
}

static int read_bin(const struct reader *r, const msgpack_object *o, struct value *v)
{
    v->kind = VALUE_BYTES;
    v->n = o->via.bin.size;
    if (!(v->as.bytes = arena_take(r->a, v->n + 1, 1)))
        return memory(r);
    if (v->n > 0)
        memcpy(v->as.bytes, o->via.bin.ptr, (size_t)v->n);
    return 0;
}

static int read_object(const struct reader *r, const msgpack_object *o, struct value *v)
{
    switch (o->type) {
    case MSGPACK_OBJECT_NIL:
        v->kind = VALUE_NULL;
        return 0;
    case MSGPACK_OBJECT_BOOLEAN:
        v->kind = VALUE_BOOL;
        v->as.flag = o->via.boolean;
        return 0;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        if (o->via.u64 > INT64_MAX)
            return fail(r->e, E_INPUT, "msgpack: integer %llu is over 2^63 - 1", (unsigned long long)o->via.u64);
        v->kind = VALUE_INT;
        v->as.integer = (int64_t)o->via.u64;
        return 0;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        v->kind = VALUE_INT;
        v->as.integer = o->via.i64;
        return 0;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        if (!isfinite(o->via.f64))
            return fail(r->e, E_INPUT, "msgpack: a number is not finite");
        v->kind = VALUE_REAL;
        v->as.real = o->via.f64;
        return 0;
    case MSGPACK_OBJECT_STR:
        v->kind = VALUE_TEXT;
        v->n = o->via.str.size;
        return read_text(r, o->via.str.ptr, o->via.str.size, &v->as.bytes);
    case MSGPACK_OBJECT_BIN:
        return read_bin(r, o, v);
    case MSGPACK_OBJECT_ARRAY:
        return read_array(r, o, v);
    case MSGPACK_OBJECT_MAP:
        return read_map(r, o, v);
    default:
        return fail(r->e, E_INPUT, "msgpack: a type that is not accepted");
    }
}

int wire_read(const void *data, int64_t n, const struct wire_limits *limits, struct arena *a, struct value **out,
              struct err *e)
{
    if (wire_scan(data, n, limits, e) < 0)
        return -1;
    struct reader r = { a, data, n, e };
    struct value *v = arena_take(a, 1, sizeof *v);
    msgpack_unpacked box;
    size_t end = 0;
    msgpack_unpacked_init(&box);
    msgpack_unpack_return got = msgpack_unpack_next(&box, data, (size_t)n, &end);
    int rc = 0;
    if (got == MSGPACK_UNPACK_NOMEM_ERROR || !v)
        rc = memory(&r);
    else if (got != MSGPACK_UNPACK_SUCCESS || end != (size_t)n)
        rc = fail(e, E_INPUT, "msgpack: not one complete object");
    else
        rc = read_object(&r, &box.data, v);
    msgpack_unpacked_destroy(&box);
    if (rc == 0)
        *out = v;
    return rc;
}

struct writer {
    void *data;
    int64_t n, room;
    struct err *e;
};

static int put(void *context, const char *bytes, size_t n)
{
    struct writer *w = context;
    if (array_grow(&w->data, &w->room, w->n + (int64_t)n, 1) < 0)
        return fail(w->e, E_MEMORY, "out of memory for %lld bytes of msgpack", (long long)(w->n + (int64_t)n));
    memcpy((char *)w->data + w->n, bytes, n);
    w->n += (int64_t)n;
    return 0;
}

static int pack_bytes(msgpack_packer *p, const char *bytes, int64_t n, int text)
{
    int rc = text ? msgpack_pack_str(p, (size_t)n) : msgpack_pack_bin(p, (size_t)n);
    if (rc < 0 || n == 0)
        return rc;
    return text ? msgpack_pack_str_body(p, bytes, (size_t)n) : msgpack_pack_bin_body(p, bytes, (size_t)n);
}

static int pack(msgpack_packer *p, const struct value *v, int depth, struct err *e)
{
    if (depth > MAX_DEPTH)
        return fail(e, E_INPUT, "more than %d levels of lists and objects", MAX_DEPTH);
    if (v->n > UINT32_MAX)
        return fail(e, E_INPUT, "%lld items do not fit one msgpack value", (long long)v->n);
    int rc = 0;
    switch (v->kind) {
    case VALUE_NULL:
        return msgpack_pack_nil(p);
    case VALUE_BOOL:
        return v->as.flag ? msgpack_pack_true(p) : msgpack_pack_false(p);
    case VALUE_INT:
        return msgpack_pack_int64(p, v->as.integer);
    case VALUE_REAL:
        return isfinite(v->as.real) ? msgpack_pack_double(p, v->as.real) : msgpack_pack_nil(p);
    case VALUE_TEXT:
    case VALUE_BYTES:
        return pack_bytes(p, v->as.bytes, v->n, v->kind == VALUE_TEXT);
    case VALUE_LIST:
        rc = msgpack_pack_array(p, (size_t)v->n);
        for (int64_t i = 0; i < v->n && rc == 0; i++)
            rc = pack(p, &v->as.item[i], depth + 1, e);
        return rc;
    case VALUE_MAP:
        rc = msgpack_pack_map(p, (size_t)v->n);
        for (int64_t i = 0; i < v->n && rc == 0; i++) {
            rc = pack_bytes(p, v->as.pair[i].key, (int64_t)strlen(v->as.pair[i].key), 1);
            if (rc == 0)
                rc = pack(p, v->as.pair[i].value, depth + 1, e);
        }
        return rc;
    }
    return fail(e, E_INTERNAL, "a value of unknown kind %d", (int)v->kind);
}

int wire_write(const struct value *v, char **data, int64_t *n, struct err *e)
{
    struct writer w = { .e = e };
    msgpack_packer p;
    msgpack_packer_init(&p, &w, put);
    if (pack(&p, v, 0, e) < 0) {
        free(w.data);
        return -1;
    }
    *data = w.data;
    *n = w.n;
    return 0;
}
