/* split_block: the moves of commodities between their ways, block by block on frozen loads plus the block's own
 * changes, and the exchange of loads and multipliers.
 *
 * A pass is cut into chunks with one exchange after each: many small exchanges lose next to nothing against moving the
 * commodities one after the other, one exchange a pass doubles the number of passes.
 */
#include "solver/engine/split_inner.h"

#include <math.h>
#include <string.h>

enum {
    MOVES_PER_LEVEL = 1024, /* the augmented Lagrangian's level is solved for again after so many commodities */
    EXCHANGES = 64,         /* a pass, where several blocks share the arcs */
    MOST_EXCHANGES = 256,
    MOVES = 16, /* of one commodity in a pass, at most */
};

void split_touch(struct split *s, int32_t a)
{
    struct touched *t = &s->touched;
    if (t->mark[a] == t->round)
        return;
    t->mark[a] = t->round;
    t->arc[t->n] = a;
    t->load[t->n] = s->load[a];
    t->price[t->n++] = s->price[a];
}

void split_freeze(struct split *s)
{
    struct touched *t = &s->touched;
    t->n = 0;
    if (++t->round == 0) { /* the counter came round: old marks would look new */
        memset(t->mark, 0, (size_t)s->narc * sizeof *t->mark);
        t->round = 1;
    }
}

/* The arcs on which two ways differ become s->line_*: step -1 / cap where load leaves, +1 / cap where it arrives. */
static int32_t difference(struct split *s, const struct way *from, const struct way *to)
{
    int32_t n = 0;
    s->side_round += 2;
    if (s->side_round < 2) {
        memset(s->side, 0, (size_t)s->narc * sizeof *s->side);
        s->side_round = 2;
    }
    for (int32_t i = 0; i < to->len; i++)
        s->side[to->arc[i]] = s->side_round;
    for (int32_t i = 0; i < from->len; i++) {
        int32_t a = from->arc[i];
        if (s->side[a] == s->side_round) {
            s->side[a] = s->side_round + 1; /* on both: cancels */
            continue;
        }
        s->line_arc[n] = a;
        s->line_step[n++] = -s->icap[a];
    }
    for (int32_t i = 0; i < to->len; i++) {
        int32_t a = to->arc[i];
        if (s->side[a] == s->side_round + 1)
            continue;
        s->line_arc[n] = a;
        s->line_step[n++] = s->icap[a];
    }
    for (int32_t i = 0; i < n; i++) {
        s->line_w[i] = s->w[s->line_arc[i]];
        s->line_r[i] = s->r[s->line_arc[i]];
    }
    return n;
}

/* From the dearest way that is used to the cheapest one, as far as the prices on the line say; the spread of their
 * costs before, 0 when there was nothing to move. Nothing moves below least_spread. */
static double move(struct split *s, struct commodity *k, double least_spread)
{
    int32_t from = -1, to = -1;
    double most = 0, least = 0;
    for (int32_t y = k->way; y >= 0; y = s->way[y].next) {
        double c = split_cost(&s->way[y], s->price);
        if (to < 0 || c < least) {
            least = c;
            to = y;
        }
        if (s->way[y].share > 0 && (from < 0 || c > most)) {
            most = c;
            from = y;
        }
    }
    struct way *high = &s->way[from], *low = &s->way[to];
    if (from == to || !(most - least > s->equal * most) || most - least < least_spread)
        return 0;
    int32_t n = difference(s, high, low);
    double all = k->load * high->share;
    double x = prices_search(&s->rule, n, s->line_step, s->line_w, s->line_r, s->line_v, all);
    if (!(x > 0))
        return 0;
    double share = x < all ? x / k->load : high->share;
    share = share < high->share ? share : high->share;
    high->share -= share;
    low->share += share;
    s->moved[s->nmoved++] = (struct transfer){ from, to, share };
    for (int32_t i = 0; i < n; i++) {
        int32_t a = s->line_arc[i];
        split_touch(s, a);
        s->load[a] += fixed_of(x * s->line_step[i]);
        s->r[a] = (double)s->load[a] / FIXED;
        s->price[a] = rule_value(&s->rule, s->w[a], s->r[a]) * s->icap[a];
    }
    return most - least;
}

