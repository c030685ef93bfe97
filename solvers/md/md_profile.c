/* md_profile.c: density, temperature, motion and pressure by place: in slabs
 * along an axis ([md.analysis.profile]), or over a plane ([md.analysis.map]).
 *
 * The box is cut into equal cells, which keep their share of a box that
 * changes. Sums are those of all ranks, added at each sample.
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
#include "domain/halo.h"
#include "domain/state.h"
#include "kernels/md/cell.h"

#define SLABS "md.analysis.profile"
#define MAP "md.analysis.map"

/* What a cell adds up: numbers of particles, and the rest per volume of the
 * box. Behind these: particles of each species per volume. */
enum {
    COUNT,
    MASS,
    MOMENTUM,               /* by direction */
    SQUARES = MOMENTUM + 3, /* m v_a^2 */
    VIRIAL = SQUARES + 3,   /* halves of pairs, see md_kernels.pair_virial */
    SPECIES = VIRIAL + 3
};

struct profile {
    struct md_due due;
    const char *name; /* of the section, and of what the state is called */
    int n_axes, axis[2];
    int64_t bins[2]; /* of an axis that is not there 1 */
    int pressure;    /* virials are wanted */
    int64_t cells;
    int width; /* sums of a cell */
    int64_t n_samples;
    double edges[3]; /* of the box, summed over samples */
    double *sum;     /* [cells][width] */
    double *now;     /* the same of one sample, and of its edges */
};

/* ---- the deck ---- */

static int axis_of(const char *name)
{
    return name[0] - 'x';
}

static void finish(const struct md *md, struct profile *c)
{
    c->cells = c->bins[0] * c->bins[1];
    c->width = SPECIES + md->n_species;
}

static void *read_slabs(struct params *p, struct md *md)
{
    struct profile *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->name = "profile";
    c->n_axes = 1;
    c->axis[0] = axis_of(params_string(p, SLABS, "axis"));
    c->bins[0] = params_int(p, SLABS, "bins");
    c->bins[1] = 1;
    c->pressure = params_bool(p, SLABS, "pressure");
    if (c->pressure && (md->bonded.has_field || md->eam || md->pair.forms))
        params_error(p, SLABS, "pressure",
                     "the pressure by slabs is there for Lennard-Jones alone, "
                     "without bonds, charges, metals and other forms; leave "
                     "%s.pressure out",
                     SLABS);
    finish(md, c);
    return c;
}

static void *read_map(struct params *p, struct md *md)
{
    struct profile *c = calloc(1, sizeof *c);
    size_t n = 0;
    if (!c)
        return NULL;
    const char *const *axes = params_strings(p, MAP, "axes", &n);
    const int64_t *bins = params_ints(p, MAP, "bins", &n);
    c->name = "map";
    c->n_axes = 2;
    for (int a = 0; a < 2; a++) {
        c->axis[a] = axis_of(axes[a]);
        c->bins[a] = bins[a];
    }
    if (c->axis[0] == c->axis[1])
        params_error(p, MAP, "axes", "%s.axes names %s twice; a map has two",
                     MAP, axes[0]);
    finish(md, c);
    return c;
}

/* Under shear slabs that contain the flow stay as they are; others would turn
 * with it, and be others when the box becomes that on the other side. */
static void check(struct params *p, const struct md *md, void *state)
{
    const struct profile *c = state;
    const struct md_deform *f = &md->deform;
    for (int a = 0; a < c->n_axes && f->kind == MD_DEFORM_SHEAR; a++) {
        int leans = f->along == 1 && c->axis[a] == 0 && fabs(md->tilt[0]) > 0;
        if (c->axis[a] == f->along || leans)
            params_error(p, c->n_axes == 2 ? MAP : SLABS,
                         c->n_axes == 2 ? "axes" : "axis",
                         "the flow of md.deform.shear would turn slabs along "
                         "%c; take an axis across the flow",
                         "xyz"[c->axis[a]]);
    }
}

/* ---- memory ---- */

static double bytes(const struct md *md, const void *state)
{
    const struct profile *c = state;
    (void)md;
    return 16 * (double)c->cells * c->width;
}

static int allocate(struct ctx *ctx, const struct md *md, void *state)
{
    struct profile *c = state;
    size_t n = (size_t)c->cells * (size_t)c->width;
    if (c->pressure && !md->k->pair_virial)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s.pressure is not there on device '%s' yet; use device "
                    "= \"cpu\"",
                    SLABS, ctx->device->name);
    c->sum = calloc(n, sizeof *c->sum);
    c->now = calloc(n, sizeof *c->now);
    if (!c->sum || !c->now)
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for %lld cells of md.analysis.%s",
                    (long long)c->cells, c->name);
    return 0;
}

