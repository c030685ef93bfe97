/* Charges on a card beside the CPU: forces, energies by term and virial by
 * direction at the start and some steps later.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/error.h"
#include "kernels/md/influence.h"
#include "solvers/md/md_ewald.h"
#include "tests/md/md_case.h"
#include "tests/tap.h"

/* 256 ions, half of them negative, in no order; the near part reaches farther
 * than Lennard-Jones, or the other way round. */
#define SALT(precision, shift, more)                                      \
    "[run]\nsolver = \"md\"\nseed = 11\n[md]\nsteps = 1000\n"             \
    "timestep = 0.002\nprecision = \"" precision "\"\n[[md.species]]\n"   \
    "name = \"P\"\nmass = 1\nfraction = 0.5\ncharge = 1.2\n"              \
    "[[md.species]]\nname = \"N\"\nmass = 1.5\nfraction = 0.5\n"          \
    "charge = -1.2\n[md.initial]\nlattice = \"fcc\"\ncells = [4, 4, 4]\n" \
    "density = 0.7\ntemperature = 1.2\n[md.pair]\nskin = 0.05\n" shift    \
    "[[md.pair.coefficients]]\nspecies = [\"P\", \"P\"]\nepsilon = 1\n"   \
    "sigma = 1\n[[md.pair.coefficients]]\nspecies = [\"N\", \"N\"]\n"     \
    "epsilon = 0.5\nsigma = 0.9\n" more
#define PLAIN "cutoff = 2.2\nshift = \"energy\"\n"
#define COULOMB(method, more) "[md.coulomb]\nmethod = \"" method "\"\n" more

/* What a run is at some step, the same on every rank. */
struct look {
    struct snapshot s;
    double sums[3 + MD_ENERGIES + 6];
};

static const char *const sum_names[3 + MD_ENERGIES + 6] = {
    "energy",   "virial",   "volume", "pair", "coulomb",   "bond", "angle",
    "dihedral", "improper", "cmap",   "mesh", "embedding", "wall", "field",
    "xx",       "yy",       "zz",     "xy",   "xz",        "yz"};

static int look(struct md_case *c, struct look *out)
{
    struct md_sums *sums = &c->md->sums;
    double *v = out->sums;
    v[0] = sums->energy;
    v[1] = sums->virial;
    v[2] = 0;
    memcpy(v + 3, sums->part, sizeof sums->part);
    memcpy(v + 3 + MD_ENERGIES, sums->tensor, sizeof sums->tensor);
    TRY(comm_sum_double(c->ctx, v, 3 + MD_ENERGIES + 6));
    v[2] = c->md->box_length[0] * c->md->box_length[1] * c->md->box_length[2];
    return case_snapshot(c, &out->s);
}

/* At the start and after so many steps. */
static int run(struct ctx *ctx, const struct md_kernels *kernels,
               const char *deck, int steps, struct look out[2])
{
    struct md_case c;
    int status = case_open(ctx, &c, kernels, "%s", deck);
    if (status == 0)
        status = look(&c, &out[0]);
    if (status == 0)
        status = case_steps(&c, steps);
    if (status == 0)
        status = look(&c, &out[1]);
    if (status != 0)
        tap_note("%s", ctx->error.text);
    case_close(&c);
    return status;
}

static double difference(const struct snapshot *a, const struct snapshot *b)
{
    double square = 0, worst = 0;
    for (size_t i = 0; i < a->n; i++)
        for (int d = 0; d < 3; d++) {
            double off = fabs(a->force[i][d] - b->force[i][d]);
            square += b->force[i][d] * b->force[i][d];
            worst = off <= worst ? worst : off;
        }
    return worst / sqrt(square / (double)(3 * a->n));
}

static void compare(const struct look *a, const struct look *b,
                    double tolerance, const char *what)
{
    double scale = fabs(b->sums[0]), off = difference(&a->s, &b->s), most = 0;
    int worst = 0;
    tap_ok(off <= tolerance, "%s: forces are those of the CPU", what);
    for (int k = 0; k < 3 + MD_ENERGIES + 6; k++) {
        double d = fabs(a->sums[k] - b->sums[k]) / scale;
        if (!(d <= most)) {
            most = d;
            worst = k;
        }
    }
    tap_ok(most <= tolerance, "%s: energies and virials are, too", what);
    tap_note("forces off by %.1e, %s by %.1e", off, sum_names[worst], most);
}

