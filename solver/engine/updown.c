#include "solver/engine/updown.h"

#include <stdlib.h>
#include <string.h>

struct key {
    int32_t part, level, node;
};

static int by_level(const void *x, const void *y)
{
    const struct key *s = x, *t = y;
    if (s->level != t->level)
        return s->level < t->level ? -1 : 1;
    return (s->node > t->node) - (s->node < t->node);
}

static int is_switch_arc(const struct fabric *f, int32_t a)
{
    return f->live[a] && f->node_kind[f->tail[a]] == NODE_SWITCH && f->node_kind[f->head[a]] == NODE_SWITCH;
}

/* Breadth first over live cables between switches, both directions, from what queue[n] holds; level -1: not reached. */
static void spread(const struct fabric *f, int32_t *level, int32_t *queue, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t v = queue[i];
        for (int dir = 0; dir < 2; dir++) {
            const int32_t *at = dir ? f->ifirst : f->first, *arc = dir ? f->in : f->out;
            for (int32_t k = at[v]; k < at[v + 1]; k++) {
                int32_t u = dir ? f->tail[arc[k]] : f->head[arc[k]];
                if (f->node_kind[u] == NODE_SWITCH && level[u] < 0) {
                    level[u] = level[v] + 1;
                    queue[n++] = u;
                }
            }
        }
    }
}

/* tier[v] of every switch: as given, else 1 plus the hops from the nearest switch with a NIC. */
static void find_tiers(const struct fabric *f, int32_t *tier, int32_t *queue)
{
    int32_t n = 0;
    for (int32_t v = 0; v < f->nnode; v++)
        tier[v] = -1;
    for (int32_t a = 0; a < f->narc; a++) {
        int32_t v = f->head[a];
        if (f->live[a] && f->node_kind[f->tail[a]] == NODE_NIC && f->node_kind[v] == NODE_SWITCH && tier[v] < 0) {
            tier[v] = 1;
            queue[n++] = v;
        }
    }
    spread(f, tier, queue, n);
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->node_tier[v] >= 0)
            tier[v] = f->node_tier[v];
}

/* part[v]: the connected part of switch v, named by its first node in order; level[v] becomes hops from that node. */
static void find_parts(const struct fabric *f, const int32_t *order, int32_t n, int32_t *part, int32_t *level,
                       int32_t *queue)
{
    for (int32_t v = 0; v < f->nnode; v++)
        level[v] = part[v] = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t root = order[i];
        if (level[root] >= 0)
            continue;
        level[root] = 0;
        queue[0] = root;
        spread(f, level, queue, 1);
        for (int32_t v = 0; v < f->nnode; v++)
            if (level[v] >= 0 && part[v] < 0)
                part[v] = root;
    }
}

/* Sorts the switches by (level, node), levels falling or rising. */
static void sort_switches(struct updown *u, struct key *key, const int32_t *level, int rising)
{
    int32_t n = 0;
    for (int32_t v = 0; v < u->fabric->nnode; v++)
        if (u->fabric->node_kind[v] == NODE_SWITCH)
            key[n++] = (struct key){ .level = rising ? level[v] : -level[v], .node = v };
    qsort(key, (size_t)n, sizeof *key, by_level);
    for (int32_t i = 0; i < n; i++)
        u->node[i] = key[i].node;
}

static int find_order(struct updown *u, enum updown_order order)
{
    const struct fabric *f = u->fabric;
    struct key *key = array(f->nnode, sizeof *key);
    int32_t *level = array(f->nnode, sizeof *level), *part = array(f->nnode, sizeof *part);
    int32_t *queue = array(f->nnode, sizeof *queue);
    int rc = key && level && part && queue ? 0 : -1;
    if (rc == 0) {
        find_tiers(f, level, queue);
        sort_switches(u, key, level, 0);
        find_parts(f, u->node, u->nswitch, part, level, queue);
        if (order == UPDOWN_ROOT)
            sort_switches(u, key, level, 1);
        for (int32_t i = 0; i < u->nswitch; i++)
            u->place[u->node[i]] = i;
        for (int32_t i = 0; i < u->nswitch; i++)
            u->part[i] = u->place[part[u->node[i]]];
    }
    free(key);
    free(level);
    free(part);
    free(queue);
    return rc;
}

