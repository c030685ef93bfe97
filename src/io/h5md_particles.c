#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/field.h"
#include "io/h5md.h"
#include "io/h5md_file.h"

#define GROUP "/particles/all"
#define BOX GROUP "/box"
enum { PATH_SIZE = 512 };

static int make_box(struct ctx *ctx, struct h5md *f,
                    const struct field_frame *frame)
{
    const char *boundary[3];
    const int64_t dimension = 3;
    const hsize_t series[1] = {0}, edges[3] = {0, 3, 3};

    for (int d = 0; d < 3; d++)
        boundary[d] = frame->periodic[d] ? "periodic" : "none";
    TRY(h5_group(ctx, f->h5, BOX));
    TRY(h5_ints(ctx, f->h5, BOX, "dimension", 1, &dimension));
    TRY(h5_fixed_texts(ctx, f->h5, BOX, "boundary", 3, boundary));
    TRY(h5_doubles(ctx, f->h5, BOX, "origin", 3, frame->box_origin));
    TRY(h5_set_create(ctx, f->h5, BOX "/edges/value", FIELD_DOUBLE, 3, edges, 1,
                      &f->edges));
    TRY(h5md_describe(ctx, f, BOX "/edges/value", frame->length_unit,
                      "edge vectors of the box, a row each", 1));
    TRY(h5_set_create(ctx, f->h5, BOX "/edges/step", FIELD_INT64, 1, series, 1,
                      &f->frame_step));
    TRY(h5md_describe(ctx, f, BOX "/edges/step", "", "time step of each frame",
                      0));
    TRY(h5_set_create(ctx, f->h5, BOX "/edges/time", FIELD_DOUBLE, 1, series, 1,
                      &f->frame_time));
    return h5md_describe(ctx, f, BOX "/edges/time", frame->time_unit,
                         "simulated time of each frame", 1);
}

/* The fields whose units MDAnalysis looks at. */
static int is_read_by_mdanalysis(const char *name)
{
    return strcmp(name, "position") == 0 || strcmp(name, "velocity") == 0 ||
           strcmp(name, "force") == 0;
}

static int make_constant(struct ctx *ctx, struct h5md *f,
                         const struct field *from, struct h5md_field *field)
{
    const hsize_t shape[2] = {(hsize_t)from->total, (hsize_t)from->components};
    char path[PATH_SIZE];

    snprintf(path, sizeof path, GROUP "/%s", from->name);
    TRY(h5_set_create(ctx, f->h5, path, from->type,
                      from->components > 1 ? 2 : 1, shape, 0, &field->values));
    return h5md_describe(ctx, f, path, from->unit, from->description, 0);
}

static int make_changing(struct ctx *ctx, struct h5md *f,
                         const struct field *from, struct h5md_field *field)
{
    const hsize_t shape[3] = {0, (hsize_t)from->total,
                              (hsize_t)from->components};
    char path[PATH_SIZE];

    snprintf(path, sizeof path, GROUP "/%s/value", from->name);
    TRY(h5_set_create(ctx, f->h5, path, from->type,
                      from->components > 1 ? 3 : 2, shape, 1, &field->values));
    TRY(h5md_describe(ctx, f, path, from->unit, from->description,
                      is_read_by_mdanalysis(from->name)));
    snprintf(path, sizeof path, GROUP "/%s/step", from->name);
    TRY(h5_link(ctx, f->h5, BOX "/edges/step", path));
    snprintf(path, sizeof path, GROUP "/%s/time", from->name);
    return h5_link(ctx, f->h5, BOX "/edges/time", path);
}

