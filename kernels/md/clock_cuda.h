/* clock_cuda.h: what a card takes for forces, where md_setup.timed asks for it.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_CLOCK_CUDA_H
#define WARPDECK_KERNELS_MD_CLOCK_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_clock_create MD_NAME(cuda_clock_create)
#define cuda_clock_destroy MD_NAME(cuda_clock_destroy)
#define cuda_clock_begin MD_NAME(cuda_clock_begin)
#define cuda_clock_end MD_NAME(cuda_clock_end)
#define cuda_pair_seconds MD_NAME(cuda_pair_seconds)

int cuda_clock_create(struct md_store *s);
void cuda_clock_destroy(struct md_store *s);
/* Around the launches of forces among own particles (what = 0), with copies
 * (1), and of densities (2, 3); nothing where nobody asked. Not while calls are
 * captured. */
int cuda_clock_begin(struct md_store *s, int what);
int cuda_clock_end(struct md_store *s, int what);
/* See md_kernels.h. */
double cuda_pair_seconds(struct md_store *s);

#endif
