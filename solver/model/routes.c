#include "solver/model/routes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct routes *routes_new(int32_t nflow, int64_t npath, int64_t narc, struct err *e)
{
    struct routes *r = array(1, sizeof *r);
    if (!r)
        goto oom;
    r->nflow = nflow;
    r->npath = npath;
    r->first = array((int64_t)nflow + 1, sizeof *r->first);
    r->share = array(npath, sizeof *r->share);
    r->gbps = array(npath, sizeof *r->gbps);
    r->at = array(npath + 1, sizeof *r->at);
    r->arc = array(narc, sizeof *r->arc);
    if (r->first && r->share && r->gbps && r->at && r->arc)
        return r;
oom:
    routes_free(r);
    fail(e, E_MEMORY, "out of memory for routes of %d flows", nflow);
    return NULL;
}

struct routes *routes_copy(const struct routes *r, struct err *e)
{
    struct routes *c = routes_new(r->nflow, r->npath, r->at[r->npath], e);
    if (!c)
        return NULL;
    memcpy(c->first, r->first, ((size_t)r->nflow + 1) * sizeof *r->first);
    memcpy(c->share, r->share, (size_t)r->npath * sizeof *r->share);
    memcpy(c->gbps, r->gbps, (size_t)r->npath * sizeof *r->gbps);
    memcpy(c->at, r->at, ((size_t)r->npath + 1) * sizeof *r->at);
    memcpy(c->arc, r->arc, (size_t)r->at[r->npath] * sizeof *r->arc);
    return c;
}

void routes_free(struct routes *r)
{
    if (!r)
        return;
    free(r->first);
    free(r->share);
    free(r->gbps);
    free(r->at);
    free(r->arc);
    free(r);
}

void certificate_free(struct certificate *c)
{
    free(c->arc);
    free(c->price);
    free(c->flow);
    *c = (struct certificate){ 0 };
}

int certificate_prices(struct certificate *c, double bound, const double *price, int32_t narc, struct err *e)
{
    struct certificate new = { .kind = CERT_PRICES, .bound = bound };
    for (int32_t a = 0; a < narc; a++)
        new.narc += price[a] > 0;
    new.arc = array(new.narc, sizeof *new.arc);
    new.price = array(new.narc, sizeof *new.price);
    if (!new.arc || !new.price) {
        certificate_free(&new);
        return fail(e, E_MEMORY, "out of memory for a certificate of %lld prices", (long long)new.narc);
    }
    for (int32_t a = 0, n = 0; a < narc; a++)
        if (price[a] > 0) {
            new.arc[n] = a;
            new.price[n++] = price[a];
        }
    certificate_free(c);
    *c = new;
    return 0;
}

int certificate_pigeonhole(struct certificate *c, double bound, const int32_t *arc, int64_t narc, const int32_t *flow,
                           int64_t nflow, struct err *e)
{
    struct certificate new = { .kind = CERT_PIGEONHOLE, .bound = bound, .narc = narc, .nflow = nflow };
    new.arc = array(narc, sizeof *new.arc);
    new.flow = array(nflow, sizeof *new.flow);
    if (!new.arc || !new.flow) {
        certificate_free(&new);
        return fail(e, E_MEMORY, "out of memory for a certificate of %lld flows", (long long)nflow);
    }
    memcpy(new.arc, arc, (size_t)narc * sizeof *arc);
    memcpy(new.flow, flow, (size_t)nflow * sizeof *flow);
    certificate_free(c);
    *c = new;
    return 0;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    routes_free(p->routes);
    forward_free(p->tables);
    free(p->efficiency);
    free(p->ecmp);
    free(p->job_bound);
    free(p->load);
    certificate_free(&p->certificate);
    for (int32_t i = 0; p->level && i < p->nlevel; i++) {
        free(p->level[i].job);
        certificate_free(&p->level[i].proof);
    }
    free(p->level);
    free(p);
}

double plan_gap(double bound, double value)
{
    double scale = fmax(fabs(bound), fabs(value));
    return scale > 0 ? fabs(bound - value) / scale : 0;
}
