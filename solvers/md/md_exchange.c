/* md_exchange.c: a simulation that changes its temperature between two steps,
 * for replica exchange.
 */
#include "md.h"

#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "md_exchange.h"

void md_exchange_read(struct params *p, struct md *md)
{
    static const char *const ladders[] = {"temperatures", "temperature_range"};
    for (int i = 0; i < 2 && !md->exchanged; i++) {
        if (!params_is_set(p, "ensemble", ladders[i]))
            continue;
        md->exchanged = 1;
        if (md->barostat.kind)
            params_error(p, "md.ensemble", "type",
                         "replicas at several temperatures "
                         "(ensemble.%s) are exchanged at constant volume: "
                         "\"bussi\", \"langevin\" or \"nose-hoover\"",
                         ladders[i]);
        else if (md->ensemble == MD_DPD)
            params_error(p, "md.ensemble", "type",
                         "ensemble.%s does not go with type \"dpd\"; take "
                         "\"bussi\", \"langevin\" or \"nose-hoover\"",
                         ladders[i]);
        else if (md->ensemble == MD_NVE)
            params_error(p, "md.ensemble", "type",
                         "ensemble.%s needs a thermostat, which "
                         "md.ensemble.type = \"nve\" has not",
                         ladders[i]);
        else if (!(md->temperature > 0))
            params_error(p, "md.ensemble", "temperature",
                         "ensemble.%s needs md.ensemble.temperature above 0: "
                         "velocities are scaled from there",
                         ladders[i]);
        if (md->ramp.steps > 0)
            params_error(p, "md.ensemble", "temperature_end",
                         "a temperature that changes on its own does not go "
                         "with ensemble.%s",
                         ladders[i]);
    }
}

void md_exchange_observe_init(struct md *md)
{
    if (md->exchanged)
        md_add_observable(md, "thermostat_temperature", MD_TEMPERATURE,
                          "temperature of the bath, which replicas exchange",
                          "T bath", 0, 4);
}

void md_exchange_observe(const struct md *md, double *values, int *n)
{
    if (md->exchanged)
        values[(*n)++] = md->temperature;
}

static int energy_of(struct ctx *ctx, void *state, double *energy)
{
    struct md *md = state;
    if (!md->sums_known)
        TRY(md_compute_sums(ctx, md));
    *energy = md->sums.energy;
    TRY(comm_sum_double(ctx, energy, 1));
    *energy += md->pair.tail_energy;
    return 0;
}

static double beta_of(const void *state, double temperature)
{
    const struct md *md = state;
    return 1 / (md->constants->boltzmann * temperature);
}

/* Masses of a chain are in proportion to the temperature, so that the speeds of
 * its links are distributed in the same way at each: they stay (Mori and
 * Okamoto, J. Phys. Soc. Jpn. 79, 074003 (2010)). */
static void fit_chain(struct md *md)
{
    if (md->ensemble == MD_NOSE_HOOVER)
        md_chain_fit(&md->chain, md->degrees_of_freedom,
                     md->constants->boltzmann * md->temperature,
                     md->relaxation);
}

/* What velocities and chain gain counts as work of the thermostat. */
static int rescale(struct ctx *ctx, struct md *md, double temperature)
{
    double factor = sqrt(temperature / md->temperature);
    double to_energy = md->constants->mvv_to_energy;
    double extended = md_extended_energy(md);
    struct md_moments before, after;
    md->k->moments(md->store, &before);
    md->k->scale_velocities(md->store, factor);
    md_groups_hold(md);
    md->k->moments(md->store, &after);
    double gained = after.kinetic - before.kinetic;
    md->temperature = temperature;
    fit_chain(md);
    for (int d = 0; d < 3; d++)
        md->stress.kinetic[d] *= factor * factor;
    md->stress.inner *= factor * factor;
    md->sums_known = md->sums_known && !md->rigid.on; /* as after a step */
    if (md->ensemble != MD_LANGEVIN) {
        TRY(comm_sum_double(ctx, &gained, 1));
        gained += (md_extended_energy(md) - extended) / to_energy;
    }
    md_work_fetch(md);
    md->thermostat_work += gained;
    md_work_send(md);
    return md_check_device(ctx, md);
}

static int set_temperature(struct ctx *ctx, void *state, double temperature,
                           int with_velocities)
{
    struct md *md = state;
    if (with_velocities)
        return rescale(ctx, md, temperature);
    md->temperature = temperature;
    fit_chain(md);
    return 0;
}

const struct solver_exchange md_exchange = {
    .energy = energy_of, .beta = beta_of, .set_temperature = set_temperature};
