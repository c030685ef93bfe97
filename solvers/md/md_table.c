/* md_table.c: the keys of [md...]; `warpdeck explain md` prints this table. */
#include "md.h"

#include "base/param.h"

static const struct param_section sections[] = {
    {"md", 0, 0, "Molecular dynamics: time step, length and precision."},
    {"md.initial", 0, 0,
     "Where the particles come from: a lattice, or a file."},
    {"md.species", 1, 1,
     "A kind of particle; one section each. In lj units a single species 'A' "
     "of mass 1 is there without it."},
    {"md.pair", 0, 0, "Forces between pairs, and the pair list."},
    {"md.pair.coefficients", 1, 1,
     "Lennard-Jones parameters of a pair of species. Pairs of unlike species "
     "that are left out follow md.pair.mixing. In lj units a single species "
     "has epsilon = sigma = 1 without it."},
    {"md.ensemble", 0, 1, "Constant energy, or a thermostat."},
    {"md.analysis.rdf", 0, 1,
     "Radial distribution functions, accumulated during the run and written at "
     "its end under /observables/radial_distribution."},
    {"md.analysis.msd", 0, 1,
     "Mean squared displacement from the start, through the periodic "
     "boundaries; the drift of the center of mass is not taken out."},
    {NULL, 0, 0, NULL}};

enum { POSITIVE = PARAM_HAS_MIN | PARAM_MIN_OPEN };

