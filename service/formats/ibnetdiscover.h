/* InfiniBand fabrics: what ibnetdiscover prints, and the net files of ibsim, which share its grammar.
 */
#ifndef HEDDLE_IBNETDISCOVER_H
#define HEDDLE_IBNETDISCOVER_H

#include "service/formats/formats.h"

/* Real dumps are dirty: lost tabs, CR CR LF, log banners, group lines. Lines are read by their quotes and brackets; a
 * line without quotes that starts like nothing known is counted as noise. What is wrong is refused: a cable whose two
 * ends disagree, a peer that is not in the file, a channel adapter without a cable, two lines for one port.
 *
 * Nodes: switches (and routers) by their description, adapters as "host/mlx5_5"; a description that is generic (a
 * chip's name), missing, or not unique names nobody: the node is then called by its id ("H-e09d7303007a4bd8") and has
 * no host. host = first word of the description. rail = N of mlx5_N or ibpNs0, and N - 1 of HCA-N, which counts from 1
 * what mlx5 counts from 0, so that both names of an adapter give the same rail. SHARP aggregation nodes carry no
 * traffic and are left out. Tiers: NIC 0; switches by distance from the leaves, which are the switches with at least an
 * eighth of the NICs of the fullest one. Capacity: width x speed as data rate (4x: SDR 8, DDR 16, QDR 32, FDR10 40,
 * FDR 54.5, EDR 100, HDR 200, NDR 400, XDR 800 Gb/s); where the ends of a cable differ, the lower one, with a note;
 * where none is given, 4xSDR, with a note. */
int ibnetdiscover_read(const char *path, const char *data, int64_t n, struct fabric **out, struct format_report *report,
                       struct err *e);

#endif
