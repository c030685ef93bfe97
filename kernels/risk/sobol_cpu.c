/* sobol_cpu.c: the normals of a block of paths from Sobol's points. */
#include "kernels/risk/risk_cpu.h"

#include <string.h>

#include "kernels/risk/normals.h"

EXACT_FN exact_word load_words(const uint64_t *p)
{
    exact_word w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* Seeds of all coordinates for a replicate, kept from block to block. */
static void seed(const struct risk_store *s, struct risk_block *b,
                 uint32_t replicate)
{
    if (b->scramble_known && b->replicate == replicate)
        return;
    for (int d = 0; d < s->t.sobol.dimensions; d += EXACT_LANES) {
        exact_word w = risk_scramble_seed(s->t.plan.seed, replicate, d);
        memcpy(b->scramble + d, &w, sizeof w);
    }
    b->replicate = replicate;
    b->scramble_known = 1;
}

/* Coordinate d of RISK_BLOCK points from n, a multiple of RISK_BLOCK. */
static void coordinate(const struct risk_store *s, const struct risk_block *b,
                       uint32_t n, int d, double *z)
{
    const uint32_t *v = s->t.sobol.direction + (ptrdiff_t)32 * d;
    const uint32_t scramble = (uint32_t)b->scramble[d];
    uint32_t x[RISK_BLOCK];
    uint64_t word[RISK_BLOCK] __attribute__((aligned(64)));
    x[0] = risk_sobol_word(n, v);
    for (int bit = 0; 1 << bit < RISK_BLOCK; bit++)
        for (int i = 0; i < 1 << bit; i++)
            x[i + (1 << bit)] = x[i] ^ v[bit];
    for (int i = 0; i < RISK_BLOCK; i++)
        word[i] = risk_scrambled(x[i], scramble);
    for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES)
        exact_store(z + i, exact_normal_quantile(
                               exact_uniform32(load_words(word + i))));
}

/* Beyond the table: as if position j of the bridge were a step. */
static void padding(const struct risk_store *s, uint64_t path, int32_t j,
                    int driver, double *z)
{
    for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
        exact_real four[4];
        risk_four_normals(s->t.plan.seed, path + (uint64_t)i, (uint32_t)j / 4,
                          driver, four);
        exact_store(z + i, four[j % 4]);
    }
}

/* The row of a driver in a step. */
static double *row_of(const struct risk_store *s, const struct risk_block *b,
                      int32_t k, int driver)
{
    const int nf = s->t.plan.n_factors;
    if (driver < nf)
        return b->normals[(ptrdiff_t)k * nf + driver];
    return b
        ->extra_z[(ptrdiff_t)k * s->t.n_extra + s->t.sobol_extra[driver - nf]];
}

/* A driver's normals, at their points' steps, are reflected (sobol.h). */
static void turn(const struct risk_store *s, const struct risk_block *b,
                 int driver)
{
    const struct risk_sobol *t = &s->t.sobol;
    for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
        exact_real sum = exact_set(0);
        for (int32_t j = 0; j < t->n_steps; j++)
            sum = exact_fma(
                exact_set(t->turn[j]),
                exact_load(row_of(s, b, t->order[j].at, driver) + i), sum);
        sum = exact_set(-2) * sum;
        for (int32_t j = 0; j < t->n_steps; j++) {
            double *z = row_of(s, b, t->order[j].at, driver) + i;
            exact_store(z,
                        exact_fma(exact_set(t->turn[j]), sum, exact_load(z)));
        }
    }
}

/* The normal of point p, at its step, becomes the Brownian motion there. */
static void place(const struct risk_store *s, const struct risk_block *b,
                  const struct risk_bridge_point *p, int driver)
{
    double *to = row_of(s, b, p->at, driver);
    const double *left = p->left < 0 ? NULL : row_of(s, b, p->left, driver),
                 *right = p->right < 0 ? NULL : row_of(s, b, p->right, driver);
    for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
        exact_real w = exact_set(p->deviation) * exact_load(to + i);
        if (right != NULL)
            w = exact_fma(exact_set(p->right_weight), exact_load(right + i), w);
        if (left != NULL)
            w = exact_fma(exact_set(p->left_weight), exact_load(left + i), w);
        exact_store(to + i, w);
    }
}

/* From Brownian motion back to a normal for each step. */
static void difference(const struct risk_store *s, const struct risk_block *b,
                       int driver)
{
    for (int32_t k = s->t.sobol.n_steps - 1; k >= 0; k--) {
        double *to = row_of(s, b, k, driver);
        const double *before = k > 0 ? row_of(s, b, k - 1, driver) : NULL;
        const exact_real scale = exact_set(s->t.sobol.per_root[k]);
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
            exact_real w = exact_load(to + i);
            if (before != NULL)
                w = w - exact_load(before + i);
            exact_store(to + i, w * scale);
        }
    }
}

void risk_fill_sobol(const struct risk_store *s, struct risk_block *b,
                     uint64_t path)
{
    const uint64_t each = (uint64_t)s->t.plan.replicate_chunks * RISK_CHUNK;
    uint64_t replicate = each > 0 ? path / each : 0;
    uint32_t n = (uint32_t)(path - replicate * each);
    if (path >= RISK_REGRESSION_PATH) {
        /* A scramble that no price uses. */
        replicate = UINT32_MAX - s->t.plan.replicate;
        n = (uint32_t)path;
    }
    seed(s, b, s->t.plan.replicate + (uint32_t)replicate);
    for (int32_t j = 0; j < s->t.sobol.n_steps; j++)
        for (int d = 0; d < s->t.sobol.drivers; d++) {
            int64_t c = (int64_t)j * s->t.sobol.drivers + d;
            double *z = row_of(s, b, s->t.sobol.order[j].at, d);
            if (c < s->t.sobol.dimensions)
                coordinate(s, b, n, (int)c, z);
            else
                padding(s, path, j, d, z);
        }
    for (int d = 0; d < s->t.sobol.drivers; d++) {
        if (s->t.sobol.turn != NULL)
            turn(s, b, d);
        for (int32_t j = 0; j < s->t.sobol.n_steps; j++)
            place(s, b, &s->t.sobol.order[j], d);
        difference(s, b, d);
    }
}
