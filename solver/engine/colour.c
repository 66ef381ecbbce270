#include "solver/engine/colour_state.h"

#include "solver/engine/euler.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 64,   /* units of one colour on one arc */
    MAX_CHAIN = 2048, /* units moved to make room for one */
    CHAIN_TRIES = 12, /* pairs of colours tried per unit */
    OVERFILLS = 3     /* places more per arc, at most */
};
static const double TOLERANCE = 1e-9; /* of a capacity */

static int new_scratch(struct colour *c, int64_t nedge)
{
    c->euler = nedge <= INT32_MAX ? euler_new((int32_t)nedge) : NULL;
    c->unit = array(nedge, sizeof *c->unit);
    c->got = array(nedge, sizeof *c->got);
    c->first = array(nedge, sizeof *c->first);
    c->lower = array(nedge, sizeof *c->lower);
    c->mark = array(nedge, sizeof *c->mark);
    c->chain = array(MAX_CHAIN, sizeof *c->chain);
    c->count = array(c->w->nnode, sizeof *c->count);
    for (int i = 0; i < 2; i++) {
        c->end[i] = array(nedge, sizeof *c->end[i]);
        c->group[i] = array(3 * nedge, sizeof *c->group[i]);
        if (!c->end[i] || !c->group[i])
            return -1;
    }
    return c->euler && c->unit && c->got && c->first && c->lower && c->mark && c->chain && c->count ? 0 : -1;
}

int colour_new(const struct lanes *w, struct colour **out, struct err *e)
{
    *out = NULL;
    struct colour *c = array(1, sizeof *c);
    if (!c)
        goto oom;
    c->w = w;
    if (new_scratch(c, (int64_t)w->problem->nflow * w->problem->options.paths_per_flow) < 0)
        goto oom;
    if (colour_build(c) < 0)
        goto oom;
    c->width = array(c->t[0].ncolour + (int64_t)c->t[1].ncolour, sizeof *c->width);
    if (!c->width)
        goto oom;
    if (c->t[0].nrow == 0 || c->t[0].ncolour == 0)
        colour_free(c);
    else
        *out = c;
    return 0;
oom:
    colour_free(c);
    return fail(e, E_MEMORY, "out of memory for the colouring of %d flows", w->problem->nflow);
}

void colour_free(struct colour *c)
{
    if (!c)
        return;
    for (int k = 0; k < 2; k++) {
        free(c->t[k].row);
        for (int i = 0; i < 2; i++) {
            free(c->t[k].arc[i]);
            free(c->t[k].room[i]);
            free(c->t[k].used[i]);
            free(c->t[k].slot[i]);
        }
    }
    euler_free(c->euler);
    void *owned[] = { c->tier, c->pod,   c->unit,  c->end[0], c->end[1], c->group[0], c->group[1],
                      c->got,  c->first, c->lower, c->mark,   c->chain,  c->count,    c->width };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(c);
}

/* ---- colouring ---- */

static int64_t cell(const struct colour *c, const struct table *t, int side, int32_t e, int32_t colour)
{
    return (int64_t)c->end[side][e] * t->ncolour + colour;
}

static void put(struct colour *c, struct table *t, int32_t e, int32_t colour)
{
    for (int side = 0; side < 2; side++) {
        int64_t k = cell(c, t, side, e, colour);
        t->slot[side][k * (t->depth + 1) + t->used[side][k]++] = e;
    }
    c->got[e] = colour;
}

static void take(struct colour *c, struct table *t, int32_t e)
{
    for (int side = 0; side < 2; side++) {
        int64_t k = cell(c, t, side, e, c->got[e]);
        int32_t *slot = t->slot[side] + k * (t->depth + 1), i = 0;
        while (slot[i] != e)
            i++;
        slot[i] = slot[--t->used[side][k]];
    }
    c->got[e] = -1;
}

