/* rigid_sums_cuda.cu: groups of particles at fixed distances in a box that
 * changes, and what they add to sums. See rigid.h.
 */
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/rigid_cuda.h"
#include "kernels/md/team_cuda.h"

#include <string.h>

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
static __device__ __forceinline__ void
unstretch_groups(const struct md_view &m, const struct rigid_view &r,
                 const struct unstretching &q)
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

template <int KIND> static constexpr auto unstretch_kernel(void)
{
    return kernel_of<unstretch_groups<KIND>, 1>();
}

int cuda_launch_rigid_unstretch(struct md_store *s, const struct step_call *c)
{
    static const decltype(unstretch_kernel<MD_TERM_RIGID_BOND>())
        kernels[RIGID_KINDS] = KERNELS_OF_KINDS(unstretch_kernel);
    struct unstretching q;
    memcpy(q.grow, c->factor, sizeof q.grow);
    memcpy(q.after, c->factor + 3, sizeof q.after);
    memcpy(q.middle, c->factor + 6, sizeof q.middle);
    q.dt_half = c->drift;
    return for_each_kind(
        s, [&](int kind, const struct rigid_view &r, dim3 blocks) {
            return cuda_run(s, "unstretch_groups", kernels[kind], blocks,
                            s->view, r, q);
        });
}

static void do_unstretch(struct md_store *s, const struct md_stretch *m,
                         const double grow[3])
{
    struct step_call call = {STEP_RIGID_UNSTRETCH, 0, m->dt_half, NULL};
    memcpy(call.factor, grow, 3 * sizeof *grow);
    memcpy(call.factor + 3, m->after, sizeof m->after);
    memcpy(call.factor + 6, m->middle, sizeof m->middle);
    do_rigid(s, call);
}

void cuda_rigid_unstretch(struct md_store *s, const struct md_stretch *m,
                          const double grow[3])
{
    if (!s->unstretch_asked)
        do_unstretch(s, m, grow);
    s->unstretch_asked = 0;
}

void cuda_rigid_unstretch_ahead(struct md_store *s, const struct md_stretch *m,
                                const double grow[3])
{
    cuda_ask_ahead(s, &s->unstretch_asked, [=] { do_unstretch(s, m, grow); });
}

/* ---- sums ---- */

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

/* Particles of no group. */
static __device__ __forceinline__ void clear_columns(const struct md_view &m,
                                                     double *column, int n)
{
    uint32_t i = thread_index();
    for (int q = 0; q < n && i < m.n_own; q++)
        column[q * m.stride + i] = 0;
}

template <int KIND> static constexpr auto inner_kernel(void)
{
    return kernel_of<sum_groups<KIND, inner_of>, 1, 2>();
}

template <int KIND> static constexpr auto bond_forces_kernel(void)
{
    return kernel_of<sum_groups<KIND, bond_forces_of>, 1>();
}

/* n sums of all groups, on their way to the host. */
template <class Kernel>
static int launch_sums(struct md_store *s, const Kernel kernels[RIGID_KINDS],
                       int n, double *to)
{
    double *column =
        s->setup.deterministic ? ARRAY(s, ARRAY_COLUMNS, double) : NULL;
    if (column)
        TRY(cuda_run(s, "clear_columns", kernel_of<clear_columns, 1>(),
                     cuda_own_blocks(s), s->view, column, n));
    TRY(for_each_kind(
        s, [&](int kind, const struct rigid_view &r, dim3 blocks) {
            return cuda_run(s, "sum_groups", kernels[kind], blocks, s->view, r,
                            n, column, ARRAY(s, ARRAY_PARTIAL, double));
        }));
    return column
               ? cuda_send_own_sums(s, n, to)
               : cuda_reduce_and_send(s, n, cuda_rigid_view(s).n_blocks, 0, to);
}

int cuda_launch_rigid_inner(struct md_store *s)
{
    static const decltype(inner_kernel<MD_TERM_RIGID_BOND>())
        kernels[RIGID_KINDS] = KERNELS_OF_KINDS(inner_kernel);
    return launch_sums(s, kernels, 6, s->result->inner);
}

int cuda_launch_rigid_sums(struct md_store *s)
{
    static const decltype(bond_forces_kernel<MD_TERM_RIGID_BOND>())
        kernels[RIGID_KINDS] = KERNELS_OF_KINDS(bond_forces_kernel);
    return launch_sums(s, kernels, GROUP_SUMS, s->result->bonds);
}

void cuda_rigid_inner_ahead(struct md_store *s)
{
    if (has_groups(s) && s->team)
        cuda_ask_sums_ahead(s, &s->inner_asked, STEP_RIGID_INNER);
}

void cuda_rigid_inner(const struct md_store *store, double kinetic[3],
                      double virial[3])
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    if (has_groups(s))
        s->failed = cuda_ask_sums(s, &s->inner_asked, STEP_RIGID_INNER);
    int there = has_groups(s);
    for (int d = 0; d < 3; d++) {
        kinetic[d] = there ? s->result->inner[d] : 0;
        virial[d] = there ? s->result->inner[3 + d] : 0;
    }
}

int cuda_rigid_sums_ahead(struct md_store *s)
{
    if (!has_groups(s) || !s->team)
        return 0;
    cuda_do(s, {STEP_RIGID_STOP, 0, 0, NULL});
    cuda_ask_sums_ahead(s, &s->bonds_asked, STEP_RIGID_SUMS);
    return 1;
}

void cuda_rigid_sums(const struct md_store *store, struct md_sums *sums)
{
    struct md_store *s = const_cast<struct md_store *>(store);
    double to_energy = 1 / s->setup.acceleration;
    if (has_groups(s))
        s->failed = cuda_ask_sums(s, &s->bonds_asked, STEP_RIGID_SUMS);
    if (!has_groups(s))
        return;
    sums->virial += to_energy * s->result->bonds[0];
    for (int t = 0; t < 6 && sums->with_tensor; t++)
        sums->tensor[t] += to_energy * s->result->bonds[1 + t];
}
