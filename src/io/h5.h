/* h5.h: a thin layer over HDF5, the only door to it.
 *
 * It adds what every file of the suite needs: collective calls whose outcome
 * all ranks agree on, errors in words instead of HDF5's stack on the terminal,
 * units and descriptions, writes cut into pieces that MPI-IO can count, and a
 * look at the free space before a byte is written (a write that fails half-way
 * may leave ranks waiting inside MPI-IO for ever).
 *
 * All calls are collective over ctx->comm. Those that reach the disk end in an
 * agreement over the ranks; those that only build metadata in memory (groups,
 * attributes, datasets) return this rank's outcome, and the caller agrees once
 * for many. Paths inside a file are absolute, "/run/deck"; missing groups on
 * the way are made.
 */
#ifndef WARPDECK_IO_H5_H
#define WARPDECK_IO_H5_H

#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>

#include "domain/field.h"

struct ctx;

struct h5 {
    hid_t file;
    hid_t whole;    /* the file, where `file` is a group without a name */
    hid_t transfer; /* each rank writes by itself */
    hid_t together; /* MPI-IO gathers small blocks of many ranks */
    int fd;         /* rank 0: for reserving and syncing; -1 elsewhere */
    int broken;     /* a write failed: never touch the file again */
    char *path;
    char *aside; /* the name while metadata are written; NULL: has no other */
    size_t piece_bytes; /* most that one rank writes in one call */
};

enum { H5_RANK_MAX = 4 };

/* A dataset of shape [T][rows][...] (growing along T) or [rows][...]; a grid is
 * [z][y][x] or [z][y][x][components]. */
struct h5_set {
    const struct h5 *in;
    hid_t id;
    enum field_type type;
    int rank;
    int growing;
    hsize_t shape[H5_RANK_MAX]; /* now */
    char *name;
};

enum { H5_CHUNK_BYTES = 1 << 20, H5_SERIES_CHUNK_BYTES = 1 << 13 };
#define H5_PIECE_BYTES ((size_t)1 << 29)

/* ---- files (h5.c, h5_close.c) ---- */

/* Create or empty the file, where at least `bytes` fit on the disk. Errors:
 * STATUS_IO with path and reason; nothing is left behind then. The caller owns
 * *out. */
int h5_create(struct ctx *ctx, const char *path, double bytes, struct h5 **out);
/* The same in the format of HDF5 1.10, where metadata have checksums: for files
 * that only this program reads. */
int h5_create_sealed(struct ctx *ctx, const char *path, double bytes,
                     struct h5 **out);
/* Open a file that is there, to add to it. Errors: as h5_create(), and
 * STATUS_IO where it is no HDF5 file; it is left as it is. */
int h5_open(struct ctx *ctx, const char *path, struct h5 **out);
/* Groups at the top of a file that are worth saving; the first n_spare may be
 * lost, since they can be written anew. */
struct h5_parts {
    int n, n_spare;
    const char *const *name;
};
/* The name that a file has while its metadata are written: PATH.tmp. Allocated;
 * NULL where there is no memory. */
char *h5_aside_name(const char *path);
/* Make the file of a killed run whole again (h5_mend.c), before it is opened:
 * one that was killed in the middle of a flush is called PATH.tmp, and gets its
 * name back. Where something in it cannot be read, the parts are copied to a
 * new file, which takes its place; *mended = 1 then. A file that cannot be
 * opened at all is left as it is. Errors: STATUS_IO where a part that is no
 * spare one cannot be read, or there is no space. Agreed on.
 */
int h5_mend(struct ctx *ctx, const char *path, const struct h5_parts *parts,
            int *mended);
/* Give the file its final name, replacing what has that name; from then on it
 * steps aside while it is flushed. So does one that h5_open() has opened. */
int h5_rename(struct ctx *ctx, struct h5 *f, const char *path);
/* Hand everything to the operating system. HDF5 writes metadata in the order of
 * their addresses: a file that is killed meanwhile may not be readable. So one
 * that has its final name is called PATH.tmp until all is written; on a failure
 * it stays so. */
int h5_flush(struct ctx *ctx, struct h5 *f);
/* Flush, close, and wait until file and folder are on the disk. f is gone. */
int h5_close(struct ctx *ctx, struct h5 *f);
/* The same, and give it its final name when all of it is on the disk. Where
 * that fails, the file is removed. */
int h5_publish(struct ctx *ctx, struct h5 *f, const char *path);
/* Close as far as that is safe, and forget. NULL is fine. */
void h5_abandon(struct h5 *f);
/* h5_abandon() and delete the file. */
void h5_discard(struct h5 *f);

/* Make sure that `bytes` more fit on the disk, and set them aside where the
 * file system can. `what` completes "no space for ...". */
int h5_reserve(struct ctx *ctx, struct h5 *f, double bytes, const char *what);

/* comm_agree() on the outcome of writes; where one failed, the file is broken.
 */
int h5_agree(struct ctx *ctx, struct h5 *f, int status);

/* Record a failure of the HDF5 call just made: the text, and the innermost
 * reason on HDF5's error stack. Returns STATUS_IO. */