static void beside(struct ctx *ctx, const struct md_kernels *cpu,
                   const char *deck, int steps, double tolerance, double growth,
                   const char *what)
{
    char later[128];
    struct look card[2] = {{{0}, {0}}}, host[2] = {{{0}, {0}}};
    int status = run(ctx, NULL, deck, steps, card);
    if (status == 0)
        status = run(ctx, cpu, deck, steps, host);
    snprintf(later, sizeof later, "%s, %d steps later", what, steps);
    if (tap_ok(status == 0, "%s: runs on both", what)) {
        compare(&card[0], &host[0], tolerance, what);
        if (steps > 0)
            compare(&card[1], &host[1], tolerance * growth, later);
    }
    for (int k = 0; k < 2; k++) {
        snapshot_free(&card[k].s);
        snapshot_free(&host[k].s);
    }
}

#define ALL_IMAGES(method, more) \
    COULOMB(method, "cutoff = 2.6\nsplitting = 1.2\n" more)
#define NPT(barostat, coupling)                                          \
    "[md.ensemble]\ntype = \"npt\"\nbarostat = \"" barostat              \
    "\"\ncoupling = \"" coupling "\"\npressure = 1\ntemperature = 1.2\n" \
    "pressure_relaxation = 0.5\nrelaxation = 0.2\n"

/* The mesh with each order of its splines, where the steps do not matter. */
static void check_orders(struct ctx *ctx)
{
    for (int order = MD_MESH_ORDER_MIN + 1; order <= MD_MESH_ORDER_MAX;
         order++) {
        char deck[4096], what[64];
        snprintf(what, sizeof what, "a mesh of order %d", order);
        snprintf(deck, sizeof deck, "%smesh = [9, 12, 10]\norder = %d\n",
                 SALT("double", PLAIN, ALL_IMAGES("pme", "")), order);
        beside(ctx, &md_kernels_cpu_double, deck, 0, 1e-12, 1, what);
    }
}

/* ---- the influence function ---- */

/* Of a card that has the mesh alone: influence.cu. */
int influence_of_card(struct ctx *ctx, struct md_store *s, size_t n,
                      double *out);

/* The greatest difference of a value, relative, and beside the greatest one. */
struct apart {
    double relative, of_greatest;
    int zeros; /* of both alike */
};

static struct apart compare_influence(const struct md *md,
                                      const struct md_alias a[3],
                                      const double *card)
{
    const struct md_ewald *e = md->ewald;
    struct apart out = {0, 0, 0};
    double most = 0, off = 0;
    int64_t k[3];
    for (k[2] = 0; k[2] < e->cells[2]; k[2]++)
        for (k[1] = 0; k[1] < e->cells[1]; k[1]++)
            for (k[0] = 0; k[0] <= e->cells[0] / 2; k[0]++) {
                double here = md_mode_influence(md, e->alpha, a, e->cells, k);
                double there = *card++;
                off = fmax(off, fabs(there - here));
                most = fmax(most, fabs(here));
                if (fabs(here) > 0)
                    out.relative = fmax(out.relative, fabs(there / here - 1));
                else
                    out.zeros += !(fabs(there) > 0);
            }
    out.of_greatest = off / most;
    return out;
}

/* After so many steps, in the box of then. */
static void check_influence(struct ctx *ctx, const char *deck, int steps,
                            const char *what)
{
    struct md_case c;
    struct md_alias a[3] = {{0}};
    struct apart off = {HUGE_VAL, HUGE_VAL, 0};
    double *card = NULL;
    int status = case_open(ctx, &c, NULL, "%s", deck);
    if (status == 0)
        status = case_steps(&c, steps);
    if (status == 0) {
        const struct md_ewald *e = c.md->ewald;
        size_t n = (size_t)((e->cells[0] / 2 + 1) * e->cells[1] * e->cells[2]);
        card = malloc(n * sizeof *card);
        if (!card || md_aliases_make(c.md, e->cells, e->order, e->alpha, -1, a))
            status = STATUS_MEMORY;
        if (status == 0)
            status = influence_of_card(ctx, c.md->store, n, card);
        if (status == 0)
            off = compare_influence(c.md, a, card);
    }
    if (status != 0)
        tap_note("%s", ctx->error.text);
    /* Gaussians of up to exp(-30) have arguments rounded to 1e-16. */
    tap_ok(off.relative <= 1e-14 && off.of_greatest <= 1e-15 && off.zeros == 1,
           "%s: each value of the influence function is the CPU's", what);
    tap_note("off by %.1e of the value, %.1e of the greatest", off.relative,
             off.of_greatest);
    md_aliases_free(a);
    free(card);
    case_close(&c);
}

