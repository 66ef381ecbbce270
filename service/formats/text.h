/* Pieces of a file's text: lines, words, CSV cells, numbers. Nothing is copied; a piece is not zero-terminated.
 */
#ifndef HEDDLE_TEXT_H
#define HEDDLE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TEXT_NAME = 200 }; /* most bytes of a name */

struct text {
    const char *at;
    int n;
};

void text_skip(struct text *t, int n);
void text_skip_blank(struct text *t);
struct text text_trim(struct text t); /* without blanks at both ends */

int text_starts(struct text t, const char *word); /* in any case of letters */
int text_is(struct text t, const char *word);     /* in any case of letters */
int text_contains(struct text t, const char *word);

/* All of t as a number in [0, 65536], or -1. */
int32_t text_number(struct text t);

/* All of t as a decimal number: 1 and *x set, else 0. No hexadecimal, no infinity, at most 60 characters. */
int text_real(struct text t, double *x);
int text_integer(struct text t, int64_t *x);

int text_printable(struct text t); /* ASCII, not empty, at most TEXT_NAME bytes */

/* Cuts off the next word (up to a blank; empty at the end), or the next cell (up to a comma; quotes around it taken
 * off; returns 0 behind the last one, -1 where a quote never closes). */
struct text text_word(struct text *t);
int text_cell(struct text *t, struct text *cell);

/* Cuts off what stands before a character, which goes too; all of it where the character is absent. */
struct text text_until(struct text *t, char c);

/* A zero-terminated copy; 0 where it does not fit. */
int text_out(struct text t, char *out, size_t room);

/* How much of a text to quote in a sentence: printf("%.*s", TEXT_SAY(t)). */
#define TEXT_SAY(t) ((t).n < 60 ? (t).n : 60), (t).at

/* A file being read; line is the number, from 1, of the line or word last taken. */
struct scan {
    const char *at, *end;
    int64_t line, words_line;
};
struct scan scan_start(const char *data, int64_t n);

/* The next line without its end (LF, CR LF, CR CR LF): 1, 0 at the end of the file, -1 for one over a megabyte. */
int scan_line(struct scan *s, struct text *line);

/* The next word of a file in which line breaks mean no more than blanks: 1, or 0 at the end. */
int scan_word(struct scan *s, struct text *word);

/* Digits of a port's name where there is one run of them only: "Port 21", "Ethernet112", "7"; else -1. */
int32_t text_port(const char *port);

/* Order of names in which numbers count as such: eth2 before eth10. */
int text_natural(const char *a, const char *b);

#endif
