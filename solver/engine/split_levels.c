/* split_levels: job_fair with split routes. Max-min over jobs, level by level: the free jobs rise together (job j to
 * t w_j) until prices y prove that they cannot, then those that the prices hold are frozen, and the others go on.
 * With D_j = w_j sum over the job's flows of r_f dist_y(f), y scaled so that sum u y = 1, and F frozen, U free:
 *     t <= (1 - sum_F t_j D_j) / sum_U D_j
 * which is Newton's step on the largest t whose loads fit, from above. Every step is a run from the shares and
 * multipliers of the one before. A job of the level is frozen when D_j is so large that the slack of the bound would
 * not lift it.
 */
#include "solver/engine/split_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 80 };              /* runs of one level, at most */
static const double HELD = 1e-3;  /* a job that the proof lets rise by no more than this is frozen */
static const double THIN = 1e-3;  /* a proof with less weight on the free jobs gives no guess for the next level */
static const double SHARP = 1e-3; /* accuracy of the inner runs in terms of the gap asked for, within these limits: */
static const double SHARPEST = 1e-7, BLUNTEST = 1e-5;

enum job_state { JOB_FREE, JOB_HELD, JOB_IDLE };

/* What prices say about one level. */
struct proof {
    double bound;   /* on t */
    double *price;  /* [narc] */
    double *weight; /* [njob] D_j */
};

struct climb {
    struct split *s;
    const struct split_goal *goal;
    struct hooks inner; /* of the runs: pass on to the caller's, told */
    const struct hooks *told;
    double began;
    int64_t rounds;
    double z;            /* of the last run */
    double value, bound; /* of the first run, in terms of z: what the caller hears */
    double *t;           /* [njob] e_j / w_j: of frozen jobs; of the others in the last run */
    uint8_t *state;      /* [njob] enum job_state */
    double *load;        /* [nflow] */
    int64_t *part;       /* [njob] scratch */
    int32_t *job;        /* [njob] scratch */
    int32_t nfree;
    double room;                   /* largest relative load accepted so far: 1 or a hair more */
    struct proof now, best;        /* of the last run, and the lowest bound of this level */
    double *kept, *kept_t, kept_z; /* [nkept] shares, [njob] t, and largest load of the last accepted run */
    int64_t nkept, kept_room;
    struct {
        double frozen, free;
    } * sum; /* per level: sum_F t_j D_j, sum_U D_j */
    int64_t sum_room, level_room;
    struct split_levels *out;
};

static int open_climb(struct climb *c)
{
    const struct problem *p = c->s->p;
    int64_t n = c->s->narc;
    c->t = array(p->njob, sizeof *c->t);
    c->state = array(p->njob, sizeof *c->state);
    c->load = array(p->nflow, sizeof *c->load);
    c->part = array(p->njob, sizeof *c->part);
    c->job = array(p->njob, sizeof *c->job);
    c->kept_t = array(p->njob, sizeof *c->kept_t);
    c->now.price = array(n, sizeof *c->now.price);
    c->best.price = array(n, sizeof *c->best.price);
    c->now.weight = array(p->njob, sizeof *c->now.weight);
    c->best.weight = array(p->njob, sizeof *c->best.weight);
    return c->t && c->state && c->load && c->part && c->job && c->kept_t && c->now.price && c->best.price &&
                   c->now.weight && c->best.weight
               ? 0
               : -1;
}

