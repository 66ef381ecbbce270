/* METIS behind a fence. Its traps and what is done here:
 * it divides by zero for one part, leaves parts empty when parts are many, and fails on disconnected graphs: components
 * are told apart first, each gets its share of the parts and at least 8 vertices per part, and the answer is repaired;
 * it crashes on asymmetric input and overflows 32 bits: checked and scaled before the call;
 * it traps SIGTERM and prints: both are held back around the call, which is never made twice at a time.
 */
#include "partition/part_metis.h"

#include <fcntl.h>
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int32_t PART_VERTICES = 8;        /* below this many vertices per part METIS leaves parts empty */
static const int64_t WEIGHT_SUM = 1 << 30;     /* both weight sums stay below this, half of what idx_t holds */
static const int64_t WEIGHT_MAX = 1 << 20;     /* and no weight above this: gains of very uneven weights overflow */
static const int64_t MAX_NEIGHBOURS = 1 << 29; /* entries of the adjacency that METIS can index with room to spare */
static const int64_t LIMIT = (int64_t)1 << 40; /* largest weight that we take */
static const int32_t RECURSIVE_PARTS = 8;      /* the manual's advice: bisection for few parts, k-way for many */

/* Everything a call needs, taken once. */
struct cutter {
    int32_t n, k;
    const int64_t *first, *w, *vw; /* the caller's graph, adjacency sorted: to and w are copies */
    const int32_t *to;
    int32_t *part;

    int64_t *sfirst, *sw; /* the sorted copy */
    int32_t *sto;
    int32_t ncomp, *comp;    /* component of each vertex */
    int32_t *order, *cfirst; /* vertices by component: order[cfirst[c] .. cfirst[c + 1]) */
    int64_t *weight;         /* [ncomp] */
    int32_t *parts;          /* [ncomp] parts that the component is cut into; 0: packed whole */
    int64_t *load;           /* [k] weight of each part */
    int32_t *local;          /* [n] number of a vertex inside its component; scratch */
    idx_t *xadj, *adjncy, *adjwgt, *vwgt, *label;
};

static int check_vertex(int32_t n, const int64_t *first, const int32_t *to, const int64_t *w, const int64_t *vw,
                        int32_t v, struct err *e)
{
    if (vw[v] < 1 || vw[v] > LIMIT)
        return fail(e, E_INPUT, "graph: vertex %d: weight %lld is not in [1, 2^40]", v, (long long)vw[v]);
    if (first[v + 1] < first[v] || first[v + 1] > first[n])
        return fail(e, E_INPUT, "graph: vertex %d: neighbours [%lld, %lld) of %lld", v, (long long)first[v],
                    (long long)first[v + 1], (long long)first[n]);
    for (int64_t i = first[v]; i < first[v + 1]; i++) {
        if (to[i] < 0 || to[i] >= n)
            return fail(e, E_INPUT, "graph: vertex %d: neighbour %d is not in [0, %d)", v, to[i], n);
        if (to[i] == v)
            return fail(e, E_INPUT, "graph: vertex %d is its own neighbour", v);
        if (w[i] < 1 || w[i] > LIMIT)
            return fail(e, E_INPUT, "graph: edge %d-%d: weight %lld is not in [1, 2^40]", v, to[i], (long long)w[i]);
    }
    return 0;
}

/* The graph with every edge turned round; lists come out sorted by neighbour. */
static void transpose(int32_t n, const int64_t *first, const int32_t *to, const int64_t *w, int64_t *tfirst,
                      int32_t *tto, int64_t *tw)
{
    memset(tfirst, 0, ((size_t)n + 1) * sizeof *tfirst);
    for (int64_t i = 0; i < first[n]; i++)
        tfirst[to[i]]++;
    for (int32_t v = 0; v < n; v++)
        tfirst[v + 1] += tfirst[v];
    for (int32_t v = n - 1; v >= 0; v--)
        for (int64_t i = first[v]; i < first[v + 1]; i++) {
            int64_t at = --tfirst[to[i]];
            tto[at] = v;
            tw[at] = w[i];
        }
}

