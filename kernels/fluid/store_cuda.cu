/* store_cuda.cu: a card's store, its memory, and its table of kernels. */
#include "kernels/fluid/store_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/format.h"
}
#include "kernels/fluid/poisson_cuda.h"

/* ---- memory ---- */

int fluid_cuda_new(struct fluid_store *s, size_t bytes, const char *what,
                   void **out)
{
    *out = NULL;
    if (bytes == 0)
        return 0;
    if (s->n_blocks == s->cap_blocks) {
        int cap = s->cap_blocks ? 2 * s->cap_blocks : 32;
        void **blocks =
            (void **)realloc(s->blocks, (size_t)cap * sizeof *blocks);
        if (!blocks)
            return FAIL(s->ctx, STATUS_MEMORY, "no memory for the fluid");
        s->blocks = blocks;
        s->cap_blocks = cap;
    }
    size_t held = 0;
    TRY(cuda_grow(s->ctx, out, &held, bytes, what));
    s->blocks[s->n_blocks++] = *out;
    s->bytes += bytes;
    CUDA_TRY(s->ctx, cudaMemsetAsync(*out, 0, bytes, s->device->stream));
    return 0;
}

int fluid_cuda_new_twin(struct fluid_store *s, size_t bytes, const char *what,
                        struct twin *out)
{
    void *device = NULL;
    if (bytes == 0)
        return 0;
    TRY(fluid_cuda_new(s, bytes, what, &device));
    out->device = (char *)device;
    out->bytes = bytes;
    if (s->ctx->device->direct) {
        out->host = out->device;
        return 0;
    }
    cudaError_t error = cudaMallocHost(&out->host, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* this error is told and done with */
        char size[FORMAT_MAX];
        return FAIL(s->ctx, STATUS_MEMORY,
                    "no memory on the host for %s: %s needed", what,
                    format_bytes((double)bytes, size));
    }
    return cuda_status(s->ctx, error, "cudaMallocHost");
}

void fluid_cuda_free_twin(struct twin *t)
{
    if (t->host && t->host != t->device)
        cudaFreeHost(t->host);
    t->host = NULL;
}

static int copy_twin(struct fluid_store *s, char *to, const char *from,
                     size_t bytes, enum cudaMemcpyKind kind, uint64_t *counter)
{
    if (bytes == 0 || to == from)
        return 0;
    *counter += bytes;
    CUDA_TRY(s->ctx, cudaMemcpyAsync(to, from, bytes, kind, s->device->stream));
    return 0;
}

int fluid_cuda_to_twin(struct fluid_store *s, const struct twin *t, size_t at,
                       size_t bytes)
{
    return copy_twin(s, t->host + at, t->device + at, bytes,
                     cudaMemcpyDeviceToHost, &s->device->bytes_to_host);
}

int fluid_cuda_from_twin(struct fluid_store *s, const struct twin *t, size_t at,
                         size_t bytes)
{
    return copy_twin(s, t->device + at, t->host + at, bytes,
                     cudaMemcpyHostToDevice, &s->device->bytes_to_device);
}

/* The largest of what stands in s->partial: a piece of a plain block, sums of
 * what is looked at (others have fewer values) and of profiles. */
static size_t partial_numbers(const struct fluid_setup *setup)
{
    size_t most = fluid_cuda_look_numbers(setup), cells = 1;
    size_t moments = (size_t)fluid_moments(setup->n_scalars);
    for (int d = 0; d < 3; d++) {
        size_t n = (size_t)setup->local[d];
        cells *= n;
        most = n * moments > most ? n * moments : most;
    }
    cells = cells < BLOCK_NUMBERS ? cells : (size_t)BLOCK_NUMBERS;
    return cells > most ? cells : most;
}

/* ---- shape ---- */

static void shape_of(const struct fluid_setup *setup, size_t *pitch,
                     size_t *plane)
{
    size_t line = 128 / sizeof(scalar); /* numbers in a line of the cache */
    *pitch = ((size_t)setup->local[0] + 2 + line - 1) / line * line;
    *plane = *pitch * ((size_t)setup->local[1] + 2);
}

/* One row more in front: the first row's i = -1, and alignment. */
static size_t field_numbers(const struct fluid_setup *setup)
{
    size_t pitch, plane;
    shape_of(setup, &pitch, &plane);
    return plane * ((size_t)setup->local[2] + 2) + pitch;
}

static int arrays_of(const struct fluid_setup *setup)
{
    int implicit = setup->diffusion != FLUID_EXPLICIT;
    return 3 * (3 + setup->n_scalars) + implicit;
}