static void free_all(void *state)
{
    struct profile *c = state;
    free(c->sum);
    free(c->now);
    free(c);
}

/* ---- samples ---- */

static int64_t cell_of(const struct md *md, const struct profile *c,
                       const double x[3])
{
    int64_t cell = 0;
    double way[3], share[3];
    for (int d = 0; d < 3; d++)
        way[d] = x[d] - md->box_lo[d];
    cell_parts(md->box_length, md->tilt, way, share);
    for (int a = 0; a < c->n_axes; a++) {
        double part = share[c->axis[a]];
        part -= md->tilted ? floor(part) : 0;
        int64_t bin = (int64_t)floor(part * (double)c->bins[a]);
        bin = bin < 0 ? 0 : bin >= c->bins[a] ? c->bins[a] - 1 : bin;
        cell = cell * c->bins[a] + bin;
    }
    return cell;
}

/* virial: or NULL. */
static void add_particles(const struct md *md, struct profile *c,
                          const struct md_particle *p, size_t n,
                          double (*virial)[3])
{
    double per_volume = 1 / md_volume(md);
    for (size_t i = 0; i < n; i++) {
        double *to = c->now + cell_of(md, c, p[i].position) * c->width;
        double m = md->species[p[i].species].mass * per_volume;
        to[COUNT] += 1;
        to[MASS] += m;
        for (int d = 0; d < 3; d++) {
            double v = p[i].velocity[d];
            to[MOMENTUM + d] += m * v;
            to[SQUARES + d] += m * v * v;
            if (virial)
                to[VIRIAL + d] += virial[i][d] * per_volume;
        }
        to[SPECIES + p[i].species] += per_volume;
    }
}

/* Own particles, and their share of the virial where it is wanted. */
static int fetch(struct ctx *ctx, const struct md *md, const struct profile *c,
                 struct md_particle **p, double (**virial)[3], size_t *n)
{
    int status;
    TRY(md_own_particles(ctx, md, p, n));
    if (!c->pressure)
        return 0;
    *virial = malloc((*n + 1) * sizeof **virial);
    status = *virial
                 ? md->k->pair_virial(ctx, md->store, *virial)
                 : FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", *n);
    return comm_agree(ctx, status);
}

static int needs_shares(const void *state)
{
    const struct profile *c = state;
    return c->pressure;
}

static int sample(struct ctx *ctx, struct md *md, void *state)
{
    struct profile *c = state;
    struct md_particle *p = NULL;
    double(*virial)[3] = NULL;
    size_t n = 0, n_sums = (size_t)c->cells * (size_t)c->width;
    int status = 0;
    memset(c->now, 0, n_sums * sizeof *c->now);
    TRY_CLEANUP(fetch(ctx, md, c, &p, &virial, &n));
    add_particles(md, c, p, n, virial);
    TRY_CLEANUP(comm_sum_double(ctx, c->now, (int)n_sums));
    for (size_t k = 0; k < n_sums; k++)
        c->sum[k] += c->now[k];
    for (int d = 0; d < 3; d++)
        c->edges[d] += md->box_length[d];
    c->n_samples++;
cleanup:
    free(p);
    free(virial);
    return status;
}

/* ---- checkpoints ---- */

static int arrays(const struct md *md, void *state, struct state_array *out)
{
    struct profile *c = state;
    int map = c->n_axes == 2;
    (void)md;
    out[0] = state_shared(map ? "map/samples" : "profile/samples", STATE_INT64,
                          1, &c->n_samples);
    out[1] = state_shared(map ? "map/edges" : "profile/edges", STATE_DOUBLE, 3,
                          c->edges);
    out[2] = state_shared(map ? "map/sum" : "profile/sum", STATE_DOUBLE,
                          c->cells * c->width, c->sum);
    return 3;
}

/* ---- results ---- */

/* Middle of the bins of an axis, in the mean box. */
static void fill_axis(const struct md *md, const struct profile *c, int a,
                      double *out)
{
    int d = c->axis[a];
    double width = c->edges[d] / (double)c->n_samples / (double)c->bins[a];
    for (int64_t k = 0; k < c->cells; k++) {
        int64_t bin = a == c->n_axes - 1 ? k % c->bins[a] : k / c->bins[1];
        out[k] = md->box_lo[d] + ((double)bin + 0.5) * width;
    }
}

/* sum m v_a^2 beside the mean velocity, per volume. */
static double thermal(const double *sum, int d)
{
    double u = sum[MASS] > 0 ? sum[MOMENTUM + d] / sum[MASS] : 0;
    return sum[SQUARES + d] - u * sum[MOMENTUM + d];
}

