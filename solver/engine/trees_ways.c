/* Units, destinations and the ways they may take: what trees_new builds. */
#include "solver/engine/trees_part.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAYS = 192 };                      /* per pair; a sample where there are more */
static const int64_t MOST_ARCS = 64 * 1000000; /* of all ways together: 256 MB */

/* One routed flow on its way to become part of a unit. */
struct trip {
    int32_t root, dest, from, flow;
};

static int by_unit(const void *x, const void *y)
{
    const struct trip *s = x, *t = y;
    if (s->root != t->root)
        return s->root < t->root ? -1 : 1;
    if (s->dest != t->dest)
        return s->dest < t->dest ? -1 : 1;
    if (s->from != t->from)
        return s->from < t->from ? -1 : 1;
    return (s->flow > t->flow) - (s->flow < t->flow);
}

int32_t trees_direct(const struct problem *p, int32_t f)
{
    const struct fabric *g = p->fabric;
    int32_t s = p->src[f], d = p->dst[f];
    if (g->node_kind[s] != NODE_NIC || g->node_kind[d] != NODE_NIC)
        return -1;
    for (int32_t k = g->first[s]; k < g->first[s + 1]; k++)
        if (g->head[g->out[k]] == d)
            return g->out[k];
    return -1;
}

/* The flows that pass from one switch to another, sorted; returns how many, -1 with e set. */
static int32_t list_trips(struct trees *t, struct trip *trip, struct err *e)
{
    const struct problem *p = t->p;
    int32_t n = 0;
    for (int32_t f = 0; f < p->nflow; f++) {
        t->unit[f] = -1;
        if (!problem_routed(p, f) || trees_direct(p, f) >= 0)
            continue;
        int32_t from = updown_switch(t->u, p->src[f], 0), root = updown_switch(t->u, p->dst[f], 1);
        if (from < 0 || root < 0 || t->u->part[from] != t->u->part[root])
            return fail(e, E_INPUT,
                        "jobs[%d].flows[%d]: forwarding tables have no way from \"%s\" to \"%s\" (a NIC is one "
                        "endpoint, on its first live cable)",
                        p->job[f], f - p->job_first[p->job[f]], p->fabric->node_name[p->src[f]],
                        p->fabric->node_name[p->dst[f]]);
        if (from != root)
            trip[n++] = (struct trip){ root, p->dst[f], from, f };
    }
    qsort(trip, (size_t)n, sizeof *trip, by_unit);
    return n;
}

static void make_units(struct trees *t, const struct trip *trip, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const struct trip *x = &trip[i], *y = i > 0 ? &trip[i - 1] : NULL;
        int new_dest = !y || y->dest != x->dest || y->root != x->root;
        if (new_dest) {
            t->node[t->ndest] = x->dest;
            t->root[t->ndest] = x->root;
            t->dfirst[t->ndest++] = t->nunit;
        }
        if (new_dest || y->from != x->from) {
            t->from[t->nunit] = x->from;
            t->dest[t->nunit] = t->ndest - 1;
            t->ufirst[t->nunit++] = i;
        }
        t->uflow[i] = x->flow;
        t->unit[x->flow] = t->nunit - 1;
    }
    t->dfirst[t->ndest] = t->nunit;
    t->ufirst[t->nunit] = n;
}

static int new_units(struct trees *t)
{
    int64_t n = t->p->nflow;
    t->unit = array(n, sizeof *t->unit);
    t->from = array(n, sizeof *t->from);
    t->dest = array(n, sizeof *t->dest);
    t->pair = array(n, sizeof *t->pair);
    t->node = array(n, sizeof *t->node);
    t->root = array(n, sizeof *t->root);
    t->dfirst = array(n + 1, sizeof *t->dfirst);
    t->ufirst = array(n + 1, sizeof *t->ufirst);
    t->uflow = array(n, sizeof *t->uflow);
    return t->unit && t->from && t->dest && t->pair && t->node && t->root && t->dfirst && t->ufirst && t->uflow ? 0
                                                                                                                : -1;
}

/* ways[v]: how many legal ways lead from v to the root (as a double: it may be astronomical). */
static void count_ways(const struct updown *u, double *ways)
{
    for (int32_t v = u->nswitch - 1; v >= 0; v--) {
        ways[v] = v == u->root;
        for (int32_t k = u->first[v]; u->down[v] != UPDOWN_FAR && k < u->first[v + 1]; k++)
            if (updown_leads(u, v, u->out[k]))
                ways[v] += ways[u->to[u->out[k]]];
    }
    for (int32_t v = 0; v < u->nswitch; v++)
        for (int32_t k = u->first[v]; u->down[v] == UPDOWN_FAR && k < u->first[v + 1]; k++)
            if (updown_leads(u, v, u->out[k]))
                ways[v] += ways[u->to[u->out[k]]];
}

/* Way number i of those from v, in the order of the arcs. */
static void way_at(const struct updown *u, const double *ways, int32_t v, double i, int32_t *arc)
{
    while (v != u->root) {
        int32_t take = -1;
        for (int32_t k = u->first[v]; k < u->first[v + 1]; k++) {
            int32_t a = u->out[k];
            if (!updown_leads(u, v, a))
                continue;
            take = a;
            if (i < ways[u->to[a]])
                break;
            i -= ways[u->to[a]];
        }
        *arc++ = take;
        v = u->to[take];
    }
}

