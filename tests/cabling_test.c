/* A cabling plan against what was found: exact, ports that one side does not number, missing, extra, miswired; seeded
 * damage counted back; memory failing.
 */
#include "check.h"
#include "service/formats/cabling.h"
#include "short.h"

struct wire {
    const char *from, *to;
    int32_t from_port, to_port;
};

/* Names with a slash and without OpenSM's frame are NICs of the host before the slash. */
static struct fabric *make(const struct wire *wire, int32_t n)
{
    struct err e;
    const char *name[96];
    int32_t nnode = 0, end[96];
    for (int32_t i = 0; i < 2 * n; i++) {
        const char *want = i % 2 ? wire[i / 2].to : wire[i / 2].from;
        int32_t v = 0;
        while (v < nnode && strcmp(name[v], want) != 0)
            v++;
        if (v == nnode)
            name[nnode++] = want;
        end[i] = v;
    }
    struct fabric *f = fabric_new(nnode, n, &e);
    for (int32_t v = 0; v < nnode; v++) {
        char host[64];
        snprintf(host, sizeof host, "%.*s", (int)strcspn(name[v], "/"), name[v]);
        f->node_name[v] = text_copy(name[v]);
        f->node_kind[v] = strchr(name[v], '/') && !strchr(name[v], ';') ? NODE_NIC : NODE_SWITCH;
        if (f->node_kind[v] == NODE_NIC)
            CHECK(labels_set(&f->host, v, host, &e) == 0);
    }
    for (int32_t i = 0; i < n; i++) {
        f->link_from[i] = end[2 * i];
        f->link_to[i] = end[2 * i + 1];
        f->link_from_port[i] = wire[i].from_port;
        f->link_to_port[i] = wire[i].to_port;
        f->link_gbps[i] = 1;
    }
    CHECK(fabric_finish(f, &e) == 0, "%s", e.text);
    return f;
}

static struct cabling compare(struct fabric *plan, struct fabric *found)
{
    struct cabling c;
    struct err e;
    CHECK(cabling_compare(plan, found, &c, &e) == 0, "%s", e.text);
    return c;
}

static void test_by_hand(void **state)
{
    static const struct wire plan[] = { { "gpu1/mlx5_0", "leaf1", -1, 1 }, { "gpu2/mlx5_0", "leaf1", -1, 2 },
                                        { "leaf1", "spine1", 21, 1 },      { "leaf1", "spine1", 22, 2 },
                                        { "leaf1", "director", 23, -1 },   { "leaf1", "director", 24, -1 },
                                        { "leaf2", "spine1", 21, 3 } };
    static const struct wire found[] = {
        { "MF0;spine1:MQM/U1", "MF0;leaf1:MQM/U1", 1, 21 },          /* as planned, the other way round */
        { "MF0;leaf1:MQM/U1", "MF0;spine2:MQM/U1", 22, 2 },          /* goes elsewhere */
        { "MF0;leaf1:MQM/U1", "gpu1/mlx5_0", 1, 1 },                 /* as planned */
        { "MF0;leaf1:MQM/U1", "MF0;director:CS/L1/U1", 23, 7 },      /* as planned as far as the plan says */
        { "MF0;director:CS/L1/U1", "MF0;director:CS/S1/U1", 30, 1 }, /* inside */
        { "MF0;leaf1:MQM/U1", "MF0;director:CS/L2/U1", 24, 8 },      /* as planned */
        { "MF0;leaf1:MQM/U1", "MF0;leaf1:MQM/U2", 30, 1 },           /* inside */
        { "gpu9/mlx5_0", "MF0;leaf2:MQM/U1", 1, 5 },                 /* nobody planned it */
        { "gpu2/mlx5_1", "MF0;leaf1:MQM/U1", 1, 2 },                 /* another adapter of the host */
    };
    (void)state;
    struct fabric *p = make(plan, 7), *f = make(found, 9);
    struct cabling c = compare(p, f);
    CHECK(c.same == 4 && c.count[CABLE_MISSING] == 1 && c.count[CABLE_EXTRA] == 1 && c.count[CABLE_MISWIRED] == 2 &&
              c.internal == 2 && c.nrow == 4,
          "%d same, %d missing, %d extra, %d miswired", (int)c.same, (int)c.count[0], (int)c.count[1], (int)c.count[2]);
    CHECK(c.row[0].kind == CABLE_MISWIRED && c.row[0].plan == 1 && c.row[0].found == 8);
    CHECK(c.row[1].kind == CABLE_MISWIRED && c.row[1].plan == 3 && c.row[1].found == 1);
    CHECK(c.row[2].kind == CABLE_MISSING && c.row[2].plan == 6 && c.row[2].found == -1);
    CHECK(c.row[3].kind == CABLE_EXTRA && c.row[3].plan == -1 && c.row[3].found == 7);
    char text[100];
    cabling_say(f, 1, 0, text, sizeof text);
    CHECK(!strcmp(text, "leaf1 port 22"), "%s", text);
    cabling_say(p, 0, 0, text, sizeof text);
    CHECK(!strcmp(text, "gpu1 port mlx5_0"), "%s", text);
    cabling_say(p, 4, 1, text, sizeof text);
    CHECK(!strcmp(text, "director"), "%s", text);
    cabling_free(&c);
    c = compare(p, p);
    CHECK(c.same == 7 && c.nrow == 0);
    cabling_free(&c);
    fabric_free(p);
    fabric_free(f);
}

