/* md_rigid.h: bonds of fixed length.
 *
 * [md.constraints] says which; md_rigid_groups() makes groups of them, in place
 * of the bonds and angles that give the lengths; the rest keeps them during a
 * run. All is collective. Without such bonds every call returns at once.
 */
#ifndef WARPDECK_SOLVERS_MD_RIGID_H
#define WARPDECK_SOLVERS_MD_RIGID_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct md;
struct md_data;
struct md_stress;
struct md_stretch;
struct md_sums;
struct md_term;
struct params;

struct md_rigid_deck {
    int on;
    double tolerance;
    int water[2];         /* species; -1: none */
    double light;         /* bonds to particles of less mass; 0: none */
    unsigned char *bonds; /* by type: asked for */
    unsigned char *angles;
    double count;         /* distances that are fixed, of all ranks */
    double inner_freedom; /* degrees of freedom of groups beside those of their
                           * centers, of all ranks */
    int asked;            /* md_rigid_sums() has begun */
};

/* The deck's section; errors go to params_error. After md_bonds_read(). */
int md_rigid_read(struct ctx *ctx, struct params *p, struct md *md);
void md_rigid_free(struct md *md);

/* Rank 0: the terms of the data file with groups in place of what is rigid;
 * *out is the caller's. Errors: STATUS_INPUT, with the ids. Not collective. */
int md_rigid_groups(struct ctx *ctx, const struct md *md,
                    const struct md_data *data, struct md_term **out,
                    size_t *n);

/* Once the particles are placed: count, and take the degrees of freedom away. A
 * fresh start then moves them to their distances (restored = 0). */
int md_rigid_start(struct ctx *ctx, struct md *md, int restored);
/* After the pair list has changed, or the particles were put elsewhere. */
int md_rigid_hold(struct ctx *ctx, struct md *md);
/* After a drift; *moved2 as of md_kernels.rigid_place(). Returns this rank's
 * status. */
int md_rigid_place(struct ctx *ctx, struct md *md, double *moved2);
/* The same after any drift: velocities change by the way times per_time. */
int md_rigid_move(struct ctx *ctx, struct md *md, double per_time,
                  double *moved2);
/* Velocities that were drawn for free particles: along the bonds they are taken
 * out, and the rest brought to md.initial.temperature, where that is set. */
int md_rigid_scale(struct ctx *ctx, struct md *md);
/* After a kick, or noise. */
int md_rigid_stop(struct ctx *ctx, struct md *md);
/* Groups go along with the box by their centers alone: after a stretch, as of
 * md_kernels.rigid_unstretch(). */
int md_rigid_unstretch(struct ctx *ctx, struct md *md,
                       const struct md_stretch *m, const double grow[3]);
/* What they have beside their centers, of this rank, as energies: m u^2, and
 * d . f without the bonds' forces, which add nothing to a center's. */
int md_rigid_inner(struct ctx *ctx, struct md *md, struct md_stress *out);
/* Add the virial of the bonds' forces; forces are those of now. */
int md_rigid_sums(struct ctx *ctx, struct md *md, struct md_sums *sums);
/* The next one is of now: begin it where that helps. */
void md_rigid_sums_ahead(struct md *md);

#endif
