/* md_open_box.c: see md_open_box.h. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/halo.h"
#include "domain/state.h"

#define KERNEL_FN static inline __attribute__((unused))
#include "kernels/md/wrap.h"

/* Of the edges at the start, as LAMMPS has it: nobody stands on a face. */
static const double margin = 1e-4;

int md_open_box(const struct md *md)
{
    return md->open.on[0] || md->open.on[1] || md->open.on[2];
}

/* ---- the deck ---- */

/* Sections that want a box that stays, or one that repeats. */
static void refuse_others(struct params *p, const struct md *md)
{
    static const char *const sections[] = {
        "md.analysis.profile", "md.analysis.map",
        "md.analysis.structure_factor", "md.analysis.green_kubo", "md.deform"};
    for (size_t k = 0; k < sizeof sections / sizeof sections[0]; k++)
        if (params_has_section(p, sections[k]))
            params_error(p, sections[k], NULL,
                         "[%s] does not go with a box that follows its "
                         "particles (domain.boundary)",
                         sections[k]);
    if (md->barostat.kind)
        params_error(p, "md.ensemble", "type",
                     "type \"npt\" does not go with a box that follows its "
                     "particles (domain.boundary)");
    if (md->ewald)
        params_error(p, "md.coulomb", "method",
                     "methods pme and ewald need a box that repeats, without "
                     "\"shrink\" or \"minimum\" in domain.boundary; take cut "
                     "or dsf");
    if (md->pair.tail)
        params_error(p, "md.pair", "tail",
                     "md.pair.tail is of uniform fluids, without \"shrink\" or "
                     "\"minimum\" in domain.boundary");
}

void md_open_box_read(struct params *p, struct md *md)
{
    struct md_open_box *o = &md->open;
    size_t n = 0;
    const char *const *word = params_strings(p, "domain", "boundary", &n);
    for (int d = 0; d < 3 && n == 3; d++) {
        o->minimum[d] = strcmp(word[d], "minimum") == 0;
        o->on[d] = o->minimum[d] || strcmp(word[d], "shrink") == 0;
        if (o->on[d] &&
            (md->walls.has_face[2 * d] || md->walls.has_face[2 * d + 1]))
            params_error(p, "domain", "boundary",
                         "[[md.walls]] in %c stand still, and domain.boundary "
                         "= \"%s\" follows the particles",
                         "xyz"[d], word[d]);
    }
    if (md_open_box(md))
        refuse_others(p, md);
}

void md_nearest(const struct md *md, double x[3])
{
    double length[3];
    for (int d = 0; d < 3; d++)
        length[d] = md->open.on[d] ? MD_OPEN_LENGTH : md->box_length[d];
    nearest_difference(x, length, md->tilt);
}

/* ---- the bounds ---- */

/* Those of all ranks' particles become the box. */
static int use_bounds(struct ctx *ctx, struct md *md,
                      const struct md_particle *p, size_t n)
{
    struct md_open_box *o = &md->open;
    double lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        lo[d] = HUGE_VAL;
        hi[d] = -HUGE_VAL;
        for (size_t i = 0; i < n; i++) {
            lo[d] = fmin(lo[d], p[i].position[d]);
            hi[d] = fmax(hi[d], p[i].position[d]);
        }
    }
    TRY(comm_min_double(ctx, lo, 3));
    TRY(comm_max_double(ctx, hi, 3));
    const double most = 1e9 * (md->pair.reach > 0 ? md->pair.reach : 1);
    for (int d = 0; d < 3; d++) {
        if (!o->on[d])
            continue;
        lo[d] -= o->margin[d];
        hi[d] += o->margin[d];
        if (o->minimum[d]) {
            lo[d] = fmin(lo[d], o->lo[d]);
            hi[d] = fmax(hi[d], o->hi[d]);
        }
        if (!(hi[d] - lo[d] <= most))
            return FAIL(ctx, STATUS_PHYSICS,
                        "step %" PRId64 ": the box that follows its particles "
                        "is from %g to %g in %c, more than 10^9 times the "
                        "cutoff",
                        md->step, lo[d], hi[d], "xyz"[d]);
        md->box_lo[d] = lo[d];
        md->box_length[d] = hi[d] - lo[d];
    }
    md_fit_grid(md);
    return 0;
}

static void remember_start(struct md *md)
{
    struct md_open_box *o = &md->open;
    for (int d = 0; d < 3; d++) {
        o->margin[d] = margin * md->box_length[d];
        o->lo[d] = md->box_lo[d];
        o->length[d] = md->box_length[d];
        o->hi[d] = md->box_lo[d] + md->box_length[d];
    }
}

/* Images of a file have no meaning where nothing repeats. */
static int check_images(struct ctx *ctx, const struct md *md,
                        const struct md_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        for (int d = 0; d < 3; d++)
            if (md->open.on[d] && list->p[i].image[d] != 0)
                return FAIL(ctx, STATUS_INPUT,
                            "particle %" PRId64 " has image %d along %c, where "
                            "domain.boundary lets nothing repeat",
                            list->p[i].id, list->p[i].image[d], "xyz"[d]);
    return 0;
}

static void swap(double *a, double *b)
{
    double was = *a;
    *a = *b;
    *b = was;
}

void md_open_box_swap(struct md *md)
{
    for (int d = 0; d < 3 && md_open_box(md); d++) {
        swap(&md->box_lo[d], &md->open.lo[d]);
        swap(&md->box_length[d], &md->open.length[d]);
    }
}

int md_open_box_start(struct ctx *ctx, struct md *md)
{
    struct md_list list = {0};
    int status;
    if (!md_open_box(md))
        return 0;
    remember_start(md);
    status = md_list_particles(ctx, md, &list);
    if (status == 0)
        status = comm_agree(ctx, check_images(ctx, md, &list));
    if (status == 0)
        status = use_bounds(ctx, md, list.p, list.n);
    free(list.p);
    return status;
}

int md_open_box_follow(struct ctx *ctx, struct md *md)
{
    struct md_particle *p = NULL;
    struct md_geometry box;
    size_t n = 0;
    if (!md_open_box(md) || md->open.held)
        return 0;
    TRY(md_own_particles(ctx, md, &p, &n));
    int status = use_bounds(ctx, md, p, n);
    free(p);
    TRY(status);
    halo_set_box(md->halo, &md->grid, &box);
    md->k->set_box(md->store, &box);
    return halo_fit(ctx, md->halo);
}

int md_open_box_state(struct ctx *ctx, struct state_io *io, struct md *md,
                      int put)
{
    struct md_open_box *o = &md->open;
    if (!md_open_box(md))
        return 0;
    if (!put)
        remember_start(md);
    struct state_array arrays[] = {
        state_shared("open_box/lower", STATE_DOUBLE, 3, md->box_lo),
        state_shared("open_box/length", STATE_DOUBLE, 3, md->box_length),
        state_shared("open_box/start_lower", STATE_DOUBLE, 3, o->lo),
        state_shared("open_box/start_upper", STATE_DOUBLE, 3, o->hi),
        state_shared("open_box/margin", STATE_DOUBLE, 3, o->margin)};
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++)
        TRY((put ? io->put : io->get)(ctx, io, &arrays[a]));
    return 0;
}
