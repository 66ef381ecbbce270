/* SONiC config_db.json, one file per switch: DEVICE_METADATA names it, DEVICE_NEIGHBOR has its cables, PORT the speeds
 * of its own ends. Neighbours may call a port by its alias.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/formats/entry.h"
#include "service/formats/readers.h"

struct sonic {
    struct wiring *w;
    const struct value **root; /* [nfile] */
    struct text *host;         /* [nfile] */
    struct names *alias;       /* "hostname alias" to a place in port */
    const char **port;
    int64_t nport, room;
};

static int add_alias(struct sonic *r, struct text host, struct text alias, const char *port)
{
    char key[2 * TEXT_NAME + 2];
    void *grown = r->port;
    if (alias.n == 0 || alias.n > TEXT_NAME || host.n > TEXT_NAME)
        return 0;
    snprintf(key, sizeof key, "%.*s %.*s", host.n, host.at, alias.n, alias.at);
    if (array_grow(&grown, &r->room, r->nport + 1, sizeof *r->port) < 0)
        return fail(r->w->e, E_MEMORY, "out of memory for %lld ports", (long long)r->nport);
    r->port = grown;
    r->port[r->nport] = port;
    int rc = names_add(r->alias, key, r->nport++, r->w->e);
    return rc > 0 ? wiring_bad(r->w, "alias \"%.*s\" stands for two ports", TEXT_SAY(alias)) : rc;
}

/* The name of the switch and what its ports are also called. */
static int read_device(struct sonic *r, int32_t file)
{
    struct wiring *w = r->w;
    const struct value *meta, *local, *ports;
    struct text alias;
    if (entry_open(w, file, ENTRY_JSON, &r->root[file]) < 0 ||
        !(meta = entry_map(w, r->root[file], "DEVICE_METADATA")) || !(local = entry_map(w, meta, "localhost")) ||
        entry_text(w, local, "hostname", &r->host[file]) < 0)
        return -1;
    int32_t v = wiring_new_node(w, r->host[file]);
    if (v < 0)
        return -1;
    w->node[v].kind = NODE_SWITCH;
    ports = value_get(r->root[file], "PORT");
    wiring_entry(w, file, "PORT", -1);
    for (int64_t i = 0; ports && ports->kind == VALUE_MAP && i < ports->n; i++)
        if (entry_maybe(w, ports->as.pair[i].value, "alias", &alias) < 0 ||
            add_alias(r, r->host[file], alias, ports->as.pair[i].key) < 0)
            return -1;
    return 0;
}

static int is_host(const struct value *root, struct text name)
{
    char key[TEXT_NAME + 1];
    const struct value *meta = value_get(root, "DEVICE_NEIGHBOR_METADATA");
    const struct value *type = text_out(name, key, sizeof key) ? value_get(value_get(meta, key), "type") : NULL;
    return type && type->kind == VALUE_TEXT && !strcasecmp(type->as.bytes, "Server");
}

static int read_cable(struct sonic *r, int32_t file, const struct pair *pair)
{
    struct wiring *w = r->w;
    struct text name, port;
    char key[2 * TEXT_NAME + 2];
    struct wire_cable c = { .from_port = pair->key };
    const struct value *own = value_get(value_get(r->root[file], "PORT"), pair->key);
    if (entry_text(w, pair->value, "name", &name) < 0 || entry_text(w, pair->value, "port", &port) < 0 ||
        entry_number(w, own, "speed", &c.gbps) < 0)
        return -1;
    if (value_get(own, "speed") && !(c.gbps > 0))
        return wiring_bad(w, "port \"%.60s\": speed %g Mbit/s must be positive", pair->key, c.gbps);
    c.gbps /= 1000;
    c.from = wiring_known(w, r->host[file]);
    c.to = c.from < 0 ? -1 : wiring_node(w, name);
    if (c.to < 0 || !(c.to_port = entry_port(w, port)))
        return -1;
    if (w->node[c.to].kind == KIND_UNKNOWN)
        w->node[c.to].kind = is_host(r->root[file], name) ? NODE_NIC : NODE_SWITCH;
    snprintf(key, sizeof key, "%s %s", w->node[c.to].name, c.to_port);
    int64_t alias = names_find(r->alias, key);
    if (alias >= 0)
        c.to_port = r->port[alias];
    return wiring_join(w, &c);
}

static int read_cables(struct sonic *r, int32_t file)
{
    const struct value *cables;
    wiring_entry(r->w, file, "document", -1);
    if (!(cables = entry_map(r->w, r->root[file], "DEVICE_NEIGHBOR")))
        return -1;
    wiring_entry(r->w, file, "DEVICE_NEIGHBOR", 0);
    for (; r->w->place.item < cables->n; r->w->place.item++)
        if (read_cable(r, file, &cables->as.pair[r->w->place.item]) < 0)
            return -1;
    return 0;
}

int sonic_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct sonic r = { .w = wiring_new(in, e), .alias = names_new(e) };
    r.root = array(in->nfile, sizeof *r.root);
    r.host = array(in->nfile, sizeof *r.host);
    int rc = r.w && r.alias ? 0 : -1;
    if (rc == 0 && (!r.root || !r.host))
        rc = fail(e, E_MEMORY, "out of memory for %d files", in->nfile);
    if (rc == 0)
        r.w->nic_per_port = 1;
    for (int32_t i = 0; i < in->nfile && rc == 0; i++)
        rc = read_device(&r, i);
    for (int32_t i = 0; i < in->nfile && rc == 0; i++)
        rc = read_cables(&r, i);
    if (rc == 0)
        rc = wiring_fabric(r.w, out);
    wiring_free(r.w);
    names_free(r.alias);
    free(r.root);
    free(r.host);
    free(r.port);
    return rc;
}
