/* Molecules with charges: what bonds leave of Coulomb's forces, beside every
 * method, and rigid groups on a mesh.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "molecules.h"
#include "tests/tap.h"

#define CHAINS                                                   \
    "[run]\nsolver = \"md\"\nseed = 3\n[md]\ntimestep = 0.002\n" \
    "steps = 1000\npressure_tensor = true\n%s[md.initial]\n"     \
    "read = \"%s/%s.data\"\ntemperature = 1.0\n[md.bonds]\n"     \
    "bond_style = \"none\"\nangle_style = \"none\"\n"            \
    "dihedral_style = \"none\"\nimproper_style = \"none\"\n%s"   \
    "[md.pair]\ncutoff = 2.5\nskin = 0.4\n%s[md.coulomb]\n%s"

#define LJ                                                              \
    "[[md.pair.coefficients]]\nspecies = [\"C\", \"C\"]\nepsilon = 1\n" \
    "sigma = 0.9\n[[md.pair.coefficients]]\nspecies = [\"D\", \"D\"]\n" \
    "epsilon = 0.5\nsigma = 1.0\n"
#define PAIR(a, b, style, keys)                                    \
    "[[md.pair.coefficients]]\nspecies = [\"" a "\", \"" b "\"]\n" \
    "style = \"" style "\"\n" keys
#define FORMS                                                   \
    PAIR("C", "C", "morse", "d0 = 1\nalpha = 3\nr0 = 1.1\n")    \
    PAIR("C", "D", "buckingham", "a = 900\nrho = 0.2\nc = 1\n") \
    PAIR("D", "D", "lj", "epsilon = 0.5\nsigma = 1\n")

/* Water as GROMACS's SPC, and carbon with hydrogen at fixed lengths. */
#define BODIES                                                             \
    "[run]\nsolver = \"md\"\nunits = \"real\"\nseed = 5\n[md]\n"           \
    "timestep = 1\nsteps = 1000\npressure_tensor = true\n%s"               \
    "[md.initial]\nread = \"%s/water.data\"\ntemperature = 300\n"          \
    "[md.pair]\ncutoff = 4.8\nskin = 0.8\n"                                \
    "[[md.pair.coefficients]]\nspecies = [\"O\", \"O\"]\nepsilon = 0.16\n" \
    "sigma = 3.17\n[[md.pair.coefficients]]\nspecies = [\"C\", \"C\"]\n"   \
    "epsilon = 0.2\nsigma = 3.2\n[[md.pair.coefficients]]\n"               \
    "species = [\"H\", \"H\"]\nepsilon = 0\nsigma = 1\n"                   \
    "[md.constraints]\nrigid_water = [\"O\", \"H\"]\nbelow_mass = 1.5\n"   \
    "[md.coulomb]\n%s"

#define PARTLY                      \
    "special_lj = [0, 0.25, 0.5]\n" \
    "special_coulomb = [0, 0.4, 0.8]\n"
#define EXCLUDED "special_lj = [0, 0, 0]\n"
#define SHIFT(shift) "shift = \"" shift "\"\n" LJ
#define SWITCH "shift = \"charmm-switch\"\nswitch_from = 2.0\n" LJ

struct charged_case {
    const char *what, *special, *pairs, *coulomb;
};

static const struct charged_case CASES[] = {
    {"chains of plain charges", PARTLY, SHIFT("energy"),
     "method = \"cut\"\ncutoff = 3\n"},
    {"chains of damped charges", PARTLY, SHIFT("force"),
     "method = \"dsf\"\ncutoff = 3\n"},
    {"chains on a mesh, switched", PARTLY, SWITCH,
     "method = \"pme\"\ncutoff = 3\naccuracy = 0.1\n"
     "splitting = 1\nmesh = [12, 9, 10]\n"},
    {"chains among waves, pairs excluded", EXCLUDED, SHIFT("energy"),
     "method = \"ewald\"\ncutoff = 3\naccuracy = 0.1\n"
     "splitting = 0.9\nwave_cutoff = 2\n"},
    {"charged chains of other pairs", PARTLY, "shift = \"energy\"\n" FORMS,
     "method = \"cut\"\ncutoff = 3\n"},
};
static const struct charged_case IN_ANY_ORDER[] = {
    {"any order, a mesh, switched", PARTLY, SWITCH,
     "method = \"pme\"\ncutoff = 3\naccuracy = 0.1\n"
     "splitting = 1\nmesh = [12, 9, 10]\n"},
    {"any order, waves, a slab", PARTLY, SHIFT("force"),
     "method = \"ewald\"\ncutoff = 3\naccuracy = 0.1\n"
     "splitting = 0.9\nwave_cutoff = 2\nslab = true\n"},
    {"any order, other pairs", PARTLY, "shift = \"energy\"\n" FORMS,
     "method = \"dsf\"\ncutoff = 3\n"},
};

