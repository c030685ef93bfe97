#include "driver/output.h"

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
#include "driver/saves.h"

/* folder/name + ending, in new memory; a plain name in the current folder. */
static char *join(const char *folder, const char *name, const char *ending)
{
    int here = strcmp(folder, ".") == 0;
    size_t n = strlen(folder);
    const char *slash = here || folder[n - 1] == '/' ? "" : "/";
    size_t size = n + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s%s%s", here ? "" : folder, slash, name,
                 ending);
    return path;
}

/* *made: the length of the first part of the path that was not there; 0: all
 * of it was. */
static int make_folder(struct ctx *ctx, const char *folder, size_t *made)
{
    char *path = strdup(folder);
    if (path == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    int status = 0, again = 3;
    for (char *c = path + 1; status == 0; c++) {
        if (*c != '/' && *c != '\0')
            continue;
        char end = *c;
        *c = '\0';
        if (mkdir(path, 0777) == 0)
            *made = *made > 0 ? *made : (size_t)(c - path);
        else if (errno == ENOENT && again-- > 0) {
            /* Another run has just removed it, see remove_empty(). */
            *c = end;
            c = path;
            continue;
        } else if (errno != EEXIST)
            status = FAIL(ctx, STATUS_IO, "cannot make the folder '%s': %s",
                          path, strerror(errno));
        *c = end;
        if (end == '\0')
            break;
    }
    free(path);
    struct stat s;
    if (status == 0 && (stat(folder, &s) != 0 || !S_ISDIR(s.st_mode)))
        status = FAIL(ctx, STATUS_IO, "'%s' is not a folder", folder);
    return status;
}

/* Permissions, read-only file systems, quotas, full disks: only writing tells.
 * The file loses its name before anything is written: a run that is killed
 * leaves none. One that was killed in between is followed by a run that takes
 * the file away. */
static int prove_writable(struct ctx *ctx, const char *folder)
{
    static const char text[] = "Warpdeck asks whether it can write here.\n";
    char *path = join(folder, ".warpdeck.tmp", "");
    if (path == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    int status = 0;
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int ok = fd >= 0;
    if (ok) {
        unlink(path);
        ok = write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1 &&
             fsync(fd) == 0;
    }
    if (!ok)
        status = FAIL(ctx, STATUS_IO, "cannot write to the folder '%s': %s",
                      folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    return status;
}

static void warn_of_space(struct ctx *ctx, const char *folder, double bytes)
{
    struct statvfs fs;
    if (statvfs(folder, &fs) != 0)
        return;
    double available = (double)fs.f_bavail * (double)fs.f_frsize;
    char need[FORMAT_MAX], have[FORMAT_MAX];
    if (bytes > available)
        log_warn(
            ctx->log, "the results need about %s, but '%s' has only %s left",
            format_bytes(bytes, need), folder, format_bytes(available, have));
}

int output_has_results(const struct output *o)
{
    return access(o->h5, F_OK) == 0 || access(o->aside, F_OK) == 0;
}

static int refuse_existing(struct ctx *ctx, const struct output *o,
                           const char *name)
{
    int saved = saves_exist(o, name), status;
    if (output_has_results(o))
        status = FAIL(ctx, STATUS_USAGE, "'%s' exists already", o->h5);
    else if (saved)
        status = FAIL(ctx, STATUS_USAGE,
                      "checkpoints of a run '%s' are in '%s' already", name,
                      o->folder);
    else
        return 0;
    if (saved)
        error_context(ctx, status,
                      "use --resume auto to go on from its checkpoint");
    return error_context(ctx, status,
                         "use --overwrite to replace it, or another folder "
                         "with --output");
}

static int prepare(struct ctx *ctx, const struct output *o, const char *name,
                   enum output_existing existing, double bytes)
{
    if (existing == OUTPUT_REFUSE)
        TRY(refuse_existing(ctx, o, name));
    TRY(prove_writable(ctx, o->folder));
    warn_of_space(ctx, o->folder, bytes);
    /* A wish to stop that an earlier run has answered, or never saw. */
    if (unlink(o->stop) == 0)
        log_warn(ctx->log, "removed '%s', left from an earlier run", o->stop);
    return 0;
}

int output_name(struct ctx *ctx, const char *folder, const char *name,
                struct output *out)
{
    int status = 0;
    if (folder == NULL || folder[0] == '\0')
        folder = ".";
    *out = (struct output){.folder = strdup(folder),
                           .h5 = join(folder, name, ".h5"),
                           .aside = join(folder, name, ".h5.tmp"),
                           .log = join(folder, name, ".log"),
                           .stop = join(folder, "STOP", ""),
                           .lock = join(folder, name, ".lock")};
    if (out->folder == NULL || out->h5 == NULL || out->aside == NULL ||
        out->log == NULL || out->stop == NULL || out->lock == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else if (comm_rank(ctx->comm) == 0)
        status = make_folder(ctx, out->folder, &out->made);
    return comm_agree(ctx, status);
}

int output_prepare(struct ctx *ctx, const struct output *out, const char *name,
                   enum output_existing existing, double bytes)
{
    int status = 0;
    if (comm_rank(ctx->comm) == 0)
        status = prepare(ctx, out, name, existing, bytes);
    TRY(comm_agree(ctx, status));
    return saves_clean(ctx, out, name, existing == OUTPUT_REPLACE);
}

/* A run that fails before it writes leaves no folders that it has made. */
static void remove_empty(char *folder, size_t made)
{
    size_t n = folder != NULL && made > 0 ? strlen(folder) : 0;
    for (; n >= made && n > 0; n--) {
        if (folder[n] != '/' && folder[n] != '\0')
            continue;
        folder[n] = '\0';
        if (rmdir(folder) != 0 && errno != ENOENT) /* "a//b", "a/" */
            return;
    }
}

void output_free(struct output *out)
{
    remove_empty(out->folder, out->made);
    free(out->folder);
    free(out->h5);
    free(out->aside);
    free(out->log);
    free(out->stop);
    free(out->lock);
    *out = (struct output){0};
}
