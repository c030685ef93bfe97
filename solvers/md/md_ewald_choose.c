/* md_ewald_choose.c: how wrong forces are, and what to take so that they are no
 * more wrong than asked.
 */
#include "md_ewald.h"

#include <math.h>

#include "base/param.h"
#include "md.h"

static const double pi = 3.14159265358979323846;

double md_ewald_edge(const struct md *md, int d)
{
    return md->box_length[d] * md->ewald->extent[d];
}

double md_ewald_volume(const struct md *md)
{
    return md_ewald_edge(md, 0) * md_ewald_edge(md, 1) * md_ewald_edge(md, 2);
}

double md_ewald_reach(const struct md *md, int d)
{
    const double *t = md->tilt, up = md_ewald_edge(md, d);
    return d == 0   ? up
           : d == 1 ? hypot(up, t[0])
                    : sqrt(up * up + t[1] * t[1] + t[2] * t[2]);
}

void md_ewald_walls(struct params *p, struct md *md)
{
    struct md_ewald *e = md->ewald;
    const int *walled = md->walls.outer.walled;
    int has_key = params_is_set(p, "md.coulomb", "slab_extent");
    if (has_key && (!e || !walled[2]))
        params_refuse(p, "md.coulomb", "slab_extent",
                      "md.coulomb.slab_extent has no meaning without pme or "
                      "ewald and [[md.walls]] in z");
    if (!e)
        return;
    if (walled[0] || walled[1])
        params_error(p, "md.coulomb", "method",
                     "methods pme and ewald need a box without [[md.walls]] in "
                     "x and y; take cut or dsf");
    if (!walled[2])
        return;
    if (!e->slab)
        params_error(p, "md.coulomb", "slab",
                     "[[md.walls]] in z with methods pme and ewald need "
                     "md.coulomb.slab = true");
    e->extent[2] = has_key ? params_double(p, "md.coulomb", "slab_extent") : 3;
}

void md_ewald_check_gap(struct params *p, const struct md *md)
{
    double gap = (md->ewald->extent[2] - 1) * md->box_length[2];
    if (md->walls.outer.walled[2] && gap < md->pair.reach)
        params_error(p, "md.coulomb", "slab_extent",
                     "the empty space above the box, (md.coulomb.slab_extent - "
                     "1) times its height = %g, must not be less than the "
                     "cutoff, %g",
                     gap, md->pair.reach);
}

/* C sum q^2, and per root of the number of particles. */
static double strength(const struct md *md)
{
    return md->bonded.field.coulomb.constant * md->ewald->squares;
}

double md_ewald_error_near(const struct md *md, double alpha)
{
    double rc = md->bonded.field.coulomb.cutoff;
    double n = (double)md->n_particles;
    return 2 * strength(md) * exp(-alpha * alpha * rc * rc) /
           sqrt(n * rc * md_ewald_volume(md));
}

double md_ewald_error_waves(const struct md *md, double alpha, double most)
{
    double length = cbrt(md_ewald_volume(md)), n = (double)md->n_particles;
    double turns = most * length / (2 * pi);
    return 2 * strength(md) * alpha / length / sqrt(pi * turns * n) *
           exp(-0.25 * most * most / (alpha * alpha));
}

/* ---- boxes that are strained ---- */

double md_ewald_error(const struct md *md, enum md_ewald_part part)
{
    const struct md_ewald *e = md->ewald;
    if (part == MD_EWALD_NEAR)
        return md_ewald_error_near(md, e->alpha);
    return e->on_mesh ? md_ewald_error_mesh(md, e->alpha, e->cells, e->order)
                      : md_ewald_error_waves(md, e->alpha, e->wave_cutoff);
}

/* The greatest of a number over the boxes of the run. */
static double greatest(struct md *md, double (*number)(const struct md *, int),
                       int which)
{
    struct md_shape shapes[MD_SHAPES], now;
    double worst = 0;
    int n = md_deform_shapes(md, shapes);
    md_shape_of(md, &now);
    for (int i = 0; i < n && !isnan(worst); i++) {
        md_shape_take(md, &shapes[i]);
        double x = number(md, which);
        worst = x > worst || isnan(x) ? x : worst;
    }
    md_shape_take(md, &now);
    return worst;
}

