/* Boxes without right angles, and boxes that are strained in the run, on the
 * card: beside the CPU, and beside the same infinite system in another box.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/error.h"
#include "tests/cuda/beside.h"
#include "tests/tap.h"

enum { SIDE = 7, COUNT = SIDE * SIDE * SIDE, COPIES = 4, WATERS = 27 };
static const double EDGE = 7.7; /* of the box of the liquid */

/* ---- files ---- */

static double draw(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random / 4294967296.0 - 0.5;
}

/* The same shaken particles in each of some copies, which are so many edges
 * away. */
static void write_liquid(const char *name, const char *lattice, int n_copies)
{
    static const int away[COPIES][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    FILE *f = fopen(name, "w");
    if (!f)
        return;
    fprintf(f, "%d\nLattice=\"%s\" Properties=species:S:1:pos:R:3\n",
            n_copies * COUNT, lattice);
    for (int c = 0; c < n_copies; c++) {
        uint32_t random = 2026;
        for (int i = 0; i < COUNT; i++) {
            int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
            fprintf(f, "S%d", (i + i / 5) % 2);
            for (int d = 0; d < 3; d++)
                fprintf(f, " %.17g",
                        1.1 * (at[d] + 0.6 + 0.25 * draw(&random)) +
                            (d < 2 ? away[c][d] * EDGE : 0));
            fprintf(f, "\n");
        }
    }
    fclose(f);
}

/* A shaken crystal of two metals, four atoms a cell. */
static void write_crystal(const char *name)
{
    static const double base[4][3] = {
        {0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
    uint32_t random = 99;
    FILE *f = fopen(name, "w");
    if (!f)
        return;
    fprintf(f, "108\nLattice=\"10.8 0 0 3.6 10.8 0 -1.8 1.8 10.8\" "
               "Properties=species:S:1:pos:R:3\n");
    for (int i = 0; i < 108; i++) {
        int at[3] = {i / 4 % 3, i / 12 % 3, i / 36};
        fprintf(f, "S%d", i % 3 == 0);
        for (int d = 0; d < 3; d++)
            fprintf(f, " %.17g",
                    3.6 * (at[d] + base[i % 4][d] + 0.25) +
                        0.4 * draw(&random));
        fprintf(f, "\n");
    }
    fclose(f);
}

/* Atom k of a water with its legs along two of the axes and their diagonal. */
static void place_water(uint32_t *random, int k, double x[3])
{
    static const double half = 0.9553166181245093; /* of the angle */
    double turn = 6 * draw(random), tip = 3 * draw(random);
    double y[3] = {k == 0   ? 0
                   : k == 1 ? sin(half)
                            : -sin(half),
                   0, k == 0 ? 0 : cos(half)};
    double z[3] = {y[0], -y[2] * sin(tip), y[2] * cos(tip)};
    x[0] += z[0] * cos(turn) - z[1] * sin(turn);
    x[1] += z[0] * sin(turn) + z[1] * cos(turn);
    x[2] += z[2];
}

/* Waters of any orientation in a tilted box; some stand across its faces. */
static void write_waters(const char *name, double length)
{
    FILE *f = fopen(name, "w");
    uint32_t random = 7;
    if (!f)
        return;
    fprintf(f,
            "waters\n\n%d atoms\n%d bonds\n%d angles\n2 atom types\n"
            "1 bond types\n1 angle types\n0 9 xlo xhi\n0 9 ylo yhi\n"
            "0 9 zlo zhi\n3.2 -1.4 2.1 xy xz yz\n\nMasses\n\n1 16 # O\n"
            "2 1 # H\n\nBond Coeffs # harmonic\n\n1 400 %g\n\n"
            "Angle Coeffs # harmonic\n\n1 50 109.47122063449069\n\n"
            "Atoms # molecular\n\n",
            3 * WATERS, 2 * WATERS, WATERS, length);
    for (int m = 0; m < WATERS; m++) {
        uint32_t mine = random += 77777;
        for (int k = 0; k < 3; k++) {
            double x[3] = {3.0 * (m % 3) + 0.1, 3.0 * (m / 3 % 3) + 0.1,
                           3.0 * (m / 9) + 0.1};
            uint32_t same = mine;
            place_water(&same, k, x);
            fprintf(f, "%d %d %d %.17g %.17g %.17g\n", 3 * m + k + 1, m + 1,
                    k == 0 ? 1 : 2, x[0], x[1], x[2]);
        }
    }
    fprintf(f, "\nBonds\n\n");
    for (int b = 0; b < 2 * WATERS; b++)
        fprintf(f, "%d 1 %d %d\n", b + 1, b / 2 * 3 + 1, b / 2 * 3 + 2 + b % 2);
    fprintf(f, "\nAngles\n\n");
    for (int m = 0; m < WATERS; m++)
        fprintf(f, "%d 1 %d %d %d\n", m + 1, 3 * m + 2, 3 * m + 1, 3 * m + 3);
    fclose(f);
}

static void write_files(struct ctx *ctx)
{
    if (comm_rank(ctx->comm) == 0) {
        write_liquid("upright.xyz", "7.7 0 0 0 7.7 0 0 0 7.7", 1);
        /* Each tilt is half of the edge that it goes along. */
        write_liquid("four.xyz", "15.4 0 0 7.7 15.4 0 7.7 7.7 7.7", COPIES);
        write_liquid("tilted.xyz", "7.7 0 0 3.1 7.7 0 -1.7 2.3 7.7", 1);
        write_crystal("leaning.xyz");
        write_waters("waters.data", 1);
        write_waters("stretched.data", 1.1);
    }
    comm_agree(ctx, 0);
}

/* ---- the same system ---- */

static void check_same(struct ctx *ctx)
{
    struct outcome one, four = {0};
    char deck[8192];
    double force = 0, sums;
    beside_liquid(deck, "", "upright.xyz", LJ_PAIRS);
    int status = beside_run(ctx, "cuda", deck, 0, &one);
    beside_liquid(deck, "", "four.xyz", LJ_PAIRS);
    if (status == 0)
        status = beside_run(ctx, "cuda", deck, 0, &four);
    if (tap_ok(status == 0, "one system in two boxes")) {
        double square = 0;
        for (size_t i = 0; i < COPIES * COUNT; i++)
            for (int d = 0; d < 3; d++) {
                double f = one.s.force[i % COUNT][d];
                force = fmax(force, fabs(four.s.force[i][d] - f));
                square += f * f / (3 * COPIES * COUNT);
            }
        sums = fmax(fabs(four.energy / COPIES - one.energy),
                    fabs(four.virial / COPIES - one.virial) / 10);
        for (int k = 0; k < 6; k++)
            sums =
                fmax(sums, fabs(four.tensor[k] / COPIES - one.tensor[k]) / 10);
        sums /= fabs(one.energy);
        force /= sqrt(square);
        /* sums of some hundred terms, each rounded to 1e-16 */
        tap_ok(force <= 1e-12 && sums <= 1e-12,
               "a tilted box: forces, energy and virials are those of the box "
               "with right angles");
        tap_note("worst: forces %.1e, sums %.1e", force, sums);
    }
    snapshot_free(&one.s);
    snapshot_free(&four.s);
}

/* ---- beside the CPU ---- */

static const char morse[] =
    "shift = \"energy\"\nstyle = \"lj\"\n[[md.species]]\nname = \"S0\"\n"
    "mass = 1.5\n[[md.species]]\nname = \"S1\"\nmass = 1\n"
    "[[md.pair.coefficients]]\nspecies = [\"S0\", \"S0\"]\n"
    "style = \"morse\"\nd0 = 1\nalpha = 5\nr0 = 1.12\n"
    "[[md.pair.coefficients]]\nspecies = [\"S0\", \"S1\"]\nepsilon = 0.9\n"
    "sigma = 1\n[[md.pair.coefficients]]\nspecies = [\"S1\", \"S1\"]\n"
    "epsilon = 0.8\nsigma = 1\n";
static const char ions[] =
    "shift = \"force\"\n[[md.species]]\nname = \"S0\"\nmass = 1.5\n"
    "charge = 1.37\n[[md.species]]\nname = \"S1\"\nmass = 1\n"
    "charge = -2.06\n[[md.pair.coefficients]]\nspecies = [\"S0\", \"S0\"]\n"
    "epsilon = 1\nsigma = 1\n[[md.pair.coefficients]]\n"
    "species = [\"S1\", \"S1\"]\nepsilon = 0.8\nsigma = 0.95\n"
    "[md.coulomb]\n";
#define DSF "method = \"dsf\"\ndamping = 0.3\n"
#define EWALD "method = \"ewald\"\naccuracy = 1e-4\n"
#define PME "method = \"pme\"\naccuracy = 1e-3\n"
#define FIELDS                                                               \
    LJ_PAIRS "[md.field]\nacceleration = [0.5, -1, 0.25]\n" GROUP(           \
        "load", "pull", "species = [\"S1\"]\nforce = [0, 2, 1]\n")           \
        GROUP("ball", "none",                                                \
              "region = \"sphere\"\ncenter = [0.3, 7, 0.5]\nradius = 3.5\n") \
            GROUP("rod", "pull",                                             \
                  "region = \"cylinder\"\ncenter = [1, 0, 7]\nradius = 2\n"  \
                  "axis = \"y\"\nforce = [4, 0, -1]\n")
#define SHEAR(plane) "[md.deform]\nshear = 4.9\nplane = \"" plane "\"\n"

static void make_ions(char deck[8192], const char *keys, const char *method)
{
    char pair[1024];
    snprintf(pair, sizeof pair, "%s%s", ions, method);
    beside_liquid(deck, keys, "tilted.xyz", pair);
}

static void make_waters(char deck[8192], const char *start, const char *more)
{
    beside_liquid(deck, "", start,
                  "shift = \"force\"\n[[md.pair.coefficients]]\n"
                  "species = [\"O\", \"O\"]\nepsilon = 3\nsigma = 2.2\n"
                  "[[md.pair.coefficients]]\nspecies = [\"H\", \"H\"]\n"
                  "epsilon = 0.2\nsigma = 0.5\n");
    size_t n = strlen(deck);
    snprintf(deck + n, 8192 - n, "%s", more);
}

static void check_tilted(struct ctx *ctx)
{
    char deck[8192];
    make_waters(deck, "waters.data",
                "[md.constraints]\nrigid_water = [\"O\", \"H\"]\n");
    /* rigid distances hold to 1e-10 of themselves */
    beside_check(ctx, deck, 1e-12, 1e-9, "rigid waters in a tilted box");
    beside_liquid(deck, "", "tilted.xyz", FIELDS);
    beside_check(ctx, deck, 1e-12, 1e-11,
                 "fields and groups by place in a tilted box");
    make_ions(deck, "", PME);
    beside_check(ctx, deck, 1e-12, 1e-11, "a mesh in a tilted box");
    if (beside_is_short(ctx))
        return;
    make_waters(deck, "stretched.data", "");
    beside_check(ctx, deck, 1e-12, 1e-11, "molecules in a tilted box");
    beside_liquid(deck, "", "tilted.xyz", morse);
    beside_check(ctx, deck, 1e-12, 0, "pairs of two forms in a tilted box");
    make_ions(deck, "", DSF);
    beside_check(ctx, deck, 1e-12, 0, "charges in a tilted box");
    make_ions(deck, "", EWALD);
    beside_check(ctx, deck, 1e-12, 0, "Ewald's sum in a tilted box");
    make_ions(deck, "precision = \"single\"\n", PME);
    beside_check(ctx, deck, 5e-5, 0, "a leaning mesh in single precision");
    beside_metal(deck, "", "leaning.xyz");
    beside_check(ctx, deck, 1e-12, 0, "metals in a tilted box");
    beside_liquid(deck, "precision = \"mixed\"\n", "tilted.xyz", LJ_PAIRS);
    beside_check(ctx, deck, 2e-5, 0, "a tilted box in mixed precision");
    beside_liquid(deck, "precision = \"single\"\n", "tilted.xyz", LJ_PAIRS);
    beside_check(ctx, deck, 5e-5, 0, "a tilted box in single precision");
}

/* So many steps that the tilt has gone over half of the edge. */
static void check_strained(struct ctx *ctx)
{
    char deck[8192];
    beside_liquid(deck, "deterministic = true\n", "tilted.xyz",
                  LJ_PAIRS SHEAR("xy"));
    beside_check_after(ctx, deck, beside_is_short(ctx) ? 20 : 40, 1e-10,
                       "a sheared box, deterministic");
    if (beside_is_short(ctx))
        return;
    beside_liquid(deck, "", "tilted.xyz", LJ_PAIRS SHEAR("yz"));
    beside_check_after(ctx, deck, 20, 1e-10, "a box sheared along y");
    beside_metal(deck, "", "leaning.xyz");
    size_t n = strlen(deck);
    snprintf(deck + n, sizeof deck - n, "%s", SHEAR("xy"));
    beside_check_after(ctx, deck, 20, 1e-11, "sheared metals");
    make_waters(deck, "stretched.data", SHEAR("xy"));
    beside_check_after(ctx, deck, 20, 1e-10, "sheared molecules");
    make_ions(deck, "", PME SHEAR("xy"));
    beside_check_after(ctx, deck, 20, 1e-10, "a mesh in a sheared box");
    make_ions(deck, "", PME "[md.deform]\nrate = [0.5, -0.3, 0]\n");
    beside_check_after(ctx, deck, 20, 1e-10, "a mesh in strained edges");
    beside_liquid(deck, "", "tilted.xyz",
                  LJ_PAIRS "[md.deform]\nrate = [0.5, -0.3, 0]\n");
    beside_check_after(ctx, deck, 20, 1e-11,
                       "a tilted box with strained edges");
    beside_liquid(deck, "precision = \"mixed\"\n", "tilted.xyz",
                  LJ_PAIRS SHEAR("xy"));
    beside_check_after(ctx, deck, 20, 1e-5, "a sheared box, mixed");
}

void beside_boxes(struct ctx *ctx)
{
    write_files(ctx);
    check_same(ctx);
    check_tilted(ctx);
    check_strained(ctx);
}
