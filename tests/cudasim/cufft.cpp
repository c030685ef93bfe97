// cuFFT on top of FFTW: batched transforms of lines and of boxes, which is what
// our files use.
//
// A transform is queued on the stream of its plan. The manual lets a plan use
// its work area, and a transform to real numbers destroy its input; both are
// overwritten here.
#include "sim.h"

#include <cufft.h>
#include <fftw3.h>

#include <climits>

using namespace cudasim;

namespace
{
struct plan {
    bool alive = true, made = false, automatic = true;
    cufftType type = CUFFT_C2C;
    int rank = 1, batch = 0;
    int n[3] = {1, 1, 1}; // the last one varies fastest
    // Elements that a box has room for, of input and output; lines have none.
    int room[2][3] = {};
    // Distances in elements, of input and output.
    int stride[2] = {1, 1}, distance[2] = {0, 0};
    size_t work_bytes = 0;
    void *work = nullptr; // the caller's
    cudaStream_t stream = nullptr;
};

// All there ever were, so that a late use of one is known as such. Numbers
// begin at 1.
std::vector<std::shared_ptr<plan>> &plans =
    *new std::vector<std::shared_ptr<plan>>;

cufftResult refuse(cufftResult result, const char *text)
{
    say("cuFFT: %s", text);
    return result;
}

std::shared_ptr<plan> find(cufftHandle handle)
{
    start();
    if (handle > 0 && static_cast<size_t>(handle) <= plans.size() &&
        plans[static_cast<size_t>(handle) - 1]->alive)
        return plans[static_cast<size_t>(handle) - 1];
    say("cuFFT: no such plan, or destroyed");
    return nullptr;
}

bool is_double(cufftType t)
{
    return t == CUFFT_Z2Z || t == CUFFT_D2Z || t == CUFFT_Z2D;
}

// Which side (0: input, 1: output) of a transform has real numbers; else -1.
int real_side(cufftType t)
{
    return t == CUFFT_R2C || t == CUFFT_D2Z   ? 0
           : t == CUFFT_C2R || t == CUFFT_Z2D ? 1
                                              : -1;
}

size_t element(const plan &p, int side)
{
    size_t real = is_double(p.type) ? sizeof(double) : sizeof(float);
    return side == real_side(p.type) ? real : 2 * real;
}

// Elements of a line on one side.
long long length(const plan &p, int side)
{
    int real = real_side(p.type), n = p.n[p.rank - 1];
    return real < 0 || side == real ? n : n / 2 + 1;
}

// Lines of a box, and where the k-th of them begins; a line is one.
long long lines(const plan &p)
{
    return p.rank == 1 ? 1 : 1LL * p.n[0] * p.n[1];
}

long long line_start(const plan &p, int side, long long k)
{
    if (p.rank == 1)
        return 0;
    const int *room = p.room[side];
    return (k / p.n[1] * room[1] + k % p.n[1]) * room[2];
}

// Bytes from the first element to the last, that included.
size_t extent(const plan &p, int side)
{
    long long last = line_start(p, side, lines(p) - 1) +
                     (length(p, side) - 1) * p.stride[side] +
                     (p.batch - 1LL) * p.distance[side];
    return static_cast<size_t>(last + 1) * element(p, side);
}

// Whether no two lines share an element.
bool lines_are_apart(const plan &p, int side)
{
    long long stride = p.stride[side], distance = p.distance[side];
    if (stride < 1 || (p.batch > 1 && distance < 1))
        return false;
    if (p.rank > 1) {
        const int *room = p.room[side];
        return stride == 1 && room[2] >= length(p, side) && room[1] >= p.n[1] &&
               (p.batch == 1 || distance >= 1LL * p.n[0] * room[1] * room[2]);
    }
    return p.batch == 1 || distance > stride * (length(p, side) - 1) ||
           stride > distance * (p.batch - 1);
}

// In place, a line must not overwrite the next one's input.
bool fits_in_place(const plan &p)
{
    size_t in = element(p, 0), out = element(p, 1);
    for (int d = 1; d < p.rank; d++)
        if (static_cast<size_t>(p.room[0][d]) * (d == 2 ? in : 1) !=
            static_cast<size_t>(p.room[1][d]) * (d == 2 ? out : 1))
            return false;
    return p.batch == 1 || static_cast<size_t>(p.distance[0]) * in ==
                               static_cast<size_t>(p.distance[1]) * out;
}

bool is_on_card(const void *p, size_t bytes, const char *what)
{
    const allocation *a = find_allocation(p);
    auto *first = static_cast<const unsigned char *>(p);
    if (a && a->kind == MEMORY_DEVICE && !a->freed && first >= a->user &&
        first + bytes <= a->user + a->bytes)
        return true;
    say("cuFFT: %s of %zu bytes is not inside of an allocation of the card%s%s",
        what, bytes, a ? ": " : "", a ? describe(*a).c_str() : "");
    return false;
}

// ---- running ----------------------------------------------------------------
#define RUN(prefix, real, complex)                                             \
    void run_##prefix(const plan &p, void *in, void *out, int sign)            \
    {                                                                          \
        const int *ir = p.rank > 1 ? p.room[0] : nullptr;                      \
        const int *orr = p.rank > 1 ? p.room[1] : nullptr;                     \
        const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;                 \
        int is = p.stride[0], id = p.distance[0];                              \
        int os = p.stride[1], od = p.distance[1];                              \
        auto *ri = static_cast<real *>(in), *ro = static_cast<real *>(out);    \
        auto *ci = static_cast<complex *>(in);                                 \
        auto *co = static_cast<complex *>(out);                                \
        prefix##_plan made =                                                   \
            real_side(p.type) == 0                                             \
                ? prefix##_plan_many_dft_r2c(p.rank, p.n, p.batch, ri, ir, is, \
                                             id, co, orr, os, od, flags)       \
            : real_side(p.type) == 1                                           \
                ? prefix##_plan_many_dft_c2r(p.rank, p.n, p.batch, ci, ir, is, \
                                             id, ro, orr, os, od, flags)       \
                : prefix##_plan_many_dft(p.rank, p.n, p.batch, ci, ir, is, id, \
                                         co, orr, os, od, sign, flags);        \
        if (!made)                                                             \
            device_error("cuFFT: FFTW has no such transform");                 \
        prefix##_execute(made);                                                \
        prefix##_destroy_plan(made);                                           \
    }
