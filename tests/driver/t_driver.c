/* The driver's small parts: failures, time, numbers, intervals, the command
 * line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/param.h"
#include "base/timer.h"
#include "driver/commands.h"
#include "driver/options.h"
#include "driver/clock.h"
#include "kernels/machine.h"
#include "tests/tap.h"

static int inner(struct ctx *ctx)
{
    return FAIL(ctx, STATUS_IO, "the disk is on %s\n", "fire");
}

static int outer(struct ctx *ctx)
{
    TRY_WHILE(ctx, inner(ctx), "saving '%s'", "melt.h5");
    return 0;
}

static void test_errors(void)
{
    struct ctx ctx = {0};
    int status = outer(&ctx);
    error_context(&ctx, status, "use another disk");
    FAIL(&ctx, STATUS_DECK, "a later failure");
    tap_is_int(status, STATUS_IO, "a failure's status travels up");
    tap_is_text(ctx.error.text,
                "the disk is on fire\n  while saving 'melt.h5'\n"
                "  use another disk\n",
                "the first message stays, context follows line by line");
    for (int i = 0; i < 2000; i++)
        error_context(&ctx, status, "and so on %d", i);
    size_t n = strlen(ctx.error.text);
    tap_ok(n < ERROR_TEXT_MAX && ctx.error.text[n - 1] == '\n',
           "a story that is too long is cut at a line's end");
    tap_is_text(error_prefix(&ctx), "error: ", "it is called an error");
    error_clear(&ctx);
    FAIL_AT(&ctx, STATUS_INPUT, "a.xyz:3: error: %s", "no number");
    tap_is_text(error_prefix(&ctx), "", "but where the text does so itself");
    for (int i = 0; i < 2; i++)
        error_on_rank(&ctx, STATUS_INPUT, 1, 4);
    tap_is_text(ctx.error.text, "a.xyz:3: error: no number\n  on rank 1 of 4\n",
                "and the rank is named once");
    error_clear(&ctx);
    FAIL(&ctx, STATUS_DECK, "cannot open 'a:3: error: b'");
    tap_is_text(error_prefix(&ctx),
                "error: ", "a name that reads like a place is none");
    tap_ok(status_exit(STATUS_OK) == 0 && status_exit(STATUS_IO) == 1 &&
               status_exit(STATUS_DECK) == 2 &&
               status_exit(STATUS_LOST_PARTICLES) == 3 &&
               status_exit(STATUS_STOPPED) == 75 && status_exit(-1) == 1 &&
               status_exit(STATUS_COUNT) == 1,
           "exit statuses are 0, 1, 2, 3 and 75");
}

static void spend(double seconds)
{
    for (double start = timer_now(); timer_now() - start < seconds;) {
    }
}

static void test_timers(void)
{
    struct timers *t = timers_create();
    int outside = timer_phase(t, "outside"), inside = timer_phase(t, "inside");
    double start = timer_now();
    timer_begin(t, outside);
    spend(0.02);
    timer_begin(t, inside);
    spend(0.03);
    timer_end(t, inside);
    timer_begin(t, inside); /* left open, as by an error */
    timer_end(t, outside);
    double all = timer_now() - start;
    tap_is_int(timer_phase(t, "inside"), inside, "a phase is found by name");
    tap_ok(timer_seconds(t, outside) >= 0.02 &&
               timer_seconds(t, inside) >= 0.03,
           "time goes to the innermost phase");
    /* All of the time is spent in phases, but for a few calls of the clock. */
    tap_near(timer_seconds(t, outside) + timer_seconds(t, inside), all, 0.002,
             "phases add up to the whole");
    double before = timer_seconds(t, outside);
    spend(0.005);
    timer_begin(t, inside);
    timer_end(t, inside);
    tap_ok(timer_seconds(t, outside) == before,
           "no time goes to a phase that was ended");
    timers_reset(t);
    tap_ok(timer_seconds(t, inside) == 0, "timers start again from zero");
    for (int i = 0; i < 100; i++) {
        char name[4][8] = {"a", "b", "c", "d"};
        timer_begin(t, timer_phase(t, name[i % 4]));
    }
    tap_is_int(timer_count(t), 6, "names are told apart by their text");
    timers_destroy(t);
}

