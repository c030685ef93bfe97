/* bonded.h: forces along bonds, one formula for every loop.
 *
 * Each function takes differences of positions (already those of the nearest
 * images), gives the energy and adds to the forces on its particles. Plain
 * doubles: a term is a few dozen operations on numbers that lie scattered. A
 * CUDA file defines BONDED_FN before it includes this one.
 */
#ifndef WARPDECK_KERNELS_MD_BONDED_H
#define WARPDECK_KERNELS_MD_BONDED_H

#include <math.h>

#include "kernels/md/md_terms.h"

#ifndef BONDED_FN
#define BONDED_FN static inline __attribute__((unused))
#endif

BONDED_FN double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

BONDED_FN void cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* fmax() and fmin() are calls, and take a fifth of the time of a dihedral.
 * Where a is not a number they are b, as those are. */
BONDED_FN double greater(double a, double b)
{
    return a > b ? a : b;
}

BONDED_FN double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* ---- bonds ---- */

/* d = x_i - x_j. Returns the energy; *f_over_r: the force on i is it times d.
 * *broken = 1 where a FENE bond is longer than it can be. */
BONDED_FN double bond_terms(const struct md_bond_coeff *c, double r2, int want,
                            double *f_over_r, int *broken)
{
    double r = sqrt(r2), u = 0, g = 0;
    switch (c->style) {
    case MD_BOND_HARMONIC:
        u = c->k * (r - c->r0) * (r - c->r0);
        g = -2 * c->k * (r - c->r0) / r;
        break;
    case MD_BOND_FENE: {
        double stretch = 1 - r2 / (c->r0 * c->r0);
        double s2 = c->sigma * c->sigma;
        *broken |= !(stretch > 0);
        if (want)
            u = -0.5 * c->k * c->r0 * c->r0 * log(stretch);
        g = -c->k / stretch;
        if (r2 < cbrt(2.0) * s2) {
            double t2 = s2 / r2, t6 = t2 * t2 * t2;
            u += 4 * c->epsilon * t6 * (t6 - 1) + c->epsilon;
            g += 24 * c->epsilon * t6 * (2 * t6 - 1) / r2;
        }
        break;
    }
    case MD_BOND_MORSE: {
        double e = exp(-c->a * (r - c->r0));
        u = c->k * (1 - e) * (1 - e);
        g = -2 * c->k * c->a * e * (1 - e) / r;
        break;
    }
    case MD_BOND_NONE:
        break;
    }
    *f_over_r = g;
    return u;
}

BONDED_FN double bond_energy(const struct md_bond_coeff *c, double r2,
                             double *f_over_r, int *broken)
{
    return bond_terms(c, r2, 1, f_over_r, broken);
}

/* ---- angles ---- */

/* Forces of an energy that depends on the cosine of the angle alone: slope =
 * du/dcos. a = x_i - x_j, b = x_k - x_j; adds to f_i and f_k, of which the
 * middle one gets the opposite. */
BONDED_FN void angle_forces(const double a[3], const double b[3], double cosine,
                            double slope, double f_i[3], double f_k[3])
{
    double a2 = dot3(a, a), b2 = dot3(b, b), ab = sqrt(a2 * b2);
    for (int d = 0; d < 3; d++) {
        f_i[d] -= slope * (b[d] / ab - cosine * a[d] / a2);
        f_k[d] -= slope * (a[d] / ab - cosine * b[d] / b2);
    }
}

