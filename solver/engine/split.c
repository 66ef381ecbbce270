#include "solver/engine/split_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWITCH_ROUND = 400, /* from exponential prices to the augmented Lagrangian at the latest */
    CRAWL_ROUNDS = 4,   /* a gap that is not below CRAWL times that of so many rounds before crawls */
    PLAIN_ROUNDS = 4,   /* disjoint paths: how often prices are judged by plain distances as well */
    RENEW_ROUNDS = 32,  /* loads are summed afresh from the shares, against the drift of 2^-41 a move */
};
static const double SWITCH_GAP = 0.01, CRAWL_GAP = 0.3, CRAWL = 0.75; /* below CRAWL_GAP a crawl is reason to switch */
static const double WARM_GAP = 0.2; /* above it old multipliers are dropped for exponential prices */
static const double RATE = 20;      /* first penalty, in 1 / value; 3 does as well */
static const double BALANCE = 1.25; /* its factor when one side of the gap is twice the other */
static const double SPARSE = 1e-10; /* prices below this part of the mean distance count as 0 in a proof */

static int new_arcs(struct split *s)
{
    const struct fabric *f = s->p->fabric;
    int64_t n = s->narc;
    s->icap = array(n, sizeof *s->icap);
    s->load = array(n, sizeof *s->load);
    s->r = array(n, sizeof *s->r);
    s->w = array(n, sizeof *s->w);
    s->price = array(n, sizeof *s->price);
    s->length = array(n, sizeof *s->length);
    s->proof = array(n, sizeof *s->proof);
    s->plain = array(s->p->options.policy == PATHS_DISJOINT ? n : 0, sizeof *s->plain);
    s->delta = array(n, sizeof *s->delta);
    s->side = array(n, sizeof *s->side);
    s->line_arc = array(n, sizeof *s->line_arc);
    s->line_step = array(n, sizeof *s->line_step);
    s->line_w = array(n, sizeof *s->line_w);
    s->line_r = array(n, sizeof *s->line_r);
    s->line_v = array(n, sizeof *s->line_v);
    s->dirty = array((n + 63) / 64, sizeof *s->dirty);
    s->slot = array((int64_t)s->pods->npod + SLOTS, sizeof *s->slot);
    if (!s->icap || !s->load || !s->r || !s->w || !s->price || !s->length || !s->proof || !s->plain || !s->delta ||
        !s->side || !s->line_arc || !s->line_step || !s->line_w || !s->line_r || !s->line_v || !s->dirty || !s->slot)
        return -1;
    for (int32_t a = 0; a < s->narc; a++)
        if (f->live[a]) {
            s->icap[a] = 1 / f->cap[a];
            s->nlive++;
        }
    return 0;
}

static int new_touched(struct touched *t, int32_t narc)
{
    t->arc = array(narc, sizeof *t->arc);
    t->load = array(narc, sizeof *t->load);
    t->price = array(narc, sizeof *t->price);
    t->mark = array(narc, sizeof *t->mark);
    return t->arc && t->load && t->price && t->mark ? 0 : -1;
}

static void free_touched(struct touched *t)
{
    free(t->arc);
    free(t->load);
    free(t->price);
    free(t->mark);
}

void split_free(struct split *s)
{
    if (!s)
        return;
    split_ways_free(s);
    split_core_free(&s->core);
    free_touched(&s->touched);
    void *owned[] = { s->com,    s->block,  s->flow_at, s->flow,  s->trace, s->icap,      s->load,     s->r,
                      s->w,      s->price,  s->length,  s->proof, s->delta, s->side,      s->line_arc, s->line_step,
                      s->line_w, s->line_r, s->slot,    s->dirty, s->moved, s->flow_load, s->line_v,   s->plain };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(s);
}

static int build(struct split *s, struct err *e)
{
    if (new_arcs(s) < 0 || new_touched(&s->touched, s->narc) < 0)
        return fail(e, E_MEMORY, "out of memory for the prices of %d arcs", s->narc);
    if (split_core(s, e) < 0 || split_merge(s, e) < 0)
        return -1;
    s->trace = array((int64_t)s->core.nnode + 2, sizeof *s->trace);
    if (!s->trace)
        return fail(e, E_MEMORY, "out of memory for paths of %d nodes", s->core.nnode);
    return split_ways_start(s, e);
}

