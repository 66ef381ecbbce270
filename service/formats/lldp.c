/* lldpctl -f json0: the neighbours of one device per file. The output does not name the device itself: the file's name
 * does (leaf1.json).
 */
#include <string.h>

#include "service/formats/entry.h"
#include "service/formats/readers.h"

/* [{"value": "x"}]: the first value, n = 0 where there is none. */
static struct text first_value(const struct value *map, const char *key)
{
    const struct value *list = value_get(map, key);
    const struct value *v =
        list && list->kind == VALUE_LIST && list->n > 0 ? value_get(&list->as.item[0], "value") : NULL;
    return v && v->kind == VALUE_TEXT && v->n <= INT32_MAX ? (struct text){ v->as.bytes, (int)v->n }
                                                           : (struct text){ "", 0 };
}

static const struct value *first_of(struct wiring *w, const struct value *map, const char *key)
{
    const struct value *list = entry_list(w, map, key);
    if (list && list->n == 0)
        wiring_bad(w, "%s: an empty list", key);
    return list && list->n > 0 ? &list->as.item[0] : NULL;
}

/* By what the neighbour says it does: bridges and routers are switches, a station alone is a host. */
static int kind_of(const struct value *chassis)
{
    const struct value *list = value_get(chassis, "capability");
    int station = 0;
    for (int64_t i = 0; list && list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *type = value_get(&list->as.item[i], "type"), *on = value_get(&list->as.item[i], "enabled");
        if (!type || type->kind != VALUE_TEXT || !on || on->kind != VALUE_BOOL || !on->as.flag)
            continue;
        if (!strcmp(type->as.bytes, "Bridge") || !strcmp(type->as.bytes, "Router"))
            return NODE_SWITCH;
        station |= !strcmp(type->as.bytes, "Station");
    }
    return station ? NODE_NIC : KIND_UNKNOWN;
}

/* The port's name as its own device calls it: an id of type ifname, else the description, else the id. */
static struct text port_name(const struct value *port)
{
    const struct value *ids = value_get(port, "id");
    const struct value *type =
        ids && ids->kind == VALUE_LIST && ids->n > 0 ? value_get(&ids->as.item[0], "type") : NULL;
    struct text id = first_value(port, "id"), descr = first_value(port, "descr");
    int by_name = type && type->kind == VALUE_TEXT && !strcmp(type->as.bytes, "ifname");
    return descr.n > 0 && !(by_name && id.n > 0) ? descr : id;
}

static int read_neighbour(struct wiring *w, int32_t own, const struct value *interface)
{
    struct wire_cable c = { .from = own };
    struct text local;
    const struct value *chassis = first_of(w, interface, "chassis");
    const struct value *port = chassis ? first_of(w, interface, "port") : NULL;
    if (!port || entry_text(w, interface, "name", &local) < 0)
        return -1;
    struct text name = first_value(chassis, "name"), remote = port_name(port);
    if (name.n == 0) {
        wiring_note(w, "neighbours without a name, called by their chassis id");
        name = first_value(chassis, "id");
    }
    if (remote.n == 0)
        return wiring_bad(w, "the neighbour's port has neither id nor description");
    c.to = wiring_node(w, name);
    if (c.to < 0 || !(c.from_port = entry_port(w, local)) || !(c.to_port = entry_port(w, remote)))
        return -1;
    if (w->node[c.to].kind == KIND_UNKNOWN)
        w->node[c.to].kind = kind_of(chassis);
    return wiring_join(w, &c);
}

/* "folder/leaf1.json" is leaf1. */
static struct text device_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return (struct text){ name, dot && dot > name ? (int)(dot - name) : (int)strlen(name) };
}

static int read_file(struct wiring *w, int32_t file)
{
    const struct value *root, *lldp, *interfaces;
    const char *path = w->in->file[file].path;
    if (entry_open(w, file, ENTRY_JSON, &root) < 0)
        return -1;
    if (!strcmp(path, "standard input"))
        return wiring_bad(w, "nothing names the device; give a file that is called like it, leaf1.json");
    int32_t own = wiring_node(w, device_of(path));
    if (own < 0 || !(lldp = first_of(w, root, "lldp")))
        return -1;
    if (lldp->kind != VALUE_MAP || lldp->n == 0) {
        wiring_note(w, "files of devices without neighbours");
        return 0;
    }
    if (!(interfaces = entry_list(w, lldp, "interface")))
        return -1;
    for (int64_t i = 0; i < interfaces->n; i++) {
        wiring_entry(w, file, "lldp[0].interface", i);
        if (read_neighbour(w, own, &interfaces->as.item[i]) < 0)
            return -1;
    }
    return 0;
}

int lldp_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    return wiring_files(in, read_file, out, e);
}
