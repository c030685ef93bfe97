#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/h5.h"

/* Below this size of the greatest block of a rank, MPI-IO may gather blocks of
 * many ranks before it writes; above, each rank writes its own, and an error of
 * one leaves nobody waiting. */
enum { TOGETHER_BYTES = 1 << 16 };

size_t h5_item_size(enum field_type type)
{
    return type == FIELD_INT32 || type == FIELD_FLOAT ? 4 : 8;
}

static hid_t file_type(enum field_type type)
{
    switch (type) {
    case FIELD_DOUBLE:
        return H5T_IEEE_F64LE;
    case FIELD_FLOAT:
        return H5T_IEEE_F32LE;
    case FIELD_INT32:
        return H5T_STD_I32LE;
    default:
        return H5T_STD_I64LE;
    }
}

hid_t h5_memory_type(enum field_type type)
{
    switch (type) {
    case FIELD_DOUBLE:
        return H5T_NATIVE_DOUBLE;
    case FIELD_FLOAT:
        return H5T_NATIVE_FLOAT;
    case FIELD_INT32:
        return H5T_NATIVE_INT32;
    default:
        return H5T_NATIVE_INT64;
    }
}

/* ---- pieces ---- */

static int64_t rows_a_piece(size_t row_bytes, size_t limit)
{
    return row_bytes == 0 || row_bytes > limit ? 1
                                               : (int64_t)(limit / row_bytes);
}

int64_t h5_pieces(int64_t rows, size_t row_bytes, size_t limit)
{
    int64_t piece = rows_a_piece(row_bytes, limit);

    return rows / piece + (rows % piece != 0);
}

void h5_piece(int64_t rows, size_t row_bytes, size_t limit, int64_t k,
              int64_t *first, int64_t *n)
{
    int64_t piece = rows_a_piece(row_bytes, limit);

    if (k >= h5_pieces(rows, row_bytes, limit)) {
        *first = rows;
        *n = 0;
        return;
    }
    *first = k * piece;
    *n = rows - *first < piece ? rows - *first : piece;
}

/* ---- shape ---- */

/* Bytes of one entry of direction `from`. */
static size_t bytes_below(int rank, const hsize_t *shape, int from, size_t item)
{
    for (int d = from + 1; d < rank; d++)
        item *= (size_t)shape[d];
    return item;
}

/* n rows in equal parts of about H5_CHUNK_BYTES, so that the last one wastes
 * little. */
static hsize_t even_part(hsize_t n, size_t row_bytes)
{
    hsize_t most = row_bytes == 0 ? n : H5_CHUNK_BYTES / row_bytes, parts;

    if (most < 1)
        most = 1;
    parts = n == 0 ? 1 : (n + most - 1) / most;
    n = (n + parts - 1) / parts;
    return n > 0 ? n : 1;
}

void h5_chunk(int rank, const hsize_t *shape, size_t item, hsize_t *chunk)
{
    size_t layer = bytes_below(rank, shape, 0, item);

    chunk[0] = layer > 0 ? H5_SERIES_CHUNK_BYTES / layer : 1;
    if (chunk[0] < 1)
        chunk[0] = 1;
    for (int d = 1; d < rank; d++)
        chunk[d] = shape[d] > 0 ? shape[d] : 1;
    if (rank > 1)
        chunk[1] = even_part(shape[1], bytes_below(rank, shape, 1, item));
}

double h5_set_layer_bytes(const struct h5_set *set)
{
    hsize_t chunk[H5_RANK_MAX] = {1, 1, 1, 1};
    double bytes = (double)h5_item_size(set->type);

    if (set->growing)
        h5_chunk(set->rank, set->shape, h5_item_size(set->type), chunk);
    for (int d = 0; d < set->rank; d++) {
        hsize_t n = (set->shape[d] + chunk[d] - 1) / chunk[d];

        if (set->growing && d == 0)
            n = 1;
        bytes *= (double)(n * chunk[d]);
    }
    return bytes;
}

/* ---- making ---- */

/* Space is taken when a layer is added, and not filled in before it is written:
 * what is not written yet is not within the dataset's shape either. */
static hid_t creation_properties(int rank, const hsize_t *shape, int growing,
                                 size_t item)
{
    hsize_t chunk[H5_RANK_MAX] = {1, 1, 1, 1};
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    int failed = made < 0 || H5Pset_fill_time(made, H5D_FILL_TIME_NEVER) < 0;

    if (growing) {
        h5_chunk(rank, shape, item, chunk);
        failed = failed || H5Pset_chunk(made, rank, chunk) < 0 ||
                 H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY) < 0;
    }
    if (failed && made >= 0) {
        H5Pclose(made);
        made = H5I_INVALID_HID;
    }
    return made;
}

