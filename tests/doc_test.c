#include "doc_text.h"
#include "service/wire/file.h"
#include "short.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static void refuse(const char *text, const char *says)
{
    struct err e = { 0 };
    struct problem *p = NULL;
    struct arena *a = arena_new(0, &e);
    CHECK(doc_problem(parse(text, a), NULL, &p, &e) == -1 && e.code == E_INPUT, "accepted: %s", text);
    CHECK(strstr(e.text, says), "%s\n  said        %s\n  should say  %s", text, e.text, says);
    CHECK(!strpbrk(e.text, "\n\r\t"), "%s", e.text);
    arena_free(a);
}

static void test_a_rich_problem(void **state)
{
    (void)state;
    struct problem *p = accept(
        "{'heddle': 1, " FABRIC
        ", 'jobs': [{'name': 'x', 'weight': 2, 'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1000,"
        " 'paths': [[0, 2]]}, {'src': 0, 'dst': 1, 'bytes': 1.5e9}], 'collectives': [{'op': 'all_reduce', 'bytes': 8, "
        "'ranks': ['a', 'b']}]}, {}, {'name': 'y', 'flows': {'src': ['b', 0], 'dst': [0, 'b'], 'bytes': [1, 2],"
        " 'paths': [null, []]}}], 'options': {'gap': 0.25, 'objective': 'max_utilization', 'paths': 'disjoint:3', "
        "'pods': 7, 'time_limit': 1}}");
    const struct fabric *f = p->fabric;
    CHECK(f->nnode == 4 && f->nlink == 3 && !strcmp(f->name, "f") && !strcmp(f->node_name[1], "b"));
    CHECK(f->node_kind[0] == NODE_NIC && f->node_kind[2] == NODE_SWITCH && f->node_tier[2] == 1 &&
          f->node_tier[0] == -1);
    CHECK(f->node_rail[1] == 0 && f->node_rail[2] == -1 && f->node_up[2] && !f->node_up[3]);
    CHECK(f->host.count == 2 && f->host.of[1] == 1 && f->host.of[2] == -1 && f->pod.of[2] == 0 && f->site.count == 0);
    CHECK(f->link_directed[1] && f->link_from_port[1] == 3 && f->link_to_port[1] == 0 && f->link_to_port[0] == -1);
    CHECK(f->live[0] && f->live[1] && f->live[2] && !f->live[3] && !f->live[4]);
    CHECK(p->njob == 3 && p->nflow == 6 && p->job_first[1] == 4 && p->job_first[2] == 4 && p->kind == DEMAND_BYTES);
    CHECK(!strcmp(p->job_name[1], "1") && p->job_weight[0] > 1.9 && p->job_weight[2] < 1.1);
    CHECK(p->src[0] == 0 && p->dst[0] == 1 && p->src[1] == 1 && p->demand[1] > 7.9 && p->demand[1] < 8.1, "ring first");
    CHECK(p->demand[2] > 999 && p->demand[3] > 1.4e9 && p->src[4] == 1 && p->dst[5] == 1);
    CHECK(p->nlist == 1 && p->list_first[2] == 0 && p->list_first[3] == 1 && p->list_first[6] == 1);
    CHECK(p->list_at[1] == 2 && p->list_arc[0] == 0 && p->list_arc[1] == 2);
    CHECK(p->options.objective == OBJ_MAX_UTILIZATION && p->options.disjoint == 3 && p->options.pods == 7);
    CHECK(p->options.gap > 0.24 && p->options.time_limit < 1.1 && p->options.seed == 1);
    problem_free(p);

    p = accept(
        "{'fabric': {'nodes': {'name': ['x', 'y'], 'kind': ['switch', 'switch']}, 'links': {'from': [0], 'to': [1], "
        "'gbps': [4], 'up': [true], 'directed': [false], 'cost': [3], 'from_port': [-1], 'to_port': [null]}},"
        "'jobs': [{'flows': {'src': [0], 'dst': [1], 'gbps': [2]}}]}");
    CHECK(p->kind == DEMAND_GBPS && p->nflow == 1 && p->fabric->link_cost[0] > 2.9 &&
          p->fabric->link_from_port[0] == -1);
    problem_free(p);
    p = accept("{'fabric': {'nodes': [], 'links': []}, 'jobs': []}");
    CHECK(p->kind == DEMAND_BYTES && p->nflow == 0 && p->njob == 0);
    problem_free(p);
}

