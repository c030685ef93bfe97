/* outer_cuda.h: walls, constant fields and groups on a card.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_OUTER_CUDA_H
#define WARPDECK_KERNELS_MD_OUTER_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_outer_create MD_NAME(cuda_outer_create)
#define cuda_outer_launch MD_NAME(cuda_outer_launch)
#define cuda_outer_forces MD_NAME(cuda_outer_forces)
#define cuda_reflect MD_NAME(cuda_reflect)
#define cuda_hold MD_NAME(cuda_hold)

/* Groups of s->setup.outer for moments() and hold(), if any. */
int cuda_outer_create(struct md_store *s);
/* The launch of outer forces, as a call of a step. */
int cuda_outer_launch(struct md_store *s, const struct md_outer *o, int want);

/* The verbs of struct md_kernels. */
void cuda_outer_forces(struct md_store *s, const struct md_outer *o,
                       struct md_sums *sums, double on_wall[MD_FACES]);
int64_t cuda_reflect(struct md_store *s, const struct md_outer *o);
void cuda_hold(struct md_store *s);

#endif
