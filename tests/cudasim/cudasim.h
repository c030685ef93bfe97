/* cudasim.h: CUDA's language and launches on the host, so that the loops for
 * cards are tested on machines without one.
 *
 * A .cu file is compiled as C++ with CUDASIM defined and includes this header
 * by kernels/gpu.h. NVIDIA's own headers give the types and the prototypes of
 * the runtime, so that the compiler checks the simulator against them;
 * libcudart is not linked, the simulator defines the functions that our files
 * use.
 *
 * One thread of the host runs everything. Blocks run one at a time in an order
 * given by a seed; the threads of a block are fibers, resumed in a random order
 * at every barrier. Queued work runs only when the host waits for it. Memory of
 * the card is filled with NaN patterns and closed to the host. What is wrong is
 * reported on stderr ("cudasim: ERROR: ...") and makes the exit status 86.
 *
 * Environment:
 *     CUDASIM_SEED=1      order of blocks, threads and streams; 0: the natural
 *                         one, which hides missing barriers
 *     CUDASIM_MEM=BYTES   memory of the card (16 GiB)
 *     CUDASIM_DEVICES=1   number of cards
 *     CUDASIM_LOST=N      the card fails (uncorrectable ECC error) after N
 *                         operations
 *     CUDASIM_MPI=1       MPI says that it takes memory of the card, which then
 *                         has to be open (CUDASIM_PROTECT=0)
 *     CUDASIM_TRAP=1      stop at the first arithmetic on what nobody wrote
 *     CUDASIM_COUNT=1     say at the end how many launches, copies (fills, too)
 *                         and waits of the host there were
 *     CUDASIM_PROTECT=0   leave the memory of the card open to the host: faster
 *     CUDASIM_ERROR=return  a fault in a kernel breaks the context as on a card
 *                         (cudaErrorLaunchFailure) instead of ending the
 * process CUDASIM_STACK=BYTES of each thread of a block (256 KiB)
 *
 * Not simulated: preemption between barriers (a race shows by order alone),
 * weak memory, waiting for another block, half precision, textures, cooperative
 * groups, several host threads, registers, and the accuracy of fast functions.
 */
#ifndef WARPDECK_TESTS_CUDASIM_H
#define WARPDECK_TESTS_CUDASIM_H

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

// Shared memory is static: blocks run one after another. Not thread_local,
// round which the address sanitizer puts no red zones. "extern __shared__"
// fails to compile, as it should: DYN_SHARED is for that.
#undef __shared__
#define __shared__ static
#undef __launch_bounds__
#define __launch_bounds__(...)

namespace cudasim
{

struct site { // in the source
    const char *file;
    int line;
};

// ---- the thread that runs now ---------------------------------------------
extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;
extern unsigned char *dynamic_shared;

enum operation : unsigned char {
    OP_SYNCTHREADS,
    OP_SYNCTHREADS_COUNT,
    OP_SYNCTHREADS_AND,
    OP_SYNCTHREADS_OR,
    OP_SYNCWARP,
    OP_SHFL,
    OP_BALLOT,
    OP_ANY,
    OP_ALL,
    OP_MATCH,
    OP_ADD,
    OP_MIN,
    OP_MAX,
    OP_UNSIGNED_MIN,
    OP_UNSIGNED_MAX,
    OP_AND,
    OP_OR,
    OP_XOR
};

// Wait until all threads of the block are here. Returns what the barrier
// counts.
int barrier(operation op, int predicate, site where);
// Wait until all lanes of the mask are here. kind: what else must agree.
uint64_t warp(operation op, unsigned mask, uint64_t value, int source,
              site where, int kind = 0);
unsigned active_mask();
int lane();
void let_others_run();
[[noreturn]] void trap(site where);

// ---- launches and other work for the card -----------------------------------
struct launch_info {
    const char *name;
    const void *function;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    site where;
};
// What each thread runs, and the values of the arguments. (Half of what the
// compiler takes for a short file would go into <functional>.)
struct kernel_call {
    void (*run)(const void *state);
    void (*drop)(void *state);
    void *state;
};
void queue_kernel(const launch_info &launch, kernel_call call);

template <class... P, class... A>
void launch(launch_info l, void (*kernel)(P...), A &&...arguments)
{
    static_assert((!std::is_reference_v<P> && ...),
                  "a kernel's parameter is a reference");
    static_assert((std::is_trivially_copyable_v<P> && ...),
                  "a kernel's parameter is not trivially copyable");
    l.function = reinterpret_cast<const void *>(kernel);
    // By value and now, as CUDA does.
    struct state {
        void (*kernel)(P...);
        std::tuple<P...> values;
    };
    queue_kernel(l, {[](const void *p) {
                         auto *s = static_cast<const state *>(p);
                         std::apply(s->kernel, s->values);
                     },
                     [](void *p) { delete static_cast<state *>(p); },
                     new state{kernel, {static_cast<P>(arguments)...}}});
}

// ---- memory, with the place in the source that asked for it -----------------
enum memory_kind { MEMORY_DEVICE, MEMORY_PINNED };
cudaError_t allocate(site where, memory_kind kind, void **out, size_t bytes);
template <class T>
cudaError_t allocate(site where, memory_kind kind, T **out, size_t bytes,
                     unsigned = 0)
{
    void *p = nullptr;
    cudaError_t error = allocate(where, kind, &p, bytes);
    *out = static_cast<T *>(p);
    return error;
}

} // namespace cudasim

