/* md_vacf.c: the autocorrelation of velocities, its integral and its spectrum.
 *
 * Origins begin at even distances and live for the length of the correlation;
 * each rank keeps the velocities that the particles of its slab of ids had
 * then. Sums are added over ranks at each sample, so that all ranks hold the
 * same.
 */
#include "md.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/particles.h"
#include "domain/state.h"

#define SECTION "md.analysis.vacf"

static const double pi = 3.14159265358979323846;

struct vacf {
    struct md_due due;
    int64_t length;       /* steps that an origin lives */
    int64_t origin_every; /* steps between two of them */
    int hann;             /* window of the spectrum */
    int64_t n_lags;  /* samples of a correlation, that of lag 0 with them */
    int64_t n_slots; /* origins that live at a time */
    int n_species;
    int64_t first, n;   /* this rank's slab of ids */
    double *velocity;   /* [n][n_slots][3]: of the origins */
    int64_t *begun;     /* [n_slots]: sample of the origin; -1: none */
    double *sum;        /* [n_lags][n_species]: of v . v, over origins */
    int64_t *n_origins; /* [n_lags]: in these sums */
    double *now;        /* [n_slots][n_species]: of one sample */
};

/* ---- the deck ---- */

static void *read_deck(struct params *p, struct md *md)
{
    struct vacf *v = calloc(1, sizeof *v);
    int64_t every = params_int(p, SECTION, "every");
    if (!v)
        return NULL;
    v->length = params_int(p, SECTION, "length");
    v->origin_every = (v->length / 10 + every - 1) / every * every;
    if (v->origin_every < every)
        v->origin_every = every;
    if (params_is_set(p, SECTION, "origin_every"))
        v->origin_every = params_int(p, SECTION, "origin_every");
    v->hann = strcmp(params_string(p, SECTION, "window"), "hann") == 0;
    v->n_species = md->n_species;
    v->n_lags = v->length / every + 1;
    v->n_slots = (v->n_lags * every + v->origin_every - 1) / v->origin_every;
    if (v->length % every != 0)
        params_error(p, SECTION, "length",
                     "%s.length = %lld must be a multiple of every = %lld",
                     SECTION, (long long)v->length, (long long)every);
    if (v->origin_every % every != 0)
        params_error(p, SECTION, "origin_every",
                     "%s.origin_every = %lld must be a multiple of every = "
                     "%lld",
                     SECTION, (long long)v->origin_every, (long long)every);
    if (v->n_lags > 100000)
        params_error(p, SECTION, "length",
                     "%s.length / every = %lld, more than 100000 points of a "
                     "correlation",
                     SECTION, (long long)(v->n_lags - 1));
    for (int s = 0; s < md->n_species; s++)
        if (strcmp(md->species[s].name, "frequency") == 0)
            params_error(p, SECTION, "every",
                         "a species called 'frequency' and %s do not go "
                         "together: that is a column of its results",
                         SECTION);
    return v;
}

/* ---- memory ---- */

static double bytes(const struct md *md, const void *state)
{
    const struct vacf *v = state;
    double rows = ceil((double)md->n_particles / md->grid.size);
    return 24 * rows * (double)v->n_slots +
           8 * (double)(v->n_lags * (v->n_species + 1));
}

static int allocate(struct ctx *ctx, const struct md *md, void *state)
{
    struct vacf *v = state;
    size_t slots = (size_t)v->n_slots, lags = (size_t)v->n_lags;
    size_t kinds = (size_t)v->n_species;
    particles_slab(md->n_particles, md->grid.rank, md->grid.size, &v->first,
                   &v->n);
    v->velocity = calloc(3 * slots * (size_t)v->n + 1, sizeof *v->velocity);
    v->begun = malloc(slots * sizeof *v->begun);
    v->sum = calloc(lags * kinds, sizeof *v->sum);
    v->n_origins = calloc(lags, sizeof *v->n_origins);
    v->now = calloc(slots * kinds, sizeof *v->now);
    if (!v->velocity || !v->begun || !v->sum || !v->n_origins || !v->now)
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for %zu origins of %s of %zu particles; fewer "
                    "origins (origin_every) or more ranks need less",
                    slots, SECTION, (size_t)v->n);
    for (size_t k = 0; k < slots; k++)
        v->begun[k] = -1;
    return 0;
}

