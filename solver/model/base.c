#include "solver/model/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fail(struct err *e, enum err_code code, const char *format, ...)
{
    if (e) {
        va_list ap;
        e->code = code;
        va_start(ap, format);
        vsnprintf(e->text, sizeof e->text, format, ap);
        va_end(ap);
    }
    return -1;
}

int fail_at(struct err *e, const char *format, ...)
{
    if (e) {
        char old[sizeof e->text];
        memcpy(old, e->text, sizeof old);
        va_list ap;
        va_start(ap, format);
        int n = vsnprintf(e->text, sizeof e->text, format, ap);
        va_end(ap);
        if (n >= 0 && (size_t)n < sizeof e->text)
            snprintf(e->text + n, sizeof e->text - (size_t)n, "%s", old);
    }
    return -1;
}

void *array(int64_t n, size_t size)
{
    if (n < 0 || (size > 0 && (uint64_t)n > (uint64_t)PTRDIFF_MAX / size))
        return NULL;
    return calloc(n > 0 ? (size_t)n : 1, size > 0 ? size : 1);
}

int array_grow(void **data, int64_t *room, int64_t need, size_t size)
{
    if (need <= *room)
        return 0;
    int64_t more = *room + *room / 2 > need ? *room + *room / 2 : need;
    if (more < 16)
        more = 16;
    char *bigger = array(more, size);
    if (!bigger)
        return -1;
    if (*data)
        memcpy(bigger, *data, (size_t)*room * size);
    free(*data);
    *data = bigger;
    *room = more;
    return 0;
}

char *text_copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = array((int64_t)n, 1);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

uint64_t mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t rng_next(struct rng *r)
{
    uint64_t x = mix64(r->state);
    r->state += 0x9e3779b97f4a7c15u;
    return x;
}

int32_t rng_below(struct rng *r, int32_t n)
{
    return (int32_t)(((rng_next(r) >> 32) * (uint64_t)n) >> 32);
}

double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
