/* md_bond_sizes.c: how long bonds are, and how wide angles, by type. */
#include "md.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/state.h"

#define SECTION "md.analysis.bonds"

static const double pi = 3.14159265358979323846;

enum { BONDS, ANGLES, KINDS };

static const struct {
    int term;
    const char *group, *axis, *description;
} kinds[KINDS] = {{MD_TERM_BOND, "bond_length", "r",
                   "lengths of bonds of a type, as a probability density"},
                  {MD_TERM_ANGLE, "bond_angle", "theta",
                   "angles of a type, as a probability density"}};

struct bond_sizes {
    struct md_due due;
    double low[KINDS], high[KINDS]; /* of the bins; radians */
    int n_bins[KINDS], n_types[KINDS];
    int64_t n_samples;
    /* [n_types][n_bins + 1], the last one for what lies outside. Each term
     * counts once for each of its particles; of this rank. */
    uint64_t *counts[KINDS];
};

/* ---- the deck ---- */

/* Where the deck is silent: from half the shortest length that a style names to
 * half as much again as the longest, or to where a FENE bond breaks. 0: no
 * style names one. */
static int usual_range(const struct md *md, double range[2])
{
    range[0] = range[1] = 0;
    for (int k = 0; k < md->bonded.field.n_bonds; k++) {
        const struct md_bond_coeff *c = &md->bonded.bonds[k];
        int is_fene = c->style == MD_BOND_FENE;
        double low = 0.5 * (is_fene ? c->sigma : c->r0);
        double high = (is_fene ? 1 : 1.5) * c->r0;
        if (c->style == MD_BOND_NONE || !(low > 0))
            continue;
        range[0] = range[0] > 0 ? fmin(range[0], low) : low;
        range[1] = fmax(range[1], high);
    }
    return range[1] > 0;
}

static void *read_deck(struct params *p, struct md *md)
{
    struct bond_sizes *b = calloc(1, sizeof *b);
    size_t n = 0;
    if (!b)
        return NULL;
    double usual[2];
    int is_set = params_is_set(p, SECTION, "range");
    int has_usual = md->bonded.on && usual_range(md, usual);
    const double *range =
        is_set ? params_doubles(p, SECTION, "range", &n) : usual;
    if (!is_set && !has_usual)
        usual[0] = 0, usual[1] = 1;
    if (!is_set && !has_usual && md->bonded.field.n_bonds > 0)
        params_error(p, SECTION, "range",
                     "the styles of the bonds name no length to take it from: "
                     "give %s.range",
                     SECTION);
    b->low[BONDS] = range[0];
    b->high[BONDS] = range[1];
    b->high[ANGLES] = pi;
    b->n_bins[BONDS] = (int)params_int(p, SECTION, "bins");
    b->n_bins[ANGLES] = (int)params_int(p, SECTION, "angle_bins");
    b->n_types[BONDS] = md->bonded.field.n_bonds;
    b->n_types[ANGLES] = md->bonded.field.n_angles;
    if (!(range[0] < range[1]))
        params_error(p, SECTION, "range",
                     "%s.range goes from %g to %g; the second is to be the "
                     "greater",
                     SECTION, range[0], range[1]);
    if (!md->bonded.on)
        params_error(p, SECTION, "range",
                     "%s needs bonds, which come with a data file "
                     "(md.initial.read = \"NAME.data\")",
                     SECTION);
    return b;
}

/* ---- memory ---- */

static size_t size_of(const struct bond_sizes *b, int kind)
{
    return (size_t)b->n_types[kind] * ((size_t)b->n_bins[kind] + 1);
}

static double bytes(const struct md *md, const void *state)
{
    const struct bond_sizes *b = state;
    (void)md;
    return 8 * (double)(size_of(b, BONDS) + size_of(b, ANGLES));
}

static int allocate(struct ctx *ctx, const struct md *md, void *state)
{
    struct bond_sizes *b = state;
    if (!md->k->term_histogram)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s is not there on device '%s' yet; use device = \"cpu\"",
                    SECTION, ctx->device->name);
    for (int k = 0; k < KINDS; k++) {
        b->counts[k] = calloc(size_of(b, k) + 1, sizeof *b->counts[k]);
        if (!b->counts[k])
            return FAIL(ctx, STATUS_MEMORY, "no memory for %zu bins of %s",
                        size_of(b, k), SECTION);
    }
    return 0;
}

static void free_all(void *state)
{
    struct bond_sizes *b = state;
    for (int k = 0; k < KINDS; k++)
        free(b->counts[k]);
    free(b);
}

/* ---- samples and checkpoints ---- */

