/* The polynomials that stand for Coulomb's force and energy, against the exact
 * functions: their place among the bits of a number, and their accuracy.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/md/pairs.h"
#include "kernels/md/segments.h"
#include "kernels/md/smooth.h"
#include "tests/tap.h"

static double force_of(const void *user, double r2)
{
    double g;
    coulomb_pair(user, r2, &g);
    return g;
}

static double energy_of(const void *user, double r2)
{
    double g;
    return coulomb_pair(user, r2, &g);
}

/* As a loop evaluates it in doubles. */
static double value_at(const double *table, int bits, int degree, double r2)
{
    uint64_t word;
    int all = SEGMENT_OCTAVES << bits;
    memcpy(&word, &r2, sizeof word);
    int k = (int)(word >> (52 - bits)) & (all - 1);
    word &= (UINT64_C(1) << (52 - bits)) - 1;
    word |= UINT64_C(0x3ff0000000000000);
    double t, sum = table[degree * all + k];
    memcpy(&t, &word, sizeof t);
    t -= 1 + 0.5 / (1 << bits);
    for (int d = degree - 1; d >= 0; d--)
        sum = sum * t + table[d * all + k];
    return sum;
}

/* The largest error between the first octave and the end, relative to plain
 * Coulomb: what is left of a screened force near its end is small. */
static double worst_of(segment_fn fn, const struct md_coulomb *q, int bits,
                       int degree, int power)
{
    double table[SEGMENT_TERMS_MAX * 256];
    double end = q->cutoff * q->cutoff, worst = 0;
    segment_table(fn, q, end, bits, degree, table);
    double first = ldexp(1, segment_first_octave(end));
    for (int i = 0; i < 100000; i++) {
        double r2 = first * pow(end / first, i / 100000.0);
        double e = value_at(table, bits, degree, r2) - fn(q, r2);
        worst = fmax(worst, fabs(e) * pow(r2, 0.5 * power) / q->constant);
    }
    return worst;
}

/* 1 / r less what is smooth is what Ewald's sum has, and its polynomials are
 * as good as smooth_table() says; in units of plain Coulomb at the cutoff. */
static void check_smooth(double reach, int parts, int degree)
{
    double table[512], worst = 0;
    struct md_coulomb q = {MD_COULOMB_EWALD, 1, 9, reach / 9};
    double end = q.cutoff * q.cutoff, scale = end * q.cutoff;
    double said =
        smooth_table(smooth_force, q.alpha, end, parts, degree, table) * scale +
        1e-13;
    for (int i = 1; i < 20000; i++) {
        double r2 = end * i / 20000, g, sum = 0;
        int part = (int)(r2 / end * parts);
        double t = r2 / end * parts - part - 0.5;
        coulomb_pair(&q, r2, &g);
        for (int d = degree; d >= 0; d--)
            sum = sum * t + table[d * parts + part];
        double plain = 1 / (r2 * sqrt(r2));
        /* the exact force is rounded beside the plain one */
        worst =
            fmax(worst, fabs(plain - sum - g) * scale - 4e-16 * plain * scale);
    }
    tap_ok(worst < 1.2 * said && (reach > 3 || said < 3e-12),
           "splitting times cutoff %g: less what is smooth, in %d parts of "
           "degree %d good to %.1e",
           reach, parts, degree, worst);
}

int main(void)
{
    for (int reach = 2; reach <= 4; reach++) {
        check_smooth(reach, SMOOTH_PARTS, SMOOTH_DEGREE);
        check_smooth(reach, 64, 7);
    }
    static const char *const names[] = {"", "cut", "dsf", "ewald"};
    for (int method = MD_COULOMB_CUT; method <= MD_COULOMB_EWALD; method++)
        for (int scale = 0; scale < 3; scale++) {
            double cutoff = scale == 0 ? 2.5 : scale == 1 ? 8 : 12;
            struct md_coulomb q = {(enum md_coulomb_method)method, 332.06371,
                                   cutoff, 2.7 / cutoff};
            double f = worst_of(force_of, &q, 1, 13, 3);
            double u = worst_of(energy_of, &q, 1, 13, 1);
            tap_ok(
                f < 3e-13 && u < 3e-13,
                "%s, cutoff %g: two parts an octave of degree 13 are good to "
                "3e-13: force %.1e, energy %.1e",
                names[method], cutoff, f, u);
            f = worst_of(force_of, &q, 2, 5, 3);
            u = worst_of(energy_of, &q, 2, 5, 1);
            tap_ok(f < 1e-7 * 3 && u < 1e-7 * 3,
                   "%s, cutoff %g: four of degree 5 are good to a float: force "
                   "%.1e, energy %.1e",
                   names[method], cutoff, f, u);
            f = worst_of(force_of, &q, 4, 7, 3);
            u = worst_of(energy_of, &q, 4, 7, 1);
            tap_ok(f < 1e-13 && u < 1e-13,
                   "%s, cutoff %g: sixteen of degree 7 are good to 1e-13: "
                   "force %.1e, energy %.1e",
                   names[method], cutoff, f, u);
            f = worst_of(force_of, &q, 5, 3, 3);
            u = worst_of(energy_of, &q, 5, 3, 1);
            tap_ok(f < 6e-8 && u < 6e-8,
                   "%s, cutoff %g: 32 of degree 3 are good to a float: force "
                   "%.1e, energy %.1e",
                   names[method], cutoff, f, u);
        }
    return tap_done();
}
