/* fluid_observe.c: scalars of time. Means are over the volume of the box. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "fluid.h"

enum kind {
    KINETIC,
    DISSIPATION,
    ENSTROPHY,
    DIVERGENCE,
    CFL,
    TIMESTEP,
    BULK,     /* by direction */
    GRADIENT, /* by direction */
    FRICTION, /* by direction of the walls' normal */
    REYNOLDS,
    MEAN, /* by scalar */
    VARIANCE,
    NUSSELT,
    NUSSELT_VOLUME
};

static void name_units(struct fluid *f)
{
    static const struct dimension dims[FLUID_UNITS] = {
        [FLUID_LENGTH] = {0, 1, 0, 0, 0, 0},
        [FLUID_TIME] = {0, 0, 1, 0, 0, 0},
        [FLUID_VELOCITY] = {0, 1, -1, 0, 0, 0},
        [FLUID_VELOCITY2] = {0, 2, -2, 0, 0, 0},
        [FLUID_DISSIPATION] = {0, 2, -3, 0, 0, 0},
        [FLUID_RATE] = {0, 0, -1, 0, 0, 0},
        [FLUID_RATE2] = {0, 0, -2, 0, 0, 0},
        [FLUID_ACCELERATION] = {0, 1, -2, 0, 0, 0},
        [FLUID_PRESSURE_UNIT] = {1, -1, -2, 0, 0, 0},
        [FLUID_WAVENUMBER] = {0, -1, 0, 0, 0, 0}};
    for (int u = 0; u < FLUID_UNITS; u++)
        unit_name(f->units, dims[u], f->unit_text[u], FLUID_TEXT_MAX);
}

static void add(struct fluid *f, enum kind kind, int index, const char *name,
                enum fluid_unit unit, const char *description,
                const char *heading, int decimals)
{
    int n = f->n_observables;
    if (n == FLUID_OBSERVABLES_MAX)
        return;
    snprintf(f->text[n], FLUID_TEXT_MAX, "%s", name);
    f->row[n] = (struct fluid_row){(int)kind, index};
    f->observables[n] = (struct observable){.name = f->text[n],
                                            .unit = f->unit_text[unit],
                                            .description = description,
                                            .heading = heading,
                                            .decimals = decimals};
    f->n_observables++;
}

/* A name with the direction or scalar behind it, where there are several. */
static const char *with(char *text, const char *name, const char *suffix)
{
    snprintf(text, FLUID_TEXT_MAX, "%s%s%s", name, suffix[0] ? "_" : "",
             suffix);
    return text;
}

static int has_friction(const struct fluid *f, int d)
{
    return f->setup.face[d][0].type == FLUID_NO_SLIP ||
           f->setup.face[d][1].type == FLUID_NO_SLIP;
}

static void add_directions(struct fluid *f)
{
    static const char *const axis[] = {"x", "y", "z"};
    char text[FLUID_TEXT_MAX];
    int walls = has_friction(f, 0) + has_friction(f, 1) + has_friction(f, 2);
    for (int d = 0; d < 3; d++)
        add(f, BULK, d, with(text, "bulk_velocity", axis[d]), FLUID_VELOCITY,
            "mean velocity over the box; times the cross-section: flow rate",
            NULL, 6);
    for (int d = 0; d < 3; d++)
        if (f->held[d])
            add(f, GRADIENT, d, with(text, "pressure_gradient", axis[d]),
                FLUID_ACCELERATION,
                "acceleration that holds the flow: minus the mean pressure "
                "gradient over the density",
                "-dp/dx", 6);
    for (int d = 0; d < 3; d++) {
        const char *suffix = walls > 1 ? axis[d] : "";
        if (!has_friction(f, d))
            continue;
        add(f, FRICTION, d, with(text, "friction_velocity", suffix),
            FLUID_VELOCITY,
            "root of the mean shear stress on the walls over the density", NULL,
            6);
        if (f->setup.viscosity > 0)
            add(f, REYNOLDS, d, with(text, "reynolds_tau", suffix),
                FLUID_NO_UNIT,
                "friction velocity times half the distance of the walls over "
                "the viscosity",
                walls == 1 ? "Re_tau" : NULL, 2);
    }
}

static void add_scalars(struct fluid *f)
{
    char text[FLUID_TEXT_MAX];
    for (int i = 0; i < f->setup.n_scalars; i++) {
        const char *name = f->tracer[i].name;
        const char *suffix = f->setup.n_scalars > 1 ? name : "";
        char mean[FLUID_NAME_MAX + 8], variance[FLUID_NAME_MAX + 12];
        snprintf(mean, sizeof mean, "%s_mean", name);
        snprintf(variance, sizeof variance, "%s_variance", name);
        add(f, MEAN, i, mean, FLUID_NO_UNIT, "mean of the scalar", NULL, 6);
        add(f, VARIANCE, i, variance, FLUID_NO_UNIT,
            "mean square of the scalar less the square of its mean", NULL, 6);
        if (f->tracer[i].across < 0)
            continue;
        add(f, NUSSELT, i, with(text, "nusselt", suffix), FLUID_NO_UNIT,
            "flux through the walls over that of a fluid at rest, mean of both "
            "walls",
            "Nu", 5);
        add(f, NUSSELT_VOLUME, i, with(text, "nusselt_volume", suffix),
            FLUID_NO_UNIT,
            "1 + convected flux over that of a fluid at rest, mean over the "
            "box",
            NULL, 5);
    }
}