#define JOB(text) "{" FABRIC ", 'jobs': [{'name': 'x'}, " text "]}"
#define NODES(text) "{'fabric': {'nodes': " text ", 'links': []}, 'jobs': []}"
#define LINKS(text)                                                                                                    \
    "{'fabric': {'nodes': {'name': ['a', 'b'], 'kind': ['switch', 'nic']}, 'links': " text "}, 'jobs': []}"

static void test_refused_at_the_top(void **state)
{
    (void)state;
    refuse("[]", "list of 0 where an object is expected");
    refuse("{'jobs': []}", "key \"fabric\" is missing");
    refuse("{" FABRIC "}", "key \"jobs\" is missing");
    refuse("{" FABRIC ", 'job': []}", "key \"job\" is not known; did you mean \"jobs\"?");
    refuse("{" FABRIC ", 'jobs': [], 'bananas': 1}",
           "key \"bananas\" is not known; there are heddle, fabric, jobs, options");
    refuse("{'heddle': 2, " FABRIC ", 'jobs': []}", "heddle: version 2 is not read here, only 1");
    refuse("{'heddle': '1', " FABRIC ", 'jobs': []}", "heddle: version \"1\"");
    refuse("{" FABRIC ", 'jobs': {}}", "jobs: object of 0 where a list of jobs is expected");
    refuse("{" FABRIC ", 'jobs': [7]}", "jobs[0]: 7 where an object is expected");
    refuse("{'fabric': 7, 'jobs': []}", "fabric: 7 where an object is expected");
    refuse("{'fabric': 'f.json', 'jobs': []}", "fabric \"f.json\": a document sent over the wire can not name a file");
    refuse("{'fabric': {'nodes': []}, 'jobs': []}", "fabric: key \"links\" is missing");
    refuse("{'fabric': {'nodes': [], 'links': [], 'edges': []}, 'jobs': []}", "fabric: key \"edges\" is not known");
    refuse("{'fabric': {'nodes': [], 'links': [], 'name': 3}, 'jobs': []}", "fabric: name 3 is not a text");
    refuse("{" FABRIC ", 'jobs': [], 'options': []}", "options: list of 0 where an object is expected");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'gop': 1}}", "option \"gop\" is not known; there are objective");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'g\\np': 1}}", "option \"g?p\" is not known");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'gap': 2}}", "option gap: 2 is not in [0, 1]");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'gap': true}}", "option gap: true is neither a number nor a word");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'gap': 'x\\ny'}}", "option gap: \"x?y\" is neither");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'paths_per_flow': 1.5}}",
           "option paths_per_flow: 1.5 is not a whole number");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'objective': 'total_flow'}}",
           "option objective: \"total_flow\" is none of job_fair, max_utilization");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'routing': 'sprayed'}}",
           "option routing: \"sprayed\" is none of pinned, split, destination");
    refuse("{" FABRIC ", 'jobs': [], 'options': {'paths': 'updown'}}",
           "option paths: \"updown\" is none of all, shortest, disjoint:k");
}

