/* Every reader on a small input by hand: counts, capacities, hosts, rails, tiers; what must be refused and in which
 * words; several files; overlay rules; host lists and cells.
 */
#include "formats_read.h"
#include "formats_samples.h"
#include "service/formats/hostlist.h"
#include "service/formats/text.h"

static const struct sample *sample_of(const char *format, const char *path)
{
    for (int i = 0; i < SAMPLES; i++)
        if (!strcmp(samples[i].format, format) && !strcmp(samples[i].path, path))
            return &samples[i];
    CHECK(0, "no sample %s %s", format, path);
    return NULL;
}

static struct fabric *read_sample(const struct sample *s)
{
    struct fabric *f = read_bytes(s->format, s->path, s->text, (int64_t)strlen(s->text), s->gbps, s->hosts);
    CHECK(f, "%s %s: %s", s->format, s->path, error.text);
    return f;
}

static int32_t node(const struct fabric *f, const char *name)
{
    for (int32_t v = 0; v < f->nnode; v++)
        if (!strcmp(f->node_name[v], name))
            return v;
    CHECK(0, "no node \"%s\"", name);
    return -1;
}

/* The number of cables between two nodes in either direction, and the capacity of the last. */
static int32_t cables(const struct fabric *f, const char *from, const char *to, double *gbps)
{
    int32_t s = node(f, from), t = node(f, to), n = 0;
    for (int32_t i = 0; i < f->nlink; i++)
        if ((f->link_from[i] == s && f->link_to[i] == t) || (f->link_from[i] == t && f->link_to[i] == s)) {
            *gbps = f->link_gbps[i];
            n++;
        }
    return n;
}

static void check_cable(const struct fabric *f, const char *from, const char *to, int32_t n, double gbps)
{
    double have = 0;
    int32_t count = cables(f, from, to, &have);
    CHECK(count == n && have > gbps - 1e-9 && have < gbps + 1e-9, "%s - %s: %d cables of %g", from, to, count, have);
}

static void check_nic(const struct fabric *f, const char *name, const char *host, int32_t rail)
{
    int32_t v = node(f, name);
    CHECK(f->node_kind[v] == NODE_NIC && f->host.of[v] >= 0 && !strcmp(f->host.name[f->host.of[v]], host),
          "%s is on %s", name, f->host.of[v] < 0 ? "nothing" : f->host.name[f->host.of[v]]);
    CHECK(f->node_rail[v] == rail, "%s: rail %d", name, f->node_rail[v]);
}

static void test_counts(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        struct fabric *f = read_sample(s);
        check_fabric(f);
        CHECK(nics(f) == s->nnic && f->nnode - nics(f) == s->nswitch && f->nlink == s->nlink &&
                  f->host.count == s->nhost,
              "%s %s: %d switches, %d NICs, %d links, %d hosts", s->format, s->path, f->nnode - nics(f), nics(f),
              f->nlink, f->host.count);
        fabric_free(f);
    }
    for (const struct format *f = format_table; f->name; f++) { /* no reader without a sample here */
        int has = 0;
        for (int i = 0; i < SAMPLES; i++)
            has |= !strcmp(samples[i].format, f->name);
        CHECK(has && f->summary[0], "%s", f->name);
    }
}

static void test_infiniband(void **state)
{
    (void)state;
    struct fabric *f = read_sample(sample_of("ibnetdiscover-p", "dump"));
    check_cable(f, "MF0;leaf:Q/U1", "a/mlx5_0", 1, 400);
    check_cable(f, "MF0;leaf:Q/U1", "b/HCA-1", 1, 100);
    check_cable(f, "MF0;leaf:Q/U1", "b/HCA-1/p2", 1, 400);
    check_cable(f, "MF0;leaf:Q/U1", "MF0;spine:Q/U1", 1, 400);
    check_nic(f, "b/HCA-1/p2", "b", 0);
    CHECK(f->node_tier[node(f, "MF0;spine:Q/U1")] == 2 && noted("without a cable") == 1);
    fabric_free(f);
    f = read_sample(sample_of("opensm-subnet", "subnet.lst"));
    check_cable(f, "MF0;leaf:Q/U1", "a/mlx5_0", 1, 100);
    check_cable(f, "MF0;leaf:Q/U1", "b/mlx5_0", 1, 120);
    check_cable(f, "MF0;leaf:Q/U1", "MF0;spine:Q/U1", 1, 400);
    CHECK(noted("are down") == 1);
    int32_t ports = 0;
    for (int32_t i = 0; i < f->nlink; i++)
        ports += f->link_from_port[i] == 31 || f->link_to_port[i] == 31 ? 1 : 0; /* PN:1F */
    CHECK(ports == 1);
    fabric_free(f);
}

