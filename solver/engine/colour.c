#include "solver/engine/colour.h"

#include "solver/engine/euler.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 64,     /* units of one colour on one arc */
    MAX_CHAIN = 2048,   /* units moved to make room for one */
    CHAIN_TRIES = 12,   /* pairs of colours tried per unit */
    MAX_SLOT = 1 << 25, /* slots of one side of a table: 128 MB */
    MAX_CABLES = 64,    /* parallel cables told apart */
    OVERFILLS = 3       /* places more per arc, at most */
};
static const double TOLERANCE = 1e-9; /* of a capacity */

/* One bipartite colouring problem: rows on two sides (the same switches, sending and receiving), colours, and the arc
 * that a row uses for a colour. A colour stands for a switch of the next tier and one of its parallel cables. */
struct table {
    int32_t nrow, ncolour;
    int32_t *row;         /* [nnode] compact node's row, -1 */
    int32_t *arc[2];      /* [nrow * ncolour] arc up (0) and down (1); -1: none */
    uint8_t *room[2];     /* [nrow * ncolour] units that fit under the present target */
    uint8_t *used[2];     /* [nrow * ncolour] */
    int32_t *slot[2];     /* [nrow * ncolour * (depth + 1)] edges; one more than fits while a chain moves */
    int32_t depth, nslot; /* units per colour and row; slots allocated per side */
};

struct colour {
    const struct lanes *w;
    int32_t *tier; /* [nnode] 1: leaves; 0: outside */
    int32_t *pod;  /* [nnode] component over tiers 1 and 2, named by its smallest node */
    struct table t[2];

    struct euler *euler; /* nedge: subflows of all flows, the most there can be */
    int32_t *unit;     /* [nedge] unit of each edge */
    int32_t *end[2];   /* [nedge] row of each edge on both sides */
    int32_t *group[2]; /* [2 * nedge] for the Euler split */
    int32_t *got;      /* [nedge] colour of each edge, -1 */
    int32_t *first;    /* [nedge] colours of the Euler split */
    int32_t *lower;    /* [nedge] colour in table 0 of each edge of table 1 */
    int32_t *mark, now; /* [nedge] edges of the present chain */
    int32_t *chain;    /* [MAX_CHAIN] */
    int32_t *count;    /* [nnode] */
};

/* ---- structure ---- */

/* tier 1: switches with a NIC or at the end of a way; then hops from them. */
static void find_tiers(struct colour *c, int32_t *queue)
{
    const struct lanes *w = c->w;
    const struct fabric *g = w->problem->fabric;
    int32_t n = 0;
    for (int32_t a = 0; a < g->narc; a++)
        if (g->live[a] && g->node_kind[g->tail[a]] == NODE_NIC && w->compact[g->head[a]] >= 0)
            c->tier[w->compact[g->head[a]]] = 1;
    for (int32_t i = 0; i < w->npair; i++)
        if (w->way[i].row >= 0)
            c->tier[w->way[i].a] = c->tier[w->way[i].b] = 1;
    for (int32_t v = 0; v < w->nnode; v++)
        if (c->tier[v] == 1)
            queue[n++] = v;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = w->first[queue[i]]; k < w->first[queue[i] + 1]; k++) {
            int32_t u = w->head[w->out[k]];
            if (c->tier[u] == 0) {
                c->tier[u] = c->tier[queue[i]] + 1;
                queue[n++] = u;
            }
        }
}

static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* of[v] = smallest node of v's component over the arcs between the tiers low and low + 1. */
static void components(const struct colour *c, int32_t low, int32_t *of)
{
    const struct lanes *w = c->w;
    for (int32_t v = 0; v < w->nnode; v++)
        of[v] = v;
    for (int32_t k = 0; k < w->first[w->nnode]; k++) {
        int32_t u = w->tail[w->out[k]], v = w->head[w->out[k]];
        if ((c->tier[u] == low && c->tier[v] == low + 1) || (c->tier[v] == low && c->tier[u] == low + 1)) {
            int32_t x = root_of(of, u), y = root_of(of, v);
            of[x < y ? y : x] = x < y ? x : y;
        }
    }
    for (int32_t v = 0; v < w->nnode; v++)
        of[v] = root_of(of, v);
}

/* A switch of the upper tier: ranks count inside one (plane, group). */
struct middle {
    int32_t plane, group, node;
};

static int by_plane(const void *x, const void *y)
{
    const struct middle *s = x, *t = y;
    if (s->plane != t->plane)
        return s->plane < t->plane ? -1 : 1;
    if (s->group != t->group)
        return s->group < t->group ? -1 : 1;
    return (s->node > t->node) - (s->node < t->node);
}

