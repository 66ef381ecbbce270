#include "solver/engine/lanes.h"

#include "solver/kernel/paths.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MAX_DAG = 32 << 20;       /* arcs of all fewest-hop graphs together: 128 MB */
static const int64_t MAX_SCAN = 400 * 1000000; /* row-arc checks to build them */
static const int64_t MAX_DETOUR = 1000000000;  /* arc checks to find detours; beyond it pairs keep fewest-hop ways */
static const int64_t MAX_WIDE = 1 << 20;       /* flows that may get room for wide searches */
enum { SMALL = 256 };                          /* arcs of a graph so small that every search may be wide */

static int no_path(const struct problem *p, int32_t f, struct err *e)
{
    int32_t j = p->job[f];
    return fail(e, E_INPUT, "jobs[%d].flows[%d]: no live path from \"%s\" to \"%s\"", j, f - p->job_first[j],
                p->fabric->node_name[p->src[f]], p->fabric->node_name[p->dst[f]]);
}

static int listed(const struct problem *p, int32_t f)
{
    return p->list_first && p->list_first[f + 1] > p->list_first[f];
}

/* Where the implicit way of f begins and ends, as fabric nodes; sets enter and leave. */
static int32_t way_begin(struct lanes *w, int32_t f)
{
    const struct fabric *g = w->problem->fabric;
    int32_t s = w->problem->src[f];
    if (g->node_kind[s] != NODE_NIC || g->first[s + 1] - g->first[s] != 1)
        return s;
    int32_t a = g->out[g->first[s]];
    if (g->node_kind[g->head[a]] == NODE_NIC)
        return s;
    w->enter[f] = a;
    return g->head[a];
}

static int32_t way_end(struct lanes *w, int32_t f)
{
    const struct fabric *g = w->problem->fabric;
    int32_t t = w->problem->dst[f];
    if (g->node_kind[t] != NODE_NIC || g->ifirst[t + 1] - g->ifirst[t] != 1)
        return t;
    int32_t a = g->in[g->ifirst[t]];
    if (g->node_kind[g->tail[a]] == NODE_NIC)
        return t;
    w->leave[f] = a;
    return g->tail[a];
}

/* Ends of every routed flow: end[2 f], end[2 f + 1] as fabric nodes; numbers the compact nodes. */
static void find_ends(struct lanes *w, int32_t *end)
{
    const struct problem *p = w->problem;
    const struct fabric *g = p->fabric;
    for (int32_t v = 0; v < g->nnode; v++)
        w->compact[v] = g->node_kind[v] == NODE_NIC ? -1 : w->nnode++;
    w->nswitch = w->nnode;
    for (int32_t f = 0; f < p->nflow; f++) {
        w->enter[f] = w->leave[f] = w->pair[f] = -1;
        if (!problem_routed(p, f))
            continue;
        int explicit = p->options.policy == PATHS_DISJOINT || listed(p, f);
        end[2 * (int64_t)f] = explicit ? p->src[f] : way_begin(w, f);
        end[2 * (int64_t)f + 1] = explicit ? p->dst[f] : way_end(w, f);
        for (int i = 0; i < 2; i++)
            if (w->compact[end[2 * (int64_t)f + i]] < 0)
                w->compact[end[2 * (int64_t)f + i]] = w->nnode++;
    }
}

static int build_graph(struct lanes *w)
{
    const struct fabric *g = w->problem->fabric;
    w->first = array((int64_t)w->nnode + 1, sizeof *w->first);
    w->out = array(g->narc, sizeof *w->out);
    w->head = array(g->narc, sizeof *w->head);
    w->tail = array(g->narc, sizeof *w->tail);
    int32_t *node = array(w->nnode, sizeof *node);
    if (!w->first || !w->out || !w->head || !w->tail || !node) {
        free(node);
        return -1;
    }
    for (int32_t a = 0; a < g->narc; a++) {
        w->tail[a] = w->compact[g->tail[a]];
        w->head[a] = w->compact[g->head[a]];
    }
    for (int32_t v = 0; v < g->nnode; v++)
        if (w->compact[v] >= 0)
            node[w->compact[v]] = v;
    int32_t n = 0;
    for (int32_t v = 0; v < w->nnode; v++) {
        w->first[v] = n;
        for (int32_t i = g->first[node[v]]; i < g->first[node[v] + 1]; i++)
            if (w->head[g->out[i]] >= 0)
                w->out[n++] = g->out[i];
    }
    w->first[w->nnode] = n;
    free(node);
    return 0;
}