static void free_all(void *state)
{
    struct vacf *v = state;
    free(v->velocity);
    free(v->begun);
    free(v->sum);
    free(v->n_origins);
    free(v->now);
    free(v);
}

/* ---- samples ---- */

/* The present sample as an origin, in the place of one that has ended. */
static void begin_origin(struct vacf *v, int64_t sample,
                         const struct md_particle *rows)
{
    int64_t number = sample * v->due.every / v->origin_every;
    int64_t slot = number % v->n_slots;
    v->begun[slot] = sample;
    for (int64_t i = 0; i < v->n; i++)
        memcpy(&v->velocity[3 * (i * v->n_slots + slot)], rows[i].velocity,
               sizeof rows[i].velocity);
}

/* The products of the present velocities with those of each origin. */
static void add_products(struct vacf *v, const struct md_particle *rows)
{
    memset(v->now, 0, (size_t)(v->n_slots * v->n_species) * sizeof *v->now);
    for (int64_t i = 0; i < v->n; i++) {
        const double *at = &v->velocity[3 * i * v->n_slots];
        const double *u = rows[i].velocity;
        double *out = &v->now[rows[i].species];
        for (int64_t k = 0; k < v->n_slots; k++, at += 3)
            out[k * v->n_species] += u[0] * at[0] + u[1] * at[1] + u[2] * at[2];
    }
}

static int sample(struct ctx *ctx, struct md *md, void *state)
{
    struct vacf *v = state;
    struct md_particle *rows = NULL;
    int64_t number = (md->step - v->due.start) / v->due.every;
    TRY(md_rows_by_id(ctx, md, &rows));
    if ((md->step - v->due.start) % v->origin_every == 0)
        begin_origin(v, number, rows);
    add_products(v, rows);
    free(rows);
    TRY(comm_sum_double(ctx, v->now, (int)(v->n_slots * v->n_species)));
    for (int64_t k = 0; k < v->n_slots; k++) {
        int64_t lag = number - v->begun[k];
        if (v->begun[k] < 0 || lag >= v->n_lags)
            continue;
        v->n_origins[lag]++;
        for (int s = 0; s < v->n_species; s++)
            v->sum[lag * v->n_species + s] += v->now[k * v->n_species + s];
    }
    return 0;
}

/* ---- checkpoints ---- */

static int arrays(const struct md *md, void *state, struct state_array *out)
{
    struct vacf *v = state;
    out[0] = state_shared("vacf/begun", STATE_INT64, v->n_slots, v->begun);
    out[1] = state_rows("vacf/velocity", STATE_DOUBLE, md->n_particles,
                        v->first, v->n, 3 * v->n_slots, v->velocity);
    out[2] = state_shared("vacf/sum", STATE_DOUBLE, v->n_lags * v->n_species,
                          v->sum);
    out[3] = state_shared("vacf/origins", STATE_INT64, v->n_lags, v->n_origins);
    return 4;
}

/* ---- results ---- */

/* A correlation per particle and its integrals, of one kind of particles. */
struct series {
    int64_t n;   /* lags that have an origin */
    double step; /* time between two */
    double *value;
};

/* <v . v> at each lag: of a species, or of all (-1); times its mass and its
 * number where by_mass is set. */
static void correlation(const struct md *md, const struct vacf *v, int species,
                        int by_mass, struct series *c)
{
    for (int64_t lag = 0; lag < c->n; lag++) {
        double sum = 0, count = by_mass ? 1 : 0;
        for (int s = 0; s < v->n_species; s++) {
            if (species >= 0 && s != species)
                continue;
            double weight = by_mass ? md->species[s].mass : 1;
            sum += weight * v->sum[lag * v->n_species + s];
            if (!by_mass)
                count += (double)md->species[s].count;
        }
        double products = count * (double)v->n_origins[lag];
        c->value[lag] = products > 0 ? sum / products : 0;
    }
}

