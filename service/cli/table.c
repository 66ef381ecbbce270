#include "service/cli/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/wire/json.h"

enum { HOTTEST = 10, JOBS_SHOWN = 40 };

static double number(const struct value *v)
{
    if (v && v->kind == VALUE_INT)
        return (double)v->as.integer;
    return v && v->kind == VALUE_REAL ? v->as.real : NAN;
}

static double number_of(const struct value *map, const char *key)
{
    return number(value_get(map, key));
}

static const char *text_of(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    return v && v->kind == VALUE_TEXT ? v->as.bytes : NULL;
}

static const struct value *list_of(const struct value *map, const char *key)
{
    static const struct value none = { .kind = VALUE_LIST };
    const struct value *v = value_get(map, key);
    return v && v->kind == VALUE_LIST ? v : &none;
}

static const char *cell(double x, const char *format, char *text, size_t n)
{
    if (isnan(x))
        snprintf(text, n, "-");
    else
        snprintf(text, n, format, x);
    return text;
}

/* One column of numbers, 11 wide; absent ones as "-". */
static void column(FILE *to, double x, const char *format)
{
    char text[40];
    fprintf(to, " %11s", cell(x, format, text, sizeof text));
}

/* 1 when item a comes before item b: larger (sign 1) or smaller (sign -1) key, among equals the larger second key;
 * absent keys last. */
static int before(const struct value *a, const struct value *b, const char *key, const char *second, int sign)
{
    double x = sign * number_of(a, key), y = sign * number_of(b, key);
    if (isnan(x) || x > y || x < y || isnan(y))
        return !isnan(x) && !(x <= y);
    return second && number_of(a, second) > number_of(b, second);
}

/* The first n items of list in that order, ties in list order. Returns how many. */
static int pick(const struct value *list, const char *key, const char *second, int sign, int n, int64_t *out)
{
    int m = 0;
    for (int64_t i = 0; i < list->n; i++) {
        int at = m;
        while (at > 0 && before(&list->as.item[i], &list->as.item[out[at - 1]], key, second, sign))
            at--;
        if (at == n)
            continue;
        m += m < n;
        memmove(out + at + 1, out + at, (size_t)(m - at - 1) * sizeof *out);
        out[at] = i;
    }
    return m;
}

static void head(FILE *to, const struct value *plan)
{
    static const char *const word[] = { "status", "objective", "routing", "routes" };
    static const char *const real[] = { "value", "bound", "gap" };
    const char *gap = "";
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (text_of(plan, word[i])) {
            fprintf(to, "%s%s %s", gap, word[i], text_of(plan, word[i]));
            gap = "  ";
        }
    fprintf(to, "%s", *gap ? "\n" : "");
    gap = "";
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (!isnan(number_of(plan, real[i]))) {
            fprintf(to, "%s%s %.6g", gap, real[i], number_of(plan, real[i]));
            gap = "  ";
        }
    const char *kind = text_of(value_get(plan, "certificate"), "kind");
    if (kind)
        fprintf(to, "%sproof %s", gap, kind);
    fprintf(to, "%s", *gap || kind ? "\n" : "");
}

/* The bound on one job: what the levels prove of it, else what it could have alone; NaN when neither is there. */
static double job_bound(const struct value *plan, const struct value *job)
{
    const struct value *levels = list_of(plan, "levels");
    const char *name = text_of(job, "name");
    for (int64_t l = 0; l < levels->n && name; l++) {
        const struct value *names = list_of(&levels->as.item[l], "jobs");
        for (int64_t i = 0; i < names->n; i++)
            if (names->as.item[i].kind == VALUE_TEXT && !strcmp(names->as.item[i].as.bytes, name))
                return number_of(&levels->as.item[l], "bound");
    }
    return number_of(job, "bound");
}

static void least(const struct value *jobs, const char *key, FILE *to)
{
    int64_t worst;
    column(to, pick(jobs, key, NULL, -1, 1, &worst) ? number_of(&jobs->as.item[worst], key) : NAN, "%.4f");
}

static void show_jobs(FILE *to, const struct value *plan)
{
    const struct value *jobs = list_of(plan, "jobs");
    int64_t shown[JOBS_SHOWN];
    const char *objective = text_of(plan, "objective");
    int fair = !objective || !strcmp(objective, "job_fair"), all = jobs->n <= JOBS_SHOWN;
    int n = all ? (int)jobs->n : pick(jobs, "efficiency", NULL, -1, JOBS_SHOWN, shown);
    if (n == 0)
        return;
    fprintf(to, "\n%-24s %11s %11s %11s %11s %11s\n", "job", "seconds", "ideal s", "under ECMP", "efficiency", "bound");
    for (int i = 0; i < n; i++) {
        const struct value *job = &jobs->as.item[all ? i : shown[i]];
        fprintf(to, "%-24s", text_of(job, "name") ? text_of(job, "name") : "?");
        column(to, number_of(job, "seconds"), "%.6g");
        column(to, number_of(job, "ideal_seconds"), "%.6g");
        column(to, number_of(job, "ecmp_efficiency"), "%.4f");
        column(to, number_of(job, "efficiency"), "%.4f");
        column(to, job_bound(plan, job), "%.4f");
        fprintf(to, "\n");
    }
    if (!all)
        fprintf(to, "... and %lld jobs that are better off\n", (long long)(jobs->n - n));
    fprintf(to, "%-24s %11s %11s", "smallest", "", "");
    least(jobs, "ecmp_efficiency", to);
    least(jobs, "efficiency", to);
    column(to, fair ? number_of(plan, "bound") : NAN, "%.4f");
    fprintf(to, "\n");
}