static int has_room(const struct colour *c, const struct table *t, int side, int32_t e, int32_t colour)
{
    int64_t k = cell(c, t, side, e, colour);
    return t->used[side][k] < t->room[side][k];
}

/* Gives e colour a, free at its left end, and frees a at its right end, where b is free, by moving edges between a and
 * b along an alternating chain. 0: undone, the chain met a blocked cable or its limit. */
static int push_chain(struct colour *c, struct table *t, int32_t e, int32_t a, int32_t b)
{
    int32_t n = 0, side = 1, at = e, colour = a;
    c->now++;
    c->mark[e] = c->now;
    put(c, t, e, a);
    for (;;) {
        int64_t k = cell(c, t, side, at, colour);
        if (t->used[side][k] <= t->room[side][k])
            return 1;
        const int32_t *slot = t->slot[side] + k * (t->depth + 1);
        int32_t x = -1;
        for (int32_t i = 0; i < t->used[side][k] && x < 0; i++)
            if (c->mark[slot[i]] != c->now)
                x = slot[i];
        if (x < 0 || n == MAX_CHAIN)
            break;
        c->mark[x] = c->now;
        c->chain[n++] = x;
        colour = a + b - colour;
        take(c, t, x);
        put(c, t, x, colour);
        at = x;
        side ^= 1;
    }
    while (n-- > 0) {
        int32_t x = c->chain[n], old = a + b - c->got[x];
        take(c, t, x);
        put(c, t, x, old);
    }
    take(c, t, e);
    return 0;
}

static void colour_edge(struct colour *c, struct table *t, int32_t e)
{
    int32_t tries = 0;
    for (int32_t k = 0; k < t->ncolour; k++)
        if (has_room(c, t, 0, e, k) && has_room(c, t, 1, e, k)) {
            put(c, t, e, k);
            return;
        }
    for (int32_t a = 0; a < t->ncolour; a++) {
        if (!has_room(c, t, 0, e, a) || t->room[1][cell(c, t, 1, e, a)] == 0)
            continue;
        for (int32_t b = 0; b < t->ncolour; b++)
            if (b != a && has_room(c, t, 1, e, b) && (push_chain(c, t, e, a, b) || ++tries == CHAIN_TRIES))
                return;
    }
}

/* Room of every cell for units of the given size; 0 when the table would be too large. */
static int set_rooms(struct table *t, const struct eject *s, double size, int overfill)
{
    int64_t n = (int64_t)t->nrow * t->ncolour;
    t->depth = 0;
    for (int side = 0; side < 2; side++) {
        memset(t->used[side], 0, (size_t)n);
        for (int64_t k = 0; k < n; k++) {
            double fit = t->arc[side][k] >= 0 ? s->cap[t->arc[side][k]] * (1 + TOLERANCE) / size : 0;
            t->room[side][k] = (uint8_t)(fit < MAX_DEPTH ? fit : MAX_DEPTH);
            t->depth = t->room[side][k] > t->depth ? t->room[side][k] : t->depth;
        }
    }
    t->depth += overfill ? OVERFILLS : 0;
    int64_t need = n * (t->depth + 1);
    if (need > COLOUR_MAX_SLOT)
        return 0;
    if (need > t->nslot)
        for (int side = 0; side < 2; side++) {
            free(t->slot[side]);
            t->slot[side] = array(need, sizeof *t->slot[side]);
            t->nslot = t->slot[side] ? (int32_t)need : 0;
            if (!t->slot[side])
                return 0; /* a start less: the search begins from the greedy one */
        }
    return 1;
}

/* Most uncoloured edges at one end of a row. count[nrow] is scratch. */
static int32_t most_left(const struct colour *c, const struct table *t, int32_t n, int32_t *count)
{
    int32_t most = 0;
    for (int side = 0; side < 2; side++) {
        memset(count, 0, (size_t)t->nrow * sizeof *count);
        for (int32_t e = 0; e < n; e++)
            if (c->got[e] < 0 && ++count[c->end[side][e]] > most)
                most = count[c->end[side][e]];
    }
    return most;
}

