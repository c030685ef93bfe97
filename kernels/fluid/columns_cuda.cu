/* columns_cuda.cu: transposing spectra and solving along z, see
 * poisson_cuda.h. */
#include "kernels/fluid/columns_cuda.h"

#include <math.h>

enum { SIDE = 32, PLANES = 4, COLUMN_THREADS = 128 };

/* ---- lines along x and lines along y ---- */

/* A tile is SIDE numbers of a line along x by SIDE rows. Number `slot` of the
 * tile that begins with complex number c0 is this mode; -1: none. The two
 * numbers of a pair are the parts of a Fourier mode or the cosine modes c and
 * n - c. twin: whether the second of a pair of one mode counts. */
static __device__ __forceinline__ int mode_of(const struct poisson_view *v,
                                              int c0, int slot, int twin)
{
    int c = c0 + slot / 2;
    if (c >= v->cx)
        return -1;
    if (!v->cosine_x)
        return 2 * c + slot % 2;
    if (slot % 2 == 0)
        return c;
    if (c == 0 || (2 * c == v->nx && !twin))
        return -1;
    return v->nx - c;
}

/* Which rank has number x: first cut[rank]. */
static __device__ __forceinline__ int owner_of(const int *cut, int ranks, int x)
{
    int r = 0, above = ranks;
    while (r + 1 < above) {
        int middle = (r + above) / 2;
        if (x < cut[middle])
            above = middle;
        else
            r = middle;
    }
    return r;
}

/* Where row j of x mode m of plane k stands in y_lines or by_mode. */
static __device__ __forceinline__ size_t place_of(const struct poisson_view *v,
                                                  int m, int j, int k)
{
    if (v->ranks_y == 1) {
        int place = v->cosine_y ? cosine_place(j, v->ny) : j;
        return ((size_t)k * (size_t)v->rows + (size_t)m) * (size_t)(2 * v->cy) +
               (size_t)place;
    }
    int r = owner_of(v->row_cut, v->ranks_y, m);
    size_t first = (size_t)v->row_cut[r];
    size_t rows = (size_t)v->row_cut[r + 1] - first;
    return (first * (size_t)v->nz + (size_t)k * rows + (size_t)m - first) *
               (size_t)v->ny_here +
           (size_t)j;
}

