/* METIS behind its fence: each trap once, random graphs against invariants. Bounds on cut and balance, never labels:
 * other versions of METIS cut elsewhere.
 */
#include "check.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "partition/part_metis.h"

static int64_t left = -1; /* array() calls until one fails */
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_array(n, size);
}

struct graph {
    int32_t n;
    int64_t m, *first, *w, *vw;
    int32_t *to, *part;
    int32_t (*pair)[2]; /* edges as they were added */
    int64_t npair, *pw;
};

static struct graph graph_new(int32_t n, int64_t room)
{
    struct graph g = { .n = n };
    g.first = calloc((size_t)n + 1, sizeof *g.first);
    g.to = calloc(2 * (size_t)room + 1, sizeof *g.to);
    g.w = calloc(2 * (size_t)room + 1, sizeof *g.w);
    g.vw = calloc((size_t)n + 1, sizeof *g.vw);
    g.part = calloc((size_t)n + 1, sizeof *g.part);
    g.pair = calloc((size_t)room + 1, sizeof *g.pair);
    g.pw = calloc((size_t)room + 1, sizeof *g.pw);
    for (int32_t v = 0; v < n; v++)
        g.vw[v] = 1;
    return g;
}

static void graph_free(struct graph *g)
{
    void *owned[] = { g->first, g->to, g->w, g->vw, g->part, g->pair, g->pw };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

static void edge(struct graph *g, int32_t u, int32_t v, int64_t w)
{
    g->pair[g->npair][0] = u;
    g->pair[g->npair][1] = v;
    g->pw[g->npair++] = w;
}

static void close_graph(struct graph *g)
{
    for (int64_t i = 0; i < g->npair; i++)
        for (int side = 0; side < 2; side++)
            g->first[g->pair[i][side] + 1]++;
    for (int32_t v = 0; v < g->n; v++)
        g->first[v + 1] += g->first[v];
    int64_t *at = calloc((size_t)g->n + 1, sizeof *at);
    memcpy(at, g->first, ((size_t)g->n + 1) * sizeof *at);
    for (int64_t i = 0; i < g->npair; i++)
        for (int side = 0; side < 2; side++) {
            int64_t k = at[g->pair[i][side]]++;
            g->to[k] = g->pair[i][1 - side];
            g->w[k] = g->pw[i];
        }
    g->m = g->first[g->n];
    free(at);
}

static struct graph grid(int32_t width, int32_t height)
{
    struct graph g = graph_new(width * height, 2 * (int64_t)width * height);
    for (int32_t v = 0; v < g.n; v++) {
        if (v % width + 1 < width)
            edge(&g, v, v + 1, 1);
        if (v + width < g.n)
            edge(&g, v, v + width, 1);
    }
    close_graph(&g);
    return g;
}

static int cut(struct graph *g, int64_t seed, int32_t *k, struct err *e)
{
    for (int32_t v = 0; v < g->n; v++)
        g->part[v] = -7;
    return part_metis(g->n, g->first, g->to, g->w, g->vw, seed, k, g->part, e);
}

/* Every vertex in range, no part empty; returns the weight of the cut, *heavy the heaviest part. */
static int64_t judge(const struct graph *g, int32_t k, int64_t *heavy)
{
    int64_t *load = calloc((size_t)k + 1, sizeof *load), total = 0;
    for (int32_t v = 0; v < g->n; v++) {
        CHECK(g->part[v] >= 0 && g->part[v] < k, "vertex %d in part %d of %d", v, g->part[v], k);
        load[g->part[v]] += g->vw[v];
    }
    *heavy = 0;
    for (int32_t p = 0; p < k; p++) {
        CHECK(load[p] > 0, "part %d of %d is empty", p, k);
        *heavy = load[p] > *heavy ? load[p] : *heavy;
    }
    for (int64_t i = 0; i < g->npair; i++)
        total += g->part[g->pair[i][0]] != g->part[g->pair[i][1]] ? g->pw[i] : 0;
    free(load);
    return total;
}

static void test_grid_is_cut_well(void **state)
{
    static const int32_t parts[] = { 2, 4, 9, 16, 64 };
    (void)state;
    struct graph g = grid(48, 48);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct err e = { 0 };
        int32_t k = parts[i];
        int64_t heavy;
        CHECK(cut(&g, 1, &k, &e) == 0 && k == parts[i], "%s", e.text);
        int64_t weight = judge(&g, k, &heavy);
        double side = 48 * 48 * 4 / 2.0 / 48; /* squares of side 48 / sqrt(k) cut 2 * 48 * (sqrt(k) - 1) edges */
        double best = side;
        while (best * best > k)
            best -= 1e-3;
        CHECK((double)weight <= 1.5 * 96 * (best - 1) + 16, "k %d: cut %d", k, (int)weight);
        CHECK((double)heavy <= 1.1 * 48 * 48 / k + 1, "k %d: heaviest %d", k, (int)heavy);
    }
    graph_free(&g);
}

