/* rigid_cpu.c: groups of particles at fixed distances. See rigid.h.
 *
 * A group is solved on each rank that owns one of its particles, and moves only
 * those; what is not own comes as values of copies (md_unpack_values), in
 * doubles and as its owner has it, so that all ranks find the same bits.
 */
#include "kernels/md/dpd_cpu.h"
#include "kernels/md/terms_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/rigid.h"
#include "kernels/md/rigid_lanes.h"
#include "kernels/md/term_errors.h"
#include "kernels/md/tensor.h"
#include "kernels/md/wrap.h"

struct rigid_group {
    struct rigid_shape shape;
    uint32_t slot[RIGID_PARTICLES];
    uint8_t own;                     /* bit k: particle k is own */
    double share[RIGID_PARTICLES];   /* of the group's mass */
    double held[RIGID_PARTICLES][3]; /* places beside the first */
    double speed2[RIGID_BONDS];      /* of one end of a bond beside the other */
};

struct md_rigid {
    struct rigid_group *group;
    size_t n, capacity;
    double (*value)[3]; /* of each slot of copies */
    size_t cap_value;
};

void md_rigid_destroy(struct md_rigid *r)
{
    if (!r)
        return;
    free(r->group);
    free(r->value);
    free(r);
}

int md_rigid_clear(struct ctx *ctx, struct md_store *s)
{
    size_t slots = (size_t)s->n_clusters_halo * (size_t)LANES + 1;
    if (!s->rigid)
        s->rigid = calloc(1, sizeof *s->rigid);
    if (!s->rigid || md_grow((void **)&s->rigid->value, &s->rigid->cap_value,
                             slots, sizeof *s->rigid->value) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for rigid bonds");
    s->rigid->n = 0;
    return 0;
}

int md_rigid_add(struct ctx *ctx, struct md_store *s,
                 const struct slot_term *term)
{
    struct md_rigid *r = s->rigid;
    if (md_grow((void **)&r->group, &r->capacity, r->n + 1 + r->n / 4,
                sizeof *r->group) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for rigid bonds");
    struct rigid_group *g = &r->group[r->n++];
    memset(g, 0, sizeof *g);
    rigid_shape_of(&s->terms->field, term->kind, term->type, &g->shape);
    g->own = term->own;
    double whole = 0;
    for (int k = 0; k < g->shape.particles; k++) {
        double mass = s->setup.mass[s->species[term->slot[k]]];
        g->slot[k] = term->slot[k];
        g->shape.inverse_mass[k] = 1 / mass;
        g->share[k] = mass;
        whole += mass;
    }
    for (int k = 0; k < g->shape.particles; k++)
        g->share[k] /= whole;
    return 0;
}

double md_rigid_count(const struct md_store *s, double *joined)
{
    double sum = 0;
    *joined = 0;
    for (size_t i = 0; s->rigid && i < s->rigid->n; i++) {
        const struct rigid_group *g = &s->rigid->group[i];
        sum += g->own & 1 ? g->shape.n : 0;
        *joined += g->own & 1 ? g->shape.particles - 1 : 0;
    }
    return sum;
}

/* ---- values of copies ---- */

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

void md_pack_values(const struct md_store *s, enum md_value what,
                    double (*out)[3])
{
    for (size_t k = 0; k < s->n_send; k++)
        for (int d = 0; d < 3; d++)
            out[k][d] = value_of(s, what, s->send_slot[k], d);
}

void md_unpack_values(struct md_store *s, const double (*in)[3])
{
    size_t own = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t k = 0; k < s->n_halo && s->rigid; k++)
        memcpy(s->rigid->value[s->halo_slot[k] - own], in[k], sizeof in[k]);
    if (s->dpd)
        md_dpd_take_values(s, in);
}

static void values_of(const struct md_store *s, const struct rigid_group *g,
                      enum md_value what, double out[RIGID_PARTICLES][3])
{
    size_t own = (size_t)s->n_clusters * (size_t)LANES;
    for (int k = 0; k < g->shape.particles; k++)
        for (int d = 0; d < 3; d++)
            out[k][d] = g->own >> k & 1 ? value_of(s, what, g->slot[k], d)
                                        : s->rigid->value[g->slot[k] - own][d];
}

/* Places relative to the first particle's, across the box's faces. */
static void relative(const struct md_store *s, int n,
                     const double x[RIGID_PARTICLES][3],
                     double out[RIGID_PARTICLES][3])
{
    for (int k = 0; k < n; k++) {
        for (int d = 0; d < 3; d++)
            out[k][d] = x[k][d] - x[0][d];
        nearest_difference(out[k], s->setup.box_length, s->setup.tilt);
    }
}

/* ---- positions ---- */

static void hold_group(const struct md_store *s, struct rigid_group *g)
{
    double x[RIGID_PARTICLES][3];
    values_of(s, g, MD_VALUE_POSITION, x);
    relative(s, g->shape.particles, (const double(*)[3])x, g->held);
}

void md_rigid_hold(struct md_store *s)
{
    for (size_t i = 0; s->rigid && i < s->rigid->n; i++)
        hold_group(s, &s->rigid->group[i]);
}

/* Move an own particle, and what follows from its position. */
static double move_by(struct md_store *s, uint32_t slot, const double way[3],
                      double per_time)
{
    double moved2 = 0;
    for (int d = 0; d < 3; d++) {
        size_t k = SLOT(slot, d);
        s->x[k] = (state)((double)s->x[k] + way[d]);
        s->v[k] = (state)((double)s->v[k] + way[d] * per_time);
        s->moved[k] += (float)way[d];
        moved2 += (double)s->moved[k] * (double)s->moved[k];
#if MD_PRECISION == 2
        s->pair_x[k] = (scalar)(s->x[k] - s->origin[d]);
#endif
    }
    return moved2;
}

/* Groups [first, last) of one form, at most RIGID_WIDE. Returns the square of
 * the longest way of their own particles; *torn is the last one that has no
 * solution, or as it was. */
static double place_groups(struct md_store *s, size_t first, size_t last,
                           double per_time, double tolerance, int64_t *torn)
{
    double now[RIGID_WIDE][RIGID_PARTICLES][3];
    double x[RIGID_WIDE][RIGID_PARTICLES][3], moved2 = 0;
    struct rigid_group *group = s->rigid->group + first;
    struct rigid_block b;
    int n = (int)(last - first);
    for (int l = 0; l < RIGID_WIDE; l++) {
        struct rigid_group *g = &group[l < n ? l : 0];
        values_of(s, g, MD_VALUE_POSITION, now[l]);
        relative(s, g->shape.particles, (const double(*)[3])now[l], x[l]);
        rigid_load(&b, l, &g->shape, (const double(*)[3])g->held,
                   (const double(*)[3])x[l]);
    }
    unsigned failed = rigid_is_triangle(&group->shape)
                          ? rigid_place_lanes(&b, 1, tolerance)
                          : rigid_place_lanes(&b, 0, tolerance);
    for (int l = 0; l < n; l++) {
        struct rigid_group *g = &group[l];
        if (failed >> l & 1u) {
            *torn = (int64_t)(first + (size_t)l);
            continue;
        }
        for (int k = 0; k < g->shape.particles; k++) {
            double way[3];
            for (int d = 0; d < 3; d++) {
                way[d] = b.x[k][d][l] - x[l][k][d];
                now[l][k][d] += way[d];
            }
            if (g->own >> k & 1)
                moved2 = fmax(moved2, move_by(s, g->slot[k], way, per_time));
        }
        relative(s, g->shape.particles, (const double(*)[3])now[l], g->held);
    }
    return moved2;
}

/* The end of the block that begins with group i. */
static size_t block_end(const struct md_rigid *r, size_t i)
{
    int triangle = rigid_is_triangle(&r->group[i].shape);
    size_t end = i + 1;
    while (end < r->n && end < i + RIGID_WIDE &&
           rigid_is_triangle(&r->group[end].shape) == triangle)
        end++;
    return end;
}

int md_rigid_place(struct ctx *ctx, struct md_store *s, double per_time,
                   double tolerance, double *moved2)
{
    struct md_rigid *r = s->rigid;
    double greatest = 0;
    int64_t torn = -1;
    if (!r)
        return 0;
#pragma omp parallel for schedule(static) num_threads(s->n_workers) \
    reduction(max                                                   \
              : greatest, torn)
    for (int w = 0; w < s->n_workers; w++) {
        size_t i = r->n * (size_t)w / (size_t)s->n_workers;
        size_t end = r->n * (size_t)(w + 1) / (size_t)s->n_workers;
        while (i < end) {
            size_t last = block_end(r, i);
            last = last < end ? last : end;
            greatest = fmax(
                greatest, place_groups(s, i, last, per_time, tolerance, &torn));
            i = last;
        }
    }
    if (greatest > *moved2) /* what is not finite stays so */
        *moved2 = greatest;
    return torn >= 0 ? fail_torn(ctx, s->id[r->group[torn].slot[0]]) : 0;
}

/* ---- velocities ---- */

static void bonds_of(const struct rigid_group *g, double r[RIGID_BONDS][3])
{
    for (int k = 0; k < g->shape.n; k++)
        rigid_bond(&g->shape, k, (const double(*)[3])g->held, r[k]);
}

static void stop_group(struct md_store *s, struct rigid_group *g, int apply)
{
    double v[RIGID_PARTICLES][3], r[RIGID_BONDS][3], rate[RIGID_BONDS], u[3];
    values_of(s, g, MD_VALUE_VELOCITY, v);
    bonds_of(g, r);
    for (int k = 0; k < g->shape.n; k++) {
        rigid_bond(&g->shape, k, (const double(*)[3])v, u);
        rate[k] = rigid_dot(r[k], u);
    }
    rigid_impulses(&g->shape, (const double(*)[3])r, rate);
    rigid_push(&g->shape, (const double(*)[3])r, rate, v);
    for (int k = 0; k < g->shape.particles && apply; k++)
        for (int d = 0; d < 3 && g->own >> k & 1; d++)
            s->v[SLOT(g->slot[k], d)] = (state)v[k][d];
    for (int k = 0; k < g->shape.n; k++) {
        rigid_bond(&g->shape, k, (const double(*)[3])v, u);
        g->speed2[k] = rigid_dot(u, u);
    }
}

void md_rigid_stop(struct md_store *s, int apply)
{
    struct md_rigid *r = s->rigid;
    if (!r)
        return;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t i = 0; i < r->n; i++)
        stop_group(s, &r->group[i], apply);
}

