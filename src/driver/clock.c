#include "driver/clock.h"

#include <math.h>

/* Times are sums of steps: a multiple that is missed by their rounding counts.
 */
static int64_t multiples(const struct interval *every, double time)
{
    return (int64_t)floor(time / every->time + 1e-9);
}

void clock_begin(struct clock *c, const struct interval *every, double time)
{
    *c = (struct clock){.every = *every};
    if (every->kind == INTERVAL_TIME)
        c->reached = c->aimed = multiples(every, time);
}

int clock_due(struct clock *c, int64_t step, double time, double timestep)
{
    if (c->every.kind == INTERVAL_STEPS)
        return step % c->every.steps == 0;
    if (c->every.kind == INTERVAL_NEVER)
        return 0;
    c->aimed = multiples(&c->every, time + timestep);
    return c->aimed > c->reached;
}

void clock_done(struct clock *c, double time)
{
    if (c->every.kind != INTERVAL_TIME)
        return;
    int64_t now = multiples(&c->every, time);
    c->reached = now > c->aimed ? now : c->aimed;
}

int64_t clock_count(const struct interval *every, int64_t steps, double dt,
                    double end)
{
    int64_t n = 1, rest = 1;
    if (steps == 0)
        return n;
    if (steps > 0)
        end = (double)steps * dt;
    if (every->kind == INTERVAL_STEPS && steps > 0) {
        n += steps / every->steps;
        rest = steps % every->steps != 0;
    } else if (every->kind == INTERVAL_TIME) {
        n += multiples(every, end);
        rest = end - (double)multiples(every, end) * every->time > 1e-9 * end;
    }
    return n + rest; /* the last state always counts */
}
