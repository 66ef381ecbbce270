#include "solver/engine/cover.h"

#include <stdlib.h>
#include <string.h>

enum { FAMILIES = 8, GREEDY_TRIES = 40, EXHAUSTIVE = 10, MAX_SUBSETS = 5000, MAX_ENTRIES = 20000000 };
static const double TOLERANCE = 1e-9; /* relative, of a cut's room */

/* A family of cuts is a partition of the nodes: set[v] in [0, nset), or -1. */
struct family {
    int32_t nset;
    int32_t *set; /* [nnode] */
};

static int32_t find_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Numbers the roots; tier < 0 nodes (unreached) stay out. */
static void number_sets(struct family *m, int32_t *parent, const int32_t *tier, int32_t n)
{
    for (int32_t v = 0; v < n; v++)
        m->set[v] = -1;
    for (int32_t v = 0; v < n; v++)
        if (tier[v] >= 0 && find_root(parent, v) == v)
            m->set[v] = m->nset++;
    for (int32_t v = 0; v < n; v++)
        if (tier[v] >= 0)
            m->set[v] = m->set[find_root(parent, v)];
}

/* tier[v] = 0 for NICs (or, in a fabric without NICs on flows, for their ends), then hops from them. */
static int32_t find_tiers(const struct problem *p, int32_t *tier, int32_t *queue)
{
    const struct fabric *g = p->fabric;
    int32_t n = 0, top = 0;
    for (int32_t v = 0; v < g->nnode; v++)
        tier[v] = -1;
    for (int32_t f = 0; f < p->nflow; f++)
        for (int i = 0; i < 2; i++) {
            int32_t v = i ? p->dst[f] : p->src[f];
            if (tier[v] < 0) {
                tier[v] = 0;
                queue[n++] = v;
            }
        }
    for (int32_t v = 0; v < g->nnode; v++)
        if (tier[v] < 0 && g->node_kind[v] == NODE_NIC) {
            tier[v] = 0;
            queue[n++] = v;
        }
    for (int32_t i = 0; i < n; i++) {
        int32_t v = queue[i];
        top = tier[v] > top ? tier[v] : top;
        for (int32_t k = g->first[v]; k < g->first[v + 1]; k++) {
            int32_t u = g->head[g->out[k]];
            if (tier[u] < 0) {
                tier[u] = tier[v] + 1;
                queue[n++] = u;
            }
        }
    }
    return top;
}

/* Groups joined by arcs between different tiers whose upper end is at most tier h. */
static void join_below(const struct fabric *g, struct family *m, const int32_t *tier, int32_t h, int32_t *parent)
{
    for (int32_t v = 0; v < g->nnode; v++)
        parent[v] = v;
    for (int32_t a = 0; a < g->narc; a++) {
        int32_t s = tier[g->tail[a]], t = tier[g->head[a]];
        if (g->live[a] && s >= 0 && t >= 0 && s != t && s <= h && t <= h) {
            int32_t x = find_root(parent, g->tail[a]), y = find_root(parent, g->head[a]);
            parent[x < y ? y : x] = x < y ? x : y;
        }
    }
    number_sets(m, parent, tier, g->nnode);
}

static void copy_sets(struct family *m, const int32_t *of, int32_t n, int32_t nset)
{
    m->nset = nset;
    memcpy(m->set, of, (size_t)n * sizeof *of);
}

static int build_families(const struct problem *p, const struct pods *pods, struct family *m, int32_t *n)
{
    const struct fabric *g = p->fabric;
    int32_t *tier = array(g->nnode, sizeof *tier), *scratch = array(g->nnode, sizeof *scratch);
    int rc = tier && scratch ? 0 : -1;
    for (int i = 0; i < FAMILIES && rc == 0; i++)
        if (!(m[i].set = array(g->nnode, sizeof *m[i].set)))
            rc = -1;
    if (rc == 0) {
        int32_t top = find_tiers(p, tier, scratch);
        for (int32_t h = 0; h <= top && *n < FAMILIES - 3; h++)
            join_below(g, &m[(*n)++], tier, h, scratch);
        if (pods && pods->npod > 1)
            copy_sets(&m[(*n)++], pods->of, g->nnode, pods->npod);
        if (g->pod.count > 1)
            copy_sets(&m[(*n)++], g->pod.of, g->nnode, g->pod.count);
        if (g->site.count > 1)
            copy_sets(&m[(*n)++], g->site.of, g->nnode, g->site.count);
    }
    free(tier);
    free(scratch);
    return rc;
}

