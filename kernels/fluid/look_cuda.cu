/* look_cuda.cu: sums and maxima over a block; the forms are those of
 * look_cpu.c, summed in an order that does not depend on timing.
 */
#include "kernels/fluid/store_cuda.h"

#include <math.h>
#include <string.h>

/* What each cell adds to, in this order. */
enum {
    LOOK_KINETIC,
    LOOK_STRAIN,
    LOOK_ENSTROPHY,
    LOOK_FLOW,
    LOOK_DIVERGENCE = LOOK_FLOW + 3,
    LOOK_RATE,
    LOOK_SPEED,
    LOOK_VALUES,
    SCALAR_VALUES = 5,
    WALL_VALUES = 36 /* 6 of a scalar; u, v, w have 12 together */
};

static const uint64_t LOOK_GREATEST =
    1ull << LOOK_DIVERGENCE | 1ull << LOOK_RATE | 1ull << LOOK_SPEED;

static __device__ __forceinline__ double square(scalar a)
{
    return (double)a * (double)a;
}

/* The sum of squares of vorticity over the twelve edges of the cell. */
static __device__ double edges(const struct fluid_view *m, ptrdiff_t at, int k)
{
    const scalar *u = m->field[0] + at, *v = m->field[1] + at,
                 *w = m->field[2] + at;
    scalar x = (scalar)m->inverse_d[0], y = (scalar)m->inverse_d[1];
    double sum = 0;
    for (int a = -1; a < 1; a++)
        for (int b = -1; b < 1; b++) {
            const struct plane_metric *q = &m->metric[k];
            scalar z = (scalar)(b ? q->per_hc_below : q->per_hc);
            ptrdiff_t aj = a * m->pitch, bj = b * m->pitch, bk = b * m->plane;
            sum += square(x * (v[bj + a + 1] - v[bj + a]) -
                          y * (u[bj + m->pitch + a] - u[bj + a]));
            sum += square(z * (u[bk + m->plane + a] - u[bk + a]) -
                          x * (w[bk + a + 1] - w[bk + a]));
            sum += square(y * (w[bk + aj + m->pitch] - w[bk + aj]) -
                          z * (v[bk + m->plane + aj] - v[bk + aj]));
        }
    return sum;
}

/* Squared differences with their weights: faces on a wall count half, faces
 * that the wall owns not at all. */
static __device__ double strain(const struct fluid_view *m, int i, int j, int k,
                                ptrdiff_t at)
{
    const ptrdiff_t n = m->pitch, t = m->plane;
    const scalar *u = m->field[0] + at, *v = m->field[1] + at,
                 *w = m->field[2] + at;
    const struct plane_metric *q = &m->metric[k];
    int top_x = m->wall[0][1] && i + 1 == m->n[0], low_x = m->wall[0][0] && !i;
    int top_y = m->wall[1][1] && j + 1 == m->n[1], low_y = m->wall[1][0] && !j;
    int top_z = m->wall[2][1] && k + 1 == m->n[2], low_z = m->wall[2][0] && !k;
    double hc = top_z ? 0 : q->hc; /* of w's own cell */
    double x = m->inverse_d[0] * m->inverse_d[0];
    double y = m->inverse_d[1] * m->inverse_d[1];
    double up_x = top_x ? 0.5 * x : x, down_x = low_x ? 0.5 * x : 0;
    double up_y = top_y ? 0.5 * y : y, down_y = low_y ? 0.5 * y : 0;
    double up_z = (top_z ? 0.5 : 1) * q->per_hc;
    double down_z = low_z ? 0.5 * q->per_hc_below : 0;
    double sum = q->h * x * square(u[0] - u[-1]) +
                 q->h * y * square(v[0] - v[-n]) +
                 square(w[0] - w[-t]) * q->per_h;
    if (!top_x)
        sum += q->h * (up_y * square(u[n] - u[0]) +
                       down_y * square(u[0] - u[-n])) +
               up_z * square(u[t] - u[0]) + down_z * square(u[0] - u[-t]);
    if (!top_y)
        sum += q->h * (up_x * square(v[1] - v[0]) +
                       down_x * square(v[0] - v[-1])) +
               up_z * square(v[t] - v[0]) + down_z * square(v[0] - v[-t]);
    return sum +
           hc * (up_x * square(w[1] - w[0]) + down_x * square(w[0] - w[-1]) +
                 up_y * square(w[n] - w[0]) + down_y * square(w[0] - w[-n]));
}