static hid_t space_for(struct h5_set *set)
{
    hsize_t most[H5_RANK_MAX];

    for (int d = 0; d < set->rank; d++)
        most[d] = set->shape[d] > 0 ? set->shape[d] : H5S_UNLIMITED;
    if (set->growing)
        most[0] = H5S_UNLIMITED;
    return H5Screate_simple(set->rank, set->shape, set->growing ? most : NULL);
}

int h5_set_create(struct ctx *ctx, struct h5 *f, const char *path,
                  enum field_type type, int rank, const hsize_t *shape,
                  int growing, struct h5_set *out)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t made, space;
    int status = 0;

    *out = (struct h5_set){.in = f,
                           .id = H5I_INVALID_HID,
                           .type = type,
                           .rank = rank,
                           .growing = growing,
                           .name = strdup(path)};
    for (int d = 0; d < rank; d++)
        out->shape[d] = growing && d == 0 ? 0 : shape[d];
    made = creation_properties(rank, out->shape, growing, h5_item_size(type));
    space = space_for(out);
    if (out->name == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else if (links >= 0 && made >= 0 && space >= 0 &&
             H5Pset_create_intermediate_group(links, 1) >= 0)
        out->id = H5Dcreate2(f->file, path, file_type(type), space, links, made,
                             H5P_DEFAULT);
    if (status == 0 && out->id < 0)
        status = h5_error(ctx, f, "make the dataset '%s'", path);
    if (links >= 0)
        H5Pclose(links);
    if (made >= 0)
        H5Pclose(made);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

void h5_set_close(struct h5_set *set)
{
    if (set->id > 0 && !set->in->broken)
        H5Dclose(set->id);
    set->id = H5I_INVALID_HID;
    free(set->name);
    set->name = NULL;
}

/* ---- writing ---- */

/* One block of this rank: `count` entries of direction `axis` from `start` on,
 * in layer `layer` where that is not the axis itself. */
struct block {
    hsize_t layer;
    int axis;
    hsize_t start, count;
};

/* The values in memory have the block's shape: for another shape of the same
 * size HDF5 looks for the place of each single item. */
static int select_block(const struct h5_set *set, const struct block *b,
                        hid_t space, hid_t *memory)
{
    hsize_t start[H5_RANK_MAX] = {0}, count[H5_RANK_MAX];
    int empty = 0;

    for (int d = 0; d < set->rank; d++)
        count[d] = set->shape[d];
    if (b->axis == 1) {
        start[0] = b->layer;
        count[0] = 1;
    }
    start[b->axis] = b->start;
    count[b->axis] = b->count;
    for (int d = 0; d < set->rank; d++)
        empty |= count[d] == 0;
    *memory = H5Screate_simple(set->rank, count, NULL);
    if (*memory < 0)
        return -1;
    if (empty)
        return H5Sselect_none(space) < 0 || H5Sselect_none(*memory) < 0 ? -1
                                                                        : 0;
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count,
                               NULL) < 0
               ? -1
               : 0;
}

static int write_block(struct ctx *ctx, struct h5 *f, const struct h5_set *set,
                       const struct block *b, hid_t transfer,
                       const void *values)
{
    hid_t space = H5Dget_space(set->id), memory = H5I_INVALID_HID;
    static const double nothing = 0.0; /* HDF5 wants an address in any case */
    int status = 0;

    if (space < 0 || select_block(set, b, space, &memory) != 0 ||
        H5Dwrite(set->id, h5_memory_type(set->type), memory, space, transfer,
                 b->count > 0 ? values : &nothing) < 0)
        status = h5_error(ctx, f, "write '%s'", set->name);
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return status;
}

/* The block in `pieces` calls, of which the last may be empty. */
static int write_pieces(struct ctx *ctx, struct h5 *f, const struct h5_set *set,
                        struct block b, int64_t pieces, hid_t transfer,
                        const void *values)
{
    size_t row =
        bytes_below(set->rank, set->shape, b.axis, h5_item_size(set->type));
    int64_t n = (int64_t)b.count, start = (int64_t)b.start;

    for (int64_t k = 0; k < pieces; k++) {
        int64_t first, count;
        int status;

        h5_piece(n, row, f->piece_bytes, k, &first, &count);
        b.start = (hsize_t)(start + first);
        b.count = (hsize_t)count;
        status = write_block(ctx, f, set, &b, transfer,
                             (const char *)values + (size_t)first * row);
        if (transfer == f->together)
            status = comm_agree(ctx, status);
        if (status != 0)
            return status;
    }
    return 0;
}

/* A block of every rank. `status`: this rank's so far. All ranks make the same
 * number of calls, since the small ones may be collective in MPI-IO. */
