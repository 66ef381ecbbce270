/* Reading is jansson's, after a scan that bounds nesting; writing is our own, because jansson can not write reals in
 * the fewest digits that read back.
 */
#include "service/wire/json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32 }; /* of lists and objects, read or written; the conversion below recurses this deep at most */

/* Nesting of the text, strings skipped; whether the text is JSON at all is for the parser to say. */
static int scan_depth(const char *text, int64_t n, struct err *e)
{
    int depth = 0, quoted = 0;
    long long line = 1;
    for (int64_t i = 0; i < n; i++) {
        char c = text[i];
        line += c == '\n';
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = 0;
        } else if (c == '"') {
            quoted = 1;
        } else if (c == '[' || c == '{') {
            if (++depth > MAX_DEPTH)
                return fail(e, E_INPUT, "line %lld: more than %d levels of lists and objects", line, MAX_DEPTH);
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return 0;
}

static int copy_text(const char *from, size_t n, struct arena *a, char **out)
{
    *out = arena_take(a, (int64_t)n + 1, 1);
    if (*out)
        memcpy(*out, from, n);
    return *out ? 0 : -1;
}

static int convert(const json_t *j, struct arena *a, struct value *v);

static int convert_list(const json_t *j, struct arena *a, struct value *v)
{
    v->kind = VALUE_LIST;
    v->n = (int64_t)json_array_size(j);
    v->as.item = arena_take(a, v->n, sizeof *v->as.item);
    if (!v->as.item)
        return -1;
    for (int64_t i = 0; i < v->n; i++)
        if (convert(json_array_get(j, (size_t)i), a, &v->as.item[i]) < 0)
            return -1;
    return 0;
}

static int convert_map(json_t *j, struct arena *a, struct value *v)
{
    int64_t n = (int64_t)json_object_size(j);
    v->kind = VALUE_MAP;
    v->as.pair = arena_take(a, value_room(n), sizeof *v->as.pair);
    struct value *value = arena_take(a, n, sizeof *value);
    if (!v->as.pair || !value)
        return -1;
    const char *key;
    json_t *child;
    json_object_foreach(j, key, child)
    {
        struct pair *p = &v->as.pair[v->n];
        p->value = &value[v->n++];
        if (copy_text(key, strlen(key), a, &p->key) < 0 || convert(child, a, p->value) < 0)
            return -1;
    }
    return 0;
}

static int convert(const json_t *j, struct arena *a, struct value *v)
{
    switch (json_typeof(j)) {
    case JSON_OBJECT:
        return convert_map((json_t *)j, a, v); /* jansson iterates over objects that are not const only */
    case JSON_ARRAY:
        return convert_list(j, a, v);
    case JSON_STRING:
        v->kind = VALUE_TEXT;
        v->n = (int64_t)json_string_length(j);
        return copy_text(json_string_value(j), (size_t)v->n, a, &v->as.bytes);
    case JSON_INTEGER:
        v->kind = VALUE_INT;
        v->as.integer = json_integer_value(j);
        return 0;
    case JSON_REAL:
        v->kind = VALUE_REAL;
        v->as.real = json_real_value(j);
        return 0;
    case JSON_TRUE:
    case JSON_FALSE:
        v->kind = VALUE_BOOL;
        v->as.flag = json_is_true(j);
        return 0;
    case JSON_NULL:
        v->kind = VALUE_NULL;
        return 0;
    }
    return -1;
}

/* The parser's sentence quotes the text at fault: keep it to one line. */
static int refuse(const json_error_t *error, struct err *e)
{
    char text[sizeof error->text];
    snprintf(text, sizeof text, "%s", error->text);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            *c = '?';
    return fail(e, E_INPUT, "line %d, column %d: %s", error->line, error->column, text);
}

int json_read(const char *text, int64_t n, struct arena *a, struct value **out, struct err *e)
{
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) { /* a byte order mark, as some editors leave it */
        text += 3;
        n -= 3;
    }
    if (scan_depth(text, n, e) < 0)
        return -1;
    json_error_t error;
    json_t *j = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, &error);
    if (!j)
        return json_error_code(&error) == json_error_out_of_memory
                   ? fail(e, E_MEMORY, "out of memory for a document of %lld bytes", (long long)n)
                   : refuse(&error, e);
    struct value *v = arena_take(a, 1, sizeof *v);
    int rc = v ? convert(j, a, v) : -1;
    json_decref(j);
    if (rc < 0)
        return fail(e, E_MEMORY, "the document takes more memory than its %lld bytes allow", (long long)n);
    *out = v;
    return 0;
}

struct writer {
    char *text;
    int64_t n, room;
    int indent;
    struct err *e;
};

static int put(struct writer *w, const char *bytes, int64_t n)
{
    void *text = w->text;
    if (array_grow(&text, &w->room, w->n + n + 1, 1) < 0)
        return fail(w->e, E_MEMORY, "out of memory for %lld bytes of JSON", (long long)(w->n + n));
    w->text = text;
    memcpy(w->text + w->n, bytes, (size_t)n);
    w->n += n;
    return 0;
}