int h5_error(struct ctx *ctx, const struct h5 *f, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Record what errno says, on rank 0, about a file that is not HDF5's business:
 * "cannot WHAT 'PATH': ...". Returns STATUS_IO. */
int h5_os_error(struct ctx *ctx, const char *what, const char *path);
/* The memory, not what HDF5 has open. */
void h5_free(struct h5 *f);
/* Never again print HDF5's own error stack. */
void h5_silence(void);

/* How a file's root is made, for H5Fcreate; the caller closes it. Negative: no
 * memory. */
hid_t h5_root(void);

/* ---- groups and attributes (h5_meta.c) ---- */

int h5_group(struct ctx *ctx, struct h5 *f, const char *path);
/* Whether the path, all of it, leads to something. */
int h5_exists(const struct h5 *f, const char *path);
/* Take the name away where it stands; the space is not given back. */
int h5_remove(struct ctx *ctx, struct h5 *f, const char *path);
/* Groups that nothing in the file refers to yet, so that a kill while they are
 * filled leaves the file as it was: h5_detach() makes one, and paths without a
 * "/" in front lead into it until h5_attach() gives it its name. Both are
 * agreed on, and h5_attach() is called after failures, too (`status`), which it
 * returns. */
int h5_detach(struct ctx *ctx, struct h5 *f);
int h5_attach(struct ctx *ctx, struct h5 *f, const char *path, int status);
/* A second name for the same object. */
int h5_link(struct ctx *ctx, struct h5 *f, const char *existing,
            const char *path);
/* Rank 0's bytes, on all ranks: *out is allocated and ends in '\0'. */
int h5_share_text(struct ctx *ctx, const char *text, size_t size, char **out,
                  size_t *out_size);
/* A text of any length; rank 0's counts. NULL is written as "". */
int h5_text(struct ctx *ctx, struct h5 *f, const char *object, const char *name,
            const char *text);
/* A short text of fixed length, in ASCII: readers written for such attributes
 * (VTK's) take no other. */
int h5_ascii(struct ctx *ctx, struct h5 *f, const char *object,
             const char *name, const char *text);
/* n texts of one fixed length. */
int h5_fixed_texts(struct ctx *ctx, struct h5 *f, const char *object,
                   const char *name, size_t n, const char *const *texts);
/* n integers, or a scalar where n is 1. Overwrites. */
int h5_ints(struct ctx *ctx, struct h5 *f, const char *object, const char *name,
            int n, const int64_t *values);
int h5_doubles(struct ctx *ctx, struct h5 *f, const char *object,
               const char *name, int n, const double *values);

/* ---- datasets (h5_set.c) ---- */

/* Make a dataset. shape[0] is ignored and starts at 0 where it grows. */
int h5_set_create(struct ctx *ctx, struct h5 *f, const char *path,
                  enum field_type type, int rank, const hsize_t *shape,
                  int growing, struct h5_set *out);
/* Open the dataset of a file that was opened, with the type it is to have in
 * memory. Errors: STATUS_IO, also where its rank is another. */
int h5_set_open(struct ctx *ctx, struct h5 *f, const char *path,
                enum field_type type, int rank, int growing,
                struct h5_set *out);
/* Cut a growing dataset to its first n layers, or leave it. Agreed on. */
int h5_set_cut(struct ctx *ctx, struct h5 *f, struct h5_set *set, int64_t n);
/* Rows [first, first + n) of a dataset of rank 1, on every rank; rank 0 reads
 * them. Agreed on. */
int h5_set_read(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                int64_t first, int64_t n, void *values);
/* Before h5_close() and h5_abandon(). Half-made ones are fine. */
void h5_set_close(struct h5_set *set);

/* Add a layer to a growing dataset of rank 2 or 3: this rank has rows
 * [first, first + n) of it, n = 0 included. */
int h5_set_append_rows(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                       int64_t first, int64_t n, const void *values);
/* Add n layers, which rank 0 has. Returns this rank's outcome: h5_agree() once
 * for many. */
int h5_set_append(struct ctx *ctx, struct h5 *f, struct h5_set *set, int64_t n,
                  const void *values);
/* Write a fixed dataset: this rank has rows [first, first + n). */
int h5_set_write(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                 int64_t first, int64_t n, const void *values);
/* Write a block of a fixed dataset: this rank has [first[d], first[d] +
 * count[d]) in each of its directions, in C order; a count of 0 in any means
 * nothing. The blocks of several ranks do not overlap. Where they cut a layer
 * into short rows, MPI-IO gathers those of many ranks. Agreed on. */
int h5_set_write_block(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                       const int64_t *first, const int64_t *count,
                       const void *values);
/* Bytes, as they are, as one text of fixed length; rank 0's count. */
int h5_text_dataset(struct ctx *ctx, struct h5 *f, const char *path,
                    const char *text, size_t size);

/* n texts as a dataset of rank 1, all of one fixed length. Rank 0's count; n is
 * the same everywhere. Returns this rank's outcome. */
int h5_texts_dataset(struct ctx *ctx, struct h5 *f, const char *path, int64_t n,
                     const char *const *texts);

/* Cut the series below `group` back to a step: every dataset `value` that has
 * a `step` beside it keeps the rows with steps up to `step`, and so do the
 * `step` and `time` beside it. Nothing happens where there is no such group.
 * Errors: STATUS_IO, also where a series is shorter than its steps. Agreed on.
 */
int h5_cut_series(struct ctx *ctx, struct h5 *f, const char *group,
                  int64_t step);

/* Bytes of a number. */
size_t h5_item_size(enum field_type type);
hid_t h5_memory_type(enum field_type type);

/* Chunks for a growing dataset: at most about H5_CHUNK_BYTES; of less where a
 * layer is small, since a series of a few numbers should not fill the disk.
 * Never 0 in any direction. */
void h5_chunk(int rank, const hsize_t *shape, size_t item, hsize_t *chunk);
/* What a layer of the dataset takes on disk, at most. */
double h5_set_layer_bytes(const struct h5_set *set);

/* `rows` of `row_bytes` each in pieces of at most `limit` bytes (at least one
 * row): how many pieces, and where piece k stands. Beyond the last: n = 0. */
int64_t h5_pieces(int64_t rows, size_t row_bytes, size_t limit);
void h5_piece(int64_t rows, size_t row_bytes, size_t limit, int64_t k,
              int64_t *first, int64_t *n);

#endif
