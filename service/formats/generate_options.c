/* The table of generate's options and its parser. */
#include "service/formats/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const join_word[] = { "ring", "mesh", NULL };
static const char *const border_word[] = { "spine", "leaf", NULL };
static const char *const place_word[] = { "packed", "fragmented", NULL };
static const char *const job_word[] = { "ring",       "hierarchical", "all_gather", "reduce_scatter",
                                        "all_to_all", "pipeline",     NULL };

enum {
    ALL_FABRICS = GENERATE_CLOS | GENERATE_FAT_TREE | GENERATE_MULTI_DC,
    TWO_TIERS = GENERATE_CLOS | GENERATE_MULTI_DC,
};
#define INTEGER(field) GENERATE_INTEGER, offsetof(struct generate, field)
#define REAL(field) GENERATE_REAL, offsetof(struct generate, field)
#define WORD(field) GENERATE_WORD, offsetof(struct generate, field)
static const double MOST = 1 << 24;

/* clang-format off */
const struct generate_row generate_table[] = {
    { "leaves", "16", "leaf switches (fat-tree: per pod; multi-dc: per site)", ALL_FABRICS, INTEGER(leaves), 1, MOST, NULL },
    { "spines", "8", "spine switches (multi-dc: per site)", TWO_TIERS, INTEGER(spines), 1, MOST, NULL },
    { "nics", "16", "NICs per leaf", ALL_FABRICS, INTEGER(nics), 1, MOST, NULL },
    { "rails", "1", "NICs per host: NIC g of every host of a segment stands on the segment's leaf g", ALL_FABRICS, INTEGER(rails), 1, 64, NULL },
    { "cables", "1", "parallel cables per leaf-spine pair (fat-tree: and per spine-core pair)", ALL_FABRICS, INTEGER(cables), 1, 1024, NULL },
    { "gbps", "400", "Gb/s of a NIC's cable", ALL_FABRICS, REAL(gbps), 1e-6, 1e9, NULL },
    { "uplink-gbps", "0", "Gb/s of a leaf-spine cable; 0: as gbps", ALL_FABRICS, REAL(uplink_gbps), 0, 1e9, NULL },
    { "k", "0", "the k-ary fat tree: k pods of k/2 leaves, k/2 planes, k/2 NICs per leaf; 0: as the options say", GENERATE_FAT_TREE, INTEGER(k), 0, 1024, NULL },
    { "pods", "4", "pods", GENERATE_FAT_TREE, INTEGER(pods), 1, MOST, NULL },
    { "planes", "4", "planes: spines per pod, one in each plane", GENERATE_FAT_TREE, INTEGER(planes), 1, MOST, NULL },
    { "cores", "4", "core switches per plane", GENERATE_FAT_TREE, INTEGER(cores), 1, MOST, NULL },
    { "core-gbps", "0", "Gb/s of a spine-core cable; 0: as uplink-gbps", GENERATE_FAT_TREE, REAL(core_gbps), 0, 1e9, NULL },
    { "sites", "2", "data centers", GENERATE_MULTI_DC, INTEGER(sites), 2, 4096, NULL },
    { "join", "ring", "which sites are joined: neighbours on a ring, or all pairs (ring, mesh)", GENERATE_MULTI_DC, WORD(join), 0, 0, join_word },
    { "wan-links", "4", "links between two joined sites", GENERATE_MULTI_DC, INTEGER(wan_links), 1, 65536, NULL },
    { "wan-gbps", "100", "Gb/s of these links: one number, or a list a,b,... that repeats", GENERATE_MULTI_DC, GENERATE_REALS, offsetof(struct generate, wan_gbps), 1e-6, 1e9, NULL },
    { "wan-latency-us", "0", "latency of these links, microseconds", GENERATE_MULTI_DC, REAL(wan_latency_us), 0, 1e9, NULL },
    { "border", "spine", "where these links end (spine, leaf)", GENERATE_MULTI_DC, WORD(border), 0, 0, border_word },
    { "border-switches", "2", "how many switches of a site carry them", GENERATE_MULTI_DC, INTEGER(border_switches), 1, MOST, NULL },
    { "dead-spines", "0", "spines that are down, seeded (multi-dc: of all sites)", ALL_FABRICS, INTEGER(dead_spines), 0, MOST, NULL },
    { "dead-cables", "0", "share of the cables between switches that are down, seeded", ALL_FABRICS, REAL(dead_cables), 0, 1, NULL },
    { "job", "", "KIND:SIZE[/GROUP][:COUNT[:BYTES]][:across], may be given many times", GENERATE_JOBS, GENERATE_JOB, offsetof(struct generate, job), 0, 0, job_word },
    { "bytes", "1e9", "buffer of a job per iteration", GENERATE_JOBS, REAL(bytes), 0, 1e18, NULL },
    { "place", "packed", "jobs on neighbouring hosts, or on blocks of hosts here and there (packed, fragmented)", GENERATE_JOBS, WORD(place), 0, 0, place_word },
    { "block", "1", "hosts per block of a fragmented placement, and per turn of a site in a job across", GENERATE_JOBS, INTEGER(block), 1, MOST, NULL },
    { "seed", "1", "of everything random", ALL_FABRICS | GENERATE_JOBS, GENERATE_INTEGER, offsetof(struct generate, seed), 0, 9e15, NULL },
    { NULL, NULL, NULL, 0, GENERATE_INTEGER, 0, 0, 0, NULL },
};
/* clang-format on */

