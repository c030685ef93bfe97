/* checkpoint.h: the state of a run on the disk, to go on from.
 *
 * One HDF5 file: /state holds the solver's arrays by global index
 * (domain/state.h), /run what the run was and how far it and its results had
 * come. It is written beside its name, flushed and synced, and takes its name
 * only when all of it is on the disk: what has the name is whole. Every dataset
 * has checksums (Fletcher32), and so has HDF5's own metadata (the format of
 * HDF5 1.10): damage is found on reading, and told with file and dataset.
 *
 *     /              suite, kind = "checkpoint", format_version, complete
 *     /run           step, time, serial, ranks, threads, decomposition,
 *                    results; solver, version, device, precision, deck,
 *                    resolved_deck (bytes)
 *     /state/NAME    the solver's arrays
 */
#ifndef WARPDECK_IO_CHECKPOINT_H
#define WARPDECK_IO_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "domain/state.h"

struct ctx;
struct checkpoint;

enum { CHECKPOINT_FORMAT_VERSION = 1 };

struct checkpoint_header {
    int64_t step;
    double time;
    int64_t serial; /* 1, 2, ... in the order of writing */
    int64_t ranks, threads;
    int64_t decomposition[3];
    int64_t row_step, frame_step; /* of the last row and frame of the results;
                                   * -1: none */
    /* Texts; of the reader's they live as long as the checkpoint. */
    const char *solver, *version, *device, *precision;
    const char *deck, *resolved;
};

/* ---- writing ---- */

/* Begin `path` as `path`.tmp; header of rank 0. Errors: STATUS_IO; nothing is
 * left behind then. The caller owns *out. Collective, as all of these. */
int checkpoint_create(struct ctx *ctx, const char *path,
                      const struct checkpoint_header *header,
                      struct checkpoint **out);
/* End it: complete = 1, flush, sync, rename. c is gone whatever is returned;
 * after a failure the old file of this name stands as it was. */
int checkpoint_publish(struct ctx *ctx, struct checkpoint *c);
/* Forget a half-written one and remove it. NULL is fine. */
void checkpoint_discard(struct checkpoint *c);

/* ---- reading ---- */

/* Open and check: suite, kind, format, completeness, and every dataset's
 * checksums (each rank reads its share). Errors: STATUS_INPUT, with file,
 * dataset and reason. */
int checkpoint_open(struct ctx *ctx, const char *path, struct checkpoint **out);
/* Nothing more is read from it: its file is closed, the header stays. */
void checkpoint_let_go(struct checkpoint *c);
void checkpoint_close(struct checkpoint *c); /* NULL is fine */
/* This process alone, without a look at the arrays: 0 and *serial where the
 * header is whole, else -1 and nothing else. */
int checkpoint_peek(struct ctx *ctx, const char *path, int64_t *serial);
/* This process alone: whether `path` holds results of a run that is complete.
 */
unsigned char checkpoint_results_complete(const char *path);
const struct checkpoint_header *checkpoint_header(const struct checkpoint *c);

/* Where a solver's arrays go to, or come from. */
struct state_io *checkpoint_state(struct checkpoint *c);

#endif
