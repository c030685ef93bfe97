/* md_guard.c: whether the state still makes sense. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/error.h"

/* What else it may be where a run fails as it begins. */
static const char *at_once(const struct md *md)
{
    return md->step - md->first_step > 1
               ? ""
               : ", or a velocity, charge, mass or coefficient of the start is "
                 "far from what its unit is for";
}

int md_check_finite(struct ctx *ctx, const struct md *md)
{
    struct md_particle p;
    if (!md->k->find_not_finite(md->store, &p))
        return 0;
    int status =
        FAIL(ctx, STATUS_PHYSICS,
             "step %" PRId64 ": particle %" PRId64 " at (%g, %g, %g) has a "
             "position, velocity or force that is not finite; the timestep "
             "%g is probably too large, or particles overlapped%s%s",
             md->step, p.id, p.position[0], p.position[1], p.position[2],
             md->dt, md_forms_fall(md), at_once(md));
    return error_on_rank(ctx, status, md->grid.rank, md->grid.size);
}

/* Name the fastest particle: the one that outran the halo. */
static int fail_too_fast(struct ctx *ctx, const struct md *md, double moved)
{
    size_t n = md->k->count(md->store), fastest = 0;
    struct md_particle *p = malloc((n + 1) * sizeof *p);
    if (!p)
        return FAIL(ctx, STATUS_MEMORY, "no memory to name a lost particle");
    md->k->gather(md->store, p, NULL);
    double greatest = -1;
    for (size_t i = 0; i < n; i++) {
        const double *v = p[i].velocity;
        double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        if (v2 > greatest) {
            greatest = v2;
            fastest = i;
        }
    }
    const double *x = p[fastest].position;
    char by[48] = "";
    if (isfinite(moved)) /* else what it is squared is no number any more */
        snprintf(by, sizeof by, " by %g", moved);
    int status = FAIL(
        ctx, STATUS_LOST_PARTICLES,
        "step %" PRId64 ": particle %" PRId64 " at (%g, %g, %g), speed %g, "
        "moved%s since the pair list was built, farther than its %g can "
        "follow; the timestep %g is probably too large%s%s",
        md->step, p[fastest].id, x[0], x[1], x[2], sqrt(greatest), by,
        md->pair.reach + md->pair.skin, md->dt, md_forms_fall(md), at_once(md));
    free(p);
    return status;
}

int md_check_motion(struct ctx *ctx, const struct md *md, double *moved2)
{
    double reach = md->pair.reach + md->pair.skin;
    if (md->k->check)
        TRY(md->k->check(ctx, md->store));
    if (*moved2 <= reach * reach)
        return 0;
    double moved = sqrt(*moved2);
    if (!isfinite(*moved2)) { /* finite positions may still overflow it */
        *moved2 = 0;
        TRY(md_check_finite(ctx, md));
    }
    return fail_too_fast(ctx, md, moved);
}

int md_guard(struct ctx *ctx, void *state)
{
    struct md *md = state;
    int64_t n = (int64_t)md->k->count(md->store);
    TRY(comm_agree(ctx, md_check_finite(ctx, md)));
    TRY(comm_sum_int64(ctx, &n, 1));
    if (n == md->n_particles)
        return 0;
    return FAIL(ctx, STATUS_LOST_PARTICLES,
                "step %" PRId64 ": there are %" PRId64
                " particles instead of %" PRId64,
                md->step, n, md->n_particles);
}
