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
