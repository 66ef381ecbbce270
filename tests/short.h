/* Memory that fails at one chosen call: link the test with -Wl,--wrap=array. Calls inside base.c (array_grow,
 * text_copy) are not seen.
 */
#ifndef HEDDLE_TESTS_SHORT_H
#define HEDDLE_TESTS_SHORT_H

#include "solver/model/base.h"

static int64_t short_at = -1; /* calls that still succeed before one fails; -1: none fails */

void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    if (short_at >= 0 && short_at-- == 0)
        return NULL;
    return __real_array(n, size);
}

#endif
