/* Generated fabrics against what their kind promises (counts, degrees, labels, what is dead), generated jobs against
 * placement rules and the volumes of the collectives; then options, sizes and short memory.
 */
#include "check.h"
#include "service/formats/generate.h"
#include "service/formats/generate_jobs.h"

static int64_t left = -1;
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_array(n, size);
}

/* Options as "name=value name=value"; a flag stands alone. */
static struct generate options(int kind, const char *text)
{
    struct generate g;
    struct err e = { 0 };
    char copy[400], *save = NULL;
    generate_default(&g);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        if (equals)
            *equals++ = 0;
        const struct generate_row *row = generate_find(kind, word, &e);
        CHECK(row && generate_set(&g, row, equals, &e) == 0, "%s: %s", text, e.text);
    }
    return g;
}

static struct fabric *make(int kind, const char *text)
{
    struct generate g = options(kind, text);
    struct err e = { 0 };
    struct fabric *f = generate_fabric(&g, kind, &e);
    CHECK(f, "%s: %s", text, e.text);
    return f;
}

static struct problem *jobs(int kind, const char *fabric, const char *text)
{
    struct generate g = options(GENERATE_JOBS, text);
    struct err e = { 0 };
    struct problem *p = generate_jobs(&g, make(kind, fabric), &e);
    CHECK(p, "%s: %s", text, e.text);
    return p;
}

static const char *why_not(int kind, const char *fabric, const char *text)
{
    static struct err e;
    struct generate g = options(GENERATE_JOBS, text);
    struct problem *p = generate_jobs(&g, make(kind, fabric), &e);
    CHECK(!p && e.code == E_INPUT, "%s was accepted", text);
    return e.text;
}

static int32_t count_tier(const struct fabric *f, int32_t tier)
{
    int32_t n = 0;
    for (int32_t v = 0; v < f->nnode; v++)
        n += f->node_tier[v] == tier;
    return n;
}

/* Cables of node v to nodes of the tier, dead ones included, and their Gb/s together. */
static int32_t degree(const struct fabric *f, int32_t v, int32_t tier, double *gbps)
{
    int32_t n = 0;
    *gbps = 0;
    for (int32_t i = 0; i < f->nlink; i++) {
        int32_t u = f->link_from[i] == v ? f->link_to[i] : f->link_to[i] == v ? f->link_from[i] : -1;
        if (u >= 0 && f->node_tier[u] == tier) {
            n++;
            *gbps += f->link_gbps[i];
        }
    }
    return n;
}

static void check_degrees(const struct fabric *f, int32_t of, int32_t to, int32_t n, double gbps)
{
    for (int32_t v = 0; v < f->nnode; v++)
        if (f->node_tier[v] == of) {
            double sum;
            int32_t d = degree(f, v, to, &sum);
            CHECK(d == n && sum == gbps, "%s: %d cables of %g Gb/s to tier %d", f->node_name[v], d, sum, to);
        }
}

static void check_names(const struct fabric *f)
{
    for (int32_t u = 0; u < f->nnode; u++)
        for (int32_t v = 0; v < u; v++)
            CHECK(strcmp(f->node_name[u], f->node_name[v]) != 0, "%s twice", f->node_name[u]);
}

static void test_clos(void **state)
{
    (void)state;
    struct fabric *f = make(GENERATE_CLOS, "leaves=6 spines=3 nics=4 gbps=100 uplink-gbps=400 cables=2");
    CHECK(f->nnode == 6 + 3 + 24 && f->nlink == 24 + 6 * 3 * 2);
    check_degrees(f, 0, 1, 1, 100);
    check_degrees(f, 1, 0, 4, 400);
    check_degrees(f, 1, 2, 6, 2400);
    check_degrees(f, 2, 1, 12, 4800);
    check_degrees(f, 2, 0, 0, 0);
    check_names(f);
    CHECK(!strcmp(f->node_name[0], "leaf0") && !strcmp(f->node_name[6], "spine0") &&
          !strcmp(f->node_name[9], "h0/nic0"));
    CHECK(f->pod.count == 0 && f->site.count == 0 && f->host.count == 24);
    fabric_free(f);
}

