/* plain.h: loops that do the work of the standard problems and nothing else:
 * what `warpdeck bench risk` measures the solver beside. The normals, models
 * and elementary functions are the solver's; there is no plan, no event, no
 * portfolio, and sums are added up as they come.
 */
#ifndef WARPDECK_KERNELS_RISK_PLAIN_H
#define WARPDECK_KERNELS_RISK_PLAIN_H

#include <stdint.h>

enum risk_plain {
    RISK_PLAIN_EUROPEAN, /* a call, a year of 252 steps, all at once by fours */
    RISK_PLAIN_ASIAN,    /* the mean of 252 */
    RISK_PLAIN_HESTON,   /* the call again */
    /* RISK_PLAIN_OPTIONS options on RISK_PLAIN_FACTORS correlated factors, in
     * 12 steps; option i on factor i mod 10, at the end of step i mod 12 */
    RISK_PLAIN_BOOK,
    /* a put that may be exercised at 50 dates, by a rule that regressions on
     * 64 blocks of other paths find */
    RISK_PLAIN_AMERICAN
};
enum { RISK_PLAIN_OPTIONS = 1000, RISK_PLAIN_FACTORS = 10 };

int risk_plain_steps(enum risk_plain what);
/* Blocks of paths that are made beside those n. */
int64_t risk_plain_first(enum risk_plain what);
/* The mean discounted payoff (of all options together) of n blocks of
 * RISK_BLOCK paths, on one thread; NAN: out of memory. */
double risk_plain_value(enum risk_plain what, int64_t n);

/* Strike and side (+1 call, -1 put) of an option of the book. */
double risk_plain_strike(int option);
double risk_plain_side(int option);

#endif
