/* Placement and expansion of generated jobs: hosts are put in order, each job takes its share, its ranks become flows.
 */
#include "service/formats/generate_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RAILS = 64 };

struct host {
    int32_t site, pod, leaf, nic0; /* fabric order; nic0 is its lowest node */
    int32_t first, n;              /* its NICs: nic[first .. first + n), by rail */
    int32_t used;                  /* taken from the front */
    uint64_t rails;                /* bit i: it has rail_number[i] */
};

/* A host's place in the order of taking. */
struct turn {
    int32_t group; /* a site */
    uint64_t block;
    int32_t host;
};

struct group {
    int32_t first, end;  /* turns */
    int32_t next;        /* turns before it are used up */
    int32_t nics, hosts; /* NICs left; complete hosts left untouched */
};

struct placer {
    const struct generate *g;
    struct fabric *f;
    int32_t nhost, nnic, ngroup;
    struct host *host;                        /* in fabric order */
    int32_t *nic;                             /* [nnic] nodes, host by host */
    struct turn *turn;                        /* [nhost] */
    struct group *group;                      /* [ngroup] */
    int32_t nnumber, rail_number[MOST_RAILS]; /* the lowest rail numbers in use, ascending */
    uint64_t rails;                           /* what a complete host has: bits as in struct host */
    int32_t nrail;
    int32_t *member; /* [nnic] ranks of the job at hand: indices of nic, or of host */

    int64_t nflow, room[3]; /* flows so far */
    int32_t *src, *dst;
    double *bytes;
};

static int by_place(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    int32_t d[] = { x->site - y->site, x->pod - y->pod, x->leaf - y->leaf, x->nic0 - y->nic0 };
    for (int i = 0; i < 4; i++)
        if (d[i])
            return d[i] < 0 ? -1 : 1;
    return 0;
}

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->host < y->host ? -1 : 1;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int usable(const struct fabric *f, int32_t v)
{
    return f->node_kind[v] == NODE_NIC && f->node_up[v];
}

/* Hosts with their numbers of NICs; of[v] becomes the host of node v, at[label] the host of a label. */
static void count_hosts(struct placer *p, int32_t *of, int32_t *at)
{
    const struct fabric *f = p->f;
    for (int32_t i = 0; i < f->host.count; i++)
        at[i] = -1;
    for (int32_t v = 0; v < f->nnode; v++) {
        if (!usable(f, v))
            continue;
        int32_t label = f->host.of[v], h = label >= 0 ? at[label] : -1;
        if (h < 0) {
            h = p->nhost++;
            p->host[h] = (struct host){ .site = f->site.of[v], .pod = f->pod.of[v], .leaf = f->nnode, .nic0 = v };
            if (label >= 0)
                at[label] = h;
        }
        of[v] = h;
        p->host[h].n++;
        p->nnic++;
    }
    for (int32_t i = f->nlink - 1; i >= 0; i--) /* the first cable of the first NIC is written last */
        for (int side = 0; side < 2; side++) {
            int32_t v = side ? f->link_to[i] : f->link_from[i], u = side ? f->link_from[i] : f->link_to[i];
            if (usable(f, v) && p->host[of[v]].nic0 == v)
                p->host[of[v]].leaf = u;
        }
}

/* Rail numbers may be PCI bus numbers (ibp220s0); a host has few of them, so each is inserted in place. */
static void number_rails(struct placer *p)
{
    for (int32_t v = 0; v < p->f->nnode; v++) {
        int32_t rail = p->f->node_rail[v], i = p->nnumber - 1;
        if (!usable(p->f, v) || rail < 0)
            continue;
        while (i >= 0 && p->rail_number[i] > rail)
            i--;
        if ((i >= 0 && p->rail_number[i] == rail) || i + 1 == MOST_RAILS)
            continue;
        p->nnumber += p->nnumber < MOST_RAILS;
        for (int32_t k = p->nnumber - 1; k > i + 1; k--)
            p->rail_number[k] = p->rail_number[k - 1];
        p->rail_number[i + 1] = rail;
    }
}