/* Rail-optimised: NIC g of every host on leaf g of its segment. */
static void test_rails(void **state)
{
    (void)state;
    struct fabric *f = make(GENERATE_CLOS, "leaves=8 spines=2 nics=5 rails=4");
    int32_t seen[10] = { 0 };
    CHECK(f->host.count == 10);
    for (int32_t i = 0; i < f->nlink; i++) {
        int32_t v = f->link_from[i];
        if (f->node_kind[v] != NODE_NIC)
            continue;
        int32_t host = f->host.of[v], rail = f->node_rail[v];
        CHECK(f->link_to[i] == host / 5 * 4 + rail, "%s on leaf %d", f->node_name[v], f->link_to[i]);
        seen[host] |= 1 << rail;
    }
    for (int32_t h = 0; h < 10; h++)
        CHECK(seen[h] == 15);
    check_degrees(f, 1, 0, 5, 2000);
    fabric_free(f);
    struct generate g = options(GENERATE_CLOS, "leaves=6 rails=4");
    struct err e;
    CHECK(!generate_fabric(&g, GENERATE_CLOS, &e) && strstr(e.text, "rails: 6 leaves"), "%s", e.text);
}

static void test_k_ary_fat_tree(void **state)
{
    (void)state;
    for (int32_t k = 2; k <= 12; k += 2) {
        char text[32];
        snprintf(text, sizeof text, "k=%d gbps=100", k);
        struct fabric *f = make(GENERATE_FAT_TREE, text);
        CHECK(count_tier(f, 0) == k * k * k / 4 && count_tier(f, 1) == k * k / 2 && count_tier(f, 2) == k * k / 2);
        CHECK(count_tier(f, 3) == k * k / 4 && f->pod.count == k);
        check_degrees(f, 1, 0, k / 2, k * 50);
        check_degrees(f, 1, 2, k / 2, k * 50);
        check_degrees(f, 2, 3, k / 2, k * 50);
        check_degrees(f, 3, 2, k, k * 100);
        for (int32_t v = 0; v < f->nnode; v++)
            CHECK((f->pod.of[v] < 0) == (f->node_tier[v] == 3), "%s", f->node_name[v]);
        for (int32_t i = 0; i < f->nlink; i++) { /* inside a pod but for the cables to the cores */
            int32_t s = f->link_from[i], t = f->link_to[i];
            CHECK(f->node_tier[t] == 3 || f->pod.of[s] == f->pod.of[t]);
        }
        if (k <= 8)
            check_names(f);
        fabric_free(f);
    }
    struct generate g = options(GENERATE_FAT_TREE, "k=5");
    struct err e;
    CHECK(!generate_fabric(&g, GENERATE_FAT_TREE, &e) && strstr(e.text, "k: 5 is odd"));
}

/* Cores of one plane see one spine of each pod, always the same one. */
static void test_planes(void **state)
{
    (void)state;
    struct fabric *f =
        make(GENERATE_FAT_TREE, "pods=3 leaves=4 nics=2 planes=2 cores=3 cables=2 core-gbps=800 rails=2");
    CHECK(f->nnode == 3 * (4 + 2) + 6 + 24 && f->nlink == 24 + (3 * 4 * 2 + 3 * 2 * 3) * 2);
    check_degrees(f, 3, 2, 6, 4800);
    check_degrees(f, 2, 3, 6, 4800);
    for (int32_t i = 0; i < f->nlink; i++) {
        int32_t s = f->link_from[i], t = f->link_to[i];
        if (f->node_tier[t] != 3)
            continue;
        int spine = atoi(strrchr(f->node_name[s], '/') + 6), plane = atoi(f->node_name[t] + 5);
        CHECK(spine == plane, "%s - %s", f->node_name[s], f->node_name[t]);
    }
    fabric_free(f);
}

