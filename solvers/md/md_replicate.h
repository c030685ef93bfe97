/* md_replicate.h: copies of a start file side by side.
 *
 * Copy c = (x, y, z) of a file of N particles is number (z ny + y) nx + x, and
 * its ids are those of the file and N times that more, as LAMMPS's "replicate"
 * has them. A molecule is as whole in its copy as images in the file make it:
 * where it reaches through a face it goes on in the next copy, and past the
 * last one in the first.
 */
#ifndef WARPDECK_SOLVERS_MD_REPLICATE_H
#define WARPDECK_SOLVERS_MD_REPLICATE_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct md;
struct md_data;
struct md_list;
struct md_particle;
struct params;

struct md_replicate {
    int64_t n[3]; /* copies along each edge */
    /* the box of the file, of one that is read piece by piece */
    double edge[3], tilt[3];
};

/* md.initial.replicate, or one copy. Errors go to params_error. */
void md_replicate_read(struct params *p, struct md *md);
/* How many there are. */
int64_t md_replicate_copies(const struct md *md);

/* All of what rank 0 has read. Not collective. Errors: STATUS_INPUT for too
 * many, STATUS_MEMORY. */
int md_replicate_data(struct ctx *ctx, const struct md *md,
                      struct md_data *data);

/* What was counted in a file, and its box where it has one, become those of all
 * copies. Errors: STATUS_INPUT for too many. */
int md_replicate_counts(struct ctx *ctx, struct md *md, int has_box,
                        double length[3], double tilt[3]);
/* All copies of particles of the file that stand in this rank's block into the
 * list, wrapped. Errors: STATUS_MEMORY. */
int md_replicate_keep(struct ctx *ctx, const struct md *md,
                      const struct md_particle *piece, int64_t n,
                      struct md_list *list);

#endif
