/* fluid_initial.c: velocity and scalars at the start: a profile on the faces,
 * then a projection, then the pressure that belongs to it. */
#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "fluid.h"
#include "kernels/rng.h"

static const double two_pi = 6.28318530717958647693;

/* ---- profiles: component c at x ---- */

static double taylor_green(const struct fluid *f, int c, const double x[3])
{
    double a = f->start.amplitude;
    double s[3], o[3];
    for (int d = 0; d < 3; d++) {
        s[d] = sin(two_pi * x[d] / f->length[d]);
        o[d] = cos(two_pi * x[d] / f->length[d]);
    }
    double along_z = f->start.profile == FLUID_TAYLOR_GREEN ? o[2] : 1;
    if (c == 0)
        return a * s[0] * o[1] * along_z;
    if (c == 1)
        return -a * f->length[1] / f->length[0] * o[0] * s[1] * along_z;
    return 0;
}

/* Linear between the velocities of the two walls. */
static double between_walls(const struct fluid *f, int c, const double x[3])
{
    int n = f->start.normal;
    double s = x[n] / f->length[n];
    double lower = f->setup.face[n][0].velocity[c];
    return lower + s * (f->setup.face[n][1].velocity[c] - lower);
}

static double parabola(const struct fluid *f, int c, const double x[3])
{
    int n = f->start.normal;
    double s = 2 * x[n] / f->length[n] - 1;
    return c == f->start.direction ? 1.5 * f->start.amplitude * (1 - s * s) : 0;
}

/* How many waves of about `wave` fit into direction d. */
static double waves(const struct fluid *f, int d, double wave)
{
    return two_pi * fmax(1, round(f->length[d] / wave)) / f->length[d];
}

/* Pairs of streamwise vortices between the walls, as high as the channel and
 * waxing and waning along it: they lift streaks, and these break. */
static double vortices(const struct fluid *f, int c, const double x[3])
{
    int n = f->start.normal, d = f->start.direction, across = 3 - n - d;
    double height = f->length[n], s = 2 * x[n] / height - 1;
    double k = waves(f, across, height), q = waves(f, d, 2 * height);
    double envelope = 1 - s * s,
           size = f->start.amplitude * f->start.perturbation;
    double waxing = 1 + 0.5 * cos(q * x[d]);
    if (c == n)
        return size * envelope * envelope * cos(k * x[across]) * waxing;
    if (c == across)
        return size * 8 / (k * height) * envelope * s * sin(k * x[across]) *
               waxing;
    return 0;
}

static double shear_layer(const struct fluid *f, int c, const double x[3])
{
    const struct fluid_start *s = &f->start;
    int n = s->normal, d = s->direction;
    int walls = f->setup.face[n][0].type != FLUID_PERIODIC;
    double at = x[n], height = f->length[n];
    if (c == n)
        return s->amplitude * s->perturbation *
               sin(two_pi * x[d] / f->length[d]) *
               (walls ? sin(0.5 * two_pi * at / height) : 1);
    if (c != d)
        return 0;
    if (walls)
        return s->amplitude * tanh((at - 0.5 * height) / s->thickness);
    double inside =
        at <= 0.5 * height ? at - 0.25 * height : 0.75 * height - at;
    return s->amplitude * tanh(inside / s->thickness);
}

/* Noise of -1 to 1 that belongs to a cell. */
static double noise(const struct fluid *f, int what, const int64_t cell[3])
{
    const int64_t *n = f->setup.cells;
    int64_t index = (cell[2] * n[1] + cell[1]) * n[0] + cell[0];
    struct rng_words r =
        rng_philox(f->seed, RNG_NOISE, (uint64_t)what, (uint64_t)index);
    return 2 * rng_uniform(r.w[0], r.w[1]) - 1;
}

static double profile(const struct fluid *f, int c, const double x[3])
{
    switch (f->start.profile) {
    case FLUID_TAYLOR_GREEN:
    case FLUID_TAYLOR_GREEN_2D:
        return taylor_green(f, c, x);
    case FLUID_POISEUILLE:
        return between_walls(f, c, x) + parabola(f, c, x);
    case FLUID_COUETTE:
        return between_walls(f, c, x);
    case FLUID_CHANNEL:
        return between_walls(f, c, x) + parabola(f, c, x) + vortices(f, c, x);
    case FLUID_SHEAR_LAYER:
        return shear_layer(f, c, x);
    default:
        return 0;
    }
}

/* How strong the noise is at x: none at the walls. */
static double noise_size(const struct fluid *f, const double x[3])
{
    const struct fluid_start *s = &f->start;
    int noisy = s->profile == FLUID_POISEUILLE || s->profile == FLUID_COUETTE ||
                s->profile == FLUID_CHANNEL;
    double wall = 2 * x[s->normal] / f->length[s->normal] - 1;
    double share = s->profile == FLUID_CHANNEL ? 0.2 : 1;
    return noisy ? share * s->amplitude * s->perturbation * (1 - wall * wall)
                 : 0;
}

/* ---- blocks ---- */

/* Cells of this rank, in the order of a block; value(f, what, cell). */
static void fill(const struct fluid *f, int what,
                 double (*value)(const struct fluid *, int, const int64_t *),
                 double *block)
{
    const struct block *b = &f->block;
    int64_t cell[3];
    for (int64_t k = 0; k < b->local[2]; k++)
        for (int64_t j = 0; j < b->local[1]; j++)
            for (int64_t i = 0; i < b->local[0]; i++) {
                cell[0] = i;
                cell[1] = b->first[1] + j;
                cell[2] = b->first[2] + k;
                *block++ = value(f, what, cell);
            }
}

