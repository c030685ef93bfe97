/* md_walls.h: what acts on particles from outside: walls, constant fields, and
 * groups that are held or pulled.
 */
#ifndef WARPDECK_SOLVERS_MD_WALLS_H
#define WARPDECK_SOLVERS_MD_WALLS_H

#include "kernels/md/md_kernels.h"

struct ctx;
struct md;
struct params;

/* Walls, fields and groups. */
struct md_walls {
    int has_face[MD_FACES], has_force[MD_FACES], has_field;
    struct md_outer outer; /* borrows the arrays */
    struct md_wall *wall;
    struct md_group *group;
    struct md_region *region; /* [groups] */
    unsigned char *has;       /* [groups][n_species] */
    unsigned char *acts;      /* [walls][n_species] */
    double on_wall[MD_FACES]; /* forces of this rank's particles */
};

/* ---- md_walls.c: walls and constant fields ---- */
/* [[md.walls]] and [md.field], after all that does not go with them. Errors go
 * to params_error. */
int md_walls_read(struct ctx *ctx, struct params *p, struct md *md);
void md_walls_free(struct md *md);
/* The shortest way through the box, from a face to the one across it, where a
 * pair has images. */
double md_shortest_edge(const struct md *md);
int md_walls_open(struct ctx *ctx, struct md *md);
/* Nobody starts outside. Collective. */
int md_walls_start(struct ctx *ctx, struct md *md);
/* Their forces, once those of pairs are there. */
void md_walls_forces(struct ctx *ctx, struct md *md, struct md_sums *sums);
/* After a drift; it may be asked for ahead of it. Not collective. Errors:
 * STATUS_PHYSICS. */
void md_walls_reflect_ahead(struct md *md);
int md_walls_reflect(struct ctx *ctx, struct md *md);
void md_walls_observe_init(struct md *md);
int md_walls_observe(struct ctx *ctx, struct md *md, double *values, int *n);

/* ---- md_groups.c: groups of particles ---- */
/* [[md.group]]; errors go to params_error. */
int md_groups_read(struct ctx *ctx, struct params *p, struct md *md);
void md_groups_free(struct md *md);
/* Held groups have their velocities, and no degrees of freedom. Collective. */
int md_groups_start(struct ctx *ctx, struct md *md);
/* The same after what changes all velocities. */
void md_groups_hold(struct md *md);

#endif
