/* InfiniBand forwarding tables in the text form that OpenSM writes (opensm-lfts.dump), ibroute prints, and OpenSM's
 * routing engine "file" loads. Writing is in exports.h.
 */
#ifndef HEDDLE_IB_TABLES_H
#define HEDDLE_IB_TABLES_H

#include "service/formats/formats.h"
#include "solver/model/forward.h"

/* The tables in data[n] as those of f. Switches are known by GUID, destinations by port GUID or, where a line has none,
 * by address; f's nodes have those given in it, else the ones that the exports assign. Destinations, switches and
 * ports that f does not have are counted as notes. Refuses a file without any table of f's switches. */
int ib_tables_read(const char *path, const char *data, int64_t n, const struct fabric *f, struct forward **out,
                   struct format_report *report, struct err *e);

#endif
