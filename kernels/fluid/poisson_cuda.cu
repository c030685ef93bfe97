/* poisson_cuda.cu: plans, buffers and messages of the Poisson solver. */
#include "kernels/fluid/columns_cuda.h"

#include <math.h>
#include <stdlib.h>

struct poisson_cuda {
    struct poisson_view view;
    struct cuda_fft *fft_x, *fft_y;
    struct twin by_mode, by_row, records;
    size_t record_bytes; /* of one rank */
    /* Messages: with the ranks of one y, or of one z. */
    int n;
    int *partner;
    const void **send;
    void **recv;
    size_t *send_bytes, *recv_bytes;
};

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int lines_of(const struct fluid_setup *setup, int d, int64_t *modes)
{
    int cosine = setup->face[d][0].type != FLUID_PERIODIC;
    *modes = cosine ? setup->cells[d] : cuda_fft_pitch(setup->cells[d]);
    return cosine;
}

/* First of the rows of rank r. */
static int64_t row_cut(int64_t modes, int ranks, int r)
{
    return modes * r / ranks;
}

struct sizes {
    int64_t modes_x, rows, x_lines, y_lines, by_mode, by_row, records;
};

static struct sizes sizes_of(const struct fluid_setup *setup)
{
    struct sizes z;
    int ranks = setup->dims[1], rank = setup->coords[1];
    const int64_t *cells = setup->cells, *local = setup->local;
    lines_of(setup, 0, &z.modes_x);
    z.rows =
        row_cut(z.modes_x, ranks, rank + 1) - row_cut(z.modes_x, ranks, rank);
    z.y_lines = local[2] * z.rows * cuda_fft_pitch(cells[1]);
    z.x_lines = most(local[2] * local[1] * cuda_fft_pitch(cells[0]), z.y_lines);
    z.by_mode = ranks > 1 ? local[2] * z.modes_x * local[1] : 0;
    z.by_row = ranks > 1 ? local[2] * z.rows * cells[1] : 0;
    int reduced =
        setup->dims[2] > 1 || setup->face[2][0].type == FLUID_PERIODIC;
    z.records =
        reduced ? setup->dims[2] * RECORD * z.rows * (cells[1] / 2 + 1) : 0;
    return z;
}

/* Of make_tables(), make_rows() and make_cuts(). */
static double tables_bytes(const struct fluid_setup *setup,
                           const struct sizes *z)
{
    int64_t cx = setup->cells[0] / 2 + 1, cy = setup->cells[1] / 2 + 1;
    int64_t values = z->modes_x + 2 * cy + 3 * setup->local[2] + setup->dims[2];
    return (double)values * (double)sizeof(double) +
           (double)(cx + cy) * (double)sizeof(scalar_pair) +
           2 * (double)(setup->dims[1] + 1) * (double)sizeof(int);
}

double poisson_cuda_estimate(const struct fluid_setup *setup)
{
    struct sizes z = sizes_of(setup);
    double fx = cuda_fft_estimate(
        setup->cells[0], setup->local[1] * setup->local[2], sizeof(scalar));
    double fy = cuda_fft_estimate(setup->cells[1], z.rows * setup->local[2],
                                  sizeof(scalar));
    return (double)(z.x_lines + z.y_lines + z.by_mode + z.by_row) *
               (double)sizeof(scalar) +
           (double)z.records * (double)sizeof(double) + fmax(fx, fy) +
           tables_bytes(setup, &z);
}

const struct poisson_view *poisson_cuda_view(const struct poisson_cuda *p)
{
    return &p->view;
}

/* ---- tables ---- */

static int upload(struct fluid_store *s, const void *host, size_t bytes,
                  void **out)
{
    TRY(fluid_cuda_new(s, bytes, "the tables of transforms", out));
    return cuda_to_device(s->ctx, s->device, *out, host, bytes);
}

/* Eigenvalue of the second difference with spacing h for mode m of n. */
static double eigenvalue(int64_t m, int64_t n, double h, int cosine)
{
    double half = M_PI * (double)m / (double)n * (cosine ? 0.5 : 1.0);
    double sine = 2 * sin(half) / h;
    return -sine * sine;
}

