/* A fabric as a net file of ibsim. GUIDs stand before each node, so that the simulated subnet has the fabric's own. A
 * NIC's description is "host adapter" where its name is host/adapter: import then gives the same name again.
 */
#include "service/formats/exports.h"
#include "service/formats/ib_identity.h"

#include <inttypes.h>
#include <string.h>

enum { DESCRIPTION = 64 }; /* bytes that the hardware has for it */

/* Widths and speeds as ibsim's masks. Releases up to 0.10 know none above HDR: four lanes of NDR are eight of HDR. */
static const struct {
    double gbps; /* of 4 lanes */
    int s, e;
} speeds[] = { { 200, 1, 4 }, { 100, 1, 2 }, { 54.5, 1, 1 }, { 32, 4, 0 }, { 16, 2, 0 }, { 8, 1, 0 } };
static const struct {
    int lanes, w;
} widths[] = { { 4, 2 }, { 2, 16 }, { 1, 1 }, { 8, 4 }, { 12, 8 } };

static int masks(const struct fabric *f, int32_t link, int *w, int *s, int *x, struct err *e)
{
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
            double gbps = speeds[k].gbps * widths[i].lanes / 4;
            if (f->link_gbps[link] < gbps * (1 - 1e-9) || f->link_gbps[link] > gbps * (1 + 1e-9))
                continue;
            *w = widths[i].w;
            *s = speeds[k].s;
            *x = speeds[k].e;
            return 0;
        }
    return fail(e, E_INPUT, "links[%d]: %g Gb/s is no InfiniBand speed that ibsim knows (8 to 600)", link,
                f->link_gbps[link]);
}

/* The description from which import makes the node's name. */
static int describe(const struct fabric *f, int32_t v, char *text, struct err *e)
{
    const char *name = f->node_name[v];
    size_t n = strlen(name), h = f->host.of[v] >= 0 ? strlen(f->host.name[f->host.of[v]]) : 0;
    if (n >= DESCRIPTION || strchr(name, '"'))
        return fail(e, E_INPUT, "node \"%s\": a description has at most %d bytes and no quotes", name, DESCRIPTION - 1);
    memcpy(text, name, n + 1);
    if (h > 0 && h < n && name[h] == '/' && !strncmp(name, f->host.name[f->host.of[v]], h))
        text[h] = ' ';
    return 0;
}

static void print_id(FILE *out, const struct ib_identity *x, const struct fabric *f, int32_t v)
{
    fprintf(out, "\"%c-%016" PRIx64 "\"", f->node_kind[v] == NODE_NIC ? 'H' : 'S', x->guid[v]);
}

static int write_node(const struct fabric *f, const struct ib_identity *x, int32_t v, FILE *out, struct err *e)
{
    char text[DESCRIPTION];
    int nic = f->node_kind[v] == NODE_NIC;
    if (describe(f, v, text, e) < 0)
        return -1;
    /* the simulator counts a NIC's port GUIDs from the node's */
    if (nic)
        fprintf(out, "caguid=0x%" PRIx64 "\nCa\t%d ", x->guid[v] - (uint64_t)x->port[f->out[f->first[v]]], x->most[v]);
    else
        fprintf(out, "switchguid=0x%" PRIx64 "\nSwitch\t%d ", x->guid[v], x->most[v]);
    print_id(out, x, f, v);
    fprintf(out, "\t# \"%s\"\n", text);
    for (int32_t k = f->first[v]; k < f->first[v + 1]; k++) {
        int32_t a = f->out[k];
        int w = 0, s = 0, speed = 0;
        if (masks(f, a / 2, &w, &s, &speed, e) < 0)
            return -1;
        fprintf(out, "[%d]\t", x->port[a]);
        print_id(out, x, f, f->head[a]);
        fprintf(out, "[%d]\tw=%d s=%d", x->port[a ^ 1], w, s);
        if (speed)
            fprintf(out, " e=%d", speed);
        fprintf(out, "\n");
    }
    fprintf(out, "\n");
    return 0;
}

int ibsim_write(const struct fabric *f, const struct export_options *o, FILE *out, struct err *e)
{
    struct ib_identity x;
    if (ib_identity_new(&x, f, o->lmc, e) < 0)
        return -1;
    int rc = 0;
    for (int32_t i = 0; i < f->nlink && rc == 0; i++)
        if (f->link_directed[i] && f->live[2 * i])
            rc = fail(e, E_INPUT, "links[%d]: directed; InfiniBand cables work both ways", i);
    fprintf(out, "# %d nodes and %d cables, without what is down\n\n", f->nnode, f->nlink);
    for (int32_t v = 0; v < f->nnode && rc == 0; v++)
        if (f->first[v + 1] > f->first[v])
            rc = write_node(f, &x, v, out, e);
    ib_identity_free(&x);
    return rc;
}
