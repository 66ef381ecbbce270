#include "solver/engine/score.h"
#include "solver/kernel/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-9; /* relative: far above the rounding of water-filling, far below what a job can tell */

struct scorer {
    const struct problem *p;
    struct rates *rates;
    double *ceiling; /* [npath]; NULL for bytes demands */
};

struct scorer *scorer_new(const struct problem *p, int64_t npath, int64_t hops, struct err *e)
{
    struct scorer *s = array(1, sizeof *s);
    if (!s)
        goto oom;
    s->p = p;
    s->rates = rates_new(npath, hops, p->fabric->narc);
    if (p->kind == DEMAND_GBPS)
        s->ceiling = array(npath, sizeof *s->ceiling);
    if (s->rates && (s->ceiling || p->kind == DEMAND_BYTES))
        return s;
oom:
    scorer_free(s);
    fail(e, E_MEMORY, "out of memory for the rates of %lld paths", (long long)npath);
    return NULL;
}

void scorer_free(struct scorer *s)
{
    if (!s)
        return;
    rates_free(s->rates);
    free(s->ceiling);
    free(s);
}

/* e_j = I_j / T_j, T_j = max over subflows of 8e-9 * bytes * share / rate (solver/README.md). A routed flow without a
 * path never ends. */
static void efficiency_bytes(const struct problem *p, const struct routes *r, double *efficiency)
{
    for (int32_t j = 0; j < p->njob; j++) {
        double seconds = 0;
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
            if (!problem_routed(p, f))
                continue;
            if (r->first[f] == r->first[f + 1])
                seconds = INFINITY;
            for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
                if (r->share[i] > 0)
                    seconds = fmax(seconds, r->gbps[i] > 0 ? 8e-9 * p->demand[f] * r->share[i] / r->gbps[i] : INFINITY);
        }
        efficiency[j] = seconds > 0 ? p->ideal[j] / seconds : 1;
    }
}

/* e_j = min over flows of rate / demand, at most 1. */
static void efficiency_gbps(const struct problem *p, const struct routes *r, double *efficiency)
{
    for (int32_t j = 0; j < p->njob; j++) {
        efficiency[j] = 1;
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
            double rate = 0;
            for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
                rate += r->gbps[i];
            if (problem_routed(p, f))
                efficiency[j] = fmin(efficiency[j], rate / p->demand[f]);
        }
    }
}

static void derive(const struct problem *p, const struct routes *r, double *efficiency, double *load)
{
    if (efficiency && p->kind == DEMAND_BYTES)
        efficiency_bytes(p, r, efficiency);
    else if (efficiency)
        efficiency_gbps(p, r, efficiency);
    if (!load)
        return;
    const struct fabric *f = p->fabric;
    if (f->narc > 0)
        memset(load, 0, (size_t)f->narc * sizeof *load);
    for (int32_t i = 0; i < p->nflow; i++) {
        double demand = problem_load(p, i);
        for (int64_t k = r->first[i]; k < r->first[i + 1]; k++)
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++)
                load[r->arc[h]] += demand * r->share[k];
    }
    for (int32_t a = 0; a < f->narc; a++)
        load[a] /= f->cap[a];
}

void scorer_pinned(struct scorer *s, struct routes *r, double *efficiency, double *load)
{
    const struct problem *p = s->p;
    for (int32_t f = 0; s->ceiling && f < p->nflow; f++)
        for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
            s->ceiling[i] = r->share[i] * p->demand[f];
    rates_fill(s->rates, r->npath, r->at, r->arc, s->ceiling, p->fabric->narc, p->fabric->cap, r->gbps);
    derive(p, r, efficiency, load);
}

int score_pinned(const struct problem *p, struct routes *r, double *efficiency, double *load, struct err *e)
{
    struct scorer *s = scorer_new(p, r->npath, r->at[r->npath], e);
    if (!s)
        return -1;
    scorer_pinned(s, r, efficiency, load);
    scorer_free(s);
    return 0;
}

int score_split(const struct problem *p, const struct routes *r, double *efficiency, double *load, struct err *e)
{
    (void)e; /* takes no memory; the signature is that of score_pinned */
    derive(p, r, efficiency, load);
    return 0;
}

double score_value(const struct problem *p, const double *efficiency, const double *load)
{
    if (p->options.objective == OBJ_MAX_UTILIZATION) {
        double z = 0;
        for (int32_t a = 0; a < p->fabric->narc; a++)
            z = fmax(z, load[a]);
        return z;
    }
    double least = p->njob > 0 ? INFINITY : 1;
    for (int32_t j = 0; j < p->njob; j++)
        least = fmin(least, efficiency[j] / p->job_weight[j]);
    return least;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

int score_compare(const struct problem *p, const double *a, const double *b, double *sorted)
{
    double *x = sorted, *y = sorted + p->njob;
    for (int32_t j = 0; j < p->njob; j++) {
        x[j] = a[j] / p->job_weight[j];
        y[j] = b[j] / p->job_weight[j];
    }
    qsort(x, (size_t)p->njob, sizeof *x, ascending);
    qsort(y, (size_t)p->njob, sizeof *y, ascending);
    for (int32_t j = 0; j < p->njob; j++)
        if (fabs(x[j] - y[j]) > SAME * fmax(fabs(x[j]), fabs(y[j])))
            return x[j] > y[j] ? 1 : -1;
    return 0;
}
