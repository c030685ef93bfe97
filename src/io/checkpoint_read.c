/* checkpoint_read.c: the state of a run from the disk, mistrusting every byte.
 *
 * Each rank opens the file by itself, without MPI-IO: reading needs no
 * agreement, and a damaged file can leave nobody waiting.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/checkpoint_file.h"

#define PIECE_BYTES ((int64_t)1 << 26)
/* Texts are small: a header that says otherwise is damaged. */
enum { TEXT_LONGEST = 1 << 28 };

/* A failure with HDF5's reason, as the fault of the file. */
static int damaged(struct ctx *ctx, const struct checkpoint *c,
                   const char *what)
{
    h5_error(ctx, &c->reading, "read %s", what);
    ctx->error.status = STATUS_INPUT;
    return STATUS_INPUT;
}

/* ---- header ---- */

static int read_attribute(hid_t file, const char *object, const char *name,
                          hid_t memory_type, int n, void *out)
{
    hid_t owner = H5Oopen(file, object, H5P_DEFAULT);
    hid_t attribute = owner < 0 ? -1 : H5Aopen(owner, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    int failed = space < 0 || H5Sget_simple_extent_npoints(space) != n ||
                 H5Aread(attribute, memory_type, out) < 0;
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (owner >= 0)
        H5Oclose(owner);
    return failed ? -1 : 0;
}

/* Whether the root's attribute `name` is this text. */
static int root_says(hid_t file, const char *name, const char *want)
{
    char text[64] = "";
    hid_t type = H5Tcopy(H5T_C_S1);
    int same = type >= 0 && H5Tset_size(type, sizeof text) >= 0 &&
               H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
               read_attribute(file, "/", name, type, 1, text) == 0;
    if (type >= 0)
        H5Tclose(type);
    text[sizeof text - 1] = '\0';
    return same && strcmp(text, want) == 0;
}

static int check_kind(struct ctx *ctx, const struct checkpoint *c)
{
    hid_t f = c->reading.file;
    int64_t version = 0, complete = 0;
    if (!root_says(f, "suite", "Warpdeck") ||
        !root_says(f, "kind", "checkpoint"))
        return FAIL(ctx, STATUS_INPUT,
                    "'%s' is an HDF5 file, but no checkpoint of Warpdeck",
                    c->path);
    if (read_attribute(f, "/", "format_version", H5T_NATIVE_INT64, 1,
                       &version) != 0 ||
        read_attribute(f, "/", "complete", H5T_NATIVE_INT64, 1, &complete) != 0)
        return damaged(ctx, c, "the header");
    if (version > CHECKPOINT_FORMAT_VERSION)
        return FAIL(ctx, STATUS_INPUT,
                    "'%s' has format %" PRId64 ", and this version of Warpdeck "
                    "reads up to %d: use a newer one",
                    c->path, version, CHECKPOINT_FORMAT_VERSION);
    if (complete != 1)
        return FAIL(ctx, STATUS_INPUT, "'%s' was not written to its end",
                    c->path);
    return 0;
}

static int read_numbers(hid_t f, struct checkpoint_header *h)
{
    int64_t results[2];
    if (read_attribute(f, "/run", "step", H5T_NATIVE_INT64, 1, &h->step) != 0 ||
        read_attribute(f, "/run", "time", H5T_NATIVE_DOUBLE, 1, &h->time) !=
            0 ||
        read_attribute(f, "/run", "serial", H5T_NATIVE_INT64, 1, &h->serial) !=
            0 ||
        read_attribute(f, "/run", "ranks", H5T_NATIVE_INT64, 1, &h->ranks) !=
            0 ||
        read_attribute(f, "/run", "threads", H5T_NATIVE_INT64, 1,
                       &h->threads) != 0 ||
        read_attribute(f, "/run", "decomposition", H5T_NATIVE_INT64, 3,
                       h->decomposition) != 0 ||
        read_attribute(f, "/run", "results", H5T_NATIVE_INT64, 2, results) != 0)
        return -1;
    h->row_step = results[0];
    h->frame_step = results[1];
    return 0;
}

/* ---- arrays ---- */

static int shape_of(hid_t set, int64_t *shape)
{
    hsize_t dims[STATE_RANK_MAX];
    hid_t space = H5Dget_space(set);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > STATE_RANK_MAX ||
        H5Sget_simple_extent_dims(space, dims, NULL) < 0)
        rank = -1;
    for (int d = 0; d < STATE_RANK_MAX; d++)
        shape[d] = d < rank ? (int64_t)dims[d] : 1;
    if (space >= 0)
        H5Sclose(space);
    return rank;
}

