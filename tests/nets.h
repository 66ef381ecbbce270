/* Small readers of public multicommodity files, for tests: one job, gbps demands, directed arcs, no NICs.
 * CommaLab: N, M, K, then "tail head cost capacity" and "origin destination amount", nodes from 1.
 * Traffic engineering: lines "u v capacity"; "src dst demand"; and optionally "s t:a-b-c,a-d-c" (allowed paths).
 */
#ifndef HEDDLE_TESTS_NETS_H
#define HEDDLE_TESTS_NETS_H

#include "solver/model/pods.h"
#include "solver/model/problem.h"
#include "tests/check.h"

static inline struct problem *nets_commalab(const char *path)
{
    struct err e;
    int n = 0, m = 0, k = 0;
    FILE *f = fopen(path, "r");
    CHECK(f && fscanf(f, "%d %d %d", &n, &m, &k) == 3, "%s", path);
    struct fabric *net = fabric_new(n, m, &e);
    CHECK(net, "memory");
    for (int i = 0; i < m; i++) {
        double cost, cap;
        CHECK(fscanf(f, "%d %d %lf %lf", &net->link_from[i], &net->link_to[i], &cost, &cap) == 4, "%s: arc %d", path,
              i);
        net->link_from[i]--;
        net->link_to[i]--;
        net->link_gbps[i] = cap < 0 ? 1e12 : cap;
        net->link_directed[i] = 1;
    }
    CHECK(fabric_finish(net, &e) == 0, "%s: %s", path, e.text);
    struct problem *p = problem_new(net, 1, k, &e);
    CHECK(p, "memory");
    p->kind = DEMAND_GBPS;
    p->job_first[1] = k;
    for (int i = 0; i < k; i++) {
        CHECK(fscanf(f, "%d %d %lf", &p->src[i], &p->dst[i], &p->demand[i]) == 3, "%s: demand %d", path, i);
        p->src[i]--;
        p->dst[i]--;
    }
    fclose(f);
    CHECK(problem_finish(p, &e) == 0, "%s: %s", path, e.text);
    return p;
}

/* Non-comment lines of a file. */
static inline int nets_lines(const char *path)
{
    char line[1 << 14];
    int n = 0;
    FILE *f = fopen(path, "r");
    CHECK(f, "%s", path);
    while (fgets(line, sizeof line, f))
        n += line[0] != '#' && line[0] != '\n';
    fclose(f);
    return n;
}

static inline int nets_next(FILE *f, char *line, int room)
{
    while (fgets(line, room, f))
        if (line[0] != '#' && line[0] != '\n')
            return 1;
    return 0;
}

static inline struct fabric *nets_edges(const char *path)
{
    enum { ROOM = 256 };
    struct err e;
    char line[ROOM];
    int m = nets_lines(path), n = 0;
    int32_t *from = array(m, sizeof *from), *to = array(m, sizeof *to);
    double *cap = array(m, sizeof *cap);
    FILE *f = fopen(path, "r");
    CHECK(f && from && to && cap, "%s", path);
    for (int i = 0; nets_next(f, line, ROOM); i++) {
        CHECK(sscanf(line, "%d %d %lf", &from[i], &to[i], &cap[i]) == 3, "%s: %s", path, line);
        n = from[i] >= n ? from[i] + 1 : n;
        n = to[i] >= n ? to[i] + 1 : n;
    }
    fclose(f);
    struct fabric *net = fabric_new(n, m, &e);
    CHECK(net, "memory");
    for (int i = 0; i < m; i++) {
        net->link_from[i] = from[i];
        net->link_to[i] = to[i];
        net->link_gbps[i] = cap[i];
        net->link_directed[i] = 1;
    }
    free(from);
    free(to);
    free(cap);
    CHECK(fabric_finish(net, &e) == 0, "%s: %s", path, e.text);
    return net;
}

static inline int32_t nets_arc(const struct fabric *f, int u, int v)
{
    for (int32_t i = f->first[u]; i < f->first[u + 1]; i++)
        if (f->head[f->out[i]] == v)
            return f->out[i];
    return -1;
}

