/* One message of the protocol: a header map of at most 4 KiB, a body map, and at times a raw frame of bytes behind it.
 * Both ends use it; what the types mean stands in service/daemon/README.md.
 */
#ifndef HEDDLE_MESSAGE_H
#define HEDDLE_MESSAGE_H

#include "service/wire/bus.h"
#include "service/wire/value.h"

enum { MESSAGE_VERSION = 1, MESSAGE_HEADER = 4096, MESSAGE_KEY = 64, MESSAGE_CHUNK = 1 << 20 };

struct message {
    struct span peer; /* ROUTER: who sent it */
    const char *type; /* "t"; NULL when the header cannot be read */
    int64_t id;       /* the sender's number of the request, 0 when it gave none */
    const char *job;  /* "job", or NULL */
    int64_t seq;      /* "seq", or 0 */
    struct span key;  /* "k", n = 0 when absent */
    int64_t attempt, epoch;
    const struct value *body; /* a map, or NULL */
    struct span raw;          /* the frame behind the body, n = 0 when there is none */
    const char *fault;        /* why message_read refused: bad_frame, bad_version, unsupported, too_large */
};

/* Reads a parcel whose header is frame[first]: first 1 for ROUTER (frame 0 names the peer), 0 for DEALER. *m points
 * into p and a. -1: refused, with m->fault, and m->id where it could still be read. */
int message_read(const struct parcel *p, int first, struct arena *a, struct message *m, struct err *e);

/* A header {v, t, id}; more keys by value_put. */
struct value *message_head(struct arena *a, const char *type, int64_t id);

/* Frames that the caller owns: [peer] header body [raw]. */
struct letter {
    int nframe;
    struct span frame[4];
};

/* peer and raw may be NULL, and so may body: it is then an empty map. a: where head and body were built, so that one
 * check here covers all builders. */
int letter_write(struct letter *l, const struct arena *a, const struct span *peer, const struct value *head,
                 const struct value *body, const struct span *raw, struct err *e);
void letter_free(struct letter *l);

/* Writes and sends in one go (DEALER). 1 sent, 0 no room, -1. */
int message_send(struct sock *s, const struct arena *a, const struct value *head, const struct value *body,
                 const struct span *raw, struct err *e);

/* What a body holds under a key, when it is there and of that kind; else the default. */
int64_t body_int(const struct value *body, const char *key, int64_t missing);
double body_real(const struct value *body, const char *key, double missing); /* an integer is fine too */
const char *body_text(const struct value *body, const char *key, const char *missing);

#endif