#define SHEARED(plane) "[md.deform]\nshear = 0.5\nplane = \"" plane "\"\n"

static void check_influences(struct ctx *ctx)
{
    if (comm_size(ctx->comm) > 1)
        return; /* each has a brick, and the host the modes */
    check_influence(
        ctx, SALT("double", PLAIN, ALL_IMAGES("pme", "mesh = [12, 9, 10]\n")),
        0, "right angles");
    check_influence(ctx,
                    SALT("double", PLAIN,
                         ALL_IMAGES("pme", "mesh = [12, 12, 12]\n")
                             NPT("mtk", "anisotropic")),
                    5, "a box that changes");
    check_influence(
        ctx,
        SALT(
            "double", PLAIN,
            ALL_IMAGES("pme",
                       "mesh = [12, 9, 10]\norder = 4\n") "[domain]\ntilt = "
                                                          "[1.9, -0.8, 0.7]\n"),
        0, "a tilted box");
    check_influence(ctx,
                    SALT("double", PLAIN,
                         ALL_IMAGES("pme", "mesh = [9, 12, 10]\n")
                             SHEARED("xz")),
                    5, "a box that is sheared");
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    const struct md_kernels *exact = &md_kernels_cpu_double;
    /* 1e-12: sums of some hundred terms rounded to 1e-16; which grow tenfold
     * in a tenth of a unit of time. */
    beside(
        &ctx, exact,
        SALT("double", PLAIN,
             COULOMB(
                 "cut",
                 "cutoff = 2.6\n") "[md.field]\nelectric = [0.7, 0, -0.4]\n"),
        12, 1e-12, 10, "plain charges in a field");
    beside(&ctx, exact,
           SALT("double", "cutoff = 2.5\nshift = \"force\"\n",
                COULOMB("dsf", "cutoff = 2.2\n")),
           12, 1e-12, 10, "damped charges, shifted forces");
    beside(&ctx, exact,
           SALT("double",
                "cutoff = 2.5\nshift = \"charmm-switch\"\nswitch_from = 1.9\n",
                ""),
           12, 1e-12, 10, "switched forces without charges");
    beside(&ctx, exact,
           SALT("double",
                "cutoff = 2.5\nshift = \"charmm-switch\"\nswitch_from = 1.9\n",
                ALL_IMAGES("pme", "mesh = [12, 9, 10]\n")),
           12, 1e-12, 10, "a mesh, switched forces");
    check_orders(&ctx);
    check_influences(&ctx);
    beside(&ctx, exact,
           SALT("double", PLAIN,
                ALL_IMAGES("ewald", "wave_cutoff = 5\nslab = true\n")),
           12, 1e-12, 10, "waves of a slab");
    beside(&ctx, exact,
           SALT("double", PLAIN,
                ALL_IMAGES("pme", "mesh = [12, 12, 12]\n")
                    NPT("mtk", "anisotropic")),
           12, 1e-12, 10, "a mesh in a box that changes, MTK");
    beside(&ctx, exact,
           SALT("double", PLAIN,
                COULOMB("dsf", "cutoff = 2.2\n")
                    NPT("cell-rescaling", "semi-isotropic")),
           12, 1e-12, 10, "cell rescaling");
    /* float: as in forces.c */
    beside(&ctx, &md_kernels_cpu_mixed,
           SALT("mixed", PLAIN, ALL_IMAGES("pme", "mesh = [12, 12, 12]\n")), 4,
           1e-4, 1, "a mesh, mixed precision");
    return test_end(&ctx);
}
