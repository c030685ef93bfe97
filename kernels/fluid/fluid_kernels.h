/* fluid_kernels.h: what a backend must provide for incompressible flow.
 *
 * A store holds one rank's block of a staggered grid: u on the faces between
 * cells in x, v in y, w in z, pressure and scalars at the centers. Cell (i,j,k)
 * owns its upper faces: u(i) stands between cells i and i+1. On the lower side
 * of the box u(-1) is the wall face. x is never cut among ranks; y and z may
 * be. The solver speaks to the store in whole-block verbs and plain blocks of
 * doubles ([k][j][i], x fastest, no ghosts) and never sees the layout.
 *
 * No call here is collective. Where ranks must talk, the store packs what it
 * has to say (send_begin), the solver carries it (src/domain), and the store
 * takes what came (send_end). Both are called also where the direction is not
 * cut: then the store fills the ghost layer from its own block or from the
 * boundary condition, and the transfer has no partners.
 *
 * A substage (Wray's low-storage Runge-Kutta, three a step), with
 * explicit diffusion:
 *     FLUID_HALO_Y, FLUID_HALO_Z            ghosts of velocity and scalars
 *     predict                               u* and scalars, in place
 *     FLUID_LOW_Y, FLUID_LOW_Z              ghosts of v*, w* on the lower side
 *     source                                div u*, transformed along x
 *                                           (and y, where y is not cut)
 *     FLUID_TRANSPOSE  transform_y          where y is cut
 *     columns_begin  FLUID_COLUMNS  columns_end     tridiagonal along z
 *     inverse_y  FLUID_TRANSPOSE_BACK       where y is cut
 *     inverse_x                             where y is cut: psi in space
 *     FLUID_PSI_Y, FLUID_PSI_Z              psi of the upper neighbors
 *     correct                               u = u* - grad psi
 * A store may do work early where that saves a pass over memory (a slab does
 * divergence and transforms inside predict()); results must not depend on it.
 *
 * psi = alpha dt p / density: with explicit diffusion and an exact solve the
 * incremental and the direct form are the same scheme, so no pressure is kept
 * between substages. With implicit diffusion the store keeps p, predict()
 * includes its gradient, and psi is the increment.
 */
#ifndef WARPDECK_KERNELS_FLUID_FLUID_KERNELS_H
#define WARPDECK_KERNELS_FLUID_FLUID_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct fluid_store;

enum { FLUID_SCALARS_MAX = 4, FLUID_X = 0, FLUID_Y = 1, FLUID_Z = 2 };

/* Both faces of a direction are periodic or none is. */
enum fluid_wall { FLUID_PERIODIC, FLUID_NO_SLIP, FLUID_FREE_SLIP };
enum fluid_scalar_wall {
    FLUID_SCALAR_PERIODIC,
    FLUID_SCALAR_VALUE, /* fixed value at the face */
    FLUID_SCALAR_FLUX   /* fixed derivative along the outward normal; 0:
                           adiabatic */
};
enum fluid_diffusion {
    FLUID_EXPLICIT,
    FLUID_IMPLICIT_Z, /* Crank-Nicolson along z, explicit along x and y */
    FLUID_IMPLICIT    /* Crank-Nicolson in all directions, factored (ADI) */
};

struct fluid_face {
    enum fluid_wall type;
    double velocity[3]; /* of a no-slip wall; normal component 0 */
};

struct fluid_scalar {
    double diffusivity;
    double buoyancy[3]; /* acceleration for each unit of (value - reference) */
    double reference;
    struct {
        enum fluid_scalar_wall type;
        double value;
    } face[3][2];
};

/* Arrays are copied by create(). */
struct fluid_setup {
    int64_t cells[3]; /* of the whole grid */
    int64_t first[3]; /* this rank's block: cells [first, first + local) */
    int64_t local[3]; /* local[0] = cells[0] */
    int dims[3];      /* ranks in x (1), y, z */
    int coords[3];    /* of this rank */
    /* Blocks of all ranks along y and z: first cell of each, [dims + 1]. */
    const int64_t *cuts[3];
    double spacing[2];    /* dx, dy: uniform */
    const double *face_z; /* z of the faces of the whole grid, [cells[2] + 1],
                           * rising; face_z[0] is the lower end of the box */
    int uniform_z;
    struct fluid_face face[3][2]; /* [direction][lower, upper] of the box */
    double viscosity;             /* kinematic */
    double density;
    double rotation[3]; /* Omega: acceleration -2 Omega x u */
    enum fluid_diffusion diffusion;
    int n_scalars;
    struct fluid_scalar scalar[FLUID_SCALARS_MAX];
};

/* One substage: u* = u + dt (gamma N(u) + zeta N(u_before)) + ...; alpha =
 * gamma + zeta. first: zeta = 0, the history is not read; last: the history is
 * not written. */
