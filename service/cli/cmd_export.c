/* heddle export: a plan, or a fabric alone, as another tool's file.
 */
#include "service/cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/cli/input.h"
#include "service/formats/exports.h"
#include "service/formats/ib_identity.h"
#include "service/wire/doc.h"
#include "service/wire/file.h"

static const char usage[] = "FORMAT PROBLEM PLAN [-o FILE] | FORMAT FABRIC [-o FILE] | --list";

struct arguments {
    const char *output, *input, *plan;
    struct export_options options;
};

static void help(void)
{
    printf("usage: heddle export %s\n\n"
           "FILE is - (standard output) by default.\n\n"
           "  --lmc K   InfiniBand: every NIC has 2^K addresses (default 0)\n\n",
           usage);
    for (const struct export_format *f = export_table; f->name; f++)
        printf("  %-8s %-8s %s\n", f->name, f->needs_plan ? "(plan)" : "(fabric)", f->summary);
}

static void list(void)
{
    for (const struct export_format *f = export_table; f->name; f++)
        printf("%s\n", f->name);
}

static int load_fabric(const char *path, struct fabric **out, struct err *e)
{
    struct arena *a = arena_new(0, e);
    struct value *v = NULL;
    int rc = a ? doc_load(path, a, &v, e) : -1;
    if (rc == 0 && doc_fabric(v, out, e) < 0)
        rc = fail_at(e, "%s: ", path);
    arena_free(a);
    return rc;
}

static int write_plan(const struct export_format *format, const struct arguments *a, FILE *out, struct err *e)
{
    struct input_set none = { 0 };
    struct problem *p = NULL;
    struct plan *plan = NULL;
    int rc = input_problem(a->input, &none, &p, e);
    if (rc == 0)
        rc = input_plan(a->plan, p, &plan, e);
    if (rc == 0 && format->write(p, plan, &a->options, out, e) < 0)
        rc = fail_at(e, "%s: ", a->plan);
    plan_free(plan);
    problem_free(p);
    return rc;
}

static int write_fabric(const struct export_format *format, const struct arguments *a, FILE *out, struct err *e)
{
    struct fabric *f = NULL;
    int rc = load_fabric(a->input, &f, e);
    if (rc == 0 && format->write_fabric(f, &a->options, out, e) < 0)
        rc = fail_at(e, "%s: ", a->input);
    fabric_free(f);
    return rc;
}

static int export(const struct export_format *format, const struct arguments *a, struct err *e)
{
    char *data = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&data, &n);
    int rc = out ? 0 : fail(e, E_MEMORY, "out of memory for the file");
    if (rc == 0)
        rc = format->needs_plan ? write_plan(format, a, out, e) : write_fabric(format, a, out, e);
    if (out && fclose(out) != 0 && rc == 0)
        rc = fail(e, E_MEMORY, "out of memory for the file");
    if (rc == 0)
        rc = file_write(a->output, data, (int64_t)n, e);
    free(data);
    return rc;
}

static int parse_lmc(const char *text, int *lmc)
{
    char *end;
    long x = strtol(text, &end, 10);
    if (end == text || *end || x < 0 || x > IB_MAX_LMC)
        return -1;
    *lmc = (int)x;
    return 0;
}

int cmd_export(int argc, char **argv)
{
    static const struct option known[] = {
        { "output", required_argument, NULL, 'o' },
        { "lmc", required_argument, NULL, 'm' },
        { "list", no_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    struct arguments a = { .output = "-" };
    char text[200];
    struct err e = { 0 };
    opterr = 0;
    optind = 0; /* a fresh scan, whoever used getopt before */
    for (int c; (c = getopt_long(argc, argv, ":o:h", known, NULL)) != -1;)
        switch (c) {
        case 'o':
            a.output = optarg;
            break;
        case 'm':
            if (parse_lmc(optarg, &a.options.lmc) < 0)
                return cli_usage("export", usage, "--lmc wants a number in [0, 7]");
            break;
        case 'l':
            list();
            return EXIT_DONE;
        case 'h':
            help();
            return EXIT_DONE;
        default:
            snprintf(text, sizeof text, c == ':' ? "%.100s needs a value" : "%.100s is no option of it",
                     argv[optind - 1]);
            return cli_usage("export", usage, text);
        }
    const struct export_format *format = optind < argc ? export_find(argv[optind], &e) : NULL;
    if (optind == argc)
        return cli_usage("export", usage, "no FORMAT given");
    if (!format)
        return cli_refuse(&e);
    if (optind + 2 + format->needs_plan != argc) {
        snprintf(text, sizeof text, "%s wants %s", format->name, format->needs_plan ? "PROBLEM and PLAN" : "FABRIC");
        return cli_usage("export", usage, text);
    }
    a.input = argv[optind + 1];
    a.plan = format->needs_plan ? argv[optind + 2] : NULL;
    return export(format, &a, &e) < 0 ? cli_refuse(&e) : EXIT_DONE;
}
