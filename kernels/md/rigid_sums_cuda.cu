/* rigid_sums_cuda.cu: groups of particles at fixed distances in a box that
 * changes, and what they add to sums. See rigid.h.
 */
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/rigid_cuda.h"

/* ---- a box that changes ---- */

/* Turn values of the particles into those beside the center of mass, which
 * comes out. */
static __device__ __forceinline__ void
beside_center(const struct group *g, double y[RIGID_PARTICLES][3],
              double center[3])
{
    double whole = 0;
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < g->shape.particles; k++)
        whole += 1 / g->shape.inverse_mass[k];
    for (int d = 0; d < 3; d++) {
        center[d] = 0;
        RIGID_UNROLL
        for (int k = 0; k < RIGID_PARTICLES && k < g->shape.particles; k++)
            center[d] += y[k][d] / g->shape.inverse_mass[k] / whole;
        RIGID_UNROLL
        for (int k = 0; k < RIGID_PARTICLES && k < g->shape.particles; k++)
            y[k][d] -= center[d];
    }
}

/* Of struct md_stretch what a kernel needs. */
struct unstretching {
    double grow[3], after[3], middle[3], dt_half;
};

/* stretch() is linear: what it made of a place d and a velocity u beside the
 * center is grow (d + u t) + middle u t, t = dt_half, u after its `after`. */
template <int KIND>
static __global__ void __launch_bounds__(MD_THREADS)
    unstretch_groups(struct md_view m, struct rigid_view r,
                     struct unstretching q)
{
    uint32_t i = r.begin + thread_index();
    double v[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3], center[3], place[3];
    struct group g;
    if (i >= r.end)
        return;
    take_group<KIND>(m, r, i, &g);
    values_of(m, r, &g, MD_VALUE_VELOCITY, v);
    beside_center(&g, v, center);
    take_held(r, i, g.shape.particles, x);
    beside_center(&g, x, place);
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < g.shape.particles; k++) {
        double way[3];
        if (!(g.own >> k & 1))
            continue;
        for (int d = 0; d < 3; d++) {
            double u = v[k][d] / (q.after[d] * q.middle[d]);
            way[d] =
                (1 - q.grow[d]) * x[k][d] +
                u * q.dt_half * (2 - q.after[d] * (q.grow[d] + q.middle[d]));
            m.v[d * m.stride + g.slot[k]] = (state)(center[d] + u);
        }
        if (q.dt_half > 0)
            move_by(m, g.slot[k], way, 0);
    }
}

void cuda_rigid_unstretch(struct md_store *s, const struct md_stretch *m,
                          const double grow[3])
{
    typedef void (*kernel)(struct md_view, struct rigid_view,
                           struct unstretching);
    static const kernel kernels[RIGID_KINDS] = OF_KINDS(unstretch_groups);
    struct unstretching q;
    cuda_settle(s);
    if (!has_groups(s))
        return;
    for (int d = 0; d < 3; d++) {
        q.grow[d] = grow[d];
        q.after[d] = m->after[d];
        q.middle[d] = m->middle[d];
    }
    q.dt_half = m->dt_half;
    s->failed = for_each_kind(
        s, [&](int kind, const struct rigid_view &r, dim3 blocks) {
            LAUNCH(kernels[kind], blocks, MD_THREADS, 0, s->device->stream,
                   s->view, r, q);
            return cuda_status(s->ctx, cudaGetLastError(), "unstretch_groups");
        });
}

/* ---- sums ---- */

enum { GROUP_SUMS = 7 };

/* What a group gives to the sums: all its own particles together to `partial`,
 * by blocks, or each of them to the columns. */
static __device__ __forceinline__ void
put_sums(const struct md_view &m, const struct group *g, int n,
         const double each[RIGID_PARTICLES][GROUP_SUMS], double *column,
         double total[GROUP_SUMS])
{
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < g->shape.particles; k++)
        for (int q = 0; q < GROUP_SUMS && g->own >> k & 1; q++) {
            if (column && q < n)
                column[q * m.stride + g->slot[k]] = each[k][q];
            total[q] += each[k][q];
        }
}

/* m u^2 and d . f of places and forces beside the center, by directions. */
static __device__ __forceinline__ void
inner_of(const struct md_view &m, const struct rigid_view &r, uint32_t i,
         struct group *g, double each[RIGID_PARTICLES][GROUP_SUMS])
{
    double v[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3], center[3];
    values_of(m, r, g, MD_VALUE_VELOCITY, v);
    beside_center(g, v, center);
    take_held(r, i, g->shape.particles, x);
    beside_center(g, x, center);
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < g->shape.particles; k++)
        for (int d = 0; d < 3 && g->own >> k & 1; d++) {
            each[k][d] = v[k][d] * v[k][d] / g->shape.inverse_mass[k];
            each[k][6] = 0;
            each[k][3 + d] = x[k][d] * (double)m.f[d * m.stride + g->slot[k]];
        }
}

/* The bonds' forces keep the second derivative of their squared lengths at 0:
 * r . a + u . u = 0. In mass * velocity^2, as accelerations are. The virial,
 * and that by directions. */
