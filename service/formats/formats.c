/* The table of formats. */
#include "service/formats/formats.h"

#include <string.h>

#include "service/formats/ibnetdiscover.h"

const struct format format_table[] = {
    { "ibnetdiscover", "InfiniBand: output of ibnetdiscover, or a net file of ibsim", ibnetdiscover_read },
    { NULL, NULL, NULL },
};

const struct format *format_find(const char *name, struct err *e)
{
    for (const struct format *f = format_table; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    fail(e, E_INPUT, "unknown format \"%.60s\"; heddle import --list names the known ones", name);
    return NULL;
}

void format_note(struct format_report *r, const char *what, int64_t line)
{
    const int32_t room = sizeof r->note / sizeof *r->note;
    int32_t i = 0;
    while (i < r->nnote && strcmp(r->note[i].what, what) != 0)
        i++;
    if (i == room)
        return;
    if (i == r->nnote)
        r->note[r->nnote++] = (struct format_note){ what, 0, line };
    r->note[i].count++;
}
