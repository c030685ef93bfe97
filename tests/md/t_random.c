/* t_random: the numbers behind velocities and thermostats. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/rng.h"
#include "tests/tap.h"

static int words_are(struct rng_words r, uint32_t a, uint32_t b, uint32_t c,
                     uint32_t d)
{
    return r.w[0] == a && r.w[1] == b && r.w[2] == c && r.w[3] == d;
}

/* The known answers published with Random123 (Salmon and others, SC11):
 * counter, key and result. */
static void known_answers(void)
{
    tap_ok(words_are(rng_philox(0, (enum rng_stream)0, 0, 0), 0x6627e8d5,
                     0xe169c58d, 0xbc57ac4c, 0x9b00dbd8),
           "Philox of zeros is the published answer");
    tap_ok(words_are(rng_philox(UINT64_MAX, (enum rng_stream)255,
                                0xffffffffffffffu, UINT64_MAX),
                     0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd),
           "Philox of ones is the published answer");
    tap_ok(words_are(rng_philox(0x299f31d0a4093822u, (enum rng_stream)3,
                                0x70734413198a2eu, 0x85a308d3243f6a88u),
                     0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1),
           "Philox of the digits of pi is the published answer");
}

/* The formula of rng_noise() by the C library: polynomials against its log, sin
 * and cos, and the address of each item. */
static double by_libm(uint64_t seed, uint64_t step, int64_t index, int d)
{
    struct rng_words r = rng_philox(seed, RNG_LANGEVIN, step, (uint64_t)index);
    int pair = d / 2;
    double u = ((double)r.w[2 * pair] + 0.5) * 0x1p-32;
    double v = ((double)r.w[2 * pair + 1] + 0.5) * 0x1p-32;
    double radius = sqrt(-2 * log(u)), angle = 2 * M_PI * v;
    return radius * (d == 1 ? sin(angle) : cos(angle));
}

static void noise_by_libm(void)
{
    double worst = 0;
    for (uint64_t step = 0; step < 200; step++) {
        int64_t index[RNG_NOISE_MOST];
        double noise[3][RNG_NOISE_MOST];
        int n = 1 + (int)(step % RNG_NOISE_MOST);
        for (int k = 0; k < n; k++)
            index[k] = k % 3 == 0 ? k + 1 : (int64_t)(1ull << (k % 60)) + k;
        rng_noise(77 + step, RNG_LANGEVIN, step << 30, index, n, noise);
        for (int k = 0; k < n; k++)
            for (int d = 0; d < 3; d++)
                worst = fmax(worst,
                             fabs(noise[d][k] -
                                  by_libm(77 + step, step << 30, index[k], d)));
    }
    /* An angle near 2 pi is off by 4e-16 in the C library's argument, and the
     * radius is at most 6.8. */
    tap_ok(worst < 2e-14, "noise is Box and Muller's formula of Philox words");
    tap_note("worst difference %.1e", worst);
}

/* Moments of 1.2 million normals: standard errors are 0.0009 for the mean,
 * 0.0013 for the variance and 0.0045 for the fourth moment; bounds are four of
 * them. */
static void noise_moments(void)
{
    double m1 = 0, m2 = 0, m4 = 0, cross = 0;
    int64_t index[RNG_NOISE_MOST];
    double noise[3][RNG_NOISE_MOST];
    const int steps = 6400;
    for (int k = 0; k < RNG_NOISE_MOST; k++)
        index[k] = k + 1;
    for (int step = 0; step < steps; step++) {
        rng_noise(1, RNG_LANGEVIN, (uint64_t)step, index, RNG_NOISE_MOST,
                  noise);
        for (int k = 0; k < RNG_NOISE_MOST; k++) {
            for (int d = 0; d < 3; d++) {
                double x2 = noise[d][k] * noise[d][k];
                m1 += noise[d][k];
                m2 += x2;
                m4 += x2 * x2;
            }
            cross += noise[0][k] * noise[1][k] + noise[1][k] * noise[2][k];
        }
    }
    double n = 3.0 * steps * RNG_NOISE_MOST;
    tap_ok(fabs(m1 / n) < 0.0037, "the mean of noise is 0");
    tap_ok(fabs(m2 / n - 1) < 0.0052, "the variance of noise is 1");
    tap_ok(fabs(m4 / n - 3) < 0.036, "the fourth moment of noise is 3");
    tap_ok(fabs(cross / (n * 2 / 3)) < 0.0045,
           "its components do not correlate");
}

int main(void)
{
    tap_plan(8);
    known_answers();
    noise_by_libm();
    noise_moments();
    return tap_done();
}
