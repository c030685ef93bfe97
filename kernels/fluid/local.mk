# kernels/fluid: one set of sources, compiled once per precision.
noinst_LIBRARIES += libfluid_double.a libfluid_single.a
FLUID_LOOP_SOURCES = \
	kernels/simd.h \
	kernels/fft_butterfly.h \
	kernels/fft_families.c \
	kernels/fft_fftw.c \
	kernels/fft_lanes.c \
	kernels/fft_lanes.h \
	kernels/fluid/block_cpu.c \
	kernels/fluid/correct_cpu.c \
	kernels/fluid/exchange_cpu.c \
	kernels/fluid/extra_cpu.c \
	kernels/fluid/fields_cpu.c \
	kernels/fluid/fluid_cpu.c \
	kernels/fluid/fluid_cpu.h \
	kernels/fluid/fluid_kernels.h \
	kernels/fluid/ghosts_cpu.c \
	kernels/fluid/lines_cpu.c \
	kernels/fluid/look_cpu.c \
	kernels/fluid/momentum_cpu.c \
	kernels/fluid/stencil.h \
	kernels/fluid/sweep_cpu.c \
	kernels/fluid/sweep_cpu.h \
	kernels/fluid/poisson_columns.c \
	kernels/fluid/poisson_cpu.h \
	kernels/fluid/poisson_create.c \
	kernels/fluid/poisson_exchange.c \
	kernels/fluid/poisson_planes.c \
	kernels/fluid/poisson_state.h \
	kernels/fluid/poisson_tables.c \
	kernels/fluid/profile_cpu.c \
	kernels/fluid/scalar.h \
	kernels/fluid/scalar_cpu.c \
	kernels/fluid/terms_cpu.h \
	kernels/fluid/transpose.h \
	kernels/fluid/wall_rule.h

libfluid_double_a_SOURCES = $(FLUID_LOOP_SOURCES)
libfluid_double_a_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=1
libfluid_single_a_SOURCES = $(FLUID_LOOP_SOURCES)
libfluid_single_a_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=3

# Small and in double whatever the precision.
libwarpdeck_a_SOURCES += \
	kernels/fluid/lines.h \
	kernels/fluid/lines_plan.c

FLUID_CUDA_SOURCES += \
	kernels/fluid/block_cuda.cu \
	kernels/fluid/columns_cuda.cu \
	kernels/fluid/exchange_cuda.cu \
	kernels/fluid/lines_cuda.cu \
	kernels/fluid/look_cuda.cu \
	kernels/fluid/poisson_cuda.cu \
	kernels/fluid/profile_cuda.cu \
	kernels/fluid/scalar_cuda.cu \
	kernels/fluid/step_cuda.cu \
	kernels/fluid/store_cuda.cu
EXTRA_DIST += $(FLUID_CUDA_SOURCES) kernels/fluid/center_cuda.h \
	kernels/fluid/columns_cuda.h kernels/fluid/poisson_cuda.h \
	kernels/fluid/store_cuda.h
