/* heddled: takes problems over ZeroMQ, keeps them safe, has them solved by worlds of ranks that it starts and watches,
 * and gives the plans out again. Not for: mathematics, MPI, looking into problems. Happy path: main, set_up, turn.
 */
#include "service/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "service/daemon/launch.h"
#include "service/daemon/log.h"
#include "service/wire/digest.h"

enum { EPOCHS_PER_START = 1 << 24, BURST = 1000 };
static const double burst_seconds = 2e-3; /* messages that come together are committed together */
static const double tidy_seconds = 60;

static double clock_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tick(struct daemon *d)
{
    d->now = clock_now(CLOCK_MONOTONIC);
    d->time = clock_now(CLOCK_REALTIME);
}

/* The folder of sockets and worlds: as configured, else one that belongs to this state folder alone. */
static int open_scratch(struct daemon *d, struct err *e)
{
    if (d->config.scratch[0]) {
        snprintf(d->scratch, sizeof d->scratch, "%s", d->config.scratch);
    } else {
        unsigned char digest[DIGEST_BYTES];
        char text[17], *real = realpath(d->config.state, NULL);
        if (!real)
            return fail(e, E_IO, "%s: %s", d->config.state, strerror(errno));
        digest_of(real, (int64_t)strlen(real), digest);
        free(real);
        digest_text(digest, 8, text);
        snprintf(d->scratch, sizeof d->scratch, "%s/heddled-%u-%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (unsigned)geteuid(), text);
    }
    if (launch_folder(d->scratch, e) < 0)
        return fail_at(e, "scratch: ");
    char *real = realpath(d->scratch, NULL); /* worlds are told an absolute path */
    int fits = real && strlen(real) < sizeof d->scratch;
    if (fits)
        strcpy(d->scratch, real);
    free(real);
    return fits ? 0 : fail(e, E_IO, "scratch: %s cannot be resolved", d->scratch);
}

static int make_folders(char *path, struct err *e)
{
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/')
            continue;
        char kept = *p;
        *p = 0;
        int rc = mkdir(path, 0700);
        int why = errno;
        *p = kept;
        if (rc < 0 && why != EEXIST)
            return fail(e, E_IO, "state: cannot make %s: %s", path, strerror(why));
        if (!kept)
            return 0;
    }
}

static int take_row(void *context, struct job *j, struct err *e)
{
    struct daemon *d = context;
    return queue_restore(d->queue, j, e);
}

/* One bad row must not keep the others from being served: it stays in the store as it is. */
static void bad_row(void *context, int64_t id, const char *why)
{
    struct log_line l;
    (void)context;
    log_begin(&l, "error", "job_set_aside");
    log_number(&l, "job", id);
    log_text(&l, "text", why);
    log_end(&l);
}

/* Is this a file of a job that the store knows? Plans count only when their attempt is the recorded one. */
static int is_ours(void *context, const char *name)
{
    struct daemon *d = context;
    char want[SPOOL_NAME];
    struct job *j = queue_find(d->queue, strtoll(name, NULL, 10));
    if (!j)
        return 0;
    spool_problem_name(want, j->id);
    if (!strcmp(want, name))
        return 1;
    spool_plan_name(want, j->id, j->attempt);
    return j->end.plan_bytes > 0 && !strcmp(want, name);
}

static int open_store(struct daemon *d, struct err *e)
{
    char path[CONFIG_TEXT + 32];
    struct queue_limits limits = { d->config.max_waiting, d->config.attempts, d->config.job_limit };
    struct store_reader reader = { d, take_row, bad_row };
    d->queue = queue_new(&limits, e);
    if (!d->queue || make_folders(d->config.state, e) < 0 || !(d->store = store_open(d->config.state, e)))
        return -1;
    snprintf(path, sizeof path, "%s/spool", d->config.state);
    if (!(d->spool = spool_open(path, e)) || store_load(d->store, &reader, e) < 0)
        return -1;
    queue_skip_ids(d->queue, store_last_id(d->store));
    int64_t start = store_number(d->store, "starts") + 1, clean = store_number(d->store, "clean_stop");
    d->epoch = start * EPOCHS_PER_START; /* above every epoch of former starts: their worlds' results are stale */
    if (store_set_number(d->store, "starts", start, e) < 0 || store_set_number(d->store, "clean_stop", 0, e) < 0)
        return -1;
    post_commit(d);
    if (d->store_at > 0)
        return fail(e, E_IO, "state: the job store cannot be written");
    struct log_line l;
    log_begin(&l, "info", "store_open");
    log_number(&l, "start", start);
    log_number(&l, "clean", clean || start == 1);
    log_number(&l, "jobs", queue_size(d->queue));
    log_number(&l, "queued", queue_count(d->queue, JOB_QUEUED));
    log_number(&l, "swept", spool_sweep(d->spool, is_ours, d));
    log_end(&l);
    return 0;
}

