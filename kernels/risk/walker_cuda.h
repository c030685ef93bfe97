/* walker_cuda.h: a thread's path through a market, step by step; the card's
 * twin of walk_cpu.c.
 *
 * RISK_ONE_GBM, _HESTON, _MERTON: one factor of that model, whose state and
 * random numbers stay in registers. RISK_MANY: any number of any model, in
 * columns. Included by .cu files only.
 */
#ifndef WARPDECK_KERNELS_RISK_WALKER_CUDA_H
#define WARPDECK_KERNELS_RISK_WALKER_CUDA_H

#include "kernels/risk/normals.h"
#include "kernels/risk/risk_cuda.h"

enum { RISK_MANY = 3 }; /* below: the model of the one factor */

/* v[q] for registers: no address is taken. */
static __device__ __forceinline__ double risk_pick4(const double v[4], int q)
{
    double low = q & 1 ? v[1] : v[0], high = q & 1 ? v[3] : v[2];
    return q & 2 ? high : low;
}

template <int KIND> struct risk_walker {
    static constexpr bool ONE = KIND != RISK_MANY;

    const struct risk_view &m;
    const struct risk_card_market &market;
    const uint64_t path; /* its number */
    const size_t at;     /* its column */
    double sign;
    int twins; /* whether factors' twins walk along */
    /* of the one factor */
    double x1, before1, spot1, v1, twin1;
    double z4[4], u4[4], zs2[2], us2[2];

    __device__ __forceinline__ risk_walker(const struct risk_view &view,
                                           const struct risk_card_market &mk,
                                           uint64_t number, size_t column)
        : m(view), market(mk), path(number), at(column), sign(1), twins(0),
          x1(0), before1(0), spot1(0), v1(0),
          twin1(0), z4{0, 0, 0, 0}, u4{0, 0, 0, 0}, zs2{0, 0}, us2{0, 0}
    {
    }

    __device__ __forceinline__ double &column(double *of, int row) const
    {
        return of[(size_t)row * m.stride + at];
    }
    __device__ __forceinline__ double &x(int f)
    {
        return ONE ? x1 : column(m.state, f);
    }
    __device__ __forceinline__ double &before(int f)
    {
        return ONE ? before1 : column(m.state, m.n_factors + f);
    }
    __device__ __forceinline__ double &spot(int f)
    {
        return ONE ? spot1 : column(m.state, 2 * m.n_factors + f);
    }
    __device__ __forceinline__ double &v(int f)
    {
        return ONE ? v1 : column(m.state, 3 * m.n_factors + f);
    }
    __device__ __forceinline__ double &twin(int f)
    {
        return ONE ? twin1 : column(m.state, 4 * m.n_factors + f);
    }
    __device__ __forceinline__ int factors() const
    {
        return ONE ? 1 : m.n_factors;
    }
    __device__ __forceinline__ int model(int f) const
    {
        return ONE ? KIND : (int)market.factors[f].model;
    }

    /* ---- random numbers ---- */

    /* z = root z of the columns of a step, from the last one up. */
    __device__ __forceinline__ void correlate(double *z) const
    {
        for (int f = m.n_factors - 1; f >= 0; f--) {
            const double *root = m.root + (ptrdiff_t)f * m.n_factors;
            double sum = root[f] * column(z, f);
            for (int g = f - 1; g >= 0; g--)
                sum = exact_fma(root[g], column(z, g), sum);
            column(z, f) = sum;
        }
    }

    /* Normals of steps k ... k + 3. */
    __device__ __forceinline__ void make_normals(int k)
    {
        if constexpr (ONE) {
            risk_four_normals(m.seed, path, (uint32_t)k / 4, 0, z4);
            if (m.root != NULL)
                for (int q = 0; q < 4; q++)
                    z4[q] = m.root[0] * z4[q];
        } else {
            for (int f = 0; f < m.n_factors; f++) {
                double z[4];
                risk_four_normals(m.seed, path, (uint32_t)k / 4, f, z);
                for (int q = 0; q < 4; q++)
                    column(m.normals, q * m.n_factors + f) = z[q];
            }
            for (int q = 0; q < 4 && m.root != NULL; q++)
                correlate(m.normals + (size_t)q * m.n_factors * m.stride);
        }
    }

    /* Bridges' uniforms of steps k ... k + 3. */
    __device__ __forceinline__ void make_bridges(int k)
    {
        for (int e = 0; e < m.n_bridge; e++) {
            struct exact_block w = risk_words(m.seed, path, (uint32_t)k / 4,
                                              RISK_BRIDGE, m.bridge_factor[e]);
            for (int q = 0; q < 4; q++) {
                double u = exact_uniform32(w.w[q]);
                if (ONE)
                    u4[q] = u;
                else
                    column(m.bridge_u, q * m.n_bridge + e) = u;
            }
        }
    }

    /* A normal and a uniform of steps k and k + 1. */
    __device__ __forceinline__ void make_pairs(int k)
    {
        for (int e = 0; e < m.n_extra; e++) {
            double z[2];
            struct exact_block w = risk_words(
                m.seed, path, (uint32_t)k / 2,
                (enum risk_purpose)m.extra_purpose[e], m.extra_factor[e]);
            exact_box_muller(exact_uniform32(w.w[0]), exact_uniform32(w.w[1]),
                             &z[0], &z[1]);
            for (int q = 0; q < 2; q++) {
                double u = exact_uniform32(w.w[2 + q]);
                if (ONE) {
                    zs2[q] = z[q];
                    us2[q] = u;
                } else {
                    column(m.extra_z, q * m.n_extra + e) = z[q];
                    column(m.extra_u, q * m.n_extra + e) = u;
                }
            }
        }
    }

    /* What step k needs, unless it was made with those before. */
    __device__ __forceinline__ void provide(int k)
    {
        if (k % 4 == 0 && !m.sobol)
            make_normals(k);
        if (k % 4 == 0)
            make_bridges(k);
        if (k % 2 == 0 && KIND != RISK_GBM)
            make_pairs(k);
    }

    __device__ __forceinline__ double normal(int k, int f) const
    {
        if (m.sobol)
            return column(m.points, k * m.n_sobol + f);
        return ONE ? risk_pick4(z4, k % 4)
                   : column(m.normals, k % 4 * m.n_factors + f);
    }
    __device__ __forceinline__ double extra_normal(int k, int f) const
    {
        const int e = m.extra[f];
        if (m.sobol && m.sobol_of[e] >= 0)
            return column(m.points, k * m.n_sobol + m.sobol_of[e]);
        return ONE ? (k & 1 ? zs2[1] : zs2[0])
                   : column(m.extra_z, k % 2 * m.n_extra + e);
    }
    /* 1 - u for the mirrored path: exact, since u is a multiple of 2^-33. */
    __device__ __forceinline__ double mirrored(double u) const
    {
        return sign < 0 ? 1 - u : u;
    }
    __device__ __forceinline__ double extra_uniform(int k, int f) const
    {
        return mirrored(
            ONE ? (k & 1 ? us2[1] : us2[0])
                : column(m.extra_u, k % 2 * m.n_extra + m.extra[f]));
    }
    __device__ __forceinline__ double bridge_uniform(int k, int f) const
    {
        return mirrored(
            ONE ? risk_pick4(u4, k % 4)
                : column(m.bridge_u, k % 4 * m.n_bridge + m.bridge[f]));
    }

    /* ---- factors ---- */

    __device__ __forceinline__ const struct risk_step *constants(int k,
                                                                 int f) const
    {
        return &market.steps[(ptrdiff_t)k * factors() + f];
    }

    __device__ __forceinline__ void begin()
    {
        for (int f = 0; f < factors(); f++) {
            x(f) = market.log_spot[f];
            v(f) = market.factors[f].variance;
            if (twins && m.twin[f])
                twin(f) = market.log_spot[f];
        }
    }

    __device__ __forceinline__ void step_factor(int k, int f)
    {
        const struct risk_step *st = constants(k, f);
        const double z = sign * normal(k, f);
        double y = x(f);
        if (KIND != RISK_GBM && twins && m.twin[f])
            twin(f) = risk_twin_step(
                st, (enum risk_model)model(f), twin(f), v(f), z,
                model(f) == RISK_HESTON ? sign * extra_normal(k, f) : z,
                model(f) == RISK_HESTON ? extra_uniform(k, f) : z);
        if (ONE || m.bridge[f] >= 0)
            before(f) = y;
        if (model(f) == RISK_HESTON) {
            double variance = v(f);
            y = risk_heston(st, y, &variance, z, sign * extra_normal(k, f),
                            extra_uniform(k, f));
            v(f) = variance;
        } else {
            y = risk_gbm(st, y, z);
            if (model(f) == RISK_MERTON)
                y = y + risk_jumps(st, extra_uniform(k, f),
                                   sign * extra_normal(k, f));
        }
        x(f) = y;
    }

    /* Step k, without spots. */
    __device__ __forceinline__ void step(int k)
    {
        for (int f = 0; f < factors(); f++)
            step_factor(k, f);
    }

    __device__ __forceinline__ void make_spots(int k)
    {
        const unsigned char *want = m.wants_spot + (ptrdiff_t)k * factors();
        for (int f = 0; f < factors(); f++)
            if (want[f])
                spot(f) = exact_exp(x(f));
    }

    /* The variance of log S in step k. */
    __device__ __forceinline__ double variance(int k, int f)
    {
        const struct risk_step *st = constants(k, f);
        return model(f) == RISK_HESTON ? v(f) * st->dt : st->variance;
    }
};

