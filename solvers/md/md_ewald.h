/* md_ewald.h: the long-range part of Coulomb's forces.
 *
 * Ewald's splitting (1921): what a pair has beyond erfc(alpha r) / r is smooth
 * and is summed over waves, on a mesh (method "pme") or one by one ("ewald").
 * The near part is the pair list's.
 */
#ifndef WARPDECK_SOLVERS_MD_EWALD_H
#define WARPDECK_SOLVERS_MD_EWALD_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/md/influence.h"
#include "kernels/md/md_mesh.h"
#include "md_deform.h"

struct ctx;
struct md;
struct md_sums;
struct mesh;
struct params;
struct state_io;

struct md_ewald {
    /* from the deck, or chosen */
    int on_mesh;        /* 0: wave by wave */
    int background;     /* a net charge is made up for */
    int slab;           /* periodic in x and y only */
    double extent[3];   /* edges of the periodic box of waves over those of the
                         * box: 1, or more where walls end it */
    double accuracy;    /* of forces, see md_ewald_unit_force() */
    double alpha;       /* splitting, per length; 0 until chosen */
    int order;          /* of the splines */
    int64_t cells[3];   /* of the mesh; 0 until chosen */
    double wave_cutoff; /* of waves one by one; 0 until chosen */
    double error_near, error_far; /* estimates of the force's error, as the
                                   * accuracy is meant; where [md.deform] is,
                                   * the greatest of its boxes */

    /* of all particles */
    double charge, squares; /* sums of q and q^2 */

    /* on the mesh */
    int whole; /* the backend has all of it: there is no struct mesh */
    struct mesh *mesh;
    double mesh_box[3]; /* when the mesh was made */
    double mesh_tilt[3];
    double *influence;   /* [modes], energy of a mode by its square */
    double *potential;   /* [2 modes] */
    double *phase[3];    /* of the gradient by index, along an edge: those in x
                          * and y of this rank */
    double table_box[3]; /* of the influence function */
    double table_tilt[3];
    int aliases_sent[3]; /* how many of tables the backend has, and 1 */

    /* wave by wave */
    struct md_waves waves;
    struct md_shape listed; /* box that the waves are those of */
    int (*wave)[3];
    double (*sums)[2];
    int waves_sent; /* to the backend that has all of it */
};

/* ---- md_ewald.c ---- */
/* [md.coulomb] of the methods pme and ewald; errors go to params_error. */
int md_ewald_read(struct ctx *ctx, struct params *p, struct md *md);
/* Errors for the keys that a method of [md.coulomb] has no use for. */
void md_ewald_refuse(struct params *p, const char *method);
/* What the deck leaves open, by estimates of the error; once the box and the
 * charges are known. Errors go to params_error. Collective. */
int md_ewald_choose(struct ctx *ctx, struct params *p, struct md *md);
/* Memory for it, and a line in the log. Collective. */
int md_ewald_open(struct ctx *ctx, struct md *md);
/* Add the far part to the forces, and to the sums where they are wanted; after
 * the pairs. Nothing is done without such a method. Collective. */
int md_ewald_forces(struct ctx *ctx, struct md *md, struct md_sums *sums);
/* Where sums came later (md_kernels.finish_sums()): what does not depend on
 * waves. */
void md_ewald_finish(struct md *md, struct md_sums *sums);
/* What was chosen, both ways: for a strained box that depends on the number of
 * steps, which a run that goes on may have more of. */
int md_ewald_state(struct ctx *ctx, struct state_io *io, struct md *md,
                   int out);
void md_ewald_free(struct md *md);
/* Bytes that this rank needs for it: an estimate until it is open. */
double md_ewald_bytes(const struct md *md);
/* Floating-point operations of a step for it, of all ranks, about. */
double md_ewald_flops(const struct md *md);
/* At the end of a run in a strained box: a warning where forces are no
 * longer as right as asked for. */
void md_ewald_close(struct ctx *ctx, struct md *md);
/* Add a wave's energy, and its virial, to the sums. alpha2: alpha^2. */
void md_ewald_add(struct md_sums *sums, double energy, const double k[3],
                  double k2, double alpha2);

