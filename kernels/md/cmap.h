/* cmap.h: correction maps over two dihedrals that follow one another (CMAP):
 * MacKerell, Feig and Brooks (2004), J. Comput. Chem. 25, 1400.
 *
 * A map is an energy at the points of a periodic grid over phi and psi. Between
 * them it is the bicubic patch of the four points around: their energies,
 * slopes and mixed slopes, which are those of periodic cubic splines
 * (solvers/md/md_cmap.c). Energy and forces have no steps. A CUDA file defines
 * BONDED_FN before it includes this one.
 */
#ifndef WARPDECK_KERNELS_MD_CMAP_H
#define WARPDECK_KERNELS_MD_CMAP_H

#include "kernels/md/bonded.h"

/* Cubics of Hermite between two points: the weights of the values and of the
 * slopes at both, and what these change by per step of the grid. */
struct cmap_weights {
    double value[2], slope[2];
    double value_by[2], slope_by[2];
    int point[2];
};

/* Of a grid of n points from -180 degrees on. An angle that is no number has
 * weights that are none either. */
BONDED_FN void cmap_weigh(const struct torsion *angle, int n,
                          struct cmap_weights *w)
{
    const double turn = 6.283185307179586477;
    double at = (atan2(angle->sine, angle->cosine) / turn + 0.5) * n;
    double whole = floor(at), s = at - whole, r = 1 - s;
    w->point[0] = whole >= 0 && whole < n ? (int)whole : 0;
    w->point[1] = w->point[0] + 1 < n ? w->point[0] + 1 : 0;
    w->value[0] = (1 + 2 * s) * r * r;
    w->value[1] = (1 + 2 * r) * s * s;
    w->slope[0] = s * r * r;
    w->slope[1] = -r * s * s;
    w->value_by[0] = -6 * s * r;
    w->value_by[1] = 6 * s * r;
    w->slope_by[0] = r * (1 - 3 * s);
    w->slope_by[1] = s * (1 - 3 * r);
}

/* The energy; slope: by phi and by psi, per radian. */
BONDED_FN double cmap_energy(const struct md_cmap *map,
                             const struct md_cmap_node *nodes,
                             const struct torsion *phi,
                             const struct torsion *psi, double slope[2])
{
    const double per_radian = map->n / 6.283185307179586477;
    struct cmap_weights p, q;
    double u = 0;
    cmap_weigh(phi, map->n, &p);
    cmap_weigh(psi, map->n, &q);
    slope[0] = slope[1] = 0;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            const struct md_cmap_node *c =
                &nodes[map->first + p.point[a] * map->n + q.point[b]];
            double value = q.value[b] * c->u + q.slope[b] * c->by_psi;
            double pull = q.value[b] * c->by_phi + q.slope[b] * c->by_both;
            u += p.value[a] * value + p.slope[a] * pull;
            slope[0] += p.value_by[a] * value + p.slope_by[a] * pull;
            slope[1] += p.value[a] *
                            (q.value_by[b] * c->u + q.slope_by[b] * c->by_psi) +
                        p.slope[a] * (q.value_by[b] * c->by_phi +
                                      q.slope_by[b] * c->by_both);
        }
    slope[0] *= per_radian;
    slope[1] *= per_radian;
    return u;
}

/* The differences of positions between its particles, one after another: of 1
 * and 2, 2 and 3, 4 and 3, 5 and 4. */
struct cmap_shape {
    double f[3], g[3], h[3], e[3];
};

/* The energy, and the forces on the five. */
BONDED_FN double cmap_forces(const struct md_cmap *map,
                             const struct md_cmap_node *nodes,
                             const struct cmap_shape *x, double force[5][3])
{
    const double back[3] = {-x->h[0], -x->h[1], -x->h[2]};
    struct torsion phi, psi;
    double slope[2];
    torsion_of(x->f, x->g, x->h, &phi);
    torsion_of(x->g, back, x->e, &psi);
    double u = cmap_energy(map, nodes, &phi, &psi, slope);
    for (int k = 0; k < 5; k++)
        for (int d = 0; d < 3; d++)
            force[k][d] = 0;
    torsion_forces(&phi, slope[0], force);
    torsion_forces(&psi, slope[1], force + 1);
    return u;
}

#endif
