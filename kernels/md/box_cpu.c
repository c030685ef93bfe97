/* box_cpu.c: a box that changes in the run: motion in it, and the kinetic
 * energy by directions.
 */
#include "kernels/md/kick_cpu.h"

#include <math.h>

/* How coordinates of the store change with the box: x -> factor x + offset. */
struct change {
    double factor[3], offset[3];
};

/* Everything but the particles. */
static struct change set_geometry(struct md_store *s,
                                  const struct md_geometry *box)
{
    struct change c;
    double before[3];
    for (int d = 0; d < 3; d++) {
        before[d] = s->state_origin[d];
        c.factor[d] = box->box_length[d] / s->setup.box_length[d];
        s->setup.box_length[d] = box->box_length[d];
        s->setup.lo[d] = box->lo[d];
        s->setup.hi[d] = box->hi[d];
        s->setup.tilt[d] = box->tilt[d];
    }
    md_set_coordinates(s);
    for (int d = 0; d < 3; d++) {
        double lo = s->setup.box_lo[d], same = before[d] - s->state_origin[d];
        int grows = c.factor[d] < 1 || c.factor[d] > 1;
        c.offset[d] =
            grows ? lo + c.factor[d] * (before[d] - lo) - s->state_origin[d]
                  : same;
    }
    for (int k = 0; k < s->n_channels && k < box->n_channels; k++)
        md_channel_offset(&box->channels[k], s->channel_offset[k]);
    return c;
}

void md_set_box(struct md_store *s, const struct md_geometry *box)
{
    struct change change = set_geometry(s, box);
    size_t n = (size_t)s->n_clusters;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t c = 0; c < n; c++)
        for (int d = 0; d < 3; d++) {
            size_t k = CLUSTER(c) + (size_t)(d * LANES);
            state *restrict x = s->x + k;
            float *restrict moved = s->moved + k;
            EACH_LANE(l)
            {
                x[l] =
                    (state)(change.factor[d] * (double)x[l] + change.offset[d]);
                moved[l] *= (float)change.factor[d];
#if MD_PRECISION == 2
                s->pair_x[k + (size_t)l] = (scalar)(x[l] - s->origin[d]);
#endif
            }
        }
}

double md_stretch_step(struct md_store *s, const struct md_stretch *m)
{
    struct change change = set_geometry(s, m->box);
    size_t n = (size_t)s->n_clusters;
    double greatest = 0, check = 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)            \
    reduction(max : greatest) reduction(+ : check)
    for (size_t c = 0; c < n; c++) {
        double factor[LANES];
        float way2[LANES] = {0};
        kick_factors(s, c, m->dt_kick, factor);
        for (int d = 0; d < 3; d++) {
            size_t k = CLUSTER(c) + (size_t)(d * LANES);
            state *restrict x = s->x + k, *restrict v = s->v + k;
            scalar *restrict f = s->f + k;
            float *restrict moved = s->moved + k;
            double before = m->before[d], after = m->after[d];
            double middle = m->middle[d], dt = m->dt_half;
            double grow = change.factor[d], offset = change.offset[d];
            EACH_LANE(l)
            {
                double vl = before * (double)v[l] + factor[l] * (double)f[l];
                vl *= after;
                double one = dt * vl, two = dt * (vl *= middle);
                v[l] = (state)vl;
                x[l] = (state)(grow * ((double)x[l] + one) + offset + two);
                f[l] = 0;
#if MD_PRECISION == 2
                s->pair_x[k + (size_t)l] = (scalar)(x[l] - s->origin[d]);
#endif
                float way = (float)(grow * ((double)moved[l] + one) + two);
                moved[l] = way;
                way2[l] += way * way;
            }
        }
        EACH_LANE(l)
        {
            greatest = (double)way2[l] > greatest ? (double)way2[l] : greatest;
            check += (double)way2[l];
        }
    }
    s->f_cleared = 1;
    return isfinite(check) ? greatest : NAN;
}

