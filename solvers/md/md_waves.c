/* md_waves.c: Ewald's smooth part wave by wave. */
#include "md_ewald.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/md/cell.h"
#include "kernels/md/influence.h"
#include "md.h"

static const double pi = 3.14159265358979323846;

/* Wave n of the present box; returns k^2. */
static double find_wave(const struct md *md, const int n[3], double k[3])
{
    double length[3], phase[3];
    for (int d = 0; d < 3; d++) {
        length[d] = md_ewald_edge(md, d);
        phase[d] = 2 * pi * n[d];
    }
    cell_wave(length, md->tilt, phase, k);
    return k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
}

/* Half of the waves up to this wave number in the present box. */
static int list_up_to(struct md *md, double most)
{
    struct md_ewald *e = md->ewald;
    struct md_waves *w = &e->waves;
    size_t capacity = 1;
    double most2 = most * most * (1 + 1e-12);
    for (int d = 0; d < 3; d++) {
        w->most[d] = (int)(most * md_ewald_reach(md, d) / (2 * pi) + 1e-9);
        capacity *= 2 * (size_t)w->most[d] + 1;
    }
    free(e->wave);
    free(e->sums);
    e->sums = NULL;
    e->waves_sent = 0;
    w->count = 0;
    e->wave = malloc(capacity * sizeof *e->wave);
    if (!e->wave)
        return -1;
    for (int x = 0; x <= w->most[0]; x++)
        for (int y = -w->most[1]; y <= w->most[1]; y++)
            for (int z = -w->most[2]; z <= w->most[2]; z++) {
                const int n[3] = {x, y, z};
                double k[3], k2 = find_wave(md, n, k);
                int first = x > 0 || (x == 0 && (y > 0 || (y == 0 && z > 0)));
                if (first && k2 <= most2)
                    memcpy(e->wave[w->count++], n, sizeof n);
            }
    w->n = (const int(*)[3])e->wave;
    e->sums = malloc((w->count + 1) * sizeof *e->sums);
    return e->sums ? 0 : -1;
}

int md_waves_list(struct md *md)
{
    struct md_ewald *e = md->ewald;
    struct md_shape now;
    double more = md_deform_near(md, &e->listed);
    md_shape_of(md, &now);
    md_shape_take(md, &e->listed);
    int status = list_up_to(md, e->wave_cutoff * more);
    md_shape_take(md, &now);
    return status;
}

/* Strain brings other waves below the cutoff. */
static int follow_strain(struct ctx *ctx, struct md *md)
{
    struct md_ewald *e = md->ewald;
    struct md_shape near;
    int same = 1, status = 0;
    if (!md->deform.kind)
        return 0;
    md_deform_near(md, &near);
    for (int d = 0; d < 3; d++)
        same = same && !(fabs(near.length[d] - e->listed.length[d]) > 0) &&
               !(fabs(near.tilt[d] - e->listed.tilt[d]) > 0);
    if (!same && md_waves_list(md) != 0)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for waves");
    return comm_agree(ctx, status);
}

/* One wave and its conjugate: energy and virial, and what makes its forces. */
static void use_wave(const struct md *md, size_t i, double scale,
                     struct md_sums *sums)
{
    const struct md_ewald *e = md->ewald;
    double k[3], k2 = find_wave(md, e->wave[i], k);
    double alpha2 = e->alpha * e->alpha;
    double *s = e->sums[i];
    double g = md_wave_influence(k2, alpha2, scale);
    double energy = g * (s[0] * s[0] + s[1] * s[1]);
    s[0] *= 2 * g;
    s[1] *= 2 * g;
    if (sums && i % (size_t)md->grid.size == (size_t)md->grid.rank)
        md_ewald_add(sums, energy, k, k2, alpha2);
}

/* All of it by the backend. */
static int whole_forces(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    struct md_ewald *e = md->ewald;
    int fresh = !e->waves_sent;
    e->waves_sent = 1;
    return md->k->wave_field(ctx, md->store, &e->waves, fresh, sums);
}

int md_waves_forces(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    struct md_ewald *e = md->ewald;
    struct md_waves *w = &e->waves;
    double scale = md->bonded.field.coulomb.constant;
    TRY(follow_strain(ctx, md));
    for (int d = 0; d < 3; d++) {
        w->box_lo[d] = md->box_lo[d];
        w->box_length[d] = md_ewald_edge(md, d);
        w->tilt[d] = md->tilt[d];
        scale /= md_ewald_edge(md, d);
    }
    w->alpha = e->alpha;
    w->scale = scale;
    if (md->grid.size == 1 && md->k->wave_field && !md->deform.kind)
        return whole_forces(ctx, md, sums);
    TRY(comm_agree(ctx, md->k->wave_sums(ctx, md->store, w, e->sums)));
    TRY(comm_sum_double(ctx, &e->sums[0][0], 2 * (int)w->count));
    for (size_t i = 0; i < w->count; i++)
        use_wave(md, i, scale, sums);
    return md->k->wave_forces(ctx, md->store, w, (const double(*)[2])e->sums);
}
