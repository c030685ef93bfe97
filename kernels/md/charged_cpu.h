/* charged_cpu.h: Coulomb's force and energy as the pair loops like them.
 *
 * Private to kernels/md/charge*_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_CHARGED_CPU_H
#define WARPDECK_KERNELS_MD_CHARGED_CPU_H

#include "kernels/md/coulomb_table.h"
#include "kernels/md/smooth.h"
#include "kernels/md/store_cpu.h"

/* What the loops need of the charges, beside the charges. */
struct md_charges {
    /* All in the order of charged_rows.h. */
    scalar *force, *energy; /* coulomb_table.h, of unit charges */
    /* smooth.h, in units of `constant` */
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
