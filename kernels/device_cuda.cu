/* device_cuda.cu: cards, their memory and copies. */
#include "kernels/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/comm.h"
#include "base/format.h"
const struct md_kernels *md_kernels_cuda_double(void);
const struct md_kernels *md_kernels_cuda_mixed(void);
const struct md_kernels *md_kernels_cuda_single(void);
const struct fluid_kernels *fluid_kernels_cuda_double(void);
const struct fluid_kernels *fluid_kernels_cuda_single(void);
const struct risk_kernels *risk_kernels_cuda(void);
}

static const size_t STAGING_BYTES = 8 << 20;

struct cuda_device *cuda_of(const struct ctx *ctx)
{
    return (struct cuda_device *)ctx->device->backend;
}

int cuda_status(struct ctx *ctx, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return 0;
    int status =
        error == cudaErrorMemoryAllocation ? STATUS_MEMORY : STATUS_FAILED;
    return FAIL(ctx, status, "the card failed: %s: %s (%s)", call,
                cudaGetErrorString(error), cudaGetErrorName(error));
}

int cuda_grow(struct ctx *ctx, void **p, size_t *capacity, size_t n,
              const char *what)
{
    if (n <= *capacity)
        return 0;
    size_t grown = *capacity > 0 ? n + n / 8 : n, free_now = 0, total = 0;
    void *fresh = NULL;
    cudaError_t error = cudaMalloc(&fresh, grown);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* this error is told and done with */
        CUDA_TRY(ctx, cudaMemGetInfo(&free_now, &total));
        char need[FORMAT_MAX], have[FORMAT_MAX], all[FORMAT_MAX];
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory on the card for %s: %s needed, %s of %s free; "
                    "use more ranks and cards, or a lower precision",
                    what, format_bytes((double)grown, need),
                    format_bytes((double)free_now, have),
                    format_bytes((double)total, all));
    }
    TRY(cuda_status(ctx, error, "cudaMalloc"));
    if (*capacity > 0) {
        cudaStream_t stream = cuda_of(ctx)->stream;
        CUDA_TRY(ctx, cudaMemcpyAsync(fresh, *p, *capacity,
                                      cudaMemcpyDeviceToDevice, stream));
        TRY(cuda_release(ctx, *p));
    }
    *p = fresh;
    *capacity = grown;
    return 0;
}

int cuda_release(struct ctx *ctx, void *p)
{
    CUDA_TRY(ctx, cudaStreamSynchronize(cuda_of(ctx)->stream));
    cuda_free(p);
    return 0;
}

void cuda_free(void *p)
{
    if (p)
        cudaFree(p);
}

/* ---- copies ---- */

int cuda_to_device(struct ctx *ctx, struct cuda_device *d, void *to,
                   const void *from, size_t n)
{
    for (size_t done = 0; done < n; done += STAGING_BYTES) {
        size_t k = n - done < STAGING_BYTES ? n - done : STAGING_BYTES;
        memcpy(d->staging, (const char *)from + done, k);
        CUDA_TRY(ctx, cudaMemcpyAsync((char *)to + done, d->staging, k,
                                      cudaMemcpyHostToDevice, d->stream));
        /* The staging memory is used again by the next piece, or copy. */
        CUDA_TRY(ctx, cudaStreamSynchronize(d->stream));
    }
    d->bytes_to_device += n;
    return 0;
}

int cuda_to_host(struct ctx *ctx, struct cuda_device *d, void *to,
                 const void *from, size_t n)
{
    for (size_t done = 0; done < n; done += STAGING_BYTES) {
        size_t k = n - done < STAGING_BYTES ? n - done : STAGING_BYTES;
        CUDA_TRY(ctx, cudaMemcpyAsync(d->staging, (const char *)from + done, k,
                                      cudaMemcpyDeviceToHost, d->stream));
        CUDA_TRY(ctx, cudaStreamSynchronize(d->stream));
        memcpy((char *)to + done, d->staging, k);
    }
    d->bytes_to_host += n;
    return 0;
}

