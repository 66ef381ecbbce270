/* split: values against linear programs over all allowed paths, certificates by slow distances, the same bits on any
 * number of ranks, degenerate fabrics, public instances of known optimum, limits, and short memory.
 */
#include "solver/engine/score.h"
#include "solver/engine/split.h"
#include "tests/lp.h"
#include "tests/nets.h"
#include "tests/referee.h"
#include "tests/sim.h"

#include <math.h>

void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);

void *__wrap_array(int64_t n, size_t size)
{
    return sim_short() ? NULL : __real_array(n, size);
}

/* One way through the public calls, and everything that came out of it, as bytes. */
struct task {
    const struct problem *p;
    const struct pods *pods;
    struct split_goal goal;
    const struct hooks *hooks;
    int fair;
    uint64_t seed;
    /* from rank 0: */
    struct split_result result;
    struct routes *routes, *pinned;
    struct split_levels levels;
    double *price, *efficiency;
};

/* The result of any rank must be that of rank 0; only rank 0 writes to the task. */
static int body(struct comm *c, void *context, struct err *e)
{
    struct task *t = context;
    struct split *s = split_new(t->p, t->pods, c, e);
    double *load = lp_loads(t->p), *efficiency = __real_array(t->p->njob, sizeof *efficiency);
    struct routes *routes = NULL, *pinned = NULL;
    struct split_levels levels = { 0 };
    struct split_result r;
    int rc = s ? split_run(s, load, &t->goal, c->rank == 0 ? t->hooks : NULL, &r, e) : -1;
    if (rc == 0 && c->rank == 0) {
        t->result = r;
        memcpy(t->price, r.price, (size_t)t->p->fabric->narc * sizeof *t->price);
    }
    if (rc == 0)
        rc = split_routes(s, &routes, e);
    if (rc == 0)
        rc = split_round(s, t->seed, &pinned, e);
    if (rc == 0 && t->fair)
        rc = split_job_fair(s, &t->goal, NULL, efficiency, &levels, e);
    if (c->rank == 0) {
        t->routes = routes;
        t->pinned = pinned;
        t->levels = levels;
        t->efficiency = efficiency;
    } else {
        free(efficiency);
    }
    free(load);
    split_free(s);
    return rc;
}

static void task_clear(struct task *t)
{
    routes_free(t->routes);
    routes_free(t->pinned);
    routes_free(t->levels.routes);
    for (int32_t i = 0; i < t->levels.nlevel; i++) {
        free(t->levels.level[i].job);
        certificate_free(&t->levels.level[i].proof);
    }
    free(t->levels.level);
    free(t->efficiency);
    free(t->price);
}

static struct task task_of(const struct problem *p, const struct pods *pods, double gap, int fair)
{
    struct task t = { .p = p, .pods = pods, .fair = fair, .seed = 7 };
    t.goal = (struct split_goal){ gap, 100000, INFINITY };
    t.price = __real_array(p->fabric->narc, sizeof *t.price);
    return t;
}

static void task_run(struct task *t, int size, const char *what)
{
    struct sim_rank out[8];
    if (sim_run(size, NULL, body, t, out) < 0)
        for (int i = 0; i < size; i++)
            CHECK(out[i].rc == 0, "%s: rank %d of %d: %s", what, i, size, out[i].e.text);
}

static void check_value(const struct task *t, double best, double gap, const char *what)
{
    const struct split_result *r = &t->result;
    double *load = lp_loads(t->p), value = lp_value(t->p, t->routes, load, what);
    double bound = lp_proven(t->p, load, t->price);
    CHECK(fabs(value - r->z) <= 1e-8 * r->z + 1e-300, "%s: z %.12g, routes give %.12g", what, r->z, value);
    CHECK(r->bound <= bound * (1 + 1e-9), "%s: bound %.12g, prices prove %.12g", what, r->bound, bound);
    CHECK(r->end == SPLIT_GAP, "%s: end %d after %lld rounds, z %.9g bound %.9g", what, r->end, (long long)r->rounds,
          r->z, r->bound);
    CHECK(r->z >= best * (1 - 1e-7) && r->z <= best * (1 + gap) + 1e-300, "%s: z %.12g, program %.12g", what, r->z,
          best);
    CHECK(r->bound <= best * (1 + 1e-7), "%s: bound %.12g above %.12g", what, r->bound, best);
    if (t->p->options.policy != PATHS_DISJOINT)
        CHECK(r->bound >= best * (1 - gap), "%s: bound %.12g below %.12g", what, r->bound, best);
    CHECK(lp_value(t->p, t->pinned, load, what) >= r->bound * (1 - 1e-9), "%s: rounded below the bound", what);
    free(load);
}

