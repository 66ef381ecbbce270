#include "solver/comm/comm.h"

#include <stdlib.h>

void comm_free(struct comm *c)
{
    if (c)
        c->free(c);
}

int comm_launched(void)
{
    /* Open MPI's mpirun, any PMIx or PMI server, Hydra. A batch script has SLURM_NTASKS too, but no step of its own. */
    static const char *const sign[] = { "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID" };
    for (size_t i = 0; i < sizeof sign / sizeof *sign; i++)
        if (getenv(sign[i]))
            return 1;
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return tasks && strtol(tasks, NULL, 10) > 1;
}

int comm_share(struct comm *c, char **data, int64_t *n, struct err *e)
{
    int64_t size = c->rank == 0 ? *n : 0;
    if (c->bcast(c, &size, sizeof size, e) < 0)
        return -1;
    int rc = 0;
    if (c->rank != 0) {
        *n = size;
        *data = array(size, 1);
        rc = *data ? 0 : fail(e, E_MEMORY, "rank %d: out of memory for %lld bytes", c->rank, (long long)size);
    }
    if (comm_agree(c, rc, e) < 0 || c->bcast(c, *data, size, e) < 0) {
        if (c->rank != 0) {
            free(*data);
            *data = NULL;
        }
        return -1;
    }
    return 0;
}

int comm_agree(struct comm *c, int rc, struct err *e)
{
    int64_t failed = rc < 0;
    if (c->sum(c, &failed, 1, e) < 0)
        return -1;
    if (failed > 0 && rc == 0)
        return fail(e, E_COMM, "%lld other ranks failed", (long long)failed);
    return failed > 0 ? -1 : 0;
}
