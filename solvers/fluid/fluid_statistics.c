/* fluid_statistics.c: profiles, as means over planes and time.
 *
 * Each rank sums its planes over samples; only the results talk to others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "fluid.h"

static size_t sums_size(const struct fluid *f)
{
    return (size_t)f->block.local[f->statistics.axis] *
           (size_t)fluid_moments(f->setup.n_scalars);
}

int fluid_statistics_start(struct ctx *ctx, struct fluid *f)
{
    struct fluid_statistics *s = &f->statistics;
    int status = 0;
    if (!s->on)
        return 0;
    s->sums = calloc(sums_size(f), sizeof *s->sums);
    s->now = calloc(sums_size(f), sizeof *s->now);
    if (!s->sums || !s->now)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for statistics");
    TRY(comm_agree(ctx, status));
    return fluid_spectra_start(ctx, f);
}

/* Whether the step that has just been made ends with a sample. */
static int is_due(const struct fluid *f)
{
    const struct fluid_statistics *s = &f->statistics;
    double every = s->every.time;
    if (!s->on || f->time < s->start * (1 - 1e-12))
        return 0;
    if (s->every.kind == INTERVAL_STEPS)
        return f->step % s->every.steps == 0;
    return floor(f->time / every + 1e-9) >
           floor((f->time - f->last_dt) / every + 1e-9);
}

static int sample(struct ctx *ctx, struct fluid *f)
{
    struct fluid_statistics *s = &f->statistics;
    TRY(fluid_refresh(ctx, f));
    TRY(f->k->profile(ctx, f->store, s->axis, s->now));
    for (size_t i = 0; i < sums_size(f); i++)
        s->sums[i] += s->now[i];
    TRY(fluid_spectra_sample(ctx, f));
    if (s->samples++ == 0)
        s->first_time = f->time;
    s->last_time = f->time;
    return 0;
}

int fluid_statistics_step(struct ctx *ctx, struct fluid *f)
{
    if (!is_due(f))
        return 0;
    timer_begin(ctx->timers, f->phase_statistics);
    int status = sample(ctx, f);
    timer_end(ctx->timers, f->phase_statistics);
    return status;
}

/* ---- results ---- */

/* The columns of a table, made one by one. */
struct columns {
    struct fluid *f;
    struct result_table *table;
    const char **names;
    const char **units;
    const double **values;
    char (*text)[FLUID_TEXT_MAX];
    int room;
    const double *mean; /* [planes][moments], means over planes and time */
    int failed;
};

enum { COLUMNS_MAX = 64 };

static double *add_column(struct columns *c, const char *name,
                          enum fluid_unit unit)
{
    int n = c->table->n_columns;
    double *v = calloc((size_t)c->table->n_rows, sizeof *v);
    if (!v || n == c->room) {
        free(v);
        c->failed = 1;
        return NULL;
    }
    snprintf(c->text[n], FLUID_TEXT_MAX, "%s", name);
    c->names[n] = c->text[n];
    c->units[n] = c->f->unit_text[unit];
    c->values[n] = v;
    c->table->n_columns++;
    return v;
}

static double moment(const struct columns *c, int64_t row, int m)
{
    return c->mean[row * fluid_moments(c->f->setup.n_scalars) + m];
}

static void add_mean(struct columns *c, const char *name, enum fluid_unit unit,
                     int m)
{
    double *v = add_column(c, name, unit);
    for (int64_t r = 0; v && r < c->table->n_rows; r++)
        v[r] = moment(c, r, m);
}

/* <ab> - <a><b>; its root where it is a mean square. */
static void add_covariance(struct columns *c, const char *name,
                           enum fluid_unit unit, int ab, int a, int b, int root)
{
    double *v = add_column(c, name, unit);
    for (int64_t r = 0; v && r < c->table->n_rows; r++) {
        v[r] = moment(c, r, ab) - moment(c, r, a) * moment(c, r, b);
        if (root)
            v[r] = sqrt(fmax(v[r], 0));
    }
}

static void add_root(struct columns *c, const char *name, enum fluid_unit unit,
                     int m)
{
    double *v = add_column(c, name, unit);
    for (int64_t r = 0; v && r < c->table->n_rows; r++)
        v[r] = sqrt(fmax(moment(c, r, m), 0));
}

/* Third and fourth moments about the mean, over powers of the deviation. */
static void add_shape(struct columns *c, const char *name, int order, int m1,
                      int m2, int m3, int m4)
{
    double *v = add_column(c, name, FLUID_NO_UNIT);
    for (int64_t r = 0; v && r < c->table->n_rows; r++) {
        double a = moment(c, r, m1), b = moment(c, r, m2), d = moment(c, r, m3);
        double square = b - a * a;
        double third = d - 3 * a * b + 2 * a * a * a;
        double fourth =
            moment(c, r, m4) - 4 * a * d + 6 * a * a * b - 3 * a * a * a * a;
        if (square > 1e-30)
            v[r] = order == 3 ? third / pow(square, 1.5)
                              : fourth / (square * square);
    }
}

