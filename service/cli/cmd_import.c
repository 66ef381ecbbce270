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

static const char usage[] = "FORMAT FILE... [-o FABRIC] [--gbps RULES] [--hosts PATTERNS] | --list";

enum { MOST_FILES = 1 << 16 };

static void list(void)
{
    for (const struct format *f = format_table; f->name; f++)
        printf("%-16s %s%s\n", f->name, f->summary, f->many ? " (several files make one fabric)" : "");
}

static void help(void)
{
    printf(
        "usage: heddle import %s\n\n"
        "FILE and FABRIC may be - (the default for FABRIC); a FABRIC that ends in .mp is msgpack.\n"
        "A file that is wrong is refused with its line; what was left out on purpose is counted on standard error.\n\n"
        "  --gbps RULES      capacities that the file does not say, in Gb/s per direction: 400, tier1=400,tier2=800\n"
        "                    (the tier of a cable's upper end: NIC to leaf is tier1) or 'leaf*~spine*=400' (names);\n"
        "                    of several rules the first that fits counts\n"
        "  --hosts PATTERNS  nodes that are hosts, where the file does not tell: 'gpu*,client?'\n\n",
        usage);
    list();
}

static void summarise(const char *path, const struct fabric *f, const struct format_report *r)
{
    int32_t nic = 0, with_host = 0, directed = 0;
    for (int32_t v = 0; v < f->nnode; v++) {
        nic += f->node_kind[v] == NODE_NIC;
        with_host += f->host.of[v] >= 0;
    }
    for (int32_t i = 0; i < f->nlink; i++)
        directed += f->link_directed[i];
    fprintf(stderr, "%s: %d switches, %d NICs (%d of them on %d hosts), %d cables", path, f->nnode - nic, nic,
            with_host, f->host.count, f->nlink - directed);
    if (directed > 0)
        fprintf(stderr, ", %d links of one direction", directed);
    fprintf(stderr, "\n");
    for (int32_t i = 0; i < r->nnote; i++)
        if (r->note[i].line > 0)
            fprintf(stderr, "%s:%lld: %lld %s\n", path, (long long)r->note[i].line, (long long)r->note[i].count,
                    r->note[i].what);
        else
            fprintf(stderr, "%s: %lld %s\n", path, (long long)r->note[i].count, r->note[i].what);
}

static int save(const struct fabric *f, const char *output, struct err *e)
{
    size_t length = strlen(output);
    int packed = length > 3 && !strcmp(output + length - 3, ".mp");
    struct value *doc = NULL;
    struct arena *arena = arena_new(0, e);
    int rc = arena ? doc_fabric_write(f, packed, arena, &doc, e) : -1;
    if (rc == 0)
        rc = doc_save(output, doc, e);
    arena_free(arena);
    return rc;
}

static int import(const struct format *format, char **path, int32_t n, struct overlay *overlay, const char *output,
                  struct err *e)
{
    struct format_report report = { 0 };
    struct format_file *file = array(n, sizeof *file);
    char **data = array(n, sizeof *data);
    struct format_input in = { .file = file, .nfile = n, .overlay = overlay, .report = &report };
    struct fabric *f = NULL;
    int rc = file && data ? 0 : fail(e, E_MEMORY, "out of memory for %d files", n);
    for (int32_t i = 0; i < n && rc == 0; i++) {
        file[i].path = !strcmp(path[i], "-") ? "standard input" : path[i];
        rc = file_read(path[i], &data[i], &file[i].n, e);
        file[i].data = data[i];
    }
    if (rc == 0)
        rc = format_read(format, &in, &f, e);
    if (rc == 0)
        rc = save(f, output, e);
    if (rc == 0)
        summarise(file[0].path, f, &report);
    fabric_free(f);
    for (int32_t i = 0; i < n && data; i++)
        free(data[i]);
    free(data);
    free(file);
    return rc;
}

int cmd_import(int argc, char **argv)
{
    static const struct option known[] = {
        { "output", required_argument, NULL, 'o' }, { "gbps", required_argument, NULL, 'g' },
        { "hosts", required_argument, NULL, 'H' },  { "list", no_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },         { NULL, 0, NULL, 0 },
    };
    const char *output = "-";
    char text[200];
    struct err e = { 0 };
    static struct overlay overlay;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", known, NULL)) != -1;)
        switch (c) {
        case 'o':
            output = optarg;
            break;
        case 'g':
            if (overlay_gbps(&overlay, optarg, &e) < 0)
                return cli_refuse(&e);
            break;
        case 'H':
            if (overlay_hosts(&overlay, optarg, &e) < 0)
                return cli_refuse(&e);
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
    if (optind + 2 > argc || argc - optind - 1 > MOST_FILES)
        return cli_usage("import", usage, optind + 2 > argc ? "FORMAT and FILE are needed" : "too many FILEs");
    const struct format *format = format_find(argv[optind], &e);
    if (!format || import(format, argv + optind + 1, argc - optind - 1, &overlay, output, &e) < 0)
        return cli_refuse(&e);
    return EXIT_DONE;
}