static void show_arcs(FILE *to, const struct value *plan, const struct fabric *f)
{
    const struct value *arcs = list_of(plan, "arcs");
    int64_t shown[HOTTEST];
    int n = pick(arcs, "load", "price", 1, HOTTEST, shown);
    if (n == 0)
        return;
    fprintf(to, "\n%-48s %11s %11s\n", "hottest arcs", "load", "price");
    for (int i = 0; i < n; i++) {
        const struct value *arc = &arcs->as.item[shown[i]];
        double a = number_of(arc, "arc");
        char text[120];
        if (f && a >= 0 && a < f->narc)
            snprintf(text, sizeof text, "%s -> %s (arc %.0f)", f->node_name[f->tail[(int32_t)a]],
                     f->node_name[f->head[(int32_t)a]], a);
        else
            snprintf(text, sizeof text, "arc %.0f", a);
        fprintf(to, "%-48s", text);
        column(to, number_of(arc, "load"), "%.6g");
        column(to, number_of(arc, "price"), "%.6g");
        fprintf(to, "\n");
    }
}

static void show_work(FILE *to, const struct value *plan)
{
    static const char *const part[] = { "read", "partition", "solve", "round" };
    const struct value *solver = value_get(plan, "solver"), *seconds = value_get(solver, "seconds");
    if (!solver)
        return;
    fprintf(to, "\npods %.0f  cut arcs %.0f  ranks %.0f  rounds %.0f", number_of(solver, "pods"),
            number_of(solver, "cut_arcs"), number_of(solver, "ranks"), number_of(solver, "rounds"));
    if (seconds)
        fprintf(to, "  seconds %.3f", number_of(seconds, "total"));
    for (size_t i = 0; i < sizeof part / sizeof *part && seconds; i++)
        fprintf(to, "%s%s %.3f%s", i ? ", " : " (", part[i], number_of(seconds, part[i]), i == 3 ? ")" : "");
    double peak = number_of(solver, "peak_bytes_per_rank");
    if (peak > 0)
        fprintf(to, "  peak %.0f MB a rank", peak / 1e6);
    fprintf(to, "\n");
}

static int written(FILE *to, struct err *e)
{
    return fflush(to) == 0 && !ferror(to) ? 0 : fail(e, E_IO, "standard output: cannot write");
}

int table_plan(FILE *to, const struct value *plan, const struct fabric *f, struct err *e)
{
    head(to, plan);
    show_jobs(to, plan);
    show_arcs(to, plan, f);
    show_work(to, plan);
    return written(to, e);
}

int table_json(FILE *to, const struct value *v, struct err *e)
{
    char *text = NULL;
    int64_t n = 0;
    if (json_write(v, 2, &text, &n, e) < 0)
        return -1;
    fwrite(text, 1, (size_t)n, to);
    if (n == 0 || text[n - 1] != '\n')
        fputc('\n', to);
    free(text);
    return written(to, e);
}

static struct value *hottest(const struct value *arcs, struct arena *a)
{
    int64_t shown[HOTTEST];
    int n = pick(arcs, "load", "price", 1, HOTTEST, shown);
    struct value *list = value_list(a, n);
    for (int i = 0; i < n && list; i++)
        list->as.item[i] = arcs->as.item[shown[i]];
    return list;
}

static struct value *without_prices(const struct value *levels, struct arena *a)
{
    struct value *list = value_list(a, levels->n);
    for (int64_t l = 0; l < levels->n && list; l++) {
        const struct value *from = &levels->as.item[l];
        list->as.item[l].kind = VALUE_MAP;
        for (int64_t i = 0; from->kind == VALUE_MAP && i < from->n; i++)
            if (strcmp(from->as.pair[i].key, "prices") != 0)
                value_put(a, &list->as.item[l], from->as.pair[i].key, from->as.pair[i].value);
    }
    return list;
}

static struct value *kind_alone(const struct value *certificate, struct arena *a)
{
    struct value *proof = value_map(a);
    if (text_of(certificate, "kind"))
        value_put(a, proof, "kind", value_text(a, text_of(certificate, "kind")));
    return proof;
}

int table_plan_json(FILE *to, const struct value *plan, struct err *e)
{
    struct arena *a = arena_new(0, e);
    if (!a)
        return -1;
    struct value *out = value_map(a);
    for (int64_t i = 0; plan->kind == VALUE_MAP && i < plan->n; i++) {
        const char *key = plan->as.pair[i].key;
        struct value *v = plan->as.pair[i].value;
        if (!strcmp(key, "certificate"))
            value_put(a, out, key, kind_alone(v, a));
        else if (!strcmp(key, "arcs"))
            value_put(a, out, key, hottest(list_of(plan, key), a));
        else if (!strcmp(key, "levels"))
            value_put(a, out, key, without_prices(list_of(plan, key), a));
        else if (strcmp(key, "flows") != 0)
            value_put(a, out, key, v);
    }
    int rc = arena_failed(a) ? fail(e, E_MEMORY, "out of memory for a summary") : table_json(to, out, e);
    arena_free(a);
    return rc;
}
