/* Forwarding tables, as a fabric manager that trusts nobody would look at them: every entry a live port of its switch,
 * every NIC reached from every switch it hangs together with, the stated routes what the tables do, and no ring of
 * arcs in which each may wait for the next (Dally and Seitz 1987), every switch sending to every destination.
 */
#include "solver/check_part.h"

#include <stdlib.h>
#include <string.h>

enum { NEW, OPEN, DONE }; /* of a switch on the way to one destination; of an arc in the search for rings */

struct tables_check {
    const struct problem *p;
    const struct forward *t;
    struct check_report *report;
    int32_t *part;  /* [nnode] parts that hang together over live arcs between switches; NICs: parts that reach them */
    uint8_t *state; /* [nnode], then [narc] */
    int32_t *stack; /* [nnode + narc] */
    int64_t *base;  /* [narc + 1] */
    uint8_t *waits; /* [base[narc]] arc a may wait for the k-th arc out of its head */
    int32_t *order; /* [narc] place of an arc among those out of its tail */
    int32_t *at;    /* [narc] where the search stands */
};

static const char *name(const struct tables_check *c, int32_t v)
{
    return c->p->fabric->node_name[v];
}

static int32_t root(int32_t *of, int32_t v)
{
    while (of[v] != v)
        v = of[v] = of[of[v]];
    return v;
}

/* Switches joined by live arcs, and NICs to the switch that they are reached from first. */
static void find_parts(struct tables_check *c)
{
    const struct fabric *f = c->p->fabric;
    for (int32_t v = 0; v < f->nnode; v++)
        c->part[v] = v;
    for (int32_t a = 0; a < f->narc; a++) {
        int32_t x = f->tail[a], y = f->head[a];
        if (f->live[a] && f->node_kind[x] == NODE_SWITCH && f->node_kind[y] == NODE_SWITCH)
            c->part[root(c->part, x)] = root(c->part, y);
    }
    for (int32_t v = 0; v < f->nnode; v++) {
        if (f->node_kind[v] != NODE_NIC)
            continue;
        for (int32_t k = f->ifirst[v + 1] - 1; k >= f->ifirst[v]; k--)
            if (f->node_kind[f->tail[f->in[k]]] == NODE_SWITCH)
                c->part[v] = root(c->part, f->tail[f->in[k]]);
    }
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->node_kind[v] == NODE_SWITCH)
            c->part[v] = root(c->part, v);
}

/* Entries one by one: a port of this switch with a cable that works. */
static void check_entries(struct tables_check *c)
{
    const struct fabric *f = c->p->fabric;
    for (int32_t v = 0; v < f->nnode; v++) {
        if (c->t->row[v] < 0)
            continue;
        const int32_t *row = c->t->arc + (int64_t)c->t->row[v] * f->nnode;
        for (int32_t d = 0; d < f->nnode; d++) {
            int32_t a = row[d];
            if (a == -1)
                continue;
            if (a < 0 || a >= f->narc)
                check_fault(c->report, "tables: \"%.60s\" towards \"%.60s\": arc %d is not in [0, %d)", name(c, v),
                            name(c, d), a, f->narc);
            else if (f->tail[a] != v)
                check_fault(c->report, "tables: \"%.60s\" towards \"%.60s\": arc %d starts at \"%.60s\"", name(c, v),
                            name(c, d), a, name(c, f->tail[a]));
            else if (!f->live[a])
                check_fault(c->report, "tables: \"%.60s\" towards \"%.60s\": arc %d is not live", name(c, v),
                            name(c, d), a);
            else if (f->node_kind[f->head[a]] == NODE_NIC && f->head[a] != d)
                check_fault(c->report, "tables: \"%.60s\" towards \"%.60s\": arc %d ends at NIC \"%.60s\"", name(c, v),
                            name(c, d), a, name(c, f->head[a]));
        }
    }
}

/* From switch s towards d until something known: 1 when it arrives. Entries have been checked. */
static int arrives(struct tables_check *c, int32_t s, int32_t d)
{
    const struct fabric *f = c->p->fabric;
    int32_t n = 0, v = s, good = 0;
    while (v != d && c->state[v] == NEW) {
        int32_t a = c->t->row[v] >= 0 ? c->t->arc[(int64_t)c->t->row[v] * f->nnode + d] : -1;
        c->state[v] = OPEN;
        c->stack[n++] = v;
        if (a < 0)
            break;
        v = f->head[a];
    }
    good = v == d || c->state[v] == DONE;
    while (n > 0)
        c->state[c->stack[--n]] = good ? DONE : OPEN;
    return good;
}

/* All pairs. A NIC must have an entry everywhere in its part; a switch may be left out as a destination, but not
 * half. */
static void check_reach(struct tables_check *c)
{
    const struct fabric *f = c->p->fabric;
    for (int32_t d = 0; d < f->nnode; d++) {
        int wanted = f->node_kind[d] == NODE_NIC && c->part[d] != d;
        for (int32_t v = 0; v < f->nnode && !wanted; v++)
            wanted = c->t->row[v] >= 0 && c->t->arc[(int64_t)c->t->row[v] * f->nnode + d] >= 0;
        if (!wanted)
            continue;
        memset(c->state, NEW, (size_t)f->nnode);
        for (int32_t v = 0; v < f->nnode; v++)
            if (v != d && c->t->row[v] >= 0 && c->part[v] == c->part[d] && !arrives(c, v, d))
                check_fault(c->report, "tables: \"%.60s\" does not reach \"%.60s\": an entry is missing or goes round",
                            name(c, v), name(c, d));
    }
}