static const struct {
    const char *name;
    int kind;
} kind_table[] = { { "clos", GENERATE_CLOS },
                   { "fat-tree", GENERATE_FAT_TREE },
                   { "multi-dc", GENERATE_MULTI_DC },
                   { "jobs", GENERATE_JOBS } };

int generate_kind(const char *name, struct err *e)
{
    for (size_t i = 0; i < sizeof kind_table / sizeof *kind_table; i++)
        if (!strcmp(kind_table[i].name, name))
            return kind_table[i].kind;
    fail(e, E_INPUT, "\"%.60s\" can not be generated: clos, fat-tree, multi-dc and jobs can", name);
    return 0;
}

const struct generate_row *generate_find(int kind, const char *name, struct err *e)
{
    for (const struct generate_row *row = generate_table; row->name; row++)
        if (!strcmp(row->name, name)) {
            if (row->kinds & kind)
                return row;
            fail(e, E_INPUT, "option \"%s\" does not belong to what is generated here", name);
            return NULL;
        }
    fail(e, E_INPUT, "unknown option \"%.60s\"", name);
    return NULL;
}

/* Number from text up to the character end, all of it used and in [min, max]. */
static int number(const char *text, char end, const char *name, double min, double max, double *x, const char **rest,
                  struct err *e)
{
    char *stop;
    *x = strtod(text, &stop);
    if (stop == text || (*stop && *stop != end))
        return fail(e, E_INPUT, "%s: \"%.60s\" is no number", name, text);
    if (!(*x >= min && *x <= max))
        return fail(e, E_INPUT, "%s: %.60s is not in [%.15g, %.15g]", name, text, min, max);
    *rest = *stop ? stop + 1 : stop;
    return 0;
}

static int whole(double x, const char *name, struct err *e)
{
    return x >= floor(x) && x <= floor(x) ? 0 : fail(e, E_INPUT, "%s: %.15g is not a whole number", name, x);
}

static int word(const char *const *words, const char *text, size_t n)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == n && !strncmp(words[i], text, n))
            return i;
    return -1;
}

static int parse_reals(struct generate *g, const struct generate_row *row, const char *text, struct err *e)
{
    double x[GENERATE_LIST];
    int32_t n = 0;
    const char *at = text;
    do {
        if (n == GENERATE_LIST)
            return fail(e, E_INPUT, "%s: more than %d numbers", row->name, GENERATE_LIST);
        if (number(at, ',', row->name, row->min, row->max, &x[n++], &at, e) < 0)
            return -1;
    } while (*at || at[-1] == ',');
    memcpy((char *)g + row->offset, x, (size_t)n * sizeof *x);
    g->nwan = n;
    return 0;
}

