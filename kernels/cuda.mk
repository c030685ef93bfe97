# .cu files: how they are compiled. The lists are filled in by the fragments of
# the folders:
#
#     CUDA_SOURCES      compiled once
#     MD_CUDA_SOURCES   compiled once per precision, as the loops for the CPU
#     FLUID_CUDA_SOURCES   the same; the fluid knows no mixed precision
#     RISK_CUDA_SOURCES compiled once, nothing contracted (kernels/risk/exact.h)
#
# nvcc makes NAME.nv.o for a card, and NAME.nv.log, what the assembler said of
# registers (a test reads it); the C++ compiler makes NAME.sim.o for the
# simulator of tests/cudasim. In between stands the precision, if any.
CUDA_SOURCES =
MD_CUDA_SOURCES =
FLUID_CUDA_SOURCES =
RISK_CUDA_SOURCES =

CUDA_OBJECTS = $(CUDA_SOURCES:.cu=.nv.o) $(RISK_CUDA_SOURCES:.cu=.nv.o) \
	$(MD_CUDA_SOURCES:.cu=.double.nv.o) \
	$(MD_CUDA_SOURCES:.cu=.mixed.nv.o) $(MD_CUDA_SOURCES:.cu=.single.nv.o) \
	$(FLUID_CUDA_SOURCES:.cu=.double.nv.o) \
	$(FLUID_CUDA_SOURCES:.cu=.single.nv.o)
# CUB is replaced by the simulator's own loops.
CUDASIM_OBJECTS = $(CUDA_SIM_SOURCES:.cu=.sim.o) \
	$(RISK_CUDA_SOURCES:.cu=.sim.o) \
	$(MD_CUDA_SOURCES:.cu=.double.sim.o) \
	$(MD_CUDA_SOURCES:.cu=.mixed.sim.o) \
	$(MD_CUDA_SOURCES:.cu=.single.sim.o) \
	$(FLUID_CUDA_SOURCES:.cu=.double.sim.o) \
	$(FLUID_CUDA_SOURCES:.cu=.single.sim.o)
CUDA_SIM_SOURCES = $(filter-out kernels/primitives.cu,$(CUDA_SOURCES))

# CUDASIM_TREE: a changed copy of kernels/, for tests/cuda/remove_syncs.py.
CUDA_COMMON = -include $(top_builddir)/config.h $(CUDASIM_TREE:%=-I%) \
	-I$(top_srcdir)/src -I$(top_srcdir)
# nvcc says on one stream what it does and what is wrong: the former is kept.
NVCC_COMPILE = $(MKDIR_P) $(@D) && \
	{ $(NVCC) $(NVCC_ARCH) -std=c++17 $(CUDA_COMMON) $(NVCCFLAGS) \
	  -Xptxas -v -MD -MP -MF $(@:.o=.d) -c $< -o $@ $(CUDA_VARIANT) \
	  >$(@:.o=.log) 2>&1; status=$$?; \
	  grep -v -e '^ptxas info' -e '^    [0-9]* bytes' $(@:.o=.log) >&2; \
	  exit $$status; }
CUDASIM_COMPILE = $(MKDIR_P) $(@D) && \
	$(CXX) -DCUDASIM $(CUDA_COMMON) -I$(top_srcdir)/tests/cudasim \
	$(CUDA_CPPFLAGS) $(CPPFLAGS) $(AM_CXXFLAGS) $(CUDASIM_SANITIZE) \
	$(CXXFLAGS) $(CUDASIM_LEVEL) -Wno-unknown-pragmas -MD -MP -MF $(@:.o=.d) \
	$(CUDA_VARIANT) -x c++ -c $< -o $@
# Of a simulated card's time half goes into changing from thread to thread: what
# more optimization would save there, compilers take several times; with
# sanitizers it saves nothing.
if SANITIZE
CUDASIM_LEVEL = -Og
CUDASIM_SANITIZE = -fsanitize=bounds-strict
else
CUDASIM_LEVEL = -O1
endif

NVCC_VERBOSE = $(NVCC_VERBOSE_@AM_V@)
NVCC_VERBOSE_ = $(NVCC_VERBOSE_@AM_DEFAULT_V@)
NVCC_VERBOSE_0 = @echo "  NVCC    " $@;
NVCC_VERBOSE_1 =

%.double.nv.o %.double.sim.o: CUDA_VARIANT = -DMD_PRECISION=1 \
	-DFLUID_PRECISION=1
%.mixed.nv.o %.mixed.sim.o: CUDA_VARIANT = -DMD_PRECISION=2 \
	-DFLUID_PRECISION=2
%.single.nv.o %.single.sim.o: CUDA_VARIANT = -DMD_PRECISION=3 \
	-DFLUID_PRECISION=3

RISK_CUDA_SIM = $(RISK_CUDA_SOURCES:.cu=.sim.o)
$(RISK_CUDA_SOURCES:.cu=.nv.o): CUDA_VARIANT = -fmad=false \
	-Xcompiler -ffp-contract=off
$(RISK_CUDA_SIM) $(RISK_CUDA_SIM:%=$(CUDASIM_TREE)/%): CUDA_VARIANT = \
	-ffp-contract=off -fno-math-errno

%.nv.o: %.cu
	$(NVCC_VERBOSE)$(NVCC_COMPILE)
%.double.nv.o: %.cu
	$(NVCC_VERBOSE)$(NVCC_COMPILE)
%.mixed.nv.o: %.cu
	$(NVCC_VERBOSE)$(NVCC_COMPILE)
%.single.nv.o: %.cu
	$(NVCC_VERBOSE)$(NVCC_COMPILE)
%.sim.o: %.cu
	$(AM_V_CXX)$(CUDASIM_COMPILE)
%.double.sim.o: %.cu
	$(AM_V_CXX)$(CUDASIM_COMPILE)
%.mixed.sim.o: %.cu
	$(AM_V_CXX)$(CUDASIM_COMPILE)
%.single.sim.o: %.cu
	$(AM_V_CXX)$(CUDASIM_COMPILE)

-include $(wildcard kernels/*.nv.d kernels/*.sim.d kernels/*/*.nv.d \
	kernels/*/*.sim.d tests/cuda/*.sim.d \
	$(CUDASIM_TREE:%=%/kernels/*.sim.d) $(CUDASIM_TREE:%=%/kernels/*/*.sim.d))

CLEANFILES += kernels/*.nv.* kernels/*.sim.* kernels/*/*.nv.* \
	kernels/*/*.sim.* tests/cuda/*.nv.* tests/cuda/*.sim.*
