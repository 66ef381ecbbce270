#include "service/daemon/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[] = "HEDDLE_WORLD_FOLDER=";

enum { MAX_WORDS = 128, LOG_BYTES = 1 << 20 };

/* A list of owned texts that ends in NULL. */
struct words {
    char *word[MAX_WORDS + 1];
    int n;
};

static int words_add(struct words *w, char *text, struct err *e)
{
    if (!text)
        return fail(e, E_MEMORY, "out of memory for a command line");
    if (w->n == MAX_WORDS) {
        free(text);
        return fail(e, E_INPUT, "launcher: more than %d words", MAX_WORDS);
    }
    w->word[w->n++] = text;
    return 0;
}

static void words_free(struct words *w)
{
    for (int i = 0; i < w->n; i++)
        free(w->word[i]);
    w->n = 0;
}

/* One word of the launcher with its place-holders filled in. */
static char *fill(const struct launch *l, const char *word, size_t n)
{
    char ranks[24], out[4096];
    size_t at = 0;
    snprintf(ranks, sizeof ranks, "%" PRId64, l->ranks);
    for (size_t i = 0; i < n && at + 1 < sizeof out;) {
        const char *text = NULL;
        if (n - i >= 7 && !strncmp(word + i, "{ranks}", 7)) {
            text = ranks;
            i += 7;
        } else if (n - i >= 8 && !strncmp(word + i, "{folder}", 8)) {
            text = l->folder;
            i += 8;
        } else {
            out[at++] = word[i++];
        }
        for (; text && *text && at + 1 < sizeof out; text++)
            out[at++] = *text;
    }
    out[at] = 0;
    return text_copy(out);
}

static int command_line(const struct launch *l, struct words *w, struct err *e)
{
    char world[24], epoch[24];
    snprintf(world, sizeof world, "%d", (int)l->world);
    snprintf(epoch, sizeof epoch, "%" PRId64, l->epoch);
    for (const char *p = l->launcher; *(p += strspn(p, " \t"));) {
        size_t n = strcspn(p, " \t");
        if (words_add(w, fill(l, p, n), e) < 0)
            return -1;
        p += n;
    }
    const char *const rest[] = { l->solver, "world",   "--connect", l->address, "--world",
                                 world,     "--epoch", epoch,       "--folder", l->folder };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (words_add(w, text_copy(rest[i]), e) < 0)
            return -1;
    return 0;
}

/* The daemon may itself run inside an MPI job: its traces would make mpirun refuse ("recursive calls"). */
static int is_foreign(const char *variable)
{
    static const char *const prefix[] = { "OMPI_", "PMIX_", "ORTE_", "OPAL_", "PMI_", "TMPDIR=", mark };
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (!strncmp(variable, prefix[i], strlen(prefix[i])))
            return 1;
    return 0;
}

static char *joined(const char *a, const char *b)
{
    char *text = array((int64_t)(strlen(a) + strlen(b) + 1), 1);
    if (text) {
        strcpy(text, a);
        strcat(text, b);
    }
    return text;
}

/* Borrowed variables of this process, and the two owned ones in front of them. */
static char **environment(const struct launch *l, struct err *e)
{
    int64_t n = 0;
    while (environ[n])
        n++;
    char **list = array(n + 3, sizeof *list);
    if (!list || !(list[0] = joined("TMPDIR=", l->folder)) || !(list[1] = joined(mark, l->folder))) {
        if (list)
            free(list[0]);
        free(list);
        fail(e, E_MEMORY, "out of memory for an environment");
        return NULL;
    }
    int64_t at = 2;
    for (int64_t i = 0; i < n; i++)
        if (!is_foreign(environ[i]))
            list[at++] = environ[i];
    return list;
}

