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
#include "kernels/md/rigid_sets.h"
#include "kernels/md/term_errors.h"
#include "kernels/md/tensor.h"

void md_rigid_destroy(struct md_rigid *r)
{
    if (!r)
        return;
    free(r->set);
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
    s->rigid->n = s->rigid->open[0] = s->rigid->open[1] = 0;
    s->rigid->kind = -1;
    return 0;
}

int md_rigid_add(struct ctx *ctx, struct md_store *s,
                 const struct slot_term *term)
{
    struct md_rigid *r = s->rigid;
    if (term->kind != r->kind || term->type != r->type)
        rigid_shape_of(&s->terms->field, term->kind, term->type, &r->shape);
    r->kind = term->kind;
    r->type = term->type;
    int triangle = rigid_is_triangle(&r->shape);
    size_t at = r->open[triangle];
    if (at == 0 || r->set[at - 1].n == RIGID_WIDE) {
        if (md_grow((void **)&r->set, &r->capacity, r->n + 1 + r->n / 4,
                    sizeof *r->set) != 0)
            return FAIL(ctx, STATUS_MEMORY, "no memory for rigid bonds");
        r->open[triangle] = at = ++r->n;
        memset(&r->set[at - 1], 0, sizeof *r->set);
        r->set[at - 1].triangle = triangle;
        r->set[at - 1].whole = 1;
    }
    struct rigid_set *g = &r->set[at - 1];
    for (int l = g->n; l < (g->n == 0 ? RIGID_WIDE : g->n + 1); l++)
        fill_lane(s, g, l, &r->shape, term);
    g->n++;
    g->whole &= term->own == (1 << r->shape.particles) - 1;
    return 0;
}

double md_rigid_count(const struct md_store *s, double *joined)
{
    double sum = 0;
    *joined = 0;
    for (size_t i = 0; s->rigid && i < s->rigid->n; i++) {
        const struct rigid_set *g = &s->rigid->set[i];
        for (int l = 0; l < g->n; l++) {
            for (int k = 0; k < RIGID_BONDS && g->own[l] & 1; k++)
                sum += g->square[k][l] > 0;
            *joined += g->own[l] & 1 ? g->particles[l] - 1 : 0;
        }
    }
    return sum;
}

/* ---- values of copies ---- */

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

/* ---- positions ---- */

static void hold_set(const struct md_store *s, struct rigid_set *g)
{
    rigid_real x[RIGID_PARTICLES][3], held[RIGID_PARTICLES][3];
    values_of(s, g, MD_VALUE_POSITION, x);
    relative(s, (const rigid_real(*)[3])x, held);
    keep_lanes((const rigid_real *)held, RIGID_PARTICLES * 3, g->held);
}

