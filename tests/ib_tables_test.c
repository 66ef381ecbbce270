/* Files of InfiniBand tables and nets: by hand, written and read back, what must be refused, mutations, short memory.
 */
#include "build.h"
#include "check.h"

#include "service/formats/exports.h"
#include "service/formats/ib_identity.h"
#include "service/formats/ib_tables.h"
#include "service/formats/ibnetdiscover.h"
#include "solver/engine/complete.h"

static int64_t left = -1;
void *__real_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size);
void *__wrap_array(int64_t n, size_t size)
{
    return left >= 0 && left-- == 0 ? NULL : __real_array(n, size);
}

/* Two leaves, one spine, two NICs each; a plan of whole tables. */
struct world {
    struct problem *p;
    struct plan *plan;
};

static void world_start(struct world *w)
{
    struct build b;
    struct err e = { 0 };
    build_start(&b, 1);
    build_clos(&b, 2, 1, 2, 2, 400, 200);
    build_flow(&b, 0, b.nic[0], b.nic[2], 1e9);
    w->p = build_problem(&b, DEMAND_BYTES);
    w->plan = array(1, sizeof *w->plan);
    w->plan->tables = forward_new(w->p->fabric, &e);
    struct updown *u = updown_new(w->p->fabric, UPDOWN_TIERS, &e);
    CHECK(u && complete_tables(u, w->plan->tables, &e) == 0, "%s", e.text);
    updown_free(u);
}

static void world_end(struct world *w)
{
    plan_free(w->plan);
    problem_free(w->p);
}

/* What an export writes; caller frees. NULL with e set when it refuses. */
static char *written(const struct world *w, const char *format, int lmc, struct err *e)
{
    char *data = NULL;
    size_t n = 0;
    struct export_options o = { lmc };
    const struct export_format *f = export_find(format, e);
    FILE *out = open_memstream(&data, &n);
    int rc = f->needs_plan ? f->write(w->p, w->plan, &o, out, e) : f->write_fabric(w->p->fabric, &o, out, e);
    fclose(out);
    if (rc == 0)
        return data;
    free(data);
    return NULL;
}

