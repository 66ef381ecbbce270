/* Documents as files. */
#include "service/wire/doc.h"

#include <stdlib.h>
#include <string.h>

#include "service/wire/file.h"
#include "service/wire/json.h"
#include "service/wire/wire.h"

int64_t doc_limit(int64_t n)
{
    /* "{}," in JSON or one byte of msgpack is 24 to 72 bytes of tree. */
    return n < INT64_MAX / 128 ? 96 * n + (1 << 20) : INT64_MAX;
}

int doc_parse(const char *data, int64_t n, struct arena *a, struct value **out, struct err *e)
{
    /* A document is a map or a list: as msgpack it starts above 0x7f, as JSON it does not (a byte order mark apart). */
    if (n <= 0)
        return fail(e, E_INPUT, "an empty document");
    unsigned char first = (unsigned char)data[0];
    return first >= 0x80 && first != 0xef ? wire_read(data, n, &wire_document, a, out, e)
                                          : json_read(data, n, a, out, e);
}

int doc_load(const char *path, struct arena *a, struct value **out, struct err *e)
{
    char *data;
    int64_t n;
    if (file_read(path, &data, &n, e) < 0)
        return -1;
    int rc = doc_parse(data, n, a, out, e);
    free(data);
    return rc < 0 ? fail_at(e, "%.200s: ", !strcmp(path, "-") ? "standard input" : path) : 0;
}

int doc_save(const char *path, const struct value *v, struct err *e)
{
    char *data;
    int64_t n;
    size_t length = strlen(path);
    int packed = length > 3 && !strcmp(path + length - 3, ".mp");
    if ((packed ? wire_write(v, &data, &n, e) : json_write(v, 1, &data, &n, e)) < 0)
        return fail_at(e, "%.200s: ", path);
    int rc = file_write(path, data, n, e);
    free(data);
    return rc;
}