static __device__ __forceinline__ void
bond_forces_of(const struct md_view &m, const struct rigid_view &r, uint32_t i,
               struct group *g, double each[RIGID_PARTICLES][GROUP_SUMS])
{
    double a[RIGID_PARTICLES][3], held[RIGID_PARTICLES][3], sum[GROUP_SUMS];
    double bond[RIGID_BONDS][3], rate[RIGID_BONDS];
    values_of(m, r, g, MD_VALUE_ACCELERATION, a);
    take_held(r, i, g->shape.particles, held);
    bonds_of(g, (const double(*)[3])held, bond);
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < g->shape.n; k++) {
        double u[3];
        rigid_bond(&g->shape, k, (const double(*)[3])a, u);
        rate[k] = rigid_dot(bond[k], u) + r.speed2[(size_t)k * r.n + i];
    }
    rigid_impulses(&g->shape, (const double(*)[3])bond, rate);
    for (int q = 0; q < GROUP_SUMS; q++)
        sum[q] = 0;
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < g->shape.n; k++) {
        const double *b = bond[k];
        sum[0] -= rate[k] * rigid_dot(b, b);
        for (int d = 0; d < 3; d++)
            sum[1 + d] -= rate[k] * b[d] * b[d];
        sum[4] -= rate[k] * b[0] * b[1];
        sum[5] -= rate[k] * b[0] * b[2];
        sum[6] -= rate[k] * b[1] * b[2];
    }
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < g->shape.particles; k++)
        for (int q = 0; q < GROUP_SUMS; q++)
            each[k][q] = sum[q] / g->shape.particles;
}

static __device__ __forceinline__ void
sum_blocks(const struct rigid_view &r, int n, const double total[GROUP_SUMS],
           double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    for (int q = 0; q < GROUP_SUMS; q++) {
        if (q >= n)
            break;
        double sum = block_sum(total[q], shared);
        if (threadIdx.x == 0)
            partial[q * r.n_blocks + r.first_block + blockIdx.x] = sum;
    }
}

/* What a group gives: inner_of() or bond_forces_of(). */
typedef void (*group_gives)(const struct md_view &, const struct rigid_view &,
                            uint32_t, struct group *,
                            double each[RIGID_PARTICLES][GROUP_SUMS]);

template <int KIND, group_gives GIVES>
static __device__ __forceinline__ void
sum_groups(const struct md_view &m, const struct rigid_view &r, int n,
           double *column, double *partial)
{
    uint32_t i = r.begin + thread_index();
    double total[GROUP_SUMS] = {0, 0, 0, 0, 0, 0, 0};
    if (i < r.end) {
        double each[RIGID_PARTICLES][GROUP_SUMS];
        struct group g;
        take_group<KIND>(m, r, i, &g);
        GIVES(m, r, i, &g, each);
        put_sums(m, &g, n, each, column, total);
    }
    if (!column)
        sum_blocks(r, n, total, partial);
}

template <int KIND>
static __global__ void __launch_bounds__(MD_THREADS, 2)
    sum_inner(struct md_view m, struct rigid_view r, int n, double *column,
              double *partial)
{
    sum_groups<KIND, inner_of>(m, r, n, column, partial);
}

template <int KIND>
static __global__ void __launch_bounds__(MD_THREADS)
    sum_bond_forces(struct md_view m, struct rigid_view r, int n,
                    double *column, double *partial)
{
    sum_groups<KIND, bond_forces_of>(m, r, n, column, partial);
}

static int add_up(struct md_store *s, int inner, int n, double *out)
{
    typedef void (*kernel)(struct md_view, struct rigid_view, int, double *,
                           double *);
    static const kernel kernels[2][RIGID_KINDS] = {OF_KINDS(sum_bond_forces),
                                                   OF_KINDS(sum_inner)};
    int columns = s->setup.deterministic;
    unsigned all = cuda_rigid_view(s).n_blocks;
    cudaStream_t stream = s->device->stream;
    double *column = columns ? ARRAY(s, ARRAY_COLUMNS, double) : NULL;
    TRY(cuda_reserve_sums(s));
    TRY(cuda_reserve(s, ARRAY_PARTIAL, (size_t)all * GROUP_SUMS, sizeof *out,
                     "sums"));
    if (columns) /* particles of no group */
        CUDA_TRY(s->ctx,
                 cudaMemsetAsync(column, 0,
                                 (size_t)n * s->view.stride * sizeof *column,
                                 stream));
    TRY(for_each_kind(
        s, [&](int kind, const struct rigid_view &r, dim3 blocks) {
            LAUNCH(kernels[inner][kind], blocks, MD_THREADS, 0, stream, s->view,
                   r, n, column, ARRAY(s, ARRAY_PARTIAL, double));
            return cuda_status(s->ctx, cudaGetLastError(), "sum_groups");
        }));
    return columns ? cuda_sum_columns(s, n, out)
                   : cuda_reduce(s->ctx, s, n, all, 0, out);
}

void cuda_rigid_inner(const struct md_store *store, double kinetic[3],
                      double virial[3])
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    double out[6] = {0, 0, 0, 0, 0, 0};
    cuda_settle(s);
    if (has_groups(s))
        s->failed = add_up(s, 1, 6, out);
    for (int d = 0; d < 3; d++) {
        kinetic[d] = out[d];
        virial[d] = out[3 + d];
    }
}

void cuda_rigid_sums(const struct md_store *store, struct md_sums *sums)
{
    struct md_store *s = const_cast<struct md_store *>(store);
    double out[GROUP_SUMS], to_energy = 1 / s->setup.acceleration;
    cuda_settle(s);
    if (!has_groups(s))
        return;
    s->failed = add_up(s, 0, sums->with_tensor ? GROUP_SUMS : 1, out);
    if (s->failed != 0)
        return;
    sums->virial += to_energy * out[0];
    for (int t = 0; t < 6 && sums->with_tensor; t++)
        sums->tensor[t] += to_energy * out[1 + t];
}
