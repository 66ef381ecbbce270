#include "service/formats/readers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/wiring.h"

enum { ROLE_GPU, ROLE_NVSWITCH, ROLE_SWITCH };

static const int64_t MOST_NODE = 1 << 24;

struct ns3 {
    struct wiring *w;
    struct scan scan;
    int64_t nnode, per_server, nnvswitch, nswitch, nlink;
    uint8_t *role; /* [nnode] */
};

static int integer(struct ns3 *r, const char *what, int64_t min, int64_t max, int64_t *out)
{
    struct text word;
    int more = scan_word(&r->scan, &word);
    wiring_line(r->w, 0, r->scan.line);
    if (!more)
        return wiring_bad(r->w, "the file ends where %s should stand", what);
    if (!text_integer(word, out) || *out < min || *out > max)
        return wiring_bad(r->w, "%s \"%.*s\" is no integer in [%lld, %lld]", what, TEXT_SAY(word), (long long)min,
                          (long long)max);
    return 0;
}

/* A number with a unit behind it, times the factor of that unit; -1 where there is none such. */
struct unit {
    const char *name;
    double factor;
};

static double quantity(struct text t, const struct unit *unit)
{
    struct text number = { t.at, 0 };
    double x;
    while (number.n < t.n && (isdigit((unsigned char)t.at[number.n]) || strchr(".+-", t.at[number.n])))
        number.n++;
    if (!text_real(number, &x) || x < 0)
        return -1;
    text_skip(&t, number.n);
    for (; unit->name; unit++)
        if (t.n == (int)strlen(unit->name) && !memcmp(t.at, unit->name, (size_t)t.n))
            return x * unit->factor;
    return -1;
}

/* The first line tells the two dialects apart by how many words it has. */
static int read_sizes(struct ns3 *r)
{
    struct scan ahead = r->scan;
    struct text line = { 0 }, word;
    int words = 0, more;
    while ((more = scan_line(&ahead, &line)) > 0 && text_trim(line).n == 0)
        ;
    wiring_line(r->w, 0, ahead.line > 0 ? ahead.line : 1);
    for (struct text t = line; more > 0 && text_word(&t).n > 0;)
        words++;
    if (words != 3 && words != 6)
        return wiring_bad(r->w, "the first line has %d words, not 3 (nodes switches links) or 6 (SimAI)", words);
    r->nnvswitch = r->per_server = 0;
    if (integer(r, "the number of nodes", 1, MOST_NODE, &r->nnode) < 0 ||
        (words == 6 && (integer(r, "the number of GPUs per server", 1, MOST_NODE, &r->per_server) < 0 ||
                        integer(r, "the number of NVSwitches", 0, r->nnode, &r->nnvswitch) < 0)) ||
        integer(r, "the number of switches", 0, r->nnode, &r->nswitch) < 0 ||
        integer(r, "the number of links", 0, 1 << 28, &r->nlink) < 0)
        return -1;
    if (words == 6)
        scan_word(&r->scan, &word); /* the type of the GPUs */
    if (r->nnvswitch + r->nswitch > r->nnode)
        return wiring_bad(r->w, "%lld NVSwitches and %lld switches are more than %lld nodes", (long long)r->nnvswitch,
                          (long long)r->nswitch, (long long)r->nnode);
    if (r->nnode > 4 * r->w->in->file->n) /* every link takes bytes, so most nodes would have none */
        return wiring_bad(r->w, "%lld nodes in a file of %lld bytes", (long long)r->nnode,
                          (long long)r->w->in->file->n);
    return 0;
}

static int read_roles(struct ns3 *r)
{
    r->role = array(r->nnode, sizeof *r->role);
    if (!r->role)
        return fail(r->w->e, E_MEMORY, "out of memory for %lld nodes", (long long)r->nnode);
    for (int64_t i = 0; i < r->nnvswitch + r->nswitch; i++) {
        int64_t id;
        if (integer(r, "the id of a switch", 0, r->nnode - 1, &id) < 0)
            return -1;
        if (r->role[id] != ROLE_GPU)
            return wiring_bad(r->w, "switch %lld is listed twice", (long long)id);
        r->role[id] = i < r->nnvswitch ? ROLE_NVSWITCH : ROLE_SWITCH;
    }
    return 0;
}

