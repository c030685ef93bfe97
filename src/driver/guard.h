/* guard.h: a run whose physics has failed is ended, not computed to its end.
 *
 * Every so many steps, and before each checkpoint, the solver looks through its
 * state for what is not finite or missing; bounds on energy, temperature and
 * divergence are looked at where the deck sets them.
 */
#ifndef WARPDECK_DRIVER_GUARD_H
#define WARPDECK_DRIVER_GUARD_H

#include <stdint.h>

struct ctx;
struct job;
struct state_io;

enum { GUARD_BOUNDS = 2 }; /* observables that may have a greatest value */

struct guard {
    struct job *job; /* borrowed */
    int64_t every;   /* steps; 0: never */
    int energy;      /* observables with a bound, or -1 */
    int above[GUARD_BOUNDS];
    double drift, most[GUARD_BOUNDS];
    int has_start;
    double start; /* energy of the run's start */
    double *values;
    int64_t checked; /* step; -1: none */
    int phase;
};

/* A bound on what the solver does not observe is an error of the deck, for
 * params_finish() to tell. */
void guard_check_deck(const struct job *job);

/* Read the deck's keys. */
int guard_open(struct ctx *ctx, struct job *job, struct guard *out);
void guard_free(struct guard *g);

/* Whether the coming step is to be looked at. */
int guard_due(const struct guard *g);
/* Whether its energies are wanted, too. */
int guard_looks(const struct guard *g);

/* Look at the present state. Errors: STATUS_PHYSICS, STATUS_LOST_PARTICLES.
 * Collective. */
int guard_check(struct ctx *ctx, struct guard *g);
/* The same with the bounds, whose observables the step has computed. */
int guard_check_all(struct ctx *ctx, struct guard *g);

/* The energy of the start belongs to the state. */
int guard_save(struct ctx *ctx, const struct guard *g, struct state_io *io);
int guard_restore(struct ctx *ctx, struct guard *g, struct state_io *io);

#endif
