/* The layer over HDF5: pieces, chunks, errors; run on any number of ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "io/h5.h"
#include "tests/tap.h"

static void check_pieces(void)
{
    const int64_t rows[] = {0, 1, 7, 8, 9, 1000003, INT64_C(3000000000)};
    const size_t bytes[] = {1, 8, 24, 72, 1 << 20};
    const size_t limits[] = {64, 1 << 16, (size_t)1 << 29};
    int right = 1, small = 1;

    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 3; k++) {
                int64_t n = h5_pieces(rows[i], bytes[j], limits[k]);
                int64_t first, count, next;

                if (n > 100000)
                    continue;
                next = 0;
                for (int64_t piece = 0; piece < n; piece++) {
                    h5_piece(rows[i], bytes[j], limits[k], piece, &first,
                             &count);
                    right = right && first == next && count > 0;
                    small = small && (count == 1 ||
                                      (size_t)count * bytes[j] <= limits[k]);
                    next = first + count;
                }
                right = right && next == rows[i];
                h5_piece(rows[i], bytes[j], limits[k], n, &first, &count);
                right = right && count == 0;
            }
    tap_ok(right, "the pieces of a block cover it once, in order");
    tap_ok(small, "no piece is larger than its limit, save a single row");
    tap_is_int(h5_pieces(INT64_C(268435457), 8, H5_PIECE_BYTES), 5,
               "2^31 + 8 bytes go in five pieces");
    tap_is_int(h5_pieces(INT64_C(4294967298), 24, H5_PIECE_BYTES), 193,
               "more than 2^32 rows are counted right");
}

static void check_chunks(void)
{
    hsize_t chunk[3];
    const hsize_t series[1] = {0}, empty[3] = {0, 0, 3}, edges[3] = {0, 3, 3};
    const hsize_t melt[3] = {0, 32000, 3}, million[3] = {0, 1000000, 3};

    h5_chunk(1, series, 8, chunk);
    tap_ok(chunk[0] == 1024, "a series grows by 8 KiB");
    h5_chunk(3, edges, 8, chunk);
    tap_ok(chunk[0] == 113 && chunk[1] == 3 && chunk[2] == 3,
           "the box's edges grow by many frames at once");
    h5_chunk(3, empty, 8, chunk);
    tap_ok(chunk[0] >= 1 && chunk[1] == 1 && chunk[2] == 3,
           "no particles give no chunk of size 0");
    h5_chunk(3, melt, 8, chunk);
    tap_ok(chunk[0] == 1 && chunk[1] == 32000,
           "a small frame is one chunk of its own");
    h5_chunk(3, million, 8, chunk);
    tap_ok(chunk[0] == 1 && chunk[1] * 24 <= H5_CHUNK_BYTES &&
               chunk[1] * 24 > H5_CHUNK_BYTES / 2 &&
               chunk[1] * ((1000000 + chunk[1] - 1) / chunk[1]) <
                   1000000 + 1000,
           "a large frame is cut into even chunks of up to 1 MiB");
}

/* Rows are written in pieces of 40 bytes: more than one piece a rank, and ranks
 * differ in how many they have. */
static int write_pieces(struct ctx *ctx, const char *path, int64_t total)
{
    int64_t rank = comm_rank(ctx->comm), size = comm_size(ctx->comm);
    int64_t first = rank == 0 ? 0 : total / 2 * rank / size;
    int64_t end = rank == size - 1 ? total : total / 2 * (rank + 1) / size;
    hsize_t shape[3] = {0, (hsize_t)total, 3};
    struct h5_set set = {.id = H5I_INVALID_HID};
    double *values = calloc((size_t)(3 * (end - first) + 1), sizeof *values);
    struct h5 *f = NULL;
    int status = values == NULL ? STATUS_MEMORY : 0;

    for (int64_t i = 0; i < 3 * (end - first); i++)
        values[i] = (double)(3 * first + i);
    TRY_CLEANUP(h5_create(ctx, path, 0, &f));
    f->piece_bytes = 40;
    TRY_CLEANUP(h5_set_create(ctx, f, "/a/b", FIELD_DOUBLE, 3, shape, 1, &set));
    for (int t = 0; t < 2; t++)
        TRY_CLEANUP(
            h5_set_append_rows(ctx, f, &set, first, end - first, values));
    h5_set_close(&set);
    status = h5_close(ctx, f);
    f = NULL;
cleanup:
    free(values);
    h5_set_close(&set);
    h5_abandon(f);
    return status;
}

static int read_pieces(const char *path, int64_t total)
{
    size_t n = (size_t)(6 * total);
    double *values = calloc(n, sizeof *values);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = file < 0 ? -1 : H5Dopen2(file, "/a/b", H5P_DEFAULT);
    int right = values != NULL && set >= 0 &&
                H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                        values) >= 0;

    for (size_t i = 0; right && i < n; i++)
        right = values[i] == (double)(i % (n / 2));
    if (set >= 0)
        H5Dclose(set);
    if (file >= 0)
        H5Fclose(file);
    free(values);
    return right;
}

static void check_files(struct ctx *ctx, const char *path)
{
    struct h5 *f = NULL;
    int status = write_pieces(ctx, path, 101);

    tap_is_int(status, 0, "uneven blocks are written in pieces on %d ranks",
               comm_size(ctx->comm));
    if (comm_rank(ctx->comm) == 0) {
        tap_ok(read_pieces(path, 101), "and every number is where it belongs");
        unlink(path);
    }
    comm_barrier(ctx);
    status = h5_create(ctx, "no such folder/x.h5", 0, &f);
    tap_ok(status == STATUS_IO && f == NULL &&
               strstr(ctx->error.text, "no such folder/x.h5") != NULL &&
               strstr(ctx->error.text, "No such file") != NULL,
           "a missing folder is an error with path and reason");
    error_clear(ctx);
}

static void check_errors(struct ctx *ctx, const char *path)
{
    struct h5 *f = NULL;
    int status = h5_create(ctx, path, 0, &f);

    if (!tap_ok(status == 0, "an empty file can be made"))
        return;
    status = h5_group(ctx, f, "/a");
    tap_ok(status == 0 && h5_group(ctx, f, "/a") == STATUS_IO &&
               strstr(ctx->error.text, "make the group '/a'") != NULL &&
               strstr(ctx->error.text, "already exists") != NULL,
           "HDF5's reason stands in the message");
    error_clear(ctx);
    h5_discard(f);
    comm_barrier(ctx);
    tap_ok(access(path, F_OK) != 0, "a discarded file is gone");
}

int main(int argc, char **argv)
{
    static struct ctx ctx;
    int status;

    if (comm_start(&argc, &argv, &ctx.comm) != 0)
        return 1;
    if (comm_rank(ctx.comm) != 0)
        tap_silence();
    check_pieces();
    check_chunks();
    check_files(&ctx, "pieces.h5");
    check_errors(&ctx, "errors.h5");
    status = tap_done();
    comm_finish(ctx.comm);
    return status;
}
