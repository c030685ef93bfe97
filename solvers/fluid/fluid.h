/* fluid.h: the state of an incompressible flow, and what the files of this
 * folder call of each other. docs/fluid.md has the equations.
 */
#ifndef WARPDECK_SOLVERS_FLUID_FLUID_H
#define WARPDECK_SOLVERS_FLUID_FLUID_H

#include <stdint.h>

#include "base/param.h"
#include "domain/block.h"
#include "domain/field.h"
#include "kernels/device.h"
#include "kernels/fluid/fluid_kernels.h"

struct estimate;
struct fft_power;
struct exchange;
struct params;
struct solver_bench;
struct solver_totals;
struct state_io;

enum {
    FLUID_NAME_MAX = 32,
    FLUID_TEXT_MAX = 96,
    FLUID_OBSERVABLES_MAX = 48,
    FLUID_CUTS_MAX = 64,   /* decompositions looked at */
    FLUID_PHASES_MAX = 32, /* of the kernels */
    FLUID_SPECTRA_MAX = 16 /* heights with spectra of their own */
};

enum fluid_profile {
    FLUID_REST,
    FLUID_UNIFORM,
    FLUID_TAYLOR_GREEN,
    FLUID_TAYLOR_GREEN_2D,
    FLUID_POISEUILLE,
    FLUID_COUETTE,
    FLUID_SHEAR_LAYER,
    FLUID_RANDOM,
    FLUID_CHANNEL
};

/* [fluid.initial] */
struct fluid_start {
    enum fluid_profile profile;
    double amplitude, perturbation, peak, thickness;
    double velocity[3];    /* added to the profile */
    int direction, normal; /* of a sheared profile: along, across */
};

enum fluid_scalar_profile { FLUID_SCALAR_UNIFORM, FLUID_SCALAR_LINEAR };

/* What the solver knows of a scalar beside struct fluid_scalar. */
struct fluid_tracer {
    char name[FLUID_NAME_MAX];
    enum fluid_scalar_profile profile;
    double value, perturbation;
    int across; /* direction with a fixed value on both faces, or -1 */
};

enum fluid_unit {
    FLUID_NO_UNIT,
    FLUID_LENGTH,
    FLUID_TIME,
    FLUID_VELOCITY,
    FLUID_VELOCITY2,
    FLUID_DISSIPATION,
    FLUID_RATE,
    FLUID_RATE2,
    FLUID_ACCELERATION,
    FLUID_PRESSURE_UNIT,
    FLUID_WAVENUMBER,
    FLUID_UNITS
};

/* Terms of an observable's value: see fluid_observe.c. */
struct fluid_row {
    int kind, index; /* of direction, wall or scalar */
};

struct fluid_statistics {
    int on, axis;
    double start;
    struct interval every;
    int64_t samples;
    double first_time, last_time;
    double *sums; /* [local[axis]][fluid_moments()], over samples */
    double *now;  /* of one sample */
};

/* A finished spectrum and its table. */
struct fluid_spectrum {
    struct result_table table;
    char group[FLUID_TEXT_MAX], description[2 * FLUID_TEXT_MAX];
    const char *names[4], *units[4];
    const double *columns[4];
    double *values; /* [4][modes] */
};

/* Mean squares by mode along x and y: over the volume, or at heights. */
struct fluid_spectra {
    int on[2], n_at, n_tables;
    double at[FLUID_SPECTRA_MAX];
    int64_t plane[FLUID_SPECTRA_MAX];
    struct fft_power *power[2];
    double *sums[2]; /* [height][component][mode], over samples */
    double *block;   /* one component of this rank's cells */
    struct fluid_spectrum tables[2 * FLUID_SPECTRA_MAX];
};

struct fluid {
    const struct fluid_kernels *k;
    struct fluid_store *store;
    struct exchange *exchange;
    struct block block;
    struct fluid_setup setup;
    enum precision precision;
    uint64_t seed;
    enum unit_system units;
    char unit_text[FLUID_UNITS][FLUID_TEXT_MAX];

    /* the grid: faces [cells + 1] and centers [cells] of the whole */
    double length[3];
    double *face[3], *center[3];
    int ranks_given; /* the deck says how the grid is cut */
    int auto_diffusion;

    struct fluid_start start;
    struct fluid_tracer tracer[FLUID_SCALARS_MAX];
    double acceleration[3];
    int held[3]; /* bulk velocity is held by a pressure gradient */
    double bulk[3];

    /* time */
    int64_t step, steps; /* steps: -1 without a limit */
    int64_t first_step;  /* of this job */
    double time, end_time, dt, fixed_dt;
    double cfl;         /* of a step that adapts; with a fixed one, the most */
    double landing_on;  /* the next step ends exactly here; or infinity */
    double landing;     /* frames are written at multiples of it; 0: not */
    double dt_free;     /* as the limits have it, before landing on a time */
    double rate;        /* greatest |u|/dx + |v|/dy + |w|/dz now */
    double rate_walls;  /* of moving walls */
    double rate_spin;   /* of rotation */
    double stiffness;   /* acceleration over cell size, for a flow at rest */
    double viscous_dt;  /* limit of explicit diffusion; infinity: none */
    double last_dt;     /* of the last step made */
    double gradient[3]; /* acceleration that holds the flow */

    int n_observables;
    struct observable observables[FLUID_OBSERVABLES_MAX];
    struct fluid_row row[FLUID_OBSERVABLES_MAX];
    char text[FLUID_OBSERVABLES_MAX][FLUID_TEXT_MAX]; /* names of these */

    const char *field_names[8 + FLUID_SCALARS_MAX];
    double frame_bytes;
    struct grid_frame frame;
    struct grid_field fields[8 + FLUID_SCALARS_MAX];
    double *values[8 + FLUID_SCALARS_MAX], *scratch;

