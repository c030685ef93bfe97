/* solver.h: what the driver knows of a solver.
 *
 * The driver reads the deck, makes one solver and runs it: create, initial,
 * then step and observe until done, then finish. It knows no solver by name;
 * the list is solvers.def. Every call is collective over ctx->comm and returns
 * 0 or a status that all ranks agree on, unless noted.
 */
#ifndef WARPDECK_SOLVERS_SOLVER_H
#define WARPDECK_SOLVERS_SOLVER_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct params;
struct param_table;
struct observable;
struct field_frame;
struct grid_frame;
struct result_table;
struct state_io;

/* What a run will need, before anything large is allocated (`warpdeck check`,
 * and the choice of a device). */
struct estimate {
    char problem[128];    /* "32000 particles" */
    char terms[160];      /* what acts among them, "432 bonds"; may be "" */
    int64_t items;        /* particles, cells, paths */
    int decomposition[3]; /* ranks in x, y, z */
    double items_per_rank;
    double halo_per_rank;
    double memory_per_rank; /* bytes, on the device where it is chosen */
    char memory_hint[192];  /* what to use to need less; may be "" */
    int64_t steps;          /* of the whole run; -1: not known */
    double end_time;        /* where the steps are not known; or 0 */
    double frame_bytes;     /* one frame in the file; on a grid, in double */
    int64_t cells[3];       /* of a grid; 0 where there is none */
    double work_per_step;   /* floating-point operations, about */
    double box[3];          /* lengths; all 0 where there is no box */
    char length_unit[32];   /* "" in lj */
};

enum { SOLVER_NOTES = 3 };

/* Work and traffic of a finished run, for the closing table. */
struct solver_totals {
    const char *item;  /* "atom": the rate is printed as "atom-steps/s" */
    double items;      /* per step */
    double extra_rate; /* a second rate, per step, e.g. pairs in range */
    const char *extra; /* its name, "pairs in range", or NULL */
    double per_day;    /* nanoseconds that one step a second makes in a day;
                        * 0 where time has no such unit */
    double flops;      /* floating-point operations of all steps done so far,
                        * all ranks; 0 where not counted */
    double bytes;      /* that the loops had to move between memory and their
                        * processors so far, all ranks; 0 where not counted */
    double imbalance;  /* greatest / mean work over ranks; 0: not known */
    double memory;     /* bytes of solver state, greatest rank */
    char notes[SOLVER_NOTES][192]; /* lines to add, each of them, or "" */
};

/* One size of a solver's standard problem. */
struct bench_size {
    const char *name;      /* "32k" */
    const char *overrides; /* "md.initial.cells=[20,20,20]", several by ' ' */
};

/* The standard problem of `warpdeck bench`: a complete deck, and the sizes it
 * is measured at. */
struct solver_bench {
    const char *title;              /* one line: what it is */
    const char *deck;               /* TOML */
    const struct bench_size *sizes; /* ended by a row without a name */
    const char *steps_key;          /* "md.steps" */
    const char *precision_key;      /* "md.precision", or NULL */
    const char *rebuild_key;        /* what --rebuild-every sets, or NULL */
    int warm_up, steps;             /* steps before, and those measured */
    /* NULL, or the deck of a size where overrides do not suffice: *text is the
     * caller's to free; NULL: the deck of above. Errors: STATUS_MEMORY. */
    int (*deck_of)(struct ctx *ctx, const char *size, char **text);
    /* NULL, or a bare loop of the work of a size, on one thread: does about
     * `work` (items x steps) and returns how much it did; 0: a size without. */
    double (*bare)(const char *size, double work);
};

/* What replica exchange in temperature asks of a solver
 * (src/driver/exchange.h).
 */
struct solver_exchange {
    /* The potential energy of the present state, which was looked at. */
    int (*energy)(struct ctx *ctx, void *state, double *energy);
    /* 1 / kT in the same unit. Not collective. */
    double (*beta)(const void *state, double temperature);
    /* From now on at this temperature; with_velocities: they are scaled from
     * the present one to it, else it is that of a state just restored. */
    int (*set_temperature)(struct ctx *ctx, void *state, double temperature,
                           int with_velocities);
};

struct solver {
    const char *name;  /* "md" */
    const char *title; /* "molecular dynamics" */
    const struct param_table *params;
    const char *starter; /* a commented deck's opening lines: what it shows */

