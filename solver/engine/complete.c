#include "solver/engine/complete.h"

#include <stdlib.h>
#include <string.h>

enum { TURN = -2 /* an entry that waits for the turning switch */, MOST_TURNS = 64 /* turning switches tried */ };

struct filler {
    struct updown *u;
    struct forward *t;
    uint32_t *used;        /* [narc] entries on each arc */
    int32_t *first, *node; /* NICs by the place of their switch: node[first[r] .. first[r + 1]) */
    uint8_t *near;         /* [nswitch * nswitch] near[r * nswitch + v]: r is in legal reach of v */
};

/* ---- least used legal arcs ---- */

static int32_t least_used(const struct filler *w, int32_t v)
{
    const struct updown *u = w->u;
    int32_t best = -1;
    for (int32_t k = u->first[v]; k < u->first[v + 1]; k++) {
        int32_t a = u->out[k];
        if (updown_leads(u, v, a) && (best < 0 || w->used[a] < w->used[best]))
            best = a;
    }
    return best;
}

/* Entries of all switches towards node d behind the switch in place u->root; last: the arc out of that switch. */
static void fill_node(struct filler *w, int32_t d, int32_t last)
{
    const struct updown *u = w->u;
    for (int32_t v = 0; v < u->nswitch; v++) {
        int32_t *entry = &forward_row(w->t, u->node[v])[d];
        if (u->part[v] != u->part[u->root])
            continue;
        if (v == u->root)
            *entry = last;
        else if (*entry < 0 && u->hops[v] == UPDOWN_FAR)
            *entry = TURN;
        else if (*entry < 0) {
            *entry = least_used(w, v);
            w->used[*entry]++;
        }
    }
}

static void group_nics(struct filler *w)
{
    const struct updown *u = w->u;
    const struct fabric *f = u->fabric;
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->node_kind[v] == NODE_NIC && u->leave[v] >= 0)
            w->first[updown_switch(u, v, 1) + 1]++;
    for (int32_t i = 0; i < u->nswitch; i++)
        w->first[i + 1] += w->first[i];
    for (int32_t v = f->nnode - 1; v >= 0; v--)
        if (f->node_kind[v] == NODE_NIC && u->leave[v] >= 0)
            w->node[--w->first[updown_switch(u, v, 1) + 1]] = v;
    for (int32_t i = 0; i < u->nswitch; i++)
        w->first[i] = w->first[i + 1];
    int32_t n = 0;
    for (int32_t v = 0; v < f->nnode; v++)
        n += f->node_kind[v] == NODE_NIC && u->leave[v] >= 0;
    w->first[u->nswitch] = n;
}

static void count_used(struct filler *w)
{
    int64_t n = (int64_t)w->t->nswitch * w->t->nnode;
    for (int64_t i = 0; i < n; i++)
        if (w->t->arc[i] >= 0)
            w->used[w->t->arc[i]]++;
}

/* Returns how many entries wait for a turn. */
static int64_t fill_all(struct filler *w)
{
    struct updown *u = w->u;
    int64_t n = (int64_t)w->t->nswitch * w->t->nnode, turns = 0;
    count_used(w);
    for (int32_t r = 0; r < u->nswitch; r++) {
        updown_to(u, r);
        for (int32_t v = 0; v < u->nswitch; v++)
            w->near[(int64_t)r * u->nswitch + v] = u->hops[v] != UPDOWN_FAR;
        for (int32_t k = w->first[r]; k < w->first[r + 1]; k++)
            fill_node(w, w->node[k], u->leave[w->node[k]]);
        fill_node(w, u->node[r], -1);
    }
    for (int64_t i = 0; i < n; i++)
        turns += w->t->arc[i] == TURN;
    return turns;
}

/* ---- turns ---- */

/* 1 when r reaches, and is reached by, every switch of its part. */
static int central(const struct filler *w, int32_t r)
{
    const struct updown *u = w->u;
    int64_t n = u->nswitch;
    for (int32_t v = 0; v < n; v++)
        if (u->part[v] == u->part[r] && !(w->near[r * n + v] && w->near[v * n + r]))
            return 0;
    return 1;
}

/* The turning switch number skip (counted from 0, lowest tiers first) of every part; -1 where there are not so many. */
static void choose_turns(const struct filler *w, int32_t skip, int32_t *turn, int32_t *left)
{
    const struct updown *u = w->u;
    for (int32_t v = 0; v < u->nswitch; v++) {
        turn[v] = -1;
        left[v] = skip;
    }
    for (int32_t v = u->nswitch - 1; v >= 0; v--)
        if (turn[u->part[v]] < 0 && central(w, v) && left[u->part[v]]-- == 0)
            turn[u->part[v]] = v;
}

/* Copies the waiting entries of waits from the columns of the turning switches. 1 when a part has none. */
static int turn_all(const struct filler *w, const int32_t *waits, const int32_t *turn)
{
    const struct updown *u = w->u;
    struct forward *t = w->t;
    for (int32_t v = 0; v < u->nswitch; v++) {
        int32_t *row = forward_row(t, u->node[v]), to = turn[u->part[v]];
        const int32_t *wait = waits + (int64_t)t->row[u->node[v]] * t->nnode;
        for (int32_t d = 0; d < t->nnode; d++) {
            if (wait[d] != TURN)
                continue;
            if (to < 0)
                return 1;
            row[d] = row[u->node[to]];
        }
    }
    return 0;
}

