/* Clos, fat-tree and multi-site fabrics. Each kind counts its nodes and links first, then adds them in one fixed order;
 * whatever is random comes last, from the seed.
 */
#include "service/formats/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LARGEST = 1 << 30; /* nodes, and links */

struct builder {
    struct fabric *f;
    int32_t nnode, nlink; /* added so far */
    int32_t pod, site;    /* labels that the next nodes get; -1: none */
    int short_memory;     /* sticky: adders go on, the end refuses */
};

/* labels_set looks for the text first; here every new label is known to be new. */
static int32_t add_label(struct builder *b, struct labels *l, const char *text)
{
    int64_t room = l->count;
    void *name = l->name;
    char *copy = text_copy(text);
    if (l->count % 1024 == 0 && array_grow(&name, &room, (int64_t)l->count + 1024, sizeof *l->name) < 0)
        b->short_memory = 1;
    l->name = name;
    if (!copy || b->short_memory) {
        free(copy);
        b->short_memory = 1;
        return -1;
    }
    l->name[l->count] = copy;
    return l->count++;
}

static int32_t add_node(struct builder *b, enum node_kind kind, int32_t tier, const char *name)
{
    struct fabric *f = b->f;
    int32_t v = b->nnode++;
    f->node_name[v] = text_copy(name);
    b->short_memory |= !f->node_name[v];
    f->node_kind[v] = (uint8_t)kind;
    f->node_tier[v] = tier;
    f->pod.of[v] = b->pod;
    f->site.of[v] = b->site;
    return v;
}

static int32_t add_switches(struct builder *b, int32_t n, int32_t tier, const char *prefix, const char *word)
{
    char name[96];
    int32_t first = b->nnode;
    for (int32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s%s%d", prefix, word, i);
        add_node(b, NODE_SWITCH, tier, name);
    }
    return first;
}

static void add_link(struct builder *b, int32_t from, int32_t to, double gbps)
{
    struct fabric *f = b->f;
    f->link_from[b->nlink] = from;
    f->link_to[b->nlink] = to;
    f->link_gbps[b->nlink++] = gbps;
}

/* Hosts on leaves [leaf, leaf + nleaf): rails leaves make a segment, NIC r of each of its hosts stands on its leaf r.
 */
static void add_hosts(struct builder *b, const struct generate *g, int32_t leaf, int32_t nleaf, const char *prefix)
{
    char name[96];
    for (int32_t segment = 0; segment < nleaf / g->rails; segment++)
        for (int32_t i = 0; i < g->nics && !b->short_memory; i++) {
            snprintf(name, sizeof name, "%sh%d", prefix, segment * g->nics + i);
            int32_t host = add_label(b, &b->f->host, name);
            for (int32_t r = 0; r < g->rails; r++) {
                snprintf(name, sizeof name, "%sh%d/nic%d", prefix, segment * g->nics + i, r);
                int32_t v = add_node(b, NODE_NIC, 0, name);
                b->f->host.of[v] = host;
                b->f->node_rail[v] = r;
                add_link(b, v, leaf + segment * g->rails + r, g->gbps);
            }
        }
}

static void add_mesh(struct builder *b, int32_t lower, int32_t nlower, int32_t upper, int32_t nupper, int32_t cables,
                     double gbps)
{
    for (int32_t i = 0; i < nlower; i++)
        for (int32_t j = 0; j < nupper; j++)
            for (int32_t c = 0; c < cables; c++)
                add_link(b, lower + i, upper + j, gbps);
}

static double uplink(const struct generate *g)
{
    return g->uplink_gbps > 0 ? g->uplink_gbps : g->gbps;
}

static int check_rails(const struct generate *g, struct err *e)
{
    if (g->leaves % g->rails != 0)
        return fail(e, E_INPUT, "rails: %d leaves do not make whole segments of %d", g->leaves, g->rails);
    return 0;
}

static struct fabric *fabric_of_size(double nnode, double nlink, struct err *e)
{
    if (nnode <= LARGEST && nlink <= LARGEST)
        return fabric_new((int32_t)nnode, (int32_t)nlink, e);
    fail(e, E_INPUT, "a fabric of %.0f nodes and %.0f links is larger than 2^30", nnode, nlink);
    return NULL;
}

