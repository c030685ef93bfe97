/* md_ensemble_read.c: what the keys of [md.ensemble] become. */
#include "md.h"

#include <math.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "md_exchange.h"

#define SECTION "md.ensemble"

static int is(const char *text, const char *name)
{
    return strcmp(text, name) == 0;
}

static const char berendsen[] =
    "weak coupling (Berendsen) gives a distribution that belongs to no "
    "ensemble: %s fluctuate too little, and so does all that follows from "
    "them; \"%s\" relaxes as smoothly and is right";

/* Keys that only some ensembles have. */
static void refuse_others(struct params *p, const struct md *md,
                          const char *type)
{
    static const char *const of_pressure[] = {
        "pressure",      "pressure_relaxation", "barostat",
        "thermostat",    "compressibility",     "coupling",
        "barostat_every"};
    int chains = md->ensemble == MD_NOSE_HOOVER;
    if (md->ensemble == MD_NVE && !md->barostat.kind)
        for (int i = 0; i < 2; i++) {
            const char *key = i == 0 ? "temperature" : "relaxation";
            params_refuse(p, SECTION, key,
                          "md.ensemble.%s has no meaning for type \"nve\"; "
                          "the starting temperature is "
                          "md.initial.temperature",
                          key);
        }
    for (size_t i = 0; i < sizeof of_pressure / sizeof of_pressure[0]; i++)
        if (!md->barostat.kind)
            params_refuse(p, SECTION, of_pressure[i],
                          "md.ensemble.%s has no meaning for type \"%s\"; "
                          "constant pressure is type \"npt\"",
                          of_pressure[i], type);
    if (!chains)
        params_refuse(p, SECTION, "chain",
                      "md.ensemble.chain has no meaning without a Nose-Hoover "
                      "chain: type or thermostat \"nose-hoover\"");
}

static double needed(struct params *p, const char *key, const char *what)
{
    if (params_is_set(p, SECTION, key))
        return params_double(p, SECTION, key);
    params_error(p, SECTION, key, "%s needs md.ensemble.%s", what, key);
    return 1;
}

static enum md_ensemble thermostat(struct params *p, const char *key,
                                   const char *name)
{
    if (is(name, "berendsen"))
        params_error(p, SECTION, key, berendsen, "energies", "bussi");
    return is(name, "langevin")      ? MD_LANGEVIN
           : is(name, "nose-hoover") ? MD_NOSE_HOOVER
           : is(name, "brownian")    ? MD_BROWNIAN
           : is(name, "dpd")         ? MD_DPD
           : is(name, "nve")         ? MD_NVE
                                     : MD_BUSSI;
}

/* Which edges change together. */
static void read_coupling(struct params *p, struct md *md)
{
    struct md_barostat *b = &md->barostat;
    const char *coupling = params_string(p, SECTION, "coupling");
    int named = is(coupling, "xy") || strlen(coupling) == 1, others[3];
    b->n_groups = is(coupling, "isotropic")                              ? 1
                  : is(coupling, "semi-isotropic") || is(coupling, "xy") ? 2
                                                                         : 3;
    for (int d = 0; d < 3; d++) {
        b->group[d] = b->n_groups == 3 ? d : b->n_groups == 2 ? d / 2 : 0;
        b->size[b->group[d]]++;
        others[d] = strchr(coupling, "xyz"[d]) == NULL;
    }
    if (named)
        md_barostat_fix(md, others);
}

/* Compressibility where the deck is silent: about that of water, or of a dense
 * Lennard-Jones liquid; it sets the pace only. */
static double usual_compressibility(enum unit_system units)
{
    const double water = 4.6e-10; /* 1 / Pa */
    return units == UNITS_LJ      ? 0.1
           : units == UNITS_METAL ? water * 1e5
           : units == UNITS_REAL  ? water * 101325
                                  : water;
}