struct fluid_substage {
    int first, last;
    double dt, gamma, zeta, alpha;
    double force[3]; /* uniform acceleration, constant over the step */
};

/* ---- what travels ---- */

enum fluid_exchange {
    FLUID_HALO_Y, /* then Z, which carries the ghost rows of y along: corners */
    FLUID_HALO_Z,
    FLUID_LOW_Y,
    FLUID_LOW_Z,
    FLUID_PSI_Y,
    FLUID_PSI_Z,
    FLUID_TRANSPOSE, /* among all ranks of one z: lines along y become whole */
    FLUID_TRANSPOSE_BACK,
    FLUID_COLUMNS, /* among all ranks of one y: reduced systems along z */
    FLUID_LINES_Y, /* the same for implicit diffusion along y */
    FLUID_LINES_Z,
    FLUID_EXCHANGES
};

/* Messages of one exchange. partner[p]: the coordinate, along the exchange's
 * direction (y or z, see fluid_exchange_axis), of the rank to talk to; each at
 * most once, never this rank itself. The relation is symmetric. Arrays and
 * buffers are the store's and stay valid until send_end(). Sizes may be 0. */
struct fluid_transfer {
    int n;
    const int *partner;
    const void *const *send;
    const size_t *send_bytes;
    void *const *recv;
    const size_t *recv_bytes;
};

static inline int fluid_exchange_axis(enum fluid_exchange e)
{
    switch (e) {
    case FLUID_HALO_Y:
    case FLUID_LOW_Y:
    case FLUID_PSI_Y:
    case FLUID_TRANSPOSE:
    case FLUID_TRANSPOSE_BACK:
    case FLUID_LINES_Y:
        return FLUID_Y;
    default:
        return FLUID_Z;
    }
}

/* ---- what is looked at ---- */

/* Blocks that get() gives out, at cell centers unless noted. Derived ones use
 * second-order interpolation and differences; ghosts must be fresh
 * (FLUID_HALO_Y, FLUID_HALO_Z, which the solver sends first). */
enum fluid_field {
    FLUID_U,
    FLUID_V,
    FLUID_W, /* as stored, on faces */
    FLUID_CENTER_U,
    FLUID_CENTER_V,
    FLUID_CENTER_W,
    FLUID_PRESSURE, /* physical: density * psi / (alpha dt), zero mean not set
                     */
    FLUID_STORED_PRESSURE, /* where diffusion is implicit: pressure / density,
                            * as it is stored, for a state that is to come back
                            * bit by bit */
    FLUID_VORTICITY_X,
    FLUID_VORTICITY_Y,
    FLUID_VORTICITY_Z,
    FLUID_Q,      /* second invariant of the velocity gradient */
    FLUID_SCALAR0 /* + index */
};

/* Sums and maxima over this rank's cells. Integrals are over volume: cell sums
 * times cell volume. Discrete forms that balance exactly where they can:
 * kinetic uses the staggered components with their own cell volumes. */
struct fluid_look {
    double kinetic;     /* integral of u.u / 2 (mass not included) */
    double dissipation; /* integral of viscosity * |grad u|^2, discrete form of
                         * the viscous operator's energy loss, walls included */
    double enstrophy;   /* integral of |omega|^2 / 2 */
    double divergence;  /* greatest |div u| */
    double cfl_rate;    /* greatest |u|/dx + |v|/dy + |w|/dz */
    double speed;       /* greatest |component| */
    double flow[3];     /* integral of u, v, w */
    /* Shear force on the walls at [direction][side]: integral over the face of
     * viscosity * d(u_tangential)/dn, by component, n into the fluid (a flow
     * along +x drags the wall along +x); and heat by scalar:
     * integral of diffusivity * d(value)/d(outward normal). 0 where no wall. */
    double shear[3][2][3];
    double scalar_flux[FLUID_SCALARS_MAX][3][2];
    double scalar_mean[FLUID_SCALARS_MAX];          /* integral of the value */
    double scalar_variance[FLUID_SCALARS_MAX];      /* integral of its square */
    double scalar_convection[FLUID_SCALARS_MAX][3]; /* integral of u_d T */
};

/* Plane sums for statistics along `axis` (the solver divides and
 * accumulates): for each of this rank's planes n = 0 .. local[axis]-1 the sums
 * over its cells of FLUID_MOMENTS quantities, cell-centered. */