/* A block of a dataset of this rank, in C order. Returns 0 or -1. */
static int read_block(hid_t set, hid_t memory_type, int rank,
                      const int64_t *first, const int64_t *local, void *out)
{
    hsize_t from[STATE_RANK_MAX], count[STATE_RANK_MAX];
    for (int d = 0; d < rank; d++) {
        from[d] = (hsize_t)first[d];
        count[d] = (hsize_t)local[d];
    }
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Screate_simple(rank, count, NULL);
    int failed = space < 0 || memory < 0 ||
                 H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, count,
                                     NULL) < 0 ||
                 H5Dread(set, memory_type, memory, space, H5P_DEFAULT, out) < 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return failed ? -1 : 0;
}

static int same_type(hid_t set, enum state_type type)
{
    hid_t in_file = H5Dget_type(set);
    H5T_class_t class =
        type == STATE_DOUBLE || type == STATE_FLOAT ? H5T_FLOAT : H5T_INTEGER;
    int same = in_file >= 0 && H5Tget_class(in_file) == class &&
               H5Tget_size(in_file) == checkpoint_item_size(type);
    if (in_file >= 0)
        H5Tclose(in_file);
    return same;
}

static int get_here(struct ctx *ctx, struct checkpoint *c,
                    const struct state_array *array, const char *path)
{
    int64_t shape[STATE_RANK_MAX], first[STATE_RANK_MAX] = {0};
    const int64_t *local = array->shared ? array->shape : array->local;
    char what[CHECKPOINT_NAME_MAX + 32];
    snprintf(what, sizeof what, "the dataset '%s'", path);
    hid_t set = H5Dopen2(c->reading.file, path, H5P_DEFAULT);
    if (set < 0)
        return damaged(ctx, c, what);
    int status = 0, same = shape_of(set, shape) == array->rank &&
                           same_type(set, array->type);
    for (int d = 0; d < array->rank; d++)
        same = same && shape[d] == array->shape[d];
    if (!same)
        status =
            FAIL(ctx, STATUS_INPUT,
                 "'%s': the dataset '%s' has another shape than this run's",
                 c->path, path);
    else if (checkpoint_count(array->rank, local) > 0 &&
             read_block(set, checkpoint_memory_type(array->type), array->rank,
                        array->shared ? first : array->first, local,
                        array->values) != 0)
        status = damaged(ctx, c, what);
    H5Dclose(set);
    return status;
}

static int get(struct ctx *ctx, struct state_io *io,
               const struct state_array *array)
{
    char path[CHECKPOINT_NAME_MAX];
    snprintf(path, sizeof path, "/state/%s", array->name);
    return comm_agree(ctx, get_here(ctx, (struct checkpoint *)io, array, path));
}

static int find(struct state_io *io, const char *name, int64_t *shape)
{
    struct checkpoint *c = (struct checkpoint *)io;
    char path[CHECKPOINT_NAME_MAX];
    snprintf(path, sizeof path, "/state/%s", name);
    for (char *end = path + 1; (end = strchr(end, '/')) != NULL; end++) {
        *end = '\0';
        htri_t there = H5Lexists(c->reading.file, path, H5P_DEFAULT);
        *end = '/';
        if (there <= 0)
            return 0;
    }
    if (H5Lexists(c->reading.file, path, H5P_DEFAULT) <= 0)
        return 0;
    hid_t set = H5Dopen2(c->reading.file, path, H5P_DEFAULT);
    int rank = set < 0 ? -1 : shape_of(set, shape);
    if (set >= 0)
        H5Dclose(set);
    return rank > 0;
}

