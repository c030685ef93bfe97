/* md_tilt.c: boxes without right angles.
 *
 * Edges are a = (lx, 0, 0), b = (xy, ly, 0), c = (xz, yz, lz). Particles stand
 * in the brick [lo, lo + l), which holds each of them once as the
 * parallelepiped does; only where they are wrapped and copied does the tilt
 * show.
 */
#include "md.h"

#include <math.h>
#include <string.h>

#include "base/ctx.h"
#include "base/log.h"
#include "base/param.h"
#include "md_data.h"

static const char *const names[3] = {"xy", "xz", "yz"};
/* Along which edge each of them goes. */
static const int along[3] = {0, 0, 1};

void md_tilt_read(struct params *p, struct md *md)
{
    size_t n = 0;
    if (md->data || !params_is_set(p, "domain", "tilt"))
        return;
    memcpy(md->tilt, params_doubles(p, "domain", "tilt", &n), sizeof md->tilt);
    md->tilted = 1;
}

void md_tilt_use(struct params *p, struct md *md, const char *path,
                 const double tilt[3])
{
    if (params_is_set(p, "domain", "tilt"))
        params_error(p, "domain", "tilt",
                     "the box is that of '%s'; leave domain.tilt out", path);
    for (int t = 0; t < 3; t++) {
        md->tilt[t] = tilt[t];
        if (tilt[t] < 0 || tilt[t] > 0)
            md->tilted = 1;
    }
}

int md_tilt_turn(struct md *md, int32_t turns[3])
{
    const double room = 1 + 1e-9; /* once is enough */
    const double *l = md->box_length;
    double *t = md->tilt;
    turns[0] = turns[1] = turns[2] = 0;
    if (fabs(t[2]) > 0.5 * l[1] * room) {
        turns[2] = (int32_t)rint(t[2] / l[1]);
        t[2] -= turns[2] * l[1];
        t[1] -= turns[2] * t[0];
    }
    for (int k = 0; k < 2; k++)
        if (fabs(t[k]) > 0.5 * l[0] * room) {
            turns[k] = (int32_t)rint(t[k] / l[0]);
            t[k] -= turns[k] * l[0];
        }
    return turns[0] != 0 || turns[1] != 0 || turns[2] != 0;
}

/* A tilt beyond half an edge is that of the same lattice with another choice of
 * edges; nothing is gained by it, and copies come from further away. The
 * particles of a file stay where they are. */
static void take_near_edges(struct ctx *ctx, struct params *p, struct md *md)
{
    const char *file = md->data ? md->data->path : md->initial.read;
    double was[3];
    memcpy(was, md->tilt, sizeof was);
    for (int t = 0; t < 3; t++)
        if (!(fabs(was[t]) <= 1000 * md->box_length[along[t]])) {
            params_error(p, "md.initial", "read",
                         "'%s': the tilt %s = %g is more than 1000 times the "
                         "edge along %c, %g",
                         file, names[t], was[t], "xyz"[along[t]],
                         md -> box_length[along[t]]);
            return;
        }
    if (md_tilt_turn(md, md->turns))
        log_info(ctx->log,
                 "'%s': the tilts %g, %g, %g are more than half of an edge; "
                 "taken as %g, %g, %g of the same lattice",
                 file, was[0], was[1], was[2], md->tilt[0], md->tilt[1],
                 md->tilt[2]);
}

/* A lattice is tilted with its box, so that another one would be another
 * crystal. */
static void check_size(struct params *p, const struct md *md)
{
    for (int t = 0; t < 3; t++) {
        double edge = md->box_length[along[t]];
        if (fabs(md->tilt[t]) <= 0.5 * edge * (1 + 1e-9))
            continue;
        params_error(p, "domain", "tilt",
                     "the tilt %s = %g is more than half of the edge along %c, "
                     "%g; the box repeats in the same way with %s = %g",
                     names[t], md->tilt[t], "xyz"[along[t]], edge, names[t],
                     md -> tilt[t] - edge * rint(md->tilt[t] / edge));
    }
}

