/* md_velocity.c: Maxwell-Boltzmann velocities that do not depend on the ranks.
 *
 * Each particle's velocity is drawn by its id. The total momentum and the
 * kinetic energy are sums over all ranks, and a sum of doubles depends on its
 * order; so they are summed as whole numbers, which does not.
 */
#include "md.h"

#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/rng.h"

/* A sum in fixed point: two limbs of 2^-24 and 2^-60 of a unit. The upper one
 * takes terms up to 2^8 units, 2^31 times, below 2^63; terms here are a few
 * units. */
struct exact {
    int64_t limb[2];
};

static void exact_add(struct exact *sum, double term)
{
    double upper = rint(ldexp(term, 24));
    double rest = ldexp(term, 24) - upper; /* exact, at most 1/2 */
    sum->limb[0] += (int64_t)upper;
    sum->limb[1] += (int64_t)rint(ldexp(rest, 36));
}

static double exact_value(const struct exact *sum)
{
    /* The lower limb may have grown beyond one unit of the upper. */
    return ldexp((double)sum->limb[0], -24) + ldexp((double)sum->limb[1], -60);
}

/* The sums of all ranks. */
static int exact_reduce(struct ctx *ctx, struct exact *sums, int n)
{
    return comm_sum_int64(ctx, &sums[0].limb[0], 2 * n);
}

/* Take the mean velocity of the whole out of every particle. unit: of momentum,
 * what a typical particle has. */
static int remove_momentum(struct ctx *ctx, const struct md *md,
                           struct md_particle *p, size_t n, double unit)
{
    struct exact momentum[3] = {{{0, 0}}};
    double mass = 0;
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            exact_add(&momentum[d],
                      md->species[p[i].species].mass * p[i].velocity[d] / unit);
    TRY(exact_reduce(ctx, momentum, 3));
    for (int s = 0; s < md->n_species; s++)
        mass += md->species[s].mass * (double)md->species[s].count;
    for (int d = 0; d < 3; d++) {
        double mean = exact_value(&momentum[d]) * unit / mass;
        for (size_t i = 0; i < n; i++)
            p[i].velocity[d] -= mean;
    }
    return 0;
}

/* Twice the kinetic energy of all particles, in units of kt. */
static int twice_kinetic(struct ctx *ctx, const struct md *md,
                         const struct md_particle *p, size_t n, double kt,
                         double *out)
{
    struct exact sum = {{0, 0}};
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            exact_add(&sum, md->species[p[i].species].mass * p[i].velocity[d] *
                                p[i].velocity[d] / kt);
    TRY(exact_reduce(ctx, &sum, 1));
    *out = exact_value(&sum);
    return 0;
}

int md_draw_velocities(struct ctx *ctx, const struct md *md,
                       struct md_particle *p, size_t n, double temperature)
{
    double kt = md_thermal(md, temperature), heaviest = 0;
    for (int s = 0; s < md->n_species; s++)
        heaviest = fmax(heaviest, md->species[s].mass);
    for (size_t i = 0; i < n; i++) {
        double width = sqrt(kt / md->species[p[i].species].mass);
        double normal[3];
        rng_normal3(md->seed, RNG_VELOCITY, 0, (uint64_t)p[i].id, normal);
        for (int d = 0; d < 3; d++)
            p[i].velocity[d] = width * normal[d];
    }
    if (!(kt > 0) || md->n_particles < 1)
        return 0;
    /* The second pass takes out what the first one left by rounding. */
    for (int pass = 0; pass < 2 && md->n_particles > 1; pass++)
        TRY(remove_momentum(ctx, md, p, n, sqrt(heaviest * kt)));
    double twice = 0;
    TRY(twice_kinetic(ctx, md, p, n, kt, &twice));
    if (!(twice > 0))
        return FAIL(ctx, STATUS_INTERNAL, "the drawn velocities are all zero");
    double factor = sqrt(md->degrees_of_freedom / twice);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            p[i].velocity[d] *= factor;
    return 0;
}
