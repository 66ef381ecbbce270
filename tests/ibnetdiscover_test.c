/* The reader of InfiniBand dumps: a small one by hand, the dirt that real ones have, what must be refused and in which
 * words, thousands of random mutations, real samples where they are at hand, short memory.
 */
#include "check.h"
#include "service/formats/formats.h"
#include "service/formats/ibnetdiscover.h"

static int64_t left = -1;
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_array(n, size);
}

/* Two leaves, one spine over doubled cables; host a with both rails, host b with one adapter of each naming, a nameless
 * adapter, and one aggregation node. */
static const char sample[] =
    "#\n"                                                                                     /* 1 */
    "# Topology file: generated on Mon Jan  1 00:00:00 2024\n"                                /* 2 */
    "\n"                                                                                      /* 3 */
    "vendid=0x2c9\n"                                                                          /* 4 */
    "switchguid=0x1(1)\n"                                                                     /* 5 */
    "Switch\t40 \"S-0001\"\t\t# \"MF0;leaf1:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n"       /* 6 */
    "[1]\t\"H-000a\"[1](a) \t\t# \"a mlx5_0\" lid 11 4xNDR\n"                                 /* 7 */
    "[2]\t\"H-000b\"[1](b) \t\t# \"b HCA-1\" lid 12 2xHDR\n"                                  /* 8 */
    "[3]\t\"H-000c\"[1](c) \t\t# \"MT4129 ConnectX7   Mellanox Technologies\" lid 13 4xNDR\n" /* 9 */
    "[31]\t\"S-0003\"[1]\t\t# \"MF0;spine:MQM9700/U1\" lid 3 4xNDR\n"                         /* 10 */
    "[32]\t\"S-0003\"[2]\t\t# \"MF0;spine:MQM9700/U1\" lid 3 4xNDR\n"                         /* 11 */
    "\n"                                                                                      /* 12 */
    "Switch\t40 \"S-0002\"\t\t# \"MF0;leaf2:MQM9700/U1\" enhanced port 0 lid 2 lmc 0\n"       /* 13 */
    "[1]\t\"H-001a\"[1](1a) \t\t# \"a mlx5_1\" lid 21 4xNDR\n"                                /* 14 */
    "[2]\t\"H-001b\"[1](1b) \t\t# \"b HCA-2\" lid 22 4xEDR\n"                                 /* 15 */
    "[31]\t\"S-0003\"[3]\t\t# \"MF0;spine:MQM9700/U1\" lid 3 4xNDR\n"                         /* 16 */
    "[40]\t\"H-00ff\"[1](ff) \t\t# \"Mellanox Technologies Aggregation Node\" lid 99 4xNDR\n" /* 17 */
    "\n"                                                                                      /* 18 */
    "Switch\t40 \"S-0003\"\t\t# \"MF0;spine:MQM9700/U1\" enhanced port 0 lid 3 lmc 0\n"       /* 19 */
    "[1]\t\"S-0001\"[31]\t\t# \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n"                         /* 20 */
    "[2]\t\"S-0001\"[32]\t\t# \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n"                         /* 21 */
    "[3]\t\"S-0002\"[31]\t\t# \"MF0;leaf2:MQM9700/U1\" lid 2 4xNDR\n"                         /* 22 */
    "\n"                                                                                      /* 23 */
    "Ca\t1 \"H-000a\"\t\t# \"a mlx5_0\"\n"                                                    /* 24 */
    "[1](a) \t\"S-0001\"[1]\t\t# lid 11 lmc 0 \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n"         /* 25 */
    "\n"                                                                                      /* 26 */
    "Ca\t1 \"H-000b\"\t\t# \"b HCA-1\"\n"                                                     /* 27 */
    "[1](b) \t\"S-0001\"[2]\t\t# lid 12 lmc 0 \"MF0;leaf1:MQM9700/U1\" lid 1 2xHDR\n"         /* 28 */
    "\n"                                                                                      /* 29 */
    "Ca\t1 \"H-000c\"\t\t# \"MT4129 ConnectX7   Mellanox Technologies\"\n"                    /* 30 */
    "[1](c) \t\"S-0001\"[3]\t\t# lid 13 lmc 0 \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n"         /* 31 */
    "\n"                                                                                      /* 32 */
    "Ca\t1 \"H-001a\"\t\t# \"a mlx5_1\"\n"                                                    /* 33 */
    "[1](1a) \t\"S-0002\"[1]\t\t# lid 21 lmc 0 \"MF0;leaf2:MQM9700/U1\" lid 2 4xNDR\n"        /* 34 */
    "\n"                                                                                      /* 35 */
    "Ca\t1 \"H-001b\"\t\t# \"b HCA-2\"\n"                                                     /* 36 */
    "[1](1b) \t\"S-0002\"[2]\t\t# lid 22 lmc 0 \"MF0;leaf2:MQM9700/U1\" lid 2 4xEDR\n"        /* 37 */
    "\n"                                                                                      /* 38 */
    "Ca\t1 \"H-00ff\"\t\t# \"Mellanox Technologies Aggregation Node\"\n"                      /* 39 */
    "[1](ff) \t\"S-0002\"[40]\t\t# lid 99 lmc 0 \"MF0;leaf2:MQM9700/U1\" lid 2 4xNDR\n";      /* 40 */

