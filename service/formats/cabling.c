#include "service/formats/cabling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/text.h"
#include "service/wire/names.h"

enum { ANY_PORT = -1, DEVICE = 2 * TEXT_NAME };

struct end {
    int32_t device, port; /* numbers of their names; ANY_PORT */
};

struct cable {
    struct end end[2]; /* the lower device first */
    int32_t link, mate;
};

struct side {
    struct cable *cable;
    int32_t n;
};

/* ---- what an end is called ---- */

static void device_name(const struct fabric *f, int32_t v, char *out, size_t n)
{
    const char *name = f->node_name[v];
    if (f->host.of[v] >= 0) {
        snprintf(out, n, "%s", f->host.name[f->host.of[v]]);
        return;
    }
    const char *frame = strchr(name, ';'), *colon = frame ? strchr(frame, ':') : NULL;
    if (frame)
        snprintf(out, n, "%.*s", colon ? (int)(colon - frame - 1) : TEXT_NAME, frame + 1);
    else
        snprintf(out, n, "%s", name);
}

/* "" where nothing tells. */
static void port_name(const struct fabric *f, int32_t i, int side, char *out, size_t n)
{
    int32_t v = side ? f->link_to[i] : f->link_from[i], port = side ? f->link_to_port[i] : f->link_from_port[i];
    out[0] = 0;
    if (f->host.of[v] >= 0) {
        const char *name = f->node_name[v], *host = f->host.name[f->host.of[v]];
        size_t length = strlen(host);
        if (!strncmp(name, host, length) && (name[length] == '/' || name[length] == 0))
            name += length + (name[length] == '/');
        snprintf(out, n, "%s", name);
    } else if (f->node_kind[v] == NODE_SWITCH && port >= 0) {
        snprintf(out, n, "%d", port);
    }
}

void cabling_say(const struct fabric *f, int32_t i, int side, char *out, size_t n)
{
    char device[DEVICE], port[DEVICE];
    device_name(f, side ? f->link_to[i] : f->link_from[i], device, sizeof device);
    port_name(f, i, side, port, sizeof port);
    snprintf(out, n, port[0] ? "%s port %s" : "%s", device, port);
}

static int find_end(const struct fabric *f, int32_t i, int side, struct names *names, struct end *out, struct err *e)
{
    char text[DEVICE];
    device_name(f, side ? f->link_to[i] : f->link_from[i], text, sizeof text);
    int64_t device = names_intern(names, text, e);
    port_name(f, i, side, text, sizeof text);
    int64_t port = device < 0 ? -1 : text[0] ? names_intern(names, text, e) : ANY_PORT;
    if (device < 0 || (text[0] && port < 0))
        return -1;
    *out = (struct end){ (int32_t)device, (int32_t)port };
    return 0;
}

