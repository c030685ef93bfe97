/* The motion: what it conserves, that it can be reversed, that forces are the
 * gradient of the energy, and how it fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/error.h"
#include "md_case.h"
#include "tests/tap.h"

/* Force and energy end at zero at the cutoff: the energy of the shifted form is
 * the one that the motion conserves. */
#define MELT(timestep, more)                                     \
    "[run]\nsolver = \"md\"\nseed = 11\n[md]\nsteps = 5000\n"    \
    "timestep = " timestep "\n[md.initial]\nlattice = \"fcc\"\n" \
    "cells = [5, 5, 5]\ndensity = 0.8442\ntemperature = 1.44\n"  \
    "[md.pair]\ncutoff = 2.5\nskin = 0.3\nshift = \"force\"\n" more

static double distance(struct md_case *c, const struct snapshot *a,
                       const struct snapshot *b)
{
    double worst = 0;
    for (size_t i = 0; i < a->n; i++)
        for (int d = 0; d < 3; d++) {
            double moved =
                a->position[i][d] - b->position[i][d] +
                (a->image[i][d] - b->image[i][d]) * c->md->box_length[d];
            worst = fmax(worst, fabs(moved));
        }
    return worst;
}

static void check_reversal(struct ctx *ctx)
{
    struct md_case c;
    struct snapshot start = {0}, end = {0};
    int status = case_open(ctx, &c, NULL, MELT("0.002", ""));
    if (status == 0)
        status = case_snapshot(&c, &start);
    if (status == 0)
        status = case_steps(&c, 200);
    if (status == 0) {
        c.md->k->scale_velocities(c.md->store, -1);
        status = case_steps(&c, 200);
    }
    if (status == 0)
        status = case_snapshot(&c, &end);
    if (tap_ok(status == 0, "200 steps forward, 200 back")) {
        /* Rounding of 1e-16 grows like exp(t / 0.4) in a melt: to 1e-14 times
         * e in t = 0.4, and as much again on the way back. */
        double off = distance(&c, &start, &end);
        tap_ok(off < 1e-8, "the way back ends at the start");
        tap_note("farthest %.1e", off);
    }
    snapshot_free(&start);
    snapshot_free(&end);
    case_close(&c);
}

/* The mean of an observable over the next n steps. */
static double mean(struct md_case *c, const char *name, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (case_steps(c, 1) != 0)
            return NAN;
        sum += case_value(c, name);
    }
    return sum / n;
}

/* On a simulated card, under sanitizers, and where processes share a core and
 * wait for one another in each step, shorter runs have to do. */
static int fewer(const struct ctx *ctx)
{
    return getenv("WARPDECK_TEST_SHORT") || comm_size(ctx->comm) > 1 ? 3 : 1;
}

static void check_drift(struct ctx *ctx)
{
    struct md_case c;
    int status = case_open(ctx, &c, NULL, MELT("0.001", ""));
    if (tap_ok(status == 0, "a melt with force shift")) {
        /* After the crystal has melted: until then the small error of the
         * energy that a time step makes changes with the structure. */
        int less = fewer(ctx);
        status = case_steps(&c, 3000 / less);
        double before = mean(&c, "total_energy", 100);
        if (status == 0)
            status = case_steps(&c, 900 / less);
        double after = mean(&c, "total_energy", 100);
        double drift = (after - before) / (double)c.md->n_particles;
        tap_ok(status == 0 && fabs(drift) < 1e-6,
               "the energy drifts by less than 1e-6 per particle in %d steps",
               900 / less + 100);
        tap_note("drift %.2e", drift);
        /* 500 particles, each rounded 1600 times by 1e-16 times its speed */
        tap_ok(case_value(&c, "momentum") < 1e-11,
               "the total momentum stays zero");
        tap_note("momentum %.1e", case_value(&c, "momentum"));
    }
    case_close(&c);
}

