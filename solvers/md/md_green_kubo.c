/* md_green_kubo.c: the shear viscosity, by the autocorrelation of the pressure
 * tensor.
 *
 * Every sample is an origin. The products are added up in blocks of the run,
 * which tell the error; when there are too many, two make one. All ranks hold
 * the same.
 */
#include "md.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/state.h"

#define SECTION "md.analysis.green_kubo"

enum {
    PARTS = 6,      /* xy, xz, yz, (xx - yy)/2, (yy - zz)/2, (zz - xx)/2 */
    BLOCKS_MAX = 32 /* complete ones, before they are joined */
};

/* Shares of the parts in the mean over all directions (Daivis and Evans 1994).
 */
static const double share[PARTS] = {1. / 5,  1. / 5,  1. / 5,
                                    2. / 15, 2. / 15, 2. / 15};

static const char *const part_names[PARTS] = {"xy",    "xz",    "yz",
                                              "xx_yy", "yy_zz", "zz_xx"};

/* Positions in green_kubo.counters. */
enum { SAMPLES, BLOCKS, BLOCK_SAMPLES, FILLED, COUNTERS };

struct green_kubo {
    struct md_due due;
    int64_t n_lags; /* samples of a correlation, that of lag 0 with them */
    int64_t counters[COUNTERS]; /* samples so far; complete blocks; samples a
                                 * block; those in the block that grows */
    double sums[2];             /* of temperature and volume */
    double *recent;             /* [n_lags][PARTS]: the last samples, in turn */
    double *products;           /* [BLOCKS_MAX][n_lags][PARTS] */
    int64_t *n_products;        /* [BLOCKS_MAX][n_lags] */
};

/* ---- the deck ---- */

static void *read_deck(struct params *p, struct md *md)
{
    struct green_kubo *g = calloc(1, sizeof *g);
    int64_t every = params_int(p, SECTION, "every");
    int64_t length = params_int(p, SECTION, "length");
    if (!g)
        return NULL;
    g->n_lags = length / every + 1;
    if (length % every != 0)
        params_error(p, SECTION, "length",
                     "%s.length = %lld must be a multiple of every = %lld",
                     SECTION, (long long)length, (long long)every);
    if (g->n_lags > 100000)
        params_error(p, SECTION, "length",
                     "%s.length / every = %lld, more than 100000 points of a "
                     "correlation",
                     SECTION, (long long)(g->n_lags - 1));
    if (md->barostat.kind)
        params_error(p, SECTION, "every",
                     "%s needs a box that does not change: a barostat takes "
                     "part in the fluctuations of the pressure",
                     SECTION);
    md->with_tensor = 1;
    return g;
}

/* ---- memory ---- */

static double bytes(const struct md *md, const void *state)
{
    const struct green_kubo *g = state;
    (void)md;
    return 8.0 * (double)g->n_lags * (PARTS + BLOCKS_MAX * (PARTS + 1));
}

static int allocate(struct ctx *ctx, const struct md *md, void *state)
{
    struct green_kubo *g = state;
    size_t n = (size_t)g->n_lags;
    if (!md->k->kinetic_tensor)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s is not there on device '%s' yet; use device = \"cpu\"",
                    SECTION, ctx->device->name);
    g->counters[BLOCK_SAMPLES] = g->n_lags;
    g->recent = calloc(n * PARTS, sizeof *g->recent);
    g->products = calloc(n * PARTS * BLOCKS_MAX, sizeof *g->products);
    g->n_products = calloc(n * BLOCKS_MAX, sizeof *g->n_products);
    if (!g->recent || !g->products || !g->n_products)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu lags of %s", n,
                    SECTION);
    return 0;
}

static void free_all(void *state)
{
    struct green_kubo *g = state;
    free(g->recent);
    free(g->products);
    free(g->n_products);
    free(g);
}

/* ---- samples ---- */

static double *products_of(const struct green_kubo *g, int64_t block)
{
    return g->products + block * g->n_lags * PARTS;
}

static int64_t *counts_of(const struct green_kubo *g, int64_t block)
{
    return g->n_products + block * g->n_lags;
}

