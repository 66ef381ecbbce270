/* From tables back to routes: what given forwarding tables make of the flows. */
#include "solver/engine/tables.h"
#include "solver/engine/trees_part.h"

#include <stdlib.h>

/* Arcs of flow f into arc, at most room of them; -1 when the tables lead nowhere. */
static int32_t follow(const struct problem *p, const struct updown *u, const struct forward *t, int32_t f, int32_t *arc,
                      int32_t room)
{
    int32_t direct = trees_direct(p, f), s = p->src[f], n = 0;
    if (direct >= 0) {
        arc[0] = direct;
        return 1;
    }
    if (p->fabric->node_kind[s] == NODE_NIC) {
        if (u->enter[s] < 0)
            return -1;
        arc[n++] = u->enter[s];
        s = p->fabric->head[arc[0]];
    }
    int32_t hops = forward_walk(p->fabric, t, s, p->dst[f], arc + n, room - n);
    return hops < 0 ? -1 : n + hops;
}

static int measure(const struct problem *p, const struct updown *u, const struct forward *t, int32_t *way,
                   int64_t *npath, int64_t *narc, struct err *e)
{
    for (int32_t f = 0; f < p->nflow; f++) {
        int32_t n = problem_routed(p, f) ? follow(p, u, t, f, way, p->fabric->nnode) : 0;
        if (n < 0)
            return fail(e, E_INPUT, "jobs[%d].flows[%d]: the tables do not lead from \"%s\" to \"%s\"", p->job[f],
                        f - p->job_first[p->job[f]], p->fabric->node_name[p->src[f]], p->fabric->node_name[p->dst[f]]);
        *npath += n > 0;
        *narc += n;
    }
    return 0;
}

int tables_routes(const struct problem *p, const struct forward *t, struct routes **out, struct err *e)
{
    struct updown *u = updown_new(p->fabric, UPDOWN_TIERS, e);
    int32_t *way = array((int64_t)p->fabric->nnode + 1, sizeof *way);
    int64_t npath = 0, narc = 0, k = 0;
    struct routes *r = NULL;
    int rc = u && way ? measure(p, u, t, way, &npath, &narc, e) : u ? fail(e, E_MEMORY, "out of memory for a way") : -1;
    if (rc == 0)
        rc = (r = routes_new(p->nflow, npath, narc, e)) ? 0 : -1;
    for (int32_t f = 0; f < p->nflow && rc == 0; f++) {
        int64_t at = r->at[k];
        r->first[f] = k;
        if (!problem_routed(p, f))
            continue;
        int32_t n = follow(p, u, t, f, r->arc + at, (int32_t)(narc - at < INT32_MAX ? narc - at : INT32_MAX));
        r->share[k] = 1;
        r->at[++k] = at + n;
    }
    if (rc == 0) {
        r->first[p->nflow] = k;
        *out = r;
    }
    updown_free(u);
    free(way);
    return rc;
}
