/* The readers behind format_table, one file each (NAME.c), all with the signature of struct format. What a format means
 * here stands beside its reader's name; what they have in common (hosts, rails, tiers, unknown capacities) is in
 * wiring.h. A number without a unit is read as Gb/s, with a note.
 */
#ifndef HEDDLE_READERS_H
#define HEDDLE_READERS_H

#include "service/formats/formats.h"

/* InfiniBand dumps that list cables, one a line, both ends on it (ib_flat.c). Names, hosts, rails and tiers as in
 * ibnetdiscover.h; speeds that the dump does not know ("???", and "??" for NDR in opensm-subnet.lst) come from the
 * overlay. In the output of ibnetdiscover -p a port beyond the first of an adapter is an adapter of its own
 * ("host/HCA-1/p2"): that dump names ports, not adapters, by GUID. */
int ibnetdiscover_p_read(const struct format_input *in, struct fabric **out, struct err *e);
int opensm_subnet_read(const struct format_input *in, struct fabric **out, struct err *e);

/* SimAI (six numbers on the first line) and HPCC / ASTRA-sim (three). Nodes gpu0, gpu1, ... (NICs; SimAI: host and rail
 * by GPUs per server) and switch16, ... NVSwitches are scale-up: they and their links are left out, so no path between
 * servers uses them. Every listed link is kept, parallel ones too (ns-3 itself keeps the last one only). */
int ns3_read(const struct format_input *in, struct fabric **out, struct err *e);

/* REPETITA .graph: directed edges, bw in kbit/s, delay in microseconds, weight as cost. */
int repetita_read(const struct format_input *in, struct fabric **out, struct err *e);

/* SNDlib native: installed capacities in the unit of META; where none is installed (modules are offers, not
 * capacities) the overlay has to say it. Demands are left out. */
int sndlib_read(const struct format_input *in, struct fabric **out, struct err *e);

int sndlib_json_read(const struct format_input *in, struct fabric **out, struct err *e);

/* networkx node-link JSON: capacity, bandwidth or bw of a link. GraphML: LinkSpeedRaw in bit/s, or a capacity. */
int node_link_read(const struct format_input *in, struct fabric **out, struct err *e);
int graphml_read(const struct format_input *in, struct fabric **out, struct err *e);

/* CommaLab plain: N M K, then M directed arcs "tail head cost capacity" (nodes from 1; a capacity below 0 is unbounded:
 * the overlay has to say it), then K demands, which are left out. */
int commalab_read(const struct format_input *in, struct fabric **out, struct err *e);

/* DIMACS: p min N M with "a tail head low cap cost", or p max N M with "a tail head cap"; directed. */
int dimacs_read(const struct format_input *in, struct fabric **out, struct err *e);

/* htsim .topo: a fat tree of two or three tiers by its numbers, spread out. */
int htsim_read(const struct format_input *in, struct fabric **out, struct err *e);

/* UFM NDT: cabling plan as CSV; columns by the header's names, Speed in Mbit/s where there is such a column. Ports
 * called "Port N" or "Blade N_Port ..." or by a number are a switch's, any other name is a host's adapter. */
int ufm_ndt_read(const struct format_input *in, struct fabric **out, struct err *e);

/* Ethernet fabrics. Both ends of a cable may tell of it, in one file or in two. A host is a device, and each of its
 * cabled ports a NIC of it. Speeds: SONiC only. Which devices are hosts: by their kind (Containerlab: linux, unless it
 * forwards), type (SONiC: Server; NetQ: all but switches) or capabilities (LLDP: stations), else by --hosts. */
int clab_read(const struct format_input *in, struct fabric **out, struct err *e);
int batfish_read(const struct format_input *in, struct fabric **out, struct err *e);
int lldp_read(const struct format_input *in, struct fabric **out, struct err *e);
int sonic_read(const struct format_input *in, struct fabric **out, struct err *e);
int minigraph_read(const struct format_input *in, struct fabric **out, struct err *e);
int netq_read(const struct format_input *in, struct fabric **out, struct err *e);

/* Alibaba Lingjun topo.csv (ip,DSW,PSW,ASW): one NIC per host; two switches that any row names together have one cable
 * here, whose capacity (all that joins them) the overlay says. */
int lingjun_read(const struct format_input *in, struct fabric **out, struct err *e);

/* Slurm topology.conf, topology.yaml and the model files of topograph: trees of switches, or blocks. One NIC per node
 * of the cluster, capacities by the overlay only. Blocks become a tier, and each of the larger block sizes another
 * one; blocks of the largest size are joined by nothing, for nothing says what joins them. */
int slurm_conf_read(const struct format_input *in, struct fabric **out, struct err *e);
int slurm_yaml_read(const struct format_input *in, struct fabric **out, struct err *e);
int topograph_read(const struct format_input *in, struct fabric **out, struct err *e);

#endif
