/* heddle: one table of subcommands. Happy path: find the row, call it. */
#include <stdio.h>
#include <string.h>

#include "service/cli/cli.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage, *summary;
};

static const struct command commands[] = {
    { "solve", cmd_solve, "PROBLEM [-o PLAN] [--set option=value ...]", "compute routes and prove how good they are" },
    { "evaluate", cmd_evaluate, "PROBLEM [--routes ecmp|spray|PLAN|lfts:FILE]", "what given routes achieve, and the bound" },
    { "check", cmd_check, "PROBLEM PLAN", "re-verify a plan with code that shares nothing with the solver" },
    { "generate", cmd_generate, "clos|fat-tree|multi-dc|jobs ...", "make a fabric, or jobs on a fabric" },
    { "import", cmd_import, "FORMAT FILE... -o FABRIC", "read another tool's file" },
    { "export", cmd_export, "FORMAT PROBLEM PLAN -o FILE", "write another tool's file" },
    { "diff", cmd_diff, "PLAN DISCOVERED", "a cabling plan against the fabric that was found" },
    { "options", cmd_options, "[--markdown]", "the options of a solve" },
    { "submit", cmd_client, "PROBLEM [--wait]", "hand a problem to heddled" },
    { "status", cmd_client, "JOB", "one job's state" },
    { "wait", cmd_client, "JOB", "until a job has ended" },
    { "watch", cmd_client, "JOB", "value, bound and gap as they come" },
    { "result", cmd_client, "JOB -o PLAN", "fetch a job's plan" },
    { "cancel", cmd_client, "JOB", "stop a job; its best plan so far is kept" },
    { "list", cmd_client, "", "all jobs that heddled knows" },
    { "world", cmd_world, "--connect ENDPOINT", "ranks that take jobs from heddled (started by it)" },
    { NULL, NULL, NULL, NULL },
};

static void help(FILE *to)
{
    fprintf(to, "usage: heddle COMMAND ...; heddle COMMAND --help tells more\n\n");
    for (const struct command *c = commands; c->name; c++)
        fprintf(to, "  %-9s %-42s %s\n", c->name, c->usage, c->summary);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return EXIT_REFUSED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        help(stdout);
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("heddle %s\n", HEDDLE_VERSION);
        return EXIT_DONE;
    }
    for (const struct command *c = commands; c->name; c++)
        if (!strcmp(c->name, argv[1]))
            return c->run(argc - 1, argv + 1);
    fprintf(stderr, "heddle: \"%s\" is no command; heddle --help lists them\n", argv[1]);
    return EXIT_REFUSED;
}
