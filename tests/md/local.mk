# tests/md: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
# The C programs without t_ are run by the scripts, on several numbers of ranks.
MD_CASE_SOURCES = \
	tests/md/md_case.c \
	tests/md/md_case.h \
	tests/md/reference_kernels.c \
	tests/md/reference_kernels.h \
	tests/md/reference_store.c \
	tests/md/reference_store.h

check_PROGRAMS += \
	tests/md/analysis \
	tests/md/ensembles \
	tests/md/forces \
	tests/md/memory \
	tests/md/motion \
	tests/md/t_bonded \
	tests/md/t_fuzz_files \
	tests/md/t_grid \
	tests/md/t_pair \
	tests/md/t_random \
	tests/md/t_lanes tests/md/t_lanes_single \
	tests/md/t_segments \
	tests/md/t_store \
	tests/md/t_xyz \
	tests/md/thermostats

tests_md_analysis_SOURCES = tests/md/analysis.c $(MD_CASE_SOURCES)
tests_md_analysis_LDADD = $(TEST_LIBS)
tests_md_ensembles_SOURCES = tests/md/ensembles.c $(MD_CASE_SOURCES)
tests_md_ensembles_LDADD = $(TEST_LIBS)
tests_md_forces_SOURCES = tests/md/forces.c $(MD_CASE_SOURCES)
tests_md_forces_LDADD = $(TEST_LIBS)
tests_md_memory_SOURCES = tests/md/memory.c $(MD_CASE_SOURCES)
tests_md_memory_LDADD = $(TEST_LIBS)
tests_md_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc \
	-Wl,--wrap=realloc,--wrap=posix_memalign
tests_md_motion_SOURCES = tests/md/motion.c $(MD_CASE_SOURCES)
tests_md_motion_LDADD = $(TEST_LIBS)
tests_md_t_bonded_SOURCES = tests/md/t_bonded.c
tests_md_t_bonded_LDADD = $(TEST_LIBS)
tests_md_t_fuzz_files_SOURCES = tests/md/t_fuzz_files.c tests/fuzz.h \
	$(MD_CASE_SOURCES)
tests_md_t_fuzz_files_LDADD = $(TEST_LIBS)
tests_md_t_grid_SOURCES = tests/md/t_grid.c
tests_md_t_grid_LDADD = $(TEST_LIBS)
tests_md_t_pair_SOURCES = tests/md/t_pair.c $(MD_CASE_SOURCES)
tests_md_t_pair_LDADD = $(TEST_LIBS)
tests_md_t_random_SOURCES = tests/md/t_random.c
tests_md_t_random_LDADD = $(TEST_LIBS)
tests_md_t_lanes_SOURCES = tests/md/t_lanes.c
tests_md_t_lanes_LDADD = $(TEST_LIBS)
tests_md_t_lanes_single_SOURCES = tests/md/t_lanes.c
tests_md_t_lanes_single_CPPFLAGS = $(AM_CPPFLAGS) -DLANES_OF_FLOATS
tests_md_t_lanes_single_LDADD = $(TEST_LIBS)
tests_md_t_segments_SOURCES = tests/md/t_segments.c
tests_md_t_segments_LDADD = $(TEST_LIBS)
tests_md_t_store_SOURCES = tests/md/t_store.c
tests_md_t_store_LDADD = $(TEST_LIBS)
tests_md_t_xyz_SOURCES = tests/md/t_xyz.c $(MD_CASE_SOURCES)
tests_md_t_xyz_LDADD = $(TEST_LIBS)
tests_md_thermostats_SOURCES = tests/md/thermostats.c $(MD_CASE_SOURCES)
tests_md_thermostats_LDADD = $(TEST_LIBS)

OVER_RANKS_TESTS = \
	tests/md/t_analysis.sh \
	tests/md/t_forces.sh \
	tests/md/t_memory.sh \
	tests/md/t_motion.sh \
	tests/md/t_thermostats.sh
TESTS += $(OVER_RANKS_TESTS) \
	tests/md/t_bonded \
	tests/md/t_fuzz_files \
	tests/md/t_grid \
	tests/md/t_pair \
	tests/md/t_random \
	tests/md/t_lanes tests/md/t_lanes_single \
	tests/md/t_segments \
	tests/md/t_store \
	tests/md/t_xyz

EXTRA_DIST += $(OVER_RANKS_TESTS) tests/md/over_ranks.sh