static void test_multi_dc(void **state)
{
    static const struct {
        const char *text;
        int32_t sites, joins;
    } row[] = {
        { "sites=2 leaves=2 spines=2 nics=2 wan-links=3 wan-gbps=100,50,25", 2, 1 },
        { "sites=4 leaves=2 spines=2 nics=2 wan-links=3 wan-gbps=100,50,25", 4, 4 },
        { "sites=4 leaves=2 spines=2 nics=2 wan-links=3 wan-gbps=100,50,25 join=mesh border=leaf", 4, 6 },
        { "sites=3 leaves=2 spines=2 nics=2 wan-links=3 wan-gbps=100,50,25 join=mesh border-switches=1", 3, 3 },
    };
    (void)state;
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        struct fabric *f = make(GENERATE_MULTI_DC, row[r].text);
        int32_t joins = 0, n = row[r].sites;
        double thin = 0;
        CHECK(f->nnode == n * 8 && f->nlink == n * 8 + 3 * row[r].joins, "%s: %d links", row[r].text, f->nlink);
        CHECK(f->site.count == n && f->pod.count == n);
        check_names(f);
        for (int32_t v = 0; v < f->nnode; v++)
            CHECK(!strncmp(f->node_name[v], f->site.name[f->site.of[v]], 3) && f->pod.of[v] == f->site.of[v]);
        for (int32_t i = 0; i < f->nlink; i++) {
            int32_t s = f->link_from[i], t = f->link_to[i];
            if (f->site.of[s] == f->site.of[t])
                continue;
            joins++;
            thin += f->link_gbps[i];
            CHECK(f->node_tier[s] == (strstr(row[r].text, "leaf ") || strstr(row[r].text, "border=leaf") ? 1 : 2));
        }
        CHECK(joins == 3 * row[r].joins && thin == 175 * row[r].joins, "%s: %d joins", row[r].text, joins);
        fabric_free(f);
    }
    struct generate g = options(GENERATE_MULTI_DC, "spines=2 border-switches=3");
    struct err e;
    CHECK(!generate_fabric(&g, GENERATE_MULTI_DC, &e) && strstr(e.text, "border-switches: 3 of 2 spines"), "%s",
          e.text);
}

static void test_what_is_dead(void **state)
{
    (void)state;
    uint64_t mark[3] = { 0 };
    for (int seed = 0; seed < 3; seed++) {
        char text[80];
        int32_t dead = 0, spines = 0;
        snprintf(text, sizeof text, "leaves=8 spines=8 nics=2 dead-spines=3 dead-cables=0.25 seed=%d", seed);
        struct fabric *f = make(GENERATE_CLOS, text), *again = make(GENERATE_CLOS, text);
        for (int32_t v = 0; v < f->nnode; v++) {
            CHECK(f->node_up[v] || f->node_tier[v] == 2);
            CHECK(f->node_up[v] == again->node_up[v]);
            spines += !f->node_up[v];
            mark[seed] = mix64(mark[seed] ^ f->node_up[v]);
        }
        for (int32_t i = 0; i < f->nlink; i++) {
            CHECK(f->link_up[i] || f->node_kind[f->link_from[i]] == NODE_SWITCH);
            CHECK(f->link_up[i] == again->link_up[i]);
            dead += !f->link_up[i];
        }
        CHECK(spines == 3 && dead == 16, "%d spines, %d cables", spines, dead);
        fabric_free(f);
        fabric_free(again);
    }
    CHECK(mark[0] != mark[1] && mark[1] != mark[2], "the seed does not matter");
    struct generate g = options(GENERATE_CLOS, "spines=2 dead-spines=3");
    struct err e;
    CHECK(!generate_fabric(&g, GENERATE_CLOS, &e) && strstr(e.text, "dead-spines: 3 of 2"), "%s", e.text);
}

static double sum_of(const struct problem *p, const int32_t *end, int32_t v)
{
    double sum = 0;
    for (int32_t f = 0; f < p->nflow; f++)
        sum += end[f] == v ? p->demand[f] : 0;
    return sum;
}

