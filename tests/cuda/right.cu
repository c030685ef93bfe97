// Right programs have the right result, on the simulated card and on a real
// one.
#include "samples.h"

extern "C" {
#include "tests/tap.h"
}

#include "kernels/gpu.h"

int main(void)
{
    tap_ok(sum_is_right(NOTHING),
           "a sum over warps, shared memory and blocks is right");
    tap_ok(sums_are_right(NOTHING), "so are two sums, one after the other");
    tap_ok(warp_is_right(NOTHING), "an exchange within warps is right");
    tap_ok(stencil_is_right(NOTHING),
           "a stencil in two streams that wait for one another is right");
    tap_ok(staging_is_right(NOTHING), "copies through one buffer are right");
    tap_ok(cells_is_right(NOTHING), "counting, summing and sorting are right");
    tap_ok(graph_is_right(), "a captured graph does its work at every launch");
    int devices = 0, device = -1;
    size_t free_bytes = 0, total = 0;
    struct cudaDeviceProp p;
    tap_ok(cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 &&
               cudaSetDevice(0) == cudaSuccess &&
               cudaGetDevice(&device) == cudaSuccess && device == 0 &&
               cudaGetDeviceProperties(&p, 0) == cudaSuccess,
           "the card says what it is");
    tap_ok(cudaMemGetInfo(&free_bytes, &total) == cudaSuccess &&
               free_bytes <= total && total <= p.totalGlobalMem,
           "and how much memory it has");
    void *much = nullptr;
    tap_ok(cudaMalloc(&much, total + 1) == cudaErrorMemoryAllocation,
           "more memory than there is, is refused");
    tap_ok(cudaGetLastError() == cudaErrorMemoryAllocation &&
               cudaGetLastError() == cudaSuccess,
           "the error is kept until it is read once");
    tap_note("%s", p.name);
    return tap_done();
}
