/* h5_mend.c: what a kill in the middle of a flush can do to a file, and how a
 * later run makes it whole.
 *
 * HDF5 writes metadata in the order of their addresses and the superblock last:
 * a file that was killed in between may refer to objects behind the end that
 * its superblock records, or to objects that were never written. Such a file is
 * called PATH.tmp. The first is mended by correcting the end, the second by
 * copying what is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "io/h5.h"

/* ---- the end that a file records ---- */

/* The superblock of version 0 (HDF5 File Format Specification, II.A): signature
 * of 8 bytes, version at 8, size of addresses at 13, end of file at 40. */
enum { SLAB_BYTES = 1 << 24, ROOM = 2 * H5_CHUNK_BYTES };
enum { HEAD_SIZE = 48, AT_VERSION = 8, AT_ADDRESS_SIZE = 13, AT_END = 40 };

/* The recorded end, or -1 where there is no superblock of that version. */
static int64_t read_end(int fd)
{
    static const unsigned char signature[8] = {0x89, 'H',  'D',  'F',
                                               '\r', '\n', 0x1a, '\n'};
    unsigned char head[HEAD_SIZE];
    uint64_t end = 0;

    if (pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, signature, sizeof signature) != 0 ||
        head[AT_VERSION] != 0 || head[AT_ADDRESS_SIZE] != 8)
        return -1;
    for (int i = 7; i >= 0; i--)
        end = end << 8 | head[AT_END + i];
    return (int64_t)end;
}

static int write_end(struct ctx *ctx, int fd, const char *path, int64_t end)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)end >> 8 * i);
    if (pwrite(fd, bytes, sizeof bytes, AT_END) != (ssize_t)sizeof bytes)
        return FAIL(ctx, STATUS_IO, "cannot write '%s': %s", path,
                    strerror(errno));
    return 0;
}

/* All there is belongs to the file, and `room` behind it: HDF5 makes a file as
 * long as its last chunk after it has written what refers to that. */
static int correct_end(struct ctx *ctx, const char *path, int64_t room)
{
    int fd = open(path, O_RDWR | O_CLOEXEC), status = 0;
    struct stat file;
    int64_t end;

    if (fd < 0)
        return 0; /* whoever opens it next says so */
    end = read_end(fd);
    if (end >= 0 && fstat(fd, &file) == 0 && end != (int64_t)file.st_size) {
        end = (int64_t)file.st_size + room;
        if (room > 0 && ftruncate(fd, (off_t)end) != 0)
            status = h5_os_error(ctx, "write", path);
        if (status == 0)
            status = write_end(ctx, fd, path, end);
    }
    close(fd);
    return status;
}

/* ---- is it whole? ---- */

/* Texts of any length stand elsewhere in the file. */
static int read_texts(hid_t attribute, hid_t type, hid_t space)
{
    hssize_t n = H5Sget_simple_extent_npoints(space);
    char **texts = n > 0 ? calloc((size_t)n, sizeof *texts) : NULL;
    int bad = n < 0;

    if (texts != NULL) {
        bad = H5Aread(attribute, type, texts) < 0;
        for (hssize_t i = 0; !bad && i < n; i++)
            bad = texts[i] == NULL;
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    }
    free(texts);
    return bad;
}

static herr_t look_at_attribute(hid_t object, const char *name,
                                const H5A_info_t *info, void *user)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    int bad = type < 0 || space < 0;

    (void)info;
    (void)user;
    if (!bad && H5Tis_variable_str(type) > 0)
        bad = read_texts(attribute, type, space);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return bad ? -1 : 0;
}

/* The first and the last number: a file is written from front to back. */
static int look_at_numbers(hid_t set)
{
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    hid_t one = H5Screate(H5S_SCALAR);
    hsize_t shape[H5S_MAX_RANK], at[H5S_MAX_RANK] = {0};
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, shape, NULL) : -1;
    size_t size = type >= 0 ? H5Tget_size(type) : 0;
    void *value = size > 0 ? malloc(size) : NULL;
    int bad = rank < 0 || value == NULL || one < 0, empty = rank < 1;

    for (int d = 0; d < rank; d++)
        empty = empty || shape[d] == 0;
    for (int last = 0; !bad && !empty && last < 2; last++) {
        for (int d = 0; d < rank; d++)
            at[d] = last ? shape[d] - 1 : 0;
        bad = H5Sselect_elements(space, H5S_SELECT_SET, 1, at) < 0 ||
              H5Dread(set, type, one, space, H5P_DEFAULT, value) < 0;
    }
    free(value);
    if (one >= 0)
        H5Sclose(one);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return bad;
}

