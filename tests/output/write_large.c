/* write_large FILE: a dataset of 2^31 + 8 bytes, of which rank 0 has all but
 * the last 8; value i is i times 2^-20 (exact). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "io/h5.h"

static int write_large(struct ctx *ctx, const char *path)
{
    const int64_t total = (INT64_C(1) << 28) + 1;
    const hsize_t shape[2] = {0, (hsize_t)total};
    int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    int64_t first = rank == 0 ? 0 : total - 1;
    int64_t n = size == 1 ? total : rank == 0 ? total - 1 : rank == 1;
    struct h5_set set = {.id = H5I_INVALID_HID};
    struct h5 *f = NULL;
    double *values = malloc((size_t)(n + 1) * sizeof *values);
    int status = values == NULL ? FAIL(ctx, STATUS_MEMORY, "out of memory") : 0;

    TRY_CLEANUP(comm_agree(ctx, status));
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)(first + i) / (1 << 20);
    TRY_CLEANUP(h5_create(ctx, path, 8.0 * (double)total, &f));
    TRY_CLEANUP(
        h5_set_create(ctx, f, "/values", FIELD_DOUBLE, 2, shape, 1, &set));
    TRY_CLEANUP(h5_set_append_rows(ctx, f, &set, first, n, values));
    h5_set_close(&set);
    status = h5_close(ctx, f);
    f = NULL;
cleanup:
    free(values);
    h5_set_close(&set);
    h5_abandon(f);
    return status;
}

int main(int argc, char **argv)
{
    static struct ctx ctx;
    int status = STATUS_USAGE;

    if (comm_start(&argc, &argv, &ctx.comm) != 0)
        return 1;
    if (argc == 2)
        status = write_large(&ctx, argv[1]);
    if (status != 0 && comm_rank(ctx.comm) == 0)
        fprintf(stderr, "error: %s", ctx.error.text);
    comm_finish(ctx.comm);
    return status_exit(status);
}
