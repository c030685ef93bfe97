/* Forces, energies and histograms of the fast loops against a direct sum, for
 * configurations that decompositions get wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/error.h"
#include "domain/halo.h"
#include "md_case.h"
#include "reference_kernels.h"
#include "tests/tap.h"

#define HEAD "[run]\nsolver = \"md\"\nseed = 5\n"
#define TWO_SPECIES                                                       \
    "[[md.species]]\nname = \"A\"\nmass = 1\nfraction = 0.75\n"           \
    "[[md.species]]\nname = \"B\"\nmass = 2.5\nfraction = 0.25\n"         \
    "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 1\n"   \
    "sigma = 1\n"                                                         \
    "[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\nepsilon = 0.5\n" \
    "sigma = 0.88\ncutoff = 2\n"

#define MELT                                                    \
    "[md]\nsteps = 100\n[md.initial]\nlattice = \"fcc\"\n"      \
    "cells = [5, 5, 5]\ndensity = 0.8442\ntemperature = 1.44\n" \
    "[md.pair]\ncutoff = 2.5\nskin = 0.3\n"
static const char melt[] = HEAD MELT;
static const char melt_threads[] = HEAD "threads = 3\n" MELT;
#define CORNER                                                         \
    "[md]\nsteps = 100\n[domain]\nsize = [24, 20, 22]\n"               \
    "[md.initial]\nlattice = \"sc\"\ncells = [6, 6, 6]\ndensity = 1\n" \
    "temperature = 0.7\n[md.pair]\ncutoff = 3\nskin = 0.3\n"
/* Ranks without particles. */
static const char corner[] = HEAD CORNER;
static const char corner_threads[] = HEAD "threads = 2\n" CORNER;

#define MIXTURE(precision)                                               \
    HEAD "[md]\nsteps = 100\ntimestep = 0.003\nprecision = \"" precision \
         "\"\n"                                                          \
         "[md.initial]\n"                                                \
         "lattice = \"bcc\"\ncells = [7, 6, 6]\ndensity = 1.1\n"         \
         "temperature = 1\n[md.pair]\ncutoff = 2.5\nskin = 0.4\n"        \
         "shift = \"force\"\nmixing = \"sixth-power\"\n" TWO_SPECIES
static const char mixture[] = MIXTURE("double");
static const char mixture_mixed[] = MIXTURE("mixed");

/* The edge is exactly two cutoffs. */
static const char tiny[] =
    HEAD "[md]\nsteps = 100\n[md.initial]\nlattice = \"fcc\"\n"
         "cells = [3, 3, 3]\nlattice_constant = 1.6666666666666667\n"
         "temperature = 1\n[md.pair]\ncutoff = 2.5\nskin = 0.3\n"
         "shift = \"energy\"\n";

/* Compare the present state with a direct sum; tolerance: of forces, and of the
 * energy relative to its size. */
static void compare(struct md_case *c, double tolerance, const char *what)
{
    struct snapshot s;
    struct direct d;
    int status = case_snapshot(c, &s);
    if (status == 0)
        status = case_direct(c, &s, &d);
    if (!tap_ok(status == 0, "%s: a picture of all particles", what))
        return;
    double worst = force_error(&s, &d);
    tap_ok(worst <= tolerance, "%s: forces equal a direct sum", what);
    tap_note("worst %.2e of the root mean square, allowed %.0e", worst,
             tolerance);
    double v =
        c->md->box_length[0] * c->md->box_length[1] * c->md->box_length[2];
    double energy = case_value(c, "potential_energy");
    double virial =
        3 * v * case_value(c, "pressure") - 2 * case_value(c, "kinetic_energy");
    tap_near(energy, d.sums.energy, tolerance * fabs(d.sums.energy) * 10,
             "%s: energy equals the direct sum's", what);
    /* The virial is a difference of large sums: relative to the energy. */
    tap_near(virial, d.sums.virial,
             tolerance * 100 * (fabs(d.sums.energy) + fabs(d.sums.virial)),
             "%s: virial equals the direct sum's", what);
    direct_free(&d);
    snapshot_free(&s);
}

static void check(struct ctx *ctx, const struct md_kernels *kernels,
                  const char *deck, const char *more, double tolerance,
                  const char *what)
{
    struct md_case c;
    int status = case_open(ctx, &c, kernels, "%s%s", deck, more);
    if (status == 0) {
        compare(&c, tolerance, what);
        /* Enough for particles to change owners and lists to be rebuilt. */
        status = case_steps(&c, 30);
        if (status == 0)
            compare(&c, tolerance, what);
    }
    tap_ok(status == 0, "%s: 30 steps", what);
    if (status != 0)
        tap_note("%s", ctx->error.text);
    case_close(&c);
}

/* Particles exactly on the faces that 2, 3, 4, 7 and 8 blocks may have, on the
 * box's faces, and on both zeros: a cubic lattice of spacing 1.2 with one
 * coordinate of some particles moved onto a face nearby. */
