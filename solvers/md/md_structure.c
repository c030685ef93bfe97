/* md_structure.c: the structure factor S(k), on the waves that fit the box.
 *
 * Of k and -k one is taken. Waves are listed and put into shells by the box of
 * the start; under constant pressure they go along with it, and in a strained
 * box they are listed anew for each sample. All ranks hold the same sums.
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
#include "kernels/md/cell.h"

#define SECTION "md.analysis.structure_factor"

static const double pi = 3.14159265358979323846;

enum { BATCH = 64, WAVES_MAX = 2000000 };

struct wave {
    int n[3]; /* k = 2 pi n / edge, by direction; see cell_wave() */
    int shell;
};

struct structure {
    struct md_due due;
    double k_max;
    int n_shells;
    int most[3]; /* greatest of the absolute n */
    size_t n_waves;
    struct wave *waves;
    int n_channels; /* all particles, then pairs of species a <= b */
    int64_t n_samples;
    int64_t *in_shell; /* [n_shells]: waves; in a strained box of all samples */
    double *k;         /* [n_shells]: sum of |k| over waves and samples */
    double *sum;       /* [n_channels][n_shells]: over the same */
    double (*rho)[2];  /* [n_species][n_waves]: of one sample */
    double *turn[3][2]; /* [most + 1][BATCH]: cosines and sines */
};

/* ---- the deck ---- */

/* "A-B-C" is two pairs where "A", "B-C", "A-B" and "C" are species. */
static void check_pair_name(struct params *p, const struct md *md, int a, int b)
{
    char left[2 * MD_NAME_MAX + 2], name[2 * MD_NAME_MAX + 2];
    snprintf(name, sizeof name, "%s-%s", md->species[a].name,
             md->species[b].name);
    for (const char *dash = strchr(name, '-'); dash;
         dash = strchr(dash + 1, '-')) {
        snprintf(left, sizeof left, "%.*s", (int)(dash - name), name);
        int c = md_find_species(md, left), d = md_find_species(md, dash + 1);
        if (c < 0 || d < 0 || (c == a && d == b) || (c == b && d == a))
            continue;
        params_error(p, SECTION, "k_max",
                     "two pairs of species are both called %s in the results",
                     name);
    }
}

static void *read_deck(struct params *p, struct md *md)
{
    struct structure *f = calloc(1, sizeof *f);
    int n = md->n_species;
    if (!f)
        return NULL;
    f->k_max = params_double(p, SECTION, "k_max");
    f->n_shells = (int)params_int(p, SECTION, "bins");
    f->n_channels = n > 1 ? 1 + n * (n + 1) / 2 : 1;
    for (int a = 0; a < n; a++)
        for (int b = a; b < n && n > 1; b++)
            check_pair_name(p, md, a, b);
    return f;
}

/* |k| of a wave in a box. */
static double wave_number(const double length[3], const double tilt[3],
                          const int n[3])
{
    const double phase[3] = {2 * pi * n[0], 2 * pi * n[1], 2 * pi * n[2]};
    double k[3];
    cell_wave(length, tilt, phase, k);
    return sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
}

/* Of edge d with all of its components: |n| of a wave is at most k times that
 * over 2 pi. */
static double edge_length(const double length[3], const double tilt[3], int d)
{
    return d == 0   ? length[0]
           : d == 1 ? hypot(length[1], tilt[0])
                    : hypot(hypot(length[2], tilt[1]), tilt[2]);
}

static void check(struct params *p, const struct md *md, void *state)
{
    const struct structure *f = state;
    double waves = 1, first = HUGE_VAL;
    for (int d = 0; d < 3; d++)
        waves *= f->k_max * edge_length(md->box_length, md->tilt, d) / pi + 1;
    for (int w = 14; w < 27; w++) { /* of k and -k one */
        const int n[3] = {w / 9 - 1, w / 3 % 3 - 1, w % 3 - 1};
        first = fmin(first, wave_number(md->box_length, md->tilt, n));
    }
    if (f->k_max < first)
        params_error(p, SECTION, "k_max",
                     "%s.k_max = %g is less than the first wave of the box, "
                     "%.4g",
                     SECTION, f->k_max, first);
    if (waves > WAVES_MAX)
        params_error(p, SECTION, "k_max",
                     "%s.k_max = %g means up to %.1g waves in this box, more "
                     "than %d",
                     SECTION, f->k_max, waves, WAVES_MAX);
}

