/* sweep_cpu.h: between the sweep over planes and the loops over rows. */
#ifndef WARPDECK_KERNELS_FLUID_SWEEP_CPU_H
#define WARPDECK_KERNELS_FLUID_SWEEP_CPU_H

#include "kernels/fluid/fluid_cpu.h"

/* A substage's factors as the rows need them. */
struct fluid_stage {
    scalar gamma_dt, zeta_dt, alpha_dt;
    scalar keep; /* 1: the result is the velocity; 0: its increment */
    int first, last;
    int more; /* the worker's acc and push hold something */
};

#define fluid_momentum_row FLUID_NAME(fluid_momentum_row)
#define fluid_momentum_rows FLUID_NAME(fluid_momentum_rows)
#define fluid_extra_row FLUID_NAME(fluid_extra_row)

/* Rows [j0, j1) of plane k: velocity (or, implicit, its increment) and history
 * from the planes that w->below, here and above hold. What a wall holds still
 * is held still. */
void fluid_momentum_rows(const struct fluid_store *s,
                         const struct fluid_worker *w,
                         const struct fluid_coeff *q,
                         const struct fluid_stage *stage, int64_t k, int64_t j0,
                         int64_t j1);

/* What else accelerates row j of plane k, to w->acc (rotation, buoyancy) and
 * w->push (implicit diffusion, pressure). Called only where there is some. */
void fluid_extra_row(const struct fluid_store *s, const struct fluid_worker *w,
                     int64_t k, int64_t j);

#endif
