#include "solver/model/fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t MAX_LINK = 1 << 30; /* arc numbers are int32_t and there are two per link */

static int labels_new(struct labels *l, int32_t nnode)
{
    l->of = array(nnode, sizeof *l->of);
    for (int32_t v = 0; l->of && v < nnode; v++)
        l->of[v] = -1;
    return l->of ? 0 : -1;
}

static void labels_free(struct labels *l)
{
    for (int32_t i = 0; l->name && i < l->count; i++)
        free(l->name[i]);
    free(l->name);
    free(l->of);
}

int labels_set(struct labels *l, int32_t v, const char *text, struct err *e)
{
    int32_t i = l->count - 1;
    while (i >= 0 && strcmp(l->name[i], text) != 0)
        i--;
    if (i < 0) {
        int64_t room = l->count;
        void *name = l->name;
        char *copy = text_copy(text);
        if (!copy || array_grow(&name, &room, (int64_t)l->count + 1, sizeof *l->name) < 0) {
            free(copy);
            return fail(e, E_MEMORY, "out of memory for label \"%s\"", text);
        }
        l->name = name;
        l->name[l->count] = copy;
        i = l->count++;
    }
    l->of[v] = i;
    return 0;
}

static int new_nodes(struct fabric *f)
{
    f->node_name = array(f->nnode, sizeof *f->node_name);
    f->node_kind = array(f->nnode, sizeof *f->node_kind);
    f->node_up = array(f->nnode, sizeof *f->node_up);
    f->node_tier = array(f->nnode, sizeof *f->node_tier);
    f->node_rail = array(f->nnode, sizeof *f->node_rail);
    f->node_guid = array(f->nnode, sizeof *f->node_guid);
    f->node_lid = array(f->nnode, sizeof *f->node_lid);
    if (!f->node_name || !f->node_kind || !f->node_up || !f->node_tier || !f->node_rail || !f->node_guid ||
        !f->node_lid)
        return -1;
    for (int32_t v = 0; v < f->nnode; v++) {
        f->node_up[v] = 1;
        f->node_tier[v] = f->node_rail[v] = f->node_lid[v] = -1;
    }
    return labels_new(&f->pod, f->nnode) < 0 || labels_new(&f->site, f->nnode) < 0 || labels_new(&f->host, f->nnode) < 0
               ? -1
               : 0;
}

static int new_links(struct fabric *f)
{
    f->link_from = array(f->nlink, sizeof *f->link_from);
    f->link_to = array(f->nlink, sizeof *f->link_to);
    f->link_gbps = array(f->nlink, sizeof *f->link_gbps);
    f->link_cost = array(f->nlink, sizeof *f->link_cost);
    f->link_latency = array(f->nlink, sizeof *f->link_latency);
    f->link_from_port = array(f->nlink, sizeof *f->link_from_port);
    f->link_to_port = array(f->nlink, sizeof *f->link_to_port);
    f->link_up = array(f->nlink, sizeof *f->link_up);
    f->link_directed = array(f->nlink, sizeof *f->link_directed);
    if (!f->link_from || !f->link_to || !f->link_gbps || !f->link_cost || !f->link_latency || !f->link_from_port ||
        !f->link_to_port || !f->link_up || !f->link_directed)
        return -1;
    for (int32_t i = 0; i < f->nlink; i++) {
        f->link_up[i] = 1;
        f->link_from_port[i] = f->link_to_port[i] = -1;
    }
    return 0;
}

struct fabric *fabric_new(int32_t nnode, int32_t nlink, struct err *e)
{
    if (nnode < 0 || nlink < 0 || nlink > MAX_LINK) {
        fail(e, E_INPUT, "fabric: %d nodes and %d links are out of range", nnode, nlink);
        return NULL;
    }
    struct fabric *f = array(1, sizeof *f);
    if (!f)
        goto oom;
    f->nnode = nnode;
    f->nlink = nlink;
    f->narc = 2 * nlink;
    if (new_nodes(f) < 0 || new_links(f) < 0)
        goto oom;
    return f;
oom:
    fabric_free(f);
    fail(e, E_MEMORY, "out of memory for a fabric of %d nodes and %d links", nnode, nlink);
    return NULL;
}