/* Needs of job j across the cuts of family m, cut numbers from base: 2 set (out), 2 set + 1 (in). sum[2 nset] is zero
 * on entry and on return. */
static int add_needs(struct cover *c, const struct problem *p, const struct family *m, int32_t base, int32_t j,
                     double *sum, int64_t room[2], int64_t *n)
{
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
        int32_t s = m->set[p->src[f]], t = m->set[p->dst[f]];
        if (s == t)
            continue;
        if (s >= 0)
            sum[2 * (int64_t)s] += p->need[f];
        if (t >= 0)
            sum[2 * (int64_t)t + 1] += p->need[f];
    }
    for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++)
        for (int i = 0; i < 2; i++) {
            int32_t x = i ? m->set[p->dst[f]] : m->set[p->src[f]];
            if (x < 0 || !(sum[2 * (int64_t)x + i] > 0))
                continue;
            void *cut = c->cut, *need = c->need;
            if (array_grow(&cut, &room[0], *n + 1, sizeof *c->cut) < 0)
                return -1;
            c->cut = cut;
            if (array_grow(&need, &room[1], *n + 1, sizeof *c->need) < 0)
                return -1;
            c->need = need;
            c->cut[*n] = base + 2 * x + i;
            c->need[(*n)++] = sum[2 * (int64_t)x + i];
            sum[2 * (int64_t)x + i] = 0;
        }
    return 0;
}

static int fill_cover(struct cover *c, const struct problem *p, const struct family *m, int32_t nfamily)
{
    const struct fabric *g = p->fabric;
    int64_t room[2] = { 0, 0 }, n = 0;
    double *sum = array(2 * (int64_t)g->nnode + 2 * c->ncut, sizeof *sum);
    if (!sum)
        return -1;
    int32_t base = 0;
    for (int32_t i = 0; i < nfamily; i++) {
        for (int32_t a = 0; a < g->narc; a++) {
            int32_t s = m[i].set[g->tail[a]], t = m[i].set[g->head[a]];
            if (!g->live[a] || s == t)
                continue;
            if (s >= 0)
                c->room[base + 2 * s] += g->cap[a];
            if (t >= 0)
                c->room[base + 2 * t + 1] += g->cap[a];
        }
        base += 2 * m[i].nset;
    }
    for (int32_t j = 0; j < p->njob; j++) {
        base = 0;
        for (int32_t i = 0; i < nfamily; i++) {
            if (add_needs(c, p, &m[i], base, j, sum, room, &n) < 0) {
                free(sum);
                return -1;
            }
            base += 2 * m[i].nset;
        }
        c->job_at[j + 1] = n;
    }
    free(sum);
    return 0;
}

struct cover *cover_new(const struct problem *p, const struct pods *pods, struct err *e)
{
    struct family m[FAMILIES] = { { 0, NULL } };
    int32_t n = 0;
    struct cover *c = array(1, sizeof *c);
    int rc = c ? build_families(p, pods, m, &n) : -1;
    if (rc == 0) {
        for (int32_t i = 0; i < n; i++)
            c->ncut += 2 * m[i].nset;
        c->njob = p->njob;
        c->room = array(c->ncut, sizeof *c->room);
        c->load = array(c->ncut, sizeof *c->load);
        c->job_at = array((int64_t)p->njob + 1, sizeof *c->job_at);
        c->pick = array(p->njob, sizeof *c->pick);
        c->factor = array(p->njob, sizeof *c->factor);
        c->heap = array(p->njob, sizeof *c->heap);
        c->best = array(p->njob, sizeof *c->best);
        c->candidate = array(p->njob, sizeof *c->candidate);
        rc = c->room && c->load && c->job_at && c->pick && c->factor && c->heap && c->best && c->candidate
                 ? fill_cover(c, p, m, n)
                 : -1;
    }
    for (int i = 0; i < FAMILIES; i++)
        free(m[i].set);
    if (rc == 0)
        return c;
    cover_free(c);
    fail(e, E_MEMORY, "out of memory for the cuts of %d jobs", p->njob);
    return NULL;
}

