/* fluid_params.c: what the keys of [fluid...] become. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "fluid.h"

/* The index of a chosen text in a NULL-ended list. */
static int choice(const char *text, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return 0;
}

static void copy3(const double *from, double to[3])
{
    for (int d = 0; d < 3; d++)
        to[d] = from[d];
}

static int read_axis(struct params *p, const char *section, const char *key)
{
    return params_string(p, section, key)[0] - 'x';
}

static void read_domain(struct params *p, struct fluid *f)
{
    size_t n = 0;
    const int64_t *cells = params_ints(p, "domain", "cells", &n);
    copy3(params_doubles(p, "domain", "size", &n), f->length);
    for (int d = 0; d < 3; d++)
        f->setup.cells[d] = cells[d];
}

static void read_times(struct params *p, struct fluid *f)
{
    f->cfl = params_double(p, "fluid", "cfl");
    f->steps = -1;
    f->end_time = INFINITY;
    if (params_is_set(p, "fluid", "steps"))
        f->steps = params_int(p, "fluid", "steps");
    if (params_is_set(p, "fluid", "end_time"))
        f->end_time = params_double(p, "fluid", "end_time");
    if (f->steps < 0 && isinf(f->end_time))
        params_error(p, "fluid", "end_time",
                     "fluid.end_time or fluid.steps is needed: it says when "
                     "the run ends");
    if (!params_is_set(p, "fluid", "timestep"))
        return;
    f->fixed_dt = params_double(p, "fluid", "timestep");
    if (!params_is_set(p, "fluid", "cfl"))
        f->cfl = FLUID_CFL_LIMIT;
    if (f->fixed_dt > f->end_time)
        params_error(p, "fluid", "timestep",
                     "fluid.timestep = %g is longer than the run, "
                     "fluid.end_time = %g",
                     f->fixed_dt, f->end_time);
}

static void read_fluid(struct params *p, struct fluid *f)
{
    static const char *const hows[] = {"explicit", "implicit-z", "implicit",
                                       NULL};
    const char *how = params_string(p, "fluid", "diffusion");
    f->units = params_units(p);
    f->seed = (uint64_t)params_int(p, "run", "seed");
    f->setup.viscosity = params_double(p, "fluid", "viscosity");
    f->setup.density = params_double(p, "fluid", "density");
    f->setup.diffusion = (enum fluid_diffusion)choice(how, hows);
    f->auto_diffusion = strcmp(how, "auto") == 0;
    f->precision = strcmp(params_string(p, "fluid", "precision"), "single") == 0
                       ? PRECISION_SINGLE
                       : PRECISION_DOUBLE;
    read_times(p, f);
}

static int has_walls(const struct fluid *f, int d)
{
    return f->setup.face[d][0].type != FLUID_PERIODIC;
}

/* Across which direction a sheared profile changes. */
static int guess_normal(const struct fluid *f, int along)
{
    for (int d = 2; d >= 0; d--)
        if (d != along && has_walls(f, d))
            return d;
    return along == 1 ? 0 : 1;
}

static const char *profile_name(const struct params *p)
{
    return params_is_set(p, "fluid.initial", "profile")
               ? params_string(p, "fluid.initial", "profile")
               : "rest";
}

static void check_profile(struct params *p, const struct fluid *f)
{
    const struct fluid_start *s = &f->start;
    const char *name = profile_name(p);
    int walls = s->profile == FLUID_POISEUILLE || s->profile == FLUID_COUETTE ||
                s->profile == FLUID_CHANNEL;
    int sheared = walls || s->profile == FLUID_SHEAR_LAYER;
    if (sheared && s->direction == s->normal)
        params_error(p, "fluid.initial", "normal",
                     "the profile '%s' cannot change along its own direction",
                     name);
    else if (walls && !has_walls(f, s->normal))
        params_error(p, "fluid.initial", "profile",
                     "the profile '%s' lies between two walls, but %c is "
                     "periodic",
                     name, "xyz"[s->normal]);
    if (s->profile != FLUID_RANDOM)
        return;
    for (int d = 0; d < 3; d++)
        if (has_walls(f, d)) {
            params_error(p, "fluid.initial", "profile",
                         "a random field needs a box that is periodic in all "
                         "directions");
            return;
        }
}

static void read_initial(struct params *p, struct fluid *f)
{
    static const char *const names[] = {
        "rest",       "uniform", "taylor-green", "taylor-green-2d",
        "poiseuille", "couette", "shear-layer",  "random",
        "channel",    NULL};
    struct fluid_start *s = &f->start;
    size_t n = 0;
    s->profile = (enum fluid_profile)choice(profile_name(p), names);
    s->amplitude = params_double(p, "fluid.initial", "amplitude");
    s->perturbation = params_double(p, "fluid.initial", "perturbation");
    s->peak = params_double(p, "fluid.initial", "peak");
    copy3(params_doubles(p, "fluid.initial", "velocity", &n), s->velocity);
    s->direction = read_axis(p, "fluid.initial", "direction");
    s->normal = params_is_set(p, "fluid.initial", "normal")
                    ? read_axis(p, "fluid.initial", "normal")
                    : guess_normal(f, s->direction);
    s->thickness = params_is_set(p, "fluid.initial", "thickness")
                       ? params_double(p, "fluid.initial", "thickness")
                       : f->length[s->normal] / 30;
    check_profile(p, f);
    for (int d = 0; d < 3; d++)
        if (s->velocity[d] != 0 && has_walls(f, d))
            params_error(p, "fluid.initial", "velocity",
                         "a uniform velocity along %c would flow through the "
                         "walls there",
                         "xyz"[d]);
}

