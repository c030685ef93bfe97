/* normals_cpu.c: the random numbers of a block of paths. */
#include "kernels/risk/risk_cpu.h"

#include "kernels/risk/normals.h"

/* Vectors that were made in step, side by side. */
EXACT_FN void store_all(double *to, const exact_real *x)
{
    EXACT_EACH(j, RISK_IN_STEP) exact_store(to + j * EXACT_LANES, x[j]);
}

/* Normals of driver d: four steps a call. */
static void fill_normals(const struct risk_store *s, struct risk_block *b,
                         uint64_t path, int32_t first, int32_t n, int d)
{
    const int nf = s->t.plan.n_factors;
    for (int32_t k = 0; k < n; k += 4) {
        risk_row *to = b->normals + (ptrdiff_t)k * nf + d;
        for (int i = 0; i < RISK_BLOCK; i += RISK_STRIDE) {
            exact_real z[4][EXACT_ALL_MAX];
            risk_four_normals_all(RISK_IN_STEP, s->t.plan.seed,
                                  path + (uint64_t)i, (uint32_t)(first + k) / 4,
                                  d, z);
            for (int q = 0; q < 4; q++)
                store_all(to[(ptrdiff_t)q * nf] + i, z[q]);
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
        for (int i = 0; i < RISK_BLOCK; i += RISK_STRIDE) {
            struct exact_block w[EXACT_ALL_MAX];
            exact_real x[4][EXACT_ALL_MAX];
            risk_words_all(RISK_IN_STEP, s->t.plan.seed, path + (uint64_t)i,
                           (uint32_t)(first + k) / 2, s->t.extra_purpose[e],
                           s->t.extra_factor[e], w);
            risk_two_normals_all(RISK_IN_STEP, w, 0, x[0], x[1]);
            EXACT_EACH(j, RISK_IN_STEP) x[2][j] = exact_uniform32(w[j].w[2]);
            EXACT_EACH(j, RISK_IN_STEP) x[3][j] = exact_uniform32(w[j].w[3]);
            store_all(z[0] + i, x[0]);
            store_all(z[ne] + i, x[1]);
            store_all(u[0] + i, x[2]);
            store_all(u[ne] + i, x[3]);
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
        for (int i = 0; i < RISK_BLOCK; i += RISK_STRIDE) {
            struct exact_block w[EXACT_ALL_MAX];
            risk_words_all(RISK_IN_STEP, s->t.plan.seed, path + (uint64_t)i,
                           (uint32_t)(first + k) / 4, RISK_BRIDGE,
                           s->t.bridge_factor[e], w);
            for (int q = 0; q < 4; q++)
                EXACT_EACH(j, RISK_IN_STEP)
            exact_store(u[(ptrdiff_t)q * nb] + i + j * EXACT_LANES,
                        exact_uniform32(w[j].w[q]));
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