RUN(fftw, double, fftw_complex)
RUN(fftwf, float, fftwf_complex)

// What a side holds becomes as if nobody had written to it, line by line: there
// may be something else in between.
void spoil(const plan &p, int side, void *data)
{
    auto *first = static_cast<unsigned char *>(data);
    size_t size = element(p, side);
    for (long long b = 0; b < p.batch; b++)
        for (long long l = 0; l < lines(p); l++)
            for (long long k = 0; k < length(p, side); k++)
                fill_junk(first + static_cast<size_t>(b * p.distance[side] +
                                                      line_start(p, side, l) +
                                                      k * p.stride[side]) *
                                      size,
                          size);
}

cufftResult queue(cufftHandle handle, cufftType type, void *in, void *out,
                  int sign)
{
    std::shared_ptr<plan> found = find(handle);
    if (!found || !found->made)
        return CUFFT_INVALID_PLAN;
    const plan p = *found; // as it is now
    if (p.type != type)
        return refuse(CUFFT_INVALID_PLAN, "the plan is of another type");
    size_t bytes_in = extent(p, 0), bytes_out = extent(p, 1);
    if (!is_on_card(in, bytes_in, "input") ||
        !is_on_card(out, bytes_out, "output"))
        return CUFFT_INVALID_VALUE;
    size_t complex = is_double(type) ? 16 : 8;
    if (reinterpret_cast<uintptr_t>(in) % complex != 0 ||
        reinterpret_cast<uintptr_t>(out) % complex != 0)
        return refuse(CUFFT_UNALIGNED_DATA,
                      "data is not aligned as a complex number");
    auto *a = static_cast<unsigned char *>(in);
    auto *b = static_cast<unsigned char *>(out);
    if (in == out ? !fits_in_place(p) : a < b + bytes_out && b < a + bytes_in)
        return refuse(CUFFT_INVALID_VALUE, "input and output overlap");
    if (!p.automatic && p.work_bytes > 0 &&
        (!p.work || !is_on_card(p.work, p.work_bytes, "the work area")))
        return refuse(CUFFT_NO_WORKSPACE, "the plan has no work area");
    cudaError_t error = queue_work(p.stream, "cuFFT", [p, in, out, sign] {
        if (p.work && !p.automatic)
            fill_junk(static_cast<unsigned char *>(p.work), p.work_bytes);
        if (is_double(p.type))
            run_fftw(p, in, out, sign);
        else
            run_fftwf(p, in, out, sign);
        if (real_side(p.type) == 1 && in != out)
            spoil(p, 0, in);
    });
    return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

// After all other destructors but the simulator's own.
__attribute__((destructor(102))) void report_plans()
{
    for (const auto &p : plans)
        if (p->alive && !broken)
            say("leak: a plan of cuFFT");
}
} // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle *handle)
{
    start();
    plans.push_back(std::make_shared<plan>());
    *handle = static_cast<cufftHandle>(plans.size());
    return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int *n,
                              int *in_embed, int in_stride, int in_distance,
                              int *out_embed, int out_stride, int out_distance,
                              cufftType type, int batch, size_t *work_bytes)
{
    std::shared_ptr<plan> p = find(handle);
    if (!p || p->made)
        return CUFFT_INVALID_PLAN;
    if (rank != 1 && (rank != 3 || !in_embed || !out_embed))
        return refuse(
            CUFFT_NOT_IMPLEMENTED,
            "lines alone are simulated, and boxes whose room is given");
    p->type = type;
    p->rank = rank;
    p->batch = batch;
    for (int d = 0; d < rank; d++) {
        if (n[d] < 1 || batch < 1)
            return refuse(CUFFT_INVALID_SIZE, "nothing to transform");
        p->n[d] = n[d];
        p->room[0][d] = in_embed ? in_embed[d] : 0;
        p->room[1][d] = out_embed ? out_embed[d] : 0;
    }
    if (in_embed && out_embed) {
        p->stride[0] = in_stride;
        p->stride[1] = out_stride;
        p->distance[0] = in_distance;
        p->distance[1] = out_distance;
    } else {
        p->distance[0] = static_cast<int>(length(*p, 0));
        p->distance[1] = static_cast<int>(length(*p, 1));
    }
    if (!lines_are_apart(*p, 0) || !lines_are_apart(*p, 1))
        return refuse(CUFFT_INVALID_VALUE, "lines of the batch overlap");
    // As much as one side: what cuFFT asks for where it cannot do better.
    p->work_bytes = static_cast<size_t>(length(*p, 1)) *
                    static_cast<size_t>(lines(*p)) *
                    static_cast<size_t>(batch) * element(*p, 1);
    p->made = true;
    if (work_bytes)
        *work_bytes = p->work_bytes;
    return CUFFT_SUCCESS;
}

