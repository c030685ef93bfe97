#include "io/vtkhdf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/h5.h"
#include "io/provenance.h"
#include "io/vtkhdf_series.h"

/* At most so many bytes are packed at once; a plane at least. */
enum { PACK_BYTES = 8 << 20, PATH_SIZE = 256 };

struct vtkhdf {
    const struct provenance *from;
    enum field_type type;
    struct vtkhdf_series series; /* rank 0 */
    char *stem;
    int64_t frames, last;
    uint64_t bytes;
};

/* What one frame is made of. */
struct picture {
    const struct grid_frame *frame;
    struct vtkhdf_box box;
    int64_t first[3], count[3]; /* of it this rank has, in cells of the box */
    int64_t at[3];              /* in cells of this rank's block */
};

const struct grid_field *grid_field_find(const struct grid_frame *frame,
                                         const char *name)
{
    for (int i = 0; i < frame->n_fields; i++)
        if (strcmp(frame->fields[i].name, name) == 0)
            return &frame->fields[i];
    return NULL;
}

/* ---- what of it is here ---- */

static void cut_out(const struct grid_frame *frame,
                    const struct vtkhdf_box *box, struct picture *p)
{
    *p = (struct picture){.frame = frame};
    for (int d = 0; d < 3; d++) {
        int64_t here = frame->first[d], beyond = here + frame->local[d];

        p->box.first[d] = box != NULL ? box->first[d] : 0;
        p->box.count[d] = box != NULL ? box->count[d] : frame->cells[d];
        int64_t from = p->box.first[d], to = from + p->box.count[d];
        if (here > from)
            from = here;
        if (beyond < to)
            to = beyond;
        p->first[d] = from - p->box.first[d];
        p->at[d] = from - here;
        p->count[d] = to > from ? to - from : 0;
    }
    if (p->count[0] == 0 || p->count[1] == 0 || p->count[2] == 0)
        for (int d = 0; d < 3; d++)
            p->first[d] = p->at[d] = p->count[d] = 0;
}

static double cells_of(const struct picture *p)
{
    return (double)p->box.count[0] * (double)p->box.count[1] *
           (double)p->box.count[2];
}

/* ---- packing ---- */

/* Planes [k, k + n) of this rank's part, packed, in the type of the file. */
static void pack(const struct picture *p, const struct grid_field *field,
                 enum field_type type, int64_t k, int64_t n, void *out)
{
    const int64_t *local = p->frame->local;
    size_t row = (size_t)p->count[0] * (size_t)field->components;
    float *single = out;
    double *twice = out;

    for (int64_t z = k; z < k + n; z++)
        for (int64_t y = 0; y < p->count[1]; y++) {
            int64_t cell =
                ((p->at[2] + z) * local[1] + p->at[1] + y) * local[0] +
                p->at[0];
            int64_t at = cell * field->components;

            if (field->single != NULL) {
                memcpy(single, field->single + at, row * sizeof *single);
                single += row;
            } else if (type == FIELD_DOUBLE) {
                memcpy(twice, field->values + at, row * sizeof *twice);
                twice += row;
            } else {
                for (size_t i = 0; i < row; i++)
                    *single++ = (float)field->values[at + (int64_t)i];
            }
        }
}

