/* submit, status, wait, watch, result, cancel, list: one function each, in a table at the end. */
#include "service/cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/cli/client.h"
#include "service/cli/input.h"
#include "service/cli/table.h"
#include "service/wire/digest.h"
#include "service/wire/doc.h"
#include "service/wire/json.h"
#include "service/wire/wire.h"

enum { MAX_SET = 64 };
static const double patience = 5, wait_seconds = 5;

struct call {
    const char *command;
    const char *server, *key, *output, *problem, *what; /* what: the PROBLEM or the JOB */
    const char *set[MAX_SET];
    int32_t nset;
    int64_t priority;
    int json, wait;
    struct client *client;
};

/* Nobody there is 4, a refusal is 2, all else 1. */
static int refuse(const struct err *e)
{
    int status = cli_refuse(e);
    return e->code == E_COMM ? EXIT_UNREACHABLE : status;
}

/* The body as one line of JSON, without the bytes it may carry. */
static int print_json(const struct value *body)
{
    char *text = NULL;
    int64_t n;
    struct err e = { 0 };
    if (json_write(body, 0, &text, &n, &e) < 0)
        return refuse(&e);
    printf("%.*s\n", (int)n, text);
    free(text);
    return EXIT_DONE;
}

static void print_numbers(const struct value *body)
{
    static const char *const name[] = { "value", "bound", "gap", "seconds" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        double x = body_real(body, name[i], NAN);
        if (isfinite(x))
            printf("  %s %.6g", name[i], x);
    }
}

static void print_job(const struct value *body)
{
    const char *status = body_text(body, "status", ""), *message = body_text(body, "msg", "");
    printf("job %s  %s", body_text(body, "job", "?"), body_text(body, "state", "?"));
    if (*status)
        printf("  %s", status);
    print_numbers(body);
    if (*message)
        printf("  %s: %s", body_text(body, "code", "note"), message);
    printf("\n");
}

static int has_ended(const struct value *body)
{
    static const char *const end[] = { "done", "failed", "cancelled", "timeout" };
    const char *state = body_text(body, "state", "");
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        if (!strcmp(state, end[i]))
            return 1;
    return 0;
}

static int show_job(const struct call *c, const struct value *body)
{
    int status = EXIT_DONE;
    if (c->json)
        status = print_json(body);
    else
        print_job(body);
    return status == EXIT_DONE && has_ended(body) && strcmp(body_text(body, "state", ""), "done") ? EXIT_NO : status;
}

/* Waits in short turns, so that a restart of heddled in between goes unnoticed. */
static int wait_for(struct call *c, const char *job)
{
    for (;;) {
        struct err e = { 0 };
        struct answer answer;
        struct arena *a = arena_new(0, &e);
        struct value *body = a ? value_map(a) : NULL;
        value_put(a, body, "timeout_ms", a ? value_int(a, (int64_t)(wait_seconds * 1e3)) : NULL);
        struct request r = { .type = "wait", .job = job, .body = body };
        int rc = a ? client_ask(c->client, &r, a, wait_seconds, &answer, &e) : -1;
        int again = a && rc < 0 && answer.m.body && !strcmp(body_text(answer.m.body, "code", ""), "timeout");
        int status = rc == 0 ? show_job(c, answer.m.body) : again ? EXIT_DONE : refuse(&e);
        if (a)
            client_answer_free(&answer);
        arena_free(a);
        if (!again)
            return status;
    }
}

static int load_problem(const struct call *c, struct arena *a, char **data, int64_t *n, struct err *e)
{
    struct value *v;
    char folder[4096];
    const char *slash = strrchr(c->what, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - c->what) + (slash == c->what) : 1,
             slash ? c->what : ".");
    if (doc_load(c->what, a, &v, e) < 0)
        return -1;
    if (doc_inline(v, folder, a, e) < 0)
        return fail_at(e, "%s: ", c->what);
    return wire_write(v, data, n, e);
}

