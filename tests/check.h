/* The few words that every test uses on top of cmocka: CHECK with a printed message, seeded sweeps, shared sample data.
 */
#ifndef HEDDLE_TESTS_CHECK_H
#define HEDDLE_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#undef fail /* the project has a fail() of its own, base.h */

/* CHECK(condition, "seed %d: ...", seed): fails the test with file, line and the message. */
#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            print_error("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                                \
            print_error(" " __VA_ARGS__);                                                                              \
            print_error("\n");                                                                                         \
            _fail(__FILE__, __LINE__);                                                                                 \
        }                                                                                                              \
    } while (0)

/* Path below the sample data that lies beside the checkout, or NULL where it is absent (exit 77 then). */
static inline const char *shared_file(const char *name)
{
    static char path[1024];
    const char *root = getenv("HEDDLE_SHARED");
    snprintf(path, sizeof path, "%s/%s", root ? root : "../shared", name);
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    fclose(f);
    return path;
}

#endif
