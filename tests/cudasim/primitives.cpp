// kernels/primitives.h for the simulator: plain loops, queued as work of the
// card. The workspace is used, so that sharing it with anything live shows.
#include "sim.h"

#include "kernels/primitives.h"

#include <algorithm>

namespace
{
const size_t N_MAX = 0x7fffffff;

bool invalid(const void *workspace, size_t bytes, size_t n)
{
    return n > N_MAX || !workspace || bytes < primitives_workspace(n);
}

void sort_pairs(uint32_t *order, const uint32_t *keys_in, uint32_t *keys_out,
                const uint32_t *values_in, uint32_t *values_out, uint32_t n,
                uint32_t mask)
{
    for (uint32_t k = 0; k < n; k++)
        order[k] = k;
    std::stable_sort(order, order + n, [=](uint32_t a, uint32_t b) {
        return (keys_in[a] & mask) < (keys_in[b] & mask);
    });
    for (uint32_t k = 0; k < n; k++) {
        keys_out[k] = keys_in[order[k]];
        values_out[k] = values_in[order[k]];
    }
}
} // namespace

extern "C" {

size_t primitives_workspace(size_t n)
{
    return n > N_MAX ? 0 : 256 + n * sizeof(uint32_t);
}

cudaError_t primitives_sort_pairs_u32(void *workspace, size_t bytes,
                                      const uint32_t *keys_in,
                                      uint32_t *keys_out,
                                      const uint32_t *values_in,
                                      uint32_t *values_out, size_t n,
                                      int end_bit, cudaStream_t stream)
{
    if (invalid(workspace, bytes, n) || end_bit < 1 || end_bit > 32)
        return cudaErrorInvalidValue;
    auto *order = static_cast<uint32_t *>(workspace);
    auto count = static_cast<uint32_t>(n);
    uint32_t mask = 0xffffffffu >> (32 - end_bit);
    return cudasim::queue_work(stream, "sort of pairs", [=] {
        sort_pairs(order, keys_in, keys_out, values_in, values_out, count,
                   mask);
    });
}

cudaError_t primitives_exclusive_sum_u32(void *workspace, size_t bytes,
                                         const uint32_t *in, uint32_t *out,
                                         size_t n, cudaStream_t stream)
{
    if (invalid(workspace, bytes, n))
        return cudaErrorInvalidValue;
    auto *scratch = static_cast<unsigned char *>(workspace);
    return cudasim::queue_work(stream, "sum", [=] {
        cudasim::fill_junk(scratch, bytes);
        uint32_t sum = 0;
        for (size_t k = 0; k < n; k++) {
            uint32_t term = in[k];
            out[k] = sum;
            sum += term;
        }
    });
}

} // extern "C"
