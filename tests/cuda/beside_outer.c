/* Walls, fields and groups on the card beside the CPU. */
#include "tests/cuda/beside.h"

#define WALL(face, style, more) \
    "[[md.walls]]\nface = \"" face "\"\nstyle = \"" style "\"\n" more
static const char walls[] = LJ_PAIRS WALL("xlo", "reflect",
                                          "") WALL("xhi", "reflect", "")
    WALL("ylo", "lj93",
         "species = [\"S0\"]\nepsilon = 2\nsigma = 0.8\ncutoff = 2\n")
        WALL("ylo", "harmonic", "species = [\"S1\"]\nk = 20\ncutoff = 1.5\n")
            WALL("yhi", "harmonic", "k = 20\ncutoff = 1.5\n");
static const char groups[] = LJ_PAIRS
    "[md.field]\nacceleration = [0.5, 0, -0.25]\n" GROUP("plate", "freeze",
                                                         "ids = [1, 49]\n")
        GROUP("belt", "move", "ids = [60, 80]\nvelocity = [0, 1, 0.5]\n") GROUP(
            "load", "pull",
            "species = [\"S1\"]\nforce = [0, 2, 0]\n") "[md.ensemble]\ntype = "
                                                       "\"bussi\"\ntemperature "
                                                       "= 1\nrelaxation = "
                                                       "0.1\n";

void beside_outer(struct ctx *ctx)
{
    char deck[8192];
    beside_liquid(deck, "", "wall.xyz", walls);
    beside_check(ctx, deck, 1e-12, 1e-11, "walls");
    if (beside_is_short(ctx))
        return;
    beside_liquid(deck, "deterministic = true\n", "two.xyz", groups);
    beside_check(ctx, deck, 1e-10, 1e-10, "fields and groups, deterministic");
    beside_liquid(deck, "precision = \"single\"\n", "wall.xyz", walls);
    beside_check(ctx, deck, 5e-5, 0, "walls in single precision");
}