static void test_simulators(void **state)
{
    (void)state;
    struct fabric *f = read_sample(sample_of("ns3", "simai"));
    check_cable(f, "gpu0", "switch6", 1, 400);
    check_cable(f, "gpu1", "switch7", 1, 200);
    check_cable(f, "gpu3", "switch7", 1, 400);
    check_nic(f, "gpu1", "server0", 1);
    check_nic(f, "gpu2", "server1", 0);
    CHECK(noted("NVSwitches") == 4);
    for (int32_t v = 0; v < f->nnode; v++)
        CHECK(strcmp(f->node_name[v], "switch4") != 0 && strcmp(f->node_name[v], "switch5") != 0);
    CHECK(f->link_latency[0] > 0.4999 && f->link_latency[0] < 0.5001 && f->link_latency[4] > 999.9);
    fabric_free(f);
    f = read_sample(sample_of("ns3", "hpcc"));
    check_cable(f, "gpu2", "switch3", 2, 25); /* parallel links are kept */
    fabric_free(f);
    f = read_sample(sample_of("htsim", "t.topo"));
    check_cable(f, "host0", "tor0", 1, 200);
    check_cable(f, "tor3", "agg2", 1, 200);
    check_cable(f, "agg0", "core0", 2, 100);
    double none = 0;
    CHECK(cables(f, "agg0", "core1", &none) == 0 && cables(f, "tor0", "agg2", &none) == 0);
    CHECK(f->node_tier[node(f, "core3")] == 3 && f->node_tier[node(f, "tor0")] == 1);
    fabric_free(f);
}

static void test_clusters(void **state)
{
    (void)state;
    struct fabric *f = read_sample(sample_of("slurm", "topology.conf"));
    check_cable(f, "tux1", "s9", 1, 200);
    check_cable(f, "tux4b", "leaf2", 1, 200);
    check_cable(f, "tux05", "leaf2", 1, 200);
    check_cable(f, "leaf2", "spine", 1, 800);
    CHECK(f->node_tier[node(f, "spine")] == 2 && f->node_tier[node(f, "s9")] == 1);
    fabric_free(f);
    const struct sample *blocks = sample_of("slurm", "topology.conf") + 1;
    f = read_sample(blocks);
    check_cable(f, "b1", "block4.0", 1, 100);
    check_cable(f, "b2", "block4.0", 1, 100);
    check_cable(f, "b4", "block4.1", 1, 100);
    CHECK(noted("joined by nothing") == 1);
    fabric_free(f);
    f = read_sample(sample_of("topograph", "model.yaml"));
    check_cable(f, "1101", "l1", 1, 400);
    check_cable(f, "x9", "l1", 1, 400);
    check_cable(f, "l1", "s1", 1, 800);
    check_cable(f, "s1", "core", 1, 1600);
    check_cable(f, "s2", "core", 1, 1600); /* the tier of the upper end */
    CHECK(noted("nothing below") == 1 && f->node_tier[node(f, "core")] == 3);
    fabric_free(f);
    f = read_sample(sample_of("lingjun", "topo.csv"));
    check_cable(f, "h2", "S2", 1, 200);
    check_cable(f, "S2", "P10", 1, 800);
    check_cable(f, "S2", "P12", 1, 800);
    check_cable(f, "P10", "G6", 1, 1600);
    fabric_free(f);
}

static void test_wide_area(void **state)
{
    (void)state;
    struct fabric *f = read_sample(sample_of("repetita", "x.graph"));
    check_cable(f, "1_B", "2_C", 2, 1);
    check_cable(f, "0_A", "1_B", 2, 9.95328);
    CHECK(f->link_directed[0] && f->link_cost[1] > 10.9 && f->link_latency[0] > 1912);
    fabric_free(f);
    f = read_sample(sample_of("graphml", "zoo.graphml"));
    check_cable(f, "edge & co", "Athens#1", 1, 40);
    check_cable(f, "Athens#1", "Athens#2", 2, 2.5);
    check_cable(f, "node#3", "Ulm", 1, 1);
    CHECK(!f->link_directed[0]);
    fabric_free(f);
    f = read_sample(sample_of("sndlib", "net.txt"));
    check_cable(f, "A", "B", 1, 9.92);
    check_cable(f, "B", "C", 1, 40);
    check_cable(f, "C", "A", 1, 2.48);
    CHECK(f->link_cost[0] > 1.49 && f->link_cost[0] < 1.51);
    fabric_free(f);
    f = read_sample(sample_of("sndlib-json", "net.json"));
    check_cable(f, "A", "B", 1, 20);
    check_cable(f, "A", "L", 1, 40);
    check_cable(f, "B", "L", 1, 12.5);
    fabric_free(f);
    f = read_sample(sample_of("node-link", "b4.json"));
    check_cable(f, "0", "x", 1, 5000);
    CHECK(f->link_directed[0] && noted("capacity 0") == 1 && noted("without a unit") == 4);
    fabric_free(f);
    f = read_sample(sample_of("commalab", "grid"));
    check_cable(f, "2", "3", 1, 286.5);
    check_cable(f, "3", "1", 1, 77);
    CHECK(noted("unbounded") == 1 && noted("capacity 0") == 1);
    fabric_free(f);
    f = read_sample(sample_of("dimacs", "min.net"));
    check_cable(f, "3", "4", 1, 5);
    CHECK(noted("supplies") == 2 && f->link_cost[0] > 1.9 && f->link_directed[3]);
    fabric_free(f);
}