static void add_velocity(struct columns *c)
{
    add_mean(c, "u", FLUID_VELOCITY, FLUID_M_U);
    add_mean(c, "v", FLUID_VELOCITY, FLUID_M_V);
    add_mean(c, "w", FLUID_VELOCITY, FLUID_M_W);
    add_mean(c, "p", FLUID_PRESSURE_UNIT, FLUID_M_P);
    add_covariance(c, "u_rms", FLUID_VELOCITY, FLUID_M_UU, FLUID_M_U, FLUID_M_U,
                   1);
    add_covariance(c, "v_rms", FLUID_VELOCITY, FLUID_M_VV, FLUID_M_V, FLUID_M_V,
                   1);
    add_covariance(c, "w_rms", FLUID_VELOCITY, FLUID_M_WW, FLUID_M_W, FLUID_M_W,
                   1);
    add_covariance(c, "p_rms", FLUID_PRESSURE_UNIT, FLUID_M_PP, FLUID_M_P,
                   FLUID_M_P, 1);
    add_covariance(c, "uv", FLUID_VELOCITY2, FLUID_M_UV, FLUID_M_U, FLUID_M_V,
                   0);
    add_covariance(c, "uw", FLUID_VELOCITY2, FLUID_M_UW, FLUID_M_U, FLUID_M_W,
                   0);
    add_covariance(c, "vw", FLUID_VELOCITY2, FLUID_M_VW, FLUID_M_V, FLUID_M_W,
                   0);
    add_root(c, "vorticity_x_rms", FLUID_RATE, FLUID_M_OXX);
    add_root(c, "vorticity_y_rms", FLUID_RATE, FLUID_M_OYY);
    add_root(c, "vorticity_z_rms", FLUID_RATE, FLUID_M_OZZ);
    add_mean(c, "dissipation", FLUID_DISSIPATION, FLUID_M_DISSIPATION);
    for (int i = 0; i < 3; i++) {
        static const char *const skewness[] = {"u_skewness", "v_skewness",
                                               "w_skewness"};
        static const char *const flatness[] = {"u_flatness", "v_flatness",
                                               "w_flatness"};
        add_shape(c, skewness[i], 3, FLUID_M_U + i, FLUID_M_UU + i,
                  FLUID_M_UUU + i, FLUID_M_UUUU + i);
        add_shape(c, flatness[i], 4, FLUID_M_U + i, FLUID_M_UU + i,
                  FLUID_M_UUU + i, FLUID_M_UUUU + i);
    }
}

static void add_tracers(struct columns *c)
{
    static const char *const flux[] = {"_flux_x", "_flux_y", "_flux_z"};
    for (int i = 0; i < c->f->setup.n_scalars; i++) {
        const char *name = c->f->tracer[i].name;
        int m = FLUID_M_T0 + FLUID_M_PER_SCALAR * i;
        char text[FLUID_TEXT_MAX];
        add_mean(c, name, FLUID_NO_UNIT, m);
        snprintf(text, sizeof text, "%s_rms", name);
        add_covariance(c, text, FLUID_NO_UNIT, m + 1, m, m, 1);
        for (int d = 0; d < 3; d++) {
            snprintf(text, sizeof text, "%s%s", name, flux[d]);
            add_covariance(c, text, FLUID_VELOCITY, m + 2 + d, FLUID_M_U + d, m,
                           0);
        }
    }
}

/* Friction velocity from the mean profile next to the walls, as the solver's
 * own viscous term has it; 0 where there is no wall. */
static double wall_friction(const struct columns *c)
{
    const struct fluid *f = c->f;
    int d = f->statistics.axis, walls = 0;
    double stress = 0;
    for (int side = 0; side < 2; side++) {
        const struct fluid_face *face = &f->setup.face[d][side];
        int64_t row = side == 0 ? 0 : c->table->n_rows - 1;
        double h = 0.5 * (f->face[d][row + 1] - f->face[d][row]), square = 0;
        if (face->type != FLUID_NO_SLIP)
            continue;
        for (int i = 0; i < 3; i++)
            if (i != d)
                square += pow(
                    (moment(c, row, FLUID_M_U + i) - face->velocity[i]) / h, 2);
        stress += f->setup.viscosity * sqrt(square);
        walls++;
    }
    return walls > 0 ? sqrt(stress / walls) : 0;
}