/* key[v] of every middle: equal for switches of different groups that stand in the same place of the same plane, so
 * that one colour leads from group to group. Returns the number of keys. */
static int32_t number_keys(struct middle *m, int32_t n, int32_t *key)
{
    int32_t base = 0, widest = 0, rank = 0;
    qsort(m, (size_t)n, sizeof *m, by_plane);
    for (int32_t i = 0; i < n; i++) {
        if (i > 0 && m[i].plane != m[i - 1].plane) {
            base += widest;
            widest = 0;
        }
        rank = i > 0 && m[i].plane == m[i - 1].plane && m[i].group == m[i - 1].group ? rank + 1 : 0;
        widest = rank + 1 > widest ? rank + 1 : widest;
        key[m[i].node] = base + rank;
    }
    return base + widest;
}

/* Most parallel arcs from one switch of tier low to one of the next tier, either way. */
static int32_t most_cables(const struct colour *c, int32_t low)
{
    const struct lanes *w = c->w;
    int32_t most = 1;
    for (int32_t v = 0; v < w->nnode; v++) {
        if (c->tier[v] != low && c->tier[v] != low + 1)
            continue;
        for (int32_t k = w->first[v], run = 0; k < w->first[v + 1]; k++) {
            int32_t u = w->head[w->out[k]];
            if (c->tier[u] != (c->tier[v] == low ? low + 1 : low))
                continue;
            run = 0;
            for (int32_t i = w->first[v]; i <= k; i++)
                run += w->head[w->out[i]] == u;
            most = run > most ? run : most;
        }
    }
    return most < MAX_CABLES ? most : MAX_CABLES;
}

/* Enters the arcs from v (up) or into it (down, seen from the upper switch) under their colours. */
static void enter_arcs(const struct colour *c, struct table *t, int32_t low, const int32_t *key, int32_t cables)
{
    const struct lanes *w = c->w;
    for (int32_t v = 0; v < w->nnode; v++)
        for (int32_t k = w->first[v]; k < w->first[v + 1]; k++) {
            int32_t a = w->out[k], u = w->head[a], up = c->tier[v] == low && c->tier[u] == low + 1;
            if (!up && !(c->tier[v] == low + 1 && c->tier[u] == low))
                continue;
            int32_t nth = 0;
            for (int32_t i = w->first[v]; i < k; i++)
                nth += w->head[w->out[i]] == u;
            int64_t row = t->row[up ? v : u], colour = (int64_t)key[up ? u : v] * cables + nth;
            if (nth < cables)
                t->arc[!up][row * t->ncolour + colour] = a;
        }
}

/* The table of rows in tier low and middles in tier low + 1. group NULL: one group. */
static int build_table(struct colour *c, struct table *t, int32_t low, const int32_t *plane, const int32_t *group)
{
    const struct lanes *w = c->w;
    int32_t n = 0, rc = -1;
    struct middle *m = array(w->nnode, sizeof *m);
    int32_t *key = array(w->nnode, sizeof *key);
    t->row = array(w->nnode, sizeof *t->row);
    if (!m || !key || !t->row)
        goto out;
    for (int32_t v = 0; v < w->nnode; v++) {
        t->row[v] = c->tier[v] == low ? t->nrow++ : -1;
        if (c->tier[v] == low + 1)
            m[n++] = (struct middle){ plane[v], group ? group[v] : 0, v };
    }
    int32_t cables = most_cables(c, low);
    t->ncolour = number_keys(m, n, key) * cables;
    int64_t size = (int64_t)t->nrow * t->ncolour;
    if (size > MAX_SLOT / 2)
        t->ncolour = 0;
    for (int i = 0; i < 2; i++) {
        t->arc[i] = array((int64_t)t->nrow * t->ncolour, sizeof *t->arc[i]);
        t->room[i] = array((int64_t)t->nrow * t->ncolour, sizeof *t->room[i]);
        t->used[i] = array((int64_t)t->nrow * t->ncolour, sizeof *t->used[i]);
        if (!t->arc[i] || !t->room[i] || !t->used[i])
            goto out;
        for (int64_t k = 0; k < (int64_t)t->nrow * t->ncolour; k++)
            t->arc[i][k] = -1;
    }
    if (t->ncolour > 0)
        enter_arcs(c, t, low, key, cables);
    rc = 0;
out:
    free(m);
    free(key);
    return rc;
}

