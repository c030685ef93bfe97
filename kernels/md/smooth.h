/* smooth.h: the real-space part of an Ewald sum as plain Coulomb less what is
 * smooth.
 *
 * erfc(a r) / r = 1 / r - erf(a r) / r, and the latter is a series in r2. So is
 * its force over the distance. Equal parts of 0 .. cutoff^2 need polynomials of
 * lower degree than those of segments.h, and where SMOOTH_PARTS of them serve,
 * one register for each coefficient, but 1 / r is needed.
 */
#ifndef WARPDECK_KERNELS_MD_SMOOTH_H
#define WARPDECK_KERNELS_MD_SMOOTH_H

#include <math.h>

#include "kernels/md/segments.h"

enum { SMOOTH_PARTS = 8, SMOOTH_DEGREE = 10, SMOOTH_TRIES = 64 };

/* erf(a r) / r, and *g: its force over the distance, for unit charges in units
 * of Coulomb's constant. Near 0 the terms of the force cancel: there, series of
 * z = (a r)^2. */
static inline double smooth_pair(double a, double r2, double *g)
{
    const double two_over_root_pi = 1.1283791670955126;
    double z = a * a * r2, r = sqrt(r2);
    if (z > 0.3) {
        double u = erf(a * r) / r;
        *g = (u - two_over_root_pi * a * exp(-z)) / r2;
        return u;
    }
    double term = 1, u = 1, slope = 0; /* term: (-z)^n / n! */
    for (int n = 1; n < 20; n++) {
        slope += term * 2 / (2 * n + 1);
        term *= -z / n;
        u += term / (2 * n + 1);
    }
    *g = two_over_root_pi * a * a * a * slope;
    return two_over_root_pi * a * u;
}

static inline double smooth_force(const void *alpha, double r2)
{
    double g;
    smooth_pair(*(const double *)alpha, r2, &g);
    return g;
}

static inline double smooth_energy(const void *alpha, double r2)
{
    double g;
    return smooth_pair(*(const double *)alpha, r2, &g);
}

/* Polynomials in t = -1/2 .. 1/2 of each of some equal parts: coefficient d of
 * part k at out[d * parts + k]. Returns their greatest error. */
static inline double smooth_table(segment_fn fn, double alpha, double cutoff2,
                                  int parts, int degree, double *out)
{
    double worst = 0, width = cutoff2 / parts;
    struct segment_basis basis;
    segment_basis_make(&basis, degree);
    for (int k = 0; k < parts; k++) {
        double c[SEGMENT_TERMS_MAX], power = 1;
        segment_fit(&basis, fn, &alpha, k * width, (k + 1) * width, c);
        for (int d = 0; d <= degree; d++) {
            out[d * parts + k] = c[d] * power;
            power *= 2;
        }
        for (int q = 0; q < SMOOTH_TRIES; q++) {
            double t = (q + 0.5) / SMOOTH_TRIES - 0.5, sum = 0;
            for (int d = degree; d >= 0; d--)
                sum = sum * t + out[d * parts + k];
            worst = fmax(worst, fabs(sum - fn(&alpha, (k + 0.5 + t) * width)));
        }
    }
    return worst;
}

/* Force and energy, [degree + 1][parts] each, up to the cutoff.
 * Returns whether they may be used: their error is measured against plain
 * Coulomb's force at the cutoff, which other errors of the method exceed by
 * far. */
static inline int smooth_tables(double alpha, double cutoff, int parts,
                                int degree, double *force, double *energy)
{
    double end = cutoff * cutoff;
    double error_force =
        smooth_table(smooth_force, alpha, end, parts, degree, force);
    double error_energy =
        smooth_table(smooth_energy, alpha, end, parts, degree, energy);
    return error_force * end * cutoff < 3e-12 && error_energy * cutoff < 3e-12;
}

#endif