/* The chunks of a pass, from the number of commodities in every block. */
static int agree_on_chunks(struct split *s, struct err *e)
{
    int64_t all = 0;
    for (int32_t b = s->own; b < s->end; b++)
        s->slot[b] = s->block[b - s->own + 1] - s->block[b - s->own];
    if (s->comm->sum(s->comm, s->slot, s->pods->npod, e) < 0)
        return -1;
    for (int32_t b = 0; b < s->pods->npod; b++)
        all += s->slot[b];
    return comm_agree(s->comm, split_chunks(s, all, e), e);
}

struct split *split_new(const struct problem *p, const struct pods *pods, struct comm *c, struct err *e)
{
    struct split *s = array(1, sizeof *s);
    int rc = s ? 0 : fail(e, E_MEMORY, "out of memory");
    if (s) {
        s->p = p;
        s->pods = pods;
        s->comm = c;
        s->narc = p->fabric->narc;
        s->own = pods_begin(pods, c->rank, c->size);
        s->end = pods_begin(pods, c->rank + 1, c->size);
        rc = build(s, e);
    }
    if (comm_agree(c, rc, e) < 0 || agree_on_chunks(s, e) < 0) {
        split_free(s);
        return NULL;
    }
    return s;
}

/* Multiply the unit by 2^-k: exact, so that nothing else changes. */
static void shift_unit(struct split *s, int k)
{
    double f = ldexp(1, k);
    s->unit /= f;
    s->total *= f;
    for (int32_t i = 0; i < s->ncom; i++)
        s->com[i].load *= f;
    if (!s->rule.exponential)
        s->rule.rate /= f;
    s->level *= f;
    s->rule.level *= f;
    s->top *= f;
    s->value *= f;
    s->bound *= f;
    s->claim *= f;
}

/* Demands in the unit in which the largest relative load of the present shares lies in [1, 2) or so. */
static int start_unit(struct split *s, double sum, struct err *e)
{
    enum { TRIES = 80, FAR = 30 };
    double thin = 0;
    int k;
    for (int32_t a = 0; a < s->narc; a++)
        thin = s->icap[a] > thin ? s->icap[a] : thin;
    if (!isfinite(sum * thin))
        return fail(e, E_INPUT, "demands of %g Gb/s in all over a capacity of %g Gb/s are out of range", sum, 1 / thin);
    frexp(sum * thin, &k); /* no relative load is above this */
    s->unit = 1;
    s->total = sum;
    shift_unit(s, -k);
    for (int i = 0; i < TRIES; i++) {
        if (split_loads(s, 0, e) < 0)
            return -1;
        frexp(s->top, &k);
        if (s->top >= 0.9 && s->top < 2.1) /* rounding at either end must not send it back and forth */
            return 0;
        shift_unit(s, s->top > 1.0 / (1 << FAR) ? 1 - k : FAR);
    }
    return fail(e, E_INPUT, "demands and capacities are too far apart");
}

/* s->length and the sum of its multipliers, from the prices of this round. */
static double take_prices(struct split *s)
{
    double sum = 0, kept = 0;
    if (s->rule.exponential) {
        sum = prices_fill(&s->rule, s->narc, s->w, s->r, s->icap, s->length);
    } else {
        for (int32_t a = 0; a < s->narc; a++) {
            s->length[a] = s->w[a] * s->icap[a];
            sum += s->w[a];
        }
    }
    double least = SPARSE * sum * s->value / s->total;
    for (int32_t a = 0; a < s->narc; a++) {
        if (s->length[a] < least)
            s->length[a] = 0;
        kept += s->length[a] * s->p->fabric->cap[a];
    }
    return kept;
}

/* What all ranks learn from one another once a round. */
struct news {
    double bound;
    int64_t columns, stop;
};

