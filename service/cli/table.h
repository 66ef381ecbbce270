/* Prints plans for people, and their summary for machines: jobs, hottest arcs, proof, what it took. solve, evaluate and
 * the client show the same tables; all read them from a plan's document (service/wire/README.md), so that a plan that
 * was fetched looks like one that was just made.
 */
#ifndef HEDDLE_TABLE_H
#define HEDDLE_TABLE_H

#include <stdio.h>

#include "service/wire/value.h"
#include "solver/model/fabric.h"

/* f names the ends of arcs ("leaf3 -> spine7"); NULL: arc numbers alone. Keys that are absent are left out. E_IO when
 * to can not be written, E_MEMORY. */
int table_plan(FILE *to, const struct value *plan, const struct fabric *f, struct err *e);

/* One JSON object: the plan without its flows and proof, the arcs cut to the hottest. */
int table_plan_json(FILE *to, const struct value *plan, struct err *e);

/* Any document as indented JSON and a line end. */
int table_json(FILE *to, const struct value *v, struct err *e);

#endif
