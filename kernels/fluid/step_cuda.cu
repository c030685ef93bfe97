/* step_cuda.cu: prediction, the source of pressure, and correction.
 *
 * Momentum: a thread has a column of cells and marches along z. What it read of
 * the plane above stays in registers as the next plane's own values; neighbors
 * along x and y come from the cache, where the block has just put them.
 */
#include "kernels/fluid/poisson_cuda.h"

#include <math.h>
#include <string.h>

/* A substage's factors; and what else accelerates. */
struct fluid_stage {
    scalar gamma_dt, zeta_dt, alpha_dt;
    scalar force[3];
    int implicit; /* the result is an increment */
    int rotates, n_scalars;
    scalar rotation[3];                      /* 2 Omega */
    scalar buoyancy[FLUID_SCALARS_MAX][3];   /* half of it: of two cells */
    scalar weightless[FLUID_SCALARS_MAX][3]; /* buoyancy * reference */
};

/* u, v, w around a cell, as stencil.h names them. */
struct fluid_terms {
    scalar u, u_e, u_w, u_n, u_s, u_t, u_b, u_nw, u_tw;
    scalar v, v_e, v_w, v_n, v_s, v_t, v_b, v_se, v_ts;
    scalar w, w_e, w_w, w_n, w_s, w_t, w_b, w_be, w_bn;
};

/* Before plane k: what the plane above would have left. */
static __device__ __forceinline__ void
load_first(const struct fluid_view *m, ptrdiff_t at, struct fluid_terms *c)
{
    const scalar *u = m->field[0] + at, *v = m->field[1] + at,
                 *w = m->field[2] + at;
    const ptrdiff_t b = -m->plane, n = m->pitch;
    c->u = u[b];
    c->v = v[b];
    c->w = w[b];
    c->w_e = w[b + 1];
    c->w_n = w[b + n];
    c->u_t = u[0];
    c->u_tw = u[-1];
    c->v_t = v[0];
    c->v_ts = v[-n];
    c->w_t = w[0];
}

/* Shift by one plane and load what is new; at: cell (i,j,k). */
static __device__ __forceinline__ void
load_next(const struct fluid_view *m, ptrdiff_t at, struct fluid_terms *c)
{
    const scalar *u = m->field[0] + at, *v = m->field[1] + at,
                 *w = m->field[2] + at;
    const ptrdiff_t t = m->plane, n = m->pitch;
    c->u_b = c->u;
    c->u = c->u_t;
    c->u_w = c->u_tw;
    c->v_b = c->v;
    c->v = c->v_t;
    c->v_s = c->v_ts;
    c->w_b = c->w;
    c->w_be = c->w_e;
    c->w_bn = c->w_n;
    c->w = c->w_t;
    c->u_e = u[1];
    c->u_n = u[n];
    c->u_s = u[-n];
    c->u_nw = u[n - 1];
    c->u_t = u[t];
    c->u_tw = u[t - 1];
    c->v_e = v[1];
    c->v_w = v[-1];
    c->v_n = v[n];
    c->v_se = v[1 - n];
    c->v_t = v[t];
    c->v_ts = v[t - n];
    c->w_e = w[1];
    c->w_w = w[-1];
    c->w_n = w[n];
    c->w_s = w[-n];
    c->w_t = w[t];
}

static __device__ __forceinline__ void
momentum(const struct fluid_coeff *q, const struct fluid_terms *c, scalar a[3])
{
    scalar uv = fluid_product(c->u, c->u_n, c->v, c->v_e);
    scalar uw = fluid_product(c->u, c->u_t, c->w, c->w_e);
    scalar vw = fluid_product(c->v, c->v_t, c->w, c->w_n);
    a[0] = fluid_momentum_u(q, c->u, c->u_e, c->u_w, c->u_n, c->u_s, c->u_t,
                            c->u_b, c->v_s, c->v_se, c->w_b, c->w_be, uv, uw);
    a[1] = fluid_momentum_v(q, c->v, c->v_e, c->v_w, c->v_n, c->v_s, c->v_t,
                            c->v_b, c->u_w, c->u_nw, c->w_b, c->w_bn, uv, vw);
    a[2] = fluid_momentum_w(q, c->w, c->w_e, c->w_w, c->w_n, c->w_s, c->w_t,
                            c->w_b, c->u, c->u_t, c->u_w, c->u_tw, c->v, c->v_t,
                            c->v_s, c->v_ts);
}

