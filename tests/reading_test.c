/* check and evaluate as a user meets them: files in, exit status and text out. */
#include "check.h"
#include "service/cli/cli.h"
#include "service/cli/table.h"
#include "service/wire/doc.h"

#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-reading-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[2][120];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Run a command with standard output and error in text[0] and text[1]. */
static int run(int (*command)(int, char **), char text[2][20000], int argc, const char *const *argv)
{
    char *copy[10] = { 0 };
    int kept[2];
    FILE *stream[] = { stdout, stderr }, *file[2];
    for (int i = 0; i < argc; i++)
        copy[i] = (char *)argv[i];
    for (int s = 0; s < 2; s++) {
        fflush(stream[s]);
        kept[s] = dup(s + 1);
        file[s] = tmpfile();
        CHECK(kept[s] >= 0 && file[s]);
        dup2(fileno(file[s]), s + 1);
    }
    int status = command(argc, copy);
    for (int s = 0; s < 2; s++) {
        fflush(stream[s]);
        dup2(kept[s], s + 1);
        close(kept[s]);
        rewind(file[s]);
        text[s][fread(text[s], 1, 19999, file[s])] = 0;
        fclose(file[s]);
    }
    return status;
}

static const char fabric[] =
    "{\"nodes\": [{\"name\": \"l0\", \"kind\": \"switch\"}, {\"name\": \"l1\", \"kind\": \"switch\"},"
    " {\"name\": \"s0\", \"kind\": \"switch\"}, {\"name\": \"s1\", \"kind\": \"switch\"},"
    " {\"name\": \"a\", \"kind\": \"nic\"}, {\"name\": \"b\", \"kind\": \"nic\"},"
    " {\"name\": \"c\", \"kind\": \"nic\"}, {\"name\": \"d\", \"kind\": \"nic\"}],"
    " \"links\": [{\"from\": \"a\", \"to\": \"l0\", \"gbps\": 100}, {\"from\": \"b\", \"to\": \"l0\", \"gbps\": 100},"
    " {\"from\": \"c\", \"to\": \"l1\", \"gbps\": 100}, {\"from\": \"d\", \"to\": \"l1\", \"gbps\": 100},"
    " {\"from\": \"l0\", \"to\": \"s0\", \"gbps\": 100}, {\"from\": \"l0\", \"to\": \"s1\", \"gbps\": 100},"
    " {\"from\": \"l1\", \"to\": \"s0\", \"gbps\": 100}, {\"from\": \"l1\", \"to\": \"s1\", \"gbps\": 100}]}";

static const char jobs[] =
    "\"jobs\": [{\"name\": \"x\", \"flows\": [{\"src\": \"a\", \"dst\": \"c\", \"bytes\": 1e9}]},"
    " {\"name\": \"y\", \"flows\": [{\"src\": \"b\", \"dst\": \"d\", \"bytes\": 1e9}]}]";

/* The fabric in a file of its own, so that it is looked for beside the problem. */
static void write_problem(void)
{
    char text[1000];
    write_file("fabric.json", fabric);
    snprintf(text, sizeof text, "{\"heddle\": 1, \"fabric\": \"fabric.json\", %s}", jobs);
    write_file("problem.json", text);
}

