/* What every module needs: an error that carries a sentence, checked arrays, seeded numbers, the progress hook.
 * Not for: logging, exiting, clocks (time is always an argument or comes from struct comm).
 */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <stddef.h>
#include <stdint.h>

enum err_code {
    E_NONE,
    E_INPUT, /* the user's document, file or option is wrong: exit status 2 */
    E_MEMORY,
    E_COMM, /* another rank failed, or a peer went away */
    E_IO,
    E_INTERNAL, /* a bug: an invariant that input cannot break does not hold */
};

struct err {
    enum err_code code;
    char text[480];
};

/* Store code and a one-line sentence; e may be NULL. Always returns -1, so that a refusal is one line. */
int fail(struct err *e, enum err_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Put a prefix ("problem.json: ") before the sentence that e already holds. Always returns -1. */
int fail_at(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* n zeroed elements of the given size, or NULL when n < 0, n * size overflows or memory is short. n = 0 gives a
 * pointer that may be freed. Every allocation of the solver goes through here or through array_grow. */
void *array(int64_t n, size_t size);

/* Make room for at least need elements: *room grows by half at the least, new elements are zero. Returns 0, or -1 with
 * the old array untouched. */
int array_grow(void **data, int64_t *room, int64_t need, size_t size);

/* A copy of a string, or NULL. */
char *text_copy(const char *text);

/* SplitMix64 (Steele, Lea, Flood 2014): the only source of pseudo-random numbers; same seed, same numbers everywhere.
 */
uint64_t mix64(uint64_t x);
struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *r);
int32_t rng_below(struct rng *r, int32_t n); /* uniform in [0, n), n > 0 */
double rng_unit(struct rng *r);              /* uniform in [0, 1) */

/* One row of progress. value and bound are in the objective's own unit (NaN while unknown). */
struct progress {
    const char *phase; /* "split", "pin", ...: static string */
    int64_t round;
    double value, bound, gap;
    double seconds; /* since the solve began, on rank 0's clock */
};

/* What the outside may do with a solve under way; called on rank 0 only. Each pointer may be NULL. */
struct hooks {
    void *context;
    void (*report)(void *context, const struct progress *row);
    int (*stop)(void *context);  /* non-zero: leave at the next round with the best plan so far (status cancelled) */
    void (*idle)(void *context); /* now and then while rank 0 waits for the other ranks; it must not touch the comm */
};

#endif