/* ---- messages ---- */

static int message_alloc(struct ctx *ctx, size_t bytes, void **out)
{
    size_t capacity = 0;
    *out = NULL;
    if (ctx->device->direct)
        return cuda_grow(ctx, out, &capacity, bytes, "messages");
    cudaError_t error = cudaMallocHost(out, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        char size[FORMAT_MAX];
        return FAIL(ctx, STATUS_MEMORY,
                    "no pinned memory of the host for %s of messages",
                    format_bytes((double)bytes, size));
    }
    return cuda_status(ctx, error, "cudaMallocHost");
}

static void message_free(void *p, int direct)
{
    if (direct)
        cuda_free(p);
    else if (p)
        cudaFreeHost(p);
}

enum { TRIAL_BYTES = 4096 };

/* What rank sends in the trial: different from all others' nearby. */
static void fill_trial(unsigned char *bytes, int rank)
{
    for (int k = 0; k < TRIAL_BYTES; k++)
        bytes[k] = (unsigned char)(k * 7 + k / 256 + rank * 31 + 1);
}

/* Send the first half of `card` to `to` and receive from `from` in the second,
 * through the calls that halos use. */
static int exchange_trial(struct ctx *ctx, int to, int from, char *card)
{
    int peers[2] = {to, from}, n = to == from ? 1 : 2, in = n - 1;
    const void *send[2] = {card, card};
    void *recv[2] = {card + TRIAL_BYTES, card + TRIAL_BYTES};
    size_t send_bytes[2] = {TRIAL_BYTES, 0}, recv_bytes[2] = {0, 0};
    struct comm_exchange *x = NULL;
    recv_bytes[in] = TRIAL_BYTES;
    TRY(comm_exchange_create(ctx, n, peers, &x));
    comm_exchange_use_card(x);
    int status = comm_exchange_post(ctx, x, send, send_bytes, recv, recv_bytes);
    if (status == 0)
        status = comm_exchange_wait(ctx, x);
    comm_exchange_destroy(x);
    return status;
}

static int run_trial(struct ctx *ctx, char *card, int *works)
{
    struct cuda_device *d = cuda_of(ctx);
    int rank = comm_rank(ctx->comm), size = comm_size(ctx->comm);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    unsigned char sent[TRIAL_BYTES], came[TRIAL_BYTES];
    fill_trial(sent, rank);
    TRY(cuda_to_device(ctx, d, card, sent, sizeof sent));
    TRY(exchange_trial(ctx, to, from, card));
    TRY(cuda_to_host(ctx, d, came, card + TRIAL_BYTES, sizeof came));
    fill_trial(sent, from);
    *works = memcmp(sent, came, sizeof came) == 0;
    return 0;
}

static int try_direct(struct ctx *ctx, int *works)
{
    void *card = NULL;
    size_t capacity = 0;
    *works = 0;
    TRY(comm_agree(
        ctx, cuda_grow(ctx, &card, &capacity, 2 * TRIAL_BYTES, "a message")));
    int status = comm_agree(ctx, run_trial(ctx, (char *)card, works));
    cuda_free(card);
    TRY(status);
    double least = *works;
    TRY(comm_min_double(ctx, &least, 1));
    *works = least > 0;
    return 0;
}

/* ---- the device ---- */

static const struct md_kernels *cuda_md(enum precision precision)
{
    return precision == PRECISION_DOUBLE  ? md_kernels_cuda_double()
           : precision == PRECISION_MIXED ? md_kernels_cuda_mixed()
                                          : md_kernels_cuda_single();
}

static const struct fluid_kernels *cuda_fluid(enum precision precision)
{
    return precision == PRECISION_DOUBLE   ? fluid_kernels_cuda_double()
           : precision == PRECISION_SINGLE ? fluid_kernels_cuda_single()
                                           : NULL;
}

