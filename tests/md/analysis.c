/* Analyses during a run against what is known of crystals and of free flight.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "md_case.h"
#include "tests/tap.h"

static const struct result_table *find(const struct result_table *tables, int n,
                                       const char *group)
{
    for (int i = 0; i < n; i++)
        if (strcmp(tables[i].group, group) == 0)
            return &tables[i];
    return NULL;
}

/* Neighbors of a particle up to r, from g(r): 4 pi rho times the integral. */
static double neighbors(const struct result_table *t, double density,
                        double from, double to)
{
    const double *r = t->columns[0], *g = t->columns[1];
    double width = r[1] - r[0], sum = 0;
    for (int64_t b = 0; b < t->n_rows; b++)
        if (r[b] > from && r[b] < to) {
            double inner = r[b] - 0.5 * width, outer = r[b] + 0.5 * width;
            sum += g[b] * 4 / 3 * 3.14159265358979323846 *
                   (outer * outer * outer - inner * inner * inner) * density;
        }
    return sum;
}

static void check_crystal(struct ctx *ctx)
{
    struct md_case c;
    const struct result_table *tables;
    int n = 0;
    /* The range is longer than the cutoff. */
    int status = case_open(
        ctx, &c, NULL,
        "[run]\nsolver = \"md\"\n[md]\nsteps = 0\n[md.initial]\n"
        "lattice = \"bcc\"\ncells = [6, 6, 6]\nlattice_constant = 1.2\n"
        "[md.pair]\ncutoff = 1.3\nskin = 0.1\n[md.analysis.rdf]\n"
        "range = 3\nbins = 300\n");
    if (status == 0)
        status = c.job.solver->results(ctx, c.md, &tables, &n);
    const struct result_table *t =
        status == 0 ? find(tables, n, "radial_distribution/A-A") : NULL;
    if (tap_ok(t != NULL, "a radial distribution function")) {
        double density = 2 / (1.2 * 1.2 * 1.2), a = 1.2;
        double self = 431.0 / 432; /* g is 1 for N - 1 neighbors */
        tap_near(neighbors(t, density, 0, 0.95 * a), 8 / self, 1e-9,
                 "bcc: 8 nearest neighbors");
        tap_near(neighbors(t, density, 0.95 * a, 1.2 * a), 6 / self, 1e-9,
                 "bcc: 6 next ones");
        tap_near(neighbors(t, density, 1.2 * a, 1.5 * a), 12 / self, 1e-9,
                 "bcc: 12 third ones, beyond the cutoff");
    }
    case_close(&c);
}

/* A gas without forces: every pair is as likely as any other. */
static void check_gas(struct ctx *ctx)
{
    struct md_case c;
    const struct result_table *tables, *t[3];
    int n = 0;
    int status = case_open(
        ctx, &c, NULL,
        "[run]\nsolver = \"md\"\n[md]\nsteps = 600\ntimestep = 0.05\n"
        "[md.initial]\nlattice = \"sc\"\ncells = [7, 7, 7]\n"
        "density = 0.5\ntemperature = 1\n"
        "[md.pair]\ncutoff = 1\nskin = 1\n"
        "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 0\n"
        "sigma = 1\n[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\n"
        "epsilon = 0\nsigma = 1\n"
        "[[md.species]]\nname = \"A\"\nfraction = 0.7\n"
        "[[md.species]]\nname = \"B\"\nfraction = 0.3\n"
        "[md.analysis.rdf]\nrange = 4\nbins = 8\nevery = 5\nstart = 100\n");
    if (status == 0)
        status = case_steps(&c, 600);
    if (status == 0)
        status = c.job.solver->results(ctx, c.md, &tables, &n);
    t[0] = status == 0 ? find(tables, n, "radial_distribution/A-A") : NULL;
    t[1] = status == 0 ? find(tables, n, "radial_distribution/A-B") : NULL;
    t[2] = status == 0 ? find(tables, n, "radial_distribution/B-B") : NULL;
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"A-A", "A-B", "B-B"};
        if (!tap_ok(t[i] != NULL, "g of %s", names[i]))
            continue;
        double worst = 0;
        /* The last bins hold thousands of pairs in each of 100 samples that
         * remember one another: 5 % is some five standard errors */
        for (int b = 4; b < 8; b++)
            worst = fmax(worst, fabs(t[i]->columns[1][b] - 1));
        tap_ok(worst < 0.05, "g of %s is 1 in a gas without forces", names[i]);
        tap_note("farthest %.4f", worst);
    }
    if (status != 0)
        tap_note("%s", ctx->error.text);
    case_close(&c);
}

static void check_displacement(struct ctx *ctx)
{
    struct md_case c;
    const struct result_table *tables, *t = NULL;
    int n = 0;
    int status = case_open(
        ctx, &c, NULL,
        "[run]\nsolver = \"md\"\n[md]\nsteps = 400\ntimestep = 0.05\n"
        "[md.initial]\nlattice = \"sc\"\ncells = [5, 5, 5]\n"
        "density = 1\ntemperature = 1.5\n"
        "[md.pair]\ncutoff = 1\nskin = 1\n"
        "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 0\n"
        "sigma = 1\n[md.analysis.msd]\nevery = 100\n");
    if (status == 0)
        status = case_steps(&c, 400);
    double time = c.job.solver->time(c.md);
    /* All fly straight: <v^2> t^2, and <v^2> = 3 kT (N - 1) / N here. */
    double want = 3 * 1.5 * 124 / 125 * time * time;
    tap_ok(status == 0, "free flight through many boxes");
    if (status != 0)
        tap_note("%s", ctx->error.text);
    tap_near(case_value(&c, "mean_squared_displacement"), want, 1e-9 * want,
             "the mean squared displacement counts the boxes crossed");
    if (status == 0 && c.job.solver->results(ctx, c.md, &tables, &n) == 0)
        t = find(tables, n, "displacement/mean_squared");
    if (tap_ok(t && t->n_rows == 5 && t->n_columns == 3,
               "its table has a row every 100 steps")) {
        tap_near(t->columns[0][2], 10, 1e-12, "a time of the table");
        tap_near(t->columns[1][2], want / 4, 1e-9 * want,
                 "the displacement at half the time");
    }
    case_close(&c);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    check_crystal(&ctx);
    check_gas(&ctx);
    check_displacement(&ctx);
    return test_end(&ctx);
}
