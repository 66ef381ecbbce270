/* The subcommands of heddle: one function each, in cmd_<name>.c; argv[0] is the subcommand's name. They return the exit
 * status of README.md.
 */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include "solver/model/base.h"

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_REFUSED = 2, EXIT_LIMIT = 3, EXIT_UNREACHABLE = 4 };

int cmd_solve(int argc, char **argv);
int cmd_evaluate(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_client(int argc, char **argv); /* submit, status, wait, watch, result, cancel, list: argv[0] tells which */
int cmd_options(int argc, char **argv);
int cmd_world(int argc, char **argv); /* a world of ranks that takes jobs from heddled */

/* Print "heddle: <sentence>" on standard error and return the exit status for the error. */
int cli_refuse(const struct err *e);

/* Print "heddle <command>: <text>" and the usage line; returns EXIT_REFUSED. */
int cli_usage(const char *command, const char *usage, const char *text);

#endif