static int make_tables(struct fluid_store *s, struct poisson_view *v,
                       double *values, scalar_pair *twiddle)
{
    const struct fluid_setup *setup = &s->setup;
    void *p;
    for (int m = 0; m < v->modes_x; m++)
        values[m] = eigenvalue(v->cosine_x ? m : m / 2, v->nx,
                               setup->spacing[0], v->cosine_x);
    TRY(upload(s, values, (size_t)v->modes_x * sizeof *values, &p));
    v->lambda_x = (const double *)p;
    for (int c = 0; c < 2 * v->cy; c++) {
        int m = v->cosine_y && c % 2 == 1 ? v->ny - c / 2 : c / 2;
        values[c] = eigenvalue(m, v->ny, setup->spacing[1], v->cosine_y);
    }
    TRY(upload(s, values, 2 * (size_t)v->cy * sizeof *values, &p));
    v->lambda_y = (const double *)p;
    for (int d = 0; d < 2; d++) {
        int n = d == 0 ? v->nx : v->ny, count = n / 2 + 1;
        for (int c = 0; c < count; c++) {
            twiddle[c].re = (scalar)cos(M_PI * c / (2.0 * n));
            twiddle[c].im = (scalar)sin(M_PI * c / (2.0 * n));
        }
        TRY(upload(s, twiddle, (size_t)count * sizeof *twiddle, &p));
        *(d == 0 ? &v->twiddle_x : &v->twiddle_y) = (const scalar_pair *)p;
    }
    return 0;
}

/* 1 / distance of the centers of cells k and k + 1 of the whole grid; 0 where
 * there is a wall in between. */
static double coupling(const struct fluid_setup *setup, int64_t k)
{
    int wall = setup->face[2][0].type != FLUID_PERIODIC;
    if (wall && (k < 0 || k + 1 >= setup->cells[2]))
        return 0;
    return 2 / (fluid_cuda_height(setup, k) + fluid_cuda_height(setup, k + 1));
}

static int make_rows(struct fluid_store *s, struct poisson_view *v,
                     double *values)
{
    const struct fluid_setup *setup = &s->setup;
    void *p;
    int n = v->nz;
    for (int k = 0; k < n; k++) {
        int64_t at = setup->first[2] + k;
        double h = fluid_cuda_height(setup, at);
        values[k] = coupling(setup, at - 1) / h;
        values[2 * n + k] = coupling(setup, at) / h;
        values[n + k] = -(values[k] + values[2 * n + k]);
    }
    TRY(upload(s, values, 3 * (size_t)n * sizeof *values, &p));
    v->row_z = (const double *)p;
    for (int r = 0; r < v->ranks_z; r++) {
        int64_t at = setup->cuts[2][r + 1] - 1;
        values[r] = coupling(setup, at) / fluid_cuda_height(setup, at);
    }
    TRY(upload(s, values, (size_t)v->ranks_z * sizeof *values, &p));
    v->upper_z = (const double *)p;
    return 0;
}

static int make_cuts(struct fluid_store *s, struct poisson_view *v)
{
    size_t n = (size_t)v->ranks_y + 1;
    void *p;
    int *cuts = (int *)malloc(2 * n * sizeof *cuts);
    if (!cuts)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for the cuts of a grid");
    for (int r = 0; r <= v->ranks_y; r++) {
        cuts[r] = (int)row_cut(v->modes_x, v->ranks_y, r);
        cuts[n + (size_t)r] = (int)s->setup.cuts[1][r];
    }
    int status = upload(s, cuts, 2 * n * sizeof *cuts, &p);
    free(cuts);
    v->row_cut = (const int *)p;
    v->y_cut = v->row_cut + n;
    return status;
}

static int make_all_tables(struct fluid_store *s, struct poisson_view *v)
{
    size_t n =
        (size_t)most(most(v->modes_x, 2 * v->cy), most(3 * v->nz, v->ranks_z));
    double *values = (double *)malloc(n * sizeof *values);
    scalar_pair *twiddle =
        (scalar_pair *)malloc((size_t)most(v->cx, v->cy) * sizeof *twiddle);
    int status = 0;
    if (!values || !twiddle)
        status = FAIL(s->ctx, STATUS_MEMORY, "no memory for transforms");
    if (status == 0)
        status = make_tables(s, v, values, twiddle);
    if (status == 0)
        status = make_rows(s, v, values);
    free(values);
    free(twiddle);
    TRY(status);
    return make_cuts(s, v);
}