/* ---- two tiers ---- */

/* Switches of all sites before any NIC, so that switch numbers stay small. first[2 * site] leaf, [+ 1] spine. */
static void add_sites(struct builder *b, const struct generate *g, int32_t nsite, int32_t *first)
{
    char prefix[32] = "";
    for (int pass = 0; pass < 2; pass++)
        for (int32_t s = 0; s < nsite; s++) {
            if (nsite > 1) {
                snprintf(prefix, sizeof prefix, "dc%d", s);
                b->site = pass == 0 ? add_label(b, &b->f->site, prefix) : s;
                b->pod = pass == 0 ? add_label(b, &b->f->pod, prefix) : s;
                snprintf(prefix, sizeof prefix, "dc%d/", s);
            }
            if (b->short_memory)
                return;
            if (pass == 0) {
                first[2 * s] = add_switches(b, g->leaves, 1, prefix, "leaf");
                first[2 * s + 1] = add_switches(b, g->spines, 2, prefix, "spine");
            } else {
                add_hosts(b, g, first[2 * s], g->leaves, prefix);
                add_mesh(b, first[2 * s], g->leaves, first[2 * s + 1], g->spines, g->cables, uplink(g));
            }
        }
}

/* Link i between two sites ends at border switch i (modulo their number) of each, with capacity i of the list. */
static void join_sites(struct builder *b, const struct generate *g, const int32_t *first)
{
    int32_t tier = g->border == BORDER_SPINE, n = g->border_switches;
    for (int32_t s = 0; s < g->sites; s++)
        for (int32_t t = s + 1; t < g->sites; t++) {
            int ring = t == s + 1 || (s == 0 && t == g->sites - 1);
            for (int32_t i = 0; i < g->wan_links && (ring || g->join == JOIN_MESH); i++) {
                b->f->link_latency[b->nlink] = g->wan_latency_us;
                add_link(b, first[2 * s + tier] + i % n, first[2 * t + tier] + i % n, g->wan_gbps[i % g->nwan]);
            }
        }
}

static int make_two_tiers(struct builder *b, const struct generate *g, int32_t nsite, struct err *e)
{
    double leaves = g->leaves, sites = nsite, nics = leaves * g->nics;
    double joins = nsite < 2 ? 0 : g->join == JOIN_MESH ? sites * (sites - 1) / 2 : nsite == 2 ? 1 : sites;
    int32_t most = g->border == BORDER_SPINE ? g->spines : g->leaves;
    if (check_rails(g, e) < 0)
        return -1;
    if (nsite > 1 && g->border_switches > most)
        return fail(e, E_INPUT, "border-switches: %d of %d %s", g->border_switches, most,
                    g->border == BORDER_SPINE ? "spines" : "leaves");
    b->f = fabric_of_size(sites * (leaves + g->spines + nics),
                          sites * (nics + leaves * g->spines * g->cables) + joins * g->wan_links, e);
    int32_t *first = array(2 * (int64_t)nsite, sizeof *first);
    if (!b->f || !first) {
        free(first);
        return b->f ? fail(e, E_MEMORY, "out of memory for %d sites", nsite) : -1;
    }
    add_sites(b, g, nsite, first);
    if (nsite > 1 && !b->short_memory)
        join_sites(b, g, first);
    free(first);
    return 0;
}

/* ---- three tiers ---- */

static int apply_k(struct generate *g, struct err *e)
{
    if (g->k == 0)
        return 0;
    if (g->k % 2)
        return fail(e, E_INPUT, "k: %d is odd", g->k);
    g->pods = g->k;
    g->leaves = g->planes = g->cores = g->nics = g->k / 2;
    return 0;
}

