/* exact.h: elementary functions that give the same bits on every machine.
 *
 * A Monte Carlo price should not depend on the compiler, the width of the
 * vectors, the number of threads and ranks, or on whether a card computed it.
 * Here are logarithm, exponential, sine and cosine, the normal distribution and
 * its inverse, and uniform numbers from Philox words, made of nothing but
 * correctly rounded operations:
 *   - + - * / sqrt fma, comparisons, integers, moves of bits;
 *   - each fused multiply-add is written exact_fma(): compile with
 *     -ffp-contract=off, or nvcc -fmad=false;
 *   - no libm but sqrt and fma, never -ffast-math;
 *   - a branch that asks for "any lane" may only skip work whose result every
 *     lane would discard.
 * Sums are the caller's: fixed chunks of paths, then a fixed tree
 * (exact_tree_sum).
 *
 * One text serves a plain number (EXACT_LANES 1: C, C++, a CUDA thread) and a
 * vector of EXACT_LANES doubles (GCC/Clang vector extension). With 8 lanes on
 * AVX-512 and 4 on AVX2 the few operations that a vector type lacks are
 * intrinsics; elsewhere loops over lanes, with the same bits.
 *
 * Largest errors against long double over 1e7 points: log 0.84 ulp, exp (-40 to
 * 40) 1.1, sin and cos of 2 pi u 1.03, quantile 5.0 (1.5e-15 absolute),
 * distribution (-8 to 8) 4.9.
 */
#ifndef WARPDECK_KERNELS_RISK_EXACT_H
#define WARPDECK_KERNELS_RISK_EXACT_H

#include "kernels/risk/exact_lanes.h"

/* c[n - 1] x^(n - 1) + ... + c[0]; tables stand in the functions, so that a
 * card's compiler folds them too. */
#define EXACT_POLYNOMIAL(r, c, n, x)                                        \
    exact_real r = exact_set((c)[(n)-1]);                                   \
    EXACT_UNROLL for (int exact_i_ = (n)-2; exact_i_ >= 0; exact_i_--)(r) = \
        exact_fma(r, x, exact_set((c)[exact_i_]))

/* Functions whose names end in _all do n numbers in step, one operation of each
 * after the other: a processor looks a few hundred operations ahead, which is
 * hardly more than one chain of them has. n is a constant where they are
 * inlined, EXACT_ALL_MAX at most; the bits are those of n calls. */
enum { EXACT_ALL_MAX = 4 };
#define EXACT_EACH(j, n) EXACT_UNROLL for (int j = 0; j < (n); j++)
#define EXACT_POLYNOMIALS(n, r, c, terms, x)                               \
    exact_real r[EXACT_ALL_MAX];                                           \
    EXACT_EACH(exact_j_, n)(r)[exact_j_] = exact_set((c)[(terms)-1]);      \
    EXACT_UNROLL for (int exact_i_ = (terms)-2; exact_i_ >= 0; exact_i_--) \
        EXACT_EACH(exact_j_, n)(r)[exact_j_] =                             \
            exact_fma((r)[exact_j_], (x)[exact_j_], exact_set((c)[exact_i_]))

/* ---- Philox4x32-10 (Salmon et al. 2011), one block of 128 bits a lane ---- */

/* Words stand in 64-bit lanes; their upper halves are garbage, which
 * exact_uniform*() clears. */
struct exact_block {
    exact_word w[4];
};