/* The running integral by the trapezoid rule, times factor. */
static void integrate(const struct series *c, double factor, double *out)
{
    out[0] = 0;
    for (int64_t k = 1; k < c->n; k++)
        out[k] = out[k - 1] +
                 0.5 * factor * c->step * (c->value[k - 1] + c->value[k]);
}

/* 4 / C(0) int_0^T w C cos(2 pi f t) dt at f = q / 2 T. cosine[2 (n - 1)]: of
 * multiples of pi / (n - 1). */
static void transform(const struct series *c, int hann, const double *cosine,
                      double *out)
{
    int64_t last = c->n - 1;
    double unit = c->value[0] > 0 ? 4 * c->step / c->value[0] : 0;
    for (int64_t q = 0; q <= last; q++) {
        double sum = 0;
        for (int64_t k = 0, turn = 0; k <= last; k++) {
            double w = k == 0 || k == last ? 0.5 : 1;
            if (hann)
                w *= 0.5 * (1 + cosine[k]);
            sum += w * c->value[k] * cosine[turn];
            turn += q;
            if (turn >= 2 * last)
                turn -= 2 * last;
        }
        out[q] = unit * sum;
    }
}

enum kind { FUNCTION, NORMALIZED, DIFFUSION, SPECTRUM, KINDS };

static const struct {
    const char *name, *axis, *description;
    struct dimension axis_unit, unit;
} kinds[KINDS] = {
    [FUNCTION] = {"function",
                  "time",
                  "autocorrelation of velocities, <v(0) . v(t)>",
                  {0, 0, 1, 0, 0, 0},
                  {0, 2, -2, 0, 0, 0}},
    [NORMALIZED] = {"normalized",
                    "time",
                    "autocorrelation of velocities over that of time 0",
                    {0, 0, 1, 0, 0, 0},
                    {0, 0, 0, 0, 0, 0}},
    [DIFFUSION] = {"diffusion",
                   "time",
                   "a third of the integral of the autocorrelation of "
                   "velocities up to then",
                   {0, 0, 1, 0, 0, 0},
                   {0, 2, -1, 0, 0, 0}},
    [SPECTRUM] = {"spectrum",
                  "frequency",
                  "power spectrum of velocities; its integral is 1",
                  {0, 0, -1, 0, 0, 0},
                  {0, 0, 1, 0, 0, 0}}};

/* The time of each lag, or the frequency of each mode. */
static void fill_axis(const struct series *c, int of_time, double *out)
{
    double unit = of_time ? c->step : 0.5 / (c->step * (double)(c->n - 1));
    for (int64_t k = 0; k < c->n; k++)
        out[k] = (double)k * unit;
}

static void fill(const struct vacf *v, enum kind kind, const double *cosine,
                 const struct series *c, double *out)
{
    double first = c->value[0];
    if (kind == DIFFUSION)
        integrate(c, 1.0 / 3.0, out);
    else if (kind == SPECTRUM)
        transform(c, v->hann, cosine, out);
    else
        for (int64_t k = 0; k < c->n; k++)
            out[k] = kind == FUNCTION ? c->value[k]
                     : first > 0      ? c->value[k] / first
                                      : 0;
}

static int add_kind(struct ctx *ctx, struct md *md, const struct vacf *v,
                    enum kind kind, const double *cosine, struct series *c)
{
    struct md_table *t =
        md_add_table(ctx, md, 2 + v->n_species, c->n, kinds[kind].description,
                     "velocity_autocorrelation/%s", kinds[kind].name);
    if (!t)
        return STATUS_MEMORY;
    fill_axis(c, kind != SPECTRUM,
              md_add_column(md, t, kinds[kind].axis, kinds[kind].axis_unit));
    for (int s = -1; s < v->n_species; s++) {
        const char *name = s < 0 ? "all" : md->species[s].name;
        correlation(md, v, s, 0, c);
        fill(v, kind, cosine, c, md_add_column(md, t, name, kinds[kind].unit));
    }
    return 0;
}

