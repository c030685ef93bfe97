/* fluid_bench.c: the standard problems: the Taylor-Green vortex in a periodic
 * box, a channel with stretched walls, and a cavity, each with explicit
 * diffusion; and what a scalar or implicit diffusion adds. */
#include "fluid.h"

#include <stddef.h>

#include "solvers/solver.h"

#define CUBE(n) "domain.cells=[" n "," n "," n "]"
#define CHANNEL                                         \
    " fluid.boundary.z=wall fluid.grid.stretching=tanh" \
    " fluid.initial.profile=channel fluid.forcing.bulk_velocity=[1,0,0]"
#define CAVITY                                                           \
    " fluid.boundary.x=wall fluid.boundary.y=wall fluid.boundary.z=wall" \
    " fluid.initial.profile=rest"

/* What options cost: beside the same size without. */
#define SCALAR " fluid.scalar=[{name='heat',diffusivity=1e-3,value=1.0}]"
#define IMPLICIT(how) " fluid.diffusion=" how

static const struct bench_size sizes[] = {
    {"64", CUBE("64")},
    {"128", CUBE("128")},
    {"256", CUBE("256")},
    {"240", CUBE("240")}, /* no power of two */
    {"channel-128", CUBE("128") CHANNEL},
    {"channel-256", CUBE("256") CHANNEL},
    {"cavity-128", CUBE("128") CAVITY},
    {"cavity-256", CUBE("256") CAVITY},
    {"scalar-128", CUBE("128") SCALAR},
    {"implicit-z-128", CUBE("128") CHANNEL IMPLICIT("implicit-z")},
    {"implicit-128", CUBE("128") CHANNEL IMPLICIT("implicit")},
    {NULL, NULL}};

static const char deck[] =
    "[run]\n"
    "solver = \"fluid\"\n"
    "[domain]\n"
    "cells = [64, 64, 64]\n"
    "size = [6.283185307179586, 6.283185307179586, 6.283185307179586]\n"
    "[fluid]\n"
    "viscosity = 6.25e-4\n"
    "diffusion = \"explicit\"\n"
    "timestep = 1e-4\n"
    "steps = 100\n"
    "[fluid.boundary]\n"
    "x = \"periodic\"\n"
    "y = \"periodic\"\n"
    "z = \"periodic\"\n"
    "[fluid.initial]\n"
    "profile = \"taylor-green\"\n";

const struct solver_bench fluid_bench = {
    .title = "Taylor-Green vortex at Re = 1600, a stretched channel and a "
             "cavity; three substages a step",
    .deck = deck,
    .sizes = sizes,
    .steps_key = "fluid.steps",
    .precision_key = "fluid.precision",
    .warm_up = 5,
    .steps = 20,
};