static double velocity_at(const struct fluid *f, int c, const int64_t cell[3])
{
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = d == c ? f->face[d][cell[d] + 1] : f->center[d][cell[d]];
    double size = noise_size(f, x);
    double u = f->start.velocity[c] + profile(f, c, x);
    return size > 0 ? u + size * noise(f, c, cell) : u;
}

static double scalar_at(const struct fluid *f, int i, const int64_t cell[3])
{
    const struct fluid_tracer *t = &f->tracer[i];
    double value = t->value;
    if (t->profile == FLUID_SCALAR_LINEAR) {
        int d = t->across;
        double s = f->center[d][cell[d]] / f->length[d];
        double lower = f->setup.scalar[i].face[d][0].value;
        value = lower + s * (f->setup.scalar[i].face[d][1].value - lower);
    }
    if (t->perturbation > 0)
        value += t->perturbation * noise(f, 3 + i, cell);
    return value;
}

static int place_velocity(struct ctx *ctx, struct fluid *f, double *block)
{
    double scale = f->start.profile == FLUID_RANDOM ? fluid_random_scale(f) : 0;
    for (int c = 0; c < 3; c++) {
        fill(f, c, velocity_at, block);
        if (scale > 0)
            TRY(fluid_random_component(ctx, f, c, scale, block));
        TRY(f->k->set(ctx, f->store, (enum fluid_field)(FLUID_U + c), block));
    }
    return 0;
}

static int place_scalars(struct ctx *ctx, struct fluid *f, double *block)
{
    for (int i = 0; i < f->setup.n_scalars; i++) {
        fill(f, i, scalar_at, block);
        TRY(f->k->set(ctx, f->store, (enum fluid_field)(FLUID_SCALAR0 + i),
                      block));
    }
    return 0;
}

static int clear_pressure(struct ctx *ctx, struct fluid *f, double *block)
{
    if (f->setup.diffusion == FLUID_EXPLICIT)
        return 0;
    for (size_t i = 0; i < fluid_block_cells(f); i++)
        block[i] = 0;
    return f->k->set(ctx, f->store, FLUID_PRESSURE, block);
}

/* ---- projection ---- */

/* A substage in which nothing happens but the projection: no force, no
 * convection, and no time for diffusion; and the flow that is held is set. */
static int project(struct ctx *ctx, struct fluid *f, double *rate)
{
    struct fluid_substage sub = {
        .first = 1, .last = 1, .dt = 1e-20, .alpha = 1};
    double unused[3] = {0, 0, 0};
    TRY(fluid_substage(ctx, f, &sub, unused, rate));
    return comm_max_double(ctx, rate, 1);
}

/* The pressure of a first substage, which is then undone. `saved` has room for
 * velocity and scalars. */
static int find_pressure(struct ctx *ctx, struct fluid *f, double *saved)
{
    struct fluid_substage sub = {.first = 1,
                                 .last = 1,
                                 .dt = f->dt,
                                 .gamma = fluid_gamma[0],
                                 .alpha = fluid_gamma[0]};
    size_t n = fluid_block_cells(f);
    double rate;
    for (int d = 0; d < 3; d++)
        sub.force[d] = f->acceleration[d];
    for (int i = 0; i < 3 + f->setup.n_scalars; i++)
        TRY(f->k->get(
            ctx, f->store,
            (enum fluid_field)(i < 3 ? FLUID_U + i : FLUID_SCALAR0 + i - 3),
            saved + (size_t)i * n));
    TRY(fluid_substage(ctx, f, &sub, NULL, &rate));
    for (int i = 0; i < 3 + f->setup.n_scalars; i++)
        TRY(f->k->set(
            ctx, f->store,
            (enum fluid_field)(i < 3 ? FLUID_U + i : FLUID_SCALAR0 + i - 3),
            saved + (size_t)i * n));
    return 0;
}

/* Room for velocity and scalars of this rank's block. */
static int allocate(struct ctx *ctx, const struct fluid *f, double **block)
{
    size_t fields = 3 + (size_t)f->setup.n_scalars;
    int status = 0;
    *block = calloc(fields * fluid_block_cells(f), sizeof **block);
    if (!*block)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the initial state");
    return comm_agree(ctx, status);
}

int fluid_find_pressure(struct ctx *ctx, struct fluid *f)
{
    double *saved;
    int status = allocate(ctx, f, &saved);
    if (status == 0)
        status = find_pressure(ctx, f, saved);
    free(saved);
    return status;
}

int fluid_place(struct ctx *ctx, struct fluid *f)
{
    double *block;
    int status = allocate(ctx, f, &block);
    if (status != 0)
        goto cleanup;
    status = place_velocity(ctx, f, block);
    if (status == 0)
        status = place_scalars(ctx, f, block);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(project(ctx, f, &f->rate));
    TRY_CLEANUP(comm_agree(ctx, clear_pressure(ctx, f, block)));
    fluid_choose_timestep(f);
    TRY_CLEANUP(find_pressure(ctx, f, block));
cleanup:
    free(block);
    return status;
}
