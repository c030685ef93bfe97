/* fluid_state.c: what a checkpoint holds: the fields by cell, where the run
 * stands in time, and the sums of statistics. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/state.h"
#include "fluid.h"
#include "solvers/solver.h"

enum { NUMBERS = 16, COUNTS = 6 };

/* ---- fields ---- */

struct saved_field {
    char name[FLUID_NAME_MAX + 16];
    enum fluid_field field;
};

/* The fields of a state, by name. */
static int list_fields(const struct fluid *f, struct saved_field *out)
{
    static const char *const names[] = {"fluid/u", "fluid/v", "fluid/w",
                                        "fluid/pressure_by_density"};
    int n = 0;
    for (int i = 0; i < 3; i++) {
        snprintf(out[n].name, sizeof out[n].name, "%s", names[i]);
        out[n++].field = (enum fluid_field)(FLUID_U + i);
    }
    if (f->setup.diffusion != FLUID_EXPLICIT) {
        snprintf(out[n].name, sizeof out[n].name, "%s", names[3]);
        out[n++].field = FLUID_STORED_PRESSURE;
    }
    for (int i = 0; i < f->setup.n_scalars; i++) {
        snprintf(out[n].name, sizeof out[n].name, "fluid/scalar/%s",
                 f->tracer[i].name);
        out[n++].field = (enum fluid_field)(FLUID_SCALAR0 + i);
    }
    return n;
}

/* All fields through one buffer, out of the store or into it. */
static int move_fields(struct ctx *ctx, struct fluid *f, struct state_io *io,
                       int out)
{
    struct saved_field fields[4 + FLUID_SCALARS_MAX];
    int n = list_fields(f, fields), status = 0;
    double *block = malloc((fluid_block_cells(f) + 1) * sizeof *block);
    if (!block)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the state");
    TRY_CLEANUP(comm_agree(ctx, status));
    for (int i = 0; i < n; i++) {
        struct state_array a =
            state_block(fields[i].name, STATE_DOUBLE, f->block.cells,
                        f->block.first, f->block.local, block);
        if (out)
            status = f->k->get(ctx, f->store, fields[i].field, block);
        TRY_CLEANUP(comm_agree(ctx, status));
        TRY_CLEANUP(out ? state_put(ctx, io, &a) : state_get(ctx, io, &a));
        if (!out)
            status = f->k->set(ctx, f->store, fields[i].field, block);
        TRY_CLEANUP(comm_agree(ctx, status));
    }
cleanup:
    free(block);
    return status;
}

/* ---- where the run stands ---- */

static void pack(const struct fluid *f, double *v, int64_t *n)
{
    v[0] = f->time;
    v[1] = f->dt;
    v[2] = f->dt_free;
    v[3] = f->landing_on;
    v[4] = f->rate;
    v[5] = f->last_dt;
    for (int d = 0; d < 3; d++)
        v[6 + d] = f->gradient[d];
    v[9] = f->end_time;
    v[10] = f->landing;
    v[11] = f->fixed_dt;
    v[12] = f->cfl;
    v[13] = f->statistics.first_time;
    v[14] = f->statistics.last_time;
    v[15] = 0;
    n[0] = f->step;
    n[1] = f->statistics.samples;
    for (int d = 0; d < 3; d++)
        n[2 + d] = f->block.dims[d];
    n[5] = f->statistics.axis;
}

/* What the deck says of time now may differ from what it said then. */
static void unpack(struct fluid *f, const double *v, const int64_t *n)
{
    f->time = v[0];
    f->dt_free = v[2];
    f->rate = v[4];
    f->last_dt = v[5];
    for (int d = 0; d < 3; d++)
        f->gradient[d] = f->held[d] ? v[6 + d] : 0;
    f->step = n[0];
    if (v[9] == f->end_time && v[10] == f->landing && v[11] == f->fixed_dt &&
        v[12] == f->cfl) {
        f->dt = v[1];
        f->landing_on = v[3];
    } else {
        fluid_choose_timestep(f);
    }
}

static int move_numbers(struct ctx *ctx, struct state_io *io, double *v,
                        int64_t *n, int out)
{
    struct state_array a = state_shared("fluid/time", STATE_DOUBLE, NUMBERS, v);
    struct state_array b = state_shared("fluid/counts", STATE_INT64, COUNTS, n);
    TRY(out ? state_put(ctx, io, &a) : state_get(ctx, io, &a));
    return out ? state_put(ctx, io, &b) : state_get(ctx, io, &b);
}

