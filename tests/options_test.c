#include "check.h"
#include "solver/model/options.h"

static void test_defaults_come_from_the_table(void **state)
{
    (void)state;
    struct options o;
    struct err e = { 0 };
    options_default(&o);
    CHECK(o.objective == OBJ_JOB_FAIR && o.routing == ROUTE_PINNED && o.policy == PATHS_ALL && o.disjoint == 0);
    CHECK(o.paths_per_flow == 1 && o.pods == 0 && o.seed == 1);
    CHECK(o.gap > 0.0099 && o.gap < 0.0101 && o.time_limit > 59 && o.time_limit < 61);
    for (const struct option_row *row = option_table; row->name; row++) {
        CHECK(row->help && row->unit && row->initial && row->help[0]);
        CHECK((row->type == OPTION_WORD) == (row->words != NULL), "%s", row->name);
        for (const struct option_row *other = option_table; other != row; other++)
            CHECK(strcmp(other->name, row->name) != 0, "%s stands twice", row->name);
        struct options p = o;
        CHECK(options_set(&p, row->name, row->initial, &e) == 0, "%s: %s", row->name, e.text);
        CHECK(!memcmp(&p, &o, sizeof o), "%s: the initial value is not the default", row->name);
    }
}

/* options_get gives text that options_set takes back, for every row and choice. */
static void test_text_and_back(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        { "objective", "max_utilization" },
        { "routing", "split" },
        { "paths", "shortest" },
        { "paths", "disjoint:1" },
        { "paths", "disjoint:64" },
        { "paths", "all" },
        { "paths_per_flow", "64" },
        { "gap", "0" },
        { "gap", "1e-3" },
        { "time_limit", "0.1" },
        { "pods", "65536" },
        { "seed", "9007199254740992" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o, p;
        struct err e = { 0 };
        char text[64], again[64];
        options_default(&o);
        CHECK(options_set(&o, row[i][0], row[i][1], &e) == 0, "%s", e.text);
        options_get(&o, row[i][0], text, sizeof text);
        options_default(&p);
        CHECK(options_set(&p, row[i][0], text, &e) == 0, "%s", e.text);
        options_get(&p, row[i][0], again, sizeof again);
        CHECK(!strcmp(text, again) && !memcmp(&o, &p, sizeof o), "%s: %s became %s", row[i][0], text, again);
    }
    char text[8] = "x";
    struct options o;
    options_default(&o);
    options_get(&o, "no_such", text, sizeof text);
    CHECK(text[0] == 0);
}

static void test_refusals_change_nothing(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        { "colour", "1", "option \"colour\" is not known; there are objective, routing, paths" },
        { "objective", "total_flow", "\"total_flow\" is none of job_fair, max_utilization" },
        { "objective", "max_concurrent", "none of job_fair" },
        { "objective", "min_cost", "none of job_fair" },
        { "objective", "", "none of" },
        { "routing", "sprayed", "\"sprayed\" is none of pinned, split, destination" },
        { "paths", "updown", "\"updown\" is none of all, shortest, disjoint:k" },
        { "paths", "disjoint:k", "k must be in [1, 64]" },
        { "paths", "disjoint:0", "k must be in" },
        { "paths", "disjoint:65", "k must be in" },
        { "paths", "disjoint:3x", "k must be in" },
        { "paths", "disjoint:", "k must be in" },
        { "paths", "disjoint:99999999999999999999", "k must be in" },
        { "gap", "", "\"\" is not a number" },
        { "gap", "0.1x", "\"0.1x\" is not a number" },
        { "gap", "1.5", "1.5 is not in [0, 1]" },
        { "gap", "-0.1", "is not in" },
        { "gap", "nan", "is not in" },
        { "gap", "1e999", "is not a number" },
        { "paths_per_flow", "0", "0 is not in [1, 64]" },
        { "paths_per_flow", "1.5", "1.5 is not a whole number" },
        { "time_limit", "-1", "is not in" },
        { "time_limit", "inf", "is not in" },
        { "pods", "-1", "is not in" },
        { "seed", "1e17", "is not in" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o, before;
        struct err e = { 0 };
        options_default(&o);
        before = o;
        CHECK(options_set(&o, row[i][0], row[i][1], &e) == -1 && e.code == E_INPUT, "%s=%s", row[i][0], row[i][1]);
        CHECK(strstr(e.text, row[i][2]), "\"%s\" should say \"%s\"", e.text, row[i][2]);
        CHECK(!memcmp(&o, &before, sizeof o), "%s=%s left a trace", row[i][0], row[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_come_from_the_table),
        cmocka_unit_test(test_text_and_back),
        cmocka_unit_test(test_refusals_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