/* Append the paths of one line behind its colon. */
static inline void nets_list(struct problem *p, char *text, int64_t *room, int64_t *arc_room)
{
    char *rest, *hop;
    for (char *path = strtok_r(text, ",\n", &rest); path; path = strtok_r(NULL, ",\n", &rest)) {
        void *at = p->list_at;
        CHECK(array_grow(&at, room, p->nlist + 2, sizeof *p->list_at) == 0, "memory");
        p->list_at = at;
        int u = -1;
        int64_t n = p->list_at[p->nlist];
        for (char *word = strtok_r(path, "-", &hop); word; word = strtok_r(NULL, "-", &hop)) {
            void *arc = p->list_arc;
            int v = atoi(word);
            CHECK(array_grow(&arc, arc_room, n + 1, sizeof *p->list_arc) == 0, "memory");
            p->list_arc = arc;
            if (u >= 0)
                p->list_arc[n++] = nets_arc(p->fabric, u, v);
            u = v;
        }
        p->list_at[++p->nlist] = n;
    }
}

static inline void nets_lists(struct problem *p, const char *path)
{
    enum { ROOM = 1 << 16 };
    int n = p->fabric->nnode;
    char **text = array((int64_t)n * n, sizeof *text), *line = array(ROOM, 1);
    int64_t room = 0, arc_room = 0;
    FILE *f = fopen(path, "r");
    CHECK(f && text && line, "%s", path);
    while (nets_next(f, line, ROOM)) {
        int s, t, used;
        CHECK(sscanf(line, "%d %d:%n", &s, &t, &used) == 2, "%s: %s", path, line);
        text[(int64_t)s * n + t] = text_copy(line + used);
    }
    fclose(f);
    p->list_first = array((int64_t)p->nflow + 1, sizeof *p->list_first);
    CHECK(p->list_first, "memory");
    void *at = NULL;
    CHECK(array_grow(&at, &room, 1, sizeof *p->list_at) == 0, "memory");
    p->list_at = at;
    for (int32_t i = 0; i < p->nflow; i++) {
        p->list_first[i] = p->nlist;
        if (text[(int64_t)p->src[i] * n + p->dst[i]])
            nets_list(p, text[(int64_t)p->src[i] * n + p->dst[i]], &room, &arc_room);
    }
    p->list_first[p->nflow] = p->nlist;
    for (int64_t i = 0; i < (int64_t)n * n; i++)
        free(text[i]);
    free(text);
    free(line);
}

/* lists may be NULL. */
static inline struct problem *nets_te(const char *edges, const char *matrix, const char *lists)
{
    enum { ROOM = 256 };
    struct err e;
    char line[ROOM];
    int32_t k = nets_lines(matrix), i = 0;
    struct problem *p = problem_new(nets_edges(edges), 1, k, &e);
    FILE *f = fopen(matrix, "r");
    CHECK(p && f, "%s", matrix);
    p->kind = DEMAND_GBPS;
    p->job_first[1] = k;
    for (; nets_next(f, line, ROOM); i++)
        CHECK(sscanf(line, "%d %d %lf", &p->src[i], &p->dst[i], &p->demand[i]) == 3, "%s: %s", matrix, line);
    fclose(f);
    if (lists)
        nets_lists(p, lists);
    CHECK(problem_finish(p, &e) == 0, "%s: %s", matrix, e.text);
    return p;
}

/* npod pods of consecutive nodes, as equal as can be. */
static inline struct pods *nets_pods(const struct fabric *f, int32_t npod)
{
    struct err e;
    npod = npod < f->nnode ? npod : f->nnode;
    int32_t *of = array(f->nnode, sizeof *of);
    CHECK(of, "memory");
    for (int32_t v = 0; v < f->nnode; v++)
        of[v] = (int32_t)((int64_t)v * npod / f->nnode);
    struct pods *pods = pods_new(f, npod, of, &e);
    CHECK(pods, "%s", e.text);
    free(of);
    return pods;
}

#endif
