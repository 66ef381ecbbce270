/* Nodes and cables as they are found; wiring_fabric.c makes the fabric of them. */
#include "service/formats/wiring.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wiring *wiring_new(const struct format_input *in, struct err *e)
{
    struct wiring *w = array(1, sizeof *w);
    if (!w) {
        fail(e, E_MEMORY, "out of memory for a fabric");
        return NULL;
    }
    *w = (struct wiring){ .in = in, .report = in->report, .e = e };
    w->arena = arena_new(0, e);
    w->name = w->arena ? names_new(e) : NULL;
    w->end = w->name ? names_new(e) : NULL;
    if (w->end)
        return w;
    wiring_free(w);
    return NULL;
}

void wiring_free(struct wiring *w)
{
    if (!w)
        return;
    arena_free(w->arena);
    names_free(w->name);
    names_free(w->end);
    free(w->node);
    free(w->cable);
    free(w);
}

void wiring_line(struct wiring *w, int32_t file, int64_t line)
{
    w->place = (struct place){ .file = file, .line = line };
}

void wiring_entry(struct wiring *w, int32_t file, const char *list, int64_t item)
{
    w->place = (struct place){ .file = file, .list = list, .item = item };
}

static int say_bad(struct wiring *w, const struct place *p, const char *sentence)
{
    const char *path = w->in->file[p->file].path;
    if (p->line > 0)
        return fail(w->e, E_INPUT, "%.120s:%lld: %s", path, (long long)p->line, sentence);
    if (p->item < 0)
        return fail(w->e, E_INPUT, "%.120s: %s: %s", path, p->list, sentence);
    return fail(w->e, E_INPUT, "%.120s: %s[%lld]: %s", path, p->list, (long long)p->item, sentence);
}

