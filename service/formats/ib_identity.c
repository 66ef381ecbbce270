#include "service/formats/ib_identity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Assigned GUIDs: a locally administered number and the node's, room for a NIC's ports between two of them. */
static const uint64_t SWITCH_GUID = UINT64_C(0x0200000000000000), NIC_GUID = UINT64_C(0x0210000000000000);

void ib_identity_free(struct ib_identity *x)
{
    free(x->guid);
    free(x->lid);
    free(x->port);
    free(x->most);
    free(x->by_guid);
    *x = (struct ib_identity){ 0 };
}

static int present(const struct fabric *f, int32_t v)
{
    return f->first[v + 1] > f->first[v] || f->ifirst[v + 1] > f->ifirst[v];
}

/* ---- ports ---- */

/* Port numbers in use at a node: bits of used[4]. */
static int claim(uint64_t *used, int32_t port)
{
    uint64_t bit = UINT64_C(1) << (port & 63);
    if (used[port >> 6] & bit)
        return 0;
    used[port >> 6] |= bit;
    return 1;
}

static int take_given(struct ib_identity *x, const struct fabric *f, uint64_t (*used)[4], int32_t a, struct err *e)
{
    int32_t v = f->tail[a], port = a % 2 ? f->link_to_port[a / 2] : f->link_from_port[a / 2];
    if (port < 0)
        return 0;
    if (port == 0 || port > IB_MAX_PORT)
        return fail(e, E_INPUT, "links[%d]: port %d of \"%s\" is not in [1, %d]", a / 2, port, f->node_name[v],
                    IB_MAX_PORT);
    if (!claim(used[v], port))
        return fail(e, E_INPUT, "links[%d]: port %d of \"%s\" has another cable already", a / 2, port, f->node_name[v]);
    x->port[a] = port;
    return 0;
}

static int take_free(struct ib_identity *x, const struct fabric *f, uint64_t (*used)[4], int32_t a, struct err *e)
{
    int32_t v = f->tail[a], port = 1;
    while (port <= IB_MAX_PORT && !claim(used[v], port))
        port++;
    if (port > IB_MAX_PORT)
        return fail(e, E_INPUT, "links[%d]: \"%s\" has more than %d cables", a / 2, f->node_name[v], IB_MAX_PORT);
    x->port[a] = port;
    return 0;
}

static int number_ports(struct ib_identity *x, const struct fabric *f, struct err *e)
{
    uint64_t(*used)[4] = array(f->nnode, sizeof *used);
    int rc = used ? 0 : fail(e, E_MEMORY, "out of memory for the ports of %d nodes", f->nnode);
    for (int32_t a = 0; a < f->narc && rc == 0; a++)
        rc = take_given(x, f, used, a, e);
    for (int32_t a = 0; a < f->narc && rc == 0; a++)
        if (x->port[a] == 0)
            rc = take_free(x, f, used, a, e);
    for (int32_t a = 0; a < f->narc && rc == 0; a++)
        if (x->port[a] > x->most[f->tail[a]])
            x->most[f->tail[a]] = x->port[a];
    free(used);
    return rc;
}

/* ---- GUIDs ---- */

struct known {
    uint64_t guid;
    int32_t node;
};

static int by_guid(const void *x, const void *y)
{
    const struct known *s = x, *t = y;
    return (s->guid > t->guid) - (s->guid < t->guid);
}

static int number_guids(struct ib_identity *x, const struct fabric *f, struct err *e)
{
    struct known *known = array(f->nnode, sizeof *known);
    if (!known)
        return fail(e, E_MEMORY, "out of memory for the GUIDs of %d nodes", f->nnode);
    for (int32_t v = 0; v < f->nnode; v++) {
        int nic = f->node_kind[v] == NODE_NIC;
        x->guid[v] = f->node_guid[v];
        if (!x->guid[v])
            x->guid[v] = nic ? NIC_GUID + ((uint64_t)v << 8) : SWITCH_GUID + (uint64_t)v + 1;
        known[v] = (struct known){ x->guid[v], v };
    }
    qsort(known, (size_t)f->nnode, sizeof *known, by_guid);
    int rc = 0;
    for (int32_t i = 0; i < f->nnode && rc == 0; i++) {
        x->by_guid[i] = known[i].node;
        if (i > 0 && known[i].guid == known[i - 1].guid)
            rc = fail(e, E_INPUT, "nodes \"%s\" and \"%s\" have the same guid 0x%016" PRIx64,
                      f->node_name[known[i - 1].node], f->node_name[known[i].node], known[i].guid);
    }
    free(known);
    return rc;
}

int32_t ib_identity_find(const struct ib_identity *x, uint64_t guid)
{
    int32_t lo = 0, hi = x->nnode;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (x->guid[x->by_guid[mid]] < guid)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->nnode && x->guid[x->by_guid[lo]] == guid ? x->by_guid[lo] : -1;
}

/* ---- addresses ---- */

