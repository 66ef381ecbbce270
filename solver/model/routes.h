/* What a solve returns: every flow's paths and shares, what they achieve, and the certificate as data.
 */
#ifndef HEDDLE_ROUTES_H
#define HEDDLE_ROUTES_H

#include "solver/model/forward.h"
#include "solver/model/problem.h"

/* Paths of all flows. A flow that needs no route (problem_routed is 0) has none. */
struct routes {
    int32_t nflow;
    int64_t npath;
    int64_t *first; /* [nflow + 1]: paths of flow f are [first[f], first[f + 1]) */
    double *share;  /* [npath] of the flow's demand; sums to 1 per routed flow */
    double *gbps;   /* [npath] rate of each path */
    int64_t *at;    /* [npath + 1]: arcs of path i are arc[at[i] .. at[i + 1]) */
    int32_t *arc;   /* source to destination */
};

/* Arrays for the given totals, all zero (first[nflow], at[npath] included: the caller fills them). NULL on short
 * memory. */
struct routes *routes_new(int32_t nflow, int64_t npath, int64_t narc, struct err *e);
struct routes *routes_copy(const struct routes *r, struct err *e);
void routes_free(struct routes *r);

enum certificate_kind { CERT_NONE, CERT_PRICES, CERT_PIGEONHOLE, CERT_CUT };

/* CERT_PRICES: arc[i] has price[i] > 0, arcs ascending. CERT_PIGEONHOLE: the cut arcs and the flows that need them.
 * CERT_CUT (infeasible): flow[0] has no live path; arc lists every arc that leaves what its source reaches (all dead).
 */
struct certificate {
    enum certificate_kind kind;
    double bound;
    int64_t narc, nflow;
    int32_t *arc;  /* [narc] */
    double *price; /* [narc], CERT_PRICES only */
    int32_t *flow; /* [nflow] */
};
void certificate_free(struct certificate *c); /* frees the arrays, not c; c is then empty */

/* Copies the positive entries of price[narc of the fabric]. */
int certificate_prices(struct certificate *c, double bound, const double *price, int32_t narc, struct err *e);
int certificate_pigeonhole(struct certificate *c, double bound, const int32_t *arc, int64_t narc, const int32_t *flow,
                           int64_t nflow, struct err *e);

/* One saturated set of job_fair with split routes: these jobs cannot be above efficiency, and the prices show it. */
struct level {
    double efficiency;
    int32_t njob;
    int32_t *job;
    struct certificate proof; /* kind CERT_PRICES */
};

enum plan_status { PLAN_OPTIMAL, PLAN_FEASIBLE, PLAN_CANCELLED, PLAN_INFEASIBLE, PLAN_FAILED };

struct solver_info {
    int32_t ranks, pods, cut_arcs;
    int64_t rounds; /* of price coordination, all phases */
    double seconds_read, seconds_partition, seconds_solve, seconds_round, seconds_total; /* round: rounding to pinned */
    int64_t peak_bytes_per_rank;                                                         /* largest over the ranks */
};

struct plan {
    enum plan_status status;
    double value, bound, gap;
    struct routes *routes;
    struct forward *tables; /* routing destination: every route follows from them; else NULL */
    double *efficiency; /* [njob] */
    double *ecmp;       /* [njob] mean over 16 seeds; NULL when not computed */
    double *job_bound;  /* [njob] no routing gives job j more, were it alone; NULL when not computed */
    double *load;       /* [narc] load_a/u_a */
    struct certificate certificate;
    int32_t nlevel;
    struct level *level; /* [nlevel], lowest first */
    struct solver_info info;
};
void plan_free(struct plan *p);

/* |bound - value| / max(|bound|, |value|); 0 when both are 0. */
double plan_gap(double bound, double value);

#endif
