/* heddle solve: one problem file in, one plan file out; alone, or on every rank that a launcher started. Rank 0 reads,
 * writes and prints.
 */
#include "service/cli/cli.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/cli/input.h"
#include "service/cli/run.h"
#include "service/cli/table.h"
#include "service/wire/doc.h"
#include "service/wire/file.h"
#include "service/wire/wire.h"
#include "solver/model/options.h"

static const char usage[] = "PROBLEM [-o PLAN] [--set option=value ...] [--strict] [--progress] [--json]";

enum { MAX_SET = 64 };

struct arguments {
    const char *problem, *plan, *set[MAX_SET];
    int32_t nset;
    int strict, progress, json;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static int stop(void *context)
{
    (void)context;
    return interrupted;
}

static void report(void *context, const struct progress *row)
{
    (void)context;
    fprintf(stderr, "%s%-6s round %lld  value %.6g  bound %.6g  gap %.2g  %.1f s%s", isatty(2) ? "\r\033[K" : "",
            row->phase, (long long)row->round, row->value, row->bound, row->gap, row->seconds, isatty(2) ? "" : "\n");
    fflush(stderr);
}

static void help(void)
{
    printf("usage: heddle solve %s\n\n"
           "Routes for every flow of PROBLEM (JSON or msgpack; - is standard input), and a bound that no routing can\n"
           "beat. Under mpirun or srun the same plan comes out, byte for byte.\n\n"
           "  -o, --output PLAN   write the plan (.mp: msgpack, else JSON; - is standard output)\n"
           "  --set option=value  override an option of the problem:\n",
           usage);
    for (const struct option_row *o = option_table; o->name; o++)
        printf("      %-15s %s%s%s%s (default %s)\n", o->name, o->help, o->unit[0] ? " [" : "", o->unit,
               o->unit[0] ? "]" : "", o->initial);
    printf("  --strict            exit 3 when the plan's gap is still over the option gap\n"
           "  --progress          progress rows even when standard error is no terminal\n"
           "  --json              print the summary as JSON\n");
}

/* Returns -1 when the command may go on, else the exit status. */
static int parse(int argc, char **argv, struct arguments *a)
{
    static const struct option known[] = {
        { "output", required_argument, NULL, 'o' },
        { "set", required_argument, NULL, 's' },
        { "strict", no_argument, NULL, 'S' },
        { "progress", no_argument, NULL, 'p' },
        { "json", no_argument, NULL, 'j' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    char text[200];
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", known, NULL)) != -1;)
        switch (c) {
        case 'o':
            a->plan = optarg;
            break;
        case 's':
            if (a->nset == MAX_SET)
                return cli_usage("solve", usage, "too many --set");
            a->set[a->nset++] = optarg;
            break;
        case 'S':
            a->strict = 1;
            break;
        case 'p':
            a->progress = 1;
            break;
        case 'j':
            a->json = 1;
            break;
        case 'h':
            help();
            return EXIT_DONE;
        default:
            snprintf(text, sizeof text, c == ':' ? "%s needs a value" : "%s is no option of it", argv[optind - 1]);
            return cli_usage("solve", usage, text);
        }
    if (optind + 1 != argc)
        return cli_usage("solve", usage, optind == argc ? "no PROBLEM given" : "more than one PROBLEM given");
    a->problem = argv[optind];
    return -1;
}

/* Write the plan file and print the summary, from the plan's own document. */
static int show(const struct arguments *a, const struct run_result *r, struct err *e)
{
    struct arena *arena = arena_new(0, e);
    struct value *plan = NULL;
    int rc = arena ? wire_read(r->plan, r->n, &wire_document, arena, &plan, e) : -1;
    if (rc == 0 && a->plan)
        rc = doc_save(a->plan, plan, e);
    FILE *to = a->plan && !strcmp(a->plan, "-") ? stderr : stdout;
    if (rc == 0)
        rc = a->json ? table_plan_json(to, plan, e) : table_plan(to, plan, r->problem ? r->problem->fabric : NULL, e);
    arena_free(arena);
    return rc;
}

static int finish(const struct arguments *a, const struct run_result *r, struct err *e)
{
    if (show(a, r, e) < 0)
        return cli_refuse(e);
    if (r->status == PLAN_INFEASIBLE || r->status == PLAN_FAILED)
        return EXIT_NO;
    return a->strict && r->status != PLAN_OPTIMAL ? EXIT_LIMIT : EXIT_DONE;
}

static int solve_file(struct comm *c, const struct arguments *a)
{
    static const struct sigaction once = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
    struct err e = { 0 };
    struct run_job job = { .nset = a->nset, .set = a->set, .keep = 1 };
    struct run_result result = { 0 };
    char *data = NULL, *folder = input_folder(a->problem);
    double begin = c->now(c);
    int rc = folder ? 0 : fail(&e, E_MEMORY, "out of memory");
    if (rc == 0 && c->rank == 0)
        rc = file_read(a->problem, &data, &job.n, &e);
    int64_t failed = rc < 0; /* told apart from comm_agree, so that only rank 0 has a sentence to print */
    if (c->sum(c, &failed, 1, &e) < 0)
        rc = -1;
    if (failed == 0 && rc == 0) {
        /* From here on the first signal asks for the best plan so far; the second, or one while reading, ends the
         * program. */
        sigaction(SIGINT, &once, NULL);
        sigaction(SIGTERM, &once, NULL);
        job.data = data;
        job.folder = folder;
        job.seconds_read = c->now(c) - begin;
        struct hooks hooks = { .report = a->progress || isatty(2) ? report : NULL, .stop = stop };
        rc = run_job(c, &job, &hooks, &result, &e);
        if (hooks.report && isatty(2) && c->rank == 0)
            fprintf(stderr, "\r\033[K");
        if (rc < 0 && e.code == E_INPUT && c->rank == 0)
            fail_at(&e, "%s: ", a->problem);
    }
    int status = EXIT_DONE;
    if (failed > 0 || rc < 0)
        status = c->rank == 0 ? cli_refuse(&e) : EXIT_DONE; /* one sentence, one status for the launcher to pass on */
    else if (c->rank == 0)
        status = finish(a, &result, &e);
    free(result.plan);
    problem_free(result.problem);
    free(data);
    free(folder);
    return status;
}

int cmd_solve(int argc, char **argv)
{
    struct arguments a = { 0 };
    struct err e = { 0 };
    int status = parse(argc, argv, &a);
    if (status >= 0)
        return status;
    struct comm *c = comm_launched() ? comm_mpi(&e) : comm_self(&e);
    if (!c)
        return cli_refuse(&e);
    status = solve_file(c, &a);
    comm_free(c);
    return status;
}
