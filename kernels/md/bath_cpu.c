/* bath_cpu.c: particles that are each coupled to a bath: Langevin's friction by
 * species and group, and Brownian motion; and how groups move.
 */
#include "kernels/md/kick_cpu.h"

#include <math.h>

#include "kernels/rng.h"

/* The first group with a friction of its own that has this particle, or NULL.
 */
static const struct md_group *bath_of(const struct md_bath *b, int64_t id,
                                      int species)
{
    for (int k = 0; k < b->groups->n_groups; k++) {
        const struct md_group *g = &b->groups->groups[k];
        if (g->friction >= 0 && md_group_has(g, id, species))
            return g;
    }
    return NULL;
}

/* The friction of a slot's particle, and kT of its bath. */
static double friction_of(const struct md_store *s, const struct md_bath *b,
                          size_t slot, double *kt)
{
    const struct md_group *g = bath_of(b, s->id[slot], s->species[slot]);
    *kt = g && g->thermal >= 0 ? g->thermal : b->kt;
    return g ? g->friction : b->friction[s->species[slot]];
}

void md_bath_step(struct md_store *s, const struct md_bath *b, double dt,
                  uint64_t step)
{
    size_t n = (size_t)s->n_clusters;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t c = 0; c < n; c++) {
        double noise[3][RNG_NOISE_MOST], width[LANES], decay[LANES];
        const int64_t *id = s->id + c * (size_t)LANES;
        rng_noise(s->setup.seed, RNG_LANGEVIN, step, id, LANES, noise);
        EACH_LANE(l)
        { /* padding stays at rest */
            size_t slot = c * (size_t)LANES + (size_t)l;
            double kt, rate = id[l] != 0 ? friction_of(s, b, slot, &kt) : 0;
            decay[l] = exp(-rate * dt);
            width[l] = rate > 0 ? sqrt(-expm1(-2 * rate * dt) * kt /
                                       s->setup.mass[s->species[slot]])
                                : 0;
        }
        for (int d = 0; d < 3; d++) {
            state *v = s->v + CLUSTER(c) + (size_t)(d * LANES);
            EACH_LANE(l)
            v[l] = (state)(decay[l] * (double)v[l] + width[l] * noise[d][l]);
        }
    }
}

/* What one cluster's particles do in a step: way = drift f + width noise. */
static void mobility(const struct md_store *s, const struct md_bath *b,
                     size_t c, double dt, double *drift, double *width)
{
    EACH_LANE(l)
    {
        size_t slot = c * (size_t)LANES + (size_t)l;
        drift[l] = width[l] = 0;
        if (s->id[slot] == 0 ||
            md_held_at(b->groups, s->id[slot], s->species[slot]))
            continue;
        double kt, rate = friction_of(s, b, slot, &kt);
        double mass = s->setup.mass[s->species[slot]];
        drift[l] = dt * s->inverse_mass[s->species[slot]] / rate;
        width[l] = sqrt(2 * kt * dt / (mass * rate));
    }
}

/* The noise of this step, and that of the one before where it has a weight. */
static void draw(const struct md_store *s, const int64_t *id, uint64_t step,
                 const double weight[2], double (*out)[RNG_NOISE_MOST])
{
    double before[3][RNG_NOISE_MOST];
    rng_noise(s->setup.seed, RNG_BROWNIAN, step, id, LANES, out);
    if (!(weight[0] > 0))
        return;
    rng_noise(s->setup.seed, RNG_BROWNIAN, step - 1, id, LANES, before);
    for (int d = 0; d < 3; d++)
        EACH_LANE(l)
    out[d][l] = weight[1] * out[d][l] + weight[0] * before[d][l];
}

double md_brownian_step(struct md_store *s, const struct md_bath *b, double dt,
                        uint64_t step, const double weight[2])
{
    size_t n = (size_t)s->n_clusters;
    double greatest = 0, check = 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)            \
    reduction(max : greatest) reduction(+ : check)
    for (size_t c = 0; c < n; c++) {
        double noise[3][RNG_NOISE_MOST], drift[LANES], width[LANES];
        float way2[LANES] = {0};
        draw(s, s->id + c * (size_t)LANES, step, weight, noise);
        mobility(s, b, c, dt, drift, width);
        for (int d = 0; d < 3; d++) {
            size_t k = CLUSTER(c) + (size_t)(d * LANES);
            EACH_LANE(l)
            { /* only held particles have a velocity */
                double dx = drift[l] * (double)s->f[k + (size_t)l] +
                            width[l] * noise[d][l] +
                            dt * (double)s->v[k + (size_t)l];
                s->x[k + (size_t)l] += (state)dx;
                s->f[k + (size_t)l] = 0;
                if (s->pair_x != (scalar *)(void *)s->x)
                    s->pair_x[k + (size_t)l] =
                        (scalar)((double)s->x[k + (size_t)l] - s->origin[d]);
                float m = s->moved[k + (size_t)l] + (float)dx;
                s->moved[k + (size_t)l] = m;
                way2[l] += m * m;
            }
        }
        EACH_LANE(l)
        {
            greatest = fmax(greatest, (double)way2[l]);
            check += (double)way2[l];
        }
    }
    s->f_cleared = 1;
    return isfinite(check) ? greatest : NAN;
}

void md_group_moments(const struct md_store *s, const struct md_outer *o,
                      int group, struct md_moments *out)
{
    const struct md_group *g = &o->groups[group];
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    *out = (struct md_moments){0};
    for (size_t slot = 0; slot < slots; slot++) {
        double m = s->setup.mass[s->species[slot]];
        if (s->id[slot] == 0 || !md_group_has(g, s->id[slot], s->species[slot]))
            continue;
        for (int d = 0; d < 3; d++) {
            double v = (double)s->v[SLOT(slot, d)];
            out->kinetic += 0.5 * m * v * v;
            out->momentum[d] += m * v;
        }
        out->mass += m;
    }
}