/* ---- texts ---- */

static int read_text(struct ctx *ctx, struct checkpoint *c, int which)
{
    char path[CHECKPOINT_NAME_MAX];
    char what[CHECKPOINT_NAME_MAX + 32];
    snprintf(path, sizeof path, "/run/%s", checkpoint_text_names[which]);
    snprintf(what, sizeof what, "the dataset '%s'", path);
    hid_t set = H5Dopen2(c->reading.file, path, H5P_DEFAULT);
    int64_t shape[STATE_RANK_MAX] = {0}, first[STATE_RANK_MAX] = {0};
    int failed = set < 0 || shape_of(set, shape) != 1 ||
                 shape[0] > TEXT_LONGEST || !same_type(set, STATE_BYTE);
    char *text = failed ? NULL : malloc((size_t)shape[0] + 1);
    int status = 0;
    if (!failed && text == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else if (failed || (shape[0] > 0 && read_block(set, H5T_NATIVE_UINT8, 1,
                                                   first, shape, text) != 0))
        status = damaged(ctx, c, what);
    if (set >= 0)
        H5Dclose(set);
    if (status != 0) {
        free(text);
        return status;
    }
    text[shape[0]] = '\0';
    c->text[which] = text;
    *checkpoint_text(&c->header, which) = text;
    return 0;
}

/* ---- looking at all of it ---- */

struct survey {
    struct ctx *ctx;
    struct checkpoint *c;
    int rank, size; /* of the processes */
    int status;
};

/* Rows [from, end) of a dataset, in pieces. Returns 0 or -1. */
static int look_at_rows(hid_t set, hid_t type, int rank, int64_t *shape,
                        int64_t from, int64_t end)
{
    int64_t first[STATE_RANK_MAX] = {0};
    int64_t row = (int64_t)H5Tget_size(type);
    for (int d = 1; d < rank; d++)
        row *= shape[d];
    int64_t a_piece = row > 0 && PIECE_BYTES / row > 0 ? PIECE_BYTES / row : 1;
    if (row == 0 || from >= end)
        return 0;
    void *buffer = malloc((size_t)(a_piece * row));
    int failed = buffer == NULL;
    for (; from < end && !failed; from += a_piece) {
        first[0] = from;
        shape[0] = end - from < a_piece ? end - from : a_piece;
        failed = read_block(set, type, rank, first, shape, buffer) != 0;
    }
    free(buffer);
    return failed ? -1 : 0;
}

/* This process's share of a dataset, so that every chunk's checksum is looked
 * at by somebody. Returns 0 or -1. */
static int look_at(hid_t set, const struct survey *s)
{
    int64_t shape[STATE_RANK_MAX];
    int rank = shape_of(set, shape);
    hid_t in_file = H5Dget_type(set);
    hid_t type = in_file < 0 ? -1 : H5Tget_native_type(in_file, H5T_DIR_ASCEND);
    int failed = rank < 1 || type < 0;
    if (!failed) {
        int64_t share = shape[0] / s->size + 1;
        int64_t from = share * s->rank, end = from + share;
        failed = look_at_rows(set, type, rank, shape, from,
                              end < shape[0] ? end : shape[0]) != 0;
    }
    if (type >= 0)
        H5Tclose(type);
    if (in_file >= 0)
        H5Tclose(in_file);
    return failed ? -1 : 0;
}

static herr_t visit(hid_t root, const char *name, const H5O_info_t *info,
                    void *user)
{
    struct survey *s = user;
    char what[CHECKPOINT_NAME_MAX + 32];
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    hid_t set = H5Dopen2(root, name, H5P_DEFAULT);
    if (set < 0 || look_at(set, s) != 0) {
        snprintf(what, sizeof what, "the dataset '/%s'", name);
        s->status = damaged(s->ctx, s->c, what);
    }
    if (set >= 0)
        H5Dclose(set);
    return s->status != 0;
}

static int survey(struct ctx *ctx, struct checkpoint *c)
{
    struct survey s = {ctx, c, comm_rank(ctx->comm), comm_size(ctx->comm), 0};
    if (H5Ovisit(c->reading.file, H5_INDEX_NAME, H5_ITER_INC, visit, &s) < 0 &&
        s.status == 0)
        return damaged(ctx, c, "its list of datasets");
    return s.status;
}

/* ---- opening ---- */

static int open_file(struct ctx *ctx, struct checkpoint *c)
{
    if (access(c->path, F_OK) != 0)
        return FAIL(ctx, STATUS_INPUT, "there is no checkpoint '%s'", c->path);
    struct stat s;
    if (stat(c->path, &s) == 0 && S_ISDIR(s.st_mode))
        return FAIL(ctx, STATUS_INPUT,
                    "'%s' is a folder, not a checkpoint's file; --output with "
                    "--resume auto goes on from the newest in a folder",
                    c->path);
    c->reading.path = c->path;
    c->reading.file = H5Fopen(c->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (c->reading.file >= 0)
        return 0;
    damaged(ctx, c, "it");
    return STATUS_INPUT;
}

static int open_here(struct ctx *ctx, struct checkpoint *c, int whole)
{
    TRY(open_file(ctx, c));
    TRY(check_kind(ctx, c));
    if (read_numbers(c->reading.file, &c->header) != 0)
        return damaged(ctx, c, "the header");
    for (int i = 0; i < CHECKPOINT_TEXTS && whole; i++)
        TRY(read_text(ctx, c, i));
    return whole ? survey(ctx, c) : 0;
}

static struct checkpoint *new_reader(const char *path)
{
    struct checkpoint *c = calloc(1, sizeof *c);
    h5_silence();
    if (c == NULL)
        return NULL;
    c->io.get = get;
    c->io.find = find;
    c->reading.file = H5I_INVALID_HID;
    c->path = strdup(path);
    if (c->path == NULL) {
        free(c);
        return NULL;
    }
    return c;
}

int checkpoint_open(struct ctx *ctx, const char *path, struct checkpoint **out)
{
    struct checkpoint *c = new_reader(path);
    int status = c != NULL ? open_here(ctx, c, 1)
                           : FAIL(ctx, STATUS_MEMORY, "out of memory");
    *out = NULL;
    status = comm_agree(ctx, status);
    if (status != 0) {
        checkpoint_close(c);
        return status;
    }
    *out = c;
    return 0;
}

void checkpoint_let_go(struct checkpoint *c)
{
    if (c->reading.file >= 0)
        H5Fclose(c->reading.file);
    c->reading.file = H5I_INVALID_HID;
}

void checkpoint_close(struct checkpoint *c)
{
    if (c == NULL)
        return;
    checkpoint_let_go(c);
    for (int i = 0; i < CHECKPOINT_TEXTS; i++)
        free(c->text[i]);
    free(c->path);
    free(c);
}

int checkpoint_peek(struct ctx *ctx, const char *path, int64_t *serial)
{
    struct checkpoint *c = new_reader(path);
    int status = c != NULL ? open_here(ctx, c, 0) : STATUS_MEMORY;
    if (status == 0)
        *serial = c->header.serial;
    else
        error_clear(ctx);
    checkpoint_close(c);
    return status != 0 ? -1 : 0;
}

unsigned char checkpoint_results_complete(const char *path)
{
    int64_t complete = 0;
    h5_silence();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return 0;
    if (read_attribute(file, "/run", "complete", H5T_NATIVE_INT64, 1,
                       &complete) != 0)
        complete = 0;
    H5Fclose(file);
    return complete == 1;
}

const struct checkpoint_header *checkpoint_header(const struct checkpoint *c)
{
    return &c->header;
}

struct state_io *checkpoint_state(struct checkpoint *c)
{
    return &c->io;
}