/* A commodity of many ways moves several times, while it is far from even. */
static void move_commodity(struct split *s, struct commodity *k)
{
    static const double even = 0.3; /* of the first spread */
    double spread = move(s, k, 0), first = spread;
    for (int32_t i = 2; spread > 0 && i < k->nway && i <= MOVES; i++)
        spread = move(s, k, even * first);
}

void split_thaw(struct split *s)
{
    struct touched *t = &s->touched;
    for (int32_t i = 0; i < t->n; i++) {
        int32_t a = t->arc[i];
        s->delta[a] += s->load[a] - t->load[i];
        s->dirty[a / 64] |= (uint64_t)1 << a % 64;
        s->load[a] = t->load[i];
        s->r[a] = (double)s->load[a] / FIXED;
        s->price[a] = t->price[i];
    }
}

/* Commodities [begin, end) of one block. */
static void block_chunk(struct split *s, int64_t begin, int64_t end)
{
    split_freeze(s);
    for (int64_t k = begin; k < end; k++)
        if (s->com[k].nway > 1 && s->com[k].load > 0)
            move_commodity(s, &s->com[k]);
    split_thaw(s);
}

/* The arcs that the blocks have changed, in ascending order, as the line from the frozen loads to the new ones. */
static int32_t changed(struct split *s)
{
    int32_t n = 0;
    for (int32_t i = 0; i < (s->narc + 63) / 64; i++) {
        uint64_t bits = s->comm->size > 1 ? ~(uint64_t)0 : s->dirty[i]; /* one rank knows which arcs they are */
        s->dirty[i] = 0;
        for (; bits; bits &= bits - 1) {
            int32_t a = 64 * i + __builtin_ctzll(bits);
            if (a >= s->narc)
                break;
            if (s->delta[a] == 0)
                continue;
            s->line_arc[n] = a;
            s->line_step[n] = (double)s->delta[a] / FIXED;
            s->line_w[n] = s->w[a];
            s->line_r[n++] = s->r[a];
        }
    }
    return n;
}

int split_exchange(struct split *s, int searched, struct err *e)
{
    if (s->comm->size > 1 && s->comm->sum(s->comm, s->delta, s->narc, e) < 0)
        return -1;
    int32_t n = changed(s);
    double part = searched && s->pods->npod > 1
                      ? prices_search(&s->rule, n, s->line_step, s->line_w, s->line_r, s->line_v, 1)
                      : 1;
    for (int32_t i = 0; i < n; i++) {
        int32_t a = s->line_arc[i];
        s->load[a] += part < 1 ? fixed_of(part * s->line_step[i]) : s->delta[a];
        s->delta[a] = 0;
        s->r[a] = (double)s->load[a] / FIXED;
        s->price[a] = rule_value(&s->rule, s->w[a], s->r[a]) * s->icap[a];
    }
    for (int64_t i = s->nmoved - 1; i >= 0 && part < 1; i--) { /* backwards: no share becomes negative on the way */
        struct way *from = &s->way[s->moved[i].from], *to = &s->way[s->moved[i].to];
        double back = (1 - part) * s->moved[i].share;
        back = back < to->share ? back : to->share;
        to->share -= back;
        from->share += back;
    }
    s->nmoved = 0;
    return 0;
}

static void new_level(struct split *s)
{
    if (!s->rule.exponential)
        s->level = s->rule.level = prices_level(s->narc, s->w, s->r, s->rule.rate, s->level);
    prices_fill(&s->rule, s->narc, s->w, s->r, s->icap, s->price);
}

static void find_top(struct split *s)
{
    s->top = 0;
    for (int32_t a = 0; a < s->narc; a++)
        s->top = s->r[a] > s->top ? s->r[a] : s->top;
}

/* Small blocks do not all move in the same chunks. */
int64_t split_chunk(const struct split *s, int32_t b, int64_t n, int32_t c)
{
    return (n * c + (int64_t)s->nchunk * b / s->pods->npod) / s->nchunk;
}

/* First commodity of chunk c of a block. */
static int64_t chunk_begin(const struct split *s, int32_t b, int32_t c)
{
    int64_t first = s->block[b - s->own], n = s->block[b - s->own + 1] - first;
    return first + split_chunk(s, b, n, c);
}