static int write_faces(struct ctx *ctx, const char *path)
{
    static const double at[] = {-0.0, 1.5, 12. / 7, 3,           4,
                                6,    8,   9,       12. / 7 * 6, 12};
    int status = 0;
    FILE *f = NULL;
    if (comm_rank(ctx->comm) == 0) {
        f = fopen(path, "w");
        if (!f)
            status = FAIL(ctx, STATUS_IO, "cannot write %s", path);
    }
    if (f)
        fprintf(f, "1000\n12 12 12\n");
    for (int i = 0; f && i < 1000; i++) {
        double x[3] = {1.2 * (i % 10) + 0.1, 1.2 * (i / 10 % 10) + 0.1,
                       1.2 * (i / 100) + 0.1};
        int d = i % 7;
        for (int k = 0; d < 3 && k < 10; k++)
            if (fabs(x[d] - at[k]) < 0.11)
                x[d] = at[k];
        fprintf(f, "A %.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    if (f)
        fclose(f);
    return comm_agree(ctx, status);
}

static void check_faces(struct ctx *ctx)
{
    char folder[1024], deck[2048];
    if (!getcwd(folder, sizeof folder))
        return;
    snprintf(deck, sizeof deck,
             HEAD "[md]\nsteps = 100\ntimestep = 0.002\n[md.initial]\n"
                  "read = \"%s/faces.xyz\"\ntemperature = 1\n"
                  "[md.pair]\ncutoff = 4\nskin = 0.3\n",
             folder);
    tap_ok(write_faces(ctx, "faces.xyz") == 0, "a file of particles on faces");
    check(ctx, NULL, deck, "", 1e-12, "particles on faces");
}

static void check_slabs(struct ctx *ctx)
{
    int size = comm_size(ctx->comm);
    for (int d = 0; d < 3 && size > 1; d++) {
        char more[128], what[64];
        snprintf(more, sizeof more, "[domain]\nranks = [%d, %d, %d]\n",
                 d == 0 ? size : 1, d == 1 ? size : 1, d == 2 ? size : 1);
        snprintf(what, sizeof what, "slabs across %c", "xyz"[d]);
        check(ctx, NULL, melt, more, 1e-12, what);
        check(ctx, NULL, tiny, more, 1e-12, "tiny box in slabs");
    }
}

/* The histogram of pairs on all ranks, by these kernels. */
static int histogram(struct ctx *ctx, const struct md_kernels *kernels,
                     int steps, double *counts, int n)
{
    static const int channel_of[] = {0, 1, 1, 2};
    struct md_case c;
    uint64_t *own = calloc((size_t)n, sizeof *own);
    int status = own ? case_open(ctx, &c, kernels, "%s", mixture) : -1;
    if (status == 0)
        status = case_steps(&c, steps);
    if (status == 0)
        status = c.md->k->pair_histogram(ctx, c.md->store, 2.6, n / 3,
                                         channel_of, own);
    for (int i = 0; i < n && status == 0; i++)
        counts[i] = (double)own[i];
    if (status == 0)
        status = comm_sum_double(ctx, counts, n);
    if (own)
        case_close(&c);
    free(own);
    return status;
}

/* After so many steps the list is fresh, or as old as it gets. */
static void check_histogram(struct ctx *ctx, int steps)
{
    enum { N = 3 * 50 };
    double fast[N], slow[N], sum = 0;
    int status = histogram(ctx, NULL, steps, fast, N);
    if (status == 0)
        status = histogram(ctx, &md_kernels_reference, steps, slow, N);
    for (int i = 0; i < N && status == 0; i++)
        sum += slow[i];
    tap_ok(status == 0 && sum > 0 && memcmp(fast, slow, sizeof fast) == 0,
           "after %d steps, counts of pairs by distance and species are the "
           "reference's",
           steps);
}

/* A number that any difference of velocities changes, for a comparison between
 * runs on different numbers of ranks. */
static void show_velocities(struct ctx *ctx)
{
    struct md_case c;
    struct snapshot s = {0};
    uint64_t hash = 14695981039346656037u;
    double momentum[3] = {0};
    int status = case_open(ctx, &c, NULL, "%s", mixture);
    if (status == 0)
        status = case_snapshot(&c, &s);
    for (size_t i = 0; i < s.n && status == 0; i++)
        for (int d = 0; d < 3; d++) {
            uint64_t bits;
            memcpy(&bits, &s.velocity[i][d], sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
            momentum[d] += s.velocity[i][d] * c.md->species[s.species[i]].mass;
        }
    tap_ok(status == 0 &&
               fabs(momentum[0]) + fabs(momentum[1]) + fabs(momentum[2]) <
                   1e-11,
           "the drawn velocities have no total momentum");
    tap_near(case_value(&c, "temperature"), 1, 1e-13,
             "the drawn velocities have the temperature asked for");
    tap_note("velocities %016llx", (unsigned long long)hash);
    snapshot_free(&s);
    case_close(&c);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    /* 1e-12: sums of some hundred terms, each rounded to 1e-16, in any order */
    check(&ctx, NULL, melt, "", 1e-12, "melt");
    check(&ctx, NULL, mixture, "", 1e-12, "mixture with force shift");
    check(&ctx, NULL, tiny, "", 1e-12, "box of two cutoffs");
    check(&ctx, NULL, corner, "", 1e-12, "cluster in a corner");
    check(&ctx, &md_kernels_reference, mixture, "", 1e-12,
          "mixture on the reference kernels");
    check(&ctx, &md_kernels_reference, corner, "", 1e-12,
          "corner on the reference kernels");
    /* float: 24 bits of coordinates up to 4, forces to about 1e-5 of the mean
     */
    check(&ctx, NULL, mixture_mixed, "", 2e-4, "mixture in mixed precision");
    check_faces(&ctx);
    check_slabs(&ctx);
    for (int steps = 0; steps < 20; steps += 3)
        check_histogram(&ctx, steps);
    show_velocities(&ctx);
    /* Last: the number of threads stays. */
    check(&ctx, NULL, melt_threads, "", 1e-12, "melt on three threads");
    check(&ctx, NULL, corner_threads, "", 1e-12,
          "cluster in a corner on two threads");
    return test_end(&ctx);
}
