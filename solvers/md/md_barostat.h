/* md_barostat.h: what constant temperature and pressure carry along from step
 * to step: Nose-Hoover chains, and a box that changes. docs/md-conditions.md
 * has the equations.
 */
#ifndef WARPDECK_SOLVERS_MD_BAROSTAT_H
#define WARPDECK_SOLVERS_MD_BAROSTAT_H

#include <stdint.h>

#include "kernels/md/md_kernels.h"

struct ctx;
struct md;
struct params;
struct state_io;

enum { MD_CHAIN_MAX = 16 };

/* A chain of thermostats on `freedom` degrees of freedom: Martyna, Klein and
 * Tuckerman (1992). Energies are the deck's. */
struct md_chain {
    int links; /* 0: there is none */
    double freedom;
    double mass[MD_CHAIN_MAX];  /* energy * time^2 */
    double place[MD_CHAIN_MAX]; /* no unit */
    double speed[MD_CHAIN_MAX]; /* per time */
};

enum md_barostat_kind { MD_NO_BAROSTAT, MD_CELL_RESCALING, MD_MTK };

/* The group of a direction whose edge does not change. */
enum { MD_FIXED = -1 };

/* Edges of the box change in groups: x, y and z together (isotropic), x and y
 * together (semi-isotropic), or each by itself; or some, and others stay. */
struct md_barostat {
    enum md_barostat_kind kind; /* MD_NO_BAROSTAT: the box is as it is */
    int n_groups;
    int group[3], size[3];  /* group of a direction; directions of a group */
    int partly;             /* some direction is MD_FIXED */
    double pressure;        /* energy / volume */
    double compressibility; /* volume / energy */
    double relaxation;
    int64_t every; /* steps between two changes of the box */

    double rate[3];        /* MTK: d ln(edge) / dt, by group */
    struct md_chain chain; /* MTK: on the rates */
    double work;           /* cell rescaling: what the noise has given, kT
                            * ln(P_forth / P_back), all steps */

    /* the present step */
    int moves;        /* the box changes in it */
    int acts;         /* and a barostat is why */
    double length[3]; /* of the box after it */
    double grow[3];   /* its factors */
    struct md_geometry box;
    struct md_stretch stretch;           /* the step's first half */
    double jump[3], mean[3], spread2[3]; /* cell rescaling, by group */

    double listed[3]; /* edges when the pair list was built */
    double start[3];  /* and at step 0 */
    double start_tilt[3];
};

/* The thermostat's temperature goes from one to another over the first steps.
 */
struct md_ramp {
    double from, to;
    int64_t steps; /* 0: it stays */
};

/* Sums over all bodies, by direction: m v^2 and the virial, as energies. A body
 * is a particle that is in no rigid group, or the center of mass of a group. */
struct md_stress {
    double kinetic[3], virial[3];
    double inner; /* m u^2 of particles beside their group's center */
};

/* ---- md_chain.c ---- */
/* Masses of a chain: freedom kT relaxation^2 for the first, kT relaxation^2 for
 * each other; at rest. */
void md_chain_init(struct md_chain *c, int links, double freedom, double kt,
                   double relaxation);
/* The same masses, for other degrees of freedom. */
void md_chain_fit(struct md_chain *c, double freedom, double kt,
                  double relaxation);
/* Advance the chain by half of dt against its `twice` the kinetic energy (m v^2
 * summed); returns the factor on the velocities that it holds. Martyna,
 * Tuckerman, Tobias and Klein (1996), Mol. Phys. 87, 1117, eqs. 29 to 31, with
 * Yoshida's three weights. */
double md_chain_half(struct md_chain *c, double twice, double kt, double dt);
/* Its part of the conserved energy. */
double md_chain_energy(const struct md_chain *c, double kt);

/* ---- md_ensemble_read.c ---- */
/* [md.ensemble]; errors go to params_error. */
void md_ensemble_read(struct params *p, struct md *md);
/* STATUS_UNSUPPORTED where the backend cannot do it. */
int md_check_ensemble(struct ctx *ctx, const struct md *md);
/* What follows from the particles' number, once it is known. */
void md_ensemble_prepare(struct md *md);

/* ---- md_barostat.c ---- */
/* Directions whose edges the barostat leaves alone, beside those of before; not
 * all of them. */
void md_barostat_fix(struct md *md, const int fixed[3]);
/* m v^2 and virial of the present state, by direction where the box does not
 * change in proportion; md.sums are known, without the forces of rigid bonds.
 * Collective. */
int md_measure_stress(struct ctx *ctx, struct md *md, struct md_stress *out);
/* Whether forces of the present step are to come with the virial. */
int md_wants_virial(const struct md *md);
/* The new box of a step in which it changes, whose first half may begin; and
 * that half; *moved2: what kick_drift() returns. */
void md_barostat_box(struct md *md);
int md_barostat_drift(struct ctx *ctx, struct md *md, double *moved2);
/* Under MTK: the factors of velocities over a quarter of a step. */
void md_barostat_drag(const struct md *md, double drag[3]);
/* The last kick of a step under MTK. */
int md_barostat_kick(struct ctx *ctx, struct md *md);
/* Ask a device for what md_measure_stress() is about to want of velocities. */
void md_stress_ahead(struct md *md);
/* Before the first half, whether the barostat acts; a part later where the box
 * goes; and after the last kick. */
void md_barostat_ask(struct md *md);
int md_barostat_begin(struct ctx *ctx, struct md *md);
int md_barostat_finish(struct ctx *ctx, struct md *md);
/* Its part of the conserved energy, the same on all ranks. */
double md_barostat_energy(const struct md *md);

/* The temperature of the present step; what depends on it in the conserved
 * energy stays as it was. */
void md_ramp_temperature(struct md *md);

/* ---- md_box.c ---- */
double md_volume(const struct md *md);
/* Errors of a box too long for the digits of places in it. */
void md_box_check(struct params *p, const struct md *md);
/* Whether the edges change in the run: by a barostat, or [md.deform]. */
int md_box_changes(const struct md *md);
/* The same, or faces follow the particles. */
int md_volume_changes(const struct md *md);
/* The box, grid and halo for these edges: what a backend needs of it. */
struct md_geometry;
void md_new_box(struct md *md, const double length[3], struct md_geometry *out);
/* The store's, too; particles in proportion. */
void md_set_box(struct md *md, const double length[3]);
/* Before a redistribution. Collective. */
int md_fit_halo(struct ctx *ctx, struct md *md);
/* How far a particle may move beside the box before the pair list may miss a
 * pair. */
double md_list_slack(const struct md *md);
/* Why no other step can be made in this box, or NULL: the longest cutoff is
 * more than half of an edge. The text stands in md. */
const char *md_blocked(void *state);

/* ---- md_observe_box.c ---- */
void md_observe_box_init(struct md *md);
/* Appends to values[*n]. Collective. */
int md_observe_box(struct ctx *ctx, struct md *md, double *values, int *n);

/* ---- md_state_box.c ---- */
int md_save_box(struct ctx *ctx, struct md *md, struct state_io *io);
/* The box of then, before the store is opened; the rest after. */
int md_restore_box(struct ctx *ctx, struct md *md, struct state_io *io);

#endif