/* Reads `shape` of the dataset from `at` on. */
static int read_slab(hid_t set, hid_t type, hid_t space, int rank,
                     const hsize_t *at, const hsize_t *shape)
{
    hid_t memory = H5Screate_simple(rank, shape, NULL);
    size_t bytes = H5Tget_size(type);
    void *values;
    int bad;

    for (int d = 0; d < rank; d++)
        bytes *= (size_t)shape[d];
    values = malloc(bytes + 1);
    bad =
        values == NULL || memory < 0 ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, shape, NULL) < 0 ||
        H5Dread(set, type, memory, space, H5P_DEFAULT, values) < 0;
    if (memory >= 0)
        H5Sclose(memory);
    free(values);
    return bad;
}

static int read_numbers(hid_t set)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hsize_t shape[H5S_MAX_RANK], at[H5S_MAX_RANK] = {0}, rows = 0, most;
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, shape, NULL) : -1;
    int bad = rank < 0 || type < 0;
    size_t row = bad ? 0 : H5Tget_size(type);

    for (int d = 1; d < rank; d++)
        row *= (size_t)shape[d];
    if (rank > 0 && row > 0)
        rows = shape[0];
    most = row > 0 ? SLAB_BYTES / row + 1 : 1;
    for (; !bad && at[0] < rows; at[0] += shape[0]) {
        shape[0] = rows - at[0] < most ? rows - at[0] : most;
        bad = read_slab(set, type, space, rank, at, shape);
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return bad;
}

/* All numbers: HDF5's copying may crash where it meets what cannot be read. */
static herr_t read_object(hid_t file, const char *name, const H5L_info_t *info,
                          void *user)
{
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    int bad = object < 0;

    (void)info;
    (void)user;
    if (!bad && H5Iget_type(object) == H5I_DATASET)
        bad = read_numbers(object);
    if (object >= 0)
        H5Oclose(object);
    return bad ? -1 : 0;
}

/* What a link leads to knows of it: a header may be older than the link. */
static int knows_its_links(hid_t object)
{
    H5O_info_t info;
#if defined H5Oget_info_vers && H5Oget_info_vers > 1
    herr_t found = H5Oget_info(object, &info, H5O_INFO_BASIC);
#else
    herr_t found = H5Oget_info(object, &info);
#endif

    return found >= 0 && info.rc > 0;
}

static herr_t look_at_object(hid_t file, const char *name,
                             const H5L_info_t *info, void *user)
{
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    int bad = object < 0 || !knows_its_links(object);

    (void)info;
    (void)user;
    if (!bad)
        bad = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL,
                          look_at_attribute, NULL) < 0;
    if (!bad && H5Iget_type(object) == H5I_DATASET)
        bad = look_at_numbers(object);
    if (object >= 0)
        H5Oclose(object);
    return bad ? -1 : 0;
}

static int is_whole(hid_t file)
{
    return H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL,
                       look_at_attribute, NULL) >= 0 &&
           H5Lvisit_by_name(file, "/", H5_INDEX_NAME, H5_ITER_NATIVE,
                            look_at_object, NULL, H5P_DEFAULT) >= 0;
}

/* ---- saving what is whole ---- */

static int needed(const struct h5_parts *parts, int i)
{
    return i >= parts->n_spare;
}

static int can_copy(hid_t from, const char *name)
{
    return H5Lvisit_by_name(from, name, H5_INDEX_NAME, H5_ITER_NATIVE,
                            look_at_object, NULL, H5P_DEFAULT) >= 0 &&
           H5Lvisit_by_name(from, name, H5_INDEX_NAME, H5_ITER_NATIVE,
                            read_object, NULL, H5P_DEFAULT) >= 0;
}

/* In a root of the old format names may be lost, and then it seems to have less
 * than it has. */
static herr_t find_by_name(hid_t root, const char *name, const H5L_info_t *info,
                           void *user)
{
    (void)info;
    (void)user;
    return name[0] != '\0' && H5Lexists(root, name, H5P_DEFAULT) > 0 ? 0 : -1;
}

static int copy_parts(struct ctx *ctx, hid_t from, hid_t to, const char *path,
                      const struct h5_parts *parts)
{
    if (H5Literate(from, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, find_by_name,
                   NULL) < 0)
        return FAIL(ctx, STATUS_IO,
                    "'%s': the file was damaged when its run was killed, and "
                    "cannot be read any more; move the file away, and the run "
                    "goes on from its checkpoint with a new one",
                    path);
    for (int i = 0; i < parts->n; i++) {
        const char *name = parts->name[i];

        htri_t there = H5Lexists(from, name, H5P_DEFAULT);

        if (there == 0)
            continue;
        if (there > 0 && can_copy(from, name) &&
            H5Ocopy(from, name, to, name, H5P_DEFAULT, H5P_DEFAULT) >= 0)
            continue;
        if (needed(parts, i))
            return FAIL(ctx, STATUS_IO,
                        "'%s': the file was damaged when its run was killed, "
                        "and '/%s' cannot be read any more; move the file "
                        "away, and the run goes on from its checkpoint with a "
                        "new one",
                        path, name);
        if (H5Lexists(to, name, H5P_DEFAULT) > 0)
            H5Ldelete(to, name, H5P_DEFAULT);
    }
    return 0;
}

