/* clock.h: something that happens every so often.
 *
 * Intervals of simulated time are met by the step that reaches a multiple of
 * them. How long the coming step is may turn out differently than it was
 * foreseen, so a clock remembers how far it has come: each multiple counts
 * once, and none is left out.
 */
#ifndef WARPDECK_DRIVER_CLOCK_H
#define WARPDECK_DRIVER_CLOCK_H

#include <stdint.h>

#include "base/param.h"

struct clock {
    struct interval every;
    int64_t reached; /* multiples of every.time that are done with */
    int64_t aimed;   /* what the coming step is to reach */
};

/* Begin at a time, whose multiple is done with. */
void clock_begin(struct clock *c, const struct interval *every, double time);
/* Whether it is due at the step from `time` to time + timestep, which has the
 * number `step`. */
int clock_due(struct clock *c, int64_t step, double time, double timestep);
/* It happened, at this time. */
void clock_done(struct clock *c, double time);

/* How often it happens in `steps` steps of dt, the first and the last state
 * included. steps = -1: not known, and only a time may tell, `end`. */
int64_t clock_count(const struct interval *every, int64_t steps, double dt,
                    double end);

#endif
