/* device_cuda.h: what the CUDA loops need of their device.
 *
 * One stream, so that everything is in order; memory, copies and their count;
 * errors that name the call and the size. Included by .cu files only.
 */
#ifndef WARPDECK_KERNELS_DEVICE_CUDA_H
#define WARPDECK_KERNELS_DEVICE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/gpu.h"

extern "C" {
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/device.h"
}

struct cuda_device {
    int ordinal;
    cudaStream_t stream;
    void *staging; /* pinned host memory for copies in both directions */
    size_t staging_bytes;
    uint64_t bytes_to_device, bytes_to_host;
    void *md_team;          /* kernels/md/team_cuda.cu, or NULL */
    int nvml_tried;         /* to open NVIDIA's management library */
    void *nvml, *nvml_card; /* it, and the card in it, or NULL */
};

/* The CUDA side of the run's device. */
struct cuda_device *cuda_of(const struct ctx *ctx);

/* card_cuda.cu: see struct device. */
struct machine_limits;
int card_limits(struct ctx *ctx, struct machine_limits *out);
double card_energy(struct ctx *ctx);

/* 0, or a failure "CALL failed: TEXT of the CUDA runtime". */
int cuda_status(struct ctx *ctx, cudaError_t error, const char *call);

/* Device memory, n bytes at least, content kept up to the old size; *capacity
 * in bytes. Errors: STATUS_MEMORY with what is needed and what is free. */
int cuda_grow(struct ctx *ctx, void **p, size_t *capacity, size_t n,
              const char *what);
void cuda_free(void *p);
/* Free what queued work may still use, once that is done. */
int cuda_release(struct ctx *ctx, void *p);

/* Copies through pinned memory, in stream order. to_host() returns when the
 * bytes are there. */
int cuda_to_device(struct ctx *ctx, struct cuda_device *d, void *to,
                   const void *from, size_t n);
int cuda_to_host(struct ctx *ctx, struct cuda_device *d, void *to,
                 const void *from, size_t n);

/* Blocks of `threads` for n items; never zero. */
static inline unsigned cuda_blocks(size_t n, unsigned threads)
{
    size_t blocks = (n + threads - 1) / threads;
    return (unsigned)(blocks > 0 ? blocks : 1);
}

#define CUDA_TRY(ctx, call)                                \
    do {                                                   \
        int cuda_try_ = cuda_status((ctx), (call), #call); \
        if (cuda_try_ != 0)                                \
            return cuda_try_;                              \
    } while (0)

/* After a launch: a bad configuration is known at once. */
#define CUDA_TRY_LAUNCH(ctx, name)                                    \
    do {                                                              \
        int cuda_try_ = cuda_status((ctx), cudaGetLastError(), name); \
        if (cuda_try_ != 0)                                           \
            return cuda_try_;                                         \
    } while (0)

#endif