static void close_climb(struct climb *c)
{
    void *owned[] = { c->t,    c->state, c->load,      c->part,       c->job,        c->kept_t,
                      c->kept, c->sum,   c->now.price, c->best.price, c->now.weight, c->best.weight };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* The caller hears of the first run; its value and bound stay while the levels above are found. */
static void tell(void *context, const struct progress *row)
{
    struct climb *c = context;
    struct progress mine = *row;
    if (!c->told || !c->told->report)
        return;
    mine.round = c->rounds + row->round;
    mine.seconds = c->s->comm->now(c->s->comm) - c->began;
    if (c->value > 0) {
        mine.phase = "levels";
        mine.value = c->value;
        mine.bound = c->bound;
        mine.gap = (c->value - c->bound) / c->value;
    }
    c->told->report(c->told->context, &mine);
}

static int asked_to_stop(void *context)
{
    const struct climb *c = context;
    return c->told && c->told->stop && c->told->stop(c->told->context);
}

/* weight[j] = D_j under prices; t and the loads are those of the last run. */
static int weigh(struct climb *c, struct proof *q, int plain, struct err *e)
{
    double scale = 0x1p50 / c->z; /* the parts add up to z at most; sums of int64_t have no order */
    if (split_parts(c->s, q->price, plain, scale, c->part, e) < 0)
        return -1;
    for (int32_t j = 0; j < c->s->p->njob; j++)
        q->weight[j] = c->state[j] == JOB_IDLE ? 0 : (double)c->part[j] / scale / c->t[j];
    return 0;
}

static void add_up(const struct climb *c, const double *weight, double *frozen, double *free_sum)
{
    *frozen = *free_sum = 0;
    for (int32_t j = 0; j < c->s->p->njob; j++) {
        if (c->state[j] == JOB_HELD)
            *frozen += c->t[j] * weight[j];
        else if (c->state[j] == JOB_FREE)
            *free_sum += weight[j];
    }
}

/* One run with the free jobs at t, and what its prices prove. */
static int run(struct climb *c, double t, double gap, struct split_result *r, struct err *e)
{
    const struct problem *p = c->s->p;
    struct split_goal goal = { gap, c->goal->rounds - c->rounds, c->goal->deadline };
    double frozen, free_sum;
    for (int32_t j = 0; j < p->njob; j++) {
        if (c->state[j] == JOB_FREE)
            c->t[j] = t;
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++)
            c->load[f] = c->t[j] * p->job_weight[j] * p->need[f];
    }
    if (split_run(c->s, c->load, &goal, &c->inner, r, e) < 0)
        return -1;
    c->rounds += r->rounds;
    c->z = r->z;
    memcpy(c->now.price, c->s->proof, (size_t)c->s->narc * sizeof *c->now.price);
    if (weigh(c, &c->now, 0, e) < 0)
        return -1;
    add_up(c, c->now.weight, &frozen, &free_sum);
    c->now.bound = free_sum > 0 ? (c->room - frozen) / free_sum : INFINITY;
    if (c->now.bound > 0 && c->now.bound < c->best.bound) {
        struct proof swap = c->best;
        c->best = c->now;
        c->now = swap;
    }
    return 0;
}

/* The shares of the last run are those to return if nothing better comes; its loads, scaled, reach t and z. */
static int keep(struct climb *c, double t, double z, struct err *e)
{
    struct split *s = c->s;
    void *kept = c->kept;
    int rc = array_grow(&kept, &c->kept_room, s->nway, sizeof *c->kept);
    c->kept = kept;
    if (rc < 0)
        fail(e, E_MEMORY, "out of memory for %lld shares", (long long)s->nway);
    if (comm_agree(s->comm, rc, e) < 0)
        return -1;
    c->nkept = s->nway;
    for (int64_t y = 0; y < s->nway; y++)
        c->kept[y] = s->way[y].best;
    for (int32_t j = 0; j < s->p->njob; j++)
        c->kept_t[j] = c->state[j] == JOB_FREE ? t : c->t[j];
    c->kept_z = z;
    c->room = z > c->room ? z : c->room;
    return 0;
}

/* The t at which the first free job has all it asks for. With bytes the NICs see to it. */
static double ceiling(const struct climb *c)
{
    double least = INFINITY;
    for (int32_t j = 0; j < c->s->p->njob && c->s->p->kind == DEMAND_GBPS; j++)
        if (c->state[j] == JOB_FREE)
            least = fmin(least, 1 / c->s->p->job_weight[j]);
    return least;
}

/* The free jobs that the best proof holds at t, in job; none: the one that it holds most is in *most. */
static int32_t held(const struct climb *c, double t, int32_t *job, int32_t *most)
{
    double frozen, free_sum;
    int32_t n = 0;
    add_up(c, c->best.weight, &frozen, &free_sum);
    double slack = fmax(0, c->room - frozen - t * free_sum);
    *most = -1;
    for (int32_t j = 0; j < c->s->p->njob; j++) {
        if (c->state[j] != JOB_FREE)
            continue;
        if (*most < 0 || c->best.weight[j] > c->best.weight[*most])
            *most = j;
        if (c->best.weight[j] > 0 && slack <= HELD * t * c->best.weight[j])
            job[n++] = j;
    }
    return n;
}