static struct format_report report;
static struct err error;

static struct fabric *read_bytes(const char *data, int64_t n)
{
    struct fabric *f = NULL;
    memset(&report, 0, sizeof report);
    memset(&error, 0, sizeof error);
    int rc = ibnetdiscover_read("dump", data, n, &f, &report, &error);
    CHECK((rc == 0) == (f != NULL));
    return f;
}

static struct fabric *read_text(const char *text)
{
    return read_bytes(text, (int64_t)strlen(text));
}

static int64_t noted(const char *what)
{
    for (int32_t i = 0; i < report.nnote; i++)
        if (strstr(report.note[i].what, what))
            return report.note[i].count;
    return 0;
}

static int32_t node(const struct fabric *f, const char *name)
{
    for (int32_t v = 0; v < f->nnode; v++)
        if (!strcmp(f->node_name[v], name))
            return v;
    CHECK(0, "no node \"%s\"", name);
    return -1;
}

/* Everything in the fabric as one number. */
static uint64_t digest(const struct fabric *f)
{
    uint64_t d = mix64((uint64_t)f->nnode);
    for (int32_t v = 0; v < f->nnode; v++) {
        for (const char *s = f->node_name[v]; *s; s++)
            d = mix64(d ^ (unsigned char)*s);
        d = mix64(d ^ (uint64_t)(f->node_kind[v] + 8 * (f->node_tier[v] + 1) + 128 * (f->node_rail[v] + 1)));
        d = mix64(d ^ (uint64_t)(f->host.of[v] + 1));
    }
    for (int32_t i = 0; i < f->nlink; i++) {
        d = mix64(d ^ ((uint64_t)f->link_from[i] << 32 | (uint64_t)f->link_to[i]));
        d = mix64(d ^ ((uint64_t)f->link_from_port[i] << 32 | (uint64_t)f->link_to_port[i]));
        d = mix64(d ^ (uint64_t)(f->link_gbps[i] * 1000));
    }
    return d;
}