void cover_free(struct cover *c)
{
    if (!c)
        return;
    void *owned[] = {
        c->room, c->load, c->job_at, c->cut, c->need, c->pick, c->factor, c->heap, c->best, c->candidate
    };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(c);
}

static int overloaded(const struct cover *c, int32_t x)
{
    return c->load[x] > c->room[x] * (1 + TOLERANCE);
}

/* load[x] += t * need of job j, all x. */
static void add_job(struct cover *c, int32_t j, double t)
{
    for (int64_t i = c->job_at[j]; i < c->job_at[j + 1]; i++) {
        int32_t x = c->cut[i];
        c->nover -= overloaded(c, x);
        c->load[x] += t * c->need[i];
        c->nover += overloaded(c, x);
    }
}

static void load_all(struct cover *c, const double *t)
{
    memset(c->load, 0, (size_t)c->ncut * sizeof *c->load);
    c->nover = 0;
    for (int32_t j = 0; j < c->njob; j++)
        add_job(c, j, t[j]);
}

static int fits(const struct cover *c)
{
    return c->nover == 0;
}

int cover_allows(struct cover *c, const double *t)
{
    load_all(c, t);
    return fits(c);
}

/* How much of the overload lowering j takes away. */
static double relief(const struct cover *c, int32_t j, double drop)
{
    double sum = 0;
    for (int64_t i = c->job_at[j]; i < c->job_at[j + 1]; i++) {
        int32_t x = c->cut[i];
        double over = (c->load[x] - c->room[x] * (1 + TOLERANCE)) / c->room[x], less = drop * c->need[i] / c->room[x];
        if (over > 0)
            sum += less < over ? less : over;
    }
    return sum;
}

/* Picks jobs by relief (times a random factor in [1, 1 + spread), one per job) until all cuts fit, then drops those not
 * needed. load holds the targets on entry. Reliefs only fall while jobs are picked, so a job whose relief, worked out
 * afresh, still leads the heap is the best one (Minoux 1978). Returns how many are in pick, or -1 when all jobs
 * together do not help. */
static int32_t greedy(struct cover *c, const double *hi, const double *lo, double spread, struct rng *rng)
{
    int32_t n = 0;
    int64_t left = 0;
    for (int32_t j = 0; j < c->njob; j++) {
        c->factor[j] = spread > 0 ? 1 + spread * rng_unit(rng) : 1;
        if (hi[j] > lo[j])
            c->heap[left++] = (struct stop){ -c->factor[j] * relief(c, j, hi[j] - lo[j]), j };
    }
    heap_make(c->heap, left);
    while (!fits(c)) {
        if (left == 0)
            return -1;
        int32_t j = (int32_t)c->heap[0].id;
        double now = -c->factor[j] * relief(c, j, hi[j] - lo[j]);
        c->entries += c->job_at[j + 1] - c->job_at[j];
        if (!(now < 0)) {
            heap_pop(c->heap, &left);
        } else if (now > c->heap[0].level) {
            heap_raise(c->heap, left, now);
        } else {
            heap_pop(c->heap, &left);
            add_job(c, j, lo[j] - hi[j]);
            c->pick[n++] = j;
        }
    }
    for (int32_t i = 0; i < n;) {
        int32_t j = c->pick[i];
        add_job(c, j, hi[j] - lo[j]);
        if (fits(c)) {
            c->pick[i] = c->pick[--n];
        } else {
            add_job(c, j, lo[j] - hi[j]);
            i++;
        }
    }
    return n;
}