static __device__ __forceinline__ void look_cell(const struct fluid_view *m,
                                                 int i, int j, int k,
                                                 double value[LOOK_VALUES])
{
    ptrdiff_t at = k * m->plane + j * m->pitch + i;
    const struct plane_metric *q = &m->metric[k];
    const scalar *u = m->field[0] + at, *v = m->field[1] + at,
                 *w = m->field[2] + at;
    value[LOOK_KINETIC] +=
        q->h * (square(u[0]) + square(v[0])) + q->hc * square(w[0]);
    value[LOOK_STRAIN] += strain(m, i, j, k, at);
    value[LOOK_ENSTROPHY] += q->h / 8 * edges(m, at, k);
    value[LOOK_FLOW] += q->h * (double)u[0];
    value[LOOK_FLOW + 1] += q->h * (double)v[0];
    value[LOOK_FLOW + 2] += q->hc * (double)w[0];
    scalar div = fluid_divergence(u[0], u[-1], v[0], v[-m->pitch], w[0],
                                  w[-m->plane], (scalar)m->inverse_d[0],
                                  (scalar)m->inverse_d[1], (scalar)q->per_h);
    double au = fabs((double)u[0]), av = fabs((double)v[0]),
           aw = fabs((double)w[0]);
    value[LOOK_DIVERGENCE] = fmax(value[LOOK_DIVERGENCE], fabs((double)div));
    value[LOOK_RATE] =
        fmax(value[LOOK_RATE],
             m->inverse_d[0] * au + m->inverse_d[1] * av + q->rate * aw);
    value[LOOK_SPEED] = fmax(value[LOOK_SPEED], fmax(fmax(au, av), aw));
}

/* Number of this block of threads and how many there are. */
static __device__ __forceinline__ size_t block_number(void)
{
    return ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
}
static __device__ __forceinline__ size_t block_count(void)
{
    return (size_t)gridDim.x * gridDim.y * gridDim.z;
}

static __global__ void __launch_bounds__(TILE)
    look_cells(struct fluid_view m, double *partial)
{
    __shared__ double shared[TILE / 32];
    double value[LOOK_VALUES];
    int i = tile_i(), j = tile_j();
    for (int v = 0; v < LOOK_VALUES; v++)
        value[v] = 0;
    if (i < m.n[0] && j < m.n[1])
        for (int k = (int)blockIdx.z; k < m.n[2]; k += (int)gridDim.z)
            look_cell(&m, i, j, k, value);
    for (int v = 0; v < LOOK_VALUES; v++) {
        double all = tile_reduce(value[v], v >= LOOK_DIVERGENCE, shared);
        if (tile_thread() == 0)
            partial[(size_t)v * block_count() + block_number()] = all;
    }
}

static __global__ void __launch_bounds__(TILE)
    look_scalar(struct fluid_view m, int f, double *partial)
{
    __shared__ double shared[TILE / 32];
    double value[SCALAR_VALUES] = {0, 0, 0, 0, 0};
    const ptrdiff_t step[3] = {1, m.pitch, m.plane};
    int i = tile_i(), j = tile_j();
    for (int k = (int)blockIdx.z; k < m.n[2]; k += (int)gridDim.z) {
        if (i >= m.n[0] || j >= m.n[1])
            continue;
        ptrdiff_t at = k * m.plane + j * m.pitch + i;
        const scalar *c = m.field[f] + at;
        double h = m.metric[k].h, hc = m.metric[k].hc;
        value[0] += h * (double)c[0];
        value[1] += h * square(c[0]);
        for (int d = 0; d < 3; d++)
            value[2 + d] += 0.5 * (d == FLUID_Z ? hc : h) *
                            (double)(m.field[d][at] * (c[0] + c[step[d]]));
    }
    for (int v = 0; v < SCALAR_VALUES; v++) {
        double all = tile_reduce(value[v], 0, shared);
        if (tile_thread() == 0)
            partial[(size_t)v * block_count() + block_number()] = all;
    }
}

/* Slopes into the block of field f at one wall, each times the area of its
 * face. */
static __global__ void __launch_bounds__(TILE)
    look_wall(struct fluid_view m, int f, int axis, int side, double *partial)
{
    __shared__ double shared[TILE / 32];
    const ptrdiff_t step[3] = {1, m.pitch, m.plane};
    int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    size_t na = (size_t)m.n[a], all = na * (size_t)m.n[b];
    int end = side ? m.n[axis] - 1 : 0;
    ptrdiff_t out = side ? step[axis] : -step[axis];
    double dx = 1 / m.inverse_d[0], dy = 1 / m.inverse_d[1], sum = 0;
    for (size_t t = linear_thread(); t < all; t += linear_stride()) {
        int index[3];
        index[axis] = end;
        index[a] = (int)(t % na);
        index[b] = (int)(t / na);
        if (f < 3 && m.wall[f][1] && index[f] + 1 == m.n[f])
            continue; /* the wall's own face */
        const struct plane_metric *q = &m.metric[index[2]];
        double own = f == FLUID_Z ? q->hc : q->h;
        double area = axis == 0   ? dy * own / dx
                      : axis == 1 ? dx * own / dy
                                  : dx * dy / (side ? q->hc : q->hc_below);
        const scalar *c =
            m.field[f] + index[0] + index[1] * m.pitch + index[2] * m.plane;
        sum += area * ((double)c[0] - (double)c[out]);
    }
    sum = tile_reduce(sum, 0, shared);
    if (tile_thread() == 0)
        partial[blockIdx.x] = sum;
}

