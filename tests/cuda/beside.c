/* The card beside the CPU, in one program: potentials that are tables, metals,
 * walls and groups, with forces, energies and virials by directions, and after
 * some steps.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/error.h"
#include "solvers/md/md_analysis.h"
#include "tests/cuda/beside.h"
#include "tests/tap.h"

/* ---- files ---- */

enum { SIDE = 7, COUNT = SIDE * SIDE * SIDE, CELLS = 3, ATOMS = 4 * 4 * 9 };

static double draw(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random / 4294967296.0 - 0.5;
}

/* A shaken lattice of some species, so far from the face at x = 0; particle i
 * stands in line order(i), of a product that has no divisor with the count. */
static void write_liquid(FILE *f, int species, size_t stride, double first)
{
    static char line[COUNT][128];
    uint32_t random = 12345;
    for (size_t i = 0; i < COUNT; i++) {
        size_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = 1.1 * ((double)at[d] + (d == 0 ? first : 0.6) +
                          0.25 * draw(&random));
        size_t kind = (i * i + i / 5) % (size_t)species;
        snprintf(line[i * stride % COUNT], sizeof line[0],
                 "S%zu %.17g %.17g %.17g\n", kind, x[0], x[1], x[2]);
    }
    fprintf(f, "%d\n7.7 7.7 7.7\n", COUNT);
    for (size_t i = 0; i < COUNT; i++)
        fputs(line[i], f);
}

