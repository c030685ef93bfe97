/* mesh_cuda.h: charges of own particles on a mesh, in wave vectors, in fields,
 * on a card. What the functions do is said in md_kernels.h.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_MESH_CUDA_H
#define WARPDECK_KERNELS_MD_MESH_CUDA_H

#include "kernels/md/store_cuda.h"

extern "C" {
#include "kernels/md/md_mesh.h"
}

struct cuda_fft;

/* What the store keeps for it. Numbers are doubles. */
struct cuda_mesh {
    struct device_array points; /* charges: whole numbers of units, then
                                 * doubles, then modes */
    struct device_array fields; /* three of the kind, one behind the other */
    struct device_array influence, alias;
    int aliases[3];
    struct device_array waves, factors; /* one by one */
    struct md_waves waves_now;          /* of the call that waits */
    struct cuda_fft *fft;
    struct md_whole_mesh whole; /* of the call that waits */
    int64_t cells[3];           /* of the transform */
    double per_unit;            /* of a charge */
    uint64_t listed_at; /* md_store.lists_built when that was chosen, + 1; 0:
                         * it has to be chosen */
};

/* Points as kernels see them: those of a brick, or all of them. */
struct mesh_map {
    int cells[3], n[3], whole;
    int64_t pitch, plane; /* numbers from row to row, and from plane to plane */
    double origin[3], per_length[3], less[3];
    double lean[3]; /* x for y, x for z, y for z of a tilted box */
};

#define cuda_mesh_destroy MD_NAME(cuda_mesh_destroy)
#define cuda_mesh_bytes MD_NAME(cuda_mesh_bytes)
#define cuda_mesh_of MD_NAME(cuda_mesh_of)
#define cuda_mesh_grow MD_NAME(cuda_mesh_grow)
#define cuda_choose_unit MD_NAME(cuda_choose_unit)
#define cuda_spread MD_NAME(cuda_spread)
#define cuda_set_lean MD_NAME(cuda_set_lean)
#define cuda_take_field MD_NAME(cuda_take_field)
#define cuda_check_lost MD_NAME(cuda_check_lost)
#define cuda_spread_charges MD_NAME(cuda_spread_charges)
#define cuda_gather_field MD_NAME(cuda_gather_field)
#define cuda_mesh_forces MD_NAME(cuda_mesh_forces)
#define cuda_launch_mesh MD_NAME(cuda_launch_mesh)
#define cuda_mesh_charges MD_NAME(cuda_mesh_charges)
#define cuda_mesh_transform MD_NAME(cuda_mesh_transform)
#define cuda_mesh_fields MD_NAME(cuda_mesh_fields)
#define cuda_mesh_pull MD_NAME(cuda_mesh_pull)
#define cuda_mesh_add MD_NAME(cuda_mesh_add)
#define cuda_mesh_do MD_NAME(cuda_mesh_do)
#define cuda_mesh_forget MD_NAME(cuda_mesh_forget)
#define cuda_charge_moments MD_NAME(cuda_charge_moments)
#define cuda_push_charges MD_NAME(cuda_push_charges)
#define cuda_wave_sums MD_NAME(cuda_wave_sums)
#define cuda_wave_forces MD_NAME(cuda_wave_forces)
#define cuda_wave_field MD_NAME(cuda_wave_field)
#define cuda_push_slab MD_NAME(cuda_push_slab)
#define cuda_launch_waves MD_NAME(cuda_launch_waves)
#define cuda_launch_slab MD_NAME(cuda_launch_slab)

void cuda_mesh_destroy(struct md_store *s);
size_t cuda_mesh_bytes(const struct md_store *s);

/* ---- mesh_cuda.cu, for mesh_whole_cuda.cu ---- */
/* s->mesh, made where there is none; NULL after a failure. */
struct cuda_mesh *cuda_mesh_of(struct ctx *ctx, struct md_store *s);
/* Room for n doubles. */
int cuda_mesh_grow(struct ctx *ctx, struct device_array *a, size_t n);
/* s->mesh->per_unit: all charges that are own since the list was built fit into
 * 62 bits of it. Of a whole box they stay the same: until particles come. */
int cuda_choose_unit(struct ctx *ctx, struct md_store *s);
/* Particles have come. */
void cuda_mesh_forget(struct md_store *s);
/* Charges onto `points`, `size` numbers, in stream order. */
int cuda_spread(struct ctx *ctx, struct md_store *s, const struct mesh_map *map,
                int order, size_t size);
/* The map's lean in a box of these lengths. */
void cuda_set_lean(struct mesh_map *map, const double length[3],
                   const double tilt[3]);
/* Add to the forces q times three fields, `size` numbers each. */
int cuda_take_field(struct ctx *ctx, struct md_store *s,
                    const struct mesh_map *map, int order, size_t size);

/* ---- the table's functions ---- */
int cuda_spread_charges(struct ctx *ctx, struct md_store *s,
                        const struct md_brick *b, double *mesh);
void cuda_gather_field(struct md_store *s, const struct md_brick *b,
                       const double *const field[3]);
int cuda_mesh_forces(struct ctx *ctx, struct md_store *s,
                     const struct md_whole_mesh *m, struct md_sums *sums);
/* The launches of a step's call, all of s->mesh->whole; sums of modes go to
 * s->result where they are wanted. Room and plans are there. */
int cuda_launch_mesh(struct md_store *s, int want);
/* Its parts: charges; transform to modes; modes to fields; back; forces. The
 * transforms are cuFFT's: each store launches its own. */
int cuda_mesh_charges(struct md_store *s);
int cuda_mesh_transform(struct md_store *s, int back);
int cuda_mesh_fields(struct md_store *s, int want);
int cuda_mesh_pull(struct md_store *s);
/* Sums of modes or waves that have come. */
void cuda_mesh_add(const struct md_store *s, struct md_sums *sums);
/* The step's call of a mesh or of waves: behind those that wait, where its sums
 * may come with theirs, or now, with its sums. */
int cuda_mesh_do(struct md_store *s, enum step_kind kind, struct md_sums *sums);
void cuda_charge_moments(const struct md_store *s,
                         struct md_charge_moments *out);
void cuda_push_charges(struct md_store *s, const double even[3],
                       const double slope[3]);
int cuda_wave_sums(struct ctx *ctx, struct md_store *s,
                   const struct md_waves *w, double (*sums)[2]);
int cuda_wave_forces(struct ctx *ctx, struct md_store *s,
                     const struct md_waves *w, const double (*field)[2]);
int cuda_wave_field(struct ctx *ctx, struct md_store *s,
                    const struct md_waves *w, int fresh, struct md_sums *sums);
void cuda_push_slab(struct md_store *s, double per_dipole, double slope,
                    int keep);
/* The launches of a step's calls. */
int cuda_launch_waves(struct md_store *s, int want);
int cuda_launch_slab(struct md_store *s, double per_dipole, double slope,
                     int keep);

#endif
