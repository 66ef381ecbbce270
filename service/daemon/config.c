#include "service/daemon/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

enum { MAX_LINE = 4096 };

#define AT(field) offsetof(struct config, field)

/* The launcher's flags, each for a reason that was measured: one node needs no other transport than ob1 over shared
 * memory (half of the start-up is spent probing); a dead rank ends the world at once, not after a second; waiting ranks
 * yield when there are more of them than cores; several worlds must not be bound to the same cores; no CMA, which
 * containers forbid; segments lie in the world's own folder, so that one removal sweeps them. */
static const char launcher_default[] =
    "mpirun -n {ranks} --oversubscribe --bind-to none --allow-run-as-root --mca pml ob1 --mca btl self,vader"
    " --mca odls_base_sigkill_timeout 0 --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none"
    " --mca btl_vader_backing_directory {folder}";

const struct config_row config_table[] = {
    { "listen", "tcp://127.0.0.1:5570", "address for clients; only loopback in this version", AT(listen),
      CONFIG_IS_TEXT, 0, 0 },
    { "state", "run/heddled", "folder of the job store and the spool; on a local disk", AT(state), CONFIG_IS_TEXT, 0,
      0 },
    { "scratch", "", "folder of sockets and worlds; empty: one of its own under /dev/shm, or /tmp", AT(scratch),
      CONFIG_IS_TEXT, 0, 0 },
    { "solver", "", "the heddle program; empty: the one built or installed beside heddled, else from PATH", AT(solver),
      CONFIG_IS_TEXT, 0, 0 },
    { "launcher", launcher_default,
      "words put before \"heddle world\"; {ranks} and {folder} are filled in; none: one rank, no launcher",
      AT(launcher), CONFIG_IS_TEXT, 0, 0 },
    { "worlds", "1", "jobs that run side by side, each in a world of ranks", AT(worlds), CONFIG_IS_INTEGER, 0, 8 },
    { "ranks", "2", "ranks of each world", AT(ranks), CONFIG_IS_INTEGER, 1, 4096 },
    { "start_limit", "30", "seconds that a world has until it is ready", AT(start_limit), CONFIG_IS_REAL, 0.1, 3600 },
    { "dead_after", "5", "seconds without a heartbeat after which a world is taken for dead", AT(dead_after),
      CONFIG_IS_REAL, 2, 3600 },
    { "cancel_grace", "2", "seconds that a cancelled solve has to come back with its best plan", AT(cancel_grace),
      CONFIG_IS_REAL, 0, 3600 },
    { "kill_grace", "1", "seconds from SIGTERM to SIGKILL", AT(kill_grace), CONFIG_IS_REAL, 0, 60 },
    { "job_limit", "0", "seconds that one attempt at a job may take, whatever its own time_limit; 0: no limit",
      AT(job_limit), CONFIG_IS_REAL, 0, 1e9 },
    { "attempts", "3", "a job whose world has died this many times under it has failed (worker_lost)", AT(attempts),
      CONFIG_IS_INTEGER, 1, 1000 },
    { "jobs_per_world", "1000", "a world is replaced by a fresh one after this many jobs", AT(jobs_per_world),
      CONFIG_IS_INTEGER, 1, 1e9 },
    { "max_message", "268435456", "bytes of the largest problem that is taken", AT(max_message), CONFIG_IS_INTEGER,
      65536, 17179869184.0 },
    { "max_waiting", "10000", "jobs that have not ended, at most; more are refused with queue_full", AT(max_waiting),
      CONFIG_IS_INTEGER, 1, 1e7 },
    { "keep_jobs", "10000", "ended jobs that are kept, with their plans and keys; older ones go first", AT(keep_jobs),
      CONFIG_IS_INTEGER, 0, 1e7 },
    { "keep_days", "7", "days that ended jobs are kept", AT(keep_days), CONFIG_IS_REAL, 1, 36500 },
    { NULL, NULL, NULL, 0, CONFIG_IS_TEXT, 0, 0 },
};

