/* eam_force_cpu.c: the embedded-atom method's second pass: forces. */
#include "kernels/md/eam_cpu.h"

#include <string.h>

#include "kernels/md/tensor.h"
#include "kernels/simd_pack.h"

struct force_sums {
    real f[3], virial, tensor[6];
};

/* One tile: bits are the partners, n the first of their pairs. */
KERNEL_FN void run_tile(const struct md_store *s, const struct near_list *near,
                        scalar *f, uint32_t j, uint32_t bits, size_t n,
                        const real x[3], real slope_i, const int many,
                        const int want, const int halo, struct force_sums *sum)
{
    const real *xj = (const real *)(s->pair_x + 3 * (size_t)j);
    const real slope_j = *(const real *)(s->eam->slope + j);
    real d[3] = {x[0] - xj[0], x[1] - xj[1], x[2] - xj[2]};
    real at_i = simd_unpack(bits, near->at_i + n);
    real g = simd_unpack(bits, near->pair + n);
    /* One product in a sum: the same one is fused in every loop. */
    if (many) {
        g += slope_i * at_i;
        g += slope_j * simd_unpack(bits, near->at_j + n);
    } else {
        g += (slope_i + slope_j) * at_i;
    }
    for (int k = 0; k < 3; k++)
        sum->f[k] += g * d[k];
    if (!halo) {
        real *fj = (real *)(f + 3 * (size_t)j);
        for (int k = 0; k < 3; k++)
            fj[k] -= g * d[k];
    }
    if (want) {
        scalar weight = halo ? (scalar)0.5 : 1;
        sum->virial += weight * (g * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        if (s->pair_tensor)
            simd_add_tensor(sum->tensor, weight * g, d[0], d[1], d[2]);
    }
}

/* Add the forces of the particles of one cluster and clear them. */
KERNEL_FN void flush_forces(scalar *f, scalar (*i_force)[4])
{
    KERNEL_UNROLL for (int l = 0; l < LANES; l++)
    {
        for (int d = 0; d < 3; d++)
            f[d * LANES + l] += i_force[l][d];
    }
    memset(i_force, 0, sizeof(scalar[LANES][4]));
}

KERNEL_FN void run_rows(const struct md_store *s, struct md_worker *w,
                        const struct near_list *near, scalar *f, const int part,
                        const int many, const int want)
{
    const struct md_list *list = &w->list[part];
    const uint32_t *tile = near->tiles;
    const uint16_t *lanes = near->lanes;
    uint32_t current = list->n_rows > 0 ? list->rows[0].cluster : 0;
    size_t n = 0;
    double virial = 0;
    for (size_t r = 0; r < list->n_rows; r++) {
        const struct md_row *row = &list->rows[r];
        if (row->cluster != current) {
            flush_forces(f + CLUSTER(current), w->i_force);
            current = row->cluster;
        }
        const scalar *x_i = s->pair_x + CLUSTER(current) + row->lane;
        const scalar *shift = s->shift[row->shift];
        const real x[3] = {simd_set(x_i[0] + shift[0]),
                           simd_set(x_i[LANES] + shift[1]),
                           simd_set(x_i[2 * LANES] + shift[2])};
        const real slope = simd_set(
            s->eam->slope[(size_t)current * (size_t)LANES + row->lane]);
        struct force_sums sum = {{{0}, {0}, {0}}, {0}, {{0}}};
        const uint32_t *end = tile + near->count[r][0];
        for (; tile < end; n += (size_t)__builtin_popcount(*lanes++))
            run_tile(s, near, f, *tile++, *lanes, n, x, slope, many, want, 0,
                     &sum);
        for (end = tile + near->count[r][1]; tile < end;
             n += (size_t)__builtin_popcount(*lanes++))
            run_tile(s, near, f, *tile++, *lanes, n, x, slope, many, want, 1,
                     &sum);
        simd_add_sums(w->i_force[row->lane], sum.f[0], sum.f[1], sum.f[2]);
        if (want) {
            virial += (double)simd_fold(sum.virial);
            if (s->pair_tensor)
                simd_sum_tensor(sum.tensor, w->tensor);
        }
    }
    flush_forces(f + CLUSTER(current), w->i_force);
    w->energy = 0;
    w->virial = virial;
}

#define FORCE_LOOP(name, many, want)                       \
    static __attribute__((noinline)) void name(            \
        const struct md_store *s, struct md_worker *w,     \
        const struct near_list *near, scalar *f, int part) \
    {                                                      \
        run_rows(s, w, near, f, part, many, want);         \
    }
FORCE_LOOP(one_force, 0, 0)
FORCE_LOOP(one_virial, 0, 1)
FORCE_LOOP(many_force, 1, 0)
FORCE_LOOP(many_virial, 1, 1)

void md_run_eam(const struct md_store *s, struct md_worker *w, scalar *f,
                int want, int part)
{
    static void (*const loops[2][2])(
        const struct md_store *, struct md_worker *, const struct near_list *,
        scalar *, int) = {{one_force, one_virial}, {many_force, many_virial}};
    const struct eam_share *share = &s->eam->shares[w - s->workers];
    if (share->failed)
        return;
    loops[s->eam->n_species > 1][want](s, w, &share->list[part], f, part);
}
