/* md_exchange.h: molecular dynamics as replica exchange wants it.
 */
#ifndef WARPDECK_SOLVERS_MD_EXCHANGE_H
#define WARPDECK_SOLVERS_MD_EXCHANGE_H

#include "solvers/solver.h"

struct ctx;
struct md;
struct params;

extern const struct solver_exchange md_exchange;

/* Whether this run is one of several at different temperatures, after
 * md_ensemble_read(); errors go to params_error(). */
void md_exchange_read(struct params *p, struct md *md);
/* The column of the bath's temperature, and its value. */
void md_exchange_observe_init(struct md *md);
void md_exchange_observe(const struct md *md, double *values, int *n);

#endif