/* The pressure's parts now, and the temperature. */
static int measure(struct ctx *ctx, const struct md *md, double part[PARTS],
                   double *temperature)
{
    const struct unit_constants *k = md->constants;
    double p[6], kinetic = 0;
    double unit = k->energy_per_volume_to_pressure / md_volume(md);
    md->k->kinetic_tensor(md->store, p);
    for (int t = 0; t < 6; t++) {
        p[t] *= k->mvv_to_energy;
        kinetic += t < 3 ? 0.5 * p[t] : 0;
        p[t] = (p[t] + md->sums.tensor[t]) * unit;
    }
    double v[7] = {p[0], p[1], p[2], p[3], p[4], p[5], kinetic};
    TRY(comm_sum_double(ctx, v, 7));
    *temperature = 2 * v[6] / (md->degrees_of_freedom * k->boltzmann);
    for (int t = 0; t < 3; t++) {
        part[t] = v[3 + t];
        part[3 + t] = 0.5 * (v[t] - v[(t + 1) % 3]);
    }
    return 0;
}

static void add_block(struct green_kubo *g, int64_t to, int64_t from)
{
    for (int64_t k = 0; k < g->n_lags * PARTS; k++)
        products_of(g, to)[k] += products_of(g, from)[k];
    for (int64_t k = 0; k < g->n_lags; k++)
        counts_of(g, to)[k] += counts_of(g, from)[k];
}

static void clear_block(struct green_kubo *g, int64_t block)
{
    memset(products_of(g, block), 0,
           (size_t)(g->n_lags * PARTS) * sizeof *g->products);
    memset(counts_of(g, block), 0, (size_t)g->n_lags * sizeof *g->n_products);
}

/* The block that grows is full: begin the next; where there is no room for it,
 * make one of each two. */
static void end_block(struct green_kubo *g)
{
    g->counters[FILLED] = 0;
    if (++g->counters[BLOCKS] < BLOCKS_MAX)
        return;
    for (int64_t b = 0; b < BLOCKS_MAX / 2; b++) {
        if (b > 0) {
            clear_block(g, b);
            add_block(g, b, 2 * b);
        }
        add_block(g, b, 2 * b + 1);
    }
    for (int64_t b = BLOCKS_MAX / 2; b < BLOCKS_MAX; b++)
        clear_block(g, b);
    g->counters[BLOCKS] = BLOCKS_MAX / 2;
    g->counters[BLOCK_SAMPLES] *= 2;
}

static int sample(struct ctx *ctx, struct md *md, void *state)
{
    struct green_kubo *g = state;
    double part[PARTS], temperature = 0;
    int64_t now = g->counters[SAMPLES], n = g->n_lags;
    double *products = products_of(g, g->counters[BLOCKS]);
    int64_t *counts = counts_of(g, g->counters[BLOCKS]);
    TRY(measure(ctx, md, part, &temperature));
    memcpy(g->recent + now % n * PARTS, part, sizeof part);
    for (int64_t lag = 0; lag < n && lag <= now; lag++) {
        const double *then = g->recent + (now - lag) % n * PARTS;
        for (int t = 0; t < PARTS; t++)
            products[lag * PARTS + t] += then[t] * part[t];
        counts[lag]++;
    }
    g->sums[0] += temperature;
    g->sums[1] += md_volume(md);
    g->counters[SAMPLES]++;
    if (++g->counters[FILLED] == g->counters[BLOCK_SAMPLES])
        end_block(g);
    return 0;
}

/* ---- checkpoints ---- */

static int arrays(const struct md *md, void *state, struct state_array *out)
{
    struct green_kubo *g = state;
    int64_t n = g->n_lags;
    (void)md;
    out[0] =
        state_shared("green_kubo/counters", STATE_INT64, COUNTERS, g->counters);
    out[1] = state_shared("green_kubo/sums", STATE_DOUBLE, 2, g->sums);
    out[2] =
        state_shared("green_kubo/recent", STATE_DOUBLE, n * PARTS, g->recent);
    out[3] = state_shared("green_kubo/products", STATE_DOUBLE,
                          n * PARTS * BLOCKS_MAX, g->products);
    out[4] = state_shared("green_kubo/n_products", STATE_INT64, n * BLOCKS_MAX,
                          g->n_products);
    return 5;
}

