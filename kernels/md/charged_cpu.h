/* charged_cpu.h: Coulomb's force and energy as the pair loops like them.
 *
 * Private to kernels/md/charge*_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_CHARGED_CPU_H
#define WARPDECK_KERNELS_MD_CHARGED_CPU_H

#include "kernels/md/segments.h"
#include "kernels/md/smooth.h"
#include "kernels/md/store_cpu.h"

/* Doubles: 2 parts an octave, 3e-12 of the force; floats: 4, to rounding. */
#if KERNEL_SCALAR_BYTES == 8
enum { BITS = 1, DEGREE = 12, MANTISSA = 52 };
#define ONE_BITS INT64_C(0x3ff0000000000000)
#else
enum { BITS = 2, DEGREE = 5, MANTISSA = 23 };
#define ONE_BITS INT32_C(0x3f800000)
#endif
enum { SEGMENTS = SEGMENT_OCTAVES << BITS };

/* What the loops need of the charges, beside the charges. */
struct md_charges {
    scalar *force, *energy; /* [DEGREE + 1][SEGMENTS], of unit charges */
    /* [SMOOTH_DEGREE + 1][SMOOTH_PARTS], in units of `constant` */
    scalar *smooth_force, *smooth_energy;
    double constant, parts_per_length2;
    int smooth;                   /* these are used */
    double cutoff2, least2;       /* of r2: the polynomials' end and start */
    double self;                  /* energy of a unit charge alone */
    int on;                       /* 0: no Coulomb */
    double from2;                 /* where the switch begins; 0: none */
    uint8_t bare[MD_SPECIES_MAX]; /* species without Lennard-Jones */
};

#endif