/* A shaken crystal of two metals. */
static void write_crystal(FILE *f, size_t stride)
{
    static const double base[4][3] = {
        {0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
    static char line[ATOMS][128];
    uint32_t random = 99;
    for (size_t i = 0; i < ATOMS; i++) {
        size_t c = i / 4;
        size_t at[3] = {c / 9, c / CELLS % CELLS, c % CELLS};
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = 3.6 * ((double)at[d] + base[i % 4][d] + 0.25) +
                   0.4 * draw(&random);
        snprintf(line[i * stride % ATOMS], sizeof line[0],
                 "S%d %.17g %.17g %.17g\n", i % 3 == 0, x[0], x[1], x[2]);
    }
    fprintf(f, "%d\n14.4 10.8 10.8\n", ATOMS);
    for (size_t i = 0; i < ATOMS; i++)
        fputs(line[i], f);
}

/* After Sutton and Chen (1990), to zero smoothly at the cutoff. */
static double power(double r, double c, double exponent)
{
    double near = fmax(r, 1), x = fmin(fmax((5 - near) / 1.5, 0), 1);
    return c * pow(2.5 / near, exponent) * x * x * x * (10 + x * (6 * x - 15));
}

static void write_alloy(FILE *f)
{
    enum { N_RHO = 300, N_R = 400 };
    const double rho_step = 0.08, r_step = 5.0 / (N_R - 1);
    fprintf(f, "made by a test\n\n\n2 S0 S1\n%d %.17g %d %.17g 5\n", N_RHO,
            rho_step, N_R, r_step);
    for (int a = 0; a < 2; a++) {
        fprintf(f, "28 60 3.6 fcc\n");
        for (int k = 0; k < N_RHO; k++)
            fprintf(f, "%.17g\n",
                    -(a ? 1.1 : 0.9) * sqrt(rho_step * k) + 0.008 * k);
        for (int k = 0; k < N_R; k++)
            fprintf(f, "%.17g\n", power(r_step * k, 1, a ? 6 : 5.5));
    }
    for (int pair = 0; pair < 3; pair++)
        for (int k = 0; k < N_R; k++)
            fprintf(f, "%.17g\n",
                    fmax(r_step * k, 1) *
                        power(r_step * k, 0.11 + 0.01 * pair, 9 + 0.5 * pair));
}

/* A force in points: that of a Gaussian of energy. */
static void write_points(FILE *f)
{
    enum { POINTS = 120 };
    fprintf(f, "GAUSS\nN %d R 0.5 2.6\n\n", POINTS);
    for (int k = 0; k < POINTS; k++) {
        double r = 0.5 + 2.1 * k / (POINTS - 1);
        double u = 20 * exp(-2 * r * r);
        fprintf(f, "%d %.17g %.17g %.17g\n", k + 1, r, u, 4 * r * u);
    }
}

static int write_files(struct ctx *ctx)
{
    static const char *const names[] = {
        "two.xyz",     "many.xyz",   "order.xyz",   "wall.xyz",
        "crystal.xyz", "corder.xyz", "metal.alloy", "points.txt"};
    int status = 0;
    for (int k = 0; k < 8 && comm_rank(ctx->comm) == 0; k++) {
        FILE *f = fopen(names[k], "w");
        if (!f) {
            status = FAIL(ctx, STATUS_IO, "cannot write %s", names[k]);
            break;
        }
        if (k < 4)
            write_liquid(f, k == 1 ? 20 : 2, k == 2 ? 100 : 1,
                         k == 3 ? 0.15 : 0.6);
        else if (k < 6)
            write_crystal(f, k == 5 ? 35 : 1);
        else if (k == 6)
            write_alloy(f);
        else
            write_points(f);
        fclose(f);
    }
    return comm_agree(ctx, status);
}

/* ---- decks ---- */

static char folder[1024];

void beside_liquid(char deck[8192], const char *keys, const char *start,
                   const char *pair)
{
    snprintf(deck, 8192,
             "[run]\nsolver = \"md\"\nseed = 3\n[md]\nsteps = 100\n"
             "timestep = 0.002\n%s[md.initial]\nread = \"%s/%s\"\n"
             "temperature = 1.5\noverlap = 0\n[md.pair]\ncutoff = 2.5\n"
             "skin = 0.25\n%s",
             keys, folder, start, pair);
}

void beside_metal(char deck[8192], const char *keys, const char *start)
{
    snprintf(deck, 8192,
             "[run]\nsolver = \"md\"\nunits = \"metal\"\nseed = 3\n[md]\n"
             "steps = 100\ntimestep = 0.002\n%s[md.initial]\nread = \"%s/%s\"\n"
             "temperature = 900\n[md.pair]\nstyle = \"eam/alloy\"\n"
             "file = \"%s/metal.alloy\"\nskin = 0.3\n[[md.species]]\n"
             "name = \"S0\"\nmass = 60\n[[md.species]]\nname = \"S1\"\n"
             "mass = 60\n",
             keys, folder, start, folder);
}

static const char closed_forms[] =
    "shift = \"energy\"\nstyle = \"lj\"\n" SPECIES PAIR(
        "S0", "S0") "style = \"morse\"\nd0 = 1\nalpha = 5\nr0 = "
                    "1.12\n" PAIR(
                        "S0", "S1") "style = \"buckingham\"\na "
                                    "= 6000\nrho = 0.12\nc = "
                                    "1.5\n" PAIR("S1", "S1") "epsilon = "
                                                             "0.8\nsigma = 1\n";

static void make_points(char pair[4096])
{
    snprintf(
        pair, 4096,
        "shift = \"force\"\nstyle = \"soft\"\n" SPECIES
            PAIR("S0", "S0") "a = 10\n" PAIR(
                "S0",
                "S1") "style = \"yukawa\"\n"
                      "strength = 5\nkappa = 1.5\n" PAIR(
                          "S1",
                          "S1") "style = \"table\"\nfile = \"%s/points.txt\"\n"
                                "keyword = \"GAUSS\"\n",
        folder);
}

/* Twenty species, Lennard-Jones by mixing, but for one pair. */
static void make_many(char pair[4096])
{
    size_t n = 0;
    n += (size_t)snprintf(pair, 4096, "%s", "shift = \"energy\"\n");
    for (int k = 0; k < 20; k++)
        n += (size_t)snprintf(pair + n, 4096 - n,
                              "[[md.species]]\nname=\"S%d\"\nmass=%d\n", k,
                              1 + k % 3);
    for (int k = 0; k < 20; k++)
        n += (size_t)snprintf(pair + n, 4096 - n,
                              PAIR("S%d", "S%d") "epsilon=%g\nsigma=%g\n", k, k,
                              1 - 0.02 * k, 0.9 + 0.01 * k);
    snprintf(pair + n, 4096 - n,
             PAIR("S3", "S17") "style=\"morse\"\nd0=1\nalpha=5\nr0=1.1\n");
}

/* ---- one run ---- */

/* Sum of what the pairs of each particle add to the pressure there. */
static int add_shares(struct md_case *c, double sum[3])
{
    size_t n = c->md->k->count(c->md->store);
    double(*virial)[3] = calloc(n + 1, sizeof *virial);
    int status = virial ? c->md->k->pair_virial(c->ctx, c->md->store, virial)
                        : STATUS_MEMORY;
    for (size_t i = 0; i < n && status == 0; i++)
        for (int d = 0; d < 3; d++)
            sum[d] += virial[i][d];
    free(virial);
    TRY(comm_agree(c->ctx, status));
    return comm_sum_double(c->ctx, sum, 3);
}

static int read_outcome(struct md_case *c, struct outcome *o)
{
    struct md_counters counters;
    o->kinetic = case_value(c, "kinetic_energy");
    o->shown[0] = case_value(c, "conserved_energy");
    o->shown[1] = case_value(c, "temperature_ball");
    o->shown[2] = case_value(c, "temperature_others");
    c->md->with_tensor = 1;
    TRY(md_compute_sums(c->ctx, c->md));
    struct md_sums sums = c->md->sums;
    TRY(comm_sum_double(c->ctx, &sums.energy, 1));
    TRY(comm_sum_double(c->ctx, &sums.virial, 1));
    TRY(comm_sum_double(c->ctx, sums.tensor, 6));
    TRY(comm_sum_double(c->ctx, sums.part, MD_ENERGIES));
    o->energy = sums.energy;
    o->virial = sums.virial;
    /* Of Lennard-Jones alone directions come with all that needs them. */
    if (c->md->k->kinetic_tensor || c->md->pair.forms || c->md->eam)
        memcpy(o->tensor, sums.tensor, sizeof o->tensor);
    memcpy(o->part, sums.part, sizeof o->part);
    if (md_analysis_needs_shares(c->md))
        TRY(add_shares(c, o->shares));
    memcpy(o->on_wall, c->md->walls.on_wall, sizeof o->on_wall);
    TRY(comm_sum_double(c->ctx, o->on_wall, MD_FACES));
    c->md->k->counters(c->md->store, &counters);
    o->graphs = counters.graphs;
    return case_snapshot(c, &o->s);
}

int beside_run(struct ctx *ctx, const char *device, const char *deck, int n,
               struct outcome *o)
{
    static const char exact[] = "deterministic = true\n";
    struct md_case c;
    char mine[8192];
    *o = (struct outcome){0};
    snprintf(mine, sizeof mine, "%s", deck);
    char *key = strstr(mine, exact);
    if (key && strcmp(device, "cpu") == 0) /* what only cards have */
        memset(key, ' ', strlen(exact));
    setenv("WARPDECK_TEST_DEVICE", device, 1);
    int status = case_open(ctx, &c, NULL, "%s", mine);
    if (status == 0)
        status = case_steps(&c, n);
    if (status == 0)
        status = read_outcome(&c, o);
    if (status != 0)
        tap_note("%s", ctx->error.text);
    case_close(&c);
    return status;
}

/* ---- comparisons ---- */

static double worst_of(const struct outcome *a, const struct outcome *b,
                       int forces)
{
    double square = 0, worst = 0;
    for (size_t i = 0; i < a->s.n; i++)
        for (int d = 0; d < 3; d++) {
            double x = forces ? a->s.force[i][d] : a->s.position[i][d];
            double y = forces ? b->s.force[i][d] : b->s.position[i][d];
            double difference = fabs(x - y);
            square += x * x;
            if (!(difference <= worst))
                worst = difference;
        }
    return worst / sqrt(square / (double)(3 * a->s.n));
}

static int has_directions(const struct outcome *o)
{
    return fabs(o->tensor[0]) > 0;
}

/* Of energies and virials, relative to the energy: both are sums of terms of
 * either sign. */
static double worst_sum(const struct outcome *a, const struct outcome *b)
{
    double worst =
        fmax(fabs(a->energy - b->energy), fabs(a->virial - b->virial) / 10);
    for (int k = 0; k < 6 && has_directions(a) && has_directions(b); k++)
        worst = fmax(worst, fabs(a->tensor[k] - b->tensor[k]) / 10);
    for (int k = 0; k < MD_ENERGIES; k++)
        worst = fmax(worst, fabs(a->part[k] - b->part[k]));
    for (int d = 0; d < 3; d++)
        worst = fmax(worst, fabs(a->shares[d] - b->shares[d]) / 10);
    for (int k = 0; k < MD_FACES; k++)
        worst = fmax(worst, fabs(a->on_wall[k] - b->on_wall[k]));
    for (int k = 0; k < 3; k++) /* where they are shown */
        worst = fmax(worst, fabs(a->shown[k] - b->shown[k]));
    worst = fmax(worst, fabs(a->kinetic - b->kinetic));
    return worst / fabs(a->energy);
}

void beside_check(struct ctx *ctx, const char *deck, double static_tolerance,
                  double moved_tolerance, const char *what)
{
    struct outcome cpu, card = {0};
    int status = beside_run(ctx, "cpu", deck, 0, &cpu);
    if (status == 0)
        status = beside_run(ctx, "cuda", deck, 0, &card);
    if (tap_ok(status == 0, "%s: a start on the CPU and on the card", what)) {
        double forces = worst_of(&cpu, &card, 1), sums = worst_sum(&cpu, &card);
        tap_ok(forces <= static_tolerance, "%s: forces are the CPU's", what);
        tap_ok(sums <= static_tolerance,
               "%s: so are energies, by parts, and virials, by directions",
               what);
        tap_note("worst: forces %.1e, sums %.1e", forces, sums);
    }
    snapshot_free(&cpu.s);
    snapshot_free(&card.s);
    if (moved_tolerance > 0 && status == 0)
        beside_check_after(ctx, deck, 20, moved_tolerance, what);
}

void beside_check_after(struct ctx *ctx, const char *deck, int steps,
                        double tolerance, const char *what)
{
    struct outcome cpu, card = {0};
    int status = beside_run(ctx, "cpu", deck, steps, &cpu);
    if (status == 0)
        status = beside_run(ctx, "cuda", deck, steps, &card);
    if (tap_ok(status == 0, "%s: %d steps", what, steps)) {
        double way = worst_of(&cpu, &card, 0), sums = worst_sum(&cpu, &card);
        tap_ok(way <= tolerance && sums <= 100 * tolerance,
               "%s: after %d steps all is where the CPU has it", what, steps);
        tap_note("worst: positions %.1e, sums %.1e", way, sums);
    }
    snapshot_free(&cpu.s);
    snapshot_free(&card.s);
}

static int same_bits(const struct outcome *a, const struct outcome *b,
                     size_t stride)
{
    int same = memcmp(&a->energy, &b->energy, sizeof a->energy) == 0 &&
               memcmp(a->tensor, b->tensor, sizeof a->tensor) == 0;
    for (size_t i = 0; i < a->s.n && same; i++) {
        size_t j = i * stride % a->s.n;
        same = memcmp(a->s.force[i], b->s.force[j], sizeof *a->s.force) == 0 &&
               memcmp(a->s.position[i], b->s.position[j],
                      sizeof *a->s.position) == 0;
    }
    return same;
}

/* Velocities depend on the order in the file. */
static void at_rest(char *deck)
{
    char *at = strstr(deck, "\ntemperature = ");
    if (at)
        memcpy(at + strlen("\ntemperature = "), "0.0", 3);
}

/* Two orders of the same particles, without graphs and with. */
static void check_order(struct ctx *ctx, char *one, char *other, size_t stride,
                        const char *what)
{
    struct outcome a, b = {0};
    at_rest(one);
    at_rest(other);
    int status = beside_run(ctx, "cuda", one, 12, &a);
    if (status == 0)
        status = beside_run(ctx, "cuda", other, 12, &b);
    if (tap_ok(status == 0, "%s: deterministic sums", what))
        tap_ok(same_bits(&a, &b, stride) && a.graphs == 0 && b.graphs > 0,
               "%s: neither the order of particles nor graphs change a bit",
               what);
    snapshot_free(&a.s);
    snapshot_free(&b.s);
}

/* ---- cases ---- */

int beside_is_short(const struct ctx *ctx)
{
    return comm_size(ctx->comm) > 1 && getenv("WARPDECK_TEST_SHORT");
}

static void check_forms(struct ctx *ctx)
{
    char deck[8192], other[8192], pair[4096];
    beside_liquid(deck, "", "two.xyz", closed_forms);
    /* 1e-12: sums of some hundred terms, each rounded to 1e-16 */
    beside_check(ctx, deck, 1e-12, 1e-11, "closed forms");
    if (beside_is_short(ctx))
        return;
    make_points(pair);
    beside_liquid(deck, "", "two.xyz", pair);
    beside_check(ctx, deck, 1e-12, 0, "points and shifted forces");
    beside_liquid(deck, "precision = \"mixed\"\n", "two.xyz", pair);
    beside_check(ctx, deck, 2e-5, 0, "points in mixed precision");
    make_many(pair);
    beside_liquid(deck, "", "many.xyz", pair);
    beside_check(ctx, deck, 1e-12, 0, "twenty species");
    beside_liquid(deck, "deterministic = true\n", "two.xyz", closed_forms);
    /* rounding to 2^-78 of the force at a sixteenth of the cutoff */
    beside_check(ctx, deck, 1e-11, 0, "closed forms, deterministic");
    beside_liquid(deck, "deterministic = true\ngraphs = \"off\"\n", "two.xyz",
                  closed_forms);
    beside_liquid(other, "deterministic = true\ngraphs = \"on\"\n", "order.xyz",
                  closed_forms);
    check_order(ctx, deck, other, 100, "closed forms");
}

/* Two particles of the table's species, nearer than it begins. */
static void check_near(struct ctx *ctx)
{
    char deck[8192], pair[4096];
    struct md_case c;
    int status = 0;
    if (comm_rank(ctx->comm) == 0) {
        FILE *f = fopen("near.xyz", "w");
        if (f) {
            fprintf(f, "3\n12 12 12\nS0 1 1 1\nS1 4 4 4\nS1 4.2 4 4\n");
            fclose(f);
        } else {
            status = FAIL(ctx, STATUS_IO, "cannot write near.xyz");
        }
    }
    if (comm_agree(ctx, status) != 0)
        return;
    make_points(pair);
    beside_liquid(deck, "", "near.xyz", pair);
    setenv("WARPDECK_TEST_DEVICE", "cuda", 1);
    status = case_open(ctx, &c, NULL, "%s", deck);
    if (status == 0)
        status = case_steps(&c, 1);
    tap_is_int(status, STATUS_PHYSICS,
               "a pair nearer than its table begins is a failure");
    tap_ok(strstr(ctx->error.text, "came as near as 0.2 ") != NULL &&
               strstr(ctx->error.text, "begins at 0.5 only") != NULL &&
               strstr(ctx->error.text, "particles ") != NULL,
           "which says how near");
    tap_note("%s", ctx->error.text);
    case_close(&c);
}

static void check_metals(struct ctx *ctx)
{
    char deck[8192], other[8192];
    beside_metal(deck, "", "crystal.xyz");
    beside_check(ctx, deck, 1e-12, 1e-11, "metals");
    if (beside_is_short(ctx))
        return;
    beside_metal(deck, "precision = \"mixed\"\n", "crystal.xyz");
    beside_check(ctx, deck, 2e-5, 0, "metals in mixed precision");
    beside_metal(deck, "precision = \"single\"\n", "crystal.xyz");
    beside_check(ctx, deck, 2e-5, 0, "metals in single precision");
    beside_metal(deck, "deterministic = true\n", "crystal.xyz");
    beside_check(ctx, deck, 1e-11, 0, "metals, deterministic");
    beside_metal(deck, "deterministic = true\ngraphs = \"off\"\n",
                 "crystal.xyz");
    beside_metal(other, "deterministic = true\ngraphs = \"on\"\n",
                 "corder.xyz");
    check_order(ctx, deck, other, 35, "metals");
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    if (!getcwd(folder, sizeof folder) || write_files(&ctx) != 0) {
        tap_ok(0, "files of the tests");
        return test_end(&ctx);
    }
    check_forms(&ctx);
    check_near(&ctx);
    check_metals(&ctx);
    beside_outer(&ctx);
    beside_dynamics(&ctx);
    beside_boxes(&ctx);
    return test_end(&ctx);
}