static const struct config_row *find(const char *name)
{
    for (const struct config_row *row = config_table; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    return NULL;
}

static int set_number(struct config *c, const struct config_row *row, const char *value, struct err *e)
{
    char *end;
    errno = 0;
    double x = strtod(value, &end);
    if (end == value || *end || errno)
        return fail(e, E_INPUT, "%s: \"%s\" is not a number", row->name, value);
    if (!(x >= row->min && x <= row->max))
        return fail(e, E_INPUT, "%s: %s is not in [%.12g, %.12g]", row->name, value, row->min, row->max);
    if (row->type == CONFIG_IS_INTEGER && x != floor(x))
        return fail(e, E_INPUT, "%s: %s is not a whole number", row->name, value);
    if (row->type == CONFIG_IS_INTEGER)
        *(int64_t *)((char *)c + row->offset) = (int64_t)x;
    else
        *(double *)((char *)c + row->offset) = x;
    return 0;
}

/* Without keys nobody but this machine's users may reach the port. */
static int check_listen(const char *address, struct err *e)
{
    static const char *const loopback[] = { "tcp://127.0.0.1:", "tcp://localhost:", "tcp://[::1]:", "ipc://" };
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (!strncmp(address, loopback[i], strlen(loopback[i])) && address[strlen(loopback[i])])
            return 0;
    return fail(e, E_INPUT,
                "listen: \"%s\" is not on loopback (tcp://127.0.0.1:PORT, tcp://[::1]:PORT or ipc://PATH); serving a "
                "network needs keys, which this version does not have",
                address);
}

int config_set(struct config *c, const char *name, const char *value, struct err *e)
{
    const struct config_row *row = find(name);
    if (!row) {
        char list[400] = "";
        for (const struct config_row *r = config_table; r->name; r++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", r == config_table ? "" : ", ", r->name);
        return fail(e, E_INPUT, "\"%.60s\" is no option; there are %s", name, list);
    }
    if (row->type != CONFIG_IS_TEXT)
        return set_number(c, row, value, e);
    if (strlen(value) >= CONFIG_TEXT)
        return fail(e, E_INPUT, "%s: longer than %d bytes", name, CONFIG_TEXT - 1);
    if (row->offset == AT(listen) && check_listen(value, e) < 0)
        return -1;
    if (row->offset == AT(state) && !*value)
        return fail(e, E_INPUT, "state: a folder must be named");
    strcpy((char *)c + row->offset, value);
    return 0;
}

void config_default(struct config *c)
{
    memset(c, 0, sizeof *c);
    for (const struct config_row *row = config_table; row->name; row++)
        config_set(c, row->name, row->initial, NULL);
}

struct load {
    struct config config;
    struct err *e;
};

static int load_row(void *context, const char *section, const char *name, const char *value)
{
    struct load *l = context;
    if (l->e->code != E_NONE)
        return 0;
    if (*section) {
        fail(l->e, E_INPUT, "[%s]: there are no sections", section);
        return 0;
    }
    return config_set(&l->config, name, value, l->e) == 0;
}

/* inih cuts longer lines in two without a word. */
static int check_lines(FILE *f, const char *path, struct err *e)
{
    int line = 1, n = 0;
    for (int ch; (ch = getc(f)) != EOF;) {
        n++;
        if (ch == 0)
            return fail(e, E_INPUT, "%s:%d: a zero byte", path, line);
        if (ch == '\n') {
            line++;
            n = 0;
        } else if (n >= MAX_LINE - 2) {
            return fail(e, E_INPUT, "%s:%d: longer than %d bytes", path, line, MAX_LINE - 3);
        }
    }
    return 0;
}

int config_load(struct config *c, const char *path, struct err *e)
{
    struct err why = { 0 };
    struct load l = { *c, &why };
    ini_use_stack = false; /* Debian's inih takes these at run time; its own lines end at 200 bytes */
    ini_initial_alloc = MAX_LINE;
    ini_max_line = MAX_LINE;
    ini_allow_multiline = false;
    ini_allow_inline_comments = false;
    FILE *f = fopen(path, "r");
    if (!f)
        return fail(e, E_INPUT, "%s: %s", path, strerror(errno));
    int rc = check_lines(f, path, e);
    rewind(f);
    int line = rc == 0 ? ini_parse_file(f, load_row, &l) : 0;
    fclose(f);
    if (rc < 0)
        return -1;
    if (line != 0)
        return fail(e, E_INPUT, "%s:%d: %s", path, line, why.code ? why.text : "want name = value");
    *c = l.config;
    return 0;
}

void config_print(FILE *to)
{
    fprintf(to, "# heddled: every option at its default. Each can also be given as --name VALUE.\n");
    for (const struct config_row *row = config_table; row->name; row++)
        fprintf(to, "\n# %s\n%s =%s%s\n", row->help, row->name, *row->initial ? " " : "", row->initial);
}