/* One flow and what decides its pair; sorting these makes the pairs. */
struct wanted {
    int32_t a, b, flow, own; /* own: 1 + flow where it lists its paths, else 0 */
};

static int by_ends(const void *x, const void *y)
{
    const struct wanted *s = x, *t = y;
    if (s->own != t->own)
        return s->own < t->own ? -1 : 1;
    if (s->a != t->a)
        return s->a < t->a ? -1 : 1;
    if (s->b != t->b)
        return s->b < t->b ? -1 : 1;
    return (s->flow > t->flow) - (s->flow < t->flow);
}

static int make_pairs(struct lanes *w, const int32_t *end)
{
    const struct problem *p = w->problem;
    struct wanted *want = array(p->nflow, sizeof *want);
    int32_t n = 0;
    if (!want)
        return -1;
    for (int32_t f = 0; f < p->nflow; f++)
        if (problem_routed(p, f))
            want[n++] = (struct wanted){ w->compact[end[2 * (int64_t)f]], w->compact[end[2 * (int64_t)f + 1]], f,
                                         listed(p, f) ? f + 1 : 0 };
    qsort(want, (size_t)n, sizeof *want, by_ends);
    for (int32_t i = 0; i < n; i++) {
        int same = i > 0 && want[i].own == want[i - 1].own && want[i].a == want[i - 1].a && want[i].b == want[i - 1].b;
        w->npair += !same;
        w->pair[want[i].flow] = w->npair - 1;
    }
    w->way = array(w->npair, sizeof *w->way);
    for (int32_t i = 0; w->way && i < n; i++) {
        int explicit = p->options.policy == PATHS_DISJOINT || want[i].own;
        w->way[w->pair[want[i].flow]] = (struct lane_pair){ .a = want[i].a, .b = want[i].b, .row = explicit ? -1 : 0 };
    }
    free(want);
    return w->way ? 0 : -1;
}

/* Hops to node b from everywhere, over arcs reversed; NICs are not passed through. ifirst, in: arcs by compact head. */
static void hops_to(const struct lanes *w, const int32_t *ifirst, const int32_t *in, int32_t b, uint16_t *dist,
                    int32_t *queue)
{
    for (int32_t v = 0; v < w->nnode; v++)
        dist[v] = LANES_FAR;
    int32_t n = 0;
    dist[b] = 0;
    queue[n++] = b;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = queue[i];
        if (v != b && v >= w->nswitch)
            continue;
        for (int32_t k = ifirst[v]; k < ifirst[v + 1]; k++) {
            int32_t u = w->tail[in[k]];
            if (dist[u] == LANES_FAR && dist[v] < LANES_FAR - 1) {
                dist[u] = (uint16_t)(dist[v] + 1);
                queue[n++] = u;
            }
        }
    }
}

/* One row of distances per end node of an implicit pair. */
static int build_rows(struct lanes *w)
{
    int32_t *row = array(w->nnode, sizeof *row), *queue = array(w->nnode, sizeof *queue);
    int32_t *ifirst = array((int64_t)w->nnode + 2, sizeof *ifirst), *in = array(w->first[w->nnode], sizeof *in);
    int rc = row && queue && ifirst && in ? 0 : -1;
    for (int32_t i = 0; rc == 0 && i < w->npair; i++)
        if (w->way[i].row >= 0 && w->way[i].a != w->way[i].b && row[w->way[i].b] == 0)
            row[w->way[i].b] = ++w->nrow;
    if (rc == 0) {
        w->dist = array((int64_t)w->nrow * w->nnode, sizeof *w->dist);
        rc = w->dist ? 0 : -1;
    }
    if (rc == 0) {
        for (int32_t i = 0; i < w->first[w->nnode]; i++)
            ifirst[w->head[w->out[i]] + 2]++;
        for (int32_t v = 0; v < w->nnode; v++)
            ifirst[v + 2] += ifirst[v + 1];
        for (int32_t i = 0; i < w->first[w->nnode]; i++)
            in[ifirst[w->head[w->out[i]] + 1]++] = w->out[i];
        for (int32_t v = 0; v < w->nnode; v++)
            if (row[v] > 0)
                hops_to(w, ifirst, in, v, w->dist + (int64_t)(row[v] - 1) * w->nnode, queue);
        for (int32_t i = 0; i < w->npair; i++)
            if (w->way[i].row >= 0)
                w->way[i].row = w->way[i].a == w->way[i].b ? 0 : row[w->way[i].b] - 1;
    }
    free(row);
    free(queue);
    free(ifirst);
    free(in);
    return rc;
}