static void check_follow(struct tables_check *c, const struct routes *r)
{
    const struct fabric *f = c->p->fabric;
    for (int32_t i = 0; i < r->nflow; i++)
        for (int64_t k = r->first[i]; k < r->first[i + 1]; k++)
            for (int64_t h = r->at[k]; h < r->at[k + 1]; h++) {
                int32_t v = f->tail[r->arc[h]], d = c->p->dst[i];
                if (c->t->row[v] < 0)
                    continue;
                int32_t a = c->t->arc[(int64_t)c->t->row[v] * f->nnode + d];
                if (a != r->arc[h]) {
                    check_fault_flow(c->report, c->p, r, i, k, "takes arc %d at \"%.60s\", its table says %d",
                                     r->arc[h], name(c, v), a);
                    break;
                }
            }
}

/* ---- rings ---- */

static int rings_new(struct tables_check *c)
{
    const struct fabric *f = c->p->fabric;
    c->base = array((int64_t)f->narc + 1, sizeof *c->base);
    c->order = array(f->narc, sizeof *c->order);
    c->at = array(f->narc, sizeof *c->at);
    if (!c->base || !c->order || !c->at)
        return -1;
    for (int32_t a = 0; a < f->narc; a++) {
        int32_t v = f->head[a];
        c->base[a + 1] = c->base[a] + (f->live[a] ? f->first[v + 1] - f->first[v] : 0);
    }
    for (int32_t v = 0; v < f->nnode; v++)
        for (int32_t k = f->first[v]; k < f->first[v + 1]; k++)
            c->order[f->out[k]] = k - f->first[v];
    c->waits = array(c->base[f->narc], 1);
    return c->waits ? 0 : -1;
}

static void find_waits(struct tables_check *c)
{
    const struct fabric *f = c->p->fabric;
    for (int32_t d = 0; d < f->nnode; d++)
        for (int32_t v = 0; v < f->nnode; v++) {
            int32_t a = c->t->row[v] < 0 ? -1 : c->t->arc[(int64_t)c->t->row[v] * f->nnode + d];
            int32_t w = a < 0 ? d : f->head[a];
            int32_t b = w == d || c->t->row[w] < 0 ? -1 : c->t->arc[(int64_t)c->t->row[w] * f->nnode + d];
            if (b >= 0)
                c->waits[c->base[a] + c->order[b]] = 1;
        }
}

/* Depth first from arc a; returns an arc of a ring, or -1. */
static int32_t find_ring(struct tables_check *c, int32_t a)
{
    const struct fabric *f = c->p->fabric;
    int32_t n = 0;
    c->state[a] = OPEN;
    c->stack[n++] = a;
    while (n > 0) {
        int32_t x = c->stack[n - 1], v = f->head[x], k = c->at[x]++;
        if (c->base[x] + k == c->base[x + 1]) {
            c->state[x] = DONE;
            n--;
            continue;
        }
        if (!c->waits[c->base[x] + k])
            continue;
        int32_t b = f->out[f->first[v] + k];
        if (c->state[b] == OPEN)
            return b;
        if (c->state[b] == NEW) {
            c->state[b] = OPEN;
            c->stack[n++] = b;
        }
    }
    return -1;
}

static void check_rings(struct tables_check *c)
{
    const struct fabric *f = c->p->fabric;
    find_waits(c);
    if (f->narc > 0)
        memset(c->state, NEW, (size_t)f->narc);
    for (int32_t a = 0; a < f->narc; a++) {
        int32_t b = c->state[a] == NEW ? find_ring(c, a) : -1;
        if (b < 0)
            continue;
        check_fault(c->report, "tables: a ring of arcs waits for itself, arc %d (\"%.60s\" -> \"%.60s\") is part of it",
                    b, name(c, f->tail[b]), name(c, f->head[b]));
        return;
    }
}

int check_tables(const struct problem *p, const struct plan *plan, struct check_report *report, struct err *e)
{
    const struct fabric *f = p->fabric;
    struct tables_check c = { .p = p, .t = plan->tables, .report = report };
    if (!plan->tables || plan->tables->nnode != f->nnode) {
        check_fault(report, "plan has no forwarding tables for its routes");
        return 0;
    }
    int64_t before = report->nfault;
    c.part = array(f->nnode, sizeof *c.part);
    c.state = array((int64_t)f->nnode + f->narc, sizeof *c.state);
    c.stack = array((int64_t)f->nnode + f->narc, sizeof *c.stack);
    int rc = c.part && c.state && c.stack && rings_new(&c) == 0
                 ? 0
                 : fail(e, E_MEMORY, "out of memory for the tables of %d nodes", f->nnode);
    if (rc == 0) {
        find_parts(&c);
        check_entries(&c);
        if (report->nfault == before) { /* nothing follows from entries that are none */
            check_reach(&c);
            check_follow(&c, plan->routes);
            check_rings(&c);
        }
    }
    free(c.part);
    free(c.state);
    free(c.stack);
    free(c.base);
    free(c.order);
    free(c.at);
    free(c.waits);
    return rc;
}
