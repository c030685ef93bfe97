/* md_table.c: the keys of [md...]; `warpdeck explain md` prints this table. */
#include "md.h"

#include "base/dimensions.h"
#include "base/param.h"

static const struct param_section sections[] = {
    {"md", 0, 0, "Molecular dynamics: time step, length and precision."},
    {"md.initial", 0, 0,
     "Where the particles come from: a lattice, random places, or a file."},
    {"md.minimize", 0, 1,
     "Before the run, the particles go down to a minimum of the energy (FIRE: "
     "Bitzek et al. 2006); velocities are then drawn, or zero."},
    {"md.species", 1, 1,
     "A kind of particle; one section each. In lj units a single species 'A' "
     "of mass 1 is there without it."},
    {"md.pair", 0, 0, "Forces between pairs, and the pair list."},
    {"md.pair.coefficients", 1, 1,
     "Parameters of a pair of species. Pairs of unlike species that are left "
     "out follow md.pair.mixing where both like pairs are Lennard-Jones. In lj "
     "units a single species has epsilon = sigma = 1 without it."},
    {"md.bonds", 0, 1,
     "Forces along bonds, angles and dihedrals that a data file lists, and how "
     "much of the pair forces is left between particles that few bonds join."},
    {"md.bonds.bond", 1, 1,
     "Coefficients of one type of bonds, in place of those of the data file."},
    {"md.bonds.angle", 1, 1,
     "Coefficients of one type of angles, in place of those of the data file."},
    {"md.bonds.dihedral", 1, 1,
     "Coefficients of one type of dihedrals, in place of those of the data "
     "file."},
    {"md.bonds.improper", 1, 1,
     "Coefficients of one type of impropers, in place of those of the data "
     "file."},
    {"md.coulomb", 0, 1,
     "Forces between charges: those of a data file, or of the species."},
    {"md.constraints", 0, 1,
     "Bonds of fixed length. They take the place of the bonds and angles of "
     "the "
     "data file whose coefficients give the lengths (SHAKE and RATTLE)."},
    {"md.walls", 1, 1,
     "A wall at a face of the box, which ends there: both faces of a direction "
     "have walls, or none. Several sections may name one face."},
    {"md.deform", 0, 1,
     "The box is strained in the run, and particles with it: its edges, or a "
     "steady shear. Velocities are those beside that flow. Constant pressure "
     "and walls may be along the directions that are not strained."},
    {"md.field", 0, 1, "Constant forces on all particles, or on all charges."},
    {"md.group", 1, 1,
     "Some of the particles, by species, by id, by where they are at the start "
     "and by other groups, and what is done to them."},
    {"md.ensemble", 0, 1,
     "Constant energy, constant temperature, or constant temperature and "
     "pressure."},
    {"md.analysis.rdf", 0, 1,
     "Radial distribution functions, accumulated during the run and written at "
     "its end under /statistics/radial_distribution."},
    {"md.analysis.msd", 0, 1,
     "Mean squared displacement from the start, through the periodic "
     "boundaries; the drift of the center of mass is not taken out."},
    {"md.analysis.profile", 0, 1,
     "Density, temperature, velocity and pressure in slabs along an axis, "
     "means over samples, under /statistics/profile."},
    {"md.analysis.map", 0, 1,
     "The same without the pressure over a plane, in columns along the third "
     "axis, under /statistics/map."},
    {"md.analysis.green_kubo", 0, 1,
     "Shear viscosity by the autocorrelation of the pressure tensor, with its "
     "error, under /statistics/green_kubo. At constant volume."},
    {"md.analysis.structure_factor", 0, 1,
     "Structure factor S(k) on the waves that fit the box, means over shells "
     "and samples, under /statistics/structure_factor."},
    {"md.analysis.bonds", 0, 1,
     "Lengths of bonds and sizes of angles by type, as distributions, under "
     "/statistics/bond_length and bond_angle; without rigid ones."},
    {"md.analysis.vacf", 0, 1,
     "Autocorrelation of velocities with its integral, the diffusion "
     "coefficient, and its spectrum, under "
     "/statistics/velocity_autocorrelation."},
    {NULL, 0, 0, NULL}};

#define NUMBER_DENSITY    \
    {                     \
        0, -3, 0, 0, 0, 0 \
    }

#define FORCE             \
    {                     \
        1, 1, -2, 0, 0, 0 \
    }
#define PRESSURE           \
    {                      \
        1, -1, -2, 0, 0, 0 \
    }
