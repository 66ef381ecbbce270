/* What every subcommand says the same way: refusals, usage, and whether it was started by a launcher. */
#include "service/cli/cli.h"

#include <stdio.h>

int cli_refuse(const struct err *e)
{
    fprintf(stderr, "heddle: %s\n", e->text);
    return e->code == E_INPUT || e->code == E_IO ? EXIT_REFUSED : EXIT_NO;
}

int cli_usage(const char *command, const char *usage, const char *text)
{
    fprintf(stderr, "heddle %s: %s\nusage: heddle %s %s\n", command, text, command, usage);
    return EXIT_REFUSED;
}