void fluid_observe_init(struct fluid *f)
{
    name_units(f);
    add(f, KINETIC, 0, "kinetic_energy", FLUID_VELOCITY2,
        "mean of u.u / 2, for each unit of mass", "K", 6);
    add(f, DISSIPATION, 0, "dissipation", FLUID_DISSIPATION,
        "mean loss of kinetic energy by viscosity, for each unit of mass",
        "dissip.", 7);
    add(f, ENSTROPHY, 0, "enstrophy", FLUID_RATE2,
        "mean square of the vorticity / 2", NULL, 6);
    add(f, DIVERGENCE, 0, "divergence", FLUID_RATE,
        "greatest divergence of a cell", NULL, 6);
    add(f, CFL, 0, "cfl", FLUID_NO_UNIT,
        "greatest dt (|u|/dx + |v|/dy + |w|/dz) at the present time step",
        "CFL", 3);
    add(f, TIMESTEP, 0, "timestep", FLUID_TIME, "length of the next step", NULL,
        6);
    add_directions(f);
    add_scalars(f);
}

/* ---- values ---- */

/* Sums over ranks that all values are made of. */
static int look(struct ctx *ctx, struct fluid *f, struct fluid_look *out)
{
    struct fluid_look sum;
    TRY(fluid_refresh(ctx, f));
    TRY(f->k->look(ctx, f->store, out));
    double greatest[2] = {out->divergence, out->cfl_rate};
    sum = *out;
    TRY(comm_sum_double(ctx, (double *)&sum,
                        (int)(sizeof sum / sizeof(double))));
    TRY(comm_max_double(ctx, greatest, 2));
    *out = sum;
    out->divergence = greatest[0];
    out->cfl_rate = greatest[1];
    return 0;
}

static double area(const struct fluid *f, int d)
{
    return f->length[(d + 1) % 3] * f->length[(d + 2) % 3];
}

/* From the shear on both walls; a free-slip face has none and does not count.
 */
static double friction_velocity(const struct fluid *f,
                                const struct fluid_look *l, int d)
{
    double stress = 0;
    int walls = 0;
    for (int side = 0; side < 2; side++) {
        const double *t = l->shear[d][side];
        stress += sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) / area(f, d);
        walls += f->setup.face[d][side].type == FLUID_NO_SLIP;
    }
    return walls > 0 ? sqrt(stress / walls) : 0;
}

static double half_height(const struct fluid *f, int d)
{
    return 0.5 * f->length[d];
}

/* Flux of a fluid at rest, through a unit of area: towards rising coordinates.
 */
static double conducted(const struct fluid *f, int i)
{
    const struct fluid_scalar *s = &f->setup.scalar[i];
    int d = f->tracer[i].across;
    return s->diffusivity * (s->face[d][0].value - s->face[d][1].value) /
           f->length[d];
}

static double nusselt(const struct fluid *f, const struct fluid_look *l, int i)
{
    int d = f->tracer[i].across;
    double flux = 0.5 * (l->scalar_flux[i][d][0] - l->scalar_flux[i][d][1]);
    double at_rest = conducted(f, i) * area(f, d);
    return at_rest != 0 ? flux / at_rest : 1;
}

static double value(const struct fluid *f, const struct fluid_look *l,
                    struct fluid_row row)
{
    int i = row.index;
    double volume = f->length[0] * f->length[1] * f->length[2], mean, at_rest;
    switch ((enum kind)row.kind) {
    case KINETIC:
        return l->kinetic / volume;
    case DISSIPATION:
        return l->dissipation / volume;
    case ENSTROPHY:
        return l->enstrophy / volume;
    case DIVERGENCE:
        return l->divergence;
    case CFL:
        return l->cfl_rate * f->dt;
    case TIMESTEP:
        return f->dt;
    case BULK:
        return l->flow[i] / volume;
    case GRADIENT:
        return f->gradient[i];
    case FRICTION:
        return friction_velocity(f, l, i);
    case REYNOLDS:
        return friction_velocity(f, l, i) * half_height(f, i) /
               f->setup.viscosity;
    case MEAN:
        return l->scalar_mean[i] / volume;
    case VARIANCE:
        mean = l->scalar_mean[i] / volume;
        return l->scalar_variance[i] / volume - mean * mean;
    case NUSSELT:
        return nusselt(f, l, i);
    default:
        at_rest = conducted(f, i) * volume;
        return at_rest != 0
                   ? 1 + l->scalar_convection[i][f->tracer[i].across] / at_rest
                   : 1;
    }
}

int fluid_observe(struct ctx *ctx, void *state, double *values)
{
    struct fluid *f = state;
    struct fluid_look l;
    TRY(look(ctx, f, &l));
    for (int n = 0; n < f->n_observables; n++)
        values[n] = value(f, &l, f->row[n]);
    return 0;
}
