/* Constant temperature and pressure: forces in a box that changes are those of
 * a direct sum, Nose-Hoover and MTK can be reversed, what they conserve is
 * conserved to second order, and the pressure tensor is that of the pairs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/error.h"
#include "md_case.h"
#include "tests/tap.h"

/* 256 particles far from the pressure that is asked for: the box changes by
 * several percent between two builds of the list. */
#define GAS(timestep, more)                                      \
    "[run]\nsolver = \"md\"\nseed = 3\n[md]\nsteps = 5000\n"     \
    "timestep = " timestep "\n[md.initial]\nlattice = \"fcc\"\n" \
    "cells = [4, 4, 4]\ndensity = 0.5\ntemperature = 1.5\n"      \
    "[md.pair]\ncutoff = 1.9\nskin = 0.3\nshift = \"force\"\n"   \
    "[md.ensemble]\ntemperature = 1.5\nrelaxation = 0.3\n" more

#define NPT(barostat, coupling, pressure, relaxation)                     \
    "type = \"npt\"\nbarostat = \"" barostat "\"\ncoupling = \"" coupling \
    "\"\npressure = " pressure "\npressure_relaxation = " relaxation "\n"

static double box_change(const struct md_case *c, const double start[3])
{
    double most = 0;
    for (int d = 0; d < 3; d++)
        most = fmax(most, fabs(c->md->box_length[d] / start[d] - 1));
    return most;
}

/* No pair is missed, however the box goes. */
static void check_forces(struct ctx *ctx, const char *deck, const char *what)
{
    struct md_case c;
    double worst = 0, start[3], slack = 1;
    int status = case_open(ctx, &c, NULL, "%s", deck);
    for (int d = 0; d < 3 && status == 0; d++)
        start[d] = c.md->box_length[d];
    for (int k = 0; k < 25 && status == 0; k++) {
        struct snapshot s = {0};
        struct direct direct = {0};
        status = case_steps(&c, 4);
        if (status == 0)
            status = case_snapshot(&c, &s);
        if (status == 0)
            status = case_direct(&c, &s, &direct);
        if (status == 0)
            worst = fmax(worst, force_error(&s, &direct));
        slack = fmin(slack, md_list_slack(c.md));
        snapshot_free(&s);
        direct_free(&direct);
    }
    if (tap_ok(status == 0, "%s: a run", what)) {
        /* Rounding; a pair that is missed is of the order of 1e-2. */
        tap_ok(worst < 1e-10, "%s: forces are those of all pairs", what);
        tap_ok(box_change(&c, start) > 0.01, "%s: the box has changed", what);
        tap_note("forces off by %.1e, box by %.1f %%, least slack %.3f", worst,
                 100 * box_change(&c, start), slack);
    }
    case_close(&c);
}

static void turn_chain(struct md_chain *chain)
{
    for (int k = 0; k < chain->links; k++)
        chain->speed[k] = -chain->speed[k];
}

static double farthest(const struct snapshot *a, const struct snapshot *b,
                       const double length[3])
{
    double worst = 0;
    for (size_t i = 0; i < a->n; i++)
        for (int d = 0; d < 3; d++)
            worst = fmax(worst,
                         fabs(a->position[i][d] - b->position[i][d] +
                              (a->image[i][d] - b->image[i][d]) * length[d]));
    return worst;
}

static void check_reversal(struct ctx *ctx, const char *deck, const char *what)
{
    struct md_case c;
    struct snapshot start = {0}, end = {0};
    double length[3];
    int status = case_open(ctx, &c, NULL, "%s", deck);
    if (status == 0)
        status = case_steps(&c, 50);
    if (status == 0)
        status = case_snapshot(&c, &start);
    for (int d = 0; d < 3 && status == 0; d++)
        length[d] = c.md->box_length[d];
    if (status == 0)
        status = case_steps(&c, 100);
    if (status == 0) {
        c.md->k->scale_velocities(c.md->store, -1);
        turn_chain(&c.md->chain);
        turn_chain(&c.md->barostat.chain);
        for (int g = 0; g < 3; g++)
            c.md->barostat.rate[g] = -c.md->barostat.rate[g];
        status = case_steps(&c, 100);
    }
    if (status == 0)
        status = case_snapshot(&c, &end);
    if (tap_ok(status == 0, "%s: 100 steps forward, 100 back", what)) {
        /* Rounding of 1e-15 grows by e in about 0.5 units of time. */
        double off = farthest(&start, &end, length);
        tap_ok(off < 1e-9, "%s: the way back ends at the start", what);
        tap_ok(box_change(&c, length) < 1e-11, "%s: and in its box", what);
        tap_note("farthest %.1e, box %.1e", off, box_change(&c, length));
    }
    snapshot_free(&start);
    snapshot_free(&end);
    case_close(&c);
}

