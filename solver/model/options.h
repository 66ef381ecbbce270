/* The options of a solve: one struct, one table. A row of the table gives name, default, range, unit and help to the
 * document reader, --set, --help, the README and configs/heddled.conf. Adding an option is adding a field and a row.
 */
#ifndef HEDDLE_OPTIONS_H
#define HEDDLE_OPTIONS_H

#include "solver/model/base.h"

enum objective { OBJ_JOB_FAIR, OBJ_MAX_UTILIZATION };
enum routing { ROUTE_PINNED, ROUTE_SPLIT, ROUTE_DESTINATION };
enum path_policy { PATHS_ALL, PATHS_SHORTEST, PATHS_DISJOINT };

struct options {
    enum objective objective;
    enum routing routing;
    enum path_policy policy;
    int32_t disjoint;       /* k of "disjoint:k"; 0 for other policies */
    int32_t paths_per_flow; /* pinned: subflows per flow, at most */
    double gap;             /* stop when |bound - value| / max(|bound|, |value|) is at most this */
    double time_limit;      /* seconds */
    int32_t pods;           /* pods to cut when the fabric has no labels; 0: chosen from the fabric's size */
    int64_t seed;
};

enum option_type { OPTION_INTEGER, OPTION_REAL, OPTION_WORD };

struct option_row {
    const char *name, *initial, *unit, *help;
    enum option_type type;
    double min, max;          /* numbers: the accepted range, ends included */
    const char *const *words; /* OPTION_WORD: NULL-terminated choices; "disjoint:k" stands for disjoint:1 to :64 */
};

/* The table, NULL name at the end. */
extern const struct option_row option_table[];

void options_default(struct options *o);

/* Set one option from text. Refuses an unknown name (naming the nearest ones), trailing junk, a value out of range;
 * o is then unchanged. */
int options_set(struct options *o, const char *name, const char *value, struct err *e);

/* The same from "option=value". */
int options_apply(struct options *o, const char *text, struct err *e);

/* The option's present value as text that options_set takes back; n bytes of room. */
void options_get(const struct options *o, const char *name, char *text, size_t n);

#endif
