/* One job on all ranks: problem bytes in, plan bytes out. The only place where wire, partition and solve meet.
 */
#ifndef HEDDLE_RUN_H
#define HEDDLE_RUN_H

#include "solver/comm/comm.h"
#include "solver/model/routes.h"

struct run_job {
    const char *data; /* rank 0: the problem document, JSON or msgpack; borrowed */
    int64_t n;
    const char *folder;  /* where a fabric file is looked for; NULL: none may be named */
    double seconds_read; /* rank 0: already spent on reading the file */
    int32_t nset;        /* overrides "option=value", borrowed */
    const char *const *set;
    int keep; /* hand the problem over in the result */
};

struct run_result {
    enum plan_status status;
    char *plan; /* rank 0: the plan document as msgpack, caller frees; NULL elsewhere */
    int64_t n;
    struct problem *problem; /* rank 0, where asked for: caller frees */
    double value, bound, gap, seconds;
};

/* All ranks call it. Returns 0 with a plan (whatever its status), or -1 with the sentence on every rank (E_INPUT: the
 * problem was refused). */
int run_job(struct comm *c, const struct run_job *job, const struct hooks *hooks, struct run_result *out,
            struct err *e);

#endif