/* ---- a box that changes ---- */

/* Turn values of the particles into those beside the center of mass, which
 * comes out. */
static void beside_center(const struct rigid_group *g,
                          double y[RIGID_PARTICLES][3], double center[3])
{
    for (int d = 0; d < 3; d++) {
        center[d] = 0;
        for (int k = 0; k < g->shape.particles; k++)
            center[d] += g->share[k] * y[k][d];
        for (int k = 0; k < g->shape.particles; k++)
            y[k][d] -= center[d];
    }
}

/* stretch() is linear: what it made of a place d and a velocity u beside the
 * center is grow (d + u t) + middle u t, t = dt_half, u after its `after`. */
static void unstretch_group(struct md_store *s, struct rigid_group *g,
                            const struct md_stretch *m, const double grow[3])
{
    double v[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3], center[3], place[3];
    values_of(s, g, MD_VALUE_VELOCITY, v);
    beside_center(g, v, center);
    memcpy(x, g->held, sizeof x);
    beside_center(g, x, place);
    for (int k = 0; k < g->shape.particles; k++) {
        double way[3];
        if (!(g->own >> k & 1))
            continue;
        for (int d = 0; d < 3; d++) {
            double u = v[k][d] / (m->after[d] * m->middle[d]);
            way[d] =
                (1 - grow[d]) * x[k][d] +
                u * m->dt_half * (2 - m->after[d] * (grow[d] + m->middle[d]));
            s->v[SLOT(g->slot[k], d)] = (state)(center[d] + u);
        }
        if (m->dt_half > 0)
            move_by(s, g->slot[k], way, 0);
    }
}

