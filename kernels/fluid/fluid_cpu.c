/* fluid_cpu.c: making the CPU's store, and its table of kernels, one per
 * precision. */
#include "kernels/fluid/fluid_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/ctx.h"
#include "base/error.h"
#include "kernels/device.h"

/* ---- memory ---- */

enum {
    HUGE_PAGE = 2 << 20, /* bytes; worth it from there on */
    /* Arrays begin at different offsets in a page, so that walking along many
     * of them does not meet in one set of the cache. */
    STAGGER = 576,
    STAGGERS = 13
};

static void *new_block(struct fluid_store *s, size_t bytes)
{
    if (s->n_blocks == s->cap_blocks) {
        int cap = s->cap_blocks ? 2 * s->cap_blocks : 32;
        void **blocks = realloc(s->blocks, (size_t)cap * sizeof *blocks);
        if (!blocks)
            return NULL;
        s->blocks = blocks;
        s->cap_blocks = cap;
    }
    size_t offset = (size_t)(s->n_blocks % STAGGERS) * STAGGER;
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    size_t whole = (bytes + offset + align - 1) / align * align;
    char *p = aligned_alloc(align, whole);
    if (!p)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (align == HUGE_PAGE) /* only advice: nothing is lost if it fails */
        (void)madvise(p, whole, MADV_HUGEPAGE);
#endif
    s->blocks[s->n_blocks++] = p;
    return p + offset;
}

/* Each worker touches its share first, so that the memory is near it. */
static void clear(const struct fluid_store *s, scalar *p, size_t n)
{
    int workers = s->n_workers;
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int w = 0; w < workers; w++) {
        size_t a = n / (size_t)workers * (size_t)w;
        size_t b = w + 1 < workers ? n / (size_t)workers * (size_t)(w + 1) : n;
        memset(p + a, 0, (b - a) * sizeof *p);
    }
}

scalar *fluid_new(struct fluid_store *s, size_t n)
{
    scalar *p = new_block(s, n * sizeof *p);
    if (!p)
        return NULL;
    clear(s, p, n);
    s->bytes += n * sizeof *p;
    return p;
}

size_t fluid_field_numbers(const struct fluid_store *s)
{
    return s->plane * (s->n[2] + 2);
}

scalar *fluid_new_field(struct fluid_store *s)
{
    scalar *p = fluid_new(s, fluid_field_numbers(s));
    return p ? p + s->plane + s->pitch : NULL;
}

/* n fields in one block, a constant distance apart: the sweep then needs two
 * registers for the six arrays of velocity. */
static int new_fields(struct fluid_store *s, int n, scalar **out)
{
    size_t one = fluid_field_numbers(s) + STAGGER / sizeof(scalar);
    scalar *p = new_block(s, (size_t)n * one * sizeof *p);
    if (!p)
        return -1;
    for (int f = 0; f < n; f++) {
        clear(s, p + (size_t)f * one, one);
        out[f] = p + (size_t)f * one + s->plane + s->pitch;
    }
    s->bytes += (size_t)n * one * sizeof *p;
    return 0;
}

/* ---- shape ---- */

static void set_shape(struct fluid_store *s, const struct fluid_setup *setup)
{
    s->setup = *setup;
    for (int d = 0; d < 3; d++) {
        s->n[d] = (size_t)setup->local[d];
        s->cut[d] = setup->dims[d] > 1;
        s->periodic[d] = setup->face[d][0].type == FLUID_PERIODIC;
        int64_t end = setup->first[d] + setup->local[d];
        s->at_wall[d][0] = !s->periodic[d] && setup->first[d] == 0;
        s->at_wall[d][1] = !s->periodic[d] && end == setup->cells[d];
    }
    size_t lanes = (size_t)LANES;
    s->pitch = (s->n[0] + lanes - 1) / lanes * lanes;
    s->plane = s->pitch * (s->n[1] + 2);
    /* One vector between rows holds a row's right ghost at its beginning and
     * the next row's left ghost at its end. */
    s->ring_pitch = s->pitch + lanes;
    s->ring_plane = s->ring_pitch * (s->n[1] + 2) + 2 * lanes;
    s->n_fields = 3 + setup->n_scalars;
    s->inverse_dx = 1 / setup->spacing[0];
    s->inverse_dy = 1 / setup->spacing[1];
    s->implicit[2] = setup->diffusion != FLUID_EXPLICIT;
    s->implicit[0] = s->implicit[1] = setup->diffusion == FLUID_IMPLICIT;
    s->any_implicit = s->implicit[2];
    s->own_psi = s->cut[1] || s->any_implicit;
}

