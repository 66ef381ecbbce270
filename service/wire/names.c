#include "service/wire/names.h"

#include <stdlib.h>
#include <string.h>

#include "service/wire/value.h"

/* Short memory is an answer here, not the end of the process. The hash is our own: nobody's ready-made collisions for
 * the library's hash slow a reader down. */
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) array((int64_t)(size), 1)
#define uthash_nonfatal_oom(element) ((element)->lost = 1)
#define HASH_FUNCTION(key, length, hash) ((hash) = hash_text(key, length))

static unsigned hash_text(const void *key, size_t length);

#include <uthash.h>

struct name {
    UT_hash_handle hh;
    int64_t number;
    int lost; /* set by uthash when it had no memory for this element */
    char text[];
};

struct names {
    struct name *table;
    struct arena *arena;
    int64_t count;
};

static unsigned hash_text(const void *key, size_t length)
{
    const unsigned char *s = key;
    uint64_t h = mix64(length ^ 0x686564646c65u), word;
    for (; length >= sizeof word; s += sizeof word, length -= sizeof word) {
        memcpy(&word, s, sizeof word);
        h = mix64(h ^ word);
    }
    word = 0;
    memcpy(&word, s, length);
    return (unsigned)(mix64(h ^ word) >> 32);
}

struct names *names_new(struct err *e)
{
    struct names *n = array(1, sizeof *n);
    if (n)
        n->arena = arena_new(0, e);
    if (!n || !n->arena) {
        free(n);
        fail(e, E_MEMORY, "out of memory for a table of names");
        return NULL;
    }
    return n;
}

void names_free(struct names *n)
{
    if (!n)
        return;
    HASH_CLEAR(hh, n->table);
    arena_free(n->arena);
    free(n);
}

int64_t names_find(const struct names *n, const char *text)
{
    struct name *found;
    HASH_FIND(hh, n->table, text, strlen(text), found);
    return found ? found->number : -1;
}

int names_add(struct names *n, const char *text, int64_t number, struct err *e)
{
    if (names_find(n, text) >= 0)
        return 1;
    size_t length = strlen(text);
    struct name *new = arena_take(n->arena, (int64_t)(sizeof *new + length + 1), 1);
    if (!new)
        return fail(e, E_MEMORY, "out of memory for a table of names");
    new->number = number;
    memcpy(new->text, text, length + 1);
    HASH_ADD(hh, n->table, text, length, new);
    if (new->lost)
        return fail(e, E_MEMORY, "out of memory for a table of names");
    n->count++;
    return 0;
}

int64_t names_intern(struct names *n, const char *text, struct err *e)
{
    int64_t number = names_find(n, text);
    if (number >= 0)
        return number;
    number = n->count;
    return names_add(n, text, number, e) < 0 ? -1 : number;
}
