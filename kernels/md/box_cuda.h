/* box_cuda.h: a box that changes in the run, on a card. What the functions of
 * the table do is said in md_kernels.h.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_BOX_CUDA_H
#define WARPDECK_KERNELS_MD_BOX_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_set_box MD_NAME(cuda_set_box)
#define cuda_launch_kick_scaled MD_NAME(cuda_launch_kick_scaled)
#define cuda_launch_stretch MD_NAME(cuda_launch_stretch)
#define cuda_stretch MD_NAME(cuda_stretch)
#define cuda_stretch_ahead MD_NAME(cuda_stretch_ahead)
#define cuda_launch_shear MD_NAME(cuda_launch_shear)
#define cuda_shear MD_NAME(cuda_shear)
#define cuda_shear_ahead MD_NAME(cuda_shear_ahead)
#define cuda_relabel MD_NAME(cuda_relabel)
#define cuda_kick_scaled MD_NAME(cuda_kick_scaled)
#define cuda_set_coordinates MD_NAME(cuda_set_coordinates)
#define cuda_channel_offset MD_NAME(cuda_channel_offset)
#define cuda_launch_way MD_NAME(cuda_launch_way)
#define cuda_wait_for_way MD_NAME(cuda_wait_for_way)

void cuda_set_box(struct md_store *s, const struct md_geometry *box);
double cuda_stretch(struct md_store *s, const struct md_stretch *m);
void cuda_stretch_ahead(struct md_store *s, const struct md_stretch *m);
/* The launches of a step's calls. */
int cuda_launch_kick_scaled(struct md_store *s, const struct step_call *c);
int cuda_launch_stretch(struct md_store *s);
int cuda_launch_shear(struct md_store *s);
double cuda_shear(struct md_store *s, const struct md_shear *m);
void cuda_shear_ahead(struct md_store *s, const struct md_shear *m);
void cuda_relabel(struct md_store *s, const int32_t turns[3]);
void cuda_kick_scaled(struct md_store *s, const double before[3],
                      double dt_kick, const double after[3]);
/* The view's box, block and origins, from the setup's. */
void cuda_set_coordinates(struct md_store *s);
/* What is added to positions that go through a channel. */
void cuda_channel_offset(const struct md_store *s, const struct md_channel *c,
                         double offset[3]);
/* The greatest way of a drift, from the blocks' in ARRAY_PARTIAL, on its way to
 * the host; and there, or 0 after a failure. */
int cuda_launch_way(struct md_store *s, unsigned blocks);
double cuda_wait_for_way(struct md_store *s);

#endif
