#include "check.h"
#include "service/daemon/config.h"

#include <unistd.h>

static void write_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static void test_file_of_defaults_is_the_table(void **state)
{
    static char file[16384], table[16384];
    (void)state;
    FILE *f = fopen(HEDDLE_CONFIG_FILE, "r");
    CHECK(f, "%s", HEDDLE_CONFIG_FILE);
    file[fread(file, 1, sizeof file - 1, f)] = 0;
    fclose(f);
    f = fmemopen(table, sizeof table, "w");
    config_print(f);
    fclose(f);
    CHECK(!strcmp(file, table), "configs/heddled.conf is not what the table prints (heddled --help)");
    struct config a, b;
    struct err e = { 0 };
    config_default(&a);
    config_default(&b);
    b.ranks = 77;
    b.launcher[0] = 0;
    CHECK(config_load(&b, HEDDLE_CONFIG_FILE, &e) == 0, "%s", e.text);
    CHECK(!memcmp(&a, &b, sizeof a) && a.ranks == 2 && strstr(a.launcher, "{ranks}"), "the file sets every default");
}

static void test_refusals(void **state)
{
    static const struct {
        const char *name, *value, *say;
    } bad[] = { { "rank", "2", "\"rank\" is no option" },
                { "ranks", "two", "\"two\" is not a number" },
                { "ranks", "2x", "\"2x\"" },
                { "ranks", "", "not a number" },
                { "ranks", "0", "0 is not in [1, 4096]" },
                { "ranks", "1.5", "not a whole number" },
                { "ranks", "nan", "nan is not in" },
                { "dead_after", "1", "not in [2, 3600]" },
                { "dead_after", "inf", "not in" },
                { "listen", "tcp://*:5570", "not on loopback" },
                { "listen", "tcp://10.0.0.1:5570", "not on loopback" },
                { "listen", "tcp://127.0.0.1", "not on loopback" },
                { "listen", "", "not on loopback" },
                { "state", "", "folder must be named" } };
    struct config c, before;
    struct err e;
    (void)state;
    config_default(&c);
    before = c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(config_set(&c, bad[i].name, bad[i].value, &e) < 0 && e.code == E_INPUT, "%s", bad[i].say);
        CHECK(strstr(e.text, bad[i].say), "got \"%s\", want \"%s\"", e.text, bad[i].say);
        CHECK(!memcmp(&c, &before, sizeof c));
    }
    char endless[CONFIG_TEXT + 1];
    memset(endless, 'x', CONFIG_TEXT);
    endless[CONFIG_TEXT] = 0;
    CHECK(config_set(&c, "solver", endless, &e) < 0 && strstr(e.text, "longer than"));
    CHECK(config_set(&c, "listen", "tcp://[::1]:1", &e) == 0 && config_set(&c, "listen", "ipc:///tmp/x", &e) == 0);
}

static void test_files(void **state)
{
    static char line[6000];
    static const struct {
        const char *text, *say;
    } bad[] = { { "worlds = 2\nranks = x\n", ":2: ranks: \"x\"" },
                { "[heddled]\nworlds = 2\n", ":2: [heddled]: there are no sections" },
                { "worlds\n", ":1: want name = value" },
                { "# fine\n\nwrlds = 2\n", ":3: \"wrlds\" is no option" } };
    char path[] = "/tmp/heddle-config-XXXXXX";
    struct config c, before;
    struct err e = { 0 };
    (void)state;
    close(mkstemp(path));
    config_default(&c);
    before = c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(path, bad[i].text, strlen(bad[i].text));
        CHECK(config_load(&c, path, &e) < 0 && strstr(e.text, bad[i].say), "got \"%s\"", e.text);
        CHECK(!strncmp(e.text, path, strlen(path)) && !memcmp(&c, &before, sizeof c));
    }
    memset(line, 'y', sizeof line - 1);
    memcpy(line, "launcher = ", 11);
    write_file(path, line, strlen(line));
    CHECK(config_load(&c, path, &e) < 0 && strstr(e.text, ":1: longer than"), "%s", e.text);
    write_file(path, "ranks = 3\0\n", 11);
    CHECK(config_load(&c, path, &e) < 0 && strstr(e.text, "zero byte"), "%s", e.text);
    write_file(path, "launcher = a; b\nranks=3\n", 24);
    CHECK(config_load(&c, path, &e) == 0 && !strcmp(c.launcher, "a; b") && c.ranks == 3, "%s %s", e.text, c.launcher);
    unlink(path);
    CHECK(config_load(&c, path, &e) < 0 && strstr(e.text, "No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_of_defaults_is_the_table),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
