/* store_cuda.h: one block of the fluid's grid as a card likes it.
 *
 * A field is an array of planes of rows with one ghost layer on every side; the
 * pointer stands at cell (0,0,0), where a row begins on a full line of memory:
 *
 *     field[f][k * plane + j * pitch + i]    i, j, k in [-1, n]
 *
 * (i = -1 lies in the padding of the row before.) Ghosts follow the rules of
 * fluid_cpu.h; those in x are filled after those in y and z. predict() writes
 * to next[] and swaps: what a thread reads nobody changes. With implicit
 * diffusion next[] holds the increments, as delta[] on the CPU. Later in a
 * substage next[0] is psi.
 *
 * Private to the .cu files of kernels/fluid. Compiled once per precision.
 */
#ifndef WARPDECK_KERNELS_FLUID_STORE_CUDA_H
#define WARPDECK_KERNELS_FLUID_STORE_CUDA_H

#include "kernels/device_cuda.h"

#define KERNEL_FN static __host__ __device__ __forceinline__

#if FLUID_PRECISION == 3
typedef float scalar;
#define FLUID_NAME(base) base##_single
#define FLUID_PRECISION_NAME "single"
#else
typedef double scalar;
#define FLUID_NAME(base) base##_double
#define FLUID_PRECISION_NAME "double"
#endif
typedef scalar real;

extern "C" {
#include "kernels/fluid/fluid_kernels.h"
#include "kernels/fluid/lines.h"
}

/* Types that differ between precisions have different names: templates of a
 * kernel's argument types would else be one for both. */
#define fluid_coeff FLUID_NAME(fluid_coeff)
#define fluid_rule FLUID_NAME(fluid_rule)
#define fluid_view FLUID_NAME(fluid_view)
#define fluid_terms FLUID_NAME(fluid_terms)
#define fluid_stage FLUID_NAME(fluid_stage)
#define fluid_parabola FLUID_NAME(fluid_parabola)
#define fluid_ghosts FLUID_NAME(fluid_ghosts)
#define scalar_terms FLUID_NAME(scalar_terms)
#define poisson_view FLUID_NAME(poisson_view)
#define scalar_pair FLUID_NAME(scalar_pair)

#include "kernels/fluid/stencil.h"
#include "kernels/fluid/wall_rule.h"

/* Threads of a block: a warp along x, rows along y. */
enum { TILE_X = 32, TILE_Y = 8, TILE = TILE_X * TILE_Y, PLANES_AT_ONCE = 16 };

/* Heights of one plane, for all that is not momentum; and their inverses, as
 * dividing takes a card long. */
struct plane_metric {
    double h, hc, hc_below; /* height; to the centers above and below */
    double per_h, per_hc, per_hc_below;
    double rate; /* 1 / min(h(k), h(k + 1)) */
};

/* What kernels get, by value. Pointers are of the device. */
struct fluid_view {
    int n[3]; /* cells of this block */
    int periodic[3];
    int wall[3][2]; /* whether a wall of the box is there */
    ptrdiff_t pitch, plane;
    int n_fields;
    scalar *field[FLUID_FIELDS_MAX];
    scalar *next[FLUID_FIELDS_MAX];
    scalar *history[FLUID_FIELDS_MAX];
    scalar *pressure;                   /* implicit diffusion alone */
    const struct fluid_coeff *coeff;    /* [n[2]], without force */
    const struct fluid_coeff *implicit; /* the same: what coeff leaves out */
    const struct plane_metric *metric;  /* at plane 0; [-1, n[2]] */
    double inverse_d[2];                /* 1 / dx, 1 / dy */
};

/* A buffer of messages on the card with its twin on the host, which cannot be
 * paged and is what MPI gets. Where MPI takes memory of the card (struct
 * device, `direct`) both are one and nothing is copied. */
struct twin {
    char *device, *host;
    size_t bytes;
};

enum { MESSAGES_MAX = 2 }; /* neighbors along a direction */

