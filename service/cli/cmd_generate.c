/* heddle generate: a fabric from a few numbers, or jobs placed on a fabric, as a document.
 */
#include "service/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/generate.h"
#include "service/formats/generate_jobs.h"
#include "service/wire/doc.h"

static const char usage[] =
    "clos|fat-tree|multi-dc [--option value ...] [-o FABRIC]\n"
    "       heddle generate jobs FABRIC --job KIND:SIZE[/GROUP][:COUNT[:BYTES]][:across] ... [-o PROBLEM]";

struct arguments {
    int kind;
    struct generate g;
    struct options options; /* of the solve, for jobs */
    const char *fabric, *output;
};

static void help(void)
{
    printf(
        "usage: heddle generate %s\n\n"
        "Seeded: the same options give the same bytes. FABRIC and PROBLEM may be - (the default for output); a name\n"
        "that ends in .mp is msgpack. Jobs also take --set option=value for the problem's options. KIND of a job:\n"
        "ring (all-reduce), all_gather, reduce_scatter, all_to_all, pipeline over SIZE NICs; hierarchical: a ring per\n"
        "rail over SIZE hosts that have all rails. SIZE may be all. With /GROUP a job is many such groups, each of "
        "every\n"
        "(SIZE/GROUP)-th rank. A job stays in one site unless it says :across.\n\n"
        "for: c clos, f fat-tree, m multi-dc, j jobs\n",
        usage);
    for (const struct generate_row *row = generate_table; row->name; row++)
        printf("  --%-16s %c%c%c%c  %s%s%s%s\n", row->name, row->kinds & GENERATE_CLOS ? 'c' : '-',
               row->kinds & GENERATE_FAT_TREE ? 'f' : '-', row->kinds & GENERATE_MULTI_DC ? 'm' : '-',
               row->kinds & GENERATE_JOBS ? 'j' : '-', row->help, row->initial[0] ? " (default " : "", row->initial,
               row->initial[0] ? ")" : "");
}

/* One "--name value" or "--name=value" at argv[*i], which moves past what was used. */
static int parse_option(struct arguments *a, int argc, char **argv, int *i, struct err *e)
{
    char name[64];
    const char *text = argv[*i][1] == '-' ? argv[*i] + 2 : !strcmp(argv[*i], "-o") ? "output" : argv[*i];
    const char *equals = strchr(text, '='), *value = equals ? equals + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - text) : 60, text);
    int known = !strcmp(name, "output") || (!strcmp(name, "set") && a->kind == GENERATE_JOBS);
    const struct generate_row *row = known ? NULL : generate_find(a->kind, name, e);
    if (!known && !row)
        return -1;
    if (!value) {
        if (*i + 1 >= argc)
            return fail(e, E_INPUT, "--%s needs a value", name);
        value = argv[++*i];
    }
    if (row)
        return generate_set(&a->g, row, value, e);
    if (!strcmp(name, "set"))
        return options_apply(&a->options, value, e);
    a->output = value;
    return 0;
}

static int parse(int argc, char **argv, struct arguments *a, struct err *e)
{
    a->kind = generate_kind(argv[1], e);
    if (!a->kind)
        return -1;
    generate_default(&a->g);
    options_default(&a->options);
    a->output = "-";
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            if (parse_option(a, argc, argv, &i, e) < 0)
                return -1;
        } else if (a->kind != GENERATE_JOBS || a->fabric)
            return fail(e, E_INPUT, "unexpected argument \"%.60s\"", argv[i]);
        else
            a->fabric = argv[i];
    }
    if (a->kind == GENERATE_JOBS && !a->fabric)
        return fail(e, E_INPUT, "no FABRIC given");
    return 0;
}

static int packed(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && !strcmp(path + n - 3, ".mp");
}

static int write_fabric(const struct arguments *a, struct arena *arena, struct err *e)
{
    struct value *doc = NULL;
    struct fabric *f = generate_fabric(&a->g, a->kind, e);
    int rc = f ? doc_fabric_write(f, packed(a->output), arena, &doc, e) : -1;
    fabric_free(f);
    return rc < 0 ? -1 : doc_save(a->output, doc, e);
}

static int load_fabric(const char *path, struct fabric **out, struct err *e)
{
    struct arena *arena = arena_new(0, e);
    struct value *doc;
    if (!arena)
        return -1;
    int rc = doc_load(path, arena, &doc, e);
    if (rc == 0 && doc_fabric(doc, out, e) < 0)
        rc = fail_at(e, "%.200s: ", path);
    arena_free(arena);
    return rc;
}

static int write_problem(const struct arguments *a, struct arena *arena, struct err *e)
{
    struct value *doc = NULL;
    struct fabric *f = NULL;
    if (load_fabric(a->fabric, &f, e) < 0)
        return -1;
    struct problem *p = generate_jobs(&a->g, f, e);
    if (!p)
        return -1;
    p->options = a->options;
    int rc = doc_problem_write(p, packed(a->output), arena, &doc, e);
    problem_free(p);
    return rc < 0 ? -1 : doc_save(a->output, doc, e);
}

int cmd_generate(int argc, char **argv)
{
    struct arguments a = { 0 };
    struct err e = { 0 };
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            help();
            return EXIT_DONE;
        }
    if (argc < 2)
        return cli_usage("generate", usage, "what?");
    if (parse(argc, argv, &a, &e) < 0)
        return cli_usage("generate", usage, e.text);
    struct arena *arena = arena_new(0, &e);
    int rc = !arena ? -1 : a.kind == GENERATE_JOBS ? write_problem(&a, arena, &e) : write_fabric(&a, arena, &e);
    arena_free(arena);
    return rc < 0 ? cli_refuse(&e) : EXIT_DONE;
}