static void read_rescaling(struct params *p, struct md *md)
{
    struct md_barostat *b = &md->barostat;
    double to_pressure = md->constants->energy_per_volume_to_pressure;
    b->compressibility = to_pressure * usual_compressibility(md->units);
    if (params_is_set(p, SECTION, "compressibility"))
        b->compressibility =
            to_pressure * params_double(p, SECTION, "compressibility");
    b->every = params_is_set(p, SECTION, "barostat_every")
                   ? params_int(p, SECTION, "barostat_every")
                   : 10;
    if ((double)b->every * md->dt > 0.2 * b->relaxation)
        params_error(p, SECTION, "pressure_relaxation",
                     "md.ensemble.pressure_relaxation = %g is less than five "
                     "times the time between two changes of the box, %g "
                     "(md.ensemble.barostat_every = %lld steps)",
                     b->relaxation, (double)b->every * md->dt,
                     (long long)b->every);
}

static void read_mtk(struct params *p, struct md *md)
{
    static const char *const others[] = {"compressibility", "barostat_every"};
    md->barostat.every = 1;
    for (int i = 0; i < 2; i++)
        if (params_is_set(p, SECTION, others[i]))
            params_error(p, SECTION, others[i],
                         "md.ensemble.%s has no meaning for barostat \"mtk\", "
                         "which moves the box every step by its own inertia",
                         others[i]);
    if (md->ensemble != MD_NOSE_HOOVER)
        params_error(p, SECTION, "thermostat",
                     "barostat \"mtk\" goes with thermostat \"nose-hoover\"");
    if (md->barostat.relaxation < 10 * md->dt)
        params_error(p, SECTION, "pressure_relaxation",
                     "md.ensemble.pressure_relaxation = %g is less than ten "
                     "timesteps",
                     md->barostat.relaxation);
}

static void read_barostat(struct params *p, struct md *md)
{
    struct md_barostat *b = &md->barostat;
    const char *name = params_string(p, SECTION, "barostat");
    int mtk = is(name, "mtk");
    b->kind = mtk ? MD_MTK : MD_CELL_RESCALING;
    if (is(name, "berendsen"))
        params_error(p, SECTION, "barostat", berendsen, "volumes",
                     "cell-rescaling");
    md->ensemble = mtk ? MD_NOSE_HOOVER : MD_BUSSI;
    if (params_is_set(p, SECTION, "thermostat"))
        md->ensemble = thermostat(p, "thermostat",
                                  params_string(p, SECTION, "thermostat"));
    if (!mtk && md->ensemble == MD_NOSE_HOOVER)
        params_error(p, SECTION, "thermostat",
                     "barostat \"cell-rescaling\" goes with thermostat "
                     "\"bussi\" or \"langevin\"");
    b->pressure = needed(p, "pressure", "type \"npt\"") /
                  md->constants->energy_per_volume_to_pressure;
    b->relaxation = needed(p, "pressure_relaxation", "type \"npt\"");
    read_coupling(p, md);
    if (mtk)
        read_mtk(p, md);
    else
        read_rescaling(p, md);
}

static void read_ramp(struct params *p, struct md *md)
{
    int has_end = params_is_set(p, SECTION, "temperature_end");
    int has_steps = params_is_set(p, SECTION, "ramp_steps");
    if (!has_end && !has_steps)
        return;
    if (has_end != has_steps) {
        params_error(p, SECTION, has_end ? "temperature_end" : "ramp_steps",
                     "md.ensemble.temperature_end and md.ensemble.ramp_steps "
                     "go together");
        return;
    }
    if (md->ensemble != MD_BUSSI && md->ensemble != MD_LANGEVIN &&
        md->ensemble != MD_BROWNIAN && md->ensemble != MD_DPD)
        params_error(p, SECTION, "temperature_end",
                     "a temperature that changes needs type \"bussi\", "
                     "\"langevin\", \"brownian\" or \"dpd\"");
    md->ramp.from = md->temperature;
    md->ramp.to = params_double(p, SECTION, "temperature_end");
    md->ramp.steps = params_int(p, SECTION, "ramp_steps");
    if (md->barostat.kind && !(md->ramp.to > 0))
        params_error(p, SECTION, "temperature_end",
                     "constant pressure needs a temperature above 0");
}

