/* Findings become a fabric: hosts spread to NICs, names, hosts, rails, tiers, capacities from the overlay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/tiers.h"
#include "service/formats/wiring.h"

/* The fabric under way. */
struct plan {
    struct wiring *w;
    struct fabric *f;
    struct names *name;  /* of the fabric's nodes */
    struct names *host;  /* host names to labels */
    int32_t *number;     /* [nnode] in the fabric; -1 a host that is spread over its ports */
    int32_t *end;        /* [2 ncable] number of each end's node */
    int32_t *owner;      /* per number: the wiring's node it came from */
    const char **called; /* per number: its name */
    int64_t owner_room, called_room;
    int32_t nnode;
};

static int oom(struct plan *p)
{
    return fail(p->w->e, E_MEMORY, "out of memory for a fabric of %d nodes and %d cables", p->w->nnode, p->w->ncable);
}

static int settle_kinds(struct wiring *w)
{
    for (int32_t v = 0; v < w->nnode; v++) {
        struct wire_node *n = &w->node[v];
        if (overlay_is_host(w->in->overlay, n->name))
            n->kind = NODE_NIC;
        if (n->kind == KIND_UNKNOWN) {
            n->kind = NODE_SWITCH;
            format_note(w->report,
                        "nodes that nothing calls a host, taken as switches (--hosts PATTERN says otherwise)",
                        n->place.line);
        }
        if (n->kind == NODE_NIC && !n->host)
            n->host = n->name;
    }
    return 0;
}

/* The number of the fabric's node of that name; must_be_new: refuse one that is there. */
static int32_t number_of(struct plan *p, const char *name, int32_t owner, int must_be_new)
{
    int64_t k = names_find(p->name, name);
    if (k >= 0 && !must_be_new && p->owner[k] == owner)
        return (int32_t)k;
    if (k >= 0)
        return wiring_bad_at(p->w, &p->w->node[owner].place, "the name \"%.100s\" stands for two nodes", name);
    void *grown = p->owner, *names = p->called;
    if (array_grow(&grown, &p->owner_room, (int64_t)p->nnode + 1, sizeof *p->owner) < 0)
        return oom(p);
    p->owner = grown;
    if (array_grow(&names, &p->called_room, (int64_t)p->nnode + 1, sizeof *p->called) < 0)
        return oom(p);
    p->called = names;
    p->owner[p->nnode] = owner;
    p->called[p->nnode] = wiring_text(p->w, (struct text){ name, (int)strlen(name) });
    if (!p->called[p->nnode] || names_add(p->name, name, p->nnode, p->w->e) < 0)
        return -1;
    return p->nnode++;
}

static int number_end(struct plan *p, int32_t side, int32_t v, const char *port)
{
    char name[2 * TEXT_NAME + 2];
    const struct wire_node *n = &p->w->node[v];
    int32_t k = p->number[v];
    if (k < 0) {
        snprintf(name, sizeof name, port ? "%s/%s" : "%s", n->name, port);
        if (strlen(name) > TEXT_NAME)
            return wiring_bad_at(p->w, &n->place, "the name \"%.60s...\" is longer than %d bytes", name, TEXT_NAME);
        k = number_of(p, name, v, 0);
    }
    p->end[side] = k;
    return k < 0 ? -1 : 0;
}

static int number_nodes(struct plan *p)
{
    struct wiring *w = p->w;
    for (int32_t v = 0; v < w->nnode; v++) {
        p->number[v] = -1;
        if (w->node[v].kind == NODE_NIC && w->nic_per_port)
            continue;
        p->number[v] = number_of(p, w->node[v].name, v, 1);
        if (p->number[v] < 0)
            return -1;
    }
    for (int32_t i = 0; i < w->ncable; i++)
        if (number_end(p, 2 * i, w->cable[i].from, w->cable[i].from_port) < 0 ||
            number_end(p, 2 * i + 1, w->cable[i].to, w->cable[i].to_port) < 0)
            return -1;
    return 0;
}

static int set_host(struct plan *p, int32_t v, const char *host)
{
    struct labels *l = &p->f->host;
    int64_t h = names_intern(p->host, host, p->w->e);
    if (h < 0)
        return -1;
    if (h == l->count) {
        l->name[h] = text_copy(host);
        if (!l->name[h])
            return oom(p);
        l->count++;
    }
    l->of[v] = (int32_t)h;
    return 0;
}

static int fill_nodes(struct plan *p)
{
    struct fabric *f = p->f;
    f->host.name = array(p->nnode, sizeof *f->host.name);
    if (!f->host.name)
        return oom(p);
    for (int32_t v = 0; v < p->nnode; v++) {
        const struct wire_node *n = &p->w->node[p->owner[v]];
        f->node_name[v] = text_copy(p->called[v]);
        f->node_kind[v] = (uint8_t)n->kind;
        f->node_tier[v] = n->tier;
        if (!f->node_name[v])
            return oom(p);
        if (n->kind != NODE_NIC)
            continue;
        f->node_rail[v] = n->rail;
        if (set_host(p, v, n->host) < 0)
            return -1;
    }
    return 0;
}