/* Fewest-hop arcs of every node towards every row's end, where they fit in memory. */
static int build_dags(struct lanes *w)
{
    int64_t narc = w->first[w->nnode], total = 0;
    if (w->nrow * narc > MAX_SCAN)
        return 0;
    for (int pass = 0; pass < 2; pass++) {
        total = 0;
        for (int32_t r = 0; r < w->nrow; r++) {
            const uint16_t *dist = w->dist + (int64_t)r * w->nnode;
            int64_t *at = pass ? w->row_at + (int64_t)r * (w->nnode + 1) : NULL;
            for (int32_t v = 0; v < w->nnode; v++) {
                if (pass)
                    at[v] = total;
                for (int32_t i = w->first[v]; dist[v] != LANES_FAR && i < w->first[v + 1]; i++) {
                    int32_t h = w->head[w->out[i]];
                    if (dist[h] + 1 != dist[v] || (h >= w->nswitch && dist[h] > 0))
                        continue;
                    if (pass)
                        w->row_arc[total] = w->out[i];
                    total++;
                }
            }
            if (pass)
                at[w->nnode] = total;
        }
        if (pass == 0) {
            if (total > MAX_DAG)
                return 0;
            w->row_at = array((int64_t)w->nrow * (w->nnode + 1), sizeof *w->row_at);
            w->row_arc = array(total, sizeof *w->row_arc);
            if (!w->row_at || !w->row_arc)
                return -1;
        }
    }
    return 0;
}

/* Scratch of the search for detours. */
struct detour {
    int32_t *queue;                   /* [nnode] */
    uint16_t *from;                   /* [nnode] hops from a without passing b */
    double (*level)[LANES_SLACK + 1]; /* [nnode + 1]: capacity across distance level j + 1 -> j by slack */
};

static void hops_from(const struct lanes *w, int32_t a, int32_t b, struct detour *d)
{
    for (int32_t v = 0; v < w->nnode; v++)
        d->from[v] = LANES_FAR;
    int32_t n = 0;
    d->from[a] = 0;
    d->queue[n++] = a;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = d->queue[i];
        if (v == b || (v != a && v >= w->nswitch))
            continue;
        for (int32_t k = w->first[v]; k < w->first[v + 1]; k++) {
            int32_t u = w->head[w->out[k]];
            if (d->from[u] == LANES_FAR && d->from[v] < LANES_FAR - 1) {
                d->from[u] = (uint16_t)(d->from[v] + 1);
                d->queue[n++] = u;
            }
        }
    }
}

/* Each set { v : dist[v] > j } separates a from b: its arcs that ways of at most hops + s arcs can use bound what those
 * ways carry together. Returns the smallest s in [0, LANES_SLACK] that gives half of what the ends could send and
 * receive, else the smallest that gives as much as LANES_SLACK does. */
static int32_t slack_for(const struct lanes *w, const struct lane_pair *y, struct detour *d)
{
    const double *cap = w->problem->fabric->cap;
    const uint16_t *dist = w->dist + (int64_t)y->row * w->nnode;
    double send = 0, receive = 0, width[LANES_SLACK + 1];
    hops_from(w, y->a, y->b, d);
    memset(d->level, 0, (size_t)y->hops * sizeof *d->level);
    for (int32_t v = 0; v < w->nnode; v++) {
        for (int32_t i = w->first[v]; i < w->first[v + 1]; i++) {
            int32_t a = w->out[i], h = w->head[a];
            if (h == y->b)
                receive += v < w->nswitch ? cap[a] : 0;
            if (v == y->a)
                send += h < w->nswitch ? cap[a] : 0;
            int32_t over = (int32_t)d->from[v] + 1 + dist[h] - y->hops;
            if (dist[v] != dist[h] + 1 || dist[h] >= y->hops || d->from[v] == LANES_FAR || over > LANES_SLACK ||
                v == y->b)
                continue;
            for (int32_t s = over; s <= LANES_SLACK; s++)
                d->level[dist[h]][s] += cap[a];
        }
    }
    double half = .5 * (send < receive ? send : receive);
    for (int32_t s = 0; s <= LANES_SLACK; s++) {
        width[s] = d->level[0][s];
        for (int32_t j = 1; j < y->hops; j++)
            width[s] = d->level[j][s] < width[s] ? d->level[j][s] : width[s];
    }
    for (int32_t s = 0; s <= LANES_SLACK; s++)
        if (width[s] >= half || width[s] >= width[LANES_SLACK])
            return s;
    return LANES_SLACK;
}