/* Both flows over the given spines, stated right; the proof: job x can do no better than its NIC. */
static void write_plan(const char *name, int spine_x, int spine_y)
{
    int same = spine_x == spine_y;
    double rate = same ? 50 : 100, e = same ? .5 : 1;
    char text[2000], arcs[300] = "";
    double load[16] = { 0 };
    int path[2][4] = { { 0, 8 + 2 * spine_x, 13 + 2 * spine_x, 5 }, { 2, 8 + 2 * spine_y, 13 + 2 * spine_y, 7 } };
    for (int f = 0; f < 2; f++)
        for (int h = 0; h < 4; h++)
            load[path[f][h]] += .08;
    for (int a = 0; a < 16; a++)
        if (load[a] > 0)
            snprintf(arcs + strlen(arcs), sizeof arcs - strlen(arcs), "%s{\"arc\": %d, \"load\": %g}",
                     arcs[0] ? ", " : "", a, load[a]);
    snprintf(
        text, sizeof text,
        "{\"heddle\": 1, \"objective\": \"job_fair\", \"routing\": \"pinned\", \"status\": \"%s\", \"value\": %g,"
        " \"bound\": 1, \"gap\": %g, \"jobs\": [{\"name\": \"x\", \"efficiency\": %g},"
        " {\"name\": \"y\", \"efficiency\": %g}], \"flows\": ["
        "{\"job\": \"x\", \"src\": \"a\", \"dst\": \"c\", \"paths\": [{\"share\": 1, \"arcs\": [%d, %d, %d, %d],"
        " \"gbps\": %g}]}, {\"job\": \"y\", \"src\": \"b\", \"dst\": \"d\", \"paths\": [{\"share\": 1, \"arcs\":"
        " [%d, %d, %d, %d], \"gbps\": %g}]}], \"arcs\": [%s], \"certificate\": {\"kind\": \"prices\", \"bound\": 1,"
        " \"prices\": [[0, 1]]}}",
        same ? "feasible" : "optimal", e, 1 - e, e, e, path[0][0], path[0][1], path[0][2], path[0][3], rate, path[1][0],
        path[1][1], path[1][2], path[1][3], rate, arcs);
    write_file(name, text);
}

static char out[2][20000];

#define RUN(command, ...)                                                                                              \
    run(command, out, (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)), (const char *[]){ __VA_ARGS__ })

static void test_check(void **state)
{
    (void)state;
    const char *problem = in_folder("problem.json");
    char p[120], good[120], poor[120];
    strcpy(p, problem);
    strcpy(good, in_folder("good.json"));
    strcpy(poor, in_folder("poor.json"));
    write_plan("good.json", 0, 1);
    write_plan("poor.json", 1, 1);
    CHECK(RUN(cmd_check, "check", p, good) == EXIT_DONE, "%s%s", out[0], out[1]);
    CHECK(strstr(out[0], "0 faults; value 1 bound 1 gap 0\n") && !out[1][0], "%s", out[0]);
    CHECK(RUN(cmd_check, "check", p, poor) == EXIT_DONE, "%s%s", out[0], out[1]);
    CHECK(strstr(out[0], "value 0.5 bound 1 gap 0.5"), "%s", out[0]);
    CHECK(RUN(cmd_check, "check", "--gap", "0.4", p, poor) == EXIT_NO &&
          strstr(out[0], "fault: gap 0.5 is over 0.4\n"));
    CHECK(RUN(cmd_check, "check", "--gap=0.6", p, poor) == EXIT_DONE);
    CHECK(RUN(cmd_check, "check", "--json", p, poor) == EXIT_DONE && strstr(out[0], "\"value\": 0.5"), "%s", out[0]);
    /* under a policy that the plan was not made for */
    CHECK(RUN(cmd_check, "check", "--set", "paths=disjoint:1", p, good) == EXIT_NO, "%s", out[0]);
    CHECK(strstr(out[0], "is none of the 1 disjoint ones"), "%s", out[0]);
    CHECK(RUN(cmd_check, "check", "--json", "--set", "paths=disjoint:1", p, good) == EXIT_NO);
    CHECK(strstr(out[0], "\"faults\": 1"), "%s", out[0]);
}