static void read_forcing(struct params *p, struct fluid *f)
{
    size_t n = 0;
    copy3(params_doubles(p, "fluid.forcing", "acceleration", &n),
          f->acceleration);
    if (params_is_set(p, "fluid.forcing", "bulk_velocity"))
        copy3(params_doubles(p, "fluid.forcing", "bulk_velocity", &n), f->bulk);
    for (int d = 0; d < 3; d++) {
        f->held[d] = f->bulk[d] != 0;
        if (f->held[d] && has_walls(f, d))
            params_error(p, "fluid.forcing", "bulk_velocity",
                         "no flow along %c can be held: there are walls",
                         "xyz"[d]);
        else if (f->held[d] && f->acceleration[d] != 0)
            params_error(p, "fluid.forcing", "bulk_velocity",
                         "along %c either the acceleration or the mean "
                         "velocity is given, not both",
                         "xyz"[d]);
    }
    if (params_has_section(p, "fluid.rotation"))
        copy3(params_doubles(p, "fluid.rotation", "omega", &n),
              f->setup.rotation);
}

static void read_statistics(struct params *p, struct fluid *f)
{
    struct fluid_statistics *s = &f->statistics;
    s->on = params_has_section(p, "fluid.statistics");
    s->start = params_double(p, "fluid.statistics", "start");
    s->every = params_interval(p, "fluid.statistics", "every");
    s->axis = 2;
    for (int d = 0; d < 3; d++)
        if (has_walls(f, d) && !has_walls(f, s->axis))
            s->axis = d;
    if (params_is_set(p, "fluid.statistics", "direction"))
        s->axis = read_axis(p, "fluid.statistics", "direction");
    if (s->on && s->every.kind == INTERVAL_NEVER)
        params_error(p, "fluid.statistics", "every",
                     "fluid.statistics.every = 0 takes no samples; leave the "
                     "section out instead");
    if (s->on && s->start > f->end_time)
        params_error(p, "fluid.statistics", "start",
                     "the first sample at %g comes after the end of the run, "
                     "%g",
                     s->start, f->end_time);
    fluid_read_spectra(p, f);
}

const char *const fluid_field_names[] = {"velocity", "pressure", "vorticity",
                                         "q_criterion", NULL};

/* "velocity", ... and the scalars, for the driver and for messages. */
static void name_fields(struct fluid *f)
{
    int n = 0;
    for (; fluid_field_names[n]; n++)
        f->field_names[n] = fluid_field_names[n];
    for (int i = 0; i < f->setup.n_scalars; i++)
        f->field_names[n++] = f->tracer[i].name;
    f->field_names[n] = NULL;
}

static void read_output(struct params *p, struct fluid *f)
{
    size_t n = 0, used = 0;
    const char *const *fields = params_strings(p, "output", "fields", &n);
    struct interval every = params_interval(p, "output", "frames_every");
    char list[256] = "";
    double components = 0;
    name_fields(f);
    for (int i = 0; f->field_names[i] && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i > 0 ? ", " : "", f->field_names[i]);
    for (size_t i = 0; i < n; i++) {
        if (!fluid_has_field(f, fields[i]))
            params_error(p, "output", "fields", "no field '%s'; there are %s",
                         fields[i], list);
        for (size_t k = 0; k < i; k++)
            if (strcmp(fields[i], fields[k]) == 0)
                params_error(p, "output", "fields",
                             "the field '%s' stands twice", fields[i]);
        components += fluid_field_components(fields[i]);
    }
    f->frame_bytes = 8 * components;
    for (int d = 0; d < 3; d++)
        f->frame_bytes *= (double)f->setup.cells[d];
    f->landing = every.kind == INTERVAL_TIME ? every.time : 0;
}

/* The viscous limit as a fault of the deck: with a fixed step it is known. */
static void check_viscous(struct params *p, const struct fluid *f)
{
    double limit = fluid_viscous_limit(f, f->setup.diffusion);
    if (f->auto_diffusion)
        limit = INFINITY;
    if (f->fixed_dt > 1.25 * limit)
        params_error(p, "fluid", "timestep",
                     "fluid.timestep = %g is beyond the limit of explicit "
                     "diffusion, %.3g; choose less, or fluid.diffusion = "
                     "\"implicit\"",
                     f->fixed_dt, 1.25 * limit);
    else if (limit < 1e-9 * f->end_time && isfinite(f->end_time))
        params_error(p, "fluid", "diffusion",
                     "explicit diffusion limits the time step to %.3g, more "
                     "than 10^9 steps; choose fluid.diffusion = \"implicit\"",
                     limit);
}

int fluid_read_params(struct ctx *ctx, struct params *p, struct fluid *f)
{
    read_domain(p, f);
    read_fluid(p, f);
    fluid_read_boundary(p, f);
    fluid_read_scalars(p, f);
    read_initial(p, f);
    read_forcing(p, f);
    read_statistics(p, f);
    read_output(p, f);
    TRY(comm_agree(ctx, fluid_make_grid(ctx, p, f)));
    TRY(params_finish(ctx, p));
    check_viscous(p, f);
    TRY(comm_agree(ctx, fluid_choose_block(ctx, p, f)));
    return params_finish(ctx, p);
}