/* c->s* becomes the sorted transpose; a symmetric graph equals it once sorted itself. */
static int sort_and_check(struct cutter *c, const int64_t *first, const int32_t *to, const int64_t *w, struct err *e)
{
    int64_t m = first[c->n], *bfirst = array((int64_t)c->n + 1, sizeof *bfirst), *bw = array(m, sizeof *bw);
    int32_t *bto = array(m, sizeof *bto);
    int rc = 0;
    if (!bfirst || !bw || !bto)
        rc = fail(e, E_MEMORY, "out of memory for a graph of %d vertices", c->n);
    if (rc == 0) {
        transpose(c->n, first, to, w, bfirst, bto, bw);
        transpose(c->n, bfirst, bto, bw, c->sfirst, c->sto, c->sw); /* the graph itself, sorted */
    }
    for (int32_t v = 0; rc == 0 && v < c->n; v++)
        for (int64_t i = c->sfirst[v]; rc == 0 && i < c->sfirst[v + 1]; i++) {
            if (i > c->sfirst[v] && c->sto[i] == c->sto[i - 1])
                rc = fail(e, E_INPUT, "graph: vertex %d lists neighbour %d twice", v, c->sto[i]);
            else if (i >= bfirst[v + 1] || i < bfirst[v] || bto[i] != c->sto[i])
                rc = fail(e, E_INPUT, "graph: asymmetric at vertex %d, near its neighbour %d", v, c->sto[i]);
            else if (bw[i] != c->sw[i])
                rc = fail(e, E_INPUT, "graph: edge %d-%d weighs %lld, its reverse %lld", v, c->sto[i],
                          (long long)c->sw[i], (long long)bw[i]);
        }
    free(bfirst);
    free(bto);
    free(bw);
    return rc;
}

/* comp, order and cfirst by breadth-first search; order doubles as the queue, so each component is one run of it. */
static void find_components(struct cutter *c)
{
    int32_t filled = 0;
    for (int32_t v = 0; v < c->n; v++)
        c->comp[v] = -1;
    for (int32_t root = 0; root < c->n; root++) {
        if (c->comp[root] >= 0)
            continue;
        c->cfirst[c->ncomp] = filled;
        c->comp[root] = c->ncomp;
        c->order[filled++] = root;
        for (int32_t head = c->cfirst[c->ncomp]; head < filled; head++)
            for (int64_t i = c->first[c->order[head]]; i < c->first[c->order[head] + 1]; i++)
                if (c->comp[c->to[i]] < 0) {
                    c->comp[c->to[i]] = c->ncomp;
                    c->order[filled++] = c->to[i];
                }
        c->ncomp++;
    }
    c->cfirst[c->ncomp] = filled;
    for (int32_t v = 0; v < c->n; v++)
        c->weight[c->comp[v]] += c->vw[v];
}

static int32_t most_parts(const struct cutter *c, int32_t comp)
{
    int32_t n = c->cfirst[comp + 1] - c->cfirst[comp];
    return n / PART_VERTICES > 1 ? n / PART_VERTICES : 1;
}

/* Who gets how many of the k parts: every component its whole multiples of the mean, then one by one to where most
 * weight sits per part; components left without a part of their own are crumbs, which count as one pool. Returns the
 * number of parts that found a use, at most k. */
static int32_t share_parts(struct cutter *c)
{
    double total = 0, pool = 0;
    int32_t used = 0, crumbs = 0, pooled = 0;
    for (int32_t i = 0; i < c->ncomp; i++)
        total += (double)c->weight[i];
    for (int32_t i = 0; i < c->ncomp; i++) {
        int32_t whole = (int32_t)((double)c->weight[i] * c->k / total), most = most_parts(c, i);
        c->parts[i] = whole < most ? whole : most;
        used += c->parts[i];
        if (c->parts[i] == 0) {
            pool += (double)c->weight[i];
            crumbs++;
        }
    }
    while (used < c->k) {
        int32_t best = -1; /* a component; -1: the pool */
        double worst = pooled < crumbs ? pool / (pooled + 0.5) : 0;
        for (int32_t i = 0; i < c->ncomp; i++)
            if (c->parts[i] > 0 && c->parts[i] < most_parts(c, i) && (double)c->weight[i] / c->parts[i] > worst) {
                worst = (double)c->weight[i] / c->parts[i];
                best = i;
            }
        if (!(worst > 0))
            break;
        if (best >= 0)
            c->parts[best]++;
        else
            pooled++;
        used++;
    }
    return used;
}

