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

void md_sum_moments(const struct md_store *s, struct md_moments *out)
{
    size_t n = (size_t)s->n_clusters;
    double kinetic = 0, px = 0, py = 0, pz = 0, mass = 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)            \
    reduction(+ : kinetic, px, py, pz, mass)
    for (size_t c = 0; c < n; c++) {
        EACH_LANE(l)
        {
            size_t slot = c * (size_t)LANES + (size_t)l;
            const state *v = s->v + CLUSTER(c) + l;
            double m = s->id[slot] != 0 ? s->setup.mass[s->species[slot]] : 0;
            if (s->setup.outer &&
                md_held_at(s->setup.outer, s->id[slot], s->species[slot]))
                m = 0;
            double vx = (double)v[0], vy = (double)v[LANES],
                   vz = (double)v[2 * LANES];
            kinetic += 0.5 * m * (vx * vx + vy * vy + vz * vz);
            px += m * vx;
            py += m * vy;
            pz += m * vz;
            mass += m;
        }
    }
    *out = (struct md_moments){kinetic, {px, py, pz}, mass};
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
