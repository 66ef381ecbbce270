#include "service/formats/entry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "service/formats/yaml.h"
#include "service/wire/json.h"

int entry_open(struct wiring *w, int32_t i, enum entry_syntax syntax, const struct value **root)
{
    const struct format_file *f = &w->in->file[i];
    struct value *v = NULL;
    wiring_entry(w, i, "document", -1);
    if (syntax == ENTRY_YAML) {
        if (yaml_read(f->path, f->data, f->n, w->arena, &v, w->e) < 0)
            return -1;
    } else if (json_read(f->data, f->n, w->arena, &v, w->e) < 0) {
        return fail_at(w->e, "%.120s: ", f->path);
    }
    *root = v;
    return 0;
}

static const struct value *need(struct wiring *w, const struct value *map, const char *key, enum value_kind kind,
                                const char *wanted)
{
    char said[100];
    const struct value *v = value_get(map, key);
    if (v && v->kind == kind)
        return v;
    if (!map || map->kind != VALUE_MAP)
        wiring_bad(w, "%s: wanted an object with \"%s\", found %s", key, key, value_say(map, said, sizeof said));
    else
        wiring_bad(w, "%s: wanted %s, found %s", key, wanted, v ? value_say(v, said, sizeof said) : "nothing");
    return NULL;
}

const struct value *entry_list(struct wiring *w, const struct value *map, const char *key)
{
    return need(w, map, key, VALUE_LIST, "a list");
}

const struct value *entry_map(struct wiring *w, const struct value *map, const char *key)
{
    return need(w, map, key, VALUE_MAP, "an object");
}

int entry_word(struct wiring *w, const struct value *v, const char *what, struct text *out)
{
    char said[100];
    if (v && v->kind == VALUE_TEXT && v->n <= INT32_MAX) {
        *out = (struct text){ v->as.bytes, (int)v->n };
        return 0;
    }
    if (v && v->kind == VALUE_INT) {
        int n = snprintf(said, sizeof said, "%lld", (long long)v->as.integer);
        const char *copy = wiring_text(w, (struct text){ said, n });
        *out = (struct text){ copy, n };
        return copy ? 0 : -1;
    }
    return wiring_bad(w, "%s: wanted a text, found %s", what, v ? value_say(v, said, sizeof said) : "nothing");
}

int entry_text(struct wiring *w, const struct value *map, const char *key, struct text *out)
{
    char said[100];
    if (!map || map->kind != VALUE_MAP)
        return wiring_bad(w, "%s: wanted an object with \"%s\", found %s", key, key, value_say(map, said, sizeof said));
    return entry_word(w, value_get(map, key), key, out);
}

int entry_maybe(struct wiring *w, const struct value *map, const char *key, struct text *out)
{
    const struct value *v = value_get(map, key);
    *out = (struct text){ "", 0 };
    return v && v->kind != VALUE_NULL ? entry_word(w, v, key, out) : 0;
}

int entry_number(struct wiring *w, const struct value *map, const char *key, double *out)
{
    char said[100];
    double x = 0;
    const struct value *v = value_get(map, key);
    if (!v || v->kind == VALUE_NULL)
        return 0;
    int ok = v->kind == VALUE_INT || v->kind == VALUE_REAL ||
             (v->kind == VALUE_TEXT && v->n < 60 && text_real((struct text){ v->as.bytes, (int)v->n }, &x));
    if (ok && v->kind != VALUE_TEXT)
        x = v->kind == VALUE_INT ? (double)v->as.integer : v->as.real;
    if (!ok || !isfinite(x))
        return wiring_bad(w, "%s: wanted a number, found %s", key, value_say(v, said, sizeof said));
    *out = x;
    return 0;
}

const char *entry_path(struct wiring *w, const char *list, int64_t item, const char *rest)
{
    char path[200];
    int n = snprintf(path, sizeof path, "%.60s[%lld].%.60s", list, (long long)item, rest);
    return wiring_text(w, (struct text){ path, n });
}

const char *entry_port(struct wiring *w, struct text t)
{
    if (t.n > TEXT_NAME) {
        wiring_bad(w, "a port's name is longer than %d bytes", TEXT_NAME);
        return NULL;
    }
    return wiring_text(w, t);
}
