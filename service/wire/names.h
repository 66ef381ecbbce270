/* Names to numbers: a hash table of texts; the only file that sees uthash.h. Texts are copied.
 */
#ifndef HEDDLE_NAMES_H
#define HEDDLE_NAMES_H

#include "solver/model/base.h"

struct names;

struct names *names_new(struct err *e); /* NULL when memory is short */
void names_free(struct names *n);

/* The number of a text, or -1. */
int64_t names_find(const struct names *n, const char *text);

/* Enter a text with its number (not negative). Returns 0; 1 when the text is already there, which changes nothing; -1
 * when memory is short. */
int names_add(struct names *n, const char *text, int64_t number, struct err *e);

/* The number of a text; a new text gets the next number, 0, 1, 2, ... -1 when memory is short. Not to be mixed with
 * names_add. */
int64_t names_intern(struct names *n, const char *text, struct err *e);

#endif