static int evaluate(struct split *s, enum ways_job job, double tolerance, int64_t stop, struct news *n, struct err *e)
{
    int32_t npod = s->pods->npod;
    double sum = 0, multipliers = job == WAYS_PLAIN ? 0 : take_prices(s);
    memset(s->slot, 0, ((size_t)npod + SLOTS) * sizeof *s->slot);
    int rc = split_ways_price(s, job, tolerance, &s->slot[npod + SLOT_COLUMNS], e);
    s->slot[npod + SLOT_FAILED] = rc < 0;
    s->slot[npod + SLOT_STOP] = stop;
    if (s->comm->sum(s->comm, s->slot, (int64_t)npod + SLOTS, e) < 0)
        return -1;
    if (s->slot[npod + SLOT_FAILED] > 0)
        return rc < 0 ? -1 : fail(e, E_COMM, "%lld other ranks failed", (long long)s->slot[npod + SLOT_FAILED]);
    for (int32_t b = 0; b < npod; b++) {
        double part;
        memcpy(&part, &s->slot[b], sizeof part);
        sum += part;
    }
    if (job == WAYS_PLAIN)
        for (int32_t a = 0; a < s->narc; a++)
            multipliers += s->length[a] * s->p->fabric->cap[a];
    *n = (struct news){ multipliers > 0 ? sum / multipliers : 0, s->slot[npod + SLOT_COLUMNS],
                        s->slot[npod + SLOT_STOP] };
    return 0;
}

static double gap_of(const struct split *s)
{
    return s->value > 0 ? (s->value - s->bound) / s->value : 0;
}

/* What the prices in s->length prove without the policy's own paths, for those who judge by plain distances. */
static int look_plainly(struct split *s, struct err *e)
{
    struct news n;
    if (evaluate(s, WAYS_PLAIN, 0, 0, &n, e) < 0)
        return -1;
    if (n.bound > s->claim) {
        s->claim = n.bound;
        memcpy(s->plain, s->length, (size_t)s->narc * sizeof *s->plain);
    }
    return 0;
}

/* Bound and new ways under the prices of this round. */
static int look(struct split *s, const struct split_goal *goal, const struct hooks *hooks, int64_t *stop, struct err *e)
{
    /* A way that is cheaper by less hardly moves the value, and is found again when the prices sharpen. */
    double tolerance = goal->gap >= 1e-5 ? 1e-3 : 1e-7;
    struct news n;
    int64_t want = 0;
    if (s->comm->rank == 0 && hooks && hooks->stop && hooks->stop(hooks->context))
        want = SPLIT_CANCELLED;
    else if (s->comm->rank == 0 && isfinite(goal->deadline) && s->comm->now(s->comm) > goal->deadline)
        want = SPLIT_DEADLINE;
    if (evaluate(s, WAYS_COLUMNS, tolerance, want, &n, e) < 0)
        return -1;
    if (n.bound > s->bound) {
        s->bound = n.bound;
        memcpy(s->proof, s->length, (size_t)s->narc * sizeof *s->proof);
    }
    *stop = n.stop;
    if (s->p->options.policy == PATHS_DISJOINT)
        return s->rounds % PLAIN_ROUNDS == 0 ? look_plainly(s, e) : 0;
    s->claim = s->bound;
    return 0;
}

static void keep_if_best(struct split *s)
{
    if (!(s->top < s->value))
        return;
    s->value = s->top;
    for (int64_t y = 0; y < s->nway; y++)
        s->way[y].best = s->way[y].share;
}

/* Exponential prices are the best start, and best while paths are missing; near the end they crawl. */
static int exhausted(struct split *s, int64_t round)
{
    double gap = gap_of(s);
    int crawls = 0;
    if (round % CRAWL_ROUNDS == 0) {
        crawls = gap < CRAWL_GAP && gap > CRAWL * s->mark;
        s->mark = gap;
    }
    return gap < SWITCH_GAP || crawls || round >= SWITCH_ROUND;
}

/* The penalty of this round: sharper with the gap, or balanced between the two sides of it. */
static int new_rule(struct split *s, int64_t round, struct err *e)
{
    if (s->rule.exponential && exhausted(s, round)) {
        if (split_multipliers(s, e) < 0)
            return -1;
        s->rule = (struct rule){ .rate = RATE / s->value, .level = s->top };
        s->level = s->top;
    } else if (s->rule.exponential) {
        double sharp = fmin(0.4, fmax(1e-9, gap_of(s) / 3));
        s->rule.rate = prices_log(s->nlive > 2 ? s->nlive : 2) / (sharp * s->value);
        s->rule.level = s->top;
    } else {
        double primal = s->top - s->level, dual = s->level - s->bound;
        s->rule.rate *= primal > 2 * dual ? BALANCE : dual > 2 * primal ? 1 / BALANCE : 1;
    }
    return 0;
}

