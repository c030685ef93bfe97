/* timer.h: where the time of a run goes, by named phase.
 *
 * Phases nest; the time of an inner phase is not counted in the outer one, so
 * the shares add up to the whole. Names are string literals and are compared as
 * text once, at registration.
 */
#ifndef WARPDECK_BASE_TIMER_H
#define WARPDECK_BASE_TIMER_H

struct timers;

struct timers *timers_create(void); /* NULL when out of memory */
void timers_destroy(struct timers *t);
void timers_reset(struct timers *t);

/* Find or add the phase `name`; returns its number (>= 0). */
int timer_phase(struct timers *t, const char *name);
void timer_begin(struct timers *t, int phase);
void timer_end(struct timers *t, int phase);
/* Seconds that another clock has found to belong to `to`, of those of `from`.
 */
void timer_move(struct timers *t, int from, int to, double seconds);

int timer_count(const struct timers *t);
const char *timer_name(const struct timers *t, int phase);
double timer_seconds(const struct timers *t, int phase);

/* Seconds of a monotonic clock. */
double timer_now(void);

#endif
