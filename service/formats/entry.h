/* Typed reading of JSON and YAML documents for the readers: a refusal names the present entry (wiring_entry), the key
 * and what was found. In YAML every scalar is a text; numbers are taken from texts too.
 */
#ifndef HEDDLE_ENTRY_H
#define HEDDLE_ENTRY_H

#include "service/formats/wiring.h"

enum entry_syntax { ENTRY_JSON, ENTRY_YAML };

/* The document of file number i, living as long as the wiring. */
int entry_open(struct wiring *w, int32_t i, enum entry_syntax syntax, const struct value **root);

/* The value of a key, which must be there and be a list or a map; NULL refused. */
const struct value *entry_list(struct wiring *w, const struct value *map, const char *key);
const struct value *entry_map(struct wiring *w, const struct value *map, const char *key);

/* A name: a text, or an integer in its digits. entry_text refuses an absent one; entry_maybe gives n = 0 for one that
 * is absent, null or empty. entry_word is for a value by itself; what names it in refusals. */
int entry_text(struct wiring *w, const struct value *map, const char *key, struct text *out);
int entry_maybe(struct wiring *w, const struct value *map, const char *key, struct text *out);
int entry_word(struct wiring *w, const struct value *v, const char *what, struct text *out);

/* A finite number; absent or null leaves *out as it is. */
int entry_number(struct wiring *w, const struct value *map, const char *key, double *out);

/* "list[item].rest", for wiring_entry; NULL with e set. */
const char *entry_path(struct wiring *w, const char *list, int64_t item, const char *rest);

/* Zero-terminated copies for struct wire_cable; NULL with e set. */
const char *entry_port(struct wiring *w, struct text t);

#endif
