/* md_bath.c: particles that are coupled to baths one by one: Langevin's
 * friction by species and group, and Brownian motion.
 *
 * Brownian motion is the limit of great friction, where velocities mean
 * nothing any more: m friction dx/dt = F + noise. A step is
 *     x += F dt / (m friction) + sqrt(2 kT dt / (m friction)) (R' + R) / 2
 * with R the normal numbers of this step and R' those of the one before
 * (Leimkuhler and Matthews 2013, Appl. Math. Res. Express 2013, 34): one
 * evaluation of forces, and averages over places with errors of order dt^2.
 * With R alone it is Euler and Maruyama's, of order dt.
 */
#include "md.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "md_ewald.h"

#define SECTION "md.ensemble"

/* ---- the deck ---- */

void md_bath_group(struct params *p, const struct md *md, int i,
                   struct md_group *g)
{
    static const char section[] = "md.group";
    g->friction = g->thermal = -1;
    if (params_is_set_at(p, section, i, "friction"))
        g->friction = params_double_at(p, section, i, "friction");
    if (params_is_set_at(p, section, i, "temperature"))
        g->thermal =
            md_thermal(md, params_double_at(p, section, i, "temperature"));
    if (g->thermal >= 0 && g->friction < 0)
        params_error_at(p, section, i, "temperature",
                        "a group with a temperature of its own needs its "
                        "md.group.friction, too");
    if (g->held && g->friction >= 0)
        params_error_at(p, section, i, "friction",
                        "friction means nothing for a group that is held");
}

/* Friction where it is not that of all: only a bath of each particle has it. */
static void refuse_friction(struct params *p, struct md *md)
{
    static const char why[] =
        "%s.friction is of the types \"langevin\" and \"brownian\"%s";
    const char *npt =
        md->barostat.kind ? ", and of thermostat \"langevin\"" : "";
    for (int s = 0; s < params_count(p, "md.species"); s++)
        if (params_is_set_at(p, "md.species", s, "friction"))
            params_error_at(p, "md.species", s, "friction", why, "md.species",
                            npt);
    for (int i = 0; i < md->walls.outer.n_groups; i++)
        if (md->walls.group[i].friction >= 0)
            params_error_at(p, "md.group", i, "friction", why, "md.group", npt);
    params_refuse(p, SECTION, "friction", why, SECTION, npt);
}

/* Whether anybody has a friction, and whether all have. */
static void look_at_friction(const struct md *md, int *some, int *all)
{
    const struct md_walls *w = &md->walls;
    *some = 0;
    *all = 1;
    for (int s = 0; s < md->n_species; s++) {
        *some |= md->bath.friction[s] > 0;
        *all &= md->bath.friction[s] > 0;
    }
    for (int i = 0; i < w->outer.n_groups; i++) {
        *some |= w->group[i].friction > 0;
        *all &= w->group[i].friction < 0 || w->group[i].friction > 0;
    }
}

static void refuse_brownian(struct params *p)
{
    size_t n = 0;
    static const struct {
        const char *section, *key;
    } others[] = {{"md.constraints", NULL},
                  {"md.analysis.vacf", NULL},
                  {"md.analysis.green_kubo", NULL}};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (params_has_section(p, others[k].section))
            params_error(p, others[k].section, others[k].key,
                         "[%s] does not go with type \"brownian\", where "
                         "particles have no velocities",
                         others[k].section);
    params_refuse(p, "md.initial", "temperature",
                  "md.initial.temperature has no meaning for type "
                  "\"brownian\", where particles have no velocities");
    const char *const *fields = params_strings(p, "output", "fields", &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(fields[k], "velocity") == 0)
            params_error(p, "output", "fields",
                         "there is no field 'velocity' with type \"brownian\"");
}

static void read_bath(struct params *p, struct md *md)
{
    struct md_bath_deck *b = &md->bath;
    int brownian = md->ensemble == MD_BROWNIAN, some, all;
    if (!brownian)
        params_refuse(p, SECTION, "scheme",
                      "md.ensemble.scheme is of type \"brownian\" only");
    if (!brownian && md->ensemble != MD_LANGEVIN) {
        refuse_friction(p, md);
        return;
    }
    for (int s = 0; s < md->n_species; s++) {
        b->friction[s] = 1 / md->relaxation;
        if (s >= params_count(p, "md.species") ||
            !params_is_set_at(p, "md.species", s, "friction"))
            continue;
        b->friction[s] = params_double_at(p, "md.species", s, "friction");
        b->by_particle = 1;
    }
    for (int i = 0; i < md->walls.outer.n_groups; i++)
        b->by_particle |= md->walls.group[i].friction >= 0;
    for (int i = 0; i < md->walls.outer.n_groups && md->exchanged; i++)
        if (md->walls.group[i].thermal >= 0)
            params_error_at(p, "md.group", i, "temperature",
                            "a group that has its own temperature does not go "
                            "with an exchange of temperatures");
    look_at_friction(md, &some, &all);
    if (!some)
        params_error(p, SECTION, "friction",
                     "nobody has a friction: that is type \"nve\"");
    if (!brownian)
        return;
    if (some && !all)
        params_error(p, SECTION, "friction",
                     "Brownian motion needs a friction above 0 of every "
                     "particle");
    refuse_brownian(p);
    const char *scheme = params_is_set(p, SECTION, "scheme")
                             ? params_string(p, SECTION, "scheme")
                             : "leimkuhler-matthews";
    int euler = strcmp(scheme, "euler") == 0;
    b->weight[0] = euler ? 0 : 0.5;
    b->weight[1] = euler ? 1 : 0.5;
}

