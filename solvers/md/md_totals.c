/* md_totals.c: what a run will need, and what it has done. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "domain/halo.h"
#include "domain/topology.h"
#include "md_balance.h"
#include "md_data.h"
#include "md_ewald.h"
#include "solvers/solver.h"

/* Floating-point operations of the formulas, divisions counted as one, what is
 * evaluated beyond the cutoff not counted:
 * a pair within the cutoff: 3 differences, 5 for r^2, 1 reciprocal, 2 for r^-6,
 * 4 for the force over r, 3 products and 6 sums on both particles;
 * a particle: two half kicks (6 and 6 with the mass's factor) and the drift. */
enum { FLOPS_PAIR = 24, FLOPS_PARTICLE = 18 };
/* A pair from tables: 8 for r^2, 15 for the place in a row and Horner's rule of
 * degree 7, products and sums 9. */
enum { FLOPS_TABLE_PAIR = 32 };
/* Of the embedded-atom method: 8 for r^2, root, reciprocal and place in the
 * tables 4, two cubics and their slopes 24, force factors 7, densities 2; then
 * 3 differences, 3 for the force over r, 9 as above. A particle: 11 for F'. */
enum { FLOPS_EAM_PAIR = 60, FLOPS_EAM_PARTICLE = FLOPS_PARTICLE + 11 };

/* Coulomb's force of a pair: the piece of r^2 and 12 steps of Horner's scheme,
 * charges and sum. A bond, an angle, a dihedral or an improper one:
 * differences, lengths, functions and forces. A rigid distance: three rounds of
 * its equation, for positions and for velocities. */
enum { FLOPS_CHARGES = 30, FLOPS_RIGID = 120 };
static const double flops_term[MD_DATA_KINDS] = {30, 70, 150, 150};
static const double flops_map = 400;

static double flops_of_terms(const struct md *md)
{
    double sum = 0;
    if (!md->data || !md->bonded.on)
        return 0;
    for (int k = 0; k < MD_DATA_KINDS; k++)
        sum += flops_term[k] * (double)md->data->n_terms[k];
    sum += flops_map * (double)md->data->n_crossterms;
    if (md->rigid.on)
        sum += FLOPS_RIGID * (md->rigid.count > 0
                                  ? md->rigid.count
                                  : (double)md->data->n_terms[MD_TERM_BOND]);
    return sum;
}

static double flops(const struct md *md, double pairs)
{
    double n = (double)md->n_particles;
    if (md->eam)
        return FLOPS_EAM_PAIR * pairs + FLOPS_EAM_PARTICLE * n;
    double pair = md->pair.forms ? FLOPS_TABLE_PAIR : FLOPS_PAIR;
    return (pair + (md->charged ? FLOPS_CHARGES : 0)) * pairs +
           FLOPS_PARTICLE * n + flops_of_terms(md) + md_ewald_flops(md);
}

/* Of one rank. Each particle has its own list of the terms that it is in, in
 * topology.c with some slack, and of the pairs that bonds exclude, about three
 * a bond; all of them stand there once more for the loops. */
static double bytes_of_terms(const struct md *md)
{
    double listed = 0, n = (double)md->n_particles;
    if (!md->data || !md->bonded.on)
        return 0;
    if (md->topology && topology_bytes(md->topology) > 0)
        return (double)topology_bytes(md->topology);
    for (int k = 0; k < MD_DATA_KINDS; k++)
        listed += (double)md->data->n_terms[k] *
                  (md_term_size(k) + (k == MD_TERM_BOND ? 3 * 2 : 0));
    listed += (double)md->data->n_crossterms * md_term_size(MD_TERM_CMAP);
    return (2.4 * sizeof(struct md_term) * listed + 96 * n) / md->grid.size;
}

