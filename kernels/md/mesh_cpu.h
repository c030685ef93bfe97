/* mesh_cpu.h: charges of own particles on a mesh, in wave vectors, in fields.
 *
 * Private to kernels/md/ *_cpu.c. What the functions do is said in
 * md_kernels.h.
 */
#ifndef WARPDECK_KERNELS_MD_MESH_CPU_H
#define WARPDECK_KERNELS_MD_MESH_CPU_H

#include "kernels/md/store_cpu.h"

#define md_spread_charges MD_NAME(md_spread_charges)
#define md_gather_field MD_NAME(md_gather_field)
#define md_sum_charges MD_NAME(md_sum_charges)
#define md_push_charges MD_NAME(md_push_charges)
#define md_wave_sums MD_NAME(md_wave_sums)
#define md_wave_forces MD_NAME(md_wave_forces)

int md_spread_charges(struct ctx *ctx, struct md_store *s,
                      const struct md_brick *b, double *mesh);
void md_gather_field(struct md_store *s, const struct md_brick *b,
                     const double *const field[3]);
void md_sum_charges(const struct md_store *s, struct md_charge_moments *out);
void md_push_charges(struct md_store *s, const double even[3],
                     const double slope[3]);
int md_wave_sums(struct ctx *ctx, struct md_store *s, const struct md_waves *w,
                 double (*sums)[2]);
int md_wave_forces(struct ctx *ctx, struct md_store *s,
                   const struct md_waves *w, const double (*field)[2]);

#endif