static void check_conserved(struct ctx *ctx, const char *type, const char *deck)
{
    struct md_case c;
    int status = case_open(ctx, &c, NULL, "%s", deck);
    if (status == 0)
        status = case_steps(&c, 300 / fewer(ctx));
    double before = mean(&c, "conserved_energy", 50 / fewer(ctx));
    double total = case_value(&c, "total_energy");
    if (status == 0)
        status = case_steps(&c, 500 / fewer(ctx));
    double after = mean(&c, "conserved_energy", 50 / fewer(ctx));
    double n = (double)c.md->n_particles;
    tap_ok(status == 0 && fabs(after - before) / n < 1e-3,
           "%s: total energy less the thermostat's work is conserved", type);
    tap_note("change %.2e per particle; of the total energy %.2e",
             (after - before) / n,
             (case_value(&c, "total_energy") - total) / n);
    case_close(&c);
}

/* ---- gradient ---- */

static int write_xyz(struct md_case *c, const struct snapshot *s,
                     const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    const double *l = c->md->box_length;
    fprintf(f,
            "%zu\nLattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" "
            "Properties=species:S:1:pos:R:3\n",
            s->n, l[0], l[1], l[2]);
    for (size_t i = 0; i < s->n; i++)
        fprintf(f, "%s %.17g %.17g %.17g\n", s->species[i] ? "B" : "A",
                s->position[i][0], s->position[i][1], s->position[i][2]);
    return fclose(f);
}

/* The energy with one coordinate moved by h. */
static double energy_at(struct ctx *ctx, struct md_case *c, struct snapshot *s,
                        const char *deck, size_t i, int d, double h)
{
    struct md_case moved;
    double old = s->position[i][d], energy = NAN;
    s->position[i][d] += h;
    int status = 0;
    if (comm_rank(ctx->comm) == 0 && write_xyz(c, s, "moved.xyz") != 0)
        status = FAIL(ctx, STATUS_IO, "cannot write moved.xyz");
    s->position[i][d] = old;
    if (comm_agree(ctx, status) == 0 &&
        case_open(ctx, &moved, NULL, "%s", deck) == 0)
        energy = case_value(&moved, "potential_energy");
    case_close(&moved);
    return energy;
}

#define GRADIENT_PAIRS                                                    \
    "[md.pair]\ncutoff = 2.5\nskin = 0.3\nshift = \"force\"\n"            \
    "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 1\n"   \
    "sigma = 1\n"                                                         \
    "[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\nepsilon = 0.7\n" \
    "sigma = 0.9\n"                                                       \
    "[[md.species]]\nname = \"A\"\nfraction = 0.5\n"                      \
    "[[md.species]]\nname = \"B\"\nfraction = 0.5\n"

static void check_gradient(struct ctx *ctx)
{
    static const char start[] =
        "[run]\nsolver = \"md\"\nseed = 3\n[md]\nsteps = 100\n"
        "timestep = 0.002\n[md.initial]\nlattice = \"fcc\"\n"
        "cells = [4, 4, 4]\ndensity = 1\ntemperature = 1\n" GRADIENT_PAIRS;
    char folder[1024], moved[4096];
    struct md_case c;
    struct snapshot s = {0};
    double worst = 0;
    if (!getcwd(folder, sizeof folder))
        return;
    snprintf(moved, sizeof moved,
             "[run]\nsolver = \"md\"\n[md]\nsteps = 0\n[md.initial]\n"
             "read = \"%s/moved.xyz\"\n" GRADIENT_PAIRS,
             folder);
    int status = case_open(ctx, &c, NULL, "%s", start);
    if (status == 0)
        status = case_steps(&c, 100);
    if (status == 0)
        status = case_snapshot(&c, &s);
    tap_ok(status == 0, "a mixture that is no crystal any more");
    for (size_t i = 0; i < s.n && status == 0; i += 51) {
        const double h = 1e-4;
        int d = (int)(i % 3);
        double e[4];
        for (int k = 0; k < 4; k++)
            e[k] = energy_at(ctx, &c, &s, moved, i, d,
                             h * (k < 2 ? k - 2 : k - 1));
        /* Differences of fourth order: off by some h^4 u^(5) = 1e-10 */
        double slope = (e[0] - 8 * e[1] + 8 * e[2] - e[3]) / (12 * h);
        double off = fabs(slope + s.force[i][d]);
        worst = off <= worst ? worst : off;
    }
    tap_ok(status == 0 && worst < 1e-7,
           "forces are minus the numerical gradient of the energy");
    tap_note("worst %.1e", worst);
    snapshot_free(&s);
    case_close(&c);
}

