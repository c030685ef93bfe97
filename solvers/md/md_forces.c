/* md_forces.c: forces of one step, in an order that hides messages between
 * ranks behind what needs none.
 *
 *     copies posted, own pairs, copies here, pairs with copies,
 *     forces posted, late pairs and mesh, forces here
 *
 * So that a rank does not wait for the slowest at each step either, all go
 * ahead with the first line while they still agree on the greatest way, where
 * the list is likely to hold.
 */
#include "md.h"

#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "domain/halo.h"
#include "md_balance.h"
#include "md_ewald.h"

/* One of the calls of md_kernels for pair forces. */
typedef void (*force_fn)(struct md_store *, struct md_sums *);

static void pair_forces(struct ctx *ctx, struct md *md, force_fn force,
                        struct md_sums *sums)
{
    if (!force)
        return;
    double before = timer_seconds(ctx->timers, md->phase_pair);
    timer_begin(ctx->timers, md->phase_pair);
    force(md->store, sums);
    timer_end(ctx->timers, md->phase_pair);
    double taken = timer_seconds(ctx->timers, md->phase_pair) - before;
    if (md->topology && md->k->terms_seconds)
        timer_move(ctx->timers, md->phase_pair, md->phase_bonded,
                   md->k->terms_seconds(md->store, taken));
}

double md_force_seconds(const struct ctx *ctx, const struct md *md)
{
    return timer_seconds(ctx->timers, md->phase_pair) +
           timer_seconds(ctx->timers, md->phase_bonded);
}

/* What touches no copy and may come first: of metals, densities. */
static void first_part(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    if (md->eam)
        md_eam_own(ctx, md, sums);
    else
        pair_forces(ctx, md, md->k->force_own, sums);
}

/* The rest, with fresh copies. Forces on copies go home, and those of late rows
 * and of the mesh are found meanwhile. Last come walls and groups: what is held
 * has no force then. */
static int other_parts(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    if (md->eam) {
        TRY(md_eam_densities(ctx, md, sums));
        pair_forces(ctx, md, md->k->force_own, sums);
        TRY(halo_complete_extra(ctx, md->halo, md->k, md->store));
    }
    pair_forces(ctx, md, md->k->force_halo, sums);
    TRY(halo_post_forces(ctx, md->halo, md->k, md->store));
    pair_forces(ctx, md, md->k->force_late, sums);
    TRY(md_ewald_forces(ctx, md, sums));
    TRY(halo_complete_forces(ctx, md->halo, md->k, md->store));
    md_walls_forces(ctx, md, sums);
    return 0;
}

/* Forces where copies are fresh already. */
static int force_at_once(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    first_part(ctx, md, sums);
    return other_parts(ctx, md, sums);
}

/* Sums that come later are always complete: so is what is waited for. */
static struct md_sums *want_sums(struct md *md, enum md_wanted wanted)
{
    int later = md->parts.sums_later;
    md->sums =
        (struct md_sums){.with_tensor = md->with_tensor,
                         .virial_only = wanted == MD_WANT_VIRIAL && !later,
                         .later = later};
    md->sums_known = wanted != MD_WANT_FORCES && !md->sums.virial_only;
    return wanted != MD_WANT_FORCES ? &md->sums : NULL;
}

/* Ranks compute what needs no copy while they agree on the new list. One alone
 * has nobody to agree with: all that a rebuild is comes before the forces,
 * which replicas on a card compute together, whoever has rebuilt. */
static int rebuild_and_force(struct ctx *ctx, struct md *md,
                             struct md_sums *sums)
{
    int status;
    TRY(md_balance(ctx, md));
    if (md->grid.size == 1) {
        TRY(md_redistribute(ctx, md));
        return force_at_once(ctx, md, sums);
    }
    TRY(md_redistribute_begin(ctx, md, &status));
    if (status == 0)
        first_part(ctx, md, sums);
    TRY(comm_agree_end(ctx));
    TRY(md_rigid_hold(ctx, md));
    return other_parts(ctx, md, sums);
}

int md_first_forces(struct ctx *ctx, struct md *md)
{
    return force_at_once(ctx, md, want_sums(md, MD_WANT_ALL));
}

