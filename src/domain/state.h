/* state.h: how a solver hands out its state, and takes it back.
 *
 * A checkpoint must be readable on another count of ranks and on another
 * device. So a solver names its arrays and says which part of the whole each
 * rank holds, by global index: rows of particles by id, blocks of a grid by
 * cell, small values that are the same everywhere. It never sees the file.
 *
 * Saving and restoring are two functions that mirror one another:
 *
 *     save(ctx, state, io):    for each array  state_put(ctx, io, &array)
 *     restore(ctx, state, io): for each array  state_get(ctx, io, &array)
 *
 * in the same order or another, one array after the other, so that one buffer
 * can serve for all. All calls are collective: every rank names the same arrays
 * in the same order, also where it has nothing of one.
 */
#ifndef WARPDECK_DOMAIN_STATE_H
#define WARPDECK_DOMAIN_STATE_H

#include <stdint.h>

struct ctx;

enum state_type {
    STATE_DOUBLE,
    STATE_FLOAT,
    STATE_INT32,
    STATE_INT64,
    STATE_BYTE /* texts, and structures of which only this program knows */
};

enum { STATE_RANK_MAX = 4 };

/* One array: shape[0..rank) of the whole, slowest index first (a grid is
 * [k][j][i]), and the block of it at `values`, in C order. An array of which
 * some shape is 0 is fine. */
struct state_array {
    const char *name; /* "particles/position" */
    enum state_type type;
    int shared; /* 1: all ranks hold the whole, the same values (rank 0's are
                 * written); first and local are not looked at */
    int rank;   /* 1 to STATE_RANK_MAX */
    int64_t shape[STATE_RANK_MAX];
    /* The block: [first, first + local) in each direction. Blocks of different
     * ranks do not overlap and together cover the whole; local may be 0. */
    int64_t first[STATE_RANK_MAX], local[STATE_RANK_MAX];
    void *values; /* read by put, filled by get; borrowed */
};

/* Where arrays go to or come from (src/io/checkpoint). */
struct state_io {
    /* Errors: STATUS_IO, agreed on. */
    int (*put)(struct ctx *ctx, struct state_io *io,
               const struct state_array *array);
    /* The values of this rank's block, which may be any part of the whole, also
     * such that blocks of ranks overlap. An array that is missing or has
     * another shape or type is STATUS_INPUT with file and name; agreed on. */
    int (*get)(struct ctx *ctx, struct state_io *io,
               const struct state_array *array);
    /* The shape of an array in shape[STATE_RANK_MAX] (unused: 1), for those
     * that grow; 0 where there is none of this name. The same on all ranks. */
    int (*find)(struct state_io *io, const char *name, int64_t *shape);
    /* In restore: 1 where as many ranks, of the same decomposition, device and
     * precision wrote the arrays. A solver then goes on bit by bit; otherwise
     * within rounding. */
    int same_machine;
    /* In restore: 1 where the user goes on even if inputs have changed. */
    int force;
};

static inline int state_put(struct ctx *ctx, struct state_io *io,
                            const struct state_array *array)
{
    return io->put(ctx, io, array);
}

static inline int state_get(struct ctx *ctx, struct state_io *io,
                            const struct state_array *array)
{
    return io->get(ctx, io, array);
}

/* n values that are the same on all ranks. */
static inline struct state_array
state_shared(const char *name, enum state_type type, int64_t n, void *values)
{
    return (struct state_array){.name = name,
                                .type = type,
                                .shared = 1,
                                .rank = 1,
                                .shape = {n},
                                .local = {n},
                                .values = values};
}

/* Rows [first, first + local) of `total`, each of `width` values. */
static inline struct state_array state_rows(const char *name,
                                            enum state_type type, int64_t total,
                                            int64_t first, int64_t local,
                                            int64_t width, void *values)
{
    return (struct state_array){.name = name,
                                .type = type,
                                .rank = 2,
                                .shape = {total, width},
                                .first = {first, 0},
                                .local = {local, width},
                                .values = values};
}

/* A block [k][j][i] of a grid; cells, first and local are given as x, y, z. */
static inline struct state_array
state_block(const char *name, enum state_type type, const int64_t cells[3],
            const int64_t first[3], const int64_t local[3], void *values)
{
    return (struct state_array){.name = name,
                                .type = type,
                                .rank = 3,
                                .shape = {cells[2], cells[1], cells[0]},
                                .first = {first[2], first[1], first[0]},
                                .local = {local[2], local[1], local[0]},
                                .values = values};
}

#endif