/* The largest s <= 1 for which max(1, s * weight) keeps every weight and their sum in the limits. */
static double factor(double sum, double most)
{
    double s = sum > (double)WEIGHT_SUM ? (double)WEIGHT_SUM / sum : 1;
    return most * s > (double)WEIGHT_MAX ? (double)WEIGHT_MAX / most : s;
}

static idx_t scaled(int64_t w, double s)
{
    idx_t x = (idx_t)((double)w * s);
    return x > 1 ? x : 1;
}

/* The component as METIS wants it: own numbering, 32-bit, weights scaled. Returns its number of vertices. */
static int32_t extract(struct cutter *c, int32_t comp)
{
    const int32_t *vertex = c->order + c->cfirst[comp];
    int32_t n = c->cfirst[comp + 1] - c->cfirst[comp], m = 0;
    double sum = 0, most = 0, vsum = 0, vmost = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = vertex[i];
        c->local[v] = i;
        vsum += (double)c->vw[v];
        vmost = (double)c->vw[v] > vmost ? (double)c->vw[v] : vmost;
        for (int64_t a = c->first[v]; a < c->first[v + 1]; a++) {
            sum += (double)c->w[a];
            most = (double)c->w[a] > most ? (double)c->w[a] : most;
        }
    }
    double s = factor(sum, most), vs = factor(vsum, vmost);
    for (int32_t i = 0; i < n; i++) {
        int32_t v = vertex[i];
        c->vwgt[i] = scaled(c->vw[v], vs);
        c->xadj[i] = m;
        for (int64_t a = c->first[v]; a < c->first[v + 1]; a++, m++) {
            c->adjncy[m] = c->local[c->to[a]];
            c->adjwgt[m] = scaled(c->w[a], s);
        }
    }
    c->xadj[n] = m;
    return n;
}

/* What METIS may not have: SIGTERM (it would swallow it) and standard output. */
struct quiet {
    struct sigaction term, abrt;
    sigset_t mask;
    int out; /* the real standard output */
};

static int quiet_begin(struct quiet *q, struct err *e)
{
    sigset_t set;
    fflush(stdout);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    q->out = null < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (null < 0 || (q->out < 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0)) {
        if (null >= 0)
            close(null);
        return fail(e, E_IO, "no file descriptor left to keep METIS quiet");
    }
    if (q->out >= 0) /* a closed standard output needs no hiding */
        dup2(null, STDOUT_FILENO);
    close(null);
    sigaction(SIGTERM, NULL, &q->term);
    sigaction(SIGABRT, NULL, &q->abrt);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &q->mask);
    return 0;
}

/* METIS raises SIGTERM at itself for internal errors: those are taken back and returned as 1. One from outside has
 * waited and reaches the handler that stood here before. */