static void test_by_hand(void **state)
{
    static const struct {
        const char *from, *to;
        int32_t from_port, to_port;
        double gbps;
    } want[] = {
        { "MF0;leaf1:MQM9700/U1", "a/mlx5_0", 1, 1, 400 },
        { "MF0;leaf1:MQM9700/U1", "b/HCA-1", 2, 1, 100 },
        { "MF0;leaf1:MQM9700/U1", "H-000c", 3, 1, 400 },
        { "MF0;leaf1:MQM9700/U1", "MF0;spine:MQM9700/U1", 31, 1, 400 },
        { "MF0;leaf1:MQM9700/U1", "MF0;spine:MQM9700/U1", 32, 2, 400 },
        { "MF0;leaf2:MQM9700/U1", "a/mlx5_1", 1, 1, 400 },
        { "MF0;leaf2:MQM9700/U1", "b/HCA-2", 2, 1, 100 },
        { "MF0;leaf2:MQM9700/U1", "MF0;spine:MQM9700/U1", 31, 3, 400 },
    };
    (void)state;
    struct fabric *f = read_text(sample);
    CHECK(f, "%s", error.text);
    CHECK(f->nnode == 8 && f->nlink == 8 && f->host.count == 2);
    for (int32_t i = 0; i < 8; i++) {
        CHECK(f->link_from[i] == node(f, want[i].from) && f->link_to[i] == node(f, want[i].to), "link %d", i);
        CHECK(f->link_from_port[i] == want[i].from_port && f->link_to_port[i] == want[i].to_port, "link %d", i);
        CHECK(f->link_gbps[i] == want[i].gbps, "link %d: %g Gb/s", i, f->link_gbps[i]);
    }
    int32_t a0 = node(f, "a/mlx5_0"), a1 = node(f, "a/mlx5_1"), b0 = node(f, "b/HCA-1"), b1 = node(f, "b/HCA-2");
    CHECK(f->node_rail[a0] == 0 && f->node_rail[a1] == 1 && f->node_rail[b0] == 0 && f->node_rail[b1] == 1);
    CHECK(f->host.of[a0] == f->host.of[a1] && f->host.of[b0] == f->host.of[b1] && f->host.of[a0] != f->host.of[b0]);
    CHECK(f->host.of[node(f, "H-000c")] < 0 && f->node_rail[node(f, "H-000c")] < 0);
    CHECK(f->node_tier[a0] == 0 && f->node_tier[0] == 1 && f->node_tier[1] == 1 && f->node_tier[2] == 2);
    CHECK(noted("SHARP") == 1 && noted("called by their id") == 1 && report.nnote == 2);
    fabric_free(f);
}

/* A copy of the sample in which each line went through the filter. */
static char *filtered(void (*filter)(const char *line, char *out))
{
    char *all = calloc(8, sizeof sample), copy[sizeof sample], *save = NULL;
    memcpy(copy, sample, sizeof sample);
    for (char *line = copy; line && *line; line = save) {
        save = strchr(line, '\n');
        if (save)
            *save++ = 0;
        filter(line, all + strlen(all));
    }
    return all;
}

static void no_tabs(const char *line, char *out)
{
    for (; *line; line++)
        if (*line != '\t')
            *out++ = *line;
    strcpy(out, "\n");
}

static void carriage_returns(const char *line, char *out)
{
    sprintf(out, "%s\r\r\n", line);
}

static void doubled_lines(const char *line, char *out)
{
    sprintf(out, "%s\r\n\r\n", line);
}

static void groups(const char *line, char *out)
{
    if (!strncmp(line, "Switch", 6))
        sprintf(out, "Chassis 1 (guid 0x1)\nNon-Chassis Nodes\n%s Chassis 1 Spine 1\n", line);
    else if (line[0] == '[' && strchr(line, ' '))
        sprintf(out, "%.*s[ext 7]%s\n", (int)(strchr(line, ']') + 1 - line), line, strchr(line, ']') + 1);
    else
        sprintf(out, "%s\n", line);
}

static void banner(const char *line, char *out)
{
    if (line[0] == '#')
        sprintf(out,
                "=~=~=~=~=~=~= PuTTY log 2025.08.08 =~=~=~=~=\n[root@head ~]# ibnetdiscover\n"
                "ibwarn: [123] mad_rpc: timeout\n%s\n",
                line);
    else
        sprintf(out, "  %s  \n", line);
}

static void test_dirt_changes_nothing(void **state)
{
    static void (*const filter[])(const char *, char *) = { no_tabs, carriage_returns, doubled_lines, groups, banner };
    (void)state;
    struct fabric *clean = read_text(sample);
    CHECK(clean);
    for (size_t i = 0; i < sizeof filter / sizeof *filter; i++) {
        char *text = filtered(filter[i]);
        struct fabric *f = read_text(text);
        CHECK(f, "filter %d: %s", (int)i, error.text);
        CHECK(digest(f) == digest(clean), "filter %d", (int)i);
        CHECK(noted("no part of a dump") == (filter[i] == banner ? 6 : 0), "filter %d: %d lines of noise", (int)i,
              (int)noted("no part of a dump"));
        fabric_free(f);
        free(text);
    }
    fabric_free(clean);
}

