/* The force field as the deck gives it: mixing, shifts, tails; and decks that
 * are refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "md_case.h"
#include "reference_kernels.h"
#include "tests/tap.h"

#define RUN "[run]\nsolver = \"md\"\n"
#define LATTICE                                                             \
    "[md]\nsteps = 0\n[md.initial]\nlattice = \"fcc\"\ncells = [5, 5, 5]\n" \
    "density = 0.8442\n"
#define AB                                           \
    "[[md.species]]\nname = \"A\"\nfraction = 0.6\n" \
    "[[md.species]]\nname = \"B\"\nfraction = 0.4\n"
#define LIKE_PAIRS                                                         \
    "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 1\n"    \
    "sigma = 1\n"                                                          \
    "[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\nepsilon = 0.25\n" \
    "sigma = 1.44\n"

static void check_mixing(struct ctx *ctx, const char *rule, double epsilon,
                         double sigma)
{
    struct md_case c;
    int status = case_read(ctx, &c,
                           RUN LATTICE AB "[md.pair]\ncutoff = 2.5\n"
                                          "mixing = \"%s\"\n" LIKE_PAIRS,
                           rule);
    if (tap_ok(status == 0, "%s mixing: a deck", rule)) {
        const struct lj_coeff *ab = &c.md->pair.coeff[1];
        const struct lj_coeff *ba = &c.md->pair.coeff[2];
        double s = pow(ab->c12 / ab->c6, 1.0 / 6);
        tap_near(s, sigma, 1e-12, "%s mixing: sigma", rule);
        tap_near(ab->c6 / (4 * pow(s, 6)), epsilon, 1e-12, "%s mixing: epsilon",
                 rule);
        tap_ok(memcmp(ab, ba, sizeof *ab) == 0, "%s mixing: AB is BA", rule);
    }
    case_close(&c);
}

/* Energy and force at the cutoff, seen from just inside. */
static void check_shift(struct ctx *ctx, const char *shift, double energy,
                        double force)
{
    struct md_case c;
    int status = case_read(
        ctx, &c, RUN LATTICE "[md.pair]\ncutoff = 2.5\nshift = \"%s\"\n",
        shift);
    if (tap_ok(status == 0, "shift %s: a deck", shift)) {
        double f, r = 2.5 * (1 - 1e-13);
        double u = reference_pair(c.md->pair.coeff, r * r, &f);
        tap_near(u, energy, 1e-12, "shift %s: energy at the cutoff", shift);
        tap_near(f * r, force, 1e-12, "shift %s: force at the cutoff", shift);
    }
    case_close(&c);
}

/* The same fluid called one species or two has the same tail; its size is that
 * of the textbook's formula. */
static void check_tail(struct ctx *ctx)
{
    struct md_case one, two;
    const double pi = 3.14159265358979323846, density = 0.8442;
    int status = case_read(
        ctx, &one, RUN LATTICE "[md.pair]\ncutoff = 2.5\ntail = true\n");
    double energy = status == 0 ? one.md->pair.tail_energy : NAN;
    double pressure = status == 0 ? one.md->pair.tail_pressure : NAN;
    double r3 = pow(2.5, -3), r9 = r3 * r3 * r3;
    tap_near(energy / 500, 8.0 / 3 * pi * density * (r9 / 3 - r3), 1e-12,
             "the tail's energy per particle");
    tap_near(pressure, 16.0 / 3 * pi * density * density * (2.0 / 3 * r9 - r3),
             1e-12, "the tail's pressure");
    case_close(&one);
    status = case_read(ctx, &two,
                       RUN LATTICE AB
                       "[md.pair]\ncutoff = 2.5\ntail = true\n"
                       "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\n"
                       "epsilon = 1\nsigma = 1\n"
                       "[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\n"
                       "epsilon = 1\nsigma = 1\n");
    tap_near(status == 0 ? two.md->pair.tail_energy : NAN, energy, 1e-9,
             "the tail of two species that are the same: energy");
    tap_near(status == 0 ? two.md->pair.tail_pressure : NAN, pressure, 1e-12,
             "the tail of two species that are the same: pressure");
    case_close(&two);
}

static void check_fractions(struct ctx *ctx)
{
    struct md_case c;
    struct snapshot s = {0};
    int b = 0, first_half = 0;
    int status =
        case_open(ctx, &c, &md_kernels_reference,
                  RUN LATTICE AB "[md.pair]\ncutoff = 2.5\n" LIKE_PAIRS);
    if (status == 0)
        status = case_snapshot(&c, &s);
    for (size_t i = 0; i < s.n && status == 0; i++) {
        b += s.species[i];
        first_half += i < s.n / 2 ? s.species[i] : 0;
    }
    tap_is_int(b, 200, "exactly two fifths of 500 sites are B");
    /* 100 +- 4 standard deviations of a hypergeometric draw */
    tap_ok(first_half > 78 && first_half < 122, "they are well mixed");
    snapshot_free(&s);
    case_close(&c);
}

/* The deck is refused, with this text. */
static void refused(struct ctx *ctx, const char *deck, const char *text)
{
    struct md_case c;
    int status = case_read(ctx, &c, "%s", deck);
    int said = strstr(ctx->error.text, text) != NULL;
    tap_ok(status == STATUS_DECK && said, "refused: %s", text);
    if (status != STATUS_DECK || !said)
        tap_note("status %d: %s", status, ctx->error.text);
    case_close(&c);
}