static int quiet_end(struct quiet *q)
{
    sigset_t set;
    siginfo_t info;
    struct timespec none = { 0, 0 };
    int own = 0, foreign = 0;
    sigaction(SIGTERM, &q->term, NULL);
    sigaction(SIGABRT, &q->abrt, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    while (sigtimedwait(&set, &info, &none) == SIGTERM)
        *(info.si_code == SI_TKILL && info.si_pid == getpid() ? &own : &foreign) = 1;
    fflush(stdout);
    if (q->out >= 0) {
        dup2(q->out, STDOUT_FILENO);
        close(q->out);
    }
    pthread_sigmask(SIG_SETMASK, &q->mask, NULL);
    if (foreign)
        raise(SIGTERM);
    return own;
}

static int call_metis(struct cutter *c, int32_t nvertex, int32_t k, int64_t seed, struct err *e)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    idx_t options[METIS_NOPTIONS], n = nvertex, parts = k, constraints = 1, cut = 0;
    struct quiet quiet;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)(mix64((uint64_t)seed) & 0x3fffffff);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_UFACTOR] = 50; /* pods 5 % over the mean do no harm, a wide cut does */
    for (int32_t i = 0; i < nvertex; i++)
        c->label[i] = -1;
    pthread_mutex_lock(&one_at_a_time);
    if (quiet_begin(&quiet, e) < 0) {
        pthread_mutex_unlock(&one_at_a_time);
        return -1;
    }
    int code = (k <= RECURSIVE_PARTS ? METIS_PartGraphRecursive : METIS_PartGraphKway)(
        &n, &constraints, c->xadj, c->adjncy, c->vwgt, NULL, c->adjwgt, &parts, NULL, NULL, options, &cut, c->label);
    int own = quiet_end(&quiet);
    pthread_mutex_unlock(&one_at_a_time);
    if (code == METIS_ERROR_MEMORY)
        return fail(e, E_MEMORY, "METIS: out of memory for %d vertices", nvertex);
    if (code != METIS_OK || own)
        return fail(e, E_INTERNAL, "METIS: error %d on %d vertices, %d parts", code, nvertex, k);
    return 0;
}

/* Every empty part takes half (by weight, in breadth-first order of the component) of the heaviest part that can give,
 * among parts [base, base + k). A vertex that METIS left out joins part base first. */
static void repair(struct cutter *c, int32_t comp, int32_t base, int32_t k)
{
    int32_t *count = c->local; /* free again after the call; k <= n */
    memset(count, 0, (size_t)k * sizeof *count);
    for (int32_t i = c->cfirst[comp]; i < c->cfirst[comp + 1]; i++) {
        int32_t v = c->order[i], p = c->label[i - c->cfirst[comp]];
        c->part[v] = base + (p >= 0 && p < k ? p : 0);
        count[c->part[v] - base]++;
        c->load[c->part[v]] += c->vw[v];
    }
    for (int32_t p = 0; p < k; p++) {
        int32_t rich = -1;
        for (int32_t q = 0; q < k && count[p] == 0; q++)
            if (count[q] >= 2 && (rich < 0 || c->load[base + q] > c->load[base + rich]))
                rich = q;
        int64_t half = rich < 0 ? 0 : c->load[base + rich] / 2;
        for (int32_t i = c->cfirst[comp]; rich >= 0 && i < c->cfirst[comp + 1] && count[rich] >= 2; i++) {
            int32_t v = c->order[i];
            if (c->part[v] != base + rich || (count[p] > 0 && c->load[base + p] + c->vw[v] > half))
                continue;
            c->part[v] = base + p;
            c->load[base + p] += c->vw[v];
            c->load[base + rich] -= c->vw[v];
            count[p]++;
            count[rich]--;
        }
    }
}

struct crumb {
    int32_t comp;
    int64_t weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct crumb *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->comp > y->comp) - (x->comp < y->comp);
}

/* Components without parts of their own: heaviest first into the lightest part; the pool's parts are still empty and so
 * come first. */
static int pack_crumbs(struct cutter *c, struct err *e)
{
    int32_t n = 0;
    struct crumb *crumb = array(c->ncomp, sizeof *crumb);
    if (!crumb)
        return fail(e, E_MEMORY, "out of memory for %d components", c->ncomp);
    for (int32_t i = 0; i < c->ncomp; i++)
        if (c->parts[i] == 0)
            crumb[n++] = (struct crumb){ i, c->weight[i] };
    qsort(crumb, (size_t)n, sizeof *crumb, by_weight);
    for (int32_t i = 0; i < n; i++) {
        int32_t light = 0;
        for (int32_t p = 1; p < c->k; p++)
            if (c->load[p] < c->load[light])
                light = p;
        c->load[light] += crumb[i].weight;
        for (int32_t j = c->cfirst[crumb[i].comp]; j < c->cfirst[crumb[i].comp + 1]; j++)
            c->part[c->order[j]] = light;
    }
    free(crumb);
    return 0;
}

