/* gpu.h: CUDA as the loops write it; the one header of CUDA a .cu file needs.
 *
 * The same file is compiled by nvcc for a card and by g++ (with CUDASIM
 * defined) for the simulator of tests/cudasim, which runs in the tests where
 * there is no card. Two things differ between them and are hidden here:
 *
 *     LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...);
 *         for kernel<<<grid, block, shared_bytes, stream>>>(arguments...).
 *         A template stands in parentheses: LAUNCH((sum<float, 4>), ...).
 *         A refused launch is reported by the next cudaGetLastError().
 *     DYN_SHARED(type, name);
 *         in a kernel: `type *name`, the dynamic shared memory of the launch,
 *         aligned to 16 bytes.
 */
#ifndef WARPDECK_KERNELS_GPU_H
#define WARPDECK_KERNELS_GPU_H

#ifdef CUDASIM
#include <cudasim.h>
#else
#include <cuda_runtime.h>

/* clang-format off */
#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
/* clang-format on */

#define DYN_SHARED(type, name)                                      \
    extern __shared__ __align__(16) unsigned char gpu_dyn_shared[]; \
    type *name = reinterpret_cast<type *>(gpu_dyn_shared)
#endif

#endif