/* 16 leaves to 4 spines by 2 cables, every one with ports of its own; some cut, some swapped, some added. */
static void test_damage(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng rng = { seed };
        struct wire plan[32], found[40];
        static char name[10][8];
        int32_t n = 0, nfound = 0, cut = 0, swapped = 0, added = 0;
        for (int i = 0; i < 10; i++)
            snprintf(name[i], sizeof name[i], i < 8 ? "l%d" : "s%d", i);
        for (int l = 0; l < 8; l++)
            for (int k = 0; k < 4; k++, n++)
                plan[n] = (struct wire){ name[l], name[8 + k % 2], k, 4 * l + k };
        for (int32_t i = 0; i < n; i++) {
            int32_t what = rng_below(&rng, 10);
            if (what == 0) {
                cut++;
                continue;
            }
            found[nfound++] = plan[i];
            if (what == 1 && i + 1 < n && plan[i].to != plan[i + 1].to) { /* two plugs change places */
                found[nfound - 1].to = plan[i + 1].to;
                found[nfound - 1].to_port = plan[i + 1].to_port;
                found[nfound++] = (struct wire){ plan[i + 1].from, plan[i].to, plan[i + 1].from_port, plan[i].to_port };
                swapped += 2;
                i++;
            } else if (what == 2 && nfound < 38) {
                found[nfound] = (struct wire){ name[rng_below(&rng, 8)], name[8], 100 + nfound, 200 + nfound };
                nfound++;
                added++;
            }
        }
        for (int32_t i = nfound - 1; i > 0; i--) { /* in any order, either way round */
            int32_t k = rng_below(&rng, i + 1);
            struct wire t = found[i];
            found[i] = found[k];
            found[k] = (struct wire){ t.to, t.from, t.to_port, t.from_port };
        }
        struct fabric *p = make(plan, n), *f = make(found, nfound);
        struct cabling c = compare(p, f);
        CHECK(c.same == n - cut - swapped && c.count[CABLE_MISSING] == cut && c.count[CABLE_EXTRA] == added &&
                  c.count[CABLE_MISWIRED] == swapped,
              "seed %d: %d cut, %d swapped, %d added, but %d missing, %d extra, %d miswired", (int)seed, cut, swapped,
              added, (int)c.count[0], (int)c.count[1], (int)c.count[2]);
        cabling_free(&c);
        fabric_free(p);
        fabric_free(f);
    }
}

static void test_short_memory(void **state)
{
    static const struct wire plan[] = { { "a", "b", 1, 1 }, { "a", "c", 2, 1 }, { "h/x", "a", -1, 3 } };
    (void)state;
    struct fabric *p = make(plan, 3), *f = make(plan + 1, 2);
    for (int64_t k = 0, done = 0; !done; k++) {
        struct cabling c;
        struct err e = { 0 };
        short_at = k;
        int rc = cabling_compare(p, f, &c, &e);
        done = short_at >= 0;
        short_at = -1;
        CHECK(done ? rc == 0 && c.count[CABLE_MISSING] == 1 : rc < 0 && e.code == E_MEMORY, "array %d", (int)k);
        cabling_free(&c);
    }
    fabric_free(p);
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