void md_rigid_hold(struct md_store *s)
{
    for (size_t i = 0; s->rigid && i < s->rigid->n; i++)
        hold_set(s, &s->rigid->set[i]);
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

/* Move the own particles of a set, but not the groups whose bits are set in
 * `failed`. Returns the square of the longest way since the list. */
static double move_set(struct md_store *s, const struct rigid_set *g,
                       const rigid_real way[RIGID_PARTICLES][3],
                       unsigned failed, double per_time)
{
    double ways[RIGID_PARTICLES * 3][RIGID_WIDE], moved2 = 0;
    keep_lanes((const rigid_real *)way, RIGID_PARTICLES * 3, ways);
    for (int l = 0; l < g->n; l++)
        for (int k = 0; k < g->particles[l] && !(failed >> l & 1u); k++) {
            const double one[3] = {ways[3 * k][l], ways[3 * k + 1][l],
                                   ways[3 * k + 2][l]};
            if (!(g->own[l] >> k & 1))
                continue;
            double here2 = move_by(s, g->slot[k][l], one, per_time);
            moved2 = here2 > moved2 ? here2 : moved2;
        }
    return moved2;
}

/* Returns the square of the longest way of own particles; *torn is a slot of
 * the last group that has no solution, or as it was. */
static double place_set(struct md_store *s, struct rigid_set *g,
                        double per_time, double tolerance, int64_t *torn)
{
    const rigid_real none = {0};
    rigid_real now[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3];
    struct rigid_block b;
    load_set(g, &b);
    values_of(s, g, MD_VALUE_POSITION, now);
    relative(s, (const rigid_real(*)[3])now, x);
    memcpy(b.x, x, sizeof b.x);
    unsigned failed = g->triangle ? rigid_place_lanes(&b, 1, tolerance)
                                  : rigid_place_lanes(&b, 0, tolerance);
    for (int l = 0; l < g->n; l++)
        if (failed >> l & 1u)
            *torn = (int64_t)g->slot[0][l];
    for (int k = 0; k < RIGID_PARTICLES; k++)
        for (int d = 0; d < 3; d++) {
            x[k][d] = b.x[k][d] - x[k][d];
            now[k][d] += x[k][d];
        }
    relative(s, (const rigid_real(*)[3])now, b.x);
    for (int k = 1; k < RIGID_PARTICLES; k++) /* where nobody is: no bond */
        for (int d = 0; d < 3; d++)
            b.x[k][d] = RIGID_CHOOSE(b.inverse_mass[k] > none, b.x[k][d], none);
    keep_lanes((const rigid_real *)b.x, RIGID_PARTICLES * 3, g->held);
    return move_set(s, g, (const rigid_real(*)[3])x, failed, per_time);
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
    for (size_t i = 0; i < r->n; i++) {
        double longest = place_set(s, &r->set[i], per_time, tolerance, &torn);
        greatest = longest > greatest ? longest : greatest;
    }
    if (greatest > *moved2) /* what is not finite stays so */
        *moved2 = greatest;
    return torn >= 0 ? fail_torn(ctx, s->id[torn]) : 0;
}

/* ---- velocities ---- */

/* v of the own particles of a set. */
static void keep_velocities(struct md_store *s, const struct rigid_set *g,
                            const rigid_real v[RIGID_PARTICLES][3])
{
    double all[RIGID_PARTICLES * 3][RIGID_WIDE];
    keep_lanes((const rigid_real *)v, RIGID_PARTICLES * 3, all);
    for (int l = 0; l < g->n; l++)
        for (int k = 0; k < g->particles[l]; k++)
            for (int d = 0; d < 3 && g->own[l] >> k & 1; d++)
                s->v[SLOT(g->slot[k][l], d)] = (state)all[3 * k + d][l];
}

static void stop_set(struct md_store *s, struct rigid_set *g, int apply)
{
    rigid_real v[RIGID_PARTICLES][3], speed2[RIGID_BONDS];
    struct rigid_block b;
    load_set(g, &b);
    values_of(s, g, MD_VALUE_VELOCITY, v);
    if (g->triangle)
        rigid_stop_lanes(&b, 1, v, speed2);
    else
        rigid_stop_lanes(&b, 0, v, speed2);
    keep_lanes(speed2, RIGID_BONDS, g->speed2);
    if (apply)
        keep_velocities(s, g, (const rigid_real(*)[3])v);
}

void md_rigid_stop(struct md_store *s, int apply)
{
    struct md_rigid *r = s->rigid;
    if (!r)
        return;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t i = 0; i < r->n; i++)
        stop_set(s, &r->set[i], apply);
}

/* ---- a box that changes ---- */

/* Turn values of the particles into those beside the center of mass, which
 * comes out. */
static void beside_center(const struct rigid_set *g,
                          rigid_real y[RIGID_PARTICLES][3],
                          rigid_real center[3])
{
    rigid_real share[RIGID_PARTICLES];
    take_lanes(g->share, RIGID_PARTICLES, share);
    for (int d = 0; d < 3; d++) {
        center[d] = (rigid_real){0};
        for (int k = 0; k < RIGID_PARTICLES; k++)
            center[d] += share[k] * y[k][d];
        for (int k = 0; k < RIGID_PARTICLES; k++)
            y[k][d] -= center[d];
    }
}

/* stretch() is linear: what it made of a place d and a velocity u beside the
 * center is grow (d + u t) + middle u t, t = dt_half, u after its `after`. */
