#include "build.h"

#include <stdio.h>
#include <stdlib.h>

static void grow(void *data, int64_t *room, int64_t need, size_t size)
{
    void **p = data;
    if (array_grow(p, room, need, size) < 0)
        abort();
}

void build_start(struct build *b, uint64_t seed)
{
    *b = (struct build){ .rng = { seed } };
}

int32_t build_node(struct build *b, enum node_kind kind)
{
    int64_t room = b->room_node;
    grow(&b->nic_kind, &room, b->nnode + 1, sizeof *b->nic_kind);
    grow(&b->site, &b->room_node, b->nnode + 1, sizeof *b->site);
    b->nic_kind[b->nnode] = (uint8_t)kind;
    b->site[b->nnode] = -1;
    if (kind == NODE_NIC) {
        grow(&b->nic, &b->room_nic, b->nnic + 1, sizeof *b->nic);
        b->nic[b->nnic++] = b->nnode;
    }
    return b->nnode++;
}

int32_t build_link(struct build *b, int32_t from, int32_t to, double gbps)
{
    int64_t room[3] = { b->room_link, b->room_link, b->room_link };
    grow(&b->from, &room[0], b->nlink + 1, sizeof *b->from);
    grow(&b->to, &room[1], b->nlink + 1, sizeof *b->to);
    grow(&b->down, &room[2], b->nlink + 1, sizeof *b->down);
    grow(&b->gbps, &b->room_link, b->nlink + 1, sizeof *b->gbps);
    b->from[b->nlink] = from;
    b->to[b->nlink] = to;
    b->gbps[b->nlink] = gbps;
    b->down[b->nlink] = 0;
    return b->nlink++;
}

int32_t build_clos(struct build *b, int32_t leaves, int32_t spines, int32_t nics, int32_t cables, double nic,
                   double link)
{
    int32_t first = b->nnode;
    for (int32_t i = 0; i < leaves + spines; i++)
        build_node(b, NODE_SWITCH);
    for (int32_t l = 0; l < leaves; l++) {
        for (int32_t s = 0; s < spines; s++)
            for (int32_t c = 0; c < cables; c++)
                build_link(b, first + l, first + leaves + s, link);
        for (int32_t i = 0; i < nics; i++)
            build_link(b, build_node(b, NODE_NIC), first + l, nic);
    }
    return first;
}

void build_fat_tree(struct build *b, int32_t pods, int32_t leaves, int32_t planes, int32_t cores, int32_t nics,
                    double gbps)
{
    int32_t core = b->nnode;
    for (int32_t i = 0; i < planes * cores; i++)
        build_node(b, NODE_SWITCH);
    for (int32_t p = 0; p < pods; p++) {
        int32_t middle = b->nnode;
        for (int32_t k = 0; k < planes; k++)
            build_node(b, NODE_SWITCH);
        for (int32_t k = 0; k < planes; k++)
            for (int32_t c = 0; c < cores; c++)
                build_link(b, middle + k, core + k * cores + c, gbps);
        for (int32_t l = 0; l < leaves; l++) {
            int32_t leaf = build_node(b, NODE_SWITCH);
            for (int32_t k = 0; k < planes; k++)
                build_link(b, leaf, middle + k, gbps);
            for (int32_t i = 0; i < nics; i++)
                build_link(b, build_node(b, NODE_NIC), leaf, gbps);
        }
    }
}

void build_damage(struct build *b, double share)
{
    int32_t n = 0, *link = array(b->nlink, sizeof *link);
    if (!link)
        abort();
    for (int32_t i = 0; i < b->nlink; i++)
        if (b->nic_kind[b->from[i]] == NODE_SWITCH && b->nic_kind[b->to[i]] == NODE_SWITCH)
            link[n++] = i;
    build_shuffle(b, link, n);
    for (int32_t i = 0; i < (int32_t)(share * n + .5); i++)
        b->down[link[i]] = 1;
    free(link);
}

void build_kill(struct build *b, int32_t node)
{
    for (int32_t i = 0; i < b->nlink; i++)
        if (b->from[i] == node || b->to[i] == node)
            b->down[i] = 1;
}

void build_flow(struct build *b, int32_t job, int32_t src, int32_t dst, double demand)
{
    int64_t room[3] = { b->room_flow, b->room_flow, b->room_flow };
    grow(&b->job, &room[0], b->nflow + 1, sizeof *b->job);
    grow(&b->src, &room[1], b->nflow + 1, sizeof *b->src);
    grow(&b->dst, &room[2], b->nflow + 1, sizeof *b->dst);
    grow(&b->demand, &b->room_flow, b->nflow + 1, sizeof *b->demand);
    b->job[b->nflow] = job;
    b->src[b->nflow] = src;
    b->dst[b->nflow] = dst;
    b->demand[b->nflow++] = demand;
    b->njob = job + 1 > b->njob ? job + 1 : b->njob;
}

void build_ring(struct build *b, const int32_t *nic, int32_t n, double bytes)
{
    int32_t job = b->njob;
    for (int32_t i = 0; i < n; i++)
        build_flow(b, job, nic[i], nic[(i + 1) % n], bytes);
}

void build_all_to_all(struct build *b, const int32_t *nic, int32_t n, double bytes)
{
    int32_t job = b->njob;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++)
            if (k != i)
                build_flow(b, job, nic[i], nic[k], bytes);
}

void build_shuffle(struct build *b, int32_t *list, int32_t n)
{
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t k = rng_below(&b->rng, i + 1), swap = list[i];
        list[i] = list[k];
        list[k] = swap;
    }
}

static char *name_of(const char *word, int32_t i)
{
    char text[32];
    snprintf(text, sizeof text, "%s%d", word, i);
    return text_copy(text);
}

struct problem *build_problem(struct build *b, enum demand_kind kind)
{
    struct err e = { 0 };
    struct fabric *f = fabric_new(b->nnode, b->nlink, &e);
    if (!f)
        abort();
    for (int32_t v = 0; v < b->nnode; v++) {
        f->node_kind[v] = b->nic_kind[v];
        f->node_name[v] = name_of(b->nic_kind[v] == NODE_NIC ? "n" : "s", v);
    }
    for (int32_t i = 0; i < b->nlink; i++) {
        f->link_from[i] = b->from[i];
        f->link_to[i] = b->to[i];
        f->link_gbps[i] = b->gbps[i];
        f->link_up[i] = !b->down[i];
    }
    struct problem *p = fabric_finish(f, &e) == 0 ? problem_new(f, b->njob, b->nflow, &e) : NULL;
    if (!p)
        abort();
    p->kind = kind;
    for (int32_t j = 0, i = 0; j < b->njob; j++) {
        p->job_name[j] = name_of("job", j);
        for (; i < b->nflow && b->job[i] == j; i++) {
            p->src[i] = b->src[i];
            p->dst[i] = b->dst[i];
            p->demand[i] = b->demand[i];
        }
        p->job_first[j + 1] = i;
    }
    if (problem_finish(p, &e) < 0) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    void *owned[] = {
        b->nic_kind, b->site, b->from, b->to, b->down, b->gbps, b->nic, b->job, b->src, b->dst, b->demand
    };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    *b = (struct build){ .rng = b->rng };
    return p;
}
