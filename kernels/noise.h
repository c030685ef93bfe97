/* noise.h: the normals of thermostats, one formula for every device.
 *
 * A Langevin step needs three normals for every particle, so they must cost
 * little: one Philox call gives four 32-bit uniforms, and these two pairs of
 * normals (Box and Muller 1958) of which three are used; tails end at 6.8
 * standard deviations. Logarithm, sine and cosine are polynomials of our own,
 * of correctly rounded operations only, so that every device computes the same.
 *
 * The file that includes this one defines KERNEL_FN, noise_real (a double or a
 * vector of doubles), noise_bits (as many uint64_t), and noise_fma, noise_minus
 * (never fused with the product that it takes from), noise_sqrt, noise_as_bits,
 * noise_as_real, noise_set, noise_set_bits and noise_mul32 (the 64-bit product
 * of the lower halves with a number below 2^32).
 */
#ifndef WARPDECK_KERNELS_NOISE_H
#define WARPDECK_KERNELS_NOISE_H

struct noise_words {
    noise_bits w[4]; /* a word in the lower half of each */
};

/* Philox4x32-10 with counter (index, step and stream) and key seed, as
 * rng_philox(). */
KERNEL_FN struct noise_words noise_philox(uint64_t seed, uint32_t stream,
                                          uint64_t step, noise_bits index)
{
    noise_bits a = index, b = index >> 32;
    noise_bits c = noise_set_bits((uint32_t)step);
    noise_bits d =
        noise_set_bits((uint32_t)((step >> 32) & 0xffffffu) | stream << 24);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int r = 0; r < 10; r++) {
        noise_bits p = noise_mul32(a, 0xD2511F53u);
        noise_bits q = noise_mul32(c, 0xCD9E8D57u);
        a = (q >> 32) ^ b ^ noise_set_bits(k0);
        b = q;
        c = (p >> 32) ^ d ^ noise_set_bits(k1);
        d = p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct noise_words words = {{a, b, c, d}};
    return words;
}

/* (k + 1/2) / 2^32 for the lower word k: in the open interval (0, 1), exact. */
KERNEL_FN noise_real noise_uniform(noise_bits word)
{
    noise_bits bits = (word & noise_set_bits(0xffffffffu)) |
                      noise_set_bits(0x4330000000000000u);
    noise_real k = noise_as_real(bits) - noise_set(4503599627370495.5);
    return k * noise_set(2.3283064365386963e-10); /* 2^-32 */
}

/* log x for normal positive x, to 0.9 units in the last place: the reduction
 * and the coefficients of fdlibm's log (Sun Microsystems 1993). */
KERNEL_FN noise_real noise_log(noise_real x)
{
    noise_bits t = noise_as_bits(x) - noise_set_bits(0x3fe6a09e667f3bcdu);
    noise_bits e = (t + noise_set_bits(0x4000000000000000u)) >> 52;
    noise_real k = noise_as_real(e | noise_set_bits(0x4330000000000000u)) -
                   noise_set(4503599627370496.0 + 1024.0);
    noise_real m = noise_as_real((t & noise_set_bits(0x000fffffffffffffu)) +
                                 noise_set_bits(0x3fe6a09e667f3bcdu));
    noise_real f = m - noise_set(1.0), s = f / (noise_set(2.0) + f);
    noise_real z = s * s, h = noise_set(0.5) * f * f;
    noise_real p = noise_set(1.479819860511658591e-01);
    p = noise_fma(p, z, noise_set(1.531383769920937332e-01));
    p = noise_fma(p, z, noise_set(1.818357216161805012e-01));
    p = noise_fma(p, z, noise_set(2.222219843214978396e-01));
    p = noise_fma(p, z, noise_set(2.857142874366239149e-01));
    p = noise_fma(p, z, noise_set(3.999999999940941908e-01));
    p = noise_fma(p, z, noise_set(6.666666666666735130e-01));
    noise_real r = noise_fma(z, p, h);
    noise_real lo = noise_fma(s, r, k * noise_set(1.90821492927058770002e-10));
    return noise_fma(k, noise_set(6.93147180369123816490e-01),
                     f - noise_minus(h, lo));
}

