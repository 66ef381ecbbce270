/* Jobs on a fabric: who trains where, and the flows that follow.
 */
#ifndef HEDDLE_GENERATE_JOBS_H
#define HEDDLE_GENERATE_JOBS_H

#include "service/formats/generate.h"
#include "solver/model/problem.h"

/* Places g->job[0 .. njob) one after another and expands them to flows. Takes the fabric at once (also on failure).
 *
 * Fabric order of hosts: site, pod, switch of their first NIC, node number; of NICs inside a host: rail, node number. A
 * NIC that is down is left out; one without a host label is a host of its own. Jobs take hosts along that order
 * (packed) or block by block in a shuffled order (fragmented); no NIC is in two jobs. A job's ranks stand in fabric
 * order again.
 *
 * Rails: of the sets of rails that hosts have, the one that puts most NICs to use is what a complete host has.
 * Hierarchical jobs take complete hosts only: one ring per rail of that set.
 *
 * Refuses a job for which no site (with across: the fabric) has enough left, naming both numbers. */
struct problem *generate_jobs(const struct generate *g, struct fabric *fabric, struct err *e);

#endif