/* ---- creation ---- */

static void set_shape(const struct fluid_store *s, struct poisson_view *v)
{
    const struct fluid_setup *setup = &s->setup;
    int64_t modes_x, modes_y;
    v->cosine_x = lines_of(setup, 0, &modes_x);
    v->cosine_y = lines_of(setup, 1, &modes_y);
    v->nx = (int)setup->cells[0];
    v->ny = (int)setup->cells[1];
    v->nz = (int)setup->local[2];
    v->ny_here = (int)setup->local[1];
    v->cx = v->nx / 2 + 1;
    v->cy = v->ny / 2 + 1;
    v->ranks_y = setup->dims[1];
    v->rank_y = setup->coords[1];
    v->ranks_z = setup->dims[2];
    v->rank_z = setup->coords[2];
    v->reduced = v->ranks_z > 1 || setup->face[2][0].type == FLUID_PERIODIC;
    v->modes_x = (int)modes_x;
    v->row0 = (int)row_cut(modes_x, v->ranks_y, v->rank_y);
    v->rows = (int)row_cut(modes_x, v->ranks_y, v->rank_y + 1) - v->row0;
    v->scale = (scalar)(1.0 / ((double)v->nx * (double)v->ny));
}

static int allocate(struct fluid_store *s, struct poisson_cuda *p)
{
    struct poisson_view *v = &p->view;
    struct sizes z = sizes_of(&s->setup);
    void *memory;
    TRY(fluid_cuda_new(s, (size_t)z.x_lines * sizeof(scalar), "the spectrum",
                       &memory));
    v->x_lines = (scalar *)memory;
    v->work = (scalar_pair *)memory;
    TRY(fluid_cuda_new(s, (size_t)z.y_lines * sizeof(scalar), "the spectrum",
                       &memory));
    v->y_lines = (scalar *)memory;
    if (v->ranks_y > 1) {
        TRY(fluid_cuda_new_twin(s, (size_t)z.by_mode * sizeof(scalar),
                                "transposes", &p->by_mode));
        TRY(fluid_cuda_new_twin(s, (size_t)z.by_row * sizeof(scalar),
                                "transposes", &p->by_row));
        v->by_mode = (scalar *)p->by_mode.device;
        v->by_row = (scalar *)p->by_row.device;
    }
    p->record_bytes = (size_t)z.records * sizeof(double) / (size_t)v->ranks_z;
    if (v->ranks_z > 1) {
        TRY(fluid_cuda_new_twin(s, (size_t)z.records * sizeof(double),
                                "columns", &p->records));
        v->records = (double *)p->records.device;
    } else if (v->reduced) {
        TRY(fluid_cuda_new(s, (size_t)z.records * sizeof(double), "columns",
                           &memory));
        v->records = (double *)memory;
    }
    size_t n = (size_t)most(v->ranks_y, v->ranks_z);
    p->partner = (int *)calloc(n, sizeof *p->partner);
    p->send = (const void **)calloc(n, sizeof *p->send);
    p->recv = (void **)calloc(n, sizeof *p->recv);
    p->send_bytes = (size_t *)calloc(n, sizeof *p->send_bytes);
    p->recv_bytes = (size_t *)calloc(n, sizeof *p->recv_bytes);
    if (!p->partner || !p->send || !p->recv || !p->send_bytes || !p->recv_bytes)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for messages");
    return 0;
}

static int make_plans(struct fluid_store *s, struct poisson_cuda *p)
{
    const struct poisson_view *v = &p->view;
    size_t workspace = 0;
    void *area = NULL;
    TRY(cuda_fft_create(s->ctx, v->nx, (int64_t)v->nz * v->ny_here,
                        sizeof(scalar), &workspace, &p->fft_x));
    TRY(cuda_fft_create(s->ctx, v->ny, (int64_t)v->nz * v->rows, sizeof(scalar),
                        &workspace, &p->fft_y));
    if (workspace > 0)
        TRY(fluid_cuda_new(s, workspace, "cuFFT to work in", &area));
    TRY(cuda_fft_set_workspace(s->ctx, p->fft_x, area));
    return cuda_fft_set_workspace(s->ctx, p->fft_y, area);
}

