#include "solver/engine/best.h"

#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-9; /* relative, between largest loads */

int best_init(struct best *b, const struct problem *p, struct err *e)
{
    *b = (struct best){ .p = p };
    b->efficiency = array(p->njob, sizeof *b->efficiency);
    b->trial = array(p->njob, sizeof *b->trial);
    b->sorted = array(2 * (int64_t)p->njob, sizeof *b->sorted);
    b->load = array(p->fabric->narc, sizeof *b->load);
    if (b->efficiency && b->trial && b->sorted && b->load)
        return 0;
    best_free(b);
    return fail(e, E_MEMORY, "out of memory for the scores of %d jobs", p->njob);
}

void best_free(struct best *b)
{
    routes_free(b->routes);
    free(b->efficiency);
    free(b->trial);
    free(b->sorted);
    free(b->load);
    *b = (struct best){ .p = b->p };
}

void best_clear(struct best *b)
{
    routes_free(b->routes);
    b->routes = NULL;
    b->short_memory = 0;
}

int best_order(const struct problem *p, double value, const double *efficiency, double old, const double *before,
               double *sorted)
{
    if (p->options.objective == OBJ_JOB_FAIR)
        return score_compare(p, efficiency, before, sorted) > 0;
    return value < old * (1 - SAME);
}

/* 1 when the last score is better than the best. */
static int wins(struct best *b, double *value)
{
    *value = score_value(b->p, b->trial, b->load);
    return !b->routes || best_order(b->p, *value, b->trial, b->value, b->efficiency, b->sorted);
}

static void keep(struct best *b, struct routes *r, double value)
{
    routes_free(b->routes);
    b->routes = r;
    b->value = value;
    memcpy(b->efficiency, b->trial, (size_t)b->p->njob * sizeof *b->trial);
}

int best_take(struct best *b, const struct routes *r, struct err *e)
{
    double value;
    struct routes *copy = routes_copy(r, e);
    if (!copy || score_pinned(b->p, copy, b->trial, b->load, e) < 0) {
        routes_free(copy);
        return -1;
    }
    if (wins(b, &value))
        keep(b, copy, value);
    else
        routes_free(copy);
    return 0;
}

int best_offer(struct best *b, struct scorer *s, struct routes *r)
{
    double value;
    scorer_pinned(s, r, b->trial, b->load);
    if (!wins(b, &value))
        return 0;
    struct routes *copy = routes_copy(r, NULL);
    b->short_memory |= !copy;
    if (!copy)
        return 0;
    keep(b, copy, value);
    return 1;
}