/* The jobs of the level at t: those at their ceiling, or held by the proof, or, failing all, the one it holds most. */
static int32_t freeze(struct climb *c, double t, int32_t *job)
{
    int32_t most, n = 0;
    if (t >= ceiling(c)) {
        for (int32_t j = 0; j < c->s->p->njob; j++)
            if (c->state[j] == JOB_FREE && 1 / c->s->p->job_weight[j] <= t)
                job[n++] = j;
    } else {
        n = held(c, t, job, &most);
        if (n == 0)
            job[n++] = most;
    }
    for (int32_t i = 0; i < n; i++) {
        c->state[job[i]] = JOB_HELD;
        c->t[job[i]] = t;
    }
    c->nfree -= n;
    return n;
}

/* Room for one more level; its list is as long as the free jobs. price NULL: no proof. */
static struct level *new_level(struct climb *c, const double *price)
{
    struct split_levels *o = c->out;
    int64_t n = (int64_t)o->nlevel + 1;
    void *level = o->level, *sum = c->sum;
    int rc = array_grow(&level, &c->level_room, n, sizeof *o->level);
    o->level = level;
    if (rc == 0)
        rc = array_grow(&sum, &c->sum_room, n, sizeof *c->sum);
    c->sum = sum;
    if (rc < 0)
        return NULL;
    struct level *l = &o->level[o->nlevel];
    *l = (struct level){ .job = array(c->nfree, sizeof *l->job) };
    if (!l->job || (price && certificate_prices(&l->proof, c->best.bound, price, c->s->narc, NULL) < 0)) {
        free(l->job);
        return NULL;
    }
    o->nlevel++;
    return l;
}

/* State the best proof as the level at t and freeze its jobs; a climb that was stopped lists all free ones as they are.
 * The disjoint policy decides by its own paths, but a proof must hold by distances on the whole fabric. */
static int close_level(struct climb *c, double t, int stopped, struct err *e)
{
    int first = c->out->nlevel == 0, disjoint = c->s->p->options.policy == PATHS_DISJOINT;
    const double *price = first && disjoint ? c->s->plain : c->best.price, *weight = c->best.weight;
    if (!first && t >= ceiling(c)) /* the first level carries the headline's bound in any case */
        price = NULL;
    struct level *l = new_level(c, price);
    int rc = l ? 0 : fail(e, E_MEMORY, "out of memory for level %d", c->out->nlevel);
    if (comm_agree(c->s->comm, rc, e) < 0)
        return -1;
    if (disjoint && price) {
        memcpy(c->now.price, price, (size_t)c->s->narc * sizeof *c->now.price);
        if (weigh(c, &c->now, 1, e) < 0)
            return -1;
        weight = c->now.weight;
    }
    int32_t n = c->out->nlevel - 1;
    add_up(c, weight, &c->sum[n].frozen, &c->sum[n].free);
    if (!stopped)
        l->njob = freeze(c, t, l->job);
    for (int32_t j = 0; stopped && j < c->s->p->njob; j++)
        if (c->state[j] == JOB_FREE)
            l->job[l->njob++] = j;
    return 0;
}

static double inner_gap(const struct climb *c)
{
    return fmin(BLUNTEST, fmax(SHARPEST, SHARP * c->goal->gap));
}

/* The first level: loads have no frozen part, so one run gives it at any scale. */
static int first_level(struct climb *c, double *t, enum split_end *end, struct err *e)
{
    struct split_result r;
    c->best.bound = INFINITY;
    if (run(c, 1, inner_gap(c), &r, e) < 0)
        return -1;
    *end = r.end;
    *t = fmin(isfinite(c->best.bound) ? c->best.bound : 1 / r.z, ceiling(c));
    c->value = r.z;
    c->bound = r.bound;
    if (keep(c, *t, r.z * *t, e) < 0)
        return -1;
    return close_level(c, *t, *end != SPLIT_GAP, e);
}

/* Another level: the last run fits with the free jobs at *t. Newton from above; a guess that fits is raised. */
static int next_level(struct climb *c, double *t, enum split_end *end, struct err *e)
{
    double gap = inner_gap(c), low = *t, frozen, free_sum;
    struct split_result r;
    add_up(c, c->best.weight, &frozen, &free_sum);
    double guess = low * free_sum > THIN ? (c->room - frozen) / free_sum : INFINITY;
    double most = ceiling(c), at = fmax(low, fmin(isfinite(most) ? most : 2 * low, guess));
    c->best.bound = INFINITY;
    for (int i = 0; i < STEPS; i++) {
        if (run(c, at, gap, &r, e) < 0)
            return -1;
        int fits = r.z <= c->room * (1 + 2 * gap);
        if (fits) {
            low = at;
            if (keep(c, low, r.z, e) < 0)
                return -1;
        }
        *end = r.end;
        if (r.end != SPLIT_GAP)
            return 0;
        if (low >= most)
            break;
        if (c->best.bound <= low * (1 + gap)) {
            int32_t first, n = held(c, low, c->job, &first);
            if (n > 0 || gap <= SHARPEST)
                break;
            gap = SHARPEST; /* too blunt to say which jobs the level holds */
        }
        at = fits ? fmin(fmin(2 * low, most), c->best.bound) : c->best.bound < at ? c->best.bound : 0.5 * (low + at);
    }
    *t = low;
    return close_level(c, low, 0, e);
}

