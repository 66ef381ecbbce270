/* Problem and plan files for the commands that read both: check and evaluate.
 */
#ifndef HEDDLE_INPUT_H
#define HEDDLE_INPUT_H

#include "solver/model/routes.h"

enum { INPUT_SETS = 64 };

/* What the command line says besides its own options. */
struct input_set {
    const char *text[INPUT_SETS]; /* "option=value" */
    int32_t n;
};

/* The folder of a path, in which fabric files that a problem names are looked for. Caller frees; NULL on short memory.
 */
char *input_folder(const char *path);

/* path "-" is standard input. A fabric file is looked for beside the problem. Messages begin with the path. */
int input_problem(const char *path, const struct input_set *set, struct problem **out, struct err *e);

/* The plan's own objective and routing become the problem's options. */
int input_plan(const char *path, struct problem *p, struct plan **out, struct err *e);

#endif
