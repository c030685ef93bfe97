/* fluid_grid.c: where the cells lie, and which rank has which. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "fluid.h"

/* Neighbors along z that differ by more, and cells that are longer in one
 * direction than in another by more, are taken for a slip. */
enum { RATIO_MOST = 3, ASPECT_MOST = 1000 };

double fluid_least_spacing(const struct fluid *f, int d)
{
    double least = INFINITY;
    for (int64_t i = 0; i < f->setup.cells[d]; i++)
        least = fmin(least, f->face[d][i + 1] - f->face[d][i]);
    return least;
}

/* Position in [0, 1] of a face at s in [0, 1] of the count (Vinokur 1983). */
static double stretch(const char *how, double a, double s)
{
    if (strcmp(how, "tanh") == 0)
        return 0.5 * (1 + tanh(a * (2 * s - 1)) / tanh(a));
    if (strcmp(how, "tanh-min") == 0)
        return 1 + tanh(a * (s - 1)) / tanh(a);
    if (strcmp(how, "tanh-max") == 0)
        return tanh(a * s) / tanh(a);
    return s;
}

static void take_faces(struct params *p, struct fluid *f)
{
    size_t n = 0;
    const double *z = params_doubles(p, "fluid.grid", "z_faces", &n);
    int64_t cells = f->setup.cells[2];
    if (params_is_set(p, "fluid.grid", "stretching"))
        params_error(p, "fluid.grid", "z_faces",
                     "give stretching or z_faces, not both");
    if ((int64_t)n != cells + 1) {
        params_error(p, "fluid.grid", "z_faces",
                     "%zu faces; %" PRId64 " cells along z have %" PRId64, n,
                     cells, cells + 1);
        return;
    }
    double slip = 1e-9 * f->length[2];
    if (fabs(z[0]) > slip || fabs(z[cells] - f->length[2]) > slip)
        params_error(p, "fluid.grid", "z_faces",
                     "the faces go from %g to %g; they must go from 0 to the "
                     "height of the box, %g",
                     z[0], z[cells], f->length[2]);
    for (int64_t k = 0; k <= cells; k++)
        f->face[2][k] = z[k];
    f->face[2][0] = 0;
    f->face[2][cells] = f->length[2];
}

static void check_rising(struct params *p, const struct fluid *f,
                         const char *key)
{
    const double *z = f->face[2];
    int64_t n = f->setup.cells[2];
    int periodic = f->setup.face[2][0].type == FLUID_PERIODIC;
    double before = periodic ? z[n] - z[n - 1] : z[1] - z[0];
    for (int64_t k = 0; k < f->setup.cells[2]; k++) {
        double h = z[k + 1] - z[k];
        if (!(h > 1e-9 * f->length[2])) {
            params_error(p, "fluid.grid", key,
                         "the grid folds: face %" PRId64 " at z = %g is not "
                         "above face %" PRId64 " at z = %g",
                         k + 1, z[k + 1], k, z[k]);
            return;
        }
        double ratio = fmax(h / before, before / h);
        if (ratio > RATIO_MOST * (1 + 1e-9)) { /* 1e-9: of decimal fractions */
            params_error(p, "fluid.grid", key,
                         "the spacing along z changes by a factor of %.3g "
                         "from cell %" PRId64 " to the next%s; at most %d",
                         ratio, k > 0 ? k - 1 : n - 1,
                         k > 0 ? "" : ", the first, since z is periodic",
                         RATIO_MOST);
            return;
        }
        before = h;
    }
}

static void check_aspect(struct params *p, const struct fluid *f)
{
    double least = INFINITY, most = 0;
    int thin = 0, wide = 0;
    for (int d = 0; d < 3; d++) {
        double h = f->length[d] / (double)f->setup.cells[d];
        if (f->setup.cells[d] == 1)
            continue; /* nothing changes along it */
        if (h < least) {
            least = h;
            thin = d;
        }
        if (h > most) {
            most = h;
            wide = d;
        }
    }
    if (most > ASPECT_MOST * least)
        params_error(p, "domain", "cells",
                     "the cells are %.4g long along %c, but %.4g along %c: "
                     "more than %d times as much; is domain.size in the same "
                     "order?",
                     most, "xyz"[wide], least, "xyz"[thin], ASPECT_MOST);
}

/* Slow transforms are no error. */
static void hint_sizes(struct ctx *ctx, const struct fluid *f)
{
    for (int d = 0; d < 2; d++) {
        int64_t n = f->setup.cells[d];
        int64_t below = block_fast_size(n, 0), above = block_fast_size(n, 1);
        if (below != n)
            log_warn(ctx->log,
                     "domain.cells: %" PRId64 " cells along %c make slow "
                     "transforms; the nearest fast counts are %" PRId64
                     " and %" PRId64,
                     n, "xyz"[d], below, above);
    }
}

static int allocate(struct ctx *ctx, struct fluid *f)
{
    for (int d = 0; d < 3; d++) {
        size_t n = (size_t)f->setup.cells[d];
        f->face[d] = calloc(n + 1, sizeof(double));
        f->center[d] = calloc(n, sizeof(double));
        if (!f->face[d] || !f->center[d])
            return FAIL(ctx, STATUS_MEMORY, "no memory for the grid");
    }
    return 0;
}

