/* What Slurm and topograph know of a fabric: which nodes and switches hang on which switch, or which nodes make a
 * block. Capacities and parallel cables they do not know. Happy path: tree_new, tree_switch and tree_children or
 * tree_nodes for each switch (in any order), or tree_block for each block; tree_fabric; tree_free.
 */
#ifndef HEDDLE_SWITCH_TREE_H
#define HEDDLE_SWITCH_TREE_H

#include "service/formats/wiring.h"

enum { TREE_SIZES = 16 };

struct switch_tree {
    struct wiring *w;
    struct names *pair;  /* cables that are there */
    int32_t *block;      /* [nblock] their switches, in order */
    int64_t *block_size; /* [nblock] nodes in it */
    int64_t block_room, size_room, size[TREE_SIZES];
    int32_t nblock, nsize;
    int bare; /* 1: a switch that is only ever named has nothing below it; 0: it is refused */
};

int tree_new(struct switch_tree *t, const struct format_input *in, struct err *e);
void tree_free(struct switch_tree *t);

/* The switch of that name, which must not be described already; -1 refused. */
int32_t tree_switch(struct switch_tree *t, struct text name);

/* Hostlists of what hangs on a switch. A node may hang on several. */
int tree_children(struct switch_tree *t, int32_t sw, struct text list);
int tree_nodes(struct switch_tree *t, int32_t sw, struct text list);

int tree_block(struct switch_tree *t, struct text name, struct text list);
int tree_block_size(struct switch_tree *t, struct text number); /* "4", then "8", ...: each a multiple of the last */

/* Tiers by height: a switch stands one above the highest that hangs on it. Refuses cycles. */
int tree_fabric(struct switch_tree *t, struct fabric **out);

#endif