static void set_lists(struct problem *p, struct rng *g)
{
    enum { ROOM = 4000 };
    int32_t row = p->fabric->nnode + 1, *path = malloc((size_t)ROOM * (size_t)row * sizeof *path);
    int64_t room = 0, arc_room = 0, n = 0;
    void *at = NULL, *arc = NULL;
    p->list_first = __real_array((int64_t)p->nflow + 1, sizeof *p->list_first);
    CHECK(array_grow(&at, &room, 1, sizeof *p->list_at) == 0, "memory");
    for (int32_t f = 0; f < p->nflow; f++) {
        int32_t k = problem_routed(p, f) && rng_below(g, 4) > 0 ? lp_paths(p, f, path, ROOM) : 0,
                skip = rng_below(g, 3);
        for (int32_t i = skip < k ? skip : 0; i < k && i < skip + 4; i++) {
            for (const int32_t *a = path + i * row; *a >= 0; a++) {
                CHECK(array_grow(&arc, &arc_room, n + 1, sizeof *p->list_arc) == 0, "memory");
                ((int32_t *)arc)[n++] = *a;
            }
            CHECK(array_grow(&at, &room, p->nlist + 2, sizeof *p->list_at) == 0, "memory");
            ((int64_t *)at)[++p->nlist] = n;
        }
        p->list_first[f + 1] = p->nlist;
    }
    p->list_at = at;
    p->list_arc = arc;
    free(path);
}

static struct problem *random_problem(uint64_t seed)
{
    struct rng g = { seed };
    struct problem *p =
        referee_problem(seed, seed % 2 ? DEMAND_BYTES : DEMAND_GBPS, 3 + rng_below(&g, 3), 3 + rng_below(&g, 14));
    p->options.objective = seed % 3 ? OBJ_MAX_UTILIZATION : OBJ_JOB_FAIR;
    switch (seed % 4) {
    case 1:
        p->options.policy = PATHS_SHORTEST;
        break;
    case 2:
        p->options.policy = PATHS_DISJOINT;
        p->options.disjoint = 1 + rng_below(&g, 3);
        break;
    case 3:
        set_lists(p, &g);
        break;
    default:
        break;
    }
    p->options.paths_per_flow = 1 + rng_below(&g, 3);
    return p;
}

static void test_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        char what[64];
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        struct problem *p = random_problem(seed);
        struct pods *pods = nets_pods(p->fabric, 1 + (int32_t)(seed % 5));
        double *load = lp_loads(p), best = lp_utilization(p, load);
        struct task t = task_of(p, pods, 1e-6, 0);
        task_run(&t, 1, what);
        check_value(&t, best, 1e-5, what);
        free(load);
        task_clear(&t);
        pods_free(pods);
        problem_free(p);
    }
}