static void unstretch_set(struct md_store *s, struct rigid_set *g,
                          const struct md_stretch *m, const double grow[3])
{
    rigid_real v[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3], center[3];
    take_lanes(g->held, RIGID_PARTICLES * 3, (rigid_real *)x);
    beside_center(g, x, center);
    values_of(s, g, MD_VALUE_VELOCITY, v);
    beside_center(g, v, center);
    for (int k = 0; k < RIGID_PARTICLES; k++)
        for (int d = 0; d < 3; d++) {
            rigid_real u = v[k][d] / (m->after[d] * m->middle[d]);
            x[k][d] =
                (1 - grow[d]) * x[k][d] +
                u * m->dt_half * (2 - m->after[d] * (grow[d] + m->middle[d]));
            v[k][d] = center[d] + u;
        }
    keep_velocities(s, g, (const rigid_real(*)[3])v);
    if (m->dt_half > 0)
        move_set(s, g, (const rigid_real(*)[3])x, 0, 0);
}

void md_rigid_unstretch(struct md_store *s, const struct md_stretch *m,
                        const double grow[3])
{
    struct md_rigid *r = s->rigid;
    if (!r)
        return;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t i = 0; i < r->n; i++)
        unstretch_set(s, &r->set[i], m, grow);
}

/* The values that each lane's own particles have of a sum over them. */
static double sum_of_own(const struct rigid_set *g, int k, const rigid_real *y)
{
    double sum = 0;
    for (int l = 0; l < g->n; l++)
        sum += k < g->particles[l] && g->own[l] >> k & 1 ? (*y)[l] : 0;
    return sum;
}

void md_rigid_inner(const struct md_store *s, double kinetic[3],
                    double virial[3])
{
    for (int d = 0; d < 3; d++)
        kinetic[d] = virial[d] = 0;
    for (size_t i = 0; s->rigid && i < s->rigid->n; i++) {
        const struct rigid_set *g = &s->rigid->set[i];
        rigid_real v[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3], center[3];
        rigid_real a[RIGID_PARTICLES][3], w[RIGID_PARTICLES];
        values_of(s, g, MD_VALUE_VELOCITY, v);
        values_of(s, g, MD_VALUE_ACCELERATION, a);
        beside_center(g, v, center);
        take_lanes(g->held, RIGID_PARTICLES * 3, (rigid_real *)x);
        beside_center(g, x, center);
        take_lanes(g->inverse_mass, RIGID_PARTICLES, w);
        for (int k = 0; k < RIGID_PARTICLES; k++)
            for (int d = 0; d < 3; d++) {
                rigid_real energy = v[k][d] * v[k][d] / w[k];
                rigid_real work =
                    x[k][d] * a[k][d] / (w[k] * s->setup.acceleration);
                kinetic[d] += sum_of_own(g, k, &energy);
                virial[d] += sum_of_own(g, k, &work);
            }
    }
}

/* ---- forces ---- */

/* The bonds' forces keep the second derivative of their squared lengths at 0:
 * r . a + u . u = 0. In mass * velocity^2, as accelerations are. */
static void add_forces(const struct md_store *s, const struct rigid_set *g,
                       const int triangle, struct md_sums *sums)
{
    const int from[] = RIGID_FROM(triangle), to[] = RIGID_TO(triangle);
    rigid_real a[RIGID_PARTICLES][3], r[RIGID_BONDS][3], rate[RIGID_BONDS];
    struct rigid_block b;
    load_set(g, &b);
    values_of(s, g, MD_VALUE_ACCELERATION, a);
    rigid_bonds_lanes(&b, triangle, r);
    for (int k = 0; k < RIGID_BONDS; k++) {
        rate[k] = *(const set_real *)g->speed2[k];
        for (int d = 0; d < 3; d++)
            rate[k] += r[k][d] * (a[from[k]][d] - a[to[k]][d]);
    }
    rigid_impulses_lanes(&b, triangle, (const rigid_real(*)[3])r, rate);
    for (int l = 0; l < g->n; l++) {
        double share = (double)__builtin_popcount(g->own[l]) / g->particles[l] /
                       s->setup.acceleration;
        for (int k = 0; k < RIGID_BONDS; k++) {
            double force[3], way[3];
            for (int d = 0; d < 3; d++) {
                way[d] = r[k][d][l];
                force[d] = -rate[k][l] * way[d];
            }
            sums->virial += share * rigid_dot(force, way);
            if (sums->with_tensor)
                add_tensor(sums->tensor, share, force, way);
        }
    }
}

void md_rigid_sums(const struct md_store *s, struct md_sums *sums)
{
    for (size_t i = 0; s->rigid && i < s->rigid->n; i++) {
        const struct rigid_set *g = &s->rigid->set[i];
        add_forces(s, g, g->triangle, sums);
    }
}
