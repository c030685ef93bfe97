// CUB behind plain functions: see primitives.h.
#include "kernels/primitives.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace
{
// CUB sorts and sums 32-bit counts with 32-bit offsets, which is faster.
const size_t N_MAX = 0x7fffffff;

uint32_t count_of(size_t n)
{
    return static_cast<uint32_t>(n);
}
} // namespace

extern "C" {

size_t primitives_workspace(size_t n)
{
    const uint32_t *in = nullptr;
    uint32_t *out = nullptr;
    size_t sort = 0, sum = 0;
    if (n > N_MAX ||
        cub::DeviceRadixSort::SortPairs(nullptr, sort, in, out, in, out,
                                        count_of(n)) != cudaSuccess ||
        cub::DeviceScan::ExclusiveSum(nullptr, sum, in, out, count_of(n)) !=
            cudaSuccess)
        return 0;
    return sort > sum ? sort : sum;
}

cudaError_t primitives_sort_pairs_u32(void *workspace, size_t bytes,
                                      const uint32_t *keys_in,
                                      uint32_t *keys_out,
                                      const uint32_t *values_in,
                                      uint32_t *values_out, size_t n,
                                      int end_bit, cudaStream_t stream)
{
    // Without a workspace CUB would only say how much it wants.
    if (n > N_MAX || !workspace || end_bit < 1 || end_bit > 32)
        return cudaErrorInvalidValue;
    return cub::DeviceRadixSort::SortPairs(workspace, bytes, keys_in, keys_out,
                                           values_in, values_out, count_of(n),
                                           0, end_bit, stream);
}

cudaError_t primitives_exclusive_sum_u32(void *workspace, size_t bytes,
                                         const uint32_t *in, uint32_t *out,
                                         size_t n, cudaStream_t stream)
{
    if (n > N_MAX || !workspace)
        return cudaErrorInvalidValue;
    return cub::DeviceScan::ExclusiveSum(workspace, bytes, in, out, count_of(n),
                                         stream);
}

} // extern "C"
