#include "referee.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tests stop here when memory is short: nothing to judge. */
static void *take(int64_t n, size_t size)
{
    void *p = calloc((size_t)n + 1, size);
    if (!p)
        abort();
    return p;
}

void referee_distances(const struct fabric *f, int32_t s, const double *length, double *dist)
{
    for (int32_t v = 0; v < f->nnode; v++)
        dist[v] = INFINITY;
    dist[s] = 0;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t a = 0; a < f->narc; a++) {
            int32_t u = f->tail[a], v = f->head[a];
            if (f->live[a] && (u == s || f->node_kind[u] == NODE_SWITCH) && dist[u] + length[a] < dist[v]) {
                dist[v] = dist[u] + length[a];
                changed = 1;
            }
        }
    }
}

void referee_rates(int64_t nsub, const int64_t *at, const int32_t *arc, const double *x, const double *ceiling,
                   int32_t narc, const double *cap, double *rate)
{
    char *fixed = take(nsub, 1);
    double *used = take(narc, sizeof *used), *open = take(narc, sizeof *open);
    int64_t left = nsub;
    for (int64_t i = 0; i < nsub; i++) {
        rate[i] = 0;
        if (at[i] == at[i + 1]) {
            rate[i] = ceiling ? ceiling[i] : INFINITY;
            fixed[i] = 1;
            left--;
        }
    }
    while (left > 0) {
        double level = INFINITY;
        memset(used, 0, (size_t)narc * sizeof *used);
        memset(open, 0, (size_t)narc * sizeof *open);
        for (int64_t i = 0; i < nsub; i++)
            for (int64_t h = at[i]; h < at[i + 1]; h++) {
                if (fixed[i])
                    used[arc[h]] += rate[i] * (x ? x[h] : 1);
                else
                    open[arc[h]] += x ? x[h] : 1;
            }
        for (int32_t a = 0; a < narc; a++)
            if (open[a] > 0)
                level = fmin(level, (cap[a] - used[a]) / open[a]);
        for (int64_t i = 0; i < nsub; i++)
            if (!fixed[i] && ceiling)
                level = fmin(level, ceiling[i]);
        for (int64_t i = 0; i < nsub; i++) {
            int stop = ceiling && ceiling[i] <= level;
            for (int64_t h = at[i]; h < at[i + 1]; h++)
                stop |= (cap[arc[h]] - used[arc[h]]) / open[arc[h]] <= level * (1 + 1e-12);
            if (fixed[i] || !stop)
                continue;
            rate[i] = level;
            fixed[i] = 2; /* this round: still counted as open by the test above */
        }
        for (int64_t i = 0; i < nsub; i++)
            if (fixed[i] == 2) {
                fixed[i] = 1;
                left--;
            }
    }
    free(fixed);
    free(used);
    free(open);
}

struct walk {
    const struct fabric *f;
    int32_t t, room, n, depth;
    int32_t *path, *stack;
    char *seen;
};

static void walk(struct walk *w, int32_t v, int first)
{
    const struct fabric *f = w->f;
    if (v == w->t) {
        if (w->n < w->room) {
            int32_t *row = w->path + (int64_t)w->n * (f->nnode + 1);
            memcpy(row, w->stack, (size_t)w->depth * sizeof *row);
            row[w->depth] = -1;
            w->n++;
        }
        return;
    }
    if (!first && f->node_kind[v] == NODE_NIC)
        return;
    w->seen[v] = 1;
    for (int32_t k = f->first[v]; k < f->first[v + 1]; k++) {
        int32_t a = f->out[k];
        if (w->seen[f->head[a]])
            continue;
        w->stack[w->depth++] = a;
        walk(w, f->head[a], 0);
        w->depth--;
    }
    w->seen[v] = 0;
}

int32_t referee_paths(const struct fabric *f, int32_t s, int32_t t, int32_t *path, int32_t room)
{
    struct walk w = { .f = f, .t = t, .room = room, .path = path };
    w.stack = take(f->nnode, sizeof *w.stack);
    w.seen = take(f->nnode, 1);
    walk(&w, s, 1);
    free(w.stack);
    free(w.seen);
    return w.n;
}

void referee_efficiency(const struct problem *p, const struct routes *r, double *efficiency)
{
    double *rate = take(r->npath, sizeof *rate), *ceiling = take(r->npath, sizeof *ceiling);
    for (int32_t f = 0; f < p->nflow; f++)
        for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
            ceiling[i] = p->kind == DEMAND_GBPS ? r->share[i] * p->demand[f] : INFINITY;
    referee_rates(r->npath, r->at, r->arc, NULL, ceiling, p->fabric->narc, p->fabric->cap, rate);
    for (int32_t j = 0; j < p->njob; j++) {
        double worst = 0, least = 1;
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++) {
            double sum = 0;
            for (int64_t i = r->first[f]; i < r->first[f + 1]; i++) {
                sum += rate[i];
                worst = fmax(worst, 8e-9 * p->demand[f] * r->share[i] / rate[i]);
            }
            if (p->demand[f] > 0 && p->src[f] != p->dst[f])
                least = fmin(least, sum / p->demand[f]);
        }
        efficiency[j] = p->kind == DEMAND_GBPS ? least : worst > 0 ? p->ideal[j] / worst : 1;
    }
    free(rate);
    free(ceiling);
}

