/* monitor.h: the health of a run, [monitor]: a line for the log and a row of
 * /monitor every so many steps. Nothing of it happens without the section.
 */
#ifndef WARPDECK_DRIVER_MONITOR_H
#define WARPDECK_DRIVER_MONITOR_H

#include "base/meters.h"
#include "driver/clock.h"

struct ctx;
struct job;
struct staging;

enum { MONITOR_VALUES = 12 };

struct monitor {
    int wanted;
    struct clock clock;
    struct rapl rapl;
    struct nvml *nvml;
    int has_energy, has_cards; /* on any host */
    int columns[MONITOR_VALUES], n_columns;
    int series;   /* number in the result file; -1: not made yet */
    int64_t last; /* step that stands there */
    /* when the present interval began */
    int64_t step;
    double wall, halo, busy;
};

/* Read the section and look what can be measured. Collective. */
int monitor_open(struct ctx *ctx, const struct job *job, struct monitor *out);
/* Whether the coming step is to be told of. */
int monitor_due(struct monitor *m, const struct job *job);
/* After such a step. Collective. */
int monitor_write(struct ctx *ctx, struct monitor *m, const struct job *job,
                  struct staging *staging);
void monitor_free(struct monitor *m);

#endif