EXACT_FN void exact_philox_all(int n, const exact_word *c0, uint32_t c1,
                               uint32_t c2, uint32_t c3, uint32_t k0,
                               uint32_t k1, struct exact_block *o)
{
    exact_word p[EXACT_ALL_MAX], q[EXACT_ALL_MAX];
    EXACT_EACH(j, n)
    {
        o[j].w[0] = c0[j];
        o[j].w[1] = exact_set_word(c1);
        o[j].w[2] = exact_set_word(c2);
        o[j].w[3] = exact_set_word(c3);
    }
    EXACT_UNROLL for (int r = 0; r < 10; r++)
    {
        EXACT_EACH(j, n) p[j] = exact_multiply32(o[j].w[0], 0xD2511F53u);
        EXACT_EACH(j, n) q[j] = exact_multiply32(o[j].w[2], 0xCD9E8D57u);
        EXACT_EACH(j, n)
        o[j].w[0] = (q[j] >> 32) ^ o[j].w[1] ^ exact_set_word(k0);
        EXACT_EACH(j, n)
        o[j].w[2] = (p[j] >> 32) ^ o[j].w[3] ^ exact_set_word(k1);
        EXACT_EACH(j, n) o[j].w[1] = q[j];
        EXACT_EACH(j, n) o[j].w[3] = p[j];
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}
EXACT_FN struct exact_block exact_philox(exact_word c0, uint32_t c1,
                                         uint32_t c2, uint32_t c3, uint32_t k0,
                                         uint32_t k1)
{
    struct exact_block o;
    exact_philox_all(1, &c0, c1, c2, c3, k0, k1, &o);
    return o;
}

/* (k + 1/2) / 2^32 in (0, 1) of a word's lower 32 bits, exactly. */
EXACT_FN exact_real exact_uniform32(exact_word w)
{
    exact_real d = exact_of_bits((w & exact_set_word(0xffffffffu)) |
                                 exact_set_word(0x4330000000000000ull)) -
                   exact_set(4503599627370495.5);
    return d * exact_set(0x1p-32);
}

/* (k + 1/2) / 2^52 of two words, exactly. */
EXACT_FN exact_real exact_uniform52(exact_word high, exact_word low)
{
    exact_word k = ((high & exact_set_word(0xffffffffu)) << 20) |
                   ((low & exact_set_word(0xffffffffu)) >> 12);
    return exact_of_bits(k | exact_set_word(0x3ff0000000000000ull)) -
           exact_set(1.0 - 0x1p-53);
}

/* ---- elementary functions ---- */

/* log x for positive x that is not denormal: fdlibm's reduction and
 * coefficients, written with fma. */
EXACT_FN void exact_log_all(int n, const exact_real *x, exact_real *out)
{
    const double c[7] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                         2.857142874366239149e-01, 2.222219843214978396e-01,
                         1.818357216161805012e-01, 1.531383769920937332e-01,
                         1.479819860511658591e-01};
    exact_word t[EXACT_ALL_MAX], e[EXACT_ALL_MAX];
    exact_real k[EXACT_ALL_MAX], m[EXACT_ALL_MAX], f[EXACT_ALL_MAX],
        s[EXACT_ALL_MAX], z[EXACT_ALL_MAX], h[EXACT_ALL_MAX];
    /* An offset puts the mantissa in [sqrt(1/2), sqrt(2)). */
    EXACT_EACH(j, n)
    t[j] = exact_bits(x[j]) - exact_set_word(0x3fe6a09e667f3bcdull);
    EXACT_EACH(j, n)
    e[j] = (t[j] + exact_set_word(0x4000000000000000ull)) >> 52;
    EXACT_EACH(j, n)
    k[j] = exact_of_bits(e[j] | exact_set_word(0x4330000000000000ull)) -
           exact_set(4503599627370496.0 + 1024.0);
    EXACT_EACH(j, n)
    m[j] = exact_of_bits((t[j] & exact_set_word(0x000fffffffffffffull)) +
                         exact_set_word(0x3fe6a09e667f3bcdull));
    EXACT_EACH(j, n) f[j] = m[j] - exact_set(1);
    EXACT_EACH(j, n) s[j] = f[j] / (exact_set(2) + f[j]);
    EXACT_EACH(j, n) z[j] = s[j] * s[j];
    EXACT_EACH(j, n) h[j] = exact_set(0.5) * f[j] * f[j];
    EXACT_POLYNOMIALS(n, q, c, 7, z);
    EXACT_EACH(j, n) q[j] = exact_fma(z[j], q[j], h[j]);
    EXACT_EACH(j, n)
    q[j] = exact_fma(s[j], q[j], k[j] * exact_set(1.90821492927058770002e-10));
    EXACT_EACH(j, n)
    out[j] = exact_fma(k[j], exact_set(6.93147180369123816490e-01),
                       f[j] - (h[j] - q[j]));
}
EXACT_FN exact_real exact_log(exact_real x)
{
    exact_real r;
    exact_log_all(1, &x, &r);
    return r;
}

