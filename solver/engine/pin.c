/* The portfolio of pinned routes. Wave 0 runs on rank 0: given and hashed routes, one quick climb. Later waves are six
 * numbered tasks each, task i on rank i mod size, all beginning from the best of the wave before, with growing effort.
 * Ranks compare by exact score; what a task finds depends on the problem, its number and that best alone.
 */
#include "solver/engine/pin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/engine/baseline.h"
#include "solver/engine/climb.h"
#include "solver/engine/spread.h"

enum { TASKS = 6, WAVES = 3, RAISES = 2, HASHED = 4, MANY = 50000 };
/* RAISES: waves once the bound is met. Hashed starts: all seeds of the baseline up to MANY flows, HASHED beyond. */
static const int64_t WORK = 4000000;     /* arcs weighed by a task once the bound is met: some 30 ms */
enum { WORK_HOP = 1500 };                /* and no more than this for each arc that the ways of all flows may have */
enum { WORK_OPEN = 2 };                  /* times more while it is not */
enum { FILLS = 8, MAX_FILL = 60000000 }; /* and so many times the work of placing a start, at most */

struct pin {
    const struct problem *p;
    struct comm *comm;
    const struct pin_goal *goal;
    const struct hooks *hooks;
    struct lanes *lanes;
    struct cover *cover;
    struct colour *colour;
    struct climb *climb;
    struct spread *spread; /* NULL: one path per flow */

    struct routes *best; /* on every rank */
    double *efficiency;  /* [njob] of best */
    double value;
    int32_t best_task;   /* of this rank in the present wave, -1 */
    struct routes *mine; /* what best_task found */
    int64_t *score;      /* [TASKS * (njob + 2) + 3]: value and efficiencies of each task, as bits */
    double *sorted;      /* [2 njob] */
    double *trial;       /* [2 njob] efficiencies of the tasks that are compared */
    double until;        /* this rank's clock */
    int64_t steps, fill; /* fill: work of placing a start */
    int final, cut_short;
};

/* ---- routes as bytes ---- */

static int64_t bytes_of(const struct routes *r)
{
    return 16 + ((int64_t)r->nflow + 1) * 8 + r->npath * 16 + (r->npath + 1) * 8 + r->at[r->npath] * 4;
}

struct span {
    void *data;
    int64_t bytes;
};

static void spans_of(struct routes *r, int64_t narc, struct span part[5])
{
    part[0] = (struct span){ r->first, ((int64_t)r->nflow + 1) * 8 };
    part[1] = (struct span){ r->share, r->npath * 8 };
    part[2] = (struct span){ r->gbps, r->npath * 8 };
    part[3] = (struct span){ r->at, (r->npath + 1) * 8 };
    part[4] = (struct span){ r->arc, narc * 4 };
}

static char *pack(struct routes *r, int64_t *bytes, struct err *e)
{
    struct span part[5];
    int64_t head[2] = { r->npath, r->at[r->npath] };
    *bytes = bytes_of(r);
    char *data = array(*bytes, 1), *to = data;
    if (!data) {
        fail(e, E_MEMORY, "out of memory for %lld bytes of routes", (long long)*bytes);
        return NULL;
    }
    memcpy(to, head, sizeof head);
    to += sizeof head;
    spans_of(r, head[1], part);
    for (int i = 0; i < 5; i++) {
        memcpy(to, part[i].data, (size_t)part[i].bytes);
        to += part[i].bytes;
    }
    return data;
}

static struct routes *unpack(int32_t nflow, const char *data, struct err *e)
{
    struct span part[5];
    int64_t head[2];
    memcpy(head, data, sizeof head);
    data += sizeof head;
    struct routes *r = routes_new(nflow, head[0], head[1], e);
    if (!r)
        return NULL;
    spans_of(r, head[1], part);
    for (int i = 0; i < 5; i++) {
        memcpy(part[i].data, data, (size_t)part[i].bytes);
        data += part[i].bytes;
    }
    return r;
}

/* ---- this rank's part ---- */

static int ask_stop(void *context)
{
    struct pin *s = context;
    if (s->comm->now(s->comm) > s->until)
        return 1;
    return s->comm->rank == 0 && s->hooks && s->hooks->stop && s->hooks->stop(s->hooks->context);
}

