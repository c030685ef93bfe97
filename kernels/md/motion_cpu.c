/* motion_cpu.c: velocities and positions of own particles. */
#include "kernels/md/kick_cpu.h"

#include <math.h>
#include <string.h>

#include "kernels/rng.h"

double md_kick_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    size_t n = (size_t)s->n_clusters;
    double greatest = 0, check = 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)            \
    reduction(max : greatest) reduction(+ : check)
    for (size_t c = 0; c < n; c++) {
        double factor[LANES];
        float way2[LANES] = {0};
        kick_factors(s, c, dt_kick, factor);
        for (int d = 0; d < 3; d++) {
            size_t k = CLUSTER(c) + (size_t)(d * LANES);
            state *restrict x = s->x + k, *restrict v = s->v + k;
            scalar *restrict f = s->f + k;
            float *restrict moved = s->moved + k;
#if MD_PRECISION == 2
            scalar *restrict pair_x = s->pair_x + k;
            double origin = s->origin[d];
#endif
            EACH_LANE(l)
            {
                state vl = v[l] + (state)factor[l] * (state)f[l];
                state dx = (state)dt_drift * vl;
                v[l] = vl;
                x[l] += dx;
                f[l] = 0;
#if MD_PRECISION == 2
                pair_x[l] = (scalar)(x[l] - origin);
#endif
                float m = moved[l] + (float)dx;
                moved[l] = m;
                way2[l] += m * m;
            }
        }
        float most = 0, sum = 0;
        EACH_LANE(l)
        {
            most = way2[l] > most ? way2[l] : most;
            sum += way2[l];
        }
        greatest = (double)most > greatest ? (double)most : greatest;
        check += (double)sum;
    }
    s->f_cleared = 1;
    return isfinite(check) ? greatest : NAN;
}

void md_kick(struct md_store *s, double dt_kick)
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
            EACH_LANE(l) v[l] += (state)factor[l] * (state)f[l];
        }
    }
}

/* The masses of a cluster's particles, 0 of padding and of what is held. */
KERNEL_FN void masses_of(const struct md_store *s, size_t cluster, double *mass)
{
    const int64_t *id = s->id + cluster * (size_t)LANES;
    const uint8_t *species = s->species + cluster * (size_t)LANES;
    const struct md_outer *outer = s->setup.outer;
    if (s->setup.n_species == 1)
        EACH_LANE(l) mass[l] = id[l] != 0 ? s->setup.mass[0] : 0;
    else
        EACH_LANE(l) mass[l] = id[l] != 0 ? s->setup.mass[species[l]] : 0;
    for (int l = 0; outer && l < LANES; l++)
        if (md_held_at(outer, id[l], species[l]))
            mass[l] = 0;
}

void md_sum_moments(const struct md_store *s, struct md_moments *out)
{
    size_t n = (size_t)s->n_clusters;
    double sum[5][LANES] = {{0}}; /* lanes apart, so that they are vectors */
#pragma omp parallel for schedule(static) num_threads(s->n_workers) reduction( \
        + : sum)
    for (size_t c = 0; c < n; c++) {
        const state *v = s->v + CLUSTER(c);
        double mass[LANES];
        masses_of(s, c, mass);
        EACH_LANE(l)
        {
            double vx = (double)v[l], vy = (double)v[LANES + l],
                   vz = (double)v[2 * LANES + l];
            sum[0][l] += mass[l] * (vx * vx + vy * vy + vz * vz);
            sum[1][l] += mass[l] * vx;
            sum[2][l] += mass[l] * vy;
            sum[3][l] += mass[l] * vz;
            sum[4][l] += mass[l];
        }
    }
    *out = (struct md_moments){0};
    EACH_LANE(l)
    {
        out->kinetic += 0.5 * sum[0][l];
        for (int d = 0; d < 3; d++)
            out->momentum[d] += sum[1 + d][l];
        out->mass += sum[4][l];
    }
}

void md_scale_velocities(struct md_store *s, double factor)
{
    size_t n = CLUSTER(s->n_clusters);
    for (size_t k = 0; k < n; k++)
        s->v[k] = (state)(s->v[k] * (state)factor);
}

void md_ornstein_uhlenbeck(struct md_store *s, double decay, double kt,
                           uint64_t step)
{
    size_t n = (size_t)s->n_clusters;
    double spread[MD_SPECIES_MAX];
    for (int a = 0; a < s->setup.n_species; a++)
        spread[a] = sqrt((1 - decay) * (1 + decay) * kt / s->setup.mass[a]);
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t c = 0; c < n; c++) {
        double noise[3][RNG_NOISE_MOST], width[LANES];
        const int64_t *id = s->id + c * (size_t)LANES;
        rng_noise(s->setup.seed, RNG_LANGEVIN, step, id, LANES, noise);
        EACH_LANE(l)
        { /* padding stays at rest */
            size_t slot = c * (size_t)LANES + (size_t)l;
            width[l] = id[l] != 0 ? spread[s->species[slot]] : 0;
        }
        for (int d = 0; d < 3; d++) {
            state *v = s->v + CLUSTER(c) + (size_t)(d * LANES);
            EACH_LANE(l)
            v[l] = (state)(decay * (double)v[l] + width[l] * noise[d][l]);
        }
    }
}