static int add_node(struct ns3 *r, int64_t id)
{
    char name[40], host[40];
    struct wiring *w = r->w;
    snprintf(name, sizeof name, r->role[id] == ROLE_GPU ? "gpu%lld" : "switch%lld", (long long)id);
    int32_t v = wiring_node(w, (struct text){ name, (int)strlen(name) });
    if (v < 0 || w->node[v].kind != KIND_UNKNOWN)
        return v;
    w->node[v].kind = r->role[id] == ROLE_GPU ? NODE_NIC : NODE_SWITCH;
    if (r->role[id] != ROLE_GPU || r->per_server == 0)
        return v;
    snprintf(host, sizeof host, "server%lld", (long long)(id / r->per_server));
    w->node[v].host = wiring_text(w, (struct text){ host, (int)strlen(host) });
    w->node[v].rail = (int32_t)(id % r->per_server);
    return w->node[v].host ? v : -1;
}

static int read_link(struct ns3 *r)
{
    static const struct unit rate[] = { { "bps", 1e-9 },  { "b/s", 1e-9 },  { "kbps", 1e-6 }, { "Kbps", 1e-6 },
                                        { "kb/s", 1e-6 }, { "Mbps", 1e-3 }, { "Mb/s", 1e-3 }, { "Gbps", 1 },
                                        { "Gb/s", 1 },    { "Tbps", 1e3 },  { "Tb/s", 1e3 },  { NULL, 0 } };
    static const struct unit delay[] = { { "s", 1e6 }, { "ms", 1e3 }, { "us", 1 }, { "ns", 1e-3 }, { NULL, 0 } };
    struct wiring *w = r->w;
    int64_t src, dst;
    struct text speed, latency, loss;
    double x;
    if (integer(r, "the source of a link", 0, r->nnode - 1, &src) < 0 ||
        integer(r, "the destination of a link", 0, r->nnode - 1, &dst) < 0)
        return -1;
    if (!scan_word(&r->scan, &speed) || !scan_word(&r->scan, &latency) || !scan_word(&r->scan, &loss))
        return wiring_bad(w, "the file ends inside link %lld - %lld", (long long)src, (long long)dst);
    struct wire_cable c = { .gbps = quantity(speed, rate), .latency_us = quantity(latency, delay) };
    if (!(c.gbps > 0))
        return wiring_bad(w, "\"%.*s\" is no positive rate like 400Gbps", TEXT_SAY(speed));
    if (!(c.latency_us >= 0))
        return wiring_bad(w, "\"%.*s\" is no delay like 0.0005ms", TEXT_SAY(latency));
    if (!text_real(loss, &x) || x < 0 || x > 1)
        return wiring_bad(w, "the error rate \"%.*s\" is not in [0, 1]", TEXT_SAY(loss));
    if (r->role[src] == ROLE_NVSWITCH || r->role[dst] == ROLE_NVSWITCH) {
        wiring_note(w, "links of NVSwitches (scale-up) left out");
        return 0;
    }
    c.from = add_node(r, src);
    c.to = c.from < 0 ? -1 : add_node(r, dst);
    return c.to < 0 ? -1 : wiring_cable(w, &c);
}

static int read_all(struct ns3 *r)
{
    struct text extra;
    if (read_sizes(r) < 0 || read_roles(r) < 0)
        return -1;
    for (int64_t i = 0; i < r->nnode; i++)
        if (r->role[i] != ROLE_NVSWITCH && add_node(r, i) < 0)
            return -1;
    for (int64_t i = 0; i < r->nlink; i++)
        if (read_link(r) < 0)
            return -1;
    if (scan_word(&r->scan, &extra)) {
        wiring_line(r->w, 0, r->scan.line);
        return wiring_bad(r->w, "\"%.*s\" stands behind the last of %lld links", TEXT_SAY(extra), (long long)r->nlink);
    }
    return 0;
}

int ns3_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct ns3 r = { .w = wiring_new(in, e), .scan = scan_start(in->file->data, in->file->n) };
    int rc = r.w && read_all(&r) == 0 ? wiring_fabric(r.w, out) : -1;
    wiring_free(r.w);
    free(r.role);
    return rc;
}
