/* Ports become cables, cables a fabric: both ends of every cable are compared, nodes get names, hosts, rails and tiers.
 */
#include "service/formats/ib.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/tiers.h"

static const double DEFAULT_GBPS = 8; /* 4xSDR, the default of ibsim */

/* ---- cables ---- */

static struct ib_port *find_port(const struct ib *r, const struct ib_node *node, int32_t number_of)
{
    for (int32_t i = 0; i < node->nport; i++)
        if (r->port[node->first + i].port == number_of)
            return &r->port[node->first + i];
    return NULL;
}

static int pair_port(struct ib *r, int32_t index)
{
    char peer[IB_NAME + 1];
    struct ib_port *p = &r->port[index];
    const struct ib_node *own = &r->node[p->node];
    snprintf(peer, sizeof peer, "%.*s", p->peer.n, p->peer.at);
    int64_t other = names_find(r->id, peer);
    if (other < 0)
        return ib_bad(r, p->line,
                      "\"%.*s\"[%d] has a cable to \"%s\"[%d], a node that the file does not hold (cut off?)",
                      own->id.n, own->id.at, p->port, peer, p->peer_port);
    const struct ib_port *q = find_port(r, &r->node[other], p->peer_port);
    if (!q)
        return ib_bad(r, p->line, "\"%.*s\"[%d] has a cable to \"%s\"[%d], but that node (line %lld) lists no port %d",
                      own->id.n, own->id.at, p->port, peer, p->peer_port, (long long)r->node[other].line, p->peer_port);
    if (q->peer_port != p->port || q->peer.n != own->id.n || memcmp(q->peer.at, own->id.at, (size_t)own->id.n) != 0)
        return ib_bad(r, p->line,
                      "\"%.*s\"[%d] has a cable to \"%s\"[%d], but line %lld says that one goes to \"%.*s\"[%d]",
                      own->id.n, own->id.at, p->port, peer, p->peer_port, (long long)q->line, q->peer.n, q->peer.at,
                      q->peer_port);
    p->mate = (int32_t)(q - r->port);
    return 0;
}

static int pair_ports(struct ib *r)
{
    for (int32_t i = 0; i < r->nport; i++)
        if (pair_port(r, i) < 0)
            return -1;
    for (int32_t i = 0; i < r->nnode; i++) {
        const struct ib_node *node = &r->node[i];
        if (node->nport > 0 || node->left_out)
            continue;
        if (!node->is_switch)
            return ib_bad(r, node->line, "channel adapter \"%.*s\" (%.*s) has no cable", node->id.n, node->id.at,
                          node->desc.n < 64 ? node->desc.n : 64, node->desc.at ? node->desc.at : "");
        format_note(r->report, "switches without a cable", node->line);
    }
    return 0;
}

/* A cable of the fabric, seen from its first end. */
static int is_link(const struct ib *r, int32_t i)
{
    const struct ib_port *p = &r->port[i];
    return i < p->mate && p->node != r->port[p->mate].node && !r->node[p->node].left_out &&
           !r->node[r->port[p->mate].node].left_out;
}

/* ---- names ---- */

/* Host and adapter of a description "host ... adapter"; 0 when it names no host. */
static int split_description(struct text d, struct text *host, struct text *adapter)
{
    int model = d.n > 2 && d.at[0] == 'M' && d.at[1] == 'T' && isdigit((unsigned char)d.at[2]);
    if (!text_printable(d) || model || text_contains(d, "Mellanox Technologies"))
        return 0;
    text_skip_blank(&d);
    *host = (struct text){ d.at, 0 };
    while (host->n < d.n && d.at[host->n] != ' ')
        host->n++;
    while (d.n > 0 && d.at[d.n - 1] == ' ')
        d.n--;
    int start = d.n;
    while (start > 0 && d.at[start - 1] != ' ')
        start--;
    *adapter = start >= host->n && start < d.n ? (struct text){ d.at + start, d.n - start } : (struct text){ d.at, 0 };
    return host->n > 0;
}