static const struct risk_kernels *cuda_risk(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? risk_kernels_cuda() : NULL;
}

static int usable(char *why, size_t size)
{
    int n = 0;
    cudaError_t error = cudaGetDeviceCount(&n);
    if (error != cudaSuccess) {
        cudaGetLastError();
        snprintf(why, size, "no usable card here (%s)",
                 cudaGetErrorString(error));
        return 0;
    }
    if (n == 0)
        snprintf(why, size, "no card here");
    return n;
}

static void close_cuda(struct device *device)
{
    struct cuda_device *d = (struct cuda_device *)device->backend;
    if (!d)
        return;
    if (d->stream)
        cudaStreamDestroy(d->stream);
    if (d->staging)
        cudaFreeHost(d->staging);
    free(d);
    device->backend = NULL;
}

static void traffic(const struct device *device, uint64_t *to_device,
                    uint64_t *to_host)
{
    const struct cuda_device *d = (const struct cuda_device *)device->backend;
    *to_device = d->bytes_to_device;
    *to_host = d->bytes_to_host;
}

/* Ranks of a host take its cards in turn. */
static int choose_card(struct ctx *ctx, struct device *device,
                       struct cuda_device *d)
{
    char why[128];
    int n = usable(why, sizeof why);
    if (n == 0)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "device 'cuda' cannot be used: %s; use device = \"cpu\" or "
                    "\"auto\"",
                    why);
    d->ordinal = comm_node_rank(ctx->comm) % n;
    device->sharers = (comm_node_size(ctx->comm) - d->ordinal + n - 1) / n;
    CUDA_TRY(ctx, cudaSetDevice(d->ordinal));
    return 0;
}

static int open_card(struct ctx *ctx, struct device *device,
                     struct cuda_device *d)
{
    struct cudaDeviceProp prop;
    TRY(choose_card(ctx, device, d));
    CUDA_TRY(ctx, cudaGetDeviceProperties(&prop, d->ordinal));
    CUDA_TRY(ctx, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
    CUDA_TRY(ctx, cudaMallocHost(&d->staging, STAGING_BYTES));
    size_t total = 0;
    device->memory_total = prop.totalGlobalMem;
    CUDA_TRY(ctx, cudaMemGetInfo(&device->memory_free, &total));
    snprintf(device->description, sizeof device->description,
             "cuda (%.60s, %.1f GB, card %d)", prop.name,
             (double)prop.totalGlobalMem / 1e9, d->ordinal);
    return 0;
}

static int open_cuda(struct ctx *ctx, struct device *device)
{
    struct cuda_device *d = (struct cuda_device *)calloc(1, sizeof *d);
    if (!d)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a device");
    device->name = "cuda";
    device->threads = 1;
    device->backend = d;
    device->md = cuda_md;
    device->fluid = cuda_fluid;
    device->risk = cuda_risk;
    device->close = close_cuda;
    device->message_alloc = message_alloc;
    device->message_free = message_free;
    device->try_direct = try_direct;
    device->traffic = traffic;
    device->limits = card_limits;
    device->energy = card_energy;
    return open_card(ctx, device, d);
}

static void describe(char *text, size_t size)
{
    char why[128] = "";
    int n = usable(why, sizeof why), runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    if (n == 0) {
        snprintf(text, size, "built in (CUDA %d.%d), %s", runtime / 1000,
                 runtime % 1000 / 10, why);
        return;
    }
    struct cudaDeviceProp prop;
    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess)
        prop.name[0] = '\0';
    snprintf(text, size, "built in (CUDA %d.%d), %d card%s: %.60s",
             runtime / 1000, runtime % 1000 / 10, n, n == 1 ? "" : "s",
             prop.name);
}

extern "C" const struct device_backend device_backend_cuda = {
    "cuda", NULL, usable, open_cuda, describe};