/* ---- rails ---- */

struct seat {
    int32_t host, nic;
    const char *name;
};

static int by_seat(const void *a, const void *b)
{
    const struct seat *s = a, *t = b;
    if (s->host != t->host)
        return s->host < t->host ? -1 : 1;
    int order = text_natural(s->name, t->name);
    return order != 0 ? order : s->nic < t->nic ? -1 : 1;
}

static int set_rails(struct plan *p)
{
    struct fabric *f = p->f;
    struct seat *seat = array(f->nnode, sizeof *seat);
    int32_t n = 0;
    if (!seat)
        return oom(p);
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->host.of[v] >= 0 && f->node_rail[v] < 0)
            seat[n++] = (struct seat){ f->host.of[v], v, f->node_name[v] };
    qsort(seat, (size_t)n, sizeof *seat, by_seat);
    for (int32_t i = 0, rail = 0; i < n; i++) {
        rail = i > 0 && seat[i - 1].host == seat[i].host ? rail + 1 : 0;
        f->node_rail[seat[i].nic] = rail;
    }
    free(seat);
    return 0;
}

/* ---- cables ---- */

static void fill_links(struct plan *p)
{
    struct fabric *f = p->f;
    for (int32_t i = 0; i < p->w->ncable; i++) {
        const struct wire_cable *c = &p->w->cable[i];
        f->link_from[i] = p->end[2 * i];
        f->link_to[i] = p->end[2 * i + 1];
        f->link_gbps[i] = c->gbps;
        f->link_cost[i] = c->cost;
        f->link_latency[i] = c->latency_us;
        f->link_directed[i] = (uint8_t)c->directed;
        f->link_from_port[i] = c->from_port ? text_port(c->from_port) : -1;
        f->link_to_port[i] = c->to_port ? text_port(c->to_port) : -1;
    }
}

/* Tiers as given, when every node of the wiring has one; else all of them found. */
static int set_tiers(struct plan *p)
{
    int32_t known = 0;
    for (int32_t v = 0; v < p->f->nnode; v++)
        known += p->f->node_tier[v] >= 0;
    if (known == p->f->nnode)
        return 0;
    for (int32_t v = 0; v < p->f->nnode; v++)
        p->f->node_tier[v] = -1;
    return tiers_find(p->f, p->w->e);
}

static int fill_capacities(struct plan *p)
{
    struct fabric *f = p->f;
    for (int32_t i = 0; i < f->nlink; i++) {
        if (f->link_gbps[i] > 0)
            continue;
        int32_t s = f->link_from[i], t = f->link_to[i];
        int32_t tier = f->node_tier[s] > f->node_tier[t] ? f->node_tier[s] : f->node_tier[t];
        char hint[48] = "--gbps NUMBER";
        f->link_gbps[i] = overlay_find(p->w->in->overlay, tier, f->node_name[s], f->node_name[t]);
        if (f->link_gbps[i] > 0)
            continue;
        if (tier >= 0)
            snprintf(hint, sizeof hint, "--gbps tier%d=NUMBER", tier);
        return wiring_bad_at(p->w, &p->w->cable[i].place,
                             "nothing says what the cable \"%.60s\" - \"%.60s\" can carry; give it with %s",
                             f->node_name[s], f->node_name[t], hint);
    }
    return 0;
}

static int make(struct plan *p)
{
    struct wiring *w = p->w;
    w->place = (struct place){ .line = 1 };
    if (w->nnode == 0 || w->ncable == 0)
        return wiring_bad(w, "no %s found; is this a file of that format?", w->nnode == 0 ? "node" : "cable");
    p->number = array(w->nnode, sizeof *p->number);
    p->end = array(2 * (int64_t)w->ncable, sizeof *p->end);
    p->name = names_new(w->e);
    p->host = p->name ? names_new(w->e) : NULL;
    if (!p->host)
        return -1;
    if (!p->number || !p->end)
        return oom(p);
    if (settle_kinds(w) < 0 || number_nodes(p) < 0)
        return -1;
    p->f = fabric_new(p->nnode, w->ncable, w->e);
    if (!p->f || fill_nodes(p) < 0 || set_rails(p) < 0)
        return -1;
    fill_links(p);
    return set_tiers(p) < 0 || fill_capacities(p) < 0 ? -1 : fabric_finish(p->f, w->e);
}

int wiring_fabric(struct wiring *w, struct fabric **out)
{
    struct plan p = { .w = w };
    int rc = make(&p);
    names_free(p.name);
    names_free(p.host);
    free(p.number);
    free(p.end);
    free(p.owner);
    free(p.called);
    if (rc < 0)
        fabric_free(p.f);
    else
        *out = p.f;
    return rc;
}
