/* Documents as problems, fabrics and plans, and back (README.md in this folder). Names become numbers here; every
 * refusal names the entry and the value.
 */
#ifndef HEDDLE_DOC_H
#define HEDDLE_DOC_H

#include "service/wire/value.h"
#include "solver/model/routes.h"

/* folder: where a "fabric": "file" is looked for; NULL refuses such a reference (documents that came over the wire).
 * Unknown keys at any level are refused by name, with the nearest known one. */
int doc_problem(const struct value *v, const char *folder, struct problem **out, struct err *e);
int doc_fabric(const struct value *v, struct fabric **out, struct err *e); /* the object, or a document holding it */

/* Sets the options that an "options" object names; NULL names none. */
int doc_options(const struct value *v, struct options *o, struct err *e);

/* Puts the fabric file's object in place of its name, so that the document stands alone. */
int doc_inline(struct value *v, const char *folder, struct arena *a, struct err *e);

/* columns: large tables as bin columns, which only msgpack can hold; else lists of objects. */
int doc_fabric_write(const struct fabric *f, int columns, struct arena *a, struct value **out, struct err *e);
int doc_problem_write(const struct problem *p, int columns, struct arena *a, struct value **out, struct err *e);

int doc_plan_write(const struct problem *p, const struct plan *plan, struct arena *a, struct value **out,
                   struct err *e);
/* A plan states its own objective and routing: sets both. */
int doc_plan_options(const struct value *v, struct options *o, struct err *e);

/* Reads what check and evaluate need; flows and jobs must match the problem's in number, names
 * and order; what is null or absent (value of an infeasible plan) reads as NaN. */
int doc_plan(const struct value *v, const struct problem *p, struct plan **out, struct err *e);

/* Bytes that the tree of a document of n bytes may take: the limit for the arena of one that came over the wire. */
int64_t doc_limit(int64_t n);

/* Files: "-" is standard input or output; ".mp" is msgpack, anything else JSON (msgpack is recognised when reading).
 * Writing goes to a temporary file beside the target and is renamed: nothing half-written is ever seen. */
int doc_load(const char *path, struct arena *a, struct value **out, struct err *e);
int doc_parse(const char *data, int64_t n, struct arena *a, struct value **out, struct err *e); /* JSON or msgpack */
int doc_save(const char *path, const struct value *v, struct err *e);

#endif
