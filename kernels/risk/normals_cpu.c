/* normals_cpu.c: the random numbers of a block of paths. */
#include "kernels/risk/risk_cpu.h"

#include "kernels/risk/normals.h"

/* Normals of driver d: four steps a call. */
static void fill_normals(const struct risk_store *s, struct risk_block *b,
                         uint64_t path, int32_t first, int32_t n, int d)
{
    const int nf = s->t.plan.n_factors;
    for (int32_t k = 0; k < n; k += 4) {
        risk_row *to = b->normals + (ptrdiff_t)k * nf + d;
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
            exact_real z[4];
            risk_four_normals(s->t.plan.seed, path + (uint64_t)i,
                              (uint32_t)(first + k) / 4, d, z);
            for (int q = 0; q < 4; q++)
                exact_store(to[(ptrdiff_t)q * nf] + i, z[q]);
        }
    }
}

/* A normal and a uniform for each step: two steps a call. */
static void fill_pairs(const struct risk_store *s, struct risk_block *b,
                       uint64_t path, int32_t first, int32_t n, int e)
{
    const int ne = s->t.n_extra;
    for (int32_t k = 0; k < n; k += 2) {
        risk_row *z = b->extra_z + (ptrdiff_t)k * ne + e;
        risk_row *u = b->extra_u + (ptrdiff_t)k * ne + e;
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
            exact_real z0, z1;
            struct exact_block w = risk_words(
                s->t.plan.seed, path + (uint64_t)i, (uint32_t)(first + k) / 2,
                s->t.extra_purpose[e], s->t.extra_factor[e]);
            exact_box_muller(exact_uniform32(w.w[0]), exact_uniform32(w.w[1]),
                             &z0, &z1);
            exact_store(z[0] + i, z0);
            exact_store(z[ne] + i, z1);
            exact_store(u[0] + i, exact_uniform32(w.w[2]));
            exact_store(u[ne] + i, exact_uniform32(w.w[3]));
        }
    }
}

/* A uniform for each step: four steps a call. */
static void fill_bridges(const struct risk_store *s, struct risk_block *b,
                         uint64_t path, int32_t first, int32_t n, int e)
{
    const int nb = s->t.n_bridge;
    for (int32_t k = 0; k < n; k += 4) {
        risk_row *u = b->bridge_u + (ptrdiff_t)k * nb + e;
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
            struct exact_block w = risk_words(
                s->t.plan.seed, path + (uint64_t)i, (uint32_t)(first + k) / 4,
                RISK_BRIDGE, s->t.bridge_factor[e]);
            for (int q = 0; q < 4; q++)
                exact_store(u[(ptrdiff_t)q * nb] + i, exact_uniform32(w.w[q]));
        }
    }
}

/* z = root z, in place: row f needs rows 0..f, so from the last one up. */
static void correlate(const struct risk_store *s, risk_row *z)
{
    const int nf = s->t.plan.n_factors;
    for (int f = nf - 1; f >= 0; f--) {
        const double *root = s->t.plan.root + (ptrdiff_t)f * nf;
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
            exact_real sum = exact_set(root[f]) * exact_load(z[f] + i);
            for (int g = f - 1; g >= 0; g--)
                sum = exact_fma(exact_set(root[g]), exact_load(z[g] + i), sum);
            exact_store(z[f] + i, sum);
        }
    }
}

void risk_fill(const struct risk_store *s, struct risk_block *b, uint64_t path,
               int32_t first, int32_t n)
{
    for (int d = 0; d < s->t.plan.n_factors && !s->t.plan.sobol; d++)
        fill_normals(s, b, path, first, n, d);
    for (int e = 0; e < s->t.n_extra; e++)
        fill_pairs(s, b, path, first, n, e);
    for (int e = 0; e < s->t.n_bridge; e++)
        fill_bridges(s, b, path, first, n, e);
    if (s->t.plan.sobol)
        risk_fill_sobol(s, b, path);
    if (s->t.plan.root != NULL)
        for (int32_t k = 0; k < n; k++)
            correlate(s, b->normals + (ptrdiff_t)k * s->t.plan.n_factors);
    b->path = path;
    b->first = first;
}