    /* Read the checked parameters into a solver's own state; cross-key errors
     * go to params_error(). Nothing large is allocated. The driver owns *state.
     */
    int (*create)(struct ctx *ctx, struct params *p, void **state);
    int (*estimate)(struct ctx *ctx, void *state, struct estimate *out);
    /* Build the initial state on ctx->device: particles, list, forces. */
    int (*initial)(struct ctx *ctx, void *state);
    /* Hand out everything that later steps depend on, between two steps
     * (src/domain/state.h); what the run is, comes from the deck. Nothing of
     * the run may change by it: a run with checkpoints is bit by bit the run
     * without. */
    int (*save)(struct ctx *ctx, void *state, struct state_io *io);
    /* In place of initial(): build on ctx->device the state that save() handed
     * out. Afterwards step_number() and time() are those of then, observe()
     * gives the same values, and the next step() does what it would have done:
     * bit by bit where io->same_machine, else within rounding. */
    int (*restore)(struct ctx *ctx, void *state, struct state_io *io);
    /* Look through the present state for what is not finite, missing or double;
     * name it, with step and rank: STATUS_PHYSICS, STATUS_LOST_PARTICLES. NULL:
     * there is nothing to look at. */
    int (*guard)(struct ctx *ctx, void *state);
    /* Keys that a run which goes on from a checkpoint may have other values of,
     * "md.steps"; ended by NULL; or NULL. */
    const char *const *later_keys;
    /* One step forward. `look` = 1: this step will be observed, so energies are
     * wanted. Not agreed on by itself: the solver calls comm_step() exactly
     * once a step, which carries *stop (in: this rank's wish, out: anybody's).
     */
    int (*step)(struct ctx *ctx, void *state, int look, int *stop);
    /* A part of that step, up to where a number from the device is needed, for
     * runs that go on side by side on one card (struct device, team); *more: it
     * may be called once more before step(), which does the rest. look and
     * *stop are the same each time. NULL: there are no parts. */
    int (*ahead)(struct ctx *ctx, void *state, int look, int *stop, int *more);

    /* Between two steps: why no other one can be made although the present
     * state is in order, so that the run saves it and ends; NULL: none. The
     * same on all ranks, valid until destroy(). NULL instead of a function:
     * never. */
    const char *(*blocked)(void *state);

    /* Time loop: where the run stands; in step() and after it failed, the step
     * that it makes. */
    int64_t (*step_number)(const void *state);
    double (*time)(const void *state);
    double (*timestep)(const void *state);     /* the present one */
    int64_t (*steps_total)(const void *state); /* -1: by end time */
    int (*done)(const void *state);

    /* Observables of the present state: a fixed list, and its values on all
     * ranks. */
    const struct observable *(*observables)(const void *state, int *n);
    int (*observe)(struct ctx *ctx, void *state, double *values);
    /* The fields named, in rows by id; the frame and what it points to stay
     * valid until the next call. NULL, as grid_frame(): no frames at all. */
    int (*frame)(struct ctx *ctx, void *state, int n_names,
                 const char *const *names, const struct field_frame **out);
    /* The same on a grid: NULL for a solver of particles, whose frame() is NULL
     * otherwise. Names: field_names, ended by NULL. Valid until the next
     * call. */
    int (*grid_frame)(struct ctx *ctx, void *state, int n_names,
                      const char *const *names, const struct grid_frame **out);
    const char *const *field_names;
    /* The i-th field that this state has, and how many numbers a cell has of
     * it; 0 behind the last. NULL: field_names, of one number each. */
    int (*grid_field)(const void *state, int i, const char **name);
    /* Tables that exist at the end of a run; valid until destroy. */
    int (*results)(struct ctx *ctx, void *state,
                   const struct result_table **tables, int *n);
    int (*totals)(struct ctx *ctx, void *state, struct solver_totals *out);
    /* What the live line of a terminal shows beside steps, of this rank, a few
     * words; NULL: nothing. Not collective. */
    void (*progress)(const void *state, char *text, size_t size);
    const char *(*time_unit)(const void *state);
    const char *(*precision)(const void *state);
    void (*destroy)(struct ctx *ctx, void *state); /* NULL is fine */

    const struct solver_bench *bench; /* NULL: `bench` says there is none */
    const struct solver_exchange *exchange; /* NULL: it has no temperature */
    /* What it was built with that may be missing, for `info`; NULL: nothing. */
    void (*library)(char *text, size_t size);
};

/* The solver of a name, or NULL. The list: solver_at(i) until NULL. */
const struct solver *solver_find(const char *name);
const struct solver *solver_at(int i);

#endif
