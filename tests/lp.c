#include "tests/lp.h"
#include "tests/check.h"
#include "tests/referee.h"

#include <coin/Clp_C_Interface.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATHS = 4000 };

static int32_t hops(const int32_t *path)
{
    int32_t n = 0;
    while (path[n] >= 0)
        n++;
    return n;
}

/* Fewer hops; ties by the smaller arc, from the destination back. */
static int earlier(const int32_t *a, const int32_t *b)
{
    int32_t n = hops(a), m = hops(b);
    if (n != m)
        return n < m;
    while (--n >= 0)
        if (a[n] != b[n])
            return a[n] < b[n];
    return 0;
}

static int meet(const int32_t *a, const int32_t *b)
{
    for (; *a >= 0; a++)
        for (const int32_t *c = b; *c >= 0; c++)
            if (*a == *c)
                return 1;
    return 0;
}

/* Of n paths keep k arc-disjoint ones, the earliest of the rest each time. */
static int32_t keep_disjoint(int32_t *path, int32_t n, int32_t row, int32_t k)
{
    int32_t kept = 0, *swap = malloc((size_t)row * sizeof *swap);
    while (kept < k) {
        int32_t best = -1;
        for (int32_t i = kept; i < n; i++) {
            int clash = 0;
            for (int32_t j = 0; j < kept; j++)
                clash |= meet(path + i * row, path + j * row);
            if (!clash && (best < 0 || earlier(path + i * row, path + best * row)))
                best = i;
        }
        if (best < 0)
            break;
        memcpy(swap, path + kept * row, (size_t)row * sizeof *swap);
        memcpy(path + kept * row, path + best * row, (size_t)row * sizeof *swap);
        memcpy(path + best * row, swap, (size_t)row * sizeof *swap);
        kept++;
    }
    free(swap);
    return kept;
}

static int32_t listed_paths(const struct problem *p, int32_t f, int32_t *path, int32_t room)
{
    int32_t n = 0, row = p->fabric->nnode + 1;
    for (int64_t i = p->list_first[f]; i < p->list_first[f + 1] && n < room; i++) {
        int32_t k = 0, live = 1;
        for (int64_t h = p->list_at[i]; h < p->list_at[i + 1]; h++) {
            path[n * row + k++] = p->list_arc[h];
            live &= p->fabric->live[p->list_arc[h]];
        }
        path[n * row + k] = -1;
        n += live;
    }
    return n;
}

int32_t lp_paths(const struct problem *p, int32_t f, int32_t *path, int32_t room)
{
    int32_t row = p->fabric->nnode + 1, least = INT32_MAX, kept = 0;
    if (p->nlist > 0 && p->list_first[f] < p->list_first[f + 1])
        return listed_paths(p, f, path, room);
    int32_t n = referee_paths(p->fabric, p->src[f], p->dst[f], path, room);
    if (p->options.policy == PATHS_DISJOINT)
        return keep_disjoint(path, n, row, p->options.disjoint);
    if (p->options.policy == PATHS_ALL)
        return n;
    for (int32_t i = 0; i < n; i++)
        least = hops(path + i * row) < least ? hops(path + i * row) : least;
    for (int32_t i = 0; i < n; i++)
        if (hops(path + i * row) == least)
            memmove(path + kept++ * row, path + i * row, (size_t)row * sizeof *path);
    return kept;
}

/* A program under construction, column by column. */
struct program {
    int ncol, nrow, room;
    double *low, *high, *cost, *row_low, *row_high, *value;
    CoinBigIndex *start, nvalue;
    int *row;
    int value_room;
};

static void *grown(void *old, size_t n, size_t size)
{
    void *fresh = realloc(old, n * size);
    if (!fresh)
        abort();
    return fresh;
}

static void begin(struct program *q, int nrow)
{
    *q = (struct program){ .nrow = nrow };
    q->row_low = calloc((size_t)nrow + 1, sizeof(double));
    q->row_high = calloc((size_t)nrow + 1, sizeof(double));
    q->start = calloc(1, sizeof *q->start);
}

static int add_column(struct program *q, double low, double high, double cost)
{
    if (q->ncol == q->room) {
        q->room = 2 * q->room + 16;
        q->low = grown(q->low, (size_t)q->room, sizeof(double));
        q->high = grown(q->high, (size_t)q->room, sizeof(double));
        q->cost = grown(q->cost, (size_t)q->room, sizeof(double));
        q->start = grown(q->start, (size_t)q->room + 1, sizeof *q->start);
    }
    q->low[q->ncol] = low;
    q->high[q->ncol] = high;
    q->cost[q->ncol] = cost;
    q->start[q->ncol + 1] = q->nvalue;
    return q->ncol++;
}

