/* device.c: which backends there are, and opening one. */
#include "kernels/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/fluid/fluid_kernels.h"
#include "kernels/md/md_kernels.h"
#include "kernels/risk/risk_kernels.h"

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

static const struct fluid_kernels *cpu_fluid(enum precision precision)
{
    switch (precision) {
    case PRECISION_DOUBLE:
        return &fluid_kernels_cpu_double;
    case PRECISION_SINGLE:
        return &fluid_kernels_cpu_single;
    case PRECISION_MIXED:
        break;
    }
    return NULL;
}

static const struct risk_kernels *cpu_risk(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? &risk_kernels_cpu : NULL;
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

static size_t host_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

/* ---- the cpu ---- */

static int cpu_usable(char *why, size_t size)
{
    (void)why;
    (void)size;
    return 1;
}

static int cpu_open(struct ctx *ctx, struct device *d)
{
    d->name = "cpu";
    d->threads = thread_count();
    d->memory_total = host_memory();
    d->sharers = comm_node_size(ctx->comm);
    d->md = cpu_md;
    d->fluid = cpu_fluid;
    d->risk = cpu_risk;
    snprintf(d->description, sizeof d->description, "cpu (%s)",
             device_simd_name());
    return 0;
}

static void cpu_describe(char *text, size_t size)
{
    snprintf(text, size, "%s, %.1f GB on this host", device_simd_name(),
             (double)host_memory() / 1e9);
}

static const struct device_backend device_backend_cpu = {
    .name = "cpu",
    .usable = cpu_usable,
    .open = cpu_open,
    .describe = cpu_describe,
};

/* ---- choosing ---- */

extern const struct device_backend device_backend_cuda;

static const struct device_backend *const backends[] = {
#define DEVICE(name) &device_backend_##name,
#include "kernels/devices.def"
#undef DEVICE
};
enum { N_BACKENDS = sizeof backends / sizeof backends[0] };

/* What "auto" takes, with the reason: a card where there is one and the problem
 * is large enough to gain from it. */
static const struct device_backend *choose(double items, char *reason,
                                           size_t size)
{
    const struct device_backend *cuda = &device_backend_cuda;
    char why[128] = "";
    if (cuda->absent) {
        snprintf(reason, size, "%s", cuda->absent);
    } else if (cuda->usable(why, sizeof why) == 0) {
        snprintf(reason, size, "%s", why);
    } else if (items < DEVICE_AUTO_LEAST) {
        snprintf(reason, size,
                 "%.0f particles on a rank are too few to gain from the card",
                 items);
    } else {
        snprintf(reason, size, "there is a card and %.0f particles a rank",
                 items);
        return cuda;
    }
    return backends[0];
}

static const struct device_backend *find(const char *name)
{
    for (int k = 0; k < N_BACKENDS; k++)
        if (strcmp(name, backends[k]->name) == 0)
            return backends[k];
    return NULL;
}

static const struct device_backend *
find_or_choose(const char *name, double items, char *reason, size_t size)
{
    reason[0] = '\0';
    return strcmp(name, "auto") == 0 ? choose(items, reason, size) : find(name);
}

const char *device_choose(const char *name, double items, char *reason,
                          size_t size)
{
    const struct device_backend *b = find_or_choose(name, items, reason, size);
    return b ? b->name : NULL;
}

int device_takes_cards(void)
{
    return device_backend_cuda.absent == NULL;
}

int device_open(struct ctx *ctx, const char *name, double items,
                struct device **out)
{
    char choice[192];
    const struct device_backend *b =
        find_or_choose(name, items, choice, sizeof choice);
    *out = NULL;
    if (!b)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "unknown device '%s'; known are auto, cpu, cuda", name);
    if (b->absent)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "device '%s' cannot be used: %s; use device = \"cpu\" or "
                    "\"auto\"",
                    name, b->absent);
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a device");
    memcpy(d->choice, choice, sizeof choice);
    int status = b->open(ctx, d);
    if (status != 0) {
        device_close(d);
        return status;
    }
    *out = d;
    return 0;
}

void device_close(struct device *d)
{
    if (d && d->close)
        d->close(d);
    free(d);
}

void device_list(void (*line)(void *user, const char *text), void *user)
{
    for (int k = 0; k < N_BACKENDS; k++) {
        char text[320], what[256];
        if (backends[k]->absent)
            snprintf(what, sizeof what, "not available: %s",
                     backends[k]->absent);
        else
            backends[k]->describe(what, sizeof what);
        snprintf(text, sizeof text, "%s: %s", backends[k]->name, what);
        line(user, text);
    }
}
