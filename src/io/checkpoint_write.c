/* checkpoint_write.c: the state of a run to the disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/checkpoint_file.h"

/* Most that one rank gives to one call, and about the size of a chunk. */
#define PIECE_BYTES ((int64_t)1 << 27)
enum { CHUNK_BYTES = 1 << 20 };

const char *const checkpoint_text_names[CHECKPOINT_TEXTS] = {
    "solver", "version", "device", "precision", "deck", "resolved_deck"};

const char **checkpoint_text(struct checkpoint_header *header, int which)
{
    const char **texts[CHECKPOINT_TEXTS] = {&header->solver, &header->version,
                                            &header->device, &header->precision,
                                            &header->deck,   &header->resolved};
    return texts[which];
}

hid_t checkpoint_memory_type(enum state_type type)
{
    switch (type) {
    case STATE_DOUBLE:
        return H5T_NATIVE_DOUBLE;
    case STATE_FLOAT:
        return H5T_NATIVE_FLOAT;
    case STATE_INT32:
        return H5T_NATIVE_INT32;
    case STATE_INT64:
        return H5T_NATIVE_INT64;
    default:
        return H5T_NATIVE_UINT8;
    }
}

static hid_t file_type(enum state_type type)
{
    switch (type) {
    case STATE_DOUBLE:
        return H5T_IEEE_F64LE;
    case STATE_FLOAT:
        return H5T_IEEE_F32LE;
    case STATE_INT32:
        return H5T_STD_I32LE;
    case STATE_INT64:
        return H5T_STD_I64LE;
    default:
        return H5T_STD_U8LE;
    }
}

size_t checkpoint_item_size(enum state_type type)
{
    switch (type) {
    case STATE_DOUBLE:
    case STATE_INT64:
        return 8;
    case STATE_FLOAT:
    case STATE_INT32:
        return 4;
    default:
        return 1;
    }
}

int64_t checkpoint_count(int rank, const int64_t *local)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= local[d];
    return n;
}

/* ---- datasets ---- */

/* This rank's part: rank 0 writes what all have. */
static struct state_array part_of(const struct ctx *ctx,
                                  const struct state_array *array)
{
    struct state_array part = *array;
    if (!array->shared)
        return part;
    for (int d = 0; d < part.rank; d++) {
        part.first[d] = 0;
        part.local[d] = comm_rank(ctx->comm) == 0 ? part.shape[d] : 0;
    }
    return part;
}

/* Chunks like the ranks' blocks, so that few of them belong to two ranks, but
 * of at most CHUNK_BYTES. Collective. */
static int shape_chunks(struct ctx *ctx, const struct state_array *part,
                        hsize_t *chunk)
{
    int64_t most[STATE_RANK_MAX];
    int64_t bytes = (int64_t)checkpoint_item_size(part->type);
    for (int d = 0; d < part->rank; d++)
        most[d] = part->local[d];
    TRY(comm_max_int64(ctx, most, part->rank));
    for (int d = 0; d < part->rank; d++)
        bytes *= most[d] > 0 ? most[d] : 1;
    for (int d = 0; d < part->rank; d++) {
        int64_t n = most[d] > 0 ? most[d] : 1;
        int64_t row = bytes / n;
        int64_t fits = CHUNK_BYTES / (row > 0 ? row : 1);
        int64_t take = fits < 1 ? 1 : fits < n ? fits : n;
        chunk[d] = (hsize_t)take;
        bytes = row * take;
    }
    return 0;
}

static hid_t make_properties(int rank, const hsize_t *chunk)
{
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    if (made >= 0 && chunk != NULL &&
        (H5Pset_chunk(made, rank, chunk) < 0 || H5Pset_fletcher32(made) < 0 ||
         H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY) < 0 ||
         H5Pset_fill_time(made, H5D_FILL_TIME_NEVER) < 0)) {
        H5Pclose(made);
        return H5I_INVALID_HID;
    }
    return made;
}

