#include "solver/engine/tables_start.h"

#include "solver/engine/colour.h"

#include <stdlib.h>
#include <string.h>

struct starter {
    const struct problem *p;
    struct lanes *lanes;
    struct colour *colour;
    struct eject *state; /* a unit per flow */
    int32_t n, *flow, *pair;
    double *rate, *need; /* [n] */
};

static int starter_fill(struct starter *s, struct err *e)
{
    const struct problem *p = s->p;
    s->flow = array(p->nflow, sizeof *s->flow);
    s->pair = array(p->nflow, sizeof *s->pair);
    s->rate = array(p->nflow, sizeof *s->rate);
    s->need = array(p->nflow, sizeof *s->need);
    if (!s->flow || !s->pair || !s->rate || !s->need)
        return fail(e, E_MEMORY, "out of memory for a start of %d flows", p->nflow);
    for (int32_t f = 0; f < p->nflow; f++)
        if (s->lanes->pair[f] >= 0) {
            s->flow[s->n] = f;
            s->pair[s->n++] = s->lanes->pair[f];
        }
    return (s->state = eject_new(s->lanes, s->n, s->pair, e)) ? 0 : -1;
}

int starter_new(const struct problem *p, struct starter **out, struct err *e)
{
    struct starter *s = array(1, sizeof *s);
    *out = NULL;
    if (!s)
        return fail(e, E_MEMORY, "out of memory for a start of %d flows", p->nflow);
    s->p = p;
    int rc = (s->lanes = lanes_new(p, e)) ? colour_new(s->lanes, &s->colour, e) : -1;
    if (rc == 0 && s->colour)
        rc = starter_fill(s, e);
    if (rc < 0 || !s->colour) {
        starter_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void starter_free(struct starter *s)
{
    if (!s)
        return;
    eject_free(s->state);
    colour_free(s->colour);
    lanes_free(s->lanes);
    free(s->flow);
    free(s->pair);
    free(s->rate);
    free(s->need);
    free(s);
}

/* Places unit g on these arcs when they are one of its ways. */
static void take(struct trees *t, int32_t g, const int32_t *arc, int32_t n)
{
    int32_t pair = t->pair[g];
    for (int64_t w = t->wfirst[pair]; n == t->whops[pair] && w < t->wfirst[pair + 1]; w++)
        if (!memcmp(t->warc + w * t->longest, arc, (size_t)n * sizeof *arc)) {
            trees_place(t, g, arc, n);
            return;
        }
}

void starter_place(struct starter *s, struct trees *t, const double *p, const double *q)
{
    for (int32_t i = 0; i < s->n; i++) {
        s->rate[i] = p[s->flow[i]];
        s->need[i] = q[s->flow[i]];
    }
    eject_target(s->state, s->rate, s->need, 1);
    colour_place(s->colour, s->state);
    trees_clear(t);
    for (int32_t i = 0; i < s->n; i++) {
        int32_t g = t->unit[s->flow[i]];
        if (g >= 0 && t->len[g] == 0 && s->state->len[i] > 0)
            take(t, g, s->state->arc + s->state->at[i], s->state->len[i]);
    }
}