static int add_states(struct ctx *ctx, struct md *md, const struct vacf *v,
                      const double *cosine, struct series *c)
{
    struct md_table *t =
        md_add_table(ctx, md, 2, c->n,
                     "density of states: the power spectrum of velocities by "
                     "mass; its integral is 1",
                     "velocity_autocorrelation/density_of_states");
    if (!t)
        return STATUS_MEMORY;
    fill_axis(c, 0, md_add_column(md, t, "frequency", DIM_RATE));
    correlation(md, v, -1, 1, c);
    transform(c, v->hann, cosine, md_add_column(md, t, "density", DIM_TIME));
    return 0;
}

static int add_coefficients(struct ctx *ctx, struct md *md,
                            const struct vacf *v, struct series *c)
{
    int64_t rows = 1 + v->n_species;
    double *running = malloc((size_t)c->n * sizeof *running);
    struct md_table *t =
        md_add_table(ctx, md, 4, rows,
                     "diffusion coefficients by the integral of the "
                     "autocorrelation of velocities to its end",
                     "velocity_autocorrelation/coefficients");
    const char **species = t ? md_add_texts(t, "species") : NULL;
    if (!running || !species) {
        free(running);
        return FAIL(ctx, STATUS_MEMORY, "no memory for result tables");
    }
    double *diffusion =
        md_add_column(md, t, "diffusion", DIM_KINEMATIC_VISCOSITY);
    double *particles = md_add_column(md, t, "particles", DIM_NONE);
    double *origins = md_add_column(md, t, "origins", DIM_NONE);
    for (int s = -1; s < v->n_species; s++) {
        correlation(md, v, s, 0, c);
        integrate(c, 1.0 / 3.0, running);
        species[s + 1] = s < 0 ? "all" : md->species[s].name;
        diffusion[s + 1] = running[c->n - 1];
        particles[s + 1] =
            (double)(s < 0 ? md->n_particles : md->species[s].count);
        origins[s + 1] = (double)v->n_origins[0];
    }
    free(running);
    return 0;
}

static int add_all(struct ctx *ctx, struct md *md, const struct vacf *v,
                   struct series *c)
{
    int status = 0;
    double *cosine = malloc(2 * (size_t)c->n * sizeof *cosine);
    c->value = malloc((size_t)c->n * sizeof *c->value);
    if (!cosine || !c->value)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for result tables");
    for (int64_t k = 0; status == 0 && k < 2 * (c->n - 1); k++)
        cosine[k] = cos(pi * (double)k / (double)(c->n - 1));
    for (int k = 0; status == 0 && k < KINDS; k++)
        status = add_kind(ctx, md, v, (enum kind)k, cosine, c);
    if (status == 0)
        status = add_states(ctx, md, v, cosine, c);
    if (status == 0)
        status = add_coefficients(ctx, md, v, c);
    free(cosine);
    free(c->value);
    return status;
}

static int tables(struct ctx *ctx, struct md *md, void *state)
{
    const struct vacf *v = state;
    struct series c = {.step = (double)v->due.every * md->dt};
    while (c.n < v->n_lags && v->n_origins[c.n] > 0)
        c.n++;
    if (c.n < 2) /* the run was too short */
        return 0;
    return comm_agree(ctx, add_all(ctx, md, v, &c));
}

const struct md_analysis md_vacf = {.section = SECTION,
                                    .read = read_deck,
                                    .allocate = allocate,
                                    .bytes = bytes,
                                    .sample = sample,
                                    .arrays = arrays,
                                    .tables = tables,
                                    .free = free_all};