static void test_formats(void)
{
    char b[FORMAT_MAX], path[64];
    tap_is_text(format_bytes(512, b), "512 bytes", "a few bytes");
    tap_is_text(format_bytes(1.5e6, b), "1.50 MB", "megabytes");
    tap_is_text(format_bytes(999.7e6, b), "1.00 GB", "no 1000 MB");
    tap_is_text(format_bytes(0, b), "0 bytes", "no bytes");
    tap_is_text(format_count(281.2e6, b), "281 M", "a large count");
    tap_is_text(format_count(3.25, b), "3.25", "a small rate keeps its digits");
    tap_is_text(format_duration(7.4, b), "00:07", "seconds");
    tap_is_text(format_duration(3600, b), "1:00:00", "an hour");
    tap_is_text(format_duration(86400 * 2 + 3 * 3600 + 240, b), "2 d 03:04",
                "days");
    tap_is_text(format_duration(INFINITY, b), "-", "nobody knows how long");
    tap_is_text(format_column(-5.0197, 10, 4, b), "   -5.0197", "a column");
    tap_is_text(format_column(307995.0335, 10, 4, b), "307995.034",
                "as many decimals as a column has room for");
    tap_is_text(format_column(-200932775.4, 10, 4, b), "-200932775", "or none");
    tap_is_text(format_column(-1.0445e-20, 12, 6, b), " -1.0445e-20",
                "a small number is not 0");
    tap_is_text(format_column(0, 10, 4, b), "    0.0000", "but 0 is");
    tap_is_text(format_column(1.5e12, 10, 4, b), "  1.50e+12",
                "a number too wide for its column has an exponent");
    tap_is_int((int64_t)strlen(format_column(-1.5e300, 10, 4, b)), 10,
               "and keeps to its column");
    tap_is_text(format_path("out/melt.h5", path, sizeof(path)), "out/melt.h5",
                "a plain path");
    tap_is_text(format_path("it's here/x.h5", path, sizeof(path)),
                "'it'\\''s here/x.h5'", "a path that a shell would split");
}

/* The steps of 12 at which something is due, where each is `factor` times as
 * long as it was foreseen. */
static void due(const struct interval *every, double dt, double factor,
                char *text)
{
    struct clock clock;
    double time = 0;
    clock_begin(&clock, every, 0);
    text[0] = '\0';
    for (int step = 1; step <= 12; step++) {
        int now = clock_due(&clock, step, time, dt);
        time += dt * factor;
        if (now) {
            sprintf(text + strlen(text), "%d ", step);
            clock_done(&clock, time);
        }
    }
}

static void test_intervals(void)
{
    char text[64];
    struct interval steps = {.kind = INTERVAL_STEPS, .steps = 4};
    struct interval time = {.kind = INTERVAL_TIME, .time = 0.3};
    struct interval uneven = {.kind = INTERVAL_TIME, .time = 0.25};
    struct interval never = {.kind = INTERVAL_NEVER};
    due(&steps, 0.1, 1, text);
    tap_is_text(text, "4 8 12 ", "every 4 steps");
    due(&time, 0.1, 1, text);
    tap_is_text(text, "3 6 9 12 ", "every 0.3 of time, rounding or not");
    due(&uneven, 0.1, 1, text);
    tap_is_text(text, "3 5 8 10 ", "every 0.25 of time with steps of 0.1");
    due(&never, 0.1, 1, text);
    tap_is_text(text, "", "never");
    due(&uneven, 0.1, 0.5, text);
    tap_is_text(text, "4 9 ",
                "a step that turns out short makes no second one");
    due(&uneven, 0.1, 2, text);
    tap_is_text(text, "2 3 5 7 8 10 12 ",
                "a multiple that a long step passed is made up for");
    tap_is_int(clock_count(&steps, 12, 0.1, 0), 4, "counted with the start");
    tap_is_int(clock_count(&steps, 13, 0.1, 0), 5, "and with the last step");
    tap_is_int(clock_count(&time, 12, 0.1, 0), 5, "by time");
    tap_is_int(clock_count(&uneven, -1, 0.1, 1.2), 6, "and by an end time");
    tap_is_int(clock_count(&never, 12, 0.1, 0), 2, "the first and the last");
}

