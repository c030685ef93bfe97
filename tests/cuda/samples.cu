// Small CUDA programs with a known result: see samples.h.
#include "samples.h"

#include "kernels/gpu.h"
#include "kernels/primitives.h"

#include <algorithm>
#include <vector>

namespace
{

bool no_error()
{
    return cudaGetLastError() == cudaSuccess;
}

template <class T> T *on_card(size_t n)
{
    T *p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    return p;
}

template <class T> T *on_host(size_t n)
{
    T *p = nullptr;
    cudaMallocHost(&p, n * sizeof(T));
    return p;
}

// ---- sum --------------------------------------------------------------------
const unsigned ALL = 0xffffffffu;

__constant__ float scale[2];

template <class T>
__global__ void sum_blocks(const T *__restrict__ x, T *__restrict__ out, int n,
                           bool barrier)
{
    __shared__ T part[32];
    int t = static_cast<int>(threadIdx.x), lane = t % warpSize;
    int stride = static_cast<int>(gridDim.x * blockDim.x);
    T v = 0;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x) + t; i < n;
         i += stride)
        v += x[i];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(ALL, v, d);
    if (lane == 0)
        part[t / warpSize] = v;
    if (barrier)
        __syncthreads();
    if (t >= warpSize)
        return;
    v = lane < static_cast<int>(blockDim.x) / warpSize ? part[lane] : T(0);
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(ALL, v, d);
    if (lane == 0)
        out[blockIdx.x] = v * T(scale[0]);
}

__global__ void sum_tree(const float *x, float *out)
{
    DYN_SHARED(float, s);
    unsigned t = threadIdx.x;
    s[t] = x[t];
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0)
        atomicAdd(out, s[0]);
}

// Two sums over each block, of which the second uses the memory of the first.
__global__ void sum_twice(const int *x, int *out, bool barrier)
{
    __shared__ int part[8];
    int t = static_cast<int>(threadIdx.x);
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 0; k < 2; k++) {
        int sum = __reduce_add_sync(ALL, k == 0 ? v : v * v);
        if (barrier && k == 1)
            __syncthreads();
        if (t % warpSize == 0)
            part[t / warpSize] = sum;
        __syncthreads();
        if (t == 0) {
            for (int w = 1; w < static_cast<int>(blockDim.x) / warpSize; w++)
                sum += part[w];
            out[2 * blockIdx.x + static_cast<unsigned>(k)] = sum;
        }
    }
}

// ---- exchange within a warp -------------------------------------------------
__global__ void reverse_warps(int *x, bool barrier)
{
    __shared__ int slot[128];
    int t = static_cast<int>(threadIdx.x);
    slot[t] = x[t];
    if (barrier)
        __syncwarp();
    x[t] = slot[t / warpSize * warpSize + warpSize - 1 - t % warpSize];
}

// ---- stencil ----------------------------------------------------------------
struct box {
    int nx, ny, nz;
};

__host__ __device__ float at(const float *a, box b, int x, int y, int z)
{
    bool inside =
        x >= 0 && y >= 0 && z >= 0 && x < b.nx && y < b.ny && z < b.nz;
    return inside ? a[(z * b.ny + y) * b.nx + x] : 0.0f;
}

const int TX = 16, TY = 8;

__global__ void __launch_bounds__(TX *TY)
    smooth(const float *__restrict__ a, float *__restrict__ out, box b, int z0,
           int z1, bool barrier)
{
    __shared__ float tile[TY + 2][TX + 2];
    int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
    int x = static_cast<int>(blockIdx.x) * TX + tx, lx = tx + 1;
    int y = static_cast<int>(blockIdx.y) * TY + ty, ly = ty + 1;
    for (int z = z0; z < z1; z++) {
        if (barrier)
            __syncthreads();
        tile[ly][lx] = at(a, b, x, y, z);
        if (tx == 0)
            tile[ly][0] = at(a, b, x - 1, y, z);
        if (tx == TX - 1)
            tile[ly][TX + 1] = at(a, b, x + 1, y, z);
        if (ty == 0)
            tile[0][lx] = at(a, b, x, y - 1, z);
        if (ty == TY - 1)
            tile[TY + 1][lx] = at(a, b, x, y + 1, z);
        __syncthreads();
        if (x < b.nx && y < b.ny)
            out[(z * b.ny + y) * b.nx + x] =
                0.25f * tile[ly][lx] +
                0.125f * (tile[ly][lx - 1] + tile[ly][lx + 1] +
                          tile[ly - 1][lx] + tile[ly + 1][lx] +
                          at(a, b, x, y, z - 1) + at(a, b, x, y, z + 1));
    }
}

