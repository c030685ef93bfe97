#include "base/meters.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- processors ---- */

static int read_number(const char *folder, const char *name, double *out)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return 0;
    int read = fscanf(f, "%lf", out) == 1;
    fclose(f);
    return read;
}

int rapl_open(const char *root, struct rapl *out)
{
    *out = (struct rapl){0};
    for (int i = 0; i < RAPL_PACKAGES_MAX; i++) {
        int n = out->n;
        snprintf(out->path[n], sizeof(out->path[n]), "%.280s/intel-rapl:%d",
                 root, i);
        if (!read_number(out->path[n], "energy_uj", &out->last[n]))
            continue;
        if (!read_number(out->path[n], "max_energy_range_uj", &out->range[n]))
            out->range[n] = 0;
        out->n++;
    }
    return out->n;
}

double rapl_joules(struct rapl *r)
{
    double sum = 0, now;
    for (int i = 0; i < r->n; i++) {
        if (!read_number(r->path[i], "energy_uj", &now))
            continue;
        double used = now - r->last[i];
        if (used < 0)
            used = r->range[i] > 0 ? used + r->range[i] : 0;
        r->last[i] = now;
        sum += used;
    }
    return 1e-6 * sum;
}

/* ---- cards ---- */

/* As in NVIDIA's API reference of NVML; returns are 0 for success. */
struct nvml_rates {
    unsigned gpu, memory;
};
struct nvml_memory {
    unsigned long long total, free, used;
};
enum { SENSOR_GPU = 0, UNCORRECTED = 1, VOLATILE = 0 };

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *n);
    int (*at)(unsigned i, void **card);
    int (*rates)(void *card, struct nvml_rates *out);
    int (*memory)(void *card, struct nvml_memory *out);
    int (*temperature)(void *card, int sensor, unsigned *out);
    int (*power)(void *card, unsigned *milliwatts);
    int (*ecc)(void *card, int kind, int since, unsigned long long *out);
};

/* C has no cast from a pointer to data to one to a function. */
static int find(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, size);
    return address != NULL;
}

#define FIND(n, member, name) \
    find((n)->library, name, &(n)->member, sizeof((n)->member))

static int find_all(struct nvml *n)
{
    return FIND(n, init, "nvmlInit_v2") && FIND(n, shutdown, "nvmlShutdown") &&
           FIND(n, count, "nvmlDeviceGetCount_v2") &&
           FIND(n, at, "nvmlDeviceGetHandleByIndex_v2") &&
           FIND(n, rates, "nvmlDeviceGetUtilizationRates") &&
           FIND(n, memory, "nvmlDeviceGetMemoryInfo") &&
           FIND(n, temperature, "nvmlDeviceGetTemperature") &&
           FIND(n, power, "nvmlDeviceGetPowerUsage") &&
           FIND(n, ecc, "nvmlDeviceGetTotalEccErrors");
}

struct nvml *nvml_open(char *reason, size_t size)
{
    struct nvml *n = calloc(1, sizeof(*n));
    unsigned count = 0;
    if (n == NULL) {
        snprintf(reason, size, "out of memory");
        return NULL;
    }
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL)
        snprintf(reason, size, "there is no libnvidia-ml.so.1");
    else if (!find_all(n))
        snprintf(reason, size, "libnvidia-ml.so.1 lacks a function");
    else if (n->init() != 0)
        snprintf(reason, size, "libnvidia-ml.so.1 finds no driver");
    else if (n->count(&count) == 0 && count > 0)
        return n;
    else
        snprintf(reason, size, "libnvidia-ml.so.1 finds no card");
    if (n->library != NULL)
        dlclose(n->library);
    free(n);
    return NULL;
}

void nvml_read(const struct nvml *n, struct cards *out)
{
    unsigned count = 0;
    *out = (struct cards){0};
    if (n->count(&count) != 0)
        return;
    for (unsigned i = 0; i < count; i++) {
        struct nvml_rates rates = {0};
        struct nvml_memory memory = {0};
        unsigned degrees = 0, milliwatts = 0;
        unsigned long long errors = 0;
        void *card;
        if (n->at(i, &card) != 0)
            continue;
        out->n++;
        if (n->rates(card, &rates) == 0)
            out->utilisation += rates.gpu;
        if (n->memory(card, &memory) == 0)
            out->memory += (double)memory.used;
        if (n->temperature(card, SENSOR_GPU, &degrees) == 0 &&
            degrees > out->temperature)
            out->temperature = degrees;
        if (n->power(card, &milliwatts) == 0)
            out->power += 1e-3 * milliwatts;
        if (n->ecc(card, UNCORRECTED, VOLATILE, &errors) == 0)
            out->ecc += (double)errors;
    }
    if (out->n > 0)
        out->utilisation /= out->n;
}

void nvml_close(struct nvml *n)
{
    if (n == NULL)
        return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}