static void test_ethernet(void **state)
{
    (void)state;
    struct fabric *f = read_sample(sample_of("clab", "lab.clab.yml"));
    check_cable(f, "leaf1", "c1/eth1", 1, 10);
    check_cable(f, "leaf1", "spine", 1, 40);
    check_cable(f, "rtr", "pc/eth1", 1, 10);
    check_nic(f, "c1/eth2", "c1", 1);
    CHECK(noted("forward") == 1 && noted("leave the lab") == 1);
    fabric_free(f);
    f = read_sample(sample_of("batfish", "layer1.json"));
    check_cable(f, "spine", "leaf1", 1, 100);
    check_cable(f, "host1/eth0", "leaf1", 1, 25);
    fabric_free(f);
    f = read_sample(sample_of("lldp", "leaf1.json"));
    check_cable(f, "leaf1", "gpu1/eth2", 1, 25);
    check_cable(f, "leaf1", "spine", 1, 100);
    check_cable(f, "leaf1", "ee:ff/ee:ff", 1, 25);
    fabric_free(f);
    f = read_sample(sample_of("sonic", "config_db.json"));
    check_cable(f, "leaf1", "spine1", 1, 100);
    check_cable(f, "leaf1", "spine2", 1, 400);
    check_cable(f, "leaf1", "srv/eth0", 1, 25);
    CHECK(f->link_from_port[1] == 4);
    fabric_free(f);
    f = read_sample(sample_of("minigraph", "minigraph.xml"));
    check_cable(f, "leaf", "T1", 1, 400);
    check_cable(f, "leaf", "T2", 1, 25);
    CHECK(noted("has one already") == 1 && noted("no DeviceInterfaceLink") == 1);
    fabric_free(f);
    f = read_sample(sample_of("netq", "graph.json"));
    check_cable(f, "leaf", "dgx/ens1f0np1", 1, 200);
    check_cable(f, "leaf", "n2", 1, 800);
    check_nic(f, "dgx/ens4f0np0", "dgx", 1);
    fabric_free(f);
    f = read_sample(sample_of("ufm-ndt", "plan.ndt"));
    check_cable(f, "leaf1", "spine-A", 2, 400);
    check_cable(f, "gpu1/mlx5_1", "leaf1", 1, 200);
    CHECK(noted("not of type Data") == 1 && noted("without a cable") == 1);
    fabric_free(f);
}

/* ---- several files ---- */

static struct format_file file_of(const char *path, const char *text)
{
    return (struct format_file){ path, text, (int64_t)strlen(text) };
}

static void test_several_files(void **state)
{
    (void)state;
    const char *leaf = sample_of("lldp", "leaf1.json")->text;
    const char *spine = "{\"lldp\": [{\"interface\": [{\"name\": \"Ethernet4\", \"chassis\": [{\"name\": [{\"value\": "
                        "\"leaf1\"}]}], \"port\": [{\"id\": [{\"type\": \"ifname\", \"value\": \"swp31\"}]}]}]}]}";
    const char *alone = "{\"lldp\": [{}]}";
    struct format_file lldp[] = { file_of("d/leaf1.json", leaf), file_of("spine", spine), file_of("x/y.z", alone) };
    struct fabric *f = read_files("lldp", lldp, 3, "tier1=25,tier2=100", NULL);
    CHECK(f && f->nlink == 3 && f->nnode == 5, "%s", error.text); /* y is a switch without cables */
    CHECK(noted("without neighbours") == 1);
    fabric_free(f);
    struct format_file wrong[] = { lldp[0],
                                   file_of("spine.json", "{\"lldp\": [{\"interface\": [{\"name\": "
                                                         "\"Ethernet4\", \"chassis\": [{\"name\": [{\"value\": "
                                                         "\"leaf1\"}]}], \"port\": [{\"id\": [{\"type\": "
                                                         "\"ifname\", \"value\": \"swp7\"}]}]}]}]}") };
    CHECK(!read_files("lldp", wrong, 2, "1", NULL));
    CHECK(!strncmp(error.text, "spine.json: lldp[0].interface[0]: port \"Ethernet4\" of \"spine\"", 61), "%s",
          error.text);

    const char *one =
        "{\"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"a\"}}, \"PORT\": {\"Ethernet0\": {\"alias\": "
        "\"etp1\", \"speed\": \"100000\"}}, \"DEVICE_NEIGHBOR\": {\"Ethernet0\": {\"name\": \"b\", "
        "\"port\": \"etp9\"}}}";
    const char *two = "{\"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"b\"}}, \"PORT\": {\"Ethernet32\": "
                      "{\"alias\": \"etp9\", \"speed\": 40000}}, \"DEVICE_NEIGHBOR\": {\"Ethernet32\": {\"name\": "
                      "\"a\", \"port\": \"Ethernet0\"}}}";
    struct format_file sonic[] = { file_of("a.json", one), file_of("b.json", two), file_of("c.json", two) };
    f = read_files("sonic", sonic, 2, NULL, NULL);
    CHECK(f && f->nnode == 2, "%s", error.text);
    check_cable(f, "a", "b", 1, 40);
    CHECK(noted("ends differ") == 1 && f->link_to_port[0] == 32);
    fabric_free(f);
    CHECK(!read_files("sonic", sonic, 3, NULL, NULL) && strstr(error.text, "c.json: document: node \"b\" is there"),
          "%s", error.text);
    CHECK(!read_files("ns3", sonic, 2, NULL, NULL) && strstr(error.text, "ns3 takes one file, not 2"));
}

