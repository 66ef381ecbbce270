/* Fabrics and jobs from a few numbers: one table of options, one call per kind. Seeded: same options, same bytes.
 * Happy path: generate_default(&g), generate_set for each option given, generate_fabric; then generate_jobs on it.
 */
#ifndef HEDDLE_GENERATE_H
#define HEDDLE_GENERATE_H

#include "solver/model/fabric.h"

/* What can be made; a row of the table says by a mask for which of them it counts. */
enum generate_kind { GENERATE_CLOS = 1, GENERATE_FAT_TREE = 2, GENERATE_MULTI_DC = 4, GENERATE_JOBS = 8 };

enum generate_join { JOIN_RING, JOIN_MESH };
enum generate_border { BORDER_SPINE, BORDER_LEAF };
enum generate_place { PLACE_PACKED, PLACE_FRAGMENTED };
enum job_kind { JOB_RING, JOB_HIERARCHICAL, JOB_ALL_GATHER, JOB_REDUCE_SCATTER, JOB_ALL_TO_ALL, JOB_PIPELINE };

/* KIND:SIZE[/GROUP][:COUNT[:BYTES]][:across] */
struct job_spec {
    enum job_kind kind;
    int32_t size;   /* NICs, for hierarchical hosts; 0: all that there are */
    int32_t group;  /* ranks per ring, all-to-all, ...; every (size / group)-th rank; 0: one group of all */
    int32_t count;  /* jobs of this make */
    int32_t across; /* 1: hosts from all sites in turn, else of one site */
    double bytes;   /* per group and iteration; 0: the option bytes */
};

enum { GENERATE_LIST = 64 }; /* most jobs and most capacities that may be listed */

struct generate {
    int32_t leaves, spines, nics, rails, cables;
    int32_t k, pods, planes, cores;
    int32_t sites, wan_links, border_switches;
    int32_t dead_spines, block;
    int32_t join, border, place; /* enums above */
    double gbps, uplink_gbps, core_gbps, dead_cables, wan_latency_us, bytes;
    double wan_gbps[GENERATE_LIST];
    int32_t nwan;
    struct job_spec job[GENERATE_LIST];
    int32_t njob;
    int64_t seed;
};

enum generate_type { GENERATE_INTEGER, GENERATE_REAL, GENERATE_WORD, GENERATE_REALS, GENERATE_JOB };

struct generate_row {
    const char *name, *initial, *help;
    int kinds; /* mask of generate_kind */
    enum generate_type type;
    size_t offset;   /* in struct generate */
    double min, max; /* numbers: the accepted range, ends included */
    const char *const *words;
};
extern const struct generate_row generate_table[]; /* NULL name at the end */

void generate_default(struct generate *g);

/* Returns the kind of that name, or 0 with e set. */
int generate_kind(const char *name, struct err *e);

/* The row of an option of this kind; NULL with e set for an unknown one or one of another kind. */
const struct generate_row *generate_find(int kind, const char *name, struct err *e);

/* Refuses junk and values out of range; g is then unchanged. */
int generate_set(struct generate *g, const struct generate_row *row, const char *value, struct err *e);

/* A finished fabric: tier (NIC 0, leaf 1, spine 2, core 3), host and rail of NICs, pod and site where the kind has
 * them. Nodes: switches before NICs, NICs host by host. Cost linear in the fabric. */
struct fabric *generate_fabric(const struct generate *g, int kind, struct err *e);

#endif