/* ---- memory ---- */

static double bytes(const struct md *md, const void *state)
{
    const struct structure *f = state;
    double waves = 0.5;
    const struct md_barostat *b = &md->barostat;
    for (int d = 0; d < 3; d++)
        waves *= f->k_max * edge_length(b->start, b->start_tilt, d) / pi + 1;
    return waves *
           (double)(sizeof *f->waves + (size_t)md->n_species * sizeof *f->rho);
}

/* Half of the waves of a box up to k_max, with their shells; out: NULL only
 * counts. */
static size_t list_waves(const struct structure *f, const double length[3],
                         const double tilt[3], struct wave *out)
{
    size_t count = 0;
    for (int x = 0; x <= f->most[0]; x++)
        for (int y = -f->most[1]; y <= f->most[1]; y++)
            for (int z = -f->most[2]; z <= f->most[2]; z++) {
                const int n[3] = {x, y, z};
                double share = wave_number(length, tilt, n) / f->k_max;
                int first = x > 0 || (x == 0 && (y > 0 || (y == 0 && z > 0)));
                if (!first || share > 1 + 1e-12)
                    continue;
                int shell = (int)(share * f->n_shells);
                shell = shell < f->n_shells ? shell : f->n_shells - 1;
                if (out)
                    out[count] = (struct wave){{x, y, z}, shell};
                count++;
            }
    return count;
}

static void free_waves(struct structure *f)
{
    for (int d = 0; d < 3; d++)
        for (int part = 0; part < 2; part++) {
            free(f->turn[d][part]);
            f->turn[d][part] = NULL;
        }
    free(f->waves);
    free(f->rho);
    f->waves = NULL;
    f->rho = NULL;
}

/* The waves of a box, and memory for their amplitudes; -1 without. */
static int use_box(const struct md *md, struct structure *f,
                   const double length[3], const double tilt[3])
{
    int missing = 0;
    free_waves(f);
    for (int d = 0; d < 3; d++) {
        double edge = edge_length(length, tilt, d);
        f->most[d] = (int)(f->k_max * edge / (2 * pi) + 1e-9);
        for (int part = 0; part < 2; part++) {
            size_t n = ((size_t)f->most[d] + 1) * BATCH;
            f->turn[d][part] = calloc(n, sizeof *f->turn[d][part]);
            missing |= !f->turn[d][part];
        }
    }
    f->n_waves = list_waves(f, length, tilt, NULL);
    f->waves = malloc((f->n_waves + 1) * sizeof *f->waves);
    f->rho = calloc(f->n_waves * (size_t)md->n_species + 1, sizeof *f->rho);
    if (missing || !f->waves || !f->rho)
        return -1;
    list_waves(f, length, tilt, f->waves);
    return 0;
}

static int allocate(struct ctx *ctx, const struct md *md, void *state)
{
    struct structure *f = state;
    const struct md_barostat *b = &md->barostat;
    size_t shells = (size_t)f->n_shells;
    int missing = use_box(md, f, b->start, b->start_tilt) != 0;
    f->in_shell = calloc(shells, sizeof *f->in_shell);
    f->k = calloc(shells, sizeof *f->k);
    f->sum = calloc(shells * (size_t)f->n_channels, sizeof *f->sum);
    if (missing || !f->in_shell || !f->k || !f->sum)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu waves of %s",
                    f->n_waves, SECTION);
    for (size_t w = 0; w < f->n_waves && !md->deform.kind; w++)
        f->in_shell[f->waves[w].shell]++;
    return 0;
}

static void free_all(void *state)
{
    struct structure *f = state;
    free_waves(f);
    free(f->in_shell);
    free(f->k);
    free(f->sum);
    free(f);
}

