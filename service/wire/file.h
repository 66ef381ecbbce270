/* Whole files in and out. "-" is standard input or output.
 */
#ifndef HEDDLE_FILE_H
#define HEDDLE_FILE_H

#include "solver/model/base.h"

/* *data is allocated (caller frees), a zero byte behind its *n bytes. E_INPUT when the file can not be opened. */
int file_read(const char *path, char **data, int64_t *n, struct err *e);

/* The file appears under its name whole or not at all: a temporary file beside it is written, synced and
 * renamed. Devices and pipes are written to as they are. */
int file_write(const char *path, const char *data, int64_t n, struct err *e);

#endif