double fluid_cuda_height(const struct fluid_setup *setup, int64_t k)
{
    int64_t n = setup->cells[2];
    if (setup->face[2][0].type == FLUID_PERIODIC)
        k = (k % n + n) % n;
    else
        k = k < 0 ? 0 : k >= n ? n - 1 : k;
    if (setup->uniform_z)
        return (setup->face_z[n] - setup->face_z[0]) / (double)n;
    return setup->face_z[k + 1] - setup->face_z[k];
}

static void set_shape(struct fluid_store *s)
{
    const struct fluid_setup *setup = &s->setup;
    struct fluid_view *v = &s->view;
    size_t pitch, plane;
    shape_of(setup, &pitch, &plane);
    v->pitch = (ptrdiff_t)pitch;
    v->plane = (ptrdiff_t)plane;
    v->n_fields = 3 + setup->n_scalars;
    for (int d = 0; d < 3; d++) {
        int64_t end = setup->first[d] + setup->local[d];
        v->n[d] = (int)setup->local[d];
        v->periodic[d] = setup->face[d][0].type == FLUID_PERIODIC;
        v->wall[d][0] = !v->periodic[d] && setup->first[d] == 0;
        v->wall[d][1] = !v->periodic[d] && end == setup->cells[d];
        s->cut[d] = setup->dims[d] > 1;
        s->implicit[d] = setup->diffusion == FLUID_IMPLICIT ||
                         (d == 2 && setup->diffusion == FLUID_IMPLICIT_Z);
    }
    s->any_implicit = s->implicit[2];
    for (int d = 0; d < 2; d++)
        v->inverse_d[d] = 1 / setup->spacing[d];
}

/* The setup's arrays become the store's own. */
static int copy_tables(struct fluid_store *s, const struct fluid_setup *from)
{
    size_t n = (size_t)from->cells[2] + 1, ints = 0;
    for (int d = 0; d < 3; d++)
        ints += (size_t)from->dims[d] + 1;
    s->tables = (double *)malloc(n * sizeof(double) + ints * sizeof(int64_t));
    if (!s->tables)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for the grid");
    memcpy(s->tables, from->face_z, n * sizeof(double));
    s->setup.face_z = s->tables;
    int64_t *cuts = (int64_t *)(s->tables + n);
    for (int d = 0; d < 3; d++) {
        size_t count = (size_t)from->dims[d] + 1;
        if (from->cuts[d]) {
            memcpy(cuts, from->cuts[d], count * sizeof *cuts);
        } else {
            cuts[0] = 0;
            cuts[1] = from->cells[d];
        }
        s->setup.cuts[d] = cuts;
        cuts += count;
    }
    return 0;
}

static int make_metric(struct fluid_store *s)
{
    int64_t n = s->setup.local[2];
    size_t planes = (size_t)n + 2;
    s->metric = (double *)malloc(2 * planes * sizeof *s->metric);
    struct plane_metric *m = (struct plane_metric *)malloc(planes * sizeof *m);
    if (!s->metric || !m) {
        free(m);
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for the grid");
    }
    for (int64_t k = -1; k <= n; k++) {
        int64_t at = s->setup.first[2] + k;
        double h = fluid_cuda_height(&s->setup, at);
        double up = fluid_cuda_height(&s->setup, at + 1);
        double down = fluid_cuda_height(&s->setup, at - 1);
        s->metric[k + 1] = m[k + 1].h = h;
        s->metric[n + 3 + k] = m[k + 1].hc = 0.5 * (h + up);
        m[k + 1].hc_below = 0.5 * (h + down);
        m[k + 1].per_h = 1 / h;
        m[k + 1].per_hc = 1 / m[k + 1].hc;
        m[k + 1].per_hc_below = 1 / m[k + 1].hc_below;
        m[k + 1].rate = 1 / fmin(h, up);
    }
    void *p = NULL;
    int status = fluid_cuda_new(s, planes * sizeof *m, "the grid", &p);
    if (status == 0)
        status = cuda_to_device(s->ctx, s->device, p, m, planes * sizeof *m);
    free(m);
    s->view.metric = (const struct plane_metric *)p + 1;
    return status;
}

