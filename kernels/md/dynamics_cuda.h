/* dynamics_cuda.h: what couples particles to baths, one by one or in pairs, on
 * a card. What the functions of the table do is said in md_kernels.h.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_DYNAMICS_CUDA_H
#define WARPDECK_KERNELS_MD_DYNAMICS_CUDA_H

#include "kernels/md/store_cuda.h"

/* Made by who first needs it; arrays of the card. */
struct cuda_dynamics {
    struct device_array work;     /* one double, see md_kernels.work */
    struct device_array friction; /* [n_species] */
    struct device_array gamma;    /* struct pair_friction [n_species^2] */
    struct device_array force;    /* of pairs, 3 columns */
    double greatest_gamma;
    double strength; /* sqrt(2 kT / dt) of the last pairs, and their step */
    uint64_t step;
    double weight[2]; /* of Brownian motion's noise, the same in all steps */
    int friction_sent, in_pairs; /* there is dissipative particle dynamics */
};

/* ---- bath_cuda.cu ---- */
#define cuda_dynamics_of MD_NAME(cuda_dynamics_of)
#define cuda_dynamics_destroy MD_NAME(cuda_dynamics_destroy)
#define cuda_dynamics_bytes MD_NAME(cuda_dynamics_bytes)
#define cuda_add_work MD_NAME(cuda_add_work)
#define cuda_work MD_NAME(cuda_work)
#define cuda_set_work MD_NAME(cuda_set_work)
#define cuda_launch_baths MD_NAME(cuda_launch_baths)
#define cuda_launch_brownian MD_NAME(cuda_launch_brownian)
#define cuda_bath_step MD_NAME(cuda_bath_step)
#define cuda_brownian_step MD_NAME(cuda_brownian_step)
#define cuda_brownian_step_ahead MD_NAME(cuda_brownian_step_ahead)
#define cuda_group_moments MD_NAME(cuda_group_moments)

/* s->dynamics, new where there is none yet. Errors: STATUS_MEMORY. */
int cuda_dynamics_of(struct md_store *s, struct cuda_dynamics **out);
void cuda_dynamics_destroy(struct md_store *s);
size_t cuda_dynamics_bytes(const struct md_store *s);
/* Where a kernel leaves what each particle's kinetic energy grew by: the
 * column, for sums in any order, or NULL and sums by block to ARRAY_PARTIAL. */
static inline double *growth_column(const struct md_store *s)
{
    return s->setup.deterministic ? ARRAY(s, ARRAY_COLUMNS, double) : NULL;
}
/* Add these up to the work, on the card and in stream order. */
int cuda_add_work(struct md_store *s, unsigned blocks);

static __device__ __forceinline__ void leave_growth(const struct md_view &m,
                                                    uint32_t i, double growth,
                                                    double *column,
                                                    double *partial)
{
    double value[1] = {growth};
    leave_values(m, i, value, column, partial);
}

double cuda_work(const struct md_store *s);
void cuda_set_work(struct md_store *s, double work);
/* The launches of a step's calls. */
int cuda_launch_baths(struct md_store *s, const struct step_call *c);
int cuda_launch_brownian(struct md_store *s, const struct step_call *c);

void cuda_bath_step(struct md_store *s, const struct md_bath *b, double dt,
                    uint64_t step);
double cuda_brownian_step(struct md_store *s, const struct md_bath *b,
                          double dt, uint64_t step, const double weight[2]);
void cuda_brownian_step_ahead(struct md_store *s, const struct md_bath *b,
                              double dt, uint64_t step, const double weight[2]);
void cuda_group_moments(const struct md_store *s, const struct md_outer *o,
                        int group, struct md_moments *out);

/* ---- dpd_cuda.cu ---- */
#define cuda_launch_dpd_forces MD_NAME(cuda_launch_dpd_forces)
#define cuda_launch_dpd_kick MD_NAME(cuda_launch_dpd_kick)
#define cuda_dpd_pairs MD_NAME(cuda_dpd_pairs)
#define cuda_dpd_forces MD_NAME(cuda_dpd_forces)
#define cuda_dpd_kick MD_NAME(cuda_dpd_kick)

int cuda_launch_dpd_forces(struct md_store *s, const struct step_call *c);
int cuda_launch_dpd_kick(struct md_store *s, double dt);
int cuda_dpd_pairs(struct ctx *ctx, struct md_store *s, const struct md_dpd *d);
void cuda_dpd_forces(struct md_store *s);
double cuda_dpd_kick(struct md_store *s, double dt);

#endif