/* exp x; 0 below -708, infinity above 709.4. */
EXACT_FN exact_real exact_exp(exact_real x)
{
    const double p[10] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,
                          0x1.5555555553d67p-5,  0x1.11111111109b4p-7,
                          0x1.6c16c1788a49bp-10, 0x1.a01a01a7c327ap-13,
                          0x1.a019b9133a48ap-16, 0x1.71de0db21e27fp-19,
                          0x1.28917e2c43a66p-22, 0x1.af38a0d2d9620p-26};
    /* The integer k = round(x / log 2) stands in the lower bits of kd. */
    exact_real kd =
        exact_fma(x, exact_set(1.4426950408889634), exact_set(0x1.8p52));
    exact_word ki = exact_bits(kd);
    exact_real k = kd - exact_set(0x1.8p52);
    exact_real r = exact_fma(k, exact_set(-0x1.62e42fefa39efp-1), x);
    r = exact_fma(k, exact_set(-0x1.abc9e3b39803fp-56), r);
    EXACT_POLYNOMIAL(q, p, 10, r);
    exact_real y = exact_fma(r * r, q, r) + exact_set(1);
    y = exact_of_bits(exact_bits(y) + (ki << 52));
    y = exact_select(exact_less(x, exact_set(-708)), exact_set(0), y);
    return exact_select(exact_less(exact_set(709.4), x),
                        exact_set(__builtin_inf()), y);
}

/* Sine and cosine of 2 pi u for u in [0, 1]. */
EXACT_FN void exact_sincos_2pi_all(int n, const exact_real *u, exact_real *sine,
                                   exact_real *cosine)
{
    const double a[6] = {-0x1.4abbce625be52p+5, 0x1.466bc6775a476p+6,
                         -0x1.32d2cce500387p+6, 0x1.50783208843ebp+5,
                         -0x1.e3027dea82bd7p+3, 0x1.e4a9d9166f052p+1};
    const double b[7] = {-0x1.3bd3cc9be45dep+4, 0x1.03c1f081b5ac0p+6,
                         -0x1.55d3c7e3cb241p+6, 0x1.e1f5068688d5bp+5,
                         -0x1.a6d1eef479be1p+4, 0x1.f9ce245cada0bp+2,
                         -0x1.b2f3eb054afcdp+0};
    exact_real kd[EXACT_ALL_MAX], r[EXACT_ALL_MAX], z[EXACT_ALL_MAX];
    EXACT_EACH(j, n) kd[j] = exact_fma(u[j], exact_set(4), exact_set(0x1.8p52));
    /* To [-1/8, 1/8], exactly. */
    EXACT_EACH(j, n)
    r[j] = exact_fma(kd[j] - exact_set(0x1.8p52), exact_set(-0.25), u[j]);
    EXACT_EACH(j, n) z[j] = r[j] * r[j];
    EXACT_POLYNOMIALS(n, p, a, 6, z);
    EXACT_POLYNOMIALS(n, q, b, 7, z);
    EXACT_EACH(j, n)
    p[j] = exact_fma(
        r[j], exact_set(0x1.921fb54442d18p+2),
        r[j] * exact_fma(z[j], p[j], exact_set(0x1.1a62633145c07p-52)));
    EXACT_EACH(j, n) q[j] = exact_fma(z[j], q[j], exact_set(1));
    EXACT_EACH(j, n)
    {
        const exact_word quarter = exact_bits(kd[j]), two = exact_set_word(2);
        exact_mask odd = exact_not_zero(quarter & exact_set_word(1));
        exact_real s = exact_select(odd, q[j], p[j]),
                   c = exact_select(odd, p[j], q[j]);
        sine[j] = exact_of_bits(exact_bits(s) ^ ((quarter & two) << 62));
        cosine[j] = exact_of_bits(
            exact_bits(c) ^ (((quarter + exact_set_word(1)) & two) << 62));
    }
}
EXACT_FN void exact_sincos_2pi(exact_real u, exact_real *sine,
                               exact_real *cosine)
{
    exact_sincos_2pi_all(1, &u, sine, cosine);
}