/* -2 Omega x u with four-point means (stencil.h). */
static __device__ __forceinline__ void rotate(const struct fluid_coeff *q,
                                              const struct fluid_terms *c,
                                              const scalar omega[3],
                                              scalar a[3])
{
    scalar v_at_u = fluid_mean4(c->v, c->v_e, c->v_s, c->v_se);
    scalar w_at_u = fluid_mean4(c->w, c->w_e, c->w_b, c->w_be);
    scalar u_at_v = fluid_mean4(c->u, c->u_w, c->u_n, c->u_nw);
    scalar w_at_v = fluid_mean4(c->w, c->w_n, c->w_b, c->w_bn);
    scalar u_at_w = fluid_mean4_up(q, c->u, c->u_w, c->u_t, c->u_tw);
    scalar v_at_w = fluid_mean4_up(q, c->v, c->v_s, c->v_t, c->v_ts);
    a[0] += omega[2] * v_at_u - omega[1] * w_at_u;
    a[1] += omega[0] * w_at_v - omega[2] * u_at_v;
    a[2] += omega[1] * u_at_w - omega[0] * v_at_w;
}

static __device__ __forceinline__ void buoy(const struct fluid_view *m,
                                            const struct fluid_stage *g,
                                            ptrdiff_t at, scalar a[3])
{
    const ptrdiff_t step[3] = {1, m->pitch, m->plane};
    for (int f = 0; f < g->n_scalars; f++) {
        const scalar *value = m->field[FLUID_FIRST_SCALAR + f] + at;
        for (int d = 0; d < 3; d++)
            a[d] += g->buoyancy[f][d] * (value[0] + value[step[d]]) -
                    g->weightless[f][d];
    }
}

/* Implicit diffusion of the velocity as it was, minus grad p. q: the factors of
 * implicit directions. */
static __device__ __forceinline__ void
push(const struct fluid_view *m, const struct fluid_coeff *q, int k,
     ptrdiff_t at, const struct fluid_terms *c, scalar out[3])
{
    const scalar *p = m->pressure + at;
    scalar x = q->diff_x, y = q->diff_y;
    out[0] = fluid_diffusion_1d(c->u, c->u_e, c->u_w, x, x) +
             fluid_diffusion_1d(c->u, c->u_n, c->u_s, y, y) +
             fluid_diffusion_1d(c->u, c->u_t, c->u_b, q->diff_t, q->diff_b) -
             (scalar)m->inverse_d[0] * (p[1] - p[0]);
    out[1] = fluid_diffusion_1d(c->v, c->v_e, c->v_w, x, x) +
             fluid_diffusion_1d(c->v, c->v_n, c->v_s, y, y) +
             fluid_diffusion_1d(c->v, c->v_t, c->v_b, q->diff_t, q->diff_b) -
             (scalar)m->inverse_d[1] * (p[m->pitch] - p[0]);
    out[2] = fluid_diffusion_1d(c->w, c->w_e, c->w_w, x, x) +
             fluid_diffusion_1d(c->w, c->w_n, c->w_s, y, y) +
             fluid_diffusion_1d(c->w, c->w_t, c->w_b, q->diff_tw, q->diff_bw) -
             (scalar)m->metric[k].per_hc * (p[m->plane] - p[0]);
}

/* more: rotation, buoyancy, implicit diffusion. */
template <bool first, bool last, bool more>
static __global__ void __launch_bounds__(TILE)
    predict(struct fluid_view m, struct fluid_stage g)
{
    int i = tile_i(), j = tile_j();
    if (i >= m.n[0] || j >= m.n[1])
        return;
    int k0 = (int)blockIdx.z * PLANES_AT_ONCE;
    int k1 = k0 + PLANES_AT_ONCE < m.n[2] ? k0 + PLANES_AT_ONCE : m.n[2];
    int closed_x = m.wall[0][1] && i + 1 == m.n[0];
    int closed_y = m.wall[1][1] && j + 1 == m.n[1];
    ptrdiff_t at = k0 * m.plane + j * m.pitch + i;
    struct fluid_terms c;
    load_first(&m, at, &c);
    for (int k = k0; k < k1; k++, at += m.plane) {
        const struct fluid_coeff *q = &m.coeff[k];
        scalar a[3], extra[3] = {0, 0, 0};
        load_next(&m, at, &c);
        momentum(q, &c, a);
        for (int d = 0; d < 3; d++)
            a[d] += g.force[d];
        if (more) {
            if (g.rotates)
                rotate(q, &c, g.rotation, a);
            buoy(&m, &g, at, a);
            if (g.implicit)
                push(&m, &m.implicit[k], k, at, &c, extra);
        }
        int closed[3] = {closed_x, closed_y, m.wall[2][1] && k + 1 == m.n[2]};
        scalar old[3] = {c.u, c.v, c.w};
        for (int d = 0; d < 3; d++) {
            scalar result = g.gamma_dt * a[d];
            if (!more || !g.implicit)
                result += old[d];
            else
                result += g.alpha_dt * extra[d];
            if (!first)
                result += g.zeta_dt * m.history[d][at];
            if (!last)
                m.history[d][at] = a[d];
            m.next[d][at] = closed[d] ? (scalar)0 : result;
        }
    }
}