static void find_arcs(struct updown *u)
{
    const struct fabric *f = u->fabric;
    int32_t n = 0;
    for (int32_t a = 0; a < f->narc; a++)
        u->to[a] = is_switch_arc(f, a) ? u->place[f->head[a]] : -1;
    for (int32_t i = 0; i < u->nswitch; i++) {
        int32_t v = u->node[i];
        u->first[i] = n;
        for (int32_t k = f->first[v]; k < f->first[v + 1]; k++)
            if (u->to[f->out[k]] >= 0)
                u->out[n++] = f->out[k];
    }
    u->first[u->nswitch] = n;
}

/* A NIC is one endpoint: it sends on the cable that it is reached by, where that works in both directions. */
static void find_cables(struct updown *u)
{
    const struct fabric *f = u->fabric;
    for (int32_t v = 0; v < f->nnode; v++) {
        u->enter[v] = u->leave[v] = -1;
        if (f->node_kind[v] != NODE_NIC)
            continue;
        for (int32_t k = f->ifirst[v]; k < f->ifirst[v + 1] && u->leave[v] < 0; k++)
            if (f->node_kind[f->tail[f->in[k]]] == NODE_SWITCH)
                u->leave[v] = f->in[k];
        if (u->leave[v] >= 0 && f->live[u->leave[v] ^ 1])
            u->enter[v] = u->leave[v] ^ 1;
        for (int32_t k = f->first[v]; k < f->first[v + 1] && u->enter[v] < 0; k++)
            if (f->node_kind[f->head[f->out[k]]] == NODE_SWITCH)
                u->enter[v] = f->out[k];
    }
}

struct updown *updown_new(const struct fabric *f, enum updown_order order, struct err *e)
{
    struct updown *u = array(1, sizeof *u);
    if (!u)
        goto oom;
    u->fabric = f;
    for (int32_t v = 0; v < f->nnode; v++)
        u->nswitch += f->node_kind[v] == NODE_SWITCH;
    u->node = array(u->nswitch, sizeof *u->node);
    u->place = array(f->nnode, sizeof *u->place);
    u->part = array(u->nswitch, sizeof *u->part);
    u->first = array((int64_t)u->nswitch + 1, sizeof *u->first);
    u->out = array(f->narc, sizeof *u->out);
    u->to = array(f->narc, sizeof *u->to);
    u->enter = array(f->nnode, sizeof *u->enter);
    u->leave = array(f->nnode, sizeof *u->leave);
    u->down = array(u->nswitch, sizeof *u->down);
    u->hops = array(u->nswitch, sizeof *u->hops);
    if (!u->node || !u->place || !u->part || !u->first || !u->out || !u->to || !u->enter || !u->leave || !u->down ||
        !u->hops)
        goto oom;
    for (int32_t v = 0; v < f->nnode; v++)
        u->place[v] = -1;
    if (find_order(u, order) < 0)
        goto oom;
    find_arcs(u);
    find_cables(u);
    return u;
oom:
    updown_free(u);
    fail(e, E_MEMORY, "out of memory for the order of %d nodes", f->nnode);
    return NULL;
}

void updown_free(struct updown *u)
{
    if (!u)
        return;
    void *owned[] = { u->node, u->place, u->part, u->first, u->out, u->to, u->enter, u->leave, u->down, u->hops };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(u);
}

int32_t updown_switch(const struct updown *u, int32_t v, int leaves)
{
    const struct fabric *f = u->fabric;
    if (f->node_kind[v] == NODE_SWITCH)
        return u->place[v];
    int32_t a = leaves ? u->leave[v] : u->enter[v];
    return a < 0 ? -1 : u->place[leaves ? f->tail[a] : f->head[a]];
}

/* D(v) = 1 + min D(w) over arcs down, from the root upwards; C(v) = D(v), or 1 + min C(w) over arcs up, from the top
 * downwards. Down arcs lead to later places. */
void updown_to(struct updown *u, int32_t root)
{
    u->root = root;
    for (int32_t v = u->nswitch - 1; v >= 0; v--) {
        int32_t best = v == root ? 0 : UPDOWN_FAR;
        for (int32_t k = u->first[v]; k < u->first[v + 1]; k++) {
            int32_t w = u->to[u->out[k]];
            if (w > v && u->down[w] + 1 < best)
                best = u->down[w] + 1;
        }
        u->down[v] = (uint16_t)best;
    }
    for (int32_t v = 0; v < u->nswitch; v++) {
        int32_t best = u->down[v];
        if (best == UPDOWN_FAR)
            for (int32_t k = u->first[v]; k < u->first[v + 1]; k++) {
                int32_t w = u->to[u->out[k]];
                if (w < v && u->hops[w] + 1 < best)
                    best = u->hops[w] + 1;
            }
        u->hops[v] = (uint16_t)best;
    }
}
