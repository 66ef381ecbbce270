#include "solver/kernel/prices.h"

#include <math.h>
#include <string.h>

static const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;

/* x = k ln 2 + f, |f| <= ln 2 / 2; the Taylor series of degree 13 in f leaves an error below 2^-56. */
double prices_exp(double x)
{
    if (!(x > -700))
        return 0;
    if (x > 700)
        return INFINITY;
    double k = floor(x * 1.44269504088896338700 + 0.5);
    double f = (x - k * LN2_HIGH) - k * LN2_LOW;
    double s = 1 + f / 13;
    for (int i = 12; i > 0; i--)
        s = 1 + s * f * (1.0 / i);
    uint64_t bits = (uint64_t)((int64_t)k + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return s * scale;
}

/* x = m 2^k, m in [sqrt 1/2, sqrt 2); ln m = 2 artanh((m - 1) / (m + 1)) by its series, |argument| < 0.172. */
double prices_log(double x)
{
    int k;
    double m = frexp(x, &k);
    if (m < 0.70710678118654752440) {
        m *= 2;
        k--;
    }
    double q = (m - 1) / (m + 1), q2 = q * q, s = 0;
    for (int i = 23; i > 0; i -= 2)
        s = s * q2 + 1.0 / i;
    return k * LN2_HIGH + (2 * q * s + k * LN2_LOW);
}

double prices_fill(const struct rule *p, int32_t n, const double *w, const double *r, const double *icap, double *price)
{
    double sum = 0;
    for (int32_t a = 0; a < n; a++) {
        double v = icap[a] > 0 ? rule_value(p, w[a], r[a]) : 0;
        price[a] = v * icap[a];
        sum += v;
    }
    return sum;
}

double prices_level(int32_t n, const double *w, const double *r, double rate, double start)
{
    enum { MOST = 100 }; /* each step retires at least one arc; a handful is usual */
    double z = start, top = -INFINITY;
    for (int i = 0; i < MOST; i++) {
        double sum = -1, slope = 0;
        for (int32_t a = 0; a < n; a++) {
            double v = w[a] + rate * (r[a] - z);
            if (v > 0) {
                sum += v;
                slope += rate;
            }
        }
        if (!(slope > 0)) { /* right of every arc: there the topmost one alone makes 1 */
            for (int32_t a = 0; a < n; a++)
                top = fmax(top, r[a] + w[a] / rate);
            z = top - 1 / rate;
            continue;
        }
        double next = z + sum / slope;
        if (fabs(next - z) <= 1e-15 * fabs(z)) /* a few units in the last place */
            return next;
        z = next;
    }
    return z;
}

/* The derivative along the line at x; *curve: its own derivative. v: the multipliers at 0; exponential ones only grow
 * by a factor, the same for all arcs of one capacity. */
static double slope_at(const struct rule *p, int32_t n, const double *step, const double *w, const double *r,
                       const double *v, double x, double *curve)
{
    static const double tiny = 1e-200; /* below it a multiplier may have lost its digits */
    double slope = 0, bend = 0, last = 0, factor = 1;
    for (int32_t i = 0; i < n; i++) {
        double u;
        if (p->exponential && v[i] > tiny) {
            if (step[i] != last) {
                last = step[i];
                factor = prices_exp(p->rate * (x * last));
            }
            u = v[i] * factor;
        } else {
            u = rule_value(p, w[i], r[i] + x * step[i]);
        }
        slope += step[i] * u;
        bend += step[i] * step[i] * (p->exponential ? u : u > 0);
    }
    *curve = bend * p->rate;
    return slope;
}

double prices_search(const struct rule *p, int32_t n, const double *step, const double *w, const double *r, double *v,
                     double most)
{
    enum { MOST = 48 };               /* enough to bisect over 12 orders of magnitude; 2 or 3 are usual */
    static const double enough = 0.1; /* a sharper search buys nothing: the next commodity moves the prices anyway */
    for (int32_t i = 0; p->exponential && i < n; i++)
        v[i] = rule_value(p, w[i], r[i]);
    double curve, first = slope_at(p, n, step, w, r, v, 0, &curve), slope = first;
    double low = 0, high = INFINITY, x = 0, last = INFINITY;
    if (!(first < 0))
        return 0;
    for (int i = 1; i < MOST; i++) {
        double next = curve > 0 ? x - slope / curve : most;
        if (!(next > low && next < high) || fabs(next - x) > 0.5 * last) /* outside the bracket, flat, or crawling */
            next = high < INFINITY ? 0.5 * (low + high) : most;
        next = next < most ? next : most;
        last = high < INFINITY ? fabs(next - x) : INFINITY;
        x = next;
        slope = slope_at(p, n, step, w, r, v, x, &curve);
        if ((slope <= 0 && x >= most) || fabs(slope) <= -enough * first)
            return x;
        if (slope < 0)
            low = x;
        else
            high = x;
    }
    return low;
}
