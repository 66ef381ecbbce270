/* Pods from labels, else from METIS on the switch graph. Rank 0 decides and tells the others, so that a random number
 * generator or another version of METIS can never make two ranks disagree.
 */
#include "partition/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/part_metis.h"

/* Pods chosen from the size: one per 64 switches, at most 64. Below two pods' worth the price loop between pods costs
 * more than it splits; beyond 64, cut arcs outnumber what a pod keeps to itself. */
static const int32_t POD_SWITCHES = 64, MOST_PODS = 64;
static const double CAP_SCALE = 1 << 20; /* edge weight of the widest cable */

/* A vertex is a switch with its NICs, or a group of nodes that hang together without any switch. */
struct graph {
    int32_t nvertex;
    int32_t *of;    /* [nnode] vertex of each node */
    int64_t *vw;    /* [nvertex] 1 + NICs */
    int64_t *first; /* [nvertex + 1] */
    int32_t *to;
    int64_t *w;
};

static void graph_free(struct graph *g)
{
    free(g->of);
    free(g->vw);
    free(g->first);
    free(g->to);
    free(g->w);
}

/* Every node's cables, dead ones and both directions included; the fabric itself keeps live arcs only. */
struct cables {
    int32_t *first, *link; /* first[nnode + 1] */
    int32_t *queue;        /* [nnode] scratch of flood */
};

static void cables_free(struct cables *c)
{
    free(c->first);
    free(c->link);
    free(c->queue);
}

static int cables_new(struct cables *c, const struct fabric *f, struct err *e)
{
    c->first = array((int64_t)f->nnode + 1, sizeof *c->first);
    c->link = array(2 * (int64_t)f->nlink, sizeof *c->link);
    c->queue = array(f->nnode, sizeof *c->queue);
    if (!c->first || !c->link || !c->queue)
        return fail(e, E_MEMORY, "out of memory to partition %d nodes and %d links", f->nnode, f->nlink);
    for (int32_t i = 0; i < f->nlink; i++) {
        c->first[f->link_from[i]]++;
        c->first[f->link_to[i]]++;
    }
    for (int32_t v = 0; v < f->nnode; v++)
        c->first[v + 1] += c->first[v];
    for (int32_t i = f->nlink - 1; i >= 0; i--) {
        c->link[--c->first[f->link_from[i]]] = i;
        c->link[--c->first[f->link_to[i]]] = i;
    }
    return 0;
}

/* The first n nodes of the queue lend their of to all they reach, breadth first; dead: over dead cables too. */
static void flood(const struct cables *c, const struct fabric *f, int32_t n, int dead, int32_t *of)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t v = c->queue[i];
        for (int32_t k = c->first[v]; k < c->first[v + 1]; k++) {
            int32_t l = c->link[k], u = f->link_from[l] == v ? f->link_to[l] : f->link_from[l];
            if (of[u] >= 0 || !(dead || f->live[2 * l]))
                continue;
            of[u] = of[v];
            c->queue[n++] = u;
        }
    }
}

/* Nodes without a value take that of the nearest node that has one; who is cut off now belongs where its cable says. */
static void spread(const struct cables *c, const struct fabric *f, int32_t *of)
{
    for (int dead = 0; dead < 2; dead++) {
        int32_t n = 0;
        for (int32_t v = 0; v < f->nnode; v++)
            if (of[v] >= 0)
                c->queue[n++] = v;
        flood(c, f, n, dead, of);
    }
}

/* Pods are the labels in use, in order of first use by node number. Returns their number, 0 when no node has one. */
static int32_t from_labels(const struct fabric *f, const struct labels *l, int32_t *of, int32_t *number)
{
    int32_t n = 0;
    for (int32_t i = 0; i < l->count; i++)
        number[i] = -1;
    for (int32_t v = 0; v < f->nnode; v++) {
        int32_t i = l->of[v];
        if (i >= 0 && number[i] < 0)
            number[i] = n++;
        of[v] = i < 0 ? -1 : number[i];
    }
    return n;
}

/* Gives every node a vertex: switches are numbered first, their NICs follow; what hangs on no switch starts a vertex of
 * its own at its lowest node. */
static void number_vertices(const struct cables *c, const struct fabric *f, struct graph *g)
{
    for (int32_t v = 0; v < f->nnode; v++)
        g->of[v] = f->node_kind[v] == NODE_SWITCH ? g->nvertex++ : -1;
    spread(c, f, g->of);
    for (int32_t v = 0; v < f->nnode; v++)
        if (g->of[v] < 0) {
            g->of[v] = g->nvertex++;
            c->queue[0] = v;
            flood(c, f, 1, 1, g->of);
        }
}

struct edge {
    int32_t from, to;
    int64_t w;
};

