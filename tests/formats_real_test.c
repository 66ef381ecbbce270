/* Real files of each format, where they are at hand: the counts that their sources state or that follow from them. */
#include "formats_read.h"

static char *load(const char *name, int64_t *n)
{
    const char *path = shared_file(name);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return NULL;
    char *data = calloc(1, 1 << 23);
    *n = (int64_t)fread(data, 1, (1 << 23) - 1, file);
    fclose(file);
    return data;
}

#define F "data/fabrics/"
#define TE "data/te/"
#define M "data/mmcf/"

static const struct {
    const char *format, *file, *gbps, *hosts;
    int32_t nswitch, nnic, nlink, nhost;
} row[] = {
    /* one switch port line per cable from the CA side, and a leaf-spine cable */
    { "ibnetdiscover-p", F "ib/ibnetdiscover-p-1.out", NULL, NULL, 3, 3, 4, 3 },
    /* first line: nodes, GPUs per server, NVSwitches, switches, links; a GPU has one link to its NVSwitch */
    { "ns3", F "simai/Spectrum-X_16g_8gps_400Gbps_H100", NULL, NULL, 10, 16, 48 - 16, 2 },
    { "ns3", F "simai/Spectrum-X_128g_8gps_400Gbps_H100", NULL, NULL, 72, 128, 768 - 128, 16 },
    { "ns3", F "simai/AlibabaHPN_128g_8gps_DualToR_DualPlane_200Gbps_H100", NULL, NULL, 24, 128, 448 - 128, 16 },
    { "ns3", F "ns3/128_nodes_16_switch_topology.txt", NULL, NULL, 16, 128, 192, 128 },
    { "ns3", F "ns3/8_nodes_1_switch_topology.txt", NULL, NULL, 1, 8, 8, 8 },
    { "ns3", F "ns3/8nodes_ring_topology.txt", NULL, NULL, 0, 8, 8, 8 },
    { "htsim", F "htsim/fat_tree_1024.topo", NULL, NULL, 320, 1024, 3072, 1024 },
    { "htsim", F "htsim/fat_tree_1024_4os.topo", NULL, NULL, 176, 1024, 1536, 1024 },
    { "htsim", F "htsim/leaf_spine_8192_400g_4_to_1.topo", NULL, NULL, 144, 8192, 10240, 8192 },
    { "htsim", F "htsim/leaf_spine_tiny.topo", NULL, NULL, 6, 32, 40, 32 },
    { "htsim", F "htsim/test.topo", NULL, NULL, 12, 8, 32, 8 },
    { "htsim", F "astra/8nodes.topo", NULL, NULL, 12, 8, 32, 8 },
    /* peta[10000-19999] below leaf[100-599] below grp[10-35] below im[0-1] below root; tc2 has no im1 */
    { "slurm", F "slurm/tc1-topology.conf", "400", NULL, 529, 10000, 10528, 10000 },
    { "slurm", F "slurm/tc2-topology.conf", "400", NULL, 528, 10000, 10527, 10000 },
    { "slurm", F "slurm/tc3-topology.conf", "tier1=200,400", NULL, 23, 400, 422, 400 },
    { "slurm", F "slurm/backfill-topology.conf", "400", NULL, 15, 32, 46, 32 },
    { "slurm", F "slurm/topograph-block.conf", "400", NULL, 21, 96, 114, 96 },
    { "slurm", F "slurm/topograph-tree.conf", "tier1=200,tier2=400,tier3=800", NULL, 19, 96, 114, 96 },
    { "topograph", F "topograph/small-tree.yaml", "400", NULL, 3, 6, 8, 6 },
    { "topograph", F "topograph/medium.yaml", "400", NULL, 7, 8, 14, 8 },
    { "topograph", F "topograph/large.yaml", "400", NULL, 19, 96, 114, 96 },
    { "topograph", F "topograph/nvl72.yaml", "400", NULL, 7, 72, 78, 72 },
    { "topograph", F "topograph/dual-xclr-regular.yaml", "400", NULL, 19, 96, 114, 96 },
    { "topograph", F "topograph/dual-xclr-irregular.yaml", "400", NULL, 34, 255, 288, 255 },
    { "node-link", F "wan/B4.json", NULL, NULL, 12, 0, 38, 0 },
    { "node-link", TE "figret_Facebook_pod_a/Facebook_pod_a.json", NULL, NULL, 4, 0, 12, 0 },
    { "repetita", TE "repetita/Abilene.graph", NULL, NULL, 11, 0, 28, 0 },
    { "repetita", TE "repetita/Geant2012.graph", NULL, NULL, 40, 0, 122, 0 },
    { "repetita", TE "repetita/synth50_opt_hard.graph", NULL, NULL, 50, 0, 276, 0 },
    { "repetita", TE "repetita/synth100_opt_hard.graph", NULL, NULL, 100, 0, 572, 0 },
    { "graphml", F "wan/Cogentco.graphml", "1", NULL, 197, 0, 245, 0 },
    { "graphml", F "wan/Kdl.graphml", "1", NULL, 754, 0, 899, 0 },
    { "graphml", TE "ncflow_zoo/Colt.graphml", "1", NULL, 153, 0, 191, 0 },
    { "graphml", TE "ncflow_zoo/Deltacom.graphml", "1", NULL, 113, 0, 183, 0 },
    { "sndlib", TE "sndlib/abilene.txt", NULL, NULL, 12, 0, 15, 0 },
    { "sndlib", TE "sndlib/germany50.txt", "40", NULL, 50, 0, 88, 0 },
    { "sndlib", TE "sndlib/nobel-eu.txt", "40", NULL, 28, 0, 41, 0 },
    { "sndlib-json", F "wan/sndlib-germany50.json", "40", NULL, 50, 0, 88, 0 },
    { "commalab", M "commalab_grid/grid1", NULL, NULL, 25, 0, 80, 0 },
    { "commalab", M "commalab_grid/grid5", NULL, NULL, 225, 0, 840, 0 },
    { "commalab", M "commalab_planar/planar30", NULL, NULL, 30, 0, 150, 0 },
    { "commalab", M "commalab_planar/planar800", NULL, NULL, 800, 0, 4388, 0 },
    { "commalab", M "fabric_synth/ft16.txt", NULL, NULL, 320, 0, 3872, 0 },
    { "clab", F "clab/clos01.clab.yml", "10", NULL, 3, 2, 4, 2 },
    { "clab", F "clab/frr01.clab.yml", "10", NULL, 3, 3, 6, 3 },
    { "batfish", F "batfish/example_layer1_topology.json", "1", "host?", 13, 2, 19, 2 },
    { "batfish", F "batfish/evpn-type5-layer1.json", "10", NULL, 8, 0, 15, 0 },
    { "sonic", F "sonic/config_db.json", NULL, NULL, 5, 0, 4, 0 },
    { "minigraph", F "sonic/lt2-p32o64-minigraph.xml", NULL, NULL, 89, 0, 88, 0 },
    { "minigraph", F "sonic/mellanox-2410-t1-minigraph.xml", "50", NULL, 25, 0, 32, 0 },
    { "minigraph", F "sonic/fg-ecmp-minigraph.xml", "50", "Servers*", 5, 12, 24, 10 },
    { "netq", F "topograph/netq-topologyGraph.json", "tier1=200,tier2=400", NULL, 3, 32, 79, 8 },
    { "ufm-ndt", F "ib/ufm-ndt-switch-host.ndt", "200", NULL, 154, 2223, 2223, 280 },
    { "ufm-ndt", F "ib/ufm-ndt-switch-switch.ndt", "200", NULL, 164, 0, 3195, 0 }, /* every cable stands there twice */
    { "ufm-ndt", F "ib/ufm-ndt-planning.csv", NULL, NULL, 30, 0, 400, 0 },
    { "lingjun", F "prod/alibaba-lingjun-topo.csv", "tier1=200,tier2=800,tier3=1600", NULL, 52, 847, 969, 847 },
};

