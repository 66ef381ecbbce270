#include "service/daemon/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct spool {
    int fd;
    int unsynced; /* names have changed since the last spool_sync */
    int full;
};

static const char half[] = ".tmp"; /* the end of names of files that are being written */

struct spool *spool_open(const char *folder, struct err *e)
{
    struct spool *s = array(1, sizeof *s);
    if (!s) {
        fail(e, E_MEMORY, "out of memory for the spool");
        return NULL;
    }
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        s->fd = -1;
    else
        s->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->fd < 0) {
        fail(e, E_IO, "%s: %s", folder, strerror(errno));
        free(s);
        return NULL;
    }
    return s;
}

void spool_close(struct spool *s)
{
    if (s) {
        close(s->fd);
        free(s);
    }
}

void spool_problem_name(char name[SPOOL_NAME], int64_t id)
{
    snprintf(name, SPOOL_NAME, "%" PRId64 ".problem", id);
}

void spool_plan_name(char name[SPOOL_NAME], int64_t id, int64_t attempt)
{
    snprintf(name, SPOOL_NAME, "%" PRId64 ".%" PRId64 ".plan", id, attempt);
}

static int write_all(int fd, const char *data, int64_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, data, (size_t)n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        data += done;
        n -= done;
    }
    return 0;
}

int spool_write(struct spool *s, const char *name, const void *data, int64_t n, struct err *e)
{
    char other[SPOOL_NAME + sizeof half];
    snprintf(other, sizeof other, "%s%s", name, half);
    int fd = openat(s->fd, other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd < 0 ? -1 : write_all(fd, data, n);
    if (rc == 0)
        rc = fsync(fd);
    if (rc == 0)
        rc = renameat(s->fd, other, s->fd, name);
    int why = errno;
    if (fd >= 0)
        close(fd);
    s->unsynced = 1;
    if (rc == 0)
        return 0;
    unlinkat(s->fd, other, 0);
    s->full = why == ENOSPC || why == EDQUOT;
    return fail(e, E_IO, "spool: cannot write %s: %s", name, strerror(why));
}

int spool_sync(struct spool *s, struct err *e)
{
    if (s->unsynced && fsync(s->fd) < 0)
        return fail(e, E_IO, "spool: cannot sync the folder: %s", strerror(errno));
    s->unsynced = 0;
    s->full = 0;
    return 0;
}

int spool_full(const struct spool *s)
{
    return s->full;
}

int spool_read(struct spool *s, const char *name, int64_t offset, void *data, int64_t n, struct err *e)
{
    int fd = openat(s->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return fail(e, E_IO, "spool: cannot open %s: %s", name, strerror(errno));
    int64_t got = 0;
    while (got < n) {
        ssize_t more = pread(fd, (char *)data + got, (size_t)(n - got), offset + got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += more;
    }
    close(fd);
    if (got < n)
        return fail(e, E_IO, "spool: %s ends at byte %lld, not at %lld", name, (long long)(offset + got),
                    (long long)(offset + n));
    return 0;
}

void spool_remove(struct spool *s, const char *name)
{
    unlinkat(s->fd, name, 0);
}

int64_t spool_sweep(struct spool *s, int (*keep)(void *context, const char *name), void *context)
{
    int64_t gone = 0;
    int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder)
        return 0;
    rewinddir(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        size_t n = strlen(name);
        if (name[0] == '.')
            continue;
        int whole = n < sizeof half || strcmp(name + n - (sizeof half - 1), half) != 0;
        if (!whole || !keep(context, name))
            gone += unlinkat(s->fd, name, 0) == 0;
    }
    closedir(folder);
    return gone;
}
