/* CommaLab plain: N M K, M arcs, K demands, all of it numbers. */
#include <stdio.h>
#include <string.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"

static const int64_t MOST = 1 << 28;

static int integer(struct wiring *w, struct scan *s, const char *what, int64_t min, int64_t max, int64_t *out)
{
    struct text word;
    int more = scan_word(s, &word);
    wiring_line(w, 0, s->line);
    if (!more)
        return wiring_bad(w, "the file ends where %s should stand", what);
    if (!text_integer(word, out) || *out < min || *out > max)
        return wiring_bad(w, "%s \"%.*s\" is no integer in [%lld, %lld]", what, TEXT_SAY(word), (long long)min,
                          (long long)max);
    return 0;
}

static int real(struct wiring *w, struct scan *s, const char *what, double *out)
{
    struct text word;
    int more = scan_word(s, &word);
    wiring_line(w, 0, s->line);
    if (!more)
        return wiring_bad(w, "the file ends where %s should stand", what);
    return text_real(word, out) ? 0 : wiring_bad(w, "%s \"%.*s\" is no number", what, TEXT_SAY(word));
}

static int read_arc(struct wiring *w, struct scan *s, int64_t nnode)
{
    int64_t tail, head;
    struct wire_cable c = { .directed = 1 };
    if (integer(w, s, "the tail of an arc", 1, nnode, &tail) < 0 ||
        integer(w, s, "the head of an arc", 1, nnode, &head) < 0 || real(w, s, "the cost of an arc", &c.cost) < 0 ||
        real(w, s, "the capacity of an arc", &c.gbps) < 0)
        return -1;
    c.from = (int32_t)tail - 1;
    c.to = (int32_t)head - 1;
    if (c.gbps < 0) {
        wiring_note(w, "arcs of unbounded capacity");
        c.gbps = 0;
    } else if (!(c.gbps > 0)) {
        wiring_note(w, "arcs of capacity 0 left out");
        return 0;
    }
    return wiring_cable(w, &c);
}

static int read_all(struct wiring *w, struct scan *s)
{
    int64_t n, m, k, end;
    double amount;
    struct text extra;
    if (integer(w, s, "the number of nodes", 1, w->in->file->n, &n) < 0 ||
        integer(w, s, "the number of arcs", 0, MOST, &m) < 0 || integer(w, s, "the number of demands", 0, MOST, &k) < 0)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)i + 1);
        int32_t v = wiring_new_node(w, (struct text){ name, (int)strlen(name) });
        if (v < 0)
            return -1;
        w->node[v].kind = NODE_SWITCH;
    }
    for (int64_t i = 0; i < m; i++)
        if (read_arc(w, s, n) < 0)
            return -1;
    if (m > 0)
        wiring_note(w, "file with capacities that have no unit, read as Gb/s");
    for (int64_t i = 0; i < k; i++)
        if (integer(w, s, "the origin of a demand", 1, n, &end) < 0 ||
            integer(w, s, "the destination of a demand", 1, n, &end) < 0 ||
            real(w, s, "the amount of a demand", &amount) < 0)
            return -1;
    if (scan_word(s, &extra)) {
        wiring_line(w, 0, s->line);
        return wiring_bad(w, "\"%.*s\" stands behind the last demand", TEXT_SAY(extra));
    }
    return 0;
}

int commalab_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct wiring *w = wiring_new(in, e);
    struct scan s = scan_start(in->file->data, in->file->n);
    int rc = w && read_all(w, &s) == 0 ? wiring_fabric(w, out) : -1;
    wiring_free(w);
    return rc;
}