static int open_sockets(struct daemon *d, struct err *e)
{
    char address[CONFIG_TEXT + 32];
    struct sock_limits outside = { .frame = d->config.max_message + 65536, .linger = 200, .heartbeat = 1 };
    struct sock_limits inside = { .frame = -1, .linger = 0 };
    d->bus = bus_new(e);
    if (!d->bus)
        return -1;
    snprintf(address, sizeof address, "ipc://%s/workers.sock", d->scratch);
    if (!(d->workers = sock_bind(d->bus, address, &inside, e)) ||
        !(d->clients = sock_bind(d->bus, d->config.listen, &outside, e)))
        return -1;
    return 0;
}

static int set_up(struct daemon *d, struct err *e)
{
    unsigned char boot[8];
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 65536) {
        files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    tick(d);
    d->started = d->now;
    d->post_end = &d->post;
    d->world_limits = (struct world_limits){ d->config.start_limit, d->config.dead_after, d->config.cancel_grace,
                                             d->config.kill_grace, d->config.jobs_per_world };
    if (digest_start(e) < 0 || launch_solver(d->config.solver, d->solver, sizeof d->solver, e) < 0)
        return -1;
    digest_random(boot, sizeof boot);
    digest_text(boot, sizeof boot, d->boot);
    if (open_store(d, e) < 0 || open_scratch(d, e) < 0 || open_sockets(d, e) < 0)
        return -1;
    for (int i = 0; i < d->config.worlds; i++)
        world_init(&d->world[i], i, d->now);
    return 0;
}

static void tear_down(struct daemon *d)
{
    post_free(d);
    while (d->listener) {
        struct listener *next = d->listener->next;
        free(d->listener);
        d->listener = next;
    }
    sock_close(d->clients);
    sock_close(d->workers);
    bus_free(d->bus);
    spool_close(d->spool);
    store_close(d->store);
    queue_free(d->queue);
    if (d->workers)
        launch_remove(d->scratch);
}

/* Ended jobs go when they are too old or too many, oldest first; their files after their rows. */
static void tidy(struct daemon *d)
{
    struct err e = { 0 };
    int64_t ended = 0, gone = 0;
    for (int64_t i = 0; i < queue_size(d->queue); i++)
        ended += job_ended(queue_at(d->queue, i)->state);
    d->tidy_at = d->now + tidy_seconds;
    for (int64_t i = 0; i < queue_size(d->queue) && gone < BURST;) {
        struct job *j = queue_at(d->queue, i);
        int old = d->time - j->ended > d->config.keep_days * 86400;
        if (!job_ended(j->state) || j->dirty || !(old || ended > d->config.keep_jobs)) {
            i++;
            continue;
        }
        char problem[SPOOL_NAME], plan[SPOOL_NAME];
        spool_problem_name(problem, j->id);
        spool_plan_name(plan, j->id, j->attempt);
        if (store_delete(d->store, j->id, &e) < 0 || store_commit(d->store, &e) < 0) {
            log_say("error", "store", e.text);
            return;
        }
        spool_remove(d->spool, problem);
        spool_remove(d->spool, plan);
        queue_remove(d->queue, j);
        ended--;
        gone++;
    }
}

static void drain(struct daemon *d, struct sock *s, void (*take)(struct daemon *, struct parcel *))
{
    double end = clock_now(CLOCK_MONOTONIC) + burst_seconds;
    for (int n = 0; n < BURST && clock_now(CLOCK_MONOTONIC) < end; n++) {
        struct parcel p;
        struct err e = { 0 };
        int rc = sock_receive(s, &p, &e);
        if (rc < 0)
            log_say("error", "receive", e.text);
        if (rc <= 0)
            return;
        take(d, &p);
        parcel_free(&p);
    }
}

