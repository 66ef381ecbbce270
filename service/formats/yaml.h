/* YAML as the document model, the only file that sees yaml.h of libyaml. What configuration files are made of: maps
 * with text keys, lists, scalars. Every scalar is a text (an unquoted empty one, ~ or null is null); aliases are
 * refused, because a few lines of them stand for gigabytes.
 */
#ifndef HEDDLE_YAML_H
#define HEDDLE_YAML_H

#include "service/wire/value.h"

/* Refusals begin with "path:LINE: ". An empty document is null. */
int yaml_read(const char *path, const char *text, int64_t n, struct arena *a, struct value **out, struct err *e);

#endif
