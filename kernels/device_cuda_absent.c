/* device_cuda_absent.c: the cuda device in a build without CUDA: known by name,
 * so that asking for it gives a helpful answer. */
#include "kernels/device.h"

const struct device_backend device_backend_cuda = {
    .name = "cuda",
    .absent = "built without CUDA: configure --with-cuda",
};