/* The sample with the first appearance of a text replaced, behind another text. */
static char *edited(const char *behind, const char *from, const char *to)
{
    const char *at = strstr(sample, behind);
    CHECK(at && (at = strstr(at, from)), "the sample has no \"%s\" behind \"%s\"", from, behind);
    char *text = calloc(1, sizeof sample + strlen(to) + 1);
    sprintf(text, "%.*s%s%s", (int)(at - sample), sample, to, at + strlen(from));
    return text;
}

static void test_wrong_dumps_are_refused(void **state)
{
    static const struct {
        const char *behind, *from, *to, *says;
    } row[] = {
        { "[31]", "\"S-0003\"[1]", "\"S-0003\"[2]",
          "dump:10: \"S-0001\"[31] has a cable to \"S-0003\"[2], but line 21 says that one goes to \"S-0001\"[32]" },
        { "[31]", "\"S-0003\"[1]", "\"S-0003\"[7]",
          "dump:10: \"S-0001\"[31] has a cable to \"S-0003\"[7], but that node (line 19) lists no port 7" },
        { "[1]", "\"H-000a\"[1]", "\"H-0077\"[1]",
          "dump:7: \"S-0001\"[1] has a cable to \"H-0077\"[1], a node that the file does not hold" },
        { "Ca\t1 \"H-00ff\"", "[1](ff)", "#",
          "dump:17: \"S-0002\"[40] has a cable to \"H-00ff\"[1], but that node (line 39) lists no port 1" },
        { "Ca\t1 \"H-001b\"", "[1](1b)", "#",
          "dump:15: \"S-0002\"[2] has a cable to \"H-001b\"[1], but that node (line 36)" },
        { "[32]", "[32]", "[31]", "dump:11: port 31 of \"S-0001\" stands on line 10 already" },
        { "Switch\t40 \"S-0002\"", "S-0002", "S-0001", "dump:13: node \"S-0001\" stands on line 6 already" },
        { "[3]", "\"H-000c\"", "\"H-000c", "dump:9: port 3: no peer in quotes" },
        { "[3]", "\"H-000c\"", "H-000c", "dump:9: " },
        { "[3]", "[3]", "[3", "dump:9: " },
        { "[3]", "[3]", "[x3]", "dump:9: neither a node nor a port: [x3]" },
        { "[3]", "[3]", "[99999999999]", "dump:9: a port line starts with [number]" },
        { "[3]", "\"[1]", "\"[one]", "dump:9: port 3: no [number] behind peer \"H-000c\"" },
        { "[3]", "\"[1]", "\" 1", "dump:9: port 3: no [number]" },
        { "[3]", "4xNDR", "4xWDR", "dump:9: \"4xWDR\" is no width and speed like 4xNDR" },
        { "[3]", "4xNDR", "3xNDR", "dump:9: \"3xNDR\" is no width" },
        { "[3]", "4xNDR", "4x???", "dump:9: \"4x???\" is no width" },
        { "[3]", "4xNDR", "w=99", "dump:9: \"w=99\" is no mask" },
        { "[3]", "4xNDR", "s=0", "dump:9: \"s=0\" is no mask" },
        { "Switch\t40 \"S-0002\"", "\"S-0002\"", "S-0002", "dump:13: a node needs an id in quotes" },
        { "Switch\t40 \"S-0002\"", "\"S-0002\"", "\"\"", "dump:13: a node needs an id in quotes" },
        { "Switch\t40 \"S-0002\"", "\"S-0002\"", "\"S\t2\"", "dump:13: a node needs an id in quotes" },
        { "Switch\t40 \"S-0002\"", "U1\" enhanced", "U1", "dump:13: the description of \"S-0002\" has no closing" },
        { "Switch\t40 \"S-0002\"", "Switch", "Swich", "dump:13: neither a node nor a port: Swich" },
        { "Switch\t40 \"S-0001\"", "Switch\t40 \"S-0001\"", "#", "dump:7: port 1 stands before any node" },
        { "Ca\t1 \"H-000c\"", "Ca\t1 \"H-000c\"", "Ca\t1 \"H-0dd\" # \"x mlx5_0\"\nCa\t1 \"H-000c\"",
          "dump:30: channel adapter \"H-0dd\" (x mlx5_0) has no cable" },
        { "#", "#", "CA   134  1 0x7cfe9003003b4bde 4x EDR - SW  1719 10 0x7c ( 'o0001 HCA-1' - 'l1' )",
          "dump:1: this is the flat form of ibnetdiscover -p" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char *text = edited(row[i].behind, row[i].from, row[i].to);
        struct fabric *f = read_text(text);
        CHECK(!f && error.code == E_INPUT, "row %d (%s) was accepted", (int)i, row[i].to);
        CHECK(!strncmp(error.text, row[i].says, strlen(row[i].says)), "row %d says: %s", (int)i, error.text);
        free(text);
    }
    static const char *const nothing[] = { "", "\n\n", "# only a comment\n", "a,b,c\n1,2,3\n" };
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        CHECK(!read_text(nothing[i]) && !strncmp(error.text, "dump:1: no node found", 21), "%s", error.text);
    }
}

