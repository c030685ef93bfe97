/* fluid_table.c: the keys of [fluid...]; `warpdeck explain fluid` prints this
 * table. */
#include "fluid.h"

#include "base/dimensions.h"

#define FACE(name, text)                                                \
    {                                                                   \
        "fluid.boundary." name, 0, 1, "Boundary condition of " text "." \
    }

static const struct param_section sections[] = {
    {"fluid", 0, 0,
     "Incompressible flow: Navier-Stokes on a staggered Cartesian grid."},
    {"domain", 0, 0, "The box, its grid, and how the ranks share it."},
    {"fluid.grid", 0, 1,
     "Where the faces of the cells lie along z; x and y are evenly spaced."},
    {"fluid.boundary", 0, 1,
     "What the faces of the box do: x, y, z for both faces of a direction, or "
     "x_min, x_max and so on one by one. A direction that is left out is "
     "periodic."},
    FACE("x", "both faces along x"),
    FACE("y", "both faces along y"),
    FACE("z", "both faces along z"),
    FACE("x_min", "the face where x begins"),
    FACE("x_max", "the face where x ends"),
    FACE("y_min", "the face where y begins"),
    FACE("y_max", "the face where y ends"),
    FACE("z_min", "the face where z begins"),
    FACE("z_max", "the face where z ends"),
    {"fluid.initial", 0, 1,
     "Velocity at the start. What a profile lacks of being free of divergence "
     "on the grid is taken away by a projection."},
    {"fluid.forcing", 0, 1, "What drives the flow beside walls and buoyancy."},
    {"fluid.rotation", 0, 1,
     "A rotating frame: the Coriolis acceleration -2 omega x u."},
    {"fluid.scalar", 1, 1,
     "A temperature or tracer that the flow carries along; one section each. A "
     "face that is not named is adiabatic, or periodic with the box."},
    {"fluid.statistics", 0, 1,
     "Averages over planes and time, written at the end of the run under "
     "/statistics/profiles."},
    {"output", 0, 1, "What is written, and how often."},
    {NULL, 0, 0, NULL}};

#define VELOCITY          \
    {                     \
        0, 1, -1, 0, 0, 0 \
    }
#define ACCELERATION      \
    {                     \
        0, 1, -2, 0, 0, 0 \
    }
#define DIFFUSIVITY       \
    {                     \
        0, 2, -1, 0, 0, 0 \
    }
#define DENSITY           \
    {                     \
        1, -3, 0, 0, 0, 0 \
    }

enum { POSITIVE = PARAM_HAS_MIN | PARAM_MIN_OPEN };

#define BOUNDARY(name, flags)                                                 \
    {"fluid.boundary." name,                                                  \
     "type",                                                                  \
     PARAM_STRING,                                                            \
     NO_DIM,                                                                  \
     "\"periodic\"",                                                          \
     0,                                                                       \
     0,                                                                       \
     0,                                                                       \
     PARAM_REQUIRED | PARAM_WORD | (flags),                                   \
     "periodic|wall|free-slip|-inflow|-outflow",                              \
     "wall: the fluid sticks to it. free-slip: no flow through it, no "       \
     "friction. periodic: both faces of the direction."},                     \
    {                                                                         \
        "fluid.boundary." name, "velocity", PARAM_DOUBLES, VELOCITY,          \
            "[0.0, 0.0, 0.0]", 0, 0, 3, 0, NULL,                              \
            "Velocity of a moving wall; its component through the wall is 0." \
    }

#define SCALAR_FACE(name, text)                                            \
    {"fluid.scalar",                                                       \
     "value_" name,                                                        \
     PARAM_DOUBLE,                                                         \
     NO_DIM,                                                               \
     NULL,                                                                 \
     0,                                                                    \
     0,                                                                    \
     0,                                                                    \
     PARAM_OPTIONAL,                                                       \
     NULL,                                                                 \
     "Fixed value on " text "."},                                          \
    {                                                                      \
        "fluid.scalar", "flux_" name, PARAM_DOUBLE, NO_DIM, NULL, 0, 0, 0, \
            PARAM_OPTIONAL, NULL,                                          \
            "Fixed derivative along the outward normal on " text "."       \
    }

