#include "driver/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/output.h"

/* As long as a launcher may take to end the ranks of a job that was killed. */
#define PATIENCE 10.0

enum { OWNER_MAX = 300 };

/* What trying to lock came to. */
enum outcome { HELD, BUSY, NO_LOCKS, NO_FILE };

/* `length` bytes from `first`, 0: to the end of all files. Returns errno or 0.
 */
static int set_lock(int fd, short type, int64_t first, int64_t length)
{
    struct flock wish = {.l_type = type,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)first,
                         .l_len = (off_t)length};
    return fcntl(fd, F_SETLK, &wish) == 0 ? 0 : errno;
}

/* Whoever ends last removes the file: what is open may have no name any more.
 */
static int still_named(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && stat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

static int open_lock(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

/* All of the file, for rank 0: no rank of another run has any of it then. */
static enum outcome try_all(struct lock *lock)
{
    lock->fd = open_lock(lock->path);
    if (lock->fd < 0)
        return NO_FILE;
    int failed = set_lock(lock->fd, F_WRLCK, 0, 0);
    enum outcome outcome = failed == 0                            ? HELD
                           : failed == EACCES || failed == EAGAIN ? BUSY
                                                                  : NO_LOCKS;
    if (outcome == HELD && !still_named(lock->fd, lock->path))
        outcome = BUSY;
    lock->held = outcome == HELD;
    if (!lock->held)
        close(lock->fd);
    if (outcome == NO_LOCKS)
        errno = failed;
    return outcome;
}

/* Who holds it, for a message. */
static void read_owner(const char *path, char *owner)
{
    char host[256] = "";
    long pid = 0;
    FILE *f = fopen(path, "r");
    int n = f != NULL ? fscanf(f, "host %255s process %ld", host, &pid) : 0;
    if (f != NULL)
        fclose(f);
    if (n == 2)
        snprintf(owner, OWNER_MAX, "process %ld on host %s", pid, host);
    else
        snprintf(owner, OWNER_MAX, "another process");
}

/* Only a help for people: a full disk does no harm here. */
static void write_owner(int fd)
{
    char host[256] = "", text[OWNER_MAX];
    if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof(host), "unknown");
    int n = snprintf(text, sizeof(text), "host %s process %ld\n", host,
                     (long)getpid());
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) != n)
        (void)!ftruncate(fd, 0);
}

static int refuse(struct ctx *ctx, const char *path)
{
    char owner[OWNER_MAX];
    read_owner(path, owner);
    FAIL(ctx, STATUS_IO, "another run writes these files: %s holds '%s'", owner,
         path);
    return error_context(ctx, STATUS_IO,
                         "use another folder with --output, or wait for it; "
                         "where it is gone for sure, remove that file");
}

/* Rank 0. */
static int take_all(struct ctx *ctx, struct lock *lock)
{
    static const struct timespec pause = {0, 50000000};
    double begin = timer_now();
    char owner[OWNER_MAX];
    int told = 0;
    enum outcome outcome;
    while ((outcome = try_all(lock)) == BUSY) {
        double waited = timer_now() - begin;
        if (waited >= PATIENCE)
            return refuse(ctx, lock->path);
        if (waited > 1 && !told) {
            read_owner(lock->path, owner);
            log_info(ctx->log, "waiting for a run to end: %s holds '%s'", owner,
                     lock->path);
            told = 1;
        }
        nanosleep(&pause, NULL);
    }
    if (outcome == NO_LOCKS)
        log_warn(ctx->log,
                 "the file system of '%s' knows no locks (%s): see to it that "
                 "no other run writes there",
                 lock->path, strerror(errno));
    /* A file that cannot be made is a folder that cannot be written to, and
     * that is told where its other files are made. */
    if (outcome == HELD) {
        write_owner(lock->fd);
        set_lock(lock->fd, F_UNLCK, 1, 0);
    }
    return 0;
}

int lock_take(struct ctx *ctx, const struct output *output, struct lock *out)
{
    int rank = comm_rank(ctx->comm), status = 0;
    unsigned char held = 0;
    *out = (struct lock){.path = output->lock};
    if (rank == 0) {
        status = take_all(ctx, out);
        held = out->held != 0;
    }
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, &held, sizeof(held)));
    if (rank == 0 || !held)
        return 0;
    /* Nobody else gets this far: rank 0 has its byte. */
    out->fd = open(out->path, O_RDWR | O_CLOEXEC);
    if (out->fd < 0)
        return 0;
    out->held = set_lock(out->fd, F_WRLCK, rank, 1) == 0;
    if (!out->held)
        close(out->fd);
    return 0;
}

void lock_release(struct ctx *ctx, struct lock *lock)
{
    if (!lock->held)
        return;
    if (comm_rank(ctx->comm) == 0)
        unlink(lock->path);
    close(lock->fd);
    *lock = (struct lock){0};
}