void smooth_on_host(const std::vector<float> &a, std::vector<float> &out, box b)
{
    const float *p = a.data();
    for (int z = 0; z < b.nz; z++)
        for (int y = 0; y < b.ny; y++)
            for (int x = 0; x < b.nx; x++)
                out[static_cast<size_t>((z * b.ny + y) * b.nx + x)] =
                    0.25f * at(p, b, x, y, z) +
                    0.125f * (at(p, b, x - 1, y, z) + at(p, b, x + 1, y, z) +
                              at(p, b, x, y - 1, z) + at(p, b, x, y + 1, z) +
                              at(p, b, x, y, z - 1) + at(p, b, x, y, z + 1));
}

// ---- cells ------------------------------------------------------------------
__global__ void count_keys(const uint32_t *key, uint32_t *count, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<unsigned>(n))
        atomicAdd(&count[key[i]], 1u);
}

__global__ void number(uint32_t *index, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<unsigned>(n))
        index[i] = i;
}

__global__ void add(int *x, int n, int by)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<unsigned>(n))
        x[i] += by;
}

} // namespace

bool sum_is_right(enum plant without)
{
    const int n = 20000, blocks = 32;
    std::vector<float> h(n);
    double want = 0;
    for (int i = 0; i < n; i++)
        want += h[static_cast<size_t>(i)] = static_cast<float>(i % 7);
    float *x = on_card<float>(n), *part = on_card<float>(blocks);
    float *sum = on_card<float>(1), got = 0, factor[2] = {2.0f, 0.0f};
    cudaMemcpyToSymbol(scale, factor, sizeof factor);
    cudaMemcpy(x, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(sum, 0, sizeof(float));
    LAUNCH((sum_blocks<float>), blocks, 128, 0, 0, x, part, n,
           without != BARRIER);
    LAUNCH(sum_tree, 1, blocks, blocks * sizeof(float), 0, part, sum);
    cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(part);
    cudaFree(sum);
    return no_error() && got == static_cast<float>(2 * want);
}

bool sums_are_right(enum plant without)
{
    const int blocks = 16, threads = 128, n = blocks * threads;
    int h[n], sum[2 * blocks], wrong = 0;
    for (int i = 0; i < n; i++)
        h[i] = i % 91;
    int *x = on_card<int>(n), *out = on_card<int>(2 * blocks);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    LAUNCH(sum_twice, blocks, threads, 0, 0, x, out, without != SUMS_BARRIER);
    cudaMemcpy(sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        sum[2 * (i / threads)] -= h[i];
        sum[2 * (i / threads) + 1] -= h[i] * h[i];
    }
    for (int k = 0; k < 2 * blocks; k++)
        wrong += sum[k] != 0;
    cudaFree(x);
    cudaFree(out);
    return no_error() && wrong == 0;
}

bool warp_is_right(enum plant without)
{
    int h[128], wrong = 0;
    for (int i = 0; i < 128; i++)
        h[i] = i;
    int *x = on_card<int>(128);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    LAUNCH(reverse_warps, 1, 128, 0, 0, x, without != WARP_BARRIER);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++)
        wrong += h[i] != i / 32 * 32 + 31 - i % 32;
    cudaFree(x);
    return no_error() && wrong == 0;
}

