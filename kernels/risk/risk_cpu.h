/* risk_cpu.h: what the CPU's files share: the tables of a run, and the
 * arrays that a block of paths walks in. Private to kernels/risk.
 *
 * A block is RISK_BLOCK paths, a structure of arrays: each number of a path is
 * an array of RISK_BLOCK doubles, which loops take EXACT_LANES at a time.
 */
#ifndef WARPDECK_KERNELS_RISK_RISK_CPU_H
#define WARPDECK_KERNELS_RISK_RISK_CPU_H

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define EXACT_LANES 8
#elif defined(__AVX2__) && defined(__FMA__)
#define EXACT_LANES 4
#else
#define EXACT_LANES 2
#endif
/* Vectors of paths whose random numbers are made in step (exact.h), as many as
 * the registers hold. */
#if EXACT_LANES == 8
#define RISK_IN_STEP 4
#else
#define RISK_IN_STEP 2
#endif

#include "kernels/risk/models.h"
#include "kernels/risk/risk_kernels.h"
#include "kernels/risk/risk_tables.h"
#include "kernels/risk/sobol.h"

typedef double risk_row[RISK_BLOCK];

/* Paths that are made in step. */
enum { RISK_STRIDE = RISK_IN_STEP * EXACT_LANES };

/* Steps whose normals are made together; a multiple of 4. */
enum { RISK_SEGMENT = 16 };

/* Positions that are paid when they are summed (late_cpu.c). */
struct risk_late {
    int32_t n_slots;
    int32_t *slot;   /* [n_instruments]; -1: pays on the way */
    int32_t *factor; /* [n_slots] */
    int32_t *begin;  /* slots of step k: [begin[k], begin[k + 1]) */
    /* events of the others; those of step k as above */
    struct risk_event *events;
    int64_t *event_begin;
};

struct risk_store {
    struct risk_tables t;
    struct risk_late late;
    int fused; /* independent gbm factors, each path walked once */
    /* Which of the blocks' acc an instrument has, [n_instruments]; those that
     * remember nothing share number 0, which stays as it begins. */
    int32_t *acc, n_acc;
    int controls; /* whether any instrument has one */
    /* [n_instruments]: whether one pays once a path, and so may begin its rows
     * where others add to theirs. */
    unsigned char *pays_once;
    int n_blocks; /* one for each thread */
    struct risk_block *blocks;
    size_t bytes;
};

/* A thread's arrays. */
struct risk_block {
    risk_row *x;        /* [n_factors] log spots */
    risk_row *before;   /* [n_factors] */
    risk_row *spot;     /* [n_factors] */
    risk_row *v;        /* [n_factors] Heston's variance */
    risk_row *twin;     /* [n_factors] log of the twins, where any is wanted */
    risk_row *acc;      /* [n_acc][3] */
    risk_row *pay;      /* [n_instruments + 1] of the base */
    risk_row *control;  /* [n_instruments + 1] */
    risk_row *second;   /* the same of second controls, where there are twins */
    risk_row *moved;    /* [2][n_instruments + 1] of two scenarios */
    risk_row *late;     /* [1 or 2 signs][n_slots] spots */
    risk_row *normals;  /* [length][n_factors] */
    risk_row *extra_z;  /* [length][n_extra] */
    risk_row *extra_u;  /* [length][n_extra] */
    risk_row *bridge_u; /* [length][n_bridge] */
    int32_t length;     /* steps that the random arrays hold */
    int32_t first;      /* the first of them; -1: none */
    uint64_t *scramble; /* seeds of Sobol's coordinates (sobol_cpu.c) */
    uint32_t replicate; /* for which they are */
    int scramble_known;
    uint64_t path; /* of the block's first path, for which they are */
    void *memory;
    size_t bytes;
};

/* Random numbers of steps [first, first + n) for the block that begins at
 * `path`, into b->normals (correlated already), extra_* and bridge_u; negated,
 * or 1 - u, where sign < 0 (normals_cpu.c). */
void risk_fill(const struct risk_store *s, struct risk_block *b, uint64_t path,
               int32_t first, int32_t n);

/* The normals of all steps, not yet correlated, from Sobol's points
 * (sobol_cpu.c). */
void risk_fill_sobol(const struct risk_store *s, struct risk_block *b,
                     uint64_t path);

/* Walk the block that begins at `path` through a market; payoffs of each
 * instrument times `weight` are added to pay (and control, unless NULL), or,
 * with sign > 0 and pays_once, stored there (walk_cpu.c). */
void risk_walk(const struct risk_store *s, const struct risk_market *m,
               struct risk_block *b, uint64_t path, double sign, double weight,
               risk_row *pay, risk_row *control);

/* Which positions pay late; 1: out of memory. Rows of a block for them. Keep
 * the spots of step k of a walk (late_cpu.c). */
int risk_late_make(struct risk_store *s);
void risk_late_free(struct risk_late *l);
int32_t risk_late_rows(const struct risk_store *s);
void risk_late_keep(const struct risk_store *s, struct risk_block *b, int32_t k,
                    double sign);

/* Add a block's payoffs, and the portfolio's row, to sums [n_instruments + 1];
 * those of scenarios 2i and 2i + 1, in b->moved (sums_cpu.c). */
void risk_add_sums(const struct risk_store *s, const struct risk_block *b,
                   struct risk_sums *out);
void risk_add_pair(const struct risk_store *s, const struct risk_block *b,
                   struct risk_scenario_sums *low,
                   struct risk_scenario_sums *high);

/* Spots at the ends of the chosen steps, rising, of the block:
 * out[step][factor] rows of RISK_CHUNK, from column `at` on (walk_cpu.c). */
void risk_walk_states(const struct risk_store *s, struct risk_block *b,
                      uint64_t path, int n_steps, const int32_t *steps,
                      double *spot, double *variance, int64_t at);

/* Spots of an instrument's legs, then the variances of its continuation value,
 * at the ends of steps, rising, in single precision: out[step][look] rows of
 * `stride`, from column `at` on (walk_cpu.c). */
void risk_walk_spots(const struct risk_store *s, struct risk_block *b,
                     uint64_t path, const struct risk_instrument *q,
                     int32_t n_steps, const int32_t *steps, float *out,
                     size_t stride, size_t at);

/* See risk_kernels.regress (regress_cpu.c). */
int risk_regress_cpu(struct ctx *ctx, struct risk_store *s,
                     const struct risk_regression *job);
double risk_regress_bytes_cpu(const struct risk_regression *job, int n_looks);

#endif
