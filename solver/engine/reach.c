#include "solver/engine/reach.h"

void reach(const struct fabric *f, const double *price, int32_t s, int32_t mark, int32_t *seen, int32_t *queue)
{
    int32_t n = 0;
    queue[n++] = s;
    seen[s] = mark;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = queue[i];
        if (f->node_kind[v] == NODE_NIC && v != s)
            continue;
        for (int32_t k = f->first[v]; k < f->first[v + 1]; k++) {
            int32_t a = f->out[k], t = f->head[a];
            if (seen[t] != mark && !(price && price[a] > 0)) {
                seen[t] = mark;
                queue[n++] = t;
            }
        }
    }
}