static const struct param params[] = {
    {"domain", "cells", PARAM_INTS, NO_DIM, "[64, 64, 64]", 1, 1e6, 3,
     PARAM_REQUIRED | PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "Cells in x, y, z. A flow in two dimensions is one cell deep. Counts "
     "without other prime factors than 2, 3 and 5 have the fastest "
     "transforms."},
    {"domain", "size", PARAM_DOUBLES, LENGTH,
     "[6.283185307179586, 6.283185307179586, 6.283185307179586]", 0, 0, 3,
     PARAM_REQUIRED | POSITIVE, NULL, "Edges of the box in x, y, z."},
    {"domain", "ranks", PARAM_INTS, NO_DIM, NULL, 1, 0, 3,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Ranks in x, y, z; x is never cut and has 1. Left out: slabs along z, or "
     "what a short measurement at the start finds faster."},

    {"fluid", "viscosity", PARAM_DOUBLE, DIFFUSIVITY, "6.25e-4", 0, 0, 0,
     PARAM_REQUIRED | PARAM_HAS_MIN, NULL, "Kinematic viscosity."},
    {"fluid", "density", PARAM_DOUBLE, DENSITY, "1.0", 0, 0, 0, POSITIVE, NULL,
     "Density; only the pressure depends on it."},
    {"fluid", "cfl", PARAM_DOUBLE, NO_DIM, "1.0", 0, 1.7320508075688772, 0,
     PARAM_STARTER | POSITIVE | PARAM_HAS_MAX, NULL,
     "The time step follows from it: the greatest dt (|u|/dx + |v|/dy + "
     "|w|/dz). At most sqrt(3), the limit of the three-stage scheme."},
    {"fluid", "timestep", PARAM_DOUBLE, TIME, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "A fixed time step. The run ends where the flow comes above cfl then, or "
     "above sqrt(3) where cfl is left out."},
    {"fluid", "end_time", PARAM_DOUBLE, TIME, "20.0", 0, 0, 0,
     PARAM_STARTER | PARAM_OPTIONAL | POSITIVE, NULL,
     "The run ends at exactly this time. It needs end_time or steps."},
    {"fluid", "steps", PARAM_INT, NO_DIM, "1000", 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Most steps; 0 computes and writes the initial state only."},
    {"fluid", "precision", PARAM_STRING, NO_DIM, "\"double\"", 0, 0, 0,
     PARAM_STARTER, "double|single", "Precision of all fields."},
    {"fluid", "diffusion", PARAM_STRING, NO_DIM, "\"auto\"", 0, 0, 0, 0,
     "auto|explicit|implicit-z|implicit",
     "Diffusion of momentum and scalars in time. explicit: limits the time "
     "step by the square of the cell size. implicit-z: Crank-Nicolson along z. "
     "implicit: along all directions. auto: explicit unless that would limit "
     "the time step far more than the flow does."},
    {"fluid", "gravity", PARAM_DOUBLES, ACCELERATION, "[0.0, 0.0, -1.0]", 0, 0,
     3, PARAM_OPTIONAL, NULL,
     "Acceleration of gravity, which acts through the expansion of scalars."},

    {"fluid.grid", "stretching", PARAM_STRING, NO_DIM, "\"none\"", 0, 0, 0, 0,
     "none|tanh|tanh-min|tanh-max",
     "Spacing along z. none: even. tanh: fine at both ends. tanh-min, "
     "tanh-max: fine at one end."},
    {"fluid.grid", "factor", PARAM_DOUBLE, NO_DIM, "2.0", 0, 10, 0,
     POSITIVE | PARAM_HAS_MAX, NULL,
     "Strength of the stretching: the argument of tanh at the ends."},
    {"fluid.grid", "z_faces", PARAM_DOUBLES, LENGTH, "[0.0, 0.4, 1.0]", 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "The faces themselves, rising from 0 to the height of the box, one more "
     "than there are cells."},

    BOUNDARY("x", PARAM_STARTER),
    BOUNDARY("y", PARAM_STARTER),
    BOUNDARY("z", PARAM_STARTER),
    BOUNDARY("x_min", 0),
    BOUNDARY("x_max", 0),
    BOUNDARY("y_min", 0),
    BOUNDARY("y_max", 0),
    BOUNDARY("z_min", 0),
    BOUNDARY("z_max", 0),

    {"fluid.initial", "profile", PARAM_STRING, NO_DIM, "\"taylor-green\"", 0, 0,
     0, PARAM_STARTER | PARAM_OPTIONAL,
     "rest|uniform|taylor-green|taylor-green-2d|poiseuille|couette|shear-layer|"
     "random|channel",
     "rest, uniform: only `velocity`; so where it is left out. taylor-green, "
     "taylor-green-2d: the "
     "vortices, of one wave in each direction. poiseuille: the parabola "
     "between two walls. couette: linear between the velocities of two walls. "
     "shear-layer: tanh. random: a solenoidal field of a given spectrum. "
     "channel: a parabola with streamwise vortices and noise, to become "
     "turbulent."},
    {"fluid.initial", "amplitude", PARAM_DOUBLE, VELOCITY, "1.0", 0, 0, 0,
     PARAM_STARTER, NULL,
     "Greatest velocity of taylor-green and shear-layer, mean velocity of "
     "poiseuille and channel, root mean square of each component of random."},
    {"fluid.initial", "velocity", PARAM_DOUBLES, VELOCITY, "[0.0, 0.0, 0.0]", 0,
     0, 3, 0, NULL, "A uniform velocity that is added to any profile."},
    {"fluid.initial", "direction", PARAM_STRING, NO_DIM, "\"x\"", 0, 0, 0, 0,
     "x|y|z", "Direction of the flow of a sheared profile."},
    {"fluid.initial", "normal", PARAM_STRING, NO_DIM, "\"z\"", 0, 0, 0,
     PARAM_OPTIONAL, "x|y|z",
     "Direction along which a sheared profile changes. Left out: one with "
     "walls, z first; where there are none, y or the other that is left."},
    {"fluid.initial", "thickness", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Length in the tanh of shear-layer. Left out: 1/30 of the box."},
    {"fluid.initial", "perturbation", PARAM_DOUBLE, NO_DIM, "0.0", 0, 0, 0,
     PARAM_HAS_MIN, NULL,
     "Strength of what disturbs shear-layer, channel, poiseuille and couette, "
     "over the amplitude."},
    {"fluid.initial", "peak", PARAM_DOUBLE, NO_DIM, "4.0", 0, 16, 0,
     POSITIVE | PARAM_HAS_MAX, NULL,
     "random: the spectrum is k^4 exp(-2 (k/peak)^2), k in waves along the "
     "longest edge."},

    {"fluid.forcing", "acceleration", PARAM_DOUBLES, ACCELERATION,
     "[0.0, 0.0, 0.0]", 0, 0, 3, 0, NULL,
     "A uniform body force per mass; minus a mean pressure gradient over the "
     "density is one."},
    {"fluid.forcing", "bulk_velocity", PARAM_DOUBLES, VELOCITY, NULL, 0, 0, 3,
     PARAM_OPTIONAL, NULL,
     "Mean velocity that a uniform pressure gradient holds exactly; components "
     "of 0 are left alone."},

    {"fluid.rotation", "omega", PARAM_DOUBLES, RATE, "[0.0, 0.0, 1.0]", 0, 0, 3,
     PARAM_REQUIRED, NULL, "Angular velocity of the frame."},

    {"fluid.scalar", "name", PARAM_STRING, NO_DIM, "\"temperature\"", 0, 0, 0,
     PARAM_REQUIRED, NULL,
     "Name of the field, in output.fields and in the results."},
    {"fluid.scalar", "diffusivity", PARAM_DOUBLE, DIFFUSIVITY, "1e-3", 0, 0, 0,
     PARAM_REQUIRED | PARAM_HAS_MIN, NULL,
     "Diffusivity; 0: the flow alone carries it."},
    {"fluid.scalar", "expansion", PARAM_DOUBLE, NO_DIM, "0.0", 0, 0, 0, 0, NULL,
     "Relative loss of density for each unit of the scalar (Boussinesq): the "
     "fluid is accelerated by -expansion (value - reference) gravity."},
    {"fluid.scalar", "reference", PARAM_DOUBLE, NO_DIM, "0.0", 0, 0, 0, 0, NULL,
     "The value without buoyancy."},
    {"fluid.scalar", "initial", PARAM_STRING, NO_DIM, "\"uniform\"", 0, 0, 0, 0,
     "uniform|linear",
     "At the start. uniform: `value` everywhere. linear: between the fixed "
     "values of two opposite faces."},
    {"fluid.scalar", "value", PARAM_DOUBLE, NO_DIM, "0.0", 0, 0, 0, 0, NULL,
     "Value of a uniform start."},
    {"fluid.scalar", "perturbation", PARAM_DOUBLE, NO_DIM, "0.0", 0, 0, 0,
     PARAM_HAS_MIN, NULL,
     "Noise that is added at the start, even between minus and plus this."},
    SCALAR_FACE("x", "both faces along x"),
    SCALAR_FACE("y", "both faces along y"),
    SCALAR_FACE("z", "both faces along z"),
    SCALAR_FACE("x_min", "the face where x begins"),
    SCALAR_FACE("x_max", "the face where x ends"),
    SCALAR_FACE("y_min", "the face where y begins"),
    SCALAR_FACE("y_max", "the face where y ends"),
    SCALAR_FACE("z_min", "the face where z begins"),
    SCALAR_FACE("z_max", "the face where z ends"),

    {"fluid.statistics", "start", PARAM_DOUBLE, TIME, "0.0", 0, 0, 0,
     PARAM_HAS_MIN, NULL, "Time of the first sample."},
    {"fluid.statistics", "every", PARAM_INTERVAL, TIME, "10", 0, 0, 0, 0, NULL,
     "How often a sample is taken."},
    {"fluid.statistics", "direction", PARAM_STRING, NO_DIM, "\"z\"", 0, 0, 0,
     PARAM_OPTIONAL, "x|y|z",
     "Profiles run along this direction and are means over planes across it. "
     "Left out: the direction with walls, or z."},
    {"fluid.statistics", "spectra", PARAM_STRINGS, NO_DIM, "[\"x\", \"y\"]", 0,
     0, 0, PARAM_OPTIONAL, "x|y",
     "Mean squares of the velocity by mode along these directions, which must "
     "be periodic, at the times of the samples. y must not be cut among "
     "ranks."},
    {"fluid.statistics", "spectra_at", PARAM_DOUBLES, LENGTH, "[0.1, 1.0]", 0,
     0, 0, PARAM_OPTIONAL, NULL,
     "Heights z whose planes have spectra of their own. Left out: one spectrum "
     "of the whole volume."},

    {"output", "fields", PARAM_STRINGS, NO_DIM, "[\"velocity\", \"pressure\"]",
     0, 0, 0, 0, NULL,
     "The fields of a frame: velocity, pressure, vorticity, q_criterion (the "
     "second invariant of the velocity gradient), and scalars by name."},
    {NULL, NULL, PARAM_BOOL, NO_DIM, NULL, 0, 0, 0, 0, NULL, NULL}};

const struct param_table fluid_param_table = {
    sections, params, "fluid.inflow|fluid.solids|fluid.turbulence", NULL};