    struct fluid_statistics statistics;
    struct fluid_spectra spectra;
    struct result_table *tables; /* the profiles and the spectra */
    int n_tables;

    double phases_before[FLUID_PHASES_MAX]; /* seconds, before the first step */
    int phase_predict, phase_halo, phase_transform, phase_columns,
        phase_transpose, phase_correct, phase_lines, phase_statistics;
};

extern const struct param_table fluid_param_table;
extern const struct solver_bench fluid_bench;
extern const char *const fluid_field_names[];

/* fluid_params.c: the deck's keys, checked. Collective. */
int fluid_read_params(struct ctx *ctx, struct params *p, struct fluid *f);

/* fluid_boundary.c: what the faces of the box do. */
void fluid_read_boundary(struct params *p, struct fluid *f);
void fluid_read_scalars(struct params *p, struct fluid *f);

/* fluid_grid.c: faces and centers, from domain.size and fluid.grid. Errors of
 * the deck go to params_error(); otherwise STATUS_MEMORY. */
int fluid_make_grid(struct ctx *ctx, struct params *p, struct fluid *f);
/* How the ranks share it. */
int fluid_choose_block(struct ctx *ctx, struct params *p, struct fluid *f);
/* Cut into dims and say so in f->setup. */
int fluid_set_block(struct ctx *ctx, struct fluid *f, const int dims[3]);
double fluid_least_spacing(const struct fluid *f, int direction);

/* fluid_store.c: the kernels and their store. cut: NULL, or the ranks in x, y,
 * z of a run that goes on, taken where they fit and the deck has none. */
int fluid_open(struct ctx *ctx, struct fluid *f, const int64_t *cut);
void fluid_close(struct fluid *f);
double fluid_store_bytes(const struct fluid *f);

/* fluid_step.c */
int fluid_step(struct ctx *ctx, void *state, int look, int *stop);
/* Whether all is finite. Collective. Errors: STATUS_PHYSICS. */
int fluid_guard(struct ctx *ctx, void *state);
/* Fresh ghost layers of velocity and scalars. */
int fluid_refresh(struct ctx *ctx, struct fluid *f);
/* One substage; adds to gradient (if not NULL) the acceleration that held the
 * flow, times its share of the step. */
int fluid_substage(struct ctx *ctx, struct fluid *f,
                   const struct fluid_substage *sub, double gradient[3],
                   double *rate);

/* fluid_fastest.c: STATUS_PHYSICS with the cell of the largest CFL of a step of
 * dt, and its rank. Collective. */
int fluid_fail_too_fast(struct ctx *ctx, struct fluid *f, double dt);
/* The scheme's limit on the imaginary axis. */
#define FLUID_CFL_LIMIT 1.7320508075688772 /* sqrt(3) */
extern const double fluid_gamma[3], fluid_zeta[3];

/* fluid_time.c: how long the next step may be. */
double fluid_viscous_limit(const struct fluid *f, enum fluid_diffusion how);
enum fluid_diffusion fluid_best_diffusion(const struct fluid *f);
void fluid_choose_timestep(struct fluid *f);
void fluid_limits(struct fluid *f); /* those that do not change */

/* fluid_initial.c, fluid_random.c: velocity and scalars at the start. */
int fluid_place(struct ctx *ctx, struct fluid *f);
/* The pressure that belongs to the velocity as it is. */
int fluid_find_pressure(struct ctx *ctx, struct fluid *f);
int fluid_random_component(struct ctx *ctx, const struct fluid *f,
                           int component, double scale, double *block);
double fluid_random_scale(const struct fluid *f);

/* fluid_observe.c, fluid_frame.c, fluid_statistics.c, fluid_totals.c */
void fluid_observe_init(struct fluid *f);
int fluid_observe(struct ctx *ctx, void *state, double *values);
int fluid_frame(struct ctx *ctx, void *state, int n_names,
                const char *const *names, const struct grid_frame **out);
int fluid_grid_field(const void *state, int i, const char **name);
void fluid_frame_free(struct fluid *f);
int fluid_has_field(const struct fluid *f, const char *name);
/* Numbers of a cell: 3 of a vector, 1 of all others. */
int fluid_field_components(const char *name);
int fluid_statistics_start(struct ctx *ctx, struct fluid *f);
int fluid_statistics_step(struct ctx *ctx, struct fluid *f);
void fluid_statistics_free(struct fluid *f);
int fluid_results(struct ctx *ctx, void *state,
                  const struct result_table **tables, int *n);
/* fluid_spectra.c: as the statistics, at the same times. */
void fluid_read_spectra(struct params *p, struct fluid *f);
int fluid_spectra_start(struct ctx *ctx, struct fluid *f);
int fluid_spectra_sample(struct ctx *ctx, struct fluid *f);
int fluid_spectra_results(struct ctx *ctx, struct fluid *f);
void fluid_spectra_free(struct fluid *f);
int fluid_spectra_save(struct ctx *ctx, struct fluid *f, struct state_io *io);
int fluid_spectra_restore(struct ctx *ctx, struct fluid *f,
                          struct state_io *io);
/* fluid_state.c */
int fluid_save(struct ctx *ctx, void *state, struct state_io *io);
int fluid_restore(struct ctx *ctx, void *state, struct state_io *io);
int fluid_estimate(struct ctx *ctx, void *state, struct estimate *out);
/* Remember what the kernels' phases took so far: the start does not count. */
void fluid_start_phases(struct fluid *f);
int fluid_totals(struct ctx *ctx, void *state, struct solver_totals *out);

static inline size_t fluid_block_cells(const struct fluid *f)
{
    return (size_t)(f->block.local[0] * f->block.local[1] * f->block.local[2]);
}

#endif
