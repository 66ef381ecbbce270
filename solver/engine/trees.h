/* Forwarding trees under the search: for every destination with traffic one legal tree, whose choices are moved until
 * a target holds (method.md part 4).
 * A unit is all flows from one switch to one destination: they share a way. A way is moved by setting the next hops
 * of all its switches; the other units of that destination that meet it follow, and are weighed with it.
 * Arc a is fine when sum_f min(p_f, Q_a) <= cap_a, Q_a the largest q on it: then max-min fairness gives every flow its
 * q. Flows of equal (p, q) are a class; an arc counts its flows by class. Nothing is allocated after trees_new.
 */
#ifndef HEDDLE_TREES_H
#define HEDDLE_TREES_H

#include "solver/engine/updown.h"
#include "solver/model/problem.h"

enum { TREES_CLASSES = 64 };

/* What a move costs: weighted excess first, then squared load; plain is the excess without weights. */
struct trees_cost {
    double weighted, plain, square;
};

struct trees {
    const struct problem *p; /* borrowed, like the next */
    struct updown *u;
    int32_t narc;

    int32_t nunit, ndest, npair;
    int32_t *unit;           /* [nflow] the flow's unit; -1: not routed, or no switch to pass */
    int32_t *from, *dest;    /* [nunit] place of the source switch, number of the destination */
    int32_t *pair;           /* [nunit] */
    int32_t *node, *root;    /* [ndest] destination node, place of its switch */
    int32_t *dfirst;         /* [ndest + 1] units of a destination stand together */
    int32_t *ufirst, *uflow; /* ufirst[nunit + 1] flows of a unit */

    int32_t longest; /* hops of the longest way */
    int64_t *wfirst; /* [npair + 1] ways of a pair: all, or a sample of them; arcs in warc[longest * way] */
    int32_t *whops;  /* [npair] arcs of each of the pair's ways */
    int32_t *warc;

    int32_t *next;      /* [ndest * nswitch] arc, -1: not decided */
    uint16_t *passes;   /* [ndest * nswitch] placed units that pass there: a change of next moves them */
    int32_t *len, *arc; /* [nunit] 0: not placed; [nunit * longest] present way */
    int32_t *slot_next, *slot_prev, *head, *count; /* units on an arc: slot = unit * longest + hop; [narc] */

    int32_t nclass;
    double *cp, *cq;     /* [TREES_CLASSES] by rising q */
    int32_t *cfirst;     /* [nunit + 1] class entries of a unit: */
    int32_t *cls, *many; /* [nflow] class, flows of it */
    int32_t *have;       /* [narc * TREES_CLASSES] flows on an arc */
    uint64_t *mask;      /* [narc] classes present */

    double *icap, *sum, *weight; /* [narc] 1 / cap (tolerance included); sum / cap; dynamic weight */
    double excess;               /* sum over arcs of max(0, sum - 1) */
    int32_t nviolated, *violated, *where;

    int64_t work;        /* arcs touched since trees_new: what budgets count */
    int64_t *tabu, step; /* [nunit] */

    /* the move under trial */
    int32_t now, *stamp, *vstamp;                       /* [narc], [nswitch] */
    int32_t ntouched, *touched, nmoved, *moved, *trial; /* trial[nunit * longest]: new way of moved[i] */
    int32_t nchanged, *changed, *before;                /* places and their old arcs */
    int32_t *trial_len;
    int32_t *estamp, enow;    /* [narc] which entries of extra are of the unit on trial */
    struct trees_cost *extra; /* [narc] what the unit adds there */
    double *order;            /* [2 * nunit] scratch */
};

/* All legal ways of all units; u must stay on no other fabric. *out is NULL, with 0 returned, when a flow has no legal
 * way under this order. E_INPUT when a flow has no way through switches at all. */
int trees_new(const struct problem *p, struct updown *u, struct trees **out, struct err *e);
void trees_free(struct trees *t);

/* New p and q by flow, capacities scaled by factor; recounts. Placed units stay; weights and tabu are forgotten. */
void trees_target(struct trees *t, const double *p, const double *q, double factor);

void trees_clear(struct trees *t); /* no unit is placed */

/* Places unit g on a way (longest legal; arcs between switches), the other units of its destination follow. */
void trees_place(struct trees *t, int32_t g, const int32_t *arc, int32_t n);

/* Places what is not placed, largest first, each on the way that adds least excess, then least squared load. */
void trees_fill(struct trees *t);

/* Lets go of everything, then places len[g] arcs of arc[g * longest ...]: ways of an earlier state. */
void trees_load(struct trees *t, const int32_t *len, const int32_t *arc);

/* At most steps moves, until work passes work_end or ask says so. Returns 1 when no arc is violated. */
struct trees_stop {
    int (*ask)(void *context);
    void *context;
    int stopped;
};
int trees_search(struct trees *t, struct rng *rng, int64_t steps, int64_t work_end, struct trees_stop *stop);

#endif