/* "432 bonds, 1 angle, 648 pairs that bonds exclude or scale". */
static int describe_terms(struct ctx *ctx, const struct md *md, char *text,
                          size_t size)
{
    static const char *const names[MD_DATA_KINDS] = {"bond", "angle",
                                                     "dihedral", "improper"};
    size_t used = 0;
    text[0] = '\0';
    if (!md->data || !md->bonded.on || comm_rank(ctx->comm) != 0)
        return 0;
    TRY(md_data_special(ctx, md, md->data));
    for (int k = 0; k < MD_DATA_KINDS; k++) {
        int64_t n = md->data->n_terms[k];
        if (n > 0)
            used +=
                (size_t)snprintf(text + used, size - used, "%" PRId64 " %s%s, ",
                                 n, names[k], n == 1 ? "" : "s");
    }
    if (md->data->n_crossterms > 0)
        used += (size_t)snprintf(
            text + used, size - used, "%" PRId64 " correction map%s, ",
            md->data->n_crossterms, md->data->n_crossterms == 1 ? "" : "s");
    snprintf(text + used, size - used, "%zu pair%s that bonds exclude or scale",
             md->data->n_special, md->data->n_special == 1 ? "" : "s");
    return 0;
}

static double volume(const double length[3])
{
    return length[0] * length[1] * length[2];
}

/* Pairs within the cutoff, were the particles spread evenly. */
static double expected_pairs(const struct md *md)
{
    double n = (double)md->n_particles;
    double sphere =
        4.0 / 3.0 * 3.14159265358979323846 * pow(md->pair.cutoff, 3);
    return 0.5 * n * n * sphere / volume(md->box_length);
}

/* Those of the run's device, or of the CPU where none is chosen yet. */
static const struct md_kernels *kernels_of(const struct ctx *ctx,
                                           const struct md *md)
{
    static const struct md_kernels *const of_cpu[] = {
        &md_kernels_cpu_double, &md_kernels_cpu_mixed, &md_kernels_cpu_single};
    const struct md_kernels *k =
        ctx->device ? ctx->device->md(md->precision) : of_cpu[md->precision];
    return k && k->estimate ? k : NULL;
}

int md_estimate(struct ctx *ctx, void *state, struct estimate *out)
{
    const struct md *md = state;
    double n = (double)md->n_particles, reach = md_halo_radius(md);
    double block[3], grown[3];
    *out = (struct estimate){.items = md->n_particles,
                             .items_per_rank = n / md->grid.size,
                             .steps = md->steps,
                             .frame_bytes = md->frame_bytes};
    int used = snprintf(out->problem, sizeof out->problem,
                        "%" PRId64 " particles", md->n_particles);
    if (md->tilt[0] != 0 || md->tilt[1] != 0 || md->tilt[2] != 0)
        snprintf(out->problem + used, sizeof out->problem - (size_t)used,
                 " in a box tilted by %.6g, %.6g, %.6g", md->tilt[0],
                 md->tilt[1], md->tilt[2]);
    TRY(describe_terms(ctx, md, out->terms, sizeof out->terms));
    snprintf(out->length_unit, sizeof out->length_unit, "%s",
             md->unit_text[MD_LENGTH]);
    for (int d = 0; d < 3; d++) {
        out->decomposition[d] = md->grid.dims[d];
        out->box[d] = md->box_length[d];
        block[d] = md->box_length[d] / md->grid.dims[d];
        grown[d] = block[d] + (md->grid.dims[d] > 1 ? 2 * reach : 0);
    }
    out->halo_per_rank =
        n / volume(md->box_length) * fmax(volume(grown) - volume(block), 0);
    struct md_setup setup = md_setup_of(md);
    const struct md_kernels *k = kernels_of(ctx, md);
    out->memory_per_rank =
        k ? k->estimate(&setup, out->items_per_rank, out->halo_per_rank) +
                bytes_of_terms(md) + md_ewald_bytes(md) + md_analysis_bytes(md)
          : 0;
    snprintf(out->memory_hint, sizeof out->memory_hint,
             "more ranks%s, %sa smaller md.pair.skin or md.pair.cutoff, or "
             "a smaller problem",
             ctx->device && strcmp(ctx->device->name, "cpu") != 0 ? " and cards"
                                                                  : "",
             md->precision == PRECISION_DOUBLE ? "md.precision = \"mixed\", "
                                               : "");
    out->work_per_step = flops(md, expected_pairs(md));
    return 0;
}