/* Every cut of the file is refused or is a fabric of its own; with a cable but without its other end, always refused.
 */
static void test_cut_files(void **state)
{
    (void)state;
    int64_t n = (int64_t)strlen(sample), cables = strstr(sample, "[1]") - sample + 1,
            adapters = strstr(sample, "Ca\t1 \"H-000b\"") - sample;
    for (int64_t k = 0; k < n; k++) {
        char *text = malloc((size_t)k + 1); /* exactly as long as said, for the sanitizer */
        memcpy(text, sample, (size_t)k);
        text[k] = 0;
        struct fabric *f = read_bytes(text, k);
        CHECK(!f || k <= cables || k > adapters, "cut at %d", (int)k);
        CHECK(f || (error.code == E_INPUT && !strncmp(error.text, "dump:", 5)), "cut at %d: %s", (int)k, error.text);
        fabric_free(f);
        free(text);
    }
}

static void test_speeds(void **state)
{
    static const struct {
        const char *rest;
        double gbps;
    } row[] = { { "# lid 1 1xSDR", 2 },  { "# lid 1 4xSDR", 8 }, { "# lid 1 12xQDR", 96 }, { "# 4xDDR", 16 },
                { "# 4xFDR10", 40 },     { "# 4xFDR", 54.5 },    { "# 4xEDR", 100 },       { "# 4xHDR", 200 },
                { "# 2xHDR", 100 },      { "# 4xXDR", 800 },     { "# 8xNDR", 800 },       { "", 8 },
                { "w=12", 24 },          { "w=1", 2 },           { "w=2 s=7", 32 },        { "w=16 s=2", 8 },
                { "w=2 s=7 e=1", 54.5 }, { "w=2 e=15", 400 },    { "e=2", 100 },           { "s=4 e=0", 32 } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, "Switch 8 \"s\"\n[1] \"h\"[1] %s\n\nHca 1 \"h\"\n[1] \"s\"[1] %s\n", row[i].rest,
                 row[i].rest);
        struct fabric *f = read_text(text);
        CHECK(f && f->nlink == 1 && f->link_gbps[0] == row[i].gbps, "\"%s\" is %g Gb/s: %s", row[i].rest,
              f ? f->link_gbps[0] : 0, error.text);
        CHECK(noted("taken as 4xSDR") == !row[i].rest[0]);
        fabric_free(f);
        snprintf(text, sizeof text, "Switch 8 \"s\"\n[1] \"h\"[1] # 4xNDR\n\nHca 1 \"h\"\n[1] \"s\"[1] %s\n",
                 row[i].rest); /* the other end says NDR: the lower one counts, or the one that says anything */
        f = read_text(text);
        double lower = row[i].rest[0] && row[i].gbps < 400 ? row[i].gbps : 400;
        CHECK(f && f->link_gbps[0] == lower, "\"%s\" against 4xNDR: %g", row[i].rest, f ? f->link_gbps[0] : 0);
        CHECK(noted("ends differ") == (row[i].rest[0] && (row[i].gbps < 400 || row[i].gbps > 400)));
        fabric_free(f);
    }
}

