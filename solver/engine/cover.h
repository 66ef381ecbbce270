/* Who must stay low: for every cut of the fabric, the jobs' needs across it and what it can carry. A vector of
 * efficiencies that overloads a cut can not be reached; the jobs to sacrifice must cover the overload of every cut.
 * Cuts: each switch with its NICs, pods, sites, label groups, and groups found by tiers.
 */
#ifndef HEDDLE_COVER_H
#define HEDDLE_COVER_H

#include "solver/model/pods.h"
#include "solver/model/problem.h"

struct cover {
    int32_t njob, ncut;
    double *room;    /* [ncut] Gb/s that can cross */
    double *load;    /* [ncut] scratch of the calls below */
    int64_t *job_at; /* [njob + 1]: job j needs need[i] Gb/s across cut[i] at efficiency 1, i in [job_at[j], ..) */
    int32_t *cut;
    double *need;
    int32_t *pick, *best, *candidate; /* [njob] scratch */
};

/* pods may be NULL. */
struct cover *cover_new(const struct problem *p, const struct pods *pods, struct err *e);
void cover_free(struct cover *c);

/* 1 when efficiencies t[njob] overload no cut. */
int cover_allows(struct cover *c, const double *t);

/* Few jobs that must go from hi[j] to lo[j] so that no cut is overloaded: low[j] = 1. All subsets by size up to ten
 * candidates, else 40 seeded greedy covers and, where they are few, all sets of one job less. Returns how many, and
 * *least = 1 when no smaller set does. */
int32_t cover_choose(struct cover *c, const double *hi, const double *lo, struct rng *rng, uint8_t *low, int *least);

#endif
