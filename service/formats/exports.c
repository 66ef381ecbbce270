/* The table of exports. */
#include "service/formats/exports.h"

#include <string.h>

const struct export_format export_table[] = {
    { "ib-lft", "InfiniBand forwarding tables for OpenSM: opensm -R file -U FILE", 1, ib_tables_write, NULL },
    { "ibsim", "the fabric as a net file of the InfiniBand simulator ibsim", 0, NULL, ibsim_write },
    { NULL, NULL, 0, NULL, NULL },
};

const struct export_format *export_find(const char *name, struct err *e)
{
    for (const struct export_format *f = export_table; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    fail(e, E_INPUT, "unknown format \"%.60s\"; heddle export --list names the known ones", name);
    return NULL;
}