#define CUDASIM_HERE (cudasim::site{__FILE__, __LINE__})
#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)              \
    cudasim::launch(cudasim::launch_info{#kernel, nullptr, (grid), (block), \
                                         static_cast<size_t>(shared_bytes), \
                                         (stream), CUDASIM_HERE},           \
                    kernel, ##__VA_ARGS__)
#define DYN_SHARED(type, name) \
    type *name = reinterpret_cast<type *>(cudasim::dynamic_shared)

#define cudaMalloc(...) \
    cudasim::allocate(CUDASIM_HERE, cudasim::MEMORY_DEVICE, __VA_ARGS__)
#define cudaMallocHost(...) \
    cudasim::allocate(CUDASIM_HERE, cudasim::MEMORY_PINNED, __VA_ARGS__)
#define cudaHostAlloc(...) \
    cudasim::allocate(CUDASIM_HERE, cudasim::MEMORY_PINNED, __VA_ARGS__)

#define threadIdx (cudasim::thread_index)
#define blockIdx (cudasim::block_index)
#define blockDim (cudasim::block_size)
#define gridDim (cudasim::grid_size)
constexpr int warpSize = 32; // no macro: cudaDeviceProp has a member like it

// ---- barriers and warp functions -------------------------------------------
#define __syncthreads() \
    ((void)cudasim::barrier(cudasim::OP_SYNCTHREADS, 0, CUDASIM_HERE))
#define __syncthreads_count(p) \
    cudasim::barrier(cudasim::OP_SYNCTHREADS_COUNT, !!(p), CUDASIM_HERE)
#define __syncthreads_and(p) \
    cudasim::barrier(cudasim::OP_SYNCTHREADS_AND, !!(p), CUDASIM_HERE)
#define __syncthreads_or(p) \
    cudasim::barrier(cudasim::OP_SYNCTHREADS_OR, !!(p), CUDASIM_HERE)
#define __syncwarp(...) cudasim::sync_warp(CUDASIM_HERE, ##__VA_ARGS__)
#define __activemask() cudasim::active_mask()
#define __ballot_sync(mask, p) \
    cudasim::vote<unsigned>(CUDASIM_HERE, cudasim::OP_BALLOT, mask, !!(p))
#define __any_sync(mask, p) \
    cudasim::vote<int>(CUDASIM_HERE, cudasim::OP_ANY, mask, !!(p))
#define __all_sync(mask, p) \
    cudasim::vote<int>(CUDASIM_HERE, cudasim::OP_ALL, mask, !!(p))
#define __match_any_sync(mask, v)                                  \
    cudasim::vote<unsigned>(CUDASIM_HERE, cudasim::OP_MATCH, mask, \
                            cudasim::bits(v))
#define __shfl_sync(...) \
    cudasim::shuffle(CUDASIM_HERE, cudasim::FROM_LANE, __VA_ARGS__)
#define __shfl_up_sync(...) \
    cudasim::shuffle(CUDASIM_HERE, cudasim::FROM_BELOW, __VA_ARGS__)
#define __shfl_down_sync(...) \
    cudasim::shuffle(CUDASIM_HERE, cudasim::FROM_ABOVE, __VA_ARGS__)
#define __shfl_xor_sync(...) \
    cudasim::shuffle(CUDASIM_HERE, cudasim::FROM_XOR, __VA_ARGS__)
#define CUDASIM_REDUCE(op, unsigned_op, mask, v) \
    cudasim::reduce(CUDASIM_HERE, cudasim::op, cudasim::unsigned_op, mask, v)
#define __reduce_add_sync(mask, v) CUDASIM_REDUCE(OP_ADD, OP_ADD, mask, v)
#define __reduce_min_sync(mask, v) \
    CUDASIM_REDUCE(OP_MIN, OP_UNSIGNED_MIN, mask, v)
#define __reduce_max_sync(mask, v) \
    CUDASIM_REDUCE(OP_MAX, OP_UNSIGNED_MAX, mask, v)
#define __reduce_and_sync(mask, v) CUDASIM_REDUCE(OP_AND, OP_AND, mask, v)
#define __reduce_or_sync(mask, v) CUDASIM_REDUCE(OP_OR, OP_OR, mask, v)
#define __reduce_xor_sync(mask, v) CUDASIM_REDUCE(OP_XOR, OP_XOR, mask, v)
#define __trap() cudasim::trap(CUDASIM_HERE)
#define __nanosleep(ns) ((void)(ns), cudasim::let_others_run())
// One thread of the host: memory is seen in the order of the program.
#define __threadfence() ((void)0)
#define __threadfence_block() ((void)0)
#define __threadfence_system() ((void)0)

#include "cudasim_functions.h"

#endif