/* ---- results ---- */

/* What all blocks [first, last) say of each part at each lag: [n][PARTS + 1],
 * the mean over directions behind the parts. */
static void correlate(const struct green_kubo *g, int64_t first, int64_t last,
                      int64_t n, double *out)
{
    for (int64_t lag = 0; lag < n; lag++) {
        double *to = out + lag * (PARTS + 1), count = 0;
        for (int t = 0; t <= PARTS; t++)
            to[t] = 0;
        for (int64_t b = first; b < last; b++) {
            count += (double)counts_of(g, b)[lag];
            for (int t = 0; t < PARTS; t++)
                to[t] += products_of(g, b)[lag * PARTS + t];
        }
        for (int t = 0; t < PARTS; t++) {
            to[t] /= count > 0 ? count : 1;
            to[PARTS] += share[t] * to[t];
        }
    }
}

/* The running integral of column t by the trapezoid rule, times factor. */
static double integrate(const double *c, int64_t n, int t, double factor,
                        double *out)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        if (k > 0)
            sum += 0.5 * factor *
                   (c[(k - 1) * (PARTS + 1) + t] + c[k * (PARTS + 1) + t]);
        out[k] = sum;
    }
    return sum;
}

/* Standard error of the mean over complete blocks, lag by lag; not a number
 * where there are fewer than two. scratch: [n][PARTS + 1]; running: [n]. */
static void block_errors(const struct green_kubo *g, int64_t n, double factor,
                         double *scratch, double *running, double *out)
{
    int64_t blocks = g->counters[BLOCKS];
    double *square = out; /* then the error */
    double *mean = calloc((size_t)n, sizeof *mean);
    for (int64_t k = 0; k < n; k++)
        square[k] = mean && blocks > 1 ? 0 : NAN;
    for (int pass = 0; mean && blocks > 1 && pass < 2; pass++)
        for (int64_t b = 0; b < blocks; b++) {
            correlate(g, b, b + 1, n, scratch);
            integrate(scratch, n, PARTS, factor, running);
            for (int64_t k = 0; k < n; k++) {
                double off = running[k] - mean[k];
                if (pass == 0)
                    square[k] += running[k] / (double)blocks;
                else
                    square[k] += off * off;
            }
            for (int64_t k = 0; pass == 0 && b == blocks - 1 && k < n; k++) {
                mean[k] = square[k];
                square[k] = 0;
            }
        }
    for (int64_t k = 0; mean && blocks > 1 && k < n; k++)
        square[k] = sqrt(square[k] / (double)(blocks * (blocks - 1)));
    free(mean);
}

/* From pressure times time in the deck's units to that of viscosities, which
 * are in Pa s but for lj. */
static double viscosity_unit(const struct md *md)
{
    static const double of[] = {[UNITS_LJ] = 1,
                                [UNITS_METAL] = 1e5 * 1e-12,
                                [UNITS_REAL] = 101325 * 1e-15,
                                [UNITS_SI] = 1};
    return of[md->units];
}

static void fill_times(const struct md *md, const struct green_kubo *g,
                       int64_t n, struct md_table *t)
{
    double *time = md_add_column(md, t, "time", DIM_TIME);
    for (int64_t k = 0; k < n; k++)
        time[k] = (double)(k * g->due.every) * md->dt;
}

static int add_function(struct ctx *ctx, struct md *md,
                        const struct green_kubo *g, int64_t n, const double *c)
{
    char unit[48];
    const char *pressure = md->unit_text[MD_PRESSURE];
    struct md_table *t =
        md_add_table(ctx, md, 2 + PARTS, n,
                     "autocorrelation of the pressure tensor's traceless part",
                     "green_kubo/function");
    if (!t)
        return STATUS_MEMORY;
    snprintf(unit, sizeof unit, "%s%s", pressure, pressure[0] ? "2" : "");
    fill_times(md, g, n, t);
    for (int k = 0; k <= PARTS; k++) {
        int part = k == 0 ? PARTS : k - 1;
        double *out =
            md_add_column_text(t, k == 0 ? "average" : part_names[part], unit);
        for (int64_t lag = 0; lag < n; lag++)
            out[lag] = c[lag * (PARTS + 1) + part];
    }
    return 0;
}

