#include "driver/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/field.h"
#include "driver/job.h"
#include "driver/parts_locate.h"
#include "driver/staging.h"
#include "io/h5md.h"

/* ---- the sections ---- */

static void read_fields(const struct params *p, const char *section,
                        struct part *part)
{
    size_t n;
    if (section != NULL && params_is_set_at(p, section, part->index, "fields"))
        part->fields = params_strings_at(p, section, part->index, "fields", &n);
    else
        part->fields = params_strings(p, "output", "fields", &n);
    part->n_fields = (int)n;
}

static void read_place(const struct params *p, const char *section,
                       struct part *part)
{
    size_t n;
    if (part->kind == PART_SLICE) {
        part->axis =
            params_string_at(p, section, part->index, "normal")[0] - 'x';
        part->lower[part->axis] =
            params_double_at(p, section, part->index, "position");
        return;
    }
    int box = part->kind == PART_BOX;
    memcpy(part->lower,
           params_doubles_at(p, section, part->index,
                             box ? "lower" : "position", &n),
           sizeof(part->lower));
    if (box)
        memcpy(part->upper,
               params_doubles_at(p, section, part->index, "upper", &n),
               sizeof(part->upper));
}

static void read_sections(const struct job *job, const char *section,
                          enum part_kind kind, struct parts *parts)
{
    const struct params *p = job->params;
    double time = job->solver->time(job->state);
    for (int i = 0; i < params_count(p, section); i++) {
        struct part *part = &parts->part[parts->n++];
        struct interval every = params_interval_at(p, section, i, "every");
        *part = (struct part){.kind = kind,
                              .name = params_string_at(p, section, i, "name"),
                              .index = i,
                              .probe = -1,
                              .last = -1};
        clock_begin(&part->clock, &every, time);
        read_fields(p, section, part);
        read_place(p, section, part);
    }
}

