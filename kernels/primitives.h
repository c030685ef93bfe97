/* primitives.h: sorting and summing on the card.
 *
 * CUB does the work, in one file (primitives.cu), since including it takes
 * longer to compile than all loops together. All calls are queued on the
 * stream and return at once; arrays and workspace are device memory. A
 * workspace serves one call at a time, so calls in one stream may share one.
 */
#ifndef WARPDECK_KERNELS_PRIMITIVES_H
#define WARPDECK_KERNELS_PRIMITIVES_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of workspace that are enough for every primitive of n elements or
 * fewer; 0 where n is beyond what they can do (2^31 - 1), or no card answers
 * (see cudaGetLastError()). */
size_t primitives_workspace(size_t n);

/* Sort n pairs by key, ascending; equal keys keep their order. Only the lowest
 * end_bit bits of a key (1 to 32) are looked at: fewer are faster. In and out
 * must not overlap. Errors: cudaErrorInvalidValue where the workspace is too
 * small or n too large, or what the launches report. */
cudaError_t primitives_sort_pairs_u32(void *workspace, size_t bytes,
                                      const uint32_t *keys_in,
                                      uint32_t *keys_out,
                                      const uint32_t *values_in,
                                      uint32_t *values_out, size_t n,
                                      int end_bit, cudaStream_t stream);

/* out[i] = in[0] + ... + in[i - 1] modulo 2^32, for i in [0, n). in and out may
 * be the same array. Errors: as above. */
cudaError_t primitives_exclusive_sum_u32(void *workspace, size_t bytes,
                                         const uint32_t *in, uint32_t *out,
                                         size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
