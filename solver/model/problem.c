#include "solver/model/problem.h"

#include <math.h>
#include <stdlib.h>

struct problem *problem_new(struct fabric *fabric, int32_t njob, int32_t nflow, struct err *e)
{
    struct problem *p = array(1, sizeof *p);
    if (!p) {
        fabric_free(fabric);
        goto oom;
    }
    p->fabric = fabric;
    if (njob < 0 || nflow < 0) {
        problem_free(p);
        fail(e, E_INPUT, "problem: %d jobs and %d flows are out of range", njob, nflow);
        return NULL;
    }
    p->njob = njob;
    p->nflow = nflow;
    options_default(&p->options);
    p->job_name = array(njob, sizeof *p->job_name);
    p->job_weight = array(njob, sizeof *p->job_weight);
    p->job_first = array((int64_t)njob + 1, sizeof *p->job_first);
    p->job_expanded = array(njob, sizeof *p->job_expanded);
    p->src = array(nflow, sizeof *p->src);
    p->dst = array(nflow, sizeof *p->dst);
    p->demand = array(nflow, sizeof *p->demand);
    if (!p->job_name || !p->job_weight || !p->job_first || !p->job_expanded || !p->src || !p->dst || !p->demand)
        goto oom;
    for (int32_t j = 0; j < njob; j++)
        p->job_weight[j] = 1;
    return p;
oom:
    problem_free(p);
    fail(e, E_MEMORY, "out of memory for %d jobs and %d flows", njob, nflow);
    return NULL;
}

/* Puts the entry's name before the sentence in e: the user's own flows are counted as he listed them. */
static int fail_flow(const struct problem *p, int32_t j, int32_t f, struct err *e)
{
    int32_t i = f - p->job_first[j], expanded = p->job_expanded[j];
    return i < expanded ? fail_at(e, "jobs[%d].collectives: flow %d: ", j, i)
                        : fail_at(e, "jobs[%d].flows[%d]: ", j, i - expanded);
}

static int check_flow(const struct problem *p, int32_t f, struct err *e)
{
    int32_t n = p->fabric->nnode;
    if (p->src[f] < 0 || p->src[f] >= n)
        return fail(e, E_INPUT, "src %d is not in [0, %d)", p->src[f], n);
    if (p->dst[f] < 0 || p->dst[f] >= n)
        return fail(e, E_INPUT, "dst %d is not in [0, %d)", p->dst[f], n);
    if (!(p->demand[f] >= 0 && isfinite(p->demand[f])))
        return fail(e, E_INPUT, "%s %g must be finite and not negative", p->kind == DEMAND_BYTES ? "bytes" : "gbps",
                    p->demand[f]);
    return 0;
}

/* One listed path: contiguous from src to dst, no node twice, no NIC in the middle. Quadratic in its few hops. */
static int check_path(const struct problem *p, int32_t f, int64_t k, struct err *e)
{
    const struct fabric *fabric = p->fabric;
    int32_t at = p->src[f];
    for (int64_t h = p->list_at[k]; h < p->list_at[k + 1]; h++) {
        int32_t a = p->list_arc[h];
        if (a < 0 || a >= fabric->narc)
            return fail(e, E_INPUT, "arc %d is not in [0, %d)", a, fabric->narc);
        if (fabric->link_directed[a / 2] && (a & 1))
            return fail(e, E_INPUT, "arc %d does not exist, its link is directed", a);
        if (fabric->tail[a] != at)
            return fail(e, E_INPUT, "arc %d does not start at \"%s\"", a, fabric->node_name[at]);
        if (h > p->list_at[k] && fabric->node_kind[at] == NODE_NIC)
            return fail(e, E_INPUT, "passes through NIC \"%s\"", fabric->node_name[at]);
        at = fabric->head[a];
        for (int64_t g = p->list_at[k]; g <= h; g++)
            if (fabric->tail[p->list_arc[g]] == at)
                return fail(e, E_INPUT, "visits \"%s\" twice", fabric->node_name[at]);
    }
    if (at != p->dst[f])
        return fail(e, E_INPUT, "ends at \"%s\", not at \"%s\"", fabric->node_name[at], fabric->node_name[p->dst[f]]);
    return 0;
}