/* An entry of the newest column. */
static void add_entry(struct program *q, int row, double value)
{
    if (q->nvalue == q->value_room) {
        q->value_room = 2 * q->value_room + 64;
        q->row = grown(q->row, (size_t)q->value_room, sizeof *q->row);
        q->value = grown(q->value, (size_t)q->value_room, sizeof(double));
    }
    q->row[q->nvalue] = row;
    q->value[q->nvalue++] = value;
    q->start[q->ncol] = q->nvalue;
}

/* Least cost; NAN when there is none. */
static double solve(const struct program *q)
{
    Clp_Simplex *m = Clp_newModel();
    Clp_setLogLevel(m, 0);
    Clp_loadProblem(m, q->ncol, q->nrow, q->start, q->row, q->value, q->low, q->high, q->cost, q->row_low, q->row_high);
    Clp_setPrimalTolerance(m, 1e-9);
    Clp_setDualTolerance(m, 1e-9);
    Clp_initialDualSolve(m);
    double best = Clp_status(m) == 0 ? Clp_objectiveValue(m) : NAN;
    Clp_deleteModel(m);
    return best;
}

static void end(struct program *q)
{
    free(q->low);
    free(q->high);
    free(q->cost);
    free(q->row_low);
    free(q->row_high);
    free(q->value);
    free(q->start);
    free(q->row);
}

double lp_utilization(const struct problem *p, const double *load)
{
    const struct fabric *f = p->fabric;
    int32_t row = f->nnode + 1, *path = malloc((size_t)MOST_PATHS * (size_t)row * sizeof *path);
    struct program q;
    begin(&q, p->nflow + f->narc); /* sum of shares = 1; load / u <= z */
    for (int32_t a = 0; a < f->narc; a++)
        q.row_low[p->nflow + a] = -INFINITY;
    add_column(&q, 0, INFINITY, 1);
    for (int32_t a = 0; a < f->narc; a++)
        add_entry(&q, p->nflow + a, -1);
    for (int32_t i = 0; i < p->nflow; i++) {
        if (!(load[i] > 0))
            continue;
        q.row_low[i] = q.row_high[i] = 1;
        int32_t n = lp_paths(p, i, path, MOST_PATHS);
        for (int32_t y = 0; y < n; y++) {
            add_column(&q, 0, INFINITY, 0);
            add_entry(&q, i, 1);
            for (const int32_t *a = path + y * row; *a >= 0; a++)
                add_entry(&q, p->nflow + *a, load[i] / f->cap[*a]);
        }
    }
    double z = solve(&q);
    end(&q);
    free(path);
    return z;
}

/* Largest t with e_j >= w_j t for free jobs (target -1), or largest e_target with them at least w_j t; frozen jobs at
 * least at their efficiency. Relative rates: column y of flow f is the share of need_f. */
static double climb(const struct problem *p, const double *frozen, double t, int32_t target)
{
    const struct fabric *f = p->fabric;
    int32_t row = f->nnode + 1, *path = malloc((size_t)MOST_PATHS * (size_t)row * sizeof *path);
    struct program q;
    begin(&q, p->nflow + f->narc);
    for (int32_t a = 0; a < f->narc; a++) {
        q.row_low[p->nflow + a] = -INFINITY;
        q.row_high[p->nflow + a] = 1;
    }
    double most = INFINITY; /* demands in Gb/s: nobody gets more than all */
    for (int32_t j = 0; j < p->njob && p->kind == DEMAND_GBPS; j++)
        if (target < 0 ? frozen[j] < 0 : target == j)
            most = fmin(most, target < 0 ? 1 / p->job_weight[j] : 1);
    add_column(&q, 0, most, -1); /* what is maximised */
    for (int32_t i = 0; i < p->nflow; i++) {
        int32_t j = p->job[i];
        if (!problem_routed(p, i))
            continue;
        int rises = target < 0 ? frozen[j] < 0 : target == j;
        q.row_low[i] = rises ? 0 : frozen[j] >= 0 ? frozen[j] : p->job_weight[j] * t;
        q.row_high[i] = INFINITY;
        if (rises)
            add_entry(&q, i, target < 0 ? -p->job_weight[j] : -1);
    }
    for (int32_t i = 0; i < p->nflow; i++) {
        int32_t n = problem_routed(p, i) ? lp_paths(p, i, path, MOST_PATHS) : 0;
        for (int32_t y = 0; y < n; y++) {
            add_column(&q, 0, INFINITY, 0);
            add_entry(&q, i, 1);
            for (const int32_t *a = path + y * row; *a >= 0; a++)
                add_entry(&q, p->nflow + *a, p->need[i] / f->cap[*a]);
        }
    }
    double best = -solve(&q);
    end(&q);
    free(path);
    return best;
}

