// Faults in what the host does with memory, streams and graphs: see faults.cu.
#include "faults.h"

#include <cstdio>

void host_read()
{
    float *a = floats(N);
    cudaMemset(a, 0, N * sizeof *a);
    cudaDeviceSynchronize();
    printf("%g\n", static_cast<double>(a[3]));
    finish(a);
}

void long_copy()
{
    float *a = floats(N), *host = nullptr;
    cudaMallocHost(&host, 2 * N * sizeof *host);
    cudaMemcpy(host, a, (N + 1) * sizeof *a, cudaMemcpyDeviceToHost);
    cudaFreeHost(host);
    finish(a);
}

void copy_kind()
{
    float *a = floats(N), h[N];
    cudaMemcpy(h, a, sizeof h, cudaMemcpyHostToDevice);
    finish(a);
}

void early_look()
{
    float *a = floats(N), *host = nullptr;
    cudaMallocHost(&host, N * sizeof *host);
    queue_put(a);
    cudaMemcpyAsync(host, a, N * sizeof *a, cudaMemcpyDeviceToHost, 0);
    wrong_unless(host[0] == 1.0f);
    cudaDeviceSynchronize();
    cudaFreeHost(host);
    finish(a);
}

void leak()
{
    floats(N);
}

void leaked_stream()
{
    cudaStream_t s;
    cudaStreamCreate(&s);
}

void inner_free()
{
    float *a = floats(N);
    cudaFree(a + 1);
    finish(a);
}

void double_free()
{
    float *a = floats(N);
    cudaFree(a);
    cudaFree(a);
}

void wrong_free()
{
    float *host = nullptr;
    cudaMallocHost(&host, sizeof *host);
    cudaFree(host);
    cudaFreeHost(host);
}

void late_use()
{
    float *a = floats(N);
    cudaFree(a);
    queue_put(a);
    cudaDeviceSynchronize();
}

void never_waited()
{
    float *a = floats(N);
    cudaFree(a);
    cudaStream_t s;
    cudaStreamCreate(&s);
    queue_stop(s);
    cudaStreamDestroy(s);
}

void wait_in_capture()
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaStreamSynchronize(s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(s);
}

void dead_stream()
{
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaStreamDestroy(s);
    cudaStreamSynchronize(s);
}

// With CUDASIM_LOST: every call gives the error from then on.
void lost_card()
{
    float *a = floats(N), h[N];
    for (int k = 0; k < 4; k++) {
        queue_put(a);
        printf("%s\n", cudaGetErrorName(
                           cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost)));
    }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    wrong_unless(cudaFree(a) == cudaSuccess);
}