int fluid_make_grid(struct ctx *ctx, struct params *p, struct fluid *f)
{
    const char *how = params_string(p, "fluid.grid", "stretching");
    double factor = params_double(p, "fluid.grid", "factor");
    int given = params_is_set(p, "fluid.grid", "z_faces");
    TRY(allocate(ctx, f));
    for (int d = 0; d < 3; d++) {
        int64_t n = f->setup.cells[d];
        for (int64_t i = 0; i <= n; i++) {
            double s = (double)i / (double)n;
            f->face[d][i] =
                f->length[d] * (d == 2 ? stretch(how, factor, s) : s);
        }
    }
    f->setup.uniform_z = !given && strcmp(how, "none") == 0;
    if (given)
        take_faces(p, f);
    if (strcmp(how, "none") == 0 && params_is_set(p, "fluid.grid", "factor"))
        params_error(p, "fluid.grid", "factor",
                     "nothing is stretched: stretching is \"none\"");
    if (!f->setup.uniform_z)
        check_rising(p, f, given ? "z_faces" : "factor");
    for (int d = 0; d < 3; d++)
        for (int64_t i = 0; i < f->setup.cells[d]; i++)
            f->center[d][i] = 0.5 * (f->face[d][i] + f->face[d][i + 1]);
    f->setup.face_z = f->face[2];
    for (int d = 0; d < 2; d++)
        f->setup.spacing[d] = f->length[d] / (double)f->setup.cells[d];
    check_aspect(p, f);
    hint_sizes(ctx, f);
    return 0;
}

/* ---- how the ranks share it ---- */

int fluid_set_block(struct ctx *ctx, struct fluid *f, const int dims[3])
{
    struct block *b = &f->block;
    block_free(b);
    TRY(block_init(ctx, b, f->setup.cells, dims, comm_rank(ctx->comm)));
    for (int d = 0; d < 3; d++) {
        f->setup.first[d] = b->first[d];
        f->setup.local[d] = b->local[d];
        f->setup.dims[d] = b->dims[d];
        f->setup.coords[d] = b->coords[d];
        f->setup.cuts[d] = b->cuts[d];
    }
    return 0;
}

/* "1 x 1 x 4, 1 x 2 x 2" */
static const char *list_cuts(int size, const int64_t cells[3], char *text,
                             size_t room)
{
    int dims[FLUID_CUTS_MAX][3];
    int n = block_candidates(size, cells, FLUID_CUTS_MAX, dims);
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n && i < FLUID_CUTS_MAX && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s[1, %d, %d]",
                                 i > 0 ? ", " : "", dims[i][1], dims[i][2]);
    return text;
}

static int too_many_ranks(struct ctx *ctx, const struct fluid *f, int size)
{
    const int64_t *n = f->setup.cells;
    int most = block_most_ranks(n, size);
    char cuts[256];
    return FAIL(ctx, STATUS_INPUT,
                "%d ranks cannot share %" PRId64 " x %" PRId64 " x %" PRId64
                " cells, of which only y and z are cut: at most %d of them, "
                "with domain.ranks one of %s",
                size, n[0], n[1], n[2], most,
                list_cuts(most, n, cuts, sizeof cuts));
}

/* What the deck says of the cut. */
static int read_ranks(struct params *p, struct fluid *f, int size, int dims[3])
{
    size_t n = 0;
    const int64_t *ranks = params_ints(p, "domain", "ranks", &n);
    double product = (double)ranks[0] * (double)ranks[1] * (double)ranks[2];
    char cuts[256];
    list_cuts(size, f->setup.cells, cuts, sizeof cuts);
    if (ranks[0] != 1)
        params_error(p, "domain", "ranks",
                     "the flow is not cut along x: domain.ranks begins with "
                     "1; for %d ranks it is one of %s",
                     size, cuts);
    else if (product > size || product < size)
        params_error(p, "domain", "ranks",
                     "domain.ranks = [%" PRId64 ", %" PRId64 ", %" PRId64
                     "] makes %.0f blocks, but there are %d ranks; one of %s",
                     ranks[0], ranks[1], ranks[2], product, size, cuts);
    else if (ranks[1] > f->setup.cells[1] || ranks[2] > f->setup.cells[2])
        params_error(p, "domain", "ranks",
                     "more ranks than cells along %c; one of %s",
                     ranks[1] > f->setup.cells[1] ? 'y' : 'z', cuts);
    else {
        for (int d = 0; d < 3; d++)
            dims[d] = (int)ranks[d];
        return 1;
    }
    return 0;
}

int fluid_choose_block(struct ctx *ctx, struct params *p, struct fluid *f)
{
    int size = comm_size(ctx->comm), dims[1][3];
    f->ranks_given = params_is_set(p, "domain", "ranks");
    if (block_candidates(size, f->setup.cells, 1, dims) == 0)
        return too_many_ranks(ctx, f, size);
    if (f->ranks_given && !read_ranks(p, f, size, dims[0]))
        return 0;
    return fluid_set_block(ctx, f, dims[0]);
}
