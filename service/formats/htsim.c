/* htsim .topo: numbers of a fat tree. Tier 0 are the switches with the hosts; a pod is Podsize hosts; Bundle of a tier
 * is the number of parallel cables from each of its switches to each switch below that it reaches. Every switch of
 * tier 1 reaches all switches of tier 0 in its pod; switches of tier 2 reach one of tier 1 in each pod.
 */
#include <stdio.h>
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"

enum { TIERS = 3 };

struct tier {
    int64_t line, radix_down, radix_up, bundle;
    double speed, down_latency, switch_latency, oversubscribed;
};

struct htsim {
    struct wiring *w;
    int64_t nodes, tiers, podsize;
    struct tier tier[TIERS];
    int now; /* the tier whose lines are being read; -1 before the first */
};

static int read_line(struct htsim *h, struct text t)
{
    struct text key = text_word(&t), value = text_word(&t);
    double x;
    if (key.n == 0 || *key.at == '#')
        return 0;
    if (!text_real(value, &x) || x < 0 || x > 1e9 || text_word(&t).n > 0)
        return wiring_bad(h->w, "%.*s: \"%.*s\" is no number in [0, 1e9]", TEXT_SAY(key), TEXT_SAY(value));
    struct tier *now = h->now < 0 ? NULL : &h->tier[h->now];
    const struct {
        const char *key;
        int64_t *integer;
        double *real;
    } row[] = { { "Nodes", &h->nodes, NULL },
                { "Tiers", &h->tiers, NULL },
                { "Podsize", &h->podsize, NULL },
                { "Radix_Down", now ? &now->radix_down : NULL, NULL },
                { "Radix_Up", now ? &now->radix_up : NULL, NULL },
                { "Bundle", now ? &now->bundle : NULL, NULL },
                { "Downlink_speed_Gbps", NULL, now ? &now->speed : NULL },
                { "Downlink_Latency_ns", NULL, now ? &now->down_latency : NULL },
                { "Switch_Latency_ns", NULL, now ? &now->switch_latency : NULL },
                { "Oversubscribed", NULL, now ? &now->oversubscribed : NULL } };
    if (text_is(key, "Tier")) {
        if (!(x < TIERS) || x != (int)x || h->tier[(int)x].line > 0)
            return wiring_bad(h->w, "tier %g is not a new one in [0, %d)", x, TIERS);
        h->now = (int)x;
        h->tier[h->now].line = h->w->place.line;
        return 0;
    }
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!text_is(key, row[i].key))
            continue;
        if (!row[i].integer && !row[i].real)
            return wiring_bad(h->w, "%s stands before the first tier", row[i].key);
        if (row[i].integer && x != (double)(int64_t)x)
            return wiring_bad(h->w, "%s %g is no integer", row[i].key, x);
        if (row[i].integer)
            *row[i].integer = (int64_t)x;
        else
            *row[i].real = x;
        return 0;
    }
    return wiring_bad(h->w, "\"%.*s\" is no key of a .topo file", TEXT_SAY(key));
}

/* ---- the numbers must fit each other ---- */

struct size {
    int64_t tors, aggs, cores, tors_per_pod, aggs_per_pod, pods;
};

static int bad_tier(struct htsim *h, int tier, const char *what, int64_t have, int64_t want)
{
    wiring_line(h->w, 0, h->tier[tier].line > 0 ? h->tier[tier].line : 1);
    return wiring_bad(h->w, "tier %d: %s is %lld, but the other numbers make it %lld", tier, what, (long long)have,
                      (long long)want);
}

static int check_sizes(struct htsim *h, struct size *z)
{
    struct tier *t = h->tier;
    wiring_line(h->w, 0, 1);
    if (h->tiers != 2 && h->tiers != 3)
        return wiring_bad(h->w, "%lld tiers; a fat tree has 2 or 3", (long long)h->tiers);
    if (h->podsize == 0 && h->tiers == 2)
        h->podsize = h->nodes;
    if (h->nodes < 1 || h->nodes > 1 << 22 || h->podsize < 1 || h->nodes % h->podsize != 0)
        return wiring_bad(h->w, "%lld nodes do not make pods of %lld", (long long)h->nodes, (long long)h->podsize);
    for (int k = 0; k < h->tiers; k++) {
        wiring_line(h->w, 0, t[k].line > 0 ? t[k].line : 1);
        t[k].bundle = t[k].bundle > 0 ? t[k].bundle : 1;
        if (t[k].line == 0 || t[k].radix_down < 1 || !(t[k].speed > 0) || (k + 1 < h->tiers && t[k].radix_up < 1))
            return wiring_bad(h->w, "tier %d needs Radix_Down, %sDownlink_speed_Gbps", k,
                              k + 1 < h->tiers ? "Radix_Up, " : "");
    }
    if (h->podsize % t[0].radix_down != 0)
        return bad_tier(h, 0, "Radix_Down does not divide Podsize: it", t[0].radix_down, h->podsize);
    z->pods = h->nodes / h->podsize;
    if (h->tiers == 2 && z->pods != 1)
        return bad_tier(h, 1, "with two tiers the number of pods", z->pods, 1);
    z->tors_per_pod = h->podsize / t[0].radix_down;
    z->tors = z->tors_per_pod * z->pods;
    if (t[0].radix_up % t[1].bundle != 0)
        return bad_tier(h, 0, "Radix_Up", t[0].radix_up, t[1].bundle);
    z->aggs_per_pod = t[0].radix_up / t[1].bundle;
    z->aggs = z->aggs_per_pod * z->pods;
    if (t[1].radix_down != z->tors_per_pod * t[1].bundle)
        return bad_tier(h, 1, "Radix_Down", t[1].radix_down, z->tors_per_pod * t[1].bundle);
    if (h->tiers == 2)
        return 0;
    if (t[1].radix_up % t[2].bundle != 0)
        return bad_tier(h, 1, "Radix_Up", t[1].radix_up, t[2].bundle);
    if (t[2].radix_down != z->pods * t[2].bundle)
        return bad_tier(h, 2, "Radix_Down", t[2].radix_down, z->pods * t[2].bundle);
    z->cores = z->aggs_per_pod * (t[1].radix_up / t[2].bundle);
    return 0;
}

