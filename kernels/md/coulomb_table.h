/* coulomb_table.h: Coulomb's force and energy of unit charges as polynomials of
 * the squared distance (segments.h).
 *
 * Where a register or a card's threads hold them: two parts an octave in
 * doubles and four in floats, of degrees that are good to 3e-13 of the force
 * and to rounding. A loop may choose others.
 */
#ifndef WARPDECK_KERNELS_MD_COULOMB_TABLE_H
#define WARPDECK_KERNELS_MD_COULOMB_TABLE_H

#include <math.h>
#include <stdint.h>

#include "kernels/md/pairs.h"
#include "kernels/md/segments.h"

#if MD_PRECISION == 1
enum { COULOMB_DEGREE = 13, COULOMB_MANTISSA = 52 };
typedef int64_t coulomb_bits;
#define COULOMB_ONE INT64_C(0x3ff0000000000000)
#else
enum { COULOMB_DEGREE = 5, COULOMB_MANTISSA = 23 };
typedef int32_t coulomb_bits;
#define COULOMB_ONE INT32_C(0x3f800000)
#endif
enum {
    COULOMB_BITS = MD_PRECISION == 1 ? 1 : 2,
    COULOMB_SEGMENTS = SEGMENT_OCTAVES << COULOMB_BITS,
    COULOMB_TABLE = (COULOMB_DEGREE + 1) * COULOMB_SEGMENTS
};

static inline double coulomb_force_of(const void *user, double r2)
{
    double g;
    coulomb_pair((const struct md_coulomb *)user, r2, &g);
    return g;
}

static inline double coulomb_energy_of(const void *user, double r2)
{
    double g;
    return coulomb_pair((const struct md_coulomb *)user, r2, &g);
}

/* [degree + 1][SEGMENT_OCTAVES << bits] of force over distance, and energy;
 * they hold from *least2 to the square of the cutoff. */
static inline void coulomb_tables(const struct md_coulomb *q, int bits,
                                  int degree, double *force, double *energy,
                                  double *least2)
{
    double end = q->cutoff * q->cutoff;
    segment_table(coulomb_force_of, q, end, bits, degree, force);
    segment_table(coulomb_energy_of, q, end, bits, degree, energy);
    *least2 = ldexp(1, segment_first_octave(end));
}

/* The damped shifted force neutralizes the sphere around each charge with the
 * charge's own mirror on its surface; a unit charge alone has the energy of
 * itself in that: Fennell and Gezelter (2006), as LAMMPS counts it. */
static inline double coulomb_self_energy(const struct md_coulomb *q)
{
    const double root_pi = 1.7724538509055159;
    if (q->method != MD_COULOMB_DSF)
        return 0;
    double a = q->alpha, rc = q->cutoff;
    double at_end = erfc(a * rc) / rc;
    double slope = at_end / rc + 2 * a / root_pi * exp(-a * a * rc * rc) / rc;
    return -q->constant * (0.5 * (at_end + slope * rc) + a / root_pi);
}

#endif