static double value_of(const struct problem *p, const struct routes *r, double *scratch)
{
    if (p->options.objective == OBJ_MAX_UTILIZATION) {
        double z = 0;
        memset(scratch, 0, (size_t)p->fabric->narc * sizeof *scratch);
        for (int32_t f = 0; f < p->nflow; f++)
            for (int64_t i = r->first[f]; i < r->first[f + 1]; i++)
                for (int64_t h = r->at[i]; h < r->at[i + 1]; h++)
                    scratch[r->arc[h]] += (p->kind == DEMAND_BYTES ? 8e-9 : 1) * p->demand[f] * r->share[i];
        for (int32_t a = 0; a < p->fabric->narc; a++)
            z = fmax(z, scratch[a] / p->fabric->cap[a]);
        return z;
    }
    double least = p->njob > 0 ? INFINITY : 1;
    referee_efficiency(p, r, scratch);
    for (int32_t j = 0; j < p->njob; j++)
        least = fmin(least, scratch[j] / p->job_weight[j]);
    return least;
}

enum { MANY = 4096 };

double referee_best_pinned(const struct problem *p)
{
    const struct fabric *g = p->fabric;
    int32_t width = g->nnode + 1, *choice = take(p->nflow, sizeof *choice), *count = take(p->nflow, sizeof *count);
    int32_t **path = take(p->nflow, sizeof *path);
    double best = NAN, *scratch = take((int64_t)g->narc + p->njob, sizeof *scratch);
    struct routes *r = routes_new(p->nflow, p->nflow, (int64_t)p->nflow * width, NULL);
    int none = !r;
    for (int32_t f = 0; f < p->nflow; f++) {
        path[f] = take((int64_t)MANY * width, sizeof **path);
        count[f] = problem_routed(p, f) ? referee_paths(g, p->src[f], p->dst[f], path[f], MANY) : 1;
        none |= count[f] == 0;
    }
    for (int more = !none; more;) {
        int64_t n = 0;
        for (int32_t f = 0; f < p->nflow; f++) {
            if (problem_routed(p, f)) {
                int64_t h = r->at[n];
                for (const int32_t *a = path[f] + (int64_t)choice[f] * width; *a >= 0; a++)
                    r->arc[h++] = *a;
                r->share[n] = 1;
                r->at[++n] = h;
            }
            r->first[f + 1] = n;
        }
        r->npath = n;
        double value = value_of(p, r, scratch);
        if (isnan(best) || (p->options.objective == OBJ_MAX_UTILIZATION ? value < best : value > best))
            best = value;
        more = 0;
        for (int32_t f = 0; f < p->nflow && !more; f++) {
            more = ++choice[f] < count[f];
            if (!more)
                choice[f] = 0;
        }
    }
    for (int32_t f = 0; f < p->nflow; f++)
        free(path[f]);
    routes_free(r);
    free(path);
    free(choice);
    free(count);
    free(scratch);
    return best;
}

static void name_node(struct fabric *f, int32_t v, const char *format, int a, int b)
{
    char text[40];
    snprintf(text, sizeof text, format, a, b);
    f->node_name[v] = text_copy(text);
}

static void cable(struct fabric *f, int32_t *n, int32_t from, int32_t to, double gbps)
{
    f->link_from[*n] = from;
    f->link_to[*n] = to;
    f->link_gbps[(*n)++] = gbps;
}

struct fabric *referee_clos(int32_t nleaf, int32_t nspine, int32_t nnic, double gbps)
{
    struct fabric *f = fabric_new(nleaf + nspine + nleaf * nnic, nleaf * (nnic + nspine), NULL);
    int32_t n = 0;
    if (!f)
        abort();
    for (int32_t l = 0; l < nleaf; l++)
        name_node(f, l, "leaf%d", l, 0);
    for (int32_t s = 0; s < nspine; s++)
        name_node(f, nleaf + s, "spine%d", s, 0);
    for (int32_t l = 0; l < nleaf; l++)
        for (int32_t i = 0; i < nnic; i++) {
            int32_t v = nleaf + nspine + l * nnic + i;
            name_node(f, v, "n%d.%d", l, i);
            f->node_kind[v] = NODE_NIC;
            cable(f, &n, v, l, gbps);
        }
    for (int32_t l = 0; l < nleaf; l++)
        for (int32_t s = 0; s < nspine; s++)
            cable(f, &n, l, nleaf + s, gbps);
    if (fabric_finish(f, NULL) < 0)
        abort();
    return f;
}

