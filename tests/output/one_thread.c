/* one_thread.c: for LD_PRELOAD: HDF5 is entered by one thread at a time.
 *
 * The library keeps no order among threads of its own, as it is commonly built.
 * The calls below take a while, so that a second thread is found there where
 * nothing keeps it away: the process ends with a message.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic(pthread_t) inside;
static _Thread_local int depth;

static void enter(const char *name)
{
    pthread_t nobody = 0;
    if (depth++ > 0)
        return;
    if (!atomic_compare_exchange_strong(&inside, &nobody, pthread_self())) {
        fprintf(stderr, "two threads are in HDF5, the second in %s\n", name);
        _exit(99);
    }
    usleep(5000);
}

static void leave(void)
{
    if (--depth == 0)
        atomic_store(&inside, (pthread_t)0);
}

#define WATCH(type, name, declared, passed)        \
    type name declared;                            \
    type name declared                             \
    {                                              \
        type(*next) declared;                      \
        *(void **)&next = dlsym(RTLD_NEXT, #name); \
        enter(#name);                              \
        type result = next passed;                 \
        leave();                                   \
        return result;                             \
    }

/* hid_t is int64_t, herr_t int, hsize_t unsigned long long. */
WATCH(int, H5Dwrite,
      (int64_t set, int64_t type, int64_t memory, int64_t file, int64_t how,
       const void *from),
      (set, type, memory, file, how, from))
WATCH(int, H5Dread,
      (int64_t set, int64_t type, int64_t memory, int64_t file, int64_t how,
       void *to),
      (set, type, memory, file, how, to))
WATCH(int, H5Dset_extent, (int64_t set, const unsigned long long *size),
      (set, size))
WATCH(int64_t, H5Dopen2, (int64_t at, const char *name, int64_t how),
      (at, name, how))
WATCH(int, H5Dclose, (int64_t set), (set))
WATCH(int64_t, H5Fopen, (const char *name, unsigned flags, int64_t how),
      (name, flags, how))
WATCH(int64_t, H5Fcreate,
      (const char *name, unsigned flags, int64_t made, int64_t how),
      (name, flags, made, how))
WATCH(int, H5Fflush, (int64_t file, int scope), (file, scope))
WATCH(int, H5Fclose, (int64_t file), (file))
