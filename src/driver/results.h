/* results.h: what a run writes, and when: rows of observables, frames, final
 * tables.
 *
 * The loop asks what is due at the coming step (the solver wants to know, too),
 * makes the step and has it written.
 */
#ifndef WARPDECK_DRIVER_RESULTS_H
#define WARPDECK_DRIVER_RESULTS_H

#include <stdint.h>

#include "driver/clock.h"
#include "driver/parts.h"
#include "driver/staging.h"
#include "driver/table.h"
#include "io/provenance.h"

struct command_line;
struct ctx;
struct exchange;
struct h5md;
struct h5md_keep;
struct job;
struct observable;
struct output;

struct results {
    struct job *job;             /* borrowed */
    const struct output *output; /* borrowed: where the files stand */
    struct provenance from;      /* and what it points to: */
    char *command, *resolved;
    char host[256];
    struct h5md *file;
    struct staging staging; /* through which the loop writes */
    struct clock rows, frames;
    struct parts parts; /* of a solver on a grid: its frames, too */
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
    struct exchange *exchange; /* of a run among others, borrowed; or NULL */
    int replica;               /* which of them it is */
};

/* What a step is to write. */
struct results_due {
    int look; /* any of them: the solver is to prepare for it */
    int row, frame, parts;
};

/* What a run will write. Where the number of steps is not known, things that
 * come every so many steps are counted as if there were one. */
struct results_plan {
    int64_t rows, frames;
    int64_t others;     /* slices and boxes */
    double frame_bytes; /* of one */
    double bytes;       /* of everything, about */
};
void results_plan(const struct job *job, struct results_plan *out);

/* Make the files of a solver that has its initial state, begin the terminal's
 * table, and write the row and the frame of that state. results_close() and
 * results_free() whatever is returned. Collective. */
int results_open(struct ctx *ctx, struct job *job, const struct output *output,
                 const struct command_line *line, struct results *out);

/* The same for a solver that has taken its state from a checkpoint: files that
 * are there are cut back and gone on with, and new ones are made where there
 * are none. `kept`: up to where; what was written only because the run had
 * ended is cut off. What stands there of the present step stays, and nothing
 * is written of it where there is a file. Collective. */
int results_resume(struct ctx *ctx, struct job *job,
                   const struct output *output, const struct command_line *line,
                   const struct h5md_keep *kept, struct results *out);

/* Whether what was handed over could not be written, on this rank. Where any
 * rank says so, all call results_settle(), which fails on all. */
int results_failed(const struct results *r);
/* Wait until all that was handed over is written. Collective. */
int results_settle(struct ctx *ctx, struct results *r);

/* Bring all that was written to the operating system: a killed run leaves it.
 * Collective. */
int results_flush(struct ctx *ctx, struct results *r);

/* What the coming step is to write. `last`: it is the run's last. A frame has
 * its row: readers pair them (MDAnalysis does). */
struct results_due results_due(struct results *r, int last);

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
/* Collective. */
void results_free(struct ctx *ctx, struct results *r);

/* provenance.c: the story of this run, in r->from. Errors: STATUS_MEMORY.
 * Collective. */
int provenance_tell(struct ctx *ctx, struct results *r,
                    const struct command_line *line);

#endif
