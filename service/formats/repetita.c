/* REPETITA .graph: NODES n, a line of titles, n lines "label x y"; EDGES m, titles, m lines "label src dest weight bw
 * delay" with nodes numbered from 0.
 */
#include "service/formats/readers.h"
#include "service/formats/wiring.h"

enum { NODES, EDGES, BEHIND };

struct repetita {
    struct wiring *w;
    int section;
    int64_t left; /* lines of the section still to come */
    int titles;   /* 1: the next line is the titles' */
    int32_t first;
};

/* "NODES 11" */
static int read_section(struct repetita *r, struct text t)
{
    struct text word = text_word(&t), number = text_word(&t);
    const char *want = r->section == NODES ? "NODES" : "EDGES";
    if (!text_is(word, want) || !text_integer(number, &r->left) || r->left < 0 || text_word(&t).n > 0)
        return wiring_bad(r->w, "\"%.*s\" stands where \"%s number\" should", TEXT_SAY(word), want);
    r->titles = 1;
    return 0;
}

static int read_edge(struct repetita *r, struct text t)
{
    struct wiring *w = r->w;
    struct text label = text_word(&t), end[2] = { text_word(&t), text_word(&t) };
    struct text weight = text_word(&t), bw = text_word(&t), delay = text_word(&t);
    struct wire_cable c = { .directed = 1 };
    int32_t v[2];
    for (int k = 0; k < 2; k++) {
        int64_t id;
        if (!text_integer(end[k], &id) || id < 0 || id >= w->nnode)
            return wiring_bad(w, "edge \"%.*s\": node \"%.*s\" is no number in [0, %d)", TEXT_SAY(label),
                              TEXT_SAY(end[k]), w->nnode);
        v[k] = (int32_t)id;
    }
    if (!text_real(weight, &c.cost) || !text_real(bw, &c.gbps) || !text_real(delay, &c.latency_us) ||
        text_word(&t).n > 0)
        return wiring_bad(w, "edge \"%.*s\": want label, source, destination, weight, bw, delay", TEXT_SAY(label));
    if (!(c.gbps > 0))
        return wiring_bad(w, "edge \"%.*s\": bw %g kbit/s must be positive", TEXT_SAY(label), c.gbps);
    c.from = v[0];
    c.to = v[1];
    c.gbps *= 1e-6;
    return wiring_cable(w, &c);
}

static int read_line(struct repetita *r, struct text t)
{
    t = text_trim(t);
    if (t.n == 0)
        return 0;
    if (r->section == BEHIND)
        return wiring_bad(r->w, "\"%.*s\" stands behind the last edge", TEXT_SAY(t));
    if (r->left < 0)
        return read_section(r, t);
    if (r->titles) {
        r->titles = 0;
    } else if (r->section == NODES) {
        int32_t v = wiring_new_node(r->w, text_word(&t));
        if (v < 0)
            return -1;
        r->w->node[v].kind = NODE_SWITCH;
        r->left--;
    } else {
        if (read_edge(r, t) < 0)
            return -1;
        r->left--;
    }
    if (!r->titles && r->left == 0) {
        r->section++;
        r->left = -1;
    }
    return 0;
}

int repetita_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct repetita r = { .w = wiring_new(in, e), .left = -1 };
    struct scan s = scan_start(in->file->data, in->file->n);
    struct text t;
    int more, rc = r.w ? 0 : -1;
    while (rc == 0 && (more = scan_line(&s, &t)) != 0) {
        wiring_line(r.w, 0, s.line);
        rc = more < 0 ? wiring_bad(r.w, "a line of more than a megabyte") : read_line(&r, t);
    }
    if (rc == 0 && r.section != BEHIND) {
        wiring_line(r.w, 0, s.line > 0 ? s.line : 1);
        rc = r.left > 0
                 ? wiring_bad(r.w, "the file ends with %lld %s missing", (long long)r.left,
                              r.section == NODES ? "nodes" : "edges")
                 : wiring_bad(r.w, "the file ends where %s should stand", r.section == NODES ? "NODES" : "EDGES");
    }
    if (rc == 0)
        rc = wiring_fabric(r.w, out);
    wiring_free(r.w);
    return rc;
}