static int cut(struct cutter *c, int64_t seed, struct err *e)
{
    int32_t base = 0;
    find_components(c);
    c->k = share_parts(c);
    for (int32_t i = 0; i < c->ncomp; i++) {
        if (c->parts[i] == 0)
            continue;
        int32_t n = extract(c, i);
        memset(c->label, 0, (size_t)n * sizeof *c->label);
        if (c->parts[i] > 1 && call_metis(c, n, c->parts[i], seed, e) < 0)
            return -1;
        repair(c, i, base, c->parts[i]);
        base += c->parts[i];
    }
    return pack_crumbs(c, e);
}

static int take(struct cutter *c, int64_t m)
{
    int64_t n = c->n;
    c->sfirst = array(n + 1, sizeof *c->sfirst);
    c->sto = array(m, sizeof *c->sto);
    c->sw = array(m, sizeof *c->sw);
    c->comp = array(n, sizeof *c->comp);
    c->order = array(n, sizeof *c->order);
    c->cfirst = array(n + 1, sizeof *c->cfirst);
    c->weight = array(n, sizeof *c->weight);
    c->parts = array(n, sizeof *c->parts);
    c->load = array(c->k, sizeof *c->load);
    c->local = array(n, sizeof *c->local);
    c->xadj = array(n + 1, sizeof *c->xadj);
    c->adjncy = array(m, sizeof *c->adjncy);
    c->adjwgt = array(m, sizeof *c->adjwgt);
    c->vwgt = array(n, sizeof *c->vwgt);
    c->label = array(n, sizeof *c->label);
    return c->sfirst && c->sto && c->sw && c->comp && c->order && c->cfirst && c->weight && c->parts && c->load &&
                   c->local && c->xadj && c->adjncy && c->adjwgt && c->vwgt && c->label
               ? 0
               : -1;
}

static void release(struct cutter *c)
{
    void *owned[] = { c->sfirst, c->sto,   c->sw,   c->comp,   c->order,  c->cfirst, c->weight, c->parts,
                      c->load,   c->local, c->xadj, c->adjncy, c->adjwgt, c->vwgt,   c->label };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

int part_metis(int32_t n, const int64_t *first, const int32_t *to, const int64_t *w, const int64_t *vw, int64_t seed,
               int32_t *k, int32_t *part, struct err *e)
{
    struct cutter c = { .n = n, .vw = vw, .part = part };
    if (n < 0 || first[0] != 0)
        return fail(e, E_INPUT, "graph: %d vertices, neighbours begin at %lld", n, (long long)first[0]);
    if (*k < 1)
        return fail(e, E_INPUT, "graph: %d parts", *k);
    if (first[n] > MAX_NEIGHBOURS)
        return fail(e, E_INPUT, "graph: %lld neighbours are more than the %lld that METIS can hold",
                    (long long)first[n], (long long)MAX_NEIGHBOURS);
    for (int32_t v = 0; v < n; v++)
        if (check_vertex(n, first, to, w, vw, v, e) < 0)
            return -1;
    c.k = *k < n / PART_VERTICES ? *k : n / PART_VERTICES > 1 ? n / PART_VERTICES : 1;
    int rc = take(&c, first[n]) < 0 ? fail(e, E_MEMORY, "out of memory for a graph of %d vertices", n)
                                    : sort_and_check(&c, first, to, w, e);
    c.first = c.sfirst;
    c.to = c.sto;
    c.w = c.sw;
    if (rc == 0 && n > 0)
        rc = cut(&c, seed, e);
    if (rc == 0)
        *k = n > 0 ? c.k : 0;
    release(&c);
    return rc;
}