/* ---- samples ---- */

/* exp(2 pi i n s) of a batch of positions, s their parts of an edge, for n from
 * 0 to most. */
static void fill_turns(const struct md *md, struct structure *f, double (*x)[3],
                       int n)
{
    double part[BATCH][3];
    for (int i = 0; i < n; i++) {
        double way[3];
        for (int d = 0; d < 3; d++)
            way[d] = x[i][d] - md->box_lo[d];
        cell_parts(md->box_length, md->tilt, way, part[i]);
    }
    for (int d = 0; d < 3; d++) {
        double *c = f->turn[d][0], *s = f->turn[d][1];
        for (int i = 0; i < n; i++) {
            double angle = 2 * pi * part[i][d];
            double c1 = cos(angle), s1 = sin(angle);
            c[i] = 1;
            s[i] = 0;
            for (int k = 1; k <= f->most[d]; k++) {
                int at = k * BATCH + i, before = at - BATCH;
                c[at] = c[before] * c1 - s[before] * s1;
                s[at] = s[before] * c1 + c[before] * s1;
            }
        }
    }
}

/* Add a batch of particles of one species to its amplitudes. */
static void add_batch(const struct structure *f, int n, double (*rho)[2])
{
    for (size_t w = 0; w < f->n_waves; w++) {
        const int *k = f->waves[w].n;
        double sy = k[1] < 0 ? -1 : 1, sz = k[2] < 0 ? -1 : 1;
        const double *cx = f->turn[0][0] + k[0] * BATCH;
        const double *sx = f->turn[0][1] + k[0] * BATCH;
        const double *cy = f->turn[1][0] + abs(k[1]) * BATCH;
        const double *siny = f->turn[1][1] + abs(k[1]) * BATCH;
        const double *cz = f->turn[2][0] + abs(k[2]) * BATCH;
        const double *sinz = f->turn[2][1] + abs(k[2]) * BATCH;
        double re = 0, im = 0;
        for (int i = 0; i < n; i++) {
            double c = cx[i] * cy[i] - sy * sx[i] * siny[i];
            double s = sx[i] * cy[i] + sy * cx[i] * siny[i];
            re += c * cz[i] - sz * s * sinz[i];
            im += s * cz[i] + sz * c * sinz[i];
        }
        rho[w][0] += re;
        rho[w][1] += im;
    }
}

static void add_particles(const struct md *md, struct structure *f,
                          const struct md_particle *p, size_t n)
{
    double x[BATCH][3];
    memset(f->rho, 0, f->n_waves * (size_t)md->n_species * sizeof *f->rho);
    for (int s = 0; s < md->n_species; s++) {
        double(*rho)[2] = f->rho + (size_t)s * f->n_waves;
        int in = 0;
        for (size_t i = 0; i < n; i++) {
            if (p[i].species != s)
                continue;
            memcpy(x[in++], p[i].position, sizeof x[0]);
            if (in == BATCH) {
                fill_turns(md, f, x, in);
                add_batch(f, in, rho);
                in = 0;
            }
        }
        fill_turns(md, f, x, in);
        add_batch(f, in, rho);
    }
}

/* One wave of all ranks into the sums of its shell. */
static void add_wave(const struct md *md, struct structure *f, size_t w)
{
    int shell = f->waves[w].shell, channel = 1, n = md->n_species;
    double all[2] = {0, 0};
    f->in_shell[shell] += md->deform.kind != MD_NO_DEFORM;
    f->k[shell] += wave_number(md->box_length, md->tilt, f->waves[w].n);
    for (int a = 0; a < n; a++) {
        const double *at = f->rho[(size_t)a * f->n_waves + w];
        all[0] += at[0];
        all[1] += at[1];
        for (int b = a; b < n && n > 1; b++) {
            const double *bt = f->rho[(size_t)b * f->n_waves + w];
            f->sum[channel++ * f->n_shells + shell] +=
                at[0] * bt[0] + at[1] * bt[1];
        }
    }
    f->sum[shell] += all[0] * all[0] + all[1] * all[1];
}