/* Equal bits, level by level and path by path. */
static void check_same(const struct task *a, const struct task *b, const char *what)
{
    const struct problem *p = a->p;
    const struct routes *pair[3][2] = { { a->routes, b->routes },
                                        { a->pinned, b->pinned },
                                        { a->levels.routes, b->levels.routes } };
    CHECK(a->result.z == b->result.z && a->result.bound == b->result.bound && a->result.rounds == b->result.rounds &&
              a->result.end == b->result.end,
          "%s: z %.17g, %.17g; bound %.17g, %.17g; rounds %lld, %lld", what, a->result.z, b->result.z, a->result.bound,
          b->result.bound, (long long)a->result.rounds, (long long)b->result.rounds);
    CHECK(!memcmp(a->price, b->price, (size_t)p->fabric->narc * sizeof *a->price), "%s: prices differ", what);
    for (int i = 0; i < 2 + a->fair; i++) {
        const struct routes *x = pair[i][0], *y = pair[i][1];
        CHECK(x->npath == y->npath, "%s: %lld and %lld paths", what, (long long)x->npath, (long long)y->npath);
        size_t n = (size_t)x->npath;
        CHECK(!memcmp(x->first, y->first, ((size_t)p->nflow + 1) * sizeof *x->first) &&
                  !memcmp(x->at, y->at, (n + 1) * sizeof *x->at) && !memcmp(x->share, y->share, n * sizeof *x->share) &&
                  !memcmp(x->gbps, y->gbps, n * sizeof *x->gbps) &&
                  !memcmp(x->arc, y->arc, (size_t)x->at[n] * sizeof *x->arc),
              "%s: routes differ", what);
    }
    if (!a->fair)
        return;
    CHECK(a->levels.nlevel == b->levels.nlevel &&
              !memcmp(a->efficiency, b->efficiency, (size_t)p->njob * sizeof *a->efficiency),
          "%s: efficiencies differ", what);
    for (int32_t i = 0; i < a->levels.nlevel; i++) {
        const struct level *x = &a->levels.level[i], *y = &b->levels.level[i];
        CHECK(x->efficiency == y->efficiency && x->njob == y->njob && x->proof.bound == y->proof.bound &&
                  x->proof.narc == y->proof.narc &&
                  (x->proof.narc == 0 ||
                   !memcmp(x->proof.price, y->proof.price, (size_t)x->proof.narc * sizeof *x->proof.price)),
              "%s: level %d differs", what, i);
    }
}

static void test_ranks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        char what[64];
        struct problem *p = random_problem(seed);
        struct pods *pods = nets_pods(p->fabric, 1 + (int32_t)(seed % 6));
        struct task one = task_of(p, pods, 1e-5, 1);
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        task_run(&one, 1, what);
        for (int size = 2; size <= 4; size++) {
            struct task t = task_of(p, pods, 1e-5, 1);
            snprintf(what, sizeof what, "seed %llu, %d ranks", (unsigned long long)seed, size);
            task_run(&t, size, what);
            check_same(&one, &t, what);
            task_clear(&t);
        }
        task_clear(&one);
        pods_free(pods);
        problem_free(p);
    }
}

/* Levels are the max-min ones; every proof holds with the lower levels at their efficiency. */
static void check_levels(const struct task *t, const char *what)
{
    static const double near = 2e-4; /* gap 1e-6 inside, 1e-3 of a level where the prices do not hold a job firmly */
    const struct problem *p = t->p;
    double *want = calloc((size_t)p->njob + 1, sizeof *want), *got = calloc((size_t)p->njob + 1, sizeof *got);
    double *price = calloc((size_t)p->fabric->narc + 1, sizeof *price),
           *load = calloc((size_t)p->nflow + 1, sizeof *load);
    double *lower = calloc((size_t)p->njob + 1, sizeof *lower),
           *used = calloc((size_t)p->fabric->narc + 1, sizeof *used);
    lp_levels(p, want);
    CHECK(score_split(p, t->levels.routes, got, used, NULL) == 0, "memory");
    for (int32_t j = 0; j < p->njob; j++) {
        CHECK(fabs(t->efficiency[j] - want[j]) <= near * want[j], "%s: job %d: %.9g, program %.9g", what, j,
              t->efficiency[j], want[j]);
        CHECK(fabs(got[j] - t->efficiency[j]) <= 1e-9 * want[j], "%s: job %d: stated %.12g, scored %.12g", what, j,
              t->efficiency[j], got[j]);
        lower[j] = -1;
    }
    memset(used, 0, (size_t)p->fabric->narc * sizeof *used);
    for (int64_t i = 0; i < t->levels.routes->npath; i++)
        for (int64_t h = t->levels.routes->at[i]; h < t->levels.routes->at[i + 1]; h++)
            used[t->levels.routes->arc[h]] += t->levels.routes->gbps[i];
    for (int32_t a = 0; a < p->fabric->narc; a++)
        CHECK(used[a] <= p->fabric->cap[a] * (1 + 1e-9), "%s: arc %d is over capacity", what, a);
    for (int32_t i = 0; i < t->levels.nlevel; i++) {
        const struct level *l = &t->levels.level[i];
        double held, rising; /* what the prices say of frozen loads at their levels, and of free ones at 1 */
        memset(price, 0, (size_t)p->fabric->narc * sizeof *price);
        for (int64_t a = 0; a < l->proof.narc; a++)
            price[l->proof.arc[a]] = l->proof.price[a];
        for (int32_t f = 0; f < p->nflow; f++)
            load[f] = lower[p->job[f]] < 0 ? 0 : lower[p->job[f]] * p->job_weight[p->job[f]] * p->need[f];
        held = lp_proven(p, load, price);
        for (int32_t f = 0; f < p->nflow; f++)
            load[f] = lower[p->job[f]] < 0 ? p->job_weight[p->job[f]] * p->need[f] : 0;
        rising = lp_proven(p, load, price);
        CHECK(l->proof.kind == CERT_NONE || l->proof.bound >= (1 - held) / rising * (1 - 1e-7),
              "%s: level %d: bound %.9g, prices prove %.9g", what, i, l->proof.bound, (1 - held) / rising);
        if (l->proof.kind == CERT_NONE) {
            for (int32_t n = 0; n < l->njob; n++)
                CHECK(p->kind == DEMAND_GBPS && t->efficiency[l->job[n]] > 1 - near, "%s: level %d has no proof", what,
                      i);
        } else if (p->options.policy != PATHS_DISJOINT && t->efficiency[l->job[0]] < 1 - near)
            CHECK(l->proof.bound <= l->efficiency * (1 + 1e-4), "%s: level %d: %.9g is not proven: %.9g", what, i,
                  l->efficiency, l->proof.bound);
        CHECK(l->njob > 0, "%s: level %d is empty", what, i);
        for (int32_t n = 0; n < l->njob; n++)
            lower[l->job[n]] = t->efficiency[l->job[n]] / p->job_weight[l->job[n]];
    }
    free(want);
    free(got);
    free(price);
    free(load);
    free(lower);
    free(used);
}