/* A wall stands across its direction, and what leaves through a face comes back
 * at the same distance from it. */
static void check_walls(struct params *p, const struct md *md)
{
    static const int across[3] = {1, 2, 2};
    const int *walled = md->walls.outer.walled;
    for (int t = 0; t < 3; t++) {
        int e = md->open.on[along[t]] ? along[t] : across[t];
        if (md->open.on[e] && fabs(md->tilt[t]) > 0)
            params_error(p, "domain", "boundary",
                         "a box that follows its particles in %c must not lean "
                         "there: the tilt %s is %g",
                         "xyz"[e], names[t], md -> tilt[t]);
        int d = walled[along[t]] ? along[t] : across[t];
        if (walled[d] && fabs(md->tilt[t]) > 0)
            params_error(p, "md.walls", NULL,
                         "[[md.walls]] in %c need a box that does not lean "
                         "there: the tilt %s is %g",
                         "xyz"[d], names[t], md -> tilt[t]);
    }
}

void md_tilt_check(struct ctx *ctx, struct params *p, struct md *md)
{
    if (!md->tilted)
        return;
    if (params_is_set(p, "domain", "tilt"))
        check_size(p, md);
    else
        take_near_edges(ctx, p, md);
    check_walls(p, md);
}

/* Under constant pressure, and where edges are strained, the box is stretched
 * along x, y and z: its edges with all of their components. */
static void stretch_tilt(struct md *md)
{
    const struct md_barostat *b = &md->barostat;
    int edges = md->deform.kind == MD_DEFORM_EDGES;
    int stretched =
        edges || (b->kind && !md->deform.kind); /* shear sees to it */
    for (int t = 0; t < 3 && stretched; t++)
        md->tilt[t] =
            b->start_tilt[t] * (md->box_length[along[t]] / b->start[along[t]]);
}

void md_fit_grid(struct md *md)
{
    struct grid *g = &md->grid, next;
    stretch_tilt(md);
    grid_init(&next, md->box_lo, md->box_length, g->dims, g->rank, g->size);
    for (int d = 0; d < 3; d++)
        next.walled[d] = g->walled[d];
    for (int d = 0; d < 3; d++)
        next.open[d] = g->open[d];
    if (md->tilted)
        grid_set_tilt(&next, md->tilt);
    grid_cut(&next, g->cuts);
    *g = next;
}

void md_box_widths(const struct md *md, double width[3])
{
    /* Volume over the area of the face across. */
    const double *l = md->box_length, *t = md->tilt;
    double bc[3] = {l[1] * l[2], -t[0] * l[2], t[0] * t[2] - l[1] * t[1]};
    double ca[2] = {l[2] * l[0], -l[0] * t[2]};
    double norm = sqrt(bc[0] * bc[0] + bc[1] * bc[1] + bc[2] * bc[2]);
    for (int d = 0; d < 3; d++)
        width[d] = l[d];
    if (!md->tilted)
        return;
    width[0] = l[0] * l[1] * l[2] / norm;
    width[1] = l[0] * l[1] * l[2] / hypot(ca[0], ca[1]);
}

void md_unwrap(const struct md *md, const struct md_particle *p, double out[3])
{
    const int32_t *n = p->image;
    for (int d = 0; d < 3; d++)
        out[d] = p->position[d] + n[d] * md->box_length[d];
    out[0] += n[1] * md->tilt[0] + n[2] * md->tilt[1];
    out[1] += n[2] * md->tilt[2];
}

void md_tilt_place(const struct md *md, double x[3])
{
    double y = (x[1] - md->box_lo[1]) / md->box_length[1];
    double z = (x[2] - md->box_lo[2]) / md->box_length[2];
    x[0] += y * md->tilt[0] + z * md->tilt[1];
    x[1] += z * md->tilt[2];
}
