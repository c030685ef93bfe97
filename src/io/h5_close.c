/* h5_close.c: what stands in memory goes to the disk, and files get their
 * names.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/h5.h"

/* ---- names ---- */

char *h5_aside_name(const char *path)
{
    size_t size = strlen(path) + sizeof ".tmp";
    char *name = malloc(size);

    if (name != NULL)
        snprintf(name, size, "%s.tmp", path);
    return name;
}

void h5_free(struct h5 *f)
{
    if (f->transfer >= 0)
        H5Pclose(f->transfer);
    if (f->together >= 0)
        H5Pclose(f->together);
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->aside);
    free(f);
}

int h5_agree(struct ctx *ctx, struct h5 *f, int status)
{
    status = comm_agree(ctx, status);
    if (status != 0)
        f->broken = 1;
    return status;
}

/* ---- flush ---- */

/* A file that somebody has removed is not missed here. */
static int change_name(struct ctx *ctx, const char *from, const char *to)
{
    if (rename(from, to) != 0 && errno != ENOENT)
        return h5_os_error(ctx, "change the name of", from);
    return 0;
}

/* Before anybody writes metadata. */
static int step_aside(struct ctx *ctx, struct h5 *f)
{
    int status = 0;

    if (f->aside == NULL)
        return 0;
    if (comm_rank(ctx->comm) == 0)
        status = change_name(ctx, f->path, f->aside);
    return comm_agree(ctx, status);
}

/* When all have written theirs, and `status` is what came of it. */
static int step_back(struct ctx *ctx, struct h5 *f, int status)
{
    if (f->aside == NULL)
        return status;
    if (status != 0)
        return error_context(ctx, status,
                             "it is called '%s' now, since it may be damaged; "
                             "a run that goes on with it mends it",
                             f->aside);
    if (comm_rank(ctx->comm) == 0)
        status = change_name(ctx, f->aside, f->path);
    return comm_agree(ctx, status);
}

static int flush(struct ctx *ctx, struct h5 *f)
{
    int status = 0;

    if (H5Fflush(f->file, H5F_SCOPE_GLOBAL) < 0)
        status = h5_error(ctx, f, "write");
    return h5_agree(ctx, f, status);
}

int h5_flush(struct ctx *ctx, struct h5 *f)
{
    TRY(step_aside(ctx, f));
    return step_back(ctx, f, flush(ctx, f));
}

/* ---- close ---- */

static int sync_folder(struct ctx *ctx, const char *path)
{
    char *copy = strdup(path);
    int fd, failed;

    if (copy == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    /* A folder that cannot be opened or synced (EINVAL on some file systems)
     * loses nothing but a guarantee. */
    failed = fd >= 0 && fsync(fd) != 0 && errno == EIO;
    if (fd >= 0)
        close(fd);
    return failed ? h5_os_error(ctx, "sync the folder of", path) : 0;
}

int h5_rename(struct ctx *ctx, struct h5 *f, const char *path)
{
    char *copy = strdup(path), *aside = h5_aside_name(path);
    int status = 0;

    if (copy == NULL || aside == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    if (status == 0 && comm_rank(ctx->comm) == 0) {
        if (rename(f->path, path) != 0)
            status = h5_os_error(ctx, "name the new file", path);
        else
            status = sync_folder(ctx, path);
    }
    status = comm_agree(ctx, status);
    if (status != 0) {
        free(copy);
        free(aside);
        return status;
    }
    free(f->path);
    free(f->aside);
    f->path = copy;
    f->aside = aside;
    return 0;
}

/* Cut off what was reserved and not needed, and wait for the disk. */
static int settle(struct ctx *ctx, struct h5 *f)
{
    struct stat file;

    if (fstat(f->fd, &file) == 0 && ftruncate(f->fd, file.st_size) != 0)
        return h5_os_error(ctx, "trim", f->path);
    if (fsync(f->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        return h5_os_error(ctx, "write", f->path);
    return sync_folder(ctx, f->path);
}

int h5_close(struct ctx *ctx, struct h5 *f)
{
    int status = f->broken ? STATUS_IO : step_aside(ctx, f);

    if (status == 0)
        status = flush(ctx, f);
    if (status != 0) {
        h5_abandon(f);
        return status;
    }
    if (H5Fclose(f->file) < 0)
        status = h5_error(ctx, f, "close");
    if (status == 0 && f->fd >= 0)
        status = settle(ctx, f);
    status = step_back(ctx, f, comm_agree(ctx, status));
    h5_free(f);
    return status;
}

int h5_publish(struct ctx *ctx, struct h5 *f, const char *path)
{
    char *beside = strdup(f->path);
    int status = 0;

    if (beside == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    status = comm_agree(ctx, status);
    if (status != 0) {
        h5_discard(f);
        free(beside);
        return status;
    }
    status = h5_close(ctx, f);
    if (comm_rank(ctx->comm) == 0) {
        if (status == 0 && rename(beside, path) != 0)
            status = h5_os_error(ctx, "name the new file", path);
        else if (status == 0)
            status = sync_folder(ctx, path);
        if (status != 0)
            unlink(beside);
    }
    free(beside);
    return comm_agree(ctx, status);
}

/* Of a run that failed, perhaps on one rank alone: nothing is agreed on. */
static void close_apart(struct h5 *f)
{
    int moved =
        f->aside != NULL && f->fd >= 0 && rename(f->path, f->aside) == 0;
    int failed = H5Fclose(f->file) < 0;

    if (moved && !failed)
        rename(f->aside, f->path);
}

void h5_abandon(struct h5 *f)
{
    if (f == NULL)
        return;
    /* Closing flushes; a file that failed to write could wait for ever there.
     * What the last flush left on the disk is whole. */
    if (f->file >= 0 && !f->broken)
        close_apart(f);
    h5_free(f);
}

void h5_discard(struct h5 *f)
{
    if (f == NULL)
        return;
    if (f->fd >= 0)
        unlink(f->path);
    h5_abandon(f);
}