static void test_few_vertices_and_one_part(void **state)
{
    (void)state;
    for (int32_t n = 0; n <= 40; n++)
        for (int32_t asked = 1; asked <= 50; asked++) {
            struct graph g = grid(n > 0 ? n : 1, 1);
            struct err e = { 0 };
            int32_t k = asked;
            int64_t heavy;
            g.n = n;
            CHECK(cut(&g, 3, &k, &e) == 0, "path of %d, %d parts: %s", n, asked, e.text);
            int32_t most = n == 0 ? 0 : n / 8 > 1 ? n / 8 : 1;
            CHECK(k == (asked < most ? asked : most), "path of %d, %d parts: %d", n, asked, k);
            judge(&g, k, &heavy);
            graph_free(&g);
        }
}

static void test_star_and_long_path(void **state)
{
    (void)state;
    struct err e = { 0 };
    for (int32_t asked = 2; asked <= 40; asked += 7) {
        struct graph star = graph_new(400, 400), path = grid(20000, 1);
        int64_t heavy;
        for (int32_t v = 1; v < 400; v++)
            edge(&star, 0, v, 1);
        close_graph(&star);
        int32_t k = asked;
        CHECK(cut(&star, 1, &k, &e) == 0 && k == asked, "%s", e.text);
        judge(&star, k, &heavy);
        CHECK(heavy <= 2 * 400 / asked + 8, "star in %d parts: %d in one", asked, (int)heavy);
        CHECK(cut(&path, 1, &k, &e) == 0 && k == asked, "%s", e.text);
        CHECK(judge(&path, k, &heavy) <= 4 * asked, "path in %d parts", asked);
        graph_free(&star);
        graph_free(&path);
    }
}

/* Planted: components of their own are the best cut, of weight 0. */
static void test_components_stay_whole(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct graph g = graph_new(6 * 20 + 30, 6 * 20 * 19);
    for (int32_t c = 0; c < 6; c++)
        for (int32_t i = 0; i < 20; i++)
            for (int32_t j = 0; j < i; j++)
                edge(&g, i * 6 + c, j * 6 + c, 5); /* interleaved numbers */
    close_graph(&g);
    int32_t k = 6;
    int64_t heavy;
    CHECK(cut(&g, 1, &k, &e) == 0 && k == 6, "%s", e.text);
    CHECK(judge(&g, k, &heavy) == 0 && heavy <= 26, "six cliques and thirty loners: %d in one part", (int)heavy);
    k = 3;
    CHECK(cut(&g, 1, &k, &e) == 0 && k == 3);
    CHECK(judge(&g, k, &heavy) == 0 && heavy <= 60, "in three: %d", (int)heavy);
    graph_free(&g);

    struct graph dust = graph_new(100, 1); /* no edge at all */
    close_graph(&dust);
    k = 12;
    CHECK(cut(&dust, 1, &k, &e) == 0 && k == 12 && judge(&dust, k, &heavy) == 0 && heavy == 9);
    graph_free(&dust);
}