static int sample(struct ctx *ctx, struct md *md, void *state)
{
    struct structure *f = state;
    struct md_particle *p;
    size_t n;
    int status = 0;
    if (md->deform.kind && use_box(md, f, md->box_length, md->tilt) != 0)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for %zu waves of %s",
                      f->n_waves, SECTION);
    TRY(comm_agree(ctx, status));
    size_t n_sums = 2 * f->n_waves * (size_t)md->n_species;
    TRY(md_own_particles(ctx, md, &p, &n));
    add_particles(md, f, p, n);
    free(p);
    TRY(comm_sum_double(ctx, f->rho[0], (int)n_sums));
    for (size_t w = 0; w < f->n_waves; w++)
        add_wave(md, f, w);
    f->n_samples++;
    return 0;
}

/* ---- checkpoints ---- */

static int arrays(const struct md *md, void *state, struct state_array *out)
{
    struct structure *f = state;
    out[0] =
        state_shared("structure_factor/samples", STATE_INT64, 1, &f->n_samples);
    out[1] =
        state_shared("structure_factor/k", STATE_DOUBLE, f->n_shells, f->k);
    out[2] = state_shared("structure_factor/sum", STATE_DOUBLE,
                          (int64_t)f->n_channels * f->n_shells, f->sum);
    out[3] = state_shared("structure_factor/waves", STATE_INT64, f->n_shells,
                          f->in_shell);
    return md->deform.kind ? 4 : 3;
}

/* ---- results ---- */

/* The shells that have waves; n: particles that S is for one of. */
static int add_channel(struct ctx *ctx, struct md *md,
                       const struct structure *f, int channel, double n,
                       const char *name)
{
    const double *sum = f->sum + (size_t)channel * (size_t)f->n_shells;
    int64_t rows = 0, row = 0;
    for (int shell = 0; shell < f->n_shells; shell++)
        rows += f->in_shell[shell] > 0;
    struct md_table *t =
        md_add_table(ctx, md, 3, rows,
                     "structure factor, mean over waves of a shell and samples",
                     "structure_factor/%s", name);
    if (!t)
        return STATUS_MEMORY;
    double *k =
        md_add_column(md, t, "k", (struct dimension){0, -1, 0, 0, 0, 0});
    double *s = md_add_column(md, t, "S", DIM_NONE);
    double *waves = md_add_column(md, t, "waves", DIM_NONE);
    double each = md->deform.kind ? 1 : (double)f->n_samples;
    for (int shell = 0; shell < f->n_shells; shell++) {
        double terms = (double)f->in_shell[shell] * each;
        if (f->in_shell[shell] == 0)
            continue;
        k[row] = f->k[shell] / terms;
        s[row] = n > 0 ? sum[shell] / (terms * n) : 0;
        waves[row++] = 2 * terms / (double)f->n_samples;
    }
    return 0;
}

static int add_channels(struct ctx *ctx, struct md *md,
                        const struct structure *f)
{
    int channel = 1, n = md->n_species;
    TRY(add_channel(ctx, md, f, 0, (double)md->n_particles, "all"));
    for (int a = 0; a < n; a++)
        for (int b = a; b < n && n > 1; b++) {
            char name[2 * MD_NAME_MAX + 2];
            double both = sqrt((double)md->species[a].count *
                               (double)md->species[b].count);
            snprintf(name, sizeof name, "%s-%s", md->species[a].name,
                     md->species[b].name);
            TRY(add_channel(ctx, md, f, channel++, both, name));
        }
    return 0;
}

static int tables(struct ctx *ctx, struct md *md, void *state)
{
    const struct structure *f = state;
    if (f->n_samples == 0)
        return 0;
    return comm_agree(ctx, add_channels(ctx, md, f));
}

const struct md_analysis md_structure = {.section = SECTION,
                                         .read = read_deck,
                                         .check = check,
                                         .allocate = allocate,
                                         .bytes = bytes,
                                         .sample = sample,
                                         .arrays = arrays,
                                         .tables = tables,
                                         .free = free_all};