static int make_dataset(struct ctx *ctx, struct checkpoint *c,
                        const struct state_array *part, const char *path,
                        const hsize_t *chunk, hid_t *out)
{
    hsize_t shape[STATE_RANK_MAX];
    for (int d = 0; d < part->rank; d++)
        shape[d] = (hsize_t)part->shape[d];
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t space = H5Screate_simple(part->rank, shape, NULL);
    hid_t made = make_properties(part->rank, chunk);
    int status = 0;
    *out = H5I_INVALID_HID;
    if (links >= 0 && space >= 0 && made >= 0 &&
        H5Pset_create_intermediate_group(links, 1) >= 0)
        *out = H5Dcreate2(c->h5->file, path, file_type(part->type), space,
                          links, made, H5P_DEFAULT);
    if (*out < 0)
        status = h5_error(ctx, c->h5, "make the dataset '%s'", path);
    if (links >= 0)
        H5Pclose(links);
    if (space >= 0)
        H5Sclose(space);
    if (made >= 0)
        H5Pclose(made);
    return status;
}

/* Rows [from, from + n) of the block's slowest direction. Filters ask for
 * collective calls: a rank without rows makes them, too. */
static int write_rows(struct ctx *ctx, struct checkpoint *c, hid_t set,
                      const struct state_array *part, const char *path,
                      int64_t from, int64_t n)
{
    static const double nothing = 0; /* HDF5 wants an address in any case */
    hsize_t first[STATE_RANK_MAX], local[STATE_RANK_MAX];
    int64_t row = (int64_t)checkpoint_item_size(part->type);
    int status = 0;
    for (int d = 0; d < part->rank; d++) {
        first[d] = (hsize_t)part->first[d];
        local[d] = (hsize_t)part->local[d];
        if (d > 0)
            row *= part->local[d];
    }
    first[0] += (hsize_t)from;
    local[0] = (hsize_t)n;
    int empty = n == 0 || row == 0;
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Screate_simple(part->rank, local, NULL);
    int failed = space < 0 || memory < 0;
    if (!failed && empty)
        failed = H5Sselect_none(space) < 0 || H5Sselect_none(memory) < 0;
    else if (!failed)
        failed = H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, local,
                                     NULL) < 0;
    const char *values = part->values;
    if (failed ||
        H5Dwrite(set, checkpoint_memory_type(part->type), memory, space,
                 c->h5->together,
                 empty ? (const void *)&nothing : values + from * row) < 0)
        status = h5_error(ctx, c->h5, "write '%s'", path);
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return h5_agree(ctx, c->h5, status);
}

/* All ranks make the same number of calls. */
static int write_block(struct ctx *ctx, struct checkpoint *c, hid_t set,
                       const struct state_array *part, const char *path)
{
    int64_t rows = part->local[0];
    int64_t row = (int64_t)checkpoint_item_size(part->type);
    for (int d = 1; d < part->rank; d++)
        row *= part->local[d];
    if (row == 0)
        rows = 0;
    int64_t a_piece = row > 0 && PIECE_BYTES / row > 0 ? PIECE_BYTES / row : 1;
    int64_t pieces = (rows + a_piece - 1) / a_piece;
    TRY(comm_max_int64(ctx, &pieces, 1));
    for (int64_t k = 0; k < pieces; k++) {
        int64_t from = k * a_piece < rows ? k * a_piece : rows;
        int64_t n = rows - from < a_piece ? rows - from : a_piece;
        TRY(write_rows(ctx, c, set, part, path, from, n));
    }
    return 0;
}

static int write_array(struct ctx *ctx, struct checkpoint *c, const char *path,
                       const struct state_array *array)
{
    struct state_array part = part_of(ctx, array);
    hsize_t chunk[STATE_RANK_MAX];
    hid_t set;
    double bytes = (double)checkpoint_item_size(part.type);
    for (int d = 0; d < part.rank; d++)
        bytes *= (double)part.shape[d];
    TRY(shape_chunks(ctx, &part, chunk));
    TRY(h5_reserve(ctx, c->h5, 1.1 * bytes + 2.0 * CHUNK_BYTES, path));
    int status =
        make_dataset(ctx, c, &part, path, bytes > 0 ? chunk : NULL, &set);
    status = h5_agree(ctx, c->h5, status);
    if (status == 0 && bytes > 0)
        status = write_block(ctx, c, set, &part, path);
    if (set >= 0)
        H5Dclose(set);
    return status;
}

static int put(struct ctx *ctx, struct state_io *io,
               const struct state_array *array)
{
    char path[CHECKPOINT_NAME_MAX];
    snprintf(path, sizeof path, "/state/%s", array->name);
    return write_array(ctx, (struct checkpoint *)io, path, array);
}

/* ---- header ---- */

