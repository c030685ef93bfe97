/* md_ensemble.c: what thermostats add to a step of velocity Verlet, and when
 * the box moves. */
#include "md.h"

#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "kernels/rng.h"

double md_thermal(const struct md *md, double temperature)
{
    return md->constants->boltzmann * temperature /
           md->constants->mvv_to_energy;
}

int md_work_is_shared(const struct md *md)
{
    return md->ensemble == MD_LANGEVIN || md->ensemble == MD_DPD;
}

/* ---- gamma and chi-square ---- */

/* A source of numbers for one step: each draw takes the next index. */
struct draws {
    uint64_t seed, step, next;
};

static double draw_normal(struct draws *d)
{
    double pair[2];
    rng_normal2(rng_philox(d->seed, RNG_BUSSI, d->step, d->next++), pair);
    return pair[0];
}

static double draw_uniform(struct draws *d)
{
    struct rng_words r = rng_philox(d->seed, RNG_BUSSI, d->step, d->next++);
    return rng_uniform(r.w[0], r.w[1]);
}

/* Gamma distribution of the given shape >= 1/2 and scale 1: Marsaglia and Tsang
 * (2000), ACM Trans. Math. Softw. 26, 363. About one draw for any shape, so
 * that a large number of particles costs nothing. */
static double draw_gamma(struct draws *draws, double shape)
{
    if (shape < 1) /* their note in section 6 */
        return draw_gamma(draws, shape + 1) *
               pow(draw_uniform(draws), 1 / shape);
    double d = shape - 1.0 / 3.0, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = draw_normal(draws), u = draw_uniform(draws);
        double v = 1 + c * x;
        if (!(v > 0))
            continue;
        v = v * v * v;
        if (log(u) < 0.5 * x * x + d * (1 - v + log(v)))
            return d * v;
    }
}

/* ---- Bussi ---- */

/* Bussi, Donadio and Parrinello (2007), J. Chem. Phys. 126, 014101, eq. A7; the
 * sign of the factor as in Bussi and Parrinello (2008), Comput. Phys. Commun.
 * 179, 26. target: N_f kT / 2. */
double md_bussi_factor(uint64_t seed, int64_t step, double decay,
                       double kinetic, double target, double freedom)
{
    struct draws draws = {seed, (uint64_t)step, 0};
    double ratio = target / (freedom * kinetic);
    double r = draw_normal(&draws);
    /* Sum of the squares of the other N_f - 1 normals. */
    double rest = freedom > 1 ? 2 * draw_gamma(&draws, 0.5 * (freedom - 1)) : 0;
    double square = decay + ratio * (1 - decay) * (r * r + rest) +
                    2 * r * sqrt(decay * (1 - decay) * ratio);
    double factor = sqrt(fmax(square, 0));
    double sign = r + sqrt(decay / ((1 - decay) * ratio));
    return sign < 0 ? -factor : factor;
}

static int apply_bussi(struct ctx *ctx, struct md *md)
{
    struct md_moments moments;
    md->k->moments(md->store, &moments);
    double kinetic = moments.kinetic;
    TRY(comm_sum_double(ctx, &kinetic, 1));
    if (!(kinetic > 0))
        return 0; /* at rest: nothing to rescale */
    double target =
        0.5 * md->degrees_of_freedom * md_thermal(md, md->temperature);
    double factor =
        md_bussi_factor(md->seed, md->step, exp(-md->dt / md->relaxation),
                        kinetic, target, md->degrees_of_freedom);
    md->k->scale_velocities(md->store, factor);
    md->thermostat_work += (factor * factor - 1) * kinetic;
    return 0;
}

/* ---- Langevin ---- */

/* The exact Ornstein-Uhlenbeck step after velocity Verlet, friction 1 /
 * relaxation: Bussi and Parrinello (2007), Phys. Rev. E 75, 056707. */
static int apply_langevin(struct ctx *ctx, struct md *md)
{
    struct md_moments before, after;
    if (md_work_is_summed(md)) {
        md_bath_apply(md);
        return 0;
    }
    if (md_bath_kicks(md))
        return 0; /* it came with the kick */
    md->k->moments(md->store, &before);
    md_bath_apply(md);
    TRY(md_rigid_stop(ctx, md));
    md->k->moments(md->store, &after);
    md->thermostat_work += after.kinetic - before.kinetic;
    return 0;
}

/* ---- Nose-Hoover ---- */

/* Half a step of the chain: Martyna et al. (1996). */
static void half_chain(struct md *md)
{
    struct md_stress *s = &md->stress;
    double twice = s->kinetic[0] + s->kinetic[1] + s->kinetic[2] + s->inner;
    double kt = md->constants->boltzmann * md->temperature;
    double factor = md_chain_half(&md->chain, twice, kt, md->dt);
    for (int d = 0; d < 3; d++)
        s->kinetic[d] *= factor * factor;
    s->inner *= factor * factor;
    md->k->scale_velocities(md->store, factor);
}

/* The kinetic energy, for the half step now and that of the next step. */
static int measure_kinetic(struct ctx *ctx, struct md *md)
{
    struct md_moments moments;
    md->k->moments(md->store, &moments);
    TRY(comm_sum_double(ctx, &moments.kinetic, 1));
    for (int d = 0; d < 3; d++)
        md->stress.kinetic[d] =
            2.0 / 3.0 * moments.kinetic * md->constants->mvv_to_energy;
    return 0;
}

/* ---- a step ---- */

int md_ensemble_start(struct ctx *ctx, struct md *md)
{
    md_ensemble_prepare(md);
    TRY(md_dpd_pairs(ctx, md));
    if (md->ensemble != MD_NOSE_HOOVER && !md->barostat.kind)
        return 0;
    return md->barostat.kind ? md_measure_stress(ctx, md, &md->stress)
                             : measure_kinetic(ctx, md);
}

void md_ensemble_begin(struct ctx *ctx, struct md *md)
{
    md_ramp_temperature(md);
    if (md->ensemble == MD_DPD)
        md_dpd_begin(md);
    if (md->ensemble != MD_NOSE_HOOVER)
        return;
    timer_begin(ctx->timers, md->phase_integrate);
    half_chain(md);
    timer_end(ctx->timers, md->phase_integrate);
}

static int apply_thermostat(struct ctx *ctx, struct md *md)
{
    if (md->ensemble == MD_BUSSI)
        return apply_bussi(ctx, md);
    if (md->ensemble == MD_LANGEVIN)
        return apply_langevin(ctx, md);
    if (!md->barostat.kind) /* else it has just been measured */
        TRY(measure_kinetic(ctx, md));
    half_chain(md);
    return 0;
}

int md_ensemble_apply(struct ctx *ctx, struct md *md)
{
    int status = 0;
    if (md->ensemble == MD_DPD)
        return md_dpd_finish(ctx, md);
    if ((md->ensemble == MD_NVE || md->ensemble == MD_BROWNIAN) &&
        !md->barostat.kind)
        return 0;
    timer_begin(ctx->timers, md->phase_integrate);
    if (md->barostat.kind)
        status = md_barostat_finish(ctx, md);
    if (status == 0 && md->ensemble != MD_NVE)
        status = apply_thermostat(ctx, md);
    timer_end(ctx->timers, md->phase_integrate);
    return status;
}

double md_extended_energy(const struct md *md)
{
    double kt = md->constants->boltzmann * md->temperature;
    return md_chain_energy(&md->chain, kt) + md_barostat_energy(md);
}
