/* kill_at.c: for LD_PRELOAD: SIGKILL at a chosen change of a process's files.
 *
 * Writes at a place, calls of fsync, and new names and lengths of files in a
 * folder, are counted over all threads. Before the one of number KILL_AT the
 * process ends; of a long write some pages are done, since the kernel may stop
 * one between two of them. KILL_IN: the folder, a part of its files' paths.
 * KILL_COUNT: a file that gets the number of changes at the end of a process
 * that was not killed. KILL_RANK: of Open MPI's ranks only this one; others
 * count, too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long changes;

static int is_chosen_rank(void)
{
    const char *wanted = getenv("KILL_RANK");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return !wanted || !rank || strcmp(wanted, rank) == 0;
}

/* Whether this change is the last thing to be seen of the process. */
static int is_due(void)
{
    const char *at = getenv("KILL_AT");
    long n = atomic_fetch_add(&changes, 1) + 1;
    return at && n == strtol(at, NULL, 10) && is_chosen_rank();
}

static int is_ours(const char *path)
{
    const char *folder = getenv("KILL_IN");
    return folder && strstr(path, folder);
}

static int is_our_file(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return is_ours(path);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static _Noreturn void end(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    ssize_t (*real)(int, const void *, size_t, off_t);
    *(void **)&real = next("pwrite");
    if (is_our_file(fd) && is_due()) {
        size_t page = 4096, pages = n / 2 / page * page;
        if (pages > 0)
            (void)real(fd, bytes, pages, at);
        end();
    }
    return real(fd, bytes, n, at);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at)
{
    ssize_t (*real)(int, const struct iovec *, int, off_t);
    *(void **)&real = next("pwritev");
    if (is_our_file(fd) && is_due())
        end();
    return real(fd, pieces, n, at);
}

int ftruncate(int fd, off_t length)
{
    int (*real)(int, off_t);
    *(void **)&real = next("ftruncate");
    if (is_our_file(fd) && is_due())
        end();
    return real(fd, length);
}

int fsync(int fd)
{
    int (*real)(int);
    *(void **)&real = next("fsync");
    if (is_our_file(fd) && is_due())
        end();
    return real(fd);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *);
    *(void **)&real = next("rename");
    if (is_ours(to) && is_due())
        end();
    return real(from, to);
}

int unlink(const char *path)
{
    int (*real)(const char *);
    *(void **)&real = next("unlink");
    if (is_ours(path) && is_due())
        end();
    return real(path);
}

__attribute__((destructor)) static void tell(void)
{
    const char *name = getenv("KILL_COUNT");
    long n = atomic_load(&changes);
    /* MPI may have started processes that write nothing. */
    FILE *out = name && n > 0 && is_chosen_rank() ? fopen(name, "w") : NULL;
    if (!out)
        return;
    fprintf(out, "%ld\n", n);
    fclose(out);
}
