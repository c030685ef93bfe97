/* A solver for tests of the driver: points that drift, and failures on demand.
 *
 * Linked with main.c and the library, in the place of solvers.c, it makes the
 * program `toy`. What a run does around its solver is tested with it: quickly,
 * and at the moment a test asks for.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/field.h"
#include "domain/particles.h"
#include "domain/state.h"
#include "solvers/solver.h"

struct toy {
    int64_t steps, points, step;
    double timestep, pause;
    const char *fail; /* how, "no": not at all */
    int64_t fail_rank, fail_step;
    int64_t first, n;
    double (*position)[3];
    struct field field;
    struct field_frame frame;
    int phase;
    int looked;
};

static const struct param_section sections[] = {
    {"toy", 0, 0, "Points that drift."}, {NULL, 0, 0, NULL}};

static const struct param params[] = {
    {.section = "toy",
     .key = "steps",
     .type = PARAM_INT,
     .fallback = "10",
     .flags = PARAM_HAS_MIN,
     .help = "Number of steps."},
    {.section = "toy",
     .key = "points",
     .type = PARAM_INT,
     .fallback = "8",
     .min = 1,
     .flags = PARAM_HAS_MIN,
     .help = "Number of points."},
    {.section = "toy",
     .key = "timestep",
     .type = PARAM_DOUBLE,
     .fallback = "0.5",
     .flags = PARAM_HAS_MIN | PARAM_MIN_OPEN,
     .help = "Time step."},
    {.section = "toy",
     .key = "pause",
     .type = PARAM_DOUBLE,
     .fallback = "0",
     .flags = PARAM_HAS_MIN,
     .help = "Seconds that a step takes."},
    {.section = "toy",
     .key = "fail",
     .type = PARAM_STRING,
     .fallback = "\"no\"",
     .choices = "no|agreed|alone|crash|memory|nan|start|broken",
     .help = "How one rank fails."},
    {.section = "toy",
     .key = "fail_rank",
     .type = PARAM_INT,
     .fallback = "0",
     .help = "Which rank fails."},
    {.section = "toy",
     .key = "fail_step",
     .type = PARAM_INT,
     .fallback = "5",
     .help = "At which step."},
    {.section = NULL}};

static const struct param_table table = {sections, params, NULL, NULL};

static void toy_destroy(struct ctx *ctx, void *state)
{
    struct toy *toy = state;
    (void)ctx;
    if (toy != NULL)
        free(toy->position);
    free(toy);
}

