/* clock_cuda.h: what a card takes for forces, and how much of it for terms
 * along bonds.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_CLOCK_CUDA_H
#define WARPDECK_KERNELS_MD_CLOCK_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_clock_create MD_NAME(cuda_clock_create)
#define cuda_clock_destroy MD_NAME(cuda_clock_destroy)
#define cuda_clock_step MD_NAME(cuda_clock_step)
#define cuda_clock_looks MD_NAME(cuda_clock_looks)
#define cuda_clock_mark MD_NAME(cuda_clock_mark)
#define cuda_pair_seconds MD_NAME(cuda_pair_seconds)
#define cuda_terms_seconds MD_NAME(cuda_terms_seconds)

/* What is timed: forces and densities. */
enum clock_part {
    CLOCK_FORCE_OWN,
    CLOCK_FORCE_HALO,
    CLOCK_DENSITY_OWN,
    CLOCK_DENSITY_HALO,
    CLOCK_PARTS
};
/* Where: before, behind pairs, and behind terms (which need not be there). */
enum clock_place { CLOCK_BEGIN, CLOCK_TERMS, CLOCK_END, CLOCK_PLACES };

/* Nothing is timed but with md_setup.timed, then all, or where there may be
 * terms, then some steps. */
int cuda_clock_create(struct md_store *s);
void cuda_clock_destroy(struct md_store *s);
/* The forces of another step are about to be queued. */
void cuda_clock_step(struct md_store *s);
/* Whether this step is timed, so that none of it may be captured. */
int cuda_clock_looks(const struct md_store *s);
/* The launches stand here; nothing in a step that is not timed. */
int cuda_clock_mark(struct md_store *s, enum clock_part part,
                    enum clock_place at);
/* See md_kernels.h. */
double cuda_pair_seconds(struct md_store *s);
double cuda_terms_seconds(struct md_store *s, double seconds);

#endif
