/* block.c: see block.h. */
#include "domain/block.h"

#include <stdlib.h>

#include "base/error.h"

int64_t block_cut(int64_t cells, int n, int c)
{
    int64_t size = cells / n, longer = cells % n;
    return c * size + (c < longer ? c : longer);
}

int block_is_legal(const int64_t cells[3], const int dims[3])
{
    for (int d = 0; d < 3; d++)
        if (dims[d] < 1 || dims[d] > cells[d])
            return 0;
    return 1;
}

int block_init(struct ctx *ctx, struct block *b, const int64_t cells[3],
               const int dims[3], int rank)
{
    *b = (struct block){0};
    b->coords[0] = rank % dims[0];
    b->coords[1] = rank / dims[0] % dims[1];
    b->coords[2] = rank / dims[0] / dims[1];
    for (int d = 0; d < 3; d++) {
        b->cells[d] = cells[d];
        b->dims[d] = dims[d];
        b->cuts[d] = calloc((size_t)dims[d] + 1, sizeof *b->cuts[d]);
        if (!b->cuts[d])
            return FAIL(ctx, STATUS_MEMORY, "no memory for the blocks");
        for (int c = 0; c <= dims[d]; c++)
            b->cuts[d][c] = block_cut(cells[d], dims[d], c);
        b->first[d] = b->cuts[d][b->coords[d]];
        b->local[d] = b->cuts[d][b->coords[d] + 1] - b->first[d];
    }
    return 0;
}

void block_free(struct block *b)
{
    for (int d = 0; d < 3; d++) {
        free(b->cuts[d]);
        b->cuts[d] = NULL;
    }
}

int block_candidates(int size, const int64_t cells[3], int room, int (*dims)[3])
{
    int n = 0;
    for (int ny = 1; ny <= size; ny++) {
        int trial[3] = {1, ny, size / ny};
        if (size % ny != 0 || !block_is_legal(cells, trial))
            continue;
        for (int d = 0; d < 3 && n < room; d++)
            dims[n][d] = trial[d];
        n++;
    }
    return n;
}

int block_most_ranks(const int64_t cells[3], int limit)
{
    int most = limit, one[1][3];
    while (most > 1 && block_candidates(most, cells, 1, one) == 0)
        most--;
    return most;
}

static int is_fast(int64_t n)
{
    static const int primes[] = {2, 3, 5};
    for (int i = 0; i < 3; i++)
        while (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

int64_t block_fast_size(int64_t n, int up)
{
    while (n > 1 && !is_fast(n))
        n += up ? 1 : -1;
    return n;
}