/* One switch with an adapter of each description. */
static void test_names_and_rails(void **state)
{
    static const struct {
        const char *desc, *name, *host;
        int32_t rail;
    } row[] = {
        { "n1 mlx5_0", "n1/mlx5_0", "n1", 0 },
        { "n1 mlx5_11", "n1/mlx5_11", "n1", 11 },
        { "n2 HCA-1", "n2/HCA-1", "n2", 0 },
        { "n2 HCA-8", "n2/HCA-8", "n2", 7 },
        { "n3 ibp24s0", "n3/ibp24s0", "n3", 24 },
        { "n3 ibp220s0f1", "n3/ibp220s0f1", "n3", 220 },
        { "n4 hfi1_1", "n4/hfi1_1", "n4", 1 },
        { "n5", "n5", "n5", -1 },
        { "n6 storage port mlx4_2", "n6/mlx4_2", "n6", 2 },
        { "  n7   mlx5_3  ", "n7/mlx5_3", "n7", 3 },
        { "MT4129 ConnectX7   Mellanox Technologies", "H-10", NULL, -1 },
        { "MT23108 InfiniHost Mellanox Technologies", "H-11", NULL, -1 },
        { "", "H-12", NULL, -1 },
        { "twin mlx5_0", "H-13", NULL, -1 },
        { "twin mlx5_0", "H-14", NULL, -1 },
        { "twin mlx5_1", "twin/mlx5_1", "twin", 1 },
        { "H-17", "H-16", NULL, -1 }, /* another one's id is no name */
        { "x", "H-17", NULL, -1 },
        { "x", "H-18", NULL, -1 },
        { "caf\xe9 mlx5_0", "H-19", NULL, -1 },
        { "n8 HCA-0", "n8/HCA-0", "n8", -1 },
        { "Mt mlx5_99999999999", "Mt/mlx5_99999999999", "Mt", -1 },
    };
    enum { N = sizeof row / sizeof *row };
    (void)state;
    char text[8000] = "Switch 40 \"S-1\" # \"only\"\n";
    for (int i = 0; i < N; i++)
        sprintf(text + strlen(text), "[%d] \"H-%d\"[1] # \"%s\" lid 1 4xNDR\n", i + 1, i, row[i].desc);
    for (int i = 0; i < N; i++)
        sprintf(text + strlen(text), "Ca 1 \"H-%d\" # \"%s\"\n[1] \"S-1\"[%d] # lid 1 \"only\" lid 2 4xNDR\n", i,
                row[i].desc, i + 1);
    struct fabric *f = read_text(text);
    CHECK(f && f->nnode == N + 1, "%s", error.text);
    CHECK(!strcmp(f->node_name[0], "only"));
    for (int i = 0; i < N; i++) {
        const char *host = f->host.of[i + 1] < 0 ? NULL : f->host.name[f->host.of[i + 1]];
        CHECK(!strcmp(f->node_name[i + 1], row[i].name), "\"%s\" is called %s", row[i].desc, f->node_name[i + 1]);
        CHECK((host == NULL) == (row[i].host == NULL) && (!host || !strcmp(host, row[i].host)), "\"%s\": host %s",
              row[i].desc, host ? host : "none");
        CHECK(f->node_rail[i + 1] == row[i].rail, "\"%s\": rail %d", row[i].desc, f->node_rail[i + 1]);
    }
    fabric_free(f);
}

