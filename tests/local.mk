# tests: the TAP harness; each folder's tests stand in its own local.mk.
#
#   check_PROGRAMS += tests/x/t_name     a C test; also in TESTS
#   TESTS += tests/x/t_name.sh           (or .py) a script; also in EXTRA_DIST
#   LONG_TESTS += tests/x/t_long.py      scripts only; run by make check-long
#
# C tests link with $(TEST_LIBS). tests/run-test sets the environment and the
# time limit, see there.

TEST_EXTENSIONS = .sh .py
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_DRIVER = $(LOG_DRIVER)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-test
SH_LOG_COMPILER = $(LOG_COMPILER) $(SHELL)
PY_LOG_COMPILER = $(LOG_COMPILER) $(PYTHON)

AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	WARPDECK='$(abs_top_builddir)/warpdeck$(EXEEXT)'; export WARPDECK; \
	WARPDECK_MPIRUN='$(MPIRUN)'; export WARPDECK_MPIRUN; \
	WARPDECK_MPIRUN_FLAGS='$(MPIRUN_FLAGS)'; export WARPDECK_MPIRUN_FLAGS; \
	WARPDECK_REFERENCE='$(REFERENCE_DATA)'; export WARPDECK_REFERENCE; \
	WARPDECK_PYTHON='$(PYTHON)'; export WARPDECK_PYTHON; \
	WARPDECK_NO_CUDASIM='$(CUDASIM_MISSING)'; export WARPDECK_NO_CUDASIM; \
	CLANG_FORMAT='$(CLANG_FORMAT)'; export CLANG_FORMAT;

check_LIBRARIES += tests/libtap.a
tests_libtap_a_SOURCES = tests/tap.c tests/tap.h
TEST_LIBS = tests/libtap.a $(WARPDECK_LIBS)

EXTRA_DIST += tests/run-test tests/tap.sh tests/tap.py tests/tally.sh \
	tests/installcheck.sh

include tests/cuda/local.mk
include tests/cudasim/local.mk
include tests/deck/local.mk
include tests/driver/local.mk
include tests/output/local.mk
include tests/md/local.mk
include tests/fluid/local.mk
include tests/risk/local.mk
include tests/physics/local.mk
include tests/hygiene/local.mk

EXTRA_DIST += $(LONG_TESTS)

# What also runs under sanitizers and without MPI: all but the physics, what the
# simulated card takes long for, and what waits or starts programs for long; in
# short.
# (A variable, since a line broken inside a shell's quotes keeps its backslash.)
SLOW_TESTS = tests/deck/help.py tests/deck/resolved.py tests/driver/check.py \
	tests/driver/lock.py tests/driver/planted.py
# Those that take longest begin first, so that no core waits for them in the end.
QUICK_FIRST = tests/driver/replicas.py tests/driver/exchange.py \
	tests/risk/t_paths tests/risk/t_sobol tests/fluid/t_poisson_single
QUICK_TESTS = $(filter $(QUICK_FIRST),$(TESTS)) \
	$(filter-out $(SLOW_TESTS) $(QUICK_FIRST),$(filter $(check_PROGRAMS) \
	tests/deck/% tests/driver/% tests/md/% tests/output/modules.sh \
	tests/cuda/t_faults.sh tests/cuda/t_simulator.sh,$(TESTS))) \
	tests/cuda/one_seed.sh
check-quick: all
	WARPDECK_TEST_SHORT=1 $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(QUICK_TESTS)'

# The programs of the tests, built and not run.
check-build: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS=

# What takes too long for make check. Scripts alone, since make has rules for
# their endings.
check-long: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(LONG_TESTS)' TEST_TIMEOUT=3600
.PHONY: check-build check-quick check-long

installcheck-local:
	$(SHELL) $(top_srcdir)/tests/installcheck.sh '$(DESTDIR)$(bindir)' \
		'$(DESTDIR)$(pkgdatadir)' '$(DESTDIR)$(mandir)' '$(VERSION)'

clean-local:
	test ! -d tests/work || chmod -R u+w tests/work
	rm -rf tests/work card-programs

