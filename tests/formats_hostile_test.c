/* Damaged files: every reader answers a mutated, cut or spliced input with a valid fabric or a sentence that begins
 * with the file's name. formats_hostile_test [ROUNDS [FORMAT]]: rounds per sample. Then memory failing at call 0, 1, 2,
 * ...
 */
#include "formats_read.h"
#include "formats_samples.h"
#include "short.h"

static int32_t rounds = 250;
static const char *only;

/* Any byte, but those that mean something in these formats more often. */
static char spice(struct rng *rng)
{
    static const char bytes[] = "\"\"''[]{}()<>/#,:;=&*-~\n\n\r\t 0129.xeAS\\?|!%@\xff";
    return rng_below(rng, 8) == 0 ? (char)rng_below(rng, 256) : bytes[rng_below(rng, sizeof bytes - 1)];
}

/* One to four random edits of bytes, words or lines. Caller frees; *n is the new length. */
static char *mutate(struct rng *rng, const char *text, int64_t *n)
{
    int64_t room = *n * 3 + 200;
    char *out = calloc(1, (size_t)room);
    memcpy(out, text, (size_t)*n);
    for (int edits = 1 + rng_below(rng, 4); edits > 0 && *n > 4 && *n < room / 3; edits--) {
        int64_t at = rng_below(rng, (int32_t)*n), end = at, spot = rng_below(rng, (int32_t)*n);
        int words = rng_below(rng, 2);
        while (at > 0 && !strchr(words ? " \n,:\"" : "\n", out[at - 1]))
            at--;
        while (end < *n && !strchr(words ? " \n,:\"" : "\n", out[end]))
            end++;
        end += end < *n;
        int64_t length = end - at;
        switch (rng_below(rng, 7)) {
        case 0:
            out[spot] = spice(rng);
            break;
        case 1: /* a byte goes */
            memmove(out + spot, out + spot + 1, (size_t)(*n - spot - 1));
            --*n;
            break;
        case 2: /* a byte comes */
            memmove(out + spot + 1, out + spot, (size_t)(*n - spot));
            out[spot] = spice(rng);
            ++*n;
            break;
        case 3: /* a word or line goes */
            memmove(out + at, out + end, (size_t)(*n - end));
            *n -= length;
            break;
        case 4: /* a word or line comes twice */
            memmove(out + end, out + at, (size_t)(*n - at));
            *n += length;
            break;
        case 5: /* the end goes */
            if (rng_below(rng, 4) == 0)
                *n = spot + 1;
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

/* Reads from a buffer that is exactly as long as said, so that the sanitizer sees a step beyond. */
static int try_bytes(const struct sample *s, const char *text, int64_t n, int round)
{
    char *exact = malloc((size_t)n + 1);
    memcpy(exact, text, (size_t)n);
    exact[n] = 0;
    struct fabric *f = read_bytes(s->format, s->path, exact, n, s->gbps, s->hosts);
    size_t path = strlen(s->path);
    if (f)
        check_fabric(f);
    else
        CHECK(error.code == E_INPUT &&
                  (!strncmp(error.text, "--", 2) || (!strncmp(error.text, s->path, path) && error.text[path] == ':')) &&
                  strlen(error.text) > path + 8,
              "%s, round %d: %s", s->format, round, error.text);
    for (const char *c = error.text; *c; c++)
        CHECK((unsigned char)*c >= 32, "%s, round %d: a control character in %s", s->format, round, error.text);
    int read = f != NULL;
    fabric_free(f);
    free(exact);
    return read;
}

static void test_mutations(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        struct rng rng = { 4711 + (uint64_t)i };
        int64_t accepted = 0, length = (int64_t)strlen(s->text);
        if (only && strcmp(only, s->format) != 0)
            continue;
        for (int32_t k = 0; k < rounds; k++) {
            int64_t n = length;
            char *text = mutate(&rng, s->text, &n);
            accepted += try_bytes(s, text, n, k);
            free(text);
        }
        CHECK(accepted < rounds && accepted > 0, "%s: %d of %d accepted", s->format, (int)accepted, rounds);
        if (rounds > 1000)
            printf("%s: %d of %d mutations are fabrics\n", s->format, (int)accepted, rounds);
    }
}

static void test_cuts(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++)
        for (int64_t k = 0, n = (int64_t)strlen(samples[i].text); k <= n; k += 1 + k % 3)
            if (!only || !strcmp(only, samples[i].format))
                try_bytes(&samples[i], samples[i].text, k, (int)k);
}

/* Nesting without end, one endless line, one endless name. */
static void test_bombs(void **state)
{
    static const struct {
        const char *format, *head, *body;
    } row[] = { { "node-link", "{\"nodes\": ", "[" },
                { "clab", "topology: ", "[" },
                { "clab", "topology: ", "{a: " },
                { "clab", "topology:\n", "- " },
                { "graphml", "<graphml>", "<a>" },
                { "sndlib", "X ( ", "( " },
                { "slurm", "SwitchName=", "x" },
                { "slurm", "SwitchName=a Nodes=", "[1-9]" },
                { "repetita", "NODES 3\n", "x" },
                { "batfish", "{\"edges\": [", "{\"node1\": " },
                { "ns3", "3 1 1\n", "9" },
                { "ufm-ndt", "#", "StartDevice," },
                { "topograph", "switches: {a: &a [", "*a, " } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row && !only; i++) {
        int64_t head = (int64_t)strlen(row[i].head), body = (int64_t)strlen(row[i].body), times = (2 << 20) / body;
        char *text = malloc((size_t)(head + times * body + 1));
        memcpy(text, row[i].head, (size_t)head);
        for (int64_t k = 0; k < times; k++)
            memcpy(text + head + k * body, row[i].body, (size_t)body);
        text[head + times * body] = 0;
        CHECK(!read_bytes(row[i].format, "bomb", text, head + times * body, NULL, NULL), "%s", row[i].format);
        CHECK(error.code == E_INPUT && !strncmp(error.text, "bomb:", 5), "%s: %s", row[i].format, error.text);
        free(text);
    }
}

static void test_short_memory(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        for (int64_t k = 0, done = only && strcmp(only, s->format) != 0; !done; k++) {
            short_at = k;
            struct fabric *f = read_bytes(s->format, s->path, s->text, (int64_t)strlen(s->text), s->gbps, s->hosts);
            done = short_at >= 0;
            short_at = -1;
            CHECK(done ? f != NULL : !f && error.code == E_MEMORY, "%s, array %d: %s", s->format, (int)k, error.text);
            fabric_free(f);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (argc > 2)
        only = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
