/* world.h: several blocks of one grid in one process, for tests of the fluid's
 * kernels: messages are copied, no MPI. */
#ifndef WARPDECK_TESTS_FLUID_WORLD_H
#define WARPDECK_TESTS_FLUID_WORLD_H

#include "base/ctx.h"
#include "kernels/fluid/fluid_kernels.h"

enum { WORLD_RANKS_MAX = 16 };

struct world {
    const struct fluid_kernels *k;
    struct ctx ctx;
    struct fluid_setup setup[WORLD_RANKS_MAX];
    struct fluid_store *store[WORLD_RANKS_MAX];
    int64_t cuts[3][WORLD_RANKS_MAX + 1];
    int n, dims[3];
    double face_z[2048];
};

/* A whole grid of cells, with box lengths 1, and walls of the given types;
 * stretched along z where stretch > 0. Other members are zero, for the caller
 * to fill in. face_z is w's. */
void world_setup(struct world *w, struct fluid_setup *whole,
                 const int64_t cells[3], const enum fluid_wall walls[3],
                 double stretch);
/* Cut it into dims_y times dims_z blocks. Returns 0 or a status, told. */
int world_create(struct world *w, const struct fluid_kernels *k,
                 struct device *device, const struct fluid_setup *whole,
                 int dims_y, int dims_z);
void world_destroy(struct world *w);

/* The whole field [z][y][x], from or to the blocks. */
int world_set(struct world *w, enum fluid_field f, const double *whole);
int world_get(struct world *w, enum fluid_field f, double *whole);

/* One exchange among all blocks; one substage; three of them. */
int world_exchange(struct world *w, enum fluid_exchange what);
int world_substage(struct world *w, const struct fluid_substage *sub,
                   const double extra[3], double *rate);
int world_step(struct world *w, double dt, const double force[3], double *rate);

/* Substage 0, 1 or 2 of Wray's Runge-Kutta. */
struct fluid_substage world_stage(int stage, double dt, const double force[3]);

#endif
