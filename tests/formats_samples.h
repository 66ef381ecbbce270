/* Small inputs for the readers of service/formats, all made up, with what they hold. */
#ifndef HEDDLE_TESTS_FORMATS_SAMPLES_H
#define HEDDLE_TESTS_FORMATS_SAMPLES_H

#include <stdint.h>

struct sample {
    const char *format, *path, *gbps, *hosts; /* overlay, NULL: none */
    int32_t nswitch, nnic, nlink, nhost;
    const char *text;
};

static const struct sample samples[] = {
    { "ibnetdiscover", "dump", NULL, NULL, 2, 2, 4, 2,
      "# a comment\nvendid=0x2c9\nswitchguid=0x1(1)\n"
      "Switch\t40 \"S-1\"\t\t# \"MF0;leaf:Q/U1\" enhanced port 0 lid 1 lmc 0\n"
      "[1]\t\"H-a\"[1](a) \t\t# \"a mlx5_0\" lid 11 4xNDR\n[2]\t\"H-b\"[1](b) \t\t# \"b HCA-1\" lid 12 2xHDR\n"
      "[31]\t\"S-2\"[1]\t\t# \"spine\" lid 3 4xNDR\n[32]\t\"S-2\"[2]\t\t# \"spine\" lid 3 4xNDR\n\n"
      "Switch\t40 \"S-2\"\t\t# \"spine\" base port 0 lid 3 lmc 0\n"
      "[1]\t\"S-1\"[31]\t\t# \"MF0;leaf:Q/U1\" lid 1 4xNDR\n[2]\t\"S-1\"[32]\t\t# \"MF0;leaf:Q/U1\" lid 1 4xNDR\n\n"
      "Ca\t1 \"H-a\"\t\t# \"a mlx5_0\"\n[1](a) \t\"S-1\"[1]\t\t# lid 11 lmc 0 \"leaf\" lid 1 4xNDR\n\n"
      "Ca\t1 \"H-b\"\t\t# \"b HCA-1\"\n[1](b) \t\"S-1\"[2]\t\t# lid 12 lmc 0 \"leaf\" lid 1 2xHDR\n" },
    { "ibnetdiscover-p", "dump", NULL, NULL, 2, 3, 4, 2,
      "SW     1  1 0x01 4x NDR - CA    11  1 0x0a ( 'MF0;leaf:Q/U1' - 'a mlx5_0' )\n"
      "SW     1  2 0x01 2x HDR - CA    12  1 0x0b ( 'MF0;leaf:Q/U1' - 'b HCA-1' )\n"
      "SW     1  3 0x01 4x NDR - CA    13  2 0x0c ( 'MF0;leaf:Q/U1' - 'b HCA-1' )\n"
      "SW     1 31 0x01 4x NDR - SW     2  1 0x02 ( 'MF0;leaf:Q/U1' - 'MF0;spine:Q/U1' )\n"
      "SW     1 32 0x01 4x ???                                   'MF0;leaf:Q/U1'\n"
      "SW     2  1 0x02 4x NDR - SW     1 31 0x01 ( 'MF0;spine:Q/U1' - 'MF0;leaf:Q/U1' )\n"
      "CA    11  1 0x0a 4x NDR - SW     1  1 0x01 ( 'a mlx5_0' - 'MF0;leaf:Q/U1' )\n"
      "CA    12  1 0x0b 2x HDR - SW     1  2 0x01 ( 'b HCA-1' - 'MF0;leaf:Q/U1' )\n"
      "CA    13  2 0x0c 4x NDR - SW     1  3 0x01 ( 'b HCA-1' - 'MF0;leaf:Q/U1' )\n" },
    { "opensm-subnet", "subnet.lst", "tier2=400", NULL, 2, 2, 3, 2,
      "{ CA Ports:01 SystemGUID:0000a NodeGUID:000a PortGUID:000b VenID:0002C9 DevID:101B Rev:00000000 {a mlx5_0} "
      "LID:000B PN:01 } { SW Ports:29 SystemGUID:00001 NodeGUID:0001 PortGUID:0001 VenID:0002C9 DevID:D2F0 "
      "Rev:000000A0 {MF0;leaf:Q/U1} LID:0001 PN:0A } PHY=4x LOG=ACT SPD=25\n"
      "{ SW-SM Ports:29 SystemGUID:00001 NodeGUID:0001 PortGUID:0001 VenID:0002C9 DevID:D2F0 Rev:000000A0 "
      "{MF0;leaf:Q/U1} LID:0001 PN:0A } { CA Ports:01 SystemGUID:0000a NodeGUID:000a PortGUID:000b VenID:0002C9 "
      "DevID:101B Rev:00000000 {a mlx5_0} LID:000B PN:01 } PHY=4x LOG=ACT SPD=25\n"
      "{ SW-SM Ports:29 SystemGUID:00001 NodeGUID:0001 PortGUID:0001 VenID:0002C9 DevID:D2F0 Rev:000000A0 "
      "{MF0;leaf:Q/U1} LID:0001 PN:1F } { SW Ports:29 SystemGUID:00002 NodeGUID:0002 PortGUID:0002 VenID:0002C9 "
      "DevID:D2F0 Rev:000000A0 {MF0;spine:Q/U1} LID:0002 PN:01 } PHY=4x LOG=ACT SPD=??\n"
      "{ SW-SM Ports:29 SystemGUID:00001 NodeGUID:0001 PortGUID:0001 VenID:0002C9 DevID:D2F0 Rev:000000A0 "
      "{MF0;leaf:Q/U1} LID:0001 PN:0B } { CA Ports:01 SystemGUID:0000c NodeGUID:000c PortGUID:000d VenID:0002C9 "
      "DevID:101B Rev:00000000 {b mlx5_0} LID:000C PN:01 } PHY=12x LOG=ACT SPD=FDR10\n"
      "{ SW-SM Ports:29 SystemGUID:00001 NodeGUID:0001 PortGUID:0001 VenID:0002C9 DevID:D2F0 Rev:000000A0 "
      "{MF0;leaf:Q/U1} LID:0001 PN:0C } { CA Ports:01 SystemGUID:0000c NodeGUID:000e PortGUID:000f VenID:0002C9 "
      "DevID:101B Rev:00000000 {c mlx5_0} LID:000D PN:01 } PHY=4x LOG=DWN SPD=2.5\n" },
    { "ns3", "simai", NULL, NULL, 2, 4, 5, 2,
      "8 2 2 2 9 H100\n4 5 6 7\n"
      "0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n"
      "0 6 400Gbps 0.0005ms 0\n1 7 200000Mbps 500ns 0\n2 6 400Gbps 0.5us 0.001\n3 7 0.4Tbps 0.0005ms 0\n"
      "6 7 100Gbps 1ms 0\n" },
    { "ns3", "hpcc", NULL, NULL, 1, 3, 4, 3,
      "4 1 4\n\n3\n0 3 25Gbps 0.005ms 0\n1 3 25Gbps 0.005ms 0\n2 3 25Gbps 0.005ms 0  2 3 25Gbps 0.005ms 0\n" },
    { "slurm", "topology.conf", "tier1=200,tier2=800", NULL, 3, 6, 8, 6,
      "# two leaves, one spine\nSwitchName=s9 LinkSpeed=1 Nodes=tux[0-2] # a comment\n"
      "switchname=leaf2 nodes=tux[3,4]b,tux05\nSwitchName=spine Switches=s[9],\\\n  leaf2\n" },
    { "slurm", "topology.conf", "100", NULL, 6, 8, 12, 8,
      "BlockName=b1 Nodes=n[01-02]\nBlockName=b2 Nodes=n[03-04]\nBlockName=b3 Nodes=n[05-06]\n"
      "BlockName=b4 Nodes=\"n[07-08]\"\nBlockSizes=2,4\n" },
    { "slurm-yaml", "topology.yaml", "tier1=200,tier2=800", NULL, 3, 4, 6, 4,
      "---\n- topology: flat\n  flat: true\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n"
      "      - switch: s1\n        children: s[2-3]\n      - {switch: s2, nodes: \"n[01-02]\"}\n"
      "      - switch: s3\n        nodes: n[03-04]\n" },
    { "slurm-yaml", "topology.yaml", "100", NULL, 3, 4, 6, 4,
      "- topology: b\n  block:\n    block_sizes: [2, 4]\n    blocks:\n      - block: b1\n        nodes: n[1-2]\n"
      "      - block: b2\n        nodes: n[3-4]\n" },
    { "topograph", "model.yaml", "tier1=400,tier2=800,tier3=1600", NULL, 5, 4, 8, 4,
      "switches:\n  core:\n    labels: {zone: z1}\n    switches: [s1, s2, bare]\n  s1:\n    switches:\n    - l1\n"
      "blocks:\n- switch: l1\n  nodes: [\"[1101-1102]\"]\n- switch: l1\n  nodes:\n  - x9\n- switch: s2\n  nodes: "
      "[y1]\n" },
    { "node-link", "b4.json", NULL, NULL, 3, 0, 3, 0,
      "{\"directed\": true, \"multigraph\": false, \"graph\": {}, \"nodes\": [{\"id\": 0}, {\"id\": \"x\"}, {\"id\": "
      "2}],\n"
      "\"links\": [{\"capacity\": 5000.0, \"source\": 0, \"target\": \"x\"},\n{\"capacity\": 2.5, \"source\": \"x\", "
      "\"target\": 2},\n{\"capacity\": 1, \"source\": 2, \"target\": 0}, {\"capacity\": 0, \"source\": 2, \"target\": "
      "\"x\"}]}\n" },
    { "repetita", "x.graph", NULL, NULL, 3, 0, 4, 0,
      "NODES 3\nlabel x y\n0_A -74.0 40.7\n1_B -87.6 41.8\n2_C 0 0\n\nEDGES 4\nlabel src dest weight bw delay\n"
      "edge_0 0 1 10 9953280 1913\nedge_1 1 0 11 9953280 1913\nedge_2 1 2 10 1000000 552\nedge_3 2 1 10 1000000 "
      "552\n" },
    { "graphml", "zoo.graphml", "edge*~*=40", NULL, 5, 0, 4, 0,
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "  <key attr.name=\"label\" attr.type=\"string\" for=\"node\" id=\"d1\" />\n"
      "  <key attr.name=\"LinkSpeedRaw\" attr.type=\"double\" for=\"edge\" id=\"d2\" />\n"
      "  <graph edgedefault=\"undirected\">\n    <data key=\"d9\">x</data>\n"
      "    <node id=\"0\"><data key=\"d1\">edge &amp; co</data></node>\n"
      "    <node id=\"1\"><data key=\"d1\">Athens</data></node>\n    <node id=\"2\"><data "
      "key=\"d1\">Athens</data></node>\n"
      "    <node id=\"3\"><data key=\"d1\">None</data></node>\n    <node id=\"4\"><data key=\"d1\">Ulm</data></node>\n"
      "    <edge source=\"0\" target=\"1\"/>\n"
      "    <edge source=\"1\" target=\"2\"><data key=\"d2\">10000000000.0</data></edge>\n"
      "    <edge source=\"1\" target=\"2\"><data key=\"d2\">2500000000</data></edge>\n"
      "    <edge source=\"3\" target=\"4\"><data key=\"d2\">1e9</data></edge>\n  </graph>\n</graphml>\n" },
    { "sndlib", "net.txt", "C~*=40", NULL, 3, 0, 3, 0,
      "?SNDlib native format; type: network; version: 1.0\n# network x\nMETA (\n  granularity = 6month\n"
      "  unit  = MBITPERSEC\n  origin = (a, b), see there\n)\nNODES (\n  A ( -84.38 33.75 )\n  B ( 1 2 )\n  C\n)\n"
      "LINKS (\n  L1 ( A B ) 9920.00 0.00 1.50 0.00 ( 40000.00 133.00 20 1 )\n"
      "  L2 ( B C ) 0.00 0.00 0.00 0.00 ( 40000.00 133.00 )\n  L3 ( C A ) 2480 0 0 0 ( )\n)\n"
      "DEMANDS (\n  D1 ( A B ) 1 3580.00 UNLIMITED\n)\n" },
    { "sndlib-json", "net.json", "L*~*=40,B~*=20", NULL, 3, 0, 3, 0,
      "{\"nodes\": [{\"id\": \"A\", \"longitude\": 1.5}, {\"id\": \"B\"}, {\"id\": \"L\"}],\n\"links\": [{\"id\": "
      "\"l1\", "
      "\"source\": \"A\", \"target\": \"B\", \"pre_installed_capacity\": 0.0, \"routing_cost\": 2},\n{\"id\": \"l2\", "
      "\"source\": \"A\", \"target\": \"L\", \"pre_installed_capacity\": 0.0},\n{\"id\": \"l3\", \"source\": \"B\", "
      "\"target\": \"L\", \"pre_installed_capacity\": 12.5}], \"demands\": []}\n" },
    { "commalab", "grid", "77", NULL, 3, 0, 3, 0,
      "   3\n   4\n   2\n  1 2  91 139\n  2 3  97 286.5\n  3 1 1 -1\n  1 3 1 0\n  1 2 5\n  2 1 7\n" },
    { "dimacs", "min.net", NULL, NULL, 4, 0, 4, 0,
      "c a comment\np min 4 5\nn 1 4\nn 4 -4\na 1 2 0 4 2\na 1 3 0 2 2\na 2 3 0 2 1\na 2 4 0 0 3\na 3 4 0 5 1\n" },
    { "dimacs", "max.net", "9", NULL, 3, 0, 2, 0, "p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 -1\n" },
    { "htsim", "t.topo", NULL, NULL, 12, 8, 32, 8,
      "# a small tree\nNodes 8\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n"
      "Downlink_Latency_ns 1000\nOversubscribed 1\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\n"
      "Downlink_Latency_ns 1000\nBundle 1\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 500\n"
      "Switch_Latency_ns 250\nBundle 2\n" },
    { "clab", "lab.clab.yml", "tier1=10,tier2=40", NULL, 4, 5, 9, 4,
      "# a lab\nname: x\ntopology:\n  kinds:\n    linux: {image: y}\n  defaults:\n    kind: linux\n  groups:\n"
      "    fabric: {kind: nokia_srlinux}\n  nodes:\n    leaf1: {group: fabric}\n    leaf2:\n      kind: nokia_srlinux\n"
      "    spine: {kind: nokia_srlinux, type: ixr}\n    c1:\n    c2: {kind: linux}\n    rtr: {}\n    pc: {}\n    pc2:\n"
      "  links:\n    - endpoints: [\"leaf1:e1-1\", \"spine:e1-1\"]\n    - endpoints: ['leaf2:e1-1', 'spine:e1-2']\n"
      "    - endpoints: [\"c1:eth1\", \"leaf1:e1-2\"]\n    - endpoints: [\"c1:eth2\", \"leaf2:e1-2\"]\n"
      "    - endpoints: [c2:eth1, leaf2:e1-3]\n    - endpoints:\n      - {node: rtr, interface: eth1}\n"
      "      - {node: pc, interface: eth1}\n    - endpoints: [rtr:eth2, pc2:eth1]\n"
      "    - endpoints: [rtr:eth3, leaf1:e1-9]\n    - endpoints: [rtr:eth4, \"leaf1:e1-10\"]\n"
      "    - endpoints: [\"spine:mgmt0\", \"host:eth9\"]\n" },
    { "batfish", "layer1.json", "tier1=25,100", "host*", 3, 2, 4, 2,
      "{\"edges\": [\n"
      "{\"node1\": {\"hostname\": \"spine\", \"interfaceName\": \"swp1\"}, \"node2\": {\"hostname\": \"leaf1\", "
      "\"interfaceName\": \"swp31\"}},\n"
      "{\"node1\": {\"hostname\": \"leaf1\", \"interfaceName\": \"swp31\"}, \"node2\": {\"hostname\": \"spine\", "
      "\"interfaceName\": \"swp1\"}},\n"
      "{\"node1\": {\"hostname\": \"spine\", \"interfaceName\": \"swp2\"}, \"node2\": {\"hostname\": \"leaf2\", "
      "\"interfaceName\": \"swp31\"}},\n"
      "{\"node1\": {\"hostname\": \"host1\", \"interfaceName\": \"eth0\"}, \"node2\": {\"hostname\": \"leaf1\", "
      "\"interfaceName\": \"swp1\"}},\n"
      "{\"node1\": {\"hostname\": \"host2\", \"interfaceName\": \"eth0\"}, \"node2\": {\"hostname\": \"leaf2\", "
      "\"interfaceName\": \"swp1\"}}\n]}\n" },
    { "lldp", "leaf1.json", "tier1=25,tier2=100", NULL, 2, 2, 3, 2,
      "{\"lldp\": [{\"interface\": [\n"
      "{\"name\": \"swp1\", \"chassis\": [{\"id\": [{\"type\": \"mac\", \"value\": \"aa:bb\"}], \"name\": [{\"value\": "
      "\"gpu1\"}], \"capability\": [{\"type\": \"Bridge\", \"enabled\": false}, {\"type\": \"Station\", \"enabled\": "
      "true}]}], \"port\": [{\"id\": [{\"type\": \"mac\", \"value\": \"aa:bb\"}], \"descr\": [{\"value\": "
      "\"eth2\"}]}]},\n"
      "{\"name\": \"swp31\", \"chassis\": [{\"id\": [{\"type\": \"mac\", \"value\": \"cc:dd\"}], \"name\": "
      "[{\"value\": "
      "\"spine\"}], \"capability\": [{\"type\": \"Bridge\", \"enabled\": true}]}], \"port\": [{\"id\": [{\"type\": "
      "\"ifname\", \"value\": \"Ethernet4\"}], \"descr\": [{\"value\": \"to leaf1\"}]}]},\n"
      "{\"name\": \"swp2\", \"chassis\": [{\"id\": [{\"type\": \"mac\", \"value\": \"ee:ff\"}], \"capability\": "
      "[{\"type\": \"Station\", \"enabled\": true}]}], \"port\": [{\"id\": [{\"type\": \"mac\", \"value\": "
      "\"ee:ff\"}]}]}\n]}]}\n" },
    { "sonic", "config_db.json", "leaf1~srv*=25", NULL, 3, 1, 3, 1,
      "{\"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"leaf1\", \"type\": \"ToRRouter\"}},\n"
      "\"PORT\": {\"Ethernet0\": {\"alias\": \"etp1\", \"speed\": \"100000\"}, \"Ethernet4\": {\"speed\": \"400000\"}, "
      "\"Ethernet8\": {\"alias\": \"etp3\"}},\n\"DEVICE_NEIGHBOR\": {\"Ethernet0\": {\"name\": \"spine1\", \"port\": "
      "\"Ethernet1\"},\n\"Ethernet4\": {\"name\": \"spine2\", \"port\": \"Ethernet1\"}, \"Ethernet8\": {\"name\": "
      "\"srv\", \"port\": \"eth0\"}},\n\"DEVICE_NEIGHBOR_METADATA\": {\"srv\": {\"type\": \"Server\"}}}\n" },
    { "minigraph", "minigraph.xml", "25", NULL, 3, 2, 4, 1,
      "<DeviceMiniGraph xmlns=\"M\" xmlns:i=\"I\">\n <PngDec>\n  <DeviceInterfaceLinks>\n"
      "   <DeviceLinkBase><ElementType>DeviceInterfaceLink</ElementType><EndDevice>T1</EndDevice><EndPort>Ethernet1"
      "</EndPort><StartDevice>leaf</StartDevice><StartPort>etp1</StartPort><Bandwidth>400000</Bandwidth>"
      "</DeviceLinkBase>\n"
      "   <DeviceLinkBase><ElementType>DeviceInterfaceLink</ElementType><EndDevice>T2</EndDevice><EndPort>Ethernet1"
      "</EndPort><StartDevice>leaf</StartDevice><StartPort>etp2</StartPort></DeviceLinkBase>\n"
      "   <DeviceLinkBase><ElementType>DeviceInterfaceLink</ElementType><EndDevice>leaf</EndDevice><EndPort>etp3"
      "</EndPort><StartDevice>srv</StartDevice><StartPort>eth0</StartPort></DeviceLinkBase>\n"
      "   <DeviceLinkBase><ElementType>DeviceInterfaceLink</ElementType><EndDevice>leaf</EndDevice><EndPort>etp4"
      "</EndPort><StartDevice>srv</StartDevice><StartPort>eth0</StartPort></DeviceLinkBase>\n"
      "   <DeviceLinkBase><ElementType>DeviceMgmtLink</ElementType></DeviceLinkBase>\n"
      "  </DeviceInterfaceLinks>\n  <Devices>\n   <Device i:type=\"ToRRouter\"><Hostname>leaf</Hostname></Device>\n"
      "   <Device i:type=\"LeafRouter\"><Hostname>T1</Hostname></Device>\n"
      "   <Device i:type=\"LeafRouter\"><Hostname>T2</Hostname></Device>\n"
      "   <Device i:type=\"Server\"><Hostname>srv</Hostname></Device>\n  </Devices>\n </PngDec>\n"
      "</DeviceMiniGraph>\n" },
    { "netq", "graph.json", "tier1=200,tier2=800", NULL, 2, 2, 3, 1,
      "[{\"links\": [\n{\"compounded_links\": [{\"id\": \"x\", \"interfaces\": [{\"interface\": \"swp1\", \"node\": "
      "\"n0\"}, {\"interface\": \"ens1f0np1\", \"node\": \"n1\"}]},\n{\"interfaces\": [{\"interface\": \"swp2\", "
      "\"node\": \"n0\"}, {\"interface\": \"ens4f0np0\", \"node\": \"n1\"}]}]},\n{\"compounded_links\": "
      "[{\"interfaces\": [{\"interface\": \"swp9\", \"node\": \"n0\"}, {\"interface\": \"swp1\", \"node\": "
      "\"n2\"}]}]}],\n\"nodes\": [{\"compounded_nodes\": [{\"id\": \"n0\", \"name\": \"leaf\", \"device_type\": "
      "\"switch\", \"tier\": 1}, {\"id\": \"n2\", \"name\": \"leaf\", \"device_type\": \"switch\", \"tier\": 2}]},\n"
      "{\"compounded_nodes\": [{\"id\": \"n1\", \"name\": \"dgx\", \"device_type\": \"discovered_via_lldp\", \"tier\": "
      "-1}]}]}]\n" },
    { "ufm-ndt", "plan.ndt", "tier1=200", NULL, 2, 2, 4, 1,
      "#StartDevice,StartPort,EndDevice,EndPort,LinkType,Speed,\"StartDeviceLocation\",EndDeviceLocation\n"
      "gpu1,gpu1 mlx5_0,leaf1,Port 1, Data,,,\ngpu1,gpu1 mlx5_1,leaf1,Port 2,Data,,R1,R2\n"
      "leaf1,Port 21,spine-A,Blade 16_Port 2/20,Data,400000,R2,R9\n"
      "spine-A,Blade 16_Port 2/20,leaf1,Port 21,Data,400000,R9,R2\n"
      "leaf1,\"Port 22\",spine-A,Blade 17_Port 2/20,Data,400000,R2,R9\nleaf1,Port 30,pdu,1,Management,,,\n,,,,,,,\n" },
    { "lingjun", "topo.csv", "tier1=200,tier2=800,tier3=1600", NULL, 5, 3, 8, 3,
      "ip,DSW,PSW,ASW\nh0,G6,P10,S14\nh1,G6,P12,S2\nh2,G6,P10,S2\n" },
};

enum { SAMPLES = sizeof samples / sizeof *samples };

#endif