/* The standard deviation of what is conserved, over n samples. */
static double wobble(struct ctx *ctx, const char *deck, int every, int n)
{
    struct md_case c;
    double sum = 0, square = 0, first = 0;
    int status = case_open(ctx, &c, NULL, "%s", deck);
    for (int k = 0; k < n && status == 0; k++) {
        status = case_steps(&c, every);
        double now = case_value(&c, "conserved_energy");
        first = k == 0 ? now : first;
        sum += now - first;
        square += (now - first) * (now - first);
    }
    case_close(&c);
    return status == 0 ? sqrt(fmax(square / n - sum * sum / n / n, 0)) : NAN;
}

static void check_order(struct ctx *ctx, const char *coarse, const char *fine,
                        const char *what)
{
    double one = wobble(ctx, coarse, 5, 100), two = wobble(ctx, fine, 10, 100);
    /* Both follow the same motion, for a while; the lattice melts in it. */
    tap_near(log2(one / two), 2, 0.25,
             "%s: the error of what is conserved is of second order", what);
    tap_ok(two < 0.1, "%s: and small", what);
    tap_note("%.3g and %.3g of some 400", one, two);
}

/* Sums over all pairs of the nearest images, plainly. */
static void check_tensor(struct ctx *ctx)
{
    static const char *const names[6] = {"pressure_xx", "pressure_yy",
                                         "pressure_zz", "pressure_xy",
                                         "pressure_xz", "pressure_yz"};
    static const int first[6] = {0, 1, 2, 0, 0, 1},
                     second[6] = {0, 1, 2, 1, 2, 2};
    struct md_case c;
    struct snapshot s = {0};
    double want[6] = {0}, worst = 0;
    int status =
        case_open(ctx, &c, NULL, "%s",
                  GAS("0.004\npressure_tensor = true", "type = \"bussi\"\n"));
    if (status == 0)
        status = case_steps(&c, 40);
    if (status == 0)
        status = case_snapshot(&c, &s);
    for (size_t i = 0; i < s.n && status == 0; i++) {
        for (int t = 0; t < 6; t++)
            want[t] += s.velocity[i][first[t]] * s.velocity[i][second[t]];
        for (size_t j = 0; j < i; j++) {
            double x[3], r2 = 0;
            for (int d = 0; d < 3; d++) {
                double l = c.md->box_length[d];
                x[d] = s.position[i][d] - s.position[j][d];
                x[d] -= l * rint(x[d] / l);
                r2 += x[d] * x[d];
            }
            const struct lj_coeff *p = c.md->pair.coeff;
            if (r2 >= p->cutoff2)
                continue;
            double inv6 = 1 / (r2 * r2 * r2);
            double g = (12 * p->c12 * inv6 - 6 * p->c6) * inv6 / r2 -
                       p->force_shift / sqrt(r2);
            for (int t = 0; t < 6; t++)
                want[t] += g * x[first[t]] * x[second[t]];
        }
    }
    if (tap_ok(status == 0, "pressure tensor: a run")) {
        double trace = 0;
        for (int t = 0; t < 6; t++) {
            double got = case_value(&c, names[t]);
            worst = fmax(worst, fabs(got - want[t] / md_volume(c.md)));
            trace += t < 3 ? got / 3 : 0;
        }
        tap_ok(worst < 1e-12, "pressure tensor: that of all pairs");
        tap_near(trace, case_value(&c, "pressure"), 1e-12,
                 "pressure tensor: its trace is the pressure");
        tap_note("off by %.1e", worst);
    }
    snapshot_free(&s);
    case_close(&c);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 1;
    check_forces(&ctx, GAS("0.004", NPT("mtk", "anisotropic", "6", "0.2")),
                 "mtk, compressed");
    check_forces(&ctx,
                 GAS("0.004", NPT("cell-rescaling", "isotropic", "0.1",
                                  "0.1") "barostat_every = 2\n"),
                 "cell-rescaling, expanded");
    check_reversal(&ctx, GAS("0.004", "type = \"nose-hoover\"\n"),
                   "nose-hoover");
    check_reversal(&ctx, GAS("0.004", NPT("mtk", "anisotropic", "2", "0.5")),
                   "mtk");
    check_tensor(&ctx);
    if (comm_size(ctx.comm) == 1) {
        check_order(&ctx, GAS("0.004", "type = \"nose-hoover\"\n"),
                    GAS("0.002", "type = \"nose-hoover\"\n"), "nose-hoover");
        check_order(&ctx, GAS("0.004", NPT("mtk", "semi-isotropic", "1", "1")),
                    GAS("0.002", NPT("mtk", "semi-isotropic", "1", "1")),
                    "mtk");
    }
    return test_end(&ctx);
}