static struct value *submit_body(const struct call *c, struct arena *a, const char *data, int64_t n)
{
    struct value *body = value_map(a), *set = value_list(a, c->nset);
    for (int32_t i = 0; set && i < c->nset; i++) {
        struct value *text = value_text(a, c->set[i]);
        if (text)
            set->as.item[i] = *text;
    }
    value_put(a, body, "problem", value_bytes(a, data, n));
    value_put(a, body, "set", set);
    value_put(a, body, "priority", value_int(a, c->priority));
    return body;
}

static int submit(struct call *c)
{
    unsigned char random[16];
    char *data = NULL, job[64] = "";
    int64_t n = 0;
    struct err e = { 0 };
    struct answer answer = { .arena = NULL };
    struct arena *a = arena_new(0, &e);
    digest_random(random, sizeof random);
    struct span key =
        c->key ? (struct span){ c->key, (int64_t)strlen(c->key) } : (struct span){ random, sizeof random };
    int rc = a ? load_problem(c, a, &data, &n, &e) : -1;
    if (rc == 0 && n > client_max_message(c->client))
        rc = fail(&e, E_INPUT, "%s: %lld bytes as msgpack; %s takes %lld", c->what, (long long)n, c->server,
                  (long long)client_max_message(c->client));
    if (rc == 0) {
        struct request r = { .type = "submit", .key = key, .body = submit_body(c, a, data, n) };
        rc = client_ask(c->client, &r, a, 0, &answer, &e);
    }
    int status = rc < 0 ? refuse(&e) : EXIT_DONE;
    if (rc == 0) {
        snprintf(job, sizeof job, "%s", body_text(answer.m.body, "job", ""));
        if (c->json && !c->wait)
            status = print_json(answer.m.body);
        else if (!c->wait)
            printf("%s\n", job);
    }
    free(data);
    client_answer_free(&answer);
    arena_free(a);
    return rc == 0 && c->wait ? wait_for(c, job) : status;
}

static int await(struct call *c)
{
    return wait_for(c, c->what);
}

/* status and cancel: the job as it now is. */
static int ask_job(struct call *c)
{
    struct err e = { 0 };
    struct answer answer;
    struct request r = { .type = c->command, .job = c->what };
    int status = client_ask(c->client, &r, NULL, 0, &answer, &e) < 0 ? refuse(&e) : EXIT_DONE;
    if (status == EXIT_DONE && c->json)
        status = print_json(answer.m.body);
    else if (status == EXIT_DONE)
        print_job(answer.m.body);
    client_answer_free(&answer);
    return status;
}

static void print_event(const struct value *body)
{
    if (!strcmp(body_text(body, "kind", ""), "progress")) {
        printf("%s round %" PRId64, body_text(body, "phase", ""), body_int(body, "round", 0));
        print_numbers(body);
        printf("\n");
    } else {
        print_job(body);
    }
}

/* Events as they come. When none does for a while, the watch is asked for again from where it stands: heddled may have
 * been restarted, and the connection with it. */
static int watch(struct call *c)
{
    int64_t seq = 1;
    struct err e = { 0 };
    for (;;) {
        struct request r = { .type = "watch", .job = c->what, .seq = seq };
        struct answer answer;
        if (client_send(c->client, &r, NULL, &e) < 0)
            return refuse(&e);
        for (int rc; (rc = client_hear(c->client, 2, &answer, &e)) != 0;) {
            if (rc < 0)
                return refuse(&e);
            if (!strcmp(answer.m.type, "error")) {
                fail(&e, E_INPUT, "%s", body_text(answer.m.body, "msg", "refused"));
                client_answer_free(&answer);
                return refuse(&e);
            }
            seq = answer.m.seq + 1;
            if (c->json)
                print_json(answer.m.body);
            else
                print_event(answer.m.body);
            fflush(stdout);
            int ended = has_ended(answer.m.body);
            int status = strcmp(body_text(answer.m.body, "state", ""), "done") ? EXIT_NO : EXIT_DONE;
            client_answer_free(&answer);
            if (ended)
                return status;
        }
        struct request ping = { .type = "ping" };
        if (client_ask(c->client, &ping, NULL, 0, &answer, &e) < 0) {
            client_answer_free(&answer);
            return refuse(&e);
        }
        client_answer_free(&answer);
    }
}

