/* Paths against the fabric, the path policy and the shares: what a route must be before anything is computed from it.
 */
#include "solver/check_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares add to 1 within this. */
static const double SUM = 1e-6;

struct walker {
    const struct problem *p;
    const struct routes *r;
    struct check_report *report;
    int64_t *seen;                   /* [nnode] the last path (plus 1) that visited the node */
    int32_t *hops;                   /* [nflow] under the policy shortest, else NULL */
    struct check_disjoint *disjoint; /* under disjoint:k, else NULL */
};

/* Offsets that every later loop relies on. */
static int check_shape(const struct problem *p, const struct routes *r, struct check_report *report)
{
    if (r->nflow != p->nflow) {
        check_fault(report, "plan has %d flows, problem %d", r->nflow, p->nflow);
        return -1;
    }
    int good = r->first[0] == 0 && r->first[r->nflow] == r->npath && r->at[0] == 0;
    for (int32_t f = 0; f < r->nflow; f++)
        good &= r->first[f] <= r->first[f + 1];
    for (int64_t k = 0; good && k < r->npath; k++)
        good &= r->at[k] <= r->at[k + 1];
    if (!good)
        check_fault(report, "plan's tables of paths do not follow one another");
    return good ? 0 : -1;
}

/* Path k of flow f: contiguous, live, without a loop or a NIC inside, to the right end. 1 when it is. */
static int check_path(const struct walker *w, int32_t f, int64_t k)
{
    const struct problem *p = w->p;
    const struct routes *r = w->r;
    const struct fabric *g = p->fabric;
    int32_t v = p->src[f];
    w->seen[v] = k + 1;
    for (int64_t h = r->at[k]; h < r->at[k + 1]; h++) {
        int32_t a = r->arc[h];
        if (a < 0 || a >= g->narc)
            check_fault_flow(w->report, p, r, f, k, "arc %d is not in [0, %d)", a, g->narc);
        else if (!g->live[a])
            check_fault_flow(w->report, p, r, f, k, "arc %d is not live", a);
        else if (g->tail[a] != v)
            check_fault_flow(w->report, p, r, f, k, "arc %d does not start at \"%s\"", a, g->node_name[v]);
        else if (g->node_kind[v] == NODE_NIC && v != p->src[f])
            check_fault_flow(w->report, p, r, f, k, "passes through NIC \"%s\"", g->node_name[v]);
        else if (w->seen[g->head[a]] == k + 1)
            check_fault_flow(w->report, p, r, f, k, "visits \"%s\" twice", g->node_name[g->head[a]]);
        else {
            v = g->head[a];
            w->seen[v] = k + 1;
            continue;
        }
        return 0;
    }
    if (v == p->dst[f])
        return 1;
    check_fault_flow(w->report, p, r, f, k, "ends at \"%s\"", g->node_name[v]);
    return 0;
}

static int same_path(const int32_t *x, int64_t nx, const int32_t *y, int64_t ny)
{
    return nx == ny && memcmp(x, y, (size_t)nx * sizeof *x) == 0;
}

/* The policy on path k of flow f, which is otherwise good. -1 on short memory. */
static int check_allowed(const struct walker *w, int32_t f, int64_t k)
{
    const struct problem *p = w->p;
    const struct routes *r = w->r;
    const int32_t *path = r->arc + r->at[k], *at, *arc;
    int64_t n = r->at[k + 1] - r->at[k];
    if (p->list_first && p->list_first[f + 1] > p->list_first[f]) {
        for (int64_t i = p->list_first[f]; i < p->list_first[f + 1]; i++)
            if (same_path(path, n, p->list_arc + p->list_at[i], p->list_at[i + 1] - p->list_at[i]))
                return 0;
        check_fault_flow(w->report, p, r, f, k, "is not one that the problem lists");
    } else if (w->hops && n != w->hops[f]) {
        check_fault_flow(w->report, p, r, f, k, "has %lld arcs, the shortest %d", (long long)n, w->hops[f]);
    } else if (w->disjoint) {
        int32_t count = check_disjoint_find(w->disjoint, f, &at, &arc);
        for (int32_t i = 0; i < count; i++)
            if (same_path(path, n, arc + at[i], at[i + 1] - at[i]))
                return 0;
        if (count < 0)
            return -1;
        check_fault_flow(w->report, p, r, f, k, "is none of the %d disjoint ones", count);
    }
    return 0;
}

static int check_flow_paths(const struct walker *w, int32_t f)
{
    const struct problem *p = w->p;
    const struct routes *r = w->r;
    long long n = (long long)(r->first[f + 1] - r->first[f]);
    double sum = 0;
    int rc = 0;
    if (!problem_routed(p, f)) {
        if (n > 0)
            check_fault_flow(w->report, p, r, f, -1, "needs no route and has %lld paths", n);
        return 0;
    }
    if (n == 0) {
        check_fault_flow(w->report, p, r, f, -1, "no path");
        return 0;
    }
    if (p->options.routing != ROUTE_SPLIT && n > p->options.paths_per_flow)
        check_fault_flow(w->report, p, r, f, -1, "%lld paths, allowed %d", n, p->options.paths_per_flow);
    for (int64_t k = r->first[f]; k < r->first[f + 1] && rc == 0; k++) {
        if (!(r->share[k] >= 0 && r->share[k] <= 1 + SUM))
            check_fault_flow(w->report, p, r, f, k, "share %g is not in [0, 1]", r->share[k]);
        sum += r->share[k];
        if (check_path(w, f, k))
            rc = check_allowed(w, f, k);
    }
    if (!(fabs(sum - 1) <= SUM))
        check_fault_flow(w->report, p, r, f, -1, "shares add to %.9g", sum);
    return rc;
}

int check_routes(const struct problem *p, const struct routes *r, struct check_report *report, struct err *e)
{
    struct walker w = { .p = p, .r = r, .report = report };
    double *zero = NULL, *dist = NULL;
    int rc = 0;
    if (check_shape(p, r, report) < 0)
        return 0;
    w.seen = array(p->fabric->nnode, sizeof *w.seen);
    if (p->options.policy == PATHS_DISJOINT && !(w.disjoint = check_disjoint_new(p, e)))
        rc = -1;
    if (p->options.policy == PATHS_SHORTEST && w.seen) {
        zero = array(p->fabric->narc, sizeof *zero);
        dist = array(p->nflow, sizeof *dist);
        w.hops = array(p->nflow, sizeof *w.hops);
        rc = zero && dist && w.hops ? check_distance(p, zero, dist, w.hops, e) : -1;
    }
    if (!w.seen)
        rc = -1;
    for (int32_t f = 0; f < p->nflow && rc == 0; f++)
        rc = check_flow_paths(&w, f);
    check_disjoint_free(w.disjoint);
    free(w.seen);
    free(w.hops);
    free(zero);
    free(dist);
    return rc < 0 ? fail(e, E_MEMORY, "out of memory for the routes of %d flows", p->nflow) : 0;
}