struct poisson_cuda;
struct lines_cuda;

struct fluid_store {
    struct ctx *ctx;
    struct cuda_device *device;
    struct fluid_setup setup; /* cuts and faces are the store's */
    struct fluid_view view;
    struct fluid_rule rule[FLUID_RULES][3][2];
    int cut[3], implicit[3], any_implicit;
    int delta_pending; /* next[] has still to be added to field[] */
    int psi_ready;     /* next[0] is psi */
    double alpha_dt;   /* of the last substage, 0 before any */
    double *tables;    /* host: what setup points to */
    double *metric;    /* host: h at [-1, n], then hc; see fluid_h() */
    void **blocks;     /* device memory to free */
    int n_blocks, cap_blocks;
    size_t bytes;
    double *partial, *result; /* device: of reductions and plain blocks */
    struct twin send, recv;   /* of halos */
    struct poisson_cuda *poisson;
    struct lines_cuda *lines;
    /* The exchange of ghosts that is under way. */
    int partner[MESSAGES_MAX];
    const void *send_at[MESSAGES_MAX];
    void *recv_at[MESSAGES_MAX];
    size_t send_bytes[MESSAGES_MAX], recv_bytes[MESSAGES_MAX];
    size_t expected; /* bytes of all that is to come */
};

/* Cell height of plane k, and between the centers of planes k and k + 1. */
static inline double fluid_h(const struct fluid_store *s, int64_t k)
{
    return s->metric[k + 1];
}
static inline double fluid_hc(const struct fluid_store *s, int64_t k)
{
    return s->metric[s->setup.local[2] + 3 + k];
}

/* ---- threads ---- */

static inline dim3 tile_blocks(int64_t nx, int64_t ny, int64_t nz)
{
    return dim3(cuda_blocks((size_t)nx, TILE_X),
                cuda_blocks((size_t)ny, TILE_Y), (unsigned)(nz > 0 ? nz : 1));
}
/* Tiles of reductions: not more along z than fills a card. */
static inline dim3 reduction_blocks(int64_t nx, int64_t ny, int64_t nz)
{
    return tile_blocks(nx, ny, nz < 64 ? nz : 64);
}
static inline dim3 tile_threads(void)
{
    return dim3(TILE_X, TILE_Y, 1);
}
static __device__ __forceinline__ int tile_i(void)
{
    return (int)(blockIdx.x * TILE_X + threadIdx.x);
}
static __device__ __forceinline__ int tile_j(void)
{
    return (int)(blockIdx.y * TILE_Y + threadIdx.y);
}

/* Threads of a grid of one dimension, for arrays longer than one launch: each
 * does every gridDim.x * blockDim.x-th element. */