static int32_t addresses(const struct fabric *f, int32_t v, int lmc)
{
    return f->node_kind[v] == NODE_NIC ? 1 << lmc : 1;
}

/* Marks n addresses from lid on as taken by node v + 1; returns the node that has one of them already, or -1. */
static int32_t mark(int32_t *owner, int32_t lid, int32_t n, int32_t v)
{
    for (int32_t i = 0; i < n; i++)
        if (owner[lid + i])
            return owner[lid + i] - 1;
    for (int32_t i = 0; i < n; i++)
        owner[lid + i] = v + 1;
    return -1;
}

static int keep_lid(struct ib_identity *x, const struct fabric *f, int lmc, int32_t *owner, int32_t v, struct err *e)
{
    int32_t n = addresses(f, v, lmc), lid = f->node_lid[v];
    if (lid % n != 0 || lid + n - 1 > IB_MAX_LID)
        return fail(e, E_INPUT, "node \"%s\": lid %d is not the first of %d addresses (lmc %d)", f->node_name[v], lid,
                    n, lmc);
    int32_t other = mark(owner, lid, n, v);
    if (other >= 0)
        return fail(e, E_INPUT, "nodes \"%s\" and \"%s\" share the address %d (lmc %d)", f->node_name[other],
                    f->node_name[v], lid, lmc);
    x->lid[v] = lid;
    return 0;
}

static int find_lid(struct ib_identity *x, const struct fabric *f, int lmc, int32_t *owner, int32_t *next, int32_t v,
                    struct err *e)
{
    int32_t n = addresses(f, v, lmc), lid = (*next + n - 1) / n * n;
    while (lid + n - 1 <= IB_MAX_LID && mark(owner, lid, n, v) >= 0)
        lid += n;
    if (lid + n - 1 > IB_MAX_LID)
        return fail(e, E_INPUT, "node \"%s\": no address is left of %d (lmc %d)", f->node_name[v], IB_MAX_LID, lmc);
    x->lid[v] = lid;
    *next = n == 1 ? lid + 1 : *next;
    return 0;
}

/* Given addresses first; the others take what is free, switches and single addresses from the low end. */
static int number_lids(struct ib_identity *x, const struct fabric *f, int lmc, struct err *e)
{
    int32_t *owner = array((int64_t)IB_MAX_LID + 1, sizeof *owner), next = 1, next_nic = 1;
    int rc = owner ? 0 : fail(e, E_MEMORY, "out of memory for the addresses of %d nodes", f->nnode);
    for (int32_t v = 0; v < f->nnode && rc == 0; v++) {
        x->lid[v] = -1;
        if (f->node_lid[v] >= 0 && present(f, v))
            rc = keep_lid(x, f, lmc, owner, v, e);
    }
    for (int32_t v = 0; v < f->nnode && rc == 0; v++) {
        int nic = f->node_kind[v] == NODE_NIC;
        if (x->lid[v] >= 0 || !present(f, v))
            continue;
        rc = find_lid(x, f, lmc, owner, nic ? &next_nic : &next, v, e);
        if (rc == 0 && nic)
            next_nic = x->lid[v] + addresses(f, v, lmc);
    }
    for (int32_t v = 0; v < f->nnode && rc == 0; v++)
        if (x->lid[v] >= 0 && x->lid[v] + addresses(f, v, lmc) - 1 > x->highest_lid)
            x->highest_lid = x->lid[v] + addresses(f, v, lmc) - 1;
    free(owner);
    return rc;
}

static int one_cable_each(const struct fabric *f, struct err *e)
{
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->node_kind[v] == NODE_NIC && f->ifirst[v + 1] - f->ifirst[v] > 1)
            return fail(e, E_INPUT,
                        "NIC \"%s\" has %d live cables; in InfiniBand every port is an endpoint, make it a NIC of its "
                        "own",
                        f->node_name[v], f->ifirst[v + 1] - f->ifirst[v]);
    return 0;
}

int ib_identity_new(struct ib_identity *x, const struct fabric *f, int lmc, struct err *e)
{
    *x = (struct ib_identity){ .nnode = f->nnode };
    x->guid = array(f->nnode, sizeof *x->guid);
    x->lid = array(f->nnode, sizeof *x->lid);
    x->port = array(f->narc, sizeof *x->port);
    x->most = array(f->nnode, sizeof *x->most);
    x->by_guid = array(f->nnode, sizeof *x->by_guid);
    int rc = x->guid && x->lid && x->port && x->most && x->by_guid
                 ? 0
                 : fail(e, E_MEMORY, "out of memory for the subnet of %d nodes", f->nnode);
    if (rc == 0 && (one_cable_each(f, e) < 0 || number_ports(x, f, e) < 0 || number_guids(x, f, e) < 0 ||
                    number_lids(x, f, lmc, e) < 0))
        rc = -1;
    if (rc < 0)
        ib_identity_free(x);
    return rc;
}