/* Takes the colours of the Euler split that fit; chains for the others. */
static void settle_edges(struct colour *c, struct table *t, int32_t n)
{
    for (int32_t e = 0; e < n; e++)
        if (c->first[e] < t->ncolour && has_room(c, t, 0, e, c->first[e]) && has_room(c, t, 1, e, c->first[e]))
            put(c, t, e, c->first[e]);
    for (int32_t e = 0; e < n; e++)
        if (c->got[e] < 0)
            colour_edge(c, t, e);
}

/* One place more on the first x colours that have any. */
static void add_room(struct table *t, int32_t x)
{
    for (int64_t k = 0; k < (int64_t)t->nrow * t->ncolour; k++)
        for (int side = 0; side < 2; side++)
            t->room[side][k] += k % t->ncolour < x && t->room[side][k] > 0 && t->room[side][k] < t->depth;
}

/* Most units of the colour that any row has room for. */
static int32_t room_of(const struct table *t, int32_t colour)
{
    int32_t most = 0;
    for (int64_t r = 0; r < t->nrow; r++)
        most = t->room[0][r * t->ncolour + colour] > most ? t->room[0][r * t->ncolour + colour] : most;
    return most;
}

static int32_t all_rooms(const struct table *t)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < t->ncolour; k++)
        sum += room_of(t, k);
    return sum;
}

/* Splits into as many slots as a row has edges and gives each colour a run of them as long as its room. Where the rooms
 * are too few, the first colours get one more, the same at every leaf: a unit slow at one end is slow at the other, and
 * a flow, whose subflows the split keeps far apart, has few in that part. */
static void split_slots(struct colour *c, struct table *t, int32_t n, int32_t nlevel)
{
    int32_t degree = most_left(c, t, n, c->count), places = all_rooms(t);
    int bits = 0;
    for (int round = 0; round < OVERFILLS && places < degree; round++) {
        add_room(t, degree - places);
        places = all_rooms(t);
    }
    while (1 << bits < degree)
        bits++;
    euler_split(c->euler, n, nlevel, c->group[0], c->group[1], bits, c->first);
    for (int32_t k = 0; k < t->ncolour; k++)
        c->width[k] = room_of(t, k);
    for (int32_t e = 0; e < n; e++) {
        int32_t place = (int32_t)(((int64_t)c->first[e] * places) >> bits), colour = 0;
        while (colour < t->ncolour && place >= c->width[colour])
            place -= c->width[colour++];
        c->first[e] = colour;
    }
}

/* Colours n edges: an Euler split first, chains for what does not fit. nlevel groups stand in c->group. */
static void colour_edges(struct colour *c, struct table *t, int32_t n, int32_t nlevel, int overfill)
{
    int bits = 0;
    for (int32_t e = 0; e < n; e++)
        c->got[e] = -1;
    if (overfill) {
        split_slots(c, t, n, nlevel);
    } else {
        while (1 << bits < t->ncolour)
            bits++;
        euler_split(c->euler, n, nlevel, c->group[0], c->group[1], bits, c->first);
    }
    settle_edges(c, t, n);
}

/* 1 when the pair goes over tier 2 inside a pod, 2 when over tier 3 between pods, else 0. */
static int kind_of(const struct colour *c, const struct lane_pair *y)
{
    if (y->row < 0 || c->tier[y->a] != 1 || c->tier[y->b] != 1)
        return 0;
    if (y->hops == 2 && c->pod[y->a] == c->pod[y->b])
        return 1;
    return y->hops == 4 && c->pod[y->a] != c->pod[y->b] && c->t[1].ncolour > 0 ? 2 : 0;
}

static double size_of(const struct eject *s, int32_t g)
{
    return s->p[g] < s->q[g] ? s->p[g] : s->q[g];
}