static int wait_ms(const struct daemon *d)
{
    int64_t at = 0;
    double due = fmin(d->tidy_at, d->draining ? d->now + 0.1 : fleet_due(d));
    if (d->draining)
        due = fmin(due, fleet_due(d));
    if (d->post || d->listener_blocked)
        due = fmin(due, d->now + 0.02);
    for (const struct listener *l = d->listener; l; l = l->next)
        due = l->seq > 0 ? due : fmin(due, l->deadline);
    if (queue_dirty(d->queue, &at))
        due = fmin(due, fmax(d->now, d->store_at));
    double seconds = due - clock_now(CLOCK_MONOTONIC);
    return seconds <= 0 ? 0 : seconds > 60 ? 60000 : (int)ceil(seconds * 1e3);
}

/* One turn of the loop. Returns 0 once everything is at rest after a request to stop. */
static int turn(struct daemon *d, int signals)
{
    struct watch w[] = { { .sock = d->workers }, { .sock = d->clients }, { .fd = signals } };
    struct err e = { 0 };
    if (bus_poll(w, 3, wait_ms(d), &e) < 0)
        log_say("error", "poll", e.text);
    tick(d);
    struct signalfd_siginfo signal;
    while (read(signals, &signal, sizeof signal) == sizeof signal)
        if (signal.ssi_signo != SIGCHLD && !d->draining) {
            d->draining = 1;
            log_say("info", "stopping", strsignal((int)signal.ssi_signo));
        }
    drain(d, d->workers, fleet_receive); /* before the deadlines: what a world said in time counts */
    fleet_reap(d);
    fleet_tick(d);
    drain(d, d->clients, front_receive);
    int left = d->draining ? fleet_stop(d) : 1;
    if (d->now >= d->tidy_at && d->now >= d->store_at)
        tidy(d);
    post_commit(d);
    post_flush(d);
    front_listeners(d);
    fleet_dispatch(d);
    post_flush(d);
    return left > 0;
}

static int run(struct daemon *d, struct err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals < 0)
        return fail(e, E_IO, "cannot wait for signals: %s", strerror(errno));
    if (set_up(d, e) < 0) {
        close(signals);
        return -1;
    }
    struct log_line l;
    log_begin(&l, "info", "listening");
    log_text(&l, "address", sock_address(d->clients));
    log_text(&l, "solver", d->solver);
    log_text(&l, "scratch", d->scratch);
    log_text(&l, "boot", d->boot);
    log_end(&l);
    while (turn(d, signals))
        ;
    close(signals);
    struct err why = { 0 };
    if (store_set_number(d->store, "clean_stop", 1, &why) < 0 || store_commit(d->store, &why) < 0)
        log_say("error", "store", why.text);
    log_say("info", "stopped", "");
    return 0;
}

static int usage(FILE *to, int status)
{
    fprintf(to, "usage: heddled [--config FILE] [--NAME VALUE ...]\n\n");
    config_print(to);
    return status;
}

/* Files first, then the command line, whatever their order. */
static int read_arguments(struct config *c, int argc, char **argv, struct err *e)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 1; i < argc; i += 2) {
            if (strncmp(argv[i], "--", 2) != 0 || i + 1 >= argc)
                return fail(e, E_INPUT, "%s: want --NAME VALUE; --help lists the names", argv[i]);
            int is_file = !strcmp(argv[i], "--config");
            if (is_file && pass == 0 && config_load(c, argv[i + 1], e) < 0)
                return -1;
            if (!is_file && pass == 1 && config_set(c, argv[i] + 2, argv[i + 1], e) < 0)
                return -1;
        }
    return 0;
}

int main(int argc, char **argv)
{
    static struct daemon d;
    struct err e = { 0 };
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return usage(stdout, 0);
    if (argc == 2 && !strcmp(argv[1], "--version"))
        return printf("heddled %s\n", HEDDLE_VERSION) < 0;
    config_default(&d.config);
    if (read_arguments(&d.config, argc, argv, &e) < 0) {
        fprintf(stderr, "heddled: %s\n", e.text);
        return 2;
    }
    int rc = run(&d, &e);
    tear_down(&d);
    if (rc < 0)
        log_say("error", "not_started", e.text);
    if (rc < 0)
        fprintf(stderr, "heddled: %s\n", e.text);
    return rc < 0 ? (e.code == E_INPUT ? 2 : 1) : 0;
}