/* ---- faults ---- */

static void fails(struct ctx *ctx, int want, const char *text, int steps,
                  const char *what, const char *deck)
{
    struct md_case c;
    int status = case_open(ctx, &c, NULL, "%s", deck);
    if (status == 0)
        status = case_steps(&c, steps);
    int said = strstr(ctx->error.text, text) != NULL;
    tap_ok(status == want && said, "%s", what);
    if (status != want || !said)
        tap_note("status %d: %s", status, ctx->error.text);
    case_close(&c);
}

static void check_faults(struct ctx *ctx)
{
    fails(ctx, STATUS_LOST_PARTICLES, "timestep", 100,
          "a timestep far too large loses particles, and says so",
          MELT("0.5", ""));
    fails(ctx, STATUS_PHYSICS, "step 1: particle", 1,
          "a timestep that overflows is not survived",
          MELT("1e150", "[[md.species]]\nname = \"A\"\nmass = 1e-100\n"));
    fails(ctx, STATUS_PHYSICS, "is not finite", 2,
          "a force that is no number stops the run",
          "[run]\nsolver = \"md\"\n[md]\nsteps = 1\n[md.initial]\n"
          "lattice = \"sc\"\ncells = [6, 6, 6]\nlattice_constant = 1e-160\n"
          "overlap = 0\n[domain]\nsize = [10, 10, 10]\n[md.pair]\n"
          "cutoff = 2.5\n");
    fails(ctx, STATUS_INPUT, "apart at the start", 1,
          "particles on top of one another are named",
          "[run]\nsolver = \"md\"\n[md]\nsteps = 1\n[md.initial]\n"
          "lattice = \"sc\"\ncells = [40, 6, 6]\n[domain]\n"
          "size = [10, 10, 10]\n[md.pair]\ncutoff = 2.5\n");
}

static void check_lists(struct ctx *ctx)
{
    struct md_case c;
    struct solver_totals totals;
    int status =
        case_open(ctx, &c, NULL, MELT("0.005", "rebuild_every = 20\n"));
    if (status == 0)
        status = case_steps(&c, 100);
    if (status == 0)
        status = c.job.solver->totals(ctx, c.md, &totals);
    tap_ok(status == 0 && strstr(totals.notes[1], "may have missed pairs") &&
               strstr(totals.notes[0], "was built every 20.0 steps"),
           "a list rebuilt without looking confesses its unsafe steps, beside "
           "how long it lasted");
    case_close(&c);

    struct snapshot s = {0};
    struct direct d = {0};
    status = case_open(ctx, &c, NULL,
                       "[run]\nsolver = \"md\"\n[md]\nsteps = 9\n"
                       "[md.initial]\nlattice = \"fcc\"\ncells = [4, 4, 4]\n"
                       "density = 0.8\ntemperature = 1\n[md.pair]\n"
                       "cutoff = 2.5\nskin = 0\n");
    if (status == 0)
        status = case_steps(&c, 9);
    if (status == 0)
        status = case_snapshot(&c, &s);
    if (status == 0)
        status = case_direct(&c, &s, &d);
    tap_ok(status == 0 && force_error(&s, &d) < 1e-12,
           "a list without skin is rebuilt every step");
    direct_free(&d);
    snapshot_free(&s);
    case_close(&c);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    check_reversal(&ctx);
    check_drift(&ctx);
    check_conserved(&ctx, "bussi",
                    MELT("0.002", "[md.ensemble]\ntype = \"bussi\"\n"
                                  "temperature = 1\nrelaxation = 0.2\n"));
    check_conserved(&ctx, "langevin",
                    MELT("0.002", "[md.ensemble]\ntype = \"langevin\"\n"
                                  "temperature = 1\nrelaxation = 0.5\n"));
    check_gradient(&ctx);
    check_faults(&ctx);
    check_lists(&ctx);
    return test_end(&ctx);
}
