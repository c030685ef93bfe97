/* run.h: one run, from a deck to its results. */
#ifndef WARPDECK_DRIVER_RUN_H
#define WARPDECK_DRIVER_RUN_H

#include <stdint.h>

#include "driver/guard.h"
#include "driver/job.h"
#include "driver/monitor.h"
#include "driver/lock.h"
#include "driver/output.h"
#include "driver/results.h"
#include "driver/saves.h"

struct ctx;
struct command_line;
struct exchange;
struct resume;

/* What is to become of the coming step, once it is known. */
struct run_step {
    int planned;
    struct results_due due;
    int told, guarded, mine, look, wish;
    double begin;
};

struct run {
    struct job job;
    struct output output;
    struct results results;
    struct guard guard;
    struct monitor monitor;
    struct saves saves;
    struct lock lock;
    int finished; /* an earlier run has done it all */
    int stopped;  /* ended early, as asked */
    int stopping; /* after the coming step it ends early */
    struct run_step next;
    double longest_step; /* seconds */
    int64_t first_step;
    double start, seconds;     /* clock at the first step; length of the loop */
    uint64_t bytes_sent;       /* by this rank before the loop */
    struct exchange *exchange; /* of a run among others, borrowed; or NULL */
    int replica;               /* which of them it is */
};

/* Once before all runs: whether ranks were started as they should be, and from
 * now on the time that the command line gives. Errors: STATUS_USAGE. */
int run_allowed(struct ctx *ctx, const struct command_line *line);

/* One run on the ranks of ctx->comm, from the deck on the command line to its
 * results, with its failure told to all of them. Collective. */
int run_deck(struct ctx *ctx, const struct command_line *line);

/* ---- the parts of a run, for several that go on in turn (together.c) ---- */

struct run *run_create(void); /* NULL: no memory */
/* All up to where it is known which checkpoint the run goes on from, and
 * whether there is anything left to do: run->finished. Collective, as all
 * below. */
int run_prepare(struct ctx *ctx, const struct command_line *line,
                struct run *run, struct resume *resume);
/* The rest before the first step. */
int run_begin(struct ctx *ctx, const struct command_line *line, struct run *run,
              const struct resume *resume);
/* One step with what is to be written of it, but no checkpoint; look: energies
 * are wanted in any case. */
int run_advance(struct ctx *ctx, struct run *run, int look);
/* A part of that step (solver.h, ahead), which run_advance() then completes;
 * *more: there is another part. */
int run_ahead(struct ctx *ctx, struct run *run, int look, int *more);
/* The same of a run for itself, with its checkpoints and wishes to stop;
 * *over: no further step follows. */
int run_round_ahead(struct ctx *ctx, struct run *run, int *more);
int run_round(struct ctx *ctx, struct run *run, int *over);
/* After run_round() said so: what is left to save and to write, and the closing
 * lines. Errors also STATUS_STOPPED. */
int run_end(struct ctx *ctx, struct run *run);
/* Why no step can follow: STATUS_PHYSICS, with the present state saved. */
int run_check_blocked(struct ctx *ctx, struct run *run);
/* After the last one: what is left to write, and the closing lines. Errors also
 * STATUS_STOPPED. */
int run_complete(struct ctx *ctx, struct run *run);
/* After a failure that all ranks know of: files as they are, and what stands in
 * them added to the story. */
void run_abandon(struct ctx *ctx, struct run *run, int status);
void run_close(struct ctx *ctx, struct run *run);

/* closing.c: where the time went, what was written, how to go on.
 * Collective. */
int closing_print(struct ctx *ctx, struct run *run);

#endif
