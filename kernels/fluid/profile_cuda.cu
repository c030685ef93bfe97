/* profile_cuda.cu: sums over planes of what statistics are made of, a block of
 * threads a plane; the forms are those of profile_cpu.c.
 */
#include "kernels/fluid/center_cuda.h"

/* Cells of a plane normal to an axis, in turn to the threads of a block. */
struct plane_cells {
    int a, b;   /* the other directions, the first is the faster */
    size_t all; /* cells */
};

static __device__ __forceinline__ struct plane_cells
plane_of(const struct fluid_view *m, int axis)
{
    struct plane_cells p;
    p.a = axis == 0 ? 1 : 0;
    p.b = axis == 2 ? 1 : 2;
    p.all = (size_t)m->n[p.a] * (size_t)m->n[p.b];
    return p;
}

static __device__ __forceinline__ ptrdiff_t cell_of(const struct fluid_view *m,
                                                    const struct plane_cells *p,
                                                    int axis, int plane,
                                                    size_t t, int *k)
{
    int index[3];
    index[axis] = plane;
    index[p->a] = (int)(t % (size_t)m->n[p->a]);
    index[p->b] = (int)(t / (size_t)m->n[p->a]);
    *k = index[2];
    return index[2] * m->plane + index[1] * m->pitch + index[0];
}

static __device__ __forceinline__ void add_moments(const struct fluid_center *c,
                                                   double p, double viscosity,
                                                   double sum[FLUID_M_T0])
{
    double u = (double)c->u[0], v = (double)c->u[1], w = (double)c->u[2], g = 0;
    double uu = u * u, vv = v * v, ww = w * w;
    sum[FLUID_M_U] += u;
    sum[FLUID_M_V] += v;
    sum[FLUID_M_W] += w;
    sum[FLUID_M_P] += p;
    sum[FLUID_M_UU] += uu;
    sum[FLUID_M_VV] += vv;
    sum[FLUID_M_WW] += ww;
    sum[FLUID_M_PP] += p * p;
    sum[FLUID_M_UV] += u * v;
    sum[FLUID_M_UW] += u * w;
    sum[FLUID_M_VW] += v * w;
    sum[FLUID_M_UUU] += uu * u;
    sum[FLUID_M_VVV] += vv * v;
    sum[FLUID_M_WWW] += ww * w;
    sum[FLUID_M_UUUU] += uu * uu;
    sum[FLUID_M_VVVV] += vv * vv;
    sum[FLUID_M_WWWW] += ww * ww;
    for (int d = 0; d < 3; d++) {
        double o = (double)vorticity(c, d);
        sum[FLUID_M_OXX + d] += o * o;
        for (int a = 0; a < 3; a++)
            g += (double)c->g[a][d] * (double)c->g[a][d];
    }
    sum[FLUID_M_DISSIPATION] += viscosity * g;
}

static __global__ void __launch_bounds__(TILE)
    flow_moments(struct fluid_view m, int axis, const scalar *pressure,
                 double factor, double viscosity, int moments, double *out)
{
    __shared__ double shared[TILE / 32];
    double sum[FLUID_M_T0];
    struct plane_cells p = plane_of(&m, axis);
    for (int q = 0; q < FLUID_M_T0; q++)
        sum[q] = 0;
    for (size_t t = threadIdx.x; t < p.all; t += blockDim.x) {
        int k;
        ptrdiff_t at = cell_of(&m, &p, axis, (int)blockIdx.x, t, &k);
        struct fluid_center c;
        center_at(&m, at, k, &c);
        add_moments(&c, factor * (double)pressure[at], viscosity, sum);
    }
    for (int q = 0; q < FLUID_M_T0; q++) {
        double all = tile_reduce(sum[q], 0, shared);
        if (threadIdx.x == 0)
            out[(size_t)blockIdx.x * (size_t)moments + (size_t)q] = all;
    }
}

static __global__ void __launch_bounds__(TILE)
    scalar_moments(struct fluid_view m, int axis, int scalar_number,
                   int moments, double *out)
{
    __shared__ double shared[TILE / 32];
    double sum[FLUID_M_PER_SCALAR] = {0, 0, 0, 0, 0};
    struct plane_cells p = plane_of(&m, axis);
    const scalar *value = m.field[FLUID_FIRST_SCALAR + scalar_number];
    for (size_t t = threadIdx.x; t < p.all; t += blockDim.x) {
        int k;
        ptrdiff_t at = cell_of(&m, &p, axis, (int)blockIdx.x, t, &k);
        scalar u[3];
        velocity_at(&m, at, u);
        double c = (double)value[at];
        sum[0] += c;
        sum[1] += c * c;
        for (int d = 0; d < 3; d++)
            sum[2 + d] += (double)u[d] * c;
    }
    int first = FLUID_M_T0 + FLUID_M_PER_SCALAR * scalar_number;
    for (int q = 0; q < FLUID_M_PER_SCALAR; q++) {
        double all = tile_reduce(sum[q], 0, shared);
        if (threadIdx.x == 0)
            out[(size_t)blockIdx.x * (size_t)moments + (size_t)(first + q)] =
                all;
    }
}

int fluid_cuda_profile(struct ctx *ctx, struct fluid_store *s, int axis,
                       double *sums)
{
    int scalars = s->setup.n_scalars, moments = fluid_moments(scalars);
    size_t planes = (size_t)s->view.n[axis], all = planes * (size_t)moments;
    const scalar *pressure;
    double factor;
    TRY(fluid_cuda_pressure(s, &pressure, &factor));
    TRY(fluid_cuda_smooth_walls(s));
    LAUNCH(flow_moments, (unsigned)planes, TILE, 0, s->device->stream, s->view,
           axis, pressure, factor, s->setup.viscosity, moments, s->partial);
    CUDA_TRY_LAUNCH(ctx, "flow_moments");
    TRY(fluid_cuda_restore_walls(s));
    for (int c = 0; c < scalars; c++) {
        LAUNCH(scalar_moments, (unsigned)planes, TILE, 0, s->device->stream,
               s->view, axis, c, moments, s->partial);
        CUDA_TRY_LAUNCH(ctx, "scalar_moments");
    }
    return cuda_to_host(ctx, s->device, sums, s->partial, all * sizeof *sums);
}