/* Height of the cell k of the whole grid, those beyond its ends included. */
static double height_of(const struct fluid_store *s, int64_t k)
{
    int64_t n = s->setup.cells[2];
    if (s->periodic[2])
        k = (k % n + n) % n;
    else
        k = k < 0 ? 0 : k >= n ? n - 1 : k;
    if (s->setup.uniform_z)
        return (s->setup.face_z[n] - s->setup.face_z[0]) / (double)n;
    return s->setup.face_z[k + 1] - s->setup.face_z[k];
}

static int make_spacing(struct fluid_store *s)
{
    size_t n = s->n[2] + 2;
    double *p = malloc(4 * n * sizeof *p);
    if (!p)
        return -1;
    s->height = p;
    s->between = p + n;
    s->rate_z = p + 2 * n;
    s->center_z = p + 3 * n;
    const double *face = s->setup.face_z;
    for (size_t m = 0; m < n; m++) {
        int64_t k = s->setup.first[2] + (int64_t)m - 1;
        double h = height_of(s, k), up = height_of(s, k + 1);
        p[m] = h;
        s->between[m] = 0.5 * (h + up);
        s->rate_z[m] = 1 / fmin(h, up);
        if (k < 0)
            s->center_z[m] = face[0] - 0.5 * h;
        else if (k >= s->setup.cells[2])
            s->center_z[m] = face[s->setup.cells[2]] + 0.5 * h;
        else
            s->center_z[m] = 0.5 * (face[k] + face[k + 1]);
    }
    return 0;
}

void fluid_plane_coeff(const struct fluid_store *s, int64_t k,
                       const double force[3], struct fluid_coeff *out)
{
    double nu = s->setup.viscosity;
    double dx = s->inverse_dx, dy = s->inverse_dy;
    double h = fluid_h(s, k), hc = fluid_hc(s, k), up = fluid_h(s, k + 1);
    double below = fluid_hc(s, k - 1);
    double x = s->implicit[0] ? 0 : nu * dx * dx;
    double y = s->implicit[1] ? 0 : nu * dy * dy;
    double z = s->implicit[2] ? 0 : nu;
    double t = z / (h * hc), b = z / (h * below);
    double tw = z / (hc * up), bw = z / (hc * h);
    *out = (struct fluid_coeff){
        .adv_x = (scalar)(0.25 * dx),
        .adv_y = (scalar)(0.25 * dy),
        .adv_z = (scalar)(0.25 / h),
        .adv_zw = (scalar)(0.25 / hc),
        .here = (scalar)(h / hc),
        .above = (scalar)(up / hc),
        .diff_x = (scalar)x,
        .diff_y = (scalar)y,
        .diff_t = (scalar)t,
        .diff_b = (scalar)b,
        .diff_tw = (scalar)tw,
        .diff_bw = (scalar)bw,
        .diff_c = (scalar) - (2 * x + 2 * y + t + b),
        .diff_cw = (scalar) - (2 * x + 2 * y + tw + bw),
    };
    for (int d = 0; d < 3 && force; d++)
        out->force[d] = (scalar)force[d];
}

/* ---- making and ending ---- */

/* Components of the velocity's ring stand this many numbers apart: one of a few
 * constants that are part of the sweep's addresses (sweep_cpu.c). The memory
 * between is never touched. */
static int new_ring(struct fluid_store *s, struct fluid_worker *w)
{
    size_t used = 4 * s->ring_plane;
    scalar *p = new_block(s, (2 * s->ring_gap + used) * sizeof *p);
    scalar *q = NULL;
    if (s->n_fields > 3)
        q = new_block(s, (size_t)(s->n_fields - 3) * used * sizeof *q);
    if (!p || (s->n_fields > 3 && !q))
        return -1;
    if (q)
        memset(q, 0, (size_t)(s->n_fields - 3) * used * sizeof *q);
    for (int m = 0; m < 4; m++) {
        struct fluid_plane *plane = m < 3 ? &w->ring[m] : &w->top;
        for (int f = 0; f < s->n_fields; f++) {
            scalar *a = f < 3 ? p + (size_t)f * s->ring_gap
                              : q + (size_t)(f - 3) * used;
            if (f < 3 && m == 0)
                memset(a, 0, used * sizeof *a);
            plane->f[f] =
                a + (size_t)m * s->ring_plane + s->ring_pitch + (size_t)LANES;
        }
    }
    s->bytes += (size_t)s->n_fields * used * sizeof *p;
    return 0;
}

