/* poisson_state.h: what the files of the Poisson solver share.
 *
 * Two transforms, "first" along one of x and y and "second" along the other,
 * then systems along z. Where y is not cut, first is along y, so that the
 * lanes of a vector are neighbors in x and nothing has to be transposed while
 * loading; where y is cut, or short, or has walls while x has none, first is
 * along x. The first transform's result is laid out by groups: a group is
 * LANES neighboring frequencies as lanes (Fourier: real and imaginary parts in
 * the two slots; cosine: two times LANES frequencies, one set in each slot). A
 * plane is [group][line][slot] vectors, and the second transform goes along the
 * lines. A "column" is what stands at one place of all planes.
 *
 * Where y is cut, planes are kept in segments: `stage` by the rank that owns
 * the group, `column` by the rank that owned the line. These are the messages
 * of the transposition themselves, which costs no packing. The second transform
 * gathers its line from the segments. stage and column of this rank itself are
 * the same memory; where y is not cut that is all there is.
 */
#ifndef WARPDECK_KERNELS_FLUID_POISSON_STATE_H
#define WARPDECK_KERNELS_FLUID_POISSON_STATE_H

#include "kernels/fft_lanes.h"
#include "kernels/fluid/poisson_cpu.h"

#define poisson_scratch FLUID_NAME(poisson_scratch)
#define poisson_fill_tables FLUID_NAME(poisson_fill_tables)
#define poisson_mean_solve FLUID_NAME(poisson_mean_solve)
#define poisson_piece_limits FLUID_NAME(poisson_piece_limits)
#define poisson_wave_limits FLUID_NAME(poisson_wave_limits)

/* Vectors of columns that are solved together: 8 fill the pipeline. */
enum { COLUMN_VECTORS = 8 };

struct segment {
    scalar *base;
    size_t first, count; /* groups (stage) or lines (column) of that rank */
    size_t vectors;      /* in a plane */
    size_t plane;        /* numbers from a plane to the next */
    size_t table;        /* column: its first vector in the tables */
};

/* Uniform periodic z: r, the root below one of r + 1/r = 2 - lambda dz^2;
 * power = r^m, sum = r + r^3 + .. (m terms), m the fewest planes of any rank;
 * closed = 1 / (1 - r^cells). */
struct wave {
    real r, power, sum, closed;
};

/* A rank's planes as a piece between x(-1) and x(m): what x(0) and x(m - 1)
 * become for x(-1) = 1 (from_low) or x(m) = 1 (from_high). */
struct piece {
    real first_from_low, first_from_high, last_from_low, last_from_high;
};

struct poisson_work {
    real *line, *z; /* 2 vectors for each element of the longest line */
    real *plane;    /* a plane after the inverse second transform */
    real *columns;
};

struct poisson {
    size_t size[2]; /* of this rank's plane, x and y */
    size_t planes;
    int cut_y, periodic_z;
    int waves; /* uniform periodic z: recursions; else elimination */
    int y_ranks, y_rank, z_ranks, z_rank;
    int first_axis; /* FLUID_X or FLUID_Y */
    size_t n[2];    /* length of the first and the second transform */
    size_t lines;   /* of the first transform in a plane of this rank */
    struct fft *fft[2];
    int paired;    /* both slots have one eigenvalue: Fourier first */
    size_t groups; /* of all ranks */
    struct segment *stage, *column; /* [y_ranks] */
    size_t table_vectors;           /* of this rank's columns */

    /* Along z. Everything is scaled by what the transforms scale. */
    double scale;
    int64_t cells_z, first_z;
    int64_t *cuts_z;         /* [z_ranks + 1] */
    double *height, *center; /* [cells_z]: h(k), distance of centers k, k+1 */
    scalar *low, *high;      /* [planes]: a(k), c(k) times scale */
    double wave_rhs;         /* -dz^2 / scale */
    real *lambda;            /* [table_vectors] */
    struct wave *wave;       /* [table_vectors] or half of it where paired */
    struct piece *pieces;    /* the same for each rank along z */

    /* The mean mode. */
    int has_mean;
    double *mean; /* [cells_z] */

    /* Messages of FLUID_COLUMNS: two vectors for each of the table, where the
     * ranks need them, then (mean_at numbers on) the mean column. */
    size_t mean_at;
    scalar *send;
    scalar **recv; /* [z_ranks]; this rank's own is `send` */
    int *partner;
    const void **send_list;
    void **recv_list;
    size_t *send_bytes, *recv_bytes;

    int n_threads;
    struct poisson_work *work;
    void **blocks; /* everything allocated */
    int n_blocks;
};

/* This thread's scratch. */
struct poisson_work *poisson_scratch(struct poisson *p);

/* Eigenvalues, waves or pieces. */
void poisson_fill_tables(struct poisson *p, const struct fluid_setup *setup);

/* The mean mode's column, of all planes: rhs -> solution of zero mean. What
 * its rhs has of a mean (rounding: the flux through the box's faces is zero)
 * is taken off first. */
void poisson_mean_solve(const struct poisson *p, double *column);

/* x(-1) and x(m) for vector v of the tables, from what all ranks sent
 * (z cut, or cyclic). */
void poisson_piece_limits(const struct poisson *p, size_t v, real *low,
                          real *high, real *scratch);
/* The same of the recursions: y(-1) and x(m). */
void poisson_wave_limits(const struct poisson *p, size_t v, real *low,
                         real *high, real *scratch);

static inline size_t poisson_table_index(const struct poisson *p, size_t v)
{
    return p->paired ? v / 2 : v;
}

static inline size_t poisson_rank_planes(const struct poisson *p, int rank)
{
    return (size_t)(p->cuts_z[rank + 1] - p->cuts_z[rank]);
}

#endif