/* ---- refusals ---- */

static char *edited(const struct sample *s, const char *from, const char *to)
{
    const char *at = strstr(s->text, from);
    CHECK(at, "%s has no \"%s\"", s->format, from);
    char *text = calloc(1, strlen(s->text) + strlen(to) + 1);
    sprintf(text, "%.*s%s%s", (int)(at - s->text), s->text, to, at + strlen(from));
    return text;
}

static void test_refusals(void **state)
{
    static const struct {
        const char *format, *path, *from, *to, *says;
    } row[] = {
        { "ibnetdiscover-p", "dump", "SW     1  1 0x01", "XX     1  1 0x01", "dump:1: \"XX\" is no kind of node" },
        { "ibnetdiscover-p", "dump", "  2 0x01 2x HDR", "  1 0x01 2x HDR", "dump:2: port 1 of 0x01 has another cable" },
        { "ibnetdiscover-p", "dump", "4x NDR", "4x WDR", "dump:1: \"4x WDR\" is no width and speed like 4x EDR" },
        { "ibnetdiscover-p", "dump", "- CA", "+ CA", "dump:1: \"+\" stands where -" },
        { "ibnetdiscover-p", "dump", "mlx5_0' )", "mlx5_0' ", "dump:1: the line does not end with" },
        { "ibnetdiscover-p", "dump", "CA    11  1 0x0a ( ", "SW    11  1 0x0a ( ", "dump:7: 0x0a is a switch and an" },
        { "opensm-subnet", "subnet.lst", "{ CA Ports", "{ QQ Ports", "subnet.lst:1: \"QQ\" is no kind of node" },
        { "opensm-subnet", "subnet.lst", "PN:01", "PN:zz", "subnet.lst:1: an end has no port number" },
        { "opensm-subnet", "subnet.lst", "SPD=25", "SPD=26", "subnet.lst:1: PHY=4x SPD=26 is no width and speed" },
        { "opensm-subnet", "subnet.lst", "SPD=25", "", "subnet.lst:1: PHY=, LOG= or SPD= is missing" },
        { "ns3", "simai", "8 2 2 2 9 H100", "8 2 2 2 9", "simai:1: the first line has 5 words" },
        { "ns3", "simai", "8 2 2 2 9", "8 2 2 2 10", "simai:12: the file ends where the source of a link should" },
        { "ns3", "simai", "8 2 2 2 9", "8 2 2 2 8", "simai:11: \"6\" stands behind the last of 8 links" },
        { "ns3", "simai", "0 6 400Gbps", "0 8 400Gbps",
          "simai:7: the destination of a link \"8\" is no integer in [0" },
        { "ns3", "simai", "400Gbps", "400GBps", "simai:7: \"400GBps\" is no positive rate like 400Gbps" },
        { "ns3", "simai", "0.0005ms", "0.0005", "simai:7: \"0.0005\" is no delay" },
        { "ns3", "simai", "4 5 6 7", "4 5 6 6", "simai:2: switch 6 is listed twice" },
        { "slurm", "topology.conf", "LinkSpeed", "LinkSped", "topology.conf:2: \"LinkSped\" is no key" },
        { "slurm", "topology.conf", "tux[0-2]", "tux[0-2", "topology.conf:2: host list \"tux[0-2\": a bracket never" },
        { "slurm", "topology.conf", "tux[0-2]", "tux[2-0]", "topology.conf:2: host list \"tux[2-0]\": a range is not" },
        { "slurm", "topology.conf", "leaf2\n", "leaf3\n", "topology.conf:5: switch \"leaf3\" is described nowhere" },
        { "slurm", "topology.conf", "nodes=tux[3", "nodes=s9,tux[3", "topology.conf:3: \"s9\" is a node and a switch" },
        { "slurm", "topology.conf", "switchname=leaf2", "switchname=s9",
          "topology.conf:3: switch \"s9\" is described" },
        { "slurm", "topology.conf", "nodes=tux[3,4]b,tux05", "switches=spine",
          "topology.conf:3: switch \"leaf2\" hangs below itself" },
        { "slurm", "topology.conf", " Nodes=tux[0-2]", "", "topology.conf:2: switch \"s9\" needs either Nodes or" },
        { "slurm-yaml", "topology.yaml", "children: s[2-3]", "childs: s2", "topology.yaml: tree.switches[0]: switch" },
        { "slurm-yaml", "topology.yaml", "  tree:", "  ring:", "topology.yaml: document: none of 2 topologies is" },
        { "slurm-yaml", "topology.yaml", "- topology: flat", "- &a topology: flat\n  x: *a",
          "topology.yaml:3: aliases" },
        { "slurm-yaml", "topology.yaml", "{switch", "{switch: [", "topology.yaml:1" },
        { "topograph", "model.yaml", "- switch: s2\n", "- swtch: s2\n",
          "model.yaml: blocks[2]: switch: wanted a text" },
        { "topograph", "model.yaml", "[y1]", "[s1]", "model.yaml: blocks[2]: \"s1\" is a node and a switch" },
        { "topograph", "model.yaml", "blocks:", "blocks:\nblocks:", "model.yaml:1: key \"blocks\" stands twice" },
        { "node-link", "b4.json", "\"target\": \"x\"", "\"target\": \"y\"", "b4.json: links[0]: \"y\" is no node" },
        { "node-link", "b4.json", "5000.0", "\"fast\"",
          "b4.json: links[0]: capacity: wanted a number, found \"fast\"" },
        { "node-link", "b4.json", "5000.0", "-1", "b4.json: links[0]: \"0\" - \"x\": capacity -1 Gb/s must be" },
        { "node-link", "b4.json", "\"links\"", "\"lines\"", "b4.json: document: edges: wanted a list, found nothing" },
        { "node-link", "b4.json", "{\"id\": 2}", "{\"id\": 0}", "b4.json: nodes[2]: node \"0\" is there already" },
        { "node-link", "b4.json", "[{\"id\": 0}", "[[\"id\"]", "b4.json: nodes[0]: id: wanted an object" },
        { "node-link", "b4.json", "}]}", "}]", "b4.json: line 5, column" },
        { "repetita", "x.graph", "NODES 3", "NODES 2", "x.graph:5: \"2_C\" stands where \"EDGES number\" should" },
        { "repetita", "x.graph", "EDGES 4", "EDGES 5", "x.graph:12: the file ends with 1 edges missing" },
        { "repetita", "x.graph", "edge_0 0 1", "edge_0 0 3", "x.graph:9: edge \"edge_0\": node \"3\" is no number in" },
        { "repetita", "x.graph", "9953280", "-1", "x.graph:9: edge \"edge_0\": bw -1 kbit/s must be positive" },
        { "repetita", "x.graph", " 1913", "", "x.graph:9: edge \"edge_0\": want label" },
        { "graphml", "zoo.graphml", "target=\"1\"", "target=\"9\"", "zoo.graphml:12: <edge> has the target \"9\"" },
        { "graphml", "zoo.graphml", "1e9", "1 Gb", "zoo.graphml:15: <edge> has the capacity \"1 Gb\"" },
        { "graphml", "zoo.graphml", "id=\"1\"", "id=\"0\"", "zoo.graphml:8: <node> has an id that another node has" },
        { "graphml", "zoo.graphml", "</graph>\n", "", "zoo.graphml:16: mismatched tag" },
        { "graphml", "zoo.graphml", "<graphml", "<!DOCTYPE graphml [<!ENTITY a \"b\">]>\n<graphml",
          "zoo.graphml:2: document types" },
        { "graphml", "zoo.graphml", "<edge source=\"0\"", "<hyperedge/><edge source=\"0\"",
          "zoo.graphml:12: <hyperedge>" },
        { "sndlib", "net.txt", "( C A )", "( C D )", "net.txt:16: \"D\" is no node of this file" },
        { "sndlib", "net.txt", "2480 0", "2480 x", "net.txt:16: its cost \"x\" is no number" },
        { "sndlib", "net.txt", "DEMANDS (", "DEMANDS ( (", "net.txt:20: the file ends inside brackets" },
        { "sndlib", "net.txt", "LINKS (", "LINKS", "net.txt:14: \"L1\" stands where \"(\" should" },
        { "sndlib-json", "net.json", "\"source\": \"A\"", "\"source\": 7", "net.json: links[0]: \"7\" is no node" },
        { "commalab", "grid", "1 2  91", "1 4  91", "grid:4: the head of an arc \"4\" is no integer in [1, 3]" },
        { "commalab", "grid", "  2 1 7\n", "", "grid:9: the file ends where the origin of a demand should stand" },
        { "commalab", "grid", "  2 1 7\n", "  2 1 7 8\n", "grid:9: \"8\" stands behind the last demand" },
        { "dimacs", "min.net", "p min 4 5", "p min 4 6", "min.net:9: 5 arcs, but the problem line says 6" },
        { "dimacs", "min.net", "p min", "p tsp", "min.net:2: problem \"tsp\" is neither min nor max" },
        { "dimacs", "min.net", "a 1 2 0 4 2", "a 1 2 1 4 2", "min.net:5: the lower bound 1 of this arc" },
        { "dimacs", "min.net", "a 1 2 0 4 2", "a 1 2 4", "min.net:5: an arc of this problem is: a tail head low cap" },
        { "dimacs", "min.net", "a 1 2", "b 1 2", "min.net:5: \"b\" starts no line" },
        { "htsim", "t.topo", "Radix_Down 4", "Radix_Down 3", "t.topo:18: tier 2: Radix_Down is 3, but the other" },
        { "htsim", "t.topo", "Podsize 4", "Podsize 3", "t.topo:1: 8 nodes do not make pods of 3" },
        { "htsim", "t.topo", "Tiers 3", "Tiers 4", "t.topo:1: 4 tiers; a fat tree has 2 or 3" },
        { "htsim", "t.topo", "Tier 1", "Tier 0", "t.topo:12: tier 0 is not a new one" },
        { "htsim", "t.topo", "Bundle 2", "Bundles 2", "t.topo:23: \"Bundles\" is no key" },
        { "htsim", "t.topo", "Radix_Up 4", "Radix_Up many", "t.topo:15: Radix_Up: \"many\" is no number" },
        { "clab", "lab.clab.yml", "spine:e1-1", "spin:e1-1", "lab.clab.yml: topology.links[0]: \"spin\" is no node" },
        { "clab", "lab.clab.yml", "[c2:eth1, leaf2:e1-3]", "[c2:eth1]",
          "lab.clab.yml: topology.links[4]: 1 endpoints" },
        { "clab", "lab.clab.yml", "spine:e1-2", "spine:e1-1",
          "lab.clab.yml: topology.links[1]: port \"e1-1\" of \"spine\" has a cable" },
        { "batfish", "layer1.json", "\"interfaceName\": \"swp2\"", "\"interface\": \"swp2\"",
          "layer1.json: edges[2]: interfaceName: wanted a text, found nothing" },
        { "lldp", "leaf1.json", "\"interface\"", "\"interfaces\"", "leaf1.json: document: interface: wanted a list" },
        { "sonic", "config_db.json", "\"port\": \"Ethernet1\"", "\"prt\": \"Ethernet1\"",
          "config_db.json: DEVICE_NEIGHBOR[0]: port: wanted a text, found nothing" },
        { "sonic", "config_db.json", "\"100000\"", "\"fast\"", "config_db.json: DEVICE_NEIGHBOR[0]: speed: wanted a" },
        { "sonic", "config_db.json", "\"hostname\"", "\"name\"", "config_db.json: document: hostname: wanted a text" },
        { "minigraph", "minigraph.xml", "<EndPort>Ethernet1</EndPort>", "", "minigraph.xml:4: <DeviceLinkBase> needs" },
        { "minigraph", "minigraph.xml", "400000", "0", "minigraph.xml:4: Bandwidth \"0\" is no positive number" },
        { "netq", "graph.json", "\"node\": \"n1\"", "\"node\": \"n7\"",
          "graph.json: links[0].compounded_links[0]: node \"n7\" is none" },
        { "netq", "graph.json", "\"id\": \"n2\"", "\"id\": \"n0\"", "graph.json: nodes[0].compounded_nodes[1]: " },
        { "ufm-ndt", "plan.ndt", "EndPort", "EndPrt", "plan.ndt:1: the header has no column EndPort" },
        { "ufm-ndt", "plan.ndt", "leaf1,Port 2,", "leaf1,,", "plan.ndt:3: EndPort is empty" },
        { "ufm-ndt", "plan.ndt", "leaf1,Port 2,", "leaf1,eth 2,", "plan.ndt:3: \"leaf1\" has ports of a switch and" },
        { "ufm-ndt", "plan.ndt", "Port 22\"", "Port 21\"", "plan.ndt:6: port \"Port 21\" of \"leaf1\" has a cable to" },
        { "ufm-ndt", "plan.ndt", "\"Port 22\"", "\"Port 22", "plan.ndt:6: " },
        { "lingjun", "topo.csv", "ip,DSW", "ip,DWS", "topo.csv:1: the header has no column DSW" },
        { "lingjun", "topo.csv", "h1,G6,P12", "h1,P10,P12", "topo.csv:3: \"P10\" is a PSW and a DSW" },
        { "lingjun", "topo.csv", "h1,", "h0,", "topo.csv:3: node \"h0\" stands on line 2 already" },
        { "lingjun", "topo.csv", "P12,S2", "P12", "topo.csv:3: the ASW is missing" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct sample *s = sample_of(row[i].format, row[i].path);
        char *text = edited(s, row[i].from, row[i].to);
        struct fabric *f = read_bytes(s->format, s->path, text, (int64_t)strlen(text), s->gbps, s->hosts);
        CHECK(!f && error.code == E_INPUT, "%s: %s was accepted", s->format, row[i].to);
        CHECK(!strncmp(error.text, row[i].says, strlen(row[i].says)), "%s, %s says: %s", s->format, row[i].to,
              error.text);
        free(text);
    }
}

/* Not a fabric of any format: every reader says so with the file's name. */
static void test_nothing(void **state)
{
    static const char *const nothing[] = { "", "\n\n", "hello, world\n", "{}", "[]", "<a/>", "\xff\xfe\x00" };
    (void)state;
    for (const struct format *row = format_table; row->name; row++)
        for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
            CHECK(!read_bytes(row->name, "dir/x.y", nothing[i], (int64_t)strlen(nothing[i]), NULL, NULL));
            CHECK(error.code == E_INPUT && !strncmp(error.text, "dir/x.y:", 8), "%s, %d: %s", row->name, (int)i,
                  error.text);
        }
}

