/* Destination routes: forwarding tables, job-fair over the flows of jobs, complete and free of deadlock in one virtual
 * lane (method.md part 4). Greedy and edge-colouring starts, a search over forwarding trees, levels by bisection, a
 * ladder of levels per job; scored by exact water-filling. Budgets count work, so the same tables come out everywhere.
 */
#ifndef HEDDLE_TABLES_H
#define HEDDLE_TABLES_H

#include "solver/comm/comm.h"
#include "solver/model/forward.h"
#include "solver/model/pods.h"
#include "solver/model/routes.h"

struct tables_goal {
    double bound;    /* proven bound on the objective's value; NaN: none */
    double deadline; /* absolute, comm->now of rank 0; INFINITY: none. Passing it cuts the search short */
};

struct tables_result {
    struct forward *tables; /* rank 0, like all the rest; caller frees */
    struct routes *routes;  /* gbps filled by water-filling */
    double value;
    int cut_short; /* deadline or cancel */
};

/* Rank 0 searches, the others wait: all ranks call it. E_INPUT when an option or a flow asks for more than tables can
 * give (several paths per flow, listed paths, a path policy), naming it. */
int tables_solve(const struct problem *p, const struct pods *pods, struct comm *c, const struct tables_goal *goal,
                 const struct hooks *hooks, struct tables_result *out, struct err *e);

/* The ways that the flows of p take under the tables (a NIC sends on its first live cable); caller frees. E_INPUT when
 * a flow does not arrive, naming it. */
int tables_routes(const struct problem *p, const struct forward *t, struct routes **out, struct err *e);

#endif
