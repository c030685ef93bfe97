/* md_cmap.h: correction maps, as files have them and as kernels want them.
 *
 * A map is an energy on a grid over two dihedrals. The file of LAMMPS's "fix
 * cmap" has maps of 24 x 24 energies in the units of the run, one behind
 * another; [ cmaptypes ] of a GROMACS topology has them by types of atoms.
 */
#ifndef WARPDECK_SOLVERS_MD_CMAP_H
#define WARPDECK_SOLVERS_MD_CMAP_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct md;
struct params;

/* Points of a grid along one angle; of all maps of LAMMPS's files. */
enum { MD_MAP_POINTS_MIN = 2, MD_MAP_POINTS_MAX = 90, MD_MAP_POINTS = 24 };

struct md_maps {
    int32_t n;
    size_t n_energies;
    int32_t *points; /* [n]: along one angle */
    double *energy;  /* [points][points] of one map behind another: phi the slow
                      * angle, both from -180 degrees */
};

/* One more map, of energies times `scale`. Errors: STATUS_MEMORY. */
int md_maps_add(struct ctx *ctx, struct md_maps *maps, int32_t points,
                const double *energy, double scale);
/* Rank 0's to all. Collective. */
int md_maps_share(struct ctx *ctx, struct md_maps *maps);
void md_maps_free(struct md_maps *maps);

/* The maps of all cross terms: those of md.bonds.cmap, where the data file has
 * the terms; then the nodes of md.bonded. Errors of the deck go to
 * params_error, those of files are STATUS_INPUT. Collective. */
int md_cmap_read(struct ctx *ctx, struct params *p, struct md *md);

/* The start is as it should be: atoms that follow one another in a term are
 * nearer than half the box. Rank 0; not collective. Errors: STATUS_INPUT. */
int md_cmap_check(struct ctx *ctx, const struct md *md);

/* A number that tells these maps from others; 0: there are none. */
int64_t md_cmap_fingerprint(const struct md *md);

#endif
