/* card_cuda.cu: what a card can do at most, measured, and the energy it used.
 *
 * The rates are those of machine.h: STREAM triad and fused multiply-adds, both
 * lengthened until they take long enough to be measured.
 */
#include "kernels/device_cuda.h"

#include <dlfcn.h>
#include <stdio.h>

extern "C" {
#include "base/comm.h"
#include "kernels/machine.h"
}

enum { THREADS = 256, CHAINS = 8, REPEATS = 5 };
static const float LONG_ENOUGH = 4; /* ms, of one measurement */

static __global__ void triad(double *a, const double *b, const double *c,
                             size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + 3.0 * c[i];
}

/* Chains that do not depend on one another hide the latency. */
template <class T>
static __global__ void fma_chains(T *out, T factor, int rounds)
{
    T x[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        x[k] = (T)(threadIdx.x + (unsigned)k);
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < CHAINS; k++)
            x[k] = x[k] * factor + factor;
    T sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += x[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* What is measured: memory and clock for one kind of work. */
struct trial {
    struct ctx *ctx;
    cudaStream_t stream;
    cudaEvent_t start, end;
    double *memory; /* of the card */
    size_t bytes;   /* of it */
    unsigned blocks;
};

/* One kind of work of a size; returns how much that is, 0 where there is no
 * room for it. */
typedef double (*work)(struct trial *t, size_t size);

static double triad_work(struct trial *t, size_t n)
{
    if (3 * n * sizeof(double) > t->bytes)
        return 0;
    LAUNCH(triad, cuda_blocks(n, THREADS), THREADS, 0, t->stream, t->memory,
           t->memory + n, t->memory + 2 * n, n);
    return 3.0 * (double)n * sizeof(double);
}

template <class T> static double fma_work(struct trial *t, size_t rounds)
{
    LAUNCH((fma_chains<T>), t->blocks, THREADS, 0, t->stream, (T *)t->memory,
           (T)1e-3, (int)rounds);
    return 2.0 * CHAINS * THREADS * t->blocks * (double)rounds;
}

/* Best of several, with the size doubled until one takes long enough or there
 * is no more room. */
static int best_rate(struct trial *t, work run, size_t size, double *rate)
{
    float enough = LONG_ENOUGH, ms = 0;
    *rate = 0;
    for (int left = REPEATS; left > 0;) {
        CUDA_TRY(t->ctx, cudaEventRecord(t->start, t->stream));
        double done = run(t, size);
        CUDA_TRY_LAUNCH(t->ctx, "measuring the card");
        CUDA_TRY(t->ctx, cudaEventRecord(t->end, t->stream));
        CUDA_TRY(t->ctx, cudaEventSynchronize(t->end));
        if (!(done > 0)) {
            if (enough == 0)
                return 0;
            enough = 0;
            size /= 2;
            continue;
        }
        CUDA_TRY(t->ctx, cudaEventElapsedTime(&ms, t->start, t->end));
        if (done / (1e-3 * ms) > *rate)
            *rate = done / (1e-3 * ms);
        if (ms < enough && size < (size_t)1 << 28)
            size *= 2;
        else
            left--;
    }
    return 0;
}

static int measure(struct trial *t, struct machine_limits *out)
{
    struct cudaDeviceProp prop;
    size_t free_now = 0, total = 0;
    CUDA_TRY(t->ctx, cudaGetDeviceProperties(&prop, cuda_of(t->ctx)->ordinal));
    CUDA_TRY(t->ctx, cudaMemGetInfo(&free_now, &total));
    t->blocks = 16 * (unsigned)prop.multiProcessorCount;
    /* Arrays that no cache holds. */
    t->bytes = 24 * (size_t)prop.l2CacheSize + ((size_t)4 << 20);
    if (t->bytes > free_now / 4)
        t->bytes = free_now / 4;
    size_t least = (size_t)t->blocks * THREADS * sizeof(double);
    if (t->bytes < least)
        return 0;
    CUDA_TRY(t->ctx, cudaMalloc(&t->memory, t->bytes));
    CUDA_TRY(t->ctx, cudaMemsetAsync(t->memory, 0, t->bytes, t->stream));
    CUDA_TRY(t->ctx, cudaEventCreate(&t->start));
    CUDA_TRY(t->ctx, cudaEventCreate(&t->end));
    TRY(best_rate(t, triad_work, 1 << 16, &out->triad));
    TRY(best_rate(t, fma_work<double>, 32, &out->fma_double));
    return best_rate(t, fma_work<float>, 32, &out->fma_single);
}

int card_limits(struct ctx *ctx, struct machine_limits *out)
{
    struct trial t = {ctx, cuda_of(ctx)->stream, NULL, NULL, NULL, 0, 0};
    *out = machine_limits();
    int status = measure(&t, out);
    if (t.start)
        cudaEventDestroy(t.start);
    if (t.end)
        cudaEventDestroy(t.end);
    cuda_free(t.memory);
    return status;
}

/* ---- energy: NVIDIA's management library, where the driver brought it ---- */

typedef int (*nvml_start)(void);
typedef int (*nvml_by_uuid)(const char *uuid, void **card);
typedef int (*nvml_energy)(void *card, unsigned long long *millijoules);

static void uuid_text(const struct cudaDeviceProp *prop, char text[64])
{
    int n = snprintf(text, 64, "GPU-");
    for (int k = 0; k < 16; k++) {
        const char *dash = k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "";
        n += snprintf(text + n, 64 - (size_t)n, "%s%02x", dash,
                      (unsigned char)prop->uuid.bytes[k]);
    }
}

double card_energy(struct ctx *ctx)
{
    struct cuda_device *d = cuda_of(ctx);
    struct cudaDeviceProp prop;
    int cards = 0;
    char uuid[64];
    unsigned long long used = 0;
    /* Each card once, though several ranks may share it. */
    if (cudaGetDeviceCount(&cards) != cudaSuccess ||
        comm_node_rank(ctx->comm) >= cards)
        return 0;
    if (!d->nvml_tried) {
        d->nvml_tried = 1;
        d->nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        nvml_start begin =
            d->nvml ? (nvml_start)dlsym(d->nvml, "nvmlInit_v2") : NULL;
        nvml_by_uuid find =
            begin ? (nvml_by_uuid)dlsym(d->nvml, "nvmlDeviceGetHandleByUUID")
                  : NULL;
        if (!find || begin() != 0 ||
            cudaGetDeviceProperties(&prop, d->ordinal) != cudaSuccess)
            return 0;
        uuid_text(&prop, uuid);
        if (find(uuid, &d->nvml_card) != 0)
            d->nvml_card = NULL;
    }
    if (!d->nvml_card)
        return 0;
    nvml_energy energy =
        (nvml_energy)dlsym(d->nvml, "nvmlDeviceGetTotalEnergyConsumption");
    if (!energy || energy(d->nvml_card, &used) != 0)
        return 0;
    return 1e-3 * (double)used;
}