/* A management host on a core switch does not make a leaf of it; a loop and a bare switch are noted. */
static void test_tiers_and_oddities(void **state)
{
    (void)state;
    char text[4000] = "";
    for (int leaf = 0; leaf < 2; leaf++) {
        sprintf(text + strlen(text), "Switch 40 \"L%d\"\n[40] \"P\"[%d]\n", leaf, leaf + 1);
        for (int h = 0; h < 9; h++)
            sprintf(text + strlen(text), "[%d] \"h%d%d\"[1]\n", h + 1, leaf, h);
        for (int h = 0; h < 9; h++)
            sprintf(text + strlen(text), "Hca 1 \"h%d%d\"\n[1] \"L%d\"[%d]\n", leaf, h, leaf, h + 1);
    }
    strcat(text, "Switch 40 \"P\"\n[1] \"L0\"[40]\n[2] \"L1\"[40]\n[3] \"C\"[1]\n[5] \"P\"[6]\n[6] \"P\"[5]\n"
                 "Switch 40 \"C\"\n[1] \"P\"[3]\n[2] \"ufm\"[1]\n[9] \"C\"[9]\nHca 1 \"ufm\"\n[1] \"C\"[2]\n"
                 "Switch 40 \"bare\"\n");
    struct fabric *f = read_text(text);
    CHECK(f, "%s", error.text);
    CHECK(f->node_tier[node(f, "L0")] == 1 && f->node_tier[node(f, "P")] == 2 && f->node_tier[node(f, "C")] == 3);
    CHECK(f->node_tier[node(f, "ufm")] == 0 && f->node_tier[node(f, "bare")] < 0);
    CHECK(f->nlink == 18 + 2 + 1 + 1 && noted("loopback") == 2 && noted("without a cable") == 1, "%d links", f->nlink);
    fabric_free(f);
}

static void check_valid(const struct fabric *f)
{
    CHECK(f->tail && f->nnode > 0);
    for (int32_t v = 0; v < f->nnode; v++) {
        CHECK(f->node_name[v] && f->node_name[v][0]);
        CHECK(f->host.of[v] < f->host.count);
        for (int32_t u = 0; u < v; u++)
            CHECK(strcmp(f->node_name[u], f->node_name[v]) != 0, "%s twice", f->node_name[u]);
    }
    for (int32_t i = 0; i < f->nlink; i++)
        CHECK(f->link_gbps[i] > 0 && f->link_from[i] != f->link_to[i]);
}

/* One to four random edits of bytes or lines. Caller frees; *n is the new length. */
static char *mutate(struct rng *rng, const char *text, int64_t *n)
{
    static const char spice[] = "\"\"[]()#\n\r\tSCH-0129x= \0\xff";
    int64_t room = *n * 2 + 100;
    char *out = malloc((size_t)room);
    memcpy(out, text, (size_t)*n);
    for (int edits = 1 + rng_below(rng, 4); edits > 0 && *n > 4 && *n < room / 2 + 40; edits--) {
        int64_t at = rng_below(rng, (int32_t)*n), end = at;
        while (at > 0 && out[at - 1] != '\n')
            at--;
        while (end < *n && out[end] != '\n')
            end++;
        end += end < *n;
        int64_t spot = rng_below(rng, (int32_t)*n), length = end - at;
        switch (rng_below(rng, 6)) {
        case 0:
            out[spot] = spice[rng_below(rng, sizeof spice)];
            break;
        case 1: /* a byte goes */
            memmove(out + spot, out + spot + 1, (size_t)(*n - spot - 1));
            --*n;
            break;
        case 2: /* a byte comes */
            memmove(out + spot + 1, out + spot, (size_t)(*n - spot));
            out[spot] = spice[rng_below(rng, sizeof spice)];
            ++*n;
            break;
        case 3: /* a line goes */
            memmove(out + at, out + end, (size_t)(*n - end));
            *n -= length;
            break;
        case 4: /* a line comes twice */
            memmove(out + end, out + at, (size_t)(*n - at));
            *n += length;
            break;
        default: /* a digit turns */
            while (spot < *n && (out[spot] < '0' || out[spot] > '9'))
                spot++;
            if (spot < *n)
                out[spot] = (char)('0' + rng_below(rng, 10));
        }
    }
    return out;
}

