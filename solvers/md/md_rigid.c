/* md_rigid.c: fixed distances during a run: SHAKE and RATTLE around the steps.
 * See kernels/md/rigid.h for the equations.
 */
#include "md.h"

#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "domain/halo.h"

static int values(struct ctx *ctx, struct md *md, enum md_value what)
{
    return halo_values(ctx, md->halo, md->k, md->store, what);
}

int md_rigid_hold(struct ctx *ctx, struct md *md)
{
    if (!md->rigid.on)
        return 0;
    TRY(values(ctx, md, MD_VALUE_POSITION));
    md->k->rigid_hold(md->store);
    return 0;
}

int md_rigid_move(struct ctx *ctx, struct md *md, double per_time,
                  double *moved2)
{
    if (!md->rigid.on)
        return 0;
    TRY(values(ctx, md, MD_VALUE_POSITION));
    timer_begin(ctx->timers, md->phase_rigid);
    int status = md->k->rigid_place(ctx, md->store, per_time,
                                    md->rigid.tolerance, moved2);
    timer_end(ctx->timers, md->phase_rigid);
    return status;
}

int md_rigid_place(struct ctx *ctx, struct md *md, double *moved2)
{
    return md_rigid_move(ctx, md, 1 / md->dt, moved2);
}

static int stop(struct ctx *ctx, struct md *md, int apply)
{
    TRY(values(ctx, md, MD_VALUE_VELOCITY));
    timer_begin(ctx->timers, md->phase_rigid);
    md->k->rigid_stop(md->store, apply);
    timer_end(ctx->timers, md->phase_rigid);
    return 0;
}

int md_rigid_stop(struct ctx *ctx, struct md *md)
{
    return md->rigid.on ? stop(ctx, md, 1) : 0;
}

int md_rigid_sums(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    if (!md->rigid.on)
        return 0;
    if (!md->rigid.asked) {
        TRY(stop(ctx, md, 0)); /* what is looked at stays as it is */
        TRY(values(ctx, md, MD_VALUE_ACCELERATION));
    }
    md->rigid.asked = 0;
    md->k->rigid_sums(md->store, sums);
    return 0;
}

void md_rigid_sums_ahead(struct md *md)
{
    if (md->rigid.on && md->grid.size == 1 && md->k->rigid_sums_ahead)
        md->rigid.asked = md->k->rigid_sums_ahead(md->store);
}

int md_rigid_unstretch(struct ctx *ctx, struct md *md,
                       const struct md_stretch *m, const double grow[3])
{
    TRY(values(ctx, md, MD_VALUE_VELOCITY));
    timer_begin(ctx->timers, md->phase_rigid);
    md->k->rigid_unstretch(md->store, m, grow);
    timer_end(ctx->timers, md->phase_rigid);
    return 0;
}

int md_rigid_inner(struct ctx *ctx, struct md *md, struct md_stress *out)
{
    *out = (struct md_stress){0};
    if (!md->rigid.on)
        return 0;
    TRY(values(ctx, md, MD_VALUE_VELOCITY));
    md->k->rigid_inner(md->store, out->kinetic, out->virial);
    for (int d = 0; d < 3; d++)
        out->kinetic[d] *= md->constants->mvv_to_energy;
    return 0;
}

/* Velocities that were drawn for free particles: along the bonds they are taken
 * out, and the rest brought to the temperature. */
int md_rigid_scale(struct ctx *ctx, struct md *md)
{
    struct md_moments moments;
    if (!md->rigid.on)
        return 0;
    TRY(md_rigid_stop(ctx, md));
    if (!md->initial.has_temperature)
        return 0;
    md->k->moments(md->store, &moments);
    TRY(comm_sum_double(ctx, &moments.kinetic, 1));
    double target =
        0.5 * md->degrees_of_freedom * md_thermal(md, md->initial.temperature);
    if (moments.kinetic > 0)
        md->k->scale_velocities(md->store, sqrt(target / moments.kinetic));
    return 0;
}

/* A start whose molecules have other shapes than the coefficients say. */
static void warn_of_shapes(struct ctx *ctx, const struct md *md, double moved)
{
    const struct md_force_field *f = &md->bonded.field;
    double shortest = INFINITY;
    for (int k = 0; k < f->n_bonds; k++)
        if (f->bonds[k].r0 > 0)
            shortest = fmin(shortest, f->bonds[k].r0);
    if (moved > 0.1 * shortest)
        log_warn(ctx->log,
                 "to bring rigid bonds to their lengths, particles were moved "
                 "by up to %.3g at the start, whose molecules have other "
                 "shapes than their coefficients",
                 moved);
}

int md_rigid_start(struct ctx *ctx, struct md *md, int restored)
{
    double moved2 = 0;
    if (!md->rigid.on)
        return 0;
    double joined, number[2];
    number[0] = md->k->rigid_count(md->store, &joined);
    number[1] = joined;
    TRY(comm_sum_double(ctx, number, 2));
    md->rigid.count = number[0];
    md->rigid.inner_freedom = 3 * number[1] - number[0];
    md->degrees_of_freedom -= md->rigid.count;
    log_info(ctx->log,
             "rigid bonds: %.0f distances are fixed; %.0f degrees of "
             "freedom are left",
             md->rigid.count, md->degrees_of_freedom);
    if (restored)
        return 0;
    TRY(md_rigid_hold(ctx, md));
    TRY(comm_agree(ctx, md_rigid_move(ctx, md, 0, &moved2)));
    TRY(comm_max_double(ctx, &moved2, 1));
    warn_of_shapes(ctx, md, sqrt(moved2));
    /* They may have moved far: whoever is near whom is found again. */
    TRY(md_redistribute(ctx, md));
    return md_rigid_scale(ctx, md);
}