/* Edges of table 0: the units over half of the largest size. Returns how many. */
static int32_t list_edges(struct colour *c, const struct eject *s, double size, const int32_t *flow)
{
    int32_t n = 0;
    for (int32_t g = 0; g < s->nunit; g++) {
        const struct lane_pair *y = &c->w->way[s->pair[g]];
        if (!kind_of(c, y) || !(size_of(s, g) > .5 * size))
            continue;
        c->unit[n] = g;
        c->end[0][n] = c->t[0].row[y->a];
        c->end[1][n++] = c->t[0].row[y->b];
    }
    for (int32_t e = 0; e < n; e++) {
        const struct lane_pair *y = &c->w->way[s->pair[c->unit[e]]];
        c->group[0][e] = flow ? flow[c->unit[e]] : y->a;
        c->group[1][e] = flow ? flow[c->unit[e]] : y->b;
        c->group[0][n + e] = y->a;
        c->group[1][n + e] = y->b;
        c->group[0][2 * n + e] = c->pod[y->a];
        c->group[1][2 * n + e] = c->pod[y->b];
    }
    return n;
}

/* Places the coloured units that stay in their pod; the others become the edges of table 1. Returns their number. */
static int32_t place_inside(struct colour *c, struct eject *s, int32_t n)
{
    const struct table *t = &c->t[0];
    int32_t kept = 0;
    for (int32_t e = 0; e < n; e++) {
        if (c->got[e] < 0)
            continue;
        int32_t g = c->unit[e], colour = c->got[e];
        int32_t way[2] = { t->arc[0][cell(c, t, 0, e, colour)], t->arc[1][cell(c, t, 1, e, colour)] };
        int32_t a = c->w->head[way[0]], b = c->w->tail[way[1]];
        if (kind_of(c, &c->w->way[s->pair[g]]) == 1) {
            if (a == b)
                eject_place(s, g, way, 2);
            continue;
        }
        c->unit[kept] = g;
        c->end[0][kept] = c->t[1].row[a];
        c->end[1][kept] = c->t[1].row[b];
        c->group[0][kept] = a;
        c->group[1][kept] = b;
        c->lower[kept++] = colour;
    }
    return kept;
}

static void place_between(struct colour *c, struct eject *s, int32_t n)
{
    const struct table *t = &c->t[1], *below = &c->t[0];
    for (int32_t e = 0; e < n; e++) {
        if (c->got[e] < 0)
            continue;
        const struct lane_pair *y = &c->w->way[s->pair[c->unit[e]]];
        int32_t way[4] = { below->arc[0][(int64_t)below->row[y->a] * below->ncolour + c->lower[e]],
                           t->arc[0][cell(c, t, 0, e, c->got[e])], t->arc[1][cell(c, t, 1, e, c->got[e])],
                           below->arc[1][(int64_t)below->row[y->b] * below->ncolour + c->lower[e]] };
        if (c->w->head[way[1]] == c->w->tail[way[2]])
            eject_place(s, c->unit[e], way, 4);
    }
}

static void colour_all(struct colour *c, struct eject *s, const int32_t *flow)
{
    int overfill = flow != NULL;
    double size = 0;
    eject_clear(s);
    for (int32_t g = 0; g < s->nunit; g++)
        if (kind_of(c, &c->w->way[s->pair[g]]) && size_of(s, g) > size)
            size = size_of(s, g);
    if (!(size > 0) || !set_rooms(&c->t[0], s, size, overfill))
        return;
    int32_t n = list_edges(c, s, size, flow);
    colour_edges(c, &c->t[0], n, 3, overfill);
    n = place_inside(c, s, n);
    if (n > 0 && set_rooms(&c->t[1], s, size, overfill)) {
        colour_edges(c, &c->t[1], n, 1, overfill);
        place_between(c, s, n);
    }
}

void colour_place(struct colour *c, struct eject *s)
{
    colour_all(c, s, NULL);
}

void colour_spread(struct colour *c, struct eject *s, const int32_t *flow)
{
    colour_all(c, s, flow);
}
