/* team_cuda.h: several small stores on one card, whose waiting calls run in one
 * launch for all.
 *
 * A launch takes longer than what a thousand particles need of a card. The runs
 * of a team (struct device) stand at the same point of a step when one of them
 * has to wait: then what all have queued is launched together, block row y of a
 * grid for store y, each with its own view. Who has queued something else goes
 * alone. Each store's numbers are those it has alone, to the last bit.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_TEAM_CUDA_H
#define WARPDECK_KERNELS_MD_TEAM_CUDA_H

#include "kernels/md/store_cuda.h"

#define team_member MD_NAME(team_member)
#define team_launch MD_NAME(team_launch)
#define team_scratch MD_NAME(team_scratch)
#define cuda_team_join MD_NAME(cuda_team_join)
#define cuda_team_leave MD_NAME(cuda_team_leave)
#define cuda_team_run MD_NAME(cuda_team_run)
#define cuda_wait_for_result MD_NAME(cuda_wait_for_result)
#define cuda_team_tally MD_NAME(cuda_team_tally)
#define cuda_team_force MD_NAME(cuda_team_force)
#define cuda_team_fixed MD_NAME(cuda_team_fixed)
#define cuda_team_kick MD_NAME(cuda_team_kick)
#define cuda_team_drift MD_NAME(cuda_team_drift)
#define cuda_team_scale MD_NAME(cuda_team_scale)
#define cuda_team_noise MD_NAME(cuda_team_noise)
#define cuda_team_moments MD_NAME(cuda_team_moments)
#define cuda_team_wrap MD_NAME(cuda_team_wrap)
#define cuda_team_sort MD_NAME(cuda_team_sort)
#define cuda_team_list MD_NAME(cuda_team_list)
#define cuda_shape_cells MD_NAME(cuda_shape_cells)
#define cuda_list_is_built MD_NAME(cuda_list_is_built)

/* What comes back of a store, in memory of the card and then of the host. */
struct team_result {
    double way2, moments[5];
    unsigned long long beyond; /* see fixed_cuda.cu */
    unsigned needed;           /* neighbors of a particle at most */
};

/* What joint kernels get of each store. */
struct team_member {
    struct md_view view;
    uint32_t *neighbor, *count, rows; /* the pair list */
    struct cell_grid cells;
    uint32_t *start; /* of each cell */
    state *listed;
    double *partial;
    struct team_result *result;
    fixed_sum *fixed;
    double *column;
    unsigned long long *beyond; /* NULL: sums are not deterministic */
    double *work;               /* see dynamics_cuda.h, or NULL */
    uint64_t seed;
};

/* What they get of a call. */
struct team_call {
    double kick, drift;
    uint64_t step;
};

/* Particles on their way to another order, store after store. */
struct team_scratch {
    uint32_t *key, *key_out, *order, *order_out;
    state *x, *v; /* [3][particles] */
    int64_t *id;
    int32_t *image, *species;
    void *workspace;
    size_t workspace_bytes;
};

/* One call of `n` stores with the same number of particles, in memory of the
 * card; `s`: one of them. */
struct team_launch {
    struct md_store *s;
    unsigned n;
    const struct team_member *member;
    const struct team_call *call;
    struct team_scratch scratch; /* of cuda_team_sort() */
};

static inline dim3 team_grid(const struct team_launch *t)
{
    return dim3(cuda_blocks(t->s->view.n_own, MD_THREADS), t->n);
}

/* The store becomes one of its device's team, if it has one and all that the
 * store does has a joint kernel. */
int cuda_team_join(struct md_store *s);
void cuda_team_leave(struct md_store *s);
/* Run what waits in this store together with those others that wait for the
 * same: *n is how many it were. 0 or 1: nothing was done. */
int cuda_team_run(struct md_store *s, unsigned *n);
/* Wait until what was queued is in s->result, of a store in a team or not. */
int cuda_wait_for_result(struct md_store *s);

/* A joint kernel moves so many bytes of each particle. */
void cuda_team_tally(const struct team_launch *t, size_t bytes);

/* The joint kernels, by file: lj_cuda.cu, fixed_cuda.cu, motion_cuda.cu. */
int cuda_team_force(const struct team_launch *t);
int cuda_team_fixed(const struct team_launch *t);
int cuda_team_kick(const struct team_launch *t);
int cuda_team_drift(const struct team_launch *t);
int cuda_team_scale(const struct team_launch *t);
int cuda_team_noise(const struct team_launch *t);
int cuda_team_moments(const struct team_launch *t);

/* sort_cuda.cu, list_cuda.cu: the same of a rebuild. Before the members are
 * sent: the cells of one, and room for where they start. */
int cuda_shape_cells(struct md_store *s);
int cuda_team_wrap(const struct team_launch *t);
int cuda_team_sort(const struct team_launch *t);
/* Leaves in each result how many neighbors there should be room for. */
int cuda_team_list(const struct team_launch *t);
/* What follows where there was. */
int cuda_list_is_built(struct md_store *s);

#endif