static double error_of(const struct md *md, int part)
{
    return md_ewald_error(md, (enum md_ewald_part)part);
}

double md_ewald_worst(struct md *md, enum md_ewald_part part)
{
    return greatest(md, error_of, (int)part);
}

double md_ewald_longest(struct md *md, int d)
{
    return greatest(md, md_ewald_reach, d);
}

/* ---- a mesh ---- */

/* What a wave adds to the mean square error: with R, U and G as in
 * md_influence.c,
 *     sum_m R(k_m)^2 - 2 G k . sum_m R(k_m) U(k_m)^2 + G^2 k^2 (sum_m U^2)^2,
 * where G is the function that is used, of fewer aliases. */
static double square_error(const struct md *md, double alpha,
                           const struct md_alias a[3], double g,
                           const int64_t k[3])
{
    const size_t first[3] = {3 * (size_t)k[0], 3 * (size_t)k[1],
                             3 * (size_t)k[2]};
    const size_t middle[3] = {first[0] + 1, first[1] + 1, first[2] + 1};
    double base[3], sum = 0, whole = 1;
    md_alias_wave(md, alpha, a, middle, base);
    double k2 = base[0] * base[0] + base[1] * base[1] + base[2] * base[2];
    for (int d = 0; d < 3; d++)
        whole *= a[d].whole[k[d]];
    for (size_t m = 0; m < 27; m++) {
        const size_t at[3] = {first[0] + m % 3, first[1] + m / 3 % 3,
                              first[2] + m / 9};
        double q[3], dot = 0, q2 = 0, weight = 1;
        double gauss = md_alias_wave(md, alpha, a, at, q);
        for (int d = 0; d < 3; d++) {
            dot += base[d] * q[d];
            q2 += q[d] * q[d];
            weight *= a[d].weight[at[d]];
        }
        double r = 4 * pi / q2 * gauss; /* R = r k_m */
        sum += r * r * q2 - 2 * g * dot * r * weight;
    }
    return sum + g * g * k2 * whole * whole;
}

/* All waves, but of those with the same errors one: k and -k, and in a box with
 * right angles one octant of all. */
static double sum_errors(const struct md *md, double alpha,
                         const struct md_alias a[3],
                         const struct md_alias used[3], const int64_t cells[3])
{
    double sum = 0;
    int64_t k[3], last[3];
    for (int d = 0; d < 3; d++)
        last[d] = md->tilted && d > 0 ? cells[d] - 1 : cells[d] / 2;
    for (k[2] = 0; k[2] <= last[2]; k[2]++)
        for (k[1] = 0; k[1] <= last[1]; k[1]++)
            for (k[0] = 0; k[0] <= last[0]; k[0]++) {
                double times = 1;
                for (int d = 0; d < (md->tilted ? 1 : 3); d++)
                    times *= k[d] == 0 || 2 * k[d] == cells[d] ? 1 : 2;
                if (k[0] + k[1] + k[2] > 0)
                    sum += times *
                           square_error(
                               md, alpha, a,
                               md_mode_influence(md, alpha, used, cells, k), k);
            }
    return sum;
}

double md_ewald_error_mesh(const struct md *md, double alpha,
                           const int64_t cells[3], int order)
{
    struct md_alias a[3] = {{0}}, used[3] = {{0}};
    int failed = md_aliases_make(md, cells, order, alpha, 1, a);
    failed |= md_aliases_make(md, cells, order, alpha, -1, used);
    double sum = failed ? NAN : sum_errors(md, alpha, a, used, cells);
    md_aliases_free(a);
    md_aliases_free(used);
    return strength(md) / md_ewald_volume(md) *
           sqrt(fmax(sum, 0) / (double)md->n_particles);
}
