#include "driver/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/log.h"
#include "base/timer.h"
#include "domain/field.h"

enum { LINE_MAX_BYTES = 512, TIME_WIDTH = 10, RATE_WIDTH = 9, LEFT_WIDTH = 9 };
enum { BAR_WIDTH = 24 };
#define LATE 20.0 /* seconds */

static int column_width(const struct observable *o)
{
    int name = (int)strlen(o->heading);
    int number = o->decimals + 6;        /* sign, four digits, point */
    int unit = (int)strlen(o->unit) + 1; /* a space, or the sign of a power */
    name = name > unit ? name : unit;
    return name > number ? name : number;
}

struct line {
    char text[LINE_MAX_BYTES];
    size_t used;
};

static void add(struct line *l, int width, const char *text)
{
    int n = snprintf(l->text + l->used, sizeof(l->text) - l->used, "%*s", width,
                     text);
    size_t room = sizeof(l->text) - l->used - 1;
    l->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
}

/* "Angstrom3" of a file as a reader writes it: "Angstrom^3". */
static const char *unit_text(const char *unit, char text[FORMAT_MAX])
{
    size_t used = 0;
    for (const char *c = unit; *c != '\0' && used + 2 < FORMAT_MAX; c++) {
        int power = (*c >= '0' && *c <= '9') || *c == '-';
        if (power && c > unit && isalpha((unsigned char)c[-1]))
            text[used++] = '^';
        text[used++] = *c;
    }
    text[used] = '\0';
    return text;
}

/* Below the headings, where there are units. */
static void print_units(const struct table *t)
{
    struct line l = {.used = 0};
    char text[FORMAT_MAX];
    add(&l, t->step_width + TIME_WIDTH + 1, t->time_unit);
    for (int i = 0; i < t->n_observables; i++) {
        const struct observable *o = &t->observables[i];
        if (o->heading != NULL)
            add(&l, column_width(o) + 1, unit_text(o->unit, text));
    }
    if (strspn(l.text, " ") < l.used)
        log_info(t->log, "%s", l.text);
}

static void print_headings(const struct table *t)
{
    struct line l = {.used = 0};
    add(&l, t->step_width, "step");
    add(&l, TIME_WIDTH + 1, t->counts ? t->counts : "time");
    for (int i = 0; i < t->n_observables; i++) {
        const struct observable *o = &t->observables[i];
        if (o->heading != NULL)
            add(&l, column_width(o) + 1, o->heading);
    }
    char rate[FORMAT_MAX];
    snprintf(rate, sizeof rate, "%s/s", t->counts ? t->counts : "steps");
    add(&l, RATE_WIDTH + 1, rate);
    add(&l, LEFT_WIDTH + 1, "left");
    log_info(t->log, "%s", l.text);
    if (!t->counts)
        print_units(t);
}

void table_begin(struct table *t, struct log *log, double timestep,
                 const char *unit)
{
    char digits[FORMAT_MAX];
    t->log = log;
    t->step_width =
        snprintf(digits, sizeof(digits), "%" PRId64, t->steps_total) + 1;
    if (t->step_width < 9)
        t->step_width = 9;
    /* As many decimals as one time step needs, within reason. */
    t->counts = strcmp(unit, "paths") == 0 ? unit : NULL;
    t->time_unit = unit;
    t->time_decimals = t->counts ? 0 : 3;
    while (!t->counts && t->time_decimals < 6 &&
           fabs(timestep - round(timestep * pow(10, t->time_decimals)) /
                               pow(10, t->time_decimals)) > 1e-9 * timestep)
        t->time_decimals++;
    t->row_step = -1;
    t->late_seconds = t->late_steps = 0;
    print_headings(t);
}

/* With the time since the last row, which ended `since` seconds ago. */
static double seconds_left(const struct table *t, int64_t step, double since)
{
    double steps = t->late_steps + (double)(step - t->row_step);
    if (t->steps_total < 0 || !(steps > 0))
        return INFINITY;
    return (double)(t->steps_total - step) * (t->late_seconds + since) / steps;
}

/* A row is there: so many steps in so many seconds more. */
static void add_late(struct table *t, int64_t steps, double seconds)
{
    double kept = exp(-seconds / LATE);
    t->late_seconds = kept * t->late_seconds + seconds;
    t->late_steps = kept * t->late_steps + (double)steps;
}

void table_row(struct table *t, int64_t step, double time, const double *values)
{
    struct line l = {.used = 0};
    char text[FORMAT_MAX];
    double now = timer_now();
    int first = t->row_step < 0;
    if (!first && step > t->row_step) {
        t->rate = (double)(step - t->row_step) / (now - t->row_clock);
        add_late(t, step - t->row_step, now - t->row_clock);
    }
    snprintf(text, sizeof(text), "%" PRId64, step);
    add(&l, t->step_width, text);
    add(&l, 0, " ");
    add(&l, 0, format_column(time, TIME_WIDTH, t->time_decimals, text));
    for (int i = 0; i < t->n_observables; i++) {
        const struct observable *o = &t->observables[i];
        if (o->heading == NULL)
            continue;
        double v = o->per_particle ? values[i] / t->items : values[i];
        add(&l, 0, " ");
        add(&l, 0, format_column(v, column_width(o), o->decimals, text));
    }
    add(&l, 0, " ");
    double shown = t->rate;
    if (t->counts && !first)
        shown = (time - t->row_time) / (now - t->row_clock);
    add(&l, RATE_WIDTH,
        first ? "-"
              : format_column(shown, RATE_WIDTH, t->counts ? 0 : 1, text));
    t->row_step = step;
    add(&l, LEFT_WIDTH + 1, format_duration(seconds_left(t, step, 0), text));
    log_info(t->log, "%s", l.text);
    t->row_time = time;
    t->row_clock = t->progress_clock = now;
}

/* "  step 1200 of 10000  [#####...................]  12 %  312.4 steps/s  00:28
 * left" */
void table_progress(struct table *t, int64_t step, const char *note)
{
    if (!log_is_terminal(t->log))
        return;
    double now = timer_now();
    if (now - t->progress_clock < 0.25)
        return;
    t->progress_clock = now;
    char bar[BAR_WIDTH + 1], left[FORMAT_MAX], line[256];
    double rate = (double)(step - t->row_step) / (now - t->row_clock);
    if (t->steps_total <= 0) {
        snprintf(line, sizeof(line), "  step %" PRId64 "   %.1f steps/s  %s",
                 step, rate, note);
        log_progress(t->log, line);
        return;
    }
    double part = (double)step / (double)t->steps_total;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(part * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    double remaining = seconds_left(t, step, now - t->row_clock);
    snprintf(line, sizeof(line),
             "  step %" PRId64 " of %" PRId64
             "  [%s] %3.0f %%  %.1f steps/s  %s left  %s",
             step, t->steps_total, bar, 100 * part, rate,
             format_duration(remaining, left), note);
    log_progress(t->log, line);
}
