/* md_analysis.c: analyses during the run, one after the other: radial
 * distribution functions and the mean squared displacement, and those of
 * md_analysis.h.
 */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/halo.h"
#include "domain/particles.h"
#include "domain/state.h"

static const struct md_analysis *const kinds[MD_ANALYSES] = {
    &md_vacf,       &md_profile,   &md_map,
    &md_green_kubo, &md_structure, &md_bond_sizes};

/* ---- the deck ---- */

static void set_pair(struct md *md, int at, int a, int b)
{
    md->rdf.pairs[at][0] = a;
    md->rdf.pairs[at][1] = b;
    md->rdf.channel_of[a * md->n_species + b] = at;
    md->rdf.channel_of[b * md->n_species + a] = at;
}

static void all_pairs(struct md *md)
{
    for (int a = 0; a < md->n_species; a++)
        for (int b = a; b < md->n_species; b++)
            set_pair(md, md->rdf.n_pairs++, a, b);
}

static void named_pairs(struct params *p, struct md *md)
{
    const char *section = "md.analysis.rdf";
    size_t n = 0;
    const char *const *names = params_strings(p, section, "pairs", &n);
    for (size_t i = 0; i < n; i++) {
        int s[2];
        if (!md_read_pair(p, md, section, -1, "pairs", names + 2 * i, s))
            return;
        if (md->rdf.channel_of[s[0] * md->n_species + s[1]] < 0)
            set_pair(md, md->rdf.n_pairs++, s[0], s[1]);
    }
}

/* "A-B", "A" and "B-A" make one name of two pairs, and of two tables. */
static void check_pair_names(struct params *p, const struct md *md)
{
    char name[2][2 * MD_NAME_MAX + 2];
    for (int c = 0; c < md->rdf.n_pairs; c++)
        for (int e = 0; e < c; e++) {
            md_pair_name(md, c, name[0], sizeof name[0]);
            md_pair_name(md, e, name[1], sizeof name[1]);
            if (strcmp(name[0], name[1]) == 0)
                params_error(p, "md.analysis.rdf", "pairs",
                             "two pairs of species are both called %s in the "
                             "results",
                             name[0]);
        }
}

static int read_rdf(struct ctx *ctx, struct params *p, struct md *md)
{
    const char *section = "md.analysis.rdf";
    struct md_rdf *rdf = &md->rdf;
    size_t n = (size_t)md->n_species;
    rdf->on = 1;
    params_fill_double(p, section, "range", md->pair.cutoff);
    rdf->range = params_double(p, section, "range");
    rdf->n_bins = (int)params_int(p, section, "bins");
    rdf->every = params_int(p, section, "every");
    rdf->start = params_int(p, section, "start");
    rdf->pairs = calloc(n * n, sizeof *rdf->pairs);
    rdf->channel_of = calloc(n * n, sizeof *rdf->channel_of);
    if (!rdf->pairs || !rdf->channel_of)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu pairs of species",
                    n * n);
    for (size_t i = 0; i < n * n; i++)
        rdf->channel_of[i] = -1;
    if (params_is_set(p, section, "pairs"))
        named_pairs(p, md);
    else
        all_pairs(md);
    check_pair_names(p, md);
    return 0;
}

/* No error: a run that goes on may have more steps. */
static void warn_of_start(struct ctx *ctx, const struct md *md,
                          const char *section, int64_t start)
{
    if (start > md->steps)
        log_warn(ctx->log,
                 "%s.start = %" PRId64 ": no sample is taken, since the run "
                 "ends with step %" PRId64,
                 section, start, md->steps);
}

int md_analysis_read(struct ctx *ctx, struct params *p, struct md *md)
{
    if (params_has_section(p, "md.analysis.msd")) {
        md->msd.on = 1;
        md->msd.every = params_int(p, "md.analysis.msd", "every");
    }
    if (params_has_section(p, "md.analysis.rdf"))
        TRY(read_rdf(ctx, p, md));
    warn_of_start(ctx, md, "md.analysis.rdf", md->rdf.start);
    for (int a = 0; a < MD_ANALYSES; a++) {
        const char *section = kinds[a]->section;
        if (!params_has_section(p, section))
            continue;
        struct md_due *due = kinds[a]->read(p, md);
        if (!due)
            return FAIL(ctx, STATUS_MEMORY, "no memory for %s", section);
        due->every = params_int(p, section, "every");
        due->start = params_int(p, section, "start");
        warn_of_start(ctx, md, section, due->start);
        md->analyses[a] = due;
    }
    return 0;
}

void md_analysis_check(struct params *p, const struct md *md)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a] && kinds[a]->check)
            kinds[a]->check(p, md, md->analyses[a]);
}

int md_analysis_needs_shares(const struct md *md)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a] && kinds[a]->needs_shares &&
            kinds[a]->needs_shares(md->analyses[a]))
            return 1;
    return 0;
}

int md_analysis_counts_bonds(const struct md *md)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a] && kinds[a] == &md_bond_sizes)
            return 1;
    return 0;
}

/* ---- radial distribution ---- */

