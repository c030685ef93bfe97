/* fft_butterfly.h: discrete Fourier transforms of a few numbers, in registers.
 *
 * x[2 q], x[2 q + 1]: real and imaginary part of number q. The sign of the
 * exponent is negative; the other direction is the same with outputs q and
 * radix - q exchanged, see the callers. Included by fft_lanes.c alone.
 */
#ifndef WARPDECK_KERNELS_FFT_BUTTERFLY_H
#define WARPDECK_KERNELS_FFT_BUTTERFLY_H

#include "kernels/fft_lanes.h"

KERNEL_FN void butterfly_2(real *x)
{
    real r = x[0], i = x[1];
    x[0] = r + x[2];
    x[1] = i + x[3];
    x[2] = r - x[2];
    x[3] = i - x[3];
}

KERNEL_FN void butterfly_3(real *x)
{
    const scalar s = (scalar)0.86602540378443864676;
    real tr = x[2] + x[4], ti = x[3] + x[5];
    real dr = s * (x[2] - x[4]), di = s * (x[3] - x[5]);
    real mr = x[0] - (scalar)0.5 * tr, mi = x[1] - (scalar)0.5 * ti;
    x[0] += tr;
    x[1] += ti;
    x[2] = mr + di;
    x[3] = mi - dr;
    x[4] = mr - di;
    x[5] = mi + dr;
}

KERNEL_FN void butterfly_4(real *x)
{
    real ar = x[0] + x[4], ai = x[1] + x[5];
    real br = x[0] - x[4], bi = x[1] - x[5];
    real cr = x[2] + x[6], ci = x[3] + x[7];
    real dr = x[2] - x[6], di = x[3] - x[7];
    x[0] = ar + cr;
    x[1] = ai + ci;
    x[2] = br + di;
    x[3] = bi - dr;
    x[4] = ar - cr;
    x[5] = ai - ci;
    x[6] = br - di;
    x[7] = bi + dr;
}

KERNEL_FN void butterfly_5(real *x)
{
    const scalar c1 = (scalar)0.30901699437494742410;
    const scalar c2 = (scalar)-0.80901699437494742410;
    const scalar s1 = (scalar)0.95105651629515357212;
    const scalar s2 = (scalar)0.58778525229247312917;
    real ar = x[2] + x[8], ai = x[3] + x[9];
    real br = x[4] + x[6], bi = x[5] + x[7];
    real cr = x[2] - x[8], ci = x[3] - x[9];
    real dr = x[4] - x[6], di = x[5] - x[7];
    real mr = x[0] + c1 * ar + c2 * br, mi = x[1] + c1 * ai + c2 * bi;
    real nr = x[0] + c2 * ar + c1 * br, ni = x[1] + c2 * ai + c1 * bi;
    real er = s1 * cr + s2 * dr, ei = s1 * ci + s2 * di;
    real fr = s2 * cr - s1 * dr, fi = s2 * ci - s1 * di;
    x[0] += ar + br;
    x[1] += ai + bi;
    x[2] = mr + ei;
    x[3] = mi - er;
    x[4] = nr + fi;
    x[5] = ni - fr;
    x[6] = nr - fi;
    x[7] = ni + fr;
    x[8] = mr - ei;
    x[9] = mi + er;
}

KERNEL_FN void butterfly_8(real *x)
{
    const scalar h = (scalar)0.70710678118654752440;
    real e[8] = {x[0], x[1], x[4], x[5], x[8], x[9], x[12], x[13]};
    real o[8] = {x[2], x[3], x[6], x[7], x[10], x[11], x[14], x[15]};
    butterfly_4(e);
    butterfly_4(o);
    real t = h * (o[2] + o[3]);
    o[3] = h * (o[3] - o[2]);
    o[2] = t;
    t = o[5];
    o[5] = -o[4];
    o[4] = t;
    t = h * (o[7] - o[6]);
    o[7] = -h * (o[6] + o[7]);
    o[6] = t;
    KERNEL_UNROLL
    for (int i = 0; i < 8; i++) {
        x[i] = e[i] + o[i];
        x[i + 8] = e[i] - o[i];
    }
}

/* cos and sin of 2 pi k / p, k < p, for the odd primes that have no formula of
 * their own here. */