/* Copies are on their way; what needs none is found meanwhile. */
static int begin_forces(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    TRY(halo_post(ctx, md->halo, md->k, md->store));
    first_part(ctx, md, sums);
    return 0;
}

static int end_forces(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    TRY(halo_complete(ctx, md->halo, md->k, md->store));
    return other_parts(ctx, md, sums);
}

int md_compute_sums(struct ctx *ctx, struct md *md)
{
    struct md_sums *sums = want_sums(md, MD_WANT_ALL);
    TRY(begin_forces(ctx, md, sums));
    TRY(end_forces(ctx, md, sums));
    return md_rigid_sums(ctx, md, &md->sums);
}

/* ---- the list ---- */

/* Whether the pair list may miss a pair: two particles that both moved half a
 * skin may have come from just outside its radius. */
static int list_is_stale(struct md *md, double moved2)
{
    double slack = md_list_slack(md);
    int moved_too_far = slack < 0 || moved2 > slack * slack;
    if (md->pair.rebuild_every == 0)
        return moved_too_far;
    if (md->step - md->list_step >= md->pair.rebuild_every)
        return 1;
    md->unsafe_steps += moved_too_far;
    return 0;
}

int md_update_forces(struct ctx *ctx, struct md *md, double moved2,
                     enum md_wanted wanted)
{
    struct md_sums *sums = want_sums(md, wanted);
    if (list_is_stale(md, moved2))
        return rebuild_and_force(ctx, md, sums);
    TRY(begin_forces(ctx, md, sums));
    return end_forces(ctx, md, sums);
}

/* ---- going ahead ---- */

/* The greatest way before this step's drift. */
static double way_before(const struct md *md)
{
    return md->list_step == md->step - 1 ? 0 : md->way.last;
}

/* Whether the list will probably hold: the greatest way grows as it did in the
 * step before. All ranks say the same. */
static int list_may_hold(const struct md *md)
{
    if (md->pair.rebuild_every != 0)
        return md->step - md->list_step < md->pair.rebuild_every;
    return way_before(md) + md->way.growth < md_list_slack(md);
}

static void note_way(struct md *md, double moved2)
{
    double way = sqrt(moved2);
    md->way.growth = way - way_before(md);
    md->way.last = way;
}

/* All ranks went ahead and the list does not hold: messages come to their end,
 * and the store to a state in which it takes new particles. */
static int go_back(struct ctx *ctx, struct md *md)
{
    TRY(halo_complete(ctx, md->halo, md->k, md->store));
    if (md->eam)
        md->k->density_halo(md->store, NULL);
    else
        md->k->force_halo(md->store, NULL);
    return 0;
}

static int go_ahead(struct ctx *ctx, struct md *md, int status, int *stop,
                    double *moved2, struct md_sums *sums)
{
    TRY(comm_step_begin(ctx, status, *stop, *moved2));
    int posted = halo_post(ctx, md->halo, md->k, md->store);
    if (status == 0)
        first_part(ctx, md, sums);
    status = comm_step_end(ctx, stop, moved2);
    TRY(posted);
    if (status != 0) /* the messages' end; the failure is known already */
        (void)halo_complete(ctx, md->halo, md->k, md->store);
    return status;
}

int md_step_forces(struct ctx *ctx, struct md *md, int status, int *stop,
                   double moved2, enum md_wanted wanted)
{
    /* Sums that come later can't be taken back. */
    int later = wanted != MD_WANT_FORCES && md->k->finish_sums != NULL;
    if (md->grid.size == 1 || later || !list_may_hold(md)) {
        TRY(comm_step(ctx, status, stop, &moved2));
        note_way(md, moved2);
        return md_update_forces(ctx, md, moved2, wanted);
    }
    struct md_sums *sums = want_sums(md, wanted);
    TRY(go_ahead(ctx, md, status, stop, &moved2, sums));
    note_way(md, moved2);
    if (!list_is_stale(md, moved2))
        return end_forces(ctx, md, sums);
    TRY(go_back(ctx, md));
    return rebuild_and_force(ctx, md, want_sums(md, wanted));
}
