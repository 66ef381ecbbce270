/* The deep call: a problem, its pods and a world of ranks in; a plan with its certificate out.
 */
#ifndef HEDDLE_SOLVE_H
#define HEDDLE_SOLVE_H

#include "solver/comm/comm.h"
#include "solver/model/pods.h"
#include "solver/model/routes.h"

/* All ranks call it with the same problem and pods. *out is on rank 0 (caller frees with plan_free), NULL elsewhere.
 * Limits reached and cancelled solves give the best plan so far; an unreachable pair gives status infeasible with the
 * cut. -1 only for short memory or a failed world. */
int solve(const struct problem *p, const struct pods *pods, struct comm *c, const struct hooks *hooks,
          struct plan **out, struct err *e);

#endif