static __device__ __forceinline__ size_t linear_thread(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ size_t linear_stride(void)
{
    return (size_t)gridDim.x * blockDim.x;
}
static inline unsigned linear_blocks(size_t n)
{
    size_t blocks = (n + TILE - 1) / TILE;
    return (unsigned)(blocks < 1 ? 1 : blocks > 65535 ? 65535 : blocks);
}

/* ---- sums over a block of TILE threads, in a fixed order ---- */

static __device__ __forceinline__ unsigned tile_thread(void)
{
    return threadIdx.y * blockDim.x + threadIdx.x;
}

/* Sum or (greatest) maximum; right in thread 0. shared: TILE / 32 entries. A
 * maximum of what is not a number is infinite if the caller has made it so. */
static __device__ __forceinline__ double tile_reduce(double value, int greatest,
                                                     double *shared)
{
    unsigned t = tile_thread();
    for (int d = 16; d > 0; d /= 2) {
        double other = __shfl_down_sync(0xffffffffu, value, d);
        value = greatest ? fmax(value, other) : value + other;
    }
    __syncthreads(); /* the entries of a sum before may still be read */
    if (t % 32 == 0)
        shared[t / 32] = value;
    __syncthreads();
    if (t == 0)
        for (int w = 1; w < TILE / 32; w++)
            value = greatest ? fmax(value, shared[w]) : value + shared[w];
    return value;
}

/* ---- store_cuda.cu ---- */
#define fluid_cuda_new FLUID_NAME(fluid_cuda_new)
#define fluid_cuda_new_twin FLUID_NAME(fluid_cuda_new_twin)
#define fluid_cuda_free_twin FLUID_NAME(fluid_cuda_free_twin)
#define fluid_cuda_to_twin FLUID_NAME(fluid_cuda_to_twin)
#define fluid_cuda_from_twin FLUID_NAME(fluid_cuda_from_twin)
#define fluid_cuda_height FLUID_NAME(fluid_cuda_height)
#define fluid_cuda_reduce FLUID_NAME(fluid_cuda_reduce)

enum {
    BLOCK_NUMBERS = 1 << 20, /* of a plain block, converted at once */
    REDUCED_MAX = 64         /* values of one reduction */
};

/* Zeroed device memory that lives as long as the store. */
int fluid_cuda_new(struct fluid_store *s, size_t bytes, const char *what,
                   void **out);
int fluid_cuda_new_twin(struct fluid_store *s, size_t bytes, const char *what,
                        struct twin *out);
void fluid_cuda_free_twin(struct twin *t);
/* Queue the copy of a part of a buffer to its twin on the host, or from it. */
int fluid_cuda_to_twin(struct fluid_store *s, const struct twin *t, size_t at,
                       size_t bytes);
int fluid_cuda_from_twin(struct fluid_store *s, const struct twin *t, size_t at,
                         size_t bytes);
/* Height of the cell k of the whole grid, those beyond its ends included. */
double fluid_cuda_height(const struct fluid_setup *setup, int64_t k);
/* Reduce s->partial, n_values columns of n_blocks entries, to out[n_values] on
 * the host. Bit v of greatest: value v is a maximum, else a sum. */
int fluid_cuda_reduce(struct fluid_store *s, int n_values, size_t n_blocks,
                      uint64_t greatest, double *out);

/* ---- exchange_cuda.cu, step_cuda.cu, scalar_cuda.cu, lines_cuda.cu ---- */
#define fluid_cuda_make_rules FLUID_NAME(fluid_cuda_make_rules)
#define fluid_cuda_halo_bytes FLUID_NAME(fluid_cuda_halo_bytes)
#define fluid_cuda_smooth_walls FLUID_NAME(fluid_cuda_smooth_walls)
#define fluid_cuda_restore_walls FLUID_NAME(fluid_cuda_restore_walls)
#define fluid_cuda_send_begin FLUID_NAME(fluid_cuda_send_begin)
#define fluid_cuda_send_end FLUID_NAME(fluid_cuda_send_end)
#define fluid_cuda_predict FLUID_NAME(fluid_cuda_predict)
#define fluid_cuda_predict_scalars FLUID_NAME(fluid_cuda_predict_scalars)
#define fluid_cuda_predicted_flow FLUID_NAME(fluid_cuda_predicted_flow)
#define fluid_cuda_apply_delta FLUID_NAME(fluid_cuda_apply_delta)
#define fluid_cuda_need_psi FLUID_NAME(fluid_cuda_need_psi)
#define fluid_cuda_source FLUID_NAME(fluid_cuda_source)
#define fluid_cuda_correct FLUID_NAME(fluid_cuda_correct)
#define fluid_cuda_set FLUID_NAME(fluid_cuda_set)
#define fluid_cuda_get FLUID_NAME(fluid_cuda_get)
#define fluid_cuda_pressure FLUID_NAME(fluid_cuda_pressure)
#define fluid_cuda_find_bad FLUID_NAME(fluid_cuda_find_bad)
#define fluid_cuda_look FLUID_NAME(fluid_cuda_look)
#define fluid_cuda_look_numbers FLUID_NAME(fluid_cuda_look_numbers)
#define fluid_cuda_profile FLUID_NAME(fluid_cuda_profile)
#define lines_cuda_create FLUID_NAME(lines_cuda_create)
#define lines_cuda_destroy FLUID_NAME(lines_cuda_destroy)
#define lines_cuda_bytes FLUID_NAME(lines_cuda_bytes)
#define lines_cuda_begin FLUID_NAME(lines_cuda_begin)
#define lines_cuda_end FLUID_NAME(lines_cuda_end)
#define lines_cuda_send_begin FLUID_NAME(lines_cuda_send_begin)
#define lines_cuda_send_end FLUID_NAME(lines_cuda_send_end)

void fluid_cuda_make_rules(struct fluid_store *s);
/* Bytes of the largest message of halos. */
size_t fluid_cuda_halo_bytes(const struct fluid_setup *setup);
/* The ghosts of the step make the viscous force at a wall right, not the slope
 * in the cell beside it. Replace those of the tangential velocity at no-slip
 * walls by the parabola through the wall and two cells; and put them back. */
int fluid_cuda_smooth_walls(struct fluid_store *s);
int fluid_cuda_restore_walls(struct fluid_store *s);
int fluid_cuda_send_begin(struct ctx *ctx, struct fluid_store *s,
                          enum fluid_exchange what, struct fluid_transfer *out);
int fluid_cuda_send_end(struct ctx *ctx, struct fluid_store *s,
                        enum fluid_exchange what);
int fluid_cuda_predict(struct ctx *ctx, struct fluid_store *s,
                       const struct fluid_substage *sub);
/* Scalars from field[] to next[]. */
int fluid_cuda_predict_scalars(struct fluid_store *s,
                               const struct fluid_substage *sub);
int fluid_cuda_predicted_flow(struct ctx *ctx, struct fluid_store *s,
                              double flow[3]);
/* Add the increments of implicit diffusion to the fields, once. */
int fluid_cuda_apply_delta(struct fluid_store *s);
/* psi from the spectrum's lines to next[0], once. */
int fluid_cuda_need_psi(struct fluid_store *s);
int fluid_cuda_source(struct ctx *ctx, struct fluid_store *s,
                      const struct fluid_substage *sub);
int fluid_cuda_correct(struct ctx *ctx, struct fluid_store *s,
                       const struct fluid_substage *sub, const double extra[3],
                       double *rate);
int fluid_cuda_set(struct ctx *ctx, struct fluid_store *s,
                   enum fluid_field field, const double *block);
int fluid_cuda_get(struct ctx *ctx, struct fluid_store *s,
                   enum fluid_field field, double *block);
/* The physical pressure is *factor times the field *out. */
int fluid_cuda_pressure(struct fluid_store *s, const scalar **out,
                        double *factor);
int fluid_cuda_find_bad(struct ctx *ctx, struct fluid_store *s,
                        struct fluid_bad_cell *out);
int fluid_cuda_look(struct ctx *ctx, struct fluid_store *s,
                    struct fluid_look *out);
/* Numbers that this leaves in s->partial, at most. */
size_t fluid_cuda_look_numbers(const struct fluid_setup *setup);
int fluid_cuda_profile(struct ctx *ctx, struct fluid_store *s, int axis,
                       double *sums);
int lines_cuda_create(struct fluid_store *s, struct lines_cuda **out);
void lines_cuda_destroy(struct lines_cuda *l);
double lines_cuda_bytes(const struct fluid_setup *setup);
int lines_cuda_begin(struct ctx *ctx, struct fluid_store *s, int axis,
                     const struct fluid_substage *sub);
int lines_cuda_end(struct ctx *ctx, struct fluid_store *s, int axis,
                   const struct fluid_substage *sub);
int lines_cuda_send_begin(struct fluid_store *s, enum fluid_exchange what,
                          struct fluid_transfer *out);
int lines_cuda_send_end(struct fluid_store *s, enum fluid_exchange what);

#endif