/* SIZE[/GROUP] up to the colon or the end. */
static int parse_size(struct job_spec *job, const char *text, const char **rest, struct err *e)
{
    const char *slash = strchr(text, '/'), *colon = strchr(text, ':');
    int grouped = slash && (!colon || slash < colon);
    double x = 0;
    if (!strncmp(text, "all", 3) && (!text[3] || text[3] == ':'))
        *rest = text + 3 + (text[3] == ':');
    else if (number(text, grouped ? '/' : ':', "job size", 1, 1 << 30, &x, rest, e) < 0 || whole(x, "job size", e) < 0)
        return -1;
    job->size = (int32_t)x;
    if (!grouped || job->size == 0)
        return 0;
    if (number(*rest, ':', "job group", 1, 1 << 30, &x, rest, e) < 0 || whole(x, "job group", e) < 0)
        return -1;
    job->group = (int32_t)x;
    if (job->kind == JOB_HIERARCHICAL || job->size % job->group != 0)
        return fail(e, E_INPUT, "job: \"%.60s\": groups of %d do not divide %d%s", text, job->group, job->size,
                    job->kind == JOB_HIERARCHICAL ? " (a hierarchical job has its rails for groups)" : "");
    return 0;
}

/* KIND:SIZE[/GROUP][:COUNT[:BYTES]][:across] */
static int parse_job(struct generate *g, const struct generate_row *row, const char *text, struct err *e)
{
    static const char last[] = ":across";
    char copy[128];
    size_t n = strlen(text);
    struct job_spec job = { .count = 1 };
    double x;
    if (g->njob == GENERATE_LIST)
        return fail(e, E_INPUT, "job: more than %d kinds of job", GENERATE_LIST);
    if (n >= sizeof copy)
        return fail(e, E_INPUT, "job: \"%.60s...\" is too long", text);
    job.across = n >= sizeof last && !strcmp(text + n - (sizeof last - 1), last);
    snprintf(copy, sizeof copy, "%.*s", (int)(n - (job.across ? sizeof last - 1 : 0)), text);
    const char *colon = strchr(copy, ':'), *rest = copy;
    int kind = colon ? word(row->words, copy, (size_t)(colon - copy)) : -1;
    if (!colon || kind < 0)
        return fail(e, E_INPUT,
                    "job: \"%.60s\" is not KIND:SIZE[/GROUP][:COUNT[:BYTES]][:across] with KIND ring, hierarchical, "
                    "all_gather, reduce_scatter, all_to_all or pipeline",
                    text);
    job.kind = (enum job_kind)kind;
    if (parse_size(&job, colon + 1, &rest, e) < 0)
        return -1;
    if (*rest) {
        if (number(rest, ':', "job count", 1, 1 << 20, &x, &rest, e) < 0 || whole(x, "job count", e) < 0)
            return -1;
        job.count = (int32_t)x;
    }
    if (*rest && number(rest, '\0', "job bytes", 0, 1e18, &job.bytes, &rest, e) < 0)
        return -1;
    g->job[g->njob++] = job;
    return 0;
}

int generate_set(struct generate *g, const struct generate_row *row, const char *value, struct err *e)
{
    char *field = (char *)g + row->offset;
    const char *rest;
    double x = 0;
    int i;
    switch (row->type) {
    case GENERATE_INTEGER:
    case GENERATE_REAL:
        if (number(value, '\0', row->name, row->min, row->max, &x, &rest, e) < 0)
            return -1;
        if (row->type == GENERATE_REAL)
            *(double *)(void *)field = x;
        else if (whole(x, row->name, e) < 0)
            return -1;
        else if (row->offset == offsetof(struct generate, seed))
            g->seed = (int64_t)x;
        else
            *(int32_t *)(void *)field = (int32_t)x;
        return 0;
    case GENERATE_WORD:
        i = word(row->words, value, strlen(value));
        if (i < 0)
            return fail(e, E_INPUT, "%s: \"%.60s\" is neither %s nor %s", row->name, value, row->words[0],
                        row->words[1]);
        *(int32_t *)(void *)field = i;
        return 0;
    case GENERATE_REALS:
        return parse_reals(g, row, value, e);
    case GENERATE_JOB:
        return parse_job(g, row, value, e);
    }
    return fail(e, E_INTERNAL, "%s: no such type of option", row->name);
}

void generate_default(struct generate *g)
{
    memset(g, 0, sizeof *g);
    for (const struct generate_row *row = generate_table; row->name; row++)
        if (row->initial[0])
            generate_set(g, row, row->initial, NULL);
}