/* ---- the fabric ---- */

static int32_t add_node(struct wiring *w, const char *word, int64_t i, int kind, int32_t tier)
{
    char name[40];
    snprintf(name, sizeof name, "%s%lld", word, (long long)i);
    int32_t v = wiring_new_node(w, (struct text){ name, (int)strlen(name) });
    if (v >= 0) {
        w->node[v].kind = kind;
        w->node[v].tier = tier;
    }
    return v;
}

static int add_nodes(struct wiring *w, const char *word, int64_t n, int kind, int32_t tier)
{
    for (int64_t i = 0; i < n; i++)
        if (add_node(w, word, i, kind, tier) < 0)
            return -1;
    return 0;
}

static int add_cables(struct wiring *w, int64_t from, int64_t to, int64_t n, const struct tier *t)
{
    for (int64_t i = 0; i < n; i++)
        if (wiring_cable(w, &(struct wire_cable){ .from = (int32_t)from,
                                                  .to = (int32_t)to,
                                                  .gbps = t->speed,
                                                  .latency_us = (t->down_latency + t->switch_latency) / 1000 }) < 0)
            return -1;
    return 0;
}

static int spread_out(struct htsim *h, const struct size *z)
{
    struct wiring *w = h->w;
    struct tier *t = h->tier;
    int64_t agg = z->tors, core = agg + z->aggs, host = core + z->cores;
    int64_t cables = h->nodes + z->tors * t[0].radix_up + (h->tiers == 3 ? z->aggs * t[1].radix_up : 0);
    wiring_line(w, 0, 1);
    if (host + h->nodes > 1 << 23 || cables > 1 << 27)
        return wiring_bad(w, "a tree of %lld nodes and %lld cables is too large", (long long)(host + h->nodes),
                          (long long)cables);
    if (add_nodes(w, "tor", z->tors, NODE_SWITCH, 1) < 0 || add_nodes(w, "agg", z->aggs, NODE_SWITCH, 2) < 0 ||
        add_nodes(w, "core", z->cores, NODE_SWITCH, 3) < 0 || add_nodes(w, "host", h->nodes, NODE_NIC, 0) < 0)
        return -1;
    for (int64_t i = 0; i < h->nodes; i++)
        if (add_cables(w, host + i, i / t[0].radix_down, 1, &t[0]) < 0)
            return -1;
    for (int64_t i = 0; i < z->tors; i++)
        for (int64_t k = 0; k < z->aggs_per_pod; k++)
            if (add_cables(w, i, agg + i / z->tors_per_pod * z->aggs_per_pod + k, t[1].bundle, &t[1]) < 0)
                return -1;
    for (int64_t i = 0; h->tiers == 3 && i < z->aggs; i++)
        for (int64_t k = 0; k < t[1].radix_up / t[2].bundle; k++)
            if (add_cables(w, agg + i, core + i % z->aggs_per_pod + z->aggs_per_pod * k, t[2].bundle, &t[2]) < 0)
                return -1;
    for (int k = 0; k + 1 < h->tiers; k++)
        if (t[k].oversubscribed > 0 &&
            (t[k].oversubscribed * (double)t[k].radix_up * t[k + 1].speed < (double)t[k].radix_down * t[k].speed ||
             t[k].oversubscribed * (double)t[k].radix_up * t[k + 1].speed > (double)t[k].radix_down * t[k].speed)) {
            wiring_line(w, 0, t[k].line);
            wiring_note(w, "tiers whose Oversubscribed is not what radix and speed make");
        }
    return 0;
}

int htsim_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct htsim h = { .w = wiring_new(in, e), .now = -1 };
    struct scan s = scan_start(in->file->data, in->file->n);
    struct size z = { 0 };
    struct text t;
    int more, rc = h.w ? 0 : -1;
    while (rc == 0 && (more = scan_line(&s, &t)) != 0) {
        wiring_line(h.w, 0, s.line);
        rc = more < 0 ? wiring_bad(h.w, "a line of more than a megabyte") : read_line(&h, t);
    }
    if (rc == 0)
        rc = check_sizes(&h, &z) < 0 || spread_out(&h, &z) < 0 ? -1 : wiring_fabric(h.w, out);
    wiring_free(h.w);
    return rc;
}