static int put_line(struct writer *w, int depth)
{
    static const char blanks[] = "\n                                                                ";
    if (!w->indent)
        return 0;
    int64_t n = 1 + (int64_t)depth * w->indent;
    return put(w, blanks, n < (int64_t)sizeof blanks - 1 ? n : (int64_t)sizeof blanks - 1);
}

static int put_text(struct writer *w, const char *s, int64_t n)
{
    if (!value_utf8(s, n))
        return fail(w->e, E_INPUT, "a text that is not UTF-8 can not be written as JSON");
    if (put(w, "\"", 1) < 0)
        return -1;
    int64_t done = 0;
    for (int64_t i = 0; i <= n; i++) {
        unsigned char c = i < n ? (unsigned char)s[i] : 0;
        if (i < n && c >= 32 && c != '"' && c != '\\')
            continue;
        if (put(w, s + done, i - done) < 0)
            return -1;
        done = i + 1;
        char escape[8];
        int k = 0;
        if (i < n)
            k = c == '"' || c == '\\' ? snprintf(escape, sizeof escape, "\\%c", c)
                                      : snprintf(escape, sizeof escape, "\\u%04x", c);
        if (put(w, escape, k) < 0)
            return -1;
    }
    return put(w, "\"", 1);
}

/* 15 digits always stand for one double or none, 17 always suffice. A dot or an exponent keeps it a real when read. */
static int put_real(struct writer *w, double x)
{
    char text[40];
    if (!isfinite(x))
        return put(w, "null", 4);
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    if (!strpbrk(text, ".e"))
        n += snprintf(text + n, sizeof text - (size_t)n, ".0");
    return put(w, text, n);
}

static int put_value(struct writer *w, const struct value *v, int depth);

/* Short lists of numbers, such as arcs and [arc, price] pairs, stay on one line. */
static int is_flat(const struct value *v)
{
    for (int64_t i = 0; i < v->n; i++)
        if (v->as.item[i].kind == VALUE_LIST || v->as.item[i].kind == VALUE_MAP)
            return 0;
    return 1;
}

static int put_list(struct writer *w, const struct value *v, int depth)
{
    int flat = is_flat(v);
    if (put(w, "[", 1) < 0)
        return -1;
    for (int64_t i = 0; i < v->n; i++) {
        if (i > 0 && put(w, ", ", !w->indent || flat ? 2 : 1) < 0)
            return -1;
        if ((!flat && put_line(w, depth + 1) < 0) || put_value(w, &v->as.item[i], depth + 1) < 0)
            return -1;
    }
    return (!flat && put_line(w, depth) < 0) ? -1 : put(w, "]", 1);
}

static int put_map(struct writer *w, const struct value *v, int depth)
{
    if (put(w, "{", 1) < 0)
        return -1;
    for (int64_t i = 0; i < v->n; i++) {
        const struct pair *p = &v->as.pair[i];
        if (i > 0 && put(w, ", ", w->indent ? 1 : 2) < 0)
            return -1;
        if (put_line(w, depth + 1) < 0 || put_text(w, p->key, (int64_t)strlen(p->key)) < 0 || put(w, ": ", 2) < 0 ||
            put_value(w, p->value, depth + 1) < 0)
            return -1;
    }
    return (v->n > 0 && put_line(w, depth) < 0) ? -1 : put(w, "}", 1);
}

static int put_value(struct writer *w, const struct value *v, int depth)
{
    char text[32];
    if (depth > MAX_DEPTH)
        return fail(w->e, E_INPUT, "more than %d levels of lists and objects", MAX_DEPTH);
    switch (v->kind) {
    case VALUE_NULL:
        return put(w, "null", 4);
    case VALUE_BOOL:
        return v->as.flag ? put(w, "true", 4) : put(w, "false", 5);
    case VALUE_INT:
        return put(w, text, snprintf(text, sizeof text, "%lld", (long long)v->as.integer));
    case VALUE_REAL:
        return put_real(w, v->as.real);
    case VALUE_TEXT:
        return put_text(w, v->as.bytes, v->n);
    case VALUE_BYTES:
        return fail(w->e, E_INPUT, "%lld raw bytes can not be written as JSON", (long long)v->n);
    case VALUE_LIST:
        return put_list(w, v, depth);
    case VALUE_MAP:
        return put_map(w, v, depth);
    }
    return fail(w->e, E_INTERNAL, "a value of unknown kind %d", (int)v->kind);
}

int json_write(const struct value *v, int indent, char **text, int64_t *n, struct err *e)
{
    struct writer w = { .indent = indent, .e = e };
    if (put_value(&w, v, 0) < 0 || put(&w, "\n", indent ? 1 : 0) < 0) {
        free(w.text);
        return -1;
    }
    w.text[w.n] = 0;
    *text = w.text;
    *n = w.n;
    return 0;
}
