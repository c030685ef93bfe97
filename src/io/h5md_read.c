/* h5md_read.c: see h5md_read.h. Each element stands as a dataset that does not
 * change, or as a group of step, time and value. */
#include "io/h5md_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "io/h5.h"

static const char *const names[FRAME_ITEMS] = {
    "position", "velocity", "image", "id", "species", "charge"};
static const int widths[FRAME_ITEMS] = {3, 3, 3, 1, 1, 1};

struct reader {
    struct ctx *ctx;
    hid_t file;
    char *path;
    char group[200]; /* "/particles/all" */
    int64_t n, step;
    int64_t frame[FRAME_ITEMS]; /* of its own series; -1: it does not change */
};

static int fail(const struct reader *r, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "'FILE': GROUP/WHAT: ..." */
static int fail(const struct reader *r, const char *what, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_hide_control(text);
    return FAIL(r->ctx, STATUS_INPUT, "'%s': %s%s%s: %s", r->path, r->group,
                what[0] ? "/" : "", what, text);
}

/* ---- datasets ---- */

/* Whether every link of GROUP/what is there; *kind: of the object. */
static int there(const struct reader *r, const char *what, H5O_type_t *kind)
{
    char path[320];
    H5O_info_t info;
    snprintf(path, sizeof path, "%s/%s", r->group, what);
    for (char *at = strchr(path + 1, '/');; at = strchr(at + 1, '/')) {
        if (at)
            *at = '\0';
        if (H5Lexists(r->file, path, H5P_DEFAULT) <= 0)
            return 0;
        if (!at)
            break;
        *at = '/';
    }
    if (H5Oget_info_by_name(r->file, path, &info, H5P_DEFAULT) < 0)
        return 0;
    *kind = info.type;
    return 1;
}

static hid_t open_set(const struct reader *r, const char *what)
{
    char path[320];
    snprintf(path, sizeof path, "%s/%s", r->group, what);
    return H5Dopen2(r->file, path, H5P_DEFAULT);
}

/* Shape of a dataset; -1 where its rank is above H5_RANK_MAX. */
static int shape_of(hid_t set, hsize_t shape[H5_RANK_MAX])
{
    hid_t space = H5Dget_space(set);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (rank > H5_RANK_MAX)
        rank = -1;
    if (rank > 0)
        H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0)
        H5Sclose(space);
    return rank;
}

/* A text attribute of a dataset: of fixed or of any length. */
static int text_of(hid_t set, const char *name, char *out, size_t size)
{
    hid_t a = H5Aexists(set, name) > 0 ? H5Aopen(set, name, H5P_DEFAULT) : -1;
    hid_t type = a < 0 ? -1 : H5Aget_type(a), memory = -1;
    char *any = NULL, fixed[256] = "";
    int done = 0;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING &&
        (memory = H5Tcopy(type)) >= 0) {
        if (H5Tis_variable_str(type) > 0) {
            done = H5Aread(a, memory, &any) >= 0 && any;
            snprintf(out, size, "%s", done ? any : "");
            if (any)
                H5free_memory(any);
        } else if (H5Tget_size(type) < sizeof fixed) {
            done = H5Aread(a, memory, fixed) >= 0;
            snprintf(out, size, "%s", fixed);
        }
    }
    if (memory >= 0)
        H5Tclose(memory);
    if (type >= 0)
        H5Tclose(type);
    if (a >= 0)
        H5Aclose(a);
    return done;
}

static void unit_of(hid_t set, char *out)
{
    out[0] = '\0';
    if (!text_of(set, "unit", out, FRAME_UNIT_MAX))
        text_of(set, "physical_unit", out, FRAME_UNIT_MAX);
}

/* ---- which frame ---- */

/* The step of frame k where steps are told as one increment and an offset. */
static int regular_steps(hid_t set, int64_t frames, int64_t **steps)
{
    int64_t each = 0, offset = 0;
    hid_t a =
        H5Aexists(set, "offset") > 0 ? H5Aopen(set, "offset", H5P_DEFAULT) : -1;
    *steps = malloc(((size_t)frames + 1) * sizeof **steps);
    int good = H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       &each) >= 0;
    if (a >= 0) {
        good &= H5Aread(a, H5T_NATIVE_INT64, &offset) >= 0;
        H5Aclose(a);
    }
    for (int64_t k = 0; k < frames && *steps; k++)
        (*steps)[k] = offset + each * k;
    return good && *steps;
}