static int toy_create(struct ctx *ctx, struct params *p, void **state)
{
    struct toy *toy = *state = calloc(1, sizeof(*toy));
    if (toy == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    toy->steps = params_int(p, "toy", "steps");
    toy->points = params_int(p, "toy", "points");
    toy->timestep = params_double(p, "toy", "timestep");
    toy->pause = params_double(p, "toy", "pause");
    toy->fail = params_string(p, "toy", "fail");
    toy->fail_rank = params_int(p, "toy", "fail_rank");
    toy->fail_step = params_int(p, "toy", "fail_step");
    toy->phase = timer_phase(ctx->timers, "drift");
    return 0;
}

static int toy_estimate(struct ctx *ctx, void *state, struct estimate *out)
{
    const struct toy *toy = state;
    int ranks = comm_size(ctx->comm);
    *out = (struct estimate){
        .items = toy->points,
        .decomposition = {ranks, 1, 1},
        .items_per_rank = (double)toy->points / ranks,
        .memory_per_rank = 24.0 * (double)toy->points / ranks,
        .steps = toy->steps,
        .frame_bytes = 24.0 * (double)toy->points,
    };
    snprintf(out->problem, sizeof(out->problem), "%" PRId64 " points",
             toy->points);
    return 0;
}

static int fails_here(const struct ctx *ctx, const struct toy *toy,
                      const char *how)
{
    return strcmp(toy->fail, how) == 0 &&
           comm_rank(ctx->comm) == toy->fail_rank &&
           toy->step == toy->fail_step;
}

static int toy_allocate(struct ctx *ctx, struct toy *toy)
{
    particles_slab(toy->points, comm_rank(ctx->comm), comm_size(ctx->comm),
                   &toy->first, &toy->n);
    toy->position = calloc((size_t)toy->n + 1, sizeof(*toy->position));
    return toy->position != NULL ? 0
                                 : FAIL(ctx, STATUS_MEMORY, "out of memory");
}

static int toy_initial(struct ctx *ctx, void *state)
{
    struct toy *toy = state;
    int status = 0;
    if (strcmp(toy->fail, "start") == 0 &&
        comm_rank(ctx->comm) == toy->fail_rank)
        status = FAIL(ctx, STATUS_INPUT, "the toy does not start");
    if (status == 0)
        status = toy_allocate(ctx, toy);
    toy->looked = 1;
    return comm_agree(ctx, status);
}

static struct state_array positions(const struct toy *toy)
{
    return state_rows("position", STATE_DOUBLE, toy->points, toy->first, toy->n,
                      3, toy->position);
}

static int toy_save(struct ctx *ctx, void *state, struct state_io *io)
{
    struct toy *toy = state;
    struct state_array rows = positions(toy);
    struct state_array step = state_shared("step", STATE_INT64, 1, &toy->step);
    TRY(state_put(ctx, io, &step));
    return state_put(ctx, io, &rows);
}

static int toy_restore(struct ctx *ctx, void *state, struct state_io *io)
{
    struct toy *toy = state;
    struct state_array step = state_shared("step", STATE_INT64, 1, &toy->step);
    TRY(comm_agree(ctx, toy_allocate(ctx, toy)));
    struct state_array rows = positions(toy);
    TRY(state_get(ctx, io, &step));
    return state_get(ctx, io, &rows);
}

/* The point that the deck asks for is broken, from that step on. */
static int toy_guard(struct ctx *ctx, void *state)
{
    struct toy *toy = state;
    int status = 0;
    if (strcmp(toy->fail, "broken") == 0 && toy->step >= toy->fail_step &&
        comm_rank(ctx->comm) == toy->fail_rank)
        status = FAIL(ctx, STATUS_PHYSICS,
                      "step %" PRId64 ", rank %d: a point is not finite",
                      toy->step, comm_rank(ctx->comm));
    return comm_agree(ctx, status);
}

static const char *const later_keys[] = {"toy.steps",     "toy.pause",
                                         "toy.fail",      "toy.fail_step",
                                         "toy.fail_rank", NULL};

static int toy_step(struct ctx *ctx, void *state, int look, int *stop)
{
    struct toy *toy = state;
    double moved = 0;
    int status = 0;
    toy->step++;
    timer_begin(ctx->timers, toy->phase);
    for (int64_t i = 0; i < toy->n; i++)
        toy->position[i][0] += toy->timestep;
    nanosleep(&(struct timespec){.tv_sec = (time_t)toy->pause,
                                 .tv_nsec = (long)(fmod(toy->pause, 1) * 1e9)},
              NULL);
    timer_end(ctx->timers, toy->phase);
    toy->looked = look;
    if (fails_here(ctx, toy, "crash"))
        raise(SIGKILL);
    if (fails_here(ctx, toy, "alone"))
        return FAIL(ctx, STATUS_FAILED, "the toy gives up without a word");
    if (fails_here(ctx, toy, "agreed"))
        status = FAIL(ctx, STATUS_PHYSICS, "the toy broke");
    if (fails_here(ctx, toy, "memory"))
        status = FAIL(ctx, STATUS_MEMORY, "out of memory at step %" PRId64,
                      toy->step);
    return comm_step(ctx, status, stop, &moved);
}

static int64_t toy_step_number(const void *state)
{
    return ((const struct toy *)state)->step;
}

static double toy_time(const void *state)
{
    const struct toy *toy = state;
    return (double)toy->step * toy->timestep;
}

static double toy_timestep(const void *state)
{
    return ((const struct toy *)state)->timestep;
}

static int64_t toy_steps_total(const void *state)
{
    return ((const struct toy *)state)->steps;
}

static int toy_done(const void *state)
{
    const struct toy *toy = state;
    return toy->step >= toy->steps;
}

static const struct observable observables[] = {
    {"center", "", "mean position in x", "x", 0, 3},
    {"looked", "", "1 where the step was to be looked at", "looked", 0, 0},
    {"sum", "", "sum of positions in x", "sum/N", 1, 3},
    {"hidden", "", "not in the table", NULL, 0, 0},
};

static const struct observable *toy_observables(const void *state, int *n)
{
    (void)state;
    *n = (int)(sizeof(observables) / sizeof(observables[0]));
    return observables;
}

static int toy_observe(struct ctx *ctx, void *state, double *values)
{
    struct toy *toy = state;
    double sum = 0;
    for (int64_t i = 0; i < toy->n; i++)
        sum += toy->position[i][0];
    TRY(comm_sum_double(ctx, &sum, 1));
    values[0] = sum / (double)toy->points;
    values[1] = toy->looked;
    values[2] = sum;
    values[3] =
        strcmp(toy->fail, "nan") == 0 && toy->step == toy->fail_step ? NAN : 42;
    return 0;
}

static int toy_frame(struct ctx *ctx, void *state, int n_names,
                     const char *const *names, const struct field_frame **out)
{
    struct toy *toy = state;
    (void)ctx;
    (void)n_names;
    (void)names;
    toy->field = (struct field){.name = "position",
                                .unit = "",
                                .description = "positions",
                                .type = FIELD_DOUBLE,
                                .components = 3,
                                .total = toy->points,
                                .first = toy->first,
                                .n = toy->n,
                                .values = toy->position};
    toy->frame = (struct field_frame){.step = toy->step,
                                      .time = toy_time(toy),
                                      .time_unit = "",
                                      .length_unit = "",
                                      .box_edges = {100, 100, 100},
                                      .periodic = {1, 1, 1},
                                      .n_fields = 1,
                                      .fields = &toy->field};
    *out = &toy->frame;
    return 0;
}

static int toy_results(struct ctx *ctx, void *state,
                       const struct result_table **tables, int *n)
{
    (void)ctx;
    (void)state;
    *tables = NULL;
    *n = 0;
    return 0;
}

static int toy_totals(struct ctx *ctx, void *state, struct solver_totals *out)
{
    const struct toy *toy = state;
    (void)ctx;
    *out = (struct solver_totals){.item = "point",
                                  .items = (double)toy->points,
                                  .memory = 24.0 * (double)toy->n};
    return 0;
}

static const char *toy_time_unit(const void *state)
{
    (void)state;
    return "";
}

static const char *toy_precision(const void *state)
{
    (void)state;
    return "double";
}

static const struct solver solver_toy = {
    .name = "toy",
    .title = "points that drift",
    .params = &table,
    .starter = "# Points that drift.\n",
    .create = toy_create,
    .estimate = toy_estimate,
    .initial = toy_initial,
    .save = toy_save,
    .restore = toy_restore,
    .guard = toy_guard,
    .later_keys = later_keys,
    .step = toy_step,
    .step_number = toy_step_number,
    .time = toy_time,
    .timestep = toy_timestep,
    .steps_total = toy_steps_total,
    .done = toy_done,
    .observables = toy_observables,
    .observe = toy_observe,
    .frame = toy_frame,
    .results = toy_results,
    .totals = toy_totals,
    .time_unit = toy_time_unit,
    .precision = toy_precision,
    .destroy = toy_destroy,
};

const struct solver *solver_at(int i)
{
    return i == 0 ? &solver_toy : NULL;
}

const struct solver *solver_find(const char *name)
{
    return strcmp(name, "toy") == 0 ? &solver_toy : NULL;
}
