/* SONiC minigraph.xml: PngDec/DeviceInterfaceLinks has the cables (Bandwidth in Mbit/s, where given), PngDec/Devices
 * what the devices are.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "service/formats/readers.h"
#include "service/formats/wiring.h"
#include "service/formats/xml.h"

static struct text whole(const char *text)
{
    return (struct text){ text, (int)strlen(text) };
}

static int read_device(struct wiring *w, const struct xml *x)
{
    const char *name = xml_child_text(x, "Hostname"), *type = xml_attribute(x, "type");
    if (!name)
        return wiring_bad(w, "<Device> has no Hostname");
    int32_t v = wiring_node(w, whole(name));
    if (v < 0)
        return -1;
    w->node[v].kind = type && !strcasecmp(type, "Server") ? NODE_NIC : NODE_SWITCH;
    return 0;
}

static int read_cable(struct wiring *w, const struct xml *x)
{
    const char *kind = xml_child_text(x, "ElementType"), *speed = xml_child_text(x, "Bandwidth");
    const char *from = xml_child_text(x, "StartDevice"), *to = xml_child_text(x, "EndDevice");
    struct wire_cable c = { .from_port = xml_child_text(x, "StartPort"), .to_port = xml_child_text(x, "EndPort") };
    if (kind && strcmp(kind, "DeviceInterfaceLink") != 0) {
        wiring_note(w, "links that are no DeviceInterfaceLink, left out");
        return 0;
    }
    if (!from || !to || !c.from_port || !c.to_port)
        return wiring_bad(w, "<DeviceLinkBase> needs StartDevice, StartPort, EndDevice and EndPort");
    if (speed && (!text_real(whole(speed), &c.gbps) || !(c.gbps > 0)))
        return wiring_bad(w, "Bandwidth \"%.60s\" is no positive number of Mbit/s", speed);
    c.gbps /= 1000;
    c.from = wiring_node(w, whole(from));
    c.to = c.from < 0 ? -1 : wiring_node(w, whole(to));
    return c.to < 0 ? -1 : wiring_join(w, &c);
}

/* Every child of parent/group called name. */
static int each(struct wiring *w, int32_t file, const struct xml *parent, const char *group, const char *name,
                int (*read)(struct wiring *w, const struct xml *x))
{
    const struct xml *list = xml_child(parent, group);
    wiring_line(w, file, parent->line);
    if (!list)
        return wiring_bad(w, "<%.40s> has no <%s>", parent->name, group);
    for (const struct xml *x = list->first; x; x = x->next) {
        wiring_line(w, file, x->line);
        if (!strcmp(x->name, name) && read(w, x) < 0)
            return -1;
    }
    return 0;
}

static int read_file(struct wiring *w, int32_t i)
{
    struct xml *root = NULL, *png;
    const struct format_file *f = &w->in->file[i];
    if (xml_read(f->path, f->data, f->n, w->arena, &root, w->e) < 0)
        return -1;
    wiring_line(w, i, root->line);
    if (strcmp(root->name, "DeviceMiniGraph") != 0 || !(png = xml_child(root, "PngDec")))
        return wiring_bad(w, "<%.40s> is no <DeviceMiniGraph> with a <PngDec>", root->name);
    return each(w, i, png, "Devices", "Device", read_device) < 0
               ? -1
               : each(w, i, png, "DeviceInterfaceLinks", "DeviceLinkBase", read_cable);
}

int minigraph_read(const struct format_input *in, struct fabric **out, struct err *e)
{
    struct wiring *w = wiring_new(in, e);
    int rc = w ? 0 : -1;
    if (w)
        w->nic_per_port = w->slips = 1;
    for (int32_t i = 0; i < in->nfile && rc == 0; i++)
        rc = read_file(w, i);
    if (rc == 0)
        rc = wiring_fabric(w, out);
    wiring_free(w);
    return rc;
}