static int make_worker(struct fluid_store *s, struct fluid_worker *w)
{
    size_t row = s->pitch;
    if (new_ring(s, w) != 0)
        return -1;
    scalar *rows = fluid_new(s, 6 * row);
    w->rhs = fluid_new(s, s->pitch * s->n[1]);
    for (int m = 0; m < 2; m++) {
        w->psi[m] = fluid_new(s, s->ring_plane);
        if (!w->psi[m])
            return -1;
        w->psi[m] += s->ring_pitch + (size_t)LANES;
    }
    if (!rows || !w->rhs)
        return -1;
    for (int d = 0; d < 3; d++) {
        w->acc[d] = rows + (size_t)d * row;
        w->push[d] = rows + (size_t)(3 + d) * row;
    }
    return 0;
}

static int make_workers(struct fluid_store *s, int threads)
{
    int64_t n = (int64_t)s->n[2];
    s->n_workers = threads < 1 ? 1 : n < threads ? (int)n : threads;
    s->workers = calloc((size_t)s->n_workers, sizeof *s->workers);
    return s->workers ? 0 : -1;
}

static int make_arrays(struct fluid_store *s)
{
    scalar *velocity[6];
    if (new_fields(s, 6, velocity) != 0)
        return -1;
    for (int f = 0; f < 3; f++) {
        s->field[f] = velocity[f];
        s->history[f] = velocity[3 + f];
    }
    for (int f = 3; f < s->n_fields; f++) {
        s->field[f] = fluid_new_field(s);
        s->history[f] = fluid_new_field(s);
        if (!s->field[f] || !s->history[f])
            return -1;
    }
    if (s->any_implicit && new_fields(s, 3, s->delta) != 0)
        return -1;
    for (int f = 3; f < s->n_fields && s->any_implicit; f++)
        if (!(s->delta[f] = fluid_new_field(s)))
            return -1;
    if (s->any_implicit && !(s->pressure = fluid_new_field(s)))
        return -1;
    if (s->own_psi && !(s->psi = fluid_new_field(s)))
        return -1;
    s->flow = calloc(3 * s->n[2], sizeof *s->flow);
    if (!s->flow)
        return -1;
    int64_t n = (int64_t)s->n[2];
    for (int k = 0; k < s->n_workers; k++) {
        struct fluid_worker *w = &s->workers[k];
        w->first = n * k / s->n_workers;
        w->last = n * (k + 1) / s->n_workers;
        if (make_worker(s, w) != 0)
            return -1;
    }
    return 0;
}

/* The setup's arrays become the store's own. */
static int copy_tables(struct fluid_store *s)
{
    const struct fluid_setup *from = &s->setup;
    size_t n = (size_t)from->cells[2] + 1, counts[3], ints = 0;
    for (int d = 0; d < 3; d++)
        ints += counts[d] = (size_t)from->dims[d] + 1;
    s->tables = malloc(n * sizeof(double) + ints * sizeof(int64_t));
    if (!s->tables)
        return -1;
    memcpy(s->tables, from->face_z, n * sizeof(double));
    s->setup.face_z = s->tables;
    int64_t *cuts = (int64_t *)(s->tables + n);
    for (int d = 0; d < 3; d++) {
        if (s->setup.cuts[d])
            memcpy(cuts, s->setup.cuts[d], counts[d] * sizeof *cuts);
        s->setup.cuts[d] = s->setup.cuts[d] ? cuts : NULL;
        cuts += counts[d];
    }
    return 0;
}

