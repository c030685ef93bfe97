/* reference_flow.h: one substage of incompressible flow written straight from
 * the equations, with plain loops over a whole grid in double: what the tests
 * hold the kernels against. Slow. */
#ifndef WARPDECK_TESTS_FLUID_REFERENCE_FLOW_H
#define WARPDECK_TESTS_FLUID_REFERENCE_FLOW_H

#include "kernels/fluid/fluid_kernels.h"

struct reference {
    const struct fluid_setup *setup; /* of the whole grid, undivided */
    int64_t n[3];
    size_t cells;
    double *u[3], *before[3]; /* [z][y][x] */
    double *psi;
    double *work[6];
};

/* Returns 0 or -1 when out of memory. */
int reference_create(struct reference *r, const struct fluid_setup *setup);
void reference_destroy(struct reference *r);

/* Heights and distances of centers, beyond the ends too. */
double reference_h(const struct reference *r, int64_t k);
double reference_hc(const struct reference *r, int64_t k);
/* Component c at any place, ghosts by periodicity or the walls. */
double reference_at(const struct reference *r, int c, int64_t i, int64_t j,
                    int64_t k);
size_t reference_index(const struct reference *r, int64_t i, int64_t j,
                       int64_t k);

void reference_predict(struct reference *r, const struct fluid_substage *sub);
/* div u at every cell to out; the greatest magnitude is returned. */
double reference_divergence(const struct reference *r, double *out);
/* Make u free of divergence. */
void reference_project(struct reference *r);

/* Integral of u.u / 2, each component with its own volumes. */
double reference_energy(const struct reference *r);

#endif