/* Volumes of the collectives, n = 8 NICs, S = 8e9, seen from one endpoint. */
static void test_volumes(void **state)
{
    static const struct {
        const char *job;
        int32_t nflow;
        double sent;
    } row[] = {
        { "job=ring:8", 8, 14e9 },
        { "job=all_gather:8", 8, 7e9 },
        { "job=reduce_scatter:8", 8, 7e9 },
        { "job=all_to_all:8", 56, 7e9 },
        { "job=pipeline:8", 14, 16e9 },
        { "job=hierarchical:8", 16, 7e9 },
        { "job=hierarchical:8:1:4e9", 16, 3.5e9 },
    };
    (void)state;
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        char text[80];
        snprintf(text, sizeof text, "bytes=8e9 %s", row[r].job);
        struct problem *p = jobs(GENERATE_CLOS, "leaves=2 spines=2 nics=8 rails=2", text);
        CHECK(p->njob == 1 && p->nflow == row[r].nflow, "%s: %d flows", text, p->nflow);
        int32_t inner = p->src[p->nflow / 2]; /* not an end of a pipeline */
        CHECK(sum_of(p, p->src, inner) == row[r].sent, "%s: sends %g", text, sum_of(p, p->src, inner));
        CHECK(sum_of(p, p->dst, inner) == row[r].sent, "%s: gets %g", text, sum_of(p, p->dst, inner));
        for (int32_t f = 0; f < p->nflow && strstr(row[r].job, "hier"); f++)
            CHECK(p->fabric->node_rail[p->src[f]] == p->fabric->node_rail[p->dst[f]]);
        problem_free(p);
    }
    struct problem *p =
        jobs(GENERATE_CLOS, "leaves=2", "job=ring:1 job=all_to_all:1 job=pipeline:1 job=hierarchical:1");
    CHECK(p->njob == 4 && p->nflow == 0, "one rank sends nothing");
    problem_free(p);
    p = jobs(GENERATE_CLOS, "leaves=2", "job=ring:2:3");
    CHECK(p->njob == 3 && p->nflow == 6 && !strcmp(p->job_name[2], "ring2"));
    problem_free(p);
}

/* No NIC in two jobs, ranks in fabric order, no job over two sites unless told. */
static void test_placement(void **state)
{
    static const char *const row[] = {
        "job=ring:8:6",
        "job=ring:8:6 place=fragmented",
        "job=ring:8:6 place=fragmented block=2 seed=5",
        "job=ring:8:6:across",
        "job=ring:8:6:across place=fragmented",
        "job=ring:5:4:across job=ring:3:2:across job=all_gather:7:across place=fragmented",
        "job=ring:8:2 job=ring:6:2:1e9:across job=ring:4:2",
    };
    (void)state;
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        struct problem *p = jobs(GENERATE_MULTI_DC, "sites=2 leaves=4 spines=2 nics=8 rails=2", row[r]);
        const struct fabric *f = p->fabric;
        int32_t owner[200], both = 0;
        memset(owner, -1, sizeof owner);
        for (int32_t j = 0; j < p->njob; j++) {
            int32_t sites = 0;
            for (int32_t i = p->job_first[j]; i < p->job_first[j + 1]; i++) {
                int32_t v = p->src[i];
                CHECK(owner[v] < 0, "%s: %s is in jobs %d and %d", row[r], f->node_name[v], owner[v], j);
                owner[v] = j;
                sites |= 1 << f->site.of[v];
                CHECK(i + 1 == p->job_first[j + 1] || f->site.of[p->src[i + 1]] >= f->site.of[v]);
                CHECK(i + 1 == p->job_first[j + 1] ? p->dst[i] == p->src[p->job_first[j]] : p->dst[i] == p->src[i + 1]);
            }
            both += sites == 3;
        }
        int32_t want = strstr(row[r], "1e9:across") ? 2 : strstr(row[r], "across") ? p->njob : 0;
        CHECK(both == want, "%s: %d jobs over both sites", row[r], both);
        problem_free(p);
    }
}

