/* md_box.c: a box that changes in the run. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/halo.h"
#include "md_data.h"

double md_volume(const struct md *md)
{
    return md->box_length[0] * md->box_length[1] * md->box_length[2];
}

void md_box_check(struct params *p, const struct md *md)
{
    const double most = 1e9 * (md->pair.reach > 0 ? md->pair.reach : 1);
    const char *file = md->data ? md->data->path : md->initial.read;
    for (int d = 0; d < 3; d++)
        if (!(md->box_length[d] <= most))
            params_error(p, "domain", "size",
                         "%s%sthe box is %g long in %c; with more than 10^9 "
                         "times the cutoff, %g, places in it have no digits "
                         "left for distances",
                         file ? file : "", file ? ": " : "", md->box_length[d],
                         "xyz"[d], most);
}

int md_box_changes(const struct md *md)
{
    return md->barostat.kind || md->deform.kind;
}

int md_volume_changes(const struct md *md)
{
    return md_box_changes(md) || md_open_box(md);
}

void md_new_box(struct md *md, const double length[3], struct md_geometry *out)
{
    for (int d = 0; d < 3; d++)
        md->box_length[d] = length[d];
    md_fit_grid(md);
    halo_set_box(md->halo, &md->grid, out);
    if (md->pair.tail)
        md_pair_tail(md);
}

void md_set_box(struct md *md, const double length[3])
{
    struct md_geometry box;
    md_new_box(md, length, &box);
    md->k->set_box(md->store, &box);
}

int md_fit_halo(struct ctx *ctx, struct md *md)
{
    TRY(md_open_box_follow(ctx, md));
    if (!md_box_changes(md))
        return 0;
    md_deform_flip(md);
    for (int d = 0; d < 3; d++) {
        md->barostat.listed[d] = md->box_length[d];
        md->deform.listed[d] = md->tilt[d];
    }
    return halo_fit(ctx, md->halo);
}

/* A pair that is not listed was at least R = cutoff + skin apart then. In
 * proportion to the box that is at least R times the least factor of an edge,
 * and twice the way of a particle beside it less. R is the greater one where
 * g(r) goes beyond the cutoff, so that it misses no copy. */
double md_list_slack(const struct md *md)
{
    double radius = md_list_radius(md), skin = md->pair.skin;
    double least = 1;
    if (!md_box_changes(md))
        return 0.5 * skin;
    for (int d = 0; d < 3; d++)
        least = fmin(least, md->box_length[d] / md->barostat.listed[d]);
    least *= md_deform_least(md);
    return 0.5 * (skin - (1 - least) * radius);
}

/* Of a box that is sheared, whose tilt comes and goes, the edge: none of its
 * lattice is shorter while no tilt is more than half of one. */
static double shortest_way(const struct md *md)
{
    double shortest = HUGE_VAL;
    if (md->deform.kind != MD_DEFORM_SHEAR)
        return md_shortest_edge(md);
    for (int d = 0; d < 3; d++)
        if (!md->walls.outer.walled[d] || md->bonded.on)
            shortest = fmin(shortest, md->box_length[d]);
    return shortest;
}

const char *md_blocked(void *state)
{
    struct md *md = state;
    double shortest = shortest_way(md);
    double range = md->rdf.on ? md->rdf.range : 0;
    double longest = fmax(md->pair.reach, range);
    if (!md_box_changes(md) || md->deform.kind == MD_DEFORM_SHEAR ||
        longest <= 0.5 * shortest * (1 + 1e-12))
        return NULL;
    snprintf(md->blocked, sizeof md->blocked,
             "step %" PRId64 ": the box has shrunk to %g x %g x %g, so that "
             "the %s, %g, is more than half of %s; start with a larger "
             "system, or one nearer to its density at this pressure",
             md->step, md->box_length[0], md->box_length[1], md->box_length[2],
             range > md->pair.reach ? "range of md.analysis.rdf"
                                    : "longest cutoff",
             longest,
             md->tilted && md->deform.kind != MD_DEFORM_SHEAR
                 ? "the way from face to face"
                 : "an edge");
    return md->blocked;
}
