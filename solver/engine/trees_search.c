/* The search over forwarding trees: a violated arc, the best move of one of its units, weights that remember. */
#include "solver/engine/trees_part.h"

enum {
    SAMPLE = 24,  /* units tried on a violated arc */
    REST = 8,     /* steps that a moved unit rests, and up to as many more, plus violated / 4 */
    DECAY = 1024, /* steps between decays of the weights */
    ASK = 64,     /* steps between questions to the outside */
};
static const double RISE = .5, FALL = .7; /* dynamic weights (method.md part 4) */
static const double SAME = 1e-12;

/* Up to SAMPLE of the units on arc a. */
static int32_t sample(const struct trees *t, struct rng *rng, int32_t a, int32_t *unit)
{
    int32_t n = 0, seen = 0;
    for (int32_t s = t->head[a]; s >= 0; s = t->slot_next[s], seen++) {
        int32_t at = n < SAMPLE ? n++ : rng_below(rng, seen + 1);
        if (at < SAMPLE)
            unit[at] = s / t->longest;
    }
    return n;
}

static int uses(const int32_t *arc, int32_t n, int32_t a)
{
    for (int32_t i = 0; i < n; i++)
        if (arc[i] == a)
            return 1;
    return 0;
}

struct choice {
    struct trees_cost cost;
    int32_t unit;
    int64_t way;
};

/* The best way for unit g off arc a. best: the least excess seen so far, which a resting unit must beat. */
static void try_unit(struct trees *t, int32_t g, int32_t a, double best, struct choice *c)
{
    int32_t pair = t->pair[g], n = t->whops[pair], resting = t->tabu[g] > t->step;
    struct trees_cost saved = trees_try(t, g);
    for (int64_t w = t->wfirst[pair]; w < t->wfirst[pair + 1]; w++) {
        const int32_t *arc = t->warc + w * t->longest;
        if (uses(arc, n, a))
            continue;
        struct trees_cost x = trees_price(t, g, arc, n, &saved);
        if (resting && !(t->excess + x.plain < best - SAME))
            continue;
        if (c->unit < 0 || trees_cheaper(&x, &c->cost))
            *c = (struct choice){ x, g, w };
    }
}

static void raise_weights(struct trees *t)
{
    for (int32_t i = 0; i < t->nviolated; i++)
        t->weight[t->violated[i]] += RISE;
}

static void lower_weights(struct trees *t)
{
    for (int32_t a = 0; a < t->narc; a++)
        t->weight[a] = 1 + FALL * (t->weight[a] - 1);
}

static void one_step(struct trees *t, struct rng *rng, double best)
{
    int32_t unit[SAMPLE], a = t->violated[rng_below(rng, t->nviolated)];
    int32_t n = sample(t, rng, a, unit);
    struct choice c = { .unit = -1 };
    for (int32_t i = 0; i < n; i++)
        try_unit(t, unit[i], a, best, &c);
    t->step++;
    if (t->step % DECAY == 0)
        lower_weights(t);
    if (c.unit < 0 || !(c.cost.weighted < -SAME))
        raise_weights(t);
    if (c.unit < 0)
        return;
    trees_place(t, c.unit, t->warc + c.way * t->longest, t->whops[t->pair[c.unit]]);
    t->tabu[c.unit] = t->step + REST + rng_below(rng, REST + 1) + t->nviolated / 4;
}

int trees_search(struct trees *t, struct rng *rng, int64_t steps, int64_t work_end, struct trees_stop *stop)
{
    double best = t->excess;
    int64_t end = t->step + steps;
    while (t->nviolated > 0 && t->step < end && t->work < work_end && !stop->stopped) {
        one_step(t, rng, best);
        if (t->excess < best)
            best = t->excess;
        if (t->step % ASK == 0 && stop->ask && stop->ask(stop->context))
            stop->stopped = 1;
    }
    return t->nviolated == 0;
}
