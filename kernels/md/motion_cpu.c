/* motion_cpu.c: velocities and positions of own particles. */
#include "kernels/md/kick_cpu.h"

#include <math.h>
#include <string.h>

#include "kernels/rng.h"

double md_kick_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    size_t n = (size_t)s->n_clusters;
    /* lanes apart, so that they are vectors */
    float most[LANES] = {0};
    double sum[LANES] = {0}, greatest = 0, check = 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)            \
    reduction(max : most) reduction(+ : sum)
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
#pragma GCC ivdep
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
        EACH_LANE(l)
        {
            most[l] = way2[l] > most[l] ? way2[l] : most[l];
            sum[l] += (double)way2[l];
        }
    }
    EACH_LANE(l)
    {
        greatest = fmax(greatest, (double)most[l]);
        check += sum[l];
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

/* Clusters whose noise is made at a time: a long row of it costs less. */
enum { NOISE_CLUSTERS = RNG_NOISE_MOST / LANES };

/* One cluster: the rest of the kick, where there is one, and the noise behind
 * noise[d]; sum: of m v^2 before and after the noise, by lanes. */
KERNEL_FN void langevin(struct md_store *s, size_t c, double dt_kick,
                        double decay, const double *spread,
                        double (*noise)[RNG_NOISE_MOST], size_t first,
                        const int kick, double sum[2][LANES])
{
    const int64_t *id = s->id + c * (size_t)LANES;
    const uint8_t *species = s->species + c * (size_t)LANES;
    double width[LANES], factor[LANES] = {0}, mass[LANES] = {0};
    double square[2][LANES] = {{0}};
    /* padding stays at rest */
    if (s->setup.n_species == 1)
        EACH_LANE(l) width[l] = id[l] != 0 ? spread[0] : 0;
    else
        EACH_LANE(l) width[l] = id[l] != 0 ? spread[species[l]] : 0;
    if (kick) {
        kick_factors(s, c, dt_kick, factor);
        masses_of(s, c, mass);
    }
    for (int d = 0; d < 3; d++) {
        size_t k = CLUSTER(c) + (size_t)(d * LANES);
        state *restrict v = s->v + k;
        const scalar *restrict f = s->f + k;
        const double *restrict random = noise[d] + first;
        state kicked[LANES];
        EACH_LANE(l) kicked[l] = v[l];
        if (kick)
            EACH_LANE(l) kicked[l] += (state)factor[l] * (state)f[l];
        EACH_LANE(l) square[0][l] += (double)kicked[l] * (double)kicked[l];
        EACH_LANE(l)
        kicked[l] = (state)(decay * (double)kicked[l] + width[l] * random[l]);
        EACH_LANE(l) square[1][l] += (double)kicked[l] * (double)kicked[l];
        EACH_LANE(l) v[l] = kicked[l];
    }
    for (int e = 0; kick && e < 2; e++)
        EACH_LANE(l) sum[e][l] += mass[l] * square[e][l];
}

KERNEL_FN void run_langevin(struct md_store *s, double dt_kick, double decay,
                            double kt, uint64_t step, const int kick,
                            double kinetic[2])
{
    size_t n = (size_t)s->n_clusters;
    double spread[MD_SPECIES_MAX], sum[2][LANES] = {{0}};
    for (int a = 0; a < s->setup.n_species; a++)
        spread[a] = sqrt((1 - decay) * (1 + decay) * kt / s->setup.mass[a]);
#pragma omp parallel for schedule(static) num_threads(s->n_workers) reduction( \
        + : sum)
    for (size_t begin = 0; begin < n; begin += NOISE_CLUSTERS) {
        double noise[3][RNG_NOISE_MOST];
        size_t end = begin + NOISE_CLUSTERS < n ? begin + NOISE_CLUSTERS : n;
        rng_noise(s->setup.seed, RNG_LANGEVIN, step,
                  s->id + begin * (size_t)LANES,
                  (int)(end - begin) * (int)LANES, noise);
        for (size_t c = begin; c < end; c++)
            langevin(s, c, dt_kick, decay, spread, noise,
                     (c - begin) * (size_t)LANES, kick, sum);
    }
    for (int e = 0; e < 2; e++) {
        kinetic[e] = 0;
        EACH_LANE(l) kinetic[e] += 0.5 * sum[e][l];
    }
}

void md_ornstein_uhlenbeck(struct md_store *s, double decay, double kt,
                           uint64_t step)
{
    double unused[2];
    run_langevin(s, 0, decay, kt, step, 0, unused);
}

void md_kick_and_noise(struct md_store *s, double dt_kick, double decay,
                       double kt, uint64_t step, double kinetic[2])
{
    run_langevin(s, dt_kick, decay, kt, step, 1, kinetic);
}
