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

struct run {
    struct job job;
    struct output output;
    struct results results;
    struct guard guard;
    struct monitor monitor;
    struct saves saves;
    struct lock lock;
    int finished;        /* an earlier run has done it all */
    int stopped;         /* ended early, as asked */
    double longest_step; /* seconds */
    int64_t first_step;
    double start, seconds; /* clock at the first step; length of the loop */
    uint64_t bytes_sent;   /* by this rank before the loop */
};

/* Once before all runs: whether ranks were started as they should be, and from
 * now on the time that the command line gives. Errors: STATUS_USAGE. */
int run_allowed(struct ctx *ctx, const struct command_line *line);

/* One run on the ranks of ctx->comm, from the deck on the command line to its
 * results, with its failure told to all of them. Collective. */
int run_deck(struct ctx *ctx, const struct command_line *line);

/* closing.c: where the time went, what was written, how to go on.
 * Collective. */
int closing_print(struct ctx *ctx, struct run *run);

#endif
