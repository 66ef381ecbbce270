/* Documents, plans and protocol headers damaged at random, as text, as msgpack and as trees: each one ends in a
 * sentence or in something that is whole. Usage: hostile_test [cases [first seed]]; a failing case prints its seed.
 */
#include "doc_text.h"

static const char *const problem_text[] = {
    "{'heddle': 1, " FABRIC ", 'jobs': [{'name': 'gpt', 'weight': 2, 'collectives': [{'op': 'all_reduce', 'algorithm': "
    "'hierarchical', 'bytes': 1e9, 'ranks': ['a', 'b'], 'channels': 2}, {'op': 'all_to_all', 'bytes': 77, 'ranks': [0, "
    "1, "
    "3]}], 'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1000000, 'paths': [[0, 2]]}]}], 'options': {'objective': "
    "'max_utilization', 'routing': 'split', 'paths': 'disjoint:4', 'gap': 0.001, 'seed': 12}}",

    "{'fabric': {'nodes': {'name': ['n0', 'n1', 'n2'], 'kind': ['switch', 'switch', 'nic'], 'rail': [0, -1, 2], 'up': "
    "[true, true, false], 'pod': ['p', null, 'q']}, 'links': {'from': [0, 1, 2], 'to': [1, 2, 0], 'gbps': [1, 2.5, "
    "1e3], 'directed': [true, false, true], 'cost': [0, 0, 3]}}, 'jobs': [{'flows': {'src': [0, 1, 0], 'dst': [1, 2, "
    "2], 'gbps': [0.5, 1e-6, 3], 'paths': [[[0]], null, [[0, 2], [0, 2]]]}}, {'name': 'z', 'flows': []}]}",

    "{'fabric': {'name': 'tiny \xc3\xa9', 'nodes': [{'name': 'a/mlx5_0', 'kind': 'nic', 'site': 'dc1'}, {'name': "
    "'\\u20ac', "
    "'kind': 'switch'}], 'links': []}, 'jobs': [{'collectives': [{'op': 'broadcast', 'algorithm': 'tree', 'bytes': 0, "
    "'ranks': ['\\u20ac', 'a/mlx5_0']}, {'op': 'all_reduce', 'algorithm': 'halving_doubling', 'bytes': 5, 'ranks': "
    "[0]}]}], "
    "'options': {}}",
};

static const char *const plan_text =
    "{'heddle': 1, 'objective': 'job_fair', 'routing': 'split', 'status': 'feasible', 'value': 0.5, 'bound': 0.75, "
    "'gap': "
    "0.33, 'jobs': [{'name': 'x', 'seconds': 1, 'ideal_seconds': 0.5, 'efficiency': 0.5, 'ecmp_efficiency': 0.1}], "
    "'flows': "
    "[{'job': 'x', 'src': 'a', 'dst': 'b', 'bytes': 1e9, 'gbps': 10, 'paths': [{'share': 0.25, 'arcs': [0, 2], 'gbps': "
    "3.5}, {'share': 0.75, 'arcs': [0, 2], 'gbps': 6.5}]}, {'job': 'x', 'src': 'b', 'dst': 'a', 'bytes': 5, 'gbps': 0, "
    "'paths': []}], 'arcs': [{'arc': 0, 'load': 0.3, 'price': 0}, {'arc': 2, 'load': 0, 'price': 0.125}], "
    "'certificate': "
    "{'kind': 'pigeonhole', 'bound': 0.75, 'arcs': [1, 3], 'flows': [0]}, 'levels': [{'efficiency': 0.5, 'jobs': "
    "['x'], "
    "'bound': 0.5, 'prices': [[2, 0.125], [3, 1]]}], 'solver': {'version': '0', 'ranks': 2}}";

static const char *const header_text = "{'v': 1, 't': 'submit', 'id': 18446744073, 'k': '0123456789abcdef', 'job': "
                                       "'j-17', 'seq': 3, 'need': ['chunks', 'x']}";

enum { PROBLEMS = 3, PLAN = PROBLEMS, HEADER, BASES };
enum { AS_JSON, AS_PACKED, AS_COLUMNS, FORMS };

struct bytes {
    char *at;
    int64_t n;
};

static struct bytes base[BASES][FORMS];
static struct problem *planned;

/* ---- the whole documents ---- */

static struct bytes packed(const struct value *v)
{
    struct err e = { 0 };
    struct bytes b;
    CHECK(wire_write(v, &b.at, &b.n, &e) == 0, "%s", e.text);
    return b;
}