static int add_coefficients(struct ctx *ctx, struct md *md,
                            const struct green_kubo *g, double viscosity,
                            double error)
{
    const char *unit = md->units == UNITS_LJ ? "" : "Pa s";
    double samples = (double)g->counters[SAMPLES];
    struct md_table *t =
        md_add_table(ctx, md, 6, 1, "shear viscosity at the integral's end",
                     "green_kubo/coefficients");
    if (!t)
        return STATUS_MEMORY;
    md_add_column_text(t, "viscosity", unit)[0] = viscosity;
    md_add_column_text(t, "error", unit)[0] = error;
    md_add_column(md, t, "temperature", DIM_TEMPERATURE)[0] =
        g->sums[0] / samples;
    md_add_column(md, t, "volume", DIM_VOLUME)[0] = g->sums[1] / samples;
    md_add_column(md, t, "samples", DIM_NONE)[0] = samples;
    md_add_column(md, t, "blocks", DIM_NONE)[0] = (double)g->counters[BLOCKS];
    return 0;
}

static int add_viscosity(struct ctx *ctx, struct md *md,
                         const struct green_kubo *g, int64_t n, const double *c,
                         double *scratch, double *running)
{
    const struct unit_constants *k = md->constants;
    const char *unit = md->units == UNITS_LJ ? "" : "Pa s";
    double samples = (double)g->counters[SAMPLES];
    double temperature = g->sums[0] / samples, volume = g->sums[1] / samples;
    double factor =
        (double)g->due.every * md->dt * volume /
        (k->boltzmann * temperature * k->energy_per_volume_to_pressure) *
        viscosity_unit(md);
    struct md_table *t = md_add_table(
        ctx, md, 3 + PARTS, n,
        "shear viscosity by the integral up to then, and its standard error",
        "green_kubo/viscosity");
    if (!t)
        return STATUS_MEMORY;
    fill_times(md, g, n, t);
    double *average = md_add_column_text(t, "average", unit);
    double *error = md_add_column_text(t, "error", unit);
    double last = integrate(c, n, PARTS, factor, average);
    block_errors(g, n, factor, scratch, running, error);
    for (int part = 0; part < PARTS; part++)
        integrate(c, n, part, factor,
                  md_add_column_text(t, part_names[part], unit));
    return add_coefficients(ctx, md, g, last, error[n - 1]);
}

static int tables(struct ctx *ctx, struct md *md, void *state)
{
    const struct green_kubo *g = state;
    int64_t n =
        g->counters[SAMPLES] < g->n_lags ? g->counters[SAMPLES] : g->n_lags;
    size_t size = ((size_t)n + 1) * (PARTS + 1);
    int64_t blocks = g->counters[BLOCKS] + (g->counters[FILLED] > 0);
    if (n < 2 || !(g->sums[0] > 0)) /* too short, or nothing moves */
        return 0;
    double *c = malloc(size * sizeof *c);
    double *scratch = malloc(size * sizeof *scratch);
    double *running = malloc(size * sizeof *running);
    int status = 0;
    if (!c || !scratch || !running)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for result tables");
    if (status == 0) {
        correlate(g, 0, blocks, n, c);
        status = add_function(ctx, md, g, n, c);
    }
    if (status == 0)
        status = add_viscosity(ctx, md, g, n, c, scratch, running);
    free(c);
    free(scratch);
    free(running);
    return comm_agree(ctx, status);
}

const struct md_analysis md_green_kubo = {.section = SECTION,
                                          .needs_sums = 1,
                                          .read = read_deck,
                                          .allocate = allocate,
                                          .bytes = bytes,
                                          .sample = sample,
                                          .arrays = arrays,
                                          .tables = tables,
                                          .free = free_all};
