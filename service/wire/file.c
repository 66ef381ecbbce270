#include "service/wire/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, char **data, int64_t *n, struct err *e)
{
    enum { STEP = 1 << 16 };
    struct stat st;
    int64_t room = 0, first = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size + 2 : 0;
    void *bytes = NULL;
    *n = 0;
    for (;;) {
        int64_t need = room == 0 && first > STEP ? first : *n + STEP;
        if (room - *n < 2 && array_grow(&bytes, &room, need, 1) < 0) { /* a byte to read, and the zero at the end */
            free(bytes);
            return fail(e, E_MEMORY, "out of memory for %lld bytes", (long long)*n);
        }
        ssize_t got = read(fd, (char *)bytes + *n, (size_t)(room - *n - 1));
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

int file_read(const char *path, char **data, int64_t *n, struct err *e)
{
    if (!strcmp(path, "-"))
        return read_all(STDIN_FILENO, data, n, e) < 0 ? fail_at(e, "standard input: ") : 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(e, E_INPUT, "%.200s: %s", path, strerror(errno));
    int rc = read_all(fd, data, n, e);
    close(fd);
    return rc < 0 ? fail_at(e, "%.200s: ", path) : 0;
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

/* A new file beside path, under a name of its own; its name goes to temporary. */
static int open_beside(const char *path, char *temporary, size_t n)
{
    enum { TRIES = 100 };
    int fd = -1;
    for (int k = 0; k < TRIES && fd < 0; k++) {
        snprintf(temporary, n, "%s.%ld.%d.tmp", path, (long)getpid(), k);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Written, synced, renamed; a file that was there keeps its mode. */
static int replace_file(const char *path, const char *data, int64_t n, struct err *e)
{
    struct stat st;
    size_t room = strlen(path) + 40;
    char *temporary = array((int64_t)room, 1);
    if (!temporary)
        return fail(e, E_MEMORY, "%.200s: out of memory", path);
    int fd = open_beside(path, temporary, room);
    int bad = fd < 0 || (stat(path, &st) == 0 && S_ISREG(st.st_mode) && fchmod(fd, st.st_mode & 0777) < 0) ||
              write_all(fd, data, n) < 0 || fsync(fd) < 0;
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

int file_write(const char *path, const char *data, int64_t n, struct err *e)
{
    if (!strcmp(path, "-") || is_special(path))
        return write_special(path, data, n, e);
    char *target = realpath(path, NULL); /* through links: the file is replaced, not the link; NULL when it is new */
    int rc = replace_file(target ? target : path, data, n, e);
    free(target);
    return rc;
}
