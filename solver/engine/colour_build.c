#include "solver/engine/colour_state.h"

#include <stdlib.h>

enum { MAX_CABLES = 64 }; /* parallel cables told apart */

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
    if (size > COLOUR_MAX_SLOT / 2)
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

int colour_build(struct colour *c)
{
    const struct lanes *w = c->w;
    int32_t *plane = array(w->nnode, sizeof *plane), *queue = array(w->nnode, sizeof *queue);
    c->tier = array(w->nnode, sizeof *c->tier);
    c->pod = array(w->nnode, sizeof *c->pod);
    int rc = plane && queue && c->tier && c->pod ? 0 : -1;
    if (rc == 0) {
        find_tiers(c, queue);
        components(c, 1, c->pod);
        components(c, 2, plane);
        unplane(c, plane);
        rc = build_table(c, &c->t[0], 1, plane, c->pod) < 0 ? -1 : build_table(c, &c->t[1], 2, plane, NULL);
    }
    free(plane);
    free(queue);
    return rc;
}