void md_rigid_unstretch(struct md_store *s, const struct md_stretch *m,
                        const double grow[3])
{
    struct md_rigid *r = s->rigid;
    if (!r)
        return;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t i = 0; i < r->n; i++)
        unstretch_group(s, &r->group[i], m, grow);
}

void md_rigid_inner(const struct md_store *s, double kinetic[3],
                    double virial[3])
{
    for (int d = 0; d < 3; d++)
        kinetic[d] = virial[d] = 0;
    for (size_t i = 0; s->rigid && i < s->rigid->n; i++) {
        const struct rigid_group *g = &s->rigid->group[i];
        double v[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3], center[3];
        values_of(s, g, MD_VALUE_VELOCITY, v);
        beside_center(g, v, center);
        memcpy(x, g->held, sizeof x);
        beside_center(g, x, center);
        for (int k = 0; k < g->shape.particles; k++)
            for (int d = 0; d < 3 && g->own >> k & 1; d++) {
                kinetic[d] += v[k][d] * v[k][d] / g->shape.inverse_mass[k];
                virial[d] += x[k][d] * (double)s->f[SLOT(g->slot[k], d)];
            }
    }
}

/* ---- forces ---- */

/* The bonds' forces keep the second derivative of their squared lengths at 0:
 * r . a + u . u = 0. In mass * velocity^2, as accelerations are. */
void md_rigid_sums(const struct md_store *s, struct md_sums *sums)
{
    const struct md_rigid *all = s->rigid;
    double to_energy = 1 / s->setup.acceleration;
    for (size_t i = 0; all && i < all->n; i++) {
        const struct rigid_group *g = &all->group[i];
        double a[RIGID_PARTICLES][3], r[RIGID_BONDS][3], rate[RIGID_BONDS];
        double share =
            to_energy * (double)__builtin_popcount(g->own) / g->shape.particles;
        values_of(s, g, MD_VALUE_ACCELERATION, a);
        bonds_of(g, r);
        for (int k = 0; k < g->shape.n; k++) {
            double u[3];
            rigid_bond(&g->shape, k, (const double(*)[3])a, u);
            rate[k] = rigid_dot(r[k], u) + g->speed2[k];
        }
        rigid_impulses(&g->shape, (const double(*)[3])r, rate);
        for (int k = 0; k < g->shape.n; k++) {
            double force[3];
            for (int d = 0; d < 3; d++)
                force[d] = -rate[k] * r[k][d];
            sums->virial += share * rigid_dot(force, r[k]);
            if (sums->with_tensor)
                add_tensor(sums->tensor, share, force, r[k]);
        }
    }
}
