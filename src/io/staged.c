#include "io/staged.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/h5.h"

/* Memory that is handed out front to back; without it, only counted. */
struct piece {
    char *memory;
    size_t used;
};

static void *take(struct piece *p, size_t bytes)
{
    size_t at = p->used;
    p->used += (bytes + 15) & ~(size_t)15;
    return p->memory != NULL ? p->memory + at : NULL;
}

static const void *take_copy(struct piece *p, const void *from, size_t bytes)
{
    void *to = take(p, bytes);
    if (to != NULL && bytes > 0)
        memcpy(to, from, bytes);
    return to;
}

static const char *take_text(struct piece *p, const char *text)
{
    return text != NULL ? take_copy(p, text, strlen(text) + 1) : NULL;
}

/* ---- particles ---- */

static size_t bytes_of(const struct field *f)
{
    return (size_t)f->n * (size_t)f->components * h5_item_size(f->type);
}

static struct field_frame *
copy_frame(struct piece *p, const struct field_frame *from, int constants)
{
    size_t n = (size_t)from->n_fields;
    struct field_frame head = *from, *frame = take(p, sizeof(*frame));
    struct field *fields = take(p, n * sizeof(*fields));
    head.time_unit = take_text(p, from->time_unit);
    head.length_unit = take_text(p, from->length_unit);
    head.fields = fields;
    if (frame != NULL)
        *frame = head;
    for (size_t i = 0; i < n; i++) {
        struct field f = from->fields[i];
        f.name = take_text(p, f.name);
        f.unit = take_text(p, f.unit);
        f.description = take_text(p, f.description);
        f.values = constants || !f.constant
                       ? take_copy(p, f.values, bytes_of(&from->fields[i]))
                       : NULL;
        if (fields != NULL)
            fields[i] = f;
    }
    return frame;
}

size_t staged_frame_bytes(const struct field_frame *frame, int constants)
{
    struct piece p = {0};
    copy_frame(&p, frame, constants);
    return p.used;
}

struct field_frame *staged_frame(const struct field_frame *frame, int constants)
{
    struct piece p = {.memory = malloc(staged_frame_bytes(frame, constants))};
    return p.memory != NULL ? copy_frame(&p, frame, constants) : NULL;
}

/* ---- on a grid ---- */

/* The block of it that this rank has. */
static void cut_block(const struct grid_frame *from,
                      const struct vtkhdf_box *box, struct grid_frame *out)
{
    for (int d = 0; d < 3; d++) {
        int64_t begin = from->first[d], end = begin + from->local[d];
        if (box != NULL && box->first[d] > begin)
            begin = box->first[d];
        if (box != NULL && box->first[d] + box->count[d] < end)
            end = box->first[d] + box->count[d];
        out->first[d] = begin;
        out->local[d] = end > begin ? end - begin : 0;
    }
}

static void copy_row(void *to, const double *from, size_t n,
                     enum field_type type)
{
    float *single = to;
    if (type == FIELD_DOUBLE)
        memcpy(to, from, n * sizeof(*from));
    else
        for (size_t i = 0; i < n; i++)
            single[i] = (float)from[i];
}

static void copy_block(const struct grid_frame *from, const double *values,
                       size_t components, const struct grid_frame *cut,
                       enum field_type type, char *to)
{
    size_t n = (size_t)cut->local[0] * components;
    for (int64_t k = 0; k < cut->local[2]; k++)
        for (int64_t j = 0; j < cut->local[1]; j++) {
            int64_t z = cut->first[2] - from->first[2] + k;
            int64_t y = cut->first[1] - from->first[1] + j;
            int64_t x = cut->first[0] - from->first[0];
            int64_t cell = (z * from->local[1] + y) * from->local[0] + x;
            copy_row(to, values + (size_t)cell * components, n, type);
            to += n * h5_item_size(type);
        }
}

static void copy_field(struct piece *p, const struct grid_frame *from,
                       const struct grid_field *field,
                       const struct grid_frame *cut, enum field_type type,
                       struct grid_field *out)
{
    size_t components = (size_t)field->components;
    size_t bytes = components * h5_item_size(type);
    struct grid_field f = *field;
    for (int d = 0; d < 3; d++)
        bytes *= (size_t)cut->local[d];
    f.name = take_text(p, field->name);
    f.unit = take_text(p, field->unit);
    f.description = take_text(p, field->description);
    void *values = take(p, bytes);
    f.values = type == FIELD_DOUBLE ? values : NULL;
    f.single = type == FIELD_DOUBLE ? NULL : values;
    if (values != NULL && bytes > 0)
        copy_block(from, field->values, components, cut, type, values);
    if (out != NULL)
        *out = f;
}

static struct grid_frame *copy_grid(struct piece *p,
                                    const struct grid_frame *from,
                                    const struct vtkhdf_box *box, int n_names,
                                    const char *const *names,
                                    enum field_type type)
{
    struct grid_frame head = *from, *frame = take(p, sizeof(*frame));
    struct grid_field *fields = take(p, (size_t)n_names * sizeof(*fields));
    cut_block(from, box, &head);
    head.time_unit = take_text(p, from->time_unit);
    head.length_unit = take_text(p, from->length_unit);
    for (int d = 0; d < 3; d++) {
        size_t n = (size_t)from->cells[d];
        head.centers[d] = take_copy(p, from->centers[d], n * sizeof(double));
        head.faces[d] = take_copy(p, from->faces[d], (n + 1) * sizeof(double));
    }
    head.n_fields = n_names;
    head.fields = fields;
    for (int i = 0; i < n_names; i++)
        copy_field(p, from, grid_field_find(from, names[i]), &head, type,
                   fields != NULL ? &fields[i] : NULL);
    if (frame != NULL)
        *frame = head;
    return frame;
}

size_t staged_grid_bytes(const struct grid_frame *frame,
                         const struct vtkhdf_box *box, int n_names,
                         const char *const *names, enum field_type type)
{
    struct piece p = {0};
    copy_grid(&p, frame, box, n_names, names, type);
    return p.used;
}

struct grid_frame *staged_grid(const struct grid_frame *frame,
                               const struct vtkhdf_box *box, int n_names,
                               const char *const *names, enum field_type type)
{
    struct piece p = {
        .memory = malloc(staged_grid_bytes(frame, box, n_names, names, type))};
    return p.memory != NULL ? copy_grid(&p, frame, box, n_names, names, type)
                            : NULL;
}
