/* terms_case.h: a flow with scalars, whole in plain arrays and in blocks in the
 * kernels, for the tests of what is beside momentum. */
#ifndef WARPDECK_TESTS_FLUID_TERMS_CASE_H
#define WARPDECK_TESTS_FLUID_TERMS_CASE_H

#include "tests/fluid/reference_flow.h"
#include "tests/fluid/world.h"

struct terms_case {
    struct world world;
    struct fluid_setup setup;
    struct reference r; /* velocity */
    double *value[FLUID_SCALARS_MAX], *value_before[FLUID_SCALARS_MAX];
};

/* Grid and walls: a combination in base 3, x first; moving walls, scalars with
 * one face of fixed value and one of fixed flux, viscosity 0.02. Change
 * c->setup, then terms_start(). */
void terms_describe(struct terms_case *c, const int64_t cells[3],
                    int combination, double stretch, int n_scalars);
/* Blocks and arrays. Returns 0 or -1. */
int terms_start(struct terms_case *c, const struct fluid_kernels *k, int dims_y,
                int dims_z);
void terms_end(struct terms_case *c);

/* Velocity free of divergence that respects the walls, times `size`, or
 * anything; scalars anything. To the plain arrays. */
void terms_fill_flow(struct terms_case *c, double size);
void terms_fill_noise(struct terms_case *c, double size);
void terms_fill_values(struct terms_case *c, double size);
int terms_put(struct terms_case *c);  /* plain arrays to blocks, fresh ghosts */
int terms_take(struct terms_case *c); /* blocks to plain arrays */
int terms_look(struct terms_case *c, struct fluid_look *sum);

/* A scalar anywhere, ghosts by periodicity or the walls. */
double terms_value(const struct terms_case *c, int n, int64_t i, int64_t j,
                   int64_t k);
/* A repeatable number in [-1/2, 1/2). */
double terms_noise(uint64_t a, uint64_t b);

/* The greatest |a - b|, infinity where one is not a number. */
double terms_difference(const double *a, const double *b, size_t n);

#endif
