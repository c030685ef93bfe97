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
	kernels/fluid/poisson_cpu.h \
	kernels/fluid/profile_cpu.c \
	kernels/fluid/scalar.h \
	kernels/fluid/scalar_cpu.c \
	kernels/fluid/terms_cpu.h \
	kernels/fluid/transpose.h

libfluid_double_a_SOURCES = $(FLUID_LOOP_SOURCES)
libfluid_double_a_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=1
libfluid_single_a_SOURCES = $(FLUID_LOOP_SOURCES)
libfluid_single_a_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=3

# Small and in double whatever the precision.
libwarpdeck_a_SOURCES += \
	kernels/fluid/lines.h \
	kernels/fluid/lines_plan.c

EXTRA_DIST += $(FLUID_CUDA_SOURCES)
