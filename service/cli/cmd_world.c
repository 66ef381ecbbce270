/* heddle world: started by heddled, once per rank. */
#include "service/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/cli/worker.h"

static const char usage[] = "--connect ENDPOINT --folder FOLDER [--world N] [--epoch N]   (heddled starts it)";

static int read_number(const char *text, int64_t *x)
{
    char *end;
    *x = strtoll(text, &end, 10);
    return *text && !*end && *x >= 0 ? 0 : -1;
}

int cmd_world(int argc, char **argv)
{
    struct worker w = { .run = run_job };
    struct err e = { 0 };
    int64_t world = 0;
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return printf("usage: heddle world %s\n", usage) < 0;
    for (int i = 1; i < argc; i += 2) {
        int rc = i + 1 < argc ? 0 : -1;
        if (rc == 0 && !strcmp(argv[i], "--connect"))
            w.address = argv[i + 1];
        else if (rc == 0 && !strcmp(argv[i], "--folder"))
            w.folder = argv[i + 1];
        else if (rc == 0 && !strcmp(argv[i], "--world"))
            rc = read_number(argv[i + 1], &world);
        else if (rc == 0 && !strcmp(argv[i], "--epoch"))
            rc = read_number(argv[i + 1], &w.epoch);
        else
            rc = -1;
        if (rc < 0) {
            fail(&e, E_INPUT, "%s: not an option, or without a value it can have", argv[i]);
            return cli_usage("world", usage, e.text);
        }
    }
    if (!w.address)
        return cli_usage("world", usage, "--connect is missing");
    w.world = (int32_t)world;
    struct comm *c = comm_launched() ? comm_mpi(&e) : comm_self(&e);
    if (!c)
        return cli_refuse(&e);
    if (worker_run(c, &w, &e) < 0) {
        fprintf(stderr, "heddle world %lld, epoch %lld, rank %d: %s\n", (long long)world, (long long)w.epoch, c->rank,
                e.text);
        _exit(EXIT_NO); /* leaving without a farewell makes the launcher end the other ranks */
    }
    comm_free(c);
    return EXIT_DONE;
}
