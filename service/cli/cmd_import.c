/* heddle import: another tool's file as a fabric. What the reader left out or doubted goes to standard error.
 */
#include "service/cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/formats.h"
#include "service/wire/doc.h"
#include "service/wire/file.h"

static const char usage[] = "FORMAT FILE [-o FABRIC] | --list";

static void help(void)
{
    printf(
        "usage: heddle import %s\n\n"
        "FILE and FABRIC may be - (the default for FABRIC); a FABRIC that ends in .mp is msgpack.\n"
        "A file that is wrong is refused with its line; what was left out on purpose is counted on standard error.\n\n",
        usage);
    for (const struct format *f = format_table; f->name; f++)
        printf("  %-16s %s\n", f->name, f->summary);
}

static void list(void)
{
    for (const struct format *f = format_table; f->name; f++)
        printf("%s\n", f->name);
}

static void summarise(const char *path, const struct fabric *f, const struct format_report *r)
{
    int32_t nic = 0, with_host = 0;
    for (int32_t v = 0; v < f->nnode; v++) {
        nic += f->node_kind[v] == NODE_NIC;
        with_host += f->host.of[v] >= 0;
    }
    fprintf(stderr, "%s: %d switches, %d NICs (%d of them on %d hosts), %d cables\n", path, f->nnode - nic, nic,
            with_host, f->host.count, f->nlink);
    for (int32_t i = 0; i < r->nnote; i++)
        fprintf(stderr, "%s:%lld: %lld %s\n", path, (long long)r->note[i].line, (long long)r->note[i].count,
                r->note[i].what);
}

static int import(const struct format *format, const char *path, const char *output, struct err *e)
{
    struct format_report report = { 0 };
    struct fabric *f = NULL;
    struct value *doc = NULL;
    struct arena *arena = NULL;
    const char *name = !strcmp(path, "-") ? "standard input" : path;
    char *data = NULL;
    int64_t n;
    size_t length = strlen(output);
    int packed = length > 3 && !strcmp(output + length - 3, ".mp");
    int rc = file_read(path, &data, &n, e);
    if (rc == 0)
        rc = format->read(name, data, n, &f, &report, e);
    if (rc == 0) {
        arena = arena_new(0, e);
        rc = arena ? doc_fabric_write(f, packed, arena, &doc, e) : -1;
    }
    if (rc == 0)
        rc = doc_save(output, doc, e);
    if (rc == 0)
        summarise(name, f, &report);
    arena_free(arena);
    fabric_free(f);
    free(data);
    return rc;
}

int cmd_import(int argc, char **argv)
{
    static const struct option known[] = {
        { "output", required_argument, NULL, 'o' },
        { "list", no_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    const char *output = "-";
    char text[200];
    struct err e = { 0 };
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", known, NULL)) != -1;)
        switch (c) {
        case 'o':
            output = optarg;
            break;
        case 'l':
            list();
            return EXIT_DONE;
        case 'h':
            help();
            return EXIT_DONE;
        default:
            snprintf(text, sizeof text, c == ':' ? "%s needs a value" : "%s is no option of it", argv[optind - 1]);
            return cli_usage("import", usage, text);
        }
    if (optind + 2 != argc)
        return cli_usage("import", usage,
                         optind + 2 > argc ? "FORMAT and FILE are needed" : "more than one FILE given");
    const struct format *format = format_find(argv[optind], &e);
    if (!format || import(format, argv[optind + 1], output, &e) < 0)
        return cli_refuse(&e);
    return EXIT_DONE;
}
