/* Documents as files: read whole, written beside the target and renamed. */
#include "service/wire/doc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int read_all(int fd, char **data, int64_t *n, struct err *e)
{
    enum { STEP = 1 << 16 };
    struct stat st;
    int64_t room = 0;
    void *bytes = NULL;
    int64_t expect = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size + 1 : STEP;
    *n = 0;
    for (;;) {
        if (array_grow(&bytes, &room, *n + STEP > expect ? *n + STEP : expect, 1) < 0) {
            free(bytes);
            return fail(e, E_MEMORY, "out of memory for %lld bytes", (long long)*n);
        }
        ssize_t got = read(fd, (char *)bytes + *n, (size_t)(room - *n));
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR) {
            free(bytes);
            return fail(e, E_IO, "%s", strerror(errno));
        }
        *n += got > 0 ? got : 0;
    }
    *data = bytes;
    return 0;
}

int doc_load(const char *path, struct arena *a, struct value **out, struct err *e)
{
    char *data = NULL;
    int64_t n;
    int standard = !strcmp(path, "-");
    const char *shown = standard ? "standard input" : path;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(e, E_INPUT, "%.200s: %s", path, strerror(errno));
    int rc = read_all(fd, &data, &n, e);
    if (!standard)
        close(fd);
    if (rc == 0)
        rc = doc_parse(data, n, a, out, e);
    free(data);
    return rc < 0 ? fail_at(e, "%.200s: ", shown) : 0;
}

static int write_all(int fd, const char *data, int64_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, data, (size_t)n);
        if (put < 0 && errno != EINTR)
            return -1;
        data += put > 0 ? put : 0;
        n -= put > 0 ? put : 0;
    }
    return 0;
}

/* The file appears under its name complete and on disk, or not at all. Mode: what the umask leaves of 0666. */
static int replace_file(const char *path, const char *data, int64_t n, struct err *e)
{
    struct stat st;
    char *temporary = array((int64_t)strlen(path) + 16, 1);
    if (!temporary)
        return fail(e, E_MEMORY, "%.200s: out of memory", path);
    sprintf(temporary, "%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_mode & 0777 : 0666 & ~mask;
    int bad = fd < 0 || fchmod(fd, mode) < 0 || write_all(fd, data, n) < 0 || fsync(fd) < 0;
    int why = errno;
    if (fd >= 0 && close(fd) < 0 && !bad) {
        bad = 1;
        why = errno;
    }
    if (!bad && rename(temporary, path) < 0) {
        bad = 1;
        why = errno;
    }
    if (bad && fd >= 0)
        unlink(temporary);
    free(temporary);
    return bad ? fail(e, E_IO, "%.200s: can not be written: %s", path, strerror(why)) : 0;
}

/* Devices, pipes and the like can not be replaced; they are written to. */
static int is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_special(const char *path, const char *data, int64_t n, struct err *e)
{
    int standard = !strcmp(path, "-");
    int fd = standard ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : write_all(fd, data, n);
    int why = errno;
    if (fd >= 0 && !standard)
        close(fd);
    return rc < 0 ? fail(e, E_IO, "%.200s: can not be written: %s", standard ? "standard output" : path, strerror(why))
                  : 0;
}

int doc_save(const char *path, const struct value *v, struct err *e)
{
    char *data;
    int64_t n;
    size_t length = strlen(path);
    int packed = length > 3 && !strcmp(path + length - 3, ".mp");
    if ((packed ? wire_write(v, &data, &n, e) : json_write(v, 1, &data, &n, e)) < 0)
        return fail_at(e, "%.200s: ", path);
    int rc = !strcmp(path, "-") || is_special(path) ? write_special(path, data, n, e) : replace_file(path, data, n, e);
    free(data);
    return rc;
}