/* Smallest subset by bits; returns its size, -1 when none fits. Jobs stand in pick[n]. */
static int32_t exhaustive(struct cover *c, const double *hi, const double *lo, int32_t n)
{
    for (int32_t size = 0; size <= n; size++)
        for (int32_t bits = 0; bits < 1 << n; bits++) {
            if (__builtin_popcount((unsigned)bits) != size)
                continue;
            load_all(c, hi);
            for (int32_t i = 0; i < n; i++)
                if (bits >> i & 1)
                    add_job(c, c->pick[i], lo[c->pick[i]] - hi[c->pick[i]]);
            if (!fits(c))
                continue;
            int32_t k = 0;
            for (int32_t i = 0; i < n; i++)
                if (bits >> i & 1)
                    c->best[k++] = c->pick[i];
            return size;
        }
    return -1;
}

/* 1 when no k candidates cover all overloads, tried one by one; 0 when one does or there are too many to try. */
static int none_smaller(struct cover *c, const double *hi, const double *lo, int32_t k)
{
    int32_t n = 0;
    double count = 1;
    for (int32_t j = 0; j < c->njob; j++)
        n += hi[j] > lo[j];
    for (int32_t i = 0; i < k; i++)
        count *= (double)(n - i) / (i + 1);
    if (!(count <= MAX_SUBSETS && count * (double)c->job_at[c->njob] <= MAX_ENTRIES))
        return 0;
    n = 0;
    for (int32_t j = 0; j < c->njob; j++)
        if (hi[j] > lo[j])
            c->candidate[n++] = j;
    for (int32_t i = 0; i < k; i++)
        c->pick[i] = i;
    for (;;) {
        load_all(c, hi);
        for (int32_t i = 0; i < k; i++)
            add_job(c, c->candidate[c->pick[i]], lo[c->candidate[c->pick[i]]] - hi[c->candidate[c->pick[i]]]);
        if (fits(c))
            return 0;
        int32_t i = k - 1;
        while (i >= 0 && c->pick[i] == n - k + i)
            i--;
        if (i < 0)
            return 1;
        c->pick[i]++;
        for (i++; i < k; i++)
            c->pick[i] = c->pick[i - 1] + 1;
    }
}

int32_t cover_choose(struct cover *c, const double *hi, const double *lo, struct rng *rng, uint8_t *low, int *least)
{
    int32_t n = 0, size = -1;
    c->entries = 0;
    memset(low, 0, (size_t)c->njob);
    for (int32_t j = 0; j < c->njob; j++)
        if (hi[j] > lo[j] && n++ < EXHAUSTIVE)
            c->pick[n - 1] = j;
    *least = n <= EXHAUSTIVE;
    if (*least) {
        size = exhaustive(c, hi, lo, n);
    } else {
        for (int i = 0; i < GREEDY_TRIES; i++) {
            if (i > 0 && c->entries > MAX_ENTRIES)
                break;
            load_all(c, hi);
            c->entries += c->job_at[c->njob];
            int32_t k = greedy(c, hi, lo, i == 0 ? 0 : 1, rng);
            if (k < 0 || (size >= 0 && k >= size))
                continue;
            size = k;
            memcpy(c->best, c->pick, (size_t)k * sizeof *c->pick);
            if (k <= 1) {
                *least = 1; /* no cover of size 0 exists unless k is 0 */
                break;
            }
        }
    }
    if (!*least && size > 1)
        *least = none_smaller(c, hi, lo, size - 1);
    if (size < 0) { /* lo itself overloads a cut: nothing to choose */
        for (int32_t j = 0; j < c->njob; j++)
            low[j] = hi[j] > lo[j];
        *least = 0;
        return n;
    }
    for (int32_t i = 0; i < size; i++)
        low[c->best[i]] = 1;
    return size;
}