static void test_bad_graphs_are_named(void **state)
{
    (void)state;
    struct err e;
    int32_t part[4], k = 2;
    int64_t first[] = { 0, 1, 3, 4 }, w[] = { 1, 1, 1, 1 }, vw[] = { 1, 1, 1 };
    int32_t to[] = { 1, 0, 2, 1 };
    struct {
        int32_t *at32, bad32;
        int64_t *at64, bad64;
        const char *says;
    } row[] = {
        { &to[0], 3, NULL, 0, "vertex 0: neighbour 3 is not in [0, 3)" },
        { &to[0], -1, NULL, 0, "vertex 0: neighbour -1" },
        { &to[0], 0, NULL, 0, "vertex 0 is its own neighbour" },
        { &to[0], 2, NULL, 0, "asymmetric" },
        { &to[2], 0, NULL, 0, "asymmetric at vertex 1" },
        { NULL, 0, &w[2], 2, "edge 1-2 weighs 2, its reverse 1" },
        { NULL, 0, &w[2], 0, "edge 1-2: weight 0" },
        { NULL, 0, &w[2], -5, "edge 1-2: weight -5" },
        { NULL, 0, &w[2], INT64_MAX, "edge 1-2: weight" },
        { NULL, 0, &vw[1], 0, "vertex 1: weight 0" },
        { NULL, 0, &first[0], 1, "neighbours begin at 1" },
        { NULL, 0, &first[1], 5, "vertex 0: neighbours [0, 5) of 4" },
        { NULL, 0, &first[2], 0, "vertex 1: neighbours [1, 0) of 4" },
        { NULL, 0, &first[3], (int64_t)1 << 31, "2147483648 neighbours are more than" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int32_t old32 = row[i].at32 ? *row[i].at32 : 0;
        int64_t old64 = row[i].at64 ? *row[i].at64 : 0;
        if (row[i].at32)
            *row[i].at32 = row[i].bad32;
        else
            *row[i].at64 = row[i].bad64;
        CHECK(part_metis(3, first, to, w, vw, 1, &k, part, &e) == -1 && e.code == E_INPUT, "row %d", (int)i);
        CHECK(strstr(e.text, row[i].says), "row %d says: %s", (int)i, e.text);
        if (row[i].at32)
            *row[i].at32 = old32;
        else
            *row[i].at64 = old64;
    }
    CHECK(part_metis(3, first, to, w, vw, 1, &k, part, &e) == 0 && k == 1);
    int64_t twice_first[] = { 0, 2, 4 };
    int32_t twice[] = { 1, 1, 0, 0 };
    CHECK(part_metis(2, twice_first, twice, w, vw, 1, &k, part, &e) == -1);
    CHECK(strstr(e.text, "vertex 0 lists neighbour 1 twice"), "%s", e.text);
    k = 0;
    CHECK(part_metis(3, first, to, w, vw, 1, &k, part, &e) == -1 && strstr(e.text, "0 parts"));
}

/* Random graphs of several components, weights over 12 decades. */
static void test_random_graphs(void **state)
{
    (void)state;
    struct rng rng = { 11 };
    for (int round = 0; round < 150; round++) {
        int32_t n = 1 + rng_below(&rng, 300), ncomp = 1 + rng_below(&rng, rng_below(&rng, 3) == 0 ? n : 4);
        int32_t asked = 1 + rng_below(&rng, 60), decades = rng_below(&rng, 13);
        struct graph g = graph_new(n, 4 * (int64_t)n);
        int64_t total = 0, largest = 0, heavy;
        for (int32_t v = 0; v < n; v++) {
            for (int64_t x = 1, d = rng_below(&rng, decades + 1); d >= 0; d--, x *= 10)
                g.vw[v] = x;
            total += g.vw[v];
            largest = g.vw[v] > largest ? g.vw[v] : largest;
            for (int32_t t = 0, last = -1; t < 3 && v >= ncomp; t++) { /* to a lower vertex of the same component */
                int32_t u = v % ncomp + ncomp * rng_below(&rng, v / ncomp);
                int64_t w = 1;
                for (int32_t d = rng_below(&rng, decades + 1); d > 0; d--)
                    w *= 10;
                if (u > last)
                    edge(&g, v, u, w);
                last = u > last ? u : last;
            }
        }
        close_graph(&g);
        struct err e = { 0 };
        int32_t k = asked, again = asked;
        CHECK(cut(&g, round, &k, &e) == 0, "round %d: %s", round, e.text);
        CHECK(k >= 1 && k <= asked, "round %d: %d parts of %d", round, k, asked);
        judge(&g, k, &heavy);
        CHECK((double)heavy <= 3.0 * (double)total / k + 8.0 * (double)largest, "round %d: %d vertices, %d parts",
              round, n, k);
        int32_t *copy = malloc((size_t)n * sizeof *copy);
        memcpy(copy, g.part, (size_t)n * sizeof *copy);
        CHECK(cut(&g, round, &again, &e) == 0 && again == k && !memcmp(copy, g.part, (size_t)n * sizeof *copy),
              "round %d: another cut for the same seed", round);
        free(copy);
        graph_free(&g);
    }
}

/* How many came, and how many of them had been held back: those come from the process itself. */
static volatile sig_atomic_t term, held;
static void on_term(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    term++;
    held += info->si_code == SI_TKILL;
}

enum { CHILD_HELD, CHILD_REFUSED, CHILD_LOST, CHILD_HANDLER, CHILD_MISSED };

/* The child of the next test: says that it is ready, cuts a large grid, and reports in its exit status what it saw. */
static int cut_under_fire(struct graph *g, int ready)
{
    struct sigaction mine = { .sa_sigaction = on_term, .sa_flags = SA_SIGINFO }, now;
    struct err e = { 0 };
    int32_t k = 16;
    int64_t heavy;
    sigaction(SIGTERM, &mine, NULL);
    if (write(ready, "r", 1) != 1 || cut(g, 1, &k, &e) < 0 || k != 16)
        return CHILD_REFUSED;
    int inside = held;
    for (int i = 0; term == 0 && i < 1000; i++)
        usleep(1000); /* the signal was for later */
    sigaction(SIGTERM, NULL, &now);
    judge(g, k, &heavy);
    if (now.sa_sigaction != on_term)
        return CHILD_HANDLER;
    return term != 1 ? CHILD_LOST : inside ? CHILD_HELD : CHILD_MISSED;
}

/* SIGTERM at parts of the time that the cut takes: whenever it comes, its handler sees it once and the cut is whole; at
 * least one must have hit METIS itself. */
static void test_sigterm_is_delivered(void **state)
{
    (void)state;
    static const double part[] = { 0.5, 0.7, 0.6, 0.4, 0.8, 0.3, 0.9, 0.6, 0.5, 0.7 };
    struct graph g = grid(200, 200);
    struct err e = { 0 };
    struct timespec before, after;
    int32_t k = 16;
    int hit = 0;
    clock_gettime(CLOCK_MONOTONIC, &before);
    CHECK(cut(&g, 1, &k, &e) == 0, "%s", e.text);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double whole_us = 1e6 * (double)(after.tv_sec - before.tv_sec) + 1e-3 * (double)(after.tv_nsec - before.tv_nsec);
    for (size_t i = 0; hit < 2 && i < sizeof part / sizeof *part; i++) {
        int wait_us = (int)(part[i] * whole_us);
        int ready[2], status = -1;
        char byte;
        CHECK(pipe(ready) == 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(cut_under_fire(&g, ready[1]));
        CHECK(child > 0 && read(ready[0], &byte, 1) == 1);
        usleep((useconds_t)wait_us);
        kill(child, SIGTERM);
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status), "status %x", (unsigned)status);
        int said = WEXITSTATUS(status);
        CHECK(said == CHILD_HELD || said == CHILD_MISSED, "after %d us the child says %d", wait_us, said);
        hit += said == CHILD_HELD;
        close(ready[0]);
        close(ready[1]);
    }
    CHECK(hit > 0, "no signal came while METIS ran");
    graph_free(&g);
}

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SPACE_IS_OURS 0
#elif defined(__has_feature)
#define ADDRESS_SPACE_IS_OURS !__has_feature(address_sanitizer)
#else
#define ADDRESS_SPACE_IS_OURS 1
#endif

