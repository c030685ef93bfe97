/* eam_cpu.h: the embedded-atom method as the CPU's store sees it.
 *
 * A step goes through the list twice. The first pass finds the pairs within the
 * cutoff, adds up densities, and keeps the tiles that have such pairs and the
 * slopes of the pairs' functions. Once F' of all particles is known, here and
 * of the copies, the second pass makes forces of these slopes, and needs no
 * table, no root and no empty tile.
 *
 * Private to kernels/md/ *_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_EAM_CPU_H
#define WARPDECK_KERNELS_MD_EAM_CPU_H

#include "kernels/md/store_cpu.h"

/* What the first pass leaves of one list. */
struct near_list {
    uint32_t *tiles;      /* first slot of each tile that has a pair */
    uint16_t *lanes;      /* its partners */
    uint16_t (*count)[2]; /* of each row: own tiles, tiles of copies */
    size_t n_tiles, cap_tiles, cap_lanes, cap_count;
    /* Of each pair, -1/r d/dr of: the pair energy, the density that j makes at
     * i and that which i makes at j (several species only). */
    scalar *pair, *at_i, *at_j;
    size_t n_pairs, cap_pair, cap_at_i, cap_at_j;
};

/* One thread's. */
struct eam_share {
    struct near_list list[ROWS_PARTS];
    /* scratch, as long as the pairs of one cluster */
    scalar *r2, *kind, *give_i, *give_j, *energy;
    size_t cap_r2, cap_kind, cap_give_i, cap_give_j, cap_energy;
    double embedding;
    int failed;
};

struct md_eam_work {
    int n_species, n_rho, n_r;
    double rho_step, per_rho_step, per_r_step, cutoff2;
    double *embedding; /* [n_species][n_rho - 1][4] */
    scalar *density;   /* [n_species][n_r - 1][4] */
    scalar *pair;      /* [eam_pairs][n_r - 1][4]: of r phi */
    scalar *kind;      /* [n_species][table_stride]: number of (i, j) */
    /* by that number: where the tables begin */
    KERNEL_MASK_SCALAR (*start)[3]; /* pair, density of j, density of i */
    scalar *rho, *slope;            /* by slot: density, F'(density) */
    size_t cap_rho, cap_slope;
    int n_shares;
    struct eam_share *shares;
};

/* s->eam, from s->setup.eam. Errors: STATUS_MEMORY, STATUS_UNSUPPORTED. */
#define md_eam_create MD_NAME(md_eam_create)
int md_eam_create(struct ctx *ctx, struct md_store *s);
#define md_eam_destroy MD_NAME(md_eam_destroy)
void md_eam_destroy(struct md_eam_work *e);
/* Room for what this list's particles give and get. Errors: STATUS_MEMORY. */
#define md_eam_reserve MD_NAME(md_eam_reserve)
int md_eam_reserve(struct ctx *ctx, struct md_store *s);
#define md_eam_bytes MD_NAME(md_eam_bytes)
size_t md_eam_bytes(const struct md_store *s);
/* What the first pass keeps of `own` particles, about. */
#define md_eam_estimate MD_NAME(md_eam_estimate)
double md_eam_estimate(const struct md_setup *setup, double own);
/* STATUS_MEMORY where a density call had not enough of it. */
#define md_check_eam MD_NAME(md_check_eam)
int md_check_eam(struct ctx *ctx, const struct md_store *s);

/* The verbs of struct md_kernels. */
#define md_density_own MD_NAME(md_density_own)
void md_density_own(struct md_store *s, struct md_sums *sums);
#define md_density_halo MD_NAME(md_density_halo)
void md_density_halo(struct md_store *s, struct md_sums *sums);
#define md_density_finish MD_NAME(md_density_finish)
void md_density_finish(struct md_store *s, struct md_sums *sums);
#define md_pack_densities MD_NAME(md_pack_densities)
void md_pack_densities(const struct md_store *s, void *buffer);
#define md_add_densities MD_NAME(md_add_densities)
void md_add_densities(struct md_store *s, const void *buffer);
#define md_extra_bytes MD_NAME(md_extra_bytes)
size_t md_extra_bytes(void);
#define md_pack_extra MD_NAME(md_pack_extra)
void md_pack_extra(const struct md_store *s, void *buffer);
#define md_unpack_extra MD_NAME(md_unpack_extra)
void md_unpack_extra(struct md_store *s, const void *buffer);

/* ---- eam_density_cpu.c ---- */
/* The first pass over one part of this worker's rows: densities are added to
 * rho, by slot; w->energy: the pairs' where wanted. */
#define md_run_densities MD_NAME(md_run_densities)
void md_run_densities(const struct md_store *s, struct md_worker *w,
                      scalar *rho, int want, int part);

/* ---- eam_force_cpu.c ---- */
/* The second: forces are added to f; its virial in w->virial and w->tensor
 * where wanted. Energies are those of the density calls. */
#define md_run_eam MD_NAME(md_run_eam)
void md_run_eam(const struct md_store *s, struct md_worker *w, scalar *f,
                int want, int part);

#endif