static int rdf_sample(struct ctx *ctx, struct md *md)
{
    struct md_rdf *rdf = &md->rdf;
    rdf->n_samples++;
    rdf->per_volume += 1 / md_volume(md);
    return md->k->pair_histogram(ctx, md->store, rdf->range, rdf->n_bins,
                                 rdf->channel_of, rdf->counts);
}

/* Ordered pairs of an ideal gas in all samples, per volume: g = 1 there. A
 * particle is no neighbor of its own. */
static double pairs_per_volume(const struct md *md, int channel)
{
    int a = md->rdf.pairs[channel][0], b = md->rdf.pairs[channel][1];
    double n_a = (double)md->species[a].count;
    double n_b = (double)md->species[b].count;
    double pairs = a == b ? n_a * (n_a - 1) : 2 * n_a * n_b;
    if (md_volume_changes(md))
        return pairs * md->rdf.per_volume;
    return pairs / md_volume(md) * (double)md->rdf.n_samples;
}

int md_rdf_table(struct ctx *ctx, const struct md *md, int channel, double *r,
                 double *g)
{
    const struct md_rdf *rdf = &md->rdf;
    const uint64_t *counts =
        &rdf->counts[(size_t)channel * (size_t)rdf->n_bins];
    const double pi = 3.14159265358979323846;
    double width = rdf->range / rdf->n_bins;
    double ideal = pairs_per_volume(md, channel);
    /* Whole numbers below 2^53 add up exactly as doubles. */
    for (int b = 0; b < rdf->n_bins; b++)
        g[b] = (double)counts[b];
    TRY(comm_sum_double(ctx, g, rdf->n_bins));
    for (int b = 0; b < rdf->n_bins; b++) {
        double inner = b * width, outer = (b + 1) * width;
        double shell =
            4.0 / 3.0 * pi * (outer * outer * outer - inner * inner * inner);
        r[b] = (b + 0.5) * width;
        g[b] = ideal > 0 ? g[b] / (ideal * shell) : 0;
    }
    return 0;
}

/* ---- mean squared displacement ---- */

int md_rows_by_id(struct ctx *ctx, const struct md *md,
                  struct md_particle **rows)
{
    size_t n;
    struct md_particle *p;
    *rows = NULL;
    TRY(md_own_particles(ctx, md, &p, &n));
    int status = particles_by_id(ctx, md->n_particles, p, NULL, n, rows, NULL);
    free(p);
    return status;
}

static double unwrapped(const struct md *md, const struct md_particle *p, int d)
{
    double x[3];
    md_unwrap(md, p, x);
    return x[d];
}

/* A place of the start, as it lies in a box that has changed since. */
static void then_in_box(const struct md *md, double x[3])
{
    md_deform_carry(md, x);
    for (int d = 0; d < 3 && md_box_changes(md); d++)
        x[d] = md->box_lo[d] + (x[d] - md->box_lo[d]) * md->box_length[d] /
                                   md->barostat.start[d];
}

static int msd_start(struct ctx *ctx, struct md *md)
{
    struct md_particle *rows = NULL;
    TRY(md_rows_by_id(ctx, md, &rows));
    for (int64_t i = 0; i < md->msd.n; i++)
        for (int d = 0; d < 3; d++)
            md->msd.reference[i][d] = unwrapped(md, &rows[i], d);
    free(rows);
    return 0;
}

int md_msd_measure(struct ctx *ctx, struct md *md)
{
    struct md_particle *rows = NULL;
    double sum[1 + MD_SPECIES_MAX] = {0};
    if (md->msd_step == md->step)
        return 0;
    TRY(md_rows_by_id(ctx, md, &rows));
    for (int64_t i = 0; i < md->msd.n; i++) {
        double square = 0, from[3];
        memcpy(from, md->msd.reference[i], sizeof from);
        then_in_box(md, from);
        for (int d = 0; d < 3; d++) {
            double moved = unwrapped(md, &rows[i], d) - from[d];
            square += moved * moved;
        }
        sum[0] += square;
        sum[1 + rows[i].species] += square;
    }
    free(rows);
    TRY(comm_sum_double(ctx, sum, 1 + md->n_species));
    md->msd_now[0] = sum[0] / (double)md->n_particles;
    for (int s = 0; s < md->n_species; s++) {
        int64_t n = md->species[s].count;
        md->msd_now[1 + s] = n > 0 ? sum[1 + s] / (double)n : 0;
    }
    md->msd_step = md->step;
    return 0;
}

/* Append time and displacements to the table of the run's end. */
static int msd_sample(struct ctx *ctx, struct md *md)
{
    struct md_msd *msd = &md->msd;
    size_t width = 2 + (size_t)md->n_species;
    TRY(md_msd_measure(ctx, md));
    if (msd->n_samples == msd->capacity) {
        size_t capacity = 2 * msd->capacity + 64;
        double *grown = realloc(msd->samples, capacity * width * sizeof *grown);
        if (!grown)
            return FAIL(ctx, STATUS_MEMORY, "no memory for %zu samples",
                        capacity);
        msd->samples = grown;
        msd->capacity = capacity;
    }
    double *row = &msd->samples[msd->n_samples++ * width];
    row[0] = (double)md->step * md->dt;
    memcpy(row + 1, md->msd_now, (width - 1) * sizeof *row);
    return 0;
}

