/* lock.h: one run at a time writes the files of a name in a folder.
 *
 * The ranks of a killed job live on for a moment, and a requeued one meets
 * them; or somebody starts a job twice. NAME.lock is locked as fcntl(2) does
 * it, by rank 0 and by each other rank in a byte of its own, so that the
 * system frees what the dead have held, also on other nodes where the file
 * system sees to that.
 */
#ifndef WARPDECK_DRIVER_LOCK_H
#define WARPDECK_DRIVER_LOCK_H

struct ctx;
struct output;

struct lock {
    int held;
    int fd;
    const char *path;
};

/* Take the lock of output->lock (borrowed, until lock_release()), and wait some
 * seconds where others have it; then STATUS_IO with host and process of the
 * other run. A file system without locks, or where the file cannot be made:
 * the run goes on without, the former with a warning. Collective. */
int lock_take(struct ctx *ctx, const struct output *output, struct lock *out);

/* Free it and remove the file, when all ranks have ended. Nothing happens where
 * nothing is held. A process that ends without it frees it, too. */
void lock_release(struct ctx *ctx, struct lock *lock);

#endif
