/* The order of a check, and what ties its parts together: status, value against bound, gap. Parts in check_part.h.
 */
#include "solver/check.h"
#include "solver/check_part.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Stated and proven bound, and the value against the bound, may differ by rounding. */
static const double ROUNDING = 1e-6;

int check_close(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

static void add(struct check_report *r, const char *prefix, const char *format, va_list ap)
{
    if (r->nfault++ >= CHECK_FAULTS)
        return;
    char *text = r->fault[r->nfault - 1];
    int n = snprintf(text, sizeof r->fault[0], "%s", prefix);
    if (n >= 0 && (size_t)n < sizeof r->fault[0])
        vsnprintf(text + n, sizeof r->fault[0] - (size_t)n, format, ap);
}

void check_fault(struct check_report *r, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(r, "", format, ap);
    va_end(ap);
}

void check_fault_flow(struct check_report *r, const struct problem *p, const struct routes *routes, int32_t f,
                      int64_t k, const char *format, ...)
{
    char prefix[160], path[40] = "";
    int32_t j = p->job[f];
    if (k >= 0)
        snprintf(path, sizeof path, "path %lld: ", (long long)(k - routes->first[f]));
    snprintf(prefix, sizeof prefix, "jobs[%d].flows[%d] (\"%.40s\" -> \"%.40s\"): %s", j, f - p->job_first[j],
             p->fabric->node_name[p->src[f]], p->fabric->node_name[p->dst[f]], path);
    va_list ap;
    va_start(ap, format);
    add(r, prefix, format, ap);
    va_end(ap);
}

/* A job with gbps demands cannot have more than it asks for: nothing is better than all served, whatever the gap. */
static int all_served(const struct problem *p, const struct plan *plan)
{
    int served = p->options.objective == OBJ_JOB_FAIR && p->kind == DEMAND_GBPS && plan->efficiency;
    for (int32_t j = 0; served && j < p->njob; j++)
        served = plan->efficiency[j] >= 1 - ROUNDING;
    return served;
}

/* Value, bound and gap against each other and against what is stated. */
static void check_gap(const struct problem *p, const struct plan *plan, struct check_report *r)
{
    int smaller = p->options.objective == OBJ_MAX_UTILIZATION;
    if (!(fabs(plan->certificate.bound - plan->bound) <= ROUNDING * fmax(fabs(plan->bound), 1e-300)))
        check_fault(r, "certificate states bound %.9g, the plan %.9g", plan->certificate.bound, plan->bound);
    if (smaller ? !(r->bound >= plan->bound * (1 - ROUNDING)) : !(r->bound <= plan->bound * (1 + ROUNDING)))
        check_fault(r, "certificate proves %.9g, plan claims %.9g", r->bound, plan->bound);
    if (smaller ? !(r->value >= r->bound * (1 - ROUNDING)) : !(r->value <= r->bound * (1 + ROUNDING)))
        check_fault(r, "value %.9g is better than the proven bound %.9g", r->value, r->bound);
    r->gap = plan_gap(r->bound, r->value);
    if (!check_close(plan->gap, plan_gap(plan->bound, plan->value), CHECK_VALUE))
        check_fault(r, "stated gap %.9g, bound and value give %.9g", plan->gap, plan_gap(plan->bound, plan->value));
    if (plan->status == PLAN_OPTIMAL && !(r->gap <= p->options.gap + ROUNDING) && !all_served(p, plan))
        check_fault(r, "status is optimal, but the gap %.9g is over %.9g", r->gap, p->options.gap);
}

int check_plan(const struct problem *p, const struct plan *plan, struct check_report *r, struct err *e)
{
    memset(r, 0, sizeof *r);
    r->value = r->bound = r->gap = NAN;
    if (plan->status == PLAN_INFEASIBLE)
        return check_cut(p, &plan->certificate, r, e);
    if (plan->status == PLAN_FAILED || !plan->routes) {
        check_fault(r, "plan has no routes");
        return 0;
    }
    if (check_routes(p, plan->routes, r, e) < 0)
        return -1;
    if (r->nfault == 0 && p->options.routing == ROUTE_DESTINATION && check_tables(p, plan, r, e) < 0)
        return -1;
    if (r->nfault > 0) /* nothing follows from routes that are none */
        return 0;
    if (check_rates(p, plan, r, e) < 0 || check_bound(p, plan, r, e) < 0)
        return -1;
    if (!isnan(r->bound))
        check_gap(p, plan, r);
    return 0;
}
