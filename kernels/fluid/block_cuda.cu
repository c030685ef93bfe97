/* block_cuda.cu: fields as plain blocks of doubles: those stored, and those
 * that follow from them at the centers of cells; and the search for what is not
 * a number. Blocks travel in pieces, which are converted on the card.
 */
#include "kernels/fluid/center_cuda.h"

#include <math.h>
#include <string.h>

static size_t cells_of(const struct fluid_store *s)
{
    const int *n = s->view.n;
    return (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
}

static size_t piece_of(const struct fluid_store *s)
{
    size_t cells = cells_of(s);
    return cells < BLOCK_NUMBERS ? cells : (size_t)BLOCK_NUMBERS;
}

/* Cell number t, in the order of blocks. */
static __device__ __forceinline__ ptrdiff_t place_of(const struct fluid_view *m,
                                                     size_t t, int *k)
{
    size_t row = t / (size_t)m->n[0];
    *k = (int)(row / (size_t)m->n[1]);
    return *k * m->plane + (ptrdiff_t)(row % (size_t)m->n[1]) * m->pitch +
           (ptrdiff_t)(t % (size_t)m->n[0]);
}

/* ---- in ---- */

/* closed: the direction whose last face, on a wall, lets nothing through. */
static __global__ void put_cells(struct fluid_view m, scalar *array,
                                 const double *from, size_t first, size_t n,
                                 double factor, int closed)
{
    for (size_t t = linear_thread(); t < n; t += linear_stride()) {
        int k;
        ptrdiff_t at = place_of(&m, first + t, &k);
        int index[3] = {(int)((first + t) % (size_t)m.n[0]),
                        (int)((first + t) / (size_t)m.n[0] % (size_t)m.n[1]),
                        k};
        int shut = closed >= 0 && m.wall[closed][1] &&
                   index[closed] + 1 == m.n[closed];
        array[at] = shut ? (scalar)0 : (scalar)(factor * from[t]);
    }
}

int fluid_cuda_set(struct ctx *ctx, struct fluid_store *s,
                   enum fluid_field field, const double *block)
{
    size_t cells = cells_of(s), piece = piece_of(s);
    int f = (int)field - FLUID_SCALAR0;
    scalar *array = field <= FLUID_W ? s->view.field[field]
                    : field == FLUID_PRESSURE || field == FLUID_STORED_PRESSURE
                        ? s->view.pressure
                    : f >= 0 && f < s->setup.n_scalars
                        ? s->view.field[FLUID_FIRST_SCALAR + f]
                        : NULL;
    double factor = field == FLUID_PRESSURE ? 1 / s->setup.density : 1;
    if (!array)
        return FAIL(ctx, STATUS_INTERNAL, "field %d is not stored", (int)field);
    for (size_t first = 0; first < cells; first += piece) {
        size_t n = cells - first < piece ? cells - first : piece;
        TRY(cuda_to_device(ctx, s->device, s->partial, block + first,
                           n * sizeof *block));
        LAUNCH(put_cells, linear_blocks(n), TILE, 0, s->device->stream, s->view,
               array, s->partial, first, n, factor,
               field <= FLUID_W ? (int)field : -1);
        CUDA_TRY_LAUNCH(ctx, "put_cells");
    }
    return 0;
}

/* ---- out ---- */

static __device__ __forceinline__ double
derived(const struct fluid_view *m, enum fluid_field field, ptrdiff_t at, int k)
{
    struct fluid_center c;
    if (field <= FLUID_CENTER_W) {
        velocity_at(m, at, c.u);
        return (double)c.u[field - FLUID_CENTER_U];
    }
    center_at(m, at, k, &c);
    if (field <= FLUID_VORTICITY_Z)
        return (double)vorticity(&c, (int)(field - FLUID_VORTICITY_X));
    /* -1/2 of the trace of the gradient's square */
    return (double)((scalar)-0.5 *
                        (c.g[0][0] * c.g[0][0] + c.g[1][1] * c.g[1][1] +
                         c.g[2][2] * c.g[2][2]) -
                    (c.g[0][1] * c.g[1][0] + c.g[0][2] * c.g[2][0] +
                     c.g[1][2] * c.g[2][1]));
}

/* array: what is stored, or NULL for what is derived. */
static __global__ void take_cells(struct fluid_view m, const scalar *array,
                                  enum fluid_field field, double *to,
                                  size_t first, size_t n, double factor)
{
    for (size_t t = linear_thread(); t < n; t += linear_stride()) {
        int k;
        ptrdiff_t at = place_of(&m, first + t, &k);
        to[t] = array ? factor * (double)array[at] : derived(&m, field, at, k);
    }
}

static int take_pieces(struct fluid_store *s, const scalar *array,
                       enum fluid_field field, double factor, double *block)
{
    size_t cells = cells_of(s), piece = piece_of(s);
    for (size_t first = 0; first < cells; first += piece) {
        size_t n = cells - first < piece ? cells - first : piece;
        LAUNCH(take_cells, linear_blocks(n), TILE, 0, s->device->stream,
               s->view, array, field, s->partial, first, n, factor);
        CUDA_TRY_LAUNCH(s->ctx, "take_cells");
        TRY(cuda_to_host(s->ctx, s->device, block + first, s->partial,
                         n * sizeof *block));
    }
    return 0;
}

int fluid_cuda_pressure(struct fluid_store *s, const scalar **out,
                        double *factor)
{
    *factor = s->setup.density;
    *out = s->view.pressure;
    if (s->any_implicit)
        return 0;
    TRY(fluid_cuda_need_psi(s));
    *out = s->view.next[0];
    /* Before any step nothing was solved. */
    *factor = s->alpha_dt > 0 ? *factor / s->alpha_dt : 0;
    return 0;
}

int fluid_cuda_get(struct ctx *ctx, struct fluid_store *s,
                   enum fluid_field field, double *block)
{
    const scalar *array = NULL;
    double factor = 1;
    if (field == FLUID_STORED_PRESSURE && s->any_implicit)
        return take_pieces(s, s->view.pressure, field, 1, block);
    if (field == FLUID_STORED_PRESSURE)
        return FAIL(ctx, STATUS_INTERNAL, "no pressure is stored");
    if (field == FLUID_PRESSURE) {
        TRY(fluid_cuda_pressure(s, &array, &factor));
        return take_pieces(s, array, field, factor, block);
    }
    if (field > FLUID_W && field < FLUID_SCALAR0) {
        if (field >= FLUID_VORTICITY_X)
            TRY(fluid_cuda_smooth_walls(s));
        TRY(take_pieces(s, NULL, field, 1, block));
        return field >= FLUID_VORTICITY_X ? fluid_cuda_restore_walls(s) : 0;
    }
    int f = (int)field;
    if (field >= FLUID_SCALAR0)
        f = FLUID_FIRST_SCALAR + (int)(field - FLUID_SCALAR0);
    if (f >= s->view.n_fields)
        return FAIL(ctx, STATUS_INTERNAL, "the flow has no scalar %d",
                    f - FLUID_FIRST_SCALAR);
    return take_pieces(s, s->view.field[f], field, 1, block);
}

/* ---- what is not a number ---- */

/* The first such cell of each block of threads, counted over the block; cells
 * where there is none. Numbers up to 2^53 are exact. */
static __global__ void __launch_bounds__(TILE)
    find_first(struct fluid_view m, size_t cells, double *partial)
{
    __shared__ double shared[TILE / 32];
    double first = -(double)cells;
    for (size_t t = linear_thread(); t < cells; t += linear_stride()) {
        int k, finite = 1;
        ptrdiff_t at = place_of(&m, t, &k);
        for (int f = 0; f < m.n_fields; f++)
            finite = finite && isfinite(m.field[f][at]);
        if (!finite) {
            first = -(double)t;
            break;
        }
    }
    first = tile_reduce(first, 1, shared);
    if (tile_thread() == 0)
        partial[blockIdx.x] = first;
}

static __global__ void take_velocity(struct fluid_view m, size_t t, double *to)
{
    int k;
    ptrdiff_t at = place_of(&m, t, &k);
    if (threadIdx.x < 3)
        to[threadIdx.x] = (double)m.field[threadIdx.x][at];
}

int fluid_cuda_find_bad(struct ctx *ctx, struct fluid_store *s,
                        struct fluid_bad_cell *out)
{
    size_t cells = cells_of(s);
    unsigned blocks = linear_blocks(cells);
    double first = 0;
    memset(out, 0, sizeof *out);
    LAUNCH(find_first, blocks, TILE, 0, s->device->stream, s->view, cells,
           s->partial);
    CUDA_TRY_LAUNCH(ctx, "find_first");
    TRY(fluid_cuda_reduce(s, 1, blocks, 1, &first));
    size_t t = (size_t)-first;
    if (t >= cells)
        return 0;
    out->found = 1;
    size_t row = t / (size_t)s->view.n[0], rows = (size_t)s->view.n[1];
    out->cell[0] = s->setup.first[0] + (int64_t)(t % (size_t)s->view.n[0]);
    out->cell[1] = s->setup.first[1] + (int64_t)(row % rows);
    out->cell[2] = s->setup.first[2] + (int64_t)(row / rows);
    LAUNCH(take_velocity, 1, 32, 0, s->device->stream, s->view, t, s->result);
    CUDA_TRY_LAUNCH(ctx, "take_velocity");
    return cuda_to_host(ctx, s->device, out->velocity, s->result,
                        sizeof out->velocity);
}
