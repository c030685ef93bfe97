/* fft_cuda.cu: transforms by cuFFT, see fft_cuda.h. */
#include "kernels/fft_cuda.h"

#include <cufft.h>
#include <dlfcn.h>
#include <stdlib.h>

/* Numbers in a piece: some tens of MB, about what a card's cache holds. */
static const int64_t PIECE = 1 << 23;

/* What is used of cuFFT. */
#define CUFFT_FUNCTIONS(DO)    \
    DO(cufftCreate)            \
    DO(cufftSetAutoAllocation) \
    DO(cufftMakePlanMany)      \
    DO(cufftSetStream)         \
    DO(cufftSetWorkArea)       \
    DO(cufftDestroy)           \
    DO(cufftExecD2Z)           \
    DO(cufftExecZ2D)           \
    DO(cufftExecR2C)           \
    DO(cufftExecC2R)

struct library {
    void *handle;
#define MEMBER(name) decltype(&name) name##_;
    CUFFT_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* All pieces but the last are alike. */
enum { FULL, REST, PIECES };

struct cuda_fft {
    struct library cufft;
    size_t real_bytes;
    int64_t n, pitch, lines, lines_at_once;
    cufftHandle forward[PIECES], inverse[PIECES];
    int made[PIECES][2];
};

static int fft_status(struct ctx *ctx, cufftResult result, const char *call,
                      const struct cuda_fft *f)
{
    if (result == CUFFT_SUCCESS)
        return 0;
    int status = result == CUFFT_ALLOC_FAILED ? STATUS_MEMORY : STATUS_FAILED;
    return FAIL(ctx, status,
                "the card failed: %s: cuFFT error %d (%lld lines of %lld "
                "numbers)",
                call, (int)result, (long long)f->lines, (long long)f->n);
}

#define FFT_TRY(ctx, f, name, ...) \
    TRY(fft_status((ctx), (f)->cufft.name##_(__VA_ARGS__), #name, (f)))

#ifdef CUDASIM
static int load(struct ctx *ctx, struct library *l)
{
    (void)ctx;
    l->handle = NULL;
#define TAKE(name) l->name##_ = name;
    CUFFT_FUNCTIONS(TAKE)
#undef TAKE
    return 0;
}
#else
static int load(struct ctx *ctx, struct library *l)
{
    /* The version that the header is of comes first. */
    static const char *const names[] = {"libcufft.so.12", "libcufft.so.11",
                                        "libcufft.so"};
    for (size_t k = 0; !l->handle && k < sizeof names / sizeof names[0]; k++)
        l->handle = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "the library cuFFT (%s) is not on this machine, and flow "
                    "on a card needs it, and md.coulomb.method = \"pme\"; "
                    "install it from the CUDA toolkit, name its folder in "
                    "LD_LIBRARY_PATH, or use device = \"cpu\"",
                    names[0]);
#define TAKE(name)                                         \
    l->name##_ = (decltype(&name))dlsym(l->handle, #name); \
    if (!l->name##_)                                       \
        return FAIL(ctx, STATUS_UNSUPPORTED,               \
                    "the library cuFFT of this machine has no %s", #name);
    CUFFT_FUNCTIONS(TAKE)
#undef TAKE
    return 0;
}
#endif

static int64_t lines_at_once(int64_t n, int64_t lines)
{
    int64_t most = PIECE / cuda_fft_pitch(n);
    most = most > 1 ? most : 1;
    return lines < most ? lines : most;
}

double cuda_fft_estimate(int64_t n, int64_t lines, size_t real_bytes)
{
    return n < 2 ? 0
                 : (double)lines_at_once(n, lines) * (double)cuda_fft_pitch(n) *
                       (double)real_bytes;
}

static int make_plan(struct ctx *ctx, struct cuda_fft *f, int64_t n,
                     int64_t lines, int inverse, cufftHandle *plan, int *made,
                     size_t *workspace)
{
    int size = (int)n, real = (int)f->pitch, complex = real / 2;
    int in = inverse ? complex : real, out = inverse ? real : complex;
    cufftType type = f->real_bytes == sizeof(double)
                         ? (inverse ? CUFFT_Z2D : CUFFT_D2Z)
                         : (inverse ? CUFFT_C2R : CUFFT_R2C);
    size_t bytes = 0;
    FFT_TRY(ctx, f, cufftCreate, plan);
    *made = 1;
    FFT_TRY(ctx, f, cufftSetAutoAllocation, *plan, 0);
    FFT_TRY(ctx, f, cufftMakePlanMany, *plan, 1, &size, &in, 1, in, &out, 1,
            out, type, (int)lines, &bytes);
    FFT_TRY(ctx, f, cufftSetStream, *plan, cuda_of(ctx)->stream);
    if (bytes > *workspace)
        *workspace = bytes;
    return 0;
}

static int make_plans(struct ctx *ctx, struct cuda_fft *f, int64_t n,
                      size_t *workspace)
{
    int64_t rest = f->lines % f->lines_at_once;
    int64_t lines[PIECES] = {f->lines_at_once, rest};
    for (int k = 0; k < PIECES; k++) {
        if (lines[k] == 0)
            continue;
        TRY(make_plan(ctx, f, n, lines[k], 0, &f->forward[k], &f->made[k][0],
                      workspace));
        TRY(make_plan(ctx, f, n, lines[k], 1, &f->inverse[k], &f->made[k][1],
                      workspace));
    }
    return 0;
}

int cuda_fft_create(struct ctx *ctx, int64_t n, int64_t lines,
                    size_t real_bytes, size_t *workspace, struct cuda_fft **out)
{
    *out = NULL;
    if (n > INT32_MAX / 2)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "a transform of %lld numbers is too long for cuFFT",
                    (long long)n);
    struct cuda_fft *f = (struct cuda_fft *)calloc(1, sizeof *f);
    if (!f)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a transform");
    f->real_bytes = real_bytes;
    f->n = n;
    f->pitch = cuda_fft_pitch(n);
    /* One number is its own transform. */
    f->lines = n > 1 ? lines : 0;
    f->lines_at_once = lines_at_once(n, lines);
    int status = 0;
    if (f->lines > 0)
        status = load(ctx, &f->cufft);
    if (status == 0 && f->lines > 0)
        status = make_plans(ctx, f, n, workspace);
    if (status != 0) {
        cuda_fft_destroy(f);
        return status;
    }
    *out = f;
    return 0;
}

/* A box in place, in double precision; cuFFT counts from the slowest. */
static int make_box(struct ctx *ctx, struct cuda_fft *f, const int64_t n[3],
                    int inverse, int batch, cufftHandle *plan, int *made)
{
    int size[3] = {(int)n[2], (int)n[1], (int)n[0]};
    int real[3] = {size[0], size[1], (int)f->pitch};
    int complex[3] = {size[0], size[1], (int)f->pitch / 2};
    int *in = inverse ? complex : real, *out = inverse ? real : complex;
    size_t bytes = 0;
    FFT_TRY(ctx, f, cufftCreate, plan);
    *made = 1;
    FFT_TRY(ctx, f, cufftMakePlanMany, *plan, 3, size, in, 1,
            in[0] * in[1] * in[2], out, 1, out[0] * out[1] * out[2],
            inverse ? CUFFT_Z2D : CUFFT_D2Z, batch, &bytes);
    FFT_TRY(ctx, f, cufftSetStream, *plan, cuda_of(ctx)->stream);
    return 0;
}

int cuda_fft_create_box(struct ctx *ctx, const int64_t n[3], int back,
                        struct cuda_fft **out)
{
    *out = NULL;
    if ((double)cuda_fft_pitch(n[0]) * (double)n[1] * (double)n[2] > INT32_MAX)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "a mesh of %lld x %lld x %lld points is too large for one "
                    "card; use more ranks",
                    (long long)n[0], (long long)n[1], (long long)n[2]);
    struct cuda_fft *f = (struct cuda_fft *)calloc(1, sizeof *f);
    if (!f)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a transform");
    f->real_bytes = sizeof(double);
    f->n = n[0];
    f->pitch = cuda_fft_pitch(n[0]);
    f->lines = f->lines_at_once = n[1] * n[2];
    int status = load(ctx, &f->cufft);
    if (status == 0)
        status =
            make_box(ctx, f, n, 0, 1, &f->forward[FULL], &f->made[FULL][0]);
    if (status == 0)
        status =
            make_box(ctx, f, n, 1, back, &f->inverse[FULL], &f->made[FULL][1]);
    if (status != 0) {
        cuda_fft_destroy(f);
        return status;
    }
    *out = f;
    return 0;
}

void cuda_fft_destroy(struct cuda_fft *f)
{
    if (!f)
        return;
    for (int k = 0; k < PIECES; k++) {
        if (f->made[k][0])
            f->cufft.cufftDestroy_(f->forward[k]);
        if (f->made[k][1])
            f->cufft.cufftDestroy_(f->inverse[k]);
    }
    /* The library stays: what it started on the card does not end with it. */
    free(f);
}

int cuda_fft_set_workspace(struct ctx *ctx, struct cuda_fft *f, void *area)
{
    for (int k = 0; k < PIECES; k++) {
        if (f->made[k][0])
            FFT_TRY(ctx, f, cufftSetWorkArea, f->forward[k], area);
        if (f->made[k][1])
            FFT_TRY(ctx, f, cufftSetWorkArea, f->inverse[k], area);
    }
    return 0;
}

/* One piece; the lines are both input and output. */
static int transform(struct ctx *ctx, struct cuda_fft *f, int k, int inverse,
                     void *lines)
{
    if (f->real_bytes == sizeof(double) && !inverse)
        FFT_TRY(ctx, f, cufftExecD2Z, f->forward[k], (cufftDoubleReal *)lines,
                (cufftDoubleComplex *)lines);
    else if (f->real_bytes == sizeof(double))
        FFT_TRY(ctx, f, cufftExecZ2D, f->inverse[k],
                (cufftDoubleComplex *)lines, (cufftDoubleReal *)lines);
    else if (!inverse)
        FFT_TRY(ctx, f, cufftExecR2C, f->forward[k], (cufftReal *)lines,
                (cufftComplex *)lines);
    else
        FFT_TRY(ctx, f, cufftExecC2R, f->inverse[k], (cufftComplex *)lines,
                (cufftReal *)lines);
    return 0;
}

static int transform_all(struct ctx *ctx, struct cuda_fft *f, int inverse,
                         void *lines)
{
    size_t line = (size_t)f->pitch * f->real_bytes;
    for (int64_t done = 0; done < f->lines; done += f->lines_at_once) {
        int k = f->lines - done < f->lines_at_once ? REST : FULL;
        TRY(transform(ctx, f, k, inverse, (char *)lines + (size_t)done * line));
    }
    return 0;
}

int cuda_fft_forward(struct ctx *ctx, struct cuda_fft *f, void *lines)
{
    return transform_all(ctx, f, 0, lines);
}

int cuda_fft_inverse(struct ctx *ctx, struct cuda_fft *f, void *lines)
{
    return transform_all(ctx, f, 1, lines);
}
