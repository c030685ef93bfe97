/* table.h: the rows a run prints while it goes, and the line that shows how far
 * it is. */
#ifndef WARPDECK_DRIVER_TABLE_H
#define WARPDECK_DRIVER_TABLE_H

#include <stdint.h>

struct log;
struct observable;

struct table {
    struct log *log;
    const struct observable *observables;
    int n_observables;
    double items;        /* of quantities shown per particle */
    int64_t steps_total; /* -1: not known */
    int step_width;
    int time_decimals;
    const char *counts; /* "paths": the time is a count of these; NULL: not */
    const char *time_unit;
    double row_time;  /* of the last row */
    double row_clock; /* when the last row was printed, and its step */
    int64_t row_step;
    double progress_clock;
    double rate; /* steps a second since the last row */
    /* Seconds and steps of late, those of LATE ago counted by 1/e: what the
     * time left is told from, so that a slow row does not shake it. */
    double late_seconds, late_steps;
};

/* unit: of the solver's time; "paths" is a count. */
void table_begin(struct table *t, struct log *log, double timestep,
                 const char *unit);
void table_row(struct table *t, int64_t step, double time,
               const double *values);
/* To be called every step; shows something a few times a second. `note`: what
 * else there is to say, or "". */
void table_progress(struct table *t, int64_t step, const char *note);

#endif
