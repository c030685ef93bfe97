/* reference_kernels.h: a slow and obvious implementation of struct md_kernels.
 *
 * Every pair is looked at, everything is double, nothing is clever. It has no
 * pair list and so cannot miss a pair; the fast loops are compared with it.
 */
#ifndef WARPDECK_TESTS_MD_REFERENCE_KERNELS_H
#define WARPDECK_TESTS_MD_REFERENCE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/md/md_kernels.h"

extern const struct md_kernels md_kernels_reference;

/* The energy of a pair r2 = r^2 apart, and the force over r; 0 beyond the
 * cutoff. */
double reference_pair(const struct lj_coeff *c, double r2, double *force);

/* Forces, energy and virial of n particles in a periodic box by the nearest
 * image of each pair. */
void reference_direct(const double box_length[3], int n_species,
                      const struct lj_coeff *coeff, size_t n,
                      const double (*position)[3], const int32_t *species,
                      double (*force)[3], struct md_sums *sums);

#endif