/* ---- what the file does not say ---- */

static void test_unknown_capacities(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        int64_t n = (int64_t)strlen(s->text);
        if (!s->gbps)
            continue;
        CHECK(!read_bytes(s->format, s->path, s->text, n, NULL, s->hosts), "%s invents capacities", s->format);
        CHECK(error.code == E_INPUT && strstr(error.text, "nothing says what the cable") &&
                  strstr(error.text, "give it with --gbps"),
              "%s: %s", s->format, error.text);
        char more[200];
        snprintf(more, sizeof more, "%s,tier9=1", s->gbps);
        CHECK(!read_bytes(s->format, s->path, s->text, n, more, s->hosts));
        CHECK(!strcmp(error.text, "--gbps tier9=1 fits no cable whose capacity is unknown"), "%s: %s", s->format,
              error.text);
        CHECK(!read_bytes(s->format, s->path, s->text, n, s->gbps, "nobody?"));
        CHECK(!strcmp(error.text, "--hosts nobody? fits no node") || s->hosts || !strncmp(s->format, "opensm", 6),
              "%s: %s", s->format, error.text);
    }
}

static void test_overlay(void **state)
{
    static const char *const bad[] = { "",         "x",         "tier1",     "tier1=",  "tier1=0",
                                       "tier1=-4", "tier1=nan", "tier1=inf", "tierx=4", "leaf=4",
                                       "~=4",      "a~=4",      "~b=4",      "400,",    "0x10" };
    (void)state;
    struct overlay o = { 0 };
    struct err e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.nrule = 0;
        int rc = overlay_gbps(&o, bad[i], &e);
        CHECK(rc < 0 || !strcmp(bad[i], "400,"), "\"%s\" was accepted", bad[i]);
        CHECK(rc == 0 || !strncmp(e.text, "--gbps ", 7), "%s", e.text);
    }
    o = (struct overlay){ 0 };
    CHECK(overlay_gbps(&o, "a=b*~c?=1.5, tier2=8,3e2", &e) == 0 && o.nrule == 3, "%s", e.text);
    CHECK(overlay_find(&o, 2, "a=bx", "c1") < 1.6 && overlay_find(&o, 1, "c1", "a=b") < 1.6);
    CHECK(overlay_find(&o, 2, "x", "c1") > 7 && overlay_find(&o, 2, "x", "c1") < 9);
    CHECK(overlay_find(&o, 1, "x", "c1") > 299 && overlay_check_used(&o, &e) == 0);
    CHECK(!(overlay_find(NULL, 1, "a", "b") > 0) && overlay_check_used(NULL, &e) == 0);
    CHECK(overlay_hosts(&o, "a,", &e) == 0 && overlay_hosts(&o, "", &e) < 0 && overlay_hosts(&o, ",b", &e) < 0);
    o.nrule = OVERLAY_RULES;
    CHECK(overlay_gbps(&o, "1", &e) < 0 && strstr(e.text, "more than 64 rules"));
}

