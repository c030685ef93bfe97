/* molecules.h: what tests of molecules on a card share: data files, a run on
 * either device, and what is compared.
 */
#ifndef WARPDECK_TESTS_CUDA_MOLECULES_H
#define WARPDECK_TESTS_CUDA_MOLECULES_H

#include "tests/md/md_case.h"

/* ---- molecules_files.c ---- */

/* Chains of five with a branch, on a lattice; backwards: the last particle
 * comes first; charged: each molecule has six charges that add up to nothing.
 * Returns 0, or not where the file cannot be written. */
int molecules_write_chains(const char *path, int backwards, int charged);

/* Four shapes of rigid bonds in turn: two particles, three, rigid water, and a
 * center with three; charged: as above. */
int molecules_write_bodies(const char *path, int charged);

/* ---- molecules_case.c ---- */

enum { MOLECULES_SUMS = 7 + MD_ENERGIES };

/* What is known after some steps. */
struct outcome {
    struct snapshot s;
    double sums[MOLECULES_SUMS]; /* virial, by directions, energies by term */
    double kinetic[6], inner[6];
    uint64_t counts[2][3 * 41]; /* bonds by length, angles by size */
};

/* On the CPU (cpu = 1) or on the test's device, up to the first forces. Chains
 * get terms of every style, whose FENE bond breaks at the length `fene`. */
int molecules_start(struct ctx *ctx, struct md_case *c, int cpu, double fene,
                    const char *deck);

/* What is known of it now. Returns the status. */
int molecules_look(struct md_case *c, struct outcome *o);

/* n steps of a deck; before them the first forces go to *first, where that is
 * not NULL. Returns the status. */
int molecules_run(struct ctx *ctx, const char *deck, int cpu, int n,
                  struct outcome *first, struct outcome *last);

void molecules_free(struct outcome *a, struct outcome *b);

/* The greatest difference over the root mean square of all. */
double molecules_off(const void *a, const void *b, size_t n);

void molecules_below(double got, double most, const char *what,
                     const char *more);

/* motion: places and velocities as well. */
void molecules_compare(const struct outcome *a, const struct outcome *b,
                       double tolerance, int motion, const char *what);

/* ---- molecules_charged.c ---- */

/* Both with charges, by every method. */
void molecules_check_charged(struct ctx *ctx);

#endif
