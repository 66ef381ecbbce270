#include "service/wire/doc_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Levenshtein distance of two short words, by two rows; words longer than the row count as far. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    int row[LONGEST + 1];
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *nearest(const char *word, const char *const *choice, int n)
{
    const char *best = NULL;
    int least = (int)strlen(word) / 2 + 1; /* more changes than half the word is another word */
    for (int i = 0; i < n; i++) {
        int d = distance(word, choice[i]);
        if (d < least) {
            least = d;
            best = choice[i];
        }
    }
    return best;
}

static int unknown_key(const char *key, const struct field *field, int nfield, struct err *e)
{
    const char *known[MAX_FIELDS];
    char list[200] = "", said[100];
    for (int f = 0; f < nfield; f++) {
        known[f] = field[f].key;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", f ? ", " : "", field[f].key);
    }
    struct value text = { .kind = VALUE_TEXT, .n = (int64_t)strlen(key), .as.bytes = (char *)key };
    value_say(&text, said, sizeof said);
    const char *near = nearest(key, known, nfield);
    if (near)
        return fail(e, E_INPUT, "key %s is not known; did you mean \"%s\"?", said, near);
    return fail(e, E_INPUT, "key %s is not known; there are %s", said, list);
}

static int find_field(const char *key, const struct field *field, int nfield)
{
    for (int f = 0; f < nfield; f++)
        if (!strcmp(key, field[f].key))
            return f;
    return -1;
}

int fields_read(const struct value *map, const struct field *field, int nfield, const struct value **cell,
                struct err *e)
{
    char said[100];
    if (!map || map->kind != VALUE_MAP)
        return fail(e, E_INPUT, "%s where an object is expected", value_say(map, said, sizeof said));
    for (int f = 0; f < nfield; f++)
        cell[f] = NULL;
    for (int64_t i = 0; i < map->n; i++) {
        int f = find_field(map->as.pair[i].key, field, nfield);
        if (f < 0)
            return unknown_key(map->as.pair[i].key, field, nfield, e);
        cell[f] = map->as.pair[i].value;
    }
    for (int f = 0; f < nfield; f++)
        if (field[f].needed && !cell[f])
            return fail(e, E_INPUT, "key \"%s\" is missing", field[f].key);
    return 0;
}

/* Bytes of one entry of a bin column, 0 for types that have no such column. */
static int64_t bin_size(enum cell_type type)
{
    switch (type) {
    case CELL_INT:
    case CELL_NODE:
    case CELL_FLAG:
        return 4;
    case CELL_REAL:
        return 8;
    default:
        return 0;
    }
}

static int column_length(const struct field *f, const struct value *v, int64_t *n, struct err *e)
{
    char said[100];
    int64_t size = bin_size(f->type);
    if (v->kind == VALUE_LIST) {
        *n = v->n;
        return 0;
    }
    if (v->kind != VALUE_BYTES)
        return fail(e, E_INPUT, "column \"%s\" is %s, not a list", f->key, value_say(v, said, sizeof said));
    if (size == 0)
        return fail(e, E_INPUT, "column \"%s\" can not be given as bin", f->key);
    if (v->n % size != 0)
        return fail(e, E_INPUT, "column \"%s\": %lld bytes are not a multiple of %lld", f->key, (long long)v->n,
                    (long long)size);
    *n = v->n / size;
    return 0;
}

static int open_columns(struct table *t, struct err *e)
{
    int64_t n = -1, k = 0;
    const char *of = NULL;
    if (fields_read(t->data, t->field, t->nfield, t->column, e) < 0)
        return -1;
    for (int f = 0; f < t->nfield; f++) {
        if (!t->column[f])
            continue;
        if (column_length(&t->field[f], t->column[f], &k, e) < 0)
            return -1;
        if (n >= 0 && k != n)
            return fail(e, E_INPUT, "column \"%s\" has %lld entries, column \"%s\" has %lld", t->field[f].key,
                        (long long)k, of, (long long)n);
        n = k;
        of = t->field[f].key;
    }
    if (n > INT32_MAX)
        return fail(e, E_INPUT, "%lld entries are more than %d", (long long)n, INT32_MAX);
    t->n = n < 0 ? 0 : (int32_t)n;
    return 0;
}

int table_open(struct table *t, const struct field *field, int nfield, const struct value *data, struct err *e)
{
    char said[100];
    *t = (struct table){ .field = field, .nfield = nfield, .data = data };
    if (!data)
        return 0;
    if (data->kind == VALUE_MAP)
        return open_columns(t, e);
    if (data->kind != VALUE_LIST)
        return fail(e, E_INPUT, "%s where a list of objects or an object of columns is expected",
                    value_say(data, said, sizeof said));
    if (data->n > INT32_MAX)
        return fail(e, E_INPUT, "%lld entries are more than %d", (long long)data->n, INT32_MAX);
    t->n = (int32_t)data->n;
    return 0;
}

static uint64_t little_endian(const char *bytes, int n)
{
    uint64_t x = 0;
    for (int i = n - 1; i >= 0; i--)
        x = x << 8 | (unsigned char)bytes[i];
    return x;
}

