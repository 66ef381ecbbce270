/* Fractional routes by price coordination: minimise the largest load_a / u_a, with a certificate from the prices.
 * Block coordinate descent over flows in path form; exponential prices first, then an augmented Lagrangian. Blocks are
 * the flows by source pod; a rank solves the blocks of its pods and exchanges loads as int64 fixed point many times a
 * pass; each rank updates the multipliers of the arcs inside its pods, rank 0 those of the cut arcs. The same numbers
 * come out for any number of ranks.
 */
#ifndef HEDDLE_SPLIT_H
#define HEDDLE_SPLIT_H

#include "solver/comm/comm.h"
#include "solver/model/pods.h"
#include "solver/model/routes.h"

struct split; /* path sets, shares, loads and multipliers; kept between runs for warm starts */

/* Takes the path policy and lists of p. p, pods and c must outlive the split. */
struct split *split_new(const struct problem *p, const struct pods *pods, struct comm *c, struct err *e);
void split_free(struct split *s);

struct split_goal {
    double gap;      /* stop at |bound - z| / max <= gap */
    int64_t rounds;  /* or after this many rounds */
    double deadline; /* or when comm->now on rank 0 passes this (absolute; INFINITY: none) */
    double enough;   /* or when z is at most this, which the caller can prove without prices; 0: never */
};

enum split_end { SPLIT_GAP, SPLIT_ROUNDS, SPLIT_DEADLINE, SPLIT_CANCELLED };

struct split_result {
    enum split_end end;
    double z;            /* largest load_a / u_a reached (kept: the best iterate) */
    double bound;        /* proven lower bound on z */
    const double *price; /* [narc] that proves it; owned by the split, the same on every rank */
    int64_t rounds;
};

/* load[nflow]: what each flow puts on its arcs (0: not routed), e.g. problem_load for max_utilization or w_j * need for
 * job_fair, whose bound on min e_j / w_j is 1 / z. Warm when called again. All ranks call it. */
int split_run(struct split *s, const double *load, const struct split_goal *goal, const struct hooks *hooks,
              struct split_result *out, struct err *e);

/* The best shares as routes, gbps 0: *out on rank 0 (caller frees), NULL on the others. */
int split_routes(struct split *s, struct routes **out, struct err *e);

/* Pinned start: every flow whole on one of its paths (paths_per_flow of them where more are allowed), chosen block by
 * block from the shares by least exponential potential (derandomised rounding), largest flows first, loads exchanged
 * between blocks. *out on rank 0. */
int split_round(struct split *s, uint64_t seed, struct routes **out, struct err *e);

/* job_fair with split routes: max-min levels over jobs. *routes (rank 0) carries gbps = share * e_j *
 * r_f inside capacity; efficiency[njob] on every rank; *level is an array of *nlevel (rank 0), lowest first, each with
 * the prices that prove it. */
struct split_levels {
    enum split_end end;
    struct routes *routes;
    int32_t nlevel;
    struct level *level;
    int64_t rounds;
};
int split_job_fair(struct split *s, const struct split_goal *goal, const struct hooks *hooks, double *efficiency,
                   struct split_levels *out, struct err *e);

#endif
