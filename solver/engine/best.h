/* The best routes seen so far by exact score, for searches that make many.
 */
#ifndef HEDDLE_BEST_H
#define HEDDLE_BEST_H

#include "solver/engine/score.h"

struct best {
    const struct problem *p;
    struct routes *routes; /* NULL before the first */
    double *efficiency;    /* [njob] of routes */
    double value;
    double *trial, *load, *sorted; /* [njob], [narc] of the last score; [2 njob] scratch */
    int short_memory;              /* a better answer could not be copied */
};

int best_init(struct best *b, const struct problem *p, struct err *e);
void best_free(struct best *b);  /* frees what b holds, not b */
void best_clear(struct best *b); /* forgets the routes */

/* 1 when (value, efficiency) is better than (old, before) by the problem's objective. sorted[2 njob] is scratch. */
int best_order(const struct problem *p, double value, const double *efficiency, double old, const double *before,
               double *sorted);

/* Scores a copy of r and keeps it when it is better. -1 on short memory. */
int best_take(struct best *b, const struct routes *r, struct err *e);

/* The same for routes that s can score in place; returns 1 when they are the new best. */
int best_offer(struct best *b, struct scorer *s, struct routes *r);

#endif
