/* Stands in for "heddle world" in tests of the service: the real worker and the real ranks, but what solves is a script
 * that the problem itself carries:
 *
 *   {"value": 0.5, "rounds": 10, "ms": 20, "do": "abort" | "hang" | "refuse" | "deaf", "at": 3}
 *
 * Every round takes ms milliseconds, reports progress and asks whether to stop; at round `at` it does what it is told.
 * "bytes": n pads the plan to that many bytes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/cli/worker.h"
#include "service/wire/doc.h"
#include "service/wire/message.h"
#include "service/wire/wire.h"

struct script {
    double value;
    int64_t rounds, ms, at, bytes;
    char what[16];
};

static void pause_ms(int64_t ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

static int read_script(struct script *s, const char *data, int64_t n, struct err *e)
{
    struct value *v;
    struct arena *a = arena_new(0, e);
    int rc = a ? doc_parse(data, n, a, &v, e) : -1;
    if (rc == 0) {
        s->value = body_real(v, "value", 0.5);
        s->rounds = body_int(v, "rounds", 1);
        s->ms = body_int(v, "ms", 0);
        s->at = body_int(v, "at", 0);
        s->bytes = body_int(v, "bytes", 0);
        snprintf(s->what, sizeof s->what, "%s", body_text(v, "do", ""));
        if (!strcmp(s->what, "refuse"))
            rc = fail(e, E_INPUT, "jobs[0].flows[17]: src \"x\" is no node of the fabric");
    }
    arena_free(a);
    return rc;
}

static int write_plan(const struct script *s, struct run_result *out, struct err *e)
{
    struct arena *a = arena_new(0, e);
    char *pad = array(s->bytes, 1);
    if (!a || !pad)
        return fail(e, E_MEMORY, "out of memory");
    for (int64_t i = 0; i < s->bytes; i++)
        pad[i] = (char)mix64((uint64_t)i);
    struct value *plan = value_map(a);
    value_put(a, plan, "heddle", value_int(a, 1));
    value_put(a, plan, "value", value_real(a, s->value));
    if (s->bytes > 0)
        value_put(a, plan, "pad", value_bytes(a, pad, s->bytes));
    int rc = wire_write(plan, &out->plan, &out->n, e);
    arena_free(a);
    free(pad);
    return rc;
}

static void misbehave(const struct script *s)
{
    if (!strcmp(s->what, "abort"))
        abort();
    while (!strcmp(s->what, "hang"))
        pause_ms(1000);
}

static int fake_run(struct comm *c, const struct run_job *job, const struct hooks *hooks, struct run_result *out,
                    struct err *e)
{
    struct script s;
    char *data = (char *)job->data;
    int64_t n = job->n, stop = 0;
    c->idle = hooks ? hooks->idle : NULL; /* as run_job does */
    c->idle_context = hooks ? hooks->context : NULL;
    if (comm_share(c, &data, &n, e) < 0)
        return -1;
    int rc = read_script(&s, data, n, e);
    if (c->rank != 0)
        free(data);
    for (int32_t i = 0; rc == 0 && i < job->nset; i++)
        if (!strncmp(job->set[i], "gap=", 4))
            s.value += atof(job->set[i] + 4); /* shows that settings arrive */
    *out = (struct run_result){ .status = PLAN_OPTIMAL, .value = s.value, .bound = s.value };
    for (int64_t round = 1; rc == 0 && !stop && round <= s.rounds; round++) {
        struct progress row = { "fake", round, s.value * (double)round / (double)s.rounds, s.value, NAN, 0 };
        if (round == s.at)
            misbehave(&s);
        pause_ms(s.ms);
        if (hooks && hooks->report)
            hooks->report(hooks->context, &row);
        stop = hooks && hooks->stop(hooks->context) && strcmp(s.what, "deaf") != 0;
        if (c->sum(c, &stop, 1, e) < 0)
            return -1;
    }
    if (stop)
        out->status = PLAN_CANCELLED;
    return rc == 0 && c->rank == 0 ? write_plan(&s, out, e) : rc;
}

/* Arguments as heddled gives them: world --connect A --world N --epoch E --folder F. */
int main(int argc, char **argv)
{
    struct worker w = { .run = fake_run };
    struct err e = { 0 };
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--connect"))
            w.address = argv[i + 1];
        else if (!strcmp(argv[i], "--folder"))
            w.folder = argv[i + 1];
        else if (!strcmp(argv[i], "--world"))
            w.world = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--epoch"))
            w.epoch = atoll(argv[i + 1]);
    }
    struct comm *c = comm_launched() ? comm_mpi(&e) : comm_self(&e);
    if (!c || worker_run(c, &w, &e) < 0) {
        fprintf(stderr, "fake_world: %s\n", e.text);
        _exit(1);
    }
    comm_free(c);
    return 0;
}