static struct bytes columns(const char *text)
{
    struct err e = { 0 };
    struct arena *a = arena_new(0, &e);
    struct value *v = NULL;
    struct problem *p = accept(text);
    CHECK(doc_problem_write(p, 1, a, &v, &e) == 0, "%s", e.text);
    struct bytes b = packed(v);
    problem_free(p);
    arena_free(a);
    return b;
}

static void make_bases(void)
{
    struct err e = { 0 };
    for (int i = 0; i < BASES; i++) {
        const char *text = i < PROBLEMS ? problem_text[i] : i == PLAN ? plan_text : header_text;
        struct arena *a = arena_new(0, &e);
        base[i][AS_JSON].at = quoted(text);
        base[i][AS_JSON].n = (int64_t)strlen(text);
        base[i][AS_PACKED] = packed(parse(text, a));
        base[i][AS_COLUMNS] = i < PROBLEMS ? columns(text) : packed(parse(text, a));
        arena_free(a);
    }
    planned =
        accept("{" FABRIC ", 'jobs': [{'name': 'x', 'flows': [{'src': 'a', 'dst': 'b', 'bytes': 1e9}, {'src': 'b', "
               "'dst': 'a', 'bytes': 5}]}]}");
}

static void free_bases(void)
{
    for (int i = 0; i < BASES; i++)
        for (int k = 0; k < FORMS; k++)
            free(base[i][k].at);
    problem_free(planned);
}

/* ---- damage to bytes ---- */

/* Put new[m] in place of the cut bytes at the place. */
static void splice(struct bytes *b, int64_t at, int64_t cut, const char *new, int64_t m)
{
    char *out = array(b->n - cut + m + 1, 1);
    memcpy(out, b->at, (size_t)at);
    memcpy(out + at, new, (size_t)m);
    memcpy(out + at + m, b->at + at + cut, (size_t)(b->n - at - cut));
    free(b->at);
    b->at = out;
    b->n += m - cut;
}