static int write_texts(struct ctx *ctx, struct checkpoint *c,
                       struct checkpoint_header *header)
{
    for (int i = 0; i < CHECKPOINT_TEXTS; i++) {
        const char *text = *checkpoint_text(header, i);
        char path[CHECKPOINT_NAME_MAX], *shared;
        size_t n;
        if (text == NULL)
            text = "";
        TRY(h5_share_text(ctx, text, strlen(text), &shared, &n));
        struct state_array array = state_shared(checkpoint_text_names[i],
                                                STATE_BYTE, (int64_t)n, shared);
        snprintf(path, sizeof path, "/run/%s", checkpoint_text_names[i]);
        int status = write_array(ctx, c, path, &array);
        free(shared);
        TRY(status);
    }
    return 0;
}

static int write_numbers(struct ctx *ctx, struct checkpoint *c,
                         const struct checkpoint_header *header)
{
    static const char *const suite = "Warpdeck", *const kind = "checkpoint";
    const int64_t version = CHECKPOINT_FORMAT_VERSION, no = 0;
    const int64_t results[2] = {header->row_step, header->frame_step};
    struct h5 *f = c->h5;
    TRY(h5_fixed_texts(ctx, f, "/", "suite", 1, &suite));
    TRY(h5_fixed_texts(ctx, f, "/", "kind", 1, &kind));
    TRY(h5_ints(ctx, f, "/", "format_version", 1, &version));
    TRY(h5_ints(ctx, f, "/", "complete", 1, &no));
    TRY(h5_ints(ctx, f, "/run", "step", 1, &header->step));
    TRY(h5_doubles(ctx, f, "/run", "time", 1, &header->time));
    TRY(h5_ints(ctx, f, "/run", "serial", 1, &header->serial));
    TRY(h5_ints(ctx, f, "/run", "ranks", 1, &header->ranks));
    TRY(h5_ints(ctx, f, "/run", "threads", 1, &header->threads));
    TRY(h5_ints(ctx, f, "/run", "decomposition", 3, header->decomposition));
    return h5_ints(ctx, f, "/run", "results", 2, results);
}

static int share_header(struct ctx *ctx, struct checkpoint_header *header)
{
    int64_t whole[4] = {header->step, header->serial, header->row_step,
                        header->frame_step};
    TRY(comm_bcast(ctx, whole, sizeof whole));
    header->step = whole[0];
    header->serial = whole[1];
    header->row_step = whole[2];
    header->frame_step = whole[3];
    return comm_bcast(ctx, &header->time, sizeof header->time);
}

int checkpoint_create(struct ctx *ctx, const char *path,
                      const struct checkpoint_header *header,
                      struct checkpoint **out)
{
    struct checkpoint *c = calloc(1, sizeof *c);
    size_t size = strlen(path) + sizeof ".tmp";
    char *beside = malloc(size);
    int status = 0;
    *out = NULL;
    if (c != NULL)
        c->path = strdup(path);
    if (c == NULL || beside == NULL || c->path == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    snprintf(beside, size, "%s.tmp", path);
    c->io.put = put;
    c->header = *header;
    TRY_CLEANUP(share_header(ctx, &c->header));
    TRY_CLEANUP(h5_create_sealed(ctx, beside, 2.0 * CHUNK_BYTES, &c->h5));
    TRY_CLEANUP(write_texts(ctx, c, &c->header));
    TRY_CLEANUP(h5_agree(ctx, c->h5, write_numbers(ctx, c, &c->header)));
    free(beside);
    *out = c;
    return 0;
cleanup:
    free(beside);
    checkpoint_discard(c);
    return status;
}

static void forget(struct checkpoint *c)
{
    free(c->path);
    free(c);
}

int checkpoint_publish(struct ctx *ctx, struct checkpoint *c)
{
    const int64_t yes = 1;
    int status = h5_flush(ctx, c->h5);
    if (status == 0)
        status =
            h5_agree(ctx, c->h5, h5_ints(ctx, c->h5, "/", "complete", 1, &yes));
    if (status != 0) {
        checkpoint_discard(c);
        return status;
    }
    status = h5_publish(ctx, c->h5, c->path);
    forget(c);
    return status;
}

void checkpoint_discard(struct checkpoint *c)
{
    if (c == NULL)
        return;
    h5_discard(c->h5);
    forget(c);
}