static void test_refused_nodes_and_links(void **state)
{
    (void)state;
    refuse(NODES("7"), "nodes: 7 where a list of objects or an object of columns is expected");
    refuse(NODES("[7]"), "nodes[0]: 7 where an object is expected");
    refuse(NODES("[{'name': 'a'}]"), "nodes[0]: key \"kind\" is missing");
    refuse(NODES("[{'name': 'a', 'kind': 'router'}]"), "nodes[0]: kind \"router\" is neither \"switch\" nor \"nic\"");
    refuse(NODES("[{'name': 'a', 'kind': 'nic', 'rial': 1}]"),
           "nodes[0]: key \"rial\" is not known; did you mean \"rail\"?");
    refuse(NODES("[{'name': 'a', 'kind': 'nic'}, {'name': 'b', 'kind': 'nic'}, {'name': 'a', 'kind': 'nic'}]"),
           "nodes[2]: name \"a\" is taken by nodes[0]");
    refuse(NODES("[{'name': '', 'kind': 'nic'}]"), "nodes[0]: name is empty");
    refuse(NODES("[{'name': 'a\\tb', 'kind': 'nic'}]"), "nodes[0]: name \"a?b\" holds a control character");
    refuse(NODES("[{'name': 1, 'kind': 'nic'}]"), "nodes[0]: name 1 is not a text");
    refuse(NODES("[{'name': 'a', 'kind': 'nic', 'tier': 1.5}]"), "nodes[0]: tier 1.5 is not a whole number");
    refuse(NODES("[{'name': 'a', 'kind': 'nic', 'tier': -1}]"), "nodes[0]: tier -1 is not in [0, 2147483647]");
    refuse(NODES("[{'name': 'a', 'kind': 'nic', 'rail': 'x'}]"), "nodes[0]: rail \"x\" is not a whole number");
    refuse(NODES("[{'name': 'a', 'kind': 'nic', 'up': 1}]"), "nodes[0]: up 1 is neither true nor false");
    refuse(NODES("[{'name': 'a', 'kind': 'nic', 'pod': 3}]"), "nodes[0]: pod 3 is not a text");
    refuse(NODES("{'name': ['a', 'b'], 'kind': ['nic']}"),
           "nodes: column \"kind\" has 1 entries, column \"name\" has 2");
    refuse(NODES("{'name': ['a']}"), "nodes: key \"kind\" is missing");
    refuse(NODES("{'name': ['a'], 'kind': 'nic'}"), "nodes: column \"kind\" is \"nic\", not a list");
    refuse(NODES("{'name': ['a', null], 'kind': ['nic', 'nic']}"), "nodes[1]: name null is not a text");
    refuse(LINKS("[{'from': 'a', 'to': 'b'}]"), "links[0]: key \"gbps\" is missing");
    refuse(LINKS("[{'from': 'a', 'to': 'c', 'gbps': 1}]"), "links[0]: to \"c\" is no node of the fabric");
    refuse(LINKS("[{'from': 2, 'to': 'b', 'gbps': 1}]"),
           "links[0]: from 2 is no node of the fabric: its nodes are [0, 2)");
    refuse(LINKS("[{'from': true, 'to': 'b', 'gbps': 1}]"),
           "links[0]: from true is neither a node name nor a node number");
    refuse(LINKS("[{'from': 'a', 'to': 'a', 'gbps': 1}]"), "links[0]: both ends are node \"a\"");
    refuse(LINKS("[{'from': 'a', 'to': 'b', 'gbps': 0}]"), "links[0]: gbps 0 must be positive");
    refuse(LINKS("[{'from': 'a', 'to': 'b', 'gbps': -4}]"), "links[0]: gbps -4 must be finite and not negative");
    refuse(LINKS("[{'from': 'a', 'to': 'b', 'gbps': '4'}]"), "links[0]: gbps \"4\" is not a number");
    refuse(LINKS("[{'from': 'a', 'to': 'b', 'gbps': null}]"), "links[0]: gbps null is not a number");
    refuse(LINKS("[{'from': 'a', 'to': 'b', 'gbps': 1, 'capacity': 3}]"),
           "links[0]: key \"capacity\" is not known; there are from");
    refuse(LINKS("[{'from': 'a', 'to': 'b', 'gbps': 1, 'cost': -1}]"), "links[0]: cost -1 must be");
    refuse(LINKS("[{'from': 'a', 'to': 'b', 'gbps': 1, 'from_port': 3e9}]"), "links[0]: from_port 3e+09 is not in");
    refuse(LINKS("{'from': [0], 'to': [1], 'gbps': [1], 'up': [0]}"), "links[0]: up 0 is neither true nor false");
}

