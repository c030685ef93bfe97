# tests/output: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
check_PROGRAMS += \
	tests/output/flow \
	tests/output/t_h5 \
	tests/output/t_particles \
	tests/output/write_h5md \
	tests/output/write_large
# The ordinary program with a solver of known fields on a grid.
tests_output_flow_SOURCES = src/driver/main.c tests/output/flow_solver.c
tests_output_flow_LDADD = $(WARPDECK_LIBS)
tests_output_t_h5_LDADD = $(TEST_LIBS)
tests_output_t_particles_LDADD = $(TEST_LIBS)
tests_output_write_h5md_LDADD = $(TEST_LIBS)
tests_output_write_large_LDADD = $(TEST_LIBS)

FILE_TESTS = \
	tests/output/bad_input.py \
	tests/output/examples.py \
	tests/output/export.py \
	tests/output/files.py \
	tests/output/flow_post.py \
	tests/output/modules.sh \
	tests/output/monitor.py \
	tests/output/paraview.py \
	tests/output/pictures.py \
	tests/output/postproc.py \
	tests/output/readme.py \
	tests/output/render.py \
	tests/output/report.py \
	tests/output/resume.py \
	tests/output/run_files.py \
	tests/output/staging.py \
	tests/output/viewer.py \
	tests/output/vtkhdf.py \
	tests/output/watch.py
TESTS += tests/output/t_h5 tests/output/t_particles $(FILE_TESTS)
LONG_TESTS += tests/output/examples_long.py tests/output/killed.py \
	tests/output/ovito_reads.py \
	tests/output/vtk_new.py \
	tests/output/large.py \
	tests/output/post_large.py
EXTRA_DIST += $(FILE_TESTS) tests/output/browser.py \
	tests/output/one_thread.c \
	tests/output/pictures.json tests/output/post.py