/* The kind of a plan's walker: one factor's model, or RISK_MANY. */
static inline int risk_kind(const struct risk_tables *t)
{
    return t->plan.n_factors == 1 ? (int)t->plan.factors[0].model : RISK_MANY;
}

/* LAUNCH a template of the kind: RISK_LAUNCH_KIND(kind, walk, grid, ...). */
#define RISK_LAUNCH_KIND(kind, kernel, grid, stream, ...)                \
    do {                                                                 \
        switch (kind) {                                                  \
        case RISK_GBM:                                                   \
            LAUNCH((kernel<RISK_GBM>), grid, RISK_THREADS, 0, stream,    \
                   __VA_ARGS__);                                         \
            break;                                                       \
        case RISK_HESTON:                                                \
            LAUNCH((kernel<RISK_HESTON>), grid, RISK_THREADS, 0, stream, \
                   __VA_ARGS__);                                         \
            break;                                                       \
        case RISK_MERTON:                                                \
            LAUNCH((kernel<RISK_MERTON>), grid, RISK_THREADS, 0, stream, \
                   __VA_ARGS__);                                         \
            break;                                                       \
        default:                                                         \
            LAUNCH((kernel<RISK_MANY>), grid, RISK_THREADS, 0, stream,   \
                   __VA_ARGS__);                                         \
            break;                                                       \
        }                                                                \
    } while (0)

#endif
