#include "service/wire/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/wire/wire.h"

/* Requests are small maps; a problem inside is one run of bytes that nobody looks into. */
static const struct wire_limits body_limits = { .depth = 6, .objects = 16384 };

static int refuse(struct message *m, const char *fault, struct err *e, const char *text)
{
    m->fault = fault;
    return fail(e, E_INPUT, "%s", text);
}

static int read_header(const struct span *frame, struct arena *a, struct message *m, struct err *e)
{
    struct value *head;
    if (frame->n > MESSAGE_HEADER)
        return refuse(m, "too_large", e, "header: more than 4096 bytes");
    m->fault = "bad_frame";
    if (wire_read(frame->data, frame->n, &wire_header, a, &head, e) < 0)
        return fail_at(e, "header: ");
    if (head->kind != VALUE_MAP)
        return fail(e, E_INPUT, "header: must be a map");
    m->id = body_int(head, "id", 0);
    if (body_int(head, "v", -1) != MESSAGE_VERSION)
        return refuse(m, "bad_version", e, "header: v must be 1");
    const struct value *need = value_get(head, "need");
    if (need && !(need->kind == VALUE_LIST && need->n == 0))
        return refuse(m, "unsupported", e, "header: need asks for a feature that this server does not have");
    m->type = body_text(head, "t", NULL);
    if (!m->type)
        return fail(e, E_INPUT, "header: t must be a text");
    m->job = body_text(head, "job", NULL);
    m->seq = body_int(head, "seq", 0);
    m->attempt = body_int(head, "attempt", -1);
    m->epoch = body_int(head, "epoch", -1);
    const struct value *key = value_get(head, "k");
    if (key && key->kind != VALUE_BYTES && key->kind != VALUE_TEXT)
        return fail(e, E_INPUT, "header: k must be bytes or a text");
    if (key)
        m->key = (struct span){ key->as.bytes, key->n };
    return 0;
}

int message_read(const struct parcel *p, int first, struct arena *a, struct message *m, struct err *e)
{
    *m = (struct message){ .fault = "bad_frame" };
    if (first > 0 && p->nframe > 0)
        m->peer = p->frame[0];
    if (p->nframe < first + 2 || p->nframe > BUS_FRAMES)
        return fail(e, E_INPUT, "a message has a header and 1 to 17 bodies");
    if (read_header(&p->frame[first], a, m, e) < 0)
        return -1;
    m->fault = "bad_frame";
    struct value *body;
    const struct span *frame = &p->frame[first + 1];
    if (wire_read(frame->data, frame->n, &body_limits, a, &body, e) < 0)
        return fail_at(e, "body: ");
    if (body->kind != VALUE_MAP)
        return fail(e, E_INPUT, "body: must be a map");
    m->body = body;
    if (p->nframe > first + 2)
        m->raw = p->frame[first + 2];
    m->fault = NULL;
    return 0;
}

struct value *message_head(struct arena *a, const char *type, int64_t id)
{
    struct value *head = value_map(a);
    value_put(a, head, "v", value_int(a, MESSAGE_VERSION));
    value_put(a, head, "t", value_text(a, type));
    value_put(a, head, "id", value_int(a, id));
    return head;
}

static int own(struct span *out, const void *data, int64_t n, struct err *e)
{
    char *copy = array(n, 1);
    if (!copy)
        return fail(e, E_MEMORY, "out of memory for a message of %lld bytes", (long long)n);
    if (n > 0)
        memcpy(copy, data, (size_t)n);
    *out = (struct span){ copy, n };
    return 0;
}

static int pack(struct span *out, const struct value *v, struct err *e)
{
    static const char empty_map[] = { (char)0x80 };
    char *data = NULL;
    int64_t n = 0;
    if (!v)
        return own(out, empty_map, sizeof empty_map, e);
    if (wire_write(v, &data, &n, e) < 0)
        return -1;
    *out = (struct span){ data, n };
    return 0;
}

int letter_write(struct letter *l, const struct arena *a, const struct span *peer, const struct value *head,
                 const struct value *body, const struct span *raw, struct err *e)
{
    *l = (struct letter){ 0 };
    if (!head || arena_failed(a))
        return fail(e, E_MEMORY, "out of memory for a message");
    int rc = 0;
    if (peer && (rc = own(&l->frame[l->nframe], peer->data, peer->n, e)) == 0)
        l->nframe++;
    if (rc == 0 && (rc = pack(&l->frame[l->nframe], head, e)) == 0)
        l->nframe++;
    if (rc == 0 && (rc = pack(&l->frame[l->nframe], body, e)) == 0)
        l->nframe++;
    if (rc == 0 && raw && (rc = own(&l->frame[l->nframe], raw->data, raw->n, e)) == 0)
        l->nframe++;
    if (rc < 0)
        letter_free(l);
    return rc;
}

void letter_free(struct letter *l)
{
    for (int i = 0; i < l->nframe; i++)
        free((void *)l->frame[i].data);
    *l = (struct letter){ 0 };
}

int message_send(struct sock *s, const struct arena *a, const struct value *head, const struct value *body,
                 const struct span *raw, struct err *e)
{
    struct letter l;
    if (letter_write(&l, a, NULL, head, body, NULL, e) < 0)
        return -1;
    struct span frame[4];
    memcpy(frame, l.frame, sizeof frame);
    int n = l.nframe;
    if (raw)
        frame[n++] = *raw;
    int rc = sock_send(s, frame, n, e);
    letter_free(&l);
    return rc;
}

int64_t body_int(const struct value *body, const char *key, int64_t missing)
{
    const struct value *v = value_get(body, key);
    return v && v->kind == VALUE_INT ? v->as.integer : missing;
}

double body_real(const struct value *body, const char *key, double missing)
{
    const struct value *v = value_get(body, key);
    if (v && v->kind == VALUE_INT)
        return (double)v->as.integer;
    return v && v->kind == VALUE_REAL ? v->as.real : missing;
}

const char *body_text(const struct value *body, const char *key, const char *missing)
{
    const struct value *v = value_get(body, key);
    return v && v->kind == VALUE_TEXT && strlen(v->as.bytes) == (size_t)v->n ? v->as.bytes : missing;
}