/* The time of the thermostat: 1 / friction where that is given. */
static double read_relaxation(struct params *p, const struct md *md,
                              const char *what)
{
    int brownian = md->ensemble == MD_BROWNIAN;
    int has = params_is_set(p, SECTION, "friction");
    if (md->ensemble == MD_DPD) {
        params_refuse(p, SECTION, "relaxation",
                      "md.ensemble.relaxation has no meaning for type \"dpd\"; "
                      "give md.ensemble.gamma");
        return 1;
    }
    if (brownian)
        params_refuse(p, SECTION, "relaxation",
                      "md.ensemble.relaxation has no meaning for type "
                      "\"brownian\"; give md.ensemble.friction");
    else if (has && params_is_set(p, SECTION, "relaxation"))
        params_error(p, SECTION, "friction",
                     "md.ensemble.friction is 1 / md.ensemble.relaxation: "
                     "give one of them");
    if (!brownian && (!has || md->ensemble != MD_LANGEVIN))
        return needed(p, "relaxation", what);
    return 1 / needed(p, "friction", "type \"brownian\"");
}

void md_ensemble_read(struct params *p, struct md *md)
{
    const char *type = params_string(p, SECTION, "type");
    md->barostat.every = 1;
    if (is(type, "npt"))
        read_barostat(p, md);
    else
        md->ensemble = thermostat(p, "type", type);
    refuse_others(p, md, type);
    if (md->ensemble != MD_NVE) {
        const char *what = "a thermostat";
        md->temperature = needed(p, "temperature", what);
        md->relaxation = read_relaxation(p, md, what);
    }
    read_ramp(p, md);
    if (md->ensemble == MD_NOSE_HOOVER && !(md->temperature > 0))
        params_error(p, SECTION, "temperature",
                     "a Nose-Hoover chain needs a temperature above 0");
    if (md->barostat.kind && !(md->temperature > 0))
        params_error(p, SECTION, "temperature",
                     "constant pressure needs a temperature above 0");
    md->chain_links = params_is_set(p, SECTION, "chain")
                          ? (int)params_int(p, SECTION, "chain")
                          : 3;
    md->pressure_tensor = params_bool(p, "md", "pressure_tensor");
    md->with_tensor =
        md->pressure_tensor || md->barostat.n_groups > 1 || md->barostat.partly;
}

int md_check_ensemble(struct ctx *ctx, const struct md *md)
{
    if (md->barostat.kind && !md->k->stretch)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "md.ensemble.type = \"npt\" is not there on device '%s' "
                    "yet; use device = \"cpu\"",
                    ctx->device->name);
    if (md->deform.kind && !md->k->shear)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "[md.deform] is not there on device '%s' yet; use device = "
                    "\"cpu\"",
                    ctx->device->name);
    TRY(md_bath_check(ctx, md));
    TRY(md_dpd_check(ctx, md));
    if (md->with_tensor && !md->k->kinetic_tensor)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s is not there on device '%s' yet; use device = \"cpu\"",
                    md->pressure_tensor ? "md.pressure_tensor"
                                        : "md.analysis.green_kubo",
                    ctx->device->name);
    return 0;
}

void md_ensemble_prepare(struct md *md)
{
    struct md_barostat *b = &md->barostat;
    double kt = md->constants->boltzmann * md->temperature;
    for (int d = 0; d < 3; d++) {
        b->listed[d] = b->start[d] = md->box_length[d];
        b->start_tilt[d] = md->tilt[d];
    }
    if (md->ensemble == MD_NOSE_HOOVER)
        md_chain_init(&md->chain, md->chain_links, md->degrees_of_freedom, kt,
                      md->relaxation);
    if (b->kind == MD_MTK)
        md_chain_init(&b->chain, md->chain_links, b->n_groups, kt,
                      b->relaxation);
}
