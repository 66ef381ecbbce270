/* split_routes: paths and shares of all ranks become one struct routes on rank 0.
 */
#include "solver/engine/split_inner.h"

#include <stdlib.h>
#include <string.h>

static int put(struct bundle *b, const void *data, int64_t nword)
{
    void *word = b->word;
    if (array_grow(&word, &b->room, b->n + nword, sizeof *b->word) < 0)
        return -1;
    b->word = word;
    memcpy(b->word + b->n, data, (size_t)nword * sizeof *b->word);
    b->n += nword;
    return 0;
}

int bundle_flows(struct bundle *b, const int32_t *flow, int64_t nflow, int32_t npath)
{
    int32_t n = (int32_t)nflow;
    return put(b, &n, 1) < 0 || put(b, flow, nflow) < 0 || put(b, &npath, 1) < 0 ? -1 : 0;
}

int bundle_path(struct bundle *b, double share, const struct way *y)
{
    return put(b, &share, sizeof share / sizeof *b->word) < 0 || put(b, &y->len, 1) < 0 || put(b, y->arc, y->len) < 0
               ? -1
               : 0;
}

/* One record: flows and the paths that each of them has. */
struct record {
    const int32_t *flow, *path;
    int32_t nflow, npath;
};

static const int32_t *next_record(const int32_t *word, struct record *r)
{
    r->nflow = *word++;
    r->flow = word;
    word += r->nflow;
    r->npath = *word++;
    r->path = word;
    for (int32_t i = 0; i < r->npath; i++)
        word += sizeof(double) / sizeof *word + 1 + word[sizeof(double) / sizeof *word];
    return word;
}

static int64_t arcs_of(const struct record *r, const int32_t *end)
{
    return end - r->path - r->npath * (int64_t)(sizeof(double) / sizeof *end + 1);
}

/* The paths of the record for flow f, from path number i on. */
static void fill_flow(struct routes *out, const struct record *r, int64_t i)
{
    const int32_t *word = r->path;
    for (int32_t y = 0; y < r->npath; y++, i++) {
        memcpy(&out->share[i], word, sizeof out->share[i]);
        word += sizeof(double) / sizeof *word;
        int32_t len = *word++;
        memcpy(out->arc + out->at[i], word, (size_t)len * sizeof *word);
        out->at[i + 1] = out->at[i] + len;
        word += len;
    }
}

/* Paths stand in flow order, records in block order: arcs per flow first, then places, then copies. */
static struct routes *assemble(int32_t nflow, const int32_t *word, const int32_t *end, struct err *e)
{
    struct record r;
    int64_t npath = 0, narc = 0, *arcs = array((int64_t)nflow + 1, sizeof *arcs);
    struct routes *out = NULL;
    for (const int32_t *w = word; w < end;) {
        w = next_record(w, &r);
        npath += (int64_t)r.nflow * r.npath;
        narc += r.nflow * arcs_of(&r, w);
    }
    if (!arcs || !(out = routes_new(nflow, npath, narc, e))) {
        free(arcs);
        fail(e, E_MEMORY, "out of memory for the routes of %d flows", nflow);
        return NULL;
    }
    for (const int32_t *w = word; w < end;) {
        w = next_record(w, &r);
        for (int32_t i = 0; i < r.nflow; i++) {
            out->first[r.flow[i] + 1] = r.npath;
            arcs[r.flow[i] + 1] = arcs_of(&r, w);
        }
    }
    for (int32_t f = 0; f < nflow; f++) {
        out->first[f + 1] += out->first[f];
        arcs[f + 1] += arcs[f];
    }
    for (const int32_t *w = word; w < end;) {
        w = next_record(w, &r);
        for (int32_t i = 0; i < r.nflow; i++) {
            out->at[out->first[r.flow[i]]] = arcs[r.flow[i]];
            fill_flow(out, &r, out->first[r.flow[i]]);
        }
    }
    free(arcs);
    return out;
}

int bundle_gather(struct split *s, struct bundle *b, int rc, struct routes **out, struct err *e)
{
    struct comm *c = s->comm;
    char *all = NULL;
    int64_t *first = c->rank == 0 ? array((int64_t)c->size + 1, sizeof *first) : NULL;
    *out = NULL;
    if (rc < 0 || (c->rank == 0 && !first))
        rc = fail(e, E_MEMORY, "out of memory for routes");
    rc = comm_agree(c, rc, e);
    if (rc == 0)
        rc = c->gather(c, b->word, b->n * (int64_t)sizeof *b->word, c->rank == 0 ? &all : NULL, first, e);
    free(b->word);
    *b = (struct bundle){ 0 };
    if (rc == 0 && c->rank == 0) {
        const int32_t *word = (const int32_t *)(const void *)all;
        *out = assemble(s->p->nflow, word, word + first[c->size] / (int64_t)sizeof *word, e);
    }
    if (rc == 0)
        rc = comm_agree(c, c->rank == 0 && !*out ? -1 : 0, e);
    free(all);
    free(first);
    if (rc < 0) {
        routes_free(*out);
        *out = NULL;
    }
    return rc;
}

/* Shares below this are numerical dust; what is left is scaled to 1. */
static const double DUST = 1e-11;

static int bundle_commodity(const struct split *s, int32_t k, struct bundle *b)
{
    double sum = 0;
    int32_t npath = 0;
    for (int32_t y = s->com[k].way; y >= 0; y = s->way[y].next)
        if (s->way[y].best > DUST) {
            sum += s->way[y].best;
            npath++;
        }
    if (bundle_flows(b, s->flow + s->flow_at[k], s->flow_at[k + 1] - s->flow_at[k], npath) < 0)
        return -1;
    for (int32_t y = s->com[k].way; y >= 0; y = s->way[y].next)
        if (s->way[y].best > DUST && bundle_path(b, s->way[y].best / sum, &s->way[y]) < 0)
            return -1;
    return 0;
}

int split_routes(struct split *s, struct routes **out, struct err *e)
{
    struct bundle b = { 0 };
    int rc = 0;
    for (int32_t k = 0; k < s->ncom && rc == 0; k++)
        rc = bundle_commodity(s, k, &b);
    return bundle_gather(s, &b, rc, out, e);
}