static struct fabric *random_fabric(struct rng *g, int32_t nswitch)
{
    static const double speed[] = { 100, 100, 200, 400 };
    int32_t nnic = 2 * nswitch, extra = nswitch + rng_below(g, 2 * nswitch + 1), n = 0;
    struct fabric *f = fabric_new(nswitch + nnic, 2 * nnic + nswitch + extra, NULL);
    if (!f)
        abort();
    for (int32_t v = 0; v < nswitch; v++)
        name_node(f, v, "s%d", v, 0);
    for (int32_t i = 0; i < nnic; i++) {
        int32_t v = nswitch + i;
        name_node(f, v, "n%d", i, 0);
        f->node_kind[v] = NODE_NIC;
        cable(f, &n, v, i / 2, speed[rng_below(g, 4)]);
        if (rng_below(g, 4) == 0)
            cable(f, &n, v, rng_below(g, nswitch), speed[rng_below(g, 4)]);
    }
    for (int32_t v = 0; v < nswitch && nswitch > 1; v++)
        cable(f, &n, v, (v + 1) % nswitch, speed[rng_below(g, 4)]);
    for (int32_t i = 0; i < extra && nswitch > 1; i++) {
        int32_t a = rng_below(g, nswitch), b = (a + 1 + rng_below(g, nswitch - 1)) % nswitch;
        cable(f, &n, a, b, speed[rng_below(g, 4)]);
        f->link_directed[n - 1] = rng_below(g, 6) == 0;
        f->link_up[n - 1] = rng_below(g, 6) != 0;
    }
    f->nlink = n; /* fewer than the room */
    f->narc = 2 * n;
    if (fabric_finish(f, NULL) < 0)
        abort();
    return f;
}

struct problem *referee_problem(uint64_t seed, enum demand_kind kind, int32_t nswitch, int32_t nflow)
{
    struct rng g = { seed };
    struct fabric *f = random_fabric(&g, nswitch);
    int32_t njob = 1 + rng_below(&g, 4);
    double *zero = take(f->narc, sizeof *zero), *dist = take(f->nnode, sizeof *dist);
    struct problem *p = problem_new(f, njob, nflow, NULL);
    if (!p)
        abort();
    p->kind = kind;
    for (int32_t j = 0; j < njob; j++) {
        char name[20];
        snprintf(name, sizeof name, "job%d", j);
        p->job_name[j] = text_copy(name);
        p->job_weight[j] = rng_below(&g, 3) == 0 ? 0.5 + rng_unit(&g) : 1;
        p->job_first[j + 1] = (int32_t)((int64_t)nflow * (j + 1) / njob);
    }
    for (int32_t i = 0; i < nflow; i++) {
        do {
            int any = rng_below(&g, 8) == 0; /* some flows end at switches */
            p->src[i] = any ? rng_below(&g, f->nnode) : nswitch + rng_below(&g, f->nnode - nswitch);
            p->dst[i] = any ? rng_below(&g, f->nnode) : nswitch + rng_below(&g, f->nnode - nswitch);
            referee_distances(f, p->src[i], zero, dist);
        } while (!(dist[p->dst[i]] < INFINITY));
        double size = 1 + rng_below(&g, 4);
        p->demand[i] = rng_below(&g, 16) == 0 ? 0 : kind == DEMAND_BYTES ? size * 1e9 : size * 20;
    }
    if (problem_finish(p, NULL) < 0)
        abort();
    free(zero);
    free(dist);
    return p;
}

struct routes *referee_routes(const struct problem *p, uint64_t seed, int32_t k)
{
    const struct fabric *g = p->fabric;
    struct rng rng = { seed };
    int32_t width = g->nnode + 1, *path = take((int64_t)MANY * width, sizeof *path);
    struct routes *r = routes_new(p->nflow, (int64_t)p->nflow * k, (int64_t)p->nflow * k * width, NULL);
    int64_t n = 0;
    if (!r)
        abort();
    for (int32_t f = 0; f < p->nflow; f++) {
        int32_t count = problem_routed(p, f) ? referee_paths(g, p->src[f], p->dst[f], path, MANY) : 0;
        int32_t use = count > 0 ? 1 + rng_below(&rng, k) : 0;
        double left = 1;
        for (int32_t i = 0; i < use; i++) {
            int64_t h = r->at[n];
            for (const int32_t *a = path + (int64_t)rng_below(&rng, count) * width; *a >= 0; a++)
                r->arc[h++] = *a;
            r->share[n] = i + 1 == use ? left : left * (0.2 + 0.6 * rng_unit(&rng));
            left -= r->share[n];
            r->at[++n] = h;
        }
        r->first[f + 1] = n;
    }
    r->npath = n;
    free(path);
    return r;
}