static const double root_7[7][2] = {
    {1, 0},
    {0.6234898018587335305, 0.7818314824680298087},
    {-0.2225209339563144043, 0.974927912181823607},
    {-0.9009688679024191263, 0.4338837391175581203},
    {-0.9009688679024191263, -0.4338837391175581203},
    {-0.2225209339563144043, -0.974927912181823607},
    {0.6234898018587335305, -0.7818314824680298087}};
static const double root_11[11][2] = {
    {1, 0},
    {0.8412535328311811689, 0.5406408174555975821},
    {0.4154150130018864255, 0.9096319953545183714},
    {-0.1423148382732851405, 0.9898214418809327324},
    {-0.6548607339452850641, 0.7557495743542582837},
    {-0.9594929736144973899, 0.2817325568414296977},
    {-0.9594929736144973899, -0.2817325568414296977},
    {-0.6548607339452850641, -0.7557495743542582837},
    {-0.1423148382732851405, -0.9898214418809327324},
    {0.4154150130018864255, -0.9096319953545183714},
    {0.8412535328311811689, -0.5406408174555975821}};
static const double root_13[13][2] = {
    {1, 0},
    {0.8854560256532098959, 0.4647231720437685457},
    {0.5680647467311558025, 0.8229838658936563946},
    {0.1205366802553230532, 0.9927088740980539928},
    {-0.354604887042535626, 0.9350162426854148234},
    {-0.7485107481711010987, 0.6631226582407952023},
    {-0.9709418174260520272, 0.239315664287557767},
    {-0.9709418174260520272, -0.239315664287557767},
    {-0.7485107481711010987, -0.6631226582407952023},
    {-0.354604887042535626, -0.9350162426854148234},
    {0.1205366802553230532, -0.9927088740980539928},
    {0.5680647467311558025, -0.8229838658936563946},
    {0.8854560256532098959, -0.4647231720437685457}};

/* The sum over pairs x(s), x(p - s): cosines act on their sum, sines on their
 * difference. */
KERNEL_FN void butterfly_odd(const int p, const double (*root)[2], real *x)
{
    enum { HALF_MAX = 6 };
    real sr[HALF_MAX], si[HALF_MAX], dr[HALF_MAX], di[HALF_MAX];
    real x0r = x[0], x0i = x[1];
    KERNEL_UNROLL
    for (int s = 1; s <= p / 2; s++) {
        sr[s - 1] = x[2 * s] + x[2 * (p - s)];
        si[s - 1] = x[2 * s + 1] + x[2 * (p - s) + 1];
        dr[s - 1] = x[2 * s] - x[2 * (p - s)];
        di[s - 1] = x[2 * s + 1] - x[2 * (p - s) + 1];
        x[0] += sr[s - 1];
        x[1] += si[s - 1];
    }
    KERNEL_UNROLL
    for (int q = 1; q <= p / 2; q++) {
        real mr = x0r, mi = x0i, er = {0}, ei = {0};
        KERNEL_UNROLL
        for (int s = 1; s <= p / 2; s++) {
            const scalar c = (scalar)root[q * s % p][0];
            const scalar n = (scalar)root[q * s % p][1];
            mr += c * sr[s - 1];
            mi += c * si[s - 1];
            er += n * dr[s - 1];
            ei += n * di[s - 1];
        }
        x[2 * q] = mr + ei;
        x[2 * q + 1] = mi - er;
        x[2 * (p - q)] = mr - ei;
        x[2 * (p - q) + 1] = mi + er;
    }
}

KERNEL_FN void butterfly(const int radix, real *x)
{
    switch (radix) {
    case 2:
        butterfly_2(x);
        break;
    case 3:
        butterfly_3(x);
        break;
    case 4:
        butterfly_4(x);
        break;
    case 5:
        butterfly_5(x);
        break;
    case 7:
        butterfly_odd(7, root_7, x);
        break;
    case 8:
        butterfly_8(x);
        break;
    case 11:
        butterfly_odd(11, root_11, x);
        break;
    default:
        butterfly_odd(13, root_13, x);
        break;
    }
}

enum { RADIX_MAX = 13 };

#endif