/* A name that a file of results, or a terminal, takes for something else. */
static void check_names(struct ctx *ctx)
{
    static const char *const names[] = {"time", "all", "."};
    for (int i = 0; i < 3; i++) {
        char deck[400], text[100];
        snprintf(deck, sizeof deck,
                 RUN LATTICE "[[md.species]]\nname = \"%s\"\n[md.pair]\n"
                             "cutoff = 2.5\n",
                 names[i]);
        snprintf(text, sizeof text, "'%s' cannot be the name of a species",
                 names[i]);
        refused(ctx, deck, text);
    }
    refused(ctx,
            RUN LATTICE "[[md.species]]\nname = \"a\\u0007b\"\n[md.pair]\n"
                        "cutoff = 2.5\n",
            "a species name has 1 to");
    refused(ctx,
            RUN LATTICE "[[md.species]]\nname = \"A-B\"\nfraction = 0.4\n"
                        "[[md.species]]\nname = \"A\"\nfraction = 0.3\n"
                        "[[md.species]]\nname = \"B-A\"\nfraction = 0.3\n"
                        "[md.pair]\ncutoff = 2.5\n[md.analysis.rdf]\n",
            "two pairs of species are both called A-B-A");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\n[output]\n"
                        "fields = [\"position\", \"velocities\"]\n",
            "no field 'velocities'; there are position, velocity, force");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\n[output]\n"
                        "name = \"a\\nb\"\n",
            "output.name has a control character");
}

static void check_refusals(struct ctx *ctx)
{
    refused(ctx, RUN LATTICE "[md.pair]\ncutoff = 4.3\n",
            "md.pair.cutoff = 4.3 must be below half the box, 4.19");
    refused(ctx, RUN LATTICE "[md.pair]\ncutoff = 4\nskin = 5\n",
            "must not be longer than the box");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\n[md.analysis.rdf]\n"
                        "range = 5\n",
            "md.analysis.rdf.range = 5 must be below half the box");
    refused(ctx,
            RUN LATTICE AB "[md.pair]\ncutoff = 2.5\n"
                           "[[md.pair.coefficients]]\n"
                           "species = [\"A\", \"A\"]\nepsilon = 1\nsigma = 1\n",
            "no [[md.pair.coefficients]] for species B");
    refused(ctx,
            RUN LATTICE AB "[md.pair]\ncutoff = 2.5\n" LIKE_PAIRS
                           "[[md.pair.coefficients]]\n"
                           "species = [\"A\", \"C\"]\nepsilon = 1\nsigma = 1\n",
            "unknown species 'C'; declared: A, B");
    refused(ctx,
            RUN LATTICE AB "[md.pair]\ncutoff = 2.5\n"
                           "[[md.pair.coefficients]]\n"
                           "species = [\"A\", \"C\"]\nepsilon = 1\nsigma = 1\n",
            "\n1 error;");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\n[md.ensemble]\n"
                        "type = \"bussi\"\ntemperature = 1\n",
            "needs md.ensemble.relaxation");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\n[md.ensemble]\n"
                        "type = \"langevin\"\nrelaxation = 1\n",
            "needs md.ensemble.temperature");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\ntail = true\n"
                        "shift = \"energy\"\n",
            "needs md.pair.shift = \"none\"");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\n[domain]\n"
                        "ranks = [2, 1, 1]\n",
            "makes 2 blocks, but there are 1 ranks");
    refused(ctx,
            RUN LATTICE "[md.pair]\ncutoff = 2.5\n[domain]\n"
                        "size = [5, 5, 5]\n",
            "longer than the box");
    refused(ctx,
            RUN "[md]\nsteps = 0\n[md.initial]\ndensity = 1\n[md.pair]\n"
                "cutoff = 2.5\n",
            "[md.initial] needs lattice");
    refused(ctx, RUN LATTICE "lattice_constant = 1\n[md.pair]\ncutoff = 2.5\n",
            "not both");
    refused(ctx,
            RUN LATTICE "[[md.species]]\nname = \"A\"\n[[md.species]]\n"
                        "name = \"A\"\n[md.pair]\ncutoff = 2.5\n",
            "species 'A' is already declared");
    refused(ctx,
            RUN LATTICE "[[md.species]]\nname = \"A\"\nfraction = 0.7\n"
                        "[[md.species]]\nname = \"B\"\nfraction = 0.7\n"
                        "[md.pair]\ncutoff = 2.5\n" LIKE_PAIRS,
            "add up to 1.4");
}

/* Half the box is just allowed: each pair has one image within the cutoff. */
static void check_half_box(struct ctx *ctx)
{
    struct md_case c;
    tap_ok(case_read(ctx, &c,
                     RUN "[md]\nsteps = 0\n[md.initial]\nlattice = \"sc\"\n"
                         "cells = [5, 5, 5]\nlattice_constant = 1\n"
                         "[md.pair]\ncutoff = 2.5\nskin = 0.3\n") == 0,
           "a cutoff of exactly half the box is allowed");
    case_close(&c);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    check_mixing(&ctx, "arithmetic", 0.5, 1.22);
    check_mixing(&ctx, "geometric", 0.5, 1.2);
    double s6 = pow(1.44, 6);
    check_mixing(&ctx, "sixth-power", 2 * 0.5 * sqrt(s6) / (1 + s6),
                 pow((1 + s6) / 2, 1.0 / 6));
    double u = 4 * (pow(2.5, -12) - pow(2.5, -6));
    double f = 48 * pow(2.5, -13) - 24 * pow(2.5, -7);
    check_shift(&ctx, "none", u, f);
    check_shift(&ctx, "energy", 0, f);
    check_shift(&ctx, "force", 0, 0);
    check_tail(&ctx);
    check_fractions(&ctx);
    check_refusals(&ctx);
    check_names(&ctx);
    check_half_box(&ctx);
    return test_end(&ctx);
}
