/* pairs.h: one pair at a time, in plain doubles: the formulas of terms between
 * particles that are bound to one another, and of tests.
 */
#ifndef WARPDECK_KERNELS_MD_PAIRS_H
#define WARPDECK_KERNELS_MD_PAIRS_H

#include <math.h>

#include "kernels/md/md_kernels.h"

#ifndef BONDED_FN
#define BONDED_FN static inline __attribute__((unused))
#endif

/* Lennard-Jones below its cutoff, with shift and CHARMM's switch of the energy
 * between switch_from and the cutoff (Brooks et al. 1983, J. Comput. Chem. 4,
 * 187):
 *     S = (rc^2 - r^2)^2 (rc^2 + 2 r^2 - 3 rs^2) / (rc^2 - rs^2)^3.
 * Returns the energy; *f_over_r: the force over the distance. */
BONDED_FN double lj_pair(const struct lj_coeff *c, double switch_from,
                         double r2, double *f_over_r)
{
    double inv2 = 1 / r2, inv6 = inv2 * inv2 * inv2;
    double u = inv6 * (c->c12 * inv6 - c->c6);
    double g = inv6 * (12 * c->c12 * inv6 - 6 * c->c6) * inv2;
    double from2 = switch_from * switch_from;
    if (c->force_shift < 0 || c->force_shift > 0) {
        double r = sqrt(r2);
        g -= c->force_shift / r;
        u += c->force_shift * (r - c->cutoff);
    }
    u -= c->shift;
    if (switch_from > 0 && r2 > from2) {
        double width = c->cutoff2 - from2, left = c->cutoff2 - r2;
        double scale = 1 / (width * width * width);
        double s = left * left * (c->cutoff2 + 2 * r2 - 3 * from2) * scale;
        double slope = 12 * left * (from2 - r2) * scale; /* dS/dr / r */
        g = g * s - u * slope;
        u *= s;
    }
    *f_over_r = g;
    return u;
}

/* Coulomb of unit charges at a distance below the cutoff. DSF: Fennell and
 * Gezelter (2006), J. Chem. Phys. 124, 234104, eq. 18. */
BONDED_FN double coulomb_pair(const struct md_coulomb *q, double r2,
                              double *f_over_r)
{
    const double two_over_root_pi = 1.1283791670955126;
    double r = sqrt(r2), a = q->alpha;
    double plain = q->constant / r;
    *f_over_r = 0;
    if (q->method == MD_COULOMB_CUT) {
        *f_over_r = plain / r2;
        return plain;
    }
    double tail = two_over_root_pi * a * exp(-a * a * r2);
    double screened = q->constant * erfc(a * r) / r;
    double force = screened / r + q->constant * tail / r;
    if (q->method == MD_COULOMB_EWALD) {
        *f_over_r = force / r;
        return screened;
    }
    double rc = q->cutoff;
    double at_end = q->constant * erfc(a * rc) / rc;
    double force_at_end = at_end / rc + q->constant * two_over_root_pi * a *
                                            exp(-a * a * rc * rc) / rc;
    *f_over_r = (force - force_at_end) / r;
    return screened - at_end + force_at_end * (r - rc);
}

/* Of unit charges few bonds apart, of whom a share counts. What screens a
 * charge, the mirror on the sphere of DSF or the mesh's part of an Ewald sum,
 * holds for all: plain Coulomb is what bonds take off, as in LAMMPS. */
BONDED_FN double coulomb_special(const struct md_coulomb *q, double share,
                                 double r2, double *f_over_r)
{
    double u = 0;
    *f_over_r = 0;
    int inside = r2 < q->cutoff * q->cutoff;
    if (q->method == MD_COULOMB_EWALD ||
        (q->method == MD_COULOMB_DSF && inside)) {
        double off = (1 - share) * q->constant / sqrt(r2);
        u = coulomb_pair(q, r2, f_over_r) - off;
        *f_over_r -= off / r2;
    } else if (q->method == MD_COULOMB_CUT && inside) {
        u = share * coulomb_pair(q, r2, f_over_r);
        *f_over_r *= share;
    }
    return u;
}

#endif