BONDED_FN double angle_energy(const struct md_angle_coeff *c, const double a[3],
                              const double b[3], double f_i[3], double f_k[3])
{
    double cosine = dot3(a, b) / sqrt(dot3(a, a) * dot3(b, b));
    double u = 0, slope = 0;
    cosine = lesser(1.0, greater(-1.0, cosine));
    if (c->style == MD_ANGLE_COSINE) {
        u = c->k * (1 + cosine);
        slope = c->k;
    } else if (c->style != MD_ANGLE_NONE) {
        /* A straight angle has no direction; the sine is kept off zero. */
        double sine = sqrt(greater(1 - cosine * cosine, 1e-12));
        double off = acos(cosine) - c->theta0;
        u = c->k * off * off;
        slope = -2 * c->k * off / sine;
    }
    angle_forces(a, b, cosine, slope, f_i, f_k);
    if (c->style == MD_ANGLE_CHARMM && (c->k_ub < 0 || c->k_ub > 0)) {
        double e[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        double r = sqrt(dot3(e, e)), off = r - c->r_ub;
        u += c->k_ub * off * off;
        for (int d = 0; d < 3; d++) {
            double f = -2 * c->k_ub * off * e[d] / r;
            f_i[d] += f;
            f_k[d] -= f;
        }
    }
    return u;
}

/* ---- dihedrals ---- */

/* The angle of four particles along a chain, 180 degrees where they zigzag
 * (IUPAC). Blondel and Karplus (1996), J. Comput. Chem. 17, 1132. */
struct torsion {
    double f[3], g[3], h[3]; /* x_i - x_j, x_j - x_k, x_l - x_k */
    double a[3], b[3];       /* f x g, h x g */
    double a2, b2, length;   /* squares, |g| */
    double cosine, sine;
};

/* Where three of the particles stand in a line the angle has no meaning and its
 * forces no bound: the squares are kept off zero. */
BONDED_FN void torsion_of(const double f[3], const double g[3],
                          const double h[3], struct torsion *t)
{
    double c[3];
    for (int d = 0; d < 3; d++) {
        t->f[d] = f[d];
        t->g[d] = g[d];
        t->h[d] = h[d];
    }
    cross3(f, g, t->a);
    cross3(h, g, t->b);
    double g2 = dot3(g, g);
    t->a2 = greater(dot3(t->a, t->a), 1e-12 * dot3(f, f) * g2);
    t->b2 = greater(dot3(t->b, t->b), 1e-12 * dot3(h, h) * g2);
    t->length = sqrt(g2);
    double ab = sqrt(t->a2 * t->b2);
    cross3(t->b, t->a, c);
    t->cosine = dot3(t->a, t->b) / ab;
    t->sine = dot3(c, g) / (ab * t->length);
}

/* Forces of an energy with slope = du/dphi, on i, j, k and l. */
BONDED_FN void torsion_forces(const struct torsion *t, double slope,
                              double force[4][3])
{
    double fg = dot3(t->f, t->g), hg = dot3(t->h, t->g);
    double on_i = t->length / t->a2, on_l = t->length / t->b2;
    double s = fg / (t->a2 * t->length), q = hg / (t->b2 * t->length);
    for (int d = 0; d < 3; d++) {
        double i = -on_i * t->a[d], l = on_l * t->b[d];
        double mixed = s * t->a[d] - q * t->b[d];
        force[0][d] -= slope * i;
        force[1][d] -= slope * (mixed - i);
        force[2][d] -= slope * (-mixed - l);
        force[3][d] -= slope * l;
    }
}

/* cos(n phi) and sin(n phi), n >= 0, by turning n times. */
BONDED_FN void turn(const struct torsion *t, int n, double *cosine,
                    double *sine)
{
    double c = 1, s = 0;
    for (int k = 0; k < n; k++) {
        double next = c * t->cosine - s * t->sine;
        s = s * t->cosine + c * t->sine;
        c = next;
    }
    *cosine = c;
    *sine = s;
}

/* The energy and *slope = du/dphi. */
BONDED_FN double dihedral_energy(const struct md_dihedral_coeff *c,
                                 const struct torsion *t, double *slope)
{
    double u = 0, cosine, sine;
    *slope = 0;
    switch (c->style) {
    case MD_DIHEDRAL_CHARMM: {
        double cd = cos(c->delta), sd = sin(c->delta);
        turn(t, c->n, &cosine, &sine);
        u = c->k * (1 + cosine * cd + sine * sd);
        *slope = -c->k * c->n * (sine * cd - cosine * sd);
        break;
    }
    case MD_DIHEDRAL_OPLS:
        for (int n = 1; n <= 4; n++) {
            double sign = n % 2 == 1 ? 1 : -1;
            turn(t, n, &cosine, &sine);
            u += 0.5 * c->c[n - 1] * (1 + sign * cosine);
            *slope -= 0.5 * c->c[n - 1] * sign * n * sine;
        }
        break;
    case MD_DIHEDRAL_MULTI: {
        double power = 1, before = 0;
        for (int n = 0; n <= 5; n++) {
            u += c->c[n] * power;
            *slope -= c->c[n] * n * before * t->sine;
            before = power;
            power *= t->cosine;
        }
        break;
    }
    case MD_DIHEDRAL_NONE:
        break;
    }
    return u;
}

enum { DIHEDRAL_POWERS = 5 };

/* The coefficients, lowest power first, of dP/dx where the energy is a
 * polynomial P of x = cos phi: the slope is -dP/dx sin phi. Returns 0, and no
 * coefficients, where it is none. cos(n phi) by Chebyshev's polynomials. */
BONDED_FN int dihedral_powers(const struct md_dihedral_coeff *c,
                              double power[DIHEDRAL_POWERS])
{
    const double *k = c->c;
    for (int n = 0; n < DIHEDRAL_POWERS; n++)
        power[n] = c->style == MD_DIHEDRAL_MULTI ? (n + 1) * k[n + 1] : 0;
    if (c->style == MD_DIHEDRAL_OPLS) {
        power[0] = 0.5 * k[0] - 1.5 * k[2];
        power[1] = 8 * k[3] - 2 * k[1];
        power[2] = 6 * k[2];
        power[3] = -16 * k[3];
    }
    return c->style == MD_DIHEDRAL_OPLS || c->style == MD_DIHEDRAL_MULTI;
}

/* CVFF's improper is a dihedral; d = +1 or -1. */
BONDED_FN double improper_cvff(const struct md_improper_coeff *c,
                               const struct torsion *t, double *slope)
{
    double cosine, sine;
    turn(t, c->n, &cosine, &sine);
    *slope = -c->k * c->d * c->n * sine;
    return c->k * (1 + c->d * cosine);
}

/* Harmonic in the angle chi = |phi| of 0 to 180 degrees. */
BONDED_FN double improper_harmonic(const struct md_improper_coeff *c,
                                   const struct torsion *t, double *slope)
{
    double chi = atan2(fabs(t->sine), t->cosine), off = chi - c->chi0;
    *slope = 2 * c->k * off * (t->sine < 0 ? -1 : 1);
    return c->k * off * off;
}

/* Harmonic in the dihedral angle itself, from chi0 to the nearer side. */
BONDED_FN double improper_signed(const struct md_improper_coeff *c,
                                 const struct torsion *t, double *slope)
{
    const double turn = 6.283185307179586477;
    double off = atan2(t->sine, t->cosine) - c->chi0;
    off -= turn * rint(off / turn);
    *slope = 2 * c->k * off;
    return c->k * off * off;
}

#endif