/* Pairs within the cutoff now, counted. */
static int count_pairs(struct ctx *ctx, const struct md *md, double *pairs)
{
    int channel_of[MD_SPECIES_MAX * MD_SPECIES_MAX] = {0};
    uint64_t count = 0;
    TRY(comm_agree(ctx, md->k->pair_histogram(ctx, md->store, md->pair.cutoff,
                                              1, channel_of, &count)));
    *pairs = 0.5 * (double)count;
    return comm_sum_double(ctx, pairs, 1);
}

/* Greatest over mean time in the forces of pairs and bonds. */
static int find_imbalance(struct ctx *ctx, const struct md *md,
                          double *imbalance)
{
    double greatest = md_force_seconds(ctx, md);
    double sum = greatest;
    TRY(comm_max_double(ctx, &greatest, 1));
    TRY(comm_sum_double(ctx, &sum, 1));
    *imbalance = sum > 0 ? greatest * md->grid.size / sum : 0;
    return 0;
}

/* How long pair lists lasted. Where that is some steps only they take about as
 * long as the forces. */
static void note_lists(const struct md *md, int64_t steps,
                       const struct md_counters *c, char *note, size_t size)
{
    enum { FEW_STEPS = 5, SOME_LISTS = 5 };
    double each =
        (double)steps / (double)(c->lists_built > 1 ? c->lists_built - 1 : 1);
    char hint[64] = "", how[64] = "";
    if (each < FEW_STEPS && c->lists_built > SOME_LISTS)
        snprintf(hint, sizeof hint,
                 "; a longer md.pair.skin than %.4g may be faster",
                 md->pair.skin);
    if (c->joint > 0)
        snprintf(how, sizeof how,
                 "; %.0f %% of each step ran together with other replicas",
                 100 * (double)c->joint / (double)c->calls);
    else if (c->graphs > 0)
        snprintf(how, sizeof how, "; steps in between ran as graphs");
    if (steps > 0 && c->lists_built <= 1)
        snprintf(note, size, "the pair list was built once%s", how);
    else if (steps > 0)
        snprintf(note, size, "the pair list was built every %.1f steps%s%s",
                 each, how, hint);
}

static void note_unsafe(const struct md *md, char *note, size_t size)
{
    if (md->unsafe_steps > 0)
        snprintf(note, size,
                 "on %" PRId64 " of %" PRId64
                 " steps the pair list was too old "
                 "and may have missed pairs (md.pair.rebuild_every)",
                 md->unsafe_steps, md->step);
}

/* Nanoseconds in the unit of time. */
static double nanoseconds(const struct md *md)
{
    switch (md->units) {
    case UNITS_METAL:
        return 1e-3;
    case UNITS_REAL:
        return 1e-6;
    case UNITS_SI:
        return 1e9;
    case UNITS_LJ:
        break;
    }
    return 0;
}

int md_totals(struct ctx *ctx, void *state, struct solver_totals *out)
{
    struct md *md = state;
    struct md_counters counters = {0};
    double pairs = 0;
    TRY(count_pairs(ctx, md, &pairs));
    md->k->counters(md->store, &counters);
    *out = (struct solver_totals){
        .item = "atom",
        .items = (double)md->n_particles,
        .extra_rate = pairs,
        .extra = "pairs in range",
        .per_day = 86400 * md->dt * nanoseconds(md),
        .memory = (double)counters.bytes + bytes_of_terms(md) +
                  md_ewald_bytes(md) + md_analysis_bytes(md)};
    int64_t steps = md->step - md->first_step;
    out->flops = (double)steps * flops(md, pairs);
    out->bytes = counters.moved;
    TRY(comm_sum_double(ctx, &out->bytes, 1));
    TRY(comm_max_double(ctx, &out->memory, 1));
    TRY(find_imbalance(ctx, md, &out->imbalance));
    if (steps > 0)
        md_ewald_close(ctx, md);
    note_lists(md, steps, &counters, out->notes[0], sizeof out->notes[0]);
    note_unsafe(md, out->notes[1], sizeof out->notes[1]);
    return md_balance_note(ctx, md, out->notes[2], sizeof out->notes[2]);
}