static void test_check_refuses(void **state)
{
    (void)state;
    char p[120], good[120];
    strcpy(p, in_folder("problem.json"));
    strcpy(good, in_folder("good.json"));
    CHECK(RUN(cmd_check, "check", p) == EXIT_REFUSED && strstr(out[1], "want a PROBLEM and a PLAN"));
    CHECK(RUN(cmd_check, "check", p, good, p) == EXIT_REFUSED);
    CHECK(RUN(cmd_check, "check", "--gap", "-1", p, good) == EXIT_REFUSED && strstr(out[1], "--gap -1"), "%s", out[1]);
    CHECK(RUN(cmd_check, "check", "--gap", "nan", p, good) == EXIT_REFUSED);
    CHECK(RUN(cmd_check, "check", "--nonsense", p, good) == EXIT_REFUSED && strstr(out[1], "--nonsense"));
    CHECK(RUN(cmd_check, "check", p, good, "--set") == EXIT_REFUSED && strstr(out[1], "--set needs a value"));
    CHECK(RUN(cmd_check, "check", "--set", "gap", p, good) == EXIT_REFUSED && strstr(out[1], "want option=value"));
    CHECK(RUN(cmd_check, "check", "--set", "gaap=1", p, good) == EXIT_REFUSED && strstr(out[1], "\"gaap\""));
    CHECK(RUN(cmd_check, "check", in_folder("absent.json"), good) == EXIT_REFUSED && strstr(out[1], "absent.json"));
    CHECK(RUN(cmd_check, "check", good, good) == EXIT_REFUSED && strstr(out[1], "good.json: "), "%s", out[1]);
    CHECK(RUN(cmd_check, "check", p, p) == EXIT_REFUSED && strstr(out[1], "problem.json: "), "%s", out[1]);
    CHECK(RUN(cmd_check, "check", "--help") == EXIT_DONE && strstr(out[0], "usage: heddle check"));
}

/* The number that follows a key in JSON. */
static double number_after(const char *key)
{
    const char *at = strstr(out[0], key);
    CHECK(at, "%s is not in %s", key, out[0]);
    return strtod(at + strlen(key) + 1, NULL);
}

static void test_evaluate(void **state)
{
    (void)state;
    char p[120], good[120], poor[120];
    strcpy(p, in_folder("problem.json"));
    strcpy(good, in_folder("good.json"));
    strcpy(poor, in_folder("poor.json"));
    CHECK(RUN(cmd_evaluate, "evaluate", p) == EXIT_DONE, "%s", out[1]);
    CHECK(strstr(out[0], "routes ecmp") && strstr(out[0], "a -> l0 (arc 0)") && strstr(out[0], "slowest flows"), "%s",
          out[0]);
    CHECK(RUN(cmd_evaluate, "evaluate", "--json", p) == EXIT_DONE, "%s", out[1]);
    double mean = number_after("\"efficiency\":"), value = number_after("\"value\":");
    CHECK(mean > .5 && mean < 1 && fabs(value - mean) < 1e-12, "two flows meet in half the seeds: %g", mean);
    CHECK(number_after("\"worst_efficiency\":") == .5 && number_after("\"bound\":") == 1, "%s", out[0]);
    CHECK(strstr(out[0], "\"gbps\":") && strstr(out[0], "\"from\": \"l0\""), "%s", out[0]);
    CHECK(RUN(cmd_evaluate, "evaluate", "--routes", "spray", "--json", p) == EXIT_DONE &&
          number_after("\"value\":") == 1);
    CHECK(fabs(number_after("\"ecmp_efficiency\":") - mean) < 1e-12);
    CHECK(RUN(cmd_evaluate, "evaluate", "--routes", poor, "--json", p) == EXIT_DONE, "%s", out[1]);
    CHECK(number_after("\"value\":") == .5 && number_after("\"bound\":") == 1 && number_after("\"gap\":") == .5);
    CHECK(RUN(cmd_evaluate, "evaluate", "--routes", good, p) == EXIT_DONE && strstr(out[0], "gap 0"), "%s", out[1]);
    CHECK(RUN(cmd_evaluate, "evaluate", "--set", "objective=max_utilization", "--json", p) == EXIT_DONE);
    CHECK(number_after("\"value\":") > .08 && number_after("\"value\":") < .16 && number_after("\"bound\":") == .08,
          "%s", out[0]);
}

