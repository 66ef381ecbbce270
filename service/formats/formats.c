/* The table of formats. */
#include "service/formats/formats.h"

#include <string.h>

#include "service/formats/ibnetdiscover.h"
#include "service/formats/readers.h"

static int read_ibnetdiscover(const struct format_input *in, struct fabric **out, struct err *e)
{
    const struct format_file *f = in->file;
    return ibnetdiscover_read(f->path, f->data, f->n, out, in->report, e);
}

const struct format format_table[] = {
    { "ibnetdiscover", "InfiniBand: output of ibnetdiscover, or a net file of ibsim", 0, read_ibnetdiscover },
    { "ibnetdiscover-p", "InfiniBand: output of ibnetdiscover -p, one cable a line", 0, ibnetdiscover_p_read },
    { "opensm-subnet", "InfiniBand: opensm-subnet.lst, as OpenSM dumps it", 0, opensm_subnet_read },
    { "ns3", "SimAI, HPCC and ASTRA-sim: topology of the ns-3 simulators, without NVSwitches", 0, ns3_read },
    { "slurm", "Slurm: topology.conf, trees and blocks; capacities by --gbps", 0, slurm_conf_read },
    { "slurm-yaml", "Slurm: topology.yaml, trees and blocks; capacities by --gbps", 0, slurm_yaml_read },
    { "topograph", "topograph: model file (YAML); capacities by --gbps", 0, topograph_read },
    { "node-link", "networkx: node-link JSON", 0, node_link_read },
    { "repetita", "REPETITA: .graph of a wide-area network", 0, repetita_read },
    { "graphml", "GraphML, as in the Internet Topology Zoo", 0, graphml_read },
    { "sndlib", "SNDlib: native format", 0, sndlib_read },
    { "sndlib-json", "SNDlib: the same as JSON", 0, sndlib_json_read },
    { "commalab", "CommaLab: multicommodity flow instances in plain numbers", 0, commalab_read },
    { "dimacs", "DIMACS: min-cost or max-flow network", 0, dimacs_read },
    { "htsim", "htsim: .topo, a fat tree by its numbers", 0, htsim_read },
    { "clab", "Containerlab: topology file (YAML); capacities by --gbps", 0, clab_read },
    { "batfish", "Batfish: layer 1 topology (JSON); capacities by --gbps", 1, batfish_read },
    { "lldp", "lldpctl -f json0, one file per device and called like it; capacities by --gbps", 1, lldp_read },
    { "sonic", "SONiC: config_db.json, one per switch", 1, sonic_read },
    { "minigraph", "SONiC: minigraph.xml", 1, minigraph_read },
    { "netq", "NetQ: topology graph (JSON); capacities by --gbps", 0, netq_read },
    { "ufm-ndt", "UFM: cabling plan (NDT, CSV)", 1, ufm_ndt_read },
    { "lingjun", "Alibaba Lingjun data set: topo.csv; capacities by --gbps", 0, lingjun_read },
    { NULL, NULL, 0, NULL },
};

const struct format *format_find(const char *name, struct err *e)
{
    for (const struct format *f = format_table; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    fail(e, E_INPUT, "unknown format \"%.60s\"; heddle import --list names the known ones", name);
    return NULL;
}

int format_read(const struct format *f, const struct format_input *in, struct fabric **out, struct err *e)
{
    if (in->nfile > 1 && !f->many)
        return fail(e, E_INPUT, "%s takes one file, not %d", f->name, in->nfile);
    if (f->read(in, out, e) < 0)
        return -1;
    if (overlay_check_used(in->overlay, e) == 0)
        return 0;
    fabric_free(*out);
    *out = NULL;
    return -1;
}

void format_note(struct format_report *r, const char *what, int64_t line)
{
    const int32_t room = sizeof r->note / sizeof *r->note;
    int32_t i = 0;
    while (i < r->nnote && strcmp(r->note[i].what, what) != 0)
        i++;
    if (i == room)
        return;
    if (i == r->nnote)
        r->note[r->nnote++] = (struct format_note){ what, 0, line };
    r->note[i].count++;
}
