/* Problems and plans as other tools' files, behind one table.
 */
#ifndef HEDDLE_EXPORTS_H
#define HEDDLE_EXPORTS_H

#include <stdio.h>

#include "solver/model/routes.h"

struct export_options {
    int lmc; /* InfiniBand: a NIC has 2^lmc addresses */
};

struct export_format {
    const char *name, *summary;
    int needs_plan; /* 0: the fabric is enough */
    int (*write)(const struct problem *p, const struct plan *plan, const struct export_options *o, FILE *out,
                 struct err *e); /* needs_plan */
    int (*write_fabric)(const struct fabric *f, const struct export_options *o, FILE *out, struct err *e);
};
extern const struct export_format export_table[]; /* NULL name at the end */

const struct export_format *export_find(const char *name, struct err *e);

/* ib_tables.c: for OpenSM's routing engine "file"; plans with forwarding tables. */
int ib_tables_write(const struct problem *p, const struct plan *plan, const struct export_options *o, FILE *out,
                    struct err *e);

/* ibsim.c: a net file of the simulator ibsim: what is alive of the fabric. */
int ibsim_write(const struct fabric *f, const struct export_options *o, FILE *out, struct err *e);

#endif
