#include "solver/model/forward.h"

#include <stdlib.h>

struct forward *forward_new(const struct fabric *f, struct err *e)
{
    struct forward *t = array(1, sizeof *t);
    if (!t)
        goto oom;
    t->nnode = f->nnode;
    t->row = array(f->nnode, sizeof *t->row);
    if (!t->row)
        goto oom;
    for (int32_t v = 0; v < f->nnode; v++)
        t->row[v] = f->node_kind[v] == NODE_SWITCH ? t->nswitch++ : -1;
    int64_t n = (int64_t)t->nswitch * t->nnode;
    t->arc = array(n, sizeof *t->arc);
    if (!t->arc)
        goto oom;
    for (int64_t i = 0; i < n; i++)
        t->arc[i] = -1;
    return t;
oom:
    forward_free(t);
    fail(e, E_MEMORY, "out of memory for forwarding tables of %d nodes", f->nnode);
    return NULL;
}

void forward_free(struct forward *t)
{
    if (!t)
        return;
    free(t->row);
    free(t->arc);
    free(t);
}

int32_t forward_walk(const struct fabric *f, const struct forward *t, int32_t s, int32_t d, int32_t *arc, int32_t room)
{
    int32_t n = 0;
    for (int32_t v = s; v != d;) {
        int32_t a = t->row[v] >= 0 ? forward_row(t, v)[d] : -1;
        if (a < 0 || n == room)
            return -1;
        arc[n++] = a;
        v = f->head[a];
    }
    return n;
}