static int step(struct split *s, int64_t round, struct err *e)
{
    int renew = round % RENEW_ROUNDS == 0;
    for (; s->value > 0 && s->value < 0.25; renew = 1)
        shift_unit(s, 2);
    if (renew && split_loads(s, 0, e) < 0)
        return -1;
    if (new_rule(s, round, e) < 0 || split_pass(s, e) < 0)
        return -1;
    keep_if_best(s);
    return s->rule.exponential ? 0 : split_multipliers(s, e);
}

static void report(const struct split *s, const struct hooks *hooks, double began)
{
    if (s->comm->rank != 0 || !hooks || !hooks->report)
        return;
    struct progress row = { .phase = "split",
                            .round = s->rounds,
                            .value = s->value * s->unit,
                            .bound = s->claim * s->unit,
                            .gap = s->value > 0 ? (s->value - s->claim) / s->value : 0,
                            .seconds = s->comm->now(s->comm) - began };
    hooks->report(hooks->context, &row);
}

/* Loads, units and the first rule of a run; 1 when there is nothing to route. */
static int start(struct split *s, const double *load, struct err *e)
{
    double sum = split_demand(s, load);
    s->rounds = 0;
    s->value = s->bound = s->claim = 0;
    s->mark = 1;
    memset(s->proof, 0, (size_t)s->narc * sizeof *s->proof);
    if (s->p->options.policy == PATHS_DISJOINT)
        memset(s->plain, 0, (size_t)s->narc * sizeof *s->plain);
    if (!(sum > 0)) {
        s->unit = 1;
        return 1;
    }
    if (start_unit(s, sum, e) < 0)
        return -1;
    s->value = s->top;
    for (int64_t y = 0; y < s->nway; y++)
        s->way[y].best = s->way[y].share;
    s->level = s->top;
    s->rule = (struct rule){ .exponential = !s->warm, .rate = s->warm / s->value, .level = s->top };
    return s->warm > 0 ? 0 : new_rule(s, 0, e);
}

/* The best shares become the present ones; the value is summed afresh from them. */
static int finish(struct split *s, struct err *e)
{
    for (int64_t y = 0; y < s->nway; y++)
        s->way[y].share = s->way[y].best;
    s->warm = s->rule.exponential ? 0 : s->rule.rate * s->value;
    if (split_loads(s, 1, e) < 0)
        return -1;
    s->value = s->top;
    if (s->p->options.policy != PATHS_DISJOINT)
        return 0;
    memcpy(s->length, s->proof, (size_t)s->narc * sizeof *s->length);
    return look_plainly(s, e);
}

static int coordinate(struct split *s, const struct split_goal *goal, const struct hooks *hooks, enum split_end *end,
                      struct err *e)
{
    double began = s->comm->now(s->comm);
    for (;;) {
        int64_t stop;
        if (look(s, goal, hooks, &stop, e) < 0)
            return -1;
        if (s->warm > 0 && s->rounds == 0 && gap_of(s) > WARM_GAP) /* the old multipliers are of no use */
            s->rule.exponential = 1;
        report(s, hooks, began);
        int reached = gap_of(s) <= goal->gap || s->value * s->unit <= goal->enough;
        if (reached || stop || s->rounds >= goal->rounds) {
            *end = reached ? SPLIT_GAP : stop ? (enum split_end)stop : SPLIT_ROUNDS;
            return 0;
        }
        s->rounds++;
        if (step(s, s->rounds, e) < 0)
            return -1;
    }
}

int split_run(struct split *s, const double *load, const struct split_goal *goal, const struct hooks *hooks,
              struct split_result *out, struct err *e)
{
    *out = (struct split_result){ .end = SPLIT_GAP,
                                  .price = s->p->options.policy == PATHS_DISJOINT ? s->plain : s->proof };
    int rc = start(s, load, e);
    if (rc < 0)
        return -1;
    if (rc == 0 && (coordinate(s, goal, hooks, &out->end, e) < 0 || finish(s, e) < 0))
        return -1;
    out->z = s->value * s->unit;
    out->bound = s->claim * s->unit;
    out->rounds = s->rounds;
    return 0;
}