#define PER_LENGTH        \
    {                     \
        0, -1, 0, 0, 0, 0 \
    }
#define ENERGY_LENGTH     \
    {                     \
        1, 3, -2, 0, 0, 0 \
    }
#define ENERGY_LENGTH_6   \
    {                     \
        1, 8, -2, 0, 0, 0 \
    }
#define ENERGY_PER_AREA   \
    {                     \
        1, 0, -2, 0, 0, 0 \
    }
#define VELOCITY          \
    {                     \
        0, 1, -1, 0, 0, 0 \
    }
#define ACCELERATION      \
    {                     \
        0, 1, -2, 0, 0, 0 \
    }
#define FORCE_PER_CHARGE   \
    {                      \
        1, 1, -2, 0, -1, 0 \
    }
#define MASS_RATE         \
    {                     \
        1, 0, -1, 0, 0, 0 \
    }
#define CHARGE           \
    {                    \
        0, 0, 0, 0, 1, 0 \
    }

enum { POSITIVE = PARAM_HAS_MIN | PARAM_MIN_OPEN };

static const struct param params[] = {
    {"md", "timestep", PARAM_DOUBLE, TIME, "0.005", 0, 0, 0,
     PARAM_STARTER | PARAM_DEFAULT_LJ | POSITIVE, NULL,
     "Time step of velocity Verlet. 0.005 in lj units where it is left out; "
     "required in other units."},
    {"md", "steps", PARAM_INT, NO_DIM, "100", 0, 0, 0,
     PARAM_STARTER | PARAM_REQUIRED | PARAM_HAS_MIN, NULL,
     "Number of steps. 0 computes and writes the initial state only."},
    {"md", "precision", PARAM_STRING, NO_DIM, "\"double\"", 0, 0, 0,
     PARAM_STARTER, "double|mixed|single",
     "double: everything in double precision. mixed: pair terms and the force "
     "sums of a step in single, positions, velocities and energies in double. "
     "single: positions and velocities in single as well."},

    {"md", "pressure_tensor", PARAM_BOOL, NO_DIM, "false", 0, 0, 0, 0, NULL,
     "Write the six components of the pressure tensor beside the pressure. "
     "Rows of observables then take a little longer to make."},
    {"md", "deterministic", PARAM_BOOL, NO_DIM, "false", 0, 0, 0, 0, NULL,
     "Add forces, energies and moments as integers, so that the results do not "
     "depend, to the bit, on the order in which a card adds. Needs a card; "
     "slower. Forces are exact to 2^-38 of 24 epsilon / sigma and must not "
     "exceed 2^24 of it, as that of a pair 0.3 sigma apart does not; from "
     "tables, to 2^-78 of the greatest force in these; beside charges or "
     "CHARMM's switch, to 2^-62 of 24 epsilon / sigma, up to 2^38 of it."},
    {"md", "graphs", PARAM_STRING, NO_DIM, "\"auto\"", 0, 0, 0, 0,
     "auto|on|off",
     "Whether a card gets the kernels of a step together, as a CUDA graph. "
     "auto: where a rank has fewer than 100000 particles, since these are over "
     "sooner than they are launched. Changes the speed, not the result."},

#include "md_table_start.def"

    {"md.species", "name", PARAM_STRING, NO_DIM, "\"A\"", 0, 0, 0,
     PARAM_STARTER | PARAM_REQUIRED, NULL,
     "Name, as in particle files and in pairs of species."},
    {"md.species", "mass", PARAM_DOUBLE, MASS, "1", 0, 0, 0,
     PARAM_DEFAULT_LJ | POSITIVE, NULL,
     "Mass of a particle. 1 in lj units where it is left out; required in "
     "other units."},
    {"md.species", "charge", PARAM_DOUBLE, CHARGE, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "Charge of a particle from a lattice or an XYZ file, in elementary "
     "charges "
     "in metal and real units; 0 where it is left out. Those of a data file "
     "are its own."},
    {"md.species", "friction", PARAM_DOUBLE, RATE, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Friction of this species in place of md.ensemble's, per time, with types "
     "langevin and brownian; 0: no bath. Groups with a friction go first."},
    {"md.species", "element", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "Name of the species in the file of md.pair.style = \"eam/alloy\"; its "
     "own name where this is left out."},
    {"md.species", "potential", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "File of this species for md.pair.style = \"eam\", where there are "
     "several; path relative to the deck's folder."},
    {"md.species", "fraction", PARAM_DOUBLE, NO_DIM, NULL, 0, 1, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "Share of the lattice's sites, assigned at random; the shares of all "
     "species add up to 1."},

    {"md.pair", "style", PARAM_STRING, NO_DIM, "\"lj\"", 0, 0, 0, 0,
     "lj|morse|buckingham|yukawa|soft|dpd|table|eam|eam/alloy",
     "Form of the potential. lj: Lennard-Jones 12-6, 4 epsilon ((sigma/r)^12 "
     "- (sigma/r)^6). morse, buckingham, yukawa, soft, dpd, table: see "
     "md.pair.coefficients.style, for pairs that name no style of their own. "
     "eam: metals by the embedded-atom method, from a funcfl file of each "
     "species. eam/alloy: the same from one setfl file. Both need metal "
     "units."},
    {"md.pair", "file", PARAM_STRING, NO_DIM, NULL, 0, 0, 0, PARAM_OPTIONAL,
     NULL,
     "Tables of the embedded-atom method, path relative to the deck's folder: "
     "of style eam a funcfl file where there is one species, of eam/alloy a "
     "setfl file."},
    {"md.pair", "cutoff", PARAM_DOUBLE, LENGTH, "2.5", 0, 0, 0,
     PARAM_STARTER | PARAM_OPTIONAL | POSITIVE, NULL,
     "Pairs farther apart do not interact. At most half of each edge of the "
     "box. Required but for metals, whose file has it."},
    {"md.pair", "skin", PARAM_DOUBLE, LENGTH, "0.3", 0, 0, 0,
     PARAM_STARTER | PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "The pair list reaches this far beyond the cutoff; it is rebuilt when a "
     "particle has moved half of it. Changes the speed, not the result. Left "
     "out: 0.12 of the cutoff, 0.2 of that of a metal."},
    {"md.pair", "shift", PARAM_STRING, NO_DIM, "\"none\"", 0, 0, 0, 0,
     "none|energy|force|charmm-switch",
     "none: the potential jumps to 0 at the cutoff. energy: shifted to end at "
     "0. force: energy and force end at 0 (linear force shift). charmm-switch: "
     "CHARMM's polynomial takes the energy to 0 between switch_from and the "
     "cutoff."},
    {"md.pair", "switch_from", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Distance at which the switch of shift = \"charmm-switch\" begins; nearer "
     "pairs are plain Lennard-Jones."},
    {"md.pair", "tail", PARAM_BOOL, NO_DIM, "false", 0, 0, 0, 0, NULL,
     "Add what a uniform fluid beyond the cutoff gives to energy and pressure. "
     "Only with shift = \"none\"."},
    {"md.pair", "mixing", PARAM_STRING, NO_DIM, "\"arithmetic\"", 0, 0, 0, 0,
     "arithmetic|geometric|sixth-power",
     "Parameters of unlike pairs that have none of their own. arithmetic: "
     "Lorentz-Berthelot. geometric: both by geometric mean. sixth-power: "
     "Waldman-Hagler."},
    {"md.pair", "rebuild_every", PARAM_INT, NO_DIM, "0", 0, 0, 0, PARAM_HAS_MIN,
     NULL,
     "0: rebuild the pair list when it could miss a pair. N > 0: every N steps "
     "without looking, which may miss pairs; for comparisons only."},

    {"md.pair.coefficients", "species", PARAM_STRINGS, NO_DIM, "[\"A\", \"A\"]",
     0, 0, 2, PARAM_STARTER | PARAM_REQUIRED, NULL, "The two species."},
    {"md.pair.coefficients", "style", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, "lj|morse|buckingham|yukawa|soft|dpd|table|none",
     "Form of this pair's potential; md.pair.style where it is left out. "
     "morse: d0 (e^2 - 2 e), e = exp(-alpha (r - r0)). buckingham: a exp(-r / "
     "rho) - c / r^6. yukawa: strength exp(-kappa r) / r. soft: a (1 + cos(pi "
     "r / cutoff)). dpd: the force repulsion (1 - r / cutoff). table: from a "
     "file. none: no forces."},
#include "md_table_pairs.def"
    {"md.pair.coefficients", "epsilon", PARAM_DOUBLE, ENERGY, "1.0", 0, 0, 0,
     PARAM_STARTER | PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Depth of the well of style lj, which needs it."},
    {"md.pair.coefficients", "sigma", PARAM_DOUBLE, LENGTH, "1.0", 0, 0, 0,
     PARAM_STARTER | PARAM_OPTIONAL | POSITIVE, NULL,
     "Distance where the potential of style lj, which needs it, is 0."},
    {"md.pair.coefficients", "d0", PARAM_DOUBLE, ENERGY, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL, "Depth of the well of style morse."},
    {"md.pair.coefficients", "alpha", PARAM_DOUBLE, PER_LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "How narrow the well of style morse is, per length."},
    {"md.pair.coefficients", "r0", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Distance of the least energy of style morse."},
    {"md.pair.coefficients", "a", PARAM_DOUBLE, ENERGY, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Of style buckingham the energy of the repulsion at no distance; of style "
     "soft half the energy there."},
    {"md.pair.coefficients", "rho", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Length over which the repulsion of style buckingham decays."},
    {"md.pair.coefficients", "c", PARAM_DOUBLE, ENERGY_LENGTH_6, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Attraction of style buckingham, energy times the sixth power of length."},
    {"md.pair.coefficients", "strength", PARAM_DOUBLE, ENERGY_LENGTH, NULL, 0,
     0, 0, PARAM_OPTIONAL, NULL,
     "Prefactor of style yukawa, energy times length; below 0 it attracts."},
    {"md.pair.coefficients", "kappa", PARAM_DOUBLE, PER_LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Screening of style yukawa, per length: 1 / Debye length."},
    {"md.pair.coefficients", "file", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "File of style table, in the format of LAMMPS's pair_style table and in "
     "the deck's units; path relative to the deck's folder."},
    {"md.pair.coefficients", "keyword", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "Section of the file of style table: the line above its points."},
    {"md.pair.coefficients", "cutoff", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Cutoff of this pair, at most md.pair.cutoff, which is taken where this "
     "is left out."},

    {"md.bonds", "bond_style", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, "none|harmonic|fene|morse",
     "Form of the bonds' energy. harmonic: k (r - r0)^2. fene: Kremer and "
     "Grest's, with the repulsion of the pair. morse: d (1 - exp(-a (r - "
     "r0)))^2. none: they mark who is bound only. Left out: what the data "
     "file says behind 'Bond Coeffs #'."},
    {"md.bonds", "angle_style", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, "none|harmonic|charmm|cosine",
     "Form of the angles' energy. harmonic: k (theta - theta0)^2. charmm: the "
     "same and k_ub (r - r_ub)^2 between the ends. cosine: k (1 + cos theta)."},
    {"md.bonds", "dihedral_style", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, "none|charmm|opls|multi/harmonic",
     "Form of the dihedrals' energy. charmm: k (1 + cos(n phi - d)). opls: "
     "four "
     "cosines. multi/harmonic: a polynomial of the cosine."},
    {"md.bonds", "improper_style", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, "none|harmonic|cvff",
     "Form of the impropers' energy. harmonic: k (chi - chi0)^2. cvff: k (1 + "
     "d cos(n phi))."},
    {"md.bonds", "cmap", PARAM_STRING, NO_DIM, NULL, 0, 0, 0, PARAM_OPTIONAL,
     NULL,
     "File of correction maps for the data file's section CMAP, path relative "
     "to the deck's folder: 24 x 24 energies of each type in the deck's units, "
     "as LAMMPS's charmm22.cmap has them."},
    {"md.bonds", "special_lj", PARAM_DOUBLES, NO_DIM, "[0, 0, 0]", 0, 1, 3,
     PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "What is left of Lennard-Jones between particles that one, two and three "
     "bonds join: 0 none, 1 all."},
    {"md.bonds", "special_coulomb", PARAM_DOUBLES, NO_DIM, "[0, 0, 0]", 0, 1, 3,
     PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "The same of Coulomb's forces between charges."},
#define BOND_TYPE(kind)                                            \
    {                                                              \
        "md.bonds." kind, "type", PARAM_INT, NO_DIM, "1", 1, 0, 0, \
            PARAM_REQUIRED | PARAM_HAS_MIN, NULL,                  \
            "Number of the type in the data file, from 1."         \
    }
#define BOND_NUMBERS(kind, example)                                           \
    {                                                                         \
        "md.bonds." kind, "parameters", PARAM_DOUBLES, NO_DIM, example, 0, 0, \
            0, PARAM_REQUIRED, NULL,                                          \
            "Numbers of the style, in the order and units in which LAMMPS "   \
            "takes "                                                          \
            "them; angles in degrees."                                        \
    }
    BOND_TYPE("bond"),
    BOND_NUMBERS("bond", "[30, 1.5, 1, 1]"),
    BOND_TYPE("angle"),
    BOND_NUMBERS("angle", "[55, 104.52]"),
    BOND_TYPE("dihedral"),
    BOND_NUMBERS("dihedral", "[0.2, 1, 180, 0.5]"),
    BOND_TYPE("improper"),
    BOND_NUMBERS("improper", "[50, 0]"),

    {"md.coulomb", "method", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_REQUIRED, "cut|dsf|pme|ewald",
     "cut: Coulomb's law, dropped at the cutoff, which is crude unless the "
     "cutoff is long. dsf: damped and shifted so that force and energy end at "
     "0 (Fennell and Gezelter 2006), for ionic liquids and melts. pme: all "
     "periodic images, by Ewald's splitting and a mesh. ewald: the same, wave "
     "by wave, for small systems and for checks."},
    {"md.coulomb", "accuracy", PARAM_DOUBLE, NO_DIM, "1e-4", 0, 0.1, 0,
     PARAM_OPTIONAL | POSITIVE | PARAM_HAS_MAX, NULL,
     "Of pme and ewald: root mean square error of the forces, as a part of the "
     "force between two unit charges one length apart (SI: two elementary "
     "charges one angstrom apart). What is left out below is chosen so. Left "
     "out: 1e-4."},
    {"md.coulomb", "splitting", PARAM_DOUBLE, PER_LENGTH, "0.3", 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Of pme and ewald: alpha in erfc(alpha r), per length; the greater, the "
     "more is left to the mesh. Left out: such that the cutoff is enough."},
    {"md.coulomb", "mesh", PARAM_INTS, NO_DIM, "[25, 32, 32]", 2, 4096, 3,
     PARAM_OPTIONAL | PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "Of pme: points of the mesh in x, y, z. Left out: the fewest that the "
     "accuracy needs."},
    {"md.coulomb", "order", PARAM_INT, NO_DIM, "5", 3, 7, 0,
     PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "Of pme: points of the mesh in each direction that a charge is spread "
     "over, by a spline of this order."},
    {"md.coulomb", "wave_cutoff", PARAM_DOUBLE, PER_LENGTH, "3.0", 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Of ewald: the greatest wave number (2 pi / wave length) in the sum. Left "
     "out: the least that the accuracy needs."},
    {"md.coulomb", "background", PARAM_BOOL, NO_DIM, "false", 0, 0, 0, 0, NULL,
     "Of pme and ewald: an even background of the opposite charge makes up for "
     "charges that do not add up to 0, which are refused otherwise."},
    {"md.coulomb", "slab", PARAM_BOOL, NO_DIM, "false", 0, 0, 0, 0, NULL,
     "Of pme and ewald: what the images along z do to the dipole of the box is "
     "taken off (Yeh and Berkowitz 1999), for a slab with as much as twice its "
     "height of empty space above it. No charge may cross the faces in z."},
    {"md.coulomb", "slab_extent", PARAM_DOUBLE, NO_DIM, NULL, 1, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Of slab with walls in z: the height of the periodic box of waves over "
     "that of the box, so that the slab has empty space above it. Left out: "
     "3."},
    {"md.coulomb", "cutoff", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Charges farther apart do not interact, at most half of each edge of the "
     "box. Left out: md.pair.cutoff."},
    {"md.coulomb", "damping", PARAM_DOUBLE, PER_LENGTH, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Of dsf: alpha in erfc(alpha r), per length; 0 shifts the force of plain "
     "Coulomb. Left out: 2.4 / cutoff, which is 0.2 per angstrom at 12 "
     "angstrom."},

    {"md.constraints", "rigid_water", PARAM_STRINGS, NO_DIM, "[\"O\", \"H\"]",
     0, 0, 2, PARAM_OPTIONAL, NULL,
     "Species of oxygen and hydrogen: bonds between the two are rigid, and so "
     "is the angle of two such bonds at one oxygen."},
    {"md.constraints", "below_mass", PARAM_DOUBLE, MASS, "1.5", 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Bonds to particles lighter than this are rigid: those of hydrogen."},
    {"md.constraints", "bond_types", PARAM_INTS, NO_DIM, "[1]", 1, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Types of bonds of the data file that are rigid."},
    {"md.constraints", "angle_types", PARAM_INTS, NO_DIM, "[1]", 1, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Types of angles of the data file that are rigid where both their bonds "
     "are, and their middle has no other rigid bond."},
    {"md.constraints", "tolerance", PARAM_DOUBLE, NO_DIM, "1e-10", 1e-14, 1e-3,
     0, PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "Relative error of the lengths that is left."},

#include "md_table_box.def"
#include "md_table_group.def"

    {"md.ensemble", "type", PARAM_STRING, NO_DIM, "\"nve\"", 0, 0, 0,
     PARAM_STARTER, "nve|langevin|bussi|nose-hoover|npt|brownian|dpd|berendsen",
     "nve: constant energy. langevin: friction and noise on each particle. "
     "bussi: stochastic velocity rescaling, which disturbs the motion least. "
     "nose-hoover: a deterministic chain of thermostats. npt: constant "
     "temperature and pressure, by thermostat and barostat. brownian: places "
     "alone, where friction is great. dpd: friction and noise between pairs, "
     "which keep momentum. berendsen is refused: its distribution is none."},
    {"md.ensemble", "temperature", PARAM_DOUBLE, TEMPERATURE, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL, "Temperature of the thermostat."},
    {"md.ensemble", "temperature_end", PARAM_DOUBLE, TEMPERATURE, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "The thermostat's temperature goes from temperature to this in a straight "
     "line over ramp_steps, and stays there. With bussi or langevin."},
    {"md.ensemble", "ramp_steps", PARAM_INT, NO_DIM, NULL, 1, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Steps, from step 0 on, over which temperature_end is reached."},
    {"md.ensemble", "pressure", PARAM_DOUBLE, PRESSURE, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "Pressure that type \"npt\" keeps, on all faces of the box."},
    {"md.ensemble", "pressure_relaxation", PARAM_DOUBLE, TIME, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Time of the barostat, a few times longer than that of the thermostat: "
     "how fast the volume relaxes (cell-rescaling), or about the period of its "
     "oscillation over 2 pi (mtk; LAMMPS calls it Pdamp)."},
    {"md.ensemble", "barostat", PARAM_STRING, NO_DIM, "\"cell-rescaling\"", 0,
     0, 0, 0, "cell-rescaling|mtk|berendsen",
     "cell-rescaling: the volume diffuses, with noise that makes its "
     "fluctuations right (Bernetti and Bussi 2020). mtk: the box has inertia "
     "and a chain of thermostats (Martyna, Tobias and Klein). berendsen is "
     "refused: volumes fluctuate too little."},
    {"md.ensemble", "thermostat", PARAM_STRING, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL, "langevin|bussi|nose-hoover",
     "Thermostat of type \"npt\". Left out: bussi, and nose-hoover with "
     "barostat \"mtk\"."},
    {"md.ensemble", "coupling", PARAM_STRING, NO_DIM, "\"isotropic\"", 0, 0, 0,
     0, "isotropic|semi-isotropic|anisotropic|xy|x|y|z",
     "Which edges of the box change together: all three, for liquids; x and y, "
     "and z by itself, for films and membranes across z; or each by itself, "
     "for "
     "crystals. xy, x, y, z: these alone, the others stay."},
    {"md.ensemble", "compressibility", PARAM_DOUBLE, NO_DIM, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Of cell-rescaling: the material's, about, as a number per unit of "
     "pressure of the deck (per bar in metal units, per atm in real units). "
     "Sets the pace, not the result. Left out: 4.6e-10 / Pa, that of water; "
     "0.1 in lj units."},
    {"md.ensemble", "barostat_every", PARAM_INT, NO_DIM, NULL, 1, 0, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL,
     "Of cell-rescaling: steps between two changes of the box. Left out: 10."},
    {"md.ensemble", "chain", PARAM_INT, NO_DIM, NULL, 1, MD_CHAIN_MAX, 0,
     PARAM_OPTIONAL | PARAM_HAS_MIN | PARAM_HAS_MAX, NULL,
     "Links of a Nose-Hoover chain, and of that on an mtk barostat. Left out: "
     "3, with [md.deform] 1."},
    {"md.ensemble", "relaxation", PARAM_DOUBLE, TIME, NULL, 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "Relaxation time of the thermostat: for langevin of velocities (1 / "
     "friction), for bussi of the kinetic energy, for nose-hoover the period "
     "of "
     "its oscillation over about 2 pi (LAMMPS calls it Tdamp)."},

#include "md_table_dynamics.def"

#include "md_table_analysis.def"
#include "md_table_domain.def"
    {NULL, NULL, PARAM_BOOL, NO_DIM, NULL, 0, 0, 0, 0, NULL, NULL}};

static const struct param_word words[] = {
#include "md_table_words.def"
    {NULL, NULL, NULL}};

const struct param_table md_param_table = {sections, params, NULL, words};
