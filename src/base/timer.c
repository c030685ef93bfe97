#include "base/timer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PHASES_MAX = 64, DEPTH_MAX = 32 };

struct timers {
    int n;
    const char *name[PHASES_MAX];
    double seconds[PHASES_MAX];
    int depth;
    int open[DEPTH_MAX]; /* the phases begun and not ended, outermost first */
    double since;        /* when the innermost began or went on */
};

struct timers *timers_create(void)
{
    return calloc(1, sizeof(struct timers));
}

void timers_destroy(struct timers *t)
{
    free(t);
}

void timers_reset(struct timers *t)
{
    memset(t->seconds, 0, sizeof(t->seconds));
    t->since = timer_now();
}

int timer_phase(struct timers *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->name[i], name) == 0)
            return i;
    if (t->n == PHASES_MAX) /* the last one takes what does not fit */
        return PHASES_MAX - 1;
    t->name[t->n] = name;
    return t->n++;
}

/* Give the time since the last change to the innermost open phase. */
static void account(struct timers *t)
{
    double now = timer_now();
    if (t->depth > 0 && t->depth <= DEPTH_MAX)
        t->seconds[t->open[t->depth - 1]] += now - t->since;
    t->since = now;
}

void timer_begin(struct timers *t, int phase)
{
    account(t);
    if (t->depth < DEPTH_MAX)
        t->open[t->depth] = phase;
    t->depth++;
}

/* Ending a phase that is not the innermost ends those inside it too: a function
 * left early by an error must not spoil the accounts of its callers. */
void timer_end(struct timers *t, int phase)
{
    account(t);
    int depth = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;
    for (int i = depth - 1; i >= 0; i--) {
        if (t->open[i] == phase) {
            t->depth = i;
            return;
        }
    }
}

void timer_move(struct timers *t, int from, int to, double seconds)
{
    t->seconds[from] -= seconds;
    t->seconds[to] += seconds;
}

int timer_count(const struct timers *t)
{
    return t->n;
}

const char *timer_name(const struct timers *t, int phase)
{
    return t->name[phase];
}

double timer_seconds(const struct timers *t, int phase)
{
    return t->seconds[phase];
}

double timer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
