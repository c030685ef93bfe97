// Launches, and the functions of the CUDA runtime that are not in queue.cpp or
// copies.cpp: memory, devices, errors.
#include "queue.h"

#include <climits>
#include <cstdio>
#include <cstring>

namespace cudasim
{

namespace
{
int present_device;

// Why a launch is refused, in text; empty where it is not.
std::string refusal(const launch_info &l, const kernel_facts &k)
{
    const dim3 &g = l.grid, &b = l.block;
    uint64_t n = uint64_t(b.x) * b.y * b.z;
    if (n == 0 || g.x == 0 || g.y == 0 || g.z == 0)
        return "nothing to launch";
    if (n > THREADS_MAX || b.x > 1024 || b.y > 1024 || b.z > 64)
        return "a block has at most 1024 threads (1024,1024,64)";
    if (g.x > INT_MAX || g.y > 65535 || g.z > 65535)
        return "a grid has at most (2^31-1,65535,65535) blocks";
    if (k.static_bytes > SHARED_STATIC_MAX)
        return std::to_string(k.static_bytes) +
               " bytes of static shared memory exceed 48 KiB";
    size_t all = k.static_bytes + l.shared_bytes;
    if (all > SHARED_STATIC_MAX && all > k.dynamic_max)
        return std::to_string(k.static_bytes) + " static + " +
               std::to_string(l.shared_bytes) +
               " dynamic bytes of shared memory (48 KiB, or ask for more by "
               "cudaFuncSetAttribute)";
    return "";
}
} // namespace

void queue_kernel(const launch_info &l, kernel_call call)
{
    std::shared_ptr<void> state(call.state, call.drop);
    auto body = [state, run = call.run] { run(state.get()); };
    CUstream_st *s = find_stream(l.stream);
    if (!s || broken) {
        launch_error_unread = true;
        return;
    }
    std::string why = refusal(l, facts_of(l.function));
    if (!why.empty()) {
        fail(cudaErrorInvalidConfiguration,
             "launch of '%s' at %s:%d <<<(%u,%u,%u),(%u,%u,%u),%zu>>>: %s",
             l.name, l.where.file, l.where.line, l.grid.x, l.grid.y, l.grid.z,
             l.block.x, l.block.y, l.block.z, l.shared_bytes, why.c_str());
        launch_error_unread = true;
        return;
    }
    asked.launches += !is_capturing(s);
    push(s, {[l, body] { run_kernel(l, body); }, l.name});
}

} // namespace cudasim

using namespace cudasim;

extern "C" {

// ---- memory -----------------------------------------------------------------
cudaError_t cudaMalloc(void **out, size_t n)
{
    return allocate({"?", 0}, MEMORY_DEVICE, out, n);
}

cudaError_t cudaMallocHost(void **out, size_t n)
{
    return allocate({"?", 0}, MEMORY_PINNED, out, n);
}

cudaError_t cudaHostAlloc(void **out, size_t n, unsigned)
{
    return allocate({"?", 0}, MEMORY_PINNED, out, n);
}

cudaError_t cudaFree(void *p)
{
    return release(p, MEMORY_DEVICE, "cudaFree");
}

cudaError_t cudaFreeHost(void *p)
{
    return release(p, MEMORY_PINNED, "cudaFreeHost");
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    start();
    *total = option.memory;
    *free = option.memory - memory_used();
    return broken;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *p)
{
    start();
    const allocation *a = find_allocation(p);
    memset(out, 0, sizeof *out);
    out->type = !a || a->freed             ? cudaMemoryTypeUnregistered
                : a->kind == MEMORY_DEVICE ? cudaMemoryTypeDevice
                                           : cudaMemoryTypeHost;
    return broken;
}

// What a CUDA-aware MPI says of itself; ours is none, but with the memory of
// the card open to the host (CUDASIM_PROTECT=0) it cannot tell.
int MPIX_Query_cuda_support(void)
{
    start();
    return option.mpi_takes_memory;
}

// ---- devices ----------------------------------------------------------------
cudaError_t cudaGetDeviceCount(int *n)
{
    start();
    *n = option.devices;
    return *n > 0 ? cudaSuccess : last_error = cudaErrorNoDevice;
}

cudaError_t cudaGetDevice(int *device)
{
    start();
    *device = present_device;
    return option.devices > 0 ? cudaSuccess : last_error = cudaErrorNoDevice;
}

cudaError_t cudaSetDevice(int device)
{
    start();
    if (option.devices == 0)
        return last_error = cudaErrorNoDevice;
    if (device < 0 || device >= option.devices)
        return last_error = cudaErrorInvalidDevice;
    present_device = device;
    return broken;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    start();
    if (device < 0 || device >= option.devices)
        return last_error = cudaErrorInvalidDevice;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "cudasim");
    p->totalGlobalMem = option.memory;
    p->sharedMemPerBlock = SHARED_STATIC_MAX;
    p->sharedMemPerBlockOptin = SHARED_DYNAMIC_MAX;
    p->regsPerBlock = 65536;
    p->warpSize = WARP_SIZE;
    p->maxThreadsPerBlock = THREADS_MAX;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = INT_MAX;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->major = 9;
    p->multiProcessorCount = 4;
    p->maxThreadsPerMultiProcessor = 2048;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel,
                                 cudaFuncAttribute attribute, int value)
{
    start();
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || value > SHARED_DYNAMIC_MAX)
            return fail(cudaErrorInvalidValue,
                        "%d bytes of dynamic shared memory: at most %d", value,
                        SHARED_DYNAMIC_MAX);
        facts_of(kernel).dynamic_max = static_cast<size_t>(value);
    }
    return broken;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

// ---- errors -----------------------------------------------------------------
cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = broken;
    launch_error_unread = false;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    launch_error_unread = false;
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define NAME(e) \
    case e:     \
        return #e
        NAME(cudaSuccess);
        NAME(cudaErrorInvalidValue);
        NAME(cudaErrorMemoryAllocation);
        NAME(cudaErrorInvalidConfiguration);
        NAME(cudaErrorNoDevice);
        NAME(cudaErrorInvalidDevice);
        NAME(cudaErrorECCUncorrectable);
        NAME(cudaErrorInvalidResourceHandle);
        NAME(cudaErrorIllegalState);
        NAME(cudaErrorNotReady);
        NAME(cudaErrorLaunchFailure);
        NAME(cudaErrorStreamCaptureUnsupported);
        NAME(cudaErrorStreamCaptureIsolation);
        NAME(cudaErrorStreamCaptureImplicit);
#undef NAME
    default:
        return "another error";
    }
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    case cudaErrorECCUncorrectable:
        return "uncorrectable ECC error encountered";
    case cudaErrorInvalidResourceHandle:
        return "invalid resource handle";
    case cudaErrorNotReady:
        return "device not ready";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    default:
        return cudaGetErrorName(error);
    }
}

} // extern "C"
