/* rng.c: the formulas as functions of the CPU. */
#include "kernels/rng.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

#define KERNEL_FN static inline
#include "kernels/rng_formula.h"

struct rng_words rng_philox(uint64_t seed, enum rng_stream stream,
                            uint64_t step, uint64_t index)
{
    return rng_formula_philox(seed, stream, step, index);
}

double rng_uniform(uint32_t hi, uint32_t lo)
{
    return rng_formula_uniform(hi, lo);
}

void rng_normal2(struct rng_words r, double out[2])
{
    rng_formula_normal2(r, out);
}

void rng_normal3(uint64_t seed, enum rng_stream stream, uint64_t step,
                 uint64_t index, double out[3])
{
    rng_formula_normal3(seed, stream, step, index, out);
}
