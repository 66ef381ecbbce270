#include "service/cli/input.h"

#include <stdlib.h>
#include <string.h>

#include "service/wire/doc.h"

static int apply(const struct input_set *set, struct options *o, struct err *e)
{
    for (int32_t i = 0; i < set->n; i++)
        if (options_apply(o, set->text[i], e) < 0)
            return -1;
    return 0;
}

char *input_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = text_copy(slash ? path : ".");
    if (folder && slash)
        folder[slash > path ? slash - path : 1] = 0;
    return folder;
}

int input_problem(const char *path, const struct input_set *set, struct problem **out, struct err *e)
{
    struct arena *a = arena_new(0, e);
    struct value *v = NULL;
    char *folder = input_folder(path);
    int rc = a && folder ? doc_load(path, a, &v, e) : fail(e, E_MEMORY, "out of memory");
    if (rc == 0 && doc_problem(v, folder, out, e) < 0)
        rc = fail_at(e, "%s: ", path);
    arena_free(a);
    free(folder);
    if (rc == 0 && apply(set, &(*out)->options, e) < 0) {
        problem_free(*out);
        *out = NULL;
        rc = -1;
    }
    return rc;
}

int input_plan(const char *path, struct problem *p, struct plan **out, struct err *e)
{
    struct arena *a = arena_new(0, e);
    struct value *v = NULL;
    int rc = a ? doc_load(path, a, &v, e) : -1;
    if (rc == 0 && (doc_plan_options(v, &p->options, e) < 0 || doc_plan(v, p, out, e) < 0))
        rc = fail_at(e, "%s: ", path);
    arena_free(a);
    return rc;
}
