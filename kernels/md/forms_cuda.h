/* forms_cuda.h: pair potentials in place of Lennard-Jones, on a card.
 *
 * The rows of polynomials are those of the CPU (pair_table.h). They are read
 * through the cache for data that no kernel changes: the few rows of a liquid's
 * distances stay near the threads, and tables of many pairs of species have
 * room.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_FORMS_CUDA_H
#define WARPDECK_KERNELS_MD_FORMS_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_forms_create MD_NAME(cuda_forms_create)
#define cuda_forms_destroy MD_NAME(cuda_forms_destroy)
#define cuda_forms_launch MD_NAME(cuda_forms_launch)
#define cuda_forms_send_near MD_NAME(cuda_forms_send_near)
#define cuda_forms_check MD_NAME(cuda_forms_check)
#define cuda_forms_fetch MD_NAME(cuda_forms_fetch)

/* s->forms, from s->setup.tables, if any. Errors: STATUS_MEMORY. */
int cuda_forms_create(struct md_store *s);
void cuda_forms_destroy(struct md_store *s);
/* Forces, and what is wanted of near_cuda.h. */
int cuda_forms_launch(struct md_store *s, int want, int halo);
/* Queue the copy of a pair that came too near for its table to s->result. */
int cuda_forms_send_near(struct md_store *s);
/* STATUS_PHYSICS where s->result has such a pair. */
int cuda_forms_check(struct md_store *s);
/* Both, and wait. */
int cuda_forms_fetch(struct md_store *s);

#endif