static void test_refused_jobs(void **state)
{
    (void)state;
    refuse(JOB("{'name': 'x'}"), "jobs[1].name \"x\" is taken by jobs[0]");
    refuse(JOB("{'name': 3}"), "jobs[1].name 3 is not a text");
    refuse(JOB("{'weight': 'heavy'}"), "jobs[1]: weight \"heavy\" is not a number");
    refuse(JOB("{'weight': 0}"), "jobs[1]: weight 0 must be positive");
    refuse(JOB("{'flow': []}"), "jobs[1]: key \"flow\" is not known; did you mean \"flows\"?");
    refuse(JOB("{'flows': [{'src': 'x', 'dst': 'a', 'bytes': 1}]}"),
           "jobs[1].flows[0]: src \"x\" is no node of the fabric");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 4, 'bytes': 1}]}"), "jobs[1].flows[0]: dst 4 is no node of the fabric");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b'}]}"), "jobs[1].flows[0]: neither \"bytes\" nor \"gbps\" is given");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1, 'gbps': 1}]}"), "jobs[1].flows[0]: both \"bytes\" and");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1}, {'src': 'a', 'dst': 'b', 'gbps': 1}]}"),
           "jobs[1].flows[1]: demand in gbps, but jobs[1].flows[0] gave bytes: a problem has one kind");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'gbps': 1}]}, {'collectives': [{'op': 'send', 'bytes': 1, 'ranks': "
               "[]}]}"),
           "jobs[2].collectives[0]: demand in bytes, but jobs[1].flows[0] gave gbps");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': -1}]}"), "jobs[1].flows[0]: bytes -1 must be finite");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1, 'paths': 3}]}"),
           "jobs[1].flows[0]: paths 3 is not a list");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1, 'paths': [3]}]}"), "paths[0] 3 is not a list of arcs");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1, 'paths': [[0, 6]]}]}"),
           "jobs[1].flows[0]: paths[0]: arc 6 is not in [0, 5]");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1, 'paths': [[0]]}]}"),
           "paths[0]: ends at \"s\", not at \"b\"");
    refuse(JOB("{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1, 'paths': [[0, 3]]}]}"), "arc 3 does not exist");
    refuse(JOB("{'flows': {'src': [0, 1], 'dst': [1], 'bytes': [1, 1]}}"),
           "jobs[1].flows: column \"dst\" has 1 entries");
    refuse(JOB("{'flows': {'src': [0, 1], 'dst': [1, 9], 'bytes': [1, 1]}}"), "jobs[1].flows[1]: dst 9 is no node");
    refuse(JOB("{'flows': {}}"), "jobs[1].flows: key \"src\" is missing");
    refuse(JOB("{'collectives': {}}"), "jobs[1].collectives: object of 0 where a list is expected");
    refuse(JOB("{'collectives': [{'op': 'all_to_all', 'bytes': 1, 'ranks': ['a', 'b']}], 'flows': [{'src': 'a', 'dst': "
               "'b', 'bytes': 1, 'paths': [[0]]}]}"),
           "jobs[1].flows[0]: paths[0]: ends at");
#define COLL(text) JOB("{'collectives': [{'op': 'send', 'bytes': 1, 'ranks': ['a', 'b']}, " text "]}")
    refuse(COLL("{'bytes': 1, 'ranks': []}"), "jobs[1].collectives[1]: key \"op\" is missing");
    refuse(COLL("{'op': 'gather', 'bytes': 1, 'ranks': []}"), "collectives[1]: op \"gather\" is none of all_reduce");
    refuse(COLL("{'op': 'reduce', 'algorithm': 'direct', 'bytes': 1, 'ranks': []}"),
           "jobs[1].collectives[1]: op reduce has no algorithm \"direct\"; there are ring, tree");
    refuse(COLL("{'op': 'all_reduce', 'bytes': 1, 'ranks': ['a', 'q']}"), "ranks[1] \"q\" is no node of the fabric");
    refuse(COLL("{'op': 'all_reduce', 'bytes': 1, 'ranks': ['a', 'b', 'a']}"), "ranks[2]: the same node as ranks[0]");
    refuse(COLL("{'op': 'all_reduce', 'bytes': -1, 'ranks': ['a', 'b']}"), "collectives[1]: bytes -1 must be");
    refuse(COLL("{'op': 'all_reduce', 'bytes': 1, 'ranks': 'a'}"), "ranks \"a\" is not a list of nodes");
    refuse(COLL("{'op': 'all_reduce', 'bytes': 1, 'channels': 0, 'ranks': ['a']}"), "channels 0 is not in [1, 64]");
    refuse(COLL("{'op': 'all_reduce', 'algorithm': 'hierarchical', 'bytes': 1, 'ranks': ['a', 's']}"),
           "collectives[1]: ranks[1]: its node has no host, which algorithm hierarchical needs");
}

/* Long texts and strange keys never make a message of two lines or without an end. */
static void test_messages_stay_short(void **state)
{
    (void)state;
    struct err e = { 0 };
    char *text = array(5000, 1), *name = array(2001, 1);
    memset(name, 'n', 2000);
    for (int k = 0; k < 3; k++) {
        static const char *const form[] = { NODES("[{'name': '%s', 'kind': 'nic'}]"), "{'%s': 1}",
                                            NODES("[{'name': 'a', 'kind': '%s'}]") };
        struct problem *p = NULL;
        struct arena *a = arena_new(0, &e);
        sprintf(text, form[k], name);
        CHECK(doc_problem(parse(text, a), NULL, &p, &e) == -1 && strlen(e.text) < 400, "%s", e.text);
        CHECK(strstr(e.text, "nnnn...\""), "%s", e.text);
        arena_free(a);
    }
    free(text);
    free(name);
}

