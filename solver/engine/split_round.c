/* split_round: every flow whole on one of its ways (or in paths_per_flow equal parts): the shares are probabilities,
 * and in place of drawing, each flow takes the way that leaves the least expected potential sum_a exp(rate * r_a),
 * where flows that are still to come count with their shares (the method of conditional expectations; Raghavan, Journal
 * of Computer and System Sciences 37, 1988). Largest flows first.
 */
#include "solver/engine/split_inner.h"

#include <stdlib.h>
#include <string.h>

struct turn {
    int32_t block, com, flow; /* flow: place in s->flow */
    double load;
    uint64_t lot; /* decides between flows of equal load */
};

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->load != y->load)
        return x->load > y->load ? -1 : 1;
    if (x->lot != y->lot)
        return x->lot < y->lot ? -1 : 1;
    return x->flow < y->flow ? -1 : 1;
}

struct rounding {
    struct split *s;
    struct turn *turn; /* [nflow of this rank], by block */
    int32_t *choice;   /* [nflow * parts] ways, by place in s->flow */
    int64_t *first;    /* [end - own + 1] turns of a block */
    int32_t parts;
    double rate;
};

static void close_rounding(struct rounding *q)
{
    free(q->turn);
    free(q->choice);
    free(q->first);
}

static int open_rounding(struct rounding *q, uint64_t seed)
{
    struct split *s = q->s;
    int64_t n = s->flow_at[s->ncom], i = 0;
    q->turn = array(n, sizeof *q->turn);
    q->choice = array(n * q->parts, sizeof *q->choice);
    q->first = array((int64_t)s->end - s->own + 1, sizeof *q->first);
    if (!q->turn || !q->choice || !q->first)
        return -1;
    for (int32_t b = s->own; b < s->end; b++) {
        for (int32_t k = s->block[b - s->own]; k < s->block[b - s->own + 1]; k++)
            for (int32_t f = (int32_t)s->flow_at[k]; f < s->flow_at[k + 1]; f++)
                q->turn[i++] =
                    (struct turn){ b, k, f, s->flow_load[f] / s->unit, mix64(seed ^ mix64((uint64_t)s->flow[f])) };
        q->first[b - s->own + 1] = i;
    }
    qsort(q->turn, (size_t)n, sizeof *q->turn, by_turn);
    return 0;
}

/* Put load on an arc of the block's own view. */
static void add(struct split *s, int32_t a, double load)
{
    split_touch(s, a);
    s->load[a] += fixed_of(load * s->icap[a]);
    s->r[a] = (double)s->load[a] / FIXED;
}

static double potential(const struct rounding *q, double r)
{
    double x = q->rate * (r - q->s->top);
    return prices_exp(x < 600 ? x : 600); /* above, all are equally bad */
}

/* What the potential grows by when load joins the way. */
static double growth(const struct rounding *q, const struct way *y, double load)
{
    const struct split *s = q->s;
    double sum = 0;
    for (int32_t i = 0; i < y->len; i++) {
        int32_t a = y->arc[i];
        sum += potential(q, s->r[a] + load * s->icap[a]) - potential(q, s->r[a]);
    }
    return sum;
}

static void take_turn(struct rounding *q, const struct turn *t)
{
    struct split *s = q->s;
    double part = t->load / q->parts;
    for (int32_t y = s->com[t->com].way; y >= 0; y = s->way[y].next)
        for (int32_t i = 0; s->way[y].best > 0 && i < s->way[y].len; i++)
            add(s, s->way[y].arc[i], -t->load * s->way[y].best);
    for (int32_t j = 0; j < q->parts; j++) {
        int32_t low = s->com[t->com].way;
        double least = growth(q, &s->way[low], part);
        for (int32_t y = s->way[low].next; y >= 0; y = s->way[y].next) {
            double g = growth(q, &s->way[y], part);
            if (g < least || (g == least && s->way[y].len < s->way[low].len)) {
                least = g;
                low = y;
            }
        }
        for (int32_t i = 0; i < s->way[low].len; i++)
            add(s, s->way[low].arc[i], part);
        q->choice[(int64_t)t->flow * q->parts + j] = low;
    }
}

static int take_turns(struct rounding *q, struct err *e)
{
    struct split *s = q->s;
    for (int32_t c = 0; c < s->nchunk; c++) {
        for (int32_t b = s->own; b < s->end; b++) {
            int64_t first = q->first[b - s->own], n = q->first[b - s->own + 1] - first;
            split_freeze(s);
            for (int64_t i = split_chunk(s, b, n, c); i < split_chunk(s, b, n, c + 1); i++)
                take_turn(q, &q->turn[first + i]);
            split_thaw(s);
        }
        if (split_exchange(s, 0, e) < 0)
            return -1;
    }
    return 0;
}

/* Parts on the same way become one path. */
static int bundle_choice(const struct rounding *q, int32_t f, struct bundle *b)
{
    const int32_t *choice = q->choice + (int64_t)f * q->parts;
    int32_t npath = 0;
    for (int32_t i = 0; i < q->parts; i++) {
        int seen = 0;
        for (int32_t j = 0; j < i; j++)
            seen |= choice[j] == choice[i];
        npath += !seen;
    }
    if (bundle_flows(b, &q->s->flow[f], 1, npath) < 0)
        return -1;
    for (int32_t i = 0; i < q->parts; i++) {
        int32_t before = 0, same = 0;
        for (int32_t j = 0; j < q->parts; j++) {
            before += j < i && choice[j] == choice[i];
            same += choice[j] == choice[i];
        }
        if (!before && bundle_path(b, (double)same / q->parts, &q->s->way[choice[i]]) < 0)
            return -1;
    }
    return 0;
}

int split_round(struct split *s, uint64_t seed, struct routes **out, struct err *e)
{
    static const double sharp = 0.2; /* of the value: arcs that far below the top count 1 / arcs */
    struct rounding q = { .s = s, .parts = s->p->options.paths_per_flow };
    struct bundle b = { 0 };
    *out = NULL;
    int rc = open_rounding(&q, seed) < 0 ? fail(e, E_MEMORY, "out of memory for the turns of flows") : 0;
    rc = comm_agree(s->comm, rc, e);
    if (rc == 0)
        rc = split_loads(s, 1, e);
    if (rc == 0) {
        q.rate = s->top > 0 ? prices_log(s->nlive > 2 ? s->nlive : 2) / (sharp * s->top) : 0;
        rc = take_turns(&q, e);
    }
    if (rc == 0) {
        for (int64_t f = 0; f < s->flow_at[s->ncom] && rc == 0; f++)
            rc = bundle_choice(&q, (int32_t)f, &b);
        rc = bundle_gather(s, &b, rc, out, e);
    }
    close_rounding(&q);
    return rc;
}