/* Middles without a switch above them stand in no plane: their places are counted by group alone. */
static void unplane(const struct colour *c, int32_t *plane)
{
    const struct lanes *w = c->w;
    for (int32_t v = 0; v < w->nnode; v++) {
        int above = 0;
        for (int32_t k = w->first[v]; k < w->first[v + 1]; k++)
            above |= c->tier[w->head[w->out[k]]] == 3;
        if (c->tier[v] == 2 && !above)
            plane[v] = -1;
    }
}

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
        c->group[i] = array(2 * nedge, sizeof *c->group[i]);
        if (!c->end[i] || !c->group[i])
            return -1;
    }
    return c->euler && c->unit && c->got && c->first && c->lower && c->mark && c->chain && c->count ? 0 : -1;
}

int colour_new(const struct lanes *w, struct colour **out, struct err *e)
{
    *out = NULL;
    struct colour *c = array(1, sizeof *c);
    int32_t *plane = array(w->nnode, sizeof *plane), *queue = array(w->nnode, sizeof *queue);
    if (!c || !plane || !queue)
        goto oom;
    c->w = w;
    c->tier = array(w->nnode, sizeof *c->tier);
    c->pod = array(w->nnode, sizeof *c->pod);
    if (!c->tier || !c->pod || new_scratch(c, (int64_t)w->problem->nflow * w->problem->options.paths_per_flow) < 0)
        goto oom;
    find_tiers(c, queue);
    components(c, 1, c->pod);
    components(c, 2, plane);
    unplane(c, plane);
    if (build_table(c, &c->t[0], 1, plane, c->pod) < 0 || build_table(c, &c->t[1], 2, plane, NULL) < 0)
        goto oom;
    free(plane);
    free(queue);
    if (c->t[0].nrow == 0 || c->t[0].ncolour == 0)
        colour_free(c);
    else
        *out = c;
    return 0;
oom:
    free(plane);
    free(queue);
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
    void *owned[] = { c->tier,   c->pod,      c->unit,     c->end[0], c->end[1], c->group[0],
                      c->group[1], c->got, c->first, c->lower, c->mark,   c->chain, c->count };
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
    if (need > MAX_SLOT)
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

/* One place more in the first colours for what is left, a few times over: the same few colours are full everywhere, so
 * that a unit that is slow at one end is slow at the other. */
static void overfill_edges(struct colour *c, struct table *t, int32_t n)
{
    for (int round = 0; round < OVERFILLS; round++) {
        int32_t x = most_left(c, t, n, c->count);
        if (x == 0)
            return;
        for (int64_t k = 0; k < (int64_t)t->nrow * t->ncolour; k++)
            for (int side = 0; side < 2; side++)
                t->room[side][k] += k % t->ncolour < x && t->room[side][k] > 0 && t->room[side][k] < t->depth;
        for (int32_t e = 0; e < n; e++)
            if (c->got[e] < 0)
                colour_edge(c, t, e);
    }
}

/* Colours n edges: an Euler split first, chains for what does not fit. nlevel groups stand in c->group. */
static void colour_edges(struct colour *c, struct table *t, int32_t n, int32_t nlevel, int overfill)
{
    int bits = 0;
    while (1 << bits < t->ncolour)
        bits++;
    euler_split(c->euler, n, nlevel, c->group[0], c->group[1], bits, c->first);
    for (int32_t e = 0; e < n; e++) {
        c->got[e] = -1;
        if (c->first[e] < t->ncolour && has_room(c, t, 0, e, c->first[e]) && has_room(c, t, 1, e, c->first[e]))
            put(c, t, e, c->first[e]);
    }
    for (int32_t e = 0; e < n; e++)
        if (c->got[e] < 0)
            colour_edge(c, t, e);
    if (overfill)
        overfill_edges(c, t, n);
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
static int32_t list_edges(struct colour *c, const struct eject *s, double size)
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
        c->group[0][e] = y->a;
        c->group[1][e] = y->b;
        c->group[0][n + e] = c->pod[y->a];
        c->group[1][n + e] = c->pod[y->b];
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

void colour_place(struct colour *c, struct eject *s, int overfill)
{
    double size = 0;
    eject_clear(s);
    for (int32_t g = 0; g < s->nunit; g++)
        if (kind_of(c, &c->w->way[s->pair[g]]) && size_of(s, g) > size)
            size = size_of(s, g);
    if (!(size > 0) || !set_rooms(&c->t[0], s, size, overfill))
        return;
    int32_t n = list_edges(c, s, size);
    colour_edges(c, &c->t[0], n, 2, overfill);
    n = place_inside(c, s, n);
    memset(c->mark, 0, (size_t)n * sizeof *c->mark);
    c->now = 0;
    if (n > 0 && set_rooms(&c->t[1], s, size, overfill)) {
        colour_edges(c, &c->t[1], n, 1, overfill);
        place_between(c, s, n);
    }
}
