/* Blocks of grids, and datasets of a file that is gone on with. */
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/h5.h"

/* ---- blocks ---- */

/* One piece of this rank's block. */
struct piece {
    hsize_t start[H5_RANK_MAX], count[H5_RANK_MAX];
    int empty;
};

static int write_piece(struct ctx *ctx, struct h5 *f, const struct h5_set *set,
                       const struct piece *p, hid_t transfer,
                       const void *values)
{
    static const double nothing = 0.0; /* HDF5 wants an address in any case */
    hid_t space = H5Dget_space(set->id);
    hid_t memory = H5Screate_simple(set->rank, p->count, NULL);
    int failed = space < 0 || memory < 0;
    int status = 0;

    if (!failed && p->empty)
        failed = H5Sselect_none(space) < 0 || H5Sselect_none(memory) < 0;
    else if (!failed)
        failed = H5Sselect_hyperslab(space, H5S_SELECT_SET, p->start, NULL,
                                     p->count, NULL) < 0;
    if (failed || H5Dwrite(set->id, h5_memory_type(set->type), memory, space,
                           transfer, p->empty ? &nothing : values) < 0)
        status = h5_error(ctx, f, "write '%s'", set->name);
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return status;
}

/* Whether the block leaves out a part of its layers, so that its bytes are
 * scattered over the file. */
static int is_scattered(const struct h5_set *set, const int64_t *count)
{
    for (int d = 1; d < set->rank; d++)
        if ((hsize_t)count[d] != set->shape[d])
            return 1;
    return 0;
}

int h5_set_write_block(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                       const int64_t *first, const int64_t *count,
                       const void *values)
{
    size_t layer = h5_item_size(set->type);
    int64_t layers = count[0];
    int status = 0;

    for (int d = 1; d < set->rank; d++)
        layer *= (size_t)count[d];
    if (layer == 0)
        layers = 0;
    int64_t most[2] = {h5_pieces(layers, layer, f->piece_bytes),
                       layers > 0 && is_scattered(set, count)};
    TRY(comm_max_int64(ctx, most, 2));
    hid_t transfer = most[1] ? f->together : f->transfer;
    for (int64_t k = 0; k < most[0]; k++) {
        struct piece p = {.empty = 0};
        int64_t from, n;

        h5_piece(layers, layer, f->piece_bytes, k, &from, &n);
        p.empty = n == 0;
        for (int d = 0; d < set->rank; d++) {
            p.start[d] = (hsize_t)first[d];
            p.count[d] = p.empty ? 1 : (hsize_t)count[d];
        }
        p.start[0] += (hsize_t)from;
        p.count[0] = p.empty ? 1 : (hsize_t)n;
        status = write_piece(ctx, f, set, &p, transfer,
                             (const char *)values + (size_t)from * layer);
        TRY(h5_agree(ctx, f, status));
    }
    return 0;
}

/* ---- datasets that are there ---- */

int h5_set_open(struct ctx *ctx, struct h5 *f, const char *path,
                enum field_type type, int rank, int growing, struct h5_set *out)
{
    hid_t space = H5I_INVALID_HID;
    int there, status = 0;

    *out = (struct h5_set){.in = f,
                           .id = H5Dopen2(f->file, path, H5P_DEFAULT),
                           .type = type,
                           .rank = rank,
                           .growing = growing,
                           .name = strdup(path)};
    if (out->id >= 0)
        space = H5Dget_space(out->id);
    there = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    if (out->name == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else if (there < 0)
        status = h5_error(ctx, f, "open the dataset '%s'", path);
    else if (there != rank)
        status =
            FAIL(ctx, STATUS_IO, "'%s': '%s' has %d directions instead of %d",
                 f->path, path, there, rank);
    else if (H5Sget_simple_extent_dims(space, out->shape, NULL) < 0)
        status = h5_error(ctx, f, "look at '%s'", path);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

int h5_set_cut(struct ctx *ctx, struct h5 *f, struct h5_set *set, int64_t n)
{
    int status = 0;

    if ((hsize_t)n >= set->shape[0])
        return 0;
    set->shape[0] = (hsize_t)n;
    if (H5Dset_extent(set->id, set->shape) < 0)
        status = h5_error(ctx, f, "cut '%s'", set->name);
    return h5_agree(ctx, f, status);
}

int h5_set_read(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                int64_t first, int64_t n, void *values)
{
    hsize_t start[1] = {(hsize_t)first}, count[1] = {(hsize_t)n};
    int status = 0;

    if (n == 0)
        return 0;
    if (comm_rank(ctx->comm) == 0) {
        hid_t space = H5Dget_space(set->id);
        hid_t memory = H5Screate_simple(1, count, NULL);

        if (space < 0 || memory < 0 ||
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count,
                                NULL) < 0 ||
            H5Dread(set->id, h5_memory_type(set->type), memory, space,
                    f->transfer, values) < 0)
            status = h5_error(ctx, f, "read '%s'", set->name);
        if (space >= 0)
            H5Sclose(space);
        if (memory >= 0)
            H5Sclose(memory);
    }
    TRY(comm_agree(ctx, status));
    return comm_bcast(ctx, values, (size_t)n * h5_item_size(set->type));
}
