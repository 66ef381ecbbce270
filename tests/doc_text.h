/* Small documents for the tests of the document readers, written so that they can be read: JSON with ' for ".
 */
#ifndef HEDDLE_TESTS_DOC_TEXT_H
#define HEDDLE_TESTS_DOC_TEXT_H

#include "check.h"
#include "service/wire/doc.h"
#include "service/wire/json.h"
#include "service/wire/wire.h"

static inline char *quoted(const char *text)
{
    char *copy = text_copy(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static inline struct value *parse(const char *text, struct arena *a)
{
    struct err e = { 0 };
    struct value *v = NULL;
    char *copy = quoted(text);
    CHECK(doc_parse(copy, (int64_t)strlen(copy), a, &v, &e) == 0, "%s: %s", text, e.text);
    free(copy);
    return v;
}

static inline struct problem *accept(const char *text)
{
    struct err e = { 0 };
    struct problem *p = NULL;
    struct arena *a = arena_new(0, &e);
    CHECK(doc_problem(parse(text, a), NULL, &p, &e) == 0, "%s", e.text);
    arena_free(a);
    return p;
}

static inline char *text_of(const struct value *v)
{
    struct err e = { 0 };
    char *text = NULL;
    int64_t n;
    CHECK(json_write(v, 0, &text, &n, &e) == 0, "%s", e.text);
    return text;
}

/* NICs a and b on switch s, a switch t that is down; the link s -> b is directed. */
#define FABRIC                                                                                                         \
    "'fabric': {'name': 'f', 'nodes': [{'name': 'a', 'kind': 'nic', 'host': 'h0', 'rail': 0},"                         \
    " {'name': 'b', 'kind': 'nic', 'host': 'h1', 'rail': 0}, {'name': 's', 'kind': 'switch', 'tier': 1, 'pod': 'p'},"  \
    " {'name': 't', 'kind': 'switch', 'up': false}],"                                                                  \
    " 'links': [{'from': 'a', 'to': 's', 'gbps': 100}, {'from': 's', 'to': 1, 'gbps': 50.5, 'from_port': 3,"           \
    " 'to_port': 0, 'latency_us': 0.5, 'cost': 2, 'directed': true}, {'from': 's', 'to': 't', 'gbps': 10, 'up': "      \
    "false}]}"

#endif
