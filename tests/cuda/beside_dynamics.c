/* Baths of particles by species and group, groups by place, Brownian motion and
 * dissipative particle dynamics on the card beside the CPU.
 */
#include <string.h>

#include "base/comm.h"
#include "tests/cuda/beside.h"
#include "tests/tap.h"

#define SOFT(a, b, more) PAIR(a, b) "style = \"dpd\"\n" more
#define DPD_PAIRS                                                     \
    SPECIES SOFT("S0", "S0", "repulsion = 25\ngamma = 4.5\n")         \
        SOFT("S0", "S1", "repulsion = 30\ncutoff = 2.1\ngamma = 9\n") \
            SOFT("S1", "S1", "repulsion = 20\n") GROUP(               \
                "plate", "freeze",                                    \
                "region = \"box\"\nlow = [0, 0, 0]\nhigh = [8, 8, 1.2]\n")
#define DPD "[md.ensemble]\ntype = \"dpd\"\ntemperature = 1\ngamma = 3\n"
#define BALL "region = \"sphere\"\ncenter = [7, 4, 4]\nradius = 2.5\n"
#define BATHS                                                             \
    "shift = \"force\"\n[[md.species]]\nname = \"S0\"\nmass = 1.5\n"      \
    "friction = 2\n[[md.species]]\nname = \"S1\"\nmass = 1\n" PAIR(       \
        "S0", "S0") "epsilon = 1\nsigma = 1\n" PAIR("S1", "S1") "epsilon" \
                                                                " = 1\n"  \
                                                                "sigma "  \
                                                                "= 1\n"
#define GROUPS                                                             \
    GROUP("ball", "none", BALL "friction = 5\ntemperature = 3\n")          \
    GROUP("others", "none", "none_of = [\"ball\"]\nspecies = [\"S1\"]\n")  \
    GROUP("belt", "move",                                                  \
          "region = \"cylinder\"\ncenter = [1, 1, 0]\nradius = 1.4\naxis " \
          "= \"x\"\nvelocity = [0, 1, 0]\n")
#define LANGEVIN                                            \
    "[md.ensemble]\ntype = \"langevin\"\ntemperature = 1\n" \
    "relaxation = 0.5\n"
#define BROWNIAN \
    "[md.ensemble]\ntype = \"brownian\"\ntemperature = 1\nfriction = 4\n"

/* Particles of Brownian motion have none. */
static void without_temperature(char *deck)
{
    static const char key[] = "temperature = 1.5\n";
    char *at = strstr(deck, key);
    if (at)
        memset(at, ' ', strlen(key) - 1);
}

static void check_pairs(struct ctx *ctx)
{
    char deck[8192];
    beside_liquid(deck, "", "two.xyz", DPD_PAIRS DPD);
    /* as forces of potentials: sums of some hundred terms */
    beside_check(ctx, deck, 1e-12, 1e-11, "friction between pairs");
    if (beside_is_short(ctx))
        return;
    beside_liquid(deck, "deterministic = true\n", "two.xyz", DPD_PAIRS DPD);
    beside_check(ctx, deck, 1e-11, 1e-10,
                 "friction between pairs, deterministic");
    beside_liquid(deck, "precision = \"mixed\"\n", "two.xyz", DPD_PAIRS DPD);
    beside_check(ctx, deck, 2e-5, 1e-5, "friction between pairs, mixed");
}

static void check_baths(struct ctx *ctx)
{
    char deck[8192];
    beside_liquid(deck, "", "two.xyz", BATHS GROUPS LANGEVIN);
    beside_check(ctx, deck, 1e-12, 1e-11, "baths of species and groups");
    if (beside_is_short(ctx))
        return;
    beside_liquid(deck, "deterministic = true\n", "two.xyz",
                  BATHS GROUPS LANGEVIN);
    beside_check(ctx, deck, 1e-10, 1e-10, "baths, deterministic");
    beside_liquid(deck, "precision = \"single\"\n", "two.xyz",
                  BATHS GROUPS LANGEVIN);
    beside_check(ctx, deck, 5e-5, 5e-6, "baths in single precision");
}

static void check_brownian(struct ctx *ctx)
{
    char deck[8192];
    beside_liquid(deck, "", "two.xyz", BATHS GROUPS BROWNIAN);
    without_temperature(deck);
    beside_check(ctx, deck, 1e-12, 1e-11, "Brownian motion");
    if (beside_is_short(ctx))
        return;
    beside_liquid(deck, "deterministic = true\n", "two.xyz",
                  BATHS GROUPS BROWNIAN "scheme = \"euler\"\n");
    without_temperature(deck);
    beside_check(ctx, deck, 1e-10, 1e-10, "Brownian motion by Euler");
}

/* Friction that leaves nothing of a velocity but the noise. */
static void check_draws(struct ctx *ctx)
{
    struct outcome cpu, card = {0};
    char deck[8192];
    beside_liquid(deck, "", "two.xyz",
                  LJ_PAIRS "[md.ensemble]\ntype = \"langevin\"\n"
                           "temperature = 1\nrelaxation = 1e-9\n");
    int status = beside_run(ctx, "cpu", deck, 1, &cpu);
    if (status == 0)
        status = beside_run(ctx, "cuda", deck, 1, &card);
    tap_ok(status == 0 && cpu.s.n == card.s.n &&
               memcmp(cpu.s.velocity, card.s.velocity,
                      cpu.s.n * sizeof *cpu.s.velocity) == 0,
           "the card draws the CPU's numbers, to the last bit");
    snapshot_free(&cpu.s);
    snapshot_free(&card.s);
}

void beside_dynamics(struct ctx *ctx)
{
    check_pairs(ctx);
    check_baths(ctx);
    check_brownian(ctx);
    if (!beside_is_short(ctx))
        check_draws(ctx);
}