/* ---- writing ---- */

static char *rows_of(const struct problem *p)
{
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *v;
    CHECK(doc_problem_write(p, 0, a, &v, &e) == 0, "%s", e.text);
    char *text = text_of(v);
    arena_free(a);
    return text;
}

static struct problem *random_problem(struct rng *r)
{
    struct err e = { 0 };
    int32_t n = 2 + rng_below(r, 9), m = rng_below(r, 20), jobs = rng_below(r, 4);
    struct fabric *f = fabric_new(n, m, &e);
    char name[16];
    for (int32_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "n\"%d\\", v);
        f->node_name[v] = text_copy(name);
        f->node_kind[v] = rng_below(r, 2) ? NODE_NIC : NODE_SWITCH;
        f->node_up[v] = rng_below(r, 5) > 0;
        f->node_tier[v] = rng_below(r, 3) - 1;
        f->node_rail[v] = rng_below(r, 3) - 1;
        for (int k = 0; k < 3; k++) {
            struct labels *l = k == 0 ? &f->pod : k == 1 ? &f->site : &f->host;
            snprintf(name, sizeof name, "l%d", rng_below(r, 3));
            if (rng_below(r, 3))
                CHECK(labels_set(l, v, name, &e) == 0);
        }
    }
    for (int32_t i = 0; i < m; i++) {
        f->link_from[i] = rng_below(r, n);
        f->link_to[i] = (f->link_from[i] + 1 + rng_below(r, n - 1)) % n;
        f->link_gbps[i] = 1e-6 + 1e3 * rng_unit(r);
        f->link_cost[i] = rng_below(r, 2) * rng_unit(r);
        f->link_latency[i] = rng_below(r, 2) * rng_unit(r);
        f->link_from_port[i] = rng_below(r, 4) - 1;
        f->link_to_port[i] = rng_below(r, 4) - 1;
        f->link_up[i] = rng_below(r, 4) > 0;
        f->link_directed[i] = rng_below(r, 4) == 0;
    }
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    int32_t flows = jobs ? rng_below(r, 12) : 0;
    struct problem *p = problem_new(f, jobs, flows, &e);
    p->kind = flows && rng_below(r, 2) ? DEMAND_GBPS : DEMAND_BYTES;
    p->options.seed = rng_below(r, 100);
    p->options.gap = rng_unit(r);
    p->options.policy = PATHS_DISJOINT;
    p->options.disjoint = 1 + rng_below(r, 4);
    for (int32_t j = 0; j < jobs; j++) {
        snprintf(name, sizeof name, "job %d", j);
        p->job_name[j] = text_copy(name);
        p->job_weight[j] = rng_below(r, 2) ? 1 : rng_unit(r) + 0.1;
        p->job_first[j + 1] = j == jobs - 1 ? flows : p->job_first[j] + rng_below(r, flows - p->job_first[j] + 1);
    }
    int list = rng_below(r, 2) && m > 0 && flows > 0;
    if (list) {
        p->list_first = array((int64_t)flows + 1, sizeof *p->list_first);
        p->list_at = array((int64_t)flows + 1, sizeof *p->list_at);
        p->list_arc = array(flows, sizeof *p->list_arc);
    }
    for (int32_t i = 0; i < flows; i++) {
        p->src[i] = rng_below(r, n);
        p->dst[i] = rng_below(r, n);
        p->demand[i] = rng_below(r, 5) * rng_unit(r) * 1e9;
        if (list && rng_below(r, 2)) { /* a path of one link */
            int32_t l = rng_below(r, m);
            p->src[i] = f->link_from[l];
            p->dst[i] = f->link_to[l];
            p->list_arc[p->nlist++] = 2 * l;
            p->list_at[p->nlist] = p->nlist;
        }
        if (list)
            p->list_first[i + 1] = p->nlist;
    }
    CHECK(problem_finish(p, &e) == 0, "%s", e.text);
    return p;
}

