/* eam_cuda.h: the embedded-atom method on a card.
 *
 * Each thread goes through the neighbors of its particle twice: for the
 * density, and, when the slopes of the embedding energies of all particles and
 * copies are known, for the force. The list is full: nothing is added with
 * atomics.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_EAM_CUDA_H
#define WARPDECK_KERNELS_MD_EAM_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_eam_tables MD_NAME(cuda_eam_tables)
#define cuda_eam_create MD_NAME(cuda_eam_create)
#define cuda_eam_destroy MD_NAME(cuda_eam_destroy)
#define cuda_eam_reserve MD_NAME(cuda_eam_reserve)
#define cuda_eam_bytes MD_NAME(cuda_eam_bytes)
#define cuda_eam_force MD_NAME(cuda_eam_force)
#define cuda_eam_density MD_NAME(cuda_eam_density)
#define cuda_eam_add MD_NAME(cuda_eam_add)
#define cuda_eam_unpack MD_NAME(cuda_eam_unpack)
#define cuda_density_own MD_NAME(cuda_density_own)
#define cuda_density_halo MD_NAME(cuda_density_halo)
#define cuda_extra_bytes MD_NAME(cuda_extra_bytes)
#define cuda_pack_extra MD_NAME(cuda_pack_extra)
#define cuda_unpack_extra MD_NAME(cuda_unpack_extra)

#define eam_cubic_row MD_NAME(eam_cubic_row)
#define eam_tables MD_NAME(eam_tables)
#define eam_pair MD_NAME(eam_pair)

/* A cubic between two points of a grid; one or two loads. */
struct alignas(4 * sizeof(scalar)) eam_cubic_row {
    scalar c[4];
};

/* What kernels get, by value; see struct md_eam. */
struct eam_tables {
    const struct eam_cubic_row *density; /* [n_species][n_r - 1] */
    const struct eam_cubic_row *pair;    /* [eam_pairs][n_r - 1]: of r phi */
    const double *embedding;             /* [n_species][n_rho - 1][4] */
    int intervals, embedding_intervals;
    scalar per_step, last, cut2; /* last: the number of the last interval */
    double per_rho_step;
};

struct cuda_eam {
    int n_species, n_rho, n_r;
    double rho_step, r_step, cutoff;
    double density, per_density; /* units of sums in any order */
};

/* ---- eam_tables_cuda.cu ---- */

/* s->eam, from s->setup.eam, if any. Errors: STATUS_MEMORY,
 * STATUS_UNSUPPORTED. */
int cuda_eam_create(struct md_store *s);
void cuda_eam_destroy(struct md_store *s);
/* Room for densities and slopes of what the list has. */
int cuda_eam_reserve(struct md_store *s);
/* Those of one own particle and of one copy, for the estimate. */
void cuda_eam_bytes(const struct md_setup *setup, double *own, double *copy);

struct eam_tables cuda_eam_tables(const struct md_store *s);

/* ---- eam_cuda.cu ---- */

/* Launches, as the calls of a step: forces and what is wanted of near_cuda.h;
 * densities among own ones, or with copies and then the slopes of F, with
 * energies on their way to s->result where they are wanted; slopes of copies.
 */
int cuda_eam_force(struct md_store *s, int want, int halo);
int cuda_eam_density(struct md_store *s, int want, int halo);
/* Energies that have come there. */
void cuda_eam_add(const struct md_store *s, struct md_sums *sums);
int cuda_eam_unpack(struct md_store *s, const void *buffer);

/* The verbs of struct md_kernels. */
void cuda_density_own(struct md_store *s, struct md_sums *sums);
void cuda_density_halo(struct md_store *s, struct md_sums *sums);
size_t cuda_extra_bytes(void);
void cuda_pack_extra(const struct md_store *s, void *buffer);
void cuda_unpack_extra(struct md_store *s, const void *buffer);

#endif
