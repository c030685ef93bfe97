/* dpd_cpu.h: friction and noise between pairs, for the CPU's table.
 *
 * Private to kernels/md/ *_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_DPD_CPU_H
#define WARPDECK_KERNELS_MD_DPD_CPU_H

#include "kernels/md/store_cpu.h"

#define md_dpd_destroy MD_NAME(md_dpd_destroy)
void md_dpd_destroy(struct md_dpd_work *d);
/* Velocities that came for the copies, as md_unpack_values(). */
#define md_dpd_take_values MD_NAME(md_dpd_take_values)
void md_dpd_take_values(struct md_store *s, const double (*in)[3]);
#define md_dpd_pairs MD_NAME(md_dpd_pairs)
int md_dpd_pairs(struct ctx *ctx, struct md_store *s, const struct md_dpd *d);
#define md_dpd_forces MD_NAME(md_dpd_forces)
void md_dpd_forces(struct md_store *s);
#define md_dpd_kick MD_NAME(md_dpd_kick)
double md_dpd_kick(struct md_store *s, double dt);

#endif