int poisson_cuda_create(struct fluid_store *s, struct poisson_cuda **out)
{
    struct poisson_cuda *p = (struct poisson_cuda *)calloc(1, sizeof *p);
    if (!p)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for transforms");
    *out = p; /* destroyed with the store */
    set_shape(s, &p->view);
    TRY(allocate(s, p));
    TRY(make_plans(s, p));
    return make_all_tables(s, &p->view);
}

void poisson_cuda_destroy(struct poisson_cuda *p)
{
    if (!p)
        return;
    cuda_fft_destroy(p->fft_x);
    cuda_fft_destroy(p->fft_y);
    fluid_cuda_free_twin(&p->by_mode);
    fluid_cuda_free_twin(&p->by_row);
    fluid_cuda_free_twin(&p->records);
    free(p->partner);
    free((void *)p->send);
    free(p->recv);
    free(p->send_bytes);
    free(p->recv_bytes);
    free(p);
}

/* ---- a solution ---- */

int poisson_cuda_forward(struct fluid_store *s)
{
    struct poisson_cuda *p = s->poisson;
    TRY(cuda_fft_forward(s->ctx, p->fft_x, p->view.x_lines));
    TRY(poisson_cuda_modes_to_rows(s, &p->view));
    return p->view.ranks_y > 1
               ? 0
               : cuda_fft_forward(s->ctx, p->fft_y, p->view.y_lines);
}

int poisson_cuda_transform_y(struct fluid_store *s)
{
    struct poisson_cuda *p = s->poisson;
    if (p->view.ranks_y == 1)
        return 0;
    return cuda_fft_forward(s->ctx, p->fft_y, p->view.y_lines);
}

int poisson_cuda_columns_begin(struct fluid_store *s)
{
    const struct poisson_view *v = &s->poisson->view;
    return v->reduced ? poisson_cuda_eliminate(s, v) : 0;
}

int poisson_cuda_columns_end(struct fluid_store *s)
{
    struct poisson_cuda *p = s->poisson;
    TRY(poisson_cuda_substitute(s, &p->view));
    if (p->view.ranks_y > 1)
        return 0;
    TRY(cuda_fft_inverse(s->ctx, p->fft_y, p->view.y_lines));
    TRY(poisson_cuda_rows_to_modes(s, &p->view));
    return cuda_fft_inverse(s->ctx, p->fft_x, p->view.x_lines);
}

int poisson_cuda_inverse_y(struct fluid_store *s)
{
    struct poisson_cuda *p = s->poisson;
    if (p->view.ranks_y == 1)
        return 0;
    return cuda_fft_inverse(s->ctx, p->fft_y, p->view.y_lines);
}

int poisson_cuda_inverse_x(struct fluid_store *s)
{
    struct poisson_cuda *p = s->poisson;
    if (p->view.ranks_y == 1)
        return 0;
    TRY(poisson_cuda_rows_to_modes(s, &p->view));
    return cuda_fft_inverse(s->ctx, p->fft_x, p->view.x_lines);
}

/* ---- messages ---- */

/* Bytes of the pieces of rank r and where they begin in the two buffers. */
struct piece {
    size_t mode_at, mode_bytes, row_at, row_bytes;
};

static struct piece piece_of(const struct fluid_store *s,
                             const struct poisson_view *v, int r)
{
    struct piece q;
    const int64_t *cut = s->setup.cuts[1];
    size_t plane = (size_t)v->nz * sizeof(scalar);
    size_t first = (size_t)row_cut(v->modes_x, v->ranks_y, r);
    size_t rows = (size_t)row_cut(v->modes_x, v->ranks_y, r + 1) - first;
    q.mode_at = plane * first * (size_t)v->ny_here;
    q.mode_bytes = plane * rows * (size_t)v->ny_here;
    q.row_at = plane * (size_t)v->rows * (size_t)cut[r];
    q.row_bytes = plane * (size_t)v->rows * (size_t)(cut[r + 1] - cut[r]);
    return q;
}

/* Between ranks of one z: pieces by mode go out and pieces by row come in, or
 * the reverse. What stays here is copied on the card. */