static int try_turns(struct filler *w, struct err *e)
{
    struct forward *t = w->t;
    int64_t n = (int64_t)t->nswitch * t->nnode;
    int32_t *waits = array(n, sizeof *waits), *turn = array(w->u->nswitch, sizeof *turn);
    int32_t *left = array(w->u->nswitch, sizeof *left);
    int rc = waits && turn && left ? 1 : fail(e, E_MEMORY, "out of memory for %lld entries", (long long)n);
    if (rc > 0)
        memcpy(waits, t->arc, (size_t)n * sizeof *waits);
    for (int32_t skip = 0; rc > 0 && skip < MOST_TURNS; skip++) {
        choose_turns(w, skip, turn, left);
        if (turn_all(w, waits, turn))
            break;
        rc = complete_cyclic(w->u->fabric, t, e);
    }
    free(waits);
    free(turn);
    free(left);
    return rc;
}

int complete_tables(struct updown *u, struct forward *t, struct err *e)
{
    int64_t n = u->nswitch;
    struct filler w = { .u = u, .t = t };
    w.used = array(u->fabric->narc, sizeof *w.used);
    w.first = array(n + 1, sizeof *w.first);
    w.node = array(u->fabric->nnode, sizeof *w.node);
    w.near = array(n * n, 1);
    int rc = w.used && w.first && w.node && w.near
                 ? 0
                 : fail(e, E_MEMORY, "out of memory for the tables of %d switches", u->nswitch);
    if (rc == 0) {
        group_nics(&w);
        rc = fill_all(&w) > 0 ? try_turns(&w, e) : complete_cyclic(u->fabric, t, e);
    }
    free(w.used);
    free(w.first);
    free(w.node);
    free(w.near);
    return rc;
}

/* ---- cycles ---- */

/* Arc a is followed by arc b under some entry: bit base[a] + (place of b among the live arcs out of its tail). */
struct waits {
    int64_t *base; /* [narc + 1] */
    uint8_t *bit;
    int32_t *slot;   /* [narc] place of each arc in out */
    int32_t *degree; /* [narc] arcs that wait for it, inward */
    int32_t *queue;  /* [narc] */
};

static int waits_new(struct waits *w, const struct fabric *f)
{
    w->base = array((int64_t)f->narc + 1, sizeof *w->base);
    w->slot = array(f->narc, sizeof *w->slot);
    w->degree = array(f->narc, sizeof *w->degree);
    w->queue = array(f->narc, sizeof *w->queue);
    if (!w->base || !w->slot || !w->degree || !w->queue)
        return -1;
    for (int32_t a = 0; a < f->narc; a++) {
        int32_t v = f->head[a];
        w->base[a + 1] = w->base[a] + (f->live[a] ? f->first[v + 1] - f->first[v] : 0);
    }
    for (int32_t v = 0; v < f->nnode; v++)
        for (int32_t k = f->first[v]; k < f->first[v + 1]; k++)
            w->slot[f->out[k]] = k - f->first[v];
    w->bit = array(w->base[f->narc], 1);
    return w->bit ? 0 : -1;
}

static void find_waits(struct waits *w, const struct fabric *f, const struct forward *t)
{
    for (int32_t v = 0; v < f->nnode; v++) {
        if (t->row[v] < 0)
            continue;
        const int32_t *row = forward_row(t, v);
        for (int32_t d = 0; d < t->nnode; d++) {
            int32_t a = row[d], to = a >= 0 ? f->head[a] : d;
            int32_t b = to != d && t->row[to] >= 0 ? forward_row(t, to)[d] : -1;
            if (b < 0 || w->bit[w->base[a] + w->slot[b]])
                continue;
            w->bit[w->base[a] + w->slot[b]] = 1;
            w->degree[b]++;
        }
    }
}

/* Kahn: arcs that nothing waits to enter are taken away; what can not be taken away is a ring. */
static int32_t peel(struct waits *w, const struct fabric *f)
{
    int32_t n = 0;
    for (int32_t a = 0; a < f->narc; a++)
        if (w->degree[a] == 0)
            w->queue[n++] = a;
    for (int32_t i = 0; i < n; i++) {
        int32_t a = w->queue[i], v = f->head[a];
        for (int64_t k = w->base[a]; k < w->base[a + 1]; k++) {
            int32_t b = f->out[f->first[v] + (int32_t)(k - w->base[a])];
            if (w->bit[k] && --w->degree[b] == 0)
                w->queue[n++] = b;
        }
    }
    return n;
}

int complete_cyclic(const struct fabric *f, const struct forward *t, struct err *e)
{
    struct waits w = { 0 };
    int rc = waits_new(&w, f);
    if (rc == 0) {
        find_waits(&w, f, t);
        rc = peel(&w, f) < f->narc;
    } else {
        fail(e, E_MEMORY, "out of memory for the arcs that wait for %d arcs", f->narc);
    }
    free(w.base);
    free(w.bit);
    free(w.slot);
    free(w.degree);
    free(w.queue);
    return rc;
}
