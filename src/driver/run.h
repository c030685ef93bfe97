/* run.h: one run, from a deck to its results. */
#ifndef WARPDECK_DRIVER_RUN_H
#define WARPDECK_DRIVER_RUN_H

#include <stdint.h>

#include "base/param.h"
#include "driver/job.h"
#include "driver/output.h"
#include "driver/table.h"

struct ctx;
struct command_line;
struct h5md;
struct observable;

struct run {
    struct job job;
    struct output output;
    struct h5md *file;
    int file_failed; /* a write failed: touch the file no more */
    struct interval rows, frames;
    int n_fields;
    const char *const *fields;
    const struct observable *observables;
    int n_observables;
    double *values;
    struct table table;
    int64_t frame_step; /* of the last frame written; -1: none */
    int64_t row_step;
    int stopped; /* ended early, as asked */
    int64_t first_step;
    double start, seconds; /* clock at the first step; length of the loop */
    uint64_t bytes_sent;   /* by this rank before the loop */
    int phase_output;
    int64_t frames_written;
    double bytes_written;
};

/* Whether something is due at the step that goes from `time` to time + timestep
 * and ends at step number `step`. */
int interval_due(const struct interval *every, int64_t step, double time,
                 double timestep);

/* How many bytes the results will have, about. */
double run_output_bytes(const struct params *p, const struct job *job,
                        int64_t *n_frames, int64_t *n_rows);

/* closing.c: where the time went, what was written, how to go on.
 * Collective. */
int closing_print(struct ctx *ctx, struct run *run);

/* provenance.c: create NAME.h5 with the story of this run. Collective. */
int provenance_create(struct ctx *ctx, struct run *run,
                      const struct command_line *line);

#endif
