/* rigid_sets.h: groups of particles at fixed distances as they lie in memory,
 * eight side by side, and the way of their particles' values into vectors.
 *
 * Private to rigid_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_RIGID_SETS_H
#define WARPDECK_KERNELS_MD_RIGID_SETS_H

#include <stdint.h>
#include <string.h>

#include "kernels/md/rigid.h"
#include "kernels/md/rigid_lanes.h"
#include "kernels/md/terms_cpu.h"
#include "kernels/md/wrap.h"

/* RIGID_WIDE groups of one form, lane by lane. Lanes without a group are as the
 * first one. */
struct rigid_set {
    double held[RIGID_PARTICLES * 3]
               [RIGID_WIDE];                   /* beside the first particle */
    double share[RIGID_PARTICLES][RIGID_WIDE]; /* of the group's mass */
    double square[RIGID_BONDS][RIGID_WIDE];    /* of lengths; 0: no bond */
    double per_square[RIGID_BONDS][RIGID_WIDE];
    double inverse_mass[RIGID_PARTICLES][RIGID_WIDE]; /* 0: no particle */
    double speed2[RIGID_BONDS][RIGID_WIDE]; /* of one end beside the other */
    uint32_t slot[RIGID_PARTICLES][RIGID_WIDE];
    uint8_t own[RIGID_WIDE]; /* bit k: particle k is own */
    uint8_t particles[RIGID_WIDE];
    int n, triangle, whole; /* whole: all are own */
};

struct md_rigid {
    struct rigid_set *set;
    size_t n, capacity;
    size_t open[2];     /* 1 + the set of each form that is filled now; or 0 */
    double (*value)[3]; /* of each slot of copies */
    size_t cap_value;
    int kind, type; /* of `shape`, the last one */
    struct rigid_shape shape;
};

static void fill_lane(const struct md_store *s, struct rigid_set *g, int l,
                      const struct rigid_shape *shape,
                      const struct slot_term *term)
{
    double whole = 0;
    for (int k = 0; k < shape->particles; k++)
        whole += s->setup.mass[s->species[term->slot[k]]];
    for (int k = 0; k < RIGID_PARTICLES; k++) {
        int is = k < shape->particles;
        double mass = s->setup.mass[s->species[term->slot[is ? k : 0]]];
        g->slot[k][l] = term->slot[is ? k : 0];
        g->inverse_mass[k][l] = is ? 1 / mass : 0;
        g->share[k][l] = is ? mass / whole : 0;
    }
    for (int k = 0; k < RIGID_BONDS; k++) {
        g->square[k][l] = k < shape->n ? shape->square[k] : 0;
        g->per_square[k][l] = k < shape->n ? 1 / shape->square[k] : 0;
        g->speed2[k][l] = 0;
    }
    g->own[l] = term->own;
    g->particles[l] = (uint8_t)shape->particles;
}

/* ---- values in lanes ---- */

static double value_of(const struct md_store *s, enum md_value what,
                       size_t slot, int d)
{
    size_t k = SLOT(slot, d);
    if (what == MD_VALUE_POSITION)
        return (double)s->x[k] + s->state_origin[d];
    if (what == MD_VALUE_VELOCITY)
        return (double)s->v[k];
    return (double)s->f[k] * s->inverse_mass[s->species[slot]];
}

typedef rigid_real set_real __attribute__((aligned(8))); /* where it lies */

static void take_lanes(const double from[][RIGID_WIDE], int n, rigid_real *out)
{
    for (int k = 0; k < n; k++)
        out[k] = *(const set_real *)from[k];
}

static void keep_lanes(const rigid_real *from, int n, double out[][RIGID_WIDE])
{
    for (int k = 0; k < n; k++)
        *(set_real *)out[k] = from[k];
}

/* What does not change from step to step, and the places held. */
static void load_set(const struct rigid_set *g, struct rigid_block *b)
{
    take_lanes(g->held, RIGID_PARTICLES * 3, (rigid_real *)b->held);
    take_lanes(g->square, RIGID_BONDS, b->square);
    take_lanes(g->per_square, RIGID_BONDS, b->per_square);
    take_lanes(g->inverse_mass, RIGID_PARTICLES, b->inverse_mass);
}

/* How many particles the longest of a set's groups has. */
static int most_particles(const struct rigid_set *g)
{
    return g->triangle ? RIGID_PARTICLES - 1 : RIGID_PARTICLES;
}

/* One coordinate of the particles at x[at[..]]. */
static inline void gather_state(const state *x, const size_t *at,
                                rigid_real *out)
{
    _Static_assert((int)RIGID_WIDE == 8, "lanes are written out");
    *out = (rigid_real){(double)x[at[0]], (double)x[at[1]], (double)x[at[2]],
                        (double)x[at[3]], (double)x[at[4]], (double)x[at[5]],
                        (double)x[at[6]], (double)x[at[7]]};
}

static void values_of(const struct md_store *s, const struct rigid_set *g,
                      enum md_value what, rigid_real out[RIGID_PARTICLES][3])
{
    size_t own = (size_t)s->n_clusters * (size_t)LANES, at[RIGID_WIDE];
    const state *from = what == MD_VALUE_POSITION ? s->x : s->v;
    for (int k = 0; k < most_particles(g); k++) {
        const uint32_t *slot = g->slot[k];
        if (g->whole && what != MD_VALUE_ACCELERATION) {
            for (int l = 0; l < RIGID_WIDE; l++)
                at[l] = SLOT(slot[l], 0);
            for (int d = 0; d < 3; d++) {
                gather_state(from + d * LANES, at, &out[k][d]);
                if (what == MD_VALUE_POSITION)
                    out[k][d] += s->state_origin[d];
            }
            continue;
        }
        for (int l = 0; l < RIGID_WIDE; l++)
            for (int d = 0; d < 3; d++)
                out[k][d][l] = slot[l] < own
                                   ? value_of(s, what, slot[l], d)
                                   : s->rigid->value[slot[l] - own][d];
    }
    for (int k = most_particles(g); k < RIGID_PARTICLES; k++)
        memcpy(out[k], out[0], sizeof out[k]);
}

/* Places relative to the first particle's, across the box's faces. */
static void relative(const struct md_store *s,
                     const rigid_real x[RIGID_PARTICLES][3],
                     rigid_real out[RIGID_PARTICLES][3])
{
    for (int d = 0; d < 3; d++)
        out[0][d] = (rigid_real){0};
    for (int k = 1; k < RIGID_PARTICLES; k++) {
        double way[3][RIGID_WIDE];
        for (int d = 0; d < 3; d++)
            *(set_real *)way[d] = x[k][d] - x[0][d];
        nearest_differences(RIGID_WIDE,
                            (double *const[3]){way[0], way[1], way[2]},
                            s->setup.box_length, s->setup.tilt);
        take_lanes((const double(*)[RIGID_WIDE])way, 3, out[k]);
    }
}

#endif