bool stencil_is_right(enum plant without)
{
    const box b{37, 21, 16};
    const int steps = 3, half = b.nz / 2;
    const size_t n = static_cast<size_t>(b.nx * b.ny * b.nz);
    std::vector<float> want(n), other(n);
    float *in = on_host<float>(n), *out = on_host<float>(n);
    float *grid[2] = {on_card<float>(n), on_card<float>(n)};
    for (size_t i = 0; i < n; i++)
        in[i] = want[i] = static_cast<float>(i * 2654435761u % 64);
    for (int s = 0; s < steps; s++, want.swap(other))
        smooth_on_host(want, other, b);
    cudaStream_t stream[2];
    cudaEvent_t done[2];
    for (int i = 0; i < 2; i++) {
        size_t first = static_cast<size_t>(i) * n / 2;
        cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
        cudaMemcpyAsync(grid[0] + first, in + first, n / 2 * sizeof(float),
                        cudaMemcpyHostToDevice, stream[i]);
        cudaEventRecord(done[i], stream[i]);
    }
    dim3 blocks((b.nx + TX - 1) / TX, (b.ny + TY - 1) / TY);
    for (int s = 0; s < steps; s++) { // one half reads a layer of the other
        for (int i = 0; i < 2 && without != EVENT_WAIT; i++)
            cudaStreamWaitEvent(stream[i], done[1 - i], 0);
        for (int i = 0; i < 2; i++) {
            LAUNCH(smooth, blocks, dim3(TX, TY), 0, stream[i], grid[s % 2],
                   grid[1 - s % 2], b, i * half, (i + 1) * half,
                   without != REUSE_BARRIER);
            cudaEventRecord(done[i], stream[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        size_t first = static_cast<size_t>(i) * n / 2;
        cudaMemcpyAsync(out + first, grid[steps % 2] + first,
                        n / 2 * sizeof(float), cudaMemcpyDeviceToHost,
                        stream[i]);
    }
    cudaStreamSynchronize(stream[0]);
    if (without != STREAM_WAIT)
        cudaStreamSynchronize(stream[1]);
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += !(out[i] == want[i]);
    for (int i = 0; i < 2; i++) {
        cudaStreamDestroy(stream[i]);
        cudaEventDestroy(done[i]);
        cudaFree(grid[i]);
    }
    cudaFreeHost(in);
    cudaFreeHost(out);
    return no_error() && wrong == 0;
}

bool staging_is_right(enum plant without)
{
    const int n = 64;
    int *staging = on_host<int>(n), *x = on_card<int>(2 * n), h[2 * n];
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int piece = 0; piece < 2; piece++) {
        for (int i = 0; i < n; i++)
            staging[i] = piece * n + i;
        cudaMemcpyAsync(x + piece * n, staging, n * sizeof(int),
                        cudaMemcpyHostToDevice, stream);
        if (without != STAGING_WAIT)
            cudaStreamSynchronize(stream);
    }
    cudaStreamSynchronize(stream);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 2 * n; i++)
        wrong += h[i] != i;
    cudaFreeHost(staging);
    cudaFree(x);
    cudaStreamDestroy(stream);
    return no_error() && wrong == 0;
}

bool cells_is_right(enum plant without)
{
    const int n = 1500, cells = 60, threads = 128;
    const unsigned blocks = (n + threads - 1) / threads;
    std::vector<uint32_t> h(n), start(cells), order(n), sorted(n);
    std::vector<uint32_t> want_start(cells), want_order(n);
    for (uint32_t i = 0; i < n; i++) {
        h[i] = i * 2654435761u % cells;
        want_order[i] = i;
    }
    for (uint32_t key : h)
        for (uint32_t c = key + 1; c < cells; c++)
            want_start[c]++;
    std::stable_sort(want_order.begin(), want_order.end(),
                     [&](uint32_t a, uint32_t b) { return h[a] < h[b]; });
    uint32_t *key = on_card<uint32_t>(n), *keys = on_card<uint32_t>(n);
    uint32_t *index = on_card<uint32_t>(n), *by_cell = on_card<uint32_t>(n);
    uint32_t *count = on_card<uint32_t>(cells);
    size_t bytes = primitives_workspace(n);
    void *workspace = on_card<char>(bytes);
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMemcpyAsync(key, h.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice,
                    s);
    if (without != FILL)
        cudaMemsetAsync(count, 0, cells * sizeof(uint32_t), s);
    LAUNCH(number, blocks, threads, 0, s, index, n);
    LAUNCH(count_keys, blocks, threads, 0, s, key, count, n);
    bool good = primitives_exclusive_sum_u32(workspace, bytes, count, count,
                                             cells, s) == cudaSuccess &&
                primitives_sort_pairs_u32(workspace, bytes, key, keys, index,
                                          by_cell, n, 6, s) == cudaSuccess;
    cudaMemcpyAsync(start.data(), count, cells * sizeof(uint32_t),
                    cudaMemcpyDeviceToHost, s);
    cudaMemcpyAsync(order.data(), by_cell, n * sizeof(uint32_t),
                    cudaMemcpyDeviceToHost, s);
    cudaMemcpyAsync(sorted.data(), keys, n * sizeof(uint32_t),
                    cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    for (void *p : {static_cast<void *>(key), static_cast<void *>(keys),
                    static_cast<void *>(index), static_cast<void *>(by_cell),
                    static_cast<void *>(count), workspace})
        cudaFree(p);
    cudaStreamDestroy(s);
    return no_error() && good && start == want_start && order == want_order &&
           std::is_sorted(sorted.begin(), sorted.end());
}

bool graph_is_right(void)
{
    const int n = 100, launches = 5;
    int *h = on_host<int>(n), *x = on_card<int>(n);
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t before, after;
    float ms = -1;
    cudaEventCreate(&before);
    cudaEventCreate(&after);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMemsetAsync(x, 0, n * sizeof(int), s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    LAUNCH(add, 1, 128, 0, s, x, n, 1);
    LAUNCH(add, 1, 128, 0, s, x, n, 2);
    cudaMemcpyAsync(h, x, n * sizeof(int), cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &graph);
    bool good = cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
    cudaEventRecord(before, s);
    for (int k = 0; k < launches; k++)
        cudaGraphLaunch(exec, s);
    cudaEventRecord(after, s);
    cudaError_t early = cudaEventQuery(after);
    if (early == cudaErrorNotReady)
        cudaGetLastError(); // or the next launch would seem to fail
    good = good && cudaPeekAtLastError() == cudaSuccess &&
           (early == cudaSuccess || early == cudaErrorNotReady);
    cudaStreamSynchronize(s);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += h[i] != 3 * launches;
    good = good && cudaEventQuery(after) == cudaSuccess &&
           cudaEventElapsedTime(&ms, before, after) == cudaSuccess;
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(before);
    cudaEventDestroy(after);
    cudaStreamDestroy(s);
    cudaFreeHost(h);
    cudaFree(x);
    return no_error() && good && wrong == 0 && ms >= 0;
}