/* Rows through JSON and columns through msgpack both give the same problem back, told by its rows. */
static void test_problems_survive_both_forms(void **state)
{
    (void)state;
    for (int seed = 0; seed < 400; seed++) {
        struct rng r = { (uint64_t)seed };
        struct err e = { 0 };
        struct problem *p = random_problem(&r), *back = NULL;
        struct arena *a = arena_new(0, &e);
        struct value *v, *read;
        char *want = rows_of(p), *bytes = NULL, *got;
        int64_t n = 0;
        CHECK(doc_parse(want, (int64_t)strlen(want), a, &read, &e) == 0 && doc_problem(read, NULL, &back, &e) == 0,
              "seed %d: %s\n%s", seed, e.text, want);
        got = rows_of(back);
        CHECK(!strcmp(got, want), "seed %d: rows\n%s\n%s", seed, want, got);
        free(got);
        problem_free(back);
        CHECK(doc_problem_write(p, 1, a, &v, &e) == 0 && wire_write(v, &bytes, &n, &e) == 0, "seed %d: %s", seed,
              e.text);
        CHECK(doc_parse(bytes, n, a, &read, &e) == 0 && doc_problem(read, NULL, &back, &e) == 0, "seed %d: %s\n%s",
              seed, e.text, want);
        free(bytes);
        got = rows_of(back);
        CHECK(!strcmp(got, want), "seed %d: columns\n%s\n%s", seed, want, got);
        CHECK(!memcmp(back->need, p->need, (size_t)p->nflow * sizeof *p->need) || p->nflow == 0, "seed %d", seed);
        CHECK((back->nlist > 0) == (p->nlist > 0) && back->nlist == p->nlist);
        free(got);
        free(want);
        problem_free(back);
        problem_free(p);
        arena_free(a);
    }
}

static void test_fabric_alone(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct fabric *f = NULL, *g = NULL;
    struct value *v = parse("{'heddle': 1, " FABRIC ", 'jobs': []}", a), *w;
    CHECK(doc_fabric(v, &f, &e) == 0 && f->nnode == 4, "%s", e.text);
    CHECK(doc_fabric_write(f, 0, a, &w, &e) == 0 && doc_fabric(w, &g, &e) == 0 && g->nlink == 3, "%s", e.text);
    fabric_free(f);
    fabric_free(g);
    CHECK(doc_fabric(parse("[]", a), &f, &e) == -1 && strstr(e.text, "list of 0 where a fabric is expected"), "%s",
          e.text);
    CHECK(doc_fabric(parse("{'fabric': 'x'}", a), &f, &e) == -1 && strstr(e.text, "fabric: \"x\" where"), "%s", e.text);
    CHECK(doc_fabric(parse("{'a': 1}", a), &f, &e) == -1 && strstr(e.text, "fabric: key \"a\" is not known"), "%s",
          e.text);
    arena_free(a);
}

/* A bin column of the wrong length, and one where none can be. */
static void test_refused_bins(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct problem *p = NULL;
    struct value *v = parse("{" FABRIC ", 'jobs': [{'flows': {}}]}", a);
    struct value *flows = value_get(v, "jobs")->as.item[0].as.pair[0].value;
    value_put(a, flows, "src", value_bytes(a, "\0\0\0\0\1\0\0\0", 8));
    value_put(a, flows, "dst", value_bytes(a, "\1\0\0\0\0\0\0", 7));
    value_put(a, flows, "bytes", value_bytes(a, "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40", 16));
    CHECK(doc_problem(v, NULL, &p, &e) == -1 && strstr(e.text, "column \"dst\": 7 bytes are not a multiple of 4"), "%s",
          e.text);
    flows->as.pair[1].value = value_bytes(a, "\1\0\0\0\xff\xff\xff\xff", 8);
    CHECK(doc_problem(v, NULL, &p, &e) == -1 && strstr(e.text, "flows[1]: dst -1 is no node"), "%s", e.text);
    flows->as.pair[1].value = value_bytes(a, "\1\0\0\0\0\0\0\0", 8);
    CHECK(doc_problem(v, NULL, &p, &e) == 0, "%s", e.text);
    CHECK(p->nflow == 2 && p->src[1] == 1 && fabs(p->demand[0] - 1) < 1e-15 && fabs(p->demand[1] - 2) < 1e-15);
    problem_free(p);
    flows->as.pair[2].value = value_bytes(a, "\0\0\0\0\0\0\xf0\x7f\0\0\0\0\0\0\0\x40", 16);
    CHECK(doc_problem(v, NULL, &p, &e) == -1 && strstr(e.text, "flows[0]: bytes inf must be finite"), "%s", e.text);
    flows->as.pair[2].value = value_bytes(a, "\0\0\0\0\0\0\xf8\x7f\0\0\0\0\0\0\0\x40", 16);
    CHECK(doc_problem(v, NULL, &p, &e) == -1 && strstr(e.text, "flows[0]: bytes nan"), "%s", e.text);
    value_put(a, flows, "paths", value_bytes(a, "", 0));
    CHECK(doc_problem(v, NULL, &p, &e) == -1 && strstr(e.text, "column \"paths\" can not be given as bin"), "%s",
          e.text);
    arena_free(a);
}

