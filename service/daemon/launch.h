/* Starting and ending the processes of a world: the launcher (mpirun, srun or none) in a session of its own, with the
 * environment, limits and folder that a world needs. A world's processes carry its folder in their environment, which
 * is how those that were left behind are found again.
 */
#ifndef HEDDLE_LAUNCH_H
#define HEDDLE_LAUNCH_H

#include <sys/types.h>

#include "solver/model/base.h"

struct launch {
    const char *launcher; /* words, with {ranks} and {folder}; "" for none */
    const char *solver;   /* path of the heddle program */
    const char *folder;   /* of the world; made when absent, becomes TMPDIR */
    const char *address;  /* where the world's first rank dials to */
    const char *log;      /* file that takes what the world prints */
    int64_t ranks, epoch;
    int32_t world;
};

/* Returns the launcher's pid, or -1. A program that cannot be run shows as exit status 127. Call from the main thread:
 * the world gets SIGTERM when the thread that started it ends. */
pid_t launch_world(const struct launch *l, struct err *e);

/* SIGKILL to every process that was started with this folder, stopped ones included. Returns how many. */
int launch_kill(const char *folder);

/* Removes a folder with all that is in it; an absent one is fine. */
void launch_remove(const char *folder);

/* Makes the folder (mode 0700), or accepts one that is this user's and closed to others; E_INPUT otherwise. */
int launch_folder(const char *folder, struct err *e);

/* The heddle program: name when given, else beside this program (../cli/heddle as built, ./heddle as installed), else
 * from PATH. E_INPUT when there is none that can be run. path[n]. */
int launch_solver(const char *name, char *path, size_t n, struct err *e);

#endif