static void test_mutations(void **state)
{
    struct rng rng = { 20240 };
    int accepted = 0;
    (void)state;
    for (int round = 0; round < 6000; round++) {
        int64_t n = sizeof sample - 1;
        char *text = mutate(&rng, sample, &n), *exact = malloc((size_t)n + 1);
        memcpy(exact, text, (size_t)n);
        exact[n] = 0;
        struct fabric *f = read_bytes(exact, n);
        if (f) {
            check_valid(f);
            accepted++;
        } else {
            int line = 0, used = 0;
            CHECK(error.code == E_INPUT && sscanf(error.text, "dump:%d: %n", &line, &used) == 1 && used > 0,
                  "round %d: %s", round, error.text);
            CHECK(line >= 1 && line <= 60 && strlen(error.text + used) > 10, "round %d: %s", round, error.text);
        }
        fabric_free(f);
        free(text);
        free(exact);
    }
    CHECK(accepted > 500 && accepted < 5500, "%d of 6000 accepted", accepted);
}

static char *load(const char *name, int64_t *n)
{
    const char *path = shared_file(name);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return NULL;
    char *data = calloc(1, 1 << 20);
    *n = (int64_t)fread(data, 1, (1 << 20) - 1, file);
    fclose(file);
    return data;
}

static void test_real_samples(void **state)
{
    static const struct {
        const char *file, *says; /* says: the refusal */
        int32_t nswitch, nnic, nlink, host;
        int64_t excluded, differ;
    } row[] = {
        { "dgx-ndr-ibnetdiscover.out", NULL, 40, 542, 1074, 122, 40, 0 }, /* (2228 port lines - 80) / 2 */
        { "ibtopotool-1.topo", NULL, 2, 4, 7, 0, 0, 2 },
        { "ibtopotool-2.topo", NULL, 1, 2, 2, 2, 0, 0 },
        { "ibsim-net", NULL, 2, 2, 4, 0, 0, 0 },
        { "ibsim-net.2sw2path", NULL, 2, 2, 4, 0, 0, 0 },
        { "ibsim-net.2sw2path4hca", NULL, 2, 4, 6, 0, 0, 0 },
        { "bad-ibnetdiscover.out", "dump:10: channel adapter", 0, 0, 0, 0, 0, 0 },
        { "ibnetdiscover-p-1.out", "dump:1: this is the flat form", 0, 0, 0, 0, 0, 0 },
        { "ufm-ndt-planning.csv", "dump:1: no node found", 0, 0, 0, 0, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char name[100];
        int64_t n = 0;
        snprintf(name, sizeof name, "data/fabrics/ib/%s", row[i].file);
        char *data = load(name, &n);
        if (!data)
            skip();
        struct fabric *f = read_bytes(data, n);
        free(data);
        if (row[i].says) {
            CHECK(!f && !strncmp(error.text, row[i].says, strlen(row[i].says)), "%s: %s", row[i].file, error.text);
            continue;
        }
        CHECK(f, "%s: %s", row[i].file, error.text);
        int32_t nic = 0;
        for (int32_t v = 0; v < f->nnode; v++)
            nic += f->node_kind[v] == NODE_NIC;
        CHECK(nic == row[i].nnic && f->nnode - nic == row[i].nswitch && f->nlink == row[i].nlink,
              "%s: %d switches, %d NICs, %d links", row[i].file, f->nnode - nic, nic, f->nlink);
        CHECK(f->host.count == row[i].host && noted("SHARP") == row[i].excluded &&
              noted("ends differ") == row[i].differ);
        fabric_free(f);
    }
}

static void test_short_memory(void **state)
{
    (void)state;
    for (int64_t k = 0, done = 0; !done; k++) {
        left = k;
        struct fabric *f = read_text(sample);
        CHECK(f || error.code == E_MEMORY, "array %d: %s", (int)k, error.text);
        done = f && left >= 0;
        CHECK(!f || done, "array %d was not missed", (int)k);
        left = -1;
        fabric_free(f);
    }
}

static void test_table(void **state)
{
    (void)state;
    struct err e;
    CHECK(format_find("ibnetdiscover", &e) && !strcmp(format_find("ibnetdiscover", &e)->name, "ibnetdiscover"));
    CHECK(!format_find("dwg", &e) && e.code == E_INPUT && strstr(e.text, "\"dwg\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_dirt_changes_nothing),
        cmocka_unit_test(test_wrong_dumps_are_refused),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_names_and_rails),
        cmocka_unit_test(test_tiers_and_oddities),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_real_samples),
        cmocka_unit_test(test_short_memory),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