static void test_levels(void **state)
{
    (void)state;
    for (uint64_t seed = 3; seed <= 240; seed += 3) {
        char what[64];
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        struct problem *p = random_problem(seed);
        struct pods *pods = nets_pods(p->fabric, 1 + (int32_t)(seed % 4));
        struct task t = task_of(p, pods, 1e-4, 1);
        task_run(&t, 1, what);
        check_levels(&t, what);
        task_clear(&t);
        pods_free(pods);
        problem_free(p);
    }
}

/* A problem of one job from literal rows: links {from, to, gbps} (directed), flows {src, dst, gbps}. */
static struct problem *literal(int32_t nnode, int32_t nlink, double (*link)[3], int32_t nflow, double (*flow)[3])
{
    struct err e;
    struct fabric *f = fabric_new(nnode, nlink, &e);
    CHECK(f, "memory");
    for (int32_t i = 0; i < nlink; i++) {
        f->link_from[i] = (int32_t)link[i][0];
        f->link_to[i] = (int32_t)link[i][1];
        f->link_gbps[i] = link[i][2];
        f->link_directed[i] = 1;
    }
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    struct problem *p = problem_new(f, 1, nflow, &e);
    CHECK(p, "memory");
    p->kind = DEMAND_GBPS;
    p->options.objective = OBJ_MAX_UTILIZATION;
    p->job_first[1] = nflow;
    for (int32_t i = 0; i < nflow; i++) {
        p->src[i] = (int32_t)flow[i][0];
        p->dst[i] = (int32_t)flow[i][1];
        p->demand[i] = flow[i][2];
    }
    CHECK(problem_finish(p, &e) == 0, "%s", e.text);
    return p;
}

/* Known value, on as many pods and ranks as asked for. */
static void check_literal(struct problem *p, double best, int32_t npod, int size, const char *what)
{
    struct pods *pods = nets_pods(p->fabric, npod);
    struct task t = task_of(p, pods, 1e-6, 1);
    task_run(&t, size, what);
    check_value(&t, best, 2e-6, what);
    task_clear(&t);
    pods_free(pods);
    problem_free(p);
}