/* ---- files ---- */

static char folder[] = "/tmp/heddle_doc_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[2][200];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int count_files(void)
{
    char command[100];
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *f = popen(command, "r");
    int n = -1;
    CHECK(f && fscanf(f, "%d", &n) == 1);
    pclose(f);
    return n;
}

static void test_files(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *v = parse("{'b': [1, 2.5], 'a': 'x'}", a), *back;
    char *text, *want = text_of(v);
    int64_t n;
    CHECK(mkdtemp(folder));
    for (int k = 0; k < 2; k++) {
        const char *path = in_folder(k ? "doc.mp" : "doc.json");
        CHECK(doc_save(path, v, &e) == 0 && doc_save(path, v, &e) == 0, "%s", e.text);
        CHECK(doc_load(path, a, &back, &e) == 0, "%s", e.text);
        text = text_of(back);
        CHECK(!strcmp(text, want));
        free(text);
        CHECK(file_read(path, &text, &n, &e) == 0 && (k ? text[0] == '\x82' : text[0] == '{') && text[n] == 0);
        free(text);
    }
    struct stat st;
    CHECK(stat(in_folder("doc.mp"), &st) == 0 && (st.st_mode & 0400) && !(st.st_mode & 0111));
    CHECK(count_files() == 2, "no temporary file is left");

    struct value *bad = value_list(a, 1);
    bad->as.item[0] = *value_bytes(a, "x", 1);
    CHECK(doc_save(in_folder("doc.json"), bad, &e) == -1 && doc_load(in_folder("doc.json"), a, &back, &e) == 0,
          "a failed save leaves the old file");
    CHECK(doc_save(in_folder("no/doc.json"), v, &e) == -1 && e.code == E_IO &&
              strstr(e.text, "doc.json: can not be written: No such file or directory"),
          "%s", e.text);
    CHECK(mkdir(in_folder("dir"), 0700) == 0);
    CHECK(doc_save(in_folder("dir"), v, &e) == -1 && strstr(e.text, "directory"), "%s", e.text);
    CHECK(doc_load(in_folder("dir"), a, &back, &e) == -1 && strstr(e.text, "dir: Is a directory"), "%s", e.text);
    CHECK(count_files() == 3, "nor after a failure");
    CHECK(doc_load(in_folder("none"), a, &back, &e) == -1 && e.code == E_INPUT &&
              strstr(e.text, "none: No such file or directory"),
          "%s", e.text);
    CHECK(file_write(in_folder("empty"), "", 0, &e) == 0 && doc_load(in_folder("empty"), a, &back, &e) == -1 &&
              strstr(e.text, "empty: an empty document"),
          "%s", e.text);
    CHECK(file_write(in_folder("bad"), "{\n]", 3, &e) == 0 && doc_load(in_folder("bad"), a, &back, &e) == -1 &&
              strstr(e.text, "bad: line 2, column 1: "),
          "%s", e.text);
    CHECK(doc_save("/dev/full", v, &e) == -1 && strstr(e.text, "No space left"), "%s", e.text);
    free(want);
    arena_free(a);
}

