/* risk_cuda.h: what the files of the card's backend share: a plan's tables in
 * the card's memory, and columns for what a path carries along.
 *
 * One thread a path. A launch walks up to RISK_LAUNCH_CHUNKS chunks; what does
 * not fit registers stands in columns [number][path of the launch], which
 * neighboring threads read together. Random numbers are made where they are
 * used; only Sobol's points, which a Brownian bridge brings out of order, are
 * stored. Included by .cu files only.
 */
#ifndef WARPDECK_KERNELS_RISK_RISK_CUDA_H
#define WARPDECK_KERNELS_RISK_RISK_CUDA_H

#include "kernels/device_cuda.h"

extern "C" {
#include "kernels/risk/risk_tables.h"
}

enum {
    RISK_THREADS = 128, /* of a block; a divisor of RISK_CHUNK */
    RISK_LAUNCH_CHUNKS = 64
};

/* A market in the card's memory; see struct risk_market. */
struct risk_card_market {
    const struct risk_step *steps;
    const double *log_spot;
    const struct risk_factor *factors;
    const double *discount;
    const double *exercise_discount;
};

/* What kernels get. Pointers are to the card's memory. */
struct risk_view {
    uint64_t seed;
    int antithetic;
    int n_factors, n_steps, n_instruments, n_extra, n_bridge;
    const double *root; /* NULL: independent */
    const struct risk_instrument *instruments;
    const struct risk_event *events;
    const int64_t *event_begin;
    const unsigned char *wants_spot;
    const int *extra, *extra_purpose, *extra_factor, *bridge, *bridge_factor;
    const unsigned char *twin; /* [n_factors]; NULL: no control wants one */
    const double *continuation;
    /* Sobol: n_sobol drivers, factors first; sobol_of[extra] is one's number,
     * or -1. */
    int sobol, n_sobol, dimensions;
    const int *sobol_of;
    uint32_t replicate;
    uint64_t replicate_paths; /* 0: one scramble for all */
    const struct risk_bridge_point *order;
    const double *per_root;
    const double *turn; /* NULL: none */
    /* Columns of `stride` paths. */
    size_t stride;
    double *state;    /* [4 or 5][n_factors]: x, before, spot, v, the twins that
                       * any control wants; not of one factor */
    double *acc;      /* [3][n_instruments] */
    double *normals;  /* [4][n_factors], of four steps; not of one factor */
    double *extra_z;  /* [2][n_extra], of two steps; not of one factor */
    double *extra_u;  /* [2][n_extra] */
    double *bridge_u; /* [4][n_bridge] */
    double *points;   /* [n_steps][n_sobol]: Sobol's normals */
    double *pay;      /* [n_instruments + 1] */
    double *control;  /* [n_instruments + 1] */
    double *second;   /* [n_instruments + 1] of second controls, with twins */
    double *moved;    /* [2][n_instruments + 1] of two scenarios */
};

struct risk_store {
    struct ctx *ctx;
    struct cuda_device *device;
    struct risk_tables t;
    struct risk_view view;
    struct risk_card_market base;
    struct risk_card_market *scenarios;
    void **blocks; /* of the card's memory, for tables */
    int n_blocks;
    void *columns; /* all of them */
    size_t columns_bytes;
    void *results; /* of a launch */
    size_t results_bytes;
};

/* Chunks that a launch walks at most: columns take a bounded part of the card
 * (store_cuda.cu). */
int64_t risk_cuda_launch_chunks(const struct risk_store *s);

/* Columns for a launch of n chunks. */
int risk_cuda_columns(struct risk_store *s, int64_t chunks);

/* Copy n bytes to new memory of the card, freed with the store. */
int risk_cuda_table(struct risk_store *s, const void *from, size_t n,
                    const void **out);

/* Room for the results of a launch. */
int risk_cuda_results(struct risk_store *s, size_t bytes);

/* Sobol's normals of the chunks from `path` on into view.points, where the plan
 * wants them (sobol_cuda.cu). */
int risk_cuda_points(struct risk_store *s, uint64_t path, int64_t chunks);
/* Direction numbers into constant memory. */
int risk_cuda_directions(struct risk_store *s);

/* Walk chunks through a market: the discounted payoffs, and controls unless
 * NULL, into columns (walk_cuda.cu). */
int risk_cuda_walk(struct risk_store *s, const struct risk_card_market *m,
                   uint64_t path, int64_t chunks, double *pay, double *control);

/* Sums of chunks into out[chunk][n_instruments + 1] (sums_cuda.cu). */
int risk_cuda_sums(struct risk_store *s, int64_t chunks, struct risk_sums *out);
/* Those of two scenarios, which stand in view.moved:
 * out[chunk][n_scenarios][n_instruments + 1] from out[0][0] on. */
int risk_cuda_pair_sums(struct risk_store *s, int64_t chunks,
                        struct risk_scenario_sums *out);

/* Spots at chosen steps of one chunk: spot[step][factor][RISK_CHUNK], variance
 * alike unless NULL; steps, spot and variance in the card's memory
 * (looks_cuda.cu). */
int risk_cuda_spots(struct risk_store *s, uint64_t path, int n_steps,
                    const int32_t *steps, double *spot, double *variance);
/* The legs' spots of an instrument, then the variances of its continuation
 * value, in single precision: out[step][look] rows of `each`, from column `at`
 * on. */
int risk_cuda_legs(struct risk_store *s, uint64_t path, int64_t chunks,
                   int instrument, int n_steps, const int32_t *steps,
                   float *out, size_t each, size_t at);

/* See risk_kernels (regress_cuda.cu, looks_cuda.cu). */
int risk_cuda_regress(struct ctx *ctx, struct risk_store *s,
                      const struct risk_regression *job);
double risk_cuda_regress_bytes(const struct risk_regression *job, int n_looks);
int risk_cuda_states(struct ctx *ctx, struct risk_store *s, int64_t chunk,
                     int n_steps, const int32_t *steps, double *spot,
                     double *variance);

static __device__ __forceinline__ size_t risk_path_of_thread(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

#endif
