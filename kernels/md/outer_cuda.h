/* outer_cuda.h: walls, constant fields and groups on a card.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_OUTER_CUDA_H
#define WARPDECK_KERNELS_MD_OUTER_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_outer_refresh MD_NAME(cuda_outer_refresh)
#define cuda_outer_send MD_NAME(cuda_outer_send)
#define cuda_outer_ready MD_NAME(cuda_outer_ready)
#define cuda_launch_outer MD_NAME(cuda_launch_outer)
#define cuda_outer_add MD_NAME(cuda_outer_add)
#define cuda_outer_forces MD_NAME(cuda_outer_forces)
#define cuda_launch_reflect MD_NAME(cuda_launch_reflect)
#define cuda_launch_hold MD_NAME(cuda_launch_hold)
#define cuda_reflect MD_NAME(cuda_reflect)
#define cuda_reflect_ahead MD_NAME(cuda_reflect_ahead)
#define cuda_hold MD_NAME(cuda_hold)

/* Walls and groups to the card, where they are not what it has. */
int cuda_outer_send(struct md_store *s, const struct md_outer *o);
/* The same of s->setup.outer for moments() and hold(), if any: with the store
 * and with each list. */
int cuda_outer_refresh(struct md_store *s);
/* Before a call with walls or groups is queued: if they are not what the card
 * has, what waits runs first. */
int cuda_outer_ready(struct md_store *s, const struct md_outer *o);
/* The launches of a step's calls. */
int cuda_launch_outer(struct md_store *s, const struct step_call *c);
int cuda_launch_reflect(struct md_store *s, const struct md_outer *o);
int cuda_launch_hold(struct md_store *s);

/* Add what outer forces add up to, s->result->outer. */
void cuda_outer_add(const double *out, struct md_sums *sums,
                    double on_wall[MD_FACES]);

/* The verbs of struct md_kernels. */
void cuda_outer_forces(struct md_store *s, const struct md_outer *o,
                       struct md_sums *sums, double on_wall[MD_FACES]);
int64_t cuda_reflect(struct md_store *s, const struct md_outer *o);
void cuda_reflect_ahead(struct md_store *s, const struct md_outer *o);
void cuda_hold(struct md_store *s);

#endif
