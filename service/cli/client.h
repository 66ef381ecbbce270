/* Talking to heddled: one request, one answer, asked again while none comes. heddled makes every request safe to repeat
 * (submit by its key), so that a lost answer, a restart or a slow moment never shows.
 */
#ifndef HEDDLE_CLIENT_H
#define HEDDLE_CLIENT_H

#include "service/wire/message.h"

struct client;

/* Connects and says hello. E_COMM when nobody answers within patience seconds, here and in all calls below. */
struct client *client_new(const char *server, double patience, struct err *e);
void client_free(struct client *c); /* NULL is fine */
int64_t client_max_message(const struct client *c);

struct request {
    const char *type, *job;   /* job may be NULL */
    struct span key;          /* n = 0: none */
    int64_t seq;              /* 0: none */
    const struct value *body; /* NULL: empty */
};

/* An answer lives until client_answer_free. */
struct answer {
    struct message m;
    struct parcel parcel;
    struct arena *arena;
};

/* Returns 0 with any answer but "error"; -1 with E_INPUT and heddled's sentence for that (out->m.body holds the code:
 * free the answer in both cases). wait: seconds that the answer may take besides. */
int client_ask(struct client *c, const struct request *r, const struct arena *a, double wait, struct answer *out,
               struct err *e);
void client_answer_free(struct answer *out); /* also of a zeroed one */

/* Asks once, then hears every answer to it: 1 an answer, 0 none within so many seconds, -1. */
int client_send(struct client *c, const struct request *r, const struct arena *a, struct err *e);
int client_hear(struct client *c, double seconds, struct answer *out, struct err *e);

#endif