static __global__ void __launch_bounds__(TILE)
    modes_to_rows(struct poisson_view v, scalar *to)
{
    __shared__ scalar tile[SIDE][SIDE + 1];
    int lane = (int)threadIdx.x, c0 = (int)blockIdx.x * (SIDE / 2);
    int j0 = (int)blockIdx.y * SIDE, c = c0 + lane / 2;
    scalar_pair turn = {0, 0};
    if (v.cosine_x && c < v.cx)
        turn = v.twiddle_x[c];
    for (int k = (int)blockIdx.z; k < v.nz; k += (int)gridDim.z) {
        const scalar *plane =
            v.x_lines + (size_t)k * (size_t)v.ny_here * (size_t)(2 * v.cx);
        for (int y = (int)threadIdx.y; y < SIDE; y += TILE_Y) {
            if (c >= v.cx || j0 + y >= v.ny_here)
                continue;
            const scalar *line = plane + (size_t)(j0 + y) * (size_t)(2 * v.cx);
            if (v.cosine_x) {
                scalar re = line[2 * c], im = line[2 * c + 1];
                tile[lane][y] = lane % 2 == 0 ? turn.re * re + turn.im * im
                                              : turn.im * re - turn.re * im;
            } else {
                tile[lane][y] = line[2 * c0 + lane];
            }
        }
        __syncthreads();
        for (int slot = (int)threadIdx.y; slot < SIDE; slot += TILE_Y) {
            int m = mode_of(&v, c0, slot, 0);
            if (m >= 0 && j0 + lane < v.ny_here)
                to[place_of(&v, m, j0 + lane, k)] = tile[slot][lane];
        }
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(TILE)
    rows_to_modes(struct poisson_view v, const scalar *from)
{
    __shared__ scalar tile[SIDE][SIDE + 1];
    int lane = (int)threadIdx.x, c0 = (int)blockIdx.x * (SIDE / 2);
    int j0 = (int)blockIdx.y * SIDE, c = c0 + lane / 2;
    scalar_pair turn = {0, 0};
    if (v.cosine_x && c < v.cx)
        turn = v.twiddle_x[c];
    for (int k = (int)blockIdx.z; k < v.nz; k += (int)gridDim.z) {
        for (int slot = (int)threadIdx.y; slot < SIDE; slot += TILE_Y) {
            int m = mode_of(&v, c0, slot, 1);
            int inside = m >= 0 && j0 + lane < v.ny_here;
            tile[slot][lane] =
                inside ? from[place_of(&v, m, j0 + lane, k)] : (scalar)0;
        }
        __syncthreads();
        scalar *plane =
            v.x_lines + (size_t)k * (size_t)v.ny_here * (size_t)(2 * v.cx);
        for (int y = (int)threadIdx.y; y < SIDE; y += TILE_Y) {
            if (c >= v.cx || j0 + y >= v.ny_here)
                continue;
            scalar a = tile[lane & ~1][y], b = tile[lane | 1][y];
            scalar turned = lane % 2 == 0 ? turn.re * a + turn.im * b
                                          : turn.im * a - turn.re * b;
            plane[(size_t)(j0 + y) * (size_t)(2 * v.cx) +
                  (size_t)(2 * c0 + lane)] =
                v.cosine_x ? turned : tile[lane][y];
        }
        __syncthreads();
    }
}

/* Some planes a block: its rotations are loaded once. */
static dim3 transpose_blocks(const struct poisson_view *v)
{
    size_t planes = (size_t)(v->nz < 65535 * PLANES ? v->nz : 65535 * PLANES);
    return dim3(cuda_blocks((size_t)v->cx, SIDE / 2),
                cuda_blocks((size_t)v->ny_here, SIDE),
                cuda_blocks(planes, PLANES));
}

int poisson_cuda_modes_to_rows(struct fluid_store *s,
                               const struct poisson_view *v)
{
    LAUNCH(modes_to_rows, transpose_blocks(v), tile_threads(), 0,
           s->device->stream, *v, v->ranks_y > 1 ? v->by_mode : v->y_lines);
    CUDA_TRY_LAUNCH(s->ctx, "modes_to_rows");
    return 0;
}

int poisson_cuda_rows_to_modes(struct fluid_store *s,
                               const struct poisson_view *v)
{
    LAUNCH(rows_to_modes, transpose_blocks(v), tile_threads(), 0,
           s->device->stream, *v, v->ranks_y > 1 ? v->by_mode : v->y_lines);
    CUDA_TRY_LAUNCH(s->ctx, "rows_to_modes");
    return 0;
}

/* Number t of by_row to or from its line. */
static __global__ void move_rows(struct poisson_view v, int pack)
{
    size_t all = (size_t)v.nz * (size_t)v.rows * (size_t)v.ny;
    size_t line = (size_t)v.nz * (size_t)v.rows;
    for (size_t t = linear_thread(); t < all; t += linear_stride()) {
        int r = owner_of(v.y_cut, v.ranks_y, (int)(t / line));
        size_t first = (size_t)v.y_cut[r];
        size_t width = (size_t)v.y_cut[r + 1] - first;
        size_t in_piece = t - first * line;
        int j = (int)(first + in_piece % width);
        size_t at = in_piece / width * (size_t)(2 * v.cy) +
                    (size_t)(v.cosine_y ? cosine_place(j, v.ny) : j);
        if (pack) {
            v.by_row[t] = v.y_lines[at];
        } else {
            v.y_lines[at] = v.by_row[t];
            if (v.ny == 1)
                v.y_lines[at + 1] = 0; /* its own transform */
        }
    }
}

static int launch_rows(struct fluid_store *s, const struct poisson_view *v,
                       int pack)
{
    size_t all = (size_t)v->nz * (size_t)v->rows * (size_t)v->ny;
    if (all == 0 || v->ranks_y == 1)
        return 0;
    LAUNCH(move_rows, linear_blocks(all), TILE, 0, s->device->stream, *v, pack);
    CUDA_TRY_LAUNCH(s->ctx, "move_rows");
    return 0;
}

int poisson_cuda_pack_rows(struct fluid_store *s, const struct poisson_view *v)
{
    return launch_rows(s, v, 1);
}

int poisson_cuda_unpack_rows(struct fluid_store *s,
                             const struct poisson_view *v)
{
    return launch_rows(s, v, 0);
}

/* ---- columns ---- */

/* Elimination from below of rows a x(k-1) + b x(k) + c x(k+1) = d:
 *     x(k) = dp - cp x(k+1) + lp x_before
 * with x_before the unknown below the first row. Also what the first unknown is
 * made of: x(first) = first + first_before x_before + turn x(k+1). Of the last
 * row, which is not eliminated, remains
 *     rest_before x_before + rest x + upper x(first of the next) = right. */
struct sweep {
    double cp, dp, lp, turn, first, first_before;
};
struct column_rest {
    double first, first_before, first_after, right, rest_before, rest;
};

static __device__ __forceinline__ void sweep_start(struct sweep *w)
{
    w->cp = w->dp = w->first = w->first_before = 0;
    w->lp = w->turn = 1;
}

static __device__ __forceinline__ void sweep_row(struct sweep *w, double a,
                                                 double b, double c, double d)
{
    double per = 1 / (b - a * w->cp);
    w->dp = (d - a * w->dp) * per;
    w->lp = -a * w->lp * per;
    w->cp = c * per;
    w->first += w->turn * w->dp;
    w->first_before += w->turn * w->lp;
    w->turn *= -w->cp;
}

static __device__ __forceinline__ struct column_rest
sweep_last(const struct sweep *w, double a, double b, double d)
{
    struct column_rest r;
    r.first = w->first;
    r.first_before = w->first_before;
    r.first_after = w->turn;
    r.right = d - a * w->dp;
    r.rest_before = a * w->lp;
    r.rest = b - a * w->cp;
    return r;
}

/* A thread's column: which, its two real parts, its eigenvalues. */
struct column {
    size_t at, stride; /* in pairs of y_lines */
    double lambda[2];
    double turn[2]; /* cosine and sine of the rotation; y between walls */
};

static __device__ __forceinline__ struct column
column_of(const struct poisson_view *v, size_t t)
{
    struct column q;
    int row = (int)(t / (size_t)v->cy), c = (int)(t % (size_t)v->cy);
    q.at = t;
    q.stride = (size_t)v->rows * (size_t)v->cy;
    double x = v->lambda_x[v->row0 + row];
    q.lambda[0] = x + v->lambda_y[2 * c];
    q.lambda[1] = x + v->lambda_y[2 * c + 1];
    q.turn[0] = (double)v->twiddle_y[c].re;
    q.turn[1] = (double)v->twiddle_y[c].im;
    return q;
}

/* The right-hand side of plane k, scaled. */
static __device__ __forceinline__ void load_pair(const struct poisson_view *v,
                                                 const struct column *q, int k,
                                                 double d[2])
{
    const scalar_pair *lines = (const scalar_pair *)v->y_lines;
    scalar_pair z = lines[(size_t)k * q->stride + q->at];
    double re = (double)z.re * (double)v->scale;
    double im = (double)z.im * (double)v->scale;
    if (v->cosine_y) {
        d[0] = q->turn[0] * re + q->turn[1] * im;
        d[1] = q->turn[1] * re - q->turn[0] * im;
    } else {
        d[0] = re;
        d[1] = im;
    }
}

static __global__ void __launch_bounds__(COLUMN_THREADS)
    eliminate(struct poisson_view v, double *record)
{
    size_t columns = (size_t)v.rows * (size_t)v.cy, t = linear_thread();
    if (t >= columns)
        return;
    struct column q = column_of(&v, t);
    struct sweep w[2];
    double d[2];
    sweep_start(&w[0]);
    sweep_start(&w[1]);
    for (int k = 0; k < v.nz - 1; k++) {
        double a = v.row_z[k], b = v.row_z[v.nz + k], c = v.row_z[2 * v.nz + k];
        load_pair(&v, &q, k, d);
        for (int h = 0; h < 2; h++)
            sweep_row(&w[h], a, b + q.lambda[h], c, d[h]);
    }
    int last = v.nz - 1;
    load_pair(&v, &q, last, d);
    for (int h = 0; h < 2; h++) {
        struct column_rest r = sweep_last(
            &w[h], v.row_z[last], v.row_z[v.nz + last] + q.lambda[h], d[h]);
        double *to = record + (size_t)(h * RECORD_PART) * columns + t;
        to[0 * columns] = r.first;
        to[1 * columns] = r.first_before;
        to[2 * columns] = r.first_after;
        to[3 * columns] = r.right;
        to[4 * columns] = r.rest_before;
        to[5 * columns] = r.rest;
    }
}

/* The last unknowns of this rank and of the one below, from the cyclic system
 * of all ranks' last unknowns, with this rank's as the last of the cycle.
 * singular: nothing fixes the mean, so the last unknown of all is 0. */
static __device__ __forceinline__ void
solve_reduced(const struct poisson_view *v, size_t t, int h, int singular,
              double *mine, double *below)
{
    size_t columns = (size_t)v->rows * (size_t)v->cy;
    struct sweep w;
    sweep_start(&w);
    for (int n = 1; n <= v->ranks_z; n++) {
        int r = (v->rank_z + n) % v->ranks_z, next = (r + 1) % v->ranks_z;
        const double *me =
            v->records + (size_t)(r * RECORD + h * RECORD_PART) * columns + t;
        const double *up = v->records +
                           (size_t)(next * RECORD + h * RECORD_PART) * columns +
                           t;
        double upper = v->upper_z[r];
        double a = me[4 * columns];
        double b = me[5 * columns] + upper * up[1 * columns];
        double c = upper * up[2 * columns];
        double d = me[3 * columns] - upper * up[0];
        if (singular && r == v->ranks_z - 1) {
            a = c = d = 0;
            b = 1;
        }
        if (n < v->ranks_z) {
            sweep_row(&w, a, b, c, d);
            continue;
        }
        struct column_rest z = sweep_last(&w, a, b, d);
        *mine = (z.right - c * z.first) /
                (z.rest_before + z.rest + c * (z.first_before + z.first_after));
        *below = w.dp + (w.lp - w.cp) * *mine;
    }
}

template <bool reduced>
static __global__ void __launch_bounds__(COLUMN_THREADS)
    substitute(struct poisson_view v)
{
    size_t t = linear_thread();
    if (t >= (size_t)v.rows * (size_t)v.cy)
        return;
    struct column q = column_of(&v, t);
    scalar_pair *lines = (scalar_pair *)v.y_lines;
    double x[2] = {0, 0}, dp[2] = {0, 0}, cp[2] = {0, 0}, d[2];
    int last = v.nz - 1;
    if (reduced)
        for (int h = 0; h < 2; h++)
            solve_reduced(&v, t, h, q.lambda[h] == 0, &x[h], &dp[h]);
    for (int k = 0; k < last; k++) {
        double a = v.row_z[k], b = v.row_z[v.nz + k], c = v.row_z[2 * v.nz + k];
        load_pair(&v, &q, k, d);
        for (int h = 0; h < 2; h++) {
            double per = 1 / (b + q.lambda[h] - a * cp[h]);
            dp[h] = (d[h] - a * dp[h]) * per;
            cp[h] = c * per;
        }
        size_t at = (size_t)k * q.stride + q.at;
        lines[at] = {(scalar)dp[0], (scalar)dp[1]};
        v.work[at] = {(scalar)cp[0], (scalar)cp[1]};
    }
    if (!reduced) {
        double a = v.row_z[last], b = v.row_z[v.nz + last];
        load_pair(&v, &q, last, d);
        for (int h = 0; h < 2; h++)
            if (q.lambda[h] != 0) /* else nothing fixes the mean */
                x[h] = (d[h] - a * dp[h]) / (b + q.lambda[h] - a * cp[h]);
    }
    for (int k = last; k >= 0; k--) {
        size_t at = (size_t)k * q.stride + q.at;
        if (k < last) {
            scalar_pair right = lines[at], factor = v.work[at];
            x[0] = (double)right.re - (double)factor.re * x[0];
            x[1] = (double)right.im - (double)factor.im * x[1];
        }
        if (v.cosine_y)
            lines[at] = {(scalar)(q.turn[0] * x[0] + q.turn[1] * x[1]),
                         (scalar)(q.turn[1] * x[0] - q.turn[0] * x[1])};
        else
            lines[at] = {(scalar)x[0], (scalar)x[1]};
    }
}

int poisson_cuda_eliminate(struct fluid_store *s, const struct poisson_view *v)
{
    size_t columns = (size_t)v->rows * (size_t)v->cy;
    if (columns == 0)
        return 0;
    LAUNCH(eliminate, cuda_blocks(columns, COLUMN_THREADS), COLUMN_THREADS, 0,
           s->device->stream, *v,
           v->records + (size_t)v->rank_z * RECORD * columns);
    CUDA_TRY_LAUNCH(s->ctx, "eliminate");
    return 0;
}

int poisson_cuda_substitute(struct fluid_store *s, const struct poisson_view *v)
{
    size_t columns = (size_t)v->rows * (size_t)v->cy;
    if (columns == 0)
        return 0;
    if (v->reduced)
        LAUNCH((substitute<true>), cuda_blocks(columns, COLUMN_THREADS),
               COLUMN_THREADS, 0, s->device->stream, *v);
    else
        LAUNCH((substitute<false>), cuda_blocks(columns, COLUMN_THREADS),
               COLUMN_THREADS, 0, s->device->stream, *v);
    CUDA_TRY_LAUNCH(s->ctx, "substitute");
    return 0;
}