/* The frame of r->step in the series `what` of so many frames; where r->step is
 * below 0, the last one, of which it becomes the step. -1: there is none. */
static int64_t find_frame(struct reader *r, const char *what, int64_t frames)
{
    char name[100];
    hsize_t shape[H5_RANK_MAX] = {0};
    int64_t *steps = NULL, found = -1;
    snprintf(name, sizeof name, "%s/step", what);
    hid_t set = open_set(r, name);
    int rank = set < 0 ? -1 : shape_of(set, shape), good = 0;
    if (rank == 0) {
        good = regular_steps(set, frames, &steps);
    } else if (rank == 1 && (int64_t)shape[0] >= frames) {
        steps = malloc(((size_t)shape[0] + 1) * sizeof *steps);
        good = steps && H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL,
                                H5P_DEFAULT, steps) >= 0;
    }
    for (int64_t k = frames - 1; k >= 0 && good && found < 0; k--)
        if (r->step < 0 || steps[k] == r->step) {
            r->step = steps[k];
            found = k;
        }
    free(steps);
    if (set >= 0)
        H5Dclose(set);
    return found;
}

/* ---- elements ---- */

/* Where an element stands, its frame, and its unit. Left out: *has = 0. */
static int look_at(struct reader *r, enum frame_item item,
                   struct frame_head *head)
{
    H5O_type_t kind, inner;
    char name[64];
    hsize_t shape[H5_RANK_MAX] = {0};
    head->has[item] = 0;
    if (!there(r, names[item], &kind))
        return 0;
    int series = kind == H5O_TYPE_GROUP;
    snprintf(name, sizeof name, "%s%s", names[item], series ? "/value" : "");
    if (!there(r, name, &inner) || inner != H5O_TYPE_DATASET)
        return fail(r, name, "there is no such dataset");
    hid_t set = open_set(r, name);
    int rank = set < 0 ? -1 : shape_of(set, shape);
    unit_of(set, head->unit[item]);
    if (set >= 0)
        H5Dclose(set);
    int rows = series ? 1 : 0, wide = widths[item] == 3;
    if (rank != rows + 1 + wide || (wide && shape[rows + 1] != 3))
        return fail(r, name, "expected the shape %sN%s", series ? "T x " : "",
                    wide ? " x 3" : "");
    if (item == FRAME_POSITION)
        r->n = (int64_t)shape[rows];
    if (r->n < 1)
        return fail(r, name, "there are no particles");
    if ((int64_t)shape[rows] != r->n)
        return fail(r, name, "%" PRId64 " rows; positions have %" PRId64,
                    (int64_t)shape[rows], r->n);
    r->frame[item] =
        series ? find_frame(r, names[item], (int64_t)shape[0]) : -1;
    if (series && r->frame[item] < 0 && item == FRAME_POSITION) {
        if (r->step < 0)
            return fail(r, names[item], "there is no frame");
        return fail(r, names[item], "there is no frame of step %" PRId64,
                    r->step);
    }
    head->has[item] = !series || r->frame[item] >= 0;
    return 0;
}