int md_bath_read(struct ctx *ctx, struct params *p, struct md *md)
{
    md_ewald_walls(p, md);
    read_bath(p, md);
    return md_dpd_read(ctx, p, md);
}

void md_bath_check_box(struct params *p, const struct md *md)
{
    if (md->deform.kind &&
        (md->ensemble == MD_BROWNIAN || md->ensemble == MD_DPD))
        params_error(p, SECTION, "type",
                     "types \"brownian\" and \"dpd\" do not go with "
                     "[md.deform]");
}

/* ---- the run ---- */

static struct md_bath bath_of(const struct md *md)
{
    return (struct md_bath){.friction = md->bath.friction,
                            .kt = md_thermal(md, md->temperature),
                            .groups = &md->walls.outer};
}

int md_bath_check(struct ctx *ctx, const struct md *md)
{
    if (md->ensemble == MD_BROWNIAN && !md->k->brownian_step)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "md.ensemble.type = \"brownian\" is not there on device "
                    "'%s' yet; use device = \"cpu\"",
                    ctx->device->name);
    for (int i = 0; i < md->walls.outer.n_groups && !md->k->bath_step; i++)
        if (md_region_is_listed(&md->walls.region[i]) ||
            md->walls.region[i].free)
            return FAIL(
                ctx, STATUS_UNSUPPORTED,
                "[[md.group]] '%s': md.group.region, groups by other "
                "groups and md.group.action = \"none\" are not there on "
                "device '%s' yet; use device = \"cpu\"",
                md->walls.region[i].name, ctx->device->name);
    if (md->bath.by_particle && !md->k->bath_step)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "md.species.friction is not there on device '%s' yet; use "
                    "device = \"cpu\"",
                    ctx->device->name);
    return 0;
}

void md_bath_apply(struct md *md)
{
    struct md_bath bath = bath_of(md);
    if (md->bath.by_particle)
        md->k->bath_step(md->store, &bath, md->dt, (uint64_t)md->step);
    else
        md->k->ornstein_uhlenbeck(md->store, exp(-md->dt / md->relaxation),
                                  bath.kt, (uint64_t)md->step);
}

int md_work_is_summed(const struct md *md)
{
    return md->k->work && !md->rigid.on && md_work_is_shared(md);
}

void md_work_fetch(struct md *md)
{
    if (md_work_is_summed(md))
        md->thermostat_work = md->k->work(md->store);
}

void md_work_send(struct md *md)
{
    if (md_work_is_summed(md))
        md->k->set_work(md->store, md->thermostat_work);
}

int md_bath_kicks(const struct md *md)
{
    return md->ensemble == MD_LANGEVIN && !md->bath.by_particle &&
           !md->barostat.kind && md->deform.kind == MD_NO_DEFORM &&
           !md->rigid.on && md->k->kick_and_noise;
}

void md_bath_kick(struct md *md)
{
    struct md_bath bath = bath_of(md);
    double kinetic[2];
    md->k->kick_and_noise(md->store, 0.5 * md->dt,
                          exp(-md->dt / md->relaxation), bath.kt,
                          (uint64_t)md->step, kinetic);
    md->thermostat_work += kinetic[1] - kinetic[0];
}

double md_brownian_move(struct md *md)
{
    struct md_bath bath = bath_of(md);
    return md->k->brownian_step(md->store, &bath, md->dt, (uint64_t)md->step,
                                md->bath.weight);
}

void md_brownian_ahead(struct md *md)
{
    struct md_bath bath = bath_of(md);
    if (md->k->brownian_step_ahead)
        md->k->brownian_step_ahead(md->store, &bath, md->dt, (uint64_t)md->step,
                                   md->bath.weight);
}

void md_brownian_start(struct ctx *ctx, struct md *md)
{
    if (md->ensemble != MD_BROWNIAN)
        return;
    md->k->scale_velocities(md->store, 0);
    md_groups_hold(md);
    for (int s = 0; s < md->n_species && !md->bath.by_particle; s++) {
        double d = md_thermal(md, md->temperature) /
                   (md->species[s].mass * md->bath.friction[s]);
        log_info(ctx->log,
                 "Brownian motion: species %s diffuses by kT / (m friction) = "
                 "%.6g and goes %.3g in a step",
                 md->species[s].name, d, sqrt(2 * d * md->dt));
    }
}

/* ---- looking ---- */

/* Groups that move freely, and of which nothing else tells how warm they are.
 */
static int is_shown(const struct md *md, int i)
{
    const struct md_group *g = &md->walls.group[i];
    return !g->held && md->walls.region[i].free && !md->rigid.on &&
           md->ensemble != MD_BROWNIAN;
}

void md_bath_observe_init(struct md *md)
{
    for (int i = 0; i < md->walls.outer.n_groups; i++)
        if (is_shown(md, i))
            md_add_observable(md, md->walls.region[i].observable,
                              MD_TEMPERATURE, md->walls.region[i].description,
                              NULL, 0, 4);
}

int md_bath_observe(struct ctx *ctx, struct md *md, double *values, int *n)
{
    for (int i = 0; i < md->walls.outer.n_groups; i++) {
        struct md_moments moments;
        double freedom = 3 * (double)md->walls.region[i].count;
        if (!is_shown(md, i))
            continue;
        md->k->group_moments(md->store, &md->walls.outer, i, &moments);
        TRY(comm_sum_double(ctx, &moments.kinetic, 1));
        values[(*n)++] = 2 * moments.kinetic * md->constants->mvv_to_energy /
                         (freedom * md->constants->boltzmann);
    }
    return 0;
}