void lp_levels(const struct problem *p, double *efficiency)
{
    static const double slack = 1e-9, same = 1e-6;
    double *frozen = calloc((size_t)p->njob + 1, sizeof *frozen);
    int32_t left = 0;
    for (int32_t j = 0; j < p->njob; j++) {
        frozen[j] = 1; /* sends nothing */
        for (int32_t f = p->job_first[j]; f < p->job_first[j + 1]; f++)
            if (problem_routed(p, f))
                frozen[j] = -1;
        left += frozen[j] < 0;
    }
    while (left > 0) {
        double t = climb(p, frozen, 0, -1);
        int32_t held = 0;
        for (int32_t j = 0; j < p->njob; j++)
            efficiency[j] = frozen[j] < 0 ? climb(p, frozen, t * (1 - slack), j) : frozen[j];
        for (int32_t j = 0; j < p->njob; j++)
            if (frozen[j] < 0 && !(efficiency[j] > p->job_weight[j] * t * (1 + same))) {
                frozen[j] = p->job_weight[j] * t * (1 - slack);
                held++;
            }
        if (held == 0)
            break;
        left -= held;
    }
    memcpy(efficiency, frozen, (size_t)p->njob * sizeof *frozen);
    free(frozen);
}

double *lp_loads(const struct problem *p)
{
    double *load = calloc((size_t)p->nflow + 1, sizeof *load);
    for (int32_t f = 0; f < p->nflow; f++)
        load[f] = p->options.objective == OBJ_JOB_FAIR ? p->job_weight[p->job[f]] * p->need[f] : problem_load(p, f);
    return load;
}

/* sum of load * cheapest allowed path / sum u y, by Bellman-Ford or the lists; shortest: over enumerated paths. */
double lp_proven(const struct problem *p, const double *load, const double *price)
{
    const struct fabric *f = p->fabric;
    int32_t row = f->nnode + 1, *path = malloc((size_t)MOST_PATHS * (size_t)row * sizeof *path);
    double *dist = malloc((size_t)(f->nnode + 1) * sizeof *dist), cap = 0, sum = 0;
    for (int32_t a = 0; a < f->narc; a++)
        cap += price[a] * f->cap[a];
    for (int32_t i = 0; i < p->nflow; i++) {
        if (!(load[i] > 0))
            continue;
        double least = INFINITY;
        int lists = p->nlist > 0 && p->list_first[i] < p->list_first[i + 1];
        if (lists || p->options.policy == PATHS_SHORTEST) {
            int32_t n = lp_paths(p, i, path, MOST_PATHS);
            for (int32_t y = 0; y < n; y++) {
                double c = 0;
                for (const int32_t *a = path + y * row; *a >= 0; a++)
                    c += price[*a];
                least = c < least ? c : least;
            }
        } else {
            referee_distances(f, p->src[i], price, dist);
            least = dist[p->dst[i]];
        }
        sum += load[i] * least;
    }
    free(path);
    free(dist);
    return cap > 0 ? sum / cap : 0;
}

/* Paths are allowed, shares sum to 1; the largest load. pinned: at most k paths. */
double lp_value(const struct problem *p, const struct routes *r, const double *load, const char *what)
{
    const struct fabric *f = p->fabric;
    int32_t row = f->nnode + 1, *path = malloc((size_t)MOST_PATHS * (size_t)row * sizeof *path);
    double *used = calloc((size_t)f->narc + 1, sizeof *used), top = 0;
    int enumerable = f->nnode <= 16;
    for (int32_t i = 0; i < p->nflow; i++) {
        double sum = 0;
        int32_t n = problem_routed(p, i) && enumerable ? lp_paths(p, i, path, MOST_PATHS) : 0;
        CHECK(problem_routed(p, i) || r->first[i] == r->first[i + 1], "%s: flow %d needs no path", what, i);
        for (int64_t y = r->first[i]; y < r->first[i + 1]; y++) {
            int32_t len = (int32_t)(r->at[y + 1] - r->at[y]), found = !enumerable, v = p->src[i];
            for (int32_t q = 0; q < n && !found; q++) {
                int32_t h = 0;
                while (h < len && path[q * row + h] == r->arc[r->at[y] + h])
                    h++;
                found = h == len && path[q * row + h] < 0;
            }
            CHECK(found, "%s: flow %d path %d is not allowed", what, i, (int)(y - r->first[i]));
            for (int64_t h = r->at[y]; h < r->at[y + 1]; h++) {
                CHECK(f->live[r->arc[h]] && f->tail[r->arc[h]] == v, "%s: flow %d", what, i);
                v = f->head[r->arc[h]];
                used[r->arc[h]] += load[i] * r->share[y];
            }
            CHECK(v == p->dst[i], "%s: flow %d ends at %d", what, i, v);
            sum += r->share[y];
        }
        CHECK(!problem_routed(p, i) || fabs(sum - 1) < 1e-9, "%s: flow %d: shares add to %.12g", what, i, sum);
    }
    for (int32_t a = 0; a < f->narc; a++)
        top = fmax(top, used[a] / f->cap[a]);
    free(path);
    free(used);
    return top;
}
