#include "solver/model/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const objectives[] = { "job_fair", "max_utilization", NULL };
static const char *const routings[] = { "pinned", "split", "destination", NULL };
static const char *const policies[] = { "all", "shortest", "disjoint:k", NULL };

enum { MAX_DISJOINT = 64 };

const struct option_row option_table[] = {
    { "objective", "job_fair", "",
      "what is optimised: job_fair (the worst-served job, then the next) or max_utilization", OPTION_WORD, 0, 0,
      objectives },
    { "routing", "pinned", "",
      "pinned: whole subflows on single paths; split: any shares; destination: forwarding tables", OPTION_WORD, 0, 0,
      routings },
    { "paths", "all", "", "paths a flow may take, unless it lists its own", OPTION_WORD, 0, 0, policies },
    { "paths_per_flow", "1", "paths", "pinned routing: subflows per flow, at most", OPTION_INTEGER, 1, 64, NULL },
    { "gap", "0.01", "ratio", "stop when |bound - value| / max(|bound|, |value|) is at most this", OPTION_REAL, 0, 1,
      NULL },
    { "time_limit", "60", "seconds", "return the best plan so far after this long", OPTION_REAL, 0, 1e9, NULL },
    { "pods", "0", "pods", "pods to cut when the fabric has no labels; 0: chosen from its size", OPTION_INTEGER, 0,
      65536, NULL },
    { "seed", "1", "", "seed of every pseudo-random choice", OPTION_INTEGER, 0, 9007199254740992.0, NULL },
    { NULL, NULL, NULL, NULL, OPTION_WORD, 0, 0, NULL },
};

static const struct option_row *find(const char *name)
{
    for (const struct option_row *o = option_table; o->name; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

static int word_index(const struct option_row *row, const char *value)
{
    for (int i = 0; row->words[i]; i++)
        if (!strcmp(row->words[i], value) && !strchr(value, ':'))
            return i;
    return -1;
}

static int choices(const struct option_row *row, const char *value, struct err *e)
{
    char list[200] = "";
    for (int i = 0; row->words[i]; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", row->words[i]);
    return fail(e, E_INPUT, "option %s: \"%s\" is none of %s", row->name, value, list);
}

static int set_policy(struct options *o, const struct option_row *row, const char *value, struct err *e)
{
    static const char prefix[] = "disjoint:";
    if (strncmp(value, prefix, sizeof prefix - 1) == 0) {
        char *end;
        errno = 0;
        long k = strtol(value + sizeof prefix - 1, &end, 10);
        if (end == value + sizeof prefix - 1 || *end || errno || k < 1 || k > MAX_DISJOINT)
            return fail(e, E_INPUT, "option paths: \"%s\": k must be in [1, %d]", value, MAX_DISJOINT);
        o->policy = PATHS_DISJOINT;
        o->disjoint = (int32_t)k;
        return 0;
    }
    int i = word_index(row, value);
    if (i < 0)
        return choices(row, value, e);
    o->policy = (enum path_policy)i;
    o->disjoint = 0;
    return 0;
}

static int set_word(struct options *o, const struct option_row *row, const char *value, struct err *e)
{
    if (row->words == policies)
        return set_policy(o, row, value, e);
    int i = word_index(row, value);
    if (i < 0)
        return choices(row, value, e);
    if (row->words == objectives)
        o->objective = (enum objective)i;
    else
        o->routing = (enum routing)i;
    return 0;
}

/* Where a number option lives; exactly one of the three is set. */
struct place {
    double *real;
    int32_t *small;
    int64_t *large;
};

static struct place place_of(struct options *o, const char *name)
{
    struct place p = { NULL, NULL, NULL };
    if (!strcmp(name, "gap"))
        p.real = &o->gap;
    else if (!strcmp(name, "time_limit"))
        p.real = &o->time_limit;
    else if (!strcmp(name, "paths_per_flow"))
        p.small = &o->paths_per_flow;
    else if (!strcmp(name, "pods"))
        p.small = &o->pods;
    else
        p.large = &o->seed;
    return p;
}

static int set_number(struct options *o, const struct option_row *row, const char *value, struct err *e)
{
    char *end;
    errno = 0;
    double x = strtod(value, &end);
    if (end == value || *end || errno)
        return fail(e, E_INPUT, "option %s: \"%s\" is not a number", row->name, value);
    if (!(x >= row->min && x <= row->max))
        return fail(e, E_INPUT, "option %s: %s is not in [%g, %g]", row->name, value, row->min, row->max);
    if (row->type == OPTION_INTEGER && x != floor(x))
        return fail(e, E_INPUT, "option %s: %s is not a whole number", row->name, value);
    struct place p = place_of(o, row->name);
    if (p.real)
        *p.real = x;
    else if (p.small)
        *p.small = (int32_t)x;
    else
        *p.large = (int64_t)x;
    return 0;
}

int options_set(struct options *o, const char *name, const char *value, struct err *e)
{
    const struct option_row *row = find(name);
    if (!row) {
        char list[300] = "";
        for (const struct option_row *r = option_table; r->name; r++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", r == option_table ? "" : ", ", r->name);
        return fail(e, E_INPUT, "option \"%s\" is not known; there are %s", name, list);
    }
    return row->type == OPTION_WORD ? set_word(o, row, value, e) : set_number(o, row, value, e);
}

int options_apply(struct options *o, const char *text, struct err *e)
{
    char name[64];
    const char *equal = strchr(text, '=');
    if (!equal || equal == text || equal - text >= (ptrdiff_t)sizeof name)
        return fail(e, E_INPUT, "--set %.100s: want option=value", text);
    memcpy(name, text, (size_t)(equal - text));
    name[equal - text] = 0;
    return options_set(o, name, equal + 1, e);
}

void options_default(struct options *o)
{
    *o = (struct options){ 0 };
    for (const struct option_row *row = option_table; row->name; row++)
        options_set(o, row->name, row->initial, NULL);
}

void options_get(const struct options *o, const char *name, char *text, size_t n)
{
    struct options copy = *o;
    const struct option_row *row = find(name);
    text[0] = 0;
    if (!row)
        return;
    if (row->words == objectives)
        snprintf(text, n, "%s", objectives[o->objective]);
    else if (row->words == routings)
        snprintf(text, n, "%s", routings[o->routing]);
    else if (row->words == policies && o->policy == PATHS_DISJOINT)
        snprintf(text, n, "disjoint:%d", o->disjoint);
    else if (row->words == policies)
        snprintf(text, n, "%s", policies[o->policy]);
    else {
        struct place p = place_of(&copy, name);
        if (p.real)
            snprintf(text, n, "%.17g", *p.real);
        else
            snprintf(text, n, "%lld", p.small ? (long long)*p.small : (long long)*p.large);
    }
}
