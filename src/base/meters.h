/* meters.h: what the machine tells of itself while a run goes: energy of
 * processors (Linux's powercap, RAPL) and health of cards (NVIDIA's management
 * library, opened at run time). What is not there is not measured.
 */
#ifndef WARPDECK_BASE_METERS_H
#define WARPDECK_BASE_METERS_H

#include <stddef.h>

enum { RAPL_PACKAGES_MAX = 16 };

/* The packages' meters below a folder like /sys/class/powercap. */
struct rapl {
    int n;
    char path[RAPL_PACKAGES_MAX][320];
    double last[RAPL_PACKAGES_MAX], range[RAPL_PACKAGES_MAX];
};

/* Find the meters intel-rapl:0, intel-rapl:1, ... and read them; returns how
 * many can be read. */
int rapl_open(const char *root, struct rapl *out);
/* Joules since the last call, or since rapl_open(), of all packages. A meter
 * that has wrapped around once is understood. */
double rapl_joules(struct rapl *r);

/* All cards of this host together. */
struct cards {
    int n;
    double utilisation; /* %, mean */
    double memory;      /* bytes in use, all */
    double temperature; /* degrees Celsius, the hottest */
    double power;       /* W, all */
    double ecc;         /* uncorrected errors since the driver started, all */
};

struct nvml;
/* NULL where there is no library or no card, and why in `reason`. */
struct nvml *nvml_open(char *reason, size_t size);
/* What a card does not tell counts as 0. */
void nvml_read(const struct nvml *nvml, struct cards *out);
void nvml_close(struct nvml *nvml); /* NULL is fine */

#endif