static int write_values(struct ctx *ctx, struct h5 *f, struct h5_set *set,
                        const struct picture *p, const struct grid_field *field)
{
    size_t plane = (size_t)(p->count[0] * p->count[1]) *
                   (size_t)field->components * h5_item_size(set->type);
    int64_t most = h5_pieces(p->count[2], plane, PACK_BYTES), first, n;
    void *packed = NULL;
    int status = 0;

    h5_piece(p->count[2], plane, PACK_BYTES, 0, &first, &n);
    packed = malloc((size_t)n * plane + 1);
    if (packed == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for a frame");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(comm_max_int64(ctx, &most, 1));
    for (int64_t piece = 0; piece < most; piece++) {
        h5_piece(p->count[2], plane, PACK_BYTES, piece, &first, &n);
        const int64_t start[4] = {p->first[2] + first, p->first[1], p->first[0],
                                  0};
        const int64_t count[4] = {n, p->count[1], p->count[0],
                                  field->components};
        if (n > 0)
            pack(p, field, set->type, first, n, packed);
        TRY_CLEANUP(h5_set_write_block(ctx, f, set, start, count, packed));
    }
cleanup:
    free(packed);
    return status;
}

static int write_field(struct ctx *ctx, struct vtkhdf *v, struct h5 *f,
                       const struct picture *p, const struct grid_field *field)
{
    const hsize_t shape[4] = {
        (hsize_t)p->box.count[2], (hsize_t)p->box.count[1],
        (hsize_t)p->box.count[0], (hsize_t)field->components};
    struct h5_set set;
    char path[PATH_SIZE];
    int status;

    snprintf(path, sizeof path, "/VTKHDF/PointData/%s", field->name);
    status = h5_set_create(ctx, f, path, v->type, field->components > 1 ? 4 : 3,
                           shape, 0, &set);
    if (status == 0)
        status = h5_text(ctx, f, path, "unit", field->unit);
    if (status == 0)
        status = h5_text(ctx, f, path, "description", field->description);
    status = comm_agree(ctx, status);
    if (status == 0)
        status = write_values(ctx, f, &set, p, field);
    h5_set_close(&set);
    return status;
}

/* ---- the grid ---- */

static int write_image(struct ctx *ctx, struct h5 *f, const struct picture *p)
{
    static const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int64_t version[2] = {1, 0};
    int64_t extent[6];
    double origin[3], spacing[3];

    for (int d = 0; d < 3; d++) {
        int64_t n = p->box.count[d];
        const double *at = p->frame->centers[d] + p->box.first[d];

        extent[2 * d] = 0;
        extent[2 * d + 1] = n - 1;
        origin[d] = at[0];
        spacing[d] = p->frame->spacing[d];
        if (p->frame->stretched && d == 2 && n > 1)
            spacing[d] = (at[n - 1] - at[0]) / (double)(n - 1);
    }
    TRY(h5_group(ctx, f, "/VTKHDF/PointData"));
    TRY(h5_ints(ctx, f, "/VTKHDF", "Version", 2, version));
    TRY(h5_ascii(ctx, f, "/VTKHDF", "Type", "ImageData"));
    TRY(h5_ints(ctx, f, "/VTKHDF", "WholeExtent", 6, extent));
    TRY(h5_doubles(ctx, f, "/VTKHDF", "Origin", 3, origin));
    TRY(h5_doubles(ctx, f, "/VTKHDF", "Spacing", 3, spacing));
    TRY(h5_doubles(ctx, f, "/VTKHDF", "Direction", 9, direction));
    TRY(h5_ints(ctx, f, "/VTKHDF", "step", 1, &p->frame->step));
    TRY(h5_doubles(ctx, f, "/VTKHDF", "time", 1, &p->frame->time));
    return h5_text(ctx, f, "/VTKHDF", "time_unit", p->frame->time_unit);
}

static int write_axis(struct ctx *ctx, struct h5 *f, const struct picture *p,
                      int d, int faces)
{
    static const char *const names[] = {"x", "y", "z"};
    const int64_t n = p->box.count[d] + faces;
    const hsize_t shape[1] = {(hsize_t)n};
    const double *from = faces ? p->frame->faces[d] : p->frame->centers[d];
    struct h5_set set;
    char path[PATH_SIZE], text[PATH_SIZE];
    int status;

    snprintf(path, sizeof path, "/coordinates/%s%s", names[d],
             faces ? "_faces" : "");
    snprintf(text, sizeof text, "%s of the %s of the cells", names[d],
             faces ? "faces" : "centers");
    status = h5_set_create(ctx, f, path, FIELD_DOUBLE, 1, shape, 0, &set);
    if (status == 0)
        status = h5_text(ctx, f, path, "unit", p->frame->length_unit);
    if (status == 0)
        status = h5_text(ctx, f, path, "description", text);
    status = comm_agree(ctx, status);
    if (status == 0)
        status =
            h5_set_write(ctx, f, &set, 0, comm_rank(ctx->comm) == 0 ? n : 0,
                         from + p->box.first[d]);
    h5_set_close(&set);
    return status;
}

static int write_coordinates(struct ctx *ctx, struct h5 *f,
                             const struct picture *p)
{
    static const char even[] = "the cells are of equal size";
    static const char stretched[] =
        "the cells differ in height: here are the true z, while /VTKHDF has "
        "the mean spacing, since its images are even; warpdeck-post export "
        "makes a RectilinearGrid";
    static const char group[] = "/coordinates";
    int status = h5_group(ctx, f, group);

    if (status == 0)
        status = h5_text(ctx, f, group, "note",
                         p->frame->stretched ? stretched : even);
    if (status == 0)
        status = h5_ints(ctx, f, group, "first_cell", 3, p->box.first);
    if (status == 0)
        status = h5_ints(ctx, f, group, "grid_cells", 3, p->frame->cells);
    TRY(comm_agree(ctx, status));
    for (int d = 0; d < 3; d++)
        for (int faces = 0; faces < 2; faces++)
            TRY(write_axis(ctx, f, p, d, faces));
    return 0;
}

/* ---- frames ---- */

static int write_file(struct ctx *ctx, struct vtkhdf *v, struct h5 *f,
                      const struct picture *p, int n_names,
                      const char *const *names)
{
    int status = provenance_write(ctx, f, v->from);

    if (status == 0)
        status = provenance_write_end(ctx, f);
    if (status == 0)
        status = write_image(ctx, f, p);
    TRY(comm_agree(ctx, status));
    TRY(write_coordinates(ctx, f, p));
    for (int i = 0; i < n_names; i++)
        TRY(write_field(ctx, v, f, p, grid_field_find(p->frame, names[i])));
    return comm_agree(ctx, provenance_write_complete(ctx, f));
}

static int check_fields(struct ctx *ctx, const struct grid_frame *frame,
                        int n_names, const char *const *names, int *components)
{
    *components = 0;
    for (int i = 0; i < n_names; i++) {
        const struct grid_field *field = grid_field_find(frame, names[i]);

        if (field == NULL)
            return FAIL(ctx, STATUS_INTERNAL, "the frame has no field '%s'",
                        names[i]);
        *components += field->components;
    }
    return 0;
}

static int reserve(struct ctx *ctx, struct vtkhdf *v, struct h5 *f,
                   const struct picture *p, double payload)
{
    char what[64];

    snprintf(what, sizeof what, "the frame of step %" PRId64, p->frame->step);
    TRY_WHILE(ctx,
              h5_reserve(ctx, f,
                         payload + VTKHDF_OVERHEAD +
                             (double)v->from->deck_size +
                             (double)v->from->resolved_size +
                             16.0 * (double)(p->box.count[0] + p->box.count[1] +
                                             p->box.count[2]),
                         what),
              "in '%s.hdf.series' stand the frames before it, whole", v->stem);
    return 0;
}

static int make_frame(struct ctx *ctx, struct vtkhdf *v,
                      const struct picture *p, double payload, int n_names,
                      const char *const *names)
{
    char *path = vtkhdf_path(v->stem, p->frame->step, "");
    char *beside = vtkhdf_path(v->stem, p->frame->step, ".tmp");
    struct h5 *f = NULL;
    int status = 0;

    if (path == NULL || beside == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    status = comm_agree(ctx, status);
    if (status == 0)
        status = h5_create(ctx, beside, 0, &f);
    if (status == 0)
        status = reserve(ctx, v, f, p, payload);
    if (status == 0)
        status = write_file(ctx, v, f, p, n_names, names);
    if (status == 0) {
        status = h5_publish(ctx, f, path);
        f = NULL;
    }
    h5_discard(f);
    free(path);
    free(beside);
    return status;
}

int vtkhdf_write(struct ctx *ctx, struct vtkhdf *v,
                 const struct grid_frame *frame, const struct vtkhdf_box *box,
                 int n_names, const char *const *names)
{
    struct picture p;
    int components, status = 0;

    TRY(check_fields(ctx, frame, n_names, names, &components));
    cut_out(frame, box, &p);
    double payload = cells_of(&p) * components * (double)h5_item_size(v->type);
    TRY(make_frame(ctx, v, &p, payload, n_names, names));
    if (comm_rank(ctx->comm) == 0)
        status = vtkhdf_series_add(ctx, &v->series, frame->step, frame->time);
    TRY(comm_agree(ctx, status));
    v->frames++;
    v->last = frame->step;
    v->bytes += (uint64_t)payload;
    return 0;
}

/* ---- opening and closing ---- */

int vtkhdf_open(struct ctx *ctx, const char *stem,
                const struct provenance *from, enum field_type type,
                int64_t keep, struct vtkhdf **out)
{
    struct vtkhdf *v = *out = calloc(1, sizeof *v);
    int status = 0;

    if (v != NULL) {
        *v = (struct vtkhdf){
            .from = from, .type = type, .stem = strdup(stem), .last = -1};
    }
    if (v == NULL || v->stem == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else if (comm_rank(ctx->comm) == 0)
        status = vtkhdf_series_begin(ctx, stem, keep, &v->series);
    status = comm_agree(ctx, status);
    if (status != 0) {
        vtkhdf_close(v);
        *out = NULL;
        return status;
    }
    if (v->series.n > 0)
        v->last = v->series.steps[v->series.n - 1];
    return comm_bcast(ctx, &v->last, sizeof v->last);
}

void vtkhdf_close(struct vtkhdf *v)
{
    if (v == NULL)
        return;
    vtkhdf_series_free(&v->series);
    free(v->stem);
    free(v);
}

enum field_type vtkhdf_type(const struct vtkhdf *v)
{
    return v->type;
}

int64_t vtkhdf_frames(const struct vtkhdf *v)
{
    return v->frames;
}

int64_t vtkhdf_last(const struct vtkhdf *v)
{
    return v->last;
}

uint64_t vtkhdf_bytes(const struct vtkhdf *v)
{
    return v->bytes;
}