/* N of "..._N" (mlx5_5) and of "ibpNs0", N - 1 of "HCA-N"; -1 for others. */
static int32_t rail_of(struct text a)
{
    int i = a.n;
    if (text_starts(a, "ibp")) {
        text_skip(&a, 3);
        for (i = 0; i < a.n && isdigit((unsigned char)a.at[i]); i++)
            ;
        return text_number((struct text){ a.at, i });
    }
    while (i > 0 && isdigit((unsigned char)a.at[i - 1]))
        i--;
    int32_t x = text_number((struct text){ a.at + i, a.n - i });
    if (i > 0 && a.at[i - 1] == '_')
        return x;
    return text_starts(a, "HCA-") && i == 4 ? x - 1 : -1;
}

/* The name that the description gives, "" when it gives none. */
static void wanted_name(const struct ib_node *node, char *name, size_t n)
{
    struct text host, adapter;
    name[0] = 0;
    if (!split_description(node->desc, &host, &adapter))
        return;
    if (node->is_switch)
        snprintf(name, n, "%.*s", node->desc.n, node->desc.at);
    else if (adapter.n > 0)
        snprintf(name, n, "%.*s/%.*s", host.n, host.at, adapter.n, adapter.at);
    else
        snprintf(name, n, "%.*s", host.n, host.at);
    size_t length = strlen(name);
    if (node->suffix > 0)
        snprintf(name + length, n - length, "/p%d", node->suffix);
}

/* uses[number of the text] counts how often a text is wanted as a name or is an id. */
static int count_names(struct ib *r, struct names *wanted, int32_t *uses)
{
    char text[2 * IB_NAME + 16];
    for (int32_t i = 0; i < r->nnode; i++)
        for (int pass = 0; pass < 2; pass++) {
            if (r->node[i].left_out)
                continue;
            if (pass == 0)
                snprintf(text, sizeof text, "%.*s", r->node[i].id.n, r->node[i].id.at);
            else
                wanted_name(&r->node[i], text, sizeof text);
            int64_t k = text[0] ? names_intern(wanted, text, r->e) : 0;
            if (k < 0)
                return -1;
            if (text[0])
                uses[k]++;
        }
    return 0;
}

/* ---- the fabric ---- */

static int add_host(struct ib *r, struct fabric *f, int32_t v, struct text host, struct names *hosts)
{
    char text[IB_NAME + 1];
    snprintf(text, sizeof text, "%.*s", host.n, host.at);
    int64_t h = names_intern(hosts, text, r->e);
    if (h < 0)
        return -1;
    if (h == f->host.count) {
        f->host.name[h] = text_copy(text);
        if (!f->host.name[h])
            return ib_oom(r);
        f->host.count++;
    }
    f->host.of[v] = (int32_t)h;
    return 0;
}

static int add_node(struct ib *r, struct fabric *f, struct ib_node *node, const struct names *wanted,
                    const int32_t *uses, struct names *hosts)
{
    char name[2 * IB_NAME + 16];
    struct text host, adapter;
    int32_t v = node->number;
    wanted_name(node, name, sizeof name);
    int known = name[0] && uses[names_find(wanted, name)] == 1;
    if (!known) {
        snprintf(name, sizeof name, "%.*s", node->id.n, node->id.at);
        if (node->desc.n > 0)
            format_note(r->report,
                        node->is_switch ? "switches called by their id, their description names none"
                                        : "adapters called by their id, their description names no host",
                        node->line);
    }
    f->node_name[v] = text_copy(name);
    f->node_kind[v] = node->is_switch ? NODE_SWITCH : NODE_NIC;
    if (!f->node_name[v])
        return ib_oom(r);
    if (node->is_switch || !known || !split_description(node->desc, &host, &adapter))
        return 0;
    f->node_rail[v] = rail_of(adapter);
    return add_host(r, f, v, host, hosts);
}

