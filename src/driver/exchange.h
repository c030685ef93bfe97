/* exchange.h: replica exchange in temperature: who stands on which rung of the
 * ladder, and what becomes of an attempt.
 *
 * n replicas stand on the n rungs of a ladder of temperatures. Every so many
 * steps the pairs of rungs (0, 1), (2, 3), ..., and the time after (1, 2), (3,
 * 4), ..., may change replicas, each with the probability min(1, exp((beta_i -
 * beta_j)(U_i - U_j))) (Sugita and Okamoto, Chem. Phys. Lett. 314, 141 (1999)).
 * Random numbers are those of (seed, attempt, pair), and all ranks decide alike
 * from the same energies, so that nothing has to be told to anybody. What has
 * been is kept: rates, walks and round trips follow from it.
 */
#ifndef WARPDECK_DRIVER_EXCHANGE_H
#define WARPDECK_DRIVER_EXCHANGE_H

#include <stdint.h>

struct ctx;
struct params;
struct result_table;
struct solver;
struct state_io;

enum { EXCHANGE_MOST = 9999 };

struct exchange {
    int n;         /* replicas, and rungs; 0: no exchange */
    int64_t every; /* steps */
    uint64_t seed;
    double *temperature; /* [n], ascending */
    int *rung;           /* [n]: of each replica, now */
    int64_t attempts, capacity;
    uint16_t *history; /* [attempts][n]: rung of each replica afterwards */
    char unit[32];     /* of temperatures */
    double *columns;   /* of the tables below */
    struct exchange_tables *tables;
};

/* The ladder that a deck asks for: out->n = 0 without one. What does not fit
 * together goes to params_error(). exchange_free() whatever is returned.
 * Errors: STATUS_MEMORY. Not collective. */
int exchange_read(struct ctx *ctx, struct params *p,
                  const struct solver *solver, struct exchange *out);
void exchange_free(struct exchange *x);

/* The temperature of a replica, now. */
double exchange_temperature(const struct exchange *x, int replica);
/* Whether an attempt comes after this step. */
int exchange_due(const struct exchange *x, int64_t step);
/* The next attempt: energies of all replicas, and beta of all rungs, the same
 * on all ranks. changed[replica] = 1 where one now has another temperature.
 * Errors: STATUS_MEMORY. Not collective. */
int exchange_attempt(struct ctx *ctx, struct exchange *x, const double *energy,
                     const double *beta, int *changed);

/* All of it, with each replica's checkpoint; and back, of a run that stands at
 * `step`. Collective. */
int exchange_save(struct ctx *ctx, const struct exchange *x,
                  struct state_io *io);
int exchange_restore(struct ctx *ctx, struct exchange *x, struct state_io *io,
                     int64_t step);

/* exchange_tables.c: what is written at the end of replica `mine`: its walk,
 * the rates of neighbors, and where all replicas are. Valid until the next call
 * or exchange_free(). Errors: STATUS_MEMORY. Not collective. */
int exchange_results(struct ctx *ctx, struct exchange *x, int mine,
                     const struct result_table **tables, int *n);
/* Lines for the log: rates, and round trips. */
void exchange_print(struct ctx *ctx, const struct exchange *x);
/* Attempts of the rungs r and r + 1 so far, and how many succeeded. */
void exchange_rate(const struct exchange *x, int r, int64_t *tried,
                   int64_t *accepted);
/* How often a replica has come to the lowest rung after it had been on the
 * highest since it was there before. */
int64_t exchange_round_trips(const struct exchange *x, int replica);

#endif