/* ---- md_ewald_choose.c: errors of forces, and what to take ---- */
/* Walls at faces of the box, but for those in z with slab = true, and keys that
 * belong to them; errors go to params_error. */
void md_ewald_walls(struct params *p, struct md *md);
/* The same of the space above walls, once the box is known: pairs see no images
 * through them. */
void md_ewald_check_gap(struct params *p, const struct md *md);
/* How far the periodic box of waves reaches in direction d, the product of
 * these, and the length of its edge, which is more where that leans. */
double md_ewald_edge(const struct md *md, int d);
double md_ewald_volume(const struct md *md);
double md_ewald_reach(const struct md *md, int d);
/* Root mean square errors of the force on a particle, in units of the deck: of
 * the near part, Kolafa and Perram (1992), Mol. Simul. 9, 351; of waves up to
 * a greatest wave number, the same; of a mesh, Hockney and Eastwood (1988),
 * section 8-3-3, as Deserno and Holm (1998), J. Chem. Phys. 109, 7694, have
 * it. */
double md_ewald_error_near(const struct md *md, double alpha);
double md_ewald_error_waves(const struct md *md, double alpha, double most);
double md_ewald_error_mesh(const struct md *md, double alpha,
                           const int64_t cells[3], int order);

/* Those of the near part, and of mesh or waves, with all that is chosen as it
 * stands: in the present box; and the greatest over the boxes that [md.deform]
 * leads through. */
enum md_ewald_part { MD_EWALD_NEAR, MD_EWALD_FAR };
double md_ewald_error(const struct md *md, enum md_ewald_part part);
double md_ewald_worst(struct md *md, enum md_ewald_part part);
/* md_ewald_reach(), the longest of these boxes. */
double md_ewald_longest(struct md *md, int d);

/* ---- md_waves.c: wave by wave ---- */
/* Half of the waves up to the cutoff, of k and -k one, with memory for their
 * sums; returns -1 without. Where the box is strained those of all boxes near
 * the present one. */
int md_waves_list(struct md *md);
int md_waves_forces(struct ctx *ctx, struct md *md, struct md_sums *sums);

/* ---- md_mesh.c: on the mesh ---- */
int md_mesh_open(struct ctx *ctx, struct md *md);
int md_mesh_forces(struct ctx *ctx, struct md *md, struct md_sums *sums);
void md_mesh_close(struct md_ewald *e);
/* Whether influence function, or factors of waves, are those of another box;
 * and: from now on they are those of the present one. */
int md_ewald_box_changed(const struct md *md);
void md_ewald_keep_box(struct md *md);
/* Bytes of this rank, before the mesh is made and after. */
double md_mesh_estimate(const struct md *md);
double md_mesh_bytes(const struct md_ewald *e);

/* ---- md_influence.c: tables of the influence function ---- */
/* How many aliases on each side count, of a mesh of n cells along d. */
int md_aliases_count(const struct md *md, int d, int64_t n, double alpha);
/* Those of a mesh in the present box, with so many aliases, or with -1 as many
 * as count; in a tilted box of the phases along edges. Errors: -1 without
 * memory; freed with md_aliases_free() in any case. */
int md_aliases_make(const struct md *md, const int64_t cells[3], int order,
                    double alpha, int aliases, struct md_alias a[3]);
void md_aliases_free(struct md_alias a[3]);
/* The influence function of a mode; 0 of k = 0. The highest of an even number
 * is its own conjugate, and of a tilted box not as long the other way: the mean
 * of both is taken. */
double md_mode_influence(const struct md *md, double alpha,
                         const struct md_alias a[3], const int64_t cells[3],
                         const int64_t k[3]);
/* An alias of a mode, `at` as in the tables: its wave vector, and its Gaussian.
 */
double md_alias_wave(const struct md *md, double alpha,
                     const struct md_alias a[3], const size_t at[3],
                     double q[3]);

#endif
