/* md_deform.h: a box that is strained in the run, by the deck's rates.
 *
 * Particles are carried along by the flow u(r) = A (r - lo), A = (dh/dt) h^-1
 * with the box's edges h, and velocities are those beside it: dr/dt = v + u,
 * dv/dt = f / m - A v (SLLOD; Evans and Morriss 1984, Phys. Rev. A 30, 1528;
 * Daivis and Todd 2006, J. Chem. Phys. 124, 194103). So nothing is done to a
 * velocity where a particle is wrapped, and temperature and thermostats are
 * those of the fluid that flows.
 */
#ifndef WARPDECK_SOLVERS_MD_DEFORM_H
#define WARPDECK_SOLVERS_MD_DEFORM_H

#include <stdint.h>

#include "kernels/md/md_kernels.h"

struct ctx;
struct md;
struct params;
struct state_io;

enum md_deform_kind { MD_NO_DEFORM, MD_DEFORM_EDGES, MD_DEFORM_SHEAR };

struct md_deform {
    enum md_deform_kind kind;
    double rate[3]; /* edges: of each, as a share of that at the start */
    double shear;   /* d u_along / d x_across */
    int along, across;

    int strained[3]; /* directions that the flow changes */

    double virial[6]; /* of the last step, sum over ranks: xx, yy, zz, xy, xz,
                       * yz, energy */
    double work;      /* put into the particles so far, energy */
    double carried;   /* of a barostat's p V: what the strain has changed */
    double listed[3]; /* tilt when the pair list was built */

    /* the first half of the present step, under shear */
    struct md_geometry box;
    struct md_shear motion;

    /* the present step, as it began */
    double kinetic[6], before[3]; /* before: edges */
    double tail_before, volume_before;
};

/* Edges and tilt of a box. */
struct md_shape {
    double length[3], tilt[3];
};

/* [md.deform]; after all that does not go with it. Errors go to params_error.
 */
void md_deform_read(struct params *p, struct md *md);
/* The box's lengths for the choice of a grid: 0 where it may not be cut, since
 * the flow carries particles through all of it. And whether this one does. */
void md_deform_lengths(const struct md *md, double length[3]);
void md_deform_ranks(struct params *p, const struct md *md, const int dims[3]);
/* Once the forces of the start are known. Collective. */
int md_deform_start(struct ctx *ctx, struct md *md);
/* Ask a device for what the next two of these are about to want. */
void md_deform_ask(struct md *md);
/* Before the first half of a step: where the box goes. */
int md_deform_begin(struct ctx *ctx, struct md *md);
/* Under shear: the new box of a step, whose first half may begin; and that
 * half, what md_kernels.kick_drift() does. */
void md_deform_box(struct md *md);
double md_deform_drift(struct md *md);
/* After the last kick: the work of this step. Collective. */
int md_deform_finish(struct ctx *ctx, struct md *md);
/* Before a redistribution: a tilt beyond half an edge becomes that of the same
 * lattice on the other side. */
void md_deform_flip(struct md *md);
/* The least factor by which the box as the list knows it has brought two
 * particles nearer. */
double md_deform_least(const struct md *md);
/* Boxes between which the run's are: that of the start, and the last ones on
 * either side; at most MD_SHAPES of them, returns how many. */
enum { MD_SHAPES = 3 };
int md_deform_shapes(const struct md *md, struct md_shape out[MD_SHAPES]);
/* One of a row of boxes, near the present one and the same for all that are
 * near it, also when a run goes on: edges no shorter. A wave is in that box at
 * most this factor, which is returned, longer than in the present one. */
double md_deform_near(const struct md *md, struct md_shape *out);
/* The present box; and another one in its place, for estimates alone. */
void md_shape_of(const struct md *md, struct md_shape *out);
void md_shape_take(struct md *md, const struct md_shape *shape);
/* Where a place of the start would be carried by the flow. */
void md_deform_carry(const struct md *md, double x[3]);
/* Both ways; the tilt, too. */
int md_deform_state(struct ctx *ctx, struct state_io *io, struct md *md,
                    int out);
void md_deform_observe_init(struct md *md);
void md_deform_observe(struct md *md, const double pressure[6], double *values,
                       int *n);

#endif