static int check_link(const struct fabric *f, int32_t i, struct err *e)
{
    int32_t s = f->link_from[i], t = f->link_to[i];
    if (s < 0 || s >= f->nnode)
        return fail(e, E_INPUT, "links[%d]: from node %d is not in [0, %d)", i, s, f->nnode);
    if (t < 0 || t >= f->nnode)
        return fail(e, E_INPUT, "links[%d]: to node %d is not in [0, %d)", i, t, f->nnode);
    if (s == t)
        return fail(e, E_INPUT, "links[%d]: both ends are node \"%s\"", i, f->node_name[s] ? f->node_name[s] : "?");
    if (!(f->link_gbps[i] > 0 && isfinite(f->link_gbps[i])))
        return fail(e, E_INPUT, "links[%d]: gbps %g must be positive and finite", i, f->link_gbps[i]);
    if (!(f->link_cost[i] >= 0 && isfinite(f->link_cost[i])))
        return fail(e, E_INPUT, "links[%d]: cost %g must be finite and not negative", i, f->link_cost[i]);
    if (!(f->link_latency[i] >= 0 && isfinite(f->link_latency[i])))
        return fail(e, E_INPUT, "links[%d]: latency_us %g must be finite and not negative", i, f->link_latency[i]);
    return 0;
}

/* Bucket the live arcs by end[a]; arcs keep their order inside a bucket. */
static void adjacency(const struct fabric *f, const int32_t *end, int32_t *first, int32_t *list)
{
    for (int32_t a = 0; a < f->narc; a++)
        first[end[a] + 1] += f->live[a];
    for (int32_t v = 0; v < f->nnode; v++)
        first[v + 1] += first[v];
    for (int32_t a = f->narc - 1; a >= 0; a--)
        if (f->live[a])
            list[--first[end[a] + 1]] = a;
    for (int32_t v = 0; v < f->nnode; v++) /* first[v + 1] now holds the start of v */
        first[v] = first[v + 1];
    first[f->nnode] = 0;
    for (int32_t a = 0; a < f->narc; a++)
        first[f->nnode] += f->live[a];
}

int fabric_finish(struct fabric *f, struct err *e)
{
    for (int32_t i = 0; i < f->nlink; i++)
        if (check_link(f, i, e) < 0)
            return -1;
    f->tail = array(f->narc, sizeof *f->tail);
    f->head = array(f->narc, sizeof *f->head);
    f->cap = array(f->narc, sizeof *f->cap);
    f->live = array(f->narc, sizeof *f->live);
    f->first = array((int64_t)f->nnode + 1, sizeof *f->first);
    f->out = array(f->narc, sizeof *f->out);
    f->ifirst = array((int64_t)f->nnode + 1, sizeof *f->ifirst);
    f->in = array(f->narc, sizeof *f->in);
    if (!f->tail || !f->head || !f->cap || !f->live || !f->first || !f->out || !f->ifirst || !f->in)
        return fail(e, E_MEMORY, "out of memory for %d arcs", f->narc);
    for (int32_t i = 0; i < f->nlink; i++) {
        int32_t s = f->link_from[i], t = f->link_to[i];
        uint8_t up = f->link_up[i] && f->node_up[s] && f->node_up[t];
        f->tail[2 * i] = f->head[2 * i + 1] = s;
        f->head[2 * i] = f->tail[2 * i + 1] = t;
        f->cap[2 * i] = f->cap[2 * i + 1] = f->link_gbps[i];
        f->live[2 * i] = up;
        f->live[2 * i + 1] = up && !f->link_directed[i];
    }
    adjacency(f, f->tail, f->first, f->out);
    adjacency(f, f->head, f->ifirst, f->in);
    return 0;
}

void fabric_free(struct fabric *f)
{
    if (!f)
        return;
    for (int32_t v = 0; f->node_name && v < f->nnode; v++)
        free(f->node_name[v]);
    labels_free(&f->pod);
    labels_free(&f->site);
    labels_free(&f->host);
    void *owned[] = {
        f->name,          f->node_name, f->node_kind, f->node_up,      f->node_tier,      f->node_rail,    f->link_from,
        f->link_to,       f->link_gbps, f->link_cost, f->link_latency, f->link_from_port, f->link_to_port, f->link_up,
        f->link_directed, f->tail,      f->head,      f->cap,          f->live,           f->first,        f->out,
        f->ifirst,        f->in,        f->node_guid, f->node_lid
    };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(f);
}