/* ---- during the run ---- */

/* Whether an analysis takes a sample at the present step. */
static int is_due(const struct md *md, int a)
{
    const struct md_due *due = md->analyses[a];
    return due && md->step >= due->start &&
           (md->step - due->start) % due->every == 0;
}

int md_analysis_looks(const struct md *md)
{
    int looks = 0;
    for (int a = 0; a < MD_ANALYSES; a++)
        looks |= kinds[a]->needs_sums && is_due(md, a);
    return looks;
}

static int sample_others(struct ctx *ctx, struct md *md)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (is_due(md, a))
            TRY(kinds[a]->sample(ctx, md, md->analyses[a]));
    return 0;
}

static int sample(struct ctx *ctx, struct md *md)
{
    const struct md_rdf *rdf = &md->rdf;
    int rdf_now = rdf->on && md->step >= rdf->start &&
                  (md->step - rdf->start) % rdf->every == 0;
    int msd_now = md->msd.on && md->step % md->msd.every == 0;
    int status = 0, others = 0;
    for (int a = 0; a < MD_ANALYSES; a++)
        others |= is_due(md, a);
    if (!rdf_now && !msd_now && !others)
        return 0;
    timer_begin(ctx->timers, md->phase_analysis);
    if (rdf_now)
        status = comm_agree(ctx, rdf_sample(ctx, md));
    if (msd_now && status == 0)
        status = comm_agree(ctx, msd_sample(ctx, md));
    if (others && status == 0)
        status = sample_others(ctx, md);
    timer_end(ctx->timers, md->phase_analysis);
    return status;
}

int md_analysis_allocate(struct ctx *ctx, struct md *md)
{
    int status = 0;
    particles_slab(md->n_particles, md->grid.rank, md->grid.size,
                   &md->msd.first, &md->msd.n);
    if (md->msd.on) {
        md->msd.reference =
            malloc(((size_t)md->msd.n + 1) * sizeof *md->msd.reference);
        if (!md->msd.reference)
            status = FAIL(ctx, STATUS_MEMORY, "no memory for displacements");
    }
    if (md->rdf.on) {
        size_t n = (size_t)md->rdf.n_pairs * (size_t)md->rdf.n_bins;
        md->rdf.counts = calloc(n + 1, sizeof *md->rdf.counts);
        if (!md->rdf.counts)
            status = FAIL(ctx, STATUS_MEMORY, "no memory for %zu bins", n);
    }
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a] && status == 0)
            status = kinds[a]->allocate(ctx, md, md->analyses[a]);
    return comm_agree(ctx, status);
}

int md_analysis_start(struct ctx *ctx, struct md *md)
{
    TRY(md_analysis_allocate(ctx, md));
    if (md->msd.on)
        TRY(msd_start(ctx, md));
    return sample(ctx, md);
}

int md_analysis_step(struct ctx *ctx, struct md *md)
{
    return sample(ctx, md);
}

/* ---- what others ask of all of them ---- */

double md_analysis_bytes(const struct md *md)
{
    double bytes = 0;
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a])
            bytes += kinds[a]->bytes(md, md->analyses[a]);
    return bytes;
}

static int save_one(struct ctx *ctx, const struct md *md, int a,
                    struct state_io *io)
{
    struct state_array arrays[MD_ARRAYS_MAX];
    if (kinds[a]->save)
        return kinds[a]->save(ctx, md, md->analyses[a], io);
    int n = kinds[a]->arrays(md, md->analyses[a], arrays);
    for (int k = 0; k < n; k++)
        TRY(state_put(ctx, io, &arrays[k]));
    return 0;
}

static int restore_one(struct ctx *ctx, const struct md *md, int a,
                       struct state_io *io)
{
    struct state_array arrays[MD_ARRAYS_MAX];
    int64_t shape[STATE_RANK_MAX];
    if (kinds[a]->restore)
        return kinds[a]->restore(ctx, md, md->analyses[a], io);
    int n = kinds[a]->arrays(md, md->analyses[a], arrays);
    if (!io->find(io, arrays[0].name, shape))
        return 0;
    for (int k = 0; k < n; k++)
        TRY(state_get(ctx, io, &arrays[k]));
    return 0;
}

int md_analysis_save(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a])
            TRY(save_one(ctx, md, a, io));
    return 0;
}

int md_analysis_restore(struct ctx *ctx, struct md *md, struct state_io *io)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a])
            TRY(restore_one(ctx, md, a, io));
    return 0;
}

int md_analysis_tables(struct ctx *ctx, struct md *md)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a])
            TRY(kinds[a]->tables(ctx, md, md->analyses[a]));
    return 0;
}

void md_analysis_free(struct md *md)
{
    for (int a = 0; a < MD_ANALYSES; a++)
        if (md->analyses[a])
            kinds[a]->free(md->analyses[a]);
    free(md->rdf.pairs);
    free(md->rdf.channel_of);
    free(md->rdf.counts);
    free(md->msd.reference);
    free(md->msd.samples);
    md_results_free(md);
}