static int by_ends(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Live cables between two vertices, both ways, parallel ones added up as integers (in any order), sorted. Returns how
 * many. */
static int64_t collect_edges(const struct fabric *f, const struct graph *g, struct edge *edge)
{
    int64_t m = 0, merged = 0;
    double most = 0;
    for (int32_t i = 0; i < f->nlink; i++)
        most = f->live[2 * i] ? fmax(most, f->link_gbps[i]) : most;
    for (int32_t i = 0; i < f->nlink; i++) {
        int32_t u = g->of[f->link_from[i]], v = g->of[f->link_to[i]];
        if (u == v || !f->live[2 * i])
            continue;
        int64_t w = (int64_t)fmax(1, rint(f->link_gbps[i] / most * CAP_SCALE));
        edge[m++] = (struct edge){ u, v, w };
        edge[m++] = (struct edge){ v, u, w };
    }
    qsort(edge, (size_t)m, sizeof *edge, by_ends);
    for (int64_t i = 0; i < m; i++)
        if (merged > 0 && by_ends(&edge[merged - 1], &edge[i]) == 0)
            edge[merged - 1].w += edge[i].w;
        else
            edge[merged++] = edge[i];
    return merged;
}

static int build_graph(const struct cables *c, const struct fabric *f, struct graph *g, struct err *e)
{
    struct edge *edge = array(2 * (int64_t)f->nlink, sizeof *edge);
    g->of = array(f->nnode, sizeof *g->of);
    if (!edge || !g->of)
        goto oom;
    number_vertices(c, f, g);
    int64_t m = collect_edges(f, g, edge);
    g->vw = array(g->nvertex, sizeof *g->vw);
    g->first = array((int64_t)g->nvertex + 1, sizeof *g->first);
    g->to = array(m, sizeof *g->to);
    g->w = array(m, sizeof *g->w);
    if (!g->vw || !g->first || !g->to || !g->w)
        goto oom;
    for (int64_t i = 0; i < m; i++) {
        g->first[edge[i].from + 1]++;
        g->to[i] = edge[i].to;
        g->w[i] = edge[i].w;
    }
    for (int32_t v = 0; v < g->nvertex; v++)
        g->first[v + 1] += g->first[v];
    for (int32_t v = 0; v < f->nnode; v++)
        g->vw[g->of[v]]++;
    free(edge);
    return 0;
oom:
    free(edge);
    return fail(e, E_MEMORY, "out of memory to partition %d nodes and %d links", f->nnode, f->nlink);
}

/* Returns the number of pods, or -1. */
static int32_t from_metis(const struct problem *p, const struct cables *c, int32_t *of, struct err *e)
{
    const struct fabric *f = p->fabric;
    struct graph g = { 0 };
    int32_t nswitch = 0, k = p->options.pods, rc = -1, *part = NULL;
    for (int32_t v = 0; v < f->nnode; v++)
        nswitch += f->node_kind[v] == NODE_SWITCH;
    if (k <= 0)
        k = nswitch / POD_SWITCHES < MOST_PODS ? nswitch / POD_SWITCHES : MOST_PODS;
    if (k <= 1) {
        memset(of, 0, (size_t)f->nnode * sizeof *of);
        return f->nnode > 0;
    }
    if (build_graph(c, f, &g, e) < 0)
        goto done;
    part = array(g.nvertex, sizeof *part);
    if (!part) {
        fail(e, E_MEMORY, "out of memory to partition %d nodes", f->nnode);
        goto done;
    }
    if (part_metis(g.nvertex, g.first, g.to, g.w, g.vw, p->options.seed, &k, part, e) < 0)
        goto done;
    for (int32_t v = 0; v < f->nnode; v++)
        of[v] = part[g.of[v]];
    rc = k;
done:
    free(part);
    graph_free(&g);
    return rc;
}

/* Fills of[nnode]; returns the number of pods, or -1. */
static int32_t decide(const struct problem *p, int32_t *of, struct err *e)
{
    const struct fabric *f = p->fabric;
    struct cables c = { 0 };
    int32_t n = -1, *number = array((int64_t)f->pod.count + f->site.count, sizeof *number);
    if (!number)
        fail(e, E_MEMORY, "out of memory to partition %d nodes", f->nnode);
    if (!number || cables_new(&c, f, e) < 0)
        goto done;
    n = from_labels(f, &f->pod, of, number);
    if (n == 0 && (n = from_labels(f, &f->site, of, number)) < 2) {
        n = from_metis(p, &c, of, e);
        goto done;
    }
    spread(&c, f, of);
    for (int32_t v = 0; v < f->nnode; v++) /* no cable leads to any labelled node, so any pod will do */
        of[v] = of[v] < 0 ? 0 : of[v];
done:
    free(number);
    cables_free(&c);
    return n;
}

struct pods *partition(const struct problem *p, struct comm *c, struct err *e)
{
    struct {
        int64_t npod;
        struct err e;
    } verdict;
    struct pods *pods = NULL;
    int32_t nnode = p->fabric->nnode, *of = array(nnode, sizeof *of);
    memset(&verdict, 0, sizeof verdict);
    if (!of)
        fail(e, E_MEMORY, "out of memory for %d nodes", nnode);
    if (comm_agree(c, of ? 0 : -1, e) < 0)
        goto done;
    if (c->rank == 0)
        verdict.npod = decide(p, of, &verdict.e);
    if (c->bcast(c, &verdict, sizeof verdict, e) < 0)
        goto done;
    if (verdict.npod < 0) {
        fail(e, verdict.e.code, "%s", verdict.e.text);
        goto done;
    }
    if (c->bcast(c, of, (int64_t)nnode * (int64_t)sizeof *of, e) < 0)
        goto done;
    pods = pods_new(p->fabric, (int32_t)verdict.npod, of, e);
    if (comm_agree(c, pods ? 0 : -1, e) < 0) {
        pods_free(pods);
        pods = NULL;
    }
done:
    free(of);
    return pods;
}