static void test_fabric_files(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct problem *p = NULL;
    const char *form[] = { "{" FABRIC "}", "{" FABRIC ", 'jobs': [], 'heddle': 1}" };
    struct value *v =
        parse("{'fabric': 'sub/fabric.mp', 'jobs': [{'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1}]}]}", a);
    CHECK(mkdir(in_folder("sub"), 0700) == 0);
    for (int k = 0; k < 3; k++) {
        struct value *f = parse(form[k % 2], a);
        CHECK(doc_save(in_folder("sub/fabric.mp"), k == 2 ? value_get(f, "fabric") : f, &e) == 0, "%s", e.text);
        CHECK(doc_problem(v, folder, &p, &e) == 0 && p->fabric->nnode == 4, "%s", e.text);
        problem_free(p);
    }
    struct value *w = parse("{'fabric': 'sub/none', 'jobs': []}", a);
    CHECK(doc_problem(w, folder, &p, &e) == -1 && strstr(e.text, "sub/none: No such file"), "%s", e.text);
    CHECK(doc_problem(parse("{'fabric': '', 'jobs': []}", a), folder, &p, &e) == -1 &&
          strstr(e.text, "is no file name"));
    CHECK(doc_problem(parse("{'fabric': 'a\\nb', 'jobs': []}", a), folder, &p, &e) == -1 &&
              strstr(e.text, "fabric \"a?b\": a file name with a control character"),
          "%s", e.text);
    CHECK(file_write(in_folder("sub/broken"), "{\"nodes\": [3], \"links\": []}", 27, &e) == 0);
    w = parse("{'fabric': 'sub/broken', 'jobs': []}", a);
    CHECK(doc_problem(w, folder, &p, &e) == -1 && strstr(e.text, "sub/broken: nodes[0]: 3 where an object"), "%s",
          e.text);
    CHECK(doc_inline(w, NULL, a, &e) == -1 && e.code == E_INPUT);
    CHECK(doc_inline(v, folder, a, &e) == 0, "%s", e.text);
    CHECK(doc_problem(v, NULL, &p, &e) == 0 && p->fabric->nnode == 4, "stands alone: %s", e.text);
    problem_free(p);
    CHECK(doc_inline(v, NULL, a, &e) == 0, "nothing left to put in: %s", e.text);
    arena_free(a);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

/* ---- memory ---- */

static void test_short_memory(void **state)
{
    (void)state;
    struct rng r = { 5 };
    struct problem *p = random_problem(&r);
    char *rows = rows_of(p);
    int done = 0;
    for (int64_t k = 0; !done && k < 1000; k++) {
        struct err e = { 0 };
        struct problem *q = NULL;
        struct value *v, *w;
        short_at = k;
        struct arena *a = arena_new(0, &e);
        done = a && doc_parse(rows, (int64_t)strlen(rows), a, &v, &e) == 0 && doc_problem(v, NULL, &q, &e) == 0 &&
               doc_problem_write(q, 0, a, &w, &e) == 0 && doc_problem_write(q, 1, a, &w, &e) == 0;
        short_at = -1;
        CHECK(done || e.code == E_MEMORY, "call %lld: %d %s", (long long)k, (int)e.code, e.text);
        problem_free(q);
        arena_free(a);
    }
    CHECK(done);
    free(rows);
    problem_free(p);
}

/* ---- real documents ---- */

static void test_shared_samples(void **state)
{
    (void)state;
    static const char *const name[] = { "cell-1-4-1", "cell-3-8-0", "cell-5-4-0" };
    static const int32_t flows[] = { 192, 1152, 1728 };
    for (int i = 0; i < 3; i++) {
        char file[64];
        snprintf(file, sizeof file, "data/paper_cells/%s.json", name[i]);
        const char *path = shared_file(file);
        if (!path) {
            print_message("no %s beside the checkout\n", file);
            skip();
        }
        struct err e = { 0 };
        struct arena *a = arena_new(0, &e);
        struct value *v;
        struct problem *p = NULL;
        CHECK(doc_load(path, a, &v, &e) == 0 && doc_problem(v, NULL, &p, &e) == 0, "%s", e.text);
        CHECK(p->fabric->nnode == 2144 && p->fabric->nlink == 4096 && p->nflow == flows[i], "%d flows", p->nflow);
        problem_free(p);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rich_problem),
        cmocka_unit_test(test_refused_at_the_top),
        cmocka_unit_test(test_refused_nodes_and_links),
        cmocka_unit_test(test_refused_jobs),
        cmocka_unit_test(test_messages_stay_short),
        cmocka_unit_test(test_problems_survive_both_forms),
        cmocka_unit_test(test_fabric_alone),
        cmocka_unit_test(test_refused_bins),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_fabric_files),
        cmocka_unit_test(test_short_memory),
        cmocka_unit_test(test_shared_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