enum fluid_moment {
    FLUID_M_U,
    FLUID_M_V,
    FLUID_M_W,
    FLUID_M_P,
    FLUID_M_UU,
    FLUID_M_VV,
    FLUID_M_WW,
    FLUID_M_PP,
    FLUID_M_UV,
    FLUID_M_UW,
    FLUID_M_VW,
    FLUID_M_UUU,
    FLUID_M_VVV,
    FLUID_M_WWW,
    FLUID_M_UUUU,
    FLUID_M_VVVV,
    FLUID_M_WWWW,
    FLUID_M_OXX,
    FLUID_M_OYY,
    FLUID_M_OZZ,         /* squares of vorticity */
    FLUID_M_DISSIPATION, /* viscosity * gradient squared, pseudo */
    FLUID_M_T0,          /* then per scalar: T, TT, uT, vT, wT */
    FLUID_M_PER_SCALAR = 5
};
static inline int fluid_moments(int n_scalars)
{
    return FLUID_M_T0 + FLUID_M_PER_SCALAR * n_scalars;
}

struct fluid_bad_cell {
    int found;
    int64_t cell[3]; /* global */
    double velocity[3];
};

struct fluid_counters {
    size_t bytes; /* memory held by the store now, on its device */
    size_t bytes_per_cell_state; /* of which fields, history and spectrum */
};

struct fluid_kernels {
    const char *name; /* "double", "single" */

    /* Bytes that create() will allocate for such a block. Allocates nothing. */
    double (*estimate)(const struct fluid_setup *setup);
    int (*create)(struct ctx *ctx, const struct fluid_setup *setup,
                  struct fluid_store **out);
    void (*destroy)(struct fluid_store *s);
    void (*counters)(const struct fluid_store *s, struct fluid_counters *out);

    /* ---- whole content ---- */
    /* field: FLUID_U, FLUID_V, FLUID_W, FLUID_SCALAR0 + i, and FLUID_PRESSURE
     * or FLUID_STORED_PRESSURE where diffusion is implicit. On the upper wall
     * of a direction the normal component's last face is the wall's and is set
     * to 0. */
    int (*set)(struct ctx *ctx, struct fluid_store *s, enum fluid_field field,
               const double *block);
    int (*get)(struct ctx *ctx, struct fluid_store *s, enum fluid_field field,
               double *block);

    /* ---- transfers ---- */
    int (*send_begin)(struct ctx *ctx, struct fluid_store *s,
                      enum fluid_exchange what, struct fluid_transfer *out);
    int (*send_end)(struct ctx *ctx, struct fluid_store *s,
                    enum fluid_exchange what);

    /* ---- a substage ---- */
    int (*predict)(struct ctx *ctx, struct fluid_store *s,
                   const struct fluid_substage *sub);
    /* Sums of u*, v*, w* over this rank's cells times volume, of the last
     * predict(); ready before source(). */
    int (*predicted_flow)(struct ctx *ctx, struct fluid_store *s,
                          double flow[3]);
    /* Implicit diffusion of velocity and scalars along one direction: local
     * elimination, FLUID_LINES_Y or _Z (not for x), substitution. NULL where
     * the store cannot. */
    int (*lines_begin)(struct ctx *ctx, struct fluid_store *s, int axis,
                       const struct fluid_substage *sub);
    int (*lines_end)(struct ctx *ctx, struct fluid_store *s, int axis,
                     const struct fluid_substage *sub);
    int (*source)(struct ctx *ctx, struct fluid_store *s,
                  const struct fluid_substage *sub);
    int (*transform_y)(struct ctx *ctx, struct fluid_store *s);
    int (*columns_begin)(struct ctx *ctx, struct fluid_store *s);
    int (*columns_end)(struct ctx *ctx, struct fluid_store *s);
    int (*inverse_y)(struct ctx *ctx, struct fluid_store *s);
    int (*inverse_x)(struct ctx *ctx, struct fluid_store *s);
    /* u = u* - grad psi + extra (a uniform velocity in periodic directions, to
     * hold a flow rate). rate: NULL, or receives the greatest
     * |u|/dx + |v|/dy + |w|/dz of the result on this rank, infinity where
     * something is not finite. */
    int (*correct)(struct ctx *ctx, struct fluid_store *s,
                   const struct fluid_substage *sub, const double extra[3],
                   double *rate);

    /* ---- looking ---- */
    int (*look)(struct ctx *ctx, struct fluid_store *s, struct fluid_look *out);
    int (*profile)(struct ctx *ctx, struct fluid_store *s, int axis,
                   double *sums); /* [local[axis]][fluid_moments()] */
    int (*find_bad)(struct ctx *ctx, struct fluid_store *s,
                    struct fluid_bad_cell *out);

    /* ---- for the bench: nanoseconds spent so far by phase, or NULL ---- */
    const char *const *phases; /* names, NULL at the end */
    void (*phase_seconds)(const struct fluid_store *s, double *out);
};

/* The CPU's tables (fluid_cpu.c, compiled once per precision). */
extern const struct fluid_kernels fluid_kernels_cpu_double;
extern const struct fluid_kernels fluid_kernels_cpu_single;

#endif