static void test_degenerate(void **state)
{
    (void)state;
    double none[1][3] = { { 0, 0, 0 } };
    double far[4][3] = { { 0, 1, 1e-6 }, { 0, 1, 1e6 }, { 0, 2, 3e-6 }, { 2, 1, 1 } };
    double five[2][3] = { { 0, 1, 5 }, { 1, 1, 7 } };
    check_literal(literal(1, 0, none, 0, none), 0, 1, 1, "one node, no flow");
    check_literal(literal(0, 0, none, 0, none), 0, 0, 2, "no node");
    check_literal(literal(2, 1, (double[1][3]){ { 0, 1, 3 } }, 2, five), 5.0 / 3, 2, 4,
                  "one arc, more ranks than pods");
    check_literal(literal(2, 1, (double[1][3]){ { 0, 1, 3 } }, 1, (double[1][3]){ { 0, 1, 0 } }), 0, 1, 2,
                  "zero demand");
    check_literal(literal(3, 4, far, 1, five), 5 / (1e-6 + 1e6 + 3e-6), 2, 2, "capacities 1e-6 to 1e6");
    check_literal(literal(3, 4, far, 1, (double[1][3]){ { 0, 2, 1e6 } }), 1e6 / 3e-6, 1, 1, "no way round a thin arc");
    check_literal(literal(4, 2, (double[2][3]){ { 0, 1, 2 }, { 2, 3, 1 } }, 1, five), 2.5, 4, 3, "disconnected rest");
    double wide[64][3];
    for (int i = 0; i < 64; i++)
        memcpy(wide[i], (double[3]){ 0, 1, 3 }, sizeof wide[i]);
    check_literal(literal(2, 64, wide, 1, five), 5.0 / 192, 1, 1, "a start 64 times too high");
    check_literal(literal(2, 3, (double[3][3]){ { 0, 1, 1 }, { 0, 1, 2 }, { 0, 1, 7 } }, 1, five), 0.5, 1, 1,
                  "parallel");
}

/* Unreachable pairs and dead lists are refused by name. */
static void test_refused(void **state)
{
    (void)state;
    struct err e;
    double link[2][3] = { { 0, 1, 1 }, { 1, 2, 1 } }, flow[2][3] = { { 0, 2, 1 }, { 2, 0, 1 } };
    struct problem *p = literal(3, 2, link, 2, flow);
    struct pods *pods = nets_pods(p->fabric, 1);
    struct comm *c = comm_self(&e);
    CHECK(c && !split_new(p, pods, c, &e) && e.code == E_INPUT, "unreachable");
    CHECK(strstr(e.text, "jobs[0].flows[1]") && strstr(e.text, "node 2 to node 0"), "%s", e.text);
    p->options.policy = PATHS_DISJOINT;
    p->options.disjoint = 2;
    CHECK(!split_new(p, pods, c, &e) && e.code == E_INPUT && strstr(e.text, "jobs[0].flows[1]"), "disjoint");
    comm_free(c);
    pods_free(pods);
    problem_free(p);
}

/* Clos fabrics with all-to-all traffic: every spine carries the same, whatever the seed. */
static void test_planted(void **state)
{
    (void)state;
    for (int32_t nspine = 1; nspine <= 5; nspine += 2) {
        int32_t nleaf = 4, nnic = 3, n = nleaf * nnic, i = 0;
        struct fabric *f = referee_clos(nleaf, nspine, nnic, 100);
        struct problem *p = problem_new(f, 1, n * n, NULL);
        p->kind = DEMAND_GBPS;
        p->options.objective = OBJ_MAX_UTILIZATION;
        p->job_first[1] = n * n;
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++, i++) {
                p->src[i] = nleaf + nspine + a;
                p->dst[i] = nleaf + nspine + b;
                p->demand[i] = 1;
            }
        CHECK(problem_finish(p, NULL) == 0, "clos");
        double up = nnic * (n - nnic) / (100.0 * nspine), nic = (n - 1) / 100.0;
        check_literal(p, up > nic ? up : nic, 3, 2, "clos");
    }
}

struct heard {
    int polls, stop_at, rows;
    double value, bound;
};

static int stop_later(void *context)
{
    struct heard *h = context;
    return ++h->polls > h->stop_at;
}

static void hear(void *context, const struct progress *row)
{
    struct heard *h = context;
    CHECK(h->rows == 0 || (row->value <= h->value * (1 + 1e-12) && row->bound >= h->bound), "row %d", h->rows);
    CHECK(row->round == h->rows && row->seconds >= 0 && row->bound <= row->value * (1 + 1e-9), "row %d", h->rows);
    h->rows++;
    h->value = row->value;
    h->bound = row->bound;
}

