/* md_step.c: one step of velocity Verlet, by its parts. */
#include "md.h"

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "md_ewald.h"
#include "solvers/solver.h"

/* Whether a barostat, or a strain of edges, drifts particles with the box. */
static int stretches(const struct md *md)
{
    return md->ensemble != MD_BROWNIAN && md->deform.kind != MD_DEFORM_SHEAR &&
           md->barostat.moves;
}

/* The two halves of velocity Verlet around the forces. */
static int kick_and_drift(struct ctx *ctx, struct md *md, double *moved2)
{
    timer_begin(ctx->timers, md->phase_integrate);
    int status = 0;
    if (md->ensemble == MD_BROWNIAN)
        *moved2 = md_brownian_move(md);
    else if (md->deform.kind == MD_DEFORM_SHEAR)
        *moved2 = md_deform_drift(md);
    else if (stretches(md))
        status = md_barostat_drift(ctx, md, moved2);
    else
        *moved2 = md->k->kick_drift(md->store, 0.5 * md->dt, md->dt);
    timer_end(ctx->timers, md->phase_integrate);
    return status;
}

static int kick(struct ctx *ctx, struct md *md)
{
    int status = 0;
    timer_begin(ctx->timers, md->phase_integrate);
    if (md->barostat.kind == MD_MTK)
        status = md_barostat_kick(ctx, md);
    else if (md_bath_kicks(md))
        md_bath_kick(md);
    else if (md->ensemble != MD_BROWNIAN)
        md->k->kick(md->store, 0.5 * md->dt);
    timer_end(ctx->timers, md->phase_integrate);
    return status;
}

/* A barostat looks at the forces on rigid groups alone. The forces of rigid
 * bonds depend on velocities: they come for who looks afterwards. */
static int look_at_rigid(struct ctx *ctx, struct md *md, int look)
{
    if (look)
        return md_rigid_sums(ctx, md, &md->sums);
    md->sums_known = md->sums_known && !md->rigid.on;
    return 0;
}

/* ---- asking early ---- */

/* Whether kick_and_drift() is the store's kick_drift() and nothing else. */
static int drifts_plainly(const struct md *md)
{
    return md->k->kick_drift_ahead && md->ensemble != MD_BROWNIAN &&
           md->deform.kind != MD_DEFORM_SHEAR && !md->barostat.moves;
}

/* Thermostats and barostats look at the kinetic energy as it is after the kick;
 * chains take what the barostat has measured. */
static void ask_kinetic(struct md *md)
{
    int asks = md->ensemble == MD_BUSSI ||
               (md->ensemble == MD_NOSE_HOOVER && !md->barostat.kind);
    int measures = md->barostat.kind == MD_MTK ||
                   (md->barostat.kind && md_wants_virial(md));
    if (measures)
        md_stress_ahead(md);
    if (asks && md->k->moments_ahead)
        md->k->moments_ahead(md->store);
}

/* Sums of forces wait where nothing else is added to them before the next part
 * of the step. */
static int sums_may_wait(const struct md *md)
{
    return md->k->finish_sums != NULL;
}

/* ---- the parts ---- */

enum {
    PART_BEGIN,
    PART_DRIFT,
    PART_FORCES,
    PART_THERMOSTAT,
    PART_FINISH,
    PARTS
};

static int begin(struct ctx *ctx, struct md *md)
{
    md->step++;
    md_ensemble_begin(ctx, md);
    md_barostat_ask(md);
    md_deform_ask(md);
    return 0;
}

static int begin_drift(struct ctx *ctx, struct md *md)
{
    TRY(md_barostat_begin(ctx, md));
    TRY(md_deform_begin(ctx, md));
    md_groups_hold(md);
    if (drifts_plainly(md))
        md->k->kick_drift_ahead(md->store, 0.5 * md->dt, md->dt);
    if (stretches(md))
        md_barostat_box(md);
    if ((drifts_plainly(md) || stretches(md)) && md->rigid.on &&
        md->grid.size == 1 && md->k->rigid_place_ahead)
        md->k->rigid_place_ahead(md->store, 1 / md->dt, md->rigid.tolerance);
    if (md->ensemble == MD_BROWNIAN)
        md_brownian_ahead(md);
    if (md->deform.kind == MD_DEFORM_SHEAR)
        md_deform_box(md);
    md_walls_reflect_ahead(md);
    return 0;
}

static int find_forces(struct ctx *ctx, struct md *md, int look, int *stop)
{
    double moved2 = 0;
    TRY(kick_and_drift(ctx, md, &moved2));
    int torn = md_rigid_place(ctx, md, &moved2);
    torn = torn ? torn : md->dpd.status;
    torn = torn ? torn : md_walls_reflect(ctx, md);
    int status = md_check_motion(ctx, md, &moved2);
    md->parts.sums_later = sums_may_wait(md);
    status = md_step_forces(ctx, md, status ? status : torn, stop, moved2,
                            look                  ? MD_WANT_ALL
                            : md_wants_virial(md) ? MD_WANT_VIRIAL
                                                  : MD_WANT_FORCES);
    md->parts.sums_later = 0;
    TRY(status);
    TRY(md_dpd_pairs(ctx, md));
    TRY(kick(ctx, md));
    TRY(md_rigid_stop(ctx, md));
    md_deform_ask(md);
    ask_kinetic(md);
    return 0;
}

static int apply_thermostat(struct ctx *ctx, struct md *md, int look)
{
    if (md->k->finish_sums)
        md->k->finish_sums(md->store);
    if (md->sums.later && md->sums_known)
        md_ewald_finish(md, &md->sums);
    TRY(md_deform_finish(ctx, md));
    TRY(md_ensemble_apply(ctx, md));
    if (look)
        md_rigid_sums_ahead(md);
    return 0;
}

static int finish(struct ctx *ctx, struct md *md, int look)
{
    TRY(look_at_rigid(ctx, md, look));
    md_groups_hold(md);
    return md_analysis_step(ctx, md);
}

/* One step of velocity Verlet (Swope, Andersen, Berens and Wilson 1982): half
 * kick, drift, forces, half kick; then the thermostat (md_ensemble.c). */
static int do_part(struct ctx *ctx, struct md *md, int look, int *stop)
{
    int part = md->parts.next;
    md->parts.next = (part + 1) % PARTS;
    if (part == PART_BEGIN)
        return begin(ctx, md);
    if (part == PART_DRIFT)
        return begin_drift(ctx, md);
    look |= md_analysis_looks(md);
    if (part == PART_FORCES)
        return find_forces(ctx, md, look, stop);
    if (part == PART_THERMOSTAT)
        return apply_thermostat(ctx, md, look);
    return finish(ctx, md, look);
}

int md_step(struct ctx *ctx, void *state, int look, int *stop)
{
    struct md *md = state;
    do
        TRY(do_part(ctx, md, look, stop));
    while (md->parts.next != PART_BEGIN);
    return 0;
}

int md_ahead(struct ctx *ctx, void *state, int look, int *stop, int *more)
{
    struct md *md = state;
    TRY(do_part(ctx, md, look, stop));
    *more = md->parts.next != PART_FINISH;
    return 0;
}