/* Factors of plane k; implicit: of the diffusion that the others leave out. */
static struct fluid_coeff coeff_of(const struct fluid_store *s, int64_t k,
                                   int implicit)
{
    struct fluid_coeff q;
    double nu = s->setup.viscosity;
    double dx = s->view.inverse_d[0], dy = s->view.inverse_d[1];
    double h = fluid_h(s, k), hc = fluid_hc(s, k), up = fluid_h(s, k + 1);
    double below = fluid_hc(s, k - 1);
    double x = s->implicit[0] == implicit ? nu * dx * dx : 0;
    double y = s->implicit[1] == implicit ? nu * dy * dy : 0;
    double z = s->implicit[2] == implicit ? nu : 0;
    double t = z / (h * hc), b = z / (h * below);
    double tw = z / (hc * up), bw = z / (hc * h);
    memset(&q, 0, sizeof q);
    q.adv_x = (scalar)(0.25 * dx);
    q.adv_y = (scalar)(0.25 * dy);
    q.adv_z = (scalar)(0.25 / h);
    q.adv_zw = (scalar)(0.25 / hc);
    q.here = (scalar)(h / hc);
    q.above = (scalar)(up / hc);
    q.diff_x = (scalar)x;
    q.diff_y = (scalar)y;
    q.diff_t = (scalar)t;
    q.diff_b = (scalar)b;
    q.diff_tw = (scalar)tw;
    q.diff_bw = (scalar)bw;
    q.diff_c = (scalar) - (2 * x + 2 * y + t + b);
    q.diff_cw = (scalar) - (2 * x + 2 * y + tw + bw);
    return q;
}

static int make_coeff(struct fluid_store *s, int implicit,
                      const struct fluid_coeff **out)
{
    size_t n = (size_t)s->view.n[2];
    struct fluid_coeff *q = (struct fluid_coeff *)malloc(n * sizeof *q);
    void *p = NULL;
    if (!q)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for the grid");
    for (size_t k = 0; k < n; k++)
        q[k] = coeff_of(s, (int64_t)k, implicit);
    int status = fluid_cuda_new(s, n * sizeof *q, "the grid", &p);
    if (status == 0)
        status = cuda_to_device(s->ctx, s->device, p, q, n * sizeof *q);
    free(q);
    *out = (const struct fluid_coeff *)p;
    return status;
}

static int new_field(struct fluid_store *s, scalar **out)
{
    void *p = NULL;
    TRY(fluid_cuda_new(s, field_numbers(&s->setup) * sizeof(scalar),
                       "the fields of the flow", &p));
    *out = (scalar *)p + s->view.plane + 2 * s->view.pitch;
    return 0;
}

static int make_fields(struct fluid_store *s)
{
    struct fluid_view *v = &s->view;
    for (int f = 0; f < v->n_fields; f++) {
        TRY(new_field(s, &v->field[f]));
        TRY(new_field(s, &v->next[f]));
        TRY(new_field(s, &v->history[f]));
    }
    if (s->any_implicit)
        TRY(new_field(s, &v->pressure));
    return 0;
}

/* ---- making and ending ---- */

static void destroy(struct fluid_store *s)
{
    if (!s)
        return;
    lines_cuda_destroy(s->lines);
    poisson_cuda_destroy(s->poisson);
    fluid_cuda_free_twin(&s->send);
    fluid_cuda_free_twin(&s->recv);
    for (int k = 0; k < s->n_blocks; k++)
        cuda_free(s->blocks[k]);
    free(s->blocks);
    free(s->tables);
    free(s->metric);
    free(s);
}

static int fill(struct fluid_store *s, const struct fluid_setup *setup)
{
    void *sums = NULL;
    size_t halo = fluid_cuda_halo_bytes(setup);
    TRY(copy_tables(s, setup));
    set_shape(s);
    TRY(make_metric(s));
    fluid_cuda_make_rules(s);
    TRY(make_fields(s));
    TRY(make_coeff(s, 0, &s->view.coeff));
    TRY(make_coeff(s, 1, &s->view.implicit));
    TRY(fluid_cuda_new(s, REDUCED_MAX * sizeof(double), "sums", &sums));
    s->result = (double *)sums;
    TRY(fluid_cuda_new(s, partial_numbers(setup) * sizeof(double), "sums",
                       &sums));
    s->partial = (double *)sums;
    TRY(fluid_cuda_new_twin(s, halo, "ghost cells", &s->send));
    TRY(fluid_cuda_new_twin(s, halo, "ghost cells", &s->recv));
    TRY(poisson_cuda_create(s, &s->poisson));
    if (s->any_implicit)
        TRY(lines_cuda_create(s, &s->lines));
    return 0;
}