static int sample(struct ctx *ctx, struct md *md, void *state)
{
    struct bond_sizes *b = state;
    (void)ctx;
    for (int k = 0; k < KINDS; k++)
        md->k->term_histogram(md->store, kinds[k].term, b->low[k], b->high[k],
                              b->n_bins[k], b->counts[k]);
    b->n_samples++;
    return 0;
}

/* Counts of all ranks. */
static int total(struct ctx *ctx, const struct bond_sizes *b, int kind,
                 int64_t **out)
{
    size_t n = size_of(b, kind);
    int64_t *sum = malloc((n + 1) * sizeof *sum);
    *out = sum;
    TRY(comm_agree(ctx,
                   sum ? 0
                       : FAIL(ctx, STATUS_MEMORY,
                              "no memory for %zu bins of %s", n, SECTION)));
    for (size_t i = 0; i < n; i++)
        sum[i] = (int64_t)b->counts[kind][i];
    return comm_sum_int64(ctx, sum, (int)n);
}

static const char *const array_names[KINDS] = {"bonds/lengths", "bonds/angles"};

static int save(struct ctx *ctx, const struct md *md, void *state,
                struct state_io *io)
{
    struct bond_sizes *b = state;
    struct state_array samples =
        state_shared("bonds/samples", STATE_INT64, 1, &b->n_samples);
    (void)md;
    TRY(state_put(ctx, io, &samples));
    for (int k = 0; k < KINDS; k++) {
        int64_t *sum = NULL;
        int status = total(ctx, b, k, &sum);
        struct state_array counts = state_shared(array_names[k], STATE_INT64,
                                                 (int64_t)size_of(b, k), sum);
        if (status == 0)
            status = state_put(ctx, io, &counts);
        free(sum);
        TRY(status);
    }
    return 0;
}

/* Counts of all ranks go to the first: only their sum is ever used. */
static int restore(struct ctx *ctx, const struct md *md, void *state,
                   struct state_io *io)
{
    struct bond_sizes *b = state;
    int64_t shape[STATE_RANK_MAX];
    struct state_array samples =
        state_shared("bonds/samples", STATE_INT64, 1, &b->n_samples);
    if (!io->find(io, "bonds/samples", shape))
        return 0;
    TRY(state_get(ctx, io, &samples));
    for (int k = 0; k < KINDS; k++) {
        struct state_array counts = state_shared(
            array_names[k], STATE_INT64, (int64_t)size_of(b, k), b->counts[k]);
        TRY(state_get(ctx, io, &counts));
        for (size_t i = 0; md->grid.rank != 0 && i < size_of(b, k); i++)
            b->counts[k][i] = 0;
    }
    return 0;
}

/* ---- results ---- */

/* A type that has no terms of its own has no table: its bonds are rigid, say.
 */
static int add_type(struct ctx *ctx, struct md *md, const struct bond_sizes *b,
                    int kind, int type, const int64_t *counts)
{
    int n = b->n_bins[kind];
    double unit = kind == ANGLES ? 180 / pi : 1, terms = 0;
    double width = (b->high[kind] - b->low[kind]) / n * unit;
    for (int k = 0; k <= n; k++)
        terms += (double)counts[k];
    if (!(terms > 0))
        return 0;
    struct md_table *t = md_add_table(ctx, md, 2, n, kinds[kind].description,
                                      "%s/%d", kinds[kind].group, type + 1);
    if (!t)
        return STATUS_MEMORY;
    char per_length[32];
    unit_name(md->units, (struct dimension){0, -1, 0, 0, 0, 0}, per_length,
              sizeof per_length);
    double *at = md_add_column_text(t, kinds[kind].axis,
                                    kind == ANGLES ? "degree"
                                                   : md->unit_text[MD_LENGTH]);
    double *density = md_add_column_text(
        t, "density", kind == ANGLES ? "degree-1" : per_length);
    for (int k = 0; k < n; k++) {
        at[k] = b->low[kind] * unit + (k + 0.5) * width;
        density[k] = (double)counts[k] / (terms * width);
    }
    return 0;
}

static int tables(struct ctx *ctx, struct md *md, void *state)
{
    const struct bond_sizes *b = state;
    if (b->n_samples == 0)
        return 0;
    for (int k = 0; k < KINDS; k++) {
        int64_t *sum = NULL;
        int status = total(ctx, b, k, &sum);
        for (int type = 0; type < b->n_types[k] && status == 0; type++)
            status = add_type(ctx, md, b, k, type,
                              sum + (size_t)type * ((size_t)b->n_bins[k] + 1));
        free(sum);
        TRY(comm_agree(ctx, status));
    }
    return 0;
}

const struct md_analysis md_bond_sizes = {.section = SECTION,
                                          .read = read_deck,
                                          .allocate = allocate,
                                          .bytes = bytes,
                                          .sample = sample,
                                          .save = save,
                                          .restore = restore,
                                          .tables = tables,
                                          .free = free_all};
