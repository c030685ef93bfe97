# tests/fluid: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
check_PROGRAMS += tests/fluid/t_block
tests_fluid_t_block_SOURCES = tests/fluid/t_block.c
tests_fluid_t_block_LDADD = $(TEST_LIBS)
TESTS += tests/fluid/t_block

check_PROGRAMS += tests/fluid/t_lines
tests_fluid_t_lines_SOURCES = tests/fluid/t_lines.c
tests_fluid_t_lines_LDADD = $(TEST_LIBS)
TESTS += tests/fluid/t_lines