static int add_nodes(struct ib *r, struct fabric *f)
{
    struct names *wanted = names_new(r->e), *hosts = wanted ? names_new(r->e) : NULL;
    int32_t *uses = array(2 * r->nnode, sizeof *uses);
    f->host.name = array(r->nnode, sizeof *f->host.name);
    int rc = -1;
    if (!uses || !f->host.name)
        ib_oom(r);
    else if (wanted && hosts)
        rc = count_names(r, wanted, uses);
    for (int32_t i = 0; i < r->nnode && rc == 0; i++)
        if (!r->node[i].left_out)
            rc = add_node(r, f, &r->node[i], wanted, uses, hosts);
    names_free(wanted);
    names_free(hosts);
    free(uses);
    return rc;
}

/* A NIC is known by the port of its first cable. */
static void add_identity(const struct ib *r, struct fabric *f, const struct ib_port *p)
{
    const struct ib_node *node = &r->node[p->node];
    int32_t v = node->number;
    if (node->is_switch || (f->node_guid[v] == 0 && f->node_lid[v] < 0)) {
        f->node_guid[v] = node->is_switch ? node->guid : p->guid;
        f->node_lid[v] = node->is_switch ? node->lid : p->lid;
    }
}

static void add_links(struct ib *r, struct fabric *f)
{
    int32_t l = 0;
    for (int32_t i = 0; i < r->nport; i++) {
        const struct ib_port *p = &r->port[i], *q = &r->port[p->mate];
        if (i <= p->mate && p->node == q->node)
            format_note(r->report, "loopback cables left out", p->line);
        if (!is_link(r, i))
            continue;
        double a = p->gbps, b = q->gbps;
        if (!(a > 0) && !(b > 0) && !r->ask)
            format_note(r->report, "cables without width and speed, taken as 4xSDR (8 Gb/s)", p->line);
        else if (a > 0 && b > 0 && (a < b || b < a))
            format_note(r->report, "cables whose ends differ in width or speed, taken at the lower", p->line);
        f->link_gbps[l] = !(a > 0) ? (b > 0 ? b : r->ask ? 0 : DEFAULT_GBPS) : b > 0 && b < a ? b : a;
        f->link_from[l] = r->node[p->node].number;
        f->link_to[l] = r->node[q->node].number;
        add_identity(r, f, p);
        add_identity(r, f, q);
        f->link_from_port[l] = p->port;
        f->link_to_port[l++] = q->port;
    }
}

/* Speeds that the dump does not know, by the overlay. Tiers are set. */
static int ask_overlay(struct ib *r, struct fabric *f)
{
    for (int32_t i = 0, l = 0; i < r->nport; i++) {
        if (!is_link(r, i))
            continue;
        int32_t s = f->link_from[l], t = f->link_to[l];
        int32_t tier = f->node_tier[s] > f->node_tier[t] ? f->node_tier[s] : f->node_tier[t];
        if (!(f->link_gbps[l] > 0))
            f->link_gbps[l] = overlay_find(r->overlay, tier, f->node_name[s], f->node_name[t]);
        if (!(f->link_gbps[l] > 0))
            return ib_bad(
                r, r->port[i].line,
                "nothing says what the cable \"%.60s\" - \"%.60s\" can carry; give it with --gbps tier%d=NUMBER",
                f->node_name[s], f->node_name[t], tier > 0 ? tier : 1);
        l++;
    }
    return 0;
}

int ib_fabric(struct ib *r, struct fabric **out)
{
    int32_t nnode = 0, nlink = 0, rc = -1;
    if (pair_ports(r) < 0)
        return -1;
    for (int32_t i = 0; i < r->nnode; i++)
        r->node[i].number = r->node[i].left_out ? -1 : nnode++;
    for (int32_t i = 0; i < r->nport; i++)
        nlink += is_link(r, i);
    struct fabric *f = fabric_new(nnode, nlink, r->e);
    if (f && add_nodes(r, f) == 0) {
        add_links(r, f);
        rc = tiers_find(f, r->e) < 0 || ask_overlay(r, f) < 0 ? -1 : fabric_finish(f, r->e);
    }
    if (rc < 0)
        fabric_free(f);
    else
        *out = f;
    return rc;
}