static int make_field(struct ctx *ctx, struct h5md *f, const struct field *from,
                      struct h5md_field *field)
{
    field->name = strdup(from->name);
    field->constant = from->constant;
    field->components = from->components;
    field->total = from->total;
    if (field->name == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    return from->constant ? make_constant(ctx, f, from, field)
                          : make_changing(ctx, f, from, field);
}

static int make_all(struct ctx *ctx, struct h5md *f,
                    const struct field_frame *frame)
{
    f->fields = calloc(frame->n_fields > 0 ? (size_t)frame->n_fields : 1,
                       sizeof *f->fields);
    if (f->fields == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    f->has_particles = 1;
    TRY(make_box(ctx, f, frame));
    for (int i = 0; i < frame->n_fields; i++) {
        f->n_fields = i + 1;
        TRY(make_field(ctx, f, &frame->fields[i], &f->fields[i]));
    }
    return 0;
}

static int check_same(struct ctx *ctx, const struct h5md *f,
                      const struct field_frame *frame)
{
    if (frame->n_fields != f->n_fields)
        return FAIL(ctx, STATUS_INTERNAL,
                    "a frame of %d fields after one of %d", frame->n_fields,
                    f->n_fields);
    for (int i = 0; i < f->n_fields; i++) {
        const struct field *now = &frame->fields[i];
        const struct h5md_field *then = &f->fields[i];

        if (strcmp(now->name, then->name) != 0 || now->total != then->total ||
            now->components != then->components ||
            now->type != then->values.type)
            return FAIL(ctx, STATUS_INTERNAL,
                        "field '%s' of %" PRId64
                        " particles differs from the first frame's '%s' of "
                        "%" PRId64,
                        now->name, now->total, then->name, then->total);
    }
    return 0;
}

/* ---- a file that was reopened ---- */

int h5md_find_frames(struct ctx *ctx, struct h5md *f)
{
    struct h5_set steps = {.id = H5I_INVALID_HID};
    int status;

    if (!h5_exists(f->h5, BOX "/edges/step"))
        return 0;
    status = comm_agree(ctx, h5_set_open(ctx, f->h5, BOX "/edges/step",
                                         FIELD_INT64, 1, 1, &steps));
    if (status == 0)
        f->frames = (int64_t)steps.shape[0];
    if (status == 0 && f->frames > 0)
        status =
            h5_set_read(ctx, f->h5, &steps, f->frames - 1, 1, &f->frame_last);
    h5_set_close(&steps);
    return status;
}

static int open_field(struct ctx *ctx, struct h5md *f, const struct field *from,
                      struct h5md_field *field)
{
    int growing = !from->constant, vector = from->components > 1;
    char path[PATH_SIZE];

    field->name = strdup(from->name);
    field->constant = from->constant;
    field->components = from->components;
    if (field->name == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    snprintf(path, sizeof path, growing ? GROUP "/%s/value" : GROUP "/%s",
             from->name);
    TRY(h5_set_open(ctx, f->h5, path, from->type, 1 + growing + vector, growing,
                    &field->values));
    field->total = (int64_t)field->values.shape[growing];
    return 0;
}

static int open_all(struct ctx *ctx, struct h5md *f,
                    const struct field_frame *frame)
{
    f->fields = calloc(frame->n_fields > 0 ? (size_t)frame->n_fields : 1,
                       sizeof *f->fields);
    if (f->fields == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    f->has_particles = 1;
    TRY(h5_set_open(ctx, f->h5, BOX "/edges/value", FIELD_DOUBLE, 3, 1,
                    &f->edges));
    TRY(h5_set_open(ctx, f->h5, BOX "/edges/step", FIELD_INT64, 1, 1,
                    &f->frame_step));
    TRY(h5_set_open(ctx, f->h5, BOX "/edges/time", FIELD_DOUBLE, 1, 1,
                    &f->frame_time));
    for (int i = 0; i < frame->n_fields; i++) {
        f->n_fields = i + 1;
        TRY(open_field(ctx, f, &frame->fields[i], &f->fields[i]));
    }
    return check_same(ctx, f, frame);
}

int h5md_make_particles(struct ctx *ctx, struct h5md *f,
                        const struct field_frame *frame)
{
    if (f->has_particles)
        return check_same(ctx, f, frame);
    if (f->reopened && h5_exists(f->h5, BOX))
        return open_all(ctx, f, frame);
    return make_all(ctx, f, frame);
}

void h5md_free_particles(struct h5md *f)
{
    for (int i = 0; i < f->n_fields; i++) {
        h5_set_close(&f->fields[i].values);
        free(f->fields[i].name);
    }
    free(f->fields);
    f->fields = NULL;
    f->n_fields = 0;
    h5_set_close(&f->frame_step);
    h5_set_close(&f->frame_time);
    h5_set_close(&f->edges);
}
