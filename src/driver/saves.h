/* saves.h: the checkpoints of a run: where they stand, when one is due, and
 * what they hold beside the solver's state.
 *
 * NAME.ckpt.K.h5 in the output folder, K = 0 to [checkpoint] keep - 1, each
 * written over the oldest. A new one takes its name only when it is whole and
 * on the disk, so a run that dies at any moment leaves the others.
 */
#ifndef WARPDECK_DRIVER_SAVES_H
#define WARPDECK_DRIVER_SAVES_H

#include <stddef.h>
#include <stdint.h>

#include "base/param.h"
#include "io/checkpoint.h"

struct ctx;
struct exchange;
struct guard;
struct job;
struct output;
struct results;

struct saves {
    struct job *job; /* all borrowed */
    const struct output *output;
    struct results *results;
    struct guard *guard;
    const struct exchange *exchange; /* NULL: a run for itself */
    struct interval every;           /* steps, or wall time */
    int64_t keep;
    int at_end;        /* also of a finished run */
    int64_t serial;    /* of the last one; 0: none */
    int64_t slot;      /* K of the next */
    int64_t last_step; /* of the last good one; -1: none */
    char *last;        /* its path, or NULL */
    double clock;      /* when the last one was begun, or the run */
    double longest;    /* seconds that one took at most */
    int phase;
};

/* NAME.ckpt.K.h5 in new memory; NULL: no memory. */
char *saves_path(const struct output *output, const char *name, int64_t slot);

/* The number K in `file`, a name without folder, or -1. */
int64_t saves_slot_of(const char *file, const char *name);

/* Remove what unfinished checkpoints left behind, and with `all` every
 * checkpoint of this name. Rank 0 does it. Errors: STATUS_IO. Collective. */
int saves_clean(struct ctx *ctx, const struct output *output, const char *name,
                int all);
/* Rank 0: whether there is a checkpoint of this name. */
int saves_exist(const struct output *output, const char *name);

/* Begin. `from`: what the run goes on from, and its path; NULL for a new run.
 */
int saves_open(struct ctx *ctx, struct job *job, const struct output *output,
               struct results *results, struct guard *guard,
               const struct checkpoint_header *from, const char *path,
               struct saves *out);
void saves_free(struct saves *s);

/* Whether one is due after the present step, by steps; the same on all ranks.
 */
int saves_due(const struct saves *s);
/* Whether this rank's clock says so. */
int saves_overdue(const struct saves *s);

/* Write one of the present step, unless it is there; the results are flushed
 * before. A state that is not good any more is STATUS_PHYSICS, and nothing is
 * written. Collective. */
int saves_write(struct ctx *ctx, struct saves *s);

/* Add to the story of a failure what there is to go on from. Returns
 * `status`. */
int saves_offer(struct ctx *ctx, const struct saves *s, int status);

/* Whether a run as this one, on these ranks, wrote it. */
int saves_same_machine(const struct ctx *ctx, const struct job *job,
                       const struct checkpoint_header *header);

#endif
