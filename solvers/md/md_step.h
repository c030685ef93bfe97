/* md_step.h: one step, its parts, and what thermostats add to it.
 *
 * Part of md.h, which includes it.
 */
#ifndef WARPDECK_SOLVERS_MD_STEP_H
#define WARPDECK_SOLVERS_MD_STEP_H

#include <stdint.h>

struct ctx;
struct md;

/* A step has parts, each of which ends where the next needs a number from the
 * device. Several runs on one card go through them side by side: what all of
 * them have asked for is launched and waited for once. */
struct md_parts {
    int next;       /* the part that comes next; 0: a step begins */
    int sums_later; /* sums of forces are not needed before the next part */
};

/* ---- md_step.c ---- */
/* See struct solver. */
int md_step(struct ctx *ctx, void *state, int look, int *stop);
int md_ahead(struct ctx *ctx, void *state, int look, int *stop, int *more);

/* ---- md_ensemble.c: what a thermostat adds to a step ---- */
/* Once there are forces; before the first half of a step, and before a barostat
 * looks; and after its last kick. Collective. */
int md_ensemble_start(struct ctx *ctx, struct md *md);
void md_ensemble_begin(struct ctx *ctx, struct md *md);
int md_ensemble_apply(struct ctx *ctx, struct md *md);
/* What chains and barostat have of the conserved energy, the same on all
 * ranks. */
double md_extended_energy(const struct md *md);
/* The factor on all velocities of one Bussi step; kinetic and target per the
 * same unit. Same on all ranks for the same step. */
double md_bussi_factor(uint64_t seed, int64_t step, double decay,
                       double kinetic, double target, double freedom);
/* Whether each rank has its own part of md.thermostat_work. */
int md_work_is_shared(const struct md *md);
/* Boltzmann's constant times T in mass * velocity^2. */
double md_thermal(const struct md *md, double temperature);

#endif