/* Where the sum over a wall belongs, and what it is multiplied with. */
struct wall_sum {
    double *to, factor;
};

enum { WALL_BLOCKS = 64 };

size_t fluid_cuda_look_numbers(const struct fluid_setup *setup)
{
    const int64_t *n = setup->local;
    dim3 grid = reduction_blocks(n[0], n[1], n[2]);
    size_t values = (size_t)(LOOK_VALUES + SCALAR_VALUES * setup->n_scalars);
    size_t cells = values * grid.x * grid.y * grid.z;
    size_t walls = (size_t)WALL_VALUES * WALL_BLOCKS;
    return cells > walls ? cells : walls;
}

static int look_walls(struct fluid_store *s, struct fluid_look *out)
{
    struct wall_sum sums[WALL_VALUES];
    double value[WALL_VALUES];
    int n = 0;
    for (int f = 0; f < s->view.n_fields; f++)
        for (int axis = 0; axis < 3; axis++)
            for (int side = 0; side < 2; side++) {
                if (f == axis || !s->view.wall[axis][side])
                    continue;
                LAUNCH(look_wall, WALL_BLOCKS, TILE, 0, s->device->stream,
                       s->view, f, axis, side,
                       s->partial + (size_t)n * WALL_BLOCKS);
                CUDA_TRY_LAUNCH(s->ctx, "look_wall");
                int c = f - FLUID_FIRST_SCALAR;
                sums[n].to = c < 0 ? &out->shear[axis][side][f]
                                   : &out->scalar_flux[c][axis][side];
                sums[n++].factor = c < 0 ? s->setup.viscosity
                                         : -s->setup.scalar[c].diffusivity;
            }
    if (n == 0)
        return 0;
    TRY(fluid_cuda_reduce(s, n, WALL_BLOCKS, 0, value));
    for (int v = 0; v < n; v++)
        *sums[v].to = sums[v].factor * value[v];
    return 0;
}

int fluid_cuda_look(struct ctx *ctx, struct fluid_store *s,
                    struct fluid_look *out)
{
    const int *n = s->view.n;
    int scalars = s->setup.n_scalars;
    int values = LOOK_VALUES + SCALAR_VALUES * scalars;
    double value[LOOK_VALUES + SCALAR_VALUES * FLUID_SCALARS_MAX];
    double area = s->setup.spacing[0] * s->setup.spacing[1];
    dim3 grid = reduction_blocks(n[0], n[1], n[2]);
    size_t blocks = (size_t)grid.x * grid.y * grid.z;
    memset(out, 0, sizeof *out);
    LAUNCH(look_cells, grid, tile_threads(), 0, s->device->stream, s->view,
           s->partial);
    CUDA_TRY_LAUNCH(ctx, "look_cells");
    for (int c = 0; c < scalars; c++) {
        size_t column = (size_t)(LOOK_VALUES + SCALAR_VALUES * c);
        LAUNCH(look_scalar, grid, tile_threads(), 0, s->device->stream, s->view,
               FLUID_FIRST_SCALAR + c, s->partial + column * blocks);
        CUDA_TRY_LAUNCH(ctx, "look_scalar");
    }
    TRY(fluid_cuda_reduce(s, values, blocks, LOOK_GREATEST, value));
    out->kinetic = 0.5 * area * value[LOOK_KINETIC];
    out->dissipation = s->setup.viscosity * area * value[LOOK_STRAIN];
    out->enstrophy = area * value[LOOK_ENSTROPHY];
    out->divergence = value[LOOK_DIVERGENCE];
    out->cfl_rate = value[LOOK_RATE];
    out->speed = value[LOOK_SPEED];
    for (int d = 0; d < 3; d++)
        out->flow[d] = area * value[LOOK_FLOW + d];
    for (int c = 0; c < scalars; c++) {
        const double *of = value + LOOK_VALUES + SCALAR_VALUES * c;
        out->scalar_mean[c] = area * of[0];
        out->scalar_variance[c] = area * of[1];
        for (int d = 0; d < 3; d++)
            out->scalar_convection[c][d] = area * of[2 + d];
    }
    TRY(look_walls(s, out));
    /* A maximum does not see what is not a number; sums do. */
    if (!isfinite(out->kinetic))
        out->divergence = out->cfl_rate = out->speed = HUGE_VAL;
    return 0;
}