/* A limit gives the best answer so far with its bound. */
static void test_limits(void **state)
{
    (void)state;
    static const enum split_end want[] = { SPLIT_ROUNDS, SPLIT_CANCELLED, SPLIT_DEADLINE, SPLIT_CANCELLED };
    struct problem *p = random_problem(4);
    struct pods *pods = nets_pods(p->fabric, 3);
    double *load = lp_loads(p);
    for (int kind = 0; kind < 4; kind++) {
        struct heard h = { .stop_at = kind == 1 ? 2 : kind == 3 ? 0 : 1000 };
        struct hooks hooks = { &h, hear, stop_later };
        struct task t = task_of(p, pods, 0, 1);
        t.hooks = &hooks;
        t.goal.rounds = kind == 0 ? 3 : 50;
        t.goal.deadline = kind == 2 ? -1 : INFINITY;
        task_run(&t, 1 + kind, "limits");
        CHECK(t.result.end == want[kind], "kind %d: end %d", kind, t.result.end);
        CHECK(kind != 0 || t.result.rounds == 3, "%lld rounds", (long long)t.result.rounds);
        CHECK(kind != 1 || t.result.rounds == 2, "%lld rounds", (long long)t.result.rounds);
        CHECK(h.rows == t.result.rounds + 1, "%d rows", h.rows);
        double value = lp_value(p, t.routes, load, "limits");
        CHECK(fabs(value - t.result.z) <= 1e-8 * value, "kind %d: z %g, routes %g", kind, t.result.z, value);
        CHECK(t.result.bound <= lp_proven(p, load, t.price) * (1 + 1e-9), "kind %d: bound %g", kind, t.result.bound);
        CHECK(t.levels.routes && t.levels.nlevel >= 1 && t.efficiency[0] > 0, "kind %d: levels", kind);
        task_clear(&t);
    }
    free(load);
    pods_free(pods);
    problem_free(p);
}

/* Every allocation fails once, alone and on the second of two ranks: an error everywhere, nothing lost. */
static void test_memory(void **state)
{
    (void)state;
    struct problem *p = random_problem(12);
    struct pods *pods = nets_pods(p->fabric, 2);
    for (int size = 1; size <= 2; size++) {
        int passed = 0, failed = 0;
        for (int64_t call = 0; !passed; call++) {
            struct sim_script script = { .fault = SIM_SHORT, .rank = size - 1, .call = call };
            struct sim_rank out[2];
            struct task t = task_of(p, pods, 1e-3, 1);
            passed = sim_run(size, &script, body, &t, out) == 0;
            for (int i = 0; i < size && !passed; i++)
                CHECK(out[i].rc < 0 && out[i].e.code == (i == size - 1 ? E_MEMORY : E_COMM),
                      "call %lld: rank %d: %d %s", (long long)call, i, out[i].rc, out[i].e.text);
            failed += !passed;
            task_clear(&t);
        }
        CHECK(failed > 40, "only %d calls", failed);
    }
    pods_free(pods);
    problem_free(p);
}

/* A rank whose call fails or that leaves ends everyone. */
static void test_lost_ranks(void **state)
{
    (void)state;
    struct problem *p = random_problem(12);
    struct pods *pods = nets_pods(p->fabric, 3);
    for (int64_t call = 0; call < 60; call += 3)
        for (int fault = SIM_FAILS; fault <= SIM_LEAVES; fault++) {
            struct sim_script script = { .fault = (enum sim_fault)fault, .rank = (int)(call % 3), .call = call };
            struct sim_rank out[3];
            struct task t = task_of(p, pods, 1e-3, 1);
            CHECK(sim_run(3, &script, body, &t, out) < 0, "call %lld", (long long)call);
            for (int i = 0; i < 3; i++)
                CHECK(out[i].rc < 0 && out[i].e.code == E_COMM, "call %lld: rank %d: %d %s", (long long)call, i,
                      out[i].rc, out[i].e.text);
            task_clear(&t);
        }
    pods_free(pods);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_degenerate), cmocka_unit_test(test_refused), cmocka_unit_test(test_planted),
        cmocka_unit_test(test_programs),   cmocka_unit_test(test_ranks),   cmocka_unit_test(test_levels),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_memory),  cmocka_unit_test(test_lost_ranks),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
