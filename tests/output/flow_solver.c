/* A solver for tests of what is written of a grid: fields that are known
 * everywhere, on blocks of any decomposition, and no physics.
 *
 * Linked with main.c and the library, in the place of solvers.c, it makes the
 * program `flow`. At the point (x, y, z) and the time t
 *
 *     velocity = (x + t, 10 y, 100 z - t), pressure = x + 2 y + 3 z + 10 t,
 *
 * so that linear interpolation between centers of cells is exact.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/field.h"
#include "solvers/solver.h"

struct flow {
    int64_t steps, step;
    double dt, time, growth;
    int stretched, periodic;
    int64_t cells[3], first[3], local[3];
    int ranks[3];
    double length[3];
    double *centers[3], *faces[3];
    double *values[2];
    struct grid_field fields[2];
    struct grid_frame frame;
};

static const struct param_section sections[] = {
    {"flow", 0, 0, "A field that is known."}, {NULL, 0, 0, NULL}};

static const struct param params[] = {
    {.section = "flow",
     .key = "steps",
     .type = PARAM_INT,
     .fallback = "10",
     .flags = PARAM_HAS_MIN,
     .help = "Number of steps."},
    {.section = "flow",
     .key = "timestep",
     .type = PARAM_DOUBLE,
     .fallback = "0.5",
     .help = "The first step."},
    {.section = "flow",
     .key = "growth",
     .type = PARAM_DOUBLE,
     .fallback = "1.0",
     .help = "Each step is so many times the last."},
    {.section = "flow",
     .key = "cells",
     .type = PARAM_INTS,
     .fallback = "[6, 5, 4]",
     .count = 3,
     .help = "Cells in x, y, z."},
    {.section = "flow",
     .key = "stretched",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "Cells grow with z."},
    {.section = "flow",
     .key = "periodic",
     .type = PARAM_BOOL,
     .fallback = "false",
     .help = "In all directions."},
    {.section = "output",
     .key = "fields",
     .type = PARAM_STRINGS,
     .fallback = "[\"velocity\", \"pressure\"]",
     .help = "Of a frame."},
    {.section = NULL}};

static const struct param_table table = {sections, params, NULL, NULL};

static void flow_destroy(struct ctx *ctx, void *state)
{
    struct flow *f = state;
    (void)ctx;
    if (f == NULL)
        return;
    for (int d = 0; d < 3; d++) {
        free(f->centers[d]);
        free(f->faces[d]);
    }
    free(f->values[0]);
    free(f->values[1]);
    free(f);
}

static double place(const struct flow *f, int d, int64_t i)
{
    double at = (double)i / (double)f->cells[d];
    if (d == 2 && f->stretched)
        at *= at;
    return f->length[d] * at;
}

static int make_axes(struct ctx *ctx, struct flow *f)
{
    for (int d = 0; d < 3; d++) {
        f->length[d] = 1.0 + d;
        f->faces[d] = calloc((size_t)f->cells[d] + 1, sizeof(double));
        f->centers[d] = calloc((size_t)f->cells[d], sizeof(double));
        if (f->faces[d] == NULL || f->centers[d] == NULL)
            return FAIL(ctx, STATUS_MEMORY, "out of memory");
        for (int64_t i = 0; i <= f->cells[d]; i++)
            f->faces[d][i] = place(f, d, i);
        for (int64_t i = 0; i < f->cells[d]; i++)
            f->centers[d][i] = 0.5 * (f->faces[d][i] + f->faces[d][i + 1]);
    }
    return 0;
}

/* Ranks in y and z, or in all directions where [domain] says so; there may be
 * more of them than cells. */
