/* Thermostats: the kinetic energy has the canonical distribution, a gamma
 * distribution of N_f / 2 and kT, not only its mean.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/error.h"
#include "md_case.h"
#include "tests/tap.h"

enum { BINS = 24, SAMPLES = 3600 };

/* The lower incomplete gamma function, P(a, x), by its series (Abramowitz and
 * Stegun 6.5.29). */
static double gamma_below(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < 10000 && term > 1e-15 * sum; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

/* Chi-square of samples that should be uniform in (0, 1), in equal bins. */
static double chi_square(const double *uniform, int n)
{
    double count[BINS] = {0}, sum = 0, expected = (double)n / BINS;
    for (int i = 0; i < n; i++) {
        int bin = (int)(uniform[i] * BINS);
        count[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1] += 1;
    }
    for (int b = 0; b < BINS; b++)
        sum += (count[b] - expected) * (count[b] - expected) / expected;
    return sum;
}

/* Sample the kinetic energy every `every` steps. */
static int sample(struct md_case *c, int every, int n, double *uniform)
{
    double kt = c->md->temperature, freedom = c->md->degrees_of_freedom;
    for (int i = 0; i < n; i++) {
        struct md_moments m;
        TRY(case_steps(c, every));
        c->md->k->moments(c->md->store, &m);
        TRY(comm_sum_double(c->ctx, &m.kinetic, 1));
        uniform[i] = gamma_below(0.5 * freedom, m.kinetic / kt);
    }
    return 0;
}

/* Hard-to-thermalise starts are avoided by the first steps; a step of one
 * relaxation time keeps a share e^-1 of the old velocity, for the kinetic
 * energy of Langevin e^-2: six steps make samples independent. */
static void check(struct ctx *ctx, const char *type, const char *pairs,
                  const char *relaxation, int every, const char *what)
{
    static double uniform[SAMPLES];
    struct md_case c;
    /* Fewer where two processes may share a core, and on a simulated card: five
     * a bin, which the distribution of chi-square needs. */
    int n = comm_size(ctx->comm) == 1 ? SAMPLES : SAMPLES / 4;
    if (getenv("WARPDECK_TEST_SHORT"))
        n = 5 * BINS;
    int status = case_open(
        ctx, &c, NULL,
        "[run]\nsolver = \"md\"\nseed = 17\n[md]\nsteps = 1\n"
        "timestep = 0.004\n[md.initial]\nlattice = \"sc\"\n"
        "cells = [3, 3, 3]\ndensity = 0.4\ntemperature = 0.9\n"
        "[md.pair]\ncutoff = 2\nskin = 0.03\nshift = \"force\"\n%s"
        "[[md.species]]\nname = \"A\"\nmass = 1\nfraction = 0.5\n"
        "[[md.species]]\nname = \"B\"\nmass = 3\nfraction = 0.5\n"
        "[md.ensemble]\ntype = \"%s\"\ntemperature = 0.9\nrelaxation = %s\n",
        pairs, type, relaxation);
    if (status == 0)
        status = case_steps(&c, 100);
    if (status == 0)
        status = sample(&c, every, n, uniform);
    if (tap_ok(status == 0, "%s, %s: a run", type, what)) {
        double chi = chi_square(uniform, n);
        /* 23 degrees of freedom: above 49.7 in one of a thousand */
        tap_ok(chi < 49.7,
               "%s, %s: the kinetic energy is distributed canonically", type,
               what);
        tap_note("chi-square %.1f of %d", chi, BINS - 1);
    } else {
        tap_note("%s", ctx->error.text);
    }
    case_close(&c);
}

/* Bussi's factor for systems of any size: one step with decay 0 draws the
 * kinetic energy anew, so its mean and variance are those of the gamma
 * distribution. */
static void check_factor(double freedom)
{
    enum { N = 20000 };
    double sum = 0, square = 0, target = 0.5 * freedom;
    for (int i = 0; i < N; i++) {
        double factor =
            md_bussi_factor(99, i + 1, 0, 0.7 * target, target, freedom);
        double kinetic = factor * factor * 0.7 * target;
        double off = (kinetic - target) / sqrt(target); /* variance 1 */
        sum += off;
        square += off * off;
    }
    /* Four standard errors: 4 / sqrt(N), and 4 sqrt(2 + 12 / N_f) / sqrt(N) */
    tap_near(sum / N, 0, 0.0283, "bussi, %g degrees of freedom: the mean",
             freedom);
    tap_near(square / N, 1, 0.0283 * sqrt(2 + 12 / freedom),
             "bussi, %g degrees of freedom: the variance", freedom);
}

int main(int argc, char **argv)
{
    /* sigma = 1 without depth: an ideal gas */
    static const char ideal[] =
        "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 0\n"
        "sigma = 1\n[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\n"
        "epsilon = 0\nsigma = 1\n";
    static const char fluid[] =
        "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 1\n"
        "sigma = 1\n[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\n"
        "epsilon = 0.5\nsigma = 1\n";
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    check(&ctx, "bussi", ideal, "0.004", 6, "ideal gas");
    check(&ctx, "langevin", ideal, "0.004", 6, "ideal gas");
    if (comm_size(ctx.comm) == 1) {
        check(&ctx, "bussi", fluid, "0.02", 15, "fluid");
        check(&ctx, "langevin", fluid, "0.02", 15, "fluid");
        check_factor(1);
        check_factor(2);
        check_factor(3);
        check_factor(93);
        check_factor(3e9);
    }
    return test_end(&ctx);
}