/* ring:12/4 is three rings of every third rank. */
static void test_groups(void **state)
{
    (void)state;
    struct problem *p = jobs(GENERATE_CLOS, "leaves=3 spines=1 nics=4", "job=ring:12/4 bytes=1000");
    CHECK(p->njob == 1 && p->nflow == 12);
    for (int32_t i = 0; i < 12; i++) {
        int32_t ring = i / 4, at = i % 4, nic = p->fabric->nnode - 12;
        CHECK(p->src[i] == nic + 3 * at + ring && p->dst[i] == nic + 3 * ((at + 1) % 4) + ring, "flow %d", i);
        CHECK(p->demand[i] > 1499.9 && p->demand[i] < 1500.1, "2 (4 - 1) / 4 of the bytes, not %g", p->demand[i]);
    }
    problem_free(p);
    p = jobs(GENERATE_CLOS, "leaves=3 spines=1 nics=4", "job=all_to_all:8/2:1");
    CHECK(p->nflow == 8);
    problem_free(p);
}

/* Packed jobs stay under few leaves, fragmented ones see many. */
static void test_fragments(void **state)
{
    (void)state;
    int32_t leaves[2] = { 0, 0 };
    for (int fragmented = 0; fragmented < 2; fragmented++) {
        struct problem *p = jobs(GENERATE_CLOS, "leaves=16 spines=4 nics=16",
                                 fragmented ? "job=ring:16:16 place=fragmented" : "job=ring:16:16");
        for (int32_t j = 0; j < 16; j++) {
            int32_t seen = 0;
            for (int32_t i = p->job_first[j]; i < p->job_first[j + 1]; i++)
                seen |= 1 << p->fabric->head[p->fabric->out[p->fabric->first[p->src[i]]]];
            for (; seen; seen &= seen - 1)
                leaves[fragmented]++;
        }
        problem_free(p);
    }
    CHECK(leaves[0] == 16 && leaves[1] > 100, "%d and %d leaves", leaves[0], leaves[1]);
}

/* A fabric as an import leaves it: 5 hosts with rails {0, 1, 4, 5}, one without rail 4, one management host with rails
 * {0, 1}, two NICs without a host or rail. */
static struct fabric *uneven_hosts(void)
{
    struct err e = { 0 };
    static const int32_t rail[] = { 0, 1, 4, 5 };
    struct fabric *f = fabric_new(1 + 20 + 3 + 2 + 2, 27, &e);
    int32_t v = 1;
    f->node_name[0] = text_copy("sw");
    for (int32_t h = 0; h < 8; h++)
        for (int32_t r = 0; r < (h < 7 ? 4 : 2); r++) {
            char name[32], host[16];
            if ((h == 5 && r == 2) || (h == 6 && r > 1))
                continue;
            snprintf(host, sizeof host, "host%d", h);
            snprintf(name, sizeof name, "%s/mlx5_%d", host, rail[r]);
            f->node_name[v] = text_copy(name);
            f->node_kind[v] = NODE_NIC;
            f->link_from[v - 1] = v;
            f->link_gbps[v - 1] = 400;
            if (h < 7) {
                labels_set(&f->host, v, host, &e);
                f->node_rail[v] = rail[3 - r]; /* cabled the other way round */
                if (h == 5)
                    f->node_rail[v] = rail[r];
                if (h == 6)
                    f->node_rail[v] = r;
            }
            v++;
        }
    CHECK(v == f->nnode && fabric_finish(f, &e) == 0, "%s", e.text);
    return f;
}

