/* Legal next hops for forwarding tables. An order of the switches gives every cable an upper and a lower end; a route
 * goes up first, then down, and never up again, so that no ring of full buffers can wait for itself. For one
 * destination switch at a time: which arcs each switch may use next. Any choice among them, switch by switch, is a tree
 * of legal routes towards the destination. NICs are not part of it.
 */
#ifndef HEDDLE_UPDOWN_H
#define HEDDLE_UPDOWN_H

#include "solver/model/fabric.h"

enum { UPDOWN_FAR = 65535 };

/* UPDOWN_TIERS: by node_tier (hops from the switches with NICs where a tier is not given), upper tiers first.
 * UPDOWN_ROOT: by hops from one switch of the highest tier per connected part: legal routes between all of its
 * switches, whatever the shape, at the price of a crowded root. */
enum updown_order { UPDOWN_TIERS, UPDOWN_ROOT };

struct updown {
    const struct fabric *fabric; /* borrowed */
    int32_t nswitch;
    int32_t *node;        /* [nswitch] the switches, uppermost first; "place" is an index into it */
    int32_t *place;       /* [nnode] -1 for NICs */
    int32_t *part;        /* [nswitch] connected part, named by its smallest place */
    int32_t *first, *out; /* first[nswitch + 1]: live arcs between switches, out of each place, by arc number */
    int32_t *to;          /* [narc] place of the head, -1 where it is no switch */
    int32_t *enter;       /* [nnode] NIC: the arc it sends on (its first live cable to a switch), -1: none */
    int32_t *leave;       /* [nnode] NIC: the arc that it is reached by, -1: none */
    int32_t root;         /* of the next two */
    uint16_t *down;       /* [nswitch] hops to root going down only, UPDOWN_FAR where there is no such way */
    uint16_t *hops;       /* [nswitch] hops to root: down where that is possible, else up first */
};

struct updown *updown_new(const struct fabric *f, enum updown_order order, struct err *e);
void updown_free(struct updown *u);

/* Place of the switch at which node v is reached (leaves == 1) or sends (0): itself for a switch; -1: none. */
int32_t updown_switch(const struct updown *u, int32_t v, int leaves);

/* Turn to a destination switch, by place. O(arcs). */
void updown_to(struct updown *u, int32_t root);

/* 1 when arc a, out of the switch in place v, leads on to the root. */
static inline int updown_leads(const struct updown *u, int32_t v, int32_t a)
{
    int32_t w = u->to[a];
    if (u->down[v] != UPDOWN_FAR)
        return w > v && u->down[v] > 0 && u->down[w] == u->down[v] - 1;
    return w < v && u->hops[v] != UPDOWN_FAR && u->hops[w] == u->hops[v] - 1;
}

#endif