static int allocate(struct ctx *ctx, const struct job *job, struct parts *parts)
{
    const struct params *p = job->params;
    size_t names = 0;
    int n = 1 + params_count(p, "output.slice") +
            params_count(p, "output.box") + params_count(p, "output.probe");
    parts->part = calloc((size_t)n, sizeof(*parts->part));
    if (parts->part == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    parts->part[parts->n++] =
        (struct part){.kind = PART_FRAMES, .probe = -1, .last = -1};
    read_fields(p, NULL, &parts->part[0]);
    read_sections(job, "output.slice", PART_SLICE, parts);
    read_sections(job, "output.box", PART_BOX, parts);
    read_sections(job, "output.probe", PART_PROBE, parts);
    for (int i = 0; i < parts->n; i++)
        names += (size_t)parts->part[i].n_fields;
    parts->names = calloc(names + 1, sizeof(*parts->names));
    if (parts->names == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    return 0;
}

/* ---- opening ---- */

static int open_frames(struct ctx *ctx, const struct job *job, const char *stem,
                       const struct provenance *from, int64_t keep,
                       struct part *part)
{
    const char *precision =
        params_string(job->params, "output", "frame_precision");
    enum field_type type =
        strcmp(precision, "single") == 0 ? FIELD_FLOAT : FIELD_DOUBLE;
    size_t size =
        strlen(stem) + (part->name != NULL ? strlen(part->name) : 0) + 2;
    char *own = malloc(size);
    int status = 0;
    if (own == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else
        snprintf(own, size, "%s%s%s", stem, part->name != NULL ? "_" : "",
                 part->name != NULL ? part->name : "");
    status = comm_agree(ctx, status);
    if (status == 0)
        status = vtkhdf_open(ctx, own, from, type, keep, &part->frames);
    if (status == 0)
        part->last = vtkhdf_last(part->frames);
    free(own);
    return status;
}

int parts_open(struct ctx *ctx, const struct job *job, const char *stem,
               const struct provenance *from, int64_t keep, struct parts *out)
{
    *out = (struct parts){.n = 0};
    if (job->solver->grid_frame == NULL)
        return 0;
    TRY(comm_agree(ctx, allocate(ctx, job, out)));
    for (int i = 0; i < out->n; i++)
        if (out->part[i].kind != PART_PROBE)
            TRY(open_frames(ctx, job, stem, from, keep, &out->part[i]));
    return 0;
}

void parts_free(struct parts *parts)
{
    for (int i = 0; i < parts->n; i++) {
        vtkhdf_close(parts->part[i].frames);
        free(parts->part[i].values);
    }
    free(parts->part);
    free(parts->names);
    *parts = (struct parts){.n = 0};
}

/* ---- what is due ---- */

int parts_due(struct parts *parts, const struct job *job, int frame, int last)
{
    int64_t step = job->solver->step_number(job->state) + 1;
    double time = job->solver->time(job->state);
    double dt = job->solver->timestep(job->state);
    int any = 0;
    for (int i = 0; i < parts->n; i++) {
        struct part *part = &parts->part[i];
        if (part->kind == PART_FRAMES)
            part->due = frame || last;
        else
            part->due = clock_due(&part->clock, step, time, dt) || last;
        any |= part->due;
    }
    return any;
}

int parts_missing(struct parts *parts, int64_t step)
{
    int any = 0;
    for (int i = 0; i < parts->n; i++) {
        parts->part[i].due = parts->part[i].last != step;
        any |= parts->part[i].due;
    }
    return any;
}

/* ---- writing ---- */

/* All fields that the parts due want, each once. */
static int gather_names(struct parts *parts)
{
    int n = 0;
    for (int i = 0; i < parts->n; i++)
        for (int f = 0; parts->part[i].due && f < parts->part[i].n_fields;
             f++) {
            const char *name = parts->part[i].fields[f];
            int k = 0;
            while (k < n && strcmp(parts->names[k], name) != 0)
                k++;
            if (k == n)
                parts->names[n++] = name;
        }
    return n;
}

static int find_fields(struct ctx *ctx, const struct part *part,
                       const struct grid_frame *g,
                       const struct grid_field **fields)
{
    for (int i = 0; i < part->n_fields; i++) {
        fields[i] = grid_field_find(g, part->fields[i]);
        if (fields[i] == NULL)
            return FAIL(ctx, STATUS_INTERNAL, "the frame has no field '%s'",
                        part->fields[i]);
    }
    return 0;
}

/* The datasets are made with the first row, which knows units and sizes. */
static int add_probe(struct ctx *ctx, struct part *part,
                     const struct grid_frame *g,
                     const struct grid_field *const *fields, struct h5md *file)
{
    struct observable *about = calloc((size_t)part->n_fields, sizeof(*about));
    int *components = calloc((size_t)part->n_fields, sizeof(*components));
    int status = 0;
    if (about == NULL || components == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    part->n_values = 0;
    for (int i = 0; i < part->n_fields; i++) {
        about[i] = (struct observable){.name = fields[i]->name,
                                       .unit = fields[i]->unit,
                                       .description = fields[i]->description};
        components[i] = fields[i]->components;
        part->n_values += components[i];
    }
    free(part->values);
    part->values = calloc((size_t)part->n_values + 1, sizeof(double));
    if (part->values == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    status = h5md_add_probe(ctx, file, part->name, part->lower, g->length_unit,
                            part->n_fields, about, components, g->time_unit,
                            &part->probe, &part->last);
cleanup:
    free(about);
    free(components);
    return status;
}

static int write_probe(struct ctx *ctx, struct part *part,
                       const struct grid_frame *g, struct staging *staging)
{
    const struct grid_field **fields =
        calloc((size_t)part->n_fields + 1, sizeof(*fields));
    int status = 0;
    if (fields == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else
        status = find_fields(ctx, part, g, fields);
    TRY_CLEANUP(comm_agree(ctx, status));
    if (part->probe < 0) {
        TRY_CLEANUP(staging_drain(ctx, staging));
        status = add_probe(ctx, part, g, fields, staging->file);
        staging->file_failed |= status != 0;
    }
    TRY_CLEANUP(status);
    if (part->last == g->step) /* of the run that this one goes on with */
        goto cleanup;
    TRY_CLEANUP(part_interpolate(ctx, part, g, fields));
    status = staging_probe(ctx, staging, part->probe, g->step, g->time,
                           part->n_values, part->values);
cleanup:
    free(fields);
    return status;
}

static int write_part(struct ctx *ctx, struct part *part,
                      const struct grid_frame *g, struct staging *staging)
{
    if (!part->located)
        TRY(part_locate(ctx, part, g));
    if (part->kind == PART_PROBE)
        TRY(write_probe(ctx, part, g, staging));
    else
        TRY(staging_grid(ctx, staging, part->frames, g,
                         part->kind == PART_FRAMES ? NULL : &part->box,
                         part->n_fields, part->fields));
    part->last = g->step;
    part->due = 0;
    clock_done(&part->clock, g->time);
    return 0;
}

int parts_write(struct ctx *ctx, struct parts *parts, const struct job *job,
                struct staging *staging)
{
    const struct grid_frame *g;
    int n = gather_names(parts);
    TRY(job_grid_frame(ctx, job, n, parts->names, &g));
    for (int i = 0; i < parts->n; i++)
        if (parts->part[i].due)
            TRY(write_part(ctx, &parts->part[i], g, staging));
    return 0;
}

int64_t parts_frames(const struct parts *parts)
{
    int64_t n = 0;
    for (int i = 0; i < parts->n; i++)
        if (parts->part[i].frames != NULL)
            n += vtkhdf_frames(parts->part[i].frames);
    return n;
}

double parts_bytes(const struct parts *parts)
{
    double bytes = 0;
    for (int i = 0; i < parts->n; i++)
        if (parts->part[i].frames != NULL)
            bytes += (double)vtkhdf_bytes(parts->part[i].frames);
    return bytes;
}