enum quantity {
    NUMBER_DENSITY,
    MASS_DENSITY,
    TEMPERATURE,
    VELOCITY,
    PARTICLES = VELOCITY + 3,
    PRESSURE,
    BY_SPECIES = PRESSURE + 3
};

static double value(const struct md *md, const struct profile *c, int what,
                    const double *sum)
{
    const struct unit_constants *k = md->constants;
    /* Sums are per volume of the box: of a cell they are so many times more. */
    double mean = (double)c->cells / (double)c->n_samples, particles = 0;
    double freedom = md->degrees_of_freedom / (double)md->n_particles;
    for (int s = 0; s < md->n_species; s++)
        particles += sum[SPECIES + s];
    if (what == NUMBER_DENSITY)
        return particles * mean;
    if (what == MASS_DENSITY)
        return sum[MASS] * mean * md_density_factor(md);
    if (what == TEMPERATURE)
        return particles > 0
                   ? (thermal(sum, 0) + thermal(sum, 1) + thermal(sum, 2)) *
                         k->mvv_to_energy / (freedom * particles * k->boltzmann)
                   : 0;
    if (what == PARTICLES)
        return sum[COUNT] / (double)c->n_samples;
    if (what < PARTICLES)
        return sum[MASS] > 0 ? sum[MOMENTUM + what - VELOCITY] / sum[MASS] : 0;
    if (what >= BY_SPECIES)
        return sum[SPECIES + what - BY_SPECIES] * mean;
    int d = what - PRESSURE;
    return (thermal(sum, d) * k->mvv_to_energy + sum[VIRIAL + d]) * mean *
           k->energy_per_volume_to_pressure;
}

static const struct {
    const char *name;
    struct dimension unit;
} columns[BY_SPECIES] = {{"number_density", {0, -3, 0, 0, 0, 0}},
                         {"mass_density", {1, -3, 0, 0, 0, 0}},
                         {"temperature", {0, 0, 0, 1, 0, 0}},
                         {"velocity_x", {0, 1, -1, 0, 0, 0}},
                         {"velocity_y", {0, 1, -1, 0, 0, 0}},
                         {"velocity_z", {0, 1, -1, 0, 0, 0}},
                         {"particles", {0, 0, 0, 0, 0, 0}},
                         {"pressure_xx", {1, -1, -2, 0, 0, 0}},
                         {"pressure_yy", {1, -1, -2, 0, 0, 0}},
                         {"pressure_zz", {1, -1, -2, 0, 0, 0}}};

static int is_wanted(const struct md *md, const struct profile *c, int what)
{
    if (what >= BY_SPECIES)
        return md->n_species > 1;
    return what < PRESSURE || c->pressure;
}

static int tables(struct ctx *ctx, struct md *md, void *state)
{
    static const char *const axes[] = {"x", "y", "z"};
    const struct profile *c = state;
    int n = BY_SPECIES + md->n_species;
    if (c->n_samples == 0)
        return 0;
    struct md_table *t =
        md_add_table(ctx, md, c->n_axes + n, c->cells,
                     "means over samples of what lies there; temperature and "
                     "pressure beside the mean velocity",
                     c->n_axes == 2 ? "map/columns" : "profile/slabs");
    TRY(comm_agree(ctx, t ? 0 : STATUS_MEMORY));
    for (int a = 0; a < c->n_axes; a++)
        fill_axis(md, c, a, md_add_column(md, t, axes[c->axis[a]], DIM_LENGTH));
    for (int q = 0; q < n; q++) {
        char name[MD_NAME_MAX + 16];
        if (!is_wanted(md, c, q))
            continue;
        snprintf(name, sizeof name, "number_density_%s",
                 q < BY_SPECIES ? "" : md->species[q - BY_SPECIES].name);
        double *out = md_add_column(
            md, t, q < BY_SPECIES ? columns[q].name : name,
            q < BY_SPECIES ? columns[q].unit : DIM_NUMBER_DENSITY);
        for (int64_t k = 0; k < c->cells; k++)
            out[k] = value(md, c, q, c->sum + k * c->width);
    }
    return 0;
}

const struct md_analysis md_profile = {.section = SLABS,
                                       .needs_shares = needs_shares,
                                       .read = read_slabs,
                                       .check = check,
                                       .allocate = allocate,
                                       .bytes = bytes,
                                       .sample = sample,
                                       .arrays = arrays,
                                       .tables = tables,
                                       .free = free_all};

const struct md_analysis md_map = {.section = MAP,
                                   .read = read_map,
                                   .check = check,
                                   .allocate = allocate,
                                   .bytes = bytes,
                                   .sample = sample,
                                   .arrays = arrays,
                                   .tables = tables,
                                   .free = free_all};
