/* charged_cuda.h: charges, and CHARMM's switch, on a card.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_CHARGED_CUDA_H
#define WARPDECK_KERNELS_MD_CHARGED_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_charges_create MD_NAME(cuda_charges_create)
#define cuda_launch_charged MD_NAME(cuda_launch_charged)
#define cuda_launch_charged_wide MD_NAME(cuda_launch_charged_wide)
int cuda_charges_create(struct md_store *s);
/* The pair forces, Lennard-Jones or s->forms as well, where
 * cuda_has_charged_pairs(). */
int cuda_launch_charged(struct md_store *s, int want, int halo);
/* The same by sums in any order. */
int cuda_launch_charged_wide(struct md_store *s, int want, int halo);

static inline int cuda_has_charged_pairs(const struct md_store *s)
{
    return s->coulomb || (s->charges.from2 > 0 && !s->forms);
}

#endif