/* Rates, efficiencies and levels from the kept run. Everything is divided by its largest load. */
static int state_result(struct climb *c, double *efficiency, struct err *e)
{
    struct split *s = c->s;
    const struct problem *p = s->p;
    struct routes *r;
    for (int64_t y = 0; y < s->nway; y++)
        s->way[y].best = s->way[y].share = y < c->nkept ? c->kept[y] : 0;
    double most = p->kind == DEMAND_GBPS ? 1 : INFINITY;
    for (int32_t j = 0; j < p->njob; j++)
        efficiency[j] = c->state[j] == JOB_IDLE ? 1 : fmin(most, p->job_weight[j] * c->kept_t[j] / c->kept_z);
    for (int32_t i = 0; i < c->out->nlevel; i++) {
        struct level *l = &c->out->level[i];
        l->efficiency = INFINITY;
        for (int32_t n = 0; n < l->njob; n++)
            l->efficiency = fmin(l->efficiency, efficiency[l->job[n]] / p->job_weight[l->job[n]]);
        l->proof.bound =
            l->proof.kind == CERT_NONE ? l->efficiency : (1 - c->sum[i].frozen / c->kept_z) / c->sum[i].free;
    }
    if (split_routes(s, &r, e) < 0)
        return -1;
    for (int32_t f = 0; r && f < p->nflow; f++)
        for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
            r->gbps[i] = r->share[i] * efficiency[p->job[f]] * p->need[f];
    c->out->routes = r;
    return 0;
}

static void free_levels(struct split_levels *o)
{
    for (int32_t i = 0; i < o->nlevel; i++) {
        free(o->level[i].job);
        certificate_free(&o->level[i].proof);
    }
    free(o->level);
    o->level = NULL;
    o->nlevel = 0;
}

/* A job whose flows need nothing has efficiency 1 and no part in the levels. */
static void find_idle(struct climb *c)
{
    const struct problem *p = c->s->p;
    for (int32_t j = 0; j < p->njob; j++) {
        c->state[j] = JOB_IDLE;
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++)
            if (problem_routed(p, f) && p->need[f] > 0)
                c->state[j] = JOB_FREE;
        c->nfree += c->state[j] == JOB_FREE;
        c->t[j] = c->kept_t[j] = 0;
    }
}

static int climb_all(struct climb *c, double *efficiency, struct err *e)
{
    double t;
    find_idle(c);
    c->kept_z = 1;
    if (c->nfree > 0 && first_level(c, &t, &c->out->end, e) < 0)
        return -1;
    while (c->nfree > 0 && c->out->end == SPLIT_GAP)
        if (next_level(c, &t, &c->out->end, e) < 0)
            return -1;
    return state_result(c, efficiency, e);
}

int split_job_fair(struct split *s, const struct split_goal *goal, const struct hooks *hooks, double *efficiency,
                   struct split_levels *out, struct err *e)
{
    struct climb c = { .s = s, .goal = goal, .told = hooks, .out = out, .room = 1, .began = s->comm->now(s->comm) };
    c.inner = (struct hooks){ .context = &c, .report = tell, .stop = asked_to_stop };
    *out = (struct split_levels){ .end = SPLIT_GAP };
    int rc = open_climb(&c) < 0 ? fail(e, E_MEMORY, "out of memory for the levels of %d jobs", s->p->njob) : 0;
    rc = comm_agree(s->comm, rc, e);
    if (rc == 0)
        rc = climb_all(&c, efficiency, e);
    out->rounds = c.rounds;
    if (rc < 0) {
        routes_free(out->routes);
        out->routes = NULL;
    }
    if (rc < 0 || s->comm->rank != 0)
        free_levels(out);
    close_climb(&c);
    return rc;
}