cufftResult cufftPlanMany(cufftHandle *handle, int rank, int *n, int *in_embed,
                          int in_stride, int in_distance, int *out_embed,
                          int out_stride, int out_distance, cufftType type,
                          int batch)
{
    cufftCreate(handle);
    cufftResult result = cufftMakePlanMany(
        *handle, rank, n, in_embed, in_stride, in_distance, out_embed,
        out_stride, out_distance, type, batch, nullptr);
    if (result != CUFFT_SUCCESS)
        cufftDestroy(*handle);
    return result;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int automatic)
{
    std::shared_ptr<plan> p = find(handle);
    if (!p || p->made)
        return refuse(CUFFT_INVALID_PLAN,
                      "who allocates is to be said before the plan is made");
    p->automatic = automatic != 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void *area)
{
    std::shared_ptr<plan> p = find(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    p->work = area;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream)
{
    std::shared_ptr<plan> p = find(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    p->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle)
{
    std::shared_ptr<plan> p = find(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    p->alive = false;
    return CUFFT_SUCCESS;
}

cufftResult cufftExecR2C(cufftHandle h, cufftReal *in, cufftComplex *out)
{
    return queue(h, CUFFT_R2C, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecC2R(cufftHandle h, cufftComplex *in, cufftReal *out)
{
    return queue(h, CUFFT_C2R, in, out, CUFFT_INVERSE);
}

cufftResult cufftExecC2C(cufftHandle h, cufftComplex *in, cufftComplex *out,
                         int direction)
{
    return queue(h, CUFFT_C2C, in, out, direction);
}

cufftResult cufftExecD2Z(cufftHandle h, cufftDoubleReal *in,
                         cufftDoubleComplex *out)
{
    return queue(h, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle h, cufftDoubleComplex *in,
                         cufftDoubleReal *out)
{
    return queue(h, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

cufftResult cufftExecZ2Z(cufftHandle h, cufftDoubleComplex *in,
                         cufftDoubleComplex *out, int direction)
{
    return queue(h, CUFFT_Z2Z, in, out, direction);
}

} // extern "C"
