/* job.h: a deck, the solver it asks for, and what that will need.
 *
 * What `run`, `check` and `bench` have in common: from a path to a solver that
 * is ready for its initial state.
 */
#ifndef WARPDECK_DRIVER_JOB_H
#define WARPDECK_DRIVER_JOB_H

#include "solvers/solver.h"

struct ctx;
struct params;
struct device;

struct job {
    struct params *params;
    const struct solver *solver;
    void *state;
    struct estimate plan;
    char *name; /* [output] name, or the deck's file name without .toml */
    struct device *device;
    int borrows_device; /* it is another job's, which is closed later */
    int team;           /* jobs that share the device side by side; or 0 */
};

/* The deck alone, checked against the tables of its keys: params_read().
 * Collective. */
int job_read_deck(struct ctx *ctx, const char *deck, int n_overrides,
                  const char *const *overrides, struct params **out);

/* Read and check the deck, make the solver, estimate. Nothing large is
 * allocated. *job is to be closed whatever is returned. Collective. */
int job_open(struct ctx *ctx, const char *deck, int n_overrides,
             const char *const *overrides, struct job *job);

/* The same from a deck in memory, the same on all ranks; `name` is for
 * messages. */
int job_open_text(struct ctx *ctx, const char *name, const char *text,
                  int n_overrides, const char *const *overrides,
                  struct job *job);

/* Open the device: `wanted` (from --device), or else [run] device; and set the
 * number of threads. ctx->device points to it until job_close(). A job that
 * borrows its device only takes it. Collective. */
int job_open_device(struct ctx *ctx, struct job *job, const char *wanted);

/* Calls of the solver, see solver.h, with the job's state. What is wrong with
 * the physics is told with the step, which loops over particles or cells do not
 * know. Collective. */
int job_initial(struct ctx *ctx, const struct job *job);
int job_step(struct ctx *ctx, const struct job *job, int look, int *stop);
int job_ahead(struct ctx *ctx, const struct job *job, int look, int *stop,
              int *more);
int job_observe(struct ctx *ctx, const struct job *job, double *values);
int job_frame(struct ctx *ctx, const struct job *job, int n_names,
              const char *const *names, const struct field_frame **out);
int job_grid_frame(struct ctx *ctx, const struct job *job, int n_names,
                   const char *const *names, const struct grid_frame **out);

void job_close(struct ctx *ctx, struct job *job);

#endif