/* 1 when the fewest-hop ways alone carry half of what the ends can send and receive, level by level: the common case,
 * told without looking at the whole graph. stamp[nnode] holds the last pair that met a node. */
static int wide_enough(const struct lanes *w, const struct lane_pair *y, const double *out, const double *in,
                       int32_t *stamp, int32_t mark, int32_t *queue)
{
    const double *cap = w->problem->fabric->cap;
    const int64_t *at = w->row_at + (int64_t)y->row * (w->nnode + 1);
    double half = .5 * (out[y->a] < in[y->b] ? out[y->a] : in[y->b]), level = 0;
    int32_t n = 0, end = 1;
    stamp[y->a] = mark;
    queue[n++] = y->a;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = queue[i];
        if (i == end) { /* a new layer: all its arcs are known to come */
            if (level < half)
                return 0;
            level = 0;
            end = n;
        }
        for (int64_t k = at[v]; k < at[v + 1]; k++) {
            int32_t h = w->head[w->row_arc[k]];
            level += cap[w->row_arc[k]];
            if (stamp[h] != mark && h != y->b) {
                stamp[h] = mark;
                queue[n++] = h;
            }
        }
    }
    return level >= half;
}

/* Capacity between each node and switches, outwards and inwards. */
static void end_speeds(const struct lanes *w, double *out, double *in)
{
    for (int32_t i = 0; i < w->first[w->nnode]; i++) {
        int32_t a = w->out[i], s = w->tail[a], t = w->head[a];
        if (t < w->nswitch)
            out[s] += w->problem->fabric->cap[a];
        if (s < w->nswitch)
            in[t] += w->problem->fabric->cap[a];
    }
}

static int set_limits(struct lanes *w)
{
    struct detour d = { array(w->nnode, sizeof *d.queue), array(w->nnode, sizeof *d.from),
                        array((int64_t)w->nnode + 1, sizeof *d.level) };
    double *out = array(w->nnode, sizeof *out), *in = array(w->nnode, sizeof *in);
    int32_t *stamp = array(w->nnode, sizeof *stamp);
    int rc = d.queue && d.from && d.level && out && in && stamp ? 0 : -1;
    int all = w->problem->options.policy == PATHS_ALL, small = w->first[w->nnode] <= SMALL;
    int64_t checks = 0;
    if (rc == 0)
        end_speeds(w, out, in);
    for (int32_t i = 0; rc == 0 && i < w->npair; i++) {
        struct lane_pair *y = &w->way[i];
        if (y->row < 0 || y->a == y->b)
            continue;
        y->hops = y->limit = y->wide = w->dist[(int64_t)y->row * w->nnode + y->a];
        if (!all || y->hops == LANES_FAR)
            continue;
        if (small) {
            y->limit += LANES_SLACK;
        } else if (checks < MAX_DETOUR && !(w->row_at && wide_enough(w, y, out, in, stamp, i + 1, d.queue))) {
            y->limit += slack_for(w, y, &d);
            checks += w->first[w->nnode];
        }
        y->wide = w->problem->nflow <= MAX_WIDE ? y->hops + LANES_SLACK : y->limit;
    }
    free(d.queue);
    free(d.from);
    free(d.level);
    free(out);
    free(in);
    free(stamp);
    return rc;
}

/* Makes room and appends one explicit path. room[0] counts list_at, room[1] list_arc. */
static int add_path(struct lanes *w, int64_t room[2], const int32_t *arc, int32_t n)
{
    void *at = w->list_at, *arcs = w->list_arc;
    int64_t used = w->list_at ? w->list_at[w->nlist] : 0;
    if (array_grow(&at, &room[0], w->nlist + 2, sizeof *w->list_at) < 0)
        return -1;
    w->list_at = at;
    if (array_grow(&arcs, &room[1], used + n, sizeof *w->list_arc) < 0)
        return -1;
    w->list_arc = arcs;
    memcpy(w->list_arc + used, arc, (size_t)n * sizeof *arc);
    w->list_at[++w->nlist] = used + n;
    return 0;
}

/* The live ones of the paths that flow f lists. */
static int list_own(struct lanes *w, int64_t room[2], int32_t f)
{
    const struct problem *p = w->problem;
    for (int64_t k = p->list_first[f]; k < p->list_first[f + 1]; k++) {
        int live = 1;
        for (int64_t i = p->list_at[k]; i < p->list_at[k + 1]; i++)
            live = live && p->fabric->live[p->list_arc[i]];
        if (live && add_path(w, room, p->list_arc + p->list_at[k], (int32_t)(p->list_at[k + 1] - p->list_at[k])) < 0)
            return -1;
    }
    return 0;
}