static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int64_t n = 0;
        char *data = load(row[i].file, &n);
        if (!data)
            skip();
        struct fabric *f = read_bytes(row[i].format, row[i].file, data, n, row[i].gbps, row[i].hosts);
        CHECK(f, "%s", error.text);
        check_fabric(f);
        CHECK(nics(f) == row[i].nnic && f->nnode - nics(f) == row[i].nswitch && f->nlink == row[i].nlink &&
                  f->host.count == row[i].nhost,
              "%s: %d switches, %d NICs, %d links, %d hosts", row[i].file, f->nnode - nics(f), nics(f), f->nlink,
              f->host.count);
        fabric_free(f);
        if (row[i].gbps)
            CHECK(!read_bytes(row[i].format, row[i].file, data, n, NULL, row[i].hosts) &&
                      strstr(error.text, "nothing says what the cable"),
                  "%s: %s", row[i].file, error.text);
        free(data);
    }
}

/* The two halves of one cabling plan. */
static void test_two_plans(void **state)
{
    (void)state;
    struct format_file file[2] = { { "hosts.ndt", NULL, 0 }, { "switches.ndt", NULL, 0 } };
    char *a = load(F "ib/ufm-ndt-switch-host.ndt", &file[0].n), *b = load(F "ib/ufm-ndt-switch-switch.ndt", &file[1].n);
    if (!a || !b)
        skip();
    file[0].data = a;
    file[1].data = b;
    struct fabric *f = read_files("ufm-ndt", file, 2, "200", NULL);
    CHECK(f && f->nlink == 2223 + 3195 && nics(f) == 2223, "%s", error.text);
    fabric_free(f);
    free(a);
    free(b);
}

/* The files of one format are refused by the readers of the others, with a sentence. */
static void test_wrong_readers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int64_t n = 0;
        char *data = load(row[i].file, &n);
        if (!data)
            skip();
        for (const struct format *other = format_table; other->name && n < 100000; other++) {
            struct fabric *f = read_bytes(other->name, "file", data, n, NULL, NULL);
            int kin = !strcmp(other->name, row[i].format) ||
                      (strstr(other->name, "sndlib") && !strcmp(row[i].format, "node-link")) ||
                      (!strcmp(other->name, "node-link") && !strcmp(row[i].format, "sndlib-json"));
            CHECK(!f || kin, "%s is read as %s", row[i].file, other->name);
            CHECK(f || (error.code == E_INPUT && !strncmp(error.text, "file:", 5)), "%s as %s: %s", row[i].file,
                  other->name, error.text);
            fabric_free(f);
        }
        free(data);
    }
}

int main(void)
{
    if (!shared_file(F "wan/B4.json")) {
        printf("the sample data is not at hand\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_two_plans),
        cmocka_unit_test(test_wrong_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
