/* sobol.h: Sobol's sequence, scrambled, on a Brownian bridge.
 *
 * Point n, coordinate d: the exclusive or of direction numbers where n has a
 * bit (Sobol 1967; natural order, so that any block of 2^k points is a net and
 * each point stands alone). Words are kept with their bits reversed: the
 * scrambling hash wants the coordinate's highest bit lowest.
 *
 * Owen's nested scrambling by a hash in which each bit depends on those above
 * it only: Laine and Karras (2011), with the constants of Vegdahl (2021),
 * "Building a better LK hash".
 *
 * Coordinates go to the bridge's points in order: the end of the grid first,
 * then the middles (Moskowitz and Caflisch 1996); at each point to the
 * drivers. Beyond RISK_SOBOL_DIMENSIONS coordinates Philox's normals take
 * over, where a bridge has little left to decide.
 *
 * A bridge is made for what depends on the end. An average of many dates
 * spreads its kink over as many coordinates, and the error falls no faster than
 * N^-0.7. So each driver's normals are reflected first, by I - 2 u u^T, such
 * that the first one alone moves the weighted mean of the dates at which
 * positions look (Imai and Tan 2006 choose directions so): N^-1.1 for an Asian
 * option of 64 dates. A European's u is 0.
 */
#ifndef WARPDECK_KERNELS_RISK_SOBOL_H
#define WARPDECK_KERNELS_RISK_SOBOL_H

#include "kernels/risk/exact.h"
#include "kernels/risk/risk_kernels.h"

enum { RISK_SOBOL_DIMENSIONS = 512 };

/* The value at the end of step `at`: left_weight W(left) + right_weight
 * W(right) + deviation z; left -1: W = 0 at the start; right -1: none yet. */
struct risk_bridge_point {
    int32_t at, left, right;
    double left_weight, right_weight, deviation;
};

/* Tables of a run. */
struct risk_sobol {
    int drivers; /* normals a step: factors, then Heston's variances */
    int32_t n_steps;
    int dimensions; /* coordinates from the table, at most steps x drivers */
    uint32_t *direction;             /* [dimensions][32], bits reversed */
    struct risk_bridge_point *order; /* [n_steps] */
    double *per_root;                /* [n_steps]: 1 / sqrt(length) */
    double *turn; /* [n_steps]: u, by position of the bridge; NULL: none */
};

/* Fill the tables for steps of these lengths; 1: out of memory (call
 * risk_sobol_free() then, too). */
int risk_sobol_make(struct risk_sobol *t, int32_t n_steps, const double *length,
                    int drivers);
/* Choose turn for what the plan's positions look at; 1: out of memory. */
int risk_sobol_aim(struct risk_sobol *t, const struct risk_plan *p);
void risk_sobol_free(struct risk_sobol *t);

EXACT_FN uint32_t risk_reversed_bits(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

/* Coordinate `reversed`, scrambled with this seed, with its bits in order. */
EXACT_FN uint32_t risk_scrambled(uint32_t reversed, uint32_t seed)
{
    uint32_t x = reversed;
    x ^= x * 0x3d20adeau;
    x += seed;
    x *= seed >> 16 | 1u;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return risk_reversed_bits(x);
}

/* Coordinate of point n, bits reversed; v: its 32 direction numbers. */
EXACT_FN uint32_t risk_sobol_word(uint32_t n, const uint32_t *v)
{
    uint32_t x = 0;
    for (int b = 0; n >> b != 0; b++) {
        x ^= n >> b & 1u ? v[b] : 0;
        if (b == 31)
            break;
    }
    return x;
}

/* The scramble's seeds of coordinates d, d + 1, ... by lane. */
EXACT_FN exact_word risk_scramble_seed(uint64_t seed, uint32_t replicate, int d)
{
    return exact_philox(exact_count_from((uint64_t)d), replicate,
                        (uint32_t)RISK_SCRAMBLE << 16, 0, (uint32_t)seed,
                        (uint32_t)(seed >> 32))
        .w[0];
}

#endif
