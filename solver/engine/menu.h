/* Whole paths that a baseline picks from: for flows that list paths, the live ones with the fewest arcs; under
 * disjoint:k, the disjoint paths of every other flow.
 */
#ifndef HEDDLE_MENU_H
#define HEDDLE_MENU_H

#include "solver/model/problem.h"

struct menu {
    int64_t *first; /* [nflow + 1]: choices of flow f are [first[f], first[f + 1]); none: not on the menu */
    int64_t *at;    /* arcs of choice i are arc[at[i] .. at[i + 1]), source to destination */
    int32_t *arc;
    int64_t room_at, room_arc;
};

/* disjoint: 1 to list the disjoint paths too. NULL on short memory. */
struct menu *menu_new(const struct problem *p, int disjoint, struct err *e);
void menu_free(struct menu *m);

/* 1 when flow f lists its paths. */
int menu_listed(const struct problem *p, int32_t f);

/* "jobs[j].flows[i]: no live path from ... to ..."; returns -1. */
int menu_no_path(const struct problem *p, int32_t f, struct err *e);

#endif
