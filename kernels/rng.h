/* rng.h: random numbers that do not depend on who asks.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC11) addressed by (seed,
 * stream, index): the same address gives the same words on every rank, thread
 * and device. A stream is a use (initial velocities, thermostat noise, ...); an
 * index is an item of it (a particle id, a path) combined with a step.
 */
#ifndef WARPDECK_KERNELS_RNG_H
#define WARPDECK_KERNELS_RNG_H

#include <stdint.h>

enum rng_stream {
    RNG_VELOCITY = 1,
    RNG_LANGEVIN = 2,
    RNG_BUSSI = 3,
    RNG_FLOW = 4,  /* random velocity fields, by wave */
    RNG_NOISE = 5, /* noise on a grid, by cell */
    RNG_BAROSTAT = 6,
    RNG_PLACE = 7,    /* random places at the start */
    RNG_EXCHANGE = 8, /* replicas, by attempt and pair */
    RNG_BROWNIAN = 9, /* ways of Brownian motion, by particle */
    RNG_DPD = 10      /* noise of dissipative particle dynamics, by pair */
};

struct rng_words {
    uint32_t w[4];
};

/* Four words of counter (index, step, stream) under key seed. step < 2^56. */
struct rng_words rng_philox(uint64_t seed, enum rng_stream stream,
                            uint64_t step, uint64_t index);

/* Uniform in the open interval (0, 1) with 53 bits, from two words. */
double rng_uniform(uint32_t hi, uint32_t lo);

/* Two independent standard normals (Box and Muller 1958) from four words. */
void rng_normal2(struct rng_words r, double out[2]);

/* Three standard normals for item `index` of `stream` at `step` (two Philox
 * calls). */
void rng_normal3(uint64_t seed, enum rng_stream stream, uint64_t step,
                 uint64_t index, double out[3]);

/* Items a call of rng_noise() may ask for. */
enum { RNG_NOISE_MOST = 64 };

/* Three standard normals for each of n items (n <= RNG_NOISE_MOST) of `stream`
 * at `step`, fast: out[d][k] for item index[k]. Made of 32-bit uniforms (see
 * kernels/noise.h); other numbers than rng_normal3() gives. */
void rng_noise(uint64_t seed, enum rng_stream stream, uint64_t step,
               const int64_t *index, int n, double (*out)[RNG_NOISE_MOST]);

/* One number of mean 0 and variance 1 for each of n items, even between
 * -sqrt(3) and sqrt(3), of 32 bits: item index[k] of `stream` at `step`. */
void rng_even(uint64_t seed, enum rng_stream stream, uint64_t step,
              const uint64_t *index, int n, double *out);

#endif
