/* comm_shared.c: see comm_shared.h. */
#include "base/comm_shared.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"

/* What stands in an area for each peer. Lines of their own: one rank writes
 * where the other waits. */
struct post {
    _Alignas(64) _Atomic uint64_t posted; /* messages written so far */
    uint64_t at[2];                       /* where even and odd ones stand */
    _Alignas(64) _Atomic uint64_t taken;  /* messages read from this peer */
};

struct area {
    uint64_t key;
    struct post post[];
};

struct peer {
    struct area *area; /* as mapped here; NULL: messages go through MPI */
    size_t bytes;      /* mapped */
    int index;         /* of this rank there */
    uint64_t posted, taken;
    uint64_t in_room[2]; /* posted once the messages of either room were */
};

struct comm_shared {
    struct area *area;
    int file;
    size_t bytes; /* of the own area */
    uint64_t rounds;
    struct {
        size_t at, bytes;
    } room[2]; /* for even and odd rounds */
    int n;
    struct peer *peers;
};

enum { SLOT_ALIGNMENT = 4096 };

static size_t rounded(size_t n)
{
    return (n + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

/* ---- areas ---- */

/* Nothing secret: it tells an area from any other file that a process of that
 * number may have open. */
static uint64_t new_key(const void *area)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return (ns ^ (uint64_t)(uintptr_t)area ^ ((uint64_t)getpid() << 40)) *
               0x9e3779b97f4a7c15u |
           1;
}

static int wanted(void)
{
    const char *text = getenv("WARPDECK_SHARED_MEMORY");
    return text == NULL || strcmp(text, "0") != 0;
}

struct comm_shared *comm_shared_create(int n)
{
    if (n <= 0 || !wanted())
        return NULL;
    struct comm_shared *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    s->n = n;
    s->area = MAP_FAILED;
    s->bytes = rounded(sizeof(struct area) + (size_t)n * sizeof(struct post));
    s->peers = calloc((size_t)n, sizeof(*s->peers));
    s->file = memfd_create("warpdeck-messages", MFD_CLOEXEC);
    if (s->file >= 0 && ftruncate(s->file, (off_t)s->bytes) == 0)
        s->area = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                       s->file, 0);
    if (s->peers == NULL || s->area == MAP_FAILED) {
        comm_shared_destroy(s);
        return NULL;
    }
    s->area->key = new_key(s->area);
    return s;
}

void comm_shared_destroy(struct comm_shared *s)
{
    if (s == NULL)
        return;
    for (int p = 0; s->peers != NULL && p < s->n; p++)
        if (s->peers[p].area != NULL)
            munmap(s->peers[p].area, s->peers[p].bytes);
    if (s->area != MAP_FAILED)
        munmap(s->area, s->bytes);
    if (s->file >= 0)
        close(s->file);
    free(s->peers);
    free(s);
}

void comm_shared_greet(const struct comm_shared *s, int p,
                       struct comm_greeting *greeting)
{
    greeting->index = p;
    greeting->process = (int)getpid();
    greeting->area = s != NULL ? s->file : -1;
    greeting->key = s != NULL ? s->area->key : 0;
}

/* The whole of a regular file, to read; NULL where that is none. */
static void *map_whole(int file, size_t *bytes)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)sizeof(struct area))
        return NULL;
    *bytes = (size_t)status.st_size;
    void *at = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

int comm_shared_open(struct comm_shared *s, int p,
                     const struct comm_greeting *theirs)
{
    char name[64];
    if (s == NULL || theirs->area < 0)
        return 0;
    snprintf(name, sizeof(name), "/proc/%d/fd/%d", theirs->process,
             theirs->area);
    /* Where a process number means another process here, this may be any
     * file. */
    int file = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return 0;
    struct peer *peer = &s->peers[p];
    peer->area = map_whole(file, &peer->bytes);
    close(file);
    if (peer->area == NULL)
        return 0;
    if (peer->area->key != theirs->key) {
        munmap(peer->area, peer->bytes);
        peer->area = NULL;
        return 0;
    }
    peer->index = theirs->index;
    return 1;
}

/* ---- messages ---- */

void comm_shared_pause(unsigned count)
{
    /* A core does some hundred in the time that another takes for a message. */
    enum { SPINS = 200 };
    if (count > SPINS) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Room for n bytes more at the end of the own area; the old one is left. */
static int grow(struct ctx *ctx, struct comm_shared *s, int which, size_t n)
{
    size_t room = rounded(n + n / 2), bytes = s->bytes + room;
    void *grown = MAP_FAILED;
    if (ftruncate(s->file, (off_t)bytes) == 0)
        grown = mremap(s->area, s->bytes, bytes, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED)
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for %zu bytes that ranks of this host share", n);
    s->area = grown;
    s->room[which].at = s->bytes;
    s->room[which].bytes = room;
    s->bytes = bytes;
    return 0;
}

int comm_shared_room(struct ctx *ctx, struct comm_shared *s, size_t n,
                     void **room)
{
    int which = (int)(s->rounds++ % 2);
    for (int p = 0; p < s->n; p++) {
        struct peer *peer = &s->peers[p];
        if (peer->area == NULL)
            continue;
        const _Atomic uint64_t *taken = &peer->area->post[peer->index].taken;
        for (unsigned k = 0; atomic_load_explicit(taken, memory_order_acquire) <
                             peer->in_room[which];
             k++)
            comm_shared_pause(k);
    }
    if (n > s->room[which].bytes)
        TRY(grow(ctx, s, which, n));
    *room = (char *)s->area + s->room[which].at;
    return 0;
}

void comm_shared_post(struct comm_shared *s, int p, const void *at)
{
    struct post *post = &s->area->post[p];
    struct peer *peer = &s->peers[p];
    post->at[peer->posted % 2] =
        (uint64_t)((const char *)at - (const char *)s->area);
    peer->in_room[(s->rounds + 1) % 2] = ++peer->posted;
    atomic_store_explicit(&post->posted, peer->posted, memory_order_release);
}

/* See as much of a peer's area as n bytes at `at` need; it has grown before
 * they were written. */
static int see(struct ctx *ctx, struct peer *peer, uint64_t at, size_t n)
{
    size_t bytes = rounded((size_t)at + n);
    if (bytes <= peer->bytes)
        return 0;
    void *grown = mremap(peer->area, peer->bytes, bytes, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED)
        return FAIL(ctx, STATUS_MEMORY,
                    "no room to see %zu bytes of another rank of this host",
                    bytes);
    peer->area = grown;
    peer->bytes = bytes;
    return 0;
}

int comm_shared_find(struct ctx *ctx, struct comm_shared *s, int p, size_t n,
                     const void **at, int *there)
{
    struct peer *peer = &s->peers[p];
    struct post *post = &peer->area->post[peer->index];
    *there =
        atomic_load_explicit(&post->posted, memory_order_acquire) > peer->taken;
    if (!*there)
        return 0;
    uint64_t offset = post->at[peer->taken % 2];
    TRY(see(ctx, peer, offset, n));
    *at = (const char *)peer->area + offset;
    return 0;
}

void comm_shared_taken(struct comm_shared *s, int p)
{
    atomic_store_explicit(&s->area->post[p].taken, ++s->peers[p].taken,
                          memory_order_release);
}
