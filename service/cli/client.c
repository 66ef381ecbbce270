#include "service/cli/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service/wire/digest.h"

struct client {
    struct bus *bus;
    struct sock *sock;
    char server[256];
    double patience;
    int64_t id; /* of the last request */
    int64_t max_message;
};

static const double again_seconds = 2; /* a request without an answer is sent again after this */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int client_send(struct client *c, const struct request *r, const struct arena *a, struct err *e)
{
    struct arena *own = arena_new(0, e);
    if (!own)
        return -1;
    struct value *head = message_head(own, r->type, ++c->id);
    if (r->job)
        value_put(own, head, "job", value_text(own, r->job));
    if (r->key.n > 0)
        value_put(own, head, "k", value_bytes(own, r->key.data, r->key.n));
    if (r->seq > 0)
        value_put(own, head, "seq", value_int(own, r->seq));
    int rc = -1;
    if (a && arena_failed(a))
        fail(e, E_MEMORY, "out of memory for a request");
    else
        rc = message_send(c->sock, own, head, r->body, NULL, e);
    if (rc == 0)
        rc = fail(e, E_COMM, "%s takes no more requests", c->server);
    arena_free(own);
    return rc < 0 ? -1 : 0;
}

void client_answer_free(struct answer *out)
{
    parcel_free(&out->parcel);
    arena_free(out->arena);
    *out = (struct answer){ .arena = NULL };
}

/* Answers to former requests (asked twice, answered twice) are passed over. */
int client_hear(struct client *c, double seconds, struct answer *out, struct err *e)
{
    double end = now() + seconds;
    *out = (struct answer){ .arena = NULL };
    for (;;) {
        int rc = sock_receive(c->sock, &out->parcel, e);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            struct watch w = { .sock = c->sock };
            double left = end - now();
            if (left <= 0)
                return 0;
            if (bus_poll(&w, 1, (int)ceil(left * 1e3), e) < 0)
                return -1;
            continue;
        }
        out->arena = arena_new(0, e);
        if (!out->arena || message_read(&out->parcel, 0, out->arena, &out->m, e) < 0) {
            client_answer_free(out);
            return -1;
        }
        if (out->m.id == c->id)
            return 1;
        client_answer_free(out);
    }
}

int client_ask(struct client *c, const struct request *r, const struct arena *a, double wait, struct answer *out,
               struct err *e)
{
    double end = now() + c->patience + wait;
    int rc = 0;
    *out = (struct answer){ .arena = NULL };
    while (rc == 0 && now() < end) {
        if (client_send(c, r, a, e) < 0)
            return -1;
        rc = client_hear(c, fmin(again_seconds + wait, fmax(end - now(), 0)), out, e);
    }
    if (rc == 0)
        return fail(e, E_COMM, "%s does not answer", c->server);
    if (rc < 0)
        return -1;
    if (!strcmp(out->m.type, "error"))
        return fail(e, E_INPUT, "%s: %s", body_text(out->m.body, "code", "error"), body_text(out->m.body, "msg", ""));
    return 0;
}

struct client *client_new(const char *server, double patience, struct err *e)
{
    static const struct sock_limits limits = { .frame = 64 << 20, .linger = 0, .heartbeat = 1 };
    struct client *c = array(1, sizeof *c);
    struct answer welcome = { .arena = NULL };
    struct request hello = { .type = "hello" };
    if (!c) {
        fail(e, E_MEMORY, "out of memory");
        return NULL;
    }
    snprintf(c->server, sizeof c->server, "%s", server);
    c->patience = patience;
    if (digest_start(e) < 0 || !(c->bus = bus_new(e)) || !(c->sock = sock_connect(c->bus, server, &limits, e)) ||
        client_ask(c, &hello, NULL, 0, &welcome, e) < 0) {
        client_answer_free(&welcome);
        client_free(c);
        return NULL;
    }
    c->max_message = body_int(welcome.m.body, "max_message", 0);
    client_answer_free(&welcome);
    return c;
}

void client_free(struct client *c)
{
    if (c) {
        sock_close(c->sock);
        bus_free(c->bus);
        free(c);
    }
}

int64_t client_max_message(const struct client *c)
{
    return c->max_message;
}