/* Edges as three numbers or three vectors, fixed or by frame. */
static int look_at_box(struct reader *r, struct frame_head *head)
{
    H5O_type_t kind;
    hsize_t shape[H5_RANK_MAX] = {0};
    double edges[9] = {0};
    if (!there(r, "box/edges", &kind))
        return 0;
    int series = kind == H5O_TYPE_GROUP;
    const char *name = series ? "box/edges/value" : "box/edges";
    hid_t set = open_set(r, name), memory = -1, space = -1;
    int rank = set < 0 ? -1 : shape_of(set, shape), first = series ? 1 : 0;
    int vectors = rank == first + 2;
    int good = (rank == first + 1 || vectors) && shape[first] == 3 &&
               (!vectors || shape[first + 1] == 3);
    int64_t frame =
        good && series ? find_frame(r, "box/edges", (int64_t)shape[0]) : 0;
    hsize_t start[3] = {0}, count[3] = {1, 3, 3}, all = vectors ? 9 : 3;
    if (good && frame >= 0) {
        start[0] = series ? (hsize_t)frame : 0;
        memory = H5Screate_simple(1, &all, NULL);
        space = H5Dget_space(set);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL,
                            series ? count : count + 1, NULL);
        good = H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT,
                       edges) >= 0;
        unit_of(set, head->box_unit);
    }
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
    if (!good || frame < 0)
        return fail(r, name, "expected three edges of step %" PRId64, r->step);
    if (vectors &&
        (fabs(edges[1]) > 0 || fabs(edges[2]) > 0 || fabs(edges[5]) > 0))
        return fail(r, name,
                    "the first edge has to lie along x, and the second one in "
                    "the plane of x and y");
    if (vectors) {
        head->tilt[0] = edges[3];
        head->tilt[1] = edges[6];
        head->tilt[2] = edges[7];
    }
    for (int d = 0; d < 3; d++)
        head->edge[d] = edges[vectors ? 4 * d : d];
    head->has_box = 1;
    return 0;
}

/* The lower corner by frame, of a box that follows its particles. */
static void look_at_lower(struct reader *r, struct frame_head *head)
{
    H5O_type_t kind;
    hsize_t shape[H5_RANK_MAX] = {0}, start[2] = {0}, count[2] = {1, 3};
    if (!there(r, "box/lower", &kind) || kind != H5O_TYPE_GROUP ||
        !there(r, "box/lower/value", &kind) || kind != H5O_TYPE_DATASET)
        return;
    hid_t set = open_set(r, "box/lower/value");
    int good = set >= 0 && shape_of(set, shape) == 2 && shape[1] == 3;
    int64_t frame = good ? find_frame(r, "box/lower", (int64_t)shape[0]) : -1;
    if (frame >= 0) {
        hid_t memory = H5Screate_simple(1, &count[1], NULL);
        hid_t space = H5Dget_space(set);
        start[0] = (hsize_t)frame;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT,
                head->origin);
        H5Sclose(memory);
        H5Sclose(space);
    }
    if (set >= 0)
        H5Dclose(set);
}

/* The lower corner, which this program writes beside the edges. */
static void look_at_origin(struct reader *r, struct frame_head *head)
{
    char path[240];
    snprintf(path, sizeof path, "%s/box", r->group);
    hid_t box = H5Oopen(r->file, path, H5P_DEFAULT);
    hid_t a = box >= 0 && H5Aexists(box, "origin") > 0
                  ? H5Aopen(box, "origin", H5P_DEFAULT)
                  : -1;
    hid_t space = a < 0 ? -1 : H5Aget_space(a);
    if (space >= 0 && H5Sget_simple_extent_npoints(space) == 3)
        H5Aread(a, H5T_NATIVE_DOUBLE, head->origin);
    if (space >= 0)
        H5Sclose(space);
    if (a >= 0)
        H5Aclose(a);
    if (box >= 0)
        H5Oclose(box);
}

/* ---- files ---- */

/* "all", or the only group below /particles. */
static int choose_group(struct reader *r, const char *group)
{
    H5G_info_t info = {0};
    char name[150] = "all";
    snprintf(r->group, sizeof r->group, "/particles");
    if (H5Lexists(r->file, r->group, H5P_DEFAULT) <= 0)
        return fail(r, "", "there is no such group: no H5MD file of particles");
    H5Gget_info_by_name(r->file, r->group, &info, H5P_DEFAULT);
    if (group)
        snprintf(name, sizeof name, "%s", group);
    else if (info.nlinks == 1)
        H5Lget_name_by_idx(r->file, r->group, H5_INDEX_NAME, H5_ITER_INC, 0,
                           name, sizeof name, H5P_DEFAULT);
    snprintf(r->group, sizeof r->group, "/particles/%s", name);
    if (H5Lexists(r->file, r->group, H5P_DEFAULT) <= 0)
        return fail(r, "",
                    "there is no such group; md.initial.group names one "
                    "of %d",
                    (int)info.nlinks);
    return 0;
}

