/* wall_rule.h: what stands beyond the faces of the box, for every backend.
 *
 * At a wall a ghost is an affine function of the inner value beside it: factor
 * times it plus offset. Included after `scalar` is known.
 */
#ifndef WARPDECK_KERNELS_FLUID_WALL_RULE_H
#define WARPDECK_KERNELS_FLUID_WALL_RULE_H

#include "kernels/fluid/fluid_kernels.h"

/* Fields 0, 1, 2 are u, v, w; then the scalars. */
enum {
    FLUID_FIRST_SCALAR = 3,
    FLUID_FIELDS_MAX = FLUID_FIRST_SCALAR + FLUID_SCALARS_MAX,
    FLUID_RULE_PRESSURE = FLUID_FIELDS_MAX, /* psi and p */
    FLUID_RULES = FLUID_FIELDS_MAX + 1
};

/* At a rank boundary or in a periodic direction the ghost is another cell's
 * value, and nothing here is used (wall = 0). */
struct fluid_rule {
    int wall;
    scalar factor, offset;
};

static inline struct fluid_rule fluid_wall_rule(double factor, double offset)
{
    struct fluid_rule r = {1, (scalar)factor, (scalar)offset};
    return r;
}

/* Velocity component f at a face across direction d. */
static inline struct fluid_rule
fluid_velocity_rule(const struct fluid_face *face, int f, int d)
{
    if (f == d)
        return fluid_wall_rule(0, 0);
    if (face->type == FLUID_FREE_SLIP)
        return fluid_wall_rule(1, 0);
    return fluid_wall_rule(-1, 2 * face->velocity[f]);
}

/* distance: between the centers on both sides of the face. */
static inline struct fluid_rule fluid_scalar_rule(const struct fluid_scalar *c,
                                                  int d, int side,
                                                  double distance)
{
    double value = c->face[d][side].value;
    if (c->face[d][side].type == FLUID_SCALAR_VALUE)
        return fluid_wall_rule(-1, 2 * value);
    return fluid_wall_rule(1, value * distance);
}

/* All fields' rules at one wall of the box; end: height of the cells beside it,
 * where it is one across z. */
static inline void fluid_set_wall_rules(const struct fluid_setup *setup, int d,
                                        int side, double end,
                                        struct fluid_rule rule[][3][2])
{
    double distance = d < 2 ? setup->spacing[d] : end;
    for (int f = 0; f < 3; f++)
        rule[f][d][side] = fluid_velocity_rule(&setup->face[d][side], f, d);
    for (int f = 0; f < setup->n_scalars; f++)
        rule[FLUID_FIRST_SCALAR + f][d][side] =
            fluid_scalar_rule(&setup->scalar[f], d, side, distance);
    rule[FLUID_RULE_PRESSURE][d][side] = fluid_wall_rule(1, 0);
}

#endif
