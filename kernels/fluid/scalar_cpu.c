/* scalar_cpu.c: advection and diffusion of scalars, and their buoyancy, plane
 * by plane inside the momentum's sweep, which has the old planes of everything
 * in its ring. */
#include "kernels/fluid/fluid_cpu.h"
#include "kernels/fluid/scalar.h"

static void coeff_of(const struct fluid_store *s, double diffusivity, int64_t k,
                     int implicit, struct fluid_scalar_coeff *q)
{
    double x = s->inverse_dx, y = s->inverse_dy, h = fluid_h(s, k);
    *q = (struct fluid_scalar_coeff){0};
    if (!implicit) {
        q->adv_x = (scalar)(0.5 * x);
        q->adv_y = (scalar)(0.5 * y);
        q->adv_z = (scalar)(0.5 / h);
    }
    if (!s->implicit[FLUID_X] == !implicit)
        q->diff_x = (scalar)(diffusivity * x * x);
    if (!s->implicit[FLUID_Y] == !implicit)
        q->diff_y = (scalar)(diffusivity * y * y);
    if (!s->implicit[FLUID_Z] == !implicit) {
        q->diff_t = (scalar)(diffusivity / (h * fluid_hc(s, k)));
        q->diff_b = (scalar)(diffusivity / (h * fluid_hc(s, k - 1)));
    }
}

/* Where one row's stencil reads; i = 0 at each pointer. */
struct rows {
    const scalar *c, *c_n, *c_s, *c_t, *c_b, *u, *v, *v_s, *w, *w_b;
};

static struct rows rows_of(const struct fluid_store *s,
                           const struct fluid_worker *w, int f, int64_t j)
{
    return (struct rows){.c = fluid_ring_row(s, w->here, f, j),
                         .c_n = fluid_ring_row(s, w->here, f, j + 1),
                         .c_s = fluid_ring_row(s, w->here, f, j - 1),
                         .c_t = fluid_ring_row(s, w->above, f, j),
                         .c_b = fluid_ring_row(s, w->below, f, j),
                         .u = fluid_ring_row(s, w->here, FLUID_X, j),
                         .v = fluid_ring_row(s, w->here, FLUID_Y, j),
                         .v_s = fluid_ring_row(s, w->here, FLUID_Y, j - 1),
                         .w = fluid_ring_row(s, w->here, FLUID_Z, j),
                         .w_b = fluid_ring_row(s, w->below, FLUID_Z, j)};
}

#define AT(p, shift) (*(const real_unaligned *)((p) + i + (shift)))

/* out = base + new_part * N + old_part * history (+ push * implicit terms);
 * in place (base: the old value) or as an increment. */
KERNEL_FN void update_row(const struct rows *r,
                          const struct fluid_scalar_coeff *q,
                          const struct fluid_scalar_coeff *im, size_t n,
                          const scalar part[3], scalar *restrict out,
                          scalar *restrict history, int read, int write)
{
    for (size_t i = 0; i < n; i += LANES) {
        real c = AT(r->c, 0), c_e = AT(r->c, 1), c_w = AT(r->c, -1);
        real c_n = AT(r->c_n, 0), c_s = AT(r->c_s, 0);
        real c_t = AT(r->c_t, 0), c_b = AT(r->c_b, 0);
        real a = fluid_scalar_advection(
            q, c, c_e, c_w, c_n, c_s, c_t, c_b, AT(r->u, 0), AT(r->u, -1),
            AT(r->v, 0), AT(r->v_s, 0), AT(r->w, 0), AT(r->w_b, 0));
        a += fluid_scalar_diffusion(q, c, c_e, c_w, c_n, c_s, c_t, c_b);
        real sum = part[0] * a;
        if (read)
            sum += part[1] * *(const real *)(history + i);
        if (write)
            *(real *)(history + i) = a;
        if (im)
            sum += part[2] *
                   fluid_scalar_diffusion(im, c, c_e, c_w, c_n, c_s, c_t, c_b);
        else
            sum += c;
        *(real *)(out + i) = sum;
    }
}

void fluid_scalar_predict(struct fluid_store *s, struct fluid_worker *w,
                          const struct fluid_substage *sub, int64_t k)
{
    size_t n = s->n[0];
    scalar part[3] = {(scalar)(sub->dt * sub->gamma),
                      (scalar)(sub->dt * sub->zeta),
                      (scalar)(sub->dt * sub->alpha)};
    for (int f = FLUID_FIRST_SCALAR; f < s->n_fields; f++) {
        double kappa = s->setup.scalar[f - FLUID_FIRST_SCALAR].diffusivity;
        struct fluid_scalar_coeff q, im;
        coeff_of(s, kappa, k, 0, &q);
        coeff_of(s, kappa, k, 1, &im);
        for (int64_t j = 0; j < (int64_t)s->n[1]; j++) {
            struct rows r = rows_of(s, w, f, j);
            scalar *out = fluid_row(s, s->field[f], k, j);
            scalar *history = fluid_row(s, s->history[f], k, j);
            if (s->any_implicit) {
                out = fluid_row(s, s->delta[f], k, j);
                if (sub->first)
                    update_row(&r, &q, &im, n, part, out, history, 0, 1);
                else
                    update_row(&r, &q, &im, n, part, out, history, 1,
                               !sub->last);
            } else if (sub->first) {
                update_row(&r, &q, NULL, n, part, out, history, 0, !sub->last);
            } else if (sub->last) {
                update_row(&r, &q, NULL, n, part, out, history, 1, 0);
            } else {
                update_row(&r, &q, NULL, n, part, out, history, 1, 1);
            }
        }
    }
}

/* acc += by * (mean of a row and the next one - reference) */
static void add_mean(scalar *restrict acc, const scalar *a, const scalar *b,
                     size_t n, double by, double reference)
{
    scalar half = (scalar)(0.5 * by), off = (scalar)(by * reference);
    for (size_t i = 0; i < n; i += LANES)
        *(real *)(acc + i) += half * (AT(a, 0) + AT(b, 0)) - off;
}

void fluid_scalar_buoyancy(const struct fluid_store *s,
                           const struct fluid_worker *w, int64_t k, int64_t j,
                           scalar *const acc[3])
{
    (void)k;
    for (int f = FLUID_FIRST_SCALAR; f < s->n_fields; f++) {
        const struct fluid_scalar *c = &s->setup.scalar[f - FLUID_FIRST_SCALAR];
        const scalar *row = fluid_ring_row(s, w->here, f, j);
        const scalar *next[3] = {row + 1, fluid_ring_row(s, w->here, f, j + 1),
                                 fluid_ring_row(s, w->above, f, j)};
        for (int d = 0; d < 3; d++)
            if (c->buoyancy[d] != 0)
                add_mean(acc[d], row, next[d], s->n[0], c->buoyancy[d],
                         c->reference);
    }
}
