# kernels
libwarpdeck_a_SOURCES += \
	kernels/device.c \
	kernels/device.h \
	kernels/devices.def \
	kernels/fft_lines.c \
	kernels/fft_lines.h \
	kernels/fft_power.c \
	kernels/fft_power.h \
	kernels/linear.c \
	kernels/linear.h \
	kernels/machine.c \
	kernels/machine.h \
	kernels/noise.h \
	kernels/noise_cpu.c \
	kernels/rng.c \
	kernels/rng.h \
	kernels/simd_order.c \
	kernels/simd_order.h \
	kernels/transfer.c

CUDA_SOURCES += \
	kernels/card_cuda.cu \
	kernels/device_cuda.cu \
	kernels/fft_cuda.cu \
	kernels/primitives.cu
if WITH_CUDA
libwarpdeck_a_LIBADD += $(CUDA_OBJECTS)
else
libwarpdeck_a_SOURCES += kernels/device_cuda_absent.c
endif
EXTRA_DIST += $(CUDA_SOURCES) kernels/device_cuda.h \
	kernels/fft_cuda.h kernels/gpu.h kernels/noise_cuda.h \
	kernels/primitives.h
