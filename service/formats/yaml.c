#include "service/formats/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 32 };

struct reader {
    yaml_parser_t parser;
    const char *path;
    struct arena *arena;
    struct err *e;
};

static int bad(struct reader *r, size_t line, const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "%s", what);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            *c = '?';
    return fail(r->e, E_INPUT, "%.120s:%zu: %s", r->path, line + 1, text);
}

static int oom(struct reader *r)
{
    return fail(r->e, E_MEMORY, "%.120s: the document takes too much memory", r->path);
}

static int next(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return 0;
    if (r->parser.error == YAML_MEMORY_ERROR)
        return oom(r);
    return bad(r, r->parser.problem_mark.line, r->parser.problem ? r->parser.problem : "no YAML");
}

static int scalar(struct reader *r, const yaml_event_t *event, struct value *v)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    int plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (memchr(text, 0, n))
        return bad(r, event->start_mark.line, "a text holds a zero byte");
    if (plain && (n == 0 || !strcmp(text, "~") || !strcmp(text, "null"))) {
        v->kind = VALUE_NULL;
        return 0;
    }
    v->kind = VALUE_TEXT;
    v->n = (int64_t)n;
    v->as.bytes = arena_take(r->arena, v->n + 1, 1);
    if (!v->as.bytes)
        return oom(r);
    memcpy(v->as.bytes, text, n);
    return 0;
}

static int read_value(struct reader *r, yaml_event_t *event, int depth, struct value *v);

/* Room doubles in the arena, so all of it together is linear in the list. */
static int read_list(struct reader *r, int depth, struct value *v)
{
    int64_t room = 0;
    yaml_event_t event;
    v->kind = VALUE_LIST;
    for (;;) {
        if (next(r, &event) < 0)
            return -1;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return 0;
        }
        if (v->n == room) {
            struct value *bigger = arena_take(r->arena, room = room ? 2 * room : 4, sizeof *bigger);
            if (!bigger) {
                yaml_event_delete(&event);
                return oom(r);
            }
            if (v->n > 0)
                memcpy(bigger, v->as.item, (size_t)v->n * sizeof *bigger);
            v->as.item = bigger;
        }
        if (read_value(r, &event, depth + 1, &v->as.item[v->n++]) < 0)
            return -1;
    }
}

static int read_pair(struct reader *r, yaml_event_t *key, int depth, struct value *map)
{
    char text[100];
    size_t line = key->start_mark.line, n = key->type == YAML_SCALAR_EVENT ? key->data.scalar.length : 0;
    int ok = key->type == YAML_SCALAR_EVENT && n < sizeof text && !memchr(key->data.scalar.value, 0, n);
    if (ok)
        memcpy(text, key->data.scalar.value, n);
    yaml_event_delete(key);
    if (!ok)
        return bad(r, line, "a key is no text of at most 99 bytes");
    text[n] = 0;
    struct value *child = arena_take(r->arena, 1, sizeof *child);
    if (!child || !value_put(r->arena, map, text, child))
        return oom(r);
    yaml_event_t event;
    return next(r, &event) < 0 ? -1 : read_value(r, &event, depth + 1, child);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_keys(struct reader *r, const struct value *map, size_t line)
{
    char **key = arena_take(r->arena, map->n, sizeof *key), text[140];
    if (!key)
        return oom(r);
    for (int64_t i = 0; i < map->n; i++)
        key[i] = map->as.pair[i].key;
    qsort(key, (size_t)map->n, sizeof *key, by_key);
    for (int64_t i = 1; i < map->n; i++)
        if (!strcmp(key[i - 1], key[i])) {
            snprintf(text, sizeof text, "key \"%s\" stands twice", key[i]);
            return bad(r, line, text);
        }
    return 0;
}

static int read_map(struct reader *r, size_t line, int depth, struct value *v)
{
    yaml_event_t event;
    v->kind = VALUE_MAP;
    for (;;) {
        if (next(r, &event) < 0)
            return -1;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return check_keys(r, v, line);
        }
        if (read_pair(r, &event, depth, v) < 0)
            return -1;
    }
}

/* Takes the event. */
static int read_value(struct reader *r, yaml_event_t *event, int depth, struct value *v)
{
    yaml_event_type_t type = event->type;
    size_t line = event->start_mark.line;
    int rc = type == YAML_SCALAR_EVENT ? scalar(r, event, v) : 0;
    yaml_event_delete(event);
    if (type == YAML_SCALAR_EVENT)
        return rc;
    if (depth > MAX_DEPTH)
        return bad(r, line, "more than 32 levels of lists and maps");
    if (type == YAML_SEQUENCE_START_EVENT)
        return read_list(r, depth, v);
    if (type == YAML_MAPPING_START_EVENT)
        return read_map(r, line, depth, v);
    return bad(r, line, type == YAML_ALIAS_EVENT ? "aliases (*name) are not read" : "no value stands here");
}

static int read_document(struct reader *r, struct value *v)
{
    yaml_event_t event;
    int more = 1;
    v->kind = VALUE_NULL;
    for (int documents = 0; more;) {
        if (next(r, &event) < 0)
            return -1;
        yaml_event_type_t type = event.type;
        size_t line = event.start_mark.line;
        more = type != YAML_STREAM_END_EVENT;
        if (type == YAML_DOCUMENT_START_EVENT && documents++ > 0) {
            yaml_event_delete(&event);
            return bad(r, line, "a second document begins; give one file for each");
        }
        if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT || type == YAML_DOCUMENT_END_EVENT ||
            !more)
            yaml_event_delete(&event);
        else if (read_value(r, &event, 0, v) < 0)
            return -1;
    }
    return 0;
}

int yaml_read(const char *path, const char *text, int64_t n, struct arena *a, struct value **out, struct err *e)
{
    struct reader r = { .path = path, .arena = a, .e = e };
    struct value *v = arena_take(a, 1, sizeof *v);
    if (!v || !yaml_parser_initialize(&r.parser))
        return oom(&r);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, (size_t)n);
    int rc = read_document(&r, v);
    yaml_parser_delete(&r.parser);
    if (rc == 0)
        *out = v;
    return rc;
}