static int parse(struct ctx *ctx, struct command_line *line, char **argv)
{
    int argc = 0;
    while (argv[argc] != NULL)
        argc++;
    error_clear(ctx);
    return command_line_parse(ctx, argc, argv, line);
}

static void test_command_line(void)
{
    struct ctx ctx = {0};
    struct command_line line;
    char *words[] = {"warpdeck", "-q",     "run",         "--output=a b",
                     "x=y.toml", "md.a=1", "--overwrite", "md.b=[1, 2]",
                     "--device", "cpu",    NULL};
    int status = parse(&ctx, &line, words);
    tap_ok(status == 0 && line.command == command_find("run") &&
               line.n_arguments == 1 && line.n_overrides == 2 &&
               strcmp(line.arguments[0], "x=y.toml") == 0 &&
               strcmp(line.overrides[1], "md.b=[1, 2]") == 0,
           "a deck and overrides, in any order with options");
    tap_ok(line.option[OPTION_QUIET] && line.option[OPTION_OVERWRITE] &&
               !line.option[OPTION_VERBOSE] &&
               strcmp(line.option[OPTION_OUTPUT], "a b") == 0 &&
               strcmp(line.option[OPTION_DEVICE], "cpu") == 0,
           "options with = and without, long and short");
    command_line_free(&line);

    char *strange[] = {"warpdeck", "run", "--", "--help", NULL};
    status = parse(&ctx, &line, strange);
    tap_ok(status == 0 && strcmp(line.arguments[0], "--help") == 0,
           "after -- come words only");
    command_line_free(&line);

    char *help[] = {"warpdeck", "rum", "--nonsense", "-h", NULL};
    status = parse(&ctx, &line, help);
    tap_ok(status == 0 && line.option[OPTION_HELP] != NULL,
           "--help wins over whatever is wrong");
    command_line_free(&line);

    char *ranks[] = {"warpdeck", "check", "a.toml", "--ranks", "1e3", NULL};
    long n = 1;
    status = parse(&ctx, &line, ranks);
    tap_ok(status == 0 &&
               option_count(&ctx, &line, OPTION_RANKS, 1, &n) == STATUS_USAGE &&
               n == 1,
           "a count must be a whole number");
    command_line_free(&line);
}

static void test_machine(void)
{
    struct machine m;
    struct machine_limits limits;
    machine_describe(&m);
    tap_ok(m.usable > 0 && m.memory > 1e6, "the machine has cores and memory");
    machine_measure(1, 0.05, &limits);
    /* A tenth of an operation a cycle, as unoptimised code reaches, to a
     * hundred times what one core does today. */
    tap_ok(limits.fma_double > 1e8 && limits.fma_double < 1e13 &&
               limits.fma_single > 1e8 && limits.fma_single < 1e13,
           "FMA peak: %.1f GFLOP/s double, %.1f single",
           1e-9 * limits.fma_double, 1e-9 * limits.fma_single);
    double triad = machine_triad(1, 1 << 20);
    tap_ok(triad > 1e8 && triad < 1e13, "triad: %.1f GB/s", 1e-9 * triad);
}

int main(void)
{
    test_errors();
    test_timers();
    test_formats();
    test_intervals();
    test_command_line();
    test_machine();
    return tap_done();
}