static int cut_in_little_memory(struct graph *g, rlim_t extra)
{
    long pages = 0;
    malloc_trim(0);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        return 3;
    fclose(f);
    struct rlimit limit = { (rlim_t)pages * 4096 + extra, RLIM_INFINITY };
    struct err e = { 0 };
    int32_t k = 16;
    setrlimit(RLIMIT_AS, &limit);
    return cut(g, 1, &k, &e) == 0 ? 0 : e.code == E_MEMORY ? 1 : 2;
}

/* METIS's own memory: whatever it has less, the answer is the cut or a refusal. */
static void test_metis_short_of_memory(void **state)
{
    (void)state;
    if (!ADDRESS_SPACE_IS_OURS)
        skip();
    struct graph g = grid(400, 400);
    int refused = 0, served = 0;
    for (rlim_t mb = 0; mb < 64; mb += 1 + mb / 4) {
        int status = -1;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            close(STDERR_FILENO); /* METIS complains there */
            _exit(cut_in_little_memory(&g, mb << 20));
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status), "%d MB: status %x", (int)mb,
              (unsigned)status);
        CHECK(WEXITSTATUS(status) < 2, "%d MB: the child says %d", (int)mb, WEXITSTATUS(status));
        refused += WEXITSTATUS(status) == 1;
        served += WEXITSTATUS(status) == 0;
    }
    CHECK(refused > 3 && served > 0, "%d refused, %d served", refused, served);
    graph_free(&g);
}

