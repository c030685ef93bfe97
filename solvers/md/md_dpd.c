/* md_dpd.c: dissipative particle dynamics: friction and noise between pairs
 * keep the temperature and each pair's momentum.
 *
 * Forces: Groot and Warren (1997), J. Chem. Phys. 107, 4423 (kernels/md/
 * dpd_cpu.c). A step is velocity Verlet in which friction is that of the
 * velocities after the first half kick, and once more that of the end (DPD-VV:
 * Besold, Vattulainen, Karttunen and Polson 2000, Phys. Rev. E 62, R7611). What
 * a step begins with then follows from places and velocities alone, so that a
 * run goes on from them bit by bit.
 */
#include "md.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/halo.h"

static const char pairs[] = "md.pair.coefficients";

/* ---- the deck ---- */

static void refuse_gamma(struct params *p)
{
    static const char why[] = "gamma is of md.ensemble.type = \"dpd\"";
    params_refuse(p, "md.ensemble", "gamma", "%s", why);
    for (int i = 0; i < params_count(p, pairs); i++)
        if (params_is_set_at(p, pairs, i, "gamma"))
            params_error_at(p, pairs, i, "gamma", "%s", why);
}

static void refuse_others(struct params *p, const struct md *md)
{
    if (md->rigid.on)
        params_error(p, "md.constraints", NULL,
                     "rigid bonds do not go with type \"dpd\"");
    if (md->eam)
        params_error(p, "md.pair", "style",
                     "metals do not go with type \"dpd\"");
    if (params_has_section(p, "md.analysis.green_kubo"))
        params_error(p, "md.analysis.green_kubo", NULL,
                     "the pressure that is sampled has no friction in it, "
                     "which is part of the viscosity with type \"dpd\"");
    if (md->n_particles >= INT64_C(1) << 32)
        params_error(p, "md.ensemble", "type",
                     "type \"dpd\" is for less than 2^32 particles");
}

/* gamma of all pairs; 0: nobody has any. */
static int read_gamma(struct params *p, struct md *md)
{
    int n = md->n_species, some = 0;
    double of_all = params_is_set(p, "md.ensemble", "gamma")
                        ? params_double(p, "md.ensemble", "gamma")
                        : 0;
    for (int k = 0; k < n * n; k++)
        md->dpd.gamma[k] = of_all;
    for (int i = 0; i < params_count(p, pairs); i++) {
        size_t count = 0;
        int s[2];
        const char *const *names =
            params_strings_at(p, pairs, i, "species", &count);
        if (!params_is_set_at(p, pairs, i, "gamma"))
            continue;
        for (int e = 0; e < 2; e++)
            s[e] = md_find_species(md, names[e]);
        if (s[0] < 0 || s[1] < 0) /* that has been said */
            continue;
        md->dpd.gamma[s[0] * n + s[1]] = md->dpd.gamma[s[1] * n + s[0]] =
            params_double_at(p, pairs, i, "gamma");
    }
    for (int k = 0; k < n * n; k++)
        some |= md->dpd.gamma[k] > 0;
    return some;
}

int md_dpd_read(struct ctx *ctx, struct params *p, struct md *md)
{
    size_t n = (size_t)md->n_species;
    if (md->ensemble != MD_DPD) {
        refuse_gamma(p);
        return 0;
    }
    md->dpd.gamma = calloc(n * n, sizeof *md->dpd.gamma);
    if (!md->dpd.gamma)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu pairs of species",
                    n * n);
    refuse_others(p, md);
    if (!read_gamma(p, md))
        params_error(p, "md.ensemble", "gamma",
                     "type \"dpd\" needs the friction of pairs: "
                     "md.ensemble.gamma for all, or gamma in "
                     "[[md.pair.coefficients]]");
    return 0;
}

void md_dpd_free(struct md *md)
{
    free(md->dpd.gamma);
}

int md_dpd_check(struct ctx *ctx, const struct md *md)
{
    if (md->ensemble != MD_DPD || md->k->dpd_pairs)
        return 0;
    return FAIL(ctx, STATUS_UNSUPPORTED,
                "md.ensemble.type = \"dpd\" is not there on device '%s' yet; "
                "use device = \"cpu\"",
                ctx->device->name);
}

/* ---- a step ---- */

/* Friction of the present velocities, beside the noise of the present pairs. */
static int measure(struct ctx *ctx, struct md *md)
{
    TRY(halo_values(ctx, md->halo, md->k, md->store, MD_VALUE_VELOCITY));
    timer_begin(ctx->timers, md->phase_pair);
    md->k->dpd_forces(md->store);
    timer_end(ctx->timers, md->phase_pair);
    return 0;
}

int md_dpd_pairs(struct ctx *ctx, struct md *md)
{
    if (md->ensemble != MD_DPD)
        return 0;
    struct md_dpd d = {.gamma = md->dpd.gamma,
                       .kt = md_thermal(md, md->temperature),
                       .dt = md->dt,
                       .step = (uint64_t)md->step};
    timer_begin(ctx->timers, md->phase_pair);
    int status = md->k->dpd_pairs(ctx, md->store, &d);
    if (status != 0)
        md->dpd.status = status; /* all are told in the next step */
    timer_end(ctx->timers, md->phase_pair);
    return measure(ctx, md);
}

void md_dpd_begin(struct md *md)
{
    md->thermostat_work += md->k->dpd_kick(md->store, 0.5 * md->dt);
}

int md_dpd_finish(struct ctx *ctx, struct md *md)
{
    md->thermostat_work += md->k->dpd_kick(md->store, 0.5 * md->dt);
    return measure(ctx, md);
}