static struct fluid_stage stage_of(const struct fluid_store *s,
                                   const struct fluid_substage *sub)
{
    struct fluid_stage g;
    memset(&g, 0, sizeof g);
    g.gamma_dt = (scalar)(sub->gamma * sub->dt);
    g.zeta_dt = (scalar)(sub->zeta * sub->dt);
    g.alpha_dt = (scalar)(sub->alpha * sub->dt);
    g.implicit = s->any_implicit;
    g.n_scalars = s->setup.n_scalars;
    for (int d = 0; d < 3; d++) {
        g.force[d] = (scalar)sub->force[d];
        g.rotation[d] = (scalar)(2 * s->setup.rotation[d]);
        g.rotates |= s->setup.rotation[d] != 0;
        for (int f = 0; f < g.n_scalars; f++) {
            const struct fluid_scalar *c = &s->setup.scalar[f];
            g.buoyancy[f][d] = (scalar)(0.5 * c->buoyancy[d]);
            g.weightless[f][d] = (scalar)(c->buoyancy[d] * c->reference);
        }
    }
    return g;
}

template <bool more>
static void launch_predict(struct fluid_store *s, const struct fluid_stage *g,
                           const struct fluid_substage *sub)
{
    const int *n = s->view.n;
    dim3 grid =
        tile_blocks(n[0], n[1], cuda_blocks((size_t)n[2], PLANES_AT_ONCE));
    cudaStream_t stream = s->device->stream;
    if (sub->first && !sub->last)
        LAUNCH((predict<true, false, more>), grid, tile_threads(), 0, stream,
               s->view, *g);
    else if (sub->first)
        LAUNCH((predict<true, true, more>), grid, tile_threads(), 0, stream,
               s->view, *g);
    else if (sub->last)
        LAUNCH((predict<false, true, more>), grid, tile_threads(), 0, stream,
               s->view, *g);
    else
        LAUNCH((predict<false, false, more>), grid, tile_threads(), 0, stream,
               s->view, *g);
}

int fluid_cuda_predict(struct ctx *ctx, struct fluid_store *s,
                       const struct fluid_substage *sub)
{
    struct fluid_stage g = stage_of(s, sub);
    struct fluid_view *v = &s->view;
    if (g.implicit || g.rotates || g.n_scalars > 0)
        launch_predict<true>(s, &g, sub);
    else
        launch_predict<false>(s, &g, sub);
    CUDA_TRY_LAUNCH(ctx, "predict");
    if (g.n_scalars > 0)
        TRY(fluid_cuda_predict_scalars(s, sub));
    s->alpha_dt = sub->alpha * sub->dt;
    s->psi_ready = 0;
    s->delta_pending = s->any_implicit;
    for (int f = 0; f < v->n_fields && !s->any_implicit; f++) {
        scalar *old = v->field[f];
        v->field[f] = v->next[f];
        v->next[f] = old;
    }
    return 0;
}

/* ---- increments of implicit diffusion ---- */

static __global__ void add_delta(struct fluid_view m)
{
    size_t rows = (size_t)m.n[1] * (size_t)m.n[2], width = (size_t)m.n[0];
    size_t cells = rows * width, all = cells * (size_t)m.n_fields;
    for (size_t t = linear_thread(); t < all; t += linear_stride()) {
        int f = (int)(t / cells);
        size_t cell = t % cells, row = cell / width;
        ptrdiff_t at = (ptrdiff_t)(row / (size_t)m.n[1]) * m.plane +
                       (ptrdiff_t)(row % (size_t)m.n[1]) * m.pitch +
                       (ptrdiff_t)(cell % width);
        m.field[f][at] += m.next[f][at];
    }
}