static void test_complete_hosts(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct generate g = options(GENERATE_JOBS, "job=hierarchical:all");
    struct problem *p = generate_jobs(&g, uneven_hosts(), &e);
    CHECK(p && p->nflow == 20, "%d flows: %s", p ? p->nflow : -1, e.text);
    for (int32_t f = 0; f < 20; f++) {
        static const int32_t rail[] = { 0, 1, 4, 5 };
        int32_t s = p->src[f], t = p->dst[f];
        CHECK(p->fabric->node_rail[s] == rail[f / 5] && p->fabric->node_rail[t] == rail[f / 5]);
        CHECK(p->fabric->host.of[s] == f % 5 && p->fabric->host.of[t] == (f + 1) % 5, "flow %d", f);
    }
    problem_free(p);
    g = options(GENERATE_JOBS, "job=hierarchical:6");
    CHECK(!generate_jobs(&g, uneven_hosts(), &e));
    CHECK(!strcmp(e.text, "job hierarchical0: needs 6 hosts with all rails, the fabric has 5 left"), "%s", e.text);
    g = options(GENERATE_JOBS, "job=ring:2 job=hierarchical:all job=ring:all"); /* the first breaks into host 0 */
    p = generate_jobs(&g, uneven_hosts(), &e);
    CHECK(p && p->job_first[2] - p->job_first[1] == 16 && p->nflow == 2 + 16 + 9, "%d flows", p ? p->nflow : -1);
    problem_free(p);
}

static void test_refused_jobs(void **state)
{
    (void)state;
    const char *text = why_not(GENERATE_CLOS, "leaves=2 nics=4", "job=ring:4 job=ring:5");
    CHECK(!strcmp(text, "job ring1: needs 5 NICs, the fabric has 4 left"), "%s", text);
    text = why_not(GENERATE_MULTI_DC, "leaves=2 nics=4", "job=ring:9");
    CHECK(!strcmp(text, "job ring0: needs 9 NICs, no site (a job stays in one unless it says :across) has 8 left"),
          "%s", text);
    text = why_not(GENERATE_CLOS, "leaves=2 nics=4", "job=ring:all:2");
    CHECK(!strcmp(text, "job ring1: needs 1 NICs, the fabric has 0 left"), "%s", text);
    text = why_not(GENERATE_CLOS, "leaves=2", "seed=2");
    CHECK(strstr(text, "give --job"), "%s", text);
    text = why_not(GENERATE_CLOS, "leaves=1 spines=1 nics=50000", "job=all_to_all:all");
    CHECK(strstr(text, "all_to_all over 50000 NICs makes more than"), "%s", text);
}