static void divide(struct ctx *ctx, const struct params *p, struct flow *f)
{
    int rank = comm_rank(ctx->comm), at[3];
    f->ranks[0] = f->ranks[1] = 1;
    f->ranks[2] = comm_size(ctx->comm);
    if (params_is_set(p, "domain", "ranks")) {
        size_t n;
        const int64_t *given = params_ints(p, "domain", "ranks", &n);
        for (int d = 0; d < 3; d++)
            f->ranks[d] = (int)given[d];
    }
    at[0] = rank % f->ranks[0];
    at[1] = rank / f->ranks[0] % f->ranks[1];
    at[2] = rank / f->ranks[0] / f->ranks[1];
    for (int d = 0; d < 3; d++) {
        f->first[d] = f->cells[d] * at[d] / f->ranks[d];
        f->local[d] = f->cells[d] * (at[d] + 1) / f->ranks[d] - f->first[d];
    }
}

static int flow_create(struct ctx *ctx, struct params *p, void **state)
{
    struct flow *f = *state = calloc(1, sizeof(*f));
    size_t n;
    if (f == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    f->steps = params_int(p, "flow", "steps");
    f->dt = params_double(p, "flow", "timestep");
    f->growth = params_double(p, "flow", "growth");
    f->stretched = params_bool(p, "flow", "stretched");
    f->periodic = params_bool(p, "flow", "periodic");
    memcpy(f->cells, params_ints(p, "flow", "cells", &n), sizeof(f->cells));
    divide(ctx, p, f);
    return make_axes(ctx, f);
}

static int flow_estimate(struct ctx *ctx, void *state, struct estimate *out)
{
    const struct flow *f = state;
    (void)ctx;
    *out = (struct estimate){.steps = f->steps};
    out->items = f->cells[0] * f->cells[1] * f->cells[2];
    out->items_per_rank = (double)out->items;
    out->frame_bytes = 32.0 * (double)out->items;
    for (int d = 0; d < 3; d++) {
        out->decomposition[d] = f->ranks[d];
        out->cells[d] = f->cells[d];
        out->box[d] = f->length[d];
    }
    snprintf(out->problem, sizeof(out->problem), "%" PRId64 " cells",
             out->items);
    return 0;
}

static int flow_initial(struct ctx *ctx, void *state)
{
    struct flow *f = state;
    size_t n = (size_t)(f->local[0] * f->local[1] * f->local[2]);
    f->values[0] = calloc(3 * n + 1, sizeof(double));
    f->values[1] = calloc(n + 1, sizeof(double));
    int ok = f->values[0] != NULL && f->values[1] != NULL;
    return comm_agree(ctx, ok ? 0 : FAIL(ctx, STATUS_MEMORY, "out of memory"));
}

static int flow_step(struct ctx *ctx, void *state, int look, int *stop)
{
    struct flow *f = state;
    double nothing = 0;
    (void)look;
    f->time += f->dt;
    f->dt *= f->growth;
    f->step++;
    return comm_step(ctx, 0, stop, &nothing);
}

static int64_t flow_step_number(const void *state)
{
    return ((const struct flow *)state)->step;
}

static double flow_time(const void *state)
{
    return ((const struct flow *)state)->time;
}

static double flow_timestep(const void *state)
{
    return ((const struct flow *)state)->dt;
}

static int64_t flow_steps_total(const void *state)
{
    return ((const struct flow *)state)->steps;
}

static int flow_done(const void *state)
{
    const struct flow *f = state;
    return f->step >= f->steps;
}

static const struct observable observables[] = {
    {"kinetic_energy", "m^2/s^2", "of nothing", "E", 0, 3}};

static const struct observable *flow_observables(const void *state, int *n)
{
    (void)state;
    *n = 1;
    return observables;
}

static int flow_observe(struct ctx *ctx, void *state, double *values)
{
    (void)ctx;
    values[0] = ((struct flow *)state)->time;
    return 0;
}

static void fill_in(struct flow *f)
{
    double *u = f->values[0], *p = f->values[1], t = f->time;
    for (int64_t k = 0; k < f->local[2]; k++)
        for (int64_t j = 0; j < f->local[1]; j++)
            for (int64_t i = 0; i < f->local[0]; i++) {
                double x = f->centers[0][f->first[0] + i];
                double y = f->centers[1][f->first[1] + j];
                double z = f->centers[2][f->first[2] + k];
                *u++ = x + t;
                *u++ = 10 * y;
                *u++ = 100 * z - t;
                *p++ = x + 2 * y + 3 * z + 10 * t;
            }
}

static const struct grid_field fields[] = {
    {"velocity", "m/s", "a known velocity", 3, NULL, NULL},
    {"pressure", "Pa", "a known pressure", 1, NULL, NULL}};

static int flow_field(const void *state, int i, const char **name)
{
    (void)state;
    *name = i < 2 ? fields[i].name : NULL;
    return i < 2 ? fields[i].components : 0;
}

static int flow_frame(struct ctx *ctx, void *state, int n_names,
                      const char *const *names, const struct grid_frame **out)
{
    struct flow *f = state;
    struct grid_frame *g = &f->frame;
    (void)ctx;
    fill_in(f);
    *g = (struct grid_frame){.step = f->step,
                             .time = f->time,
                             .time_unit = "s",
                             .length_unit = "m",
                             .stretched = f->stretched,
                             .fields = f->fields};
    for (int d = 0; d < 3; d++) {
        g->cells[d] = f->cells[d];
        g->first[d] = f->first[d];
        g->local[d] = f->local[d];
        g->length[d] = f->length[d];
        g->spacing[d] = f->length[d] / (double)f->cells[d];
        g->centers[d] = f->centers[d];
        g->faces[d] = f->faces[d];
        g->periodic[d] = f->periodic;
    }
    for (int i = 0; i < n_names; i++) {
        int which = strcmp(names[i], "pressure") == 0;
        f->fields[i] = fields[which];
        f->fields[i].values = f->values[which];
        g->n_fields++;
    }
    *out = g;
    return 0;
}

static int flow_results(struct ctx *ctx, void *state,
                        const struct result_table **tables, int *n)
{
    static const char *const names[] = {"z", "u"}, *const units[] = {"m", ""};
    static const double z[] = {0.25, 0.75}, u[] = {1, 2};
    static const double *const columns[] = {z, u};
    static const struct result_table profile = {.group = "profiles",
                                                .description = "a profile",
                                                .n_columns = 2,
                                                .n_rows = 2,
                                                .names = names,
                                                .units = units,
                                                .columns = columns};
    (void)ctx;
    (void)state;
    *tables = &profile;
    *n = 1;
    return 0;
}

static int flow_totals(struct ctx *ctx, void *state, struct solver_totals *out)
{
    (void)ctx;
    (void)state;
    *out = (struct solver_totals){.item = "cell", .items = 1};
    return 0;
}

static const char *flow_time_unit(const void *state)
{
    (void)state;
    return "s";
}

static const char *flow_precision(const void *state)
{
    (void)state;
    return "double";
}

static const struct solver solver_flow = {
    .name = "flow",
    .title = "flow",
    .params = &table,
    .starter = "",
    .create = flow_create,
    .estimate = flow_estimate,
    .initial = flow_initial,
    .step = flow_step,
    .step_number = flow_step_number,
    .time = flow_time,
    .timestep = flow_timestep,
    .steps_total = flow_steps_total,
    .done = flow_done,
    .observables = flow_observables,
    .observe = flow_observe,
    .grid_frame = flow_frame,
    .grid_field = flow_field,
    .results = flow_results,
    .totals = flow_totals,
    .time_unit = flow_time_unit,
    .precision = flow_precision,
    .destroy = flow_destroy,
};

const struct solver *solver_at(int i)
{
    return i == 0 ? &solver_flow : NULL;
}

const struct solver *solver_find(const char *name)
{
    return strcmp(name, "flow") == 0 ? &solver_flow : NULL;
}