static int write_shared(struct ctx *ctx, struct h5 *f, const struct h5_set *set,
                        struct block b, int status, const void *values)
{
    size_t row =
        bytes_below(set->rank, set->shape, b.axis, h5_item_size(set->type));
    int64_t n = (int64_t)b.count;
    int64_t most[3] = {h5_pieces(n, row, f->piece_bytes), n, status != 0};
    int failed = comm_max_int64(ctx, most, 3);

    if (failed != 0)
        return failed;
    if (most[2] == 0 && most[1] > 0 && row > 0)
        status = write_pieces(
            ctx, f, set, b, most[0],
            (size_t)most[1] * row < TOGETHER_BYTES ? f->together : f->transfer,
            values);
    return h5_agree(ctx, f, status);
}

static int grow(struct ctx *ctx, struct h5 *f, struct h5_set *set, int64_t n)
{
    set->shape[0] += (hsize_t)n;
    if (H5Dset_extent(set->id, set->shape) < 0)
        return h5_error(ctx, f, "extend '%s'", set->name);
    return 0;
}

int h5_set_append_rows(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                       int64_t first, int64_t n, const void *values)
{
    struct block b = {set->shape[0], 1, (hsize_t)first, (hsize_t)n};
    int status = grow(ctx, f, set, 1);

    return write_shared(ctx, f, set, b, status, values);
}

int h5_set_append(struct ctx *ctx, struct h5 *f, struct h5_set *set, int64_t n,
                  const void *values)
{
    struct block b = {0, 0, set->shape[0], (hsize_t)n};
    size_t row = bytes_below(set->rank, set->shape, 0, h5_item_size(set->type));

    TRY(grow(ctx, f, set, n));
    if (comm_rank(ctx->comm) != 0)
        return 0;
    return write_pieces(ctx, f, set, b, h5_pieces(n, row, f->piece_bytes),
                        f->transfer, values);
}

int h5_set_write(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                 int64_t first, int64_t n, const void *values)
{
    struct block b = {0, 0, (hsize_t)first, (hsize_t)n};

    return write_shared(ctx, f, set, b, 0, values);
}

int h5_text_dataset(struct ctx *ctx, struct h5 *f, const char *path,
                    const char *text, size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t set = H5I_INVALID_HID;
    uint64_t n = size;
    int status = comm_bcast(ctx, &n, sizeof n);

    if (status == 0 && type >= 0 && space >= 0 &&
        H5Tset_size(type, n > 0 ? (size_t)n : 1) >= 0 &&
        H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
        set = H5Dcreate2(f->file, path, type, space, H5P_DEFAULT, H5P_DEFAULT,
                         H5P_DEFAULT);
    if (status == 0 && set < 0)
        status = h5_error(ctx, f, "make the dataset '%s'", path);
    if (status == 0 && comm_rank(ctx->comm) == 0 &&
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, f->transfer, n > 0 ? text : "") <
            0)
        status = h5_error(ctx, f, "write '%s'", path);
    if (set >= 0)
        H5Dclose(set);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

/* The texts behind one another, each in `width` bytes, padded with NUL. */
static char *pad_texts(int64_t n, const char *const *texts, size_t width)
{
    char *out = calloc((size_t)n * width + 1, 1);

    for (int64_t i = 0; out != NULL && i < n; i++)
        memcpy(out + (size_t)i * width, texts[i], strlen(texts[i]));
    return out;
}

int h5_texts_dataset(struct ctx *ctx, struct h5 *f, const char *path, int64_t n,
                     const char *const *texts)
{
    const hsize_t rows = (hsize_t)n;
    const int first = comm_rank(ctx->comm) == 0;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &rows, NULL);
    hid_t set = H5I_INVALID_HID;
    uint64_t width = 1;
    char *padded = NULL;
    int status;

    for (int64_t i = 0; first && i < n; i++)
        if (strlen(texts[i]) > width)
            width = strlen(texts[i]);
    status = comm_bcast(ctx, &width, sizeof width);
    if (status == 0 && first) {
        padded = pad_texts(n, texts, (size_t)width);
        if (padded == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "no memory for '%s'", path);
    }
    if (type >= 0 && space >= 0 && H5Tset_size(type, (size_t)width) >= 0 &&
        H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
        set = H5Dcreate2(f->file, path, type, space, H5P_DEFAULT, H5P_DEFAULT,
                         H5P_DEFAULT);
    if (status == 0 && set < 0)
        status = h5_error(ctx, f, "make the dataset '%s'", path);
    if (status == 0 && first && n > 0 &&
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, f->transfer, padded) < 0)
        status = h5_error(ctx, f, "write '%s'", path);
    free(padded);
    if (set >= 0)
        H5Dclose(set);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return status;
}
