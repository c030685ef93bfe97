/* fluid_frame.c: pictures of the flow at the centers of the cells. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "fluid.h"

struct kind {
    const char *name;
    int components;
    enum fluid_field first;
    enum fluid_unit unit;
    const char *description;
};

static const struct kind kinds[] = {
    {"velocity", 3, FLUID_CENTER_U, FLUID_VELOCITY,
     "velocity, at the centers of cells"},
    {"pressure", 1, FLUID_PRESSURE, FLUID_PRESSURE_UNIT,
     "pressure, of mean 0, without the mean gradient that drives the flow"},
    {"vorticity", 3, FLUID_VORTICITY_X, FLUID_RATE, "curl of the velocity"},
    {"q_criterion", 1, FLUID_Q, FLUID_RATE2,
     "second invariant of the velocity gradient: positive in vortices"}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The row of a name; that of a scalar is made. 0 where there is none. */
static int find(const struct fluid *f, const char *name, struct kind *out)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *out = kinds[i];
            return 1;
        }
    for (int i = 0; i < f->setup.n_scalars; i++)
        if (strcmp(f->tracer[i].name, name) == 0) {
            *out = (struct kind){f->tracer[i].name, 1,
                                 (enum fluid_field)(FLUID_SCALAR0 + i),
                                 FLUID_NO_UNIT, "scalar"};
            return 1;
        }
    return 0;
}

int fluid_has_field(const struct fluid *f, const char *name)
{
    struct kind kind;
    return find(f, name, &kind);
}

int fluid_field_components(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].components;
    return 1;
}

int fluid_grid_field(const void *state, int i, const char **name)
{
    const struct fluid *f = state;
    *name = f->field_names[i];
    return *name != NULL ? fluid_field_components(*name) : 0;
}

/* Take away the mean over the volume. */
static int center_pressure(struct ctx *ctx, const struct fluid *f, double *p)
{
    const struct block *b = &f->block;
    int64_t plane = b->local[0] * b->local[1];
    double sum = 0;
    for (int64_t k = 0; k < b->local[2]; k++) {
        const double *z = f->face[2] + b->first[2] + k;
        double part = 0;
        for (int64_t i = 0; i < plane; i++)
            part += p[k * plane + i];
        sum += part * (z[1] - z[0]);
    }
    TRY(comm_sum_double(ctx, &sum, 1));
    double all = (double)f->setup.cells[0] * (double)f->setup.cells[1];
    double mean = sum / (all * f->length[2]);
    for (int64_t i = 0; i < plane * b->local[2]; i++)
        p[i] -= mean;
    return 0;
}

/* One field, components side by side. */
static int fetch(struct ctx *ctx, struct fluid *f, const struct kind *kind,
                 double *values)
{
    size_t n = fluid_block_cells(f), width = (size_t)kind->components;
    for (size_t c = 0; c < width; c++) {
        enum fluid_field field = (enum fluid_field)((size_t)kind->first + c);
        double *block = width == 1 ? values : f->scratch;
        TRY(f->k->get(ctx, f->store, field, block));
        for (size_t i = 0; i < n && width > 1; i++)
            values[width * i + c] = block[i];
    }
    return 0;
}

static int add_field(struct ctx *ctx, struct fluid *f, const struct kind *kind)
{
    int at = f->frame.n_fields, status = 0;
    size_t n = fluid_block_cells(f);
    free(f->values[at]);
    f->values[at] = malloc(n * (size_t)kind->components * sizeof(double) + 1);
    if (!f->values[at])
        status =
            FAIL(ctx, STATUS_MEMORY, "no memory for field '%s'", kind->name);
    if (status == 0)
        status = fetch(ctx, f, kind, f->values[at]);
    TRY(comm_agree(ctx, status));
    if (kind->first == FLUID_PRESSURE)
        TRY(center_pressure(ctx, f, f->values[at]));
    f->fields[at] = (struct grid_field){.name = kind->name,
                                        .unit = f->unit_text[kind->unit],
                                        .description = kind->description,
                                        .components = kind->components,
                                        .values = f->values[at]};
    f->frame.n_fields++;
    return 0;
}

static void describe(struct fluid *f)
{
    struct grid_frame *frame = &f->frame;
    *frame = (struct grid_frame){.step = f->step,
                                 .time = f->time,
                                 .time_unit = f->unit_text[FLUID_TIME],
                                 .length_unit = f->unit_text[FLUID_LENGTH],
                                 .stretched = !f->setup.uniform_z,
                                 .fields = f->fields};
    for (int d = 0; d < 3; d++) {
        frame->cells[d] = f->setup.cells[d];
        frame->first[d] = f->block.first[d];
        frame->local[d] = f->block.local[d];
        frame->length[d] = f->length[d];
        frame->spacing[d] = f->length[d] / (double)f->setup.cells[d];
        frame->centers[d] = f->center[d];
        frame->faces[d] = f->face[d];
        frame->periodic[d] = f->setup.face[d][0].type == FLUID_PERIODIC;
    }
}

int fluid_frame(struct ctx *ctx, void *state, int n_names,
                const char *const *names, const struct grid_frame **out)
{
    struct fluid *f = state;
    int status = 0;
    describe(f);
    if (!f->scratch)
        f->scratch = malloc(fluid_block_cells(f) * sizeof *f->scratch);
    if (!f->scratch)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for a frame");
    TRY(comm_agree(ctx, status));
    TRY(fluid_refresh(ctx, f));
    for (int i = 0; i < n_names; i++) {
        struct kind kind;
        if (!find(f, names[i], &kind))
            return FAIL(ctx, STATUS_UNSUPPORTED, "no field '%s'", names[i]);
        int again = 0;
        for (int j = 0; j < i; j++)
            again |= strcmp(names[i], names[j]) == 0;
        if (!again)
            TRY(add_field(ctx, f, &kind));
    }
    *out = &f->frame;
    return 0;
}

void fluid_frame_free(struct fluid *f)
{
    for (size_t i = 0; i < sizeof f->values / sizeof f->values[0]; i++)
        free(f->values[i]);
    free(f->scratch);
}
