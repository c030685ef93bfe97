# tests/fluid: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
check_PROGRAMS += tests/fluid/t_block
tests_fluid_t_block_SOURCES = tests/fluid/t_block.c
tests_fluid_t_block_LDADD = $(TEST_LIBS)
TESTS += tests/fluid/t_block

check_PROGRAMS += tests/fluid/t_lines
tests_fluid_t_lines_SOURCES = tests/fluid/t_lines.c
tests_fluid_t_lines_LDADD = $(TEST_LIBS)
TESTS += tests/fluid/t_lines

# Transforms and the Poisson equation, in each precision.
FLUID_SPECTRAL_TESTS = \
	tests/fluid/t_fft \
	tests/fluid/t_fft_single \
	tests/fluid/t_poisson \
	tests/fluid/t_poisson_single
check_PROGRAMS += $(FLUID_SPECTRAL_TESTS)
TESTS += $(FLUID_SPECTRAL_TESTS)
tests_fluid_t_fft_SOURCES = tests/fluid/t_fft.c
tests_fluid_t_fft_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=1
tests_fluid_t_fft_LDADD = $(TEST_LIBS)
tests_fluid_t_fft_single_SOURCES = tests/fluid/t_fft.c
tests_fluid_t_fft_single_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=3
tests_fluid_t_fft_single_LDADD = $(TEST_LIBS)
tests_fluid_t_poisson_SOURCES = tests/fluid/t_poisson.c
tests_fluid_t_poisson_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=1
tests_fluid_t_poisson_LDADD = $(TEST_LIBS)
tests_fluid_t_poisson_single_SOURCES = tests/fluid/t_poisson.c
tests_fluid_t_poisson_single_CPPFLAGS = $(AM_CPPFLAGS) -DFLUID_PRECISION=3
tests_fluid_t_poisson_single_LDADD = $(TEST_LIBS)

# Scalars, implicit diffusion, sums, profiles and derived fields.
FLUID_TERMS_SOURCES = \
	tests/fluid/reference_flow.c \
	tests/fluid/reference_flow.h \
	tests/fluid/terms_case.c \
	tests/fluid/terms_case.h \
	tests/fluid/world.c \
	tests/fluid/world.h
FLUID_TERMS_TESTS = \
	tests/fluid/t_terms_fields \
	tests/fluid/t_terms_implicit \
	tests/fluid/t_terms_look \
	tests/fluid/t_terms_scalar
check_PROGRAMS += $(FLUID_TERMS_TESTS)
TESTS += $(FLUID_TERMS_TESTS)
tests_fluid_t_terms_fields_SOURCES = tests/fluid/t_terms_fields.c \
	$(FLUID_TERMS_SOURCES)
tests_fluid_t_terms_fields_LDADD = $(TEST_LIBS)
tests_fluid_t_terms_look_SOURCES = tests/fluid/t_terms_look.c \
	$(FLUID_TERMS_SOURCES)
tests_fluid_t_terms_look_LDADD = $(TEST_LIBS)
tests_fluid_t_terms_implicit_SOURCES = tests/fluid/t_terms_implicit.c \
	$(FLUID_TERMS_SOURCES)
tests_fluid_t_terms_implicit_LDADD = $(TEST_LIBS)
tests_fluid_t_terms_scalar_SOURCES = tests/fluid/t_terms_scalar.c \
	$(FLUID_TERMS_SOURCES)
tests_fluid_t_terms_scalar_LDADD = $(TEST_LIBS)

# The substages of the velocity.
check_PROGRAMS += tests/fluid/t_step
TESTS += tests/fluid/t_step
tests_fluid_t_step_SOURCES = tests/fluid/t_step.c \
	tests/fluid/reference_flow.c \
	tests/fluid/reference_flow.h \
	tests/fluid/world.c \
	tests/fluid/world.h
tests_fluid_t_step_LDADD = $(TEST_LIBS)

# Whole flows through the program.
TESTS += tests/fluid/runs.py tests/fluid/spectra.py tests/fluid/faults.py
EXTRA_DIST += tests/fluid/runs.py tests/fluid/spectra.py tests/fluid/faults.py
TESTS += tests/fluid/resume_flow.py
EXTRA_DIST += tests/fluid/resume_flow.py
LONG_TESTS += tests/fluid/resume_flow_long.py
