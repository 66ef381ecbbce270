/* Slurm's hostlists: "tux[0-3,12],login" is tux0 tux1 tux2 tux3 tux12 login. Zeros in front are kept, several brackets
 * in one name are a product.
 */
#ifndef HEDDLE_HOSTLIST_H
#define HEDDLE_HOSTLIST_H

#include "service/formats/text.h"
#include "solver/model/base.h"

enum { HOSTLIST_MOST = 1 << 18 }; /* names in one list */

/* Calls each for every name in order; stops and returns -1 where it does. Refuses bad brackets and ranges. */
int hostlist_expand(struct text list, int (*each)(void *context, struct text name), void *context, struct err *e);

#endif