/* ---- pieces ---- */

static int collect(void *context, struct text name)
{
    char *out = context;
    sprintf(out + strlen(out), "%.*s ", name.n, name.at);
    return 0;
}

static void test_host_lists(void **state)
{
    static const struct {
        const char *list, *names; /* names: or the refusal */
    } row[] = { { "a", "a " },
                { " a , b ", "a b " },
                { "", "" },
                { "tux[0-2]", "tux0 tux1 tux2 " },
                { "tux[008-011]", "tux008 tux009 tux010 tux011 " },
                { "n[1,3-4]x,m", "n1x n3x n4x m " },
                { "r[1-2]c[0-1]", "r1c0 r1c1 r2c0 r2c1 " },
                { "[7-8]", "7 8 " },
                { "s[a,b]", "sa sb " },
                { "switch.2.[1-2]", "switch.2.1 switch.2.2 " },
                { "a[", "never closes" },
                { "a[1", "never closes" },
                { "a]", "never opened" },
                { "a[]", "empty piece" },
                { "a[1-]", "range is not" },
                { "a[-1]", "range is not" },
                { "a[3-1]", "range is not" },
                { "a[1-99999999]", "more names" },
                { "a[1-999][1-999]", "more names" },
                { ",", "is empty" },
                { "[1][1][1][1][1][1][1][1][1]", "more than 8" } };
    (void)state;
    static char out[1 << 23];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct err e = { 0 };
        out[0] = 0;
        if (strstr(row[i].names, "more names")) /* too much to collect by strlen */
            continue;
        int rc = hostlist_expand((struct text){ row[i].list, (int)strlen(row[i].list) }, collect, out, &e);
        CHECK(rc == 0 ? !strcmp(out, row[i].names) : strstr(e.text, row[i].names) != NULL, "%s: %s%s", row[i].list, out,
              e.text);
    }
}