/* One chunk of the plan into *data, which is allocated at the first. */
static int fetch_chunk(struct call *c, char **data, int64_t *have, int64_t *total, unsigned char *digest, struct err *e)
{
    struct answer answer = { .arena = NULL };
    struct arena *a = arena_new(0, e);
    int rc = -1;
    if (a) {
        struct value *body = value_map(a);
        value_put(a, body, "offset", value_int(a, *have));
        struct request r = { .type = "result", .job = c->what, .body = body };
        rc = client_ask(c->client, &r, a, 0, &answer, e);
    }
    const struct value *chunk = rc == 0 ? value_get(answer.m.body, "data") : NULL;
    const struct value *sum = rc == 0 ? value_get(answer.m.body, "sha256") : NULL;
    if (rc == 0 && !*data) {
        *total = body_int(answer.m.body, "total", -1);
        *data = array(*total, 1);
    }
    if (rc == 0 && (!chunk || chunk->kind != VALUE_BYTES || !sum || sum->n != DIGEST_BYTES || !*data || chunk->n < 1 ||
                    chunk->n > *total - *have))
        rc = fail(e, E_IO, "job %s: the server's answer makes no sense", c->what);
    if (rc == 0) {
        memcpy(*data + *have, chunk->as.bytes, (size_t)chunk->n);
        memcpy(digest, sum->as.bytes, DIGEST_BYTES);
        *have += chunk->n;
    }
    client_answer_free(&answer);
    arena_free(a);
    return rc;
}

/* The plan as a table, where it does not go to standard output itself; PROBLEM gives its arcs their names. */
static int show(const struct call *c, const struct value *plan, struct err *e)
{
    static const struct input_set none;
    struct problem *p = NULL;
    int rc = c->problem ? input_problem(c->problem, &none, &p, e) : 0;
    if (rc == 0)
        rc = table_plan(stdout, plan, p ? p->fabric : NULL, e);
    problem_free(p);
    return rc;
}

static int result(struct call *c)
{
    char *data = NULL;
    int64_t have = 0, total = -1;
    unsigned char said[DIGEST_BYTES], found[DIGEST_BYTES];
    struct err e = { 0 };
    struct value *plan;
    int rc = 0;
    while (rc == 0 && have != total)
        rc = fetch_chunk(c, &data, &have, &total, said, &e);
    struct arena *a = rc == 0 ? arena_new(0, &e) : NULL;
    if (a) {
        digest_of(data, total, found);
        if (memcmp(said, found, DIGEST_BYTES) != 0)
            rc = fail(&e, E_IO, "job %s: the plan was damaged on its way", c->what);
        if (rc == 0)
            rc = doc_parse(data, total, a, &plan, &e);
        if (rc == 0)
            rc = doc_save(c->output ? c->output : "-", plan, &e);
        if (rc == 0 && c->output && strcmp(c->output, "-") != 0)
            rc = show(c, plan, &e);
    }
    int status = rc < 0 || !a ? refuse(&e) : EXIT_DONE;
    arena_free(a);
    free(data);
    return status;
}

static int list(struct call *c)
{
    struct err e = { 0 };
    struct answer answer = { .arena = NULL };
    struct arena *a = arena_new(0, &e);
    if (!a)
        return refuse(&e);
    struct value *body = value_map(a);
    value_put(a, body, "limit", value_int(a, 1000));
    struct request r = { .type = "list", .body = body };
    int status = client_ask(c->client, &r, a, 0, &answer, &e) < 0 ? refuse(&e) : EXIT_DONE;
    const struct value *jobs = status == EXIT_DONE ? value_get(answer.m.body, "jobs") : NULL;
    if (status == EXIT_DONE && c->json)
        status = print_json(answer.m.body);
    else
        for (int64_t i = 0; jobs && i < jobs->n; i++)
            print_job(&jobs->as.item[i]);
    client_answer_free(&answer);
    arena_free(a);
    return status;
}

