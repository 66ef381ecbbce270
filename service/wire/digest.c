#include "service/wire/digest.h"

#include <sodium.h>

int digest_start(struct err *e)
{
    return sodium_init() < 0 ? fail(e, E_IO, "libsodium cannot start: no source of randomness") : 0;
}

void digest_of(const void *data, int64_t n, unsigned char out[DIGEST_BYTES])
{
    crypto_hash_sha256(out, data, (unsigned long long)n);
}

void digest_of_pieces(const struct span *piece, int n, unsigned char out[DIGEST_BYTES])
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    for (int i = 0; i < n; i++) {
        unsigned char length[8];
        for (int b = 0; b < 8; b++)
            length[b] = (unsigned char)((uint64_t)piece[i].n >> (8 * b));
        crypto_hash_sha256_update(&state, length, sizeof length);
        crypto_hash_sha256_update(&state, piece[i].data, (unsigned long long)piece[i].n);
    }
    crypto_hash_sha256_final(&state, out);
}

void digest_random(void *out, int64_t n)
{
    randombytes_buf(out, (size_t)n);
}

void digest_text(const void *data, int64_t n, char *text)
{
    sodium_bin2hex(text, (size_t)(2 * n + 1), data, (size_t)n);
}