static void destroy(struct fluid_store *s)
{
    if (!s)
        return;
    poisson_destroy(s->poisson);
    fluid_exchange_destroy(s);
    fluid_lines_destroy(s);
    for (int k = 0; k < s->n_blocks; k++)
        free(s->blocks[k]);
    free(s->blocks);
    free(s->workers);
    free(s->height);
    free(s->flow);
    free(s->tables);
    free(s);
}

static int create(struct ctx *ctx, const struct fluid_setup *setup,
                  struct fluid_store **out)
{
    int status = STATUS_MEMORY;
    struct fluid_store *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the fluid");
    set_shape(s, setup);
    s->ring_gap = fluid_choose_gap(4 * s->ring_plane);
    if (copy_tables(s) != 0)
        goto failed;
    if (make_spacing(s) != 0 ||
        make_workers(s, ctx->device ? ctx->device->threads : 1) != 0)
        goto failed;
    fluid_make_rules(s);
    if (make_arrays(s) != 0)
        goto failed;
    status = fluid_exchange_create(ctx, s);
    if (status == 0)
        status = poisson_create(ctx, &s->setup, &s->poisson);
    if (status == 0 && s->any_implicit)
        status = fluid_lines_create(ctx, s);
    if (status != 0)
        goto failed;
    *out = s;
    return 0;
failed:
    destroy(s);
    return FAIL(ctx, status, "no memory for the fluid");
}

/* ---- how much ---- */

/* Of state: fields, history, what implicit diffusion and cuts need. */
static size_t state_bytes(const struct fluid_store *s)
{
    size_t arrays = 2 * (size_t)s->n_fields + (size_t)s->own_psi;
    if (s->any_implicit)
        arrays += (size_t)s->n_fields + 1;
    return arrays * fluid_field_numbers(s) * sizeof(scalar);
}

static double estimate(const struct fluid_setup *setup)
{
    struct fluid_store s = {0};
    set_shape(&s, setup);
    size_t fields = (size_t)s.n_fields + (size_t)s.any_implicit;
    size_t worker = 4 * (size_t)s.n_fields * s.ring_plane + 2 * s.ring_plane +
                    s.pitch * (s.n[1] + 6);
    size_t layer_y = s.n[2] * s.n[0], layer_z = s.plane;
    size_t layer = s.cut[1] && layer_y > layer_z ? layer_y : layer_z;
    size_t numbers = worker + (s.cut[1] || s.cut[2] ? 4 * fields * layer : 0);
    return (double)(state_bytes(&s) + numbers * sizeof(scalar)) +
           (double)poisson_bytes(setup) + (double)fluid_lines_bytes(setup);
}

static void counters(const struct fluid_store *s, struct fluid_counters *out)
{
    size_t cells = s->n[0] * s->n[1] * s->n[2];
    size_t spectrum = poisson_bytes(&s->setup);
    out->bytes = s->bytes + spectrum;
    out->bytes_per_cell_state = (state_bytes(s) + spectrum) / cells;
}

/* ---- the table ---- */

static const char *const phases[] = {"predictor",   "halo",      "transform",
                                     "tridiagonal", "transpose", "correction",
                                     "scalars",     "lines",     NULL};

static void phase_seconds(const struct fluid_store *s, double *out)
{
    for (int p = 0; p < FLUID_PHASES; p++) {
        out[p] = s->seconds[p];
        for (int k = 0; k < s->n_workers; k++)
            out[p] += s->workers[k].seconds[p] / s->n_workers;
    }
}

const struct fluid_kernels FLUID_NAME(fluid_kernels_cpu) = {
    .name = FLUID_PRECISION_NAME,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .counters = counters,
    .set = fluid_set,
    .get = fluid_get,
    .send_begin = fluid_send_begin,
    .send_end = fluid_send_end,
    .predict = fluid_predict,
    .predicted_flow = fluid_predicted_flow,
    .lines_begin = fluid_lines_begin,
    .lines_end = fluid_lines_end,
    .source = fluid_source,
    .transform_y = fluid_transform_y,
    .columns_begin = fluid_columns_begin,
    .columns_end = fluid_columns_end,
    .inverse_y = fluid_inverse_y,
    .inverse_x = fluid_inverse_x,
    .correct = fluid_correct,
    .look = fluid_look_at,
    .profile = fluid_profile,
    .find_bad = fluid_find_bad,
    .phases = phases,
    .phase_seconds = phase_seconds,
};
