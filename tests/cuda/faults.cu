// Faults, one a run: `faults NAME`. `faults --list` has a line for each:
//
//     NAME|what is wrong|"sanitizer" where it needs one|pattern of the report
//
// `faults lost-card` shows what CUDASIM_LOST does; `faults --sanitizer`
// succeeds in a program built with the address sanitizer. A fault that leads to
// a wrong result has the pattern "wrong".
#include "faults.h"
#include "samples.h"

#include <cstdio>
#include <cstring>

namespace
{

__global__ void put(float *a, int n)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        a[i] = 1.0f;
}

__global__ void get(const float *a, float *out, int k)
{
    if (threadIdx.x == 0)
        out[0] = a[k] + 1.0f;
}

__global__ void write_shared(float *out, unsigned beyond)
{
    __shared__ float s[64];
    s[threadIdx.x + beyond] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void write_dynamic(float *out, unsigned beyond)
{
    DYN_SHARED(float, s);
    s[threadIdx.x + beyond] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void read_shared(float *out, unsigned missing)
{
    __shared__ float s[32];
    if (threadIdx.x != missing)
        s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void leave_early(float *out, unsigned n)
{
    if (threadIdx.x >= n)
        return;
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += out[(threadIdx.x + 1) % n];
}

__global__ void branch(float *out, unsigned n)
{
    if (threadIdx.x < n)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void disagree(int *out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_sync(0xffffffffu, 3, 0);
    else
        out[threadIdx.x] = __any_sync(0xffffffffu, 1);
}

__global__ void half_warp(int *out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_sync(0xffff0000u, 3, 16);
}

__global__ void much_shared(float *out)
{
    __shared__ double s[6000]; // 46.9 KiB
    s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = static_cast<float>(s[(threadIdx.x + 1) % blockDim.x]);
}

__global__ void stop(void)
{
    __trap();
}

} // namespace

float *floats(int n)
{
    float *p = nullptr;
    cudaMalloc(&p, static_cast<size_t>(n) * sizeof *p);
    return p;
}

void finish(float *a, float *b)
{
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}

void wrong_unless(bool right)
{
    printf("%s\n", right ? "right" : "wrong");
}

void queue_put(float *a)
{
    LAUNCH(put, 8, 128, 0, 0, a, N);
}

void queue_stop(cudaStream_t s)
{
    LAUNCH(stop, 1, 1, 0, s);
}

namespace
{

void launch_put(dim3 grid, dim3 block, int n)
{
    float *a = floats(N);
    LAUNCH(put, grid, block, 0, 0, a, n);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    finish(a);
}

void far_write()
{
    launch_put(9, 128, N + 100);
}

void near_write()
{
    launch_put(8, 128, N + 1);
}

void near_read()
{
    float *a = floats(N), *out = floats(1);
    cudaMemset(a, 0, N * sizeof *a);
    LAUNCH(get, 1, 32, 0, 0, a, out, N);
    finish(a, out);
}

void static_shared()
{
    float *out = floats(64);
    LAUNCH(write_shared, 1, 64, 0, 0, out, 1u);
    finish(out);
}

void dynamic_shared()
{
    float *out = floats(64);
    LAUNCH(write_dynamic, 1, 64, 64 * sizeof(float), 0, out, 1u);
    finish(out);
}

void unwritten_global()
{
    float *a = floats(N), *out = floats(1), h = 0;
    LAUNCH(get, 1, 32, 0, 0, a, out, 2);
    cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost);
    wrong_unless(h == h);
    finish(a, out);
}

void unwritten_shared()
{
    float *out = floats(32), h[32];
    LAUNCH(read_shared, 1, 32, 0, 0, out, 7u);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    wrong_unless(h[7] == h[7]);
    finish(out);
}

void early_exit()
{
    float *out = floats(64);
    LAUNCH(leave_early, 1, 64, 0, 0, out, 40u);
    finish(out);
}

void two_barriers()
{
    float *out = floats(64);
    LAUNCH(branch, 1, 64, 0, 0, out, 32u);
    finish(out);
}

void warp_functions()
{
    float *out = floats(32);
    LAUNCH(disagree, 1, 32, 0, 0, reinterpret_cast<int *>(out));
    finish(out);
}

void warp_mask()
{
    float *out = floats(32);
    LAUNCH(half_warp, 1, 32, 0, 0, reinterpret_cast<int *>(out));
    finish(out);
}

void too_much_shared()
{
    float *out = floats(32);
    LAUNCH(much_shared, 1, 32, 8192, 0, out);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    finish(out);
}

void zero_blocks()
{
    launch_put(0, 128, N);
}

void large_block()
{
    launch_put(1, 1025, N);
}

void large_grid()
{
    launch_put(dim3(1, 65536), 128, N);
}

void unread_error()
{
    float *a = floats(N);
    LAUNCH(put, 1, 1025, 0, 0, a, N);
    finish(a);
}

void trapped()
{
    LAUNCH(stop, 1, 1, 0, 0);
    finish(nullptr);
}

void no_barrier()
{
    wrong_unless(sum_is_right(BARRIER));
}

void no_reuse_barrier()
{
    wrong_unless(stencil_is_right(REUSE_BARRIER));
}

void no_sums_barrier()
{
    wrong_unless(sums_are_right(SUMS_BARRIER));
}

void no_warp_barrier()
{
    wrong_unless(warp_is_right(WARP_BARRIER));
}

void no_stream_wait()
{
    wrong_unless(stencil_is_right(STREAM_WAIT));
}

void no_event_wait()
{
    wrong_unless(stencil_is_right(EVENT_WAIT));
}

void no_staging_wait()
{
    wrong_unless(staging_is_right(STAGING_WAIT));
}

void no_fill()
{
    wrong_unless(cells_is_right(FILL));
}

struct fault {
    const char *name;
    void (*run)();
    const char *what, *pattern, *needs;
};

const fault faults[] = {
    {"no-barrier", no_barrier, "a removed __syncthreads()", "wrong", ""},
    {"no-reuse-barrier", no_reuse_barrier,
     "a removed __syncthreads() before shared memory is written again", "wrong",
     ""},
    {"no-sums-barrier", no_sums_barrier,
     "a removed __syncthreads() that only a warp far ahead of others misses",
     "wrong", ""},
    {"no-warp-barrier", no_warp_barrier, "a removed __syncwarp()", "wrong", ""},
    {"no-stream-wait", no_stream_wait, "a removed cudaStreamSynchronize()",
     "wrong", ""},
    {"no-event-wait", no_event_wait, "a removed cudaStreamWaitEvent()", "wrong",
     ""},
    {"no-staging-wait", no_staging_wait,
     "a buffer that is written to before its copy ran", "wrong", ""},
    {"no-fill", no_fill, "counters that nobody cleared", "wrong", ""},
    {"early-exit", early_exit, "a thread that leaves before a barrier",
     "24 threads left the kernel", ""},
    {"two-barriers", two_barriers, "a barrier in either branch",
     "divergent barrier in kernel", ""},
    {"warp-functions", warp_functions, "lanes in different warp functions",
     "lanes of one warp disagree", ""},
    {"warp-mask", warp_mask, "a lane that is not in its own mask",
     "is not in its mask", ""},
    {"near-write", near_write, "a write one element past the end",
     "out-of-bounds write 0 bytes past the end|AddressSanitizer", ""},
    {"far-write", far_write, "a write far past the end",
     "past the end of device allocation|AddressSanitizer", ""},
    {"near-read", near_read, "a read one element past the end",
     "AddressSanitizer", "sanitizer"},
    {"static-shared", static_shared, "a write past static shared memory",
     "AddressSanitizer|runtime error: index", "sanitizer"},
    {"dynamic-shared", dynamic_shared, "a write past dynamic shared memory",
     "past the end of dynamic shared memory|AddressSanitizer", ""},
    {"unwritten-global", unwritten_global,
     "a read of memory that nobody wrote to", "wrong", ""},
    {"unwritten-shared", unwritten_shared,
     "a read of shared memory that nobody wrote to", "wrong", ""},
    {"host-read", host_read, "device memory that the host reads",
     "host code dereferences a device pointer", ""},
    {"early-look", early_look, "a result that is read before the host waited",
     "wrong", ""},
    {"long-copy", long_copy, "a copy that is too long",
     "of 4004 bytes at offset 0 does not fit", ""},
    {"copy-kind", copy_kind, "a copy in the wrong direction",
     "does not fit its pointers", ""},
    {"zero-blocks", zero_blocks, "a launch of no blocks", "nothing to launch",
     ""},
    {"large-block", large_block, "a block of 1025 threads",
     "at most 1024 threads", ""},
    {"large-grid", large_grid, "a grid of 65536 blocks in y",
     "a grid has at most", ""},
    {"too-much-shared", too_much_shared, "shared memory of more than 48 KiB",
     "48000 static \\+ 8192 dynamic", ""},
    {"unread-error", unread_error, "an error of a launch that nobody reads",
     "never read an error", ""},
    {"trap", trapped, "__trap()", "__trap\\(\\) at", ""},
    {"leak", leak, "memory that is not freed", "leak: device allocation", ""},
    {"leaked-stream", leaked_stream, "a stream that is not destroyed",
     "leak: a stream", ""},
    {"inner-free", inner_free, "freeing the inside of an allocation",
     "not the start of any allocation, inside device", ""},
    {"double-free", double_free, "freeing twice", "double free of", ""},
    {"wrong-free", wrong_free, "freeing pinned memory by cudaFree()",
     "wrong function for pinned host", ""},
    {"late-use", late_use, "memory that is used after it was freed",
     "uses device allocation .*, freed", ""},
    {"never-waited", never_waited, "work that nobody waits for",
     "1 queued operations were never waited for", ""},
    {"wait-in-capture", wait_in_capture, "waiting for a captured stream",
     "of a stream that is captured", ""},
    {"dead-stream", dead_stream, "a stream that is used after its end",
     "no such stream, or destroyed", ""},
};

} // namespace

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (const fault &f : faults)
            printf("%s|%s|%s|%s\n", f.name, f.what, f.needs, f.pattern);
        return 0;
    }
#if defined(__SANITIZE_ADDRESS__)
    const int without_sanitizer = 0;
#else
    const int without_sanitizer = 1;
#endif
    if (argc == 2 && strcmp(argv[1], "--sanitizer") == 0)
        return without_sanitizer;
    if (argc == 2 && strcmp(argv[1], "lost-card") == 0) {
        lost_card();
        return 0;
    }
    for (const fault &f : faults)
        if (argc == 2 && strcmp(argv[1], f.name) == 0) {
            f.run();
            return 0;
        }
    fprintf(stderr, "usage: faults NAME | --list | --sanitizer\n");
    return 2;
}
