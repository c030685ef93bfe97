/* threads_cuda.h: what the threads of many kernels do: one thread a particle,
 * sums over a block, and cells.
 *
 * A part of store_cuda.h, which includes it.
 */
#ifndef WARPDECK_KERNELS_MD_THREADS_CUDA_H
#define WARPDECK_KERNELS_MD_THREADS_CUDA_H

#if MD_PRECISION == 1
#define SCALAR_ROUND(x) rint(x)
#define SCALAR_SQRT(x) sqrt(x)
#define SCALAR_RSQRT(x) rsqrt(x)
#else
#define SCALAR_ROUND(x) rintf(x)
#define SCALAR_SQRT(x) sqrtf(x)
#define SCALAR_RSQRT(x) rsqrtf(x)
#endif

static __device__ __forceinline__ uint32_t thread_index(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Before something is counted. */
static __device__ __forceinline__ void clear_number(unsigned *number)
{
    if (thread_index() == 0)
        *number = 0;
}

/* Minimum image in the directions that this rank spans. */
static __device__ __forceinline__ scalar nearest_image(scalar d, scalar period,
                                                       scalar per_period)
{
    return d - period * SCALAR_ROUND(d * per_period);
}

/* r_a f_b of a pair at distance (dx, dy, dz), g the force over it: xx, yy, zz,
 * xy, xz, yz. */
static __device__ __forceinline__ void
pair_tensor(scalar g, scalar dx, scalar dy, scalar dz, scalar out[6])
{
    out[0] = g * dx * dx;
    out[1] = g * dy * dy;
    out[2] = g * dz * dz;
    out[3] = g * dx * dy;
    out[4] = g * dx * dz;
    out[5] = g * dy * dz;
}

/* Sum or maximum over the block; the result is right in thread 0. `shared` has
 * one entry a warp. */
template <class T>
static __device__ __forceinline__ T block_sum(T value, T *shared)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_down_sync(0xffffffffu, value, d);
    __syncthreads(); /* the entries of the sum before may still be read */
    if (lane == 0)
        shared[warp] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < (int)blockDim.x / 32; w++)
            value += shared[w];
    return value;
}

static __device__ __forceinline__ double block_max(double value, double *shared)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    for (int d = 16; d > 0; d /= 2)
        value = fmax(value, __shfl_down_sync(0xffffffffu, value, d));
    if (lane == 0)
        shared[warp] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < (int)blockDim.x / 32; w++)
            value = fmax(value, shared[w]);
    return value;
}

/* The sum or maximum of n values that are not negative in the latter case, by
 * all threads of one block; right in thread 0. */
static __device__ __forceinline__ double
reduce_column(const double *column, uint32_t n, int greatest, double *shared)
{
    double value = greatest ? -1 : 0;
    for (uint32_t k = threadIdx.x; k < n; k += blockDim.x)
        value = greatest ? fmax(value, column[k]) : value + column[k];
    return greatest ? block_max(value, shared) : block_sum(value, shared);
}

/* A pair's force over distance g at distance (dx, dy, dz): xx, yy, zz, xy, xz,
 * yz of its virial. */
static __device__ __forceinline__ void
add_to_tensor(scalar sum[6], scalar g, scalar dx, scalar dy, scalar dz)
{
    sum[0] += g * dx * dx;
    sum[1] += g * dy * dy;
    sum[2] += g * dz * dz;
    sum[3] += g * dx * dy;
    sum[4] += g * dx * dz;
    sum[5] += g * dy * dz;
}

/* Each value's sum over the block, to row k of `partial`. */
template <int N>
static __device__ __forceinline__ void leave_sums(const double (&value)[N],
                                                  double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    for (int k = 0; k < N; k++) {
        double total = block_sum(value[k], shared);
        if (threadIdx.x == 0)
            partial[(size_t)k * gridDim.x + blockIdx.x] = total;
    }
}

/* A particle's values: to columns, for sums in any order, or without these each
 * block's sums to `partial`. */
template <int N>
static __device__ __forceinline__ void
leave_values(const struct md_view &m, uint32_t i, const double (&value)[N],
             double *column, double *partial)
{
    if (!column) {
        leave_sums(value, partial);
        return;
    }
    for (int k = 0; k < N && i < m.n_own; k++)
        column[k * m.stride + i] = value[k];
}

