/* sums_cuda.cu: sums over chunks of paths: a tree over RISK_BLOCK paths by
 * shuffles, then the blocks of a chunk in order, as on the CPU.
 *
 * A block of threads makes the sums of one row (an instrument, or the
 * portfolio) and chunk.
 */
#include "kernels/risk/risk_cuda.h"

enum {
    SUM_THREADS = 256,
    SUM_WARPS = SUM_THREADS / 32,
    SUM_BLOCKS = RISK_CHUNK / RISK_BLOCK, /* blocks of paths in a chunk */
    SUM_FIELDS = sizeof(struct risk_sums) / sizeof(double),
    ONE_CONTROL = 5, /* of them: without a second control */
    PAIR_FIELDS = sizeof(struct risk_scenario_sums) / sizeof(double),
    PAIR_VALUES = PAIR_FIELDS + 2 /* y and yy of the second scenario, too */
};
static_assert(RISK_BLOCK == 64, "a warp adds two numbers a lane");

/* The sum over a block of paths, of which a lane has numbers i and i + 32;
 * right in lane 0. */
static __device__ __forceinline__ double tree(double low, double high)
{
    double v = low + high;
#pragma unroll
    for (int h = 16; h >= 1; h /= 2)
        v = v + __shfl_down_sync(0xffffffffu, v, h);
    return v;
}

/* Call values(path of the chunk, out[N]) for each path, and leave the N sums in
 * out[] of threads 0 ... N - 1 (of sums[thread]). */
template <int N, class Values>
static __device__ __forceinline__ double sum_chunk(double (*shared)[SUM_BLOCKS],
                                                   Values values)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    for (int b = warp; b < SUM_BLOCKS; b += SUM_WARPS) {
        double low[N], high[N];
        values(b * RISK_BLOCK + lane, low);
        values(b * RISK_BLOCK + 32 + lane, high);
#pragma unroll
        for (int n = 0; n < N; n++) {
            double v = tree(low[n], high[n]);
            if (lane == 0)
                shared[n][b] = v;
        }
    }
    __syncthreads();
    double sum = 0;
    if (threadIdx.x < N)
        for (int b = 0; b < SUM_BLOCKS; b++)
            sum = sum + shared[threadIdx.x][b];
    return sum;
}

/* FIELDS: the first of them that are wanted; the others stay 0. */
template <int FIELDS>
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_rows(struct risk_view m, double *out)
{
    __shared__ double shared[FIELDS][SUM_BLOCKS];
    const int rows = m.n_instruments + 1, row = (int)blockIdx.x % rows;
    const size_t chunk = blockIdx.x / (unsigned)rows,
                 at = (size_t)row * m.stride + chunk * RISK_CHUNK;
    const double *pay = m.pay + at, *control = m.control + at;
    const int controlled =
        row < m.n_instruments && m.instruments[row].control != RISK_NO_CONTROL;
    const int two = FIELDS > ONE_CONTROL && row < m.n_instruments &&
                    risk_wants_twin(&m.instruments[row]);
    const double *second = two ? m.second + at : pay;
    double sum = sum_chunk<FIELDS>(shared, [&](int i, double value[FIELDS]) {
        const double y = pay[i], c = controlled ? control[i] : 0;
        value[0] = y;
        value[1] = y * y;
        value[2] = c;
        value[3] = c * c;
        value[4] = controlled ? y * c : 0;
        if constexpr (FIELDS > ONE_CONTROL) {
            const double s = two ? second[i] : 0;
            value[5] = s;
            value[6] = s * s;
            value[7] = two ? y * s : 0;
            value[8] = two ? c * s : 0;
        }
    });
    if (threadIdx.x < FIELDS)
        out[(size_t)blockIdx.x * SUM_FIELDS + threadIdx.x] = sum;
}

static __global__ void __launch_bounds__(SUM_THREADS)
    sum_pairs(struct risk_view m, int n_scenarios, double *out)
{
    __shared__ double shared[PAIR_VALUES][SUM_BLOCKS];
    const int rows = m.n_instruments + 1, row = (int)blockIdx.x % rows;
    const size_t chunk = blockIdx.x / (unsigned)rows,
                 at = (size_t)row * m.stride + chunk * RISK_CHUNK;
    const double *low = m.moved + at, *high = low + (size_t)rows * m.stride,
                 *pay = m.pay + at;
    double sum =
        sum_chunk<PAIR_VALUES>(shared, [&](int i, double value[PAIR_VALUES]) {
            const double a = low[i], c = high[i], y = pay[i];
            const double d = c - a, d2 = (c - y) - (y - a);
            value[0] = a;
            value[1] = a * a;
            value[2] = d;
            value[3] = d * d;
            value[4] = d2;
            value[5] = d2 * d2;
            value[6] = c;
            value[7] = c * c;
        });
    double *first =
        out + (chunk * (size_t)n_scenarios * (size_t)rows + (size_t)row) *
                  PAIR_FIELDS;
    double *second = first + (size_t)rows * PAIR_FIELDS;
    const int n = (int)threadIdx.x;
    if (n < PAIR_FIELDS)
        first[n] = sum;
    else if (n < PAIR_VALUES)
        second[n - PAIR_FIELDS] = sum;
    if (n >= 2 && n < PAIR_FIELDS)
        second[n] = 0; /* differences stand at the first */
}

int risk_cuda_sums(struct risk_store *s, int64_t chunks, struct risk_sums *out)
{
    const unsigned grid = (unsigned)(chunks * (s->view.n_instruments + 1));
    if (s->t.any_twin)
        LAUNCH((sum_rows<SUM_FIELDS>), grid, SUM_THREADS, 0, s->device->stream,
               s->view, (double *)out);
    else
        LAUNCH((sum_rows<ONE_CONTROL>), grid, SUM_THREADS, 0, s->device->stream,
               s->view, (double *)out);
    CUDA_TRY_LAUNCH(s->ctx, "sum_rows");
    return 0;
}

int risk_cuda_pair_sums(struct risk_store *s, int64_t chunks,
                        struct risk_scenario_sums *out)
{
    const unsigned grid = (unsigned)(chunks * (s->view.n_instruments + 1));
    LAUNCH(sum_pairs, grid, SUM_THREADS, 0, s->device->stream, s->view,
           s->t.plan.n_scenarios, (double *)out);
    CUDA_TRY_LAUNCH(s->ctx, "sum_pairs");
    return 0;
}
