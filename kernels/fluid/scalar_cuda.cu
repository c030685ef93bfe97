/* scalar_cuda.cu: advection and diffusion of scalars. */
#include "kernels/fluid/store_cuda.h"

#define fluid_scalar_coeff FLUID_NAME(fluid_scalar_coeff)
#include "kernels/fluid/scalar.h"

/* One scalar's factors but for those of the plane; explicit, then implicit
 * diffusion. */
struct scalar_terms {
    scalar part[3]; /* dt gamma, dt zeta, dt alpha */
    double diffusivity;
    int implicit[3], any_implicit;
};

static __device__ __forceinline__ struct fluid_scalar_coeff
coeff_of(const struct fluid_view *m, const struct scalar_terms *g, int k,
         int implicit)
{
    struct fluid_scalar_coeff q;
    const struct plane_metric *z = &m->metric[k];
    double x = m->inverse_d[0], y = m->inverse_d[1];
    double kappa = g->diffusivity;
    int in[3];
    for (int d = 0; d < 3; d++)
        in[d] = g->implicit[d] == implicit;
    q.adv_x = (scalar)(implicit ? 0 : 0.5 * x);
    q.adv_y = (scalar)(implicit ? 0 : 0.5 * y);
    q.adv_z = (scalar)(implicit ? 0 : 0.5 * z->per_h);
    q.diff_x = (scalar)(in[0] ? kappa * x * x : 0);
    q.diff_y = (scalar)(in[1] ? kappa * y * y : 0);
    q.diff_t = (scalar)(in[2] ? kappa * z->per_h * z->per_hc : 0);
    q.diff_b = (scalar)(in[2] ? kappa * z->per_h * z->per_hc_below : 0);
    return q;
}

static __global__ void __launch_bounds__(TILE)
    predict_scalar(struct fluid_view m, struct scalar_terms g, int f, int first,
                   int last)
{
    int i = tile_i(), j = tile_j();
    if (i >= m.n[0] || j >= m.n[1])
        return;
    for (int k = (int)blockIdx.z; k < m.n[2]; k += (int)gridDim.z) {
        ptrdiff_t at = k * m.plane + j * m.pitch + i;
        const scalar *c = m.field[f] + at, *u = m.field[0] + at,
                     *v = m.field[1] + at, *w = m.field[2] + at;
        struct fluid_scalar_coeff q = coeff_of(&m, &g, k, 0);
        scalar c_n = c[m.pitch], c_s = c[-m.pitch], c_t = c[m.plane],
               c_b = c[-m.plane];
        scalar a = fluid_scalar_advection(&q, c[0], c[1], c[-1], c_n, c_s, c_t,
                                          c_b, u[0], u[-1], v[0], v[-m.pitch],
                                          w[0], w[-m.plane]);
        a += fluid_scalar_diffusion(&q, c[0], c[1], c[-1], c_n, c_s, c_t, c_b);
        scalar sum = g.part[0] * a;
        if (!first)
            sum += g.part[1] * m.history[f][at];
        if (!last)
            m.history[f][at] = a;
        if (g.any_implicit) {
            q = coeff_of(&m, &g, k, 1);
            sum += g.part[2] * fluid_scalar_diffusion(&q, c[0], c[1], c[-1],
                                                      c_n, c_s, c_t, c_b);
        } else {
            sum += c[0];
        }
        m.next[f][at] = sum;
    }
}

int fluid_cuda_predict_scalars(struct fluid_store *s,
                               const struct fluid_substage *sub)
{
    const int *n = s->view.n;
    struct scalar_terms g;
    g.part[0] = (scalar)(sub->dt * sub->gamma);
    g.part[1] = (scalar)(sub->dt * sub->zeta);
    g.part[2] = (scalar)(sub->dt * sub->alpha);
    g.any_implicit = s->any_implicit;
    for (int d = 0; d < 3; d++)
        g.implicit[d] = s->implicit[d];
    for (int f = FLUID_FIRST_SCALAR; f < s->view.n_fields; f++) {
        g.diffusivity = s->setup.scalar[f - FLUID_FIRST_SCALAR].diffusivity;
        LAUNCH(predict_scalar,
               tile_blocks(n[0], n[1], n[2] < 65535 ? n[2] : 65535),
               tile_threads(), 0, s->device->stream, s->view, g, f, sub->first,
               sub->last);
        CUDA_TRY_LAUNCH(s->ctx, "predict_scalar");
    }
    return 0;
}
