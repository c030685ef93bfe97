/* block.h: a grid of cells cut into one block a rank.
 *
 * The cut is a tensor product: dims[d] pieces along direction d, whose sizes
 * differ by one cell at most, the longer ones first. Rank r has coordinates
 * (cx, cy, cz), r = (cz * ny + cy) * nx + cx, as in grid.h.
 */
#ifndef WARPDECK_DOMAIN_BLOCK_H
#define WARPDECK_DOMAIN_BLOCK_H

#include <stddef.h>
#include <stdint.h>

struct ctx;

struct block {
    int64_t cells[3]; /* of the whole grid */
    int dims[3];      /* ranks in x, y, z */
    int coords[3];    /* of this rank */
    int64_t *cuts[3]; /* first cell of each piece, and cells[d]: [dims + 1] */
    int64_t first[3], local[3]; /* this rank's cells [first, first + local) */
};

/* Fill in a block. dims[d] is at most cells[d]. The caller frees it with
 * block_free(), also on failure. Errors: STATUS_MEMORY. */
int block_init(struct ctx *ctx, struct block *b, const int64_t cells[3],
               const int dims[3], int rank);
void block_free(struct block *b);

/* First cell of piece c of `cells` cells cut into n; c = n gives cells. */
int64_t block_cut(int64_t cells, int n, int c);

/* Whether every rank gets a cell of each direction. */
int block_is_legal(const int64_t cells[3], const int dims[3]);

/* The cuts of `size` ranks with x whole, those along z first: dims[i] for up to
 * `room` of them. Returns how many there are. */
int block_candidates(int size, const int64_t cells[3], int room,
                     int (*dims)[3]);

/* The most ranks that can share the grid with x whole, at most `limit`. */
int block_most_ranks(const int64_t cells[3], int limit);

/* The greatest product of powers of 2, 3 and 5 that is at most n (up = 0), or
 * the smallest that is at least n (up = 1): sizes with fast transforms. */
int64_t block_fast_size(int64_t n, int up);

#endif
