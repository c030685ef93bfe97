/* beside.h: decks that run on the CPU and on the card, and what is compared.
 */
#ifndef WARPDECK_TESTS_CUDA_BESIDE_H
#define WARPDECK_TESTS_CUDA_BESIDE_H

#include <stdint.h>

#include "tests/md/md_case.h"

#define SPECIES                                   \
    "[[md.species]]\nname = \"S0\"\nmass = 1.5\n" \
    "[[md.species]]\nname = \"S1\"\nmass = 1\n"
#define PAIR(a, b) \
    "[[md.pair.coefficients]]\nspecies = [\"" a "\", \"" b "\"]\n"

/* What each particle adds to the pressure is looked at, but never sampled. */
#define SHARES                                        \
    "[md.analysis.profile]\naxis = \"z\"\nbins = 4\n" \
    "every = 1000000\nstart = 1000000\npressure = true\n"
#define LJ_PAIRS                                          \
    "shift = \"force\"\n" SPECIES                         \
        PAIR("S0", "S0") "epsilon = 1\nsigma = 1\n" PAIR( \
            "S1", "S1") "epsilon = 0.8\nsigma = 0.95\n" SHARES
#define GROUP(name, action, more) \
    "[[md.group]]\nname = \"" name "\"\naction = \"" action "\"\n" more

struct outcome {
    struct snapshot s;
    double energy, kinetic, virial, tensor[6], part[MD_ENERGIES];
    double on_wall[MD_FACES], shares[3];
    double shown[3]; /* of thermostats and groups; NaN: not in this deck */
    uint64_t graphs;
};

/* A liquid of two species, of 343 particles 1.1 apart. keys: of [md]; start:
 * two.xyz, or wall.xyz with a face at x = 0 free; pair: of [md.pair] and all
 * that follows. */
void beside_liquid(char deck[8192], const char *keys, const char *start,
                   const char *pair);
/* A crystal of two metals with their tables; start: crystal.xyz. */
void beside_metal(char deck[8192], const char *keys, const char *start);
/* n steps of a deck on a device, "cpu" or "cuda". Returns the status; o->s is
 * to be freed in any case. */
int beside_run(struct ctx *ctx, const char *device, const char *deck, int n,
               struct outcome *o);
/* The deck on both devices: forces and sums of the start, and positions after
 * some steps, within these tolerances. */
void beside_check(struct ctx *ctx, const char *deck, double static_tolerance,
                  double moved_tolerance, const char *what);
void beside_check_after(struct ctx *ctx, const char *deck, int steps,
                        double tolerance, const char *what);
/* Several ranks wait for each other at every step: in short tests they do what
 * is their own. */
int beside_is_short(const struct ctx *ctx);

/* ---- beside_boxes.c, beside_dynamics.c, beside_outer.c ---- */
void beside_boxes(struct ctx *ctx);
void beside_outer(struct ctx *ctx);
void beside_dynamics(struct ctx *ctx);

#endif