/* Close and wait for the disk, then take the place of the old file. */
static int replace(struct ctx *ctx, hid_t made, const char *beside,
                   const char *path)
{
    int failed = H5Fclose(made) < 0;
    int fd = open(beside, O_RDWR | O_CLOEXEC);

    if (failed || fd < 0 ||
        (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP) ||
        rename(beside, path) != 0)
        failed = 1;
    if (failed)
        FAIL(ctx, STATUS_IO, "cannot write '%s', a mended '%s': %s", beside,
             path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return failed ? STATUS_IO : 0;
}

static int check_space(struct ctx *ctx, const char *path)
{
    struct statvfs disk;
    struct stat file;
    char size[FORMAT_MAX];

    if (stat(path, &file) != 0 || statvfs(path, &disk) != 0 ||
        disk.f_blocks == 0 ||
        (double)disk.f_bavail * (double)disk.f_frsize >= (double)file.st_size)
        return 0;
    return FAIL(ctx, STATUS_IO,
                "'%s' was damaged when its run was killed, and there is no "
                "space for a copy of what is whole: it takes up to %s",
                path, format_bytes((double)file.st_size, size));
}

static int save_parts(struct ctx *ctx, hid_t from, const char *path,
                      const struct h5_parts *parts)
{
    size_t size = strlen(path) + 8;
    char *beside = malloc(size);
    hid_t made = H5I_INVALID_HID, root = h5_root();
    int status = check_space(ctx, path);

    if (status == 0 && (beside == NULL || root < 0))
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    if (status == 0) {
        snprintf(beside, size, "%s.tmp", path);
        made = H5Fcreate(beside, H5F_ACC_TRUNC, root, H5P_DEFAULT);
        if (made < 0)
            status = FAIL(ctx, STATUS_IO, "cannot create '%s'", beside);
    }
    if (status == 0)
        status = copy_parts(ctx, from, made, path, parts);
    if (status == 0)
        status = replace(ctx, made, beside, path);
    else if (made >= 0)
        H5Fclose(made);
    if (status != 0 && made >= 0)
        unlink(beside);
    if (root >= 0)
        H5Pclose(root);
    free(beside);
    return status;
}

/* A file that cannot be opened is left as it is. */
static int mend_file(struct ctx *ctx, const char *path, int64_t room,
                     const struct h5_parts *parts, int *opens,
                     unsigned char *mended)
{
    hid_t file;
    int status = 0;

    TRY(correct_end(ctx, path, room));
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    *opens = file >= 0;
    if (!*opens)
        return 0;
    *mended = !is_whole(file);
    if (*mended)
        status = save_parts(ctx, file, path, parts);
    H5Fclose(file);
    return status;
}

/* Of a file that stepped aside to be written, and was left so. */
static int mend_aside(struct ctx *ctx, const char *path, const char *aside,
                      const struct h5_parts *parts, unsigned char *mended)
{
    int opens;

    TRY(mend_file(ctx, aside, ROOM, parts, &opens, mended));
    if (!opens)
        return FAIL(ctx, STATUS_IO,
                    "'%s' was being written when its run was killed, and "
                    "cannot be opened; move it away, and the run goes on from "
                    "its checkpoint with a new one",
                    aside);
    if (rename(aside, path) != 0)
        return h5_os_error(ctx, "give its name back to", aside);
    return 0;
}

static int mend_here(struct ctx *ctx, const char *path,
                     const struct h5_parts *parts, unsigned char *mended)
{
    char *aside = h5_aside_name(path);
    int opens, status;

    h5_silence();
    if (aside == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    if (access(path, F_OK) != 0 && access(aside, F_OK) == 0)
        status = mend_aside(ctx, path, aside, parts, mended);
    else /* whoever opens it next says why not */
        status = mend_file(ctx, path, 0, parts, &opens, mended);
    free(aside);
    if (status == 0 && *mended && ctx->log != NULL)
        log_warn(
            ctx->log,
            "'%s' was damaged when its run was killed; it is mended: all rows "
            "and frames up to the checkpoint are there",
            path);
    return status;
}

int h5_mend(struct ctx *ctx, const char *path, const struct h5_parts *parts,
            int *mended)
{
    unsigned char done = 0;
    int status = 0;

    *mended = 0;
    if (comm_rank(ctx->comm) == 0)
        status = mend_here(ctx, path, parts, &done);
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, &done, sizeof done));
    *mended = done;
    return 0;
}