static int list_disjoint(struct lanes *w, int64_t room[2], struct paths *search, int32_t f, int32_t *at, int32_t *arc)
{
    const struct problem *p = w->problem;
    int32_t n = paths_disjoint(search, p->src[f], p->dst[f], p->options.disjoint, at, arc, p->fabric->narc);
    for (int32_t i = 0; i < n; i++)
        if (add_path(w, room, arc + at[i], at[i + 1] - at[i]) < 0)
            return -1;
    return n < 0 ? -1 : 0;
}

/* Explicit lists: pairs in order, so that each pair's paths stand together. */
static int build_lists(struct lanes *w)
{
    const struct problem *p = w->problem;
    const struct fabric *g = p->fabric;
    int disjoint = p->options.policy == PATHS_DISJOINT, rc = -1;
    int64_t room[2] = { 0, 0 };
    if (!disjoint && !p->list_first)
        return 0;
    struct paths *search = NULL;
    int32_t *one = array(w->npair, sizeof *one), *at = array((int64_t)p->options.disjoint + 1, sizeof *at);
    int32_t *arc = array(disjoint ? g->narc : 0, sizeof *arc);
    uint8_t *nic = array(g->nnode, 1);
    if (!one || !at || !arc || !nic)
        goto out;
    for (int32_t v = 0; v < g->nnode; v++)
        nic[v] = g->node_kind[v] == NODE_NIC;
    if (disjoint &&
        !(search = paths_new(&(struct graph){ g->nnode, g->narc, g->first, g->out, g->head, g->tail, nic })))
        goto out;
    for (int32_t f = p->nflow - 1; f >= 0; f--)
        if (w->pair[f] >= 0)
            one[w->pair[f]] = f;
    rc = 0;
    for (int32_t i = 0; i < w->npair && rc == 0; i++) {
        struct lane_pair *y = &w->way[i];
        if (y->row >= 0)
            continue;
        y->first = w->nlist;
        rc = listed(p, one[i]) ? list_own(w, room, one[i]) : list_disjoint(w, room, search, one[i], at, arc);
        y->last = w->nlist;
        for (int64_t k = y->first; rc == 0 && k < y->last; k++) {
            int32_t n = (int32_t)(w->list_at[k + 1] - w->list_at[k]);
            y->hops = k == y->first || n < y->hops ? n : y->hops;
            y->limit = y->wide = n > y->limit ? n : y->limit;
        }
    }
out:
    paths_free(search);
    free(one);
    free(at);
    free(arc);
    free(nic);
    return rc;
}

static int check_reachable(struct lanes *w, struct err *e)
{
    for (int32_t f = 0; f < w->problem->nflow; f++) {
        if (w->pair[f] < 0)
            continue;
        const struct lane_pair *y = &w->way[w->pair[f]];
        if (y->row >= 0 ? y->hops == LANES_FAR : y->first == y->last)
            return no_path(w->problem, f, e);
        w->longest = y->wide > w->longest ? y->wide : w->longest;
    }
    return 0;
}

struct lanes *lanes_new(const struct problem *p, struct err *e)
{
    struct lanes *w = array(1, sizeof *w);
    int32_t *end = array(2 * (int64_t)p->nflow, sizeof *end);
    if (!w || !end)
        goto oom;
    w->problem = p;
    w->compact = array(p->fabric->nnode, sizeof *w->compact);
    w->enter = array(p->nflow, sizeof *w->enter);
    w->leave = array(p->nflow, sizeof *w->leave);
    w->pair = array(p->nflow, sizeof *w->pair);
    if (!w->compact || !w->enter || !w->leave || !w->pair)
        goto oom;
    find_ends(w, end);
    if (build_graph(w) < 0 || make_pairs(w, end) < 0 || build_rows(w) < 0 || build_dags(w) < 0 || set_limits(w) < 0 ||
        build_lists(w) < 0)
        goto oom;
    free(end);
    if (check_reachable(w, e) < 0) {
        lanes_free(w);
        return NULL;
    }
    return w;
oom:
    free(end);
    lanes_free(w);
    fail(e, E_MEMORY, "out of memory for the ways of %d flows", p->nflow);
    return NULL;
}

void lanes_free(struct lanes *w)
{
    if (!w)
        return;
    void *owned[] = { w->compact, w->first, w->out,   w->head, w->tail, w->dist,    w->row_at,
                      w->row_arc, w->enter, w->leave, w->pair, w->way,  w->list_at, w->list_arc };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(w);
}
