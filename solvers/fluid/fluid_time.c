/* fluid_time.c: how long a step may be. */
#include <math.h>

#include "base/error.h"
#include "fluid.h"

/* The scheme is stable for real eigenvalues down to -2.51 / dt; explicit
 * diffusion takes 4/5 of that. */
static const double diffusion_number = 2.0;
/* A time step that may grow does so slowly. */
static const double growth = 1.05;
/* Explicit diffusion is chosen unless its step is shorter than that of the
 * flow by this factor: implicit steps cost more. */
static const double implicit_gain = 3;

static double greatest_diffusivity(const struct fluid *f)
{
    double most = f->setup.viscosity;
    for (int i = 0; i < f->setup.n_scalars; i++)
        most = fmax(most, f->setup.scalar[i].diffusivity);
    return most;
}

double fluid_viscous_limit(const struct fluid *f, enum fluid_diffusion how)
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        int implicit =
            how == FLUID_IMPLICIT || (how == FLUID_IMPLICIT_Z && d == 2);
        int flat = f->setup.cells[d] == 1 &&
                   f->setup.face[d][0].type == FLUID_PERIODIC;
        if (!implicit && !flat)
            sum += 4 / pow(fluid_least_spacing(f, d), 2);
    }
    double rate = greatest_diffusivity(f) * sum;
    return rate > 0 ? diffusion_number / rate : INFINITY;
}

static double over_spacing(const struct fluid *f, const double v[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++)
        if (f->setup.cells[d] > 1)
            sum += fabs(v[d]) / fluid_least_spacing(f, d);
    return sum;
}

/* Greatest difference of a scalar from its reference at walls and start. */
static double scalar_range(const struct fluid *f, int i)
{
    const struct fluid_scalar *s = &f->setup.scalar[i];
    double most = fabs(f->tracer[i].value - s->reference);
    if (f->tracer[i].profile == FLUID_SCALAR_LINEAR)
        most = 0;
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            if (s->face[d][side].type == FLUID_SCALAR_VALUE)
                most = fmax(most, fabs(s->face[d][side].value - s->reference));
    return most;
}

static void greatest_acceleration(const struct fluid *f, double a[3])
{
    for (int d = 0; d < 3; d++) {
        a[d] = fabs(f->acceleration[d]);
        for (int i = 0; i < f->setup.n_scalars; i++)
            a[d] += fabs(f->setup.scalar[i].buoyancy[d]) * scalar_range(f, i);
    }
}

void fluid_limits(struct fluid *f)
{
    double a[3];
    f->rate_walls = 0;
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            f->rate_walls =
                fmax(f->rate_walls,
                     over_spacing(f, f->setup.face[d][side].velocity));
    const double *omega = f->setup.rotation;
    f->rate_spin = 2 * sqrt(omega[0] * omega[0] + omega[1] * omega[1] +
                            omega[2] * omega[2]);
    greatest_acceleration(f, a);
    f->stiffness = over_spacing(f, a);
    f->viscous_dt = fluid_viscous_limit(f, f->setup.diffusion);
}

/* Speeds that the deck promises, over the cells. */
static double expected_rate(const struct fluid *f)
{
    double v[3], a[3];
    greatest_acceleration(f, a);
    for (int d = 0; d < 3; d++) {
        int moves = f->start.profile > FLUID_UNIFORM;
        v[d] = fabs(f->start.velocity[d]) + fabs(f->bulk[d]) +
               (moves ? fabs(f->start.amplitude) : 0) +
               0.3 * sqrt(a[d] * f->length[d]);
    }
    return fmax(over_spacing(f, v), f->rate_walls);
}

enum fluid_diffusion fluid_best_diffusion(const struct fluid *f)
{
    double rate = expected_rate(f);
    double wanted = f->fixed_dt > 0 ? f->fixed_dt / 1.25
                    : rate > 0      ? f->cfl / rate / implicit_gain
                                    : 0;
    if (fluid_viscous_limit(f, FLUID_EXPLICIT) >= wanted)
        return FLUID_EXPLICIT;
    if (fluid_viscous_limit(f, FLUID_IMPLICIT_Z) >= wanted)
        return FLUID_IMPLICIT_Z;
    return FLUID_IMPLICIT;
}

/* The step that the limits allow. At rest the flow gets a velocity a dt within
 * the step, hence the square. */
static double free_timestep(const struct fluid *f)
{
    double rate = fmax(f->rate, f->rate_walls) + f->rate_spin;
    double root = sqrt(rate * rate + 4 * f->stiffness * f->cfl);
    double dt = rate + root > 0 ? 2 * f->cfl / (rate + root) : INFINITY;
    dt = fmin(dt, f->viscous_dt);
    if (isinf(dt)) /* nothing moves */
        dt = isfinite(f->end_time) ? f->end_time / 100 : 1;
    return f->dt_free > 0 ? fmin(dt, growth * f->dt_free) : dt;
}

/* The next time at which a step has to end. */
static double next_stop(const struct fluid *f)
{
    double stop = f->end_time;
    if (f->landing > 0 && f->fixed_dt <= 0)
        stop =
            fmin(stop, (floor(f->time / f->landing + 1e-9) + 1) * f->landing);
    return stop;
}

void fluid_choose_timestep(struct fluid *f)
{
    int fixed = f->fixed_dt > 0;
    double stop = next_stop(f), left = stop - f->time;
    f->dt_free = fixed ? f->fixed_dt : free_timestep(f);
    /* Rather a little above cfl than a last step of half the length. */
    double slack = fmin(0.05, FLUID_CFL_LIMIT / f->cfl - 1);
    double steps = ceil(left / f->dt_free - (fixed ? 1e-6 : slack));
    f->landing_on = INFINITY;
    f->dt = f->dt_free;
    if (!(left > 0) || isinf(stop))
        return;
    if (steps <= 1) {
        f->landing_on = stop;
        f->dt = left;
    } else if (!fixed && steps < 100) {
        f->dt = left / steps;
    }
}