/* The pair position follows the state. */
static __device__ __forceinline__ void set_pair(const struct md_view &m,
                                                uint32_t i)
{
    struct pair_position p;
    p.x = (scalar)((double)m.x[i] + m.state_origin[0] - m.origin[0]);
    p.y = (scalar)((double)m.x[m.stride + i] + m.state_origin[1] - m.origin[1]);
    p.z = (scalar)((double)m.x[2 * m.stride + i] + m.state_origin[2] -
                   m.origin[2]);
    p.species = m.species[i];
    m.pair[i] = p;
}

static __device__ __forceinline__ double charge_of(const struct md_view &m,
                                                   uint32_t i)
{
    return m.charge ? (double)m.charge[i] : 0;
}

static __device__ __forceinline__ void set_charge(const struct md_view &m,
                                                  uint32_t i, double charge)
{
    if (m.charge)
        m.charge[i] = (scalar)charge;
}

/* ---- cells ---- */

static __device__ __forceinline__ void cell_of(const struct cell_grid *g,
                                               const double x[3], int c[3])
{
    double y = x[1] - g->corner[1], z = x[2] - g->corner[2];
    double was[3] = {x[0] - g->lean[0] * y - g->lean[1] * z,
                     x[1] - g->lean[2] * z, x[2]};
    for (int d = 0; d < 3; d++) {
        double q = (was[d] - g->lo[d]) * g->per_side[d];
        c[d] = q < 0 ? 0 : q >= g->n[d] ? g->n[d] - 1 : (int)q;
    }
}

static __device__ __forceinline__ uint32_t
cell_number(const struct cell_grid *g, const int c[3])
{
    return ((uint32_t)c[2] * (uint32_t)g->n[1] + (uint32_t)c[1]) *
               (uint32_t)g->n[0] +
           (uint32_t)c[0];
}

/* The cells [first, first + count) of one direction that may hold neighbors of
 * a particle in cell c; taken modulo n where it wraps. Each cell stands once.
 */
static __device__ __forceinline__ void
cell_range(const struct cell_grid *g, int d, int c, int *first, int *count)
{
    int reach = g->reach[d], n = g->n[d];
    if (g->wrap[d]) {
        *count = 2 * reach + 1 < n ? 2 * reach + 1 : n;
        *first = *count < n ? c - reach + n : 0;
    } else {
        int last = c + reach < n ? c + reach : n - 1;
        *first = c - reach > 0 ? c - reach : 0;
        *count = last - *first + 1;
    }
}

/* Call visit(j, r2) for every particle j of the pair array nearer than the
 * radius to own particle i, in the cells' order: own ones but i itself, or halo
 * copies. */
template <class Visit>
static __device__ __forceinline__ void
for_each_near(const struct md_view &m, const struct cell_grid &g,
              const uint32_t *start, uint32_t base, uint32_t i, scalar radius2,
              Visit visit)
{
    struct pair_position pi = m.pair[i];
    double x[3] = {(double)pi.x, (double)pi.y, (double)pi.z};
    int c[3], first[3], count[3];
    cell_of(&g, x, c);
    for (int d = 0; d < 3; d++)
        cell_range(&g, d, c[d], &first[d], &count[d]);
    for (int kz = 0; kz < count[2]; kz++)
        for (int ky = 0; ky < count[1]; ky++)
            for (int kx = 0; kx < count[0]; kx++) {
                int at[3] = {(first[0] + kx) % g.n[0], (first[1] + ky) % g.n[1],
                             (first[2] + kz) % g.n[2]};
                uint32_t cell = cell_number(&g, at);
                for (uint32_t k = start[cell]; k < start[cell + 1]; k++) {
                    uint32_t j = base + k;
                    struct pair_position pj = m.pair[j];
                    scalar dx = nearest_image(pi.x - pj.x, m.period[0],
                                              m.per_period[0]);
                    scalar dy = nearest_image(pi.y - pj.y, m.period[1],
                                              m.per_period[1]);
                    scalar dz = nearest_image(pi.z - pj.z, m.period[2],
                                              m.per_period[2]);
                    scalar r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 < radius2 && j != i)
                        visit(j, r2);
                }
            }
}

#endif