/* ---- statistics: a row of sums for each piece of the planes ---- */

static struct state_array sums_array(const struct fluid *f, int64_t pieces,
                                     int64_t first, int64_t local,
                                     double *values)
{
    int a = f->statistics.axis;
    int64_t moments = fluid_moments(f->setup.n_scalars);
    return (struct state_array){.name = "fluid/statistics",
                                .type = STATE_DOUBLE,
                                .rank = 3,
                                .shape = {pieces, f->setup.cells[a], moments},
                                .first = {first, f->block.first[a], 0},
                                .local = {local, f->block.local[a], moments},
                                .values = values};
}

/* Ranks that share a plane across the axis, and which of them this one is. */
static int64_t pieces_of_plane(const struct fluid *f, int64_t *mine)
{
    const struct block *b = &f->block;
    int y = f->statistics.axis == 1 ? 1 : b->dims[1];
    int z = f->statistics.axis == 2 ? 1 : b->dims[2];
    int at_y = f->statistics.axis == 1 ? 0 : b->coords[1];
    int at_z = f->statistics.axis == 2 ? 0 : b->coords[2];
    *mine = at_z * y + at_y;
    return y * z;
}

static int save_sums(struct ctx *ctx, struct fluid *f, struct state_io *io)
{
    int64_t mine, pieces = pieces_of_plane(f, &mine);
    struct state_array a = sums_array(f, pieces, mine, 1, f->statistics.sums);
    return state_put(ctx, io, &a);
}

/* Pieces of another cut are added up by the first rank of each plane. */
static int add_pieces(struct ctx *ctx, struct fluid *f, struct state_io *io,
                      int64_t pieces, int64_t mine)
{
    struct state_array a =
        sums_array(f, pieces, 0, mine == 0 ? pieces : 0, NULL);
    size_t n = (size_t)(a.local[1] * a.local[2]);
    double *all = calloc((size_t)pieces * n + 1, sizeof *all);
    int status = 0;
    if (!all)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for statistics");
    TRY_CLEANUP(comm_agree(ctx, status));
    a.values = all;
    TRY_CLEANUP(state_get(ctx, io, &a));
    for (size_t i = 0; i < n; i++)
        for (int64_t p = 0; p < a.local[0]; p++)
            f->statistics.sums[i] += all[(size_t)p * n + i];
cleanup:
    free(all);
    return status;
}

/* Statistics that the deck has only now begin now. */
static int restore_sums(struct ctx *ctx, struct fluid *f, struct state_io *io,
                        const double *v, const int64_t *n)
{
    int64_t shape[STATE_RANK_MAX], mine, pieces = pieces_of_plane(f, &mine);
    if (!f->statistics.on || n[5] != f->statistics.axis ||
        !io->find(io, "fluid/statistics", shape))
        return 0;
    f->statistics.samples = n[1];
    f->statistics.first_time = v[13];
    f->statistics.last_time = v[14];
    if (shape[0] != pieces || !io->same_machine)
        return add_pieces(ctx, f, io, shape[0], mine);
    struct state_array a = sums_array(f, pieces, mine, 1, f->statistics.sums);
    return state_get(ctx, io, &a);
}

/* ---- both ways ---- */

int fluid_save(struct ctx *ctx, void *state, struct state_io *io)
{
    struct fluid *f = state;
    double v[NUMBERS];
    int64_t n[COUNTS];
    pack(f, v, n);
    TRY(move_numbers(ctx, io, v, n, 1));
    TRY(move_fields(ctx, f, io, 1));
    if (!f->statistics.on)
        return 0;
    TRY(save_sums(ctx, f, io));
    return fluid_spectra_save(ctx, f, io);
}

int fluid_restore(struct ctx *ctx, void *state, struct state_io *io)
{
    struct fluid *f = state;
    double v[NUMBERS];
    int64_t n[COUNTS];
    TRY(move_numbers(ctx, io, v, n, 0));
    TRY(fluid_open(ctx, f, n + 2));
    unpack(f, v, n);
    TRY(fluid_statistics_start(ctx, f));
    TRY(move_fields(ctx, f, io, 0));
    TRY(restore_sums(ctx, f, io, v, n));
    if (f->statistics.samples > 0)
        TRY(fluid_spectra_restore(ctx, f, io));
    fluid_start_phases(f);
    return f->setup.diffusion == FLUID_EXPLICIT ? fluid_find_pressure(ctx, f)
                                                : 0;
}
