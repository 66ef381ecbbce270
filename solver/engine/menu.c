#include "solver/engine/menu.h"
#include "solver/kernel/paths.h"

#include <stdlib.h>
#include <string.h>

int menu_no_path(const struct problem *p, int32_t f, struct err *e)
{
    const struct fabric *g = p->fabric;
    int32_t j = p->job[f];
    return fail(e, E_INPUT, "jobs[%d].flows[%d]: no live path from \"%s\" to \"%s\"", j, f - p->job_first[j],
                g->node_name[p->src[f]], g->node_name[p->dst[f]]);
}

int menu_listed(const struct problem *p, int32_t f)
{
    return p->list_first && p->list_first[f + 1] > p->list_first[f];
}

static int menu_add(struct menu *m, int64_t i, const int32_t *arc, int64_t n)
{
    void *at = m->at, *room = m->arc;
    int rc = array_grow(&at, &m->room_at, i + 2, sizeof *m->at);
    m->at = at;
    if (rc == 0)
        rc = array_grow(&room, &m->room_arc, m->at[i] + n, sizeof *m->arc);
    m->arc = room;
    if (rc < 0)
        return -1;
    memcpy(m->arc + m->at[i], arc, (size_t)n * sizeof *arc);
    m->at[i + 1] = m->at[i] + n;
    return 0;
}

/* Arcs of listed path i, or -1 when one of them is down. */
static int64_t live_length(const struct problem *p, int64_t i)
{
    for (int64_t h = p->list_at[i]; h < p->list_at[i + 1]; h++)
        if (!p->fabric->live[p->list_arc[h]])
            return -1;
    return p->list_at[i + 1] - p->list_at[i];
}

/* The live listed paths of flow f with the fewest arcs. */
static int add_listed(struct menu *m, const struct problem *p, int32_t f)
{
    int64_t fewest = -1;
    for (int64_t i = p->list_first[f]; i < p->list_first[f + 1]; i++) {
        int64_t n = live_length(p, i);
        if (n >= 0 && (fewest < 0 || n < fewest))
            fewest = n;
    }
    for (int64_t i = p->list_first[f]; i < p->list_first[f + 1]; i++)
        if (fewest >= 0 && live_length(p, i) == fewest &&
            menu_add(m, m->first[f + 1]++, p->list_arc + p->list_at[i], fewest) < 0)
            return -1;
    return 0;
}

/* The k disjoint paths of flow f; at[k + 1] and *arc[*room] are scratch. */
static int add_disjoint(struct menu *m, const struct problem *p, struct paths *paths, int32_t f, int32_t *at,
                        int32_t **arc, int64_t *room)
{
    int32_t n;
    while ((n = paths_disjoint(paths, p->src[f], p->dst[f], p->options.disjoint, at, *arc, (int32_t)*room)) < 0) {
        void *more = *arc;
        int rc = array_grow(&more, room, 2 * *room, sizeof **arc);
        *arc = more;
        if (rc < 0)
            return -1;
    }
    for (int32_t i = 0; i < n; i++)
        if (menu_add(m, m->first[f + 1]++, *arc + at[i], at[i + 1] - at[i]) < 0)
            return -1;
    return 0;
}

static int fill(struct menu *m, const struct problem *p, int disjoint)
{
    const struct fabric *f = p->fabric;
    struct graph g = { f->nnode, f->narc, f->first, f->out, f->head, f->tail, f->node_kind };
    int64_t room = 256;
    int rc = 0;
    struct paths *paths = disjoint ? paths_new(&g) : NULL;
    int32_t *at = array((int64_t)p->options.disjoint + 1, sizeof *at), *arc = array(room, sizeof *arc);
    if (!at || !arc || (disjoint && !paths))
        rc = -1;
    for (int32_t i = 0; i < p->nflow && rc == 0; i++) {
        m->first[i + 1] = m->first[i];
        if (problem_routed(p, i) && menu_listed(p, i))
            rc = add_listed(m, p, i);
        else if (problem_routed(p, i) && disjoint)
            rc = add_disjoint(m, p, paths, i, at, &arc, &room);
    }
    paths_free(paths);
    free(at);
    free(arc);
    return rc;
}

struct menu *menu_new(const struct problem *p, int disjoint, struct err *e)
{
    struct menu *m = array(1, sizeof *m);
    if (!m)
        goto oom;
    m->first = array((int64_t)p->nflow + 1, sizeof *m->first);
    m->at = array(m->room_at = 1, sizeof *m->at);
    if (m->first && m->at && fill(m, p, disjoint) == 0)
        return m;
oom:
    menu_free(m);
    fail(e, E_MEMORY, "out of memory for the allowed paths of %d flows", p->nflow);
    return NULL;
}

void menu_free(struct menu *m)
{
    if (!m)
        return;
    free(m->first);
    free(m->at);
    free(m->arc);
    free(m);
}