/* Even where METIS would write, descriptor 1 sees nothing, and it is the old one afterwards. */
static void test_nothing_on_stdout(void **state)
{
    (void)state;
    char name[] = "/tmp/heddle-stdout-XXXXXX", text[64] = "";
    int file = mkstemp(name), old = dup(STDOUT_FILENO);
    struct err e = { 0 };
    int32_t k = 12;
    struct graph g = grid(100, 1); /* one vertex outweighs the rest: bisection runs out of vertices and says so */
    g.vw[50] = (int64_t)1 << 40;
    CHECK(file >= 0 && old >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    int rc = cut(&g, 1, &k, &e);
    printf("still here\n");
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    CHECK(rc == 0, "%s", e.text);
    lseek(file, 0, SEEK_SET);
    CHECK(read(file, text, sizeof text - 1) == 11 && !strcmp(text, "still here\n"), "stdout: %s", text);
    close(file);
    close(old);
    unlink(name);
    graph_free(&g);
}

static void *cut_in_thread(void *argument)
{
    struct graph *g = argument;
    for (int i = 0; i < 20; i++) {
        int32_t k = 4;
        struct err e = { 0 };
        if (cut(g, i, &k, &e) < 0 || k != 4)
            return "refused";
    }
    return NULL;
}

static void test_calls_take_turns(void **state)
{
    (void)state;
    struct graph g[4], alone = grid(20, 20);
    pthread_t thread[4];
    CHECK(!cut_in_thread(&alone));
    for (int i = 0; i < 4; i++) {
        g[i] = grid(20, 20);
        pthread_create(&thread[i], NULL, cut_in_thread, &g[i]);
    }
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(thread[i], &bad);
        CHECK(!bad && !memcmp(g[i].part, alone.part, 400 * sizeof *alone.part), "thread %d", i);
        graph_free(&g[i]);
    }
    graph_free(&alone);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct graph g = grid(20, 4);
    for (int64_t n = 0, done = 0; !done; n++) {
        struct err e = { 0 };
        int32_t k = 4;
        left = n;
        int rc = cut(&g, 1, &k, &e);
        CHECK(rc == 0 || e.code == E_MEMORY, "array %d: %s", (int)n, e.text);
        done = rc == 0 && left >= 0;
        CHECK(rc < 0 || done, "array %d was not missed", (int)n);
        left = -1;
    }
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_is_cut_well),     cmocka_unit_test(test_few_vertices_and_one_part),
        cmocka_unit_test(test_star_and_long_path),   cmocka_unit_test(test_components_stay_whole),
        cmocka_unit_test(test_bad_graphs_are_named), cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_sigterm_is_delivered), cmocka_unit_test(test_metis_short_of_memory),
        cmocka_unit_test(test_nothing_on_stdout),    cmocka_unit_test(test_calls_take_turns),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