static void test_evaluate_refuses(void **state)
{
    (void)state;
    char p[120], broken[120];
    strcpy(p, in_folder("problem.json"));
    strcpy(broken, in_folder("broken.json"));
    write_plan("broken.json", 0, -1); /* arc 6 is d -> l1: no way on from l0 */
    CHECK(RUN(cmd_evaluate, "evaluate", "--routes", broken, p) == EXIT_REFUSED, "%s", out[0]);
    CHECK(strstr(out[1], "broken.json: ") && strstr(out[1], "arc 6 does not start at"), "%s", out[1]);
    CHECK(RUN(cmd_evaluate, "evaluate", "--routes", "lfts:no-such-file", p) == EXIT_REFUSED && strstr(out[1], "no-such-file"));
    CHECK(RUN(cmd_evaluate, "evaluate") == EXIT_REFUSED && strstr(out[1], "no PROBLEM given"));
    CHECK(RUN(cmd_evaluate, "evaluate", p, p) == EXIT_REFUSED && strstr(out[1], "more than one PROBLEM"));
    CHECK(RUN(cmd_evaluate, "evaluate", "--routes", in_folder("no.json"), p) == EXIT_REFUSED &&
          strstr(out[1], "no.json"));
    CHECK(RUN(cmd_evaluate, "evaluate", "-x", p) == EXIT_REFUSED && strstr(out[1], "-x"));
    CHECK(RUN(cmd_evaluate, "evaluate", "--help") == EXIT_DONE && strstr(out[0], "--routes spray"));
}

/* Every field absent, of the wrong type, or more than is shown: nothing breaks, and the hottest come first. */
static void test_table(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *v;
    char text[20000];
    static const char nested[] = "{\"jobs\": [1, {\"name\": 2}], \"arcs\": [[], {\"arc\": \"x\", \"load\": null}],"
                                 " \"certificate\": [], \"solver\": {\"seconds\": 1}}";
    const char *odd[] = { "{}", "[]", "{\"jobs\": 3, \"arcs\": {}, \"levels\": [1, {}], \"solver\": 1}", nested };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        FILE *f = tmpfile();
        CHECK(f && doc_parse(odd[i], (int64_t)strlen(odd[i]), a, &v, &e) == 0, "%s", e.text);
        CHECK(table_plan(f, v, NULL, &e) == 0 && table_plan_json(f, v, &e) == 0, "%s", odd[i]);
        fclose(f);
    }
    int n = snprintf(text, sizeof text, "{\"objective\": \"job_fair\", \"bound\": 0.75, \"flows\": [1], \"jobs\": [");
    for (int j = 0; j < 60; j++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"name\": \"j%d\", \"efficiency\": %g}", j ? ", " : "", j,
                      (j * 37 % 60 + 1) / 64.0);
    n += snprintf(text + n, sizeof text - (size_t)n, "], \"arcs\": [");
    for (int i = 0; i < 30; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"arc\": %d, \"load\": %g}", i ? ", " : "", i,
                      (i * 7 % 30) / 32.0);
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    CHECK(doc_parse(text, (int64_t)strlen(text), a, &v, &e) == 0, "%s", e.text);
    FILE *f = tmpfile();
    CHECK(f && table_plan(f, v, NULL, &e) == 0);
    rewind(f);
    out[0][fread(out[0], 1, 19999, f)] = 0;
    fclose(f);
    const char *first = strstr(out[0], "j0 "), *last = strstr(out[0], "... and 20 jobs that are better off");
    CHECK(first && last && first < last, "%s", out[0]);
    const char *hot = strstr(out[0], "hottest arcs");
    CHECK(hot && strstr(hot, "arc 17 ") && strstr(hot, "0.90625"), "7 * 17 mod 30 = 29: %s", out[0]);
    CHECK(strstr(hot, "arc 17 ") < strstr(hot, "arc 4 ") && !strstr(hot, "arc 0 "), "28 next, 0 not at all");
    f = tmpfile();
    CHECK(f && table_plan_json(f, v, &e) == 0);
    rewind(f);
    out[0][fread(out[0], 1, 19999, f)] = 0;
    fclose(f);
    CHECK(!strstr(out[0], "flows") && strstr(out[0], "\"arc\": 17") && !strstr(out[0], "\"arc\": 0"), "%s", out[0]);
    arena_free(a);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        a = arena_new(0, &e);
        CHECK(table_json(full, value_map(a), &e) == -1 && e.code == E_IO);
        arena_free(a);
        fclose(full);
    }
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    write_problem();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),    cmocka_unit_test(test_check_refuses),
        cmocka_unit_test(test_evaluate), cmocka_unit_test(test_evaluate_refuses),
        cmocka_unit_test(test_table),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const made[] = { "fabric.json", "problem.json", "good.json", "poor.json", "broken.json" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(in_folder(made[i]));
    rmdir(folder);
    return failed;
}
