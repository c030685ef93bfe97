/* device.c: which backends there are, and opening one. */
#include "kernels/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/error.h"
#include "kernels/md/md_kernels.h"

const char *device_simd_name(void)
{
#if defined(__AVX512F__)
    return "AVX-512";
#elif defined(__AVX2__)
    return "AVX2";
#elif defined(__AVX__)
    return "AVX";
#elif defined(__SSE2__)
    return "SSE2";
#elif defined(__ARM_NEON)
    return "NEON";
#else
    return "16-byte vectors";
#endif
}

static const struct md_kernels *cpu_md(enum precision precision)
{
    switch (precision) {
    case PRECISION_DOUBLE:
        return &md_kernels_cpu_double;
    case PRECISION_MIXED:
        return &md_kernels_cpu_mixed;
    case PRECISION_SINGLE:
        return &md_kernels_cpu_single;
    }
    return NULL;
}

static int thread_count(void)
{
#ifdef _OPENMP
    /* One thread a rank unless asked: ranks usually fill the cores. */
    return getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : 1;
#else
    return 1;
#endif
}

/* Why the backend `name` cannot be used here; NULL for an unknown name. */
static const char *missing(const char *name)
{
    static const struct {
        const char *name, *why;
    } known[] = {
#define DEVICE(symbol, why) {#symbol, why},
#include "kernels/devices.def"
#undef DEVICE
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strcmp(name, known[k].name) == 0)
            return known[k].why;
    return NULL;
}

static size_t host_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

int device_open(struct ctx *ctx, const char *name, struct device **out)
{
    const char *why = strcmp(name, "auto") == 0 ? "" : missing(name);
    *out = NULL;
    if (!why)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "unknown device '%s'; known are auto, cpu, cuda", name);
    if (why[0])
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "device '%s' cannot be used: %s; use device = \"cpu\" or "
                    "\"auto\"",
                    name, why);
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a device");
    d->name = "cpu";
    d->threads = thread_count();
    d->memory_total = host_memory();
    d->md = cpu_md;
    snprintf(d->description, sizeof d->description, "cpu (%s)",
             device_simd_name());
    *out = d;
    return 0;
}

void device_close(struct device *d)
{
    free(d);
}

void device_list(void (*line)(void *user, const char *text), void *user)
{
    char text[256];
    snprintf(text, sizeof text, "cpu: %s, %.1f GiB on this host",
             device_simd_name(), (double)host_memory() / 1073741824.0);
    line(user, text);
    snprintf(text, sizeof text, "cuda: not available: %s", missing("cuda"));
    line(user, text);
}