int wiring_bad_at(struct wiring *w, const struct place *place, const char *format, ...)
{
    char sentence[320];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    for (char *c = sentence; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            *c = '?';
    return say_bad(w, place, sentence);
}

int wiring_bad(struct wiring *w, const char *format, ...)
{
    char sentence[320];
    va_list ap;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    return wiring_bad_at(w, &w->place, "%s", sentence);
}

void wiring_note(struct wiring *w, const char *what)
{
    format_note(w->report, what, w->place.line);
}

const char *wiring_text(struct wiring *w, struct text t)
{
    char *copy = arena_take(w->arena, (int64_t)t.n + 1, 1);
    if (!copy) {
        fail(w->e, E_MEMORY, "out of memory for %d nodes and %d cables", w->nnode, w->ncable);
        return NULL;
    }
    memcpy(copy, t.at, (size_t)t.n);
    return copy;
}

/* ---- nodes ---- */

static int check_name(struct wiring *w, struct text t)
{
    if (t.n == 0)
        return wiring_bad(w, "a name is empty");
    if (t.n > TEXT_NAME)
        return wiring_bad(w, "the name \"%.*s...\" is longer than %d bytes", TEXT_SAY(t), TEXT_NAME);
    for (int i = 0; i < t.n; i++)
        if ((unsigned char)t.at[i] < 32 || t.at[i] == 127)
            return wiring_bad(w, "the name \"%.*s\" holds a control character", TEXT_SAY(t));
    if (!value_utf8(t.at, t.n))
        return wiring_bad(w, "a name of %d bytes is not UTF-8", t.n);
    return 0;
}

static int32_t add_node(struct wiring *w, const char *name)
{
    void *node = w->node;
    if (w->nnode == INT32_MAX || array_grow(&node, &w->node_room, (int64_t)w->nnode + 1, sizeof *w->node) < 0)
        return fail(w->e, E_MEMORY, "out of memory for %d nodes", w->nnode);
    w->node = node;
    const char *copy = wiring_text(w, (struct text){ name, (int)strlen(name) });
    if (!copy || names_add(w->name, name, w->nnode, w->e) < 0)
        return -1;
    w->node[w->nnode] =
        (struct wire_node){ .name = copy, .kind = KIND_UNKNOWN, .tier = -1, .rail = -1, .place = w->place };
    return w->nnode++;
}

int32_t wiring_node(struct wiring *w, struct text t)
{
    char name[TEXT_NAME + 1];
    if (check_name(w, t) < 0)
        return -1;
    text_out(t, name, sizeof name);
    int64_t v = names_find(w->name, name);
    return v >= 0 ? (int32_t)v : add_node(w, name);
}

int32_t wiring_new_node(struct wiring *w, struct text t)
{
    int32_t before = w->nnode, v = wiring_node(w, t);
    if (v < 0 || v == before)
        return v;
    const struct place *p = &w->node[v].place;
    if (p->line > 0)
        return wiring_bad(w, "node \"%.*s\" stands on line %lld already", TEXT_SAY(t), (long long)p->line);
    return wiring_bad(w, "node \"%.*s\" is there already", TEXT_SAY(t));
}

int32_t wiring_known(struct wiring *w, struct text t)
{
    char name[TEXT_NAME + 1];
    int64_t v = text_out(t, name, sizeof name) ? names_find(w->name, name) : -1;
    return v >= 0 ? (int32_t)v : wiring_bad(w, "\"%.*s\" is no node of this file", TEXT_SAY(t));
}

/* ---- cables ---- */

static int check_cable(struct wiring *w, const struct wire_cable *c)
{
    const char *from = w->node[c->from].name, *to = w->node[c->to].name;
    if (!(c->gbps >= 0 && isfinite(c->gbps)))
        return wiring_bad(w, "\"%.60s\" - \"%.60s\": capacity %g Gb/s must be positive and finite", from, to, c->gbps);
    if (!(c->cost >= 0 && isfinite(c->cost)))
        return wiring_bad(w, "\"%.60s\" - \"%.60s\": cost %g must not be negative", from, to, c->cost);
    if (!(c->latency_us >= 0 && isfinite(c->latency_us)))
        return wiring_bad(w, "\"%.60s\" - \"%.60s\": latency %g us must not be negative", from, to, c->latency_us);
    return 0;
}

static int copy_port(struct wiring *w, const char **port)
{
    if (!*port || !**port) {
        *port = NULL;
        return 0;
    }
    struct text t = { *port, (int)strlen(*port) };
    if (check_name(w, t) < 0)
        return -1;
    *port = wiring_text(w, t);
    return *port ? 0 : -1;
}

int wiring_cable(struct wiring *w, const struct wire_cable *c)
{
    struct wire_cable copy = *c;
    void *cable = w->cable;
    if (check_cable(w, c) < 0)
        return -1;
    if (c->from == c->to) {
        wiring_note(w, "cables from a node to itself left out");
        return 0;
    }
    if (copy_port(w, &copy.from_port) < 0 || copy_port(w, &copy.to_port) < 0)
        return -1;
    copy.place = w->place;
    if (w->ncable == 1 << 30 || array_grow(&cable, &w->cable_room, (int64_t)w->ncable + 1, sizeof *w->cable) < 0)
        return fail(w->e, E_MEMORY, "out of memory for %d cables", w->ncable);
    w->cable = cable;
    w->cable[w->ncable++] = copy;
    return 0;
}

static void end_key(char *key, size_t n, int32_t v, const char *port)
{
    snprintf(key, n, "%d %s", v, port);
}

/* The other end of cable k as seen from node v, port. */
static void far_end(const struct wire_cable *k, int32_t v, const char *port, int32_t *peer, const char **peer_port)
{
    int first = k->from == v && k->from_port && !strcmp(k->from_port, port);
    *peer = first ? k->to : k->from;
    *peer_port = first ? k->to_port : k->from_port;
}

static int check_same(struct wiring *w, const struct wire_cable *k, int32_t v, const char *port, int32_t to,
                      const char *to_port)
{
    int32_t peer;
    const char *peer_port;
    far_end(k, v, port, &peer, &peer_port);
    if (peer == to && peer_port && !strcmp(peer_port, to_port))
        return 0;
    return wiring_bad(w,
                      "port \"%.40s\" of \"%.60s\" has a cable to \"%.60s\" port \"%.40s\" here, but to \"%.60s\" "
                      "port \"%.40s\" before",
                      port, w->node[v].name, w->node[to].name, to_port, w->node[peer].name, peer_port ? peer_port : "");
}

int wiring_join(struct wiring *w, const struct wire_cable *c)
{
    char from[TEXT_NAME + 16], to[TEXT_NAME + 16];
    if (!c->from_port || !c->to_port || !*c->from_port || !*c->to_port || c->from == c->to)
        return wiring_cable(w, c);
    if (strlen(c->from_port) > TEXT_NAME || strlen(c->to_port) > TEXT_NAME)
        return wiring_bad(w, "a port's name is longer than %d bytes", TEXT_NAME);
    end_key(from, sizeof from, c->from, c->from_port);
    end_key(to, sizeof to, c->to, c->to_port);
    int64_t a = names_find(w->end, from), b = names_find(w->end, to);
    if (w->slips && (a >= 0) != (b >= 0)) {
        struct wire_cable near = *c;
        *(a >= 0 ? &near.from_port : &near.to_port) = NULL;
        wiring_note(w, "cables to a port that has one already, kept without that port");
        return wiring_cable(w, &near) < 0 || names_add(w->end, a >= 0 ? to : from, w->ncable - 1, w->e) < 0 ? -1 : 0;
    }
    if ((a >= 0 && check_same(w, &w->cable[a], c->from, c->from_port, c->to, c->to_port) < 0) ||
        (b >= 0 && check_same(w, &w->cable[b], c->to, c->to_port, c->from, c->from_port) < 0) || check_cable(w, c) < 0)
        return -1;
    if (a < 0) {
        int32_t before = w->ncable;
        if (wiring_cable(w, c) < 0)
            return -1;
        return names_add(w->end, from, before, w->e) < 0 || names_add(w->end, to, before, w->e) < 0 ? -1 : 0;
    }
    struct wire_cable *k = &w->cable[a];
    if (k->gbps > 0 && c->gbps > 0 && (k->gbps < c->gbps || c->gbps < k->gbps))
        wiring_note(w, "cables whose ends differ in speed, taken at the lower");
    if (!(k->gbps > 0) || (c->gbps > 0 && c->gbps < k->gbps))
        k->gbps = c->gbps;
    return 0;
}

int wiring_files(const struct format_input *in, int (*read)(struct wiring *w, int32_t i), struct fabric **out,
                 struct err *e)
{
    struct wiring *w = wiring_new(in, e);
    int rc = w ? 0 : -1;
    if (w)
        w->nic_per_port = 1;
    for (int32_t i = 0; i < in->nfile && rc == 0; i++)
        rc = read(w, i);
    if (rc == 0)
        rc = wiring_fabric(w, out);
    wiring_free(w);
    return rc;
}