static const char *const odd_text[] = {
    "-1",          "0",      "1e308", "1e999",      "-0.0",  "99999999999", "9223372036854775808",
    "null",        "true",   "\"\"",  "[]",         "{}",    "[[",          "\"\\u0000\"",
    "\"\\ud834\"", "1e-320", "NaN",   "2147483648", "\"a\"", "4294967296",  "[0,1,2,3]",
    "\"\n\"",      "\"\\n\""
};
static const struct {
    const char *bytes;
    int n;
} odd_packed[] = { { "\xdd\xff\xff\xff\xff", 5 },
                   { "\xdf\x00\x00\x00\x02", 5 },
                   { "\xc6\x00\x00\x10\x00", 5 },
                   { "\xdb\xff\xff\xff\xff", 5 },
                   { "\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00", 9 },
                   { "\xc1", 1 },
                   { "\xc7\x01\x01\x01", 4 },
                   { "\xd4\x01\x01", 3 },
                   { "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9 },
                   { "\xd2\x80\x00\x00\x00", 5 },
                   { "\xc0", 1 },
                   { "\x80", 1 },
                   { "\x90", 1 },
                   { "\xa0", 1 },
                   { "\xc3", 1 },
                   { "\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x90", 11 },
                   { "\xa1\xff", 2 },
                   { "\xce\x7f\xff\xff\xff", 5 } };

/* One number, quoted word or value of JSON text by another. */
static void replace_token(struct bytes *b, struct rng *r)
{
    int64_t at = rng_below(r, (int32_t)b->n);
    while (at > 0 && !strchr("[{,: ", b->at[at - 1]))
        at--;
    int64_t end = at;
    while (end < b->n && !strchr(",:]}", b->at[end]))
        end++;
    const char *new = odd_text[rng_below(r, sizeof odd_text / sizeof *odd_text)];
    splice(b, at, end - at, new, (int64_t)strlen(new));
}

static void damage_bytes(struct bytes *b, int json, struct rng *r)
{
    if (b->n == 0)
        return;
    int64_t at = rng_below(r, (int32_t)b->n);
    char c = (char)rng_below(r, 256);
    int32_t k = rng_below(r, sizeof odd_packed / sizeof *odd_packed);
    int64_t m = 1 + rng_below(r, 40);
    switch (rng_below(r, 8)) {
    case 0:
        b->n = at;
        break;
    case 1:
        b->at[at] = (char)(b->at[at] ^ 1 << rng_below(r, 8));
        break;
    case 2:
        splice(b, at, 0, &c, 1);
        break;
    case 3:
        splice(b, at, 1, "", 0);
        break;
    case 4: /* a piece of the document once more, somewhere else */
        m = m < b->n - at ? m : b->n - at;
        {
            char piece[40];
            memcpy(piece, b->at + at, (size_t)m);
            splice(b, rng_below(r, (int32_t)b->n), 0, piece, m);
        }
        break;
    case 5: /* a piece less */
        splice(b, at, m < b->n - at ? m : b->n - at, "", 0);
        break;
    default:
        if (json)
            replace_token(b, r);
        else
            splice(b, at, rng_below(r, 2) && b->n - at >= odd_packed[k].n ? odd_packed[k].n : 1, odd_packed[k].bytes,
                   odd_packed[k].n);
        break;
    }
}

/* ---- damage to trees: what parses, but is not what was meant ---- */

static int64_t count_values(const struct value *v)
{
    int64_t sum = 1;
    for (int64_t i = 0; (v->kind == VALUE_LIST || v->kind == VALUE_MAP) && i < v->n; i++)
        sum += count_values(v->kind == VALUE_LIST ? &v->as.item[i] : v->as.pair[i].value);
    return sum;
}

/* Value number *k of the tree in prefix order. */
static struct value *nth(struct value *v, int64_t *k)
{
    if ((*k)-- == 0)
        return v;
    for (int64_t i = 0; (v->kind == VALUE_LIST || v->kind == VALUE_MAP) && i < v->n; i++) {
        struct value *found = nth(v->kind == VALUE_LIST ? &v->as.item[i] : v->as.pair[i].value, k);
        if (found)
            return found;
    }
    return NULL;
}

static struct value *any(struct value *root, struct rng *r)
{
    int64_t k = rng_below(r, (int32_t)count_values(root));
    return nth(root, &k);
}

static void damage_tree(struct value *root, struct arena *a, struct rng *r)
{
    static const int64_t whole[] = { -1, 0, 1, 2, 3, 5, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN };
    static const double odd[] = { -1, 0, 0.5, 1e308, 1e-300, 4294967296.0, 2147483647, 3, 5, 1e18 };
    static const char *const word[] = { "",     "a",        "b",  "nic",         "x\ny", "ring",
                                        "gbps", "\xc3\xa9", "p0", "disjoint:99", "all" };
    struct value *v = any(root, r), *w = any(root, r);
    switch (rng_below(r, 8)) {
    case 0:
        *v = *value_real(a, odd[rng_below(r, 10)]);
        break;
    case 1:
        *v = *value_int(a, whole[rng_below(r, 10)]);
        break;
    case 2:
        *v = *value_text(a, word[rng_below(r, 11)]);
        break;
    case 3: /* one value in place of another; inner ones only, so that no tree holds itself */
        if (w->kind != VALUE_LIST && w->kind != VALUE_MAP)
            *v = *w;
        break;
    case 4: /* a key's name for another */
        if (v->kind == VALUE_MAP && v->n > 0)
            v->as.pair[rng_below(r, (int32_t)v->n)].key = (char *)word[rng_below(r, 11)];
        break;
    case 5: /* the last item or key goes */
        if ((v->kind == VALUE_LIST || v->kind == VALUE_MAP) && v->n > 0)
            v->n--;
        break;
    case 6: /* two keys trade their values */
        if (v->kind == VALUE_MAP && v->n > 1) {
            struct pair *p = &v->as.pair[rng_below(r, (int32_t)v->n)], *q = &v->as.pair[rng_below(r, (int32_t)v->n)];
            struct value *t = p->value;
            p->value = q->value;
            q->value = t;
        }
        break;
    case 7:
        if (v->kind == VALUE_INT && v->as.integer > INT64_MIN + 4 && v->as.integer < INT64_MAX - 4)
            v->as.integer += rng_below(r, 7) - 3;
        else if (v->kind == VALUE_BYTES && v->n > 0)
            v->as.bytes[rng_below(r, (int32_t)v->n)] ^= (char)(1 << rng_below(r, 8));
        break;
    }
}

/* ---- what must hold ---- */

static int64_t accepted, refused;

static void check_sentence(const struct err *e, int64_t seed)
{
    refused++;
    CHECK(e->code == E_INPUT || e->code == E_MEMORY, "seed %lld: code %d: %s", (long long)seed, (int)e->code, e->text);
    CHECK(e->text[0] && strlen(e->text) < sizeof e->text - 1, "seed %lld: %s", (long long)seed, e->text);
    CHECK(value_utf8(e->text, (int64_t)strlen(e->text)), "seed %lld: %s", (long long)seed, e->text);
    for (const char *c = e->text; *c; c++)
        CHECK((unsigned char)*c >= 32 && *c != 127, "seed %lld: control character in %s", (long long)seed, e->text);
}

/* An accepted problem is consistent: written out it is accepted again, and says the same. */
static void try_problem(const struct value *v, int64_t seed)
{
    struct err e = { 0 };
    struct problem *p = NULL, *back = NULL;
    struct value *rows, *again;
    if (doc_problem(v, NULL, &p, &e) < 0) {
        check_sentence(&e, seed);
        return;
    }
    accepted++;
    struct arena *a = arena_new(0, &e);
    CHECK(doc_problem_write(p, 0, a, &rows, &e) == 0 && doc_problem(rows, NULL, &back, &e) == 0, "seed %lld: %s",
          (long long)seed, e.text);
    CHECK(doc_problem_write(back, 0, a, &again, &e) == 0, "seed %lld: %s", (long long)seed, e.text);
    char *x = text_of(rows), *y = text_of(again);
    CHECK(!strcmp(x, y), "seed %lld:\n%s\n%s", (long long)seed, x, y);
    free(x);
    free(y);
    arena_free(a);
    problem_free(back);
    problem_free(p);
}

static void try_plan(const struct value *v, int64_t seed)
{
    struct err e = { 0 };
    struct plan *plan = NULL, *back = NULL;
    struct value *out;
    if (doc_plan(v, planned, &plan, &e) < 0) {
        check_sentence(&e, seed);
        return;
    }
    accepted++;
    struct arena *a = arena_new(0, &e);
    CHECK(doc_plan_write(planned, plan, a, &out, &e) == 0, "seed %lld: %s", (long long)seed, e.text);
    CHECK(doc_plan(out, planned, &back, &e) == 0, "seed %lld: %s", (long long)seed, e.text);
    arena_free(a);
    plan_free(plan);
    plan_free(back);
}

static void try_document(int which, const struct value *v, int64_t seed)
{
    if (which == PLAN)
        try_plan(v, seed);
    else
        try_problem(v, seed);
}

static void try_bytes(int which, const struct bytes *b, int64_t seed)
{
    struct err e = { 0 };
    struct arena *a = arena_new(doc_limit(b->n), &e);
    struct value *v;
    int rc = which == HEADER ? wire_read(b->at, b->n, &wire_header, a, &v, &e) : doc_parse(b->at, b->n, a, &v, &e);
    if (rc < 0)
        check_sentence(&e, seed);
    else if (which == HEADER)
        accepted++;
    else
        try_document(which, v, seed);
    arena_free(a);
}

static void one_case(int64_t seed)
{
    struct rng r = { (uint64_t)seed };
    struct err e = { 0 };
    int which = rng_below(&r, BASES), form = which == HEADER ? AS_PACKED : rng_below(&r, FORMS),
        hits = 1 + rng_below(&r, 4);
    const struct bytes *whole = &base[which][form];
    if (which != HEADER && rng_below(&r, 2)) {
        struct arena *a = arena_new(0, &e);
        struct value *v = NULL;
        CHECK(doc_parse(whole->at, whole->n, a, &v, &e) == 0, "%s", e.text);
        for (int i = 0; i < hits; i++)
            damage_tree(v, a, &r);
        try_document(which, v, seed);
        arena_free(a);
        return;
    }
    struct bytes b = { array(whole->n + 1, 1), whole->n };
    memcpy(b.at, whole->at, (size_t)whole->n);
    for (int i = 0; i < hits; i++)
        damage_bytes(&b, form == AS_JSON, &r);
    try_bytes(which, &b, seed);
    free(b.at);
}

static int64_t cases = 2000, first;

static void test_damaged_documents(void **state)
{
    (void)state;
    make_bases();
    for (int64_t i = 0; i < cases; i++)
        one_case(first + i);
    print_message("%lld accepted, %lld refused\n", (long long)accepted, (long long)refused);
    CHECK(cases < 1000 || (accepted > cases / 100 && refused > cases / 2), "the damage is of the wrong strength");
    free_bases();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_damaged_documents) };
    if (argc > 1)
        cases = strtoll(argv[1], NULL, 10);
    if (argc > 2)
        first = strtoll(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
