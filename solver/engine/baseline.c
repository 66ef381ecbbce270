#include "solver/engine/baseline.h"
#include "solver/engine/hops.h"
#include "solver/engine/menu.h"
#include "solver/engine/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Walks of this many arcs are kept at once (256 MB); more seeds than fit are walked in turns. */
static const int64_t ARCS_KEPT = (int64_t)1 << 26;

/* Hashed flows, those behind the same switches next to each other, so that they share one search. */
struct turn {
    uint64_t key;
    int32_t flow;
};

struct ecmp {
    const struct problem *p;
    int32_t k;
    struct menu *menu;
    struct hops *hops;
    int64_t nturn;
    struct turn *turn;
    int64_t *start;  /* [nflow]: walks of flow f, by seed, then subflow, from arc[start[f]] */
    int32_t *length; /* [nflow] arcs of each of its paths (for a menu: of the longest); 0: no route */
    int32_t *arc;
    int64_t narc, room;
};

static void ecmp_free(struct ecmp *w)
{
    menu_free(w->menu);
    hops_free(w->hops);
    void *owned[] = { w->turn, w->start, w->length, w->arc };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

static int oom(const struct problem *p, struct err *e)
{
    return fail(e, E_MEMORY, "out of memory for hashed routes of %d flows", p->nflow);
}

static int by_key(const void *x, const void *y)
{
    const struct turn *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->flow > b->flow) - (a->flow < b->flow);
}

static int ecmp_init(struct ecmp *w, const struct problem *p, struct err *e)
{
    *w = (struct ecmp){ .p = p, .k = p->options.paths_per_flow };
    w->menu = menu_new(p, p->options.policy == PATHS_DISJOINT, e);
    w->hops = hops_new(p->fabric, e);
    w->turn = array(p->nflow, sizeof *w->turn);
    w->start = array(p->nflow, sizeof *w->start);
    w->length = array(p->nflow, sizeof *w->length);
    if (!w->menu || !w->hops || !w->turn || !w->start || !w->length)
        return oom(p, e);
    for (int32_t f = 0; f < p->nflow; f++) {
        if (!problem_routed(p, f))
            continue;
        const struct menu *m = w->menu;
        for (int64_t i = m->first[f]; i < m->first[f + 1]; i++)
            if (m->at[i + 1] - m->at[i] > w->length[f])
                w->length[f] = (int32_t)(m->at[i + 1] - m->at[i]);
        if (w->length[f] > 0)
            continue;
        if (menu_listed(p, f) || p->options.policy == PATHS_DISJOINT)
            return menu_no_path(p, f, e);
        w->turn[w->nturn++] = (struct turn){ hops_key(p->fabric, p->dst[f]), f };
    }
    qsort(w->turn, (size_t)w->nturn, sizeof *w->turn, by_key);
    return 0;
}

static uint64_t hash(const struct problem *p, uint64_t seed, int32_t f, int32_t sub)
{
    uint64_t pair = (uint64_t)p->src[f] << 32 | (uint64_t)p->dst[f];
    return mix64(mix64(mix64(seed) ^ pair) ^ ((uint64_t)f << 8 | (uint64_t)sub));
}

static int64_t below(uint64_t h, int64_t n)
{
    return (int64_t)(((h >> 32) * (uint64_t)n) >> 32);
}

/* One subflow hop by hop. Every switch hashes with its own number, as real ones do with their own seeds: with one hash
 * for all, the second tier would see only flows that hash alike. */
static void walk(struct ecmp *w, int32_t f, uint64_t key, int32_t *arc)
{
    const struct fabric *g = w->p->fabric;
    for (int32_t v = w->p->src[f]; v != w->p->dst[f]; v = g->head[*arc++]) {
        int32_t n;
        const int32_t *next = hops_next(w->hops, v, &n);
        *arc = n == 1 ? next[0] : next[below(mix64(key ^ mix64((uint64_t)v)), n)];
    }
}

/* All hashed flows under seeds seed .. seed + nseed - 1. */
static int walk_all(struct ecmp *w, uint64_t seed, int32_t nseed, struct err *e)
{
    const struct problem *p = w->p;
    w->narc = 0;
    for (int64_t i = 0; i < w->nturn; i++) {
        int32_t f = w->turn[i].flow;
        hops_to(w->hops, p->dst[f]);
        w->length[f] = hops_from(w->hops, p->src[f]);
        if (w->length[f] < 0)
            return menu_no_path(p, f, e);
        void *arc = w->arc;
        int64_t more = (int64_t)nseed * w->k * w->length[f];
        int rc = array_grow(&arc, &w->room, w->narc + more, sizeof *w->arc);
        w->arc = arc;
        if (rc < 0)
            return oom(p, e);
        w->start[f] = w->narc;
        for (int32_t s = 0; s < nseed; s++)
            for (int32_t sub = 0; sub < w->k; sub++, w->narc += w->length[f])
                walk(w, f, hash(p, seed + (uint64_t)s, f, sub), w->arc + w->narc);
    }
    return 0;
}

