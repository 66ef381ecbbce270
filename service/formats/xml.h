/* XML as a tree of elements; the only file that sees expat.h. Names lose their namespace prefix; the text of an element
 * is kept where it has no child elements; document types are refused, since they can define entities without end.
 */
#ifndef HEDDLE_XML_H
#define HEDDLE_XML_H

#include "service/wire/value.h"

struct xml {
    const char *name, *text;         /* text without blanks at both ends, "" where there is none */
    const char **attribute;          /* name, value, name, value, ..., NULL */
    struct xml *first, *next, *last; /* children in order; next sibling */
    int64_t line;
};

/* Refusals begin with "path:LINE: ". */
int xml_read(const char *path, const char *text, int64_t n, struct arena *a, struct xml **root, struct err *e);

/* NULL where absent. */
const char *xml_attribute(const struct xml *x, const char *name);
struct xml *xml_child(const struct xml *x, const char *name);

/* The text of the child of that name; NULL where absent or empty. */
const char *xml_child_text(const struct xml *x, const char *name);

#endif
