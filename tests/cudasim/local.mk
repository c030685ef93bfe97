# tests/cudasim: the simulator of a card, and the program that runs on it.
CUDASIM_SOURCES = \
	tests/cudasim/api.cpp \
	tests/cudasim/block.cpp \
	tests/cudasim/copies.cpp \
	tests/cudasim/cufft.cpp \
	tests/cudasim/cudasim.h \
	tests/cudasim/cudasim_functions.h \
	tests/cudasim/faults.cpp \
	tests/cudasim/fibers.cpp \
	tests/cudasim/memory.cpp \
	tests/cudasim/primitives.cpp \
	tests/cudasim/queue.cpp \
	tests/cudasim/queue.h \
	tests/cudasim/report.cpp \
	tests/cudasim/shared.cpp \
	tests/cudasim/sim.h \
	tests/cudasim/streams.cpp \
	tests/cudasim/warp.cpp
EXTRA_DIST += $(CUDASIM_SOURCES)

# A program on the simulated card links $(CUDASIM_LINK) before all else: it has
# the same functions as the CUDA runtime and replaces the loops for real cards.
CUDASIM_LINK = $(CUDASIM_OBJECTS) tests/cudasim/libcudasim.a

if WITH_CUDASIM
check_LIBRARIES += tests/cudasim/libcudasim.a
tests_cudasim_libcudasim_a_SOURCES = $(CUDASIM_SOURCES)
tests_cudasim_libcudasim_a_CPPFLAGS = $(AM_CPPFLAGS) -DCUDASIM \
	-I$(top_srcdir)/tests/cudasim $(CUDA_CPPFLAGS)

# The same program as warpdeck, with the loops for cards on the simulated one.
check_PROGRAMS += warpdeck-cudasim
warpdeck_cudasim_SOURCES = src/driver/main.c
warpdeck_cudasim_LDADD = $(CUDASIM_LINK) $(WARPDECK_LIBS) $(CUDASIM_LIBS)
warpdeck_cudasim_DEPENDENCIES = $(CUDASIM_LINK) $(WARPDECK_ARCHIVES)
endif
