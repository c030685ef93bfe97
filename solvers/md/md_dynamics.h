/* md_dynamics.h: groups of particles by where they are at the start, and what
 * couples particles to baths one by one: Langevin's friction by species and
 * group, and Brownian motion.
 *
 * Part of md.h, which includes it.
 */
#ifndef WARPDECK_SOLVERS_MD_DYNAMICS_H
#define WARPDECK_SOLVERS_MD_DYNAMICS_H

#include <stdint.h>

struct ctx;
struct md;
struct md_group;
struct params;
struct state_io;

enum md_region_kind {
    MD_REGION_NONE,
    MD_REGION_BOX,
    MD_REGION_SPHERE,
    MD_REGION_CYLINDER
};

/* Where the particles of a group are at the start, and in which other groups.
 */
struct md_region {
    enum md_region_kind kind;
    int outside;         /* where the region is not */
    double lo[3], hi[3]; /* of a box */
    double center[3], radius;
    int axis;               /* of a cylinder, endless along it */
    int has_any, by_groups; /* other groups are named in `any`, at all */
    unsigned char *any, *all, *none; /* [groups]; owned through `any` */
    int64_t *member;                 /* owned; NULL: no such list */
    int64_t count;                   /* particles, all ranks */
    char name[64];                   /* of the group */
    int free; /* nothing is done to it: its temperature is shown, as */
    char observable[48], description[96];
};

/* Particles that are each coupled to a bath. */
struct md_bath_deck {
    int by_particle;      /* friction differs between species or groups */
    double friction[256]; /* by species, 1 / time */
    double weight[2];     /* of Brownian motion's noise: before, now */
};

/* ---- md_regions.c ---- */
/* The part of [[md.group]] number i that is about places and other groups;
 * errors go to params_error. Errors: STATUS_MEMORY. */
int md_region_read(struct ctx *ctx, struct params *p, struct md *md, int i);
void md_regions_free(struct md *md);
/* Whether its members are listed one by one: by place, or by other groups. */
int md_region_is_listed(const struct md_region *r);
/* Who belongs to which group, by the places of the start; how many there are is
 * told, and none is refused: STATUS_INPUT. Collective. */
int md_regions_start(struct ctx *ctx, struct md *md);
int md_regions_save(struct ctx *ctx, const struct md *md, struct state_io *io);
int md_regions_restore(struct ctx *ctx, struct md *md, struct state_io *io);

/* ---- md_bath.c ---- */
/* friction and temperature of [[md.group]] number i, once g->held is known. */
void md_bath_group(struct params *p, const struct md *md, int i,
                   struct md_group *g);
/* Friction of all, after ensemble and groups; what does not go with Brownian
 * motion is refused; and what walls and pairs ask for beside it. Errors go to
 * params_error. Errors: STATUS_MEMORY. */
int md_bath_read(struct ctx *ctx, struct params *p, struct md *md);
/* What does not go with a box that is strained. */
void md_bath_check_box(struct params *p, const struct md *md);
/* STATUS_UNSUPPORTED where the backend cannot. */
int md_bath_check(struct ctx *ctx, const struct md *md);
/* The step of friction and noise, all of Langevin's. */
void md_bath_apply(struct md *md);
/* Whether the backend sums up md.thermostat_work itself; then the number here
 * is that of the last fetch, and goes back to it once it has another value. */
int md_work_is_summed(const struct md *md);
void md_work_fetch(struct md *md);
void md_work_send(struct md *md);
/* Whether nothing stands between the second half kick and the noise, so that
 * md_bath_kick() does both, with the work of the thermostat. */
int md_bath_kicks(const struct md *md);
void md_bath_kick(struct md *md);
/* A step of Brownian motion in place of kick and drift; returns what these do.
 */
double md_brownian_move(struct md *md);
void md_brownian_ahead(struct md *md);
/* Nobody has a velocity but who is held; tells of the diffusion. */
void md_brownian_start(struct ctx *ctx, struct md *md);
/* Temperatures of groups. */
void md_bath_observe_init(struct md *md);
int md_bath_observe(struct ctx *ctx, struct md *md, double *values, int *n);

/* ---- md_dpd.c: friction and noise between pairs ---- */
struct md_dpd_deck {
    double *gamma; /* [n_species][n_species], mass / time; owned */
    int status;    /* of this rank, for the reduction of the next step */
};

/* gamma of pairs, after species, pairs, and what does not go with it; errors go
 * to params_error. Errors: STATUS_MEMORY. */
int md_dpd_read(struct ctx *ctx, struct params *p, struct md *md);
void md_dpd_free(struct md *md);
/* STATUS_UNSUPPORTED where the backend cannot. */
int md_dpd_check(struct ctx *ctx, const struct md *md);
/* Once there are new forces: who is near whom, with what noise and friction.
 * Collective. */
int md_dpd_pairs(struct ctx *ctx, struct md *md);
/* The two half kicks of a step, and friction anew after the second one. The
 * latter is collective. */
void md_dpd_begin(struct md *md);
int md_dpd_finish(struct ctx *ctx, struct md *md);

#endif
