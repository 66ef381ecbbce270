/* Units (whole flows) on ways, and the search that moves them until a target holds.
 * Unit g sends at most p_g and must be able to get q_g. Arc a is fine when sum_g min(p_g, Q_a) <= cap_a, Q_a the
 * largest q on a: then max-min fairness gives every unit its q. With q infinite this is plain load against capacity.
 * The search takes a violated arc, moves the unit whose cheapest other way adds least excess, forbids that unit to move
 * again for a while, and weighs arcs more the longer they stay violated. Nothing is allocated after eject_new.
 */
#ifndef HEDDLE_EJECT_H
#define HEDDLE_EJECT_H

#include "solver/engine/lanes.h"

struct eject {
    const struct lanes *w;
    int32_t nunit, narc;
    const int32_t *pair;   /* [nunit] pair of each unit; borrowed */
    const double *p, *q;   /* [nunit] borrowed, set by eject_target */
    double *cap, *inverse; /* [narc] what the arc may carry, tolerance included; 1 / cap */
    double tiny;           /* scale of the tie-breaking part of a cost */
    double noise;          /* > 0: costs get up to this much more per arc, at random by salt */
    uint32_t salt;

    int64_t *at; /* [nunit + 1]: unit g has slots at[g] .. at[g] + len[g] - 1; len -1: not placed */
    int32_t *len;
    int32_t *arc, *next, *prev, *owner; /* by slot: its arc, neighbours in the arc's list (-1: none), its unit */

    int32_t *head, *count, *top;          /* [narc] first slot, units, units with q == high */
    double *sum, *high, *weight;          /* [narc] sum of min(p, high), Q_a, dynamic weight of excess */
    int32_t nviolated, *violated, *where; /* where[a]: place of a in violated, -1 */
    double excess;                        /* sum over arcs of max(0, sum - cap) */
    int32_t nlifted;                      /* units not placed */
    int wide;                             /* ways may be longer than the pair's limit */

    int64_t step, *tabu; /* tabu[g]: unit g rests until this step */
    int64_t work;        /* arcs weighed since eject_new: what budgets of work count */

    /* cheapest way: state = node * (LANES_SLACK + 1) + hops above the fewest */
    double *cost;
    int32_t *via, *queue, *stamp, now;
    int32_t *way, *best_way; /* way[longest]: arcs found; best_way the best move's */
    int32_t *order;          /* [nunit] */
};

/* Room for every unit's longest way. w and pair must outlive it. NULL on short memory. */
struct eject *eject_new(const struct lanes *w, int32_t nunit, const int32_t *pair, struct err *e);
void eject_free(struct eject *s);

/* New p, q (borrowed) and capacities cap[a] = factor * fabric cap for all arcs; recounts every arc. Placed units stay.
 */
void eject_target(struct eject *s, const double *p, const double *q, double factor);

/* Puts unit g on n arcs (its own way, without the arcs that are no choice). -1 when it does not fit in g's room. */
int eject_place(struct eject *s, int32_t g, const int32_t *arc, int32_t n);
void eject_lift(struct eject *s, int32_t g);
void eject_clear(struct eject *s); /* lifts all, forgets the weights: as new */

/* Cheapest way of unit g, which is lifted, that does not use arc avoid (-1: any) and costs less than bound: *len arcs
 * into s->way; returns its cost, INFINITY when there is none. */
double eject_way(struct eject *s, int32_t g, int32_t avoid, double bound, int32_t *len);

/* Places unit g, which is lifted, on its cheapest way: least added excess, then least load. */
void eject_insert(struct eject *s, int32_t g);

/* Inserts all lifted units, largest min(p, q) first, ties by number; in_order: by number alone. */
void eject_fill(struct eject *s, int in_order);

/* At most steps moves, until work passes work_end; leaves when stop says so (asked now and then, may be NULL). Returns
 * 1 when no arc is violated, else 0. */
struct eject_stop {
    int (*ask)(void *context);
    void *context;
    int stopped;
};
int eject_search(struct eject *s, struct rng *rng, int64_t steps, int64_t work_end, struct eject_stop *stop);

#endif
