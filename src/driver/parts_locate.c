/* Where parts lie on the grid, and values between its centers. */
#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/field.h"
#include "driver/parts_locate.h"

static int64_t nearest(const double *centers, int64_t n, double x)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (fabs(centers[i] - x) < fabs(centers[best] - x))
            best = i;
    return best;
}

static void locate_slice(struct part *part, const struct grid_frame *g)
{
    for (int d = 0; d < 3; d++)
        part->box.count[d] = g->cells[d];
    part->box.first[part->axis] = nearest(
        g->centers[part->axis], g->cells[part->axis], part->lower[part->axis]);
    part->box.count[part->axis] = 1;
}

static int locate_box(struct ctx *ctx, struct part *part,
                      const struct grid_frame *g)
{
    for (int d = 0; d < 3; d++) {
        int64_t from = 0, to = g->cells[d];
        while (from < to && g->centers[d][from] < part->lower[d])
            from++;
        while (to > from && g->centers[d][to - 1] > part->upper[d])
            to--;
        if (from == to)
            return FAIL(ctx, STATUS_DECK,
                        "no center of a cell lies in the box '%s' in %c, from "
                        "%g to %g",
                        part->name, "xyz"[d], part -> lower[d],
                        part -> upper[d]);
        part->box.first[d] = from;
        part->box.count[d] = to - from;
    }
    return 0;
}

/* The centers below and above x, and their weights. Across a periodic boundary
 * the neighbour is the cell at the other end; at a wall there is none. */
static void locate_between(struct part *part, const struct grid_frame *g, int d)
{
    const double *c = g->centers[d];
    int64_t n = g->cells[d], below = -1;
    double x = part->lower[d], low, high;
    while (below + 1 < n && c[below + 1] <= x)
        below++;
    int64_t above = below + 1;
    if (n == 1 || (!g->periodic[d] && (below < 0 || above == n))) {
        part->near[d][0] = part->near[d][1] = below < 0 ? 0 : below;
        part->weight[d][0] = 1;
        part->weight[d][1] = 0;
        return;
    }
    low = below < 0 ? c[n - 1] - g->length[d] : c[below];
    high = above == n ? c[0] + g->length[d] : c[above];
    part->near[d][0] = below < 0 ? n - 1 : below;
    part->near[d][1] = above == n ? 0 : above;
    part->weight[d][1] = (x - low) / (high - low);
    part->weight[d][0] = 1 - part->weight[d][1];
}

int part_locate(struct ctx *ctx, struct part *part, const struct grid_frame *g)
{
    part->located = 1;
    if (part->kind == PART_SLICE)
        locate_slice(part, g);
    else if (part->kind == PART_BOX)
        return locate_box(ctx, part, g);
    else if (part->kind == PART_PROBE)
        for (int d = 0; d < 3; d++)
            locate_between(part, g, d);
    return 0;
}

/* This rank's share of the values: the corners that are its cells. */
static void add_corner(struct part *part, const struct grid_frame *g,
                       const struct grid_field *const *fields, int corner)
{
    const int side[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
    double weight = 1, *out = part->values;
    int64_t at[3];
    for (int d = 0; d < 3; d++) {
        weight *= part->weight[d][side[d]];
        at[d] = part->near[d][side[d]] - g->first[d];
        if (at[d] < 0 || at[d] >= g->local[d])
            return;
    }
    int64_t cell = (at[2] * g->local[1] + at[1]) * g->local[0] + at[0];
    for (int i = 0; i < part->n_fields; i++)
        for (int c = 0; c < fields[i]->components; c++)
            *out++ +=
                weight * fields[i]->values[cell * fields[i]->components + c];
}

int part_interpolate(struct ctx *ctx, struct part *part,
                     const struct grid_frame *g,
                     const struct grid_field *const *fields)
{
    for (int i = 0; i < part->n_values; i++)
        part->values[i] = 0;
    for (int corner = 0; corner < 8; corner++)
        add_corner(part, g, fields, corner);
    return comm_sum_double(ctx, part->values, part->n_values);
}
