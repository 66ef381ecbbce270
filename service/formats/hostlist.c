#include "service/formats/hostlist.h"

#include <stdio.h>
#include <string.h>

struct expand {
    int (*each)(void *context, struct text name);
    void *context;
    struct err *e;
    struct text element; /* for messages */
    char name[TEXT_NAME + 1];
    int64_t count;
};

static int bad(struct expand *x, const char *what)
{
    return fail(x->e, E_INPUT, "host list \"%.*s\": %s", TEXT_SAY(x->element), what);
}

static int append(struct expand *x, int *at, const char *bytes, int n)
{
    if (n > TEXT_NAME - *at)
        return bad(x, "a name is too long");
    memcpy(x->name + *at, bytes, (size_t)n);
    *at += n;
    return 0;
}

static int spread(struct expand *x, struct text rest, int at);

/* One piece of a bracket: "7", "01-16", or any word. */
static int spread_piece(struct expand *x, struct text piece, struct text rest, int at)
{
    struct text from = piece, to;
    int64_t first, last;
    if (!memchr(piece.at, '-', (size_t)piece.n)) {
        if (piece.n == 0 || append(x, &at, piece.at, piece.n) < 0)
            return piece.n == 0 ? bad(x, "an empty piece in brackets") : -1;
        return spread(x, rest, at);
    }
    to = from;
    from = text_until(&to, '-');
    if (!text_integer(from, &first) || !text_integer(to, &last) || first < 0 || last < first)
        return bad(x, "a range is not from-to");
    for (int64_t i = first; i <= last; i++) {
        char number[32];
        int end = at, n = snprintf(number, sizeof number, "%0*lld", from.n, (long long)i);
        if (append(x, &end, number, n) < 0 || spread(x, rest, end) < 0)
            return -1;
    }
    return 0;
}

/* rest: what of the element is still to be spelt behind the first at bytes of name. As deep as it has brackets. */
static int spread(struct expand *x, struct text rest, int at)
{
    struct text plain = text_until(&rest, '[');
    int bracket = plain.at + plain.n < rest.at; /* one was cut off */
    if (memchr(plain.at, ']', (size_t)plain.n))
        return bad(x, "a bracket closes that never opened");
    if (append(x, &at, plain.at, plain.n) < 0)
        return -1;
    if (!bracket) {
        if (++x->count > HOSTLIST_MOST)
            return bad(x, "more than 262144 names");
        return x->each(x->context, (struct text){ x->name, at });
    }
    const char *close = rest.n > 0 ? memchr(rest.at, ']', (size_t)rest.n) : NULL;
    if (!close)
        return bad(x, "a bracket never closes");
    struct text inside = { rest.at, (int)(close - rest.at) };
    text_skip(&rest, inside.n + 1);
    do {
        struct text piece = text_until(&inside, ',');
        if (spread_piece(x, text_trim(piece), rest, at) < 0)
            return -1;
    } while (inside.n > 0);
    return 0;
}

int hostlist_expand(struct text list, int (*each)(void *context, struct text name), void *context, struct err *e)
{
    struct expand x = { .each = each, .context = context, .e = e };
    list = text_trim(list);
    while (list.n > 0) {
        int n = 0, brackets = 0;
        for (int depth = 0; n < list.n && (depth > 0 || list.at[n] != ','); n++) {
            depth += list.at[n] == '[' ? 1 : list.at[n] == ']' ? -1 : 0;
            brackets += list.at[n] == '[';
        }
        x.element = text_trim((struct text){ list.at, n });
        if (brackets > 8)
            return bad(&x, "more than 8 brackets in a name");
        if (x.element.n == 0)
            return fail(e, E_INPUT, "host list: a name is empty");
        if (spread(&x, x.element, 0) < 0)
            return -1;
        text_skip(&list, n + (n < list.n));
    }
    return 0;
}
