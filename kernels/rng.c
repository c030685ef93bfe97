/* rng.c: Philox by the Random123 library. */
#include "kernels/rng.h"

#include <math.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

struct rng_words rng_philox(uint64_t seed, enum rng_stream stream,
                            uint64_t step, uint64_t index)
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {
        {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)step,
         (uint32_t)((step >> 32) & 0xffffff) | (uint32_t)stream << 24}};
    philox4x32_ctr_t r = philox4x32(counter, key);
    return (struct rng_words){{r.v[0], r.v[1], r.v[2], r.v[3]}};
}

double rng_uniform(uint32_t hi, uint32_t lo)
{
    uint64_t bits = ((uint64_t)hi << 32 | lo) >> 11;
    return ((double)bits + 0.5) * 0x1p-53;
}

void rng_normal2(struct rng_words r, double out[2])
{
    double radius = sqrt(-2 * log(rng_uniform(r.w[0], r.w[1])));
    double angle = 2 * 3.14159265358979323846 * rng_uniform(r.w[2], r.w[3]);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

void rng_normal3(uint64_t seed, enum rng_stream stream, uint64_t step,
                 uint64_t index, double out[3])
{
    double pair[2];
    /* Two items of 2^63 share the index space: bit 63 names the second call. */
    rng_normal2(rng_philox(seed, stream, step, index), out);
    rng_normal2(rng_philox(seed, stream, step, index | 1ull << 63), pair);
    out[2] = pair[0];
}
