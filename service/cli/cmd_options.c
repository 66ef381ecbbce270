/* heddle options: the table of solve options, as text or as the README's rows. */
#include "service/cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "solver/model/options.h"

static const char usage[] = "[--markdown]";

/* The accepted values as text: words, or the range. */
static void range(const struct option_row *o, char *text, size_t n)
{
    text[0] = 0;
    if (o->type != OPTION_WORD) {
        snprintf(text, n, "%.15g to %.15g", o->min, o->max);
        return;
    }
    for (int i = 0; o->words[i]; i++)
        snprintf(text + strlen(text), n - strlen(text), "%s%s", i ? ", " : "", o->words[i]);
}

int cmd_options(int argc, char **argv)
{
    int markdown = argc == 2 && !strcmp(argv[1], "--markdown");
    char text[200];
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        printf("usage: heddle options %s\n", usage);
        return EXIT_DONE;
    }
    if (argc > 1 && !markdown)
        return cli_usage("options", usage, "it takes no other argument");
    if (markdown)
        printf("| option | default | values | unit | what |\n|---|---|---|---|---|\n");
    for (const struct option_row *o = option_table; o->name; o++) {
        range(o, text, sizeof text);
        printf(markdown ? "| `%s` | %s | %s | %s | %s |\n" : "%-15s %-9s %-32s %-8s %s\n", o->name, o->initial, text,
               o->unit, o->help);
    }
    return EXIT_DONE;
}
