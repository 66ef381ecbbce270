/* One job on all ranks. Rank 0 reads the document and shares its bytes; every rank decodes the same bytes, so a refusal
 * is the same sentence everywhere. Read run_job() first.
 */
#include "service/cli/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/partition.h"
#include "service/wire/doc.h"
#include "service/wire/wire.h"
#include "solver/solve.h"

/* A failure of rank 0 reaches the others as it was said. */
static int share_failure(struct comm *c, int rc, struct err *e)
{
    struct {
        int64_t rc;
        struct err e;
    } word = { .rc = rc };
    if (rc < 0)
        word.e = *e;
    if (c->bcast(c, &word, sizeof word, e) < 0)
        return -1;
    if (word.rc < 0)
        *e = word.e;
    return word.rc < 0 ? -1 : 0;
}

/* The document as the other ranks shall see it: alone, a named fabric file put in its place. *owned when it was made.
 */
static int stand_alone(const struct run_job *job, char **data, int64_t *n, int *owned, struct err *e)
{
    struct arena *a = arena_new(0, e);
    struct value *v = NULL;
    int rc = a ? doc_parse(job->data, job->n, a, &v, e) : -1;
    *data = (char *)job->data; /* only read */
    *n = job->n;
    *owned = 0;
    const struct value *fabric = rc == 0 ? value_get(v, "fabric") : NULL;
    if (fabric && fabric->kind == VALUE_TEXT) {
        rc = job->folder ? doc_inline(v, job->folder, a, e)
                         : fail(e, E_INPUT, "fabric: \"%s\" is a file name, which a submitted problem may not hold",
                                fabric->as.bytes);
        if (rc == 0)
            rc = wire_write(v, data, n, e);
        *owned = rc == 0;
    }
    arena_free(a);
    return rc;
}

/* "option=value", all of them as one block of zero-terminated texts. */
static int share_settings(struct comm *c, const struct run_job *job, struct options *o, struct err *e)
{
    char *text = NULL;
    int64_t n = 0;
    int rc = 0;
    if (c->rank == 0) {
        for (int32_t i = 0; i < job->nset; i++)
            n += (int64_t)strlen(job->set[i]) + 1;
        text = array(n, 1);
        rc = text ? 0 : fail(e, E_MEMORY, "out of memory for the settings");
        for (int64_t i = 0, at = 0; rc == 0 && i < job->nset; at += (int64_t)strlen(job->set[i]) + 1, i++)
            memcpy(text + at, job->set[i], strlen(job->set[i]) + 1);
    }
    if (share_failure(c, rc, e) == 0 && (rc = comm_share(c, &text, &n, e)) == 0) {
        for (int64_t at = 0; rc == 0 && at < n; at += (int64_t)strlen(text + at) + 1)
            rc = options_apply(o, text + at, e);
    } else {
        rc = -1;
    }
    free(text);
    return rc;
}

static int read_problem(struct comm *c, const struct run_job *job, struct problem **p, struct err *e)
{
    char *data = NULL;
    int64_t n = 0;
    int owned = c->rank != 0;
    int rc = c->rank == 0 ? stand_alone(job, &data, &n, &owned, e) : 0;
    if (share_failure(c, rc, e) < 0)
        return -1;
    if (comm_share(c, &data, &n, e) < 0)
        return -1;
    struct arena *a = arena_new(0, e);
    struct value *v = NULL;
    rc = a ? doc_parse(data, n, a, &v, e) : -1;
    if (rc == 0)
        rc = doc_problem(v, NULL, p, e);
    arena_free(a);
    if (owned)
        free(data);
    rc = comm_agree(c, rc, e);
    if (rc == 0)
        rc = share_settings(c, job, &(*p)->options, e);
    return rc;
}

/* This process's largest resident set so far. getrusage would count what the parent held before exec. */
static int64_t own_peak(void)
{
    char line[128];
    long long kilobytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld", &kilobytes) == 1)
            break;
    if (f)
        fclose(f);
    return 1024 * (int64_t)kilobytes;
}

/* The largest resident set of any rank, on rank 0. */
static int peak_bytes(struct comm *c, int64_t *peak, struct err *e)
{
    int64_t mine = own_peak(), *first = NULL;
    char *all = NULL;
    if (c->rank == 0)
        first = array((int64_t)c->size + 1, sizeof *first);
    int rc = comm_agree(c, c->rank == 0 && !first ? fail(e, E_MEMORY, "out of memory") : 0, e);
    if (rc == 0)
        rc = c->gather(c, &mine, sizeof mine, c->rank == 0 ? &all : NULL, first, e);
    for (int r = 0; rc == 0 && c->rank == 0 && r < c->size; r++) {
        int64_t theirs;
        memcpy(&theirs, all + first[r], sizeof theirs);
        *peak = theirs > *peak ? theirs : *peak;
    }
    free(all);
    free(first);
    return rc;
}

static int write_plan(const struct problem *p, const struct plan *plan, struct run_result *out, struct err *e)
{
    struct arena *a = arena_new(0, e);
    struct value *v = NULL;
    int rc = a ? doc_plan_write(p, plan, a, &v, e) : -1;
    if (rc == 0)
        rc = wire_write(v, &out->plan, &out->n, e);
    arena_free(a);
    return rc;
}

static int run(struct comm *c, const struct run_job *job, const struct hooks *hooks, struct run_result *out,
               struct err *e)
{
    struct problem *p = NULL;
    struct pods *pods = NULL;
    struct plan *plan = NULL;
    int64_t peak = 0;
    double begin = c->now(c);
    *out = (struct run_result){ .status = PLAN_FAILED };
    int rc = read_problem(c, job, &p, e);
    double read = c->now(c);
    if (rc == 0)
        rc = comm_agree(c, (pods = partition(p, c, e)) ? 0 : -1, e);
    double cut = c->now(c);
    if (rc == 0)
        rc = solve(p, pods, c, hooks, &plan, e);
    if (rc == 0)
        rc = peak_bytes(c, &peak, e);
    if (rc == 0 && plan) {
        plan->info.seconds_read = job->seconds_read + read - begin;
        plan->info.seconds_partition = cut - read;
        plan->info.seconds_total = job->seconds_read + c->now(c) - begin;
        plan->info.peak_bytes_per_rank = peak;
        out->status = plan->status;
        out->value = plan->value;
        out->bound = plan->bound;
        out->gap = plan->gap;
        out->seconds = plan->info.seconds_total;
        rc = write_plan(p, plan, out, e);
    }
    rc = share_failure(c, rc, e) < 0 || rc < 0 ? -1 : 0;
    if (rc == 0 && job->keep && c->rank == 0) {
        out->problem = p;
        p = NULL;
    }
    plan_free(plan);
    pods_free(pods);
    problem_free(p);
    return rc;
}

int run_job(struct comm *c, const struct run_job *job, const struct hooks *hooks, struct run_result *out, struct err *e)
{
    c->idle = hooks ? hooks->idle : NULL;
    c->idle_context = hooks ? hooks->context : NULL;
    int rc = run(c, job, hooks, out, e);
    c->idle = NULL;
    return rc;
}