/* Between fork and exec: only calls that are safe beside the threads of ZeroMQ. */
static void become(char *const *word, char *const *variable, int log, pid_t parent)
{
    sigset_t none;
    struct rlimit core = { 0, 0 };
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(126); /* the daemon died before the line above */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setrlimit(RLIMIT_CORE, &core);
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    close_range(3, ~0u, 0);
    execvpe(word[0], word, variable);
    _exit(127);
}

pid_t launch_world(const struct launch *l, struct err *e)
{
    struct words w = { .n = 0 };
    char **variable = NULL;
    pid_t pid = -1;
    struct stat st;
    int log = open(l->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || (fstat(log, &st) == 0 && st.st_size > LOG_BYTES && ftruncate(log, 0) < 0)) {
        fail(e, E_IO, "%s: %s", l->log, strerror(errno));
        goto out;
    }
    if (launch_folder(l->folder, e) < 0 || command_line(l, &w, e) < 0 || !(variable = environment(l, e)))
        goto out;
    pid_t self = getpid();
    pid = fork();
    if (pid == 0)
        become(w.word, variable, log, self);
    if (pid < 0)
        fail(e, E_IO, "cannot start a world: %s", strerror(errno));
out:
    if (log >= 0)
        close(log);
    if (variable) {
        free(variable[0]);
        free(variable[1]);
    }
    free(variable);
    words_free(&w);
    return pid;
}

/* Does the process carry this folder's mark? Environments of others' processes cannot be read, and need not be. */
static int is_marked(const char *pid, const char *folder)
{
    char path[64], chunk[8192];
    char want[4200];
    int n = snprintf(want, sizeof want, "%s%s", mark, folder);
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int found = 0;
    size_t kept = 0;
    while (fd >= 0 && !found && n < (int)sizeof chunk / 2) {
        ssize_t got = read(fd, chunk + kept, sizeof chunk - kept);
        if (got <= 0)
            break;
        size_t all = kept + (size_t)got;
        found = memmem(chunk, all, want, (size_t)n + 1) != NULL; /* with its zero byte: /a is not /ab */
        kept = all < (size_t)n ? all : (size_t)n;
        memmove(chunk, chunk + all - kept, kept);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

int launch_kill(const char *folder)
{
    int killed = 0;
    DIR *proc = opendir("/proc");
    if (!proc)
        return 0;
    for (struct dirent *entry; (entry = readdir(proc));) {
        int pid = atoi(entry->d_name);
        if (pid > 1 && pid != getpid() && is_marked(entry->d_name, folder))
            killed += kill(pid, SIGKILL) == 0;
    }
    closedir(proc);
    return killed;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

void launch_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int launch_folder(const char *folder, struct err *e)
{
    struct stat st;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return fail(e, E_IO, "%s: %s", folder, strerror(errno));
    if (lstat(folder, &st) < 0)
        return fail(e, E_IO, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return fail(e, E_INPUT, "%s: must be a folder of this user that is closed to others (mode 0700)", folder);
    return 0;
}

static int runnable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int search_path(char *path, size_t n)
{
    for (const char *p = getenv("PATH"); p && *p; p += strspn(p, ":")) {
        size_t length = strcspn(p, ":");
        if (snprintf(path, n, "%.*s/heddle", (int)length, p) < (int)n && runnable(path))
            return 0;
        p += length;
    }
    return -1;
}

int launch_solver(const char *name, char *path, size_t n, struct err *e)
{
    static const char *const beside[] = { "../cli/heddle", "heddle" };
    char self[2048];
    if (*name) {
        char *real = realpath(name, NULL);
        int fits = real && snprintf(path, n, "%s", real) < (int)n && runnable(path);
        free(real);
        return fits ? 0 : fail(e, E_INPUT, "solver: \"%s\" is no program that can be run", name);
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = 0;
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++)
        if (snprintf(path, n, "%s%s", self, beside[i]) < (int)n && runnable(path))
            return 0;
    return search_path(path, n) == 0 ? 0 : fail(e, E_INPUT, "solver: there is no heddle beside heddled or in PATH");
}