/* Distance from the nearest wall, velocity and stresses in wall units. */
static void add_wall_units(struct columns *c)
{
    static const char *const names[] = {
        "u_plus", "v_plus", "w_plus", "u_rms_plus", "v_rms_plus", "w_rms_plus"};
    const struct fluid *f = c->f;
    int d = f->statistics.axis;
    double friction = wall_friction(c);
    if (!(friction > 0) || !(f->setup.viscosity > 0))
        return;
    double *distance = add_column(c, "wall_distance_plus", FLUID_NO_UNIT);
    for (int64_t r = 0; distance && r < c->table->n_rows; r++) {
        double x = f->center[d][r], other = f->length[d] - x;
        if (f->setup.face[d][0].type != FLUID_NO_SLIP)
            x = other;
        if (f->setup.face[d][1].type != FLUID_NO_SLIP)
            other = x;
        distance[r] = fmin(x, other) * friction / f->setup.viscosity;
    }
    for (int i = 0; i < 3; i++) {
        double wall = f->setup.face[d][0].velocity[i];
        double *v = add_column(c, names[i], FLUID_NO_UNIT);
        for (int64_t r = 0; v && r < c->table->n_rows; r++)
            v[r] = (moment(c, r, FLUID_M_U + i) - wall) / friction;
        v = add_column(c, names[3 + i], FLUID_NO_UNIT);
        for (int64_t r = 0; v && r < c->table->n_rows; r++) {
            double a = moment(c, r, FLUID_M_U + i);
            double square = moment(c, r, FLUID_M_UU + i) - a * a;
            v[r] = sqrt(fmax(square, 0)) / friction;
        }
    }
}

/* Means over planes and samples of all ranks: [planes][moments]. */
static int gather(struct ctx *ctx, const struct fluid *f, double *mean)
{
    const struct fluid_statistics *s = &f->statistics;
    int a = s->axis;
    int64_t m = fluid_moments(f->setup.n_scalars);
    double cells = (double)f->setup.cells[(a + 1) % 3] *
                   (double)f->setup.cells[(a + 2) % 3];
    for (size_t i = 0; i < sums_size(f); i++)
        mean[f->block.first[a] * m + (int64_t)i] =
            s->sums[i] / (cells * (double)s->samples);
    int64_t all = f->setup.cells[a] * m;
    for (int64_t done = 0; done < all; done += 1 << 20)
        TRY(comm_sum_double(
            ctx, mean + done,
            (int)(all - done < 1 << 20 ? all - done : 1 << 20)));
    return 0;
}

static void free_table(struct result_table *t)
{
    for (int i = 0; t && i < t->n_columns; i++)
        free((double *)(uintptr_t)t->columns[i]);
    if (t) {
        free((void *)(uintptr_t)t->columns);
        free((void *)(uintptr_t)t->units);
        if (t->names)
            free((void *)(uintptr_t)t->names[COLUMNS_MAX]);
        free((void *)(uintptr_t)t->names);
    }
    free(t);
}

void fluid_statistics_free(struct fluid *f)
{
    free_table(f->tables);
    f->tables = NULL;
    fluid_spectra_free(f);
    free(f->statistics.sums);
    free(f->statistics.now);
}

static int make_table(struct ctx *ctx, struct fluid *f, const double *mean)
{
    static const char *const axis[] = {"x", "y", "z"};
    int d = f->statistics.axis;
    struct columns c = {.f = f, .mean = mean, .room = COLUMNS_MAX};
    free_table(f->tables);
    c.table = f->tables = calloc(1 + 2 * FLUID_SPECTRA_MAX, sizeof *c.table);
    c.names = calloc(COLUMNS_MAX + 1, sizeof *c.names);
    c.units = calloc(COLUMNS_MAX, sizeof *c.units);
    c.values = calloc(COLUMNS_MAX, sizeof *c.values);
    c.text = calloc(COLUMNS_MAX, sizeof *c.text);
    c.failed = !c.table || !c.names || !c.units || !c.values || !c.text;
    if (!c.failed) {
        c.names[COLUMNS_MAX] = (const char *)c.text; /* to be freed with it */
        *c.table = (struct result_table){
            .group = "profiles",
            .description = "means over planes and time, at the centers of "
                           "cells; squares and products without the means",
            .n_rows = f->setup.cells[d],
            .names = c.names,
            .units = c.units,
            .columns = c.values};
        double *x = add_column(&c, axis[d], FLUID_LENGTH);
        for (int64_t r = 0; x && r < c.table->n_rows; r++)
            x[r] = f->center[d][r];
        add_velocity(&c);
        add_tracers(&c);
        add_wall_units(&c);
    }
    if (c.failed)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the profiles");
    return 0;
}

int fluid_results(struct ctx *ctx, void *state,
                  const struct result_table **tables, int *n)
{
    struct fluid *f = state;
    int status = 0;
    *n = 0;
    *tables = NULL;
    if (!f->statistics.on || f->statistics.samples == 0)
        return 0;
    size_t all = (size_t)f->setup.cells[f->statistics.axis] *
                 (size_t)fluid_moments(f->setup.n_scalars);
    double *mean = calloc(all, sizeof *mean);
    if (!mean)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the profiles");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(gather(ctx, f, mean));
    TRY_CLEANUP(comm_agree(ctx, make_table(ctx, f, mean)));
    TRY_CLEANUP(fluid_spectra_results(ctx, f));
    for (int i = 0; i < f->spectra.n_tables; i++)
        f->tables[1 + i] = f->spectra.tables[i].table;
    *tables = f->tables;
    *n = 1 + f->spectra.n_tables;
cleanup:
    free(mean);
    return status;
}
