/* tap.c: results of tests written in C, see tap.h. */
#include "tests/tap.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The one place of the tree with state of its own: a test program reports on
 * one stream, in one order. */
static struct {
    int planned, count, failed, silent;
} tap = {-1, 0, 0, 0};

static void line(int held, const char *sentence, va_list args)
{
    tap.count++;
    tap.failed += !held;
    if (tap.silent)
        return;
    printf("%s %d - ", held ? "ok" : "not ok", tap.count);
    vprintf(sentence, args);
    putchar('\n');
    fflush(stdout);
}

void tap_plan(int n)
{
    tap.planned = n;
    if (!tap.silent)
        printf("1..%d\n", n);
}

int tap_ok(int held, const char *sentence, ...)
{
    va_list args;
    va_start(args, sentence);
    line(held, sentence, args);
    va_end(args);
    return held;
}

int tap_is_text(const char *got, const char *want, const char *sentence, ...)
{
    int held = got == want || (got && want && strcmp(got, want) == 0);
    va_list args;
    va_start(args, sentence);
    line(held, sentence, args);
    va_end(args);
    if (!held)
        tap_note("got  \"%s\"\nwant \"%s\"", got ? got : "(null)",
                 want ? want : "(null)");
    return held;
}

int tap_is_int(int64_t got, int64_t want, const char *sentence, ...)
{
    int held = got == want;
    va_list args;
    va_start(args, sentence);
    line(held, sentence, args);
    va_end(args);
    if (!held)
        tap_note("got %" PRId64 ", want %" PRId64, got, want);
    return held;
}

int tap_near(double got, double want, double tolerance, const char *sentence,
             ...)
{
    int held = fabs(got - want) <= tolerance;
    va_list args;
    va_start(args, sentence);
    line(held, sentence, args);
    va_end(args);
    if (!held)
        tap_note("got %.17g, want %.17g within %g", got, want, tolerance);
    return held;
}

void tap_skip(int n, const char *reason, ...)
{
    for (int i = 0; i < n; i++) {
        va_list args;
        tap.count++;
        if (tap.silent)
            continue;
        printf("ok %d # SKIP ", tap.count);
        va_start(args, reason);
        vprintf(reason, args);
        va_end(args);
        putchar('\n');
    }
}

int tap_skip_all(const char *reason)
{
    if (!tap.silent)
        printf("1..0 # SKIP %s\n", reason);
    return 0;
}

/* Each line of the text as a comment. */
void tap_note(const char *fmt, ...)
{
    char text[2048];
    va_list args;
    if (tap.silent)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *at = text, *next; at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        printf("#   %s\n", at);
    }
    fflush(stdout);
}

void tap_silence(void)
{
    tap.silent = 1;
}

int tap_done(void)
{
    if (tap.planned < 0) {
        tap_plan(tap.count);
    } else if (tap.planned != tap.count) {
        tap_note("planned %d results, got %d", tap.planned, tap.count);
        return 1;
    }
    return tap.failed != 0;
}
