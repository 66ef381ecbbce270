#include "solver/model/pods.h"

#include <stdlib.h>
#include <string.h>

static int check(const struct fabric *f, int32_t npod, const int32_t *of, struct err *e)
{
    if (npod < (f->nnode > 0) || npod > f->nnode)
        return fail(e, E_INPUT, "%d pods for %d nodes", npod, f->nnode);
    uint8_t *seen = array(npod, 1);
    if (!seen)
        return fail(e, E_MEMORY, "out of memory for %d pods", npod);
    int rc = 0;
    for (int32_t v = 0; v < f->nnode && rc == 0; v++)
        if (of[v] < 0 || of[v] >= npod)
            rc = fail(e, E_INPUT, "node \"%s\": pod %d is not in [0, %d)", f->node_name[v], of[v], npod);
        else
            seen[of[v]] = 1;
    for (int32_t p = 0; p < npod && rc == 0; p++)
        if (!seen[p])
            rc = fail(e, E_INPUT, "pod %d has no node", p);
    free(seen);
    return rc;
}

struct pods *pods_new(const struct fabric *f, int32_t npod, const int32_t *of, struct err *e)
{
    if (check(f, npod, of, e) < 0)
        return NULL;
    struct pods *p = array(1, sizeof *p);
    if (!p)
        goto oom;
    p->npod = npod;
    p->nnode = f->nnode;
    p->narc = f->narc;
    p->of = array(f->nnode, sizeof *p->of);
    p->arc = array(f->narc, sizeof *p->arc);
    if (!p->of || !p->arc)
        goto oom;
    if (f->nnode > 0)
        memcpy(p->of, of, (size_t)f->nnode * sizeof *of);
    for (int32_t a = 0; a < f->narc; a++) {
        int inside = of[f->tail[a]] == of[f->head[a]];
        p->arc[a] = f->live[a] && inside ? of[f->tail[a]] : -1;
        p->ncut += f->live[a] && !inside;
    }
    p->cut = array(p->ncut, sizeof *p->cut);
    if (!p->cut)
        goto oom;
    for (int32_t a = 0, n = 0; a < f->narc; a++)
        if (f->live[a] && p->arc[a] < 0)
            p->cut[n++] = a;
    return p;
oom:
    pods_free(p);
    fail(e, E_MEMORY, "out of memory for %d pods of %d nodes", npod, f->nnode);
    return NULL;
}

void pods_free(struct pods *p)
{
    if (!p)
        return;
    free(p->of);
    free(p->arc);
    free(p->cut);
    free(p);
}

int32_t pods_begin(const struct pods *p, int rank, int size)
{
    return (int32_t)((int64_t)p->npod * rank / size);
}