int split_pass(struct split *s, struct err *e)
{
    /* Exponential prices are never quite equal; a spread far below the gap is not worth a move. The augmented
     * Lagrangian ends in equal costs, which are sums of up to some hundred prices. */
    s->equal = s->rule.exponential ? fmax(1e-12, 0.02 * (s->value - s->bound) / s->value) : 1e-12;
    new_level(s);
    for (int32_t c = 0; c < s->nchunk; c++) {
        for (int32_t b = s->own; b < s->end; b++)
            block_chunk(s, chunk_begin(s, b, c), chunk_begin(s, b, c + 1));
        if (split_exchange(s, 1, e) < 0)
            return -1;
        int64_t before = s->all * c / s->nchunk, after = s->all * (c + 1) / s->nchunk;
        if (!s->rule.exponential && before / MOVES_PER_LEVEL != after / MOVES_PER_LEVEL)
            new_level(s);
    }
    find_top(s);
    return 0;
}

/* Depends on the problem alone, not on the ranks. */
int split_chunks(struct split *s, int64_t all, struct err *e)
{
    int64_t n = (all + MOVES_PER_LEVEL - 1) / MOVES_PER_LEVEL, room = 0;
    if (s->pods->npod > 1 && n < EXCHANGES)
        n = EXCHANGES;
    n = n < all ? n : all;
    n = n < MOST_EXCHANGES ? n : MOST_EXCHANGES;
    s->nchunk = (int32_t)(n > 1 ? n : 1);
    s->all = all;
    for (int32_t c = 0; c < s->nchunk; c++) {
        int64_t most = 0;
        for (int32_t b = s->own; b < s->end; b++)
            most += chunk_begin(s, b, c + 1) - chunk_begin(s, b, c);
        room = most > room ? most : room;
    }
    s->moved = array(MOVES * room, sizeof *s->moved);
    return s->moved ? 0 : fail(e, E_MEMORY, "out of memory for %lld moves", (long long)room);
}

int split_loads(struct split *s, int best, struct err *e)
{
    struct touched *t = &s->touched;
    double *sum = s->length; /* scratch, zero outside this loop's block */
    memset(sum, 0, (size_t)s->narc * sizeof *sum);
    memset(s->delta, 0, (size_t)s->narc * sizeof *s->delta);
    for (int32_t b = 0; b < s->end - s->own; b++) {
        split_freeze(s);
        for (int32_t k = s->block[b]; k < s->block[b + 1]; k++)
            for (int32_t y = s->com[k].way; y >= 0; y = s->way[y].next) {
                const struct way *v = &s->way[y];
                double x = s->com[k].load * (best ? v->best : v->share);
                for (int32_t i = 0; x > 0 && i < v->len; i++) {
                    split_touch(s, v->arc[i]);
                    sum[v->arc[i]] += x * s->icap[v->arc[i]];
                }
            }
        for (int32_t i = 0; i < t->n; i++) {
            s->delta[t->arc[i]] += fixed_of(sum[t->arc[i]]);
            sum[t->arc[i]] = 0;
        }
    }
    if (s->comm->size > 1 && s->comm->sum(s->comm, s->delta, s->narc, e) < 0)
        return -1;
    for (int32_t a = 0; a < s->narc; a++) {
        s->load[a] = s->delta[a];
        s->delta[a] = 0;
        s->r[a] = (double)s->load[a] / FIXED;
    }
    find_top(s);
    return 0;
}

/* Cut arcs and dead arcs are rank 0's. */
static int owns(const struct split *s, int32_t a)
{
    int32_t b = s->pods->arc[a];
    return b < 0 ? s->comm->rank == 0 : b >= s->own && b < s->end;
}

int split_multipliers(struct split *s, struct err *e)
{
    if (!s->rule.exponential)
        s->level = s->rule.level = prices_level(s->narc, s->w, s->r, s->rule.rate, s->level);
    for (int32_t a = 0; a < s->narc; a++) {
        double v = owns(s, a) && s->icap[a] > 0 ? rule_value(&s->rule, s->w[a], s->r[a]) : 0;
        memcpy(&s->delta[a], &v, sizeof v);
    }
    if (s->comm->size > 1 && s->comm->sum(s->comm, s->delta, s->narc, e) < 0)
        return -1;
    double sum = 0;
    memcpy(s->w, s->delta, (size_t)s->narc * sizeof *s->w);
    memset(s->delta, 0, (size_t)s->narc * sizeof *s->delta);
    for (int32_t a = 0; a < s->narc; a++)
        sum += s->w[a];
    for (int32_t a = 0; sum > 0 && a < s->narc; a++)
        s->w[a] /= sum;
    return 0;
}
