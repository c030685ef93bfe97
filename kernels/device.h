/* device.h: a backend that runs the loops.
 *
 * A device is chosen once a run ([run] device) and owns one table of kernels
 * per solver. What was not compiled in is still known by name, so that asking
 * for it gives a helpful answer.
 */
#ifndef WARPDECK_KERNELS_DEVICE_H
#define WARPDECK_KERNELS_DEVICE_H

#include <stddef.h>

struct ctx;
struct md_kernels;

enum precision { PRECISION_DOUBLE, PRECISION_MIXED, PRECISION_SINGLE };

struct device {
    const char *name;      /* "cpu" */
    char description[128]; /* "AMD EPYC, AVX-512, 2 threads" */
    int threads;           /* OpenMP threads of this rank */
    size_t memory_total;   /* bytes on this host or card */
    /* The kernels of molecular dynamics in a precision. */
    const struct md_kernels *(*md)(enum precision precision);
};

/* Open the device named "auto", "cpu" or "cuda". The caller owns *out.
 * Errors: STATUS_UNSUPPORTED, saying what to do. */
int device_open(struct ctx *ctx, const char *name, struct device **out);
void device_close(struct device *d);

/* For `warpdeck info`: one line for each backend known, compiled in or not.
 * Calls line(user, text). */
void device_list(void (*line)(void *user, const char *text), void *user);

/* "AVX-512", "AVX2", "SSE2", "NEON" or "scalar": what the loops were compiled
 * for. */
const char *device_simd_name(void);

#endif