static int lines_with(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static void test_every_address_is_written(void **state)
{
    (void)state;
    struct world w;
    struct err e = { 0 };
    world_start(&w);
    char *text = written(&w, "ib-lft", 0, &e);
    CHECK(text, "%s", e.text);
    CHECK(lines_with(text, "Unicast lids [0-7] of switch Lid ") == 3, "%s", text);
    CHECK(lines_with(text, " portguid 0x") == 3 * 7, "seven addresses at each of three switches: %s", text);
    CHECK(lines_with(text, " 000 # Switch portguid ") == 3, "own addresses on port 0: %s", text);
    CHECK(lines_with(text, "7 lids dumped\n") == 3, "%s", text);
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        CHECK(strchr(at, '\n') - at < 1023, "a line is too long");
    free(text);
    text = written(&w, "ib-lft", 2, &e);
    CHECK(text, "%s", e.text);
    CHECK(lines_with(text, " portguid 0x") == 3 * (3 + 4 * 4), "four addresses per NIC: %s", text);
    free(text);
    world_end(&w);
}

static void test_given_identities_are_kept(void **state)
{
    (void)state;
    struct world w;
    struct err e = { 0 };
    world_start(&w);
    struct fabric *f = w.p->fabric;
    f->node_guid[0] = 0x2c5eab0300b87b40;
    f->node_lid[0] = 73;
    f->node_guid[3] = 0xe09d7303007a4bd8;
    f->node_lid[3] = 0x287;
    char *text = written(&w, "ib-lft", 0, &e);
    CHECK(text, "%s", e.text);
    CHECK(strstr(text, "Unicast lids [0-647] of switch Lid 73 guid 0x2c5eab0300b87b40 ('"), "%s", text);
    CHECK(lines_with(text, "0x0287 ") == 3 && strstr(text, "# Channel Adapter portguid 0xe09d7303007a4bd8: '"), "%s",
          text);
    free(text);
    world_end(&w);
}

static void test_back_again(void **state)
{
    (void)state;
    struct world w;
    struct err e = { 0 };
    struct format_report report = { 0 };
    struct forward *t = NULL;
    world_start(&w);
    for (int lmc = 0; lmc < 3; lmc++) {
        char *text = written(&w, "ib-lft", lmc, &e);
        CHECK(text && ib_tables_read("f", text, (int64_t)strlen(text), w.p->fabric, &t, &report, &e) == 0, "%s",
              e.text);
        CHECK(report.nnote == 0, "%s", report.note[0].what);
        for (int64_t i = 0; i < (int64_t)t->nswitch * t->nnode; i++)
            CHECK(t->arc[i] == w.plan->tables->arc[i], "lmc %d, entry %d", lmc, (int)i);
        forward_free(t);
        free(text);
    }
    world_end(&w);
}

/* Lines as ibroute prints them, without GUIDs of the destinations: addresses then tell. */
static void test_other_dialect(void **state)
{
    (void)state;
    struct world w;
    struct err e = { 0 };
    struct format_report report = { 0 };
    struct forward *t = NULL;
    world_start(&w);
    w.p->fabric->node_guid[0] = 0xab;
    for (int32_t v = 0; v < 7; v++)
        w.p->fabric->node_lid[v] = v + 1;
    static const char text[] = "Unicast lids [0x0-0x7] of switch Lid 1 guid 0x00000000000000ab (leaf):\r\n"
                               "  Lid  Out   Destination\n"
                               "       Port     Info \n"
                               "0x0003 001 : (Switch portguid 0x99: 'elsewhere')\n"
                               "0x0004 003 : (Channel Adapter)\n"
                               "0x0006 002\n"
                               "0x0007 255\n"
                               "7 valid lids dumped\n"
                               "Unicast lids [0x0-0x7] of switch Lid 9 guid 0x77 (other):\n"
                               "0x0004 1\n"
                               "Multicast mlids [0xc000-0xc3ff] of switch 1 guid 0xab\n"
                               "0xc000 : 1 2\n";
    CHECK(ib_tables_read("f", text, sizeof text - 1, w.p->fabric, &t, &report, &e) == 0, "%s", e.text);
    const int32_t *row = forward_row(t, 0);
    CHECK(row[2] == -1 && row[3] >= 0 && row[5] >= 0 && row[6] == -1, "%d %d %d %d", row[2], row[3], row[5], row[6]);
    CHECK(report.nnote == 3, "%d notes", report.nnote);
    forward_free(t);
    world_end(&w);
}

static void refuse_fabric(void (*spoil)(struct fabric *f), const char *format, int lmc, const char *word)
{
    struct world w;
    struct err e = { 0 };
    world_start(&w);
    spoil(w.p->fabric);
    char *text = written(&w, format, lmc, &e);
    CHECK(!text && e.code == E_INPUT && strstr(e.text, word), "\"%s\" expected, not \"%s\"", word, e.text);
    free(text);
    world_end(&w);
}

static void same_guid(struct fabric *f)
{
    f->node_guid[0] = f->node_guid[4] = 5;
}
static void same_lid(struct fabric *f)
{
    f->node_lid[1] = f->node_lid[4] = 5;
}
static void crooked_lid(struct fabric *f)
{
    f->node_lid[4] = 5;
}
static void same_port(struct fabric *f)
{
    f->link_from_port[0] = f->link_from_port[1] = 4;
}
static void port_zero(struct fabric *f)
{
    f->link_from_port[0] = 0;
}
static void odd_speed(struct fabric *f)
{
    f->link_gbps[0] = f->cap[0] = 123;
}
static void long_name(struct fabric *f)
{
    free(f->node_name[0]);
    f->node_name[0] = text_copy("a name that is longer than the sixty-three bytes that the hardware has for it");
}
static void test_refusals(void **state)
{
    (void)state;
    refuse_fabric(same_guid, "ib-lft", 0, "have the same guid 0x0000000000000005");
    refuse_fabric(same_lid, "ib-lft", 0, "share the address 5");
    refuse_fabric(crooked_lid, "ib-lft", 1, "lid 5 is not the first of 2 addresses");
    refuse_fabric(same_port, "ibsim", 0, "links[1]: port 4 of");
    refuse_fabric(port_zero, "ibsim", 0, "links[0]: port 0 of");
    refuse_fabric(odd_speed, "ibsim", 0, "links[0]: 123 Gb/s");
    refuse_fabric(long_name, "ibsim", 0, "at most 63 bytes");

    struct world w;
    struct err e = { 0 };
    world_start(&w);
    forward_row(w.plan->tables, 0)[5] = -1;
    CHECK(!written(&w, "ib-lft", 0, &e) && strstr(e.text, "no entry towards"), "%s", e.text);
    forward_free(w.plan->tables);
    w.plan->tables = NULL;
    CHECK(!written(&w, "ib-lft", 0, &e) && strstr(e.text, "routing=destination"), "%s", e.text);
    CHECK(!export_find("ib-ltf", &e) && strstr(e.text, "\"ib-ltf\""), "%s", e.text);
    world_end(&w);
}

/* A net file says the same fabric again. */
static void test_net_and_back(void **state)
{
    (void)state;
    struct world w;
    struct err e = { 0 };
    struct format_report report = { 0 };
    struct fabric *f = NULL;
    world_start(&w);
    char *text = written(&w, "ibsim", 0, &e);
    CHECK(text && ibnetdiscover_read("f", text, (int64_t)strlen(text), &f, &report, &e) == 0, "%s", e.text);
    CHECK(f->nnode == w.p->fabric->nnode && f->nlink == w.p->fabric->nlink, "%d nodes, %d links", f->nnode, f->nlink);
    for (int32_t i = 0; i < f->nlink; i++)
        CHECK(f->link_gbps[i] == 400 || f->link_gbps[i] == 200, "links[%d]: %g", i, f->link_gbps[i]);
    for (int32_t v = 0; v < f->nnode; v++)
        CHECK(f->node_kind[v] != NODE_SWITCH || f->node_guid[v], "switch %d has no guid", v);
    fabric_free(f);
    free(text);
    world_end(&w);
}

/* ---- damage ---- */

static void mutate(char *text, int64_t *n, struct rng *rng)
{
    static const char dirt[] = "0x 9#\n:\"Ufl-\377\001";
    for (int32_t k = 1 + rng_below(rng, 4); k > 0 && *n > 2; k--) {
        int32_t at = rng_below(rng, (int32_t)*n), much = 1 + rng_below(rng, 20);
        if (rng_below(rng, 3) == 0 && at + much < *n) {
            memmove(text + at, text + at + much, (size_t)(*n - at - much));
            *n -= much;
        } else {
            text[at] = dirt[rng_below(rng, sizeof dirt - 1)];
        }
    }
    text[*n] = 0;
}

static int64_t rounds = 1000;

static void test_mutations(void **state)
{
    (void)state;
    struct world w;
    struct err e = { 0 };
    world_start(&w);
    char *text = written(&w, "ib-lft", 1, &e), *copy = array((int64_t)strlen(text) + 1, 1);
    struct rng rng = { 11 };
    int64_t read = 0, refused = 0;
    for (int64_t i = 0; i < rounds; i++) {
        struct format_report report = { 0 };
        struct forward *t = NULL;
        int64_t n = (int64_t)strlen(text);
        memcpy(copy, text, (size_t)n + 1);
        mutate(copy, &n, &rng);
        e = (struct err){ 0 };
        if (ib_tables_read("f", copy, n, w.p->fabric, &t, &report, &e) == 0) {
            for (int64_t k = 0; k < (int64_t)t->nswitch * t->nnode; k++)
                CHECK(t->arc[k] >= -1 && t->arc[k] < w.p->fabric->narc, "round %d", (int)i);
            read++;
            forward_free(t);
        } else {
            CHECK(e.code == E_INPUT && !strncmp(e.text, "f", 1), "round %d: %s", (int)i, e.text);
            refused++;
        }
    }
    CHECK(read > rounds / 10 && refused > rounds / 100, "%d read, %d refused", (int)read, (int)refused);
    free(copy);
    free(text);
    world_end(&w);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct world w;
    struct err e = { 0 };
    world_start(&w);
    char *text = written(&w, "ib-lft", 0, &e);
    int failed = 0;
    for (int64_t call = 0;; call++) {
        struct format_report report = { 0 };
        struct forward *t = NULL;
        e = (struct err){ 0 };
        left = call;
        char *again = written(&w, "ib-lft", 0, &e), *net = again ? written(&w, "ibsim", 0, &e) : NULL;
        int rc = net ? ib_tables_read("f", text, (int64_t)strlen(text), w.p->fabric, &t, &report, &e) : -1;
        int reached = left < 0;
        left = -1;
        CHECK(rc == 0 || e.code == E_MEMORY, "call %d: %s", (int)call, e.text);
        failed += rc < 0;
        free(again);
        free(net);
        forward_free(t);
        if (!reached)
            break;
    }
    CHECK(failed > 15, "%d failures", failed);
    free(text);
    world_end(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_address_is_written),
        cmocka_unit_test(test_given_identities_are_kept),
        cmocka_unit_test(test_back_again),
        cmocka_unit_test(test_other_dialect),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_net_and_back),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_short_memory),
    };
    if (argc > 1)
        rounds = atoll(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
