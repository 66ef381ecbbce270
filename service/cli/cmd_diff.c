/* heddle diff: a cabling plan against the fabric that was found. Exit status 1 when they differ. */
#include "service/cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/cabling.h"
#include "service/formats/formats.h"
#include "service/wire/doc.h"
#include "service/wire/file.h"
#include "service/wire/json.h"

static const char usage[] = "PLAN DISCOVERED [--plan-format FORMAT] [--format FORMAT] [--json]";

static void help(void)
{
    printf("usage: heddle diff %s\n\n"
           "Which planned cables are missing or go elsewhere, and which cables nobody planned. PLAN is a UFM NDT,\n"
           "DISCOVERED a fabric (of heddle import); FORMAT is another one of heddle import --list, or heddle.\n"
           "Exit status: 0 as planned, 1 different.\n",
           usage);
}

static int load_document(const char *path, struct fabric **out, struct err *e)
{
    struct value *doc;
    struct arena *arena = arena_new(0, e);
    int rc = arena ? doc_load(path, arena, &doc, e) : -1;
    if (rc == 0 && doc_fabric(doc, out, e) < 0)
        rc = fail_at(e, "%.120s: ", path);
    arena_free(arena);
    return rc;
}

static int load(const char *path, const char *format, struct fabric **out, struct err *e)
{
    static struct overlay overlay;
    struct format_report report = { 0 };
    struct format_file file = { .path = !strcmp(path, "-") ? "standard input" : path };
    struct format_input in = { .file = &file, .nfile = 1, .overlay = &overlay, .report = &report };
    char *data = NULL;
    if (!strcmp(format, "heddle"))
        return load_document(path, out, e);
    const struct format *f = format_find(format, e);
    overlay.capacity_free = 1;
    if (!f || file_read(path, &data, &file.n, e) < 0)
        return -1;
    file.data = data;
    int rc = format_read(f, &in, out, e);
    free(data);
    return rc;
}

/* ---- output ---- */

static const char *const word[] = { "missing", "extra", "miswired" };

static void say_cable(const struct fabric *f, int32_t i, char *out, size_t n)
{
    char a[420], b[420];
    cabling_say(f, i, 0, a, sizeof a);
    cabling_say(f, i, 1, b, sizeof b);
    snprintf(out, n, "%s - %s", a, b);
}

static void print_text(const struct fabric *plan, const struct fabric *found, const struct cabling *c)
{
    char want[900], have[900];
    for (int64_t i = 0; i < c->nrow; i++) {
        const struct cabling_row *r = &c->row[i];
        if (r->plan >= 0)
            say_cable(plan, r->plan, want, sizeof want);
        if (r->found >= 0)
            say_cable(found, r->found, have, sizeof have);
        if (r->kind == CABLE_MISWIRED)
            printf("miswired  %s, found %s\n", want, have);
        else
            printf("%-8s  %s\n", word[r->kind], r->kind == CABLE_MISSING ? want : have);
    }
    printf("%lld as planned, %lld missing, %lld extra, %lld miswired\n", (long long)c->same,
           (long long)c->count[CABLE_MISSING], (long long)c->count[CABLE_EXTRA], (long long)c->count[CABLE_MISWIRED]);
    if (c->internal > 0)
        printf("%lld cables inside one device not compared\n", (long long)c->internal);
}

static int print_json(const struct fabric *plan, const struct fabric *found, const struct cabling *c, struct err *e)
{
    struct arena *a = arena_new(0, e);
    if (!a)
        return -1;
    char text[900], *out = NULL;
    int64_t n;
    struct value *root = value_map(a), *rows = value_put(a, root, "cables", value_list(a, c->nrow));
    for (int64_t i = 0; i < c->nrow && rows && !arena_failed(a); i++) {
        const struct cabling_row *r = &c->row[i];
        struct value *map = value_map(a);
        value_put(a, map, "is", value_text(a, word[r->kind]));
        if (r->plan >= 0) {
            say_cable(plan, r->plan, text, sizeof text);
            value_put(a, map, "planned", value_text(a, text));
        }
        if (r->found >= 0) {
            say_cable(found, r->found, text, sizeof text);
            value_put(a, map, "found", value_text(a, text));
        }
        if (map)
            rows->as.item[i] = *map;
    }
    value_put(a, root, "same", value_int(a, c->same));
    for (int k = 0; k < 3; k++)
        value_put(a, root, word[k], value_int(a, c->count[k]));
    value_put(a, root, "internal", value_int(a, c->internal));
    int rc = arena_failed(a) ? fail(e, E_MEMORY, "out of memory for the answer") : json_write(root, 2, &out, &n, e);
    if (rc == 0)
        fputs(out, stdout);
    free(out);
    arena_free(a);
    return rc;
}

static int diff(char **path, const char *plan_format, const char *format, int json, struct err *e)
{
    struct fabric *plan = NULL, *found = NULL;
    struct cabling c = { 0 };
    int rc = load(path[0], plan_format, &plan, e) < 0 || load(path[1], format, &found, e) < 0 ||
                     cabling_compare(plan, found, &c, e) < 0
                 ? -1
                 : 0;
    if (rc == 0 && json)
        rc = print_json(plan, found, &c, e);
    else if (rc == 0)
        print_text(plan, found, &c);
    int status = rc < 0 ? cli_refuse(e) : c.nrow > 0 ? EXIT_NO : EXIT_DONE;
    cabling_free(&c);
    fabric_free(plan);
    fabric_free(found);
    return status;
}

int cmd_diff(int argc, char **argv)
{
    static const struct option known[] = {
        { "plan-format", required_argument, NULL, 'p' },
        { "format", required_argument, NULL, 'f' },
        { "json", no_argument, NULL, 'j' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    const char *plan_format = "ufm-ndt", *format = "heddle";
    char text[200];
    int json = 0;
    struct err e = { 0 };
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", known, NULL)) != -1;)
        switch (c) {
        case 'p':
            plan_format = optarg;
            break;
        case 'f':
            format = optarg;
            break;
        case 'j':
            json = 1;
            break;
        case 'h':
            help();
            return EXIT_DONE;
        default:
            snprintf(text, sizeof text, c == ':' ? "%.150s needs a value" : "%.150s is no option of it",
                     argv[optind - 1]);
            return cli_usage("diff", usage, text);
        }
    if (optind + 2 != argc)
        return cli_usage("diff", usage, "PLAN and DISCOVERED are needed");
    return diff(argv + optind, plan_format, format, json, &e);
}
