// The simulator's cuFFT: `transforms` shows that right uses of it are right,
// `transforms NAME` does what is wrong, and `transforms --list` has a line for
// each fault: NAME|what is wrong|pattern of the report.
extern "C" {
#include "tests/tap.h"
}

#include "kernels/gpu.h"

#include <cufft.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace
{

const int N = 12, LINES = 5;

template <class T> T *on_card(size_t n)
{
    T *p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    return p;
}

// A plan for lines of N numbers behind each other, with room for their modes.
cufftHandle plan_for(cufftType type, cudaStream_t s)
{
    int n = N, real = 2 * (N / 2 + 1), complex = N / 2 + 1;
    bool inverse = type == CUFFT_Z2D || type == CUFFT_C2R;
    int in = inverse ? complex : real, out = inverse ? real : complex;
    if (type == CUFFT_Z2Z || type == CUFFT_C2C)
        in = out = N;
    cufftHandle plan = 0;
    cufftPlanMany(&plan, 1, &n, &in, 1, in, &out, 1, out, type, LINES);
    cufftSetStream(plan, s);
    return plan;
}

template <class T> T value(int line, int i)
{
    return static_cast<T>(((line * 7 + i * i) % 11) - 5);
}

// Forward and back in place; the first mode is the sum.
template <class T>
bool real_is_right(cufftType forward, cufftType inverse, double tolerance)
{
    const int pitch = 2 * (N / 2 + 1), all = LINES * pitch;
    std::vector<T> h(all, T(0)), modes(all), back(all);
    for (int l = 0; l < LINES; l++)
        for (int i = 0; i < N; i++)
            h[static_cast<size_t>(l * pitch + i)] = value<T>(l, i);
    cudaStream_t s;
    cudaStreamCreate(&s);
    T *x = on_card<T>(all);
    size_t bytes = static_cast<size_t>(all) * sizeof(T);
    cufftHandle f = plan_for(forward, s), b = plan_for(inverse, s);
    cudaMemcpyAsync(x, h.data(), bytes, cudaMemcpyHostToDevice, s);
    if constexpr (sizeof(T) == sizeof(double))
        cufftExecD2Z(f, x, reinterpret_cast<cufftDoubleComplex *>(x));
    else
        cufftExecR2C(f, x, reinterpret_cast<cufftComplex *>(x));
    cudaMemcpyAsync(modes.data(), x, bytes, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    if constexpr (sizeof(T) == sizeof(double))
        cufftExecZ2D(b, reinterpret_cast<cufftDoubleComplex *>(x), x);
    else
        cufftExecC2R(b, reinterpret_cast<cufftComplex *>(x), x);
    cudaMemcpyAsync(back.data(), x, bytes, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    bool good = true;
    for (int l = 0; l < LINES; l++) {
        double sum = 0, sine = 0;
        for (int i = 0; i < N; i++) {
            size_t at = static_cast<size_t>(l * pitch + i);
            sum += value<T>(l, i);
            sine -= value<T>(l, i) * std::sin(2 * M_PI * 2 * i / N);
            good = good && std::fabs(back[at] / N - h[at]) < tolerance;
        }
        size_t first = static_cast<size_t>(l * pitch);
        good = good && std::fabs(modes[first] - sum) < N * tolerance &&
               std::fabs(modes[first + 5] - sine) < N * tolerance;
    }
    cufftDestroy(f);
    cufftDestroy(b);
    cudaFree(x);
    cudaStreamDestroy(s);
    return good && cudaGetLastError() == cudaSuccess;
}

// One wave in each line, out of place, with a work area of the caller.
bool complex_is_right()
{
    std::vector<cufftDoubleComplex> h(N * LINES), modes(N * LINES);
    for (int l = 0; l < LINES; l++)
        for (int i = 0; i < N; i++)
            h[static_cast<size_t>(l * N + i)] = {
                std::cos(2 * M_PI * l * i / N), std::sin(2 * M_PI * l * i / N)};
    size_t work = 0, bytes = h.size() * sizeof h[0];
    int n = N;
    cufftHandle plan = 0;
    cufftCreate(&plan);
    cufftSetAutoAllocation(plan, 0);
    cufftMakePlanMany(plan, 1, &n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2Z,
                      LINES, &work);
    void *area = nullptr;
    if (work > 0)
        cudaMalloc(&area, work);
    cufftSetWorkArea(plan, area);
    auto *x = on_card<cufftDoubleComplex>(h.size());
    auto *y = on_card<cufftDoubleComplex>(h.size());
    cudaMemcpy(x, h.data(), bytes, cudaMemcpyHostToDevice);
    cufftExecZ2Z(plan, x, y, CUFFT_FORWARD);
    cudaMemcpy(modes.data(), y, bytes, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int l = 0; l < LINES; l++)
        for (int k = 0; k < N; k++) {
            cufftDoubleComplex m = modes[static_cast<size_t>(l * N + k)];
            good = good && std::fabs(m.x - (k == l ? N : 0)) < 1e-12 &&
                   std::fabs(m.y) < 1e-12;
        }
    cufftDestroy(plan);
    cudaFree(x);
    cudaFree(y);
    cudaFree(area);
    return good;
}

// ---- faults -----------------------------------------------------------------
struct lines {
    cufftHandle forward, inverse;
    double *x;
    cufftDoubleComplex *modes;
    lines()
        : forward(plan_for(CUFFT_D2Z, nullptr)),
          inverse(plan_for(CUFFT_Z2D, nullptr)),
          x(on_card<double>(LINES * 2 * (N / 2 + 1))),
          modes(on_card<cufftDoubleComplex>(LINES * (N / 2 + 1)))
    {
        cudaMemset(x, 0, LINES * 2 * (N / 2 + 1) * sizeof(double));
    }
    ~lines()
    {
        cudaDeviceSynchronize();
        cufftDestroy(forward);
        cufftDestroy(inverse);
        cudaFree(x);
        cudaFree(modes);
    }
};

void overlapping_lines()
{
    int n = N, in = N, out = N / 2;
    cufftHandle plan = 0;
    cufftPlanMany(&plan, 1, &n, &in, 1, in, &out, 1, out, CUFFT_D2Z, LINES);
}

void short_output()
{
    lines l;
    cufftExecD2Z(l.forward, l.x, l.modes + N / 2 + 1);
}

void aliased()
{
    lines l;
    cufftExecD2Z(l.forward, l.x,
                 reinterpret_cast<cufftDoubleComplex *>(l.x) + 0);
    cufftExecD2Z(l.forward, l.x + 2,
                 reinterpret_cast<cufftDoubleComplex *>(l.x));
}

void wrong_type()
{
    lines l;
    cufftExecZ2D(l.forward, l.modes, l.x);
}

void no_area()
{
    lines l;
    int n = N;
    size_t work = 0;
    cufftHandle plan = 0;
    cufftCreate(&plan);
    cufftSetAutoAllocation(plan, 0);
    cufftMakePlanMany(plan, 1, &n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_D2Z, 1,
                      &work);
    cufftExecD2Z(plan, l.x, l.modes);
    cufftDestroy(plan);
}

// A transform to real numbers may destroy what it came from.
void input_again()
{
    lines l;
    double first = -1;
    cufftExecD2Z(l.forward, l.x, l.modes);
    cufftExecZ2D(l.inverse, l.modes, l.x);
    cudaMemcpy(&first, l.modes, sizeof first, cudaMemcpyDeviceToHost);
    puts(first == 0 ? "right" : "wrong");
}

// The transform is in another stream than the copy.
void other_stream()
{
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    lines l;
    double sum = -1;
    cufftSetStream(l.forward, s);
    cufftExecD2Z(l.forward, l.x, l.modes);
    cudaMemcpy(&sum, l.modes, sizeof sum, cudaMemcpyDeviceToHost);
    puts(sum == 0 ? "right" : "wrong");
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
}

void host_memory()
{
    lines l;
    std::vector<double> h(N * LINES);
    cufftExecD2Z(l.forward, h.data(), l.modes);
}

void late_plan()
{
    lines l;
    cufftHandle plan = plan_for(CUFFT_D2Z, nullptr);
    cufftDestroy(plan);
    cufftExecD2Z(plan, l.x, l.modes);
}

void leaked_plan()
{
    plan_for(CUFFT_D2Z, nullptr);
}

const struct {
    const char *name;
    void (*run)();
    const char *what, *pattern;
} faults[] = {
    {"overlapping-lines", overlapping_lines, "lines that overlap",
     "lines of the batch overlap"},
    {"short-output", short_output, "an output that is too short",
     "output of .* is not inside"},
    {"aliased", aliased, "an output that overlaps the input",
     "not inside|input and output overlap"},
    {"wrong-type", wrong_type, "a plan of another type", "of another type"},
    {"no-area", no_area, "a plan without its work area", "no work area"},
    {"input-again", input_again, "an input that a transform has destroyed",
     "wrong"},
    {"other-stream", other_stream, "a result that nobody waited for", "wrong"},
    {"host-memory", host_memory, "a transform of the host's memory",
     "input of .* is not inside of an allocation of the card"},
    {"late-plan", late_plan, "a plan that is used after its end",
     "no such plan, or destroyed"},
    {"leaked-plan", leaked_plan, "a plan that is not destroyed",
     "leak: a plan of cuFFT"},
};

} // namespace

int main(int argc, char **argv)
{
    if (argc == 1) {
        tap_ok(real_is_right<double>(CUFFT_D2Z, CUFFT_Z2D, 1e-13),
               "real lines are transformed in double precision");
        tap_ok(real_is_right<float>(CUFFT_R2C, CUFFT_C2R, 1e-5),
               "and in single precision");
        tap_ok(complex_is_right(), "complex lines, with a work area given");
        return tap_done();
    }
    for (const auto &f : faults)
        if (strcmp(argv[1], "--list") == 0)
            printf("%s|%s|%s\n", f.name, f.what, f.pattern);
        else if (strcmp(argv[1], f.name) == 0)
            f.run();
    return 0;
}
