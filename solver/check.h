/* Re-verifies a plan against its problem with code that shares only the model with the solver: routes, rates, value,
 * efficiencies, loads, certificate, gap (the same list as the outside judge, for problems of any size).
 */
#ifndef HEDDLE_CHECK_H
#define HEDDLE_CHECK_H

#include "solver/model/routes.h"

enum { CHECK_FAULTS = 20 };

struct check_report {
    int64_t nfault;
    char fault[CHECK_FAULTS][240]; /* the first ones, a sentence each */
    double value, bound, gap;      /* as recomputed; NaN where they can not be */
};

/* Returns 0 when the check ran (also with faults), -1 on short memory. */
int check_plan(const struct problem *p, const struct plan *plan, struct check_report *report, struct err *e);

#endif
