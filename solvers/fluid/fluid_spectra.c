/* fluid_spectra.c: mean squares of the velocity by mode along x and y, as means
 * over lines and time.
 *
 * Lines are those of the block at the centers of cells, so the direction must
 * not be cut among ranks. Each rank sums its lines; only the results talk to
 * others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/state.h"
#include "fluid.h"
#include "kernels/fft_power.h"

static int64_t groups(const struct fluid_spectra *s)
{
    return s->n_at > 0 ? s->n_at : 1;
}

static size_t modes(const struct fluid *f, int d)
{
    return fft_power_modes((size_t)f->setup.cells[d]);
}

/* Sums of one direction: [group][component][mode]. */
static size_t sums_size(const struct fluid *f, int d)
{
    return (size_t)groups(&f->spectra) * 3 * modes(f, d);
}

/* ---- keys ---- */

/* The plane of cells that z stands in. */
static int64_t plane_of(const struct fluid *f, double z)
{
    int64_t k = 0;
    while (k + 1 < f->setup.cells[2] && z >= f->face[2][k + 1])
        k++;
    return k;
}

void fluid_read_spectra(struct params *p, struct fluid *f)
{
    static const char *const axis[] = {"x", "y"};
    const char *const section = "fluid.statistics";
    struct fluid_spectra *s = &f->spectra;
    size_t n = 0;
    if (params_is_set(p, section, "spectra")) {
        const char *const *names = params_strings(p, section, "spectra", &n);
        for (size_t i = 0; i < n; i++)
            for (int d = 0; d < 2; d++)
                s->on[d] |= strcmp(names[i], axis[d]) == 0;
    }
    for (int d = 0; d < 2; d++)
        if (s->on[d] && f->setup.face[d][0].type != FLUID_PERIODIC)
            params_error(p, section, "spectra",
                         "spectra along %s need periodic faces there", axis[d]);
    if (!params_is_set(p, section, "spectra_at"))
        return;
    const double *z = params_doubles(p, section, "spectra_at", &n);
    if (!s->on[0] && !s->on[1])
        params_error(p, section, "spectra_at",
                     "fluid.statistics.spectra_at needs spectra along x or y");
    if (n > FLUID_SPECTRA_MAX) {
        params_error(p, section, "spectra_at", "at most %d heights",
                     FLUID_SPECTRA_MAX);
        n = FLUID_SPECTRA_MAX;
    }
    for (size_t i = 0; i < n; i++) {
        if (!(z[i] >= 0 && z[i] <= f->length[2]))
            params_error(p, section, "spectra_at",
                         "height %g is outside the box, 0 to %g", z[i],
                         f->length[2]);
        s->at[s->n_at++] = z[i];
    }
}

/* ---- samples ---- */

int fluid_spectra_start(struct ctx *ctx, struct fluid *f)
{
    struct fluid_spectra *s = &f->spectra;
    int status = 0;
    for (int i = 0; i < s->n_at; i++)
        s->plane[i] = plane_of(f, s->at[i]);
    if (s->on[1] && f->block.dims[1] > 1)
        return FAIL(ctx, STATUS_DECK,
                    "fluid.statistics.spectra: y is cut among %d ranks, and a "
                    "spectrum needs whole lines; set domain.ranks = [1, 1, "
                    "%d], or leave out \"y\"",
                    f->block.dims[1], comm_size(ctx->comm));
    for (int d = 0; d < 2 && status == 0; d++) {
        if (!s->on[d])
            continue;
        s->sums[d] = calloc(sums_size(f, d), sizeof *s->sums[d]);
        if (!s->sums[d])
            status = FAIL(ctx, STATUS_MEMORY, "no memory for spectra");
        else
            status =
                fft_power_create(ctx, (size_t)f->setup.cells[d], &s->power[d]);
    }
    if (status == 0 && (s->on[0] || s->on[1])) {
        s->block = malloc((fluid_block_cells(f) + 1) * sizeof *s->block);
        if (!s->block)
            status = FAIL(ctx, STATUS_MEMORY, "no memory for spectra");
    }
    return comm_agree(ctx, status);
}

void fluid_spectra_free(struct fluid *f)
{
    for (int d = 0; d < 2; d++) {
        free(f->spectra.sums[d]);
        fft_power_destroy(f->spectra.power[d]);
    }
    free(f->spectra.block);
}

/* The lines of plane k of this rank, of one component, in one group. */
static void add_plane(struct fluid *f, int64_t k, int component, int group,
                      double weight)
{
    const size_t nx = (size_t)f->block.local[0], ny = (size_t)f->block.local[1];
    const double *plane = f->spectra.block + (size_t)k * ny * nx;
    for (int d = 0; d < 2; d++) {
        if (!f->spectra.on[d])
            continue;
        double *sums =
            f->spectra.sums[d] + (size_t)(group * 3 + component) * modes(f, d);
        const size_t lines = d == 0 ? ny : nx;
        const double share = weight / (double)f->setup.cells[d == 0 ? 1 : 0];
        for (size_t l = 0; l < lines; l++)
            fft_power_add(f->spectra.power[d], plane + (d == 0 ? l * nx : l),
                          d == 0 ? 1 : nx, share, sums);
    }
}

