# tests/md: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
# The C programs here are run by the scripts, some on several numbers of ranks.
MD_TEST_SOURCES = \
	tests/md/md_case.c \
	tests/md/md_case.h \
	tests/md/reference_kernels.c \
	tests/md/reference_kernels.h \
	tests/md/reference_store.c \
	tests/md/reference_store.h

check_PROGRAMS += \
	tests/md/t_grid \
	tests/md/forces

tests_md_t_grid_SOURCES = tests/md/t_grid.c
tests_md_t_grid_LDADD = $(TEST_LIBS)
tests_md_forces_SOURCES = tests/md/forces.c $(MD_TEST_SOURCES)
tests_md_forces_LDADD = $(TEST_LIBS)

TESTS += \
	tests/md/t_grid \
	tests/md/t_forces.sh

EXTRA_DIST += \
	tests/md/over_ranks.sh \
	tests/md/t_forces.sh
