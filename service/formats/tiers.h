/* Levels of a fabric whose file does not name them.
 */
#ifndef HEDDLE_TIERS_H
#define HEDDLE_TIERS_H

#include "solver/model/fabric.h"

/* NIC 0; switches by distance from the leaves, which are the switches with at least an eighth of the NICs of the
 * fullest one (a management host on a core switch makes no leaf of it). Needs kinds and links of f only, which need
 * not be finished; without NICs nothing is set. */
int tiers_find(struct fabric *f, struct err *e);

#endif
