/* fluid_totals.c: what a run will need, and what it has done. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "fluid.h"
#include "solvers/solver.h"

/* Floating-point operations of a cell in one substage, by the formulas: each
 * momentum equation has 3 fluxes (4 each), their differences (9), diffusion
 * (12) and the update (6); then divergence (8), the tridiagonal solve (6) and
 * the correction (9). Transforms come on top. */
enum { FLOPS_STENCIL = 3 * (12 + 9 + 12 + 6) + 8 + 6 + 9, FLOPS_SCALAR = 33 };

/* Both real transforms of a direction: 2.5 n log2 n each. */
static double flops_substage(const struct fluid *f)
{
    double sum = FLOPS_STENCIL + FLOPS_SCALAR * f->setup.n_scalars;
    for (int d = 0; d < 2; d++)
        sum += 5 * log2((double)f->setup.cells[d]);
    return sum;
}

static double all_cells(const struct fluid *f)
{
    return (double)f->setup.cells[0] * (double)f->setup.cells[1] *
           (double)f->setup.cells[2];
}

/* Cells of ghost layers around a block of the mean size. */
static double ghost_cells(const struct fluid *f)
{
    double ny = (double)f->setup.cells[1] / f->block.dims[1];
    double nz = (double)f->setup.cells[2] / f->block.dims[2];
    double sum = 0;
    if (f->block.dims[1] > 1)
        sum += 2 * nz;
    if (f->block.dims[2] > 1)
        sum += 2 * ny;
    return sum * (double)f->setup.cells[0];
}

int fluid_estimate(struct ctx *ctx, void *state, struct estimate *out)
{
    const struct fluid *f = state;
    double cells = all_cells(f);
    *out = (struct estimate){
        .items = (int64_t)cells,
        .items_per_rank = cells / (f->block.dims[1] * f->block.dims[2]),
        .halo_per_rank = ghost_cells(f),
        .memory_per_rank = fluid_store_bytes(f),
        .steps = isfinite(f->end_time) && f->fixed_dt > 0
                     ? (int64_t)ceil(f->end_time / f->fixed_dt - 1e-6)
                     : -1,
        .end_time = isfinite(f->end_time) ? f->end_time : 0,
        .frame_bytes = f->frame_bytes,
        .work_per_step = 3 * cells * flops_substage(f)};
    if (f->steps >= 0 && (out->steps < 0 || f->steps < out->steps))
        out->steps = isfinite(f->end_time) && out->steps < 0 ? -1 : f->steps;
    snprintf(out->problem, sizeof out->problem,
             "%" PRId64 " x %" PRId64 " x %" PRId64 " cells", f->setup.cells[0],
             f->setup.cells[1], f->setup.cells[2]);
    snprintf(out->length_unit, sizeof out->length_unit, "%.31s",
             f->unit_text[FLUID_LENGTH]);
    snprintf(out->memory_hint, sizeof out->memory_hint,
             "more ranks%s, %sor fewer domain.cells",
             ctx->device && strcmp(ctx->device->name, "cpu") != 0 ? " and cards"
                                                                  : "",
             f->precision == PRECISION_DOUBLE ? "fluid.precision = \"single\", "
                                              : "");
    for (int d = 0; d < 3; d++) {
        out->decomposition[d] = f->block.dims[d];
        out->box[d] = f->length[d];
        out->cells[d] = f->setup.cells[d];
    }
    return 0;
}

void fluid_start_phases(struct fluid *f)
{
    f->first_step = f->step;
    if (f->k->phases && f->k->phase_seconds)
        f->k->phase_seconds(f->store, f->phases_before);
}

/* "predict 3.1, halo 0.4, ... ns a cell and step", where the store tells. */
static void note_phases(const struct fluid *f, char *text, size_t size)
{
    double seconds[FLUID_PHASES_MAX] = {0};
    size_t used = 0;
    if (!f->k->phases || !f->k->phase_seconds || f->step == f->first_step)
        return;
    f->k->phase_seconds(f->store, seconds);
    double to_ns = 1e9 / ((double)(f->step - f->first_step) *
                          (double)fluid_block_cells(f));
    for (int i = 0; i < FLUID_PHASES_MAX && f->k->phases[i]; i++) {
        double ns = (seconds[i] - f->phases_before[i]) * to_ns;
        if (ns >= 0.005 && used < size)
            used += (size_t)snprintf(
                text + used, size - used, "%s%s %.2f",
                used > 0 ? ", " : "ns a cell and step of a rank: ",
                f->k->phases[i], ns);
    }
}

int fluid_totals(struct ctx *ctx, void *state, struct solver_totals *out)
{
    struct fluid *f = state;
    struct fluid_counters counters = {0};
    double greatest = timer_seconds(ctx->timers, f->phase_predict);
    double sum = greatest;
    f->k->counters(f->store, &counters);
    *out = (struct solver_totals){.item = "cell",
                                  .items = all_cells(f),
                                  .flops = 3 * (double)f->step * all_cells(f) *
                                           flops_substage(f),
                                  .memory = (double)counters.bytes};
    TRY(comm_max_double(ctx, &out->memory, 1));
    TRY(comm_max_double(ctx, &greatest, 1));
    TRY(comm_sum_double(ctx, &sum, 1));
    if (sum > 0)
        out->imbalance = greatest * comm_size(ctx->comm) / sum;
    note_phases(f, out->notes[0], sizeof out->notes[0]);
    return 0;
}