/* ---- the normal distribution ---- */

/* Two normal numbers of two uniform ones (Box and Muller 1958). */
EXACT_FN void exact_box_muller_all(int n, const exact_real *u,
                                   const exact_real *v, exact_real *z0,
                                   exact_real *z1)
{
    exact_real r[EXACT_ALL_MAX], s[EXACT_ALL_MAX], c[EXACT_ALL_MAX];
    exact_log_all(n, u, r);
    exact_sincos_2pi_all(n, v, s, c);
    EXACT_EACH(j, n) r[j] = exact_sqrt(exact_set(-2) * r[j]);
    EXACT_EACH(j, n) z0[j] = r[j] * c[j];
    EXACT_EACH(j, n) z1[j] = r[j] * s[j];
}
EXACT_FN void exact_box_muller(exact_real u, exact_real v, exact_real *z0,
                               exact_real *z1)
{
    exact_box_muller_all(1, &u, &v, z0, z1);
}

/* The part of the quantile beyond w = 6.25, which 0.2 % of lanes need. */
EXACT_FN exact_real exact_quantile_tail(exact_real w)
{
    const double near[21] = {
        0x1.171f182e77876p+2,   0x1.6bf14fa6fc348p+0,   0x1.f1c95c5e738b2p-8,
        -0x1.5bab4c3ae05a7p-8,  0x1.cdd2bb96b03ccp-9,   -0x1.38f1f694bddc1p-9,
        0x1.616921a7eed6ep-10,  -0x1.073ea049a167ap-11, 0x1.1d17b77257dcfp-15,
        0x1.950e013ca3297p-14,  -0x1.18b07725c54acp-14, 0x1.27c09809b887cp-16,
        0x1.1651f01905727p-18,  -0x1.7a44ba43d4e40p-18, 0x1.1939cfc0eeb21p-19,
        -0x1.4f7e4baafd004p-25, -0x1.74c9fffd25861p-22, 0x1.8fa0f14b2bea5p-23,
        -0x1.fc23bbe64d3b3p-26, -0x1.73dc29a025003p-26, 0x1.753244da71d59p-27};
    const double far[21] = {
        0x1.b6f6a292f51bfp+2,   0x1.6dc49111d6dd7p+0,   -0x1.9b6aa8e9e3e71p-13,
        -0x1.3eded29a54ecdp-12, 0x1.c2c6d948d07dfp-14,  -0x1.d2fb191371170p-16,
        0x1.ad8cfe89c2c68p-18,  -0x1.78fa33adc26a0p-20, 0x1.5bd0b0d2558cfp-22,
        -0x1.9a70180f39e87p-24, 0x1.6090501ab8b94p-25,  -0x1.719f215abfebbp-26,
        0x1.7ba8b3f256247p-27,  -0x1.57848a899daf2p-28, 0x1.0201d1ffd480dp-29,
        -0x1.27a9b5c59f5a3p-31, 0x1.74a65e8ab5321p-34,  0x1.68bad0efeed00p-36,
        -0x1.8a3608ebd104ap-36, 0x1.26f3ee99bddeap-37,  -0x1.6b98b33b010efp-40};
    exact_real s = exact_sqrt(w), s1 = s - exact_set(3.25),
               s2 = s - exact_set(5);
    EXACT_POLYNOMIAL(g1, near, 21, s1);
    EXACT_POLYNOMIAL(g2, far, 21, s2);
    return exact_select(exact_less(s, exact_set(4)), g1, g2);
}

/* The z with distribution p, for p in [2^-53, 1 - 2^-53]: own polynomials in
 * w = -log(4 p (1 - p)), the form of Giles (2010). */
