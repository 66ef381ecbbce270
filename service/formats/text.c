#include "service/formats/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const int32_t MOST_NUMBER = 1 << 16;

void text_skip(struct text *t, int n)
{
    t->at += n;
    t->n -= n;
}

void text_skip_blank(struct text *t)
{
    while (t->n > 0 && isspace((unsigned char)*t->at))
        text_skip(t, 1);
}

struct text text_trim(struct text t)
{
    text_skip_blank(&t);
    while (t.n > 0 && isspace((unsigned char)t.at[t.n - 1]))
        t.n--;
    return t;
}

int text_starts(struct text t, const char *word)
{
    return (int)strlen(word) <= t.n && !strncasecmp(t.at, word, strlen(word));
}

int text_is(struct text t, const char *word)
{
    return (int)strlen(word) == t.n && !strncasecmp(t.at, word, strlen(word));
}

int text_contains(struct text t, const char *word)
{
    return t.n > 0 && memmem(t.at, (size_t)t.n, word, strlen(word)) != NULL;
}

int32_t text_number(struct text t)
{
    int32_t x = 0;
    for (int i = 0; i < t.n; i++) {
        if (!isdigit((unsigned char)t.at[i]) || x > MOST_NUMBER)
            return -1;
        x = 10 * x + (t.at[i] - '0');
    }
    return t.n > 0 && x <= MOST_NUMBER ? x : -1;
}

int text_real(struct text t, double *x)
{
    char copy[64], *end;
    if (t.n < 1 || t.n > 60)
        return 0;
    for (int i = 0; i < t.n; i++)
        if (!isdigit((unsigned char)t.at[i]) && !strchr("+-.eE", t.at[i]))
            return 0;
    memcpy(copy, t.at, (size_t)t.n);
    copy[t.n] = 0;
    *x = strtod(copy, &end);
    return end == copy + t.n && isfinite(*x);
}

int text_integer(struct text t, int64_t *x)
{
    int minus = t.n > 0 && *t.at == '-';
    int64_t value = 0;
    if (t.n - minus < 1 || t.n - minus > 18)
        return 0;
    for (int i = minus; i < t.n; i++) {
        if (!isdigit((unsigned char)t.at[i]))
            return 0;
        value = 10 * value + (t.at[i] - '0');
    }
    *x = minus ? -value : value;
    return 1;
}

int text_printable(struct text t)
{
    for (int i = 0; i < t.n; i++)
        if (t.at[i] < 0x20 || t.at[i] > 0x7e)
            return 0;
    return t.n > 0 && t.n <= TEXT_NAME;
}

struct text text_word(struct text *t)
{
    text_skip_blank(t);
    struct text word = { t->at, 0 };
    while (word.n < t->n && !isspace((unsigned char)word.at[word.n]))
        word.n++;
    text_skip(t, word.n);
    return word;
}

int text_cell(struct text *t, struct text *cell)
{
    if (t->n < 0)
        return 0;
    struct text inner = *t;
    text_skip_blank(&inner);
    if (inner.n > 0 && *inner.at == '"') {
        const char *close = memchr(inner.at + 1, '"', (size_t)inner.n - 1);
        if (!close)
            return -1;
        *cell = (struct text){ inner.at + 1, (int)(close - inner.at - 1) };
        text_skip(&inner, cell->n + 2);
        text_until(&inner, ',');
        int more = inner.at[-1] == ','; /* the quote itself stands before inner.at at the least */
        *t = more ? inner : (struct text){ inner.at, -1 };
        return 1;
    }
    int comma = memchr(t->at, ',', (size_t)t->n) != NULL;
    *cell = text_trim(text_until(t, ','));
    if (!comma)
        t->n = -1;
    return 1;
}

struct text text_until(struct text *t, char c)
{
    const char *end = t->n > 0 ? memchr(t->at, c, (size_t)t->n) : NULL;
    struct text head = { t->at, end ? (int)(end - t->at) : t->n };
    text_skip(t, head.n + (end != NULL));
    return head;
}

int text_out(struct text t, char *out, size_t room)
{
    if (t.n < 0 || (size_t)t.n >= room)
        return 0;
    memcpy(out, t.at, (size_t)t.n);
    out[t.n] = 0;
    return 1;
}

struct scan scan_start(const char *data, int64_t n)
{
    int mark = n >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0; /* of byte order, as some editors leave it */
    return (struct scan){ data + mark, data + n, 0, 1 };
}

int scan_line(struct scan *s, struct text *line)
{
    if (s->at == s->end)
        return 0;
    const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));
    int64_t n = (end ? end : s->end) - s->at;
    s->line++;
    if (n > 1 << 20)
        return -1;
    *line = (struct text){ s->at, (int)n };
    s->at += n + (end != NULL);
    while (line->n > 0 && line->at[line->n - 1] == '\r')
        line->n--;
    return 1;
}

int scan_word(struct scan *s, struct text *word)
{
    for (; s->at < s->end && isspace((unsigned char)*s->at); s->at++)
        s->words_line += *s->at == '\n';
    *word = (struct text){ s->at, 0 };
    s->line = s->words_line;
    for (; s->at < s->end && word->n < 1 << 20 && !isspace((unsigned char)*s->at); s->at++)
        word->n++;
    return word->n > 0;
}

int32_t text_port(const char *port)
{
    const char *digit = port;
    while (*digit && !isdigit((unsigned char)*digit))
        digit++;
    int n = (int)strspn(digit, "0123456789");
    return strpbrk(digit + n, "0123456789") ? -1 : text_number((struct text){ digit, n });
}

int text_natural(const char *a, const char *b)
{
    while (*a && *b) {
        size_t m = strspn(a, "0123456789"), n = strspn(b, "0123456789");
        if (m > 0 && n > 0) {
            for (; m > 1 && *a == '0'; m--)
                a++;
            for (; n > 1 && *b == '0'; n--)
                b++;
            int order = m != n ? (m < n ? -1 : 1) : memcmp(a, b, m);
            if (order != 0)
                return order;
            a += m;
            b += n;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}