static void test_options(void **state)
{
    static const struct {
        const char *name, *value, *says;
    } row[] = {
        { "leaves", "0", "leaves: 0 is not in [1, " },
        { "leaves", "-3", "leaves: -3" },
        { "leaves", "2.5", "leaves: 2.5 is not a whole number" },
        { "leaves", "", "leaves: \"\" is no number" },
        { "leaves", "8x", "leaves: \"8x\" is no number" },
        { "leaves", "nan", "leaves: nan" },
        { "leaves", "1e300", "leaves: 1e300" },
        { "gbps", "0", "gbps: 0 is not in" },
        { "gbps", "inf", "gbps: inf" },
        { "dead-cables", "1.01", "dead-cables: 1.01 is not in [0, 1]" },
        { "join", "star", "join: \"star\" is neither ring nor mesh" },
        { "wan-gbps", "100,,3", "wan-gbps: \",3\" is no number" },
        { "wan-gbps", "100,", "wan-gbps: \"\" is no number" },
        { "wan-gbps", "100,-1", "wan-gbps: -1" },
        { "job", "ring", "job: \"ring\" is not KIND:SIZE" },
        { "job", "star:4", "job: \"star:4\" is not KIND:SIZE" },
        { "job", "ring:", "job size: \"\" is no number" },
        { "job", "ring:0", "job size: 0" },
        { "job", "ring:4:0", "job count: 0" },
        { "job", "ring:4:1:x", "job bytes: \"x\" is no number" },
        { "job", "ring:4:1:2:3", "job bytes: \"2:3\" is no number" },
        { "job", "ring:alle", "job size: \"alle\" is no number" },
        { "seed", "-1", "seed: -1" },
    };
    (void)state;
    struct err e;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct generate g, before;
        const struct generate_row *r = NULL;
        generate_default(&g);
        before = g;
        for (int kind = GENERATE_CLOS; kind <= GENERATE_JOBS && !r; kind *= 2)
            r = generate_find(kind, row[i].name, &e);
        CHECK(r && generate_set(&g, r, row[i].value, &e) == -1, "%s=%s", row[i].name, row[i].value);
        CHECK(e.code == E_INPUT && strstr(e.text, row[i].says), "%s=%s: %s", row[i].name, row[i].value, e.text);
        CHECK(!memcmp(&g, &before, sizeof g), "%s=%s left a trace", row[i].name, row[i].value);
    }
    CHECK(!generate_find(GENERATE_CLOS, "pods", &e) && strstr(e.text, "\"pods\" does not belong"), "%s", e.text);
    CHECK(!generate_find(GENERATE_CLOS, "blades", &e) && strstr(e.text, "unknown option \"blades\""), "%s", e.text);
    CHECK(!generate_kind("torus", &e) && strstr(e.text, "\"torus\""));
    struct generate huge = options(GENERATE_CLOS, "leaves=1000000 spines=1000000");
    CHECK(!generate_fabric(&huge, GENERATE_CLOS, &e) && strstr(e.text, "larger than 2^30"), "%s", e.text);
    struct generate full = options(GENERATE_JOBS, "");
    for (int i = 0; i < GENERATE_LIST; i++)
        CHECK(generate_set(&full, generate_find(GENERATE_JOBS, "job", &e), "ring:all", &e) == 0);
    CHECK(generate_set(&full, generate_find(GENERATE_JOBS, "job", &e), "ring:2", &e) == -1);
}

/* 131,072 NICs with jobs on all of them. */
static void test_large(void **state)
{
    (void)state;
    struct problem *p = jobs(GENERATE_FAT_TREE, "pods=64 leaves=64 nics=32 planes=8 cores=16 rails=8",
                             "job=hierarchical:32:256 job=ring:all place=fragmented block=4");
    CHECK(p->nflow == 131072 && p->njob == 257, "%d flows", p->nflow);
    problem_free(p);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct generate g = options(GENERATE_MULTI_DC, "leaves=2 spines=1 nics=2 border-switches=1"),
                    j = options(GENERATE_JOBS, "job=ring:3 job=all_to_all:2");
    for (int64_t k = 0, done = 0; !done; k++) {
        struct err e = { 0 };
        left = k;
        struct fabric *f = generate_fabric(&g, GENERATE_MULTI_DC, &e);
        CHECK(f || e.code == E_MEMORY, "array %d: %s", (int)k, e.text);
        done = f && left >= 0;
        CHECK(!f || done, "array %d was not missed", (int)k);
        left = -1;
        fabric_free(f);
    }
    for (int64_t k = 0, done = 0; !done; k++) {
        struct err e = { 0 };
        struct fabric *f = generate_fabric(&g, GENERATE_MULTI_DC, &e);
        left = k;
        struct problem *p = generate_jobs(&j, f, &e);
        CHECK(p || e.code == E_MEMORY, "array %d: %s", (int)k, e.text);
        done = p && left >= 0;
        CHECK(!p || done, "array %d was not missed", (int)k);
        left = -1;
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clos),      cmocka_unit_test(test_rails),          cmocka_unit_test(test_k_ary_fat_tree),
        cmocka_unit_test(test_planes),    cmocka_unit_test(test_multi_dc),       cmocka_unit_test(test_what_is_dead),
        cmocka_unit_test(test_volumes),   cmocka_unit_test(test_placement),      cmocka_unit_test(test_groups),
        cmocka_unit_test(test_fragments), cmocka_unit_test(test_complete_hosts), cmocka_unit_test(test_refused_jobs),
        cmocka_unit_test(test_options),   cmocka_unit_test(test_large),          cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