EXACT_FN exact_real exact_normal_quantile(exact_real p)
{
    const double a[24] = {
        0x1.2b57ec65a8009p+1,   0x1.5bc94440cc7ecp-2,   -0x1.179b2574060cbp-7,
        -0x1.12994fbb84299p-10, 0x1.14e8fc42a1299p-12,  -0x1.49627602c03eep-16,
        -0x1.032ee3ba720ebp-19, 0x1.4186be8c34437p-21,  -0x1.6125a5d8b9a27p-25,
        -0x1.8faf5546388a4p-28, 0x1.98a57af79a002p-30,  -0x1.50c1aff54493dp-34,
        -0x1.42da7457f1ed4p-36, 0x1.05c6bd9d338b9p-38,  -0x1.028853bd2f0d2p-43,
        -0x1.fdae8a4c93954p-45, 0x1.501a572b2af16p-47,  -0x1.06b76f40aecacp-54,
        -0x1.a879e14feca93p-53, 0x1.964c14c7e5669p-56,  0x1.e00593a36d4b8p-60,
        -0x1.242603ecc64dfp-61, -0x1.dbeccf1c596c1p-70, 0x1.5a490b7731a15p-68};
    exact_real w = exact_positive(exact_negate(
                   exact_log(exact_set(4) * p * (exact_set(1) - p)))),
               x = exact_fma(exact_set(2), p, exact_set(-1)),
               t = w - exact_set(3.125);
    EXACT_POLYNOMIAL(g, a, 24, t);
    exact_mask tail = exact_less(exact_set(6.25), w);
    if (exact_any(tail))
        g = exact_select(tail, exact_quantile_tail(w), g);
    return x * g;
}

/* The normal distribution function, |x| < 37.5. */
EXACT_FN exact_real exact_normal_cdf(exact_real x)
{
    const double c[23] = {
        0x1.b135a378924a6p-1,   -0x1.44c9cd8f5795cp-5,  -0x1.ba6f247fb886ep-5,
        0x1.9d3d58860cf14p-4,   -0x1.9c4af953d7479p-4,  0x1.28e8fee38f218p-4,
        -0x1.42359ad01b212p-5,  0x1.f96034e1a2518p-7,   -0x1.d426362355addp-9,
        -0x1.f1d622e57c13cp-14, 0x1.bdbecd33a6ecap-12,  -0x1.c5ba937f2b806p-14,
        -0x1.bb8b284e012a4p-16, 0x1.455a38f565f36p-16,  0x1.2042501f0164bp-21,
        -0x1.80558f50e7874p-19, 0x1.72c35180a03e0p-23,  0x1.d5a8166545a02p-22,
        -0x1.1ca0fc4c1ad37p-25, -0x1.2d635747902b4p-24, -0x1.3148c2e5e64f8p-30,
        0x1.2d55ba19e7158p-27,  0x1.f368e229893edp-30};
    exact_real y = exact_abs(x), t = (y - exact_set(5)) / (y + exact_set(5));
    EXACT_POLYNOMIAL(h, c, 23, t);
    exact_real y2 = y * y,
               rest = exact_fma(y, y, exact_negate(y2)); /* y^2 = y2 + rest */
    exact_real e = exact_exp(exact_set(-0.5) * y2);
    e = exact_fma(e, exact_set(-0.5) * rest, e);
    exact_real q = e * h / exact_fma(exact_set(2), y, exact_set(1));
    return exact_select(exact_less(exact_set(0), x), exact_set(1) - q, q);
}

/* ---- sums ---- */

/* The sum of n numbers by a fixed tree: pairs of numbers half of the next power
 * of two apart, whoever computed them. v is overwritten. */
EXACT_FN double exact_tree_sum(double *v, int64_t n)
{
    int64_t half = 1;
    while (half < n)
        half *= 2;
    for (half /= 2; half >= 1; half /= 2)
        for (int64_t i = 0; i < half; i++)
            if (i + half < n)
                v[i] = v[i] + v[i + half];
    return n > 0 ? v[0] : 0;
}

#endif
