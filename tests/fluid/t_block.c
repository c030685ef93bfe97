/* Grids cut into blocks: who owns what, and which cuts there are. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "domain/block.h"
#include "tests/tap.h"

/* Every cell belongs to one piece, and pieces differ by one cell at most. */
static int pieces_fit(int64_t cells, int n)
{
    int64_t least = INT64_MAX, most = 0;
    if (block_cut(cells, n, 0) != 0 || block_cut(cells, n, n) != cells)
        return 0;
    for (int c = 0; c < n; c++) {
        int64_t size = block_cut(cells, n, c + 1) - block_cut(cells, n, c);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    return least >= cells / n && most - least <= 1;
}

static void check_cuts(void)
{
    int fit = 1;
    for (int64_t cells = 1; cells <= 40; cells++)
        for (int n = 1; n <= cells; n++)
            fit = fit && pieces_fit(cells, n);
    tap_ok(fit, "each of 1 to 40 cells lies in one piece, and pieces are even");
    tap_ok(block_cut(10, 4, 1) == 3 && block_cut(10, 4, 2) == 6 &&
               block_cut(10, 4, 3) == 8,
           "the longer pieces come first");
    tap_ok(pieces_fit(3000000001, 7), "counts beyond 2^31 are cut");
}

static void check_blocks(struct ctx *ctx)
{
    int64_t cells[3] = {5, 7, 9}, sum = 0;
    int dims[3] = {1, 2, 3};
    struct block b;
    for (int r = 0; r < 6; r++) {
        if (block_init(ctx, &b, cells, dims, r) == 0)
            sum += b.local[0] * b.local[1] * b.local[2];
        block_free(&b);
    }
    tap_is_int(sum, 5 * 7 * 9, "six blocks have all cells");
    block_init(ctx, &b, cells, dims, 3);
    tap_ok(b.coords[1] == 1 && b.coords[2] == 1 && b.first[1] == 4 &&
               b.local[1] == 3 && b.first[2] == 3 && b.local[2] == 3 &&
               b.local[0] == 5,
           "rank 3 of 2 x 3 is the second along y, the second along z");
    block_free(&b);
}

static void check_candidates(void)
{
    int64_t cube[3] = {8, 8, 8}, flat[3] = {64, 64, 1}, line[3] = {64, 1, 5};
    int dims[16][3];
    int n = block_candidates(4, cube, 16, dims);
    tap_ok(n == 3 && dims[0][1] == 1 && dims[0][2] == 4 && dims[1][1] == 2 &&
               dims[2][1] == 4,
           "four ranks: 1 x 4, 2 x 2, 4 x 1, along z first");
    n = block_candidates(4, flat, 16, dims);
    tap_ok(n == 1 && dims[0][1] == 4, "a flat grid is cut along y");
    tap_ok(block_candidates(7, line, 16, dims) == 0,
           "more ranks than cells have no cut");
    tap_is_int(block_most_ranks(line, 7), 5, "the most ranks are told");
    tap_is_int(block_most_ranks(cube, 67), 64, "so are they in two directions");
    tap_is_int(block_candidates(36, cube, 2, dims), 1,
               "36 ranks cut 8 x 8 cells into 6 x 6");
}

static void check_fast_sizes(void)
{
    tap_ok(block_fast_size(127, 1) == 128 && block_fast_size(127, 0) == 125 &&
               block_fast_size(128, 1) == 128 && block_fast_size(7, 1) == 8 &&
               block_fast_size(1, 0) == 1 && block_fast_size(97, 0) == 96,
           "fast sizes have no other factors than 2, 3, 5");
}

int main(void)
{
    struct ctx *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return 1;
    check_cuts();
    check_blocks(ctx);
    check_candidates();
    check_fast_sizes();
    free(ctx);
    return tap_done();
}