double md_shear_step(struct md_store *s, const struct md_shear *m)
{
    struct change change = set_geometry(s, m->box);
    size_t n = (size_t)s->n_clusters;
    int along = m->along, across = m->across, third = m->third;
    double strain = m->strain, dt = m->dt_half, greatest = 0, check = 0;
    double height = s->state_origin[across] - s->setup.box_lo[across];
    double grow = change.factor[third];
    double offset = grow < 1 || grow > 1 ? change.offset[third] : 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)            \
    reduction(max : greatest) reduction(+ : check)
    for (size_t c = 0; c < n; c++) {
        double factor[LANES], x[3][LANES], v[3][LANES], way[3][LANES];
        kick_factors(s, c, m->dt_kick, factor);
        for (int d = 0; d < 3; d++) {
            size_t k = CLUSTER(c) + (size_t)(d * LANES);
            EACH_LANE(l)
            {
                v[d][l] = m->before[d] * (double)s->v[k + (size_t)l] +
                          factor[l] * (double)s->f[k + (size_t)l];
                v[d][l] *= m->after[d];
                x[d][l] = (double)s->x[k + (size_t)l] + dt * v[d][l];
                way[d][l] = (double)s->moved[k + (size_t)l] + dt * v[d][l];
                s->f[k + (size_t)l] = 0;
            }
        }
        EACH_LANE(l)
        { /* padding stays where it is, far away */
            double on = s->id[c * (size_t)LANES + (size_t)l] != 0 ? strain : 0;
            x[along][l] += on * (x[across][l] + height);
            way[along][l] += on * way[across][l];
            v[along][l] -= on * v[across][l];
            x[third][l] = grow * x[third][l] + offset;
            way[third][l] *= grow;
        }
        for (int d = 0; d < 3; d++) {
            size_t k = CLUSTER(c) + (size_t)(d * LANES);
            EACH_LANE(l)
            {
                size_t at = k + (size_t)l;
                v[d][l] *= m->middle[d];
                s->v[at] = (state)v[d][l];
                s->x[at] = (state)(x[d][l] + dt * v[d][l]);
                s->moved[at] = (float)(way[d][l] + dt * v[d][l]);
#if MD_PRECISION == 2
                s->pair_x[at] = (scalar)(s->x[at] - s->origin[d]);
#endif
                way[d][l] = (double)s->moved[at];
            }
        }
        EACH_LANE(l)
        {
            double way2 = way[0][l] * way[0][l] + way[1][l] * way[1][l] +
                          way[2][l] * way[2][l];
            greatest = way2 > greatest ? way2 : greatest;
            check += way2;
        }
    }
    s->f_cleared = 1;
    return isfinite(check) ? greatest : NAN;
}

void md_relabel(struct md_store *s, const int32_t turns[3])
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t slot = 0; slot < slots; slot++) {
        int32_t *n = s->image[slot];
        n[1] += turns[2] * n[2];
        n[0] += turns[0] * n[1] + turns[1] * n[2];
    }
}

void md_kick_scaled(struct md_store *s, const double before[3], double dt_kick,
                    const double after[3])
{
    size_t n = (size_t)s->n_clusters;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t c = 0; c < n; c++) {
        double factor[LANES];
        kick_factors(s, c, dt_kick, factor);
        for (int d = 0; d < 3; d++) {
            size_t k = CLUSTER(c) + (size_t)(d * LANES);
            state *restrict v = s->v + k;
            const scalar *restrict f = s->f + k;
            EACH_LANE(l)
            v[l] = (state)(after[d] * (before[d] * (double)v[l] +
                                       factor[l] * (double)f[l]));
        }
    }
}

void md_kinetic_tensor(const struct md_store *s, double out[6])
{
    size_t n = (size_t)s->n_clusters;
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)            \
    reduction(+ : xx, yy, zz, xy, xz, yz)
    for (size_t c = 0; c < n; c++) {
        EACH_LANE(l)
        {
            size_t slot = c * (size_t)LANES + (size_t)l;
            const state *v = s->v + CLUSTER(c) + l;
            double m = s->id[slot] != 0 ? s->setup.mass[s->species[slot]] : 0;
            double vx = (double)v[0], vy = (double)v[LANES],
                   vz = (double)v[2 * LANES];
            xx += m * vx * vx;
            yy += m * vy * vy;
            zz += m * vz * vz;
            xy += m * vx * vy;
            xz += m * vx * vz;
            yz += m * vy * vz;
        }
    }
    const double sum[6] = {xx, yy, zz, xy, xz, yz};
    for (int t = 0; t < 6; t++)
        out[t] = sum[t];
}
