/* The problem: a fabric, jobs with flows, and options, checked against each other; ideal times derived.
 * Flows stand in problem order, those of one job in one run; collectives are already expanded.
 * Happy path: problem_new(fabric, njob, nflow), fill, problem_finish; then read only.
 */
#ifndef HEDDLE_PROBLEM_H
#define HEDDLE_PROBLEM_H

#include "solver/model/fabric.h"
#include "solver/model/options.h"

enum demand_kind { DEMAND_BYTES, DEMAND_GBPS };

struct problem {
    struct fabric *fabric; /* owned */
    struct options options;
    enum demand_kind kind;

    int32_t njob, nflow;
    char **job_name;       /* [njob], owned */
    double *job_weight;    /* [njob], problem_new sets 1 */
    int32_t *job_first;    /* [njob + 1]: flows of job j are [job_first[j], job_first[j + 1]) */
    int32_t *job_expanded; /* [njob]: its first flows, as many, came from collectives; messages tell the two apart */
    int32_t *src, *dst;    /* [nflow] nodes */
    double *demand;        /* [nflow] bytes per iteration, or Gb/s */

    /* Allowed paths, where flows list them; all four NULL/0 when no flow does. Flow f may use paths
     * list_first[f] .. list_first[f + 1) (none listed: the policy decides); path i is list_arc[list_at[i] .. list_at[i
     * + 1]). */
    int64_t nlist;
    int64_t *list_first; /* [nflow + 1] */
    int64_t *list_at;    /* [nlist + 1] */
    int32_t *list_arc;

    /* Made by problem_finish (solver/README.md): */
    int32_t *job;  /* [nflow] */
    double *ideal; /* [njob] I_j, seconds; 1 for gbps demands; 0 for a job that sends nothing */
    double *need;  /* [nflow] r_f, Gb/s that the flow needs at efficiency 1; 0 where it needs no route */
};

/* Takes ownership of the fabric at once (also on failure). */
struct problem *problem_new(struct fabric *fabric, int32_t njob, int32_t nflow, struct err *e);

/* Check everything that names do not decide: nodes in range, demands and weights finite and not negative (weights
 * positive), listed paths contiguous, live-or-dead arcs in range, from src to dst, without passing a NIC or a node
 * twice; then derive. Messages name "jobs[j].flows[i]", or "jobs[j].collectives: flow i" for expanded ones. */
int problem_finish(struct problem *p, struct err *e);

/* 1 when flow f needs a route: demand > 0 and two different ends. */
static inline int problem_routed(const struct problem *p, int32_t f)
{
    return p->demand[f] > 0 && p->src[f] != p->dst[f];
}

/* What flow f puts on an arc per unit of share, in the objective's unit of load: Gb/s for job_fair (need) ... for
 * max_utilization 8e-9 * bytes (Gb) or Gb/s. Load / cap is then load_a/u_a. */
double problem_load(const struct problem *p, int32_t f);

void problem_free(struct problem *p);

#endif
