/* md_bench.c: the standard problem of molecular dynamics, as LAMMPS's in.lj has
 * it: fcc, density 0.8442, T = 1.44, cutoff 2.5, skin 0.3, constant energy.
 */
#include "md.h"

#include "solvers/solver.h"

static const struct bench_size sizes[] = {
    {"32k", "md.initial.cells=[20,20,20]"},
    {"256k", "md.initial.cells=[40,40,40]"},
    {"1M", "md.initial.cells=[63,63,63]"},
    {NULL, NULL}};

static const char deck[] = "[run]\n"
                           "solver = \"md\"\n"
                           "units = \"lj\"\n"
                           "seed = 87287\n"
                           "[md]\n"
                           "timestep = 0.005\n"
                           "steps = 100\n"
                           "[md.initial]\n"
                           "lattice = \"fcc\"\n"
                           "cells = [20, 20, 20]\n"
                           "density = 0.8442\n"
                           "temperature = 1.44\n"
                           "[md.pair]\n"
                           "cutoff = 2.5\n"
                           "skin = 0.3\n";

const struct solver_bench md_bench = {
    .title = "Lennard-Jones melt, density 0.8442, cutoff 2.5, skin 0.3",
    .deck = deck,
    .sizes = sizes,
    .steps_key = "md.steps",
    .precision_key = "md.precision",
    .rebuild_key = "md.pair.rebuild_every",
    .warm_up = 100,
    .steps = 200,
};