static const struct value *bin_cell(struct table *t, int f, int32_t i)
{
    struct value *v = &t->scratch[f];
    if (t->field[f].type == CELL_REAL) {
        uint64_t bits = little_endian(t->column[f]->as.bytes + 8 * (int64_t)i, 8);
        v->kind = VALUE_REAL;
        memcpy(&v->as.real, &bits, sizeof bits);
        return v;
    }
    int32_t x = (int32_t)(uint32_t)little_endian(t->column[f]->as.bytes + 4 * (int64_t)i, 4);
    v->kind = VALUE_INT;
    v->as.integer = x;
    if (t->field[f].type == CELL_FLAG && (x == 0 || x == 1)) {
        v->kind = VALUE_BOOL;
        v->as.flag = x;
    }
    return v;
}

int table_row(struct table *t, int32_t i, const struct value **cell, struct err *e)
{
    if (t->data->kind == VALUE_LIST)
        return fields_read(&t->data->as.item[i], t->field, t->nfield, cell, e);
    for (int f = 0; f < t->nfield; f++) {
        const struct value *c = t->column[f];
        cell[f] = !c ? NULL : c->kind == VALUE_LIST ? &c->as.item[i] : bin_cell(t, f, i);
        if (!cell[f] || t->field[f].needed)
            continue;
        if (cell[f]->kind == VALUE_NULL ||
            (t->field[f].type == CELL_INT && cell[f]->kind == VALUE_INT && cell[f]->as.integer == -1))
            cell[f] = NULL;
    }
    return 0;
}

int cell_int(const struct value *v, const char *key, int64_t min, int64_t max, int32_t *out, struct err *e)
{
    char said[100];
    if (!v)
        return 0;
    double x = v->kind == VALUE_INT ? (double)v->as.integer : v->kind == VALUE_REAL ? v->as.real : NAN;
    if (!(x == floor(x)))
        return fail(e, E_INPUT, "%s %s is not a whole number", key, value_say(v, said, sizeof said));
    if (!(x >= (double)min && x <= (double)max))
        return fail(e, E_INPUT, "%s %s is not in [%lld, %lld]", key, value_say(v, said, sizeof said), (long long)min,
                    (long long)max);
    *out = (int32_t)x;
    return 0;
}

int cell_real(const struct value *v, const char *key, double *out, struct err *e)
{
    char said[100];
    if (!v)
        return 0;
    if (v->kind != VALUE_INT && v->kind != VALUE_REAL)
        return fail(e, E_INPUT, "%s %s is not a number", key, value_say(v, said, sizeof said));
    double x = v->kind == VALUE_INT ? (double)v->as.integer : v->as.real;
    if (!(x >= 0 && isfinite(x)))
        return fail(e, E_INPUT, "%s %s must be finite and not negative", key, value_say(v, said, sizeof said));
    *out = x;
    return 0;
}

int cell_flag(const struct value *v, const char *key, uint8_t *out, struct err *e)
{
    char said[100];
    if (!v)
        return 0;
    if (v->kind != VALUE_BOOL)
        return fail(e, E_INPUT, "%s %s is neither true nor false", key, value_say(v, said, sizeof said));
    *out = v->as.flag != 0;
    return 0;
}

int cell_text(const struct value *v, const char *key, const char **out, struct err *e)
{
    char said[100];
    if (!v)
        return 0;
    if (v->kind != VALUE_TEXT)
        return fail(e, E_INPUT, "%s %s is not a text", key, value_say(v, said, sizeof said));
    *out = v->as.bytes;
    return 0;
}

/* Names stand in messages, tables and files of other tools: no control characters, and of a length that fits a line. */
int cell_name(const struct value *v, const char *key, const char **out, struct err *e)
{
    char said[100];
    if (cell_text(v, key, out, e) < 0)
        return -1;
    if (!v)
        return 0;
    if (v->n == 0)
        return fail(e, E_INPUT, "%s is empty", key);
    if (v->n > MAX_NAME)
        return fail(e, E_INPUT, "%s %s is longer than %d bytes", key, value_say(v, said, sizeof said), MAX_NAME);
    for (int64_t i = 0; i < v->n; i++)
        if ((unsigned char)v->as.bytes[i] < 32 || v->as.bytes[i] == 127)
            return fail(e, E_INPUT, "%s %s holds a control character", key, value_say(v, said, sizeof said));
    return 0;
}

int cell_node(const struct value *v, const char *key, const struct node_index *nodes, int32_t *out, struct err *e)
{
    char said[100];
    if (v->kind == VALUE_TEXT) {
        int64_t found = names_find(nodes->names, v->as.bytes);
        if (found < 0)
            return fail(e, E_INPUT, "%s %s is no node of the fabric", key, value_say(v, said, sizeof said));
        *out = (int32_t)found;
        return 0;
    }
    if (v->kind != VALUE_INT)
        return fail(e, E_INPUT, "%s %s is neither a node name nor a node number", key, value_say(v, said, sizeof said));
    if (v->as.integer < 0 || v->as.integer >= nodes->nnode)
        return fail(e, E_INPUT, "%s %lld is no node of the fabric: its nodes are [0, %d)", key,
                    (long long)v->as.integer, nodes->nnode);
    *out = (int32_t)v->as.integer;
    return 0;
}
