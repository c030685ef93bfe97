/* tap.h: results of tests written in C, in the Test Anything Protocol.
 *
 * A test is a sentence that should be true. Only rank 0 of a test that runs on
 * several ranks should report; see tap_silence(). Each call evaluates to
 * whether the sentence held, so that a test can go on or give up.
 */
#ifndef WARPDECK_TESTS_TAP_H
#define WARPDECK_TESTS_TAP_H

#include <stdint.h>

/* How many results will follow; call first, or call tap_done() at the end,
 * which prints the plan after the fact. */
void tap_plan(int n);

/* Whether `held`, with the sentence. */
int tap_ok(int held, const char *sentence, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether two texts, whole numbers are the same; differences are shown. */
int tap_is_text(const char *got, const char *want, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));
int tap_is_int(int64_t got, int64_t want, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether |got - want| <= tolerance, and got is a number. */
int tap_near(double got, double want, double tolerance, const char *sentence,
             ...) __attribute__((format(printf, 4, 5)));

/* Leave out n results, with a reason that a user would accept. */
void tap_skip(int n, const char *reason, ...)
    __attribute__((format(printf, 2, 3)));
/* Leave out the whole test: prints the plan and the reason; returns the exit
 * status for main(). */
int tap_skip_all(const char *reason);

/* A comment in the log. */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print nothing from now on (ranks other than 0), and count only. */
void tap_silence(void);

/* End: prints the plan where none was. Returns the exit status for main():
 * 0 where all held and as many came as planned. */
int tap_done(void);

#endif