static const struct param params[] = {
    {.section = "md",
     .key = "timestep",
     .type = PARAM_DOUBLE,
     .dim = {.time = 1},
     .fallback = "0.005",
     .flags = PARAM_STARTER | PARAM_DEFAULT_LJ | POSITIVE,
     .help = "Time step of velocity Verlet. 0.005 in lj units where it is left "
             "out; required in other units."},
    {.section = "md",
     .key = "steps",
     .type = PARAM_INT,
     .fallback = "100",
     .flags = PARAM_STARTER | PARAM_REQUIRED | PARAM_HAS_MIN,
     .help = "Number of steps. 0 computes and writes the initial state only."},
    {.section = "md",
     .key = "precision",
     .type = PARAM_STRING,
     .fallback = "\"double\"",
     .flags = PARAM_STARTER,
     .choices = "double|mixed|single",
     .help =
         "double: everything in double precision. mixed: pair terms and the "
         "force sums of a step in single, positions, velocities and energies "
         "in double. single: positions and velocities in single as well."},

    {.section = "md.initial",
     .key = "lattice",
     .type = PARAM_STRING,
     .fallback = "\"fcc\"",
     .flags = PARAM_STARTER | PARAM_OPTIONAL,
     .choices = "sc|bcc|fcc|diamond",
     .help = "Crystal to start from; needs cells and one of density, "
             "lattice_constant and domain.size."},
    {.section = "md.initial",
     .key = "cells",
     .type = PARAM_INTS,
     .fallback = "[20, 20, 20]",
     .min = 1,
     .count = 3,
     .flags = PARAM_STARTER | PARAM_OPTIONAL | PARAM_HAS_MIN,
     .help = "Cubic cells of the lattice in x, y, z."},
    {.section = "md.initial",
     .key = "density",
     .type = PARAM_DOUBLE,
     .fallback = "0.8442",
     .dim = {.length = -3},
     .flags = PARAM_STARTER | PARAM_OPTIONAL | POSITIVE,
     .help = "Particles per volume of the lattice; sets the lattice constant."},
    {.section = "md.initial",
     .key = "lattice_constant",
     .type = PARAM_DOUBLE,
     .dim = {.length = 1},
     .flags = PARAM_OPTIONAL | POSITIVE,
     .help = "Edge of the cubic cell; instead of density."},
    {.section = "md.initial",
     .key = "read",
     .type = PARAM_STRING,
     .flags = PARAM_OPTIONAL,
     .help = "Particle file, instead of a lattice: extended XYZ (.xyz), path "
             "relative to the deck's folder. Numbers are in the deck's units."},
    {.section = "md.initial",
     .key = "temperature",
     .type = PARAM_DOUBLE,
     .fallback = "1.44",
     .dim = {.temperature = 1},
     .flags = PARAM_STARTER | PARAM_OPTIONAL | PARAM_HAS_MIN,
     .help = "Draw Maxwell-Boltzmann velocities of exactly this temperature "
             "and zero total momentum. Where it is left out, velocities are "
             "those of the file, or zero."},
    {.section = "md.initial",
     .key = "overlap",
     .type = PARAM_DOUBLE,
     .dim = {.length = 1},
     .flags = PARAM_OPTIONAL | PARAM_HAS_MIN,
     .help = "Two particles nearer than this at the start are an error; 0 "
             "allows all. Left out: 0.3 of the smallest sigma."},

    {.section = "md.species",
     .key = "name",
     .type = PARAM_STRING,
     .fallback = "\"A\"",
     .flags = PARAM_STARTER | PARAM_REQUIRED,
     .help = "Name, as in particle files and in pairs of species."},
    {.section = "md.species",
     .key = "mass",
     .type = PARAM_DOUBLE,
     .dim = {.mass = 1},
     .fallback = "1",
     .flags = PARAM_DEFAULT_LJ | POSITIVE,
     .help = "Mass of a particle. 1 in lj units where it is left out; required "
             "in other units."},
    {.section = "md.species",
     .key = "fraction",
     .type = PARAM_DOUBLE,
     .max = 1,
     .flags = PARAM_OPTIONAL | PARAM_HAS_MIN | PARAM_HAS_MAX,
     .help = "Share of the lattice's sites, assigned at random; the shares of "
             "all species add up to 1."},

    {.section = "md.pair",
     .key = "style",
     .type = PARAM_STRING,
     .fallback = "\"lj\"",
     .choices = "lj",
     .help = "Form of the potential: lj is Lennard-Jones 12-6, 4 epsilon "
             "((sigma/r)^12 - (sigma/r)^6)."},
    {.section = "md.pair",
     .key = "cutoff",
     .type = PARAM_DOUBLE,
     .fallback = "2.5",
     .dim = {.length = 1},
     .flags = PARAM_STARTER | PARAM_REQUIRED | POSITIVE,
     .help = "Pairs farther apart do not interact. At most half of each edge "
             "of the box."},
    {.section = "md.pair",
     .key = "skin",
     .type = PARAM_DOUBLE,
     .fallback = "0.3",
     .dim = {.length = 1},
     .flags = PARAM_STARTER | PARAM_OPTIONAL | PARAM_HAS_MIN,
     .help = "The pair list reaches this far beyond the cutoff; it is rebuilt "
             "when a particle has moved half of it. Changes the speed, not the "
             "result. Left out: 0.12 of the cutoff."},
    {.section = "md.pair",
     .key = "shift",
     .type = PARAM_STRING,
     .fallback = "\"none\"",
     .choices = "none|energy|force",
     .help =
         "none: the potential jumps to 0 at the cutoff. energy: shifted to end "
         "at 0. force: energy and force end at 0 (linear force shift)."},
    {.section = "md.pair",
     .key = "tail",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "Add what a uniform fluid beyond the cutoff gives to energy and "
             "pressure. Only with shift = \"none\"."},
    {.section = "md.pair",
     .key = "mixing",
     .type = PARAM_STRING,
     .fallback = "\"arithmetic\"",
     .choices = "arithmetic|geometric|sixth-power",
     .help = "Parameters of unlike pairs that have none of their own. "
             "arithmetic: Lorentz-Berthelot. geometric: both by geometric "
             "mean. sixth-power: Waldman-Hagler."},
    {.section = "md.pair",
     .key = "rebuild_every",
     .type = PARAM_INT,
     .fallback = "0",
     .flags = PARAM_HAS_MIN,
     .help =
         "0: rebuild the pair list when it could miss a pair. N > 0: every N "
         "steps without looking, which may miss pairs; for comparisons only."},

    {.section = "md.pair.coefficients",
     .key = "species",
     .type = PARAM_STRINGS,
     .fallback = "[\"A\", \"A\"]",
     .count = 2,
     .flags = PARAM_STARTER | PARAM_REQUIRED,
     .help = "The two species."},
    {.section = "md.pair.coefficients",
     .key = "epsilon",
     .type = PARAM_DOUBLE,
     .fallback = "1.0",
     .dim = {.mass = 1, .length = 2, .time = -2},
     .flags = PARAM_STARTER | PARAM_REQUIRED | PARAM_HAS_MIN,
     .help = "Depth of the well."},
    {.section = "md.pair.coefficients",
     .key = "sigma",
     .type = PARAM_DOUBLE,
     .fallback = "1.0",
     .dim = {.length = 1},
     .flags = PARAM_STARTER | PARAM_REQUIRED | POSITIVE,
     .help = "Distance where the potential is 0."},
    {.section = "md.pair.coefficients",
     .key = "cutoff",
     .type = PARAM_DOUBLE,
     .dim = {.length = 1},
     .flags = PARAM_OPTIONAL | POSITIVE,
     .help = "Cutoff of this pair, at most md.pair.cutoff, which is taken "
             "where this is left out."},

    {.section = "md.ensemble",
     .key = "type",
     .type = PARAM_STRING,
     .fallback = "\"nve\"",
     .flags = PARAM_STARTER,
     .choices = "nve|langevin|bussi|-nose-hoover|-npt",
     .help = "nve: constant energy. langevin: friction and noise on each "
             "particle. bussi: stochastic velocity rescaling, which disturbs "
             "the motion least."},
    {.section = "md.ensemble",
     .key = "temperature",
     .type = PARAM_DOUBLE,
     .dim = {.temperature = 1},
     .flags = PARAM_OPTIONAL | PARAM_HAS_MIN,
     .help = "Temperature of the thermostat."},
    {.section = "md.ensemble",
     .key = "relaxation",
     .type = PARAM_DOUBLE,
     .dim = {.time = 1},
     .flags = PARAM_OPTIONAL | POSITIVE,
     .help = "Relaxation time of the thermostat: for langevin of velocities (1 "
             "/ friction), for bussi of the kinetic energy."},

    {.section = "md.analysis.rdf",
     .key = "pairs",
     .type = PARAM_STRING_PAIRS,
     .flags = PARAM_OPTIONAL,
     .help = "Pairs of species, e.g. [[\"A\", \"A\"], [\"A\", \"B\"]]; all "
             "where it is left out."},
    {.section = "md.analysis.rdf",
     .key = "range",
     .type = PARAM_DOUBLE,
     .dim = {.length = 1},
     .flags = PARAM_OPTIONAL | POSITIVE,
     .help = "Greatest distance, at most half of each edge of the box; "
             "md.pair.cutoff where it is left out. More than the cutoff makes "
             "the halo wider."},
    {.section = "md.analysis.rdf",
     .key = "bins",
     .type = PARAM_INT,
     .fallback = "100",
     .min = 1,
     .max = 1e7,
     .flags = PARAM_HAS_MIN | PARAM_HAS_MAX,
     .help = "Bins between 0 and the range."},
    {.section = "md.analysis.rdf",
     .key = "every",
     .type = PARAM_INT,
     .fallback = "100",
     .min = 1,
     .flags = PARAM_HAS_MIN,
     .help = "Steps between two samples."},
    {.section = "md.analysis.rdf",
     .key = "start",
     .type = PARAM_INT,
     .fallback = "0",
     .flags = PARAM_HAS_MIN,
     .help = "First step to sample."},

    {.section = "md.analysis.msd",
     .key = "every",
     .type = PARAM_INT,
     .fallback = "100",
     .min = 1,
     .flags = PARAM_HAS_MIN,
     .help =
         "Steps between two samples of the table displacement/mean_squared."},
    {.section = NULL}};

const struct param_table md_param_table = {sections, params};
