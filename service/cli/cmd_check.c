/* heddle check: a plan against its problem, by code that shares nothing with the solver. Faults on standard output, one
 * a line; exit 0 where there is none, 1 otherwise.
 */
#include "service/cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/cli/input.h"
#include "service/cli/table.h"
#include "solver/check.h"

static const char usage[] = "PROBLEM PLAN [--gap G] [--set option=value ...] [--json]";

struct arguments {
    const char *problem, *plan;
    struct input_set set;
    double gap; /* NaN: not asked */
    int json;
};

static void help(void)
{
    printf("usage: heddle check %s\n\n"
           "Re-verifies routes, rates, efficiencies, loads and the certificate of PLAN for PROBLEM.\n\n"
           "  --gap G             also a fault: a proven gap over G\n"
           "  --set option=value  override an option of the problem, as the solve did\n"
           "  --json              print the result as JSON\n",
           usage);
}

/* Returns -1 when the command may go on, else the exit status. */
static int parse(int argc, char **argv, struct arguments *a)
{
    static const struct option known[] = {
        { "gap", required_argument, NULL, 'g' },
        { "set", required_argument, NULL, 's' },
        { "json", no_argument, NULL, 'j' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    char text[200], *end;
    opterr = 0;
    optind = 0; /* a fresh scan, whoever used getopt before */
    for (int c; (c = getopt_long(argc, argv, ":h", known, NULL)) != -1;)
        switch (c) {
        case 'g':
            errno = 0;
            a->gap = strtod(optarg, &end);
            if (end == optarg || *end || errno || !(a->gap >= 0 && isfinite(a->gap))) {
                snprintf(text, sizeof text, "--gap %.100s: want a number that is not negative", optarg);
                return cli_usage("check", usage, text);
            }
            break;
        case 's':
            if (a->set.n == INPUT_SETS)
                return cli_usage("check", usage, "too many --set");
            a->set.text[a->set.n++] = optarg;
            break;
        case 'j':
            a->json = 1;
            break;
        case 'h':
            help();
            return EXIT_DONE;
        default:
            snprintf(text, sizeof text, c == ':' ? "%.100s needs a value" : "%.100s is no option of it",
                     argv[optind - 1]);
            return cli_usage("check", usage, text);
        }
    if (optind + 2 != argc)
        return cli_usage("check", usage, "want a PROBLEM and a PLAN");
    a->problem = argv[optind];
    a->plan = argv[optind + 1];
    return -1;
}

static int print_json(const struct check_report *r, struct err *e)
{
    struct arena *a = arena_new(0, e);
    int64_t n = r->nfault < CHECK_FAULTS ? r->nfault : CHECK_FAULTS;
    if (!a)
        return -1;
    struct value *v = value_map(a), *list = value_list(a, n);
    for (int64_t i = 0; i < n && list; i++) {
        struct value *text = value_text(a, r->fault[i]);
        if (text)
            list->as.item[i] = *text;
    }
    value_put(a, v, "faults", value_int(a, r->nfault));
    value_put(a, v, "value", value_real(a, r->value));
    value_put(a, v, "bound", value_real(a, r->bound));
    value_put(a, v, "gap", value_real(a, r->gap));
    value_put(a, v, "fault", list);
    int rc = arena_failed(a) ? fail(e, E_MEMORY, "out of memory for a report") : table_json(stdout, v, e);
    arena_free(a);
    return rc;
}

static void print(const struct arguments *a, const struct plan *plan, const struct check_report *r)
{
    for (int64_t i = 0; i < r->nfault && i < CHECK_FAULTS; i++)
        printf("fault: %s\n", r->fault[i]);
    if (r->nfault > CHECK_FAULTS)
        printf("... and %lld more\n", (long long)(r->nfault - CHECK_FAULTS));
    printf("%s: %lld %s", a->plan, (long long)r->nfault, r->nfault == 1 ? "fault" : "faults");
    if (plan->status == PLAN_INFEASIBLE)
        printf("; infeasible");
    else
        printf("; value %.9g bound %.9g gap %.3g", r->value, r->bound, r->gap);
    printf("\n");
}

static int check_files(const struct arguments *a)
{
    struct err e = { 0 };
    struct problem *p = NULL;
    struct plan *plan = NULL;
    struct check_report *r = array(1, sizeof *r);
    int rc = r ? 0 : fail(&e, E_MEMORY, "out of memory");
    if (rc == 0 && (input_problem(a->problem, &a->set, &p, &e) < 0 || input_plan(a->plan, p, &plan, &e) < 0 ||
                    check_plan(p, plan, r, &e) < 0))
        rc = -1;
    if (rc == 0 && r->gap > a->gap && r->nfault++ < CHECK_FAULTS)
        snprintf(r->fault[r->nfault - 1], sizeof r->fault[0], "gap %.3g is over %.3g", r->gap, a->gap);
    if (rc == 0 && a->json)
        rc = print_json(r, &e);
    else if (rc == 0)
        print(a, plan, r);
    if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        rc = fail(&e, E_IO, "standard output: cannot write");
    int status = rc < 0 ? cli_refuse(&e) : r->nfault > 0 ? EXIT_NO : EXIT_DONE;
    plan_free(plan);
    problem_free(p);
    free(r);
    return status;
}

int cmd_check(int argc, char **argv)
{
    struct arguments a = { .gap = NAN };
    int status = parse(argc, argv, &a);
    return status >= 0 ? status : check_files(&a);
}
