/* Private to tables.c (rates, bounds, whole tables) and tables_search.c (levels, ladder).
 */
#ifndef HEDDLE_TABLES_PART_H
#define HEDDLE_TABLES_PART_H

#include "solver/engine/best.h"
#include "solver/engine/cover.h"
#include "solver/engine/tables.h"
#include "solver/engine/tables_start.h"
#include "solver/engine/trees_part.h"

enum { TABLES_RUNGS = 23 };

struct search {
    const struct problem *p;
    struct comm *comm;
    const struct tables_goal *goal;
    const struct hooks *hooks;

    struct updown *order;
    struct trees *t;
    struct cover *cover;
    struct starter *starter; /* NULL where the fabric has no tiers to colour */
    double *rate, *need;     /* [nflow] Gb/s that NICs alone allow; that the target asks for */
    double *most;            /* [nflow] Gb/s that the flow is counted with at most: rate, or what it was seen to take */
    double *ceiling;         /* [njob] efficiency that NICs alone allow */
    double *target;          /* [njob] */
    double bound;            /* on the value, NIC ceilings included */

    struct scorer *scorer;
    struct routes *routes; /* the present state, for scoring */
    struct best best;

    int32_t *keep_len, *keep_arc; /* a state to come back to */
    double ladder[TABLES_RUNGS + 1];
    int32_t nladder, *rung; /* [njob] */
    double *hi, *lo;        /* [njob] */
    uint8_t *low;           /* [njob] */
    int64_t raise_steps;    /* of this round's tries */
    struct rng rng;
    struct trees_stop stop;
    int64_t work_end;
};

/* The arcs of flow f before (0) and behind (1) its unit's way; -1: none. A direct cable stands before. */
int32_t tables_outer(const struct search *s, int32_t f, int behind);

/* From nothing to the best trees: job_fair, and max_utilization. */
void tables_search_fair(struct search *s);
void tables_search_load(struct search *s);

#endif