static int count(void *context, struct text name)
{
    *(int64_t *)context += name.n > 0;
    return 0;
}

static int stop(void *context, struct text name)
{
    (void)context;
    (void)name;
    return -1;
}

static void test_long_host_lists(void **state)
{
    (void)state;
    struct err e = { 0 };
    int64_t n = 0;
    CHECK(hostlist_expand((struct text){ "a[1-99999999]", 13 }, count, &n, &e) < 0 && n == HOSTLIST_MOST);
    CHECK(strstr(e.text, "more than 262144 names"), "%s", e.text);
    n = 0;
    CHECK(hostlist_expand((struct text){ "a[1-999][1-999]", 15 }, count, &n, &e) < 0 && n == HOSTLIST_MOST);
    e = (struct err){ 0 };
    CHECK(hostlist_expand((struct text){ "a,b", 3 }, stop, NULL, &e) < 0 && e.code == E_NONE);
}

static void test_text(void **state)
{
    static const struct {
        const char *line, *cells;
    } row[] = { { "a,b,c", "<a><b><c>" },    { "", "<>" },           { ",", "<><>" },       { " a , b ", "<a><b>" },
                { "\"a,b\",c", "<a,b><c>" }, { "\"a\" ,", "<a><>" }, { "a,\"\"", "<a><>" }, { "\"a", "!" } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char out[100] = "";
        struct text t = { row[i].line, (int)strlen(row[i].line) }, cell;
        int more;
        while ((more = text_cell(&t, &cell)) > 0)
            sprintf(out + strlen(out), "<%.*s>", cell.n, cell.at);
        strcat(out, more < 0 ? "!" : "");
        CHECK(!strcmp(out, row[i].cells), "%s: %s", row[i].line, out);
    }
    CHECK(text_port("Port 21") == 21 && text_port("Ethernet112") == 112 && text_port("7") == 7);
    CHECK(text_port("e1-1") == -1 && text_port("swp") == -1 && text_port("eth99999999999") == -1);
    CHECK(text_natural("eth2", "eth10") < 0 && text_natural("eth10", "eth2") > 0 && text_natural("a", "a") == 0);
    CHECK(text_natural("a", "ab") < 0 && text_natural("a02", "a2") == 0 && text_natural("b", "a9") > 0);
    double x = 0;
    int64_t k = 0;
    CHECK(text_real((struct text){ "1e3", 3 }, &x) && x > 999 && !text_real((struct text){ "1e3x", 4 }, &x));
    CHECK(!text_real((struct text){ "nan", 3 }, &x) && !text_real((struct text){ "1e999", 5 }, &x));
    CHECK(!text_real((struct text){ "", 0 }, &x) && !text_real((struct text){ "0x10", 4 }, &x));
    CHECK(text_integer((struct text){ "-12", 3 }, &k) && k == -12 && !text_integer((struct text){ "-", 1 }, &k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),          cmocka_unit_test(test_infiniband),
        cmocka_unit_test(test_simulators),      cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_wide_area),       cmocka_unit_test(test_ethernet),
        cmocka_unit_test(test_several_files),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_unknown_capacities),
        cmocka_unit_test(test_overlay),         cmocka_unit_test(test_host_lists),
        cmocka_unit_test(test_long_host_lists), cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
