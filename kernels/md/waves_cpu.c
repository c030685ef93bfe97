/* waves_cpu.c: structure factors of charges, wave by wave.
 *
 * exp(i k x) of a wave is the product of three numbers, powers of
 * exp(2 pi i s) with the place s along each edge, as a part of it.
 */
#include "kernels/md/mesh_cpu.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "kernels/md/cell.h"

/* Powers -most .. most of the phase of one particle in one direction. */
static void fill_powers(double phase, int most, double (*power)[2])
{
    for (int n = 0; n <= most; n++) {
        double c = cos(n * phase), s = sin(n * phase);
        power[most + n][0] = power[most - n][0] = c;
        power[most + n][1] = s;
        power[most - n][1] = -s;
    }
}

struct powers {
    double (*of[3])[2];
};

static int make_powers(struct ctx *ctx, const struct md_waves *w,
                       struct powers *p)
{
    size_t n[3], all = 0;
    for (int d = 0; d < 3; d++)
        all += n[d] = 2 * (size_t)w->most[d] + 1;
    p->of[0] = malloc(all * sizeof *p->of[0]);
    if (!p->of[0])
        return FAIL(ctx, STATUS_MEMORY, "no memory for waves");
    p->of[1] = p->of[0] + n[0];
    p->of[2] = p->of[1] + n[1];
    return 0;
}

/* 0 where the slot has no charge. */
static int set_powers(const struct md_store *s, const struct md_waves *w,
                      size_t slot, struct powers *p)
{
    const double two_pi = 6.283185307179586476925;
    if (s->id[slot] == 0 || !(fabs((double)s->charge[slot]) > 0))
        return 0;
    double x[3], part[3];
    for (int d = 0; d < 3; d++)
        x[d] = (double)s->x[SLOT(slot, d)] + s->state_origin[d] - w->box_lo[d];
    cell_parts(w->box_length, w->tilt, x, part);
    for (int d = 0; d < 3; d++)
        fill_powers(two_pi * part[d], w->most[d], p->of[d]);
    return 1;
}

/* exp(i k x). */
KERNEL_FN void wave_at(const struct md_waves *w, const struct powers *p,
                       size_t k, double *re, double *im)
{
    const double *x = p->of[0][w->n[k][0] + w->most[0]];
    const double *y = p->of[1][w->n[k][1] + w->most[1]];
    const double *z = p->of[2][w->n[k][2] + w->most[2]];
    double r = x[0] * y[0] - x[1] * y[1], i = x[0] * y[1] + x[1] * y[0];
    *re = r * z[0] - i * z[1];
    *im = r * z[1] + i * z[0];
}

int md_wave_sums(struct ctx *ctx, struct md_store *s, const struct md_waves *w,
                 double (*sums)[2])
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    struct powers p;
    TRY(make_powers(ctx, w, &p));
    for (size_t k = 0; k < w->count; k++)
        sums[k][0] = sums[k][1] = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        double q = (double)s->charge[slot], re, im;
        if (!set_powers(s, w, slot, &p))
            continue;
        for (size_t k = 0; k < w->count; k++) {
            wave_at(w, &p, k, &re, &im);
            sums[k][0] += q * re;
            sums[k][1] += q * im;
        }
    }
    free(p.of[0]);
    return 0;
}

int md_wave_forces(struct ctx *ctx, struct md_store *s,
                   const struct md_waves *w, const double (*field)[2])
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    const double two_pi = 6.283185307179586476925;
    struct powers p;
    TRY(make_powers(ctx, w, &p));
    for (size_t slot = 0; slot < slots; slot++) {
        double q = (double)s->charge[slot], re, im, sum[3] = {0, 0, 0}, f[3];
        if (!set_powers(s, w, slot, &p))
            continue;
        for (size_t k = 0; k < w->count; k++) {
            wave_at(w, &p, k, &re, &im);
            double g = im * field[k][0] - re * field[k][1];
            for (int d = 0; d < 3; d++)
                sum[d] += g * w->n[k][d];
        }
        for (int d = 0; d < 3; d++)
            sum[d] *= q * two_pi;
        cell_wave(w->box_length, w->tilt, sum, f);
        for (int d = 0; d < 3; d++)
            s->f[SLOT(slot, d)] += (scalar)f[d];
    }
    free(p.of[0]);
    return 0;
}