/* Leaf i of a pod has a cable to each spine of the pod; spine p belongs to plane p and has one to each core of it. */
static int make_fat_tree(struct builder *b, const struct generate *options, struct err *e)
{
    struct generate g = *options;
    if (apply_k(&g, e) < 0 || check_rails(&g, e) < 0)
        return -1;
    double pods = g.pods, planes = g.planes, leaves = pods * g.leaves, nics = leaves * g.nics;
    double core_gbps = g.core_gbps > 0 ? g.core_gbps : uplink(&g);
    b->f = fabric_of_size(pods * planes + planes * g.cores + leaves + nics,
                          nics + (leaves * planes + pods * planes * g.cores) * g.cables, e);
    if (!b->f)
        return -1;
    char prefix[32];
    int32_t per = g.leaves + g.planes; /* switches of a pod: its leaves, then its spines */
    for (int32_t p = 0; p < g.pods && !b->short_memory; p++) {
        snprintf(prefix, sizeof prefix, "p%d", p);
        b->pod = add_label(b, &b->f->pod, prefix);
        snprintf(prefix, sizeof prefix, "p%d/", p);
        add_switches(b, g.leaves, 1, prefix, "leaf");
        add_switches(b, g.planes, 2, prefix, "spine");
    }
    int32_t core = b->nnode;
    b->pod = -1;
    for (int32_t p = 0; p < g.planes; p++) {
        snprintf(prefix, sizeof prefix, "plane%d/", p);
        add_switches(b, g.cores, 3, prefix, "core");
    }
    for (int32_t p = 0; p < g.pods && !b->short_memory; p++) {
        snprintf(prefix, sizeof prefix, "p%d/", p);
        b->pod = p;
        add_hosts(b, &g, p * per, g.leaves, prefix);
        add_mesh(b, p * per, g.leaves, p * per + g.leaves, g.planes, g.cables, uplink(&g));
        for (int32_t q = 0; q < g.planes; q++)
            add_mesh(b, p * per + g.leaves + q, 1, core + q * g.cores, g.cores, g.cables, core_gbps);
    }
    return 0;
}

/* ---- what is broken ---- */

/* m of the n numbers in list, by the first m steps of a shuffle. */
static void choose(struct rng *rng, int32_t *list, int32_t n, int32_t m)
{
    for (int32_t i = 0; i < m; i++) {
        int32_t j = i + rng_below(rng, n - i), keep = list[i];
        list[i] = list[j];
        list[j] = keep;
    }
}

static int break_things(struct fabric *f, const struct generate *g, struct err *e)
{
    struct rng rng = { mix64((uint64_t)g->seed) };
    int32_t nspine = 0, ncable = 0, *list = array((int64_t)f->nnode + f->nlink, sizeof *list);
    if (!list)
        return fail(e, E_MEMORY, "out of memory for %d links", f->nlink);
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->node_tier[v] == 2)
            list[nspine++] = v;
    int rc = g->dead_spines <= nspine ? 0 : fail(e, E_INPUT, "dead-spines: %d of %d spines", g->dead_spines, nspine);
    if (rc == 0) {
        choose(&rng, list, nspine, g->dead_spines);
        for (int32_t i = 0; i < g->dead_spines; i++)
            f->node_up[list[i]] = 0;
        for (int32_t i = 0; i < f->nlink; i++)
            if (f->node_kind[f->link_from[i]] == NODE_SWITCH && f->node_kind[f->link_to[i]] == NODE_SWITCH)
                list[ncable++] = i;
        int32_t dead = (int32_t)rint(g->dead_cables * ncable);
        choose(&rng, list, ncable, dead);
        for (int32_t i = 0; i < dead; i++)
            f->link_up[list[i]] = 0;
    }
    free(list);
    return rc;
}

struct fabric *generate_fabric(const struct generate *g, int kind, struct err *e)
{
    struct builder b = { .pod = -1, .site = -1 };
    int rc = kind == GENERATE_FAT_TREE ? make_fat_tree(&b, g, e)
                                       : make_two_tiers(&b, g, kind == GENERATE_MULTI_DC ? g->sites : 1, e);
    if (rc == 0 && b.short_memory)
        rc = fail(e, E_MEMORY, "out of memory for a fabric of %d nodes", b.f->nnode);
    if (rc == 0 && (break_things(b.f, g, e) < 0 || fabric_finish(b.f, e) < 0))
        rc = -1;
    if (rc < 0) {
        fabric_free(b.f);
        return NULL;
    }
    return b.f;
}
