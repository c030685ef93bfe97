/* check_time.h: how long a run would take, from a few of its steps.
 *
 * `warpdeck check` makes real steps of the deck on the ranks that are there,
 * for about as long as it may, and extrapolates. Nothing is written: a
 * checkpoint is only counted.
 */
#ifndef WARPDECK_DRIVER_CHECK_TIME_H
#define WARPDECK_DRIVER_CHECK_TIME_H

struct ctx;
struct job;

/* Measure for about so many seconds and print what was found: the time of all
 * steps on `ranks` ranks, what they need of the device (`memory` bytes each,
 * where these are not the ranks here), the size of a checkpoint. `job` is
 * opened, without device and state yet. Where there is no such device, or no
 * memory for it, that is told and is no failure. Errors: as those of the
 * solver's initial state and steps. Collective. */
int check_time(struct ctx *ctx, struct job *job, double seconds, int ranks,
               double memory);

#endif