static int check_job(const struct problem *p, int32_t j, struct err *e)
{
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
        if (check_flow(p, f, e) < 0)
            return fail_flow(p, j, f, e);
        for (int64_t k = p->list_first ? p->list_first[f] : 0; p->list_first && k < p->list_first[f + 1]; k++)
            if (check_path(p, f, k, e) < 0) {
                fail_at(e, "paths[%lld]: ", (long long)(k - p->list_first[f]));
                return fail_flow(p, j, f, e);
            }
    }
    return 0;
}

static int check(const struct problem *p, struct err *e)
{
    if (p->job_first[0] != 0 || p->job_first[p->njob] != p->nflow)
        return fail(e, E_INTERNAL, "problem: jobs cover flows [%d, %d) of %d", p->job_first[0], p->job_first[p->njob],
                    p->nflow);
    for (int32_t j = 0; j < p->njob; j++) {
        if (!(p->job_weight[j] > 0 && isfinite(p->job_weight[j])))
            return fail(e, E_INPUT, "jobs[%d]: weight %g must be positive and finite", j, p->job_weight[j]);
        if (check_job(p, j, e) < 0)
            return -1;
    }
    return 0;
}

/* Speed of all live arcs at each node, Gb/s: out[v], in[v]. */
static void endpoint_speed(const struct fabric *f, double *out, double *in)
{
    for (int32_t a = 0; a < f->narc; a++)
        if (f->live[a]) {
            out[f->tail[a]] += f->cap[a];
            in[f->head[a]] += f->cap[a];
        }
}

/* I_j = the longest time an endpoint of j needs to send or to receive its bytes at full speed (solver/README.md).
 * sent and got are zero on entry and on return. An endpoint without a live arc gives no term: its flows have no path.
 */
static double ideal_time(const struct problem *p, int32_t j, const double *out, const double *in, double *sent,
                         double *got)
{
    double ideal = 0;
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
        sent[p->src[f]] += p->demand[f];
        got[p->dst[f]] += p->demand[f];
    }
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
        int32_t s = p->src[f], t = p->dst[f];
        if (out[s] > 0)
            ideal = fmax(ideal, 8e-9 * sent[s] / out[s]);
        if (in[t] > 0)
            ideal = fmax(ideal, 8e-9 * got[t] / in[t]);
    }
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++)
        sent[p->src[f]] = got[p->dst[f]] = 0;
    return ideal;
}

int problem_finish(struct problem *p, struct err *e)
{
    if (check(p, e) < 0)
        return -1;
    int32_t n = p->fabric->nnode;
    double *speed = array(4 * (int64_t)n, sizeof *speed);
    p->job = array(p->nflow, sizeof *p->job);
    p->ideal = array(p->njob, sizeof *p->ideal);
    p->need = array(p->nflow, sizeof *p->need);
    if (!speed || !p->job || !p->ideal || !p->need) {
        free(speed);
        return fail(e, E_MEMORY, "out of memory for %d flows", p->nflow);
    }
    endpoint_speed(p->fabric, speed, speed + n);
    for (int32_t j = 0; j < p->njob; j++) {
        p->ideal[j] = p->kind == DEMAND_GBPS ? 1 : ideal_time(p, j, speed, speed + n, speed + 2 * n, speed + 3 * n);
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
            p->job[f] = j;
            if (problem_routed(p, f) && p->ideal[j] > 0)
                p->need[f] = p->kind == DEMAND_GBPS ? p->demand[f] : 8e-9 * p->demand[f] / p->ideal[j];
        }
    }
    free(speed);
    return 0;
}

double problem_load(const struct problem *p, int32_t f)
{
    if (!problem_routed(p, f))
        return 0;
    return p->kind == DEMAND_GBPS ? p->demand[f] : 8e-9 * p->demand[f];
}

void problem_free(struct problem *p)
{
    if (!p)
        return;
    fabric_free(p->fabric);
    for (int32_t j = 0; p->job_name && j < p->njob; j++)
        free(p->job_name[j]);
    void *owned[] = { p->job_name,   p->job_weight, p->job_first, p->job_expanded, p->src,   p->dst, p->demand,
                      p->list_first, p->list_at,    p->list_arc,  p->job,          p->ideal, p->need };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(p);
}