/* Sorts the hosts, then lays their NICs out in that order; few NICs per host, so they are inserted in place. */
static void order_hosts(struct placer *p, int32_t *of, int32_t *at)
{
    const struct fabric *f = p->f;
    qsort(p->host, (size_t)p->nhost, sizeof *p->host, by_place);
    for (int32_t h = 0, n = 0; h < p->nhost; n += p->host[h++].n) {
        at[of[p->host[h].nic0]] = h; /* old number to new */
        p->host[h].first = n;
    }
    for (int32_t v = 0; v < f->nnode; v++) {
        if (!usable(f, v))
            continue;
        struct host *h = &p->host[at[of[v]]];
        int32_t i = h->first + h->used++;
        for (; i > h->first && f->node_rail[p->nic[i - 1]] > f->node_rail[v]; i--)
            p->nic[i] = p->nic[i - 1];
        p->nic[i] = v;
        for (int32_t r = 0; r < p->nnumber; r++)
            if (p->rail_number[r] == f->node_rail[v])
                h->rails |= (uint64_t)1 << r;
    }
    for (int32_t h = 0; h < p->nhost; h++)
        p->host[h].used = 0;
}

static int32_t bits(uint64_t x)
{
    int32_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

static int complete(const struct placer *p, const struct host *h)
{
    return p->nrail > 0 && h->used == 0 && (h->rails & p->rails) == p->rails;
}

/* Of the sets that hosts have, the one that puts most NICs to use; of equals the one with more rails, then the first.
 */
static void choose_rails(struct placer *p)
{
    int64_t best = 0;
    for (int32_t h = 0; h < p->nhost; h++) {
        uint64_t set = p->host[h].rails;
        int64_t uses = 0;
        if (set == p->rails || (h > 0 && set == p->host[h - 1].rails))
            continue;
        for (int32_t i = 0; i < p->nhost; i++)
            uses += (p->host[i].rails & set) == set ? bits(set) : 0;
        if (uses > best || (uses == best && bits(set) > p->nrail)) {
            best = uses;
            p->rails = set;
            p->nrail = bits(set);
        }
    }
}

static void order_turns(struct placer *p)
{
    const struct generate *g = p->g;
    for (int32_t h = 0, start = 0; h < p->nhost; h++) {
        if (p->host[h].site != p->host[start].site)
            start = h;
        uint64_t block = (uint64_t)((h - start) / g->block);
        if (g->place == PLACE_FRAGMENTED) /* the same shuffle in every site, so that turns still alternate */
            block = mix64(block ^ mix64((uint64_t)g->seed));
        p->turn[h] = (struct turn){ p->host[h].site, block, h };
    }
    qsort(p->turn, (size_t)p->nhost, sizeof *p->turn, by_turn);
    for (int32_t i = 0; i < p->nhost; i++) {
        const struct host *h = &p->host[p->turn[i].host];
        if (i == 0 || p->turn[i].group != p->turn[i - 1].group)
            p->group[p->ngroup++] = (struct group){ .first = i, .next = i };
        struct group *group = &p->group[p->ngroup - 1];
        group->end = i + 1;
        group->nics += h->n;
        group->hosts += complete(p, h);
    }
}

/* Takes up to n NICs (or, whole, up to n complete hosts) of the group, from at most so many hosts, behind the got
 * members that the job has; returns how many members it then has. */
static int32_t take(struct placer *p, struct group *group, int32_t n, int whole, int32_t hosts, int32_t got)
{
    int32_t want = got + n;
    for (int32_t i = group->next; got < want && hosts > 0 && i < group->end; i++) {
        struct host *h = &p->host[p->turn[i].host];
        int fits = complete(p, h);
        int32_t before = got;
        if (whole && fits) {
            p->member[got++] = p->turn[i].host;
            group->nics -= h->n;
            h->used = h->n;
        }
        for (; !whole && got < want && h->used < h->n; group->nics--)
            p->member[got++] = h->first + h->used++;
        group->hosts -= fits && h->used > 0;
        hosts -= got > before;
        if (i == group->next && h->used == h->n)
            group->next++;
    }
    return got;
}

static const char *const kind_name[] = { "ring",           "hierarchical", "all_gather",
                                         "reduce_scatter", "all_to_all",   "pipeline" };

static int32_t left_in(const struct group *group, int whole)
{
    return whole ? group->hosts : group->nics;
}

/* The site that serves the job: the first with enough, for "all" the one with most. NULL: none, and *most says how much
 * the best one has. */
static struct group *find_group(struct placer *p, const struct job_spec *job, int32_t *most)
{
    struct group *best = NULL;
    *most = 0;
    for (int32_t i = 0; i < p->ngroup; i++) {
        int32_t left = left_in(&p->group[i], job->kind == JOB_HIERARCHICAL);
        if (left > *most && (job->size == 0 || *most < job->size)) {
            *most = left;
            best = &p->group[i];
        }
    }
    return best && *most >= job->size ? best : NULL;
}

/* Fills member with the job's ranks, in fabric order; returns how many, or -1. */
static int32_t choose_members(struct placer *p, const struct job_spec *job, int32_t number, struct err *e)
{
    int whole = job->kind == JOB_HIERARCHICAL;
    int32_t most = 0, got = 0, n;
    struct group *group = NULL;
    if (job->across)
        for (int32_t i = 0; i < p->ngroup; i++)
            most += left_in(&p->group[i], whole);
    else
        group = find_group(p, job, &most);
    if (most < job->size || most == 0)
        return fail(
            e, E_INPUT, "job %s%d: needs %d %s, %s has %d left", kind_name[job->kind], number,
            job->size > 0 ? job->size : 1, whole ? "hosts with all rails" : "NICs",
            p->ngroup > 1 && !job->across ? "no site (a job stays in one unless it says :across)" : "the fabric", most);
    n = job->size > 0 ? job->size : most;
    if (group)
        got = take(p, group, n, whole, p->nhost, 0);
    for (int32_t i = 0; got < n; i = (i + 1) % p->ngroup)
        got = take(p, &p->group[i], n - got, whole, p->g->block, got);
    qsort(p->member, (size_t)n, sizeof *p->member, by_number);
    return n;
}

static int add_flow(struct placer *p, int32_t src, int32_t dst, double bytes, struct err *e)
{
    void *data[] = { p->src, p->dst, p->bytes };
    size_t size[] = { sizeof *p->src, sizeof *p->dst, sizeof *p->bytes };
    int rc = 0;
    if (p->nflow == INT32_MAX)
        return fail(e, E_INPUT, "jobs: more than %d flows", INT32_MAX);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = array_grow(&data[i], &p->room[i], p->nflow + 1, size[i]);
    p->src = data[0];
    p->dst = data[1];
    p->bytes = data[2];
    if (rc < 0)
        return fail(e, E_MEMORY, "out of memory for %lld flows", (long long)p->nflow);
    p->src[p->nflow] = src;
    p->dst[p->nflow] = dst;
    p->bytes[p->nflow++] = bytes;
    return 0;
}

/* Each rank i sends bytes to rank i + 1, the last to the first; one rank alone sends nothing. */
static int add_ring(struct placer *p, const int32_t *node, int32_t n, double bytes, struct err *e)
{
    for (int32_t i = 0; i < n && n > 1; i++)
        if (add_flow(p, node[i], node[(i + 1) % n], bytes, e) < 0)
            return -1;
    return 0;
}

static int add_all_pairs(struct placer *p, const int32_t *node, int32_t n, double bytes, struct err *e)
{
    if ((double)n * (n - 1) + (double)p->nflow > INT32_MAX)
        return fail(e, E_INPUT, "jobs: all_to_all over %d NICs makes more than %d flows", n, INT32_MAX);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            if (i != j && add_flow(p, node[i], node[j], bytes, e) < 0)
                return -1;
    return 0;
}

/* The host's first NIC on the rail. */
static int32_t nic_on_rail(const struct placer *p, const struct host *h, int32_t rail)
{
    int32_t i = h->first;
    while (p->f->node_rail[p->nic[i]] != rail)
        i++;
    return p->nic[i];
}

/* member holds hosts; node[n] is scratch. S / L on each of L rings of N hosts: 2 (N - 1) / N of it per edge. */
static int expand_hierarchical(struct placer *p, int32_t n, int32_t *node, double bytes, struct err *e)
{
    for (int32_t r = 0; r < p->nnumber; r++) {
        if (!(p->rails >> r & 1))
            continue;
        for (int32_t i = 0; i < n; i++)
            node[i] = nic_on_rail(p, &p->host[p->member[i]], p->rail_number[r]);
        if (add_ring(p, node, n, 2.0 * (n - 1) / n * bytes / p->nrail, e) < 0)
            return -1;
    }
    return 0;
}

/* One group of n ranks. */
static int expand_group(struct placer *p, enum job_kind kind, const int32_t *node, int32_t n, double bytes,
                        struct err *e)
{
    double part = bytes * (n - 1) / n;
    if (kind == JOB_RING)
        return add_ring(p, node, n, 2 * part, e);
    if (kind == JOB_ALL_GATHER || kind == JOB_REDUCE_SCATTER)
        return add_ring(p, node, n, part, e);
    if (kind == JOB_ALL_TO_ALL)
        return add_all_pairs(p, node, n, bytes / n, e);
    for (int32_t i = 0; i + 1 < n; i++) /* pipeline: activations go forward, gradients come back */
        if (add_flow(p, node[i], node[i + 1], bytes, e) < 0 || add_flow(p, node[i + 1], node[i], bytes, e) < 0)
            return -1;
    return 0;
}

static int expand(struct placer *p, const struct job_spec *job, int32_t n, int32_t *node, struct err *e)
{
    double bytes = job->bytes > 0 ? job->bytes : p->g->bytes;
    int32_t size = job->group > 0 ? job->group : n, groups = n / size;
    if (job->kind == JOB_HIERARCHICAL)
        return expand_hierarchical(p, n, node, bytes, e);
    for (int32_t k = 0; k < groups; k++) {
        for (int32_t i = 0; i < size; i++)
            node[i] = p->nic[p->member[i * groups + k]];
        if (expand_group(p, job->kind, node, size, bytes, e) < 0)
            return -1;
    }
    return 0;
}

/* Places and expands every job; first[j + 1] is the end of job j's flows. */
static int run_jobs(struct placer *p, int32_t *first, char **name, int32_t *node, struct err *e)
{
    int32_t number[sizeof kind_name / sizeof *kind_name] = { 0 }, j = 0;
    for (int32_t k = 0; k < p->g->njob; k++)
        for (int32_t c = 0; c < p->g->job[k].count; c++, j++) {
            const struct job_spec *job = &p->g->job[k];
            char text[48];
            int32_t n = choose_members(p, job, number[job->kind], e);
            if (n < 0)
                return -1;
            snprintf(text, sizeof text, "%s%d", kind_name[job->kind], number[job->kind]++);
            name[j] = text_copy(text);
            if (!name[j])
                return fail(e, E_MEMORY, "out of memory for job %s", text);
            if (expand(p, job, n, node, e) < 0)
                return -1;
            first[j + 1] = (int32_t)p->nflow;
        }
    return 0;
}

static int prepare(struct placer *p, struct err *e)
{
    int64_t n = p->f->nnode, labels = p->f->host.count;
    int32_t *of = array(n, sizeof *of), *at = array(labels + n, sizeof *at);
    p->host = array(n, sizeof *p->host);
    p->nic = array(n, sizeof *p->nic);
    p->turn = array(n, sizeof *p->turn);
    p->group = array(n, sizeof *p->group);
    p->member = array(n, sizeof *p->member);
    int rc = 0;
    if (!of || !at || !p->host || !p->nic || !p->turn || !p->group || !p->member)
        rc = fail(e, E_MEMORY, "out of memory to place jobs on %d nodes", p->f->nnode);
    if (rc == 0) {
        count_hosts(p, of, at);
        number_rails(p);
        order_hosts(p, of, at);
        choose_rails(p);
        order_turns(p);
    }
    free(of);
    free(at);
    return rc;
}

/* The problem of the placed jobs; it owns the fabric. */
static struct problem *assemble(struct placer *p, int32_t njob, const int32_t *first, char **name, struct err *e)
{
    struct problem *problem = problem_new(p->f, njob, (int32_t)p->nflow, e);
    p->f = NULL;
    if (!problem)
        return NULL;
    memcpy(problem->job_first, first, ((size_t)njob + 1) * sizeof *first);
    for (int32_t j = 0; j < njob; j++) {
        problem->job_name[j] = name[j];
        name[j] = NULL;
    }
    if (p->nflow > 0) {
        memcpy(problem->src, p->src, (size_t)p->nflow * sizeof *p->src);
        memcpy(problem->dst, p->dst, (size_t)p->nflow * sizeof *p->dst);
        memcpy(problem->demand, p->bytes, (size_t)p->nflow * sizeof *p->bytes);
    }
    if (problem_finish(problem, e) == 0)
        return problem;
    problem_free(problem);
    return NULL;
}

struct problem *generate_jobs(const struct generate *g, struct fabric *fabric, struct err *e)
{
    struct placer p = { .g = g, .f = fabric };
    struct problem *problem = NULL;
    int64_t njob = 0;
    for (int32_t k = 0; k < g->njob; k++)
        njob += g->job[k].count;
    int32_t *first = array(njob + 1, sizeof *first), *node = array(fabric->nnode, sizeof *node);
    char **name = array(njob, sizeof *name);
    if (!first || !node || !name)
        fail(e, E_MEMORY, "out of memory for %lld jobs", (long long)njob);
    else if (njob == 0)
        fail(e, E_INPUT, "no job: give --job KIND:SIZE at least once");
    else if (prepare(&p, e) == 0 && run_jobs(&p, first, name, node, e) == 0)
        problem = assemble(&p, (int32_t)njob, first, name, e);
    for (int64_t j = 0; name && j < njob; j++)
        free(name[j]);
    void *owned[] = { first, node, name, p.host, p.nic, p.turn, p.group, p.member, p.src, p.dst, p.bytes };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    fabric_free(p.f);
    return problem;
}
