#include "service/formats/overlay.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "service/formats/text.h"

static int read_rule(struct text t, struct overlay_rule *r, struct err *e)
{
    struct text whole = t, left = { t.at, 0 }, number = t;
    for (int i = 0; i < t.n; i++)
        if (t.at[i] == '=') { /* the last one: names may hold others */
            left.n = i;
            number = (struct text){ t.at + i + 1, t.n - i - 1 };
        }
    *r = (struct overlay_rule){ .tier = -1 };
    if (!text_real(text_trim(number), &r->gbps) || !(r->gbps > 0))
        return fail(e, E_INPUT, "--gbps %.*s: want a positive number, tierN=number or FROM~TO=number", TEXT_SAY(whole));
    left = text_trim(left);
    if (left.n == 0 && number.at == t.at)
        return 0;
    if (text_starts(left, "tier")) {
        struct text tier = left;
        text_skip(&tier, 4);
        r->tier = text_number(tier);
        if (r->tier >= 0)
            return 0;
    }
    if (!memchr(left.at, '~', (size_t)left.n))
        return fail(e, E_INPUT, "--gbps %.*s: \"%.*s\" is neither tierN nor FROM~TO", TEXT_SAY(whole), TEXT_SAY(left));
    struct text from = text_until(&left, '~');
    if (from.n == 0 || left.n == 0 || !text_out(from, r->from, sizeof r->from) || !text_out(left, r->to, sizeof r->to))
        return fail(e, E_INPUT, "--gbps %.*s: patterns have 1 to %d bytes", TEXT_SAY(whole), OVERLAY_TEXT - 1);
    return 0;
}

int overlay_gbps(struct overlay *o, const char *rules, struct err *e)
{
    struct text rest = { rules, (int)strlen(rules) };
    do {
        struct text rule = text_trim(text_until(&rest, ','));
        if (o->nrule == OVERLAY_RULES)
            return fail(e, E_INPUT, "--gbps: more than %d rules", OVERLAY_RULES);
        if (read_rule(rule, &o->rule[o->nrule], e) < 0)
            return -1;
        o->nrule++;
    } while (rest.n > 0);
    return 0;
}

int overlay_hosts(struct overlay *o, const char *patterns, struct err *e)
{
    struct text rest = { patterns, (int)strlen(patterns) };
    do {
        struct text pattern = text_trim(text_until(&rest, ','));
        if (o->nhost == OVERLAY_RULES)
            return fail(e, E_INPUT, "--hosts: more than %d patterns", OVERLAY_RULES);
        if (pattern.n == 0 || !text_out(pattern, o->host[o->nhost].pattern, OVERLAY_TEXT))
            return fail(e, E_INPUT, "--hosts \"%.*s\": a pattern has 1 to %d bytes", TEXT_SAY(pattern),
                        OVERLAY_TEXT - 1);
        o->nhost++;
    } while (rest.n > 0);
    return 0;
}

int overlay_is_host(struct overlay *o, const char *name)
{
    int is = 0;
    for (int32_t i = 0; o && i < o->nhost; i++)
        if (fnmatch(o->host[i].pattern, name, 0) == 0) {
            o->host[i].used++;
            is = 1;
        }
    return is;
}

static int fits(const struct overlay_rule *r, int32_t tier, const char *from, const char *to)
{
    if (r->tier >= 0)
        return r->tier == tier;
    return !r->from[0] || (fnmatch(r->from, from, 0) == 0 && fnmatch(r->to, to, 0) == 0) ||
           (fnmatch(r->from, to, 0) == 0 && fnmatch(r->to, from, 0) == 0);
}

double overlay_find(struct overlay *o, int32_t tier, const char *from, const char *to)
{
    for (int32_t i = 0; o && i < o->nrule; i++)
        if (fits(&o->rule[i], tier, from, to)) {
            o->rule[i].used++;
            return o->rule[i].gbps;
        }
    return o && o->capacity_free ? 1 : 0;
}

int overlay_check_used(const struct overlay *o, struct err *e)
{
    for (int32_t i = 0; o && i < o->nrule; i++) {
        const struct overlay_rule *r = &o->rule[i];
        char name[2 * OVERLAY_TEXT + 8] = "";
        if (r->used > 0)
            continue;
        if (r->tier >= 0)
            snprintf(name, sizeof name, "tier%d=", r->tier);
        else if (r->from[0])
            snprintf(name, sizeof name, "%s~%s=", r->from, r->to);
        return fail(e, E_INPUT, "--gbps %s%g fits no cable whose capacity is unknown", name, r->gbps);
    }
    for (int32_t i = 0; o && i < o->nhost; i++)
        if (o->host[i].used == 0)
            return fail(e, E_INPUT, "--hosts %s fits no node", o->host[i].pattern);
    return 0;
}