int fluid_spectra_sample(struct ctx *ctx, struct fluid *f)
{
    const struct fluid_spectra *s = &f->spectra;
    if (!s->on[0] && !s->on[1])
        return 0;
    for (int c = 0; c < 3; c++) {
        TRY(comm_agree(ctx, f->k->get(ctx, f->store,
                                      (enum fluid_field)(FLUID_CENTER_U + c),
                                      s->block)));
        for (int64_t k = 0; k < f->block.local[2]; k++) {
            int64_t plane = f->block.first[2] + k;
            if (s->n_at == 0) {
                double h = f->face[2][plane + 1] - f->face[2][plane];
                add_plane(f, k, c, 0, h / f->length[2]);
            }
            for (int g = 0; g < s->n_at; g++)
                if (s->plane[g] == plane)
                    add_plane(f, k, c, g, 1);
        }
    }
    return 0;
}

/* ---- results ---- */

static int make_table(struct ctx *ctx, struct fluid *f, int d, int g,
                      const double *mean, struct fluid_spectrum *out)
{
    static const char *const names[] = {"wavenumber", "uu", "vv", "ww"};
    const size_t n = modes(f, d);
    out->values = calloc(4 * n, sizeof *out->values);
    if (!out->values)
        return FAIL(ctx, STATUS_MEMORY, "no memory for spectra");
    if (f->spectra.n_at > 0)
        snprintf(out->group, sizeof out->group, "spectra/%c_%d", "xy"[d], g);
    else
        snprintf(out->group, sizeof out->group, "spectra/%c", "xy"[d]);
    if (f->spectra.n_at > 0)
        snprintf(out->description, sizeof out->description,
                 "mean squares of the velocity by mode along %c at z = %.6g, "
                 "over lines and time",
                 "xy"[d], f -> center[2][f->spectra.plane[g]]);
    else
        snprintf(out->description, sizeof out->description,
                 "mean squares of the velocity by mode along %c, over the "
                 "volume and time",
                 "xy"[d]);
    for (size_t m = 0; m < n; m++)
        out->values[m] = 2 * M_PI * (double)m / f->length[d];
    for (int c = 0; c < 3; c++)
        memcpy(out->values + (size_t)(c + 1) * n,
               mean + (size_t)(g * 3 + c) * n, n * sizeof *mean);
    for (int i = 0; i < 4; i++) {
        out->names[i] = names[i];
        out->units[i] =
            f->unit_text[i == 0 ? FLUID_WAVENUMBER : FLUID_VELOCITY2];
        out->columns[i] = out->values + (size_t)i * n;
    }
    out->table = (struct result_table){.group = out->group,
                                       .description = out->description,
                                       .n_columns = 4,
                                       .n_rows = (int64_t)n,
                                       .names = out->names,
                                       .units = out->units,
                                       .columns = out->columns};
    return 0;
}

int fluid_spectra_results(struct ctx *ctx, struct fluid *f)
{
    struct fluid_spectra *s = &f->spectra;
    for (int i = 0; i < s->n_tables; i++)
        free(s->tables[i].values);
    s->n_tables = 0;
    for (int d = 0; d < 2; d++) {
        if (!s->on[d])
            continue;
        size_t n = sums_size(f, d);
        double *mean = malloc(n * sizeof *mean);
        int status = mean ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory");
        TRY(comm_agree(ctx, status));
        for (size_t i = 0; i < n; i++)
            mean[i] = s->sums[d][i] / (double)f->statistics.samples;
        status = comm_sum_double(ctx, mean, (int)n);
        for (int g = 0; g < groups(s) && status == 0; g++)
            status = make_table(ctx, f, d, g, mean, &s->tables[s->n_tables++]);
        free(mean);
        TRY(comm_agree(ctx, status));
    }
    return 0;
}

/* ---- checkpoints: a row for each rank ---- */

static struct state_array rows(const char *name, int64_t ranks, int64_t first,
                               int64_t local, size_t n, double *values)
{
    return state_rows(name, STATE_DOUBLE, ranks, first, local, (int64_t)n,
                      values);
}

static const char *const saved_names[] = {"fluid/spectra/x", "fluid/spectra/y"};

int fluid_spectra_save(struct ctx *ctx, struct fluid *f, struct state_io *io)
{
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    for (int d = 0; d < 2; d++) {
        if (!f->spectra.on[d])
            continue;
        struct state_array a = rows(saved_names[d], size, rank, 1,
                                    sums_size(f, d), f->spectra.sums[d]);
        TRY(state_put(ctx, io, &a));
    }
    return 0;
}

/* Sums of another number of ranks go to rank 0, since only their total counts.
 */
static int restore_rows(struct ctx *ctx, struct fluid *f, struct state_io *io,
                        int d, int64_t saved)
{
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    const size_t n = sums_size(f, d);
    int64_t mine = saved == size ? 1 : rank == 0 ? saved : 0;
    double *all = calloc((size_t)mine * n + 1, sizeof *all);
    int status = all ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory for spectra");
    TRY_CLEANUP(comm_agree(ctx, status));
    struct state_array a =
        rows(saved_names[d], saved, saved == size ? rank : 0, mine, n, all);
    TRY_CLEANUP(state_get(ctx, io, &a));
    for (int64_t r = 0; r < mine; r++)
        for (size_t i = 0; i < n; i++)
            f->spectra.sums[d][i] += all[(size_t)r * n + i];
cleanup:
    free(all);
    return status;
}

int fluid_spectra_restore(struct ctx *ctx, struct fluid *f, struct state_io *io)
{
    for (int d = 0; d < 2; d++) {
        int64_t shape[STATE_RANK_MAX];
        if (!f->spectra.on[d] || !io->find(io, saved_names[d], shape))
            continue;
        if (shape[1] != (int64_t)sums_size(f, d))
            return FAIL(ctx, STATUS_INPUT,
                        "the checkpoint has other spectra than "
                        "fluid.statistics.spectra_at asks for");
        TRY(restore_rows(ctx, f, io, d, shape[0]));
    }
    return 0;
}