/* Sine and cosine of 2 pi u for u in [0, 1]: an exact reduction to an eighth of
 * the circle, then polynomials fitted there, to 1.03 units in the last place.
 */
KERNEL_FN void noise_circle(noise_real u, noise_real *sine, noise_real *cosine)
{
    const noise_real round = noise_set(6755399441055744.0); /* 1.5 * 2^52 */
    noise_real kd = noise_fma(u, noise_set(4.0), round);
    noise_bits q = noise_as_bits(kd);
    noise_real r = noise_fma(kd - round, noise_set(-0.25), u), z = r * r;
    noise_real p = noise_set(0x1.e4a9d9166f052p+1);
    p = noise_fma(p, z, noise_set(-0x1.e3027dea82bd7p+3));
    p = noise_fma(p, z, noise_set(0x1.50783208843ebp+5));
    p = noise_fma(p, z, noise_set(-0x1.32d2cce500387p+6));
    p = noise_fma(p, z, noise_set(0x1.466bc6775a476p+6));
    p = noise_fma(p, z, noise_set(-0x1.4abbce625be52p+5));
    noise_real w = noise_set(-0x1.b2f3eb054afcdp+0);
    w = noise_fma(w, z, noise_set(0x1.f9ce245cada0bp+2));
    w = noise_fma(w, z, noise_set(-0x1.a6d1eef479be1p+4));
    w = noise_fma(w, z, noise_set(0x1.e1f5068688d5bp+5));
    w = noise_fma(w, z, noise_set(-0x1.55d3c7e3cb241p+6));
    w = noise_fma(w, z, noise_set(0x1.03c1f081b5ac0p+6));
    w = noise_fma(w, z, noise_set(-0x1.3bd3cc9be45dep+4));
    noise_real low = noise_fma(z, p, noise_set(0x1.1a62633145c07p-52));
    noise_bits s =
        noise_as_bits(noise_fma(r, noise_set(0x1.921fb54442d18p+2), r * low));
    noise_bits c = noise_as_bits(noise_fma(z, w, noise_set(1.0)));
    noise_bits one = noise_set_bits(1), two = noise_set_bits(2);
    noise_bits odd = noise_set_bits(0) - (q & one); /* all ones, or none */
    noise_bits swapped_s = (odd & c) | (~odd & s);
    noise_bits swapped_c = (odd & s) | (~odd & c);
    *sine = noise_as_real(swapped_s ^ ((q & two) << 62));
    *cosine = noise_as_real(swapped_c ^ (((q + one) & two) << 62));
}

/* Three standard normals for item `index` of `stream` at `step`. */
KERNEL_FN void noise_normal3(uint64_t seed, uint32_t stream, uint64_t step,
                             noise_bits index, noise_real out[3])
{
    struct noise_words words = noise_philox(seed, stream, step, index);
    for (int pair = 0; pair < 2; pair++) {
        noise_real u = noise_uniform(words.w[2 * pair]);
        noise_real v = noise_uniform(words.w[2 * pair + 1]), sine, cosine;
        noise_real radius = noise_sqrt(noise_set(-2.0) * noise_log(u));
        noise_circle(v, &sine, &cosine);
        out[2 * pair] = radius * cosine;
        if (pair == 0)
            out[1] = radius * sine;
    }
}

/* A number of mean 0 and variance 1, even between -sqrt(3) and sqrt(3). */
KERNEL_FN noise_real noise_even(uint64_t seed, uint32_t stream, uint64_t step,
                                noise_bits index)
{
    struct noise_words words = noise_philox(seed, stream, step, index);
    return (noise_uniform(words.w[0]) - noise_set(0.5)) *
           noise_set(3.4641016151377544); /* sqrt(12) */
}

#endif