static size_t cells_of(const struct fluid_store *s)
{
    const int *n = s->view.n;
    return (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
}

int fluid_cuda_apply_delta(struct fluid_store *s)
{
    if (!s->delta_pending)
        return 0;
    s->delta_pending = 0;
    LAUNCH(add_delta, linear_blocks(cells_of(s) * (size_t)s->view.n_fields),
           TILE, 0, s->device->stream, s->view);
    CUDA_TRY_LAUNCH(s->ctx, "add_delta");
    return 0;
}

/* ---- the flow that was predicted ---- */

/* Each block sums a tile of one plane, weighted with the cells' volume. */
static __global__ void __launch_bounds__(TILE)
    sum_flow(struct fluid_view m, double area, double *partial)
{
    __shared__ double shared[TILE / 32];
    size_t tiles = (size_t)gridDim.x * gridDim.y, blocks = tiles * gridDim.z;
    size_t block =
        blockIdx.z * tiles + (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    int i = tile_i(), j = tile_j();
    double sum[3] = {0, 0, 0};
    for (int k = (int)blockIdx.z; k < m.n[2]; k += (int)gridDim.z) {
        if (i >= m.n[0] || j >= m.n[1])
            continue;
        ptrdiff_t at = k * m.plane + j * m.pitch + i;
        for (int d = 0; d < 3; d++)
            sum[d] += (double)m.field[d][at] * area *
                      (d == 2 ? m.metric[k].hc : m.metric[k].h);
    }
    for (int d = 0; d < 3; d++) {
        double all = tile_reduce(sum[d], 0, shared);
        if (tile_thread() == 0)
            partial[(size_t)d * blocks + block] = all;
    }
}

static dim3 sum_blocks(const struct fluid_store *s)
{
    const int *n = s->view.n;
    return reduction_blocks(n[0], n[1], n[2]);
}

static size_t count_blocks(dim3 grid)
{
    return (size_t)grid.x * grid.y * grid.z;
}

int fluid_cuda_predicted_flow(struct ctx *ctx, struct fluid_store *s,
                              double flow[3])
{
    dim3 grid = sum_blocks(s);
    TRY(fluid_cuda_apply_delta(s));
    LAUNCH(sum_flow, grid, tile_threads(), 0, s->device->stream, s->view,
           s->setup.spacing[0] * s->setup.spacing[1], s->partial);
    CUDA_TRY_LAUNCH(ctx, "sum_flow");
    return fluid_cuda_reduce(s, 3, count_blocks(grid), 0, flow);
}

/* ---- the source of pressure ---- */

static __global__ void __launch_bounds__(TILE)
    source(struct fluid_view m, struct poisson_view p)
{
    int i = tile_i(), j = tile_j();
    if (i >= m.n[0] || j >= m.n[1])
        return;
    for (int k = (int)blockIdx.z; k < m.n[2]; k += (int)gridDim.z) {
        ptrdiff_t at = k * m.plane + j * m.pitch + i;
        /* Faces before the first: the last one, which on a wall is closed; of
         * cut directions the ghosts have come. */
        const scalar *u = m.field[0] + at, *v = m.field[1] + at,
                     *w = m.field[2] + at;
        scalar u_w = i > 0 ? u[-1] : u[m.n[0] - 1];
        scalar d =
            fluid_divergence(u[0], u_w, v[0], v[-m.pitch], w[0], w[-m.plane],
                             (scalar)m.inverse_d[0], (scalar)m.inverse_d[1],
                             (scalar)m.metric[k].per_h);
        p.x_lines[poisson_at(&p, i, j, k)] = d;
        if (m.n[0] == 1) /* its own transform */
            p.x_lines[poisson_at(&p, i, j, k) + 1] = 0;
    }
}

/* A launch over all cells, a plane a block or more where there are many. */
static dim3 cell_blocks(const struct fluid_store *s)
{
    const int *n = s->view.n;
    return tile_blocks(n[0], n[1], n[2] < 65535 ? n[2] : 65535);
}

int fluid_cuda_source(struct ctx *ctx, struct fluid_store *s,
                      const struct fluid_substage *sub)
{
    (void)sub;
    TRY(fluid_cuda_apply_delta(s));
    s->psi_ready = 0;
    LAUNCH(source, cell_blocks(s), tile_threads(), 0, s->device->stream,
           s->view, *poisson_cuda_view(s->poisson));
    CUDA_TRY_LAUNCH(ctx, "source");
    return poisson_cuda_forward(s);
}

/* ---- correction ---- */

static __global__ void __launch_bounds__(TILE)
    take_psi(struct fluid_view m, struct poisson_view p)
{
    int i = tile_i(), j = tile_j();
    if (i >= m.n[0] || j >= m.n[1])
        return;
    for (int k = (int)blockIdx.z; k < m.n[2]; k += (int)gridDim.z)
        m.next[0][k * m.plane + j * m.pitch + i] =
            p.x_lines[poisson_at(&p, i, j, k)];
}

int fluid_cuda_need_psi(struct fluid_store *s)
{
    if (s->psi_ready)
        return 0;
    s->psi_ready = 1;
    LAUNCH(take_psi, cell_blocks(s), tile_threads(), 0, s->device->stream,
           s->view, *poisson_cuda_view(s->poisson));
    CUDA_TRY_LAUNCH(s->ctx, "take_psi");
    return 0;
}

/* u -= grad psi - extra; each block leaves its greatest rate, infinite where
 * something is not finite. Kept pressure (implicit diffusion):
 * p += psi / (alpha dt) - viscosity / 2 L psi over the implicit directions (Kim
 * and Moin 1985; Verzicco and Orlandi 1996). */
static __global__ void __launch_bounds__(TILE)
    correct(struct fluid_view m, scalar extra_x, scalar extra_y, scalar extra_z,
            scalar share, int want_rate, double *partial)
{
    __shared__ double shared[TILE / 32];
    const scalar extra[3] = {extra_x, extra_y, extra_z};
    const ptrdiff_t step[3] = {1, m.pitch, m.plane};
    int i = tile_i(), j = tile_j();
    double most = 0;
    for (int k = (int)blockIdx.z; k < m.n[2]; k += (int)gridDim.z) {
        if (i >= m.n[0] || j >= m.n[1])
            continue;
        ptrdiff_t at = k * m.plane + j * m.pitch + i;
        const scalar *psi = m.next[0] + at;
        int index[3] = {i, j, k};
        scalar inverse[3] = {(scalar)m.inverse_d[0], (scalar)m.inverse_d[1],
                             (scalar)m.metric[k].per_hc};
        double rate = 0;
        for (int d = 0; d < 3; d++) {
            scalar a = m.field[d][at];
            if (!m.wall[d][1] || index[d] + 1 < m.n[d]) {
                a -= (psi[step[d]] - psi[0]) * inverse[d];
                a += extra[d];
                m.field[d][at] = a;
            }
            rate +=
                fabs((double)a) * (d == 2 ? m.metric[k].rate : m.inverse_d[d]);
        }
        most = isfinite(rate) ? fmax(most, rate) : HUGE_VAL;
        if (m.pressure) {
            const struct fluid_coeff *q = &m.implicit[k];
            scalar x = q->diff_x, y = q->diff_y;
            scalar l =
                fluid_diffusion_1d(psi[0], psi[1], psi[-1], x, x) +
                fluid_diffusion_1d(psi[0], psi[m.pitch], psi[-m.pitch], y, y) +
                fluid_diffusion_1d(psi[0], psi[m.plane], psi[-m.plane],
                                   q->diff_t, q->diff_b);
            m.pressure[at] += share * psi[0] - (scalar)0.5 * l;
        }
    }
    if (!want_rate)
        return;
    most = tile_reduce(most, 1, shared);
    if (tile_thread() == 0)
        partial[((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x +
                blockIdx.x] = most;
}

int fluid_cuda_correct(struct ctx *ctx, struct fluid_store *s,
                       const struct fluid_substage *sub, const double extra[3],
                       double *rate)
{
    dim3 grid = rate ? sum_blocks(s) : cell_blocks(s);
    scalar add[3], share = (scalar)(s->alpha_dt > 0 ? 1 / s->alpha_dt : 0);
    (void)sub;
    for (int d = 0; d < 3; d++)
        add[d] = (scalar)(s->view.periodic[d] ? extra[d] : 0);
    TRY(fluid_cuda_need_psi(s));
    LAUNCH(correct, grid, tile_threads(), 0, s->device->stream, s->view, add[0],
           add[1], add[2], share, rate != NULL, s->partial);
    CUDA_TRY_LAUNCH(ctx, "correct");
    return rate ? fluid_cuda_reduce(s, 1, count_blocks(grid), 1, rate) : 0;
}
