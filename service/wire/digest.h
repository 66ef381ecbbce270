/* SHA-256 and unpredictable bytes, through libsodium; the only file that sees sodium.h. */
#ifndef HEDDLE_DIGEST_H
#define HEDDLE_DIGEST_H

#include "service/wire/bus.h"

enum { DIGEST_BYTES = 32 };

/* Call once before the others. Returns 0, or -1 when the machine gives no randomness. */
int digest_start(struct err *e);

void digest_of(const void *data, int64_t n, unsigned char out[DIGEST_BYTES]);

/* Of several pieces: each goes in with its length before it, so that moving bytes from one to the next shows. */
void digest_of_pieces(const struct span *piece, int n, unsigned char out[DIGEST_BYTES]);

void digest_random(void *out, int64_t n);

/* text[2 n + 1] */
void digest_text(const void *data, int64_t n, char *text);

#endif
