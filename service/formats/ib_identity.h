/* Who is who in an InfiniBand subnet: GUID, address (LID) and port numbers of a fabric's nodes, as given, else
 * assigned: the same for every file written of one fabric.
 */
#ifndef HEDDLE_IB_IDENTITY_H
#define HEDDLE_IB_IDENTITY_H

#include "solver/model/fabric.h"

struct ib_identity {
    uint64_t *guid;   /* [nnode] of a switch, or of a NIC's port */
    int32_t *lid;     /* [nnode] base address; -1: a node without a live cable, which is in no subnet */
    int32_t *port;    /* [narc] port number at the arc's tail */
    int32_t *most;    /* [nnode] highest port number in use */
    int32_t *by_guid; /* [nnode] nodes by rising GUID */
    int32_t highest_lid;
    int32_t nnode;
};

enum { IB_MAX_LMC = 7, IB_MAX_PORT = 254, IB_MAX_LID = 0xbfff };

/* A NIC has 2^lmc addresses from a multiple of 2^lmc on. Refuses two nodes with one GUID or address, two cables on one
 * port, a base address that is no multiple, a NIC with several live cables (each of its ports is an endpoint of its
 * own), more addresses or ports than there are. */
int ib_identity_new(struct ib_identity *x, const struct fabric *f, int lmc, struct err *e);
void ib_identity_free(struct ib_identity *x); /* frees what x holds, not x */

int32_t ib_identity_find(const struct ib_identity *x, uint64_t guid); /* node, or -1 */

#endif