static int begin_transpose(struct fluid_store *s, int back)
{
    struct poisson_cuda *p = s->poisson;
    const struct poisson_view *v = &p->view;
    if (back)
        TRY(poisson_cuda_pack_rows(s, v));
    for (int r = 0; r < v->ranks_y && v->ranks_y > 1; r++) {
        struct piece q = piece_of(s, v, r);
        if (r == v->rank_y) {
            void *mode = p->by_mode.device + q.mode_at;
            void *row = p->by_row.device + q.row_at;
            if (q.row_bytes > 0)
                CUDA_TRY(s->ctx,
                         cudaMemcpyAsync(back ? mode : row, back ? row : mode,
                                         q.row_bytes, cudaMemcpyDeviceToDevice,
                                         s->device->stream));
            continue;
        }
        TRY(back ? fluid_cuda_to_twin(s, &p->by_row, q.row_at, q.row_bytes)
                 : fluid_cuda_to_twin(s, &p->by_mode, q.mode_at, q.mode_bytes));
        p->partner[p->n] = r;
        p->send[p->n] =
            back ? p->by_row.host + q.row_at : p->by_mode.host + q.mode_at;
        p->recv[p->n] =
            back ? p->by_mode.host + q.mode_at : p->by_row.host + q.row_at;
        p->send_bytes[p->n] = back ? q.row_bytes : q.mode_bytes;
        p->recv_bytes[p->n++] = back ? q.mode_bytes : q.row_bytes;
    }
    return 0;
}

static int end_transpose(struct fluid_store *s, int back)
{
    struct poisson_cuda *p = s->poisson;
    const struct poisson_view *v = &p->view;
    if (v->ranks_y == 1)
        return 0;
    for (int r = 0; r < v->ranks_y; r++) {
        struct piece q = piece_of(s, v, r);
        if (r == v->rank_y)
            continue;
        TRY(back ? fluid_cuda_from_twin(s, &p->by_mode, q.mode_at, q.mode_bytes)
                 : fluid_cuda_from_twin(s, &p->by_row, q.row_at, q.row_bytes));
    }
    return back ? 0 : poisson_cuda_unpack_rows(s, v);
}

/* Each rank tells all others of its y what the elimination left. */
static int begin_columns(struct fluid_store *s)
{
    struct poisson_cuda *p = s->poisson;
    const struct poisson_view *v = &p->view;
    size_t mine = (size_t)v->rank_z * p->record_bytes;
    if (v->ranks_z == 1)
        return 0;
    TRY(fluid_cuda_to_twin(s, &p->records, mine, p->record_bytes));
    for (int r = 0; r < v->ranks_z; r++) {
        if (r == v->rank_z)
            continue;
        p->partner[p->n] = r;
        p->send[p->n] = p->records.host + mine;
        p->recv[p->n] = p->records.host + (size_t)r * p->record_bytes;
        p->send_bytes[p->n] = p->record_bytes;
        p->recv_bytes[p->n++] = p->record_bytes;
    }
    return 0;
}

static int end_columns(struct fluid_store *s)
{
    struct poisson_cuda *p = s->poisson;
    for (int r = 0; r < p->view.ranks_z && p->view.ranks_z > 1; r++)
        if (r != p->view.rank_z)
            TRY(fluid_cuda_from_twin(
                s, &p->records, (size_t)r * p->record_bytes, p->record_bytes));
    return 0;
}

int poisson_cuda_send_begin(struct fluid_store *s, enum fluid_exchange what,
                            struct fluid_transfer *out)
{
    struct poisson_cuda *p = s->poisson;
    p->n = 0;
    TRY(what == FLUID_COLUMNS
            ? begin_columns(s)
            : begin_transpose(s, what == FLUID_TRANSPOSE_BACK));
    if (p->n > 0)
        CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    out->n = p->n;
    out->partner = p->partner;
    out->send = p->send;
    out->recv = p->recv;
    out->send_bytes = p->send_bytes;
    out->recv_bytes = p->recv_bytes;
    return 0;
}

int poisson_cuda_send_end(struct fluid_store *s, enum fluid_exchange what)
{
    return what == FLUID_COLUMNS
               ? end_columns(s)
               : end_transpose(s, what == FLUID_TRANSPOSE_BACK);
}