static void close_file(void *file)
{
    struct reader *r = file;
    if (!r)
        return;
    if (r->file >= 0)
        H5Fclose(r->file);
    free(r->path);
    free(r);
}

static int open_file(struct ctx *ctx, const char *path, const char *group,
                     int64_t step, struct frame_head *head, void **file)
{
    struct reader *r = calloc(1, sizeof *r);
    *head = (struct frame_head){0};
    *file = r;
    if (!r)
        return FAIL(ctx, STATUS_MEMORY, "no memory to read '%s'", path);
    *r = (struct reader){.ctx = ctx, .file = -1, .step = step};
    r->path = malloc(strlen(path) + 1);
    if (!r->path)
        return FAIL(ctx, STATUS_MEMORY, "no memory to read '%s'", path);
    memcpy(r->path, path, strlen(path) + 1);
    h5_silence();
    r->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (r->file < 0)
        return FAIL(ctx, STATUS_INPUT,
                    "cannot open '%s': it is not there, or no HDF5 file", path);
    TRY(choose_group(r, group));
    for (int k = 0; k < FRAME_ITEMS; k++) {
        TRY(look_at(r, (enum frame_item)k, head));
        if (!head->has[FRAME_POSITION]) /* the first */
            return fail(r, names[k], "there is no such group");
    }
    TRY(look_at_box(r, head));
    look_at_origin(r, head);
    look_at_lower(r, head);
    head->n = r->n;
    head->step = r->step;
    return 0;
}

/* Whole numbers of an enumeration, which HDF5 does not convert. */
static int read_enum(hid_t set, hid_t type, hid_t memory, hid_t space,
                     int64_t n, int64_t *values)
{
    hid_t native = H5Tget_native_type(type, H5T_DIR_ASCEND);
    size_t size = native < 0 ? 0 : H5Tget_size(native);
    unsigned char *raw = size > 0 ? malloc((size_t)n * size + 1) : NULL;
    int good = raw && size <= sizeof(int64_t) &&
               H5Dread(set, native, memory, space, H5P_DEFAULT, raw) >= 0;
    for (int64_t k = 0; k < n && good; k++) {
        int8_t one = 0;
        int16_t two = 0;
        int32_t four = 0;
        const unsigned char *at = raw + (size_t)k * size;
        memcpy(&one, at, 1);
        memcpy(&two, at, size >= 2 ? 2 : 0);
        memcpy(&four, at, size >= 4 ? 4 : 0);
        values[k] = size == 1 ? one : size == 2 ? two : four;
        if (size == 8)
            memcpy(&values[k], at, 8);
    }
    free(raw);
    if (native >= 0)
        H5Tclose(native);
    return good;
}

static int read_rows(struct ctx *ctx, void *file, enum frame_item item,
                     int64_t first, int64_t n, void *values)
{
    struct reader *r = file;
    int series = r->frame[item] >= 0, width = widths[item];
    int rank = series + 1 + (width > 1);
    int is_real = item == FRAME_POSITION || item == FRAME_VELOCITY ||
                  item == FRAME_CHARGE;
    hsize_t start[3] = {series ? (hsize_t)r->frame[item] : 0, (hsize_t)first,
                        0};
    hsize_t count[3] = {1, (hsize_t)n, 3};
    char name[64];
    snprintf(name, sizeof name, "%s%s", names[item], series ? "/value" : "");
    hid_t set = open_set(r, name);
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    hid_t type = set < 0 ? -1 : H5Dget_type(set);
    hid_t memory = H5Screate_simple(rank, series ? count : count + 1, NULL);
    int good =
        space >= 0 && type >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, series ? start : start + 1,
                            NULL, series ? count : count + 1, NULL) >= 0;
    if (good && !is_real && H5Tget_class(type) == H5T_ENUM)
        good = read_enum(set, type, memory, space, n * width, values);
    else if (good)
        good = H5Dread(set, is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64,
                       memory, space, H5P_DEFAULT, values) >= 0;
    if (memory >= 0)
        H5Sclose(memory);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
    (void)ctx;
    return good ? 0
                : fail(r, name, "cannot read rows %" PRId64 " to %" PRId64,
                       first + 1, first + n);
}

const struct frames h5md_frame_reader = {open_file, read_rows, close_file};
