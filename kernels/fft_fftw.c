/* fft_fftw.c: lengths with large prime factors, by FFTW, which has algorithms
 * for them. The only file that knows FFTW.
 *
 * The data stays as fft_lanes.h has it: FFTW's split format with one transform
 * for each lane. Plans are for any alignment, since a library built for wider
 * vectors than ours would ask for more.
 */
#include "kernels/fft_lanes.h"
#include "base/error.h"
#include <fftw3.h>
#include <stdlib.h>

#if FLUID_PRECISION == 3
#define WITH_FFTW(name) fftwf_##name
#else
#define WITH_FFTW(name) fftw_##name
#endif

struct fft_other {
    WITH_FFTW(plan) forward, inverse;
};

/* Back is forward with real and imaginary parts exchanged. */
static WITH_FFTW(plan) plan(size_t n, scalar *re, scalar *im)
{
    WITH_FFTW(iodim) length = {(int)n, 2 * LANES, 2 * LANES};
    WITH_FFTW(iodim) lanes = {LANES, 1, 1};
    return WITH_FFTW(plan_guru_split_dft)(1, &length, 1, &lanes, re, im, re, im,
                                          FFTW_ESTIMATE | FFTW_UNALIGNED);
}

int fft_other_create(struct ctx *ctx, size_t n, struct fft_other **out)
{
    int status = 0;
    struct fft_other *o = calloc(1, sizeof *o);
    scalar *z = WITH_FFTW(malloc)(2 * n * sizeof(real));
    if (!o || !z)
        TRY_CLEANUP(FAIL(ctx, STATUS_MEMORY,
                         "no memory for transforms of %zu cells", n));
        /* The planner has global state. */
#ifdef _OPENMP
#pragma omp critical(fftw_planner)
#endif
    {
        o->forward = plan(n, z, z + LANES);
        o->inverse = plan(n, z + LANES, z);
    }
    if (!o->forward || !o->inverse)
        TRY_CLEANUP(FAIL(ctx, STATUS_UNSUPPORTED,
                         "FFTW has no transform of %zu cells", n));
    *out = o;
    o = NULL;
cleanup:
    WITH_FFTW(free)(z);
    fft_other_destroy(o);
    return status;
}

void fft_other_destroy(struct fft_other *o)
{
    if (!o)
        return;
#ifdef _OPENMP
#pragma omp critical(fftw_planner)
#endif
    {
        if (o->forward)
            WITH_FFTW(destroy_plan)(o->forward);
        if (o->inverse)
            WITH_FFTW(destroy_plan)(o->inverse);
    }
    free(o);
}

void fft_other_run(const struct fft_other *o, int sign, real *z)
{
    scalar *re = (scalar *)z, *im = re + LANES;
    if (sign < 0)
        WITH_FFTW(execute_split_dft)(o->forward, re, im, re, im);
    else
        WITH_FFTW(execute_split_dft)(o->inverse, im, re, im, re);
}
