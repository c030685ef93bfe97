# kernels/risk: bits must not depend on the compiler's liberties (exact.h).
noinst_LIBRARIES += librisk.a
librisk_a_SOURCES = \
	kernels/risk/analytic.h \
	kernels/risk/exact.h \
	kernels/risk/exact_lanes.h \
	kernels/risk/exercise.h \
	kernels/risk/late_cpu.c \
	kernels/risk/models.h \
	kernels/risk/normals.h \
	kernels/risk/normals_cpu.c \
	kernels/risk/payoff.h \
	kernels/risk/plain.h \
	kernels/risk/plain_cpu.c \
	kernels/risk/regress_cpu.c \
	kernels/risk/risk_cpu.c \
	kernels/risk/risk_cpu.h \
	kernels/risk/risk_kernels.h \
	kernels/risk/risk_tables.c \
	kernels/risk/risk_tables.h \
	kernels/risk/sobol.c \
	kernels/risk/sobol.h \
	kernels/risk/sobol_cpu.c \
	kernels/risk/sobol_numbers.h \
	kernels/risk/sums_cpu.c \
	kernels/risk/value.h \
	kernels/risk/value_cpu.c \
	kernels/risk/walk_cpu.c
librisk_a_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -fno-math-errno

RISK_CUDA_SOURCES += \
	kernels/risk/looks_cuda.cu \
	kernels/risk/regress_cuda.cu \
	kernels/risk/sobol_cuda.cu \
	kernels/risk/store_cuda.cu \
	kernels/risk/sums_cuda.cu \
	kernels/risk/walk_cuda.cu
EXTRA_DIST += $(RISK_CUDA_SOURCES) kernels/risk/risk_cuda.h \
	kernels/risk/walker_cuda.h