/* Routes with room for any seed's choice; call after walk_all has measured the flows. */
static struct routes *ecmp_routes(const struct ecmp *w, struct err *e)
{
    int64_t npath = 0, narc = 0;
    for (int32_t f = 0; f < w->p->nflow; f++) {
        npath += w->length[f] > 0 ? w->k : 0;
        narc += (int64_t)w->k * w->length[f];
    }
    return routes_new(w->p->nflow, npath, narc, e);
}

/* The routes of seed, which is number s of the seeds that were walked last. */
static void ecmp_fill(const struct ecmp *w, uint64_t seed, int32_t s, struct routes *r)
{
    const struct menu *m = w->menu;
    int64_t i = 0;
    for (int32_t f = 0; f < w->p->nflow; f++) {
        int64_t choices = m->first[f + 1] - m->first[f];
        for (int32_t sub = 0; w->length[f] > 0 && sub < w->k; sub++, i++) {
            const int32_t *arc;
            int64_t n = w->length[f];
            if (choices > 0) {
                int64_t c = m->first[f] + below(hash(w->p, seed, f, sub), choices);
                arc = m->arc + m->at[c];
                n = m->at[c + 1] - m->at[c];
            } else {
                arc = w->arc + w->start[f] + ((int64_t)s * w->k + sub) * n;
            }
            memcpy(r->arc + r->at[i], arc, (size_t)n * sizeof *arc);
            r->at[i + 1] = r->at[i] + n;
            r->share[i] = 1.0 / w->k;
        }
        r->first[f + 1] = i;
    }
}

int baseline_ecmp(const struct problem *p, uint64_t seed, struct routes **out, struct err *e)
{
    struct ecmp w;
    struct routes *r = NULL;
    if (ecmp_init(&w, p, e) == 0 && walk_all(&w, seed, 1, e) == 0 && (r = ecmp_routes(&w, e)))
        ecmp_fill(&w, seed, 0, r);
    ecmp_free(&w);
    if (r)
        *out = r;
    return r ? 0 : -1;
}

/* What a visitor of seeds wants. */
struct visit {
    baseline_visit *call;
    void *context;
    double *efficiency, *load; /* scratch: [njob], [narc] */
};

/* Seeds seed .. seed + nseed - 1, walked together. */
static int visit_seeds(struct ecmp *w, uint64_t seed, int32_t nseed, const struct visit *v, struct err *e)
{
    const struct problem *p = w->p;
    int64_t narc = 0;
    if (walk_all(w, seed, nseed, e) < 0)
        return -1;
    for (int32_t f = 0; f < p->nflow; f++)
        narc += (int64_t)w->k * w->length[f];
    struct routes *r = ecmp_routes(w, e);
    struct scorer *scorer = r ? scorer_new(p, r->npath, narc, e) : NULL;
    for (int32_t s = 0; scorer && s < nseed; s++) {
        ecmp_fill(w, seed + (uint64_t)s, s, r);
        scorer_pinned(scorer, r, v->efficiency, v->load);
        v->call(v->context, r, v->efficiency, v->load);
    }
    int rc = scorer ? 0 : -1;
    scorer_free(scorer);
    routes_free(r);
    return rc;
}

int baseline_ecmp_each(const struct problem *p, baseline_visit *call, void *context, struct err *e)
{
    struct ecmp w;
    struct visit v = { call, context, array(p->njob, sizeof *v.efficiency), array(p->fabric->narc, sizeof *v.load) };
    int rc = ecmp_init(&w, p, e);
    if (rc == 0 && (!v.efficiency || !v.load))
        rc = oom(p, e);
    int64_t together = ARCS_KEPT / (8 * ((int64_t)p->nflow * w.k + 1)); /* paths rarely have more than 8 arcs */
    int32_t step = together < 1 ? 1 : together > ECMP_SEEDS ? ECMP_SEEDS : (int32_t)together;
    for (int32_t s = 0; s < ECMP_SEEDS && rc == 0; s += step)
        rc = visit_seeds(&w, (uint64_t)s, s + step < ECMP_SEEDS ? step : ECMP_SEEDS - s, &v, e);
    ecmp_free(&w);
    free(v.efficiency);
    free(v.load);
    return rc;
}

struct spread {
    int32_t njob;
    double *mean, *worst;
};

static void add_seed(void *context, const struct routes *r, const double *efficiency, const double *load)
{
    const struct spread *s = context;
    (void)r;
    (void)load;
    for (int32_t j = 0; j < s->njob; j++) {
        s->mean[j] += efficiency[j] / ECMP_SEEDS;
        if (s->worst)
            s->worst[j] = fmin(s->worst[j], efficiency[j]);
    }
}

int baseline_ecmp_efficiency(const struct problem *p, double *mean, double *worst, struct err *e)
{
    struct spread s = { p->njob, mean, worst };
    for (int32_t j = 0; j < p->njob; j++) {
        mean[j] = 0;
        if (worst)
            worst[j] = INFINITY;
    }
    return baseline_ecmp_each(p, add_seed, &s, e);
}