static void fill(char *deck, size_t size, const char *keys, const char *file,
                 const struct charged_case *c)
{
    char folder[1024] = "";
    if (!getcwd(folder, sizeof folder))
        folder[0] = 0;
    if (c->special)
        snprintf(deck, size, CHAINS, keys, folder, file, c->special, c->pairs,
                 c->coulomb);
    else
        snprintf(deck, size, BODIES, keys, folder, c->coulomb);
}

/* `cpu_keys`: those of the deck on the CPU. */
static void beside(struct ctx *ctx, const struct charged_case *c,
                   const char *keys, const char *cpu_keys, int steps,
                   double tolerance, double growth)
{
    struct outcome card0, card, cpu0, cpu;
    char deck[4096];
    fill(deck, sizeof deck, keys, "charged", c);
    int status = molecules_run(ctx, deck, 0, steps, &card0, &card);
    fill(deck, sizeof deck, cpu_keys, "charged", c);
    status = status ? status : molecules_run(ctx, deck, 1, steps, &cpu0, &cpu);
    if (!tap_ok(status == 0, "%s: runs on both devices", c->what))
        return;
    molecules_compare(&card0, &cpu0, tolerance, 0, c->what);
    molecules_compare(&card, &cpu, tolerance * growth, 1, c->what);
    molecules_free(&card0, &card);
    molecules_free(&cpu0, &cpu);
}

static int same(const struct outcome *a, const struct outcome *b)
{
    size_t bytes = a->s.n * sizeof *a->s.force;
    return memcmp(a->s.position, b->s.position, bytes) == 0 &&
           memcmp(a->s.velocity, b->s.velocity, bytes) == 0 &&
           memcmp(a->s.force, b->s.force, bytes) == 0 &&
           memcmp(a->sums, b->sums, sizeof a->sums) == 0;
}

/* Particles in another order, and graphs. */
static void in_any_order(struct ctx *ctx, const struct charged_case *c)
{
    struct outcome one, other, cpu;
    char deck[4096];
    int steps = 6;
    fill(deck, sizeof deck, "deterministic = true\ngraphs = \"on\"\n",
         "charged", c);
    int status = molecules_run(ctx, deck, 0, steps, NULL, &one);
    fill(deck, sizeof deck, "deterministic = true\ngraphs = \"off\"\n",
         "swapped", c);
    status = status ? status : molecules_run(ctx, deck, 0, steps, NULL, &other);
    fill(deck, sizeof deck, "", "charged", c);
    status = status ? status : molecules_run(ctx, deck, 1, steps, NULL, &cpu);
    if (!tap_ok(status == 0, "%s: runs", c->what))
        return;
    if (comm_size(ctx->comm) == 1)
        tap_ok(same(&one, &other),
               "%s: no bit depends on graphs or on the "
               "order of particles",
               c->what);
    /* A unit is 2^-62 of 24 epsilon / sigma, or less than that. */
    molecules_compare(&one, &cpu, 1e-11, 1, c->what);
    molecules_free(&one, &other);
    snapshot_free(&cpu.s);
}

void molecules_check_charged(struct ctx *ctx)
{
    static const struct charged_case water = {
        "rigid groups on a mesh", NULL, NULL,
        "method = \"pme\"\ncutoff = 5\naccuracy = 1e-3\n"};
    /* Polynomials are the CPU's: sums of hundreds of terms, rounded; in some
     * steps that grows. */
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++)
        beside(ctx, &CASES[k], "", "", 12, 2e-13, 50);
    beside(ctx, &water, "", "", 12, 2e-13, 100);
    for (size_t k = 0; k < sizeof IN_ANY_ORDER / sizeof *IN_ANY_ORDER; k++)
        in_any_order(ctx, &IN_ANY_ORDER[k]);
    /* float: as in forces.c */
    beside(ctx, &water, "precision = \"mixed\"\n", "precision = \"mixed\"\n", 0,
           1e-4, 1);
}
