/* Cuts the fabric into pods: the labels that the problem gives, else METIS, checked and repaired.
 */
#ifndef HEDDLE_PARTITION_H
#define HEDDLE_PARTITION_H

#include "solver/comm/comm.h"
#include "solver/model/pods.h"
#include "solver/model/problem.h"

/* Rank 0 decides, every rank gets the same pods. Nodes labelled by pod keep their label (nodes without one join the pod
 * of their first labelled neighbour, by breadth-first search); without pod labels, sites are the pods if there are at
 * least two; else METIS cuts the switches into options.pods parts (0: chosen from the size), each NIC with its switch.
 * Every pod has a node; the result depends on the problem and options.seed alone. */
struct pods *partition(const struct problem *p, struct comm *c, struct err *e);

#endif
