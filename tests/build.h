/* Small builders of fabrics and jobs for tests. A test builds a fabric, marks what is down, adds flows, and finishes
 * both with build_problem. Short memory ends the test program.
 */
#ifndef HEDDLE_TESTS_BUILD_H
#define HEDDLE_TESTS_BUILD_H

#include "solver/model/problem.h"

struct build {
    int32_t nnode, nlink, nnic;
    int64_t room_node, room_link, room_nic;
    uint8_t *nic_kind;         /* [nnode] enum node_kind */
    int32_t *site;             /* [nnode] -1: none */
    int32_t *from, *to, *down; /* [nlink] */
    double *gbps;
    int32_t *nic; /* [nnic] NIC nodes in order */

    int32_t njob, nflow;
    int64_t room_flow;
    int32_t *job, *src, *dst; /* [nflow], jobs ascending */
    double *demand;
    struct rng rng;
};

void build_start(struct build *b, uint64_t seed);
int32_t build_node(struct build *b, enum node_kind kind);
int32_t build_link(struct build *b, int32_t from, int32_t to, double gbps); /* its number */

/* leaves x spines, cables parallel links each, nics NICs a leaf at speed nic; returns the first leaf's node; spine s is
 * first leaf + leaves + s. */
int32_t build_clos(struct build *b, int32_t leaves, int32_t spines, int32_t nics, int32_t cables, double nic,
                   double link);

/* pods of leaves under planes middles each; cores cores a plane. All links at speed gbps. */
void build_fat_tree(struct build *b, int32_t pods, int32_t leaves, int32_t planes, int32_t cores, int32_t nics,
                    double gbps);

/* Takes down round(share * switch links) random links between switches, or all links of a node. */
void build_damage(struct build *b, double share);
void build_kill(struct build *b, int32_t node);

/* Jobs: each call adds one job. nic[n]: NIC nodes in ring order. */
void build_flow(struct build *b, int32_t job, int32_t src, int32_t dst, double demand);
void build_ring(struct build *b, const int32_t *nic, int32_t n, double bytes);
void build_all_to_all(struct build *b, const int32_t *nic, int32_t n, double bytes);

void build_shuffle(struct build *b, int32_t *list, int32_t n);

/* Everything as a finished problem; b is emptied. */
struct problem *build_problem(struct build *b, enum demand_kind kind);

#endif
