/* Batfish layer 1: {"edges": [{"node1": {"hostname", "interfaceName"}, "node2": ...}]}, each cable once or from both
 * ends. It knows neither hosts nor speeds.
 */
#include "service/formats/entry.h"
#include "service/formats/readers.h"

static int read_end(struct wiring *w, const struct value *edge, const char *key, int32_t *v, const char **port)
{
    struct text name, interface;
    const struct value *end = entry_map(w, edge, key);
    if (!end || entry_text(w, end, "hostname", &name) < 0 || entry_text(w, end, "interfaceName", &interface) < 0)
        return -1;
    *v = wiring_node(w, name);
    *port = *v < 0 ? NULL : entry_port(w, interface);
    return *port ? 0 : -1;
}

static int read_file(struct wiring *w, int32_t file)
{
    const struct value *root, *edges;
    if (entry_open(w, file, ENTRY_JSON, &root) < 0 || !(edges = entry_list(w, root, "edges")))
        return -1;
    for (int64_t i = 0; i < edges->n; i++) {
        struct wire_cable c = { 0 };
        wiring_entry(w, file, "edges", i);
        if (read_end(w, &edges->as.item[i], "node1", &c.from, &c.from_port) < 0 ||
            read_end(w, &edges->as.item[i], "node2", &c.to, &c.to_port) < 0 || wiring_join(w, &c) < 0)
            return -1;
    }
    return 0;
}

int batfish_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    return wiring_files(in, read_file, out, e);
}
