/* What the document readers share: the fields of an object, tables as lists of objects or as columns, typed cells.
 * A refusal names the key and the value; the caller puts the entry before it: "jobs[0].flows[17]: ".
 * Not for use outside the doc_*.c files.
 */
#ifndef HEDDLE_DOC_PARTS_H
#define HEDDLE_DOC_PARTS_H

#include "service/wire/doc.h"
#include "service/wire/names.h"

enum cell_type { CELL_TEXT, CELL_INT, CELL_REAL, CELL_FLAG, CELL_NODE, CELL_LIST, CELL_ANY };

struct field {
    const char *key;
    enum cell_type type; /* how a bin column is read: int32 for INT, NODE and FLAG, float64 for REAL */
    int needed;
};

enum { MAX_FIELDS = 16, MAX_NAME = 200 };

/* The cells of one object, in the order of field[nfield]; NULL where absent. Refuses other keys, and absent needed
 * ones. */
int fields_read(const struct value *map, const struct field *field, int nfield, const struct value **cell,
                struct err *e);

struct table {
    const struct field *field;
    int nfield;
    const struct value *data;
    int32_t n;                              /* rows */
    const struct value *column[MAX_FIELDS]; /* columns only */
    struct value scratch[MAX_FIELDS];       /* a cell of a bin column */
};

/* A list of objects, or an object of equally long columns; data = NULL is a table without rows. Checks everything that
 * concerns the table as a whole. */
int table_open(struct table *t, const struct field *field, int nfield, const struct value *data, struct err *e);

/* Row i in [0, n): cells as in fields_read, valid until the next row. In columns null and, for optional numbers, -1
 * mean "not given". */
int table_row(struct table *t, int32_t i, const struct value **cell, struct err *e);

/* Typed reading of a cell. v = NULL leaves *out as it is. */
int cell_int(const struct value *v, const char *key, int64_t min, int64_t max, int32_t *out, struct err *e);
int cell_real(const struct value *v, const char *key, double *out, struct err *e); /* finite and not negative */
int cell_flag(const struct value *v, const char *key, uint8_t *out, struct err *e);
int cell_text(const struct value *v, const char *key, const char **out, struct err *e);
int cell_name(const struct value *v, const char *key, const char **out, struct err *e); /* plain, at most MAX_NAME */

/* A node by name or number. */
struct node_index {
    const struct names *names;
    int32_t nnode;
};
int cell_node(const struct value *v, const char *key, const struct node_index *nodes, int32_t *out, struct err *e);

/* "did you mean" for a word that is none of choice[n]: the nearest one, or NULL when none is near. */
const char *nearest(const char *word, const char *const *choice, int n);

/* The fabric and its node names; both for the caller to free. folder as in doc_problem, for v that names a file. */
int doc_fabric_named(const struct value *v, const char *folder, struct fabric **out, struct names **names,
                     struct err *e);

/* doc_tables.c: the "tables" of a plan. */
struct value *doc_tables_write(const struct fabric *f, const struct forward *t, struct arena *a);
int doc_tables(const struct value *v, const struct fabric *f, struct forward **out, struct err *e);

/* The "heddle" key: absent or 1. */
int doc_version(const struct value *v, struct err *e);

/* The object itself, or the "fabric" object of a document. */
const struct value *doc_fabric_object(const struct value *v, struct err *e);

/* folder/name, or name itself where it is absolute; NULL folder refuses. */
int doc_fabric_path(const struct value *name, const char *folder, char *path, size_t n, struct err *e);

#endif
