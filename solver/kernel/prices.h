/* Prices of arcs: the multipliers of capacities under an exponential penalty or an augmented Lagrangian, and the exact
 * step along a line. Own exp and log, so that every machine takes the same decisions. Arrays in, arrays out.
 *
 * Loads are relative: r = load / cap. A rule turns the relative load of an arc into its multiplier v (the price per
 * unit of load is v / cap):
 *   exponential  v = exp(rate * (r - level))                level: the largest r
 *   augmented    v = max(0, w + rate * (r - level))         level: where the multipliers sum to 1
 */
#ifndef HEDDLE_PRICES_H
#define HEDDLE_PRICES_H

#include <stdint.h>

double prices_exp(double x); /* 0 below -700; relative error below 1e-15 */
double prices_log(double x); /* x > 0 and normal; absolute error below 1e-14 */

struct rule {
    int exponential;
    double rate, level;
};

static inline double rule_value(const struct rule *p, double w, double r)
{
    if (p->exponential)
        return prices_exp(p->rate * (r - p->level));
    double v = w + p->rate * (r - p->level);
    return v > 0 ? v : 0;
}

/* price[a] = v_a * icap[a], icap = 1 / cap or 0 for an arc that is not there; returns the sum of v over the others. */
double prices_fill(const struct rule *p, int32_t n, const double *w, const double *r, const double *icap,
                   double *price);

/* The level z at which sum_a max(0, w_a + rate (r_a - z)) = 1, by Newton's method on a convex, piecewise linear
 * function: monotone from the left, finite. start: a guess. */
double prices_level(int32_t n, const double *w, const double *r, double rate, double start);

/* How far to go along a line: arc i has w[i], r[i] + x * step[i] at distance x in [0, most]. Returns x where the
 * derivative sum_i step[i] v_i is near 0 (to a tenth of its size at 0), or most when it is still negative there; 0 when
 * it is not negative at 0. v[n] is scratch. Safeguarded Newton, at most 48 evaluations, 2 or 3 as a rule. */
double prices_search(const struct rule *p, int32_t n, const double *step, const double *w, const double *r, double *v,
                     double most);

#endif