static const struct {
    const char *name, *usage;
    int (*run)(struct call *c);
} commands[] = {
    { "submit", "PROBLEM [--wait] [--set option=value ...] [--key TEXT] [--priority N] [--json] [--server ADDRESS]",
      submit },
    { "status", "JOB [--json] [--server ADDRESS]", ask_job },
    { "wait", "JOB [--json] [--server ADDRESS]", await },
    { "watch", "JOB [--json] [--server ADDRESS]", watch },
    { "result", "JOB [-o PLAN [--problem PROBLEM]] [--server ADDRESS]", result },
    { "cancel", "JOB [--json] [--server ADDRESS]", ask_job },
    { "list", "[--json] [--server ADDRESS]", list },
};

static int number(const char *text, int64_t *x)
{
    char *end;
    *x = strtoll(text, &end, 10);
    return *text && !*end ? 0 : -1;
}

/* Options with a value; returns 2 (words used), or 0. */
static int read_pair(struct call *c, const char *option, const char *value)
{
    int submits = !strcmp(c->command, "submit");
    if (!strcmp(option, "--server"))
        c->server = value;
    else if (!strcmp(option, "-o") && !strcmp(c->command, "result"))
        c->output = value;
    else if (!strcmp(option, "--problem") && !strcmp(c->command, "result"))
        c->problem = value;
    else if (!strcmp(option, "--key") && submits)
        c->key = value;
    else if (!strcmp(option, "--set") && submits && c->nset < MAX_SET)
        c->set[c->nset++] = value;
    else if (!strcmp(option, "--priority") && submits && number(value, &c->priority) == 0)
        return 2;
    else
        return 0;
    return 2;
}

static int read_arguments(struct call *c, int argc, char **argv, struct err *e)
{
    for (int i = 1; i < argc;) {
        int pair = i + 1 < argc ? read_pair(c, argv[i], argv[i + 1]) : 0;
        if (pair > 0) {
            i += pair;
            continue;
        }
        if (!strcmp(argv[i], "--json"))
            c->json = 1;
        else if (!strcmp(argv[i], "--wait") && !strcmp(c->command, "submit"))
            c->wait = 1;
        else if ((argv[i][0] != '-' || !argv[i][1]) && !c->what && strcmp(c->command, "list") != 0)
            c->what = argv[i];
        else
            return fail(e, E_INPUT, "%s: not an option here, or without a value it can have", argv[i]);
        i++;
    }
    if (!c->what && strcmp(c->command, "list") != 0)
        return fail(e, E_INPUT, "what to %s is missing", c->command);
    if (c->key && (strlen(c->key) < 16 || strlen(c->key) > MESSAGE_KEY))
        return fail(e, E_INPUT, "--key %s: must have 16 to 64 bytes", c->key);
    return 0;
}

int cmd_client(int argc, char **argv)
{
    struct call c = { .command = argv[0], .server = "tcp://127.0.0.1:5570" };
    struct err e = { 0 };
    size_t i = 0;
    while (strcmp(commands[i].name, c.command) != 0)
        if (++i == sizeof commands / sizeof *commands)
            return cli_usage(c.command, "", "no such command");
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return printf("usage: heddle %s %s\n", c.command, commands[i].usage) < 0;
    if (read_arguments(&c, argc, argv, &e) < 0)
        return cli_usage(c.command, commands[i].usage, e.text);
    c.client = client_new(c.server, patience, &e);
    if (!c.client)
        return refuse(&e);
    int status = commands[i].run(&c);
    client_free(c.client);
    return status;
}
