# tests/cuda: the simulator notices faults, and the compiler's report is good.
CUDA_TESTS = tests/cuda/t_faults.sh tests/cuda/t_simulator.sh
TESTS += $(CUDA_TESTS)
EXTRA_DIST += $(CUDA_TESTS) tests/cuda/over_seeds.sh tests/cuda/faults.cu \
	tests/cuda/right.cu tests/cuda/samples.cu tests/cuda/samples.h

if WITH_CUDASIM
check_PROGRAMS += tests/cuda/faults tests/cuda/right
tests_cuda_faults_SOURCES =
tests_cuda_faults_LDADD = tests/cuda/faults.sim.o tests/cuda/samples.sim.o \
	tests/cudasim/libcudasim.a $(CUDASIM_LIBS)
tests_cuda_faults_LINK = $(CXXLINK)
tests_cuda_right_SOURCES =
tests_cuda_right_LDADD = tests/cuda/right.sim.o tests/cuda/samples.sim.o \
	tests/cudasim/libcudasim.a tests/libtap.a $(CUDASIM_LIBS)
tests_cuda_right_LINK = $(CXXLINK)
endif
