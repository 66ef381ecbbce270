/* What a user knows and a file does not say: capacities of cables, and which nodes are hosts. Rules never change what
 * the file states; a rule that nothing needed is refused, since it was meant for something.
 */
#ifndef HEDDLE_OVERLAY_H
#define HEDDLE_OVERLAY_H

#include "solver/model/base.h"

enum { OVERLAY_RULES = 64, OVERLAY_TEXT = 100 };

struct overlay_rule {
    int32_t tier;            /* of the cable: its upper end's; -1: any */
    char from[OVERLAY_TEXT]; /* patterns with * and ? for the two ends, either way round; "": any */
    char to[OVERLAY_TEXT];
    double gbps;
    int64_t used;
};

struct overlay_hosts {
    char pattern[OVERLAY_TEXT];
    int64_t used;
};

struct overlay {
    struct overlay_rule rule[OVERLAY_RULES];
    struct overlay_hosts host[OVERLAY_RULES];
    int32_t nrule, nhost;
    int capacity_free; /* 1: capacities do not matter here (a comparison of cables), unknown ones read as 1 */
};

/* "400", "tier1=400,tier2=800", "leaf*~spine*=400": adds rules, of which the first one that fits a cable counts. */
int overlay_gbps(struct overlay *o, const char *rules, struct err *e);

/* "gpu*,client?": names of nodes that are hosts. */
int overlay_hosts(struct overlay *o, const char *patterns, struct err *e);

int overlay_is_host(struct overlay *o, const char *name);

/* Gb/s of a cable whose file does not say it; 0 where no rule fits. o may be NULL. */
double overlay_find(struct overlay *o, int32_t tier, const char *from, const char *to);

/* Refuses rules that were not needed. o may be NULL. */
int overlay_check_used(const struct overlay *o, struct err *e);

#endif
