/* results.h: what a run writes, and when: rows of observables, frames, final
 * tables.
 *
 * The loop asks what is due at the coming step (the solver wants to know, too),
 * makes the step and has it written.
 */
#ifndef WARPDECK_DRIVER_RESULTS_H
#define WARPDECK_DRIVER_RESULTS_H

#include <stdint.h>

#include "base/param.h"
#include "driver/table.h"

struct command_line;
struct ctx;
struct h5md;
struct job;
struct observable;
struct output;

struct results {
    struct job *job;             /* borrowed */
    const struct output *output; /* borrowed: where the files stand */
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
    int phase; /* of ctx->timers */
    int64_t frames_written;
    double bytes_written;
};

/* What a step is to write. */
struct results_due {
    int row, frame;
};

/* Whether something is due at the step that goes from `time` to time + timestep
 * and ends at step number `step`. */
int interval_due(const struct interval *every, int64_t step, double time,
                 double timestep);

/* How many bytes the results will have, about. */
double results_bytes(const struct job *job, int64_t *n_frames, int64_t *n_rows);

/* Make the files of a solver that has its initial state, begin the terminal's
 * table, and write the row and the frame of that state. results_close() and
 * results_free() whatever is returned. Collective. */
int results_open(struct ctx *ctx, struct job *job, const struct output *output,
                 const struct command_line *line, struct results *out);

/* What the coming step is to write. `last`: it is the run's last. A frame has
 * its row: readers pair them (MDAnalysis does). */
struct results_due results_due(const struct results *r, int last);

/* Write what was due of the step just made. Collective. */
int results_write(struct ctx *ctx, struct results *r, struct results_due due);

/* Write row and frame of the present step, unless they stand there. */
int results_write_last(struct ctx *ctx, struct results *r);

/* Write the final tables and close; `finished` = 0: the run was stopped. Where
 * the file is gone by then, row_step becomes -1 and the call fails.
 * Collective. */
int results_finish(struct ctx *ctx, struct results *r, int finished);

/* Close after a failure that all ranks know of: what stands in the file stays
 * readable, `complete` = 0. Nothing happens where it is closed already.
 * Collective. */
void results_close(struct ctx *ctx, struct results *r);
void results_free(struct results *r);

/* provenance.c: create NAME.h5 with the story of this run. Collective. */
int provenance_create(struct ctx *ctx, struct results *r,
                      const struct command_line *line);

#endif