static int create(struct ctx *ctx, const struct fluid_setup *setup,
                  struct fluid_store **out)
{
    *out = NULL;
    for (int d = 0; d < 3; d++)
        if (setup->cells[d] > INT32_MAX / 4)
            return FAIL(ctx, STATUS_UNSUPPORTED,
                        "%lld cells along one direction are too many for a "
                        "card",
                        (long long)setup->cells[d]);
    struct fluid_store *s = (struct fluid_store *)calloc(1, sizeof *s);
    if (!s)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the fluid");
    s->ctx = ctx;
    s->device = cuda_of(ctx);
    s->setup = *setup;
    int status = fill(s, setup);
    if (status != 0) {
        destroy(s);
        return status;
    }
    *out = s;
    return 0;
}

static double estimate(const struct fluid_setup *setup)
{
    double planes = (double)setup->local[2];
    double sums = REDUCED_MAX + (double)partial_numbers(setup);
    return (double)arrays_of(setup) * (double)field_numbers(setup) *
               (double)sizeof(scalar) +
           2 * planes * (double)sizeof(struct fluid_coeff) +
           (planes + 2) * (double)sizeof(struct plane_metric) +
           sums * (double)sizeof(double) +
           2 * (double)fluid_cuda_halo_bytes(setup) +
           poisson_cuda_estimate(setup) + lines_cuda_bytes(setup);
}

static void counters(const struct fluid_store *s, struct fluid_counters *out)
{
    const int64_t *n = s->setup.local;
    double cells = (double)n[0] * (double)n[1] * (double)n[2];
    double state = (double)arrays_of(&s->setup) *
                       (double)field_numbers(&s->setup) *
                       (double)sizeof(scalar) +
                   poisson_cuda_estimate(&s->setup);
    out->bytes = s->bytes;
    out->bytes_per_cell_state = (size_t)(state / cells);
}

/* ---- reductions ---- */

/* One block for each value: partial sums in a fixed order, so that the result
 * does not depend on timing. */
static __global__ void __launch_bounds__(TILE)
    reduce_partial(const double *partial, size_t n, uint64_t greatest,
                   double *result)
{
    __shared__ double shared[TILE / 32];
    const double *column = partial + (size_t)blockIdx.x * n;
    int maximum = (int)(greatest >> blockIdx.x & 1);
    double value = maximum ? -HUGE_VAL : 0;
    for (size_t k = threadIdx.x; k < n; k += blockDim.x)
        value = maximum ? fmax(value, column[k]) : value + column[k];
    value = tile_reduce(value, maximum, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = value;
}

int fluid_cuda_reduce(struct fluid_store *s, int n_values, size_t n_blocks,
                      uint64_t greatest, double *out)
{
    LAUNCH(reduce_partial, (unsigned)n_values, TILE, 0, s->device->stream,
           s->partial, n_blocks, greatest, s->result);
    CUDA_TRY_LAUNCH(s->ctx, "reduce_partial");
    return cuda_to_host(s->ctx, s->device, out, s->result,
                        (size_t)n_values * sizeof *out);
}

/* ---- the table ---- */

static int columns_begin(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    return poisson_cuda_columns_begin(s);
}
static int columns_end(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    return poisson_cuda_columns_end(s);
}
static int transform_y(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    return poisson_cuda_transform_y(s);
}
static int inverse_y(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    return poisson_cuda_inverse_y(s);
}
static int inverse_x(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    return poisson_cuda_inverse_x(s);
}

static struct fluid_kernels make_table(void)
{
    struct fluid_kernels k;
    memset(&k, 0, sizeof k);
    k.name = FLUID_PRECISION_NAME;
    k.estimate = estimate;
    k.create = create;
    k.destroy = destroy;
    k.counters = counters;
    k.set = fluid_cuda_set;
    k.get = fluid_cuda_get;
    k.send_begin = fluid_cuda_send_begin;
    k.send_end = fluid_cuda_send_end;
    k.predict = fluid_cuda_predict;
    k.predicted_flow = fluid_cuda_predicted_flow;
    k.lines_begin = lines_cuda_begin;
    k.lines_end = lines_cuda_end;
    k.source = fluid_cuda_source;
    k.transform_y = transform_y;
    k.columns_begin = columns_begin;
    k.columns_end = columns_end;
    k.inverse_y = inverse_y;
    k.inverse_x = inverse_x;
    k.correct = fluid_cuda_correct;
    k.look = fluid_cuda_look;
    k.profile = fluid_cuda_profile;
    k.find_bad = fluid_cuda_find_bad;
    return k;
}

extern "C" const struct fluid_kernels *FLUID_NAME(fluid_kernels_cuda)(void)
{
    static const struct fluid_kernels table = make_table();
    return &table;
}
