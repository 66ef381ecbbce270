/* A cabling plan held against the fabric that was found: which cables are missing, extra or go elsewhere.
 */
#ifndef HEDDLE_CABLING_H
#define HEDDLE_CABLING_H

#include "solver/model/fabric.h"

enum cabling_kind { CABLE_MISSING, CABLE_EXTRA, CABLE_MISWIRED };

struct cabling_row {
    enum cabling_kind kind;
    int32_t plan, found; /* links of the two fabrics; -1: none */
};

struct cabling {
    struct cabling_row *row; /* [nrow], by planned cable, extra ones last */
    int64_t nrow, count[3];  /* per kind */
    int64_t same, internal;  /* as planned; found cables inside one device (a director), left out */
};

/* Ends are compared as device and port. Device: the host of a NIC, or a switch's name, of which OpenSM's frame
 * "MF0;NAME:MODEL/U1" is taken off. Port: the adapter's name behind the host's ("host/mlx5_0"), or the number of a
 * switch's port; a port that one side does not number (a director's "Blade 3_Port 1/2") fits any at that device.
 * Miswired: a planned cable that is not there, one of whose ports has a cable that is not planned. O(n log n) but for
 * parallel cables between two devices, which are compared in pairs. Free out with cabling_free, also on failure. */
int cabling_compare(const struct fabric *plan, const struct fabric *found, struct cabling *out, struct err *e);
void cabling_free(struct cabling *c);

/* "leaf1 port 21" of link i's from (side 0) or to (side 1). */
void cabling_say(const struct fabric *f, int32_t i, int side, char *out, size_t n);

#endif
