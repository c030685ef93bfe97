/* device.h: a backend that runs the loops.
 *
 * A device is chosen once a run ([run] device) and owns one table of kernels
 * per solver. What was not compiled in is still known by name, so that asking
 * for it gives a helpful answer.
 */
#ifndef WARPDECK_KERNELS_DEVICE_H
#define WARPDECK_KERNELS_DEVICE_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct fluid_kernels;
struct machine_limits;
struct md_kernels;
struct risk_kernels;

enum precision { PRECISION_DOUBLE, PRECISION_MIXED, PRECISION_SINGLE };

struct device {
    const char *name;      /* "cpu" or "cuda" */
    char description[128]; /* "cpu (AVX-512)" */
    char choice[192];      /* why "auto" took it, or "" */
    int threads;           /* OpenMP threads of this rank */
    size_t memory_total;   /* bytes on this host or card */
    size_t memory_free;    /* of it when the device was opened; 0: not known */
    int sharers;           /* ranks that use it, this one included */
    void *backend;         /* what the backend keeps; its own */
    /* The kernels of molecular dynamics in a precision. */
    const struct md_kernels *(*md)(enum precision precision);
    /* The kernels of incompressible flow, or NULL where there are none in that
     * precision. */
    const struct fluid_kernels *(*fluid)(enum precision precision);
    /* The kernels of Monte Carlo valuation; NULL: there are none, of any
     * precision. */
    const struct risk_kernels *(*risk)(enum precision precision);
    /* Where messages between ranks stand: memory that packing loops write and
     * unpacking loops read. On a card: pinned memory of the host, or with
     * `direct` the card's own, which MPI then reads and writes. NULL on the
     * cpu: any memory. */
    int (*message_alloc)(struct ctx *ctx, size_t bytes, void **out);
    void (*message_free)(void *p, int direct);
    int direct;
    /* Send something from the memory of one card to that of another, and look
     * whether it came: *works, on all ranks. Collective. NULL on the cpu. */
    int (*try_direct)(struct ctx *ctx, int *works);
    /* Wait at the end of each call, so that phases can be timed one by one;
     * slower. Nothing on the cpu, where it is always so. */
    int by_phase;
    /* How many runs share it and make their steps side by side, so that a card
     * launches what they all do once for all; 0 or 1: one alone. */
    int team;
    /* Bytes copied between host and card since the start; NULL on the cpu. */
    void (*traffic)(const struct device *d, uint64_t *to_device,
                    uint64_t *to_host);
    /* What the card can do at most, measured (machine.h); NULL on the cpu. */
    int (*limits)(struct ctx *ctx, struct machine_limits *out);
    /* Joules that the card has used so far, 0 where nobody knows or another
     * rank of the same card tells; NULL on the cpu. */
    double (*energy)(struct ctx *ctx);
    void (*close)(struct device *d); /* ends what open() began; or NULL */
};

/* What a backend provides; the list is devices.def. */
struct device_backend {
    const char *name;
    const char *absent; /* why it was not compiled in, or NULL */
    /* How many of it this host has; 0 with one line in `why`. */
    int (*usable)(char *why, size_t size);
    /* Fill in *d. On failure close() is called. */
    int (*open)(struct ctx *ctx, struct device *d);
    void (*describe)(char *text, size_t size);
};

/* Below this many particles on a rank a card's launches take longer than a
 * core's work; "auto" then stays on the cpu. */
enum { DEVICE_AUTO_LEAST = 4000 };

/* What `name` means for a problem of `items` on this rank: the backend's name,
 * or NULL for an unknown one. `reason`: why "auto" takes it, or "". Nothing is
 * opened. */
const char *device_choose(const char *name, double items, char *reason,
                          size_t size);

/* Whether this build can use cards. */
int device_takes_cards(void);

/* Open the device named "auto", "cpu" or "cuda" for a problem of `items`
 * particles (cells, paths) on this rank. The caller owns *out. Errors:
 * STATUS_UNSUPPORTED, saying what to do. */
int device_open(struct ctx *ctx, const char *name, double items,
                struct device **out);
void device_close(struct device *d);

/* How messages between ranks leave the memory of a card, once it is open.
 * wanted: "auto", "direct" (MPI gets pointers to the card's memory) or "staged"
 * (through pinned memory of the host). `direct` is tried before it is used. No
 * effect on the cpu and on one rank. Collective. Errors: STATUS_UNSUPPORTED
 * where "direct" is asked for and MPI cannot do it. */
int device_choose_transfer(struct ctx *ctx, struct device *d,
                           const char *wanted);

/* What that comes to where MPI says `takes` (comm_takes_card_memory()), before
 * anything is tried. */
enum device_transfer { TRANSFER_STAGED, TRANSFER_TRY, TRANSFER_REFUSED };
enum device_transfer device_plan_transfer(const char *wanted, int takes);

/* For `warpdeck info`: one line for each backend known, compiled in or not.
 * Calls line(user, text). */
void device_list(void (*line)(void *user, const char *text), void *user);

/* "AVX-512", "AVX2", "SSE2", "NEON" or "scalar": what the loops were compiled
 * for. */
const char *device_simd_name(void);

#endif