/* Pairs in the order of the units' roots, then sources. */
struct ends {
    int32_t root, from, unit;
};

static int by_ends(const void *x, const void *y)
{
    const struct ends *s = x, *t = y;
    if (s->root != t->root)
        return s->root < t->root ? -1 : 1;
    if (s->from != t->from)
        return s->from < t->from ? -1 : 1;
    return (s->unit > t->unit) - (s->unit < t->unit);
}

static void list_ends(struct trees *t, struct ends *end)
{
    for (int32_t g = 0; g < t->nunit; g++)
        end[g] = (struct ends){ t->root[t->dest[g]], t->from[g], g };
    qsort(end, (size_t)t->nunit, sizeof *end, by_ends);
    for (int32_t i = 0; i < t->nunit; i++) {
        t->npair += i == 0 || end[i].root != end[i - 1].root || end[i].from != end[i - 1].from;
        t->pair[end[i].unit] = t->npair - 1;
    }
}

/* How many ways each pair gets (wfirst as counts) and how long they are. 1 when a pair has none. */
static int measure_ways(struct trees *t, const struct ends *end, double *ways)
{
    int32_t at = -1;
    for (int32_t i = 0, pair = -1; i < t->nunit; i++) {
        if (t->pair[end[i].unit] == pair)
            continue;
        pair = t->pair[end[i].unit];
        if (end[i].root != at) {
            at = end[i].root;
            updown_to(t->u, at);
            count_ways(t->u, ways);
        }
        int32_t v = end[i].from;
        if (t->u->hops[v] == UPDOWN_FAR)
            return 1;
        t->whops[pair] = t->u->hops[v];
        t->longest = t->whops[pair] > t->longest ? t->whops[pair] : t->longest;
        t->wfirst[pair + 1] = ways[v] < MOST_WAYS ? (int64_t)ways[v] : MOST_WAYS;
    }
    return 0;
}

static void limit_ways(struct trees *t)
{
    int64_t most = MOST_ARCS / ((int64_t)t->npair * t->longest + 1);
    most = most < 4 ? 4 : most > MOST_WAYS ? MOST_WAYS : most;
    for (int32_t i = 0; i < t->npair; i++)
        t->wfirst[i + 1] = t->wfirst[i] + (t->wfirst[i + 1] < most ? t->wfirst[i + 1] : most);
}

static void list_ways(struct trees *t, const struct ends *end, double *ways)
{
    int32_t at = -1;
    for (int32_t i = 0, pair = -1; i < t->nunit; i++) {
        if (t->pair[end[i].unit] == pair)
            continue;
        pair = t->pair[end[i].unit];
        if (end[i].root != at) {
            at = end[i].root;
            updown_to(t->u, at);
            count_ways(t->u, ways);
        }
        int32_t v = end[i].from;
        int64_t n = t->wfirst[pair + 1] - t->wfirst[pair];
        struct rng rng = { .state = mix64((uint64_t)end[i].root << 32 | (uint32_t)v) };
        for (int64_t k = 0; k < n; k++) {
            double number = (double)n < ways[v] ? rng_unit(&rng) * ways[v] : (double)k;
            way_at(t->u, ways, v, number < ways[v] ? number : 0, t->warc + (t->wfirst[pair] + k) * t->longest);
        }
    }
}

/* 0, 1: a pair without a way, -1: short memory. */
static int make_ways(struct trees *t)
{
    struct ends *end = array(t->nunit, sizeof *end);
    double *ways = array(t->u->nswitch, sizeof *ways);
    int rc = end && ways ? 0 : -1;
    if (rc == 0) {
        list_ends(t, end);
        t->wfirst = array((int64_t)t->npair + 1, sizeof *t->wfirst);
        t->whops = array(t->npair, sizeof *t->whops);
        rc = t->wfirst && t->whops ? measure_ways(t, end, ways) : -1;
    }
    if (rc == 0) {
        limit_ways(t);
        t->warc = array(t->wfirst[t->npair] * t->longest, sizeof *t->warc);
        rc = t->warc ? 0 : -1;
    }
    if (rc == 0)
        list_ways(t, end, ways);
    free(end);
    free(ways);
    return rc;
}

int trees_units(struct trees *t, int *no_way, struct err *e)
{
    *no_way = 0;
    struct trip *trip = array(t->p->nflow, sizeof *trip);
    if (!trip || new_units(t) < 0) {
        free(trip);
        return fail(e, E_MEMORY, "out of memory for %d flows", t->p->nflow);
    }
    int32_t n = list_trips(t, trip, e);
    if (n >= 0)
        make_units(t, trip, n);
    free(trip);
    if (n < 0)
        return -1;
    int rc = make_ways(t);
    *no_way = rc > 0;
    return rc < 0 ? fail(e, E_MEMORY, "out of memory for the ways of %d flows", t->p->nflow) : 0;
}