static int take_starts(struct pin *s, struct err *e)
{
    for (int32_t i = 0; i < s->goal->nstart; i++)
        if (best_take(&s->climb->best, s->goal->start[i], e) < 0)
            return -1;
    uint64_t seeds = s->p->nflow <= MANY ? ECMP_SEEDS : HASHED;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct routes *r = NULL;
        int rc = baseline_ecmp(s->p, seed, &r, e);
        if (rc == 0)
            rc = best_take(&s->climb->best, r, e);
        routes_free(r);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* 1 when the value is as near to the bound as asked for: what is left to do is raise single jobs. */
static int closed(const struct pin *s)
{
    return plan_gap(s->goal->bound, s->value) <= s->p->options.gap;
}

/* What the members of the portfolio find. */
static struct best *found(struct pin *s)
{
    return s->spread ? &s->spread->best : &s->climb->best;
}

static int short_memory(const struct pin *s, const struct best *b, struct err *e)
{
    return b->short_memory ? fail(e, E_MEMORY, "out of memory for routes of %d flows", s->p->nflow) : 0;
}

static int64_t work_of(const struct pin *s, int32_t effort)
{
    int64_t size = WORK_HOP * s->climb->s->at[s->climb->nunit], work = size < WORK ? size : WORK;
    int64_t large = FILLS * s->fill < MAX_FILL ? FILLS * s->fill : MAX_FILL;
    return ((closed(s) ? work : WORK_OPEN * work) + large) * effort;
}

static uint64_t seed_of(const struct pin *s, uint64_t task)
{
    return (uint64_t)s->p->options.seed * 1000003 + task;
}

static int climb_once(struct pin *s, enum climb_start start, int32_t effort, uint64_t task, struct err *e)
{
    climb_run(s->climb, start, s->goal->bound, effort, work_of(s, effort), seed_of(s, task));
    s->steps += s->climb->steps;
    s->cut_short |= s->climb->stop.stopped;
    return short_memory(s, &s->climb->best, e);
}

static int spread_once(struct pin *s, enum climb_start start, int32_t effort, uint64_t task, struct err *e)
{
    spread_run(s->spread, start, s->goal->bound, effort, work_of(s, effort), seed_of(s, task));
    s->steps += s->spread->steps;
    s->cut_short |= s->spread->stop.stopped;
    return short_memory(s, &s->spread->best, e);
}

/* Both engines forget, then begin from best. */
static int reset(struct pin *s, const struct routes *best, struct err *e)
{
    return s->spread ? spread_reset(s->spread, best, e) : climb_reset(s->climb, best, e);
}

static int run_once(struct pin *s, enum climb_start start, int32_t effort, uint64_t task, struct err *e)
{
    return s->spread ? spread_once(s, start, effort, task, e) : climb_once(s, start, effort, task, e);
}

/* 1 when every job is as fast as its NICs alone allow: nothing is left to do for job_fair. */
static int all_at_ceiling(const struct pin *s, const double *efficiency)
{
    if (s->p->options.objective != OBJ_JOB_FAIR)
        return 0;
    for (int32_t j = 0; j < s->p->njob; j++)
        if (efficiency[j] < s->climb->ceiling[j] * (1 - 1e-9))
            return 0;
    return 1;
}

/* Wave 0, rank 0. */
static int first_wave(struct pin *s, struct err *e)
{
    enum climb_start start = s->colour ? START_COLOUR : START_GREEDY;
    if (s->p->options.objective == OBJ_MAX_UTILIZATION && s->goal->nstart > 0)
        start = START_BEST; /* a rounded split solution is near its bound */
    if (climb_reset(s->climb, NULL, e) < 0 || take_starts(s, e) < 0 || climb_once(s, start, 1, 0, e) < 0)
        return -1;
    s->final = s->climb->final && !s->spread;
    s->fill = s->climb->fill;
    if (s->spread && (reset(s, s->climb->best.routes, e) < 0 || spread_once(s, START_COLOUR, 1, 0, e) < 0))
        return -1;
    s->final |= all_at_ceiling(s, found(s)->efficiency);
    s->best = found(s)->routes;
    found(s)->routes = NULL;
    return 0;
}

static void put_score(struct pin *s, int32_t task)
{
    int64_t *row = s->score + (int64_t)task * (s->p->njob + 2);
    memcpy(row, &found(s)->value, sizeof *row);
    row[1] = (!s->spread && s->climb->final) || all_at_ceiling(s, found(s)->efficiency);
    memcpy(row + 2, found(s)->efficiency, (size_t)s->p->njob * sizeof *row);
}

static int run_task(struct pin *s, int32_t wave, int32_t task, double *champion, double *champion_value, struct err *e)
{
    static const struct {
        enum climb_start start;
        int wide;
    } member[TASKS] = { { START_BEST, 0 },  { START_COLOUR, 0 }, { START_GREEDY, 0 },
                        { START_ORDER, 0 }, { START_GREEDY, 1 }, { START_BEST, 1 } };
    (s->spread ? s->spread->s : s->climb->s)->wide = member[task].wide && !closed(s);
    if (reset(s, s->best, e) < 0 ||
        run_once(s, member[task].start, closed(s) ? 1 : 1 << wave, (uint64_t)(wave * TASKS + task + 1), e) < 0)
        return -1;
    put_score(s, task);
    if (best_order(s->p, found(s)->value, found(s)->efficiency, *champion_value, champion, s->sorted)) {
        memcpy(champion, found(s)->efficiency, (size_t)s->p->njob * sizeof *champion);
        *champion_value = found(s)->value;
        routes_free(s->mine);
        s->mine = found(s)->routes;
        found(s)->routes = NULL;
        s->best_task = task;
    }
    return 0;
}

static int run_tasks(struct pin *s, int32_t wave, struct err *e)
{
    double *champion = array(s->p->njob, sizeof *champion), value = s->value;
    if (!champion)
        return fail(e, E_MEMORY, "out of memory for %d jobs", s->p->njob);
    memcpy(champion, s->efficiency, (size_t)s->p->njob * sizeof *champion);
    int rc = 0;
    for (int32_t task = s->comm->rank; rc == 0 && task < TASKS && !s->cut_short; task += s->comm->size)
        rc = run_task(s, wave, task, champion, &value, e);
    free(champion);
    return rc;
}

/* ---- between the ranks ---- */

/* Rank 0's best to all ranks, with its score. */
static int share_best(struct pin *s, struct err *e)
{
    int64_t n = 0;
    char *data = NULL;
    int rc = 0;
    if (s->comm->rank == 0)
        rc = (data = pack(s->best, &n, e)) ? 0 : -1;
    if (comm_agree(s->comm, rc, e) < 0 || comm_share(s->comm, &data, &n, e) < 0) {
        free(data);
        return -1;
    }
    if (s->comm->rank != 0) {
        routes_free(s->best);
        s->best = unpack(s->p->nflow, data, e);
        rc = s->best ? 0 : -1;
    }
    free(data);
    if (rc == 0) {
        rc = reset(s, s->best, e);
        if (rc == 0) {
            memcpy(s->efficiency, found(s)->efficiency, (size_t)s->p->njob * sizeof *s->efficiency);
            s->value = found(s)->value;
        }
    }
    return comm_agree(s->comm, rc, e);
}

/* Rank 0 looks at its clock and the caller's wish; everyone learns what is left of the time, and whether to go on. */
static int go_on(struct pin *s, int32_t wave, int *on, struct err *e)
{
    double left = s->goal->deadline - s->comm->now(s->comm);
    struct {
        double left;
        int64_t on, final, fill;
    } word = { left, 0, s->final, s->fill };
    if (s->comm->rank == 0) {
        if (ask_stop(s))
            s->cut_short = 1;
        int enough = s->final || (closed(s) && s->p->options.objective == OBJ_MAX_UTILIZATION);
        word.on = wave < WAVES && !enough && !s->cut_short;
    }
    if (s->comm->bcast(s->comm, &word, sizeof word, e) < 0)
        return -1;
    *on = (int)word.on;
    s->final = (int)word.final;
    s->fill = word.fill;
    if (s->comm->rank != 0)
        s->until = s->comm->now(s->comm) + word.left;
    return 0;
}

/* Task number of the best score of the wave, -1 when none improves on the shared best. */
static int32_t winner(struct pin *s)
{
    int32_t n = s->p->njob, best = -1;
    const double *before = s->efficiency;
    double old = s->value;
    for (int32_t task = 0; task < TASKS; task++) {
        const int64_t *row = s->score + (int64_t)task * (n + 2);
        double value, *efficiency = s->trial + (before == s->trial ? n : 0); /* the half that the best does not use */
        memcpy(&value, row, sizeof value);
        if (n > 0)
            memcpy(efficiency, row + 2, (size_t)n * sizeof *efficiency);
        if (!(value > 0) || !best_order(s->p, value, efficiency, old, before, s->sorted))
            continue;
        best = task;
        old = value;
        before = efficiency;
        s->final = (int)row[1];
    }
    return best;
}

/* The winner's routes to rank 0. */
static int fetch(struct pin *s, int32_t task, struct err *e)
{
    char *data = NULL, *all = NULL;
    int64_t bytes = 0, *first = NULL;
    int rc = 0;
    if (s->comm->rank == 0)
        rc = (first = array((int64_t)s->comm->size + 1, sizeof *first)) ? 0 : fail(e, E_MEMORY, "out of memory");
    if (rc == 0 && s->best_task == task)
        rc = (data = pack(s->mine, &bytes, e)) ? 0 : -1;
    rc = comm_agree(s->comm, rc, e);
    if (rc == 0)
        rc = s->comm->gather(s->comm, data, bytes, s->comm->rank == 0 ? &all : NULL, first, e);
    if (rc == 0 && s->comm->rank == 0) {
        struct routes *r = unpack(s->p->nflow, all, e);
        if (r) {
            routes_free(s->best);
            s->best = r;
        }
        rc = r ? 0 : -1;
    }
    free(data);
    free(all);
    free(first);
    return comm_agree(s->comm, rc, e);
}

static int wave_of_tasks(struct pin *s, int32_t wave, int *improved, struct err *e)
{
    int64_t n = (int64_t)TASKS * (s->p->njob + 2), *flag = s->score + n;
    memset(s->score, 0, (size_t)(n + 3) * sizeof *s->score);
    s->best_task = -1;
    int rc = run_tasks(s, wave, e);
    flag[0] = rc < 0;
    flag[1] = s->cut_short;
    if (s->comm->sum(s->comm, s->score, n + 2, e) < 0)
        return -1;
    if (flag[0] > 0)
        return rc < 0 ? rc : fail(e, E_COMM, "%lld other ranks failed", (long long)flag[0]);
    s->cut_short = flag[1] > 0;
    int32_t best = winner(s);
    *improved = best >= 0;
    if (best < 0)
        return 0;
    rc = fetch(s, best, e);
    routes_free(s->mine);
    s->mine = NULL;
    return rc < 0 ? rc : share_best(s, e);
}

static void report(const struct pin *s, int64_t round)
{
    if (s->comm->rank != 0 || !s->hooks || !s->hooks->report)
        return;
    struct progress row = { .phase = "pin", .round = round, .value = s->value, .bound = s->goal->bound };
    row.gap = plan_gap(row.bound, row.value);
    s->hooks->report(s->hooks->context, &row);
}

static int prepare(struct pin *s, const struct pods *pods, struct err *e)
{
    const struct problem *p = s->p;
    s->lanes = lanes_new(p, e);
    if (!s->lanes || !(s->cover = cover_new(p, pods, e)) || colour_new(s->lanes, &s->colour, e) < 0 ||
        !(s->climb = climb_new(p, s->lanes, s->cover, s->colour, e)))
        return -1;
    if (p->options.paths_per_flow > 1 && p->options.objective == OBJ_JOB_FAIR && !(s->spread = spread_new(s->climb, e)))
        return -1;
    s->climb->stop = (struct eject_stop){ .ask = ask_stop, .context = s };
    if (s->spread)
        s->spread->stop = s->climb->stop;
    s->efficiency = array(p->njob, sizeof *s->efficiency);
    s->sorted = array(2 * (int64_t)p->njob, sizeof *s->sorted);
    s->trial = array(2 * (int64_t)p->njob, sizeof *s->trial);
    s->score = array((int64_t)TASKS * (p->njob + 2) + 3, sizeof *s->score);
    if (!s->efficiency || !s->sorted || !s->trial || !s->score)
        return fail(e, E_MEMORY, "out of memory for %d jobs", p->njob);
    return 0;
}

static int run(struct pin *s, struct err *e)
{
    int rc = s->comm->rank == 0 ? first_wave(s, e) : 0, on = 1, idle = 0;
    if (comm_agree(s->comm, rc, e) < 0 || share_best(s, e) < 0)
        return -1;
    report(s, 0);
    for (int32_t wave = 0;; wave++) {
        int improved = 0;
        if (go_on(s, wave, &on, e) < 0)
            return -1;
        if (!on || idle == (closed(s) || s->spread ? 1 : 2) || (closed(s) && wave == RAISES))
            break;
        if (wave_of_tasks(s, wave, &improved, e) < 0)
            return -1;
        idle = improved ? 0 : idle + 1;
        report(s, wave + 1);
    }
    int64_t total[2] = { s->steps, s->cut_short };
    if (s->comm->sum(s->comm, total, 2, e) < 0)
        return -1;
    s->steps = total[0];
    s->cut_short = total[1] > 0;
    return 0;
}

int pin_solve(const struct problem *p, const struct pods *pods, struct comm *c, const struct pin_goal *goal,
              const struct hooks *hooks, struct pin_result *out, struct err *e)
{
    struct pin s = { .p = p, .comm = c, .goal = goal, .hooks = hooks, .until = goal->deadline, .best_task = -1 };
    int rc = comm_agree(c, prepare(&s, pods, e), e);
    if (rc == 0)
        rc = run(&s, e);
    if (rc == 0) {
        *out = (struct pin_result){ .value = s.value, .steps = s.steps, .cut_short = s.cut_short };
        if (c->rank == 0) {
            out->routes = s.best;
            s.best = NULL;
        }
    }
    routes_free(s.best);
    routes_free(s.mine);
    spread_free(s.spread);
    climb_free(s.climb);
    colour_free(s.colour);
    cover_free(s.cover);
    lanes_free(s.lanes);
    free(s.efficiency);
    free(s.sorted);
    free(s.trial);
    free(s.score);
    return rc;
}