static int by_ends(const void *a, const void *b)
{
    const struct cable *s = a, *t = b;
    const int32_t x[] = { s->end[0].device, s->end[1].device, s->end[0].port, s->end[1].port, s->link };
    const int32_t y[] = { t->end[0].device, t->end[1].device, t->end[0].port, t->end[1].port, t->link };
    for (int k = 0; k < 5; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

/* All cables but those inside one device, sorted by devices. */
static int list_cables(const struct fabric *f, struct names *names, struct side *s, int64_t *internal, struct err *e)
{
    s->cable = array(f->nlink, sizeof *s->cable);
    if (!s->cable)
        return fail(e, E_MEMORY, "out of memory for %d cables", f->nlink);
    for (int32_t i = 0; i < f->nlink; i++) {
        struct end a, b;
        if (find_end(f, i, 0, names, &a, e) < 0 || find_end(f, i, 1, names, &b, e) < 0)
            return -1;
        if (a.device == b.device) {
            ++*internal;
            continue;
        }
        int swapped = a.device > b.device; /* the lower device first */
        s->cable[s->n++] = (struct cable){ { swapped ? b : a, swapped ? a : b }, i, -1 };
    }
    qsort(s->cable, (size_t)s->n, sizeof *s->cable, by_ends);
    return 0;
}

/* ---- comparing ---- */

static int order_of_pair(const struct cable *a, const struct cable *b)
{
    if (a->end[0].device != b->end[0].device)
        return a->end[0].device < b->end[0].device ? -1 : 1;
    return a->end[1].device < b->end[1].device ? -1 : a->end[1].device > b->end[1].device;
}

static int fits(const struct cable *a, const struct cable *b, int exactly)
{
    for (int k = 0; k < 2; k++) {
        int32_t p = a->end[k].port, q = b->end[k].port;
        if (p != q && (exactly || (p != ANY_PORT && q != ANY_PORT)))
            return 0;
    }
    return 1;
}

/* Cables between the same two devices: a[0 .. n) planned, b[0 .. m) found. */
static void match_group(struct cable *a, int32_t n, struct cable *b, int32_t m)
{
    for (int exactly = 1; exactly >= 0; exactly--)
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < m && a[i].mate < 0; k++)
                if (b[k].mate < 0 && fits(&a[i], &b[k], exactly)) {
                    a[i].mate = b[k].link;
                    b[k].mate = a[i].link;
                }
}

static void match_all(struct side *plan, struct side *found)
{
    for (int32_t i = 0, k = 0; i < plan->n && k < found->n;) {
        int order = order_of_pair(&plan->cable[i], &found->cable[k]);
        if (order != 0) {
            *(order < 0 ? &i : &k) += 1;
            continue;
        }
        int32_t n = i, m = k;
        while (n < plan->n && order_of_pair(&plan->cable[i], &plan->cable[n]) == 0)
            n++;
        while (m < found->n && order_of_pair(&found->cable[k], &found->cable[m]) == 0)
            m++;
        match_group(plan->cable + i, n - i, found->cable + k, m - k);
        i = n;
        k = m;
    }
}

static int by_link(const void *a, const void *b)
{
    const struct cable *s = a, *t = b;
    return s->link < t->link ? -1 : s->link > t->link;
}

/* Ends of found cables without a planned one, by "device port", so that a planned cable finds what sits on its port. */
static int index_ends(const struct side *found, struct names *at, struct err *e)
{
    char key[40];
    for (int32_t i = 0; i < found->n; i++)
        for (int k = 0; k < 2 && found->cable[i].mate < 0; k++) {
            const struct end *end = &found->cable[i].end[k];
            snprintf(key, sizeof key, "%d %d", end->device, end->port);
            if (end->port != ANY_PORT && names_add(at, key, i, e) < 0)
                return -1;
        }
    return 0;
}

static void add_row(struct cabling *c, enum cabling_kind kind, int32_t plan, int32_t found)
{
    c->row[c->nrow++] = (struct cabling_row){ kind, plan, found };
    c->count[kind]++;
}

static void judge(struct side *plan, struct side *found, const struct names *at, struct cabling *c)
{
    char key[40];
    for (int32_t i = 0; i < plan->n; i++) {
        const struct cable *p = &plan->cable[i];
        int32_t elsewhere = -1;
        if (p->mate >= 0) {
            c->same++;
            continue;
        }
        for (int k = 0; k < 2 && elsewhere < 0; k++) {
            snprintf(key, sizeof key, "%d %d", p->end[k].device, p->end[k].port);
            int64_t j = p->end[k].port == ANY_PORT ? -1 : names_find(at, key);
            if (j >= 0 && found->cable[j].mate < 0) {
                elsewhere = found->cable[j].link;
                found->cable[j].mate = p->link;
            }
        }
        add_row(c, elsewhere < 0 ? CABLE_MISSING : CABLE_MISWIRED, p->link, elsewhere);
    }
    for (int32_t i = 0; i < found->n; i++)
        if (found->cable[i].mate < 0)
            add_row(c, CABLE_EXTRA, -1, found->cable[i].link);
}

int cabling_compare(const struct fabric *plan, const struct fabric *found, struct cabling *out, struct err *e)
{
    struct side a = { 0 }, b = { 0 };
    struct names *names = names_new(e), *at = names_new(e);
    int64_t inside = 0;
    *out = (struct cabling){ 0 };
    int rc = names && at && list_cables(plan, names, &a, &inside, e) == 0 &&
                     list_cables(found, names, &b, &out->internal, e) == 0
                 ? 0
                 : -1;
    if (rc == 0) {
        match_all(&a, &b);
        qsort(a.cable, (size_t)a.n, sizeof *a.cable, by_link);
        qsort(b.cable, (size_t)b.n, sizeof *b.cable, by_link);
        rc = index_ends(&b, at, e);
        out->row = array((int64_t)a.n + b.n, sizeof *out->row);
        if (rc == 0 && !out->row)
            rc = fail(e, E_MEMORY, "out of memory for %d cables", a.n + b.n);
    }
    if (rc == 0)
        judge(&a, &b, at, out);
    free(a.cable);
    free(b.cable);
    names_free(names);
    names_free(at);
    return rc;
}

void cabling_free(struct cabling *c)
{
    free(c->row);
    *c = (struct cabling){ 0 };
}
